package vi

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// normal returns a rows×cols matrix of standard normal numbers inside a wider
// one whose other entries are NaN.
func normal(src *rand.Rand, rows, cols int) la.Matrix[float64] {
	m := la.NewMatrix[float64](rows, cols+3)
	m.Fill(math.NaN())
	m = m.Slice(0, rows, 0, cols)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, src.NormFloat64())
		}
	}
	return m
}

func TestDenseAgreesWithLoops(t *testing.T) {
	for _, s := range []struct{ P, D, N, L int }{{1, 1, 1, 1}, {3, 5, 5, 1}, {2, 4, 7, 3}, {4, 9, 2, 2}, {1, 6, 3, 5}} {
		src := rand.New(rand.NewPCG(1, uint64(s.D)))
		var ks []la.Matrix[float64]
		for range s.P {
			ks = append(ks, normal(src, s.D, s.N))
		}
		k, err := NewDense(ks...)
		require.NoError(t, err)
		a, g := normal(src, s.L, s.D), normal(src, s.L*s.P, s.N)
		b, weights := normal(src, s.D, s.N), normal(src, 1, s.P).Row(0)
		w := &la.Workspace{Workers: 2}

		h, wantH := normal(src, s.L*s.P, s.N), la.NewMatrix[float64](s.L*s.P, s.N)
		r, wantR := normal(src, s.L, s.D), la.NewMatrix[float64](s.L, s.D)
		gram, wantGram := la.NewMatrix[float64](s.D, s.D), la.NewMatrix[float64](s.D, s.D)
		sum, wantSum := normal(src, s.D, s.N), la.NewMatrix[float64](s.D, s.N)
		inner, wantInner := make(vec, s.P), make(vec, s.P)
		for m, km := range ks {
			for d := range s.D {
				for i := range s.N {
					v := km.At(d, i)
					for o := range s.L {
						wantH.Row(o*s.P + m)[i] += a.At(o, d) * v
						wantR.Row(o)[d] += g.At(o*s.P+m, i) * v
					}
					wantSum.Row(d)[i] += weights[m] * v
					wantInner[m] += b.At(d, i) * v
					for c := range d + 1 {
						wantGram.Row(d)[c] += v * km.At(c, i)
					}
				}
			}
		}
		k.Project(w, a, h)
		k.Combine(w, g, r)
		k.GramSum(w, gram)
		k.Sum(w, weights, sum)
		k.Inner(w, b, inner)
		const tol = 1e-14
		requireClose(t, "Project", wantH, h, tol)
		requireClose(t, "Combine", wantR, r, tol)
		requireClose(t, "GramSum", wantGram, gram, tol)
		requireClose(t, "Sum", wantSum, sum, tol)
		requireClose(t, "Inner", wantInner, inner, tol)

		columns := normal(src, 1, s.D)
		k.Columns(s.P-1, s.N-1, columns)
		for d := range s.D {
			assert.Equal(t, ks[s.P-1].At(d, s.N-1), columns.At(0, d))
		}
		if s.D == s.N {
			quad, want := make(vec, s.P), make(vec, s.P)
			k.Quad(w, a.Row(0), quad)
			for m, km := range ks {
				for d := range s.D {
					for i := range s.N {
						want[m] += a.At(0, d) * km.At(d, i) * a.At(0, i)
					}
				}
			}
			requireClose(t, "Quad", want, quad, tol)
		}
	}
}

func TestNewDenseNamesWhatIsWrong(t *testing.T) {
	bad := la.NewMatrix[float64](2, 3)
	bad.Set(1, 2, math.NaN())
	for want, ks := range map[string][]la.Matrix[float64]{
		"vi: kernels: none given":                 nil,
		"vi: kernel 0: empty (0×3)":               {la.NewMatrix[float64](0, 3)},
		"vi: kernel 1: 3×2 where kernel 0 is 2×3": {la.NewMatrix[float64](2, 3), la.NewMatrix[float64](3, 2)},
		"vi: kernel 1: entry (1, 2) is NaN":       {la.NewMatrix[float64](2, 3), bad},
	} {
		_, err := NewDense(ks...)
		assert.EqualError(t, err, want)
	}
}
