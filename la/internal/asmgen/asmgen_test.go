package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheFileIsWhatIsGenerated(t *testing.T) {
	checkedIn, err := os.ReadFile("../../asm_amd64.s")
	require.NoError(t, err)
	assert.True(t, string(checkedIn) == string(generate()), "la/asm_amd64.s is stale: run go generate in la")
}
