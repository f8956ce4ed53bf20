package slab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// naiveGroups is the state of a fit with groups and Gaussian views, by the formulas of docs/theory/factors.md, section 7, one entry after
// the other. NaN is an entry that is not observed.
type naiveGroups struct {
	y                [][]float64
	group, view      []int
	a, A             [][]float64 // of φ, N×M
	w, v, gamma      [][]float64 // of the slabs, Q×M
	c, C, noise, tau [][]float64 // G×Q, and G×M
	pi, slab         [][]float64 // V×M
	mu, spread       float64     // of the prior of the offsets
	weight, scale    float64     // of the prior of the noise
	slabScale, floor float64
}

// rowsOf returns the rows of a matrix.
func rowsOf(m la.Matrix[float64]) (rows [][]float64) {
	for i := range m.Rows {
		rows = append(rows, slices.Clone(m.Row(i)))
	}
	return rows
}

// naiveOf copies the state of a fit.
func naiveOf(m *factors, y la.Matrix[float64]) *naiveGroups {
	b := m.groups
	s := &naiveGroups{
		y: rowsOf(y), group: b.Of, a: rowsOf(m.object.mean), A: rowsOf(m.object.variance), c: rowsOf(b.Offset), C: rowsOf(b.OffsetVariance),
		noise: rowsOf(b.Noise), tau: rowsOf(b.Variance), mu: m.offsetPriors[0].Mean, spread: m.offsetPriors[0].Variance,
		weight: m.noiseWeight, scale: m.noiseScale, slabScale: m.priorScale, floor: m.floor,
	}
	for q := range m.Q {
		s.view = append(s.view, int(m.viewOf[q]))
		var w, v, g []float64
		for _, p := range m.weights[q*m.M:][:m.M] {
			w, v, g = append(w, p.Mean), append(v, p.Variance), append(g, 1/(1+math.Exp(-p.Logit)))
		}
		s.w, s.v, s.gamma = append(s.w, w), append(s.v, v), append(s.gamma, g)
	}
	for i := 0; i < len(m.priors); i += m.M {
		var pi, slab []float64
		for _, p := range m.priors[i:][:m.M] {
			pi, slab = append(pi, p.Pi), append(slab, p.Variance)
		}
		s.pi, s.slab = append(s.pi, pi), append(s.slab, slab)
	}
	return s
}

// weightOf returns E[w] and E[w²].
func (s *naiveGroups) weightOf(q, k int) (mean, square float64) {
	g := s.gamma[q][k]
	return g * s.w[q][k], g * (s.w[q][k]*s.w[q][k] + s.v[q][k])
}

// fitted returns E[f] at an entry without the part of factor k; −1 leaves out none.
func (s *naiveGroups) fitted(n, q, without int) float64 {
	f := s.c[s.group[n]][q]
	for k := range s.a[n] {
		if e, _ := s.weightOf(q, k); k != without {
			f += e * s.a[n][k]
		}
	}
	return f
}

// each calls do for every observed entry.
func (s *naiveGroups) each(do func(n, q, g int, y float64)) {
	for n, row := range s.y {
		for q, y := range row {
			if !math.IsNaN(y) {
				do(n, q, s.group[n], y)
			}
		}
	}
}

// sweep makes the updates of a sweep, without the step that moves scales.
func (s *naiveGroups) sweep(learnTau bool) {
	N, Q, M, G, V := len(s.y), len(s.view), len(s.a[0]), len(s.c), len(s.pi)
	for k := range M {
		lambda, h := make([]float64, N), make([]float64, N)
		s.each(func(n, q, g int, y float64) {
			e, square := s.weightOf(q, k)
			lambda[n] += square / s.noise[g][q]
			h[n] += e * (y - s.fitted(n, q, k)) / s.noise[g][q]
		})
		for g := range G {
			if learnTau {
				s.tau[g][k] = bestTau(lambda, h, s.group, g)
			}
			for n := range N {
				if s.group[n] == g {
					s.A[n][k] = 1 / (1/s.tau[g][k] + lambda[n])
					s.a[n][k] = s.A[n][k] * h[n]
				}
			}
		}
	}
	for k := range M {
		precision, pull := make([]float64, Q), make([]float64, Q)
		s.each(func(n, q, g int, y float64) {
			precision[q] += (s.a[n][k]*s.a[n][k] + s.A[n][k]) / s.noise[g][q]
			pull[q] += s.a[n][k] * (y - s.fitted(n, q, k)) / s.noise[g][q]
		})
		for q := range Q {
			pi, slab := s.pi[s.view[q]][k], s.slab[s.view[q]][k]
			s.v[q][k] = 1 / (precision[q] + 1/slab)
			s.w[q][k] = s.v[q][k] * pull[q]
			odds := pi / (1 - pi) * math.Sqrt(s.v[q][k]/slab) * math.Exp(0.5*s.w[q][k]*s.w[q][k]/s.v[q][k])
			s.gamma[q][k] = 1 - 1/(1+odds)
		}
	}
	zero := func() (x [][]float64) {
		for range G {
			x = append(x, make([]float64, Q))
		}
		return x
	}
	precision, pull, errors, count := zero(), zero(), zero(), zero()
	s.each(func(n, q, g int, y float64) {
		precision[g][q] += 1 / s.noise[g][q]
		pull[g][q] += (y - s.fitted(n, q, -1) + s.c[g][q]) / s.noise[g][q]
	})
	for g := range G {
		for q := range Q {
			s.C[g][q] = 1 / (precision[g][q] + 1/s.spread)
			s.c[g][q] = s.C[g][q] * (pull[g][q] + s.mu/s.spread)
		}
	}
	s.each(func(n, q, g int, y float64) {
		d := y - s.fitted(n, q, -1)
		count[g][q]++
		errors[g][q] += d*d + s.C[g][q]
		for k := range M {
			e, square := s.weightOf(q, k)
			errors[g][q] += square*(s.a[n][k]*s.a[n][k]+s.A[n][k]) - e*e*s.a[n][k]*s.a[n][k]
		}
	})
	var inverse float64
	for g := range G {
		for q := range Q {
			s.noise[g][q] = max((errors[g][q]+s.weight*s.scale)/(count[g][q]+s.weight), s.floor)
			inverse += 1 / s.noise[g][q]
		}
	}
	s.scale = (1 + 2/s.weight) * float64(G*Q) / inverse
	for v := range V {
		for k := range M {
			var on, power, tasks float64
			for q := range Q {
				if s.view[q] == v {
					tasks, on = tasks+1, on+s.gamma[q][k]
					_, square := s.weightOf(q, k)
					power += square
				}
			}
			s.slab[v][k], s.pi[v][k] = (power+s.slabScale)/(on+1), on/(tasks+1)
		}
	}
	s.mu, s.spread = 0, 0
	for g := range G {
		for q := range Q {
			s.mu += s.c[g][q] / float64(G*Q)
		}
	}
	for g := range G {
		for q := range Q {
			s.spread += (s.C[g][q] + (s.c[g][q]-s.mu)*(s.c[g][q]-s.mu)) / float64(G*Q)
		}
	}
}

// bestTau searches the τ² of group g whose bound is highest: on a grid, and then around the best place of the grid.
func bestTau(lambda, h []float64, group []int, g int) float64 {
	value := func(x float64) (sum float64) {
		t := math.Exp(x)
		for n, l := range lambda {
			if group[n] == g {
				sum += h[n]*h[n]*t/(1+l*t) - math.Log1p(l*t)
			}
		}
		return sum
	}
	best, step := math.Log(leastGroupVariance), 0.01
	for x := best; x < 12; x += step {
		if value(x) > value(best) {
			best = x
		}
	}
	low, high := best-step, best+step
	for range 100 { // ternary search
		a, b := low+(high-low)/3, high-(high-low)/3
		if value(a) < value(b) {
			low = a
		} else {
			high = b
		}
	}
	return math.Exp(max(0.5*(low+high), math.Log(leastGroupVariance)))
}

// TestBestGroupVariance: the search for τ² ends at a maximum of the bound, not below the present value's bound or the bound of silence. With one λ for all
// objects there is one maximum, τ² = (mean h²/λ − 1)/λ.
func TestBestGroupVariance(t *testing.T) {
	src := rand.New(rand.NewPCG(8, 1))
	active, silent := 0, 0
	for draw := range 60 {
		const N = 12
		lambda, h, all := make([]float64, N), make([]float64, N), make([]int, N)
		square, scale := 0.0, math.Exp(2*src.NormFloat64())
		for n := range N {
			if lambda[n], all[n] = scale, n; draw%2 == 0 {
				lambda[n] *= math.Exp(src.NormFloat64())
			}
			h[n] = math.Sqrt(lambda[n]) * src.NormFloat64() * math.Exp(float64(draw%3)-0.7)
			square += h[n] * h[n] / scale / N
		}
		bound := func(t float64) (sum float64) {
			for n, l := range lambda {
				sum += h[n]*h[n]*t/(1+l*t) - math.Log1p(l*t)
			}
			return sum
		}
		m := &factors{groups: &sampleGroups{lambda: lambda}, h: h}
		for _, present := range []float64{leastGroupVariance, 0.03, 1, 40} {
			got := m.bestGroupVariance(all, present)
			high := bound(got)
			require.GreaterOrEqual(t, high, bound(present))
			require.GreaterOrEqual(t, high, bound(leastGroupVariance))
			require.Greater(t, high, bound(1.001*got))
			if got > leastGroupVariance {
				active++
				require.Greater(t, high, bound(got/1.001))
			} else {
				silent++
			}
			if draw%2 == 1 {
				require.InDelta(t, max((square-1)/scale, leastGroupVariance), got, 1e-7*got)
			}
		}
	}
	assert.Greater(t, active, 60)
	assert.Greater(t, silent, 60)
}

// TestGroupsNaively compares sweeps with the formulas, entry by entry.
func TestGroupsNaively(t *testing.T) {
	for _, missing := range []float64{0, 0.25} {
		y, _ := factorProblem{14, 11, 2, missing, 0.3, true, nil}.draw(3)
		f := Factors{Count: 3, Offsets: true, NoiseWeight: 4, Views: []int{5, 6}, Groups: threeGroups, Plain: true}
		m := factorModel(t, f, y)
		s := naiveOf(m, y)
		silent := 0
		for sweep := 1; sweep <= 18; sweep++ {
			require.NoError(t, m.Sweep(func(string) {}))
			s.sweep(sweep > groupWait)
			got := naiveOf(m, y)
			near := func(name string, want, got [][]float64) {
				for i := range want {
					for j := range want[i] {
						require.InDelta(t, want[i][j], got[i][j], 2e-6*(1+math.Abs(want[i][j])), "%s[%d][%d] after sweep %d", name, i, j, sweep)
					}
				}
			}
			near("E[φ]", s.a, got.a)
			near("Var[φ]", s.A, got.A)
			near("τ²", s.tau, got.tau)
			near("γ", s.gamma, got.gamma)
			near("E[c]", s.c, got.c)
			near("Var[c]", s.C, got.C)
			near("σ²", s.noise, got.noise)
			near("π", s.pi, got.pi)
			near("σ_w²", s.slab, got.slab)
			near("μ, σ_c², s", [][]float64{{s.mu, s.spread, s.scale}}, [][]float64{{got.mu, got.spread, got.scale}})
		}
		for _, row := range s.tau {
			for _, v := range row {
				if v <= leastGroupVariance*1.1 {
					silent++
				}
			}
		}
		t.Logf("%d of %d factors silent", silent, 3*3)
	}
}

// planted draws a table of two groups of objects with 30 tasks each of two views. The first factor is at work in both groups, the second
// in the first group only. Half of the weights are zero.
// The groups differ in offsets and in noise.
func planted(seed uint64, N int) (y la.Matrix[float64], group []int, z la.Matrix[float64]) {
	const Q = 60
	src := rand.New(rand.NewPCG(seed, 7))
	y, z = la.NewMatrix[float64](N, Q), la.NewMatrix[float64](N, 2)
	for n := range N {
		group = append(group, n%2)
		z.Set(n, 0, src.NormFloat64())
		if n%2 == 0 {
			z.Set(n, 1, src.NormFloat64())
		}
	}
	for q := range Q {
		w := []float64{src.NormFloat64() * float64(src.IntN(2)), src.NormFloat64() * float64(src.IntN(2))}
		c := []float64{src.NormFloat64(), 3 * src.NormFloat64()}
		for n := range N {
			y.Set(n, q, c[group[n]]+la.Dot(w, z.Row(n))+[]float64{0.3, 0.6}[group[n]]*src.NormFloat64())
		}
	}
	return y, group, z
}

// centred returns the table with every task centred in each group.
func centred(t *testing.T, y la.Matrix[float64], group []int) *Observed {
	t.Helper()
	center := [][]float64{make([]float64, y.Cols), make([]float64, y.Cols)}
	for n, g := range group {
		la.Axpy(2/float64(y.Rows), y.Row(n), center[g])
	}
	o, err := ObserveMatrix(y)
	require.NoError(t, err)
	return o.InUnitsOf(group, center, slices.Repeat([]float64{1}, y.Cols))
}

// TestGroupsFindSilence: a factor of one group is silent in the other, and the noise of each group is found.
func TestGroupsFindSilence(t *testing.T) {
	for _, N := range []int{50, 100} { // the factors are drawn, or the weights
		y, group, _ := planted(2, N)
		o := centred(t, y, group)
		fit, err := Factors{Count: 5, Offsets: true, NoiseWeight: 10, Views: []int{30, 30}, Groups: group}.Fit(t.Context(), o)
		require.NoError(t, err)
		require.True(t, fit.Record.Reason == vi.Converged, fit.Record.Reason)
		each, _, err := fit.Posterior.ExplainedByGroup(o)
		require.NoError(t, err)
		b := fit.Posterior.State().Groups
		var both, one int
		for k := range 5 {
			first, second := each[0].At(0, k), each[1].At(0, k)
			switch {
			case first > 0.05 && second > 0.05:
				both++
				assert.Greater(t, b.Variance.At(1, k), 0.3*b.Variance.At(0, k))
			case first > 0.05:
				one++
				assert.Less(t, math.Abs(second), 0.003)
				assert.Less(t, b.Variance.At(1, k), 0.02*b.Variance.At(0, k), "silent")
			default:
				assert.Less(t, max(first, second), 0.01)
			}
		}
		assert.Equal(t, []int{1, 1}, []int{both, one}, "%d objects", N)
		var noise [2]float64
		for g := range noise {
			for _, v := range b.Noise.Row(g) {
				noise[g] += v / 60
			}
		}
		assert.Greater(t, noise[1], 2*noise[0], "the true ratio is 4; the prior counts as 10 entries beside 25 or 50 of a task, and makes noise alike")
	}
}

// TestGroupsInAnyOrder: groups with other numbers, and objects in another order, are the same fit.
func TestGroupsInAnyOrder(t *testing.T) {
	y, group, _ := planted(2, 80)
	f := Factors{Count: 4, Offsets: true, NoiseWeight: 10, Views: []int{30, 30}, Ascent: vi.Ascent{MaxSweeps: 60}}
	fit := func(y la.Matrix[float64], group []int, workers int) *FactorFit {
		o, err := ObserveMatrix(y)
		require.NoError(t, err)
		f.Groups, f.Workers = group, workers
		fit, err := f.Fit(t.Context(), o)
		require.NoError(t, err)
		return fit
	}
	first := fit(y, group, 1)
	other := make([]int, len(group))
	for n, g := range group {
		other[n] = 1 - g
	}
	named := fit(y, other, 3)
	assert.InEpsilon(t, first.Record.Bound(), named.Record.Bound(), 1e-12)
	assert.InDeltaSlice(t, first.Posterior.s.Groups.Variance.Row(0), named.Posterior.s.Groups.Variance.Row(1), 1e-9)
	assert.InDeltaSlice(t, first.Posterior.s.Mean.Data, named.Posterior.s.Mean.Data, 1e-9)

	sameFactors(t, "workers", first, fit(y, group, 4))

	order := rand.New(rand.NewPCG(3, 3)).Perm(y.Rows)
	moved, of := y.TakeRows(order), make([]int, y.Rows)
	for i, n := range order {
		of[i] = group[n]
	}
	turned := fit(moved, of, 2)
	assert.InEpsilon(t, first.Record.Bound(), turned.Record.Bound(), 1e-9)
	for i, n := range order {
		assert.InDeltaSlice(t, first.Posterior.s.Mean.Row(n), turned.Posterior.s.Mean.Row(i), 1e-5)
	}
}

// TestGroupsTransform: an object of the fit has nearly the factors of the fit, in its own group.
func TestGroupsTransform(t *testing.T) {
	y, group, _ := planted(3, 50)
	o, err := ObserveMatrix(y)
	require.NoError(t, err)
	fit, err := Factors{Count: 3, Offsets: true, NoiseWeight: 10, Views: []int{30, 30}, Groups: group}.Fit(t.Context(), o)
	require.NoError(t, err)
	p, err := NewFactorPosterior(fit.Posterior.State())
	require.NoError(t, err)
	for n := range 6 {
		tasks, entries := o.Object(n)
		mean, variance, err := p.Group(group[n]).Transform(tasks, entries)
		require.NoError(t, err)
		for k, v := range variance {
			assert.InDelta(t, p.s.Mean.At(n, k), mean[k], 0.7*math.Sqrt(v), "object %d", n)
		}
		a, v := p.Entry(n, 5)
		b, w := p.Group(group[n]).Reconstruct(5, p.s.Mean.Row(n), p.s.Variance.Row(n))
		assert.Equal(t, []float64{a, v}, []float64{b, w})
	}
	_, _, err = p.Transform([]int{0}, []float64{1})
	assert.EqualError(t, err, "vi: the fit has groups: Group selects the group of a new object")
	turned, err := p.Reordered([]int{2, 0, 1})
	require.NoError(t, err)
	assert.Equal(t, p.s.Groups.Variance.At(1, 2), turned.s.Groups.Variance.At(1, 0))

	for want, f := range map[string]Factors{
		"vi: Groups: 3 for 50 objects":                    {Count: 1, Views: []int{60}, Groups: []int{0, 0, 0}},
		"vi: Groups: they need Views":                     {Count: 1, Groups: group},
		"vi: Groups: a Covariance excludes them":          {Count: 1, Views: []int{60}, Groups: group, Covariance: nearby(50)},
		"vi: Groups: object 1 is of group -1":             {Count: 1, Views: []int{60}, Groups: append([]int{0, -1}, group[2:]...)},
		"vi: Groups: group 2 has 1 objects: it needs two": {Count: 1, Views: []int{60}, Groups: append([]int{2}, group[1:]...)},
	} {
		_, err := f.Fit(t.Context(), o)
		assert.EqualError(t, err, want)
	}
	for want, change := range map[string]func(s *FactorState, b *FactorGroups){
		"Groups: they have views, no lengths, and offsets of their own": func(s *FactorState, _ *FactorGroups) {
			s.Offset, s.OffsetVariance = make([]float64, 60), slices.Repeat([]float64{1}, 60)
		},
		"Groups.Of: 3 for 50 objects": func(_ *FactorState, b *FactorGroups) { b.Of = b.Of[:3] },
		"Groups.Variance":             func(_ *FactorState, b *FactorGroups) { b.Variance = la.NewMatrix[float64](2, 3) },
		"Groups.Noise":                func(_ *FactorState, b *FactorGroups) { b.Noise = la.NewMatrix[float64](1, 60) },
		"Groups.OffsetVariance":       func(_ *FactorState, b *FactorGroups) { b.OffsetVariance = la.NewMatrix[float64](2, 60) },
	} {
		s := fit.Posterior.State()
		b := *s.Groups
		s.Groups = &b
		change(&s, &b)
		_, err := NewFactorPosterior(s)
		assert.ErrorContains(t, err, want, fmt.Sprint(want))
	}
}
