package slab

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// lowRank draws a table of the given rank with gaps, and returns the table without gaps too.
func lowRank(N, Q, rank int) (y, whole la.Matrix[float64], group []int) {
	src := rand.New(rand.NewPCG(5, 5))
	draw := func(rows int) la.Matrix[float64] {
		x := la.NewMatrix[float64](rows, rank)
		for i := range x.Data {
			x.Data[i] = src.NormFloat64()
		}
		return x
	}
	z, w := draw(N), draw(Q)
	y, whole = la.NewMatrix[float64](N, Q), la.NewMatrix[float64](N, Q)
	for n := range N {
		group = append(group, n%2)
		for q := range Q {
			whole.Set(n, q, la.Dot(z.Row(n), w.Row(q)))
			if y.Set(n, q, whole.At(n, q)); src.IntN(8) == 0 {
				y.Set(n, q, math.NaN())
			}
		}
	}
	return y, whole, group
}

// TestPrincipalSubspace: the principal components of a table without noise restore its gaps, and the scores are uncorrelated.
// Components beyond the rank of a table without gaps change nothing.
func TestPrincipalSubspace(t *testing.T) {
	y, whole, group := lowRank(40, 30, 2)
	for M, y := range map[int]la.Matrix[float64]{2: y, 5: whole} {
		m := factorModel(t, Factors{Count: M, Views: []int{30}, Groups: group}, y)
		p := m.newPrincipalStart(3)
		for range 100 {
			p.iterate(m)
		}
		root := m.y.byTask.root[0] // all are alike at the start
		for n := range 40 {
			for q := range 30 {
				assert.InDelta(t, whole.At(n, q), la.Dot(p.scores.Row(n), p.loadings.Row(q))/root, 1e-3, "%d components, entry (%d, %d)", M, n, q)
			}
		}
		for i := range 2 {
			for j := range 2 {
				var product float64
				for n := range 40 {
					product += p.scores.At(n, i) * p.scores.At(n, j) / 40
				}
				assert.InDelta(t, map[bool]float64{true: 1}[i == j], product, 1e-9)
			}
		}
	}
}

// TestPrincipalIteration compares an iteration with its formulas, for the whole table with its gaps filled.
func TestPrincipalIteration(t *testing.T) {
	const N, Q, M = 9, 7, 3
	y, _, group := lowRank(N, Q, 4)
	m := factorModel(t, Factors{Count: M, Views: []int{Q}, Groups: group}, y)
	root := m.y.byTask.root[0] // all are alike at the start
	p := m.newPrincipalStart(4)
	for range 3 {
		filled := la.NewMatrix[float64](N, Q)
		for n := range N {
			for q := range Q {
				if filled.Set(n, q, root*y.At(n, q)); math.IsNaN(y.At(n, q)) {
					filled.Set(n, q, la.Dot(p.scores.Row(n), p.loadings.Row(q)))
				}
			}
		}
		scores, loadings := la.NewMatrix[float64](N, M), la.NewMatrix[float64](Q, M)
		la.Gemm(nil, la.NoTrans, la.NoTrans, 1, filled, p.loadings, 0, scores)
		for k := range M { // Gram and Schmidt
			column := func(j, n int) float64 { return scores.At(n, j) }
			for j := range k {
				var product float64
				for n := range N {
					product += column(j, n) * column(k, n) / N
				}
				for n := range N {
					scores.Set(n, k, column(k, n)-product*column(j, n))
				}
			}
			var square float64
			for n := range N {
				square += column(k, n) * column(k, n) / N
			}
			for n := range N {
				scores.Set(n, k, column(k, n)/math.Sqrt(square))
			}
		}
		la.Gemm(nil, la.Transpose, la.NoTrans, 1.0/N, filled, scores, 0, loadings)
		p.iterate(m)
		assert.InDeltaSlice(t, scores.Data, p.scores.Data, 1e-9)
		assert.InDeltaSlice(t, loadings.Data, p.loadings.Data, 1e-9)
	}
}

// TestPrincipalDensity compares the density of turned factors with the sum of normal densities in its definition, and finds factors that
// were turned.
func TestPrincipalDensity(t *testing.T) {
	y, group, _ := planted(4, 80)
	m := factorModel(t, Factors{Count: 3, Views: []int{30, 30}, Groups: group, Offsets: true}, y)
	p := m.newPrincipalStart(1)
	src := rand.New(rand.NewPCG(1, 2))
	for n := range 80 {
		for k := range 3 {
			p.scores.Set(n, k, src.NormFloat64()*[]float64{1, 0.1}[(n+k)%2])
		}
	}
	for i := range p.loadings.Data {
		p.loadings.Data[i] *= float64(src.IntN(2))
	}
	naive := func(noise float64, s, l la.Matrix[float64]) (sum float64) {
		normal := func(x, v float64) float64 { return math.Exp(-x*x/(2*v)) / math.Sqrt(2*math.Pi*v) }
		for _, k := range []int{0, 2} {
			var power float64
			var square [2]float64
			for q := range l.Rows {
				power += l.At(q, k) * l.At(q, k) / float64(l.Rows)
			}
			for q := range l.Rows {
				sum += math.Log(0.5*normal(l.At(q, k), 2*power+noise) + 0.5*normal(l.At(q, k), noise))
			}
			for n := range s.Rows {
				square[group[n]] += s.At(n, k) * s.At(n, k) / 40
			}
			sum -= 20 * (math.Log(square[0]) + math.Log(square[1]))
		}
		return sum
	}
	tan := []float64{-0.7, 0, 0.3, 1}
	got := p.density(m, 0, 2, 0.02, tan)
	for k, x := range tan {
		s, l := p.scores.Clone(), p.loadings.Clone()
		turnPair(s, 0, 2, x)
		turnPair(l, 0, 2, x)
		assert.InDelta(t, naive(0.02, s, l)-naive(0.02, p.scores, p.loadings), got[k]-got[1], 1e-8, "tan %g", x)
		for q := range 4 {
			assert.InDelta(t, la.Dot(p.scores.Row(3), p.loadings.Row(q)), la.Dot(s.Row(3), l.Row(q)), 1e-12, "a rotation changes no fitted value")
		}
	}
	want := p.scores.Clone()
	for _, pair := range [][2]int{{0, 1}, {1, 2}, {0, 2}} {
		turnPair(p.scores, pair[0], pair[1], 0.6)
		turnPair(p.loadings, pair[0], pair[1], 0.6)
	}
	p.turn(m)
	var noise float64 // of a loading: the mean square of what S·Lᵀ leaves, over N
	for n := range 80 {
		tasks, entries := m.y.Object(n)
		for i, q := range tasks {
			d := entries[i]*m.y.byTask.root[0] - la.Dot(p.scores.Row(n), p.loadings.Row(q))
			noise += d * d / (80 * 60) / 80
		}
	}
	for j := range 3 {
		for i := range j {
			near := p.density(m, i, j, noise, []float64{0, -0.3, -0.1, -0.03, -0.01, 0.01, 0.03, 0.1, 0.3})
			assert.Less(t, slices.Max(near[1:]), near[0]+2e-3, "the density is highest, to the smallest step")
		}
	}
	for k := range 3 {
		var closest float64
		for j := range 3 {
			var ab, aa, bb float64
			for n := range 80 {
				a, b := want.At(n, k), p.scores.At(n, j)
				ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
			}
			closest = max(closest, math.Abs(ab)/math.Sqrt(aa*bb))
		}
		assert.Greater(t, closest, 0.995, "factor %d", k)
	}
}

// TestPrincipalStart: the start has the same bits for any number of workers, and serves tables of any shape and kind.
func TestPrincipalStart(t *testing.T) {
	y, group, _ := planted(2, 500)
	o := centred(t, y, group)
	f := Factors{Count: 5, Offsets: true, NoiseWeight: 10, Views: []int{30, 30}, Groups: group, Principal: true, Workers: 1}
	first, err := f.Fit(t.Context(), o)
	require.NoError(t, err)
	f.Workers = 4
	other, err := f.Fit(t.Context(), o)
	require.NoError(t, err)
	sameFactors(t, "workers", first, other)

	f = Factors{Count: 12, Views: []int{3, 4}, Kinds: []FactorKind{Bernoulli, Poisson}, Groups: []int{0, 1, 0, 1, 1}, Offsets: true, Principal: true}
	small := la.NewMatrix[float64](5, 7)
	for i := range small.Data {
		small.Data[i] = float64(i * i % 5)
		if i%7 < 3 {
			small.Data[i] = float64(i * i % 2)
		}
	}
	small.Set(2, 3, math.NaN())
	o, err = ObserveMatrix(small)
	require.NoError(t, err)
	fit, err := f.Fit(t.Context(), o)
	require.NoError(t, err)
	assert.False(t, slices.ContainsFunc(fit.Posterior.s.Mean.Data, math.IsNaN))

	f.Groups = nil
	_, err = f.Fit(t.Context(), o)
	assert.EqualError(t, err, "vi: Principal: it needs Groups")
}
