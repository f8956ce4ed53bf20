package slab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/fittest"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// factorProblem draws data from a factor model; missing is the share of entries
// that are not observed, and truth the function without noise.
type factorProblem struct {
	N, Q, M int
	missing float64
	noise   float64
	offsets bool
	kinds   []FactorKind // of each task; nil if all are Gaussian
}

func (p factorProblem) draw(seed uint64) (y, truth la.Matrix[float64]) {
	src := random.Source(seed)
	y, truth = la.NewMatrix[float64](p.N, p.Q), la.NewMatrix[float64](p.N, p.Q)
	phi, w := la.NewMatrix[float64](p.N, p.M), la.NewMatrix[float64](p.Q, p.M)
	random.Normal(src, phi.Data)
	random.Normal(src, w.Data)
	for i := range w.Data {
		if src.Float64() < 0.4 {
			w.Data[i] = 0
		}
	}
	la.Gemm(nil, la.NoTrans, la.Transpose, 1, phi, w, 0, truth)
	if p.offsets {
		c := make([]float64, p.Q)
		random.Normal(src, c)
		for n := range p.N {
			for q := range p.Q {
				truth.Row(n)[q] += 5 + c[q]
			}
		}
	}
	random.Normal(src, y.Data)
	la.Scal(p.noise, y.Data)
	for i := range y.Data {
		y.Data[i] += truth.Data[i]
		if p.kinds != nil {
			y.Data[i] = outcome(p.kinds[i%p.Q], truth.Data[i], src)
		}
		if src.Float64() < p.missing {
			y.Data[i] = math.NaN()
		}
	}
	return y, truth
}

// factorCases are models and data of every kind.
var factorCases = []struct {
	name string
	factorProblem
	Factors
	long bool // lines longer than a block of products
}{
	{"pca", factorProblem{12, 9, 2, 0, 0.3, false, nil}, Factors{Count: 3, Noise: NoiseShared}, false},
	{"fa", factorProblem{12, 9, 2, 0, 0.3, false, nil}, Factors{Count: 3}, false},
	{"pca, gaps", factorProblem{12, 9, 2, 0.3, 0.3, false, nil}, Factors{Count: 3, Noise: NoiseShared}, false},
	{"fa, gaps", factorProblem{12, 9, 2, 0.3, 0.3, false, nil}, Factors{Count: 3}, false},
	{"pca, offsets", factorProblem{14, 9, 2, 0, 0.3, true, nil}, Factors{Count: 2, Noise: NoiseShared, Offsets: true}, false},
	{"fa, offsets", factorProblem{14, 9, 2, 0, 0.3, true, nil}, Factors{Count: 2, Offsets: true, NoiseWeight: 4}, false},
	{"fa, offsets, gaps", factorProblem{14, 9, 2, 0.5, 0.3, true, nil}, Factors{Count: 2, Offsets: true, NoiseWeight: 4}, false},
	{"held", factorProblem{14, 9, 2, 0.5, 0.3, true, nil}, Factors{Count: 2, Held: Held{true, true, true}}, false},
	{"long", factorProblem{700, 5, 2, 0.2, 0.3, true, nil}, Factors{Count: 3, Offsets: true}, true},
	{"covariance", factorProblem{12, 30, 2, 0, 0.3, false, nil}, Factors{Count: 3, Noise: NoiseShared, Covariance: nearby(12)}, false},
	{"covariance, gaps", factorProblem{12, 30, 2, 0.5, 0.3, true, nil}, Factors{Count: 3, Offsets: true, Covariance: nearby(12), LengthsEvery: 2}, false},
	{"views", factorProblem{14, 11, 2, 0, 0.3, true, nil}, Factors{Count: 3, Offsets: true, NoiseWeight: 4, Views: []int{3, 2, 6}}, false},
	{"views, gaps", factorProblem{14, 11, 2, 0.3, 0.3, true, nil}, Factors{Count: 3, Noise: NoiseShared, Offsets: true, Views: []int{4, 7}}, false},
	{"views, held", factorProblem{14, 11, 2, 0, 0.3, false, nil}, Factors{Count: 2, Noise: NoiseShared, Held: Held{Pi: true, Variance: true}, Views: []int{5, 6}}, false},
	{"kinds", factorProblem{14, 11, 2, 0, 0.3, true, mixed}, Factors{Count: 3, Offsets: true, NoiseWeight: 4, Views: []int{3, 5, 3}, Kinds: threeKinds}, false},
	{"kinds, gaps", factorProblem{14, 11, 2, 0.3, 0.3, true, mixed}, Factors{Count: 3, Noise: NoiseShared, Offsets: true, Views: []int{3, 5, 3}, Kinds: threeKinds}, false},
	{"kinds, held", factorProblem{14, 11, 2, 0.3, 0.3, false, mixed}, Factors{Count: 2, Held: Held{Pi: true, Variance: true}, Views: []int{3, 5, 3}, Kinds: threeKinds}, false},
	{"kinds, covariance", factorProblem{12, 11, 2, 0, 0.3, true, mixed}, Factors{Count: 2, Offsets: true, Views: []int{3, 5, 3}, Kinds: threeKinds, Covariance: nearby(12), LengthsEvery: 2}, false},
	{"one kind", factorProblem{30, 11, 2, 0, 0.3, false, slices.Repeat([]FactorKind{Bernoulli}, 11)}, Factors{Count: 2, Offsets: true, Views: []int{11}, Kinds: []FactorKind{Bernoulli}}, false},
	{"groups", factorProblem{14, 11, 2, 0, 0.3, true, nil}, Factors{Count: 3, Offsets: true, NoiseWeight: 4, Views: []int{5, 6}, Groups: threeGroups}, false},
	{"groups, gaps", factorProblem{14, 11, 2, 0.3, 0.3, true, nil}, Factors{Count: 3, Noise: NoiseShared, Offsets: true, Views: []int{5, 6}, Groups: threeGroups}, false},
	{"groups, held", factorProblem{14, 11, 2, 0.3, 0.3, false, nil}, Factors{Count: 2, Held: Held{Pi: true, Variance: true}, Views: []int{5, 6}, Groups: threeGroups}, false},
	{"groups, kinds", factorProblem{14, 11, 2, 0.2, 0.3, true, mixed}, Factors{Count: 3, Offsets: true, NoiseWeight: 4, Views: []int{3, 5, 3}, Kinds: threeKinds, Groups: threeGroups}, false},
	{"groups, one kind", factorProblem{14, 11, 2, 0, 0.3, false, slices.Repeat([]FactorKind{Bernoulli}, 11)}, Factors{Count: 2, Views: []int{11}, Kinds: []FactorKind{Bernoulli}, Groups: threeGroups}, false},
	{"sparse", factorProblem{20, 300, 2, 0.96, 0.3, false, nil}, Factors{Count: 3, NoiseWeight: 2}, true},
}

// threeGroups are the groups of 14 objects.
var threeGroups = []int{0, 0, 1, 2, 1, 0, 1, 2, 2, 0, 1, 0, 2, 1}

// threeKinds are the kinds of three views, and mixed the kinds of their 3, 5 and 3 tasks.
var (
	threeKinds = []FactorKind{Bernoulli, Gaussian, Poisson}
	mixed      = kindsOfTasks(threeKinds, []int{3, 5, 3})
)

// outcome draws an entry of the kind for a function.
func outcome(kind FactorKind, f float64, src special.Rand) float64 {
	switch kind {
	case Bernoulli:
		if src.Float64() < 1/(1+math.Exp(-f)) {
			return 1
		}
		return 0
	case Poisson:
		// The number of arrivals before the mean.
		count, at := -1.0, 0.0
		for mean := math.Log1p(math.Exp(f)); at <= mean; count++ {
			at -= math.Log(1 - src.Float64())
		}
		return count
	}
	return f + 0.3*src.NormFloat64()
}

// factorModel returns the initial state of a fit of f to y.
func factorModel(t *testing.T, f Factors, y la.Matrix[float64]) *factors {
	t.Helper()
	o, err := ObserveMatrix(y)
	require.NoError(t, err)
	m, err := f.model(o)
	require.NoError(t, err)
	return m
}

// TestDimsOfTables: a table without gaps has all its entries, another only those that are observed.
func TestDimsOfTables(t *testing.T) {
	y := la.MatrixOf(2, 3, []float64{1, 2, 3, 4, 5, 6})
	for _, missing := range []int{0, 1} {
		if missing > 0 {
			y.Set(1, 0, math.NaN())
		}
		o, err := ObserveMatrix(y)
		require.NoError(t, err)
		n, q, entries := o.Dims()
		assert.Equal(t, []int{2, 3, 6 - missing}, []int{n, q, entries})
	}
}

// nearby is the exponential covariance of N places in a row.
func nearby(N int) Covariance {
	d := la.NewMatrix[float64](N, N)
	for i := range N {
		for j := range N {
			d.Set(i, j, math.Abs(float64(i-j)))
		}
	}
	return DecayCovariance(d, 2, 0.1, 100)
}

// TestFactorBoundRises checks after every update of one factor that the bound, as
// found entry by entry, has not fallen, and at the end of a sweep that the model's
// own is the same.
func TestFactorBoundRises(t *testing.T) {
	for _, c := range factorCases {
		t.Run(c.name, func(t *testing.T) {
			y, _ := c.draw(1)
			m := factorModel(t, c.Factors, y)
			last := slowBound(m)
			sweeps := 14
			if c.long {
				sweeps = 3
			}
			for range sweeps {
				m.sweeps++
				for _, u := range m.smallSteps() {
					require.NoError(t, u.Step())
					b := slowBound(m)
					require.False(t, testkit.Fell(last, b, 0), "%s: from %.12g to %.12g", u.Name, last, b)
					last = b
				}
				require.InEpsilon(t, last, m.Bound(), 1e-10)
			}
		})
	}
}

// TestFactorStorage: a complete matrix, its entries, and its entries in another
// order give the same fit.
func TestFactorStorage(t *testing.T) {
	for _, c := range factorCases {
		if c.missing > 0 {
			continue
		}
		y, _ := c.draw(2)
		dense, err := ObserveMatrix(y)
		require.NoError(t, err)
		require.True(t, dense.complete())
		var entries []Entry
		for n := range c.N {
			for q := range c.Q {
				entries = append(entries, Entry{int32(n), int32(q), y.At(n, q)})
			}
		}
		random.Source(3).Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		sparse, err := ObserveEntries(c.N, c.Q, entries)
		require.NoError(t, err)
		a, err := c.model(dense)
		require.NoError(t, err)
		b, err := c.model(sparse)
		require.NoError(t, err)
		for range 5 {
			require.NoError(t, a.Sweep(nil))
			require.NoError(t, b.Sweep(nil))
			require.InEpsilon(t, a.Bound(), b.Bound(), 1e-11, c.name)
		}
		testkit.RequireClose(t, c.name+": φ", a.posterior().s.Mean, b.posterior().s.Mean, 1e-9)
		testkit.RequireClose(t, c.name+": w", a.posterior().e, b.posterior().e, 1e-9)
		testkit.RequireClose(t, c.name+": σ²", a.noise, b.noise, 1e-9)
	}
}

func sameFactors(t *testing.T, name string, a, b *FactorFit) {
	t.Helper()
	assert.Equal(t, a.Record, b.Record, name)
	x, y := a.Posterior.s, b.Posterior.s
	assert.Equal(t, testkit.Flat(x.Mean), testkit.Flat(y.Mean), "%s: E[φ]", name)
	assert.Equal(t, testkit.Flat(x.Variance), testkit.Flat(y.Variance), "%s: Var[φ]", name)
	x.Mean, x.Variance, y.Mean, y.Variance = la.Matrix[float64]{}, la.Matrix[float64]{}, la.Matrix[float64]{}, la.Matrix[float64]{}
	assert.Equal(t, x, y, name)
}

func TestFactorWorkers(t *testing.T) {
	for _, p := range []factorProblem{{300, 200, 2, 0, 0.3, true, nil}, {280, 300, 2, 0.5, 0.3, true, nil}} {
		y, _ := p.draw(4)
		o, err := ObserveMatrix(y)
		require.NoError(t, err)
		var first *FactorFit
		for _, workers := range []int{1, 2, 5} {
			f := Factors{Count: 4, Offsets: true, NoiseWeight: 3, Workers: workers, Ascent: vi.Ascent{MaxSweeps: 3}}
			m, err := f.model(o)
			require.NoError(t, err)
			require.Greater(t, len(m.objectBlocks), 2)
			fit, err := f.Fit(t.Context(), o)
			require.NoError(t, err)
			if first == nil {
				first = fit
				continue
			}
			sameFactors(t, fmt.Sprint(workers, " workers"), first, fit)
		}
	}
}

// TestFactorJournal goes on from the journals of some sweeps, and compares with the ascent without a break.
func TestFactorJournal(t *testing.T) {
	for _, c := range factorCases {
		y, _ := c.draw(5)
		o, err := ObserveMatrix(y)
		require.NoError(t, err)
		f := c.Factors
		fittest.RequireResumed(t, c.name, 30, []int{1, 7, 11, 16}, func(a vi.Ascent) any {
			f.Ascent = a
			fit, err := f.Fit(t.Context(), o)
			require.NoError(t, err)
			return []any{fit.Record, fit.Posterior.State()}
		})
	}
}

// TestFactorsComplete completes the gaps of data that the model fits, nearly as
// well as the noise allows, and knows its errors.
func TestFactorsComplete(t *testing.T) {
	testkit.NotShort(t)
	p := factorProblem{80, 40, 3, 0.4, 0.2, true, nil}
	y, truth := p.draw(6)
	o, err := ObserveMatrix(y)
	require.NoError(t, err)
	fit, err := Factors{Count: 6, Offsets: true, Noise: NoiseShared, Seed: 1, Ascent: vi.Ascent{MaxSweeps: 500}}.Fit(t.Context(), o)
	require.NoError(t, err)
	var square, scaled, count float64
	for n := range p.N {
		for q := range p.Q {
			if math.IsNaN(y.At(n, q)) {
				mean, v := fit.Posterior.Entry(n, q)
				d := mean - truth.At(n, q)
				square, scaled, count = square+d*d, scaled+d*d/v, count+1
			}
		}
	}
	// With the other side known, 3 factors from 24 entries and 4 coordinates from 48
	// would have an error of 0.2·√(3/24 + 4/48) = 0.09.
	assert.Less(t, math.Sqrt(square/count), 0.12)
	// Mean field's variances are too small, by how much depends on the data.
	assert.InDelta(t, 1.5, scaled/count, 1)
	assert.InDelta(t, p.noise, math.Sqrt(fit.Posterior.s.Noise[0]), 0.02)
	energy := fit.Posterior.Energy()
	slices.Sort(energy)
	assert.Less(t, energy[0]+energy[1], 1e-3, "factors that are not needed")
}

// TestFactorTransform: a new object's factors are the fixed point of the updates,
// and without entries the prior.
func TestFactorTransform(t *testing.T) {
	p := factorProblem{60, 20, 2, 0.2, 0.3, true, nil}
	y, _ := p.draw(7)
	o, err := ObserveMatrix(y)
	require.NoError(t, err)
	f := Factors{Count: 2, Offsets: true}
	m, err := f.model(o)
	require.NoError(t, err)
	for range 40 {
		require.NoError(t, m.Sweep(nil))
	}
	for range 500 {
		require.NoError(t, m.updateObjects(0, m.M))
	}
	q := m.posterior()
	var tasks []int
	var entries []float64
	for k, v := range y.Row(3) {
		if !math.IsNaN(v) {
			tasks, entries = append(tasks, k), append(entries, v)
		}
	}
	mean, variance, err := q.Transform(tasks, entries)
	require.NoError(t, err)
	testkit.RequireClose(t, "means", q.s.Mean.Row(3), mean, 1e-9)
	for k, v := range variance {
		assert.GreaterOrEqual(t, v, q.s.Variance.At(3, k)*(1-1e-12))
	}
	// An entry by hand: the inverse of a precision of two factors.
	s := q.s
	p00, p01, p11 := 1.0, 0.0, 1.0
	for _, k := range tasks {
		e, v := q.e.Row(k), q.v.Row(k)
		p00, p01, p11 = p00+(e[0]*e[0]+v[0])/s.Noise[k], p01+e[0]*e[1]/s.Noise[k], p11+(e[1]*e[1]+v[1])/s.Noise[k]
	}
	det := p00*p11 - p01*p01
	c00, c01, c11 := p11/det, -p01/det, p00/det
	entry, function, err := q.Complete(tasks, entries)
	require.NoError(t, err)
	for k := range entry {
		e, v := q.e.Row(k), q.v.Row(k)
		assert.InDelta(t, s.Base+s.Offset[k]+e[0]*mean[0]+e[1]*mean[1], entry[k], 1e-12)
		want := s.OffsetVariance[k] + e[0]*e[0]*c00 + 2*e[0]*e[1]*c01 + e[1]*e[1]*c11 +
			v[0]*(c00+mean[0]*mean[0]) + v[1]*(c11+mean[1]*mean[1])
		assert.InEpsilon(t, want, function[k], 1e-9)
	}
	mean, variance, err = q.Transform(nil, nil)
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 0}, mean)
	assert.Equal(t, []float64{1, 1}, variance)
	a, v := q.Entry(3, 4)
	b, w := q.Reconstruct(4, q.s.Mean.Row(3), q.s.Variance.Row(3))
	assert.Equal(t, []float64{a, v}, []float64{b, w})
}

// TestFactorsAreMultiTask: factors with a covariance over the objects are the
// multi-task model, which goes about it otherwise.
func TestFactorsAreMultiTask(t *testing.T) {
	for _, missing := range []float64{0, 0.4} {
		p := factorProblem{15, 10, 2, missing, 0.3, false, nil}
		y, _ := p.draw(8)
		var start MultiTaskStart
		mean := make([]float64, p.Q*3)
		random.Normal(random.Source(9), mean)
		for _, v := range mean {
			start.Weights = append(start.Weights, Pair{Mean: v, Variance: 1})
		}
		for range p.Q {
			start.Noise = append(start.Noise, 0.5)
		}
		prior := Prior{0.5, 1}
		turned := la.NewMatrix[float64](p.Q, p.N)
		for n := range p.N {
			for q := range p.Q {
				turned.Set(q, n, y.At(n, q))
			}
		}
		latent := Latent{Covariance: nearby(p.N)}
		want, err := MultiTask{
			Prior: prior, Plain: true, KeepAll: true, Start: &start, LengthsEvery: 3, Ascent: vi.Ascent{MaxSweeps: 12, Tolerance: -1},
		}.Fit(t.Context(), []Latent{latent, latent, latent}, turned)
		require.NoError(t, err)
		o, err := ObserveMatrix(y)
		require.NoError(t, err)
		got, err := Factors{
			Count: 3, Prior: prior, Covariance: latent.Covariance, LengthsEvery: 3, Ascent: vi.Ascent{MaxSweeps: 12, Tolerance: -1},
			Start: &FactorStart{Weights: start.Weights, Noise: start.Noise},
		}.Fit(t.Context(), o)
		require.NoError(t, err)
		testkit.RequireClose(t, "bounds", want.Record.Trace, got.Record.Trace, 1e-9)
	}
}

// TestFactorsLike: the factors of every third task are a start for all, better
// than a random one.
func TestFactorsLike(t *testing.T) {
	p := factorProblem{30, 60, 2, 0.2, 0.3, false, nil}
	y, _ := p.draw(10)
	some := la.NewMatrix[float64](p.N, p.Q/3)
	for n := range p.N {
		for q := range some.Cols {
			some.Set(n, q, y.At(n, 3*q))
		}
	}
	few, err := ObserveMatrix(some)
	require.NoError(t, err)
	all, err := ObserveMatrix(y)
	require.NoError(t, err)
	f := Factors{Count: 3, Noise: NoiseShared, Covariance: nearby(p.N), Ascent: vi.Ascent{MaxSweeps: 100}}
	first, err := f.Fit(t.Context(), few)
	require.NoError(t, err)
	whole, err := f.Fit(t.Context(), all)
	require.NoError(t, err)
	f.Like, f.Ascent.MaxSweeps = first.Posterior, 20
	m, err := f.model(all)
	require.NoError(t, err)
	require.Equal(t, first.Posterior.s.Lengths, m.posterior().s.Lengths)
	fit, err := f.Fit(t.Context(), all)
	require.NoError(t, err)
	assert.Greater(t, fit.Record.Trace[0], whole.Record.Trace[0])
	f.Count = 4
	_, err = f.Fit(t.Context(), all)
	assert.EqualError(t, err, "vi: Like: 30 objects and 3 factors where there are 30 and 4")
}

// TestFactorScales: after a scale step no common scale of one factor's weights
// raises the bound, nor another σ_w², and the likelihood is what it was.
func TestFactorScales(t *testing.T) {
	for _, c := range factorCases {
		if c.Covariance.learned() || c.long {
			continue
		}
		y, _ := c.draw(11)
		m := factorModel(t, c.Factors, y)
		m.drawn = false // in whose sweeps the scales would become best
		for range 4 {
			require.NoError(t, m.Sweep(nil))
		}
		before, fit := m.Bound(), m.posterior()
		mean, variance := fit.Entry(3, 2)
		m.rescale()
		best := m.Bound()
		require.Greater(t, best, before+1e-3, c.name)
		require.InEpsilon(t, slowBound(m), best, 1e-10, c.name)
		moved, wide := m.posterior().Entry(3, 2)
		assert.InEpsilon(t, mean, moved, 1e-12, c.name)
		assert.InEpsilon(t, variance, wide, 1e-12, c.name)
		for k := range m.M {
			for _, by := range []float64{0.9, 1.1} {
				priors := slices.Clone(m.priors)
				scaleFactor(m, k, by)
				for i := k; c.Views != nil && !m.held.Variance && i < len(m.priors); i += m.M {
					m.priors[i].Variance *= by * by // on the ridge along which the step went
				}
				if !m.held.Variance && c.Views == nil {
					var sums pairSums
					for _, w := range m.weights {
						sums.add(w)
					}
					m.priors[0].learnVariance(sums)
				}
				assert.Less(t, slowBound(m), best, "%s: factor %d by %g", c.name, k, by)
				copy(m.priors, priors)
				scaleFactor(m, k, 1/by)
			}
		}
	}
}

// TestFactorShears makes the step that mixes factors, compares the bound with its definition,
// and moves the last factor off its place in either direction of every other one.
func TestFactorShears(t *testing.T) {
	tried := 0
	for _, c := range factorCases {
		y, _ := c.draw(5)
		m := factorModel(t, c.Factors, y)
		if m.shears == nil {
			continue
		}
		tried++
		for range 3 {
			require.NoError(t, m.Sweep(nil))
		}
		before := m.Bound()
		mean, _ := m.posterior().Entry(3, 2)
		m.shear()
		best := m.Bound()
		require.Greater(t, best, before, c.name)
		require.InEpsilon(t, slowBound(m), best, 1e-10, c.name)
		moved, _ := m.posterior().Entry(3, 2)
		assert.InEpsilon(t, mean, moved, 1e-10, c.name)
		for k := range m.K {
			for _, by := range []float64{-0.05, 0.05} {
				if k != m.M-1 {
					shearFactor(m, m.M-1, k, by)
					assert.Less(t, slowBound(m), best, "%s: factor %d by %g", c.name, k, by)
					shearFactor(m, m.M-1, k, -by)
				}
			}
		}
	}
	assert.Equal(t, 6, tried, "cases of complete data and white factors")
}

// shearFactor adds c times the means of factor j, or the offsets' ones, to the means of factor k.
func shearFactor(m *factors, k, j int, c float64) {
	for n := range m.N {
		a := m.object.mean.Row(n)
		a[k] += c * a[j]
	}
	for q := range m.Q {
		e := m.task.mean.Row(q)
		e[j] -= c * e[k]
		if j < m.M {
			w := &m.weights[q*m.M+j]
			w.Mean = e[j] / w.Inclusion()
			m.task.variance.Row(q)[j] = w.VarW()
		}
	}
}

// TestFactorNoiseFollows makes the step of the noise until it has settled, compares the bound
// with its definition, and moves each noise off its place.
func TestFactorNoiseFollows(t *testing.T) {
	tried := 0
	for _, c := range factorCases {
		y, _ := c.draw(5)
		m := factorModel(t, c.Factors, y)
		noises := m.noises
		if m.noises = nil; noises == nil {
			continue
		}
		tried++
		for range 3 {
			require.NoError(t, m.Sweep(nil))
		}
		before := m.Bound()
		m.noises = noises
		for range 30 {
			m.followNoise()
		}
		best := m.Bound()
		require.Greater(t, best, before, c.name)
		require.InEpsilon(t, slowBound(m), best, 1e-10, c.name)
		for q := range m.Q {
			for _, by := range []float64{0.8, 1.25} {
				changeNoise(m, q, by)
				assert.Less(t, slowBound(m), best, "%s: noise %d by %g", c.name, q, by)
				changeNoise(m, q, 1/by)
			}
		}
	}
	assert.Equal(t, 6, tried, "cases of complete data and white factors")
}

// changeNoise multiplies the noise of task q, or of all if they share it, by c; the variances
// of the factors follow.
func changeNoise(m *factors, q int, c float64) {
	for i := range m.noise {
		if i == q || !m.perTask {
			m.noise[i] *= c
		}
	}
	for k := range m.M {
		precision := 1.0
		for i, noise := range m.noise {
			precision += m.task.square(i, k) / noise
		}
		for n := range m.N {
			m.object.variance.Row(n)[k] = 1 / precision
		}
	}
}

// scaleFactor multiplies the weights of factor k by c and its values by 1/c.
func scaleFactor(m *factors, k int, c float64) {
	for q := range m.Q {
		w := &m.weights[q*m.M+k]
		w.Mean, w.Variance = c*w.Mean, c*c*w.Variance
		m.task.mean.Row(q)[k] *= c
		m.task.variance.Row(q)[k] *= c * c
	}
	for n := range m.N {
		m.object.mean.Row(n)[k] /= c
		m.object.variance.Row(n)[k] /= c * c
	}
	if m.groups != nil { // the prior of the factor moves with it
		for g := range m.groups.groups() {
			m.groups.Variance.Row(g)[k] /= c * c
		}
	}
}

func TestFactorErrors(t *testing.T) {
	y, _ := factorProblem{5, 4, 1, 0, 0.3, false, nil}.draw(1)
	o, err := ObserveMatrix(y)
	require.NoError(t, err)
	nan := math.NaN()
	for want, do := range map[string]func() error{
		"vi: y: nil": func() error { _, err := Factors{Count: 1}.Fit(t.Context(), nil); return err },
		"vi: Count is 0: at least one factor is needed": func() error { _, err := Factors{}.Fit(t.Context(), o); return err },
		"vi: Prior.Pi is 2: it must be positive and at most 1": func() error {
			_, err := Factors{Count: 1, Prior: Prior{2, 1}}.Fit(t.Context(), o)
			return err
		},
		"vi: NoiseWeight is NaN: it must not be negative": func() error {
			_, err := Factors{Count: 1, NoiseWeight: nan}.Fit(t.Context(), o)
			return err
		},
		"vi: Start.Weights: 1 where 4×1 are needed": func() error {
			_, err := Factors{Count: 1, Start: &FactorStart{Weights: make([]Pair, 1)}}.Fit(t.Context(), o)
			return err
		},
		"vi: Start.Weights: every weight is zero, where the bound is stationary": func() error {
			w := make([]Pair, 4)
			for i := range w {
				w[i] = Pair{math.Inf(-1), 0, 1}
			}
			_, err := Factors{Count: 1, Start: &FactorStart{Weights: w}}.Fit(t.Context(), o)
			return err
		},
		"vi: entries: there is none": func() error { _, err := ObserveEntries(2, 2, nil); return err },
		"vi: entries: (1, 0) is there twice": func() error {
			_, err := ObserveEntries(2, 2, []Entry{{1, 0, 3}, {0, 0, 1}, {1, 0, 4}})
			return err
		},
		"vi: entries[1]: (2, 0) in a matrix of 2×2": func() error {
			_, err := ObserveEntries(2, 2, []Entry{{1, 0, 3}, {2, 0, 1}})
			return err
		},
		"vi: entries[0]: the value is NaN": func() error {
			_, err := ObserveEntries(2, 2, []Entry{{1, 0, nan}})
			return err
		},
		"vi: y: 1×2, and no entry is observed": func() error {
			_, err := ObserveMatrix(la.MatrixOf(1, 2, []float64{nan, nan}))
			return err
		},
		"vi: y: entry (0, 1) is +Inf": func() error {
			_, err := ObserveMatrix(la.MatrixOf(1, 2, []float64{nan, math.Inf(1)}))
			return err
		},
		"vi: y: every observed entry is 2": func() error {
			c, err := ObserveMatrix(la.MatrixOf(2, 2, []float64{2, nan, 2, 2}))
			require.NoError(t, err)
			_, err = Factors{Count: 1}.Fit(t.Context(), c)
			return err
		},
	} {
		assert.EqualError(t, do(), want)
	}
	fitted, err := Factors{Count: 1}.Fit(t.Context(), o)
	require.NoError(t, err)
	for want, c := range map[string]struct {
		tasks []int
		y     []float64
	}{
		"vi: tasks: 2 for 1 entries": {[]int{0, 1}, []float64{1}},
		"vi: tasks[1] is 4 of 4":     {[]int{3, 4}, []float64{1, 2}},
		"vi: tasks[0] is -1 of 4":    {[]int{-1}, []float64{1}},
		"vi: y[1] is NaN":            {[]int{3, 1}, []float64{1, nan}},
	} {
		_, _, err := fitted.Posterior.Transform(c.tasks, c.y)
		assert.EqualError(t, err, want)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	fit, err := Factors{Count: 1}.Fit(ctx, o)
	assert.Nil(t, fit)
	assert.ErrorContains(t, err, "enough")
}
