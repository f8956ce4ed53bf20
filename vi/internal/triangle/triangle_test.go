package triangle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/bmkl/bmkl/internal/testkit/golden" // the flag -golden
	"github.com/bmkl/bmkl/la"
)

// matrix is a kernel whose values are given.
type matrix struct{ la.Matrix[float64] }

func (m matrix) Diagonal(dst []float64) {
	for i := range dst {
		dst[i] = m.At(i, i)
	}
}

func (m matrix) Column(i int, dst []float64) { copy(dst, m.Row(i)) }

// Squares are within their bounds of a solution in float64, after all panels and after some.
func TestSquaresWithinTheirBounds(t *testing.T) {
	src := rand.New(rand.NewPCG(81, 82))
	for _, n := range []int{1, 63, 64, 200, 500} {
		for _, sites := range []bool{false, true} {
			at, root := make([]float64, n), make([]float64, n)
			for i := range at {
				at[i], root[i] = 5*src.Float64(), math.Exp(src.NormFloat64())
			}
			k, factor := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
			for i := range n {
				for j := range n {
					k.Set(i, j, math.Exp(-3*math.Abs(at[i]-at[j])))
					factor.Set(i, j, k.At(i, j))
					if sites {
						factor.Set(i, j, k.At(i, j)*root[i]*root[j])
					}
				}
				factor.Set(i, i, factor.At(i, i)+0.1)
			}
			if !sites {
				root = nil
			}
			require.NoError(t, la.Cholesky(nil, factor))
			g := New(factor, root, matrix{k}, nil)
			require.NotNil(t, g)
			s, x := NewScratch(n), make([]float64, n)
			for range 50 {
				p := 7*src.Float64() - 1
				for i, v := range at {
					x[i] = math.Exp(-3 * math.Abs(p-v))
				}
				square, bound := g.Square(x, 1, false, s)
				z := append([]float64(nil), x...)
				for i, r := range root {
					z[i] *= r
				}
				la.Trsv(la.NoTrans, factor, z)
				want := la.SumSq(z)
				assert.InDelta(t, want, square, bound)
				assert.Less(t, bound, 1e-4)

				g.Start(x, 1, false, s)
				for before, all := 0.0, false; !all; {
					var part, e float64
					part, e, all = g.Add(s)
					assert.GreaterOrEqual(t, part, before)
					assert.LessOrEqual(t, part, want+e)
					if before = part; all {
						assert.InDelta(t, square, part, 1e-12) // the panels' sums are added up in another order
					}
				}
			}
		}
	}
	bad := la.NewMatrix[float64](2, 2)
	bad.Set(0, 0, 1)
	bad.Set(1, 1, 1e-9)
	assert.Nil(t, New(bad, nil, matrix{bad}, nil), "rounding is not small")
}

// A joint triangle has the sum of the squares of its parts, within its bound, in float32 and in integers.
func TestJointIsTheSumOfItsParts(t *testing.T) {
	src := rand.New(rand.NewPCG(95, 96))
	for _, n := range []int{1, 70, leastSteps + 3} {
		k := la.NewMatrix[float64](n, n)
		for i := range n {
			for j := range n {
				d := float64(i-j) / 5
				k.Set(i, j, math.Exp(-d*d/2))
			}
		}
		var parts []Part
		for _, share := range []float64{0.2, 0.5, 0.3} {
			p := Part{Factor: k.Clone(), Share: share}
			if share == 0.5 { // with sites
				p.Root = make([]float64, n)
				for i := range n {
					p.Root[i] = math.Exp(src.NormFloat64())
				}
				for i := range n {
					for j := range n {
						p.Factor.Set(i, j, p.Factor.At(i, j)*p.Root[i]*p.Root[j])
					}
				}
			}
			for i := range n {
				p.Factor.Set(i, i, p.Factor.At(i, i)+math.Exp(0.5*src.NormFloat64()))
			}
			require.NoError(t, la.Cholesky(nil, p.Factor))
			parts = append(parts, p)
		}
		g := Joint(parts, matrix{k}, func(_, _, bound float64) bool { return bound < 1e-2 })
		require.NotNil(t, g)
		require.Equal(t, n >= leastSteps, g.Coarse())
		s, x := NewScratch(n), make([]float64, n)
		for range 50 {
			at := float64(n) * src.Float64()
			for i := range x {
				d := (float64(i) - at) / 5
				x[i] = math.Exp(-d * d / 2)
			}
			var want float64
			for _, p := range parts {
				z := append([]float64(nil), x...)
				for i, r := range p.Root {
					z[i] *= r
				}
				for i := range z { // L⁻¹z
					z[i] = (z[i] - la.Dot(p.Factor.Row(i)[:i], z[:i])) / p.Factor.At(i, i)
				}
				want += p.Share * la.SumSq(z)
			}
			for _, coarse := range []bool{false, g.Coarse()} {
				got, bound := g.Square(x, 1, coarse, s)
				assert.InDelta(t, want, got, bound)
				assert.Less(t, bound, 1e-2)
			}
		}
	}
	flat := la.NewMatrix[float64](2, 2)
	flat.Set(0, 0, 1)
	flat.Set(1, 1, 1e-9)
	assert.Nil(t, Joint([]Part{{flat, nil, 0.5}, {flat, nil, 0.5}}, matrix{flat}, nil), "rounding is not small")
}
