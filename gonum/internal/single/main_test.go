package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheFileIsWhatIsGenerated(t *testing.T) {
	double, err := os.ReadFile("../../blas_double.go")
	require.NoError(t, err)
	checkedIn, err := os.ReadFile("../../blas_single.go")
	require.NoError(t, err)
	assert.Equal(t, single(string(double)), string(checkedIn), "blas_single.go is stale: run go generate in gonum")
}
