package vi

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/la"
)

// randomStart draws A and G from the standard normal distribution.
func randomStart(seed uint64, L, P, D, N int) *Start {
	s := &Start{A: la.NewMatrix[float64](L, D), G: la.NewMatrix[float64](L*P, N)}
	src := newSource(seed)
	fillNormal(src, s.A.Data)
	fillNormal(src, s.G.Data)
	return s
}

func newSource(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }

// fillNormal fills x with standard normal numbers that are the same on every
// platform: the polar method, which needs nothing but a logarithm and a root,
// rounded to float32 so that the last bits of the platform's logarithm do not
// show.
func fillNormal(src *rand.Rand, x []float64) {
	for i := 0; i < len(x); {
		u, v := 2*src.Float64()-1, 2*src.Float64()-1
		s := math.FMA(u, u, float64(v*v))
		if s >= 1 || s == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(s) / s)
		x[i] = float64(float32(u * f))
		if i++; i < len(x) {
			x[i] = float64(float32(v * f))
			i++
		}
	}
}

func (s *Start) validate(L, P, D, N int) error {
	if err := checkStart("A", s.A, L, D); err != nil {
		return err
	}
	return checkStart("G", s.G, L*P, N)
}

func checkStart(name string, x la.Matrix[float64], rows, cols int) error {
	if x.Rows != rows || x.Cols != cols {
		return fmt.Errorf("vi: Start.%s: %d×%d where %d×%d is needed", name, x.Rows, x.Cols, rows, cols)
	}
	for i := range rows {
		if j := firstNonFinite(x.Row(i)); j >= 0 {
			return fmt.Errorf("vi: Start.%s: entry (%d, %d) is %g", name, i, j, x.At(i, j))
		}
	}
	return nil
}

// checkTargets checks that y has a row of a value for each of k's samples and
// splits it.
func checkTargets(k Kernels, y la.Matrix[float64]) (values, observed la.Matrix[float64], err error) {
	if k == nil {
		return values, observed, fmt.Errorf("vi: kernels: nil")
	}
	if _, _, N := k.Dims(); y.Rows == 0 || y.Cols != N {
		return values, observed, fmt.Errorf("vi: y: %d×%d where at least one row of %d samples is needed", y.Rows, y.Cols, N)
	}
	return splitMissing(y)
}

// splitMissing returns a copy of y with 0 for NaN, and a matrix with 1 for each
// value observed and 0 for each missing, which is empty if none is missing. A row
// without any value is an error.
func splitMissing(y la.Matrix[float64]) (values, observed la.Matrix[float64], err error) {
	values, observed, err = splitObserved(y)
	for o := range observed.Rows {
		if err == nil && la.SumSq(observed.Row(o)) == 0 {
			err = fmt.Errorf("vi: y: row %d: every value is missing", o)
		}
	}
	return values, observed, err
}

// splitObserved is splitMissing for models in which a row may be empty.
func splitObserved(y la.Matrix[float64]) (values, observed la.Matrix[float64], err error) {
	values = y.Clone()
	for o := range y.Rows {
		row := values.Row(o)
		for i, v := range row {
			switch {
			case math.IsInf(v, 0):
				return values, observed, fmt.Errorf("vi: y: entry (%d, %d) is %g", o, i, v)
			case math.IsNaN(v):
				if observed.Rows == 0 {
					observed = la.NewMatrix[float64](y.Rows, y.Cols)
					observed.Fill(1)
				}
				row[i] = 0
				observed.Set(o, i, 0)
			}
		}
	}
	return values, observed, nil
}
