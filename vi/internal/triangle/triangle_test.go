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
			g := New(factor, root, matrix{k}, nil, false)
			require.NotNil(t, g)
			s, x := NewScratch(n), make([]float64, n)
			rows, wants := NewRows(50, 3, n), make([]float64, 50)
			for r := range wants {
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
				rows.Set(1, r, x, 1)
				wants[r] = want

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
			squares, bounds := make([]float64, 47), make([]float64, 47)
			g.Squares(rows, 1, squares, bounds)
			for r, square := range squares {
				assert.InDelta(t, wants[r], square, bounds[r])
				assert.Less(t, bounds[r], 1e-4)
			}
		}
	}
	bad := la.NewMatrix[float64](2, 2)
	bad.Set(0, 0, 1)
	bad.Set(1, 1, 1e-9)
	assert.Nil(t, New(bad, nil, matrix{bad}, nil, false), "rounding is not small")
}

// TestPack compares the variances of rows, their sum and what kernels that count as 0 add with the formulas of the package comment.
func TestPack(t *testing.T) {
	const n = 70
	src := rand.New(rand.NewPCG(85, 86))
	g := la.NewMatrix[float64](n, n)
	for i := 40; i < n; i++ {
		for j := range i + 1 {
			g.Set(i, j, src.NormFloat64())
		}
	}
	p := pack(g)
	total, squares := 0.0, 0.0
	for i := range n {
		square := 0.0
		for j := range i + 1 {
			square += g.At(i, j) * g.At(i, j)
		}
		const u = 0x1p-24
		v := (2 + float64(i)/2) * u * u / 3 * square
		assert.InDelta(t, v, p.rows[i], 1e-12*v)
		total, squares = total+v, squares+square
	}
	assert.InEpsilon(t, total, p.total, 1e-12)
	assert.InEpsilon(t, 0x1p-40*math.Sqrt(n*squares), p.spill, 1e-12)
	assert.Equal(t, (p.panels.Padded()-n+40)/la.PanelRows, p.begin, "panels of zeros")
}

// TestSquaresAndWeights compares sums side by side with plain sums.
func TestSquaresAndWeights(t *testing.T) {
	src := rand.New(rand.NewPCG(87, 86))
	for n := range 14 {
		z, v := make([]float32, n), make([]float64, n)
		want, weighed := 0.0, 0.0
		for i := range z {
			z[i], v[i] = float32(src.NormFloat64()), src.Float64()
			want += float64(z[i]) * float64(z[i])
			weighed += float64(z[i]) * float64(z[i]) * v[i]
		}
		sum, w := squares(z, v)
		assert.InDelta(t, want, sum, 1e-12)
		assert.InDelta(t, weighed, w, 1e-12)
	}
}

// TestCalibrationVectors compares the vectors with sums and differences of features: with the features φ of samples the kernel is φᵀφ',
// a vector is Φψ and stands for |ψ|².
func TestCalibrationVectors(t *testing.T) {
	src := rand.New(rand.NewPCG(88, 86))
	for _, n := range []int{1, 2, 64, 65, 130, 200} {
		features, k := la.NewMatrix[float64](n, 4), la.NewMatrix[float64](n, n)
		for i := range features.Data {
			features.Data[i] = src.NormFloat64()
		}
		for i := range n {
			for j := range n {
				k.Set(i, j, la.Dot(features.Row(i), features.Row(j)))
			}
		}
		columns, selves := vectors(matrix{k}, n)
		m := min(n, 64)
		require.Equal(t, 3*m, columns.Rows)
		previous := 0 // the first sample is its own predecessor
		for q := range m {
			i := q * n / m // evenly spread
			for kind, sign := range []float64{0, 1, -1} {
				psi := make([]float64, 4)
				for f := range psi {
					psi[f] = features.At(i, f) + sign*features.At(previous, f)
				}
				if kind == 2 && q == 0 { // no difference: what stands for 0 is left out
					require.Zero(t, selves[2])
					continue
				}
				for j := range n {
					require.InDelta(t, la.Dot(psi, features.Row(j)), columns.At(3*q+kind, j), 1e-12, "vector %d of sample %d of %d", kind, i, n)
				}
				require.InDelta(t, la.SumSq(psi), selves[3*q+kind], 1e-12)
			}
			previous = i
		}
	}
}

// TestCondition refuses a factor whose diagonal elements, times the order, are more than 2²⁶ apart.
func TestCondition(t *testing.T) {
	for _, c := range []struct {
		least float64
		kept  bool
	}{{0x1p-24, true}, {0x1p-24 * 0.999, false}} {
		f := la.NewMatrix[float64](2, 2)
		f.Set(0, 0, 2)
		f.Set(1, 1, c.least)
		assert.Equal(t, c.kept, New(f, nil, matrix{f}, nil, false) != nil, "%g", c.least)
	}
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
		g := Joint(parts, matrix{k}, func(_, _, bound, _ float64) bool { return bound < 1e-2 }, true)
		require.NotNil(t, g)
		require.Equal(t, n >= leastSteps, g.Coarse())
		s, x := NewScratch(n), make([]float64, n)
		content, asked := 0, 0
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
				if asked++; bound < 1e-2 {
					content++
				}
			}
		}
		assert.Greater(t, float64(content), mostly*float64(asked))
	}
	flat := la.NewMatrix[float64](2, 2)
	flat.Set(0, 0, 1)
	flat.Set(1, 1, 1e-9)
	assert.Nil(t, Joint([]Part{{flat, nil, 0.5}, {flat, nil, 0.5}}, matrix{flat}, nil, false), "rounding is not small")
}

// TestLargest compares with a loop. Elements that are not numbers do not count, and the signs of zeros and of numbers do not matter.
func TestLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for n := range 70 {
		k, want := make([]float64, n), 0.0
		for i := range k {
			k[i] = r.NormFloat64()
			if i%5 == 4 {
				k[i] = math.NaN()
				continue
			}
			want = max(want, math.Abs(k[i]))
		}
		require.Equal(t, want, NewScratch(n).Largest(k), "%d elements", n)
	}
	require.Zero(t, NewScratch(2).Largest([]float64{math.NaN(), math.Copysign(0, -1)}))
}
