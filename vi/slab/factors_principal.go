package slab

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// principalStart starts the factors at rotated principal components. The table r, N×Q, has the targets of the entries, each times the root of
// its precision, so that tasks of all kinds have one unit. S·Lᵀ is its approximation of rank M with SᵀS = N·1. Orthogonal iteration finds
// it, with the entries of S·Lᵀ in the gaps of r. Rotations of pairs of factors, which do not change S·Lᵀ, then make the loadings L sparse
// and the scores S small in some groups. Derived in docs/theory/factors.md, section 7.
type principalStart struct {
	scores, before la.Matrix[float64] // N×M, S, and S of the iteration before
	loadings       la.Matrix[float64] // Q×M
	gram           la.Matrix[float64] // M×M, LᵀL
	change         la.Matrix[float64] // M×M, the scores on the scores before them
}

const (
	principalRounds = 30 // orthogonal iterations
	turnRounds      = 20 // times that all pairs are turned, at most
)

// beginPrincipal starts from rotated principal components and the weights that are best for them. The seed draws the first loadings.
func (m *factors) beginPrincipal(seed uint64) {
	p := m.newPrincipalStart(seed)
	for range principalRounds {
		p.iterate(m)
	}
	p.turn(m)
	for k := range m.M {
		precision := 1.0 // of the factor at an object, as the entries of r have noise of about 1
		for q := range m.Q {
			precision += float64(p.loadings.At(q, k) * p.loadings.At(q, k))
		}
		for n := range m.N {
			m.object.mean.Row(n)[k], m.object.variance.Row(n)[k] = p.scores.At(n, k), 1/precision
		}
	}
	m.firstWeights()
}

// newPrincipalStart returns a start with drawn loadings, and scores of zero.
func (m *factors) newPrincipalStart(seed uint64) *principalStart {
	p := &principalStart{
		scores: la.NewMatrix[float64](m.N, m.M), before: la.NewMatrix[float64](m.N, m.M), loadings: la.NewMatrix[float64](m.Q, m.M),
		gram: la.NewMatrix[float64](m.M, m.M), change: la.NewMatrix[float64](m.M, m.M),
	}
	random.Normal(random.Source(seed), p.loadings.Data)
	return p
}

// iterate sets S to r·L with orthogonal columns, and L to rᵀS/N. Both take r with the old S·Lᵀ in its gaps, which is S·Lᵀ plus
// what it leaves of the entries.
func (p *principalStart) iterate(m *factors) {
	p.before.CopyFrom(p.scores)
	la.Syrk(&m.crew.All, la.Transpose, 1, p.loadings, 0, p.gram)
	p.gram.MirrorLower()
	m.crew.each(m.objectBlocks, func(_ *lineWorker, block int) {
		for n := m.objectBlocks[block]; n < m.objectBlocks[block+1]; n++ {
			to, from := p.scores.Row(n), p.before.Row(n)
			for k := range to {
				to[k] = la.Dot(p.gram.Row(k), from)
			}
			m.y.byObject.eachScaled(n, func(q int, r float64) {
				l := p.loadings.Row(q)
				la.Axpy(r-la.Dot(l, from), l, to)
			})
		}
	})
	p.whiten()
	p.change.Fill(0)
	for n := range m.N {
		for k, s := range p.scores.Row(n) {
			la.Axpy(s/float64(m.N), p.before.Row(n), p.change.Row(k))
		}
	}
	m.crew.each(m.taskBlocks, func(_ *lineWorker, block int) {
		to := make([]float64, m.M)
		for q := m.taskBlocks[block]; q < m.taskBlocks[block+1]; q++ {
			l := p.loadings.Row(q)
			for k := range to {
				to[k] = la.Dot(p.change.Row(k), l)
			}
			m.y.byTask.eachScaled(q, func(n int, r float64) {
				la.Axpy((r-la.Dot(l, p.before.Row(n)))/float64(m.N), p.scores.Row(n), to)
			})
			copy(l, to)
		}
	})
}

// eachScaled calls do for the entries of line i, each times the root of its precision.
func (l *lines) eachScaled(i int, do func(j int, r float64)) {
	index, value := l.line(i)
	root := l.root[l.start[i]:]
	for k, j := range index {
		do(int(j), root[k]*value[k])
	}
}

// whiten makes SᵀS = N·1 by the Cholesky factor of SᵀS. A column that depends on the columns before it becomes zero.
func (p *principalStart) whiten() {
	N, M := p.scores.Rows, p.scores.Cols
	r := la.NewMatrix[float64](M, M)
	for n := range N {
		s := p.scores.Row(n)
		for k, v := range s {
			la.Axpy(v/float64(N), s[:k+1], r.Row(k)[:k+1])
		}
	}
	solve := func(row []float64, k int) { // row[:k] ← the solution of a triangular system
		for j := range k {
			if d := r.At(j, j); d > 0 {
				row[j] = (row[j] - la.Dot(row[:j], r.Row(j)[:j])) / d
			} else {
				row[j] = 0
			}
		}
	}
	for k := range M {
		row := r.Row(k)
		solve(row, k)
		if rest := row[k] - la.Dot(row[:k], row[:k]); rest > 1e-12*row[k] {
			row[k] = math.Sqrt(rest)
		} else {
			row[k] = 0
		}
	}
	for n := range N {
		solve(p.scores.Row(n), M)
	}
}

// pairSquares are the mean squares and the mean product of two columns.
type pairSquares struct{ first, both, second float64 }

// add adds a row of two columns. rows is the number of rows.
func (s *pairSquares) add(x, y, rows float64) {
	s.first += float64(x*x) / rows
	s.both += float64(x*y) / rows
	s.second += float64(y*y) / rows
}

// turned returns the mean square of cos·first + sin·second.
func (s *pairSquares) turned(cos, sin float64) float64 {
	return max(0, float64(cos*cos*s.first)+float64(2*cos*sin*s.both)+float64(sin*sin*s.second))
}

// turn turns pairs of factors, one after the other, to where the log density of the loadings and the scores is highest: see density.
func (p *principalStart) turn(m *factors) {
	var rest, entries float64
	for q := range m.Q {
		m.y.byTask.eachScaled(q, func(n int, r float64) {
			d := r - la.Dot(p.loadings.Row(q), p.scores.Row(n))
			rest, entries = rest+float64(d*d), entries+1
		})
	}
	noise := max(rest/entries, m.floor) / float64(m.N)
	var grid []float64
	for i := -7; i <= 8; i++ {
		grid = append(grid, float64(i)/8)
	}
	for range turnRounds {
		turned := false
		for j := range m.M {
			for i := range j {
				best := 0.0
				first := p.density(m, i, j, noise, []float64{0})[0]
				high := first
				try := func(tan []float64) {
					for k, v := range p.density(m, i, j, noise, tan) {
						if v > high {
							best, high = tan[k], v
						}
					}
				}
				try(grid)
				for step := 1.0 / 16; step > 1e-3; step /= 2 {
					try([]float64{best - step, best + step})
				}
				if high > first+1e-3 {
					turned = true
					turnPair(p.loadings, i, j, best)
					turnPair(p.scores, i, j, best)
				}
			}
		}
		if !turned {
			return
		}
	}
}

// slimmest is the smallest mean square of the scores of a group that counts.
const slimmest = 1e-6

// density returns, but for a constant, the log density of factors i and j that are turned by the angle of each tangent,
//
//	Σ_q log[½N(l_q; 0, 2·l̄² + v) + ½N(l_q; 0, v)] − ½ Σ_g N_g·log s̄_g²,
//
// summed over the two factors. l are the loadings of a factor, l̄² is their mean square, v their variance, which is noise, and s̄_g² the mean
// square of its scores in group g.
func (p *principalStart) density(m *factors, i, j int, noise float64, tan []float64) []float64 {
	var loadings pairSquares
	for q := range m.Q {
		l := p.loadings.Row(q)
		loadings.add(l[i], l[j], float64(m.Q))
	}
	scores := make([]pairSquares, len(m.groups.members))
	for g, members := range m.groups.members {
		for _, n := range members {
			s := p.scores.Row(n)
			scores[g].add(s[i], s[j], float64(len(members)))
		}
	}
	blocks := len(m.taskBlocks) - 1
	parts := la.NewMatrix[float64](blocks, len(tan))
	sum := make([]float64, len(tan))
	for side := range 2 {
		angle := func(t float64) (cos, sin float64) {
			cos = 1 / math.Sqrt(1+float64(t*t))
			if sin = t * cos; side == 1 {
				return -sin, cos
			}
			return cos, sin
		}
		m.crew.each(m.taskBlocks, func(_ *lineWorker, block int) {
			for k, t := range tan {
				cos, sin := angle(t)
				slab := float64(2*loadings.turned(cos, sin)) + noise
				peak, rate := math.Sqrt(slab/noise), 0.5*(1/noise-1/slab)
				var part float64
				for q := m.taskBlocks[block]; q < m.taskBlocks[block+1]; q++ {
					row := p.loadings.Row(q)
					l := float64(cos*row[i]) + float64(sin*row[j])
					square := float64(l * l)
					part += special.Log1p(peak*special.Exp(-rate*square)) - float64(0.5*(special.Log(slab)+square/slab))
				}
				parts.Row(block)[k] = part
			}
		})
		for k, t := range tan {
			for block := range blocks {
				sum[k] += parts.At(block, k)
			}
			cos, sin := angle(t)
			for g, s := range scores {
				sum[k] -= float64(0.5 * float64(len(m.groups.members[g])) * special.Log(max(s.turned(cos, sin), slimmest)))
			}
		}
	}
	return sum
}

// turnPair turns columns i and j of x by the angle of a tangent.
func turnPair(x la.Matrix[float64], i, j int, tan float64) {
	cos := 1 / math.Sqrt(1+float64(tan*tan))
	sin := tan * cos
	for n := range x.Rows {
		row := x.Row(n)
		a, b := row[i], row[j]
		row[i], row[j] = float64(cos*a)+float64(sin*b), float64(cos*b)-float64(sin*a)
	}
}
