package vi

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
)

func TestDenseAgreesWithLoops(t *testing.T) {
	for _, s := range []struct{ P, D, N, L int }{{1, 1, 1, 1}, {3, 5, 5, 1}, {2, 4, 7, 3}, {4, 9, 2, 2}, {1, 6, 3, 5}} {
		src := rand.New(rand.NewPCG(1, uint64(s.D)))
		var ks []la.Matrix[float64]
		for range s.P {
			ks = append(ks, testkit.Normal(src, s.D, s.N))
		}
		k, err := NewDense(ks...)
		require.NoError(t, err)
		a, g := testkit.Normal(src, s.L, s.D), testkit.Normal(src, s.L*s.P, s.N)
		b, weights := testkit.Normal(src, s.D, s.N), testkit.Normal(src, 1, s.P).Row(0)
		w := &la.Workspace{Workers: 2}

		h, wantH := testkit.Normal(src, s.L*s.P, s.N), la.NewMatrix[float64](s.L*s.P, s.N)
		r, wantR := testkit.Normal(src, s.L, s.D), la.NewMatrix[float64](s.L, s.D)
		gram, wantGram := la.NewMatrix[float64](s.D, s.D), la.NewMatrix[float64](s.D, s.D)
		sum, wantSum := testkit.Normal(src, s.D, s.N), la.NewMatrix[float64](s.D, s.N)
		inner, wantInner := make(golden.Vec, s.P), make(golden.Vec, s.P)
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
		testkit.RequireClose(t, "Project", wantH, h, tol)
		testkit.RequireClose(t, "Combine", wantR, r, tol)
		testkit.RequireClose(t, "GramSum", wantGram, gram, tol)
		testkit.RequireClose(t, "Sum", wantSum, sum, tol)
		testkit.RequireClose(t, "Inner", wantInner, inner, tol)

		columns := testkit.Normal(src, 1, s.D)
		k.Columns(s.P-1, s.N-1, columns)
		for d := range s.D {
			assert.Equal(t, ks[s.P-1].At(d, s.N-1), columns.At(0, d))
		}
		if s.D == s.N {
			quad, want := make(golden.Vec, s.P), make(golden.Vec, s.P)
			k.Quad(w, a.Row(0), quad)
			for m, km := range ks {
				for d := range s.D {
					for i := range s.N {
						want[m] += a.At(0, d) * km.At(d, i) * a.At(0, i)
					}
				}
			}
			testkit.RequireClose(t, "Quad", want, quad, tol)
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
