package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// waves is a table of so many rows.
func waves(rows int) string {
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	b.WriteString("x,z,y,kind\n")
	for range rows {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		kind := "low"
		if x*z > 0 {
			kind = "high"
		}
		b.WriteString(strings.Join([]string{number(x), number(z), number(math.Sin(2*x) + z*z + 0.2*rng.NormFloat64()), kind}, ",") + "\n")
	}
	return b.String()
}

// A fit of many rows is timed on some of them first, whatever is learned. The model does not depend on it.
func TestForecast(t *testing.T) {
	files := map[string]string{"d.csv": waves(800)}
	for _, args := range []string{"-target y -model landmarks -landmarks 20", "-target kind -model mgp -kernels rbf", "-target y -model spikeslab"} {
		fit := strings.Fields("fit d.csv -view x,z -sweeps 2 " + args)
		status, told, stderr := command(t, files, "", fit...)
		require.Equal(t, console.StatusOK, status, stderr)
		files = nil
		_, untold, _ := command(t, nil, "", append(fit, "-q")...)
		assert.Equal(t, untold, told)
	}
}

// Counts of many rows have landmarks, which are timed apart from the sweeps over all rows.
func TestForecastOfCounts(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 3001 {
		b.WriteString(number(float64(i%300)/40) + "," + number(float64(i%5)) + "\n")
	}
	fit := strings.Fields("fit d.csv -target y -task counts -law poisson -sweeps 1 -view x:linear")
	status, _, stderr := command(t, map[string]string{"d.csv": b.String()}, "", fit...)
	require.Equal(t, console.StatusOK, status, stderr)
}
