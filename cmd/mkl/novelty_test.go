package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// TestNovelty warns of numbers beyond the range of the fit, and writes how far a row is beyond.
func TestNovelty(t *testing.T) {
	rows := "area,kind\n100,flat\n1000000,house\n155,flat\n90,palace\n"
	status, _, stderr := command(t, map[string]string{"h.csv": dwellings(60), "new.csv": rows}, "",
		strings.Fields("fit h.csv -target price -as dear=none -as owner=none -as sold=none -as index=none -model mgp -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "", "predict", "m", "new.csv", "-novelty")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "mkl: warning: column area: 1 cell far outside of the fit (")
	assert.Contains(t, stderr, "the first 1e+06: predictions there are guesses")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	assert.Equal(t, "mean,sd,lower,upper,novelty", lines[0])
	assert.Regexp(t, ",0$", lines[1])
	assert.Regexp(t, `,1\d{4}\.\d+$`, lines[2], "the range is about 100 wide")
	assert.Regexp(t, `,0\.1\d+$`, lines[3], "a little beyond: no warning")
	assert.Regexp(t, ",1$", lines[4])

	status, stdout, stderr = command(t, nil, "", "predict", "m", "h.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, stderr, "far outside")
	assert.NotContains(t, stdout, "novelty")
}
