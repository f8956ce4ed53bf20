package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// checkRowWeights returns an error unless each of n samples has a positive and finite weight. nil passes.
func checkRowWeights(weights []float64, n int) error {
	if weights == nil {
		return nil
	}
	if len(weights) != n {
		return fmt.Errorf("mkl: Weights: %d where y has %d samples", len(weights), n)
	}
	for i, w := range weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("mkl: Weights[%d] is %g: a weight is positive and finite", i, w)
		}
	}
	return nil
}

// standardizeWeighted is standardizeTargets for a target whose samples have weights, or nil. A sample of the weight w counts
//
//	u = w/(w + median weight)
//
// for the mean and the standard deviation. These are the best weights where the function has the variance of the noise of the median
// weight. A sample of nearly no weight, or of a huge weight, then does not set the unit of the other samples.
func standardizeWeighted(y, weights []float64, raw bool) ([]target, la.Matrix[float64]) {
	if weights == nil || raw {
		return standardizeTargets([][]float64{y}, raw)
	}
	sorted := slices.Sorted(slices.Values(weights))
	median := sorted[len(sorted)/2]
	u := make([]float64, len(y))
	for i, w := range weights {
		u[i] = 1 / (1 + median/w)
	}
	all, width := vec.Total(u), slices.Max(y)-slices.Min(y)
	var t target
	for i, v := range y {
		t.mean += float64(u[i] / all * v)
	}
	var square float64 // in units of the width, so that it neither overflows nor vanishes
	for i, v := range y {
		d := (v - t.mean) / width
		square += float64(u[i] / all * d * d)
	}
	n := float64(len(y))
	t.sd = width * math.Sqrt(square*n/(n-1)) // as without weights
	z := la.NewMatrix[float64](1, len(y))
	for i, v := range y {
		z.Row(0)[i] = (v - t.mean) / t.sd
	}
	return []target{t}, z
}
