package intermediate

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// Samples is how many samples the N columns of the kernels stand for: N, or, for [vi.Compressed]
// kernels, the number of samples that the pseudo-samples replace.
type Samples struct {
	Size float64
	Ones []float64 // what 1 for every sample has become; nil: 1
}

func samplesOf(k vi.Kernels) Samples {
	if c, ok := k.(vi.Compressed); ok {
		s := Samples{Ones: c.Ones()}
		s.Size = s.CountOf(nil)
		return s
	}
	_, _, N := k.Dims()
	return Samples{Size: float64(N)}
}

// SumOver returns the sum of x over the samples.
func (s Samples) SumOver(x []float64) float64 {
	if s.Ones != nil {
		return la.Dot(s.Ones, x)
	}
	return conjugate.Sum(x)
}

// Subtract takes c from x for every sample.
func (s Samples) Subtract(c float64, x []float64) {
	if s.Ones != nil {
		la.Axpy(-c, s.Ones, x)
		return
	}
	for i := range x {
		x[i] -= c
	}
}

// CountOf returns how many samples are observed, by a mask of 0 and 1; nil: all. The count of
// pseudo-samples is a whole number but for rounding.
func (s Samples) CountOf(observed []float64) (n float64) {
	if s.Ones == nil {
		return la.SumSq(observed)
	}
	for i, v := range s.Ones {
		if observed == nil || observed[i] != 0 {
			n += float64(v * v)
		}
	}
	return math.Round(n)
}

// Variation returns Σ (x − mean)² over the observed samples, and their number.
func (s Samples) Variation(x, observed []float64) (sum, n float64) {
	var seen Samples
	var values []float64
	for i, v := range x {
		if observed == nil || observed[i] != 0 {
			values = append(values, v)
			if s.Ones != nil {
				seen.Ones = append(seen.Ones, s.Ones[i])
			}
		}
	}
	if s.Ones == nil {
		return Variation(values), float64(len(values))
	}
	n = seen.CountOf(nil)
	seen.Subtract(seen.SumOver(values)/n, values)
	return la.SumSq(values), n
}

// CollapseShare is the share of an output's variance below which its fitted
// function counts as constant.
const CollapseShare = 1e-6

// Variation returns Σ (x − mean)².
func Variation(x []float64) float64 {
	var mean, sum float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += float64((v - mean) * (v - mean))
	}
	return sum
}

// IsCollapsed reports whether the fitted values f vary by less than
// CollapseShare of what the observed targets y do. A constant target leaves nothing to
// explain and is no collapse.
func (s Samples) IsCollapsed(f, y, observed []float64) bool {
	fitted, n := s.Variation(f, nil)
	target, seen := s.Variation(y, observed)
	return target > 0 && fitted/n < CollapseShare*target/seen
}
