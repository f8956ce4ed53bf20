package gram

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// naiveForm is the lower triangle of I + υ·s·(S + jitter·diag(S))·s, entry by entry.
func naiveForm(gram la.Matrix[float64], upsilon float64, s []float64, jitter float64) la.Matrix[float64] {
	b := la.NewMatrix[float64](gram.Rows, gram.Rows)
	for i := range gram.Rows {
		for j := range i + 1 {
			v := gram.At(i, j)
			if i == j {
				v += jitter * v
			}
			v *= upsilon * s[i] * s[j]
			if i == j {
				v++
			}
			b.Set(i, j, v)
		}
	}
	return b
}

func TestForm(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{1, 2, 7} {
		x := testkit.Normal(src, n, n)
		s := testkit.Normal(src, 1, n).Row(0)
		for _, jitter := range []float64{0, 0.25} {
			b := la.NewMatrix[float64](n, n)
			Form(b, x, 1.7, s, jitter)
			want := naiveForm(x, 1.7, s, jitter)
			for i := range n {
				require.InDeltaSlice(t, want.Row(i), b.Row(i), 1e-13)
			}
		}
	}
}

// TestFactor multiplies the factor by its transpose: this gives the matrix with the jitter that was returned.
func TestFactor(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 1))
	const n = 6
	half := testkit.Normal(src, n, n)
	definite, indefinite := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
	for i := range n {
		for j := range n {
			for k := range n {
				definite.Set(i, j, definite.At(i, j)+half.At(i, k)*half.At(j, k))
			}
			indefinite.Set(i, j, 1) // of rank one: with a large υ rounding makes B indefinite
		}
	}
	ones := []float64{1, 1, 1, 1, 1, 1}
	for _, c := range []struct {
		name    string
		gram    la.Matrix[float64]
		upsilon float64
		s       []float64
		added   bool
	}{
		{"definite", definite, 0.7, []float64{1, -2, 0.5, 3, 0, 1}, false},
		{"rank one", indefinite, 1e20, ones, true},
	} {
		for _, inPlace := range []bool{false, true} {
			b, ws := la.NewMatrix[float64](n, n), &la.Workspace{Workers: 1}
			var added float64
			var err error
			if inPlace {
				load := func() {
					for i := range n {
						copy(b.Row(i), c.gram.Row(i))
					}
				}
				added, err = FactorInPlace(ws, b, load, c.upsilon, c.s)
			} else {
				added, err = Factor(ws, b, c.gram, c.upsilon, c.s)
			}
			require.NoError(t, err, c.name)
			assert.Equal(t, c.added, added > 0, "%s: jitter %g", c.name, added)
			want := naiveForm(c.gram, c.upsilon, c.s, added)
			for i := range n {
				for j := range i + 1 {
					sum := 0.0
					for k := range j + 1 {
						sum += b.At(i, k) * b.At(j, k)
					}
					assert.InEpsilon(t, 1+want.At(i, j), 1+sum, 1e-12, "%s: %d, %d", c.name, i, j)
				}
			}
		}
	}
}
