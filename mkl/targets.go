package mkl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// target holds the mean and standard deviation of a standardised target: z = (y − mean)/sd.
type target struct {
	mean, sd float64
}

// leastSD is the least standard deviation of a target, and 1/leastSD the largest.
// The square, its variance, then leaves room for the variance of a prediction.
const leastSD = 1e-145

// checkTargets checks the targets y, and returns the number of
// samples. With missing, NaN is an unknown value.
func checkTargets(y [][]float64, missing bool) (n int, err error) {
	if len(y) == 0 {
		return 0, errors.New("mkl: y: no target given")
	}
	n = len(y[0])
	for o, t := range y {
		arg := "y"
		if len(y) > 1 {
			arg = "y[" + strconv.Itoa(o) + "]"
		}
		if len(t) != n {
			return 0, fmt.Errorf("mkl: %s: %d samples where y[0] has %d", arg, len(t), n)
		}
		var seen []float64
		for i, v := range t {
			switch {
			case math.IsNaN(v) && missing:
				continue
			case v-v != 0:
				return 0, &ValueError{Arg: arg, Row: i, Col: -1, Value: v}
			}
			seen = append(seen, v)
		}
		switch {
		case len(seen) < 2:
			return 0, fmt.Errorf("mkl: %s: %d samples with a target where at least 2 are needed", arg, len(seen))
		case slices.Max(seen) == slices.Min(seen):
			return 0, fmt.Errorf("mkl: %s: every target is %g: there is nothing to learn", arg, seen[0])
		}
		// Variances of predictions are in the squared unit of the target.
		if _, sd := vec.MeanSD(seen); !(sd >= leastSD && sd <= 1/leastSD) {
			return 0, fmt.Errorf("mkl: %s: the standard deviation is %g, and its square is outside the range of floating-point numbers: choose another unit", arg, sd)
		}
	}
	return n, nil
}

// standardizeTargets returns the targets, L×N, scaled to mean 0 and standard deviation
// 1 each, and their original means and standard deviations; it leaves raw targets unchanged.
func standardizeTargets(y [][]float64, raw bool) ([]target, la.Matrix[float64]) {
	targets := make([]target, len(y))
	z := la.NewMatrix[float64](len(y), len(y[0]))
	for o, t := range y {
		targets[o] = target{0, 1}
		if !raw {
			seen := slices.DeleteFunc(slices.Clone(t), math.IsNaN)
			targets[o].mean, targets[o].sd = vec.MeanSD(seen)
		}
		for i, v := range t {
			z.Row(o)[i] = (v - targets[o].mean) / targets[o].sd
		}
	}
	return targets, z
}

// restore converts predictions of the standardised target, for samples first …, to
// its own units and stores them in row o of out.
func (t target) restore(out *Prediction, o, first int, mean, variance []float64) {
	for i, v := range mean {
		out.Mean[o][first+i] = t.mean + float64(t.sd*v)
	}
	if out.Variance == nil {
		return
	}
	for i, v := range variance {
		out.Variance[o][first+i] = t.sd * t.sd * v
	}
}
