package slab

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Regression is sparse linear regression under a spike-and-slab prior:
//
//	w_m = s_m·w̃_m,   s_m ~ Bernoulli(π),   w̃_m ~ N(0, σ_w²)
//	y_n ~ N(Σ_m x_nm·w_m, σ²)
//
// The posterior is approximated by Π_m q(w̃_m, s_m), paired mean field (5), or,
// to compare with, by q(w̃)·Π_m q(s_m), standard mean field (4). The zero value is
// ready. There is no bias: inputs and targets are to be centred.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, sections
// 3.1 and 4; docs/theory/spikeslab.md derives the updates. Their order is
// (w̃_1, s_1), …, (w̃_M, s_M), σ², σ_w², π, in standard mean field w̃, s_1, …, s_M,
// σ², σ_w², π.
type Regression struct {
	// Prior is the prior of the weights to start from. A Pi of 0 means ½, a Variance of 0 the one
	// under which the expected power of Σ x_m·w_m is half the power of the targets.
	Prior Prior

	Noise float64 // σ² to start from; 0 means half the power of the targets
	Held  Held    // what keeps its starting value instead of being learned

	// Standard chooses standard mean field.
	Standard bool

	// Plain makes exactly the published updates. The default also extrapolates, in paired mean
	// field, the means of the weights and the hyperparameters that are learned from sweep to
	// sweep (docs/theory/acceleration.md, section 8).
	Plain bool

	// Restarts is the number of further random starts. The start with the highest bound is kept.
	// They have the seeds Seed+1, Seed+2, …
	Restarts int
	Seed     uint64

	// Start, if not nil, is the only start.
	Start *RegressionStart

	// From, if not nil, is the posterior of an earlier fit of as many weights to go on from. It takes
	// the place of Start, Seed, Prior and Noise.
	From *RegressionPosterior

	Ascent vi.Ascent

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

// Held says which hyperparameters are held at the values they start from. The
// zero value learns all: the share Pi of weights that are not zero, their Variance
// and the Noise variance.
type Held struct{ Pi, Variance, Noise bool }

// RegressionStart is an explicit initial state: γ_m, in [0, 1], and E[w̃_m | s_m=1];
// Var[w̃_m | s_m=1] is σ_w². Standard mean field begins with q(w̃) and does not
// look at Mean.
type RegressionStart struct {
	Inclusion, Mean []float64 // of each weight
}

// RegressionFit is a fitted sparse regression.
type RegressionFit struct {
	Posterior *RegressionPosterior
	Record    vi.Record // of the start that was kept
	Start     int       // which start it was: 0 is the start from Seed
	Bounds    []float64 // of all starts, in nats
}

// noiseFloor is the least noise variance learned, as a share of the targets'
// power. Below it the updates lose digits, and a task without noise would be
// fitted for ever more closely.
const noiseFloor = 1e-6

// Fit approximates the posterior of the weights of the columns of x, N×M, given N
// targets. A sweep costs min(M, N)·M. Errors are as package vi
// describes them.
func (s Regression) Fit(ctx context.Context, x la.Matrix[float64], y []float64) (*RegressionFit, error) {
	d, err := s.design(x, y)
	if err != nil {
		return nil, err
	}
	var fit *RegressionFit
	rec, start, bounds, err := bestOf(ctx, s.Ascent, s.starts(), vi.Record{}, func(i int) (vi.Objective, error) {
		return s.model(d, s.Seed+uint64(i))
	}, func(m vi.Objective) error {
		of := m.(interface{ posterior() *RegressionPosterior })
		p, err := check.Resumed(s.Ascent.Journal != nil, of.posterior(), NewRegressionPosterior)
		if err != nil {
			return err
		}
		fit = &RegressionFit{Posterior: p}
		return nil
	})
	if fit != nil {
		fit.Record, fit.Start, fit.Bounds = rec, start, bounds
	}
	return fit, err
}

// starts returns the number of starts.
func (s Regression) starts() int {
	if s.Start != nil || s.From != nil {
		return 1
	}
	return 1 + max(0, s.Restarts)
}

// design is the data of a linear regression.
type design struct {
	x     la.Matrix[float64] // M×N, the inputs' columns as rows
	y     []float64
	power []float64          // M, Σ_n x_nm²
	gram  la.Matrix[float64] // M×M, XᵀX; empty if M > N
	cross []float64          // M, Xᵀy
	total float64            // Σ y²
	few   la.Matrix[float64] // inputs of some of the samples, see predict
}

// design checks the data and forms the sums that sweeps need.
func (s Regression) design(x la.Matrix[float64], y []float64) (*design, error) {
	N, M := x.Rows, x.Cols
	if N == 0 || M == 0 {
		return nil, fmt.Errorf("vi: x: %d×%d: it is empty", N, M)
	}
	if len(y) != N {
		return nil, fmt.Errorf("vi: y: %d values for %d samples", len(y), N)
	}
	if i := check.NonFinite(y); i >= 0 {
		return nil, fmt.Errorf("vi: y: value %d is %g", i, y[i])
	}
	d := &design{x: la.NewMatrix[float64](M, N), y: y, power: make([]float64, M), cross: make([]float64, M), total: la.SumSq(y)}
	if d.total == 0 {
		return nil, fmt.Errorf("vi: y: every value is zero")
	}
	for n := range N {
		row := x.Row(n)
		if m := check.NonFinite(row); m >= 0 {
			return nil, fmt.Errorf("vi: x: entry (%d, %d) is %g", n, m, row[m])
		}
		for m, v := range row {
			d.x.Data[m*d.x.Stride+n] = v
		}
	}
	for m := range M {
		d.power[m] = la.SumSq(d.x.Row(m))
		d.cross[m] = la.Dot(d.x.Row(m), y)
	}
	if M <= N || s.Standard {
		d.gram = la.NewMatrix[float64](M, M)
		la.Syrk(&la.Workspace{Workers: s.Workers}, la.NoTrans, 1, d.x, 0, d.gram)
		d.gram.MirrorLower()
	}
	return d, nil
}

// slabState is what both mean fields share.
type slabState struct {
	work.Stop
	*design
	M, N  int
	prior Prior
	noise float64
	held  Held
	floor float64 // of the noise
	e     []float64

	keptPrior Prior
	keptNoise float64
}

func (s *slabState) keepNoise()    { s.keptPrior, s.keptNoise = s.prior, s.noise }
func (s *slabState) restoreNoise() { s.prior, s.noise = s.keptPrior, s.keptNoise }

// Allowance implements [vi.Objective].
func (s *slabState) Allowance() float64 { return 0 }

// model returns the initial state.
func (s Regression) model(d *design, seed uint64) (vi.Objective, error) {
	M, N := d.x.Rows, d.x.Cols
	if s.From != nil {
		from := s.From.s
		if len(from.Weights) != M {
			return nil, fmt.Errorf("vi: From: %d weights where there are %d", len(from.Weights), M)
		}
		s.Prior, s.Noise, s.Start = from.Prior, from.Noise, &RegressionStart{}
		for _, q := range from.Weights {
			s.Start.Inclusion, s.Start.Mean = append(s.Start.Inclusion, q.Inclusion()), append(s.Start.Mean, q.Mean)
		}
	}
	st := slabState{
		design: d, M: M, N: N, prior: s.Prior, noise: s.Noise, held: s.Held,
		floor: noiseFloor * d.total / float64(N), e: make([]float64, M),
	}
	if st.prior.Pi == 0 {
		st.prior.Pi = 0.5
	}
	if st.prior.Variance == 0 {
		var power float64
		for _, p := range d.power {
			power += p
		}
		if power == 0 {
			return nil, fmt.Errorf("vi: x: every value is zero")
		}
		st.prior.Variance = 0.5 * d.total / (st.prior.Pi * power)
	}
	if err := st.prior.validate(); err != nil {
		return nil, err
	}
	if !(st.noise >= 0) || math.IsInf(st.noise, 1) {
		return nil, fmt.Errorf("vi: Noise is %g: it must be positive and finite", st.noise)
	}
	if st.noise == 0 {
		st.noise = 0.5 * d.total / float64(N)
	}
	start := s.Start
	if start == nil {
		start = &RegressionStart{Inclusion: make([]float64, M), Mean: make([]float64, M)}
		src := random.Source(seed)
		for m := range M {
			start.Inclusion[m] = src.Float64()
		}
		random.Normal(src, start.Mean)
		la.Scal(math.Sqrt(st.prior.Variance), start.Mean)
	} else if err := start.validate(M); err != nil {
		return nil, err
	}
	if s.Standard {
		return newStandardField(st, start, s.Workers), nil
	}
	f := newPairedField(st, start, s.Plain)
	if s.From != nil {
		f.resume(s.From.s.Weights)
	}
	return f, nil
}

// validate returns an error unless s is a start for M weights.
func (s *RegressionStart) validate(M int) error {
	if len(s.Inclusion) != M || len(s.Mean) != M {
		return fmt.Errorf("vi: Start: %d inclusions and %d means for %d weights", len(s.Inclusion), len(s.Mean), M)
	}
	for m, g := range s.Inclusion {
		if !(g >= 0 && g <= 1) {
			return fmt.Errorf("vi: Start.Inclusion[%d] is %g: it is a probability", m, g)
		}
	}
	if m := check.NonFinite(s.Mean); m >= 0 {
		return fmt.Errorf("vi: Start.Mean[%d] is %g", m, s.Mean[m])
	}
	return nil
}

// logit is the inverse of expit.
func logit(g float64) float64 { return special.Log(g) - special.Log1p(-g) }

// fitted returns |y − Xe|².
func (s *slabState) fitted(residual []float64) float64 {
	if s.gram.Rows == 0 {
		return la.SumSq(residual)
	}
	sum := s.total - la.Dot(s.e, s.cross)
	for m, e := range s.e {
		sum -= float64(e * (s.cross[m] - la.Dot(s.gram.Row(m), s.e)))
	}
	return max(0, sum)
}

// Roundoff implements [vi.Objective]: with XᵀX at hand in place of X the squared residual
// is a difference from Σ y², with X a sum of squares of differences from y.
func (s *slabState) Roundoff() float64 {
	size := s.total
	for m, e := range s.e {
		size += float64(float64(e*e) * s.power[m])
	}
	if s.gram.Rows > 0 {
		return work.Roundoff(s.M+s.N) * size / s.noise
	}
	return work.Difference(s.M, 1/s.noise, float64(float64(s.N)*s.noise), size)
}

// Jittered implements [vi.Objective]: no jitter is ever added.
func (s *slabState) Jittered() float64 { return 0 }

// Observations implements [vi.Objective].
func (s *slabState) Observations() float64 { return float64(s.N) }

// updateNoise is σ² = E|y − Xw|²/N.
func (s *slabState) updateNoise(squared float64) {
	if !s.held.Noise {
		s.noise = min(max(squared/float64(s.N), s.floor), math.MaxFloat64)
	}
}

// likelihood returns E[log p(y | w)].
func (s *slabState) likelihood(squared float64) float64 {
	return -0.5 * (float64(float64(s.N)*(conjugate.Log2Pi+special.Log(s.noise))) + squared/s.noise)
}

// pairedField is the state of a fit by paired mean field.
type pairedField struct {
	slabState
	q        []Pair
	residual []float64 // N, y − Xe; nil if XᵀX is at hand
	ws       la.Workspace

	ahead *work.Anderson // of E[w] and free; nil in the plain order
	free  []float64      // the hyperparameters that are learned: σ², σ_w² and π/(1−π)
	next  func(done func(string)) error

	kept      []Pair
	keptMeans []float64
}

// Keep implements [vi.Objective]. It copies the M weights.
func (f *pairedField) Keep() {
	f.keepNoise()
	f.kept, f.keptMeans = append(f.kept[:0], f.q...), append(f.keptMeans[:0], f.e...)
}

// Restore implements [vi.Objective].
func (f *pairedField) Restore() {
	f.restoreNoise()
	copy(f.q, f.kept)
	copy(f.e, f.keptMeans)
	f.renewResidual()
	if f.ahead != nil {
		f.learned(f.free[:0])
	}
}

// renewResidual computes y − Xe afresh.
func (f *pairedField) renewResidual() {
	if f.residual != nil {
		copy(f.residual, f.y)
		la.Gemv(&f.ws, la.Transpose, -1, f.x, f.e, 1, f.residual)
	}
}

// newPairedField returns the state at the start given.
func newPairedField(s slabState, start *RegressionStart, plain bool) *pairedField {
	f := &pairedField{slabState: s, q: make([]Pair, s.M), ws: la.Workspace{Workers: 1}}
	for m := range f.q {
		f.q[m] = Pair{logit(start.Inclusion[m]), start.Mean[m], s.prior.Variance}
		f.e[m], _ = f.q[m].Moments()
	}
	if s.gram.Rows == 0 {
		f.residual = make([]float64, s.N)
		f.renewResidual()
	}
	if !plain {
		f.free = f.learned(nil)
		f.ahead = &work.Anderson{}
		f.ahead.Of(false, f.e)
		f.ahead.Of(true, f.free)
		f.next = func(done func(string)) error {
			f.learn(f.free)
			f.renewResidual()
			err := f.sweep(done)
			f.free = f.learned(f.free[:0])
			return err
		}
	}
	return f
}

// resume takes the weights of an earlier fit as they are.
func (f *pairedField) resume(q []Pair) {
	copy(f.q, q)
	for m := range f.q {
		f.e[m], _ = f.q[m].Moments()
	}
	f.renewResidual()
}

// learned appends the hyperparameters that are learned to x.
func (f *pairedField) learned(x []float64) []float64 {
	if !f.held.Noise {
		x = append(x, f.noise)
	}
	if !f.held.Variance {
		x = append(x, f.prior.Variance)
	}
	if !f.held.Pi {
		x = append(x, f.prior.Pi/(1-f.prior.Pi))
	}
	return x
}

// learn sets the hyperparameters to what learned has said.
func (f *pairedField) learn(x []float64) {
	if !f.held.Noise {
		f.noise, x = min(max(x[0], f.floor), math.MaxFloat64), x[1:]
	}
	if !f.held.Variance {
		f.prior.Variance, x = min(x[0], math.MaxFloat64), x[1:]
	}
	if !f.held.Pi && !math.IsInf(x[0], 1) {
		f.prior.Pi = min(max(x[0]/(1+x[0]), piFloor), 1-piFloor)
	}
}

// Sweep implements [vi.Objective]. A sweep depends on the weights by their means alone, which
// are extrapolated with the hyperparameters: where inputs are correlated their weights follow
// each other slowly.
func (f *pairedField) Sweep(done func(string)) error {
	if f.ahead == nil {
		return f.sweep(done)
	}
	return f.ahead.Sweep(f, f.next, done)
}

// sweep makes the published updates.
func (f *pairedField) sweep(done func(string)) error {
	report := func(name string) {
		if done != nil {
			done(name)
		}
	}
	for m := range f.q {
		if err := f.Ended(); err != nil {
			return err
		}
		f.updateWeight(m)
		report("(w̃,s)")
	}
	f.updateNoise(f.squared())
	report("σ²")
	var sums pairSums
	for _, q := range f.q {
		sums.add(q)
	}
	if !f.held.Variance {
		f.prior.learnVariance(sums)
	}
	report("σ_w²")
	if !f.held.Pi {
		f.prior.learnPi(sums)
	}
	report("π")
	return nil
}

// updateWeight is q(w̃_m, s_m), equation (7).
func (f *pairedField) updateWeight(m int) {
	own := float64(f.power[m] * f.e[m])
	var cross float64
	if f.residual != nil {
		cross = la.Dot(f.x.Row(m), f.residual) + own
	} else {
		cross = f.cross[m] - la.Dot(f.gram.Row(m), f.e) + own
	}
	f.q[m] = f.prior.Posterior(cross, f.power[m], f.noise)
	old := f.e[m]
	f.e[m], _ = f.q[m].Moments()
	if f.residual != nil {
		la.Axpy(old-f.e[m], f.x.Row(m), f.residual)
	}
}

// squared returns E|y − Xw|² = |y − Xe|² + Σ_m Var[w_m]·Σ_n x_nm².
func (f *pairedField) squared() float64 {
	sum := f.fitted(f.residual)
	for m, q := range f.q {
		sum += float64(f.power[m] * q.VarW())
	}
	return sum
}

// Bound implements [vi.Objective].
func (f *pairedField) Bound() float64 {
	sum := f.likelihood(f.squared())
	for _, q := range f.q {
		slab, spike := q.bound(f.prior)
		sum += slab + spike
	}
	return sum
}

// posterior returns the present state, copied.
func (f *pairedField) posterior() *RegressionPosterior {
	return &RegressionPosterior{s: RegressionState{Prior: f.prior, Noise: f.noise, Weights: append([]Pair(nil), f.q...)}}
}
