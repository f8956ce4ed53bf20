package bemkl

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// samples is how many samples the N columns of the kernels stand for: N, or of
// [vi.Compressed] kernels the number of which they are pseudo-samples.
type samples struct {
	size float64
	ones []float64 // what 1 for every sample has become; nil: 1
}

func samplesOf(k vi.Kernels) samples {
	if c, ok := k.(vi.Compressed); ok {
		s := samples{ones: c.Ones()}
		s.size = s.countOf(nil)
		return s
	}
	_, _, N := k.Dims()
	return samples{size: float64(N)}
}

// sumOver returns the sum of x over the samples.
func (s samples) sumOver(x []float64) float64 {
	if s.ones != nil {
		return la.Dot(s.ones, x)
	}
	return conjugate.Sum(x)
}

// subtract takes c from x for every sample.
func (s samples) subtract(c float64, x []float64) {
	if s.ones != nil {
		la.Axpy(-c, s.ones, x)
		return
	}
	for i := range x {
		x[i] -= c
	}
}

// countOf returns how many samples are observed, by a mask of 0 and 1; nil: all. That of
// pseudo-samples is a whole number but for rounding.
func (s samples) countOf(observed []float64) (n float64) {
	if s.ones == nil {
		return la.SumSq(observed)
	}
	for i, v := range s.ones {
		if observed == nil || observed[i] != 0 {
			n += float64(v * v)
		}
	}
	return math.Round(n)
}

// variation returns Σ (x − mean)² over the observed samples, and their number.
func (s samples) variation(x, observed []float64) (sum, n float64) {
	var seen samples
	var values []float64
	for i, v := range x {
		if observed == nil || observed[i] != 0 {
			values = append(values, v)
			if s.ones != nil {
				seen.ones = append(seen.ones, s.ones[i])
			}
		}
	}
	if s.ones == nil {
		return variation(values), float64(len(values))
	}
	n = seen.countOf(nil)
	seen.subtract(seen.sumOver(values)/n, values)
	return la.SumSq(values), n
}

// compressedStart returns where a fit to pseudo-samples begins: a drawn at random, and every
// kernel with an equal share of the targets as its intermediate output. Random intermediate
// outputs would be those of pseudo-samples, not of samples.
func compressedStart(seed uint64, y la.Matrix[float64], P, D int) *Start {
	s := randomStart(seed, y.Rows, P, D, 0)
	s.G = la.NewMatrix[float64](y.Rows*P, y.Cols)
	for o := range y.Rows {
		for m := range P {
			la.Axpy(1/float64(P), y.Row(o), s.G.Row(o*P+m))
		}
	}
	return s
}

// sharedCompressedStart is compressedStart for outputs that share the intermediate outputs:
// each of these is a mixture of the targets drawn at random, so that no two targets cancel.
func sharedCompressedStart(seed uint64, y la.Matrix[float64], P, D int) *Start {
	mixture := la.NewMatrix[float64](P, y.Rows)
	random.Normal(random.Source(seed+1), mixture.Data)
	s := randomStart(seed, 1, P, D, 0)
	s.G = la.NewMatrix[float64](P, y.Cols)
	la.Gemm(nil, la.NoTrans, la.NoTrans, 1/(float64(P)*math.Sqrt(float64(y.Rows))), mixture, y, 0, s.G)
	return s
}
