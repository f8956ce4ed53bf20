package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// randomStart draws A and G from the standard normal distribution.
func randomStart(seed uint64, L, P, D, N int) *Start {
	s := &Start{A: la.NewMatrix[float64](L, D), G: la.NewMatrix[float64](L*P, N)}
	src := random.Source(seed)
	random.Normal(src, s.A.Data)
	random.Normal(src, s.G.Data)
	return s
}

// validate returns an error unless the shapes are those needed and all entries finite.
func (s *Start) validate(L, P, D, N int) error {
	if err := check.Start("A", s.A, L, D); err != nil {
		return err
	}
	return check.Start("G", s.G, L*P, N)
}

// checkTargets returns y split into values and what is observed, see splitTargets. It is
// an error if y has no row, or not a value for each of k's samples.
func checkTargets(k vi.Kernels, y la.Matrix[float64]) (values, observed la.Matrix[float64], err error) {
	if k == nil {
		return values, observed, fmt.Errorf("vi: kernels: nil")
	}
	if _, _, N := k.Dims(); y.Rows == 0 || y.Cols != N {
		return values, observed, fmt.Errorf("vi: y: %d×%d where at least one row of %d samples is needed", y.Rows, y.Cols, N)
	}
	return splitTargets(y)
}

// splitTargets is check.SplitMissing for models that need a value in every row.
func splitTargets(y la.Matrix[float64]) (values, observed la.Matrix[float64], err error) {
	values, observed, err = check.SplitMissing(y)
	for o := range observed.Rows {
		if err == nil && la.SumSq(observed.Row(o)) == 0 {
			err = fmt.Errorf("vi: y: row %d: every value is missing", o)
		}
	}
	return values, observed, err
}

// compressedStart returns where a fit to pseudo-samples begins: a drawn at random, and every kernel
// with an equal share of the targets as its intermediate output. Random intermediate outputs would
// belong to pseudo-samples, not to samples.
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
