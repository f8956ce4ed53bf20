package mcmc

import (
	"flag"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

var jointRun = flag.Int("joint", 1, "make the joint distribution tests so many times as long")

// simulation draws from the joint distribution of variables and data, and returns
// test functions of both.
type simulation func() []float64

// jointScores compares two simulations of the same joint distribution, one of
// independent draws and one that alternates the sampler under test with a draw of
// the data given the variables: the differences of the means of every test
// function, in standard errors. If every conditional is right these are standard
// normal.
//
// Source: J. Geweke, "Getting it right: joint distribution tests of posterior
// simulators", Journal of the American Statistical Association 99 (2004), 799–804.
func jointScores(n int, independent, successive simulation) []float64 {
	collect := func(draw simulation) [][]float64 {
		var series [][]float64
		for range n {
			for k, v := range draw() {
				if k == len(series) {
					series = append(series, make([]float64, 0, n))
				}
				series[k] = append(series[k], v)
			}
		}
		return series
	}
	a, b := collect(independent), collect(successive)
	z := make([]float64, len(a))
	for k := range z {
		variance := func(x []float64) float64 {
			return squares(x, mean(x)) / float64(n) / effective(split([][]float64{x}))
		}
		z[k] = (mean(a[k]) - mean(b[k])) / math.Sqrt(variance(a[k])+variance(b[k]))
	}
	return z
}

// jointLimit is a limit of |z|. The largest of a hundred standard normal values exceeds it
// in one case of 150; as seeds are fixed, a test that passes always does.
const jointLimit = 4

// assertJoint checks that two simulations agree.
func assertJoint(t *testing.T, n int, independent, successive simulation) {
	t.Helper()
	if testing.Short() {
		n /= 4
	}
	for k, z := range jointScores(n**jointRun, independent, successive) {
		assert.Less(t, math.Abs(z), float64(jointLimit), "test function %d", k)
	}
}

// assertNotJoint checks that two simulations are seen to differ, one being wrong.
func assertNotJoint(t *testing.T, n int, independent, successive simulation) {
	t.Helper()
	worst := 0.0
	for _, z := range jointScores(n, independent, successive) {
		if math.IsNaN(z) {
			return // a test function that should vary is constant
		}
		worst = max(worst, math.Abs(z))
	}
	t.Logf("largest |z| %.1f", worst)
	assert.Greater(t, worst, 1.5*jointLimit, "the fault was not seen")
}
