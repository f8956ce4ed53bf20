package slab

import (
	"cmp"
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

// Factors is sparse factor analysis, sparse probabilistic PCA and matrix
// completion: N objects with M factors each, Q tasks with sparse weights on them.
//
//	φ_nm ~ N(0, 1)                                factors
//	w_qm ~ π·N(0, σ_w²) + (1−π)·δ_0               weights (loadings)
//	c_q  ~ N(μ_c, σ_c²)                           offsets, if there are any
//	y_nq ~ N(c_q + Σ_m w_qm·φ_nm, σ_q²)           observed entries
//
// The posterior is approximated by Π q(φ_nm)·Π q(w̃_qm, s_qm)·Π q(c_q), paired
// mean field; the hyperparameters are points. The zero value is ready, for as
// many factors as Count says.
//
// A sweep costs (observed entries)·M² products, done as matrix products, and
// (N+Q)·M²; of complete data the former only once for all objects and once for
// all tasks. Nothing is held for an entry but the data, see [Observed]; a weight
// takes 40 bytes (56 if the noise is by task), a factor of an object 16.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, sections
// 2.2 and 2.3; docs/factors.md has the updates. Their order is φ_1, …, φ_M,
// (w̃_1, s_1), …, (w̃_M, s_M), c, σ², σ_w², π, (μ_c, σ_c²), to which scaleStep adds one.
type Factors struct {
	Count int // M

	// Prior is the prior of the weights to start from. A Pi of 0 means ½, a
	// Variance of 0 the one under which half the variance of the data is expected
	// of the factors.
	Prior Prior

	Noise FactorNoise // per task or shared
	Held  Held        // what keeps its starting value instead of being learned

	// Covariance, if not the zero value, is that of each factor over the objects,
	// N×N: objects that lie near one another, such as the pixels of a patch, then
	// have similar factors. Each factor learns a length of its own. It makes a sweep
	// dearer by about N³·M, and takes N·M² of memory unless the data are complete.
	Covariance Covariance

	// LengthsEvery is the number of sweeps from one marginalised step of the lengths
	// to the next; 0 means 5.
	LengthsEvery int

	// NoiseWeight is the weight of a prior under which the noise of the tasks is
	// alike, as a number of entries: 1/σ_q² ~ Gamma with shape 1 + NoiseWeight/2,
	// whose scale is learned. 0 is maximum likelihood, under which a task of few
	// entries is fitted without error. It has no meaning for shared noise.
	NoiseWeight float64

	// Offsets gives each task an offset.
	Offsets bool

	// Plain makes exactly the published updates. The default also moves the scale of
	// factors without a covariance against that of their weights, on a ridge that the
	// updates climb slowly. If the data are complete it also mixes such factors with each
	// other, and updates the noise together with their variances (docs/acceleration.md,
	// section 8).
	Plain bool

	// Seed selects the random start, which draws the factors, or the weights if there
	// are fewer tasks than objects; it is ignored if Start or Like is given.
	Seed  uint64
	Start *FactorStart

	// Like, if not nil, is the posterior of other tasks of the same objects, some of
	// many perhaps, whose factors and hyperparameters are the start.
	Like *FactorPosterior

	Ascent vi.Ascent

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

// FactorNoise says whose the noise variances σ_q² are.
type FactorNoise int

// Noise of a factor model.
const (
	NoisePerTask FactorNoise = iota // factor analysis
	NoiseShared                     // probabilistic PCA
)

// FactorStart is an explicit initial state; q(φ) is the prior.
type FactorStart struct {
	Weights []Pair    // Q×M, task by task
	Noise   []float64 // σ_q², Q values; nil means half the variance of the data
}

// FactorFit is a fitted factor model.
type FactorFit struct {
	Posterior *FactorPosterior
	Record    vi.Record
}

// OffsetPrior is the prior N(Mean, Variance) of the tasks' offsets.
type OffsetPrior struct{ Mean, Variance float64 }

// Fit approximates the posterior given the observed entries. Errors are as
// package vi describes them.
func (f Factors) Fit(ctx context.Context, y *Observed) (*FactorFit, error) {
	m, err := f.model(y)
	if err != nil {
		return nil, err
	}
	rec, err := f.Ascent.Run(ctx, m)
	if len(rec.Trace) == 0 {
		return nil, err
	}
	p, bad := check.Resumed(f.Ascent.Journal != nil, m.posterior(), NewFactorPosterior)
	if bad != nil {
		return nil, bad
	}
	return &FactorFit{Posterior: p, Record: rec}, err
}

// factors is the state of a fit.
type factors struct {
	work.Stop
	y       *Observed
	N, Q, M int
	K       int // coordinates of a task: its M weights and, perhaps, its offset
	base    float64

	perTask     bool
	noiseWeight float64
	held        Held
	floor       float64

	// E[φ_n] and a 1 if there are offsets; E[w_q] and E[c_q], which counts from base.
	object, task lineMoments

	weights     []Pair // Q×M
	offsetVar   []float64
	offsetPrior OffsetPrior
	prior       Prior
	noise       []float64 // σ_q²
	noiseScale  float64   // of the prior of the noise

	count  []float64 // observed entries of each task
	total  []float64 // of complete data Σ_n y_nq²
	error2 []float64 // E_q = E[Σ_n (y_nq − f_nq)²]
	shake  []float64 // Σ y² + Σ_m E[w_qm]²·Σ_n E[φ_nm]², of which E_q is a difference

	functions    []latentGP // of factors with a covariance over the objects; else nil
	lengthsEvery int
	sweeps       int // done
	scratch      *latentScratch
	lineStats    []lineStats // of all objects, for functions and data with gaps
	h            []float64   // N

	crew         *lineCrew
	objectBlocks []int
	taskBlocks   []int
	objectSums   []float64 // by block: Σ ½(log A + 1 − A − a²)
	taskSums     []slabSums
	scale        []float64          // 1/σ_q
	cross        la.Matrix[float64] // of complete data
	scaled       lineMoments        // of the tasks over σ_q, if that differs between them
	scales       *scaleStep         // nil without
	shears       *shearStep         // nil without
	noises       *noiseStep         // nil without

	updates  []work.Update
	memory   work.Memory
	kept     factorsKept
	identity []float64 // of the table, see entries
}

// factorsKept is what of a state is not in slices of numbers.
type factorsKept struct {
	weights     []Pair // those before turnWeights, if that was called since
	turned      bool
	offset      []float64
	prior       Prior
	offsetPrior OffsetPrior
	noiseScale  float64
	length      []float64
}

// Keep implements [vi.Objective]. It copies what a posterior holds but for the weights,
// of which there are many: they have two places, which take turns.
func (m *factors) Keep() {
	m.memory.Keep()
	k := &m.kept
	k.turned = false
	k.prior, k.offsetPrior, k.noiseScale = m.prior, m.offsetPrior, m.noiseScale
	k.offset, k.length = k.offset[:0], k.length[:0]
	for q := range m.offsetVar {
		k.offset = append(k.offset, m.task.mean.At(q, m.M))
	}
	for i := range m.functions {
		k.length = append(k.length, m.functions[i].length)
	}
}

// Restore implements [vi.Objective], as far as posteriors go.
func (m *factors) Restore() {
	m.memory.Restore()
	k := &m.kept
	if k.turned {
		m.weights, k.weights, k.turned = k.weights, m.weights, false
	}
	m.prior, m.offsetPrior, m.noiseScale = k.prior, k.offsetPrior, k.noiseScale
	for i, l := range k.length {
		m.functions[i].length = l
	}
	m.setTasks(k.offset)
}

// turnWeights lets all weights be written to their other place, where they are not: those
// that Keep noted stay. It does so once after Keep.
func (m *factors) turnWeights() {
	if m.kept.turned {
		return
	}
	if m.kept.weights == nil {
		m.kept.weights = make([]Pair, len(m.weights))
	}
	m.weights, m.kept.weights, m.kept.turned = m.kept.weights, m.weights, true
}

// setTasks computes the moments of the tasks' weights, and sets their offsets if there
// are any.
func (m *factors) setTasks(offset []float64) {
	for q := range m.Q {
		e, v := m.task.mean.Row(q), m.task.variance.Row(q)
		for k, w := range m.weights[q*m.M:][:m.M] {
			g, h, _ := w.gate() // the same operations as in a sweep
			e[k], v[k] = w.gated(g, h)
		}
		if len(offset) > 0 {
			e[m.M] = offset[q]
		}
	}
}

// Allowance implements [vi.Objective].
func (m *factors) Allowance() float64 { return 0 }

// slabSums is what the bound and the M step need of many weights.
type slabSums struct {
	pairSums
	excluded    float64 // Σ(1−γ)
	logVariance float64 // Σ γ log v
	entropy     float64 // −Σ γ log γ + (1−γ) log(1−γ)
}

// merge adds the sums of t.
func (s *slabSums) merge(t *slabSums) {
	s.pairSums.merge(t.pairSums)
	s.excluded += t.excluded
	s.logVariance += t.logVariance
	s.entropy += t.entropy
}

// gate returns γ, 1−γ and e^−|u| of the logit u; −γ log γ − (1−γ) log(1−γ) is
// log(1 + e^−|u|) + |u|·min(γ, 1−γ).
func (q Pair) gate() (g, h, e float64) {
	e = special.Exp(-math.Abs(q.Logit))
	g, h = 1/(1+e), e/(1+e)
	if q.Logit < 0 {
		g, h = h, g
	}
	return g, h, e
}

// gated returns E[w] and Var[w] given γ and 1−γ.
func (q Pair) gated(g, h float64) (mean, variance float64) {
	return g * q.Mean, g * (q.Variance + float64(h*float64(q.Mean*q.Mean)))
}

// add counts q, whose log v is given, but for the part log(1 + e^−|u|) of its
// entropy, which is left to be taken for several at once, and returns E[w], Var[w]
// and 1 + e^−|u|.
func (s *slabSums) add(q Pair, logVariance float64) (mean, variance, rest float64) {
	g, h, e := q.gate()
	s.count++
	s.included += g
	s.excluded += h
	if e > 0 {
		s.entropy += float64(min(g, h) * math.Abs(q.Logit))
	}
	s.slabPower += float64(g * (float64(q.Mean*q.Mean) + q.Variance))
	s.logVariance += float64(g * logVariance)
	mean, variance = q.gated(g, h)
	return mean, variance, 1 + e
}

// bound returns minus the divergence of the weights from their prior.
func (s *slabSums) bound(p Prior) float64 {
	sum := float64(0.5*(s.logVariance+float64(s.included*(1-special.Log(p.Variance)))-s.slabPower/p.Variance)) + s.entropy
	sum += float64(s.included * special.Log(p.Pi))
	if s.excluded > 0 {
		sum += float64(s.excluded * special.Log1p(-p.Pi))
	}
	return sum
}

// model checks the arguments and returns the initial state.
func (f Factors) model(y *Observed) (*factors, error) {
	switch {
	case y == nil:
		return nil, fmt.Errorf("vi: y: nil")
	case f.Count < 1:
		return nil, fmt.Errorf("vi: Count is %d: at least one factor is needed", f.Count)
	case !(f.NoiseWeight >= 0) || math.IsInf(f.NoiseWeight, 1):
		return nil, fmt.Errorf("vi: NoiseWeight is %g: it must not be negative", f.NoiseWeight)
	}
	mean, variance := y.moments()
	if variance == 0 {
		return nil, fmt.Errorf("vi: y: every observed entry is %g", mean)
	}
	M := f.Count
	m := &factors{
		y: y, N: y.n, Q: y.q, M: M, K: M,
		perTask: f.Noise == NoisePerTask, noiseWeight: f.NoiseWeight, held: f.Held,
		prior: f.Prior, count: make([]float64, y.q), error2: make([]float64, y.q), shake: make([]float64, y.q), noise: make([]float64, y.q),
		weights: make([]Pair, y.q*M),
	}
	power := variance
	if f.Offsets {
		m.K, m.base = M+1, mean
		m.offsetVar = make([]float64, m.Q)
		m.offsetPrior.Variance = variance
		for q := range m.offsetVar {
			m.offsetVar[q] = variance
		}
	} else {
		power += float64(mean * mean)
	}
	m.floor = noiseFloor * power
	if m.prior.Pi == 0 {
		m.prior.Pi = 0.5
	}
	if m.prior.Variance == 0 {
		m.prior.Variance = 0.5 * power / (m.prior.Pi * float64(M))
	}
	if err := m.prior.validate(); err != nil {
		return nil, err
	}
	m.object, m.task = newMoments(m.N, M, m.K), newMoments(m.Q, M, m.K)
	if m.perTask {
		m.scaled = newMoments(m.Q, M, m.K)
	}
	for q := range m.noise {
		m.noise[q] = 0.5 * variance
	}
	m.noiseScale = 0.5 * variance
	m.memory.Of(m.object.both.Data, m.noise, m.offsetVar)
	m.prepare()
	m.crew = newLineCrew(&m.Stop, f.Workers, max(len(m.objectBlocks), len(m.taskBlocks))-1, M, m.K)

	for n := range m.N {
		if m.K > M {
			m.object.mean.Set(n, M, 1)
		}
	}
	if err := f.cover(m); err != nil {
		return nil, err
	}
	if err := f.begin(m); err != nil {
		return nil, err
	}
	m.updates = []work.Update{
		{Name: "φ", Step: func() error { return m.updateObjects(0, M) }},
		{Name: "(w,s)", Step: func() error { m.turnWeights(); m.updateTasks(0, M); return nil }},
	}
	if m.K > M {
		m.updates[1] = work.Update{Name: "(w,s), c", Step: func() error { m.turnWeights(); m.updateTasks(0, m.K); return nil }}
	}
	m.updates = append(m.updates,
		work.Update{Name: "σ²", Step: func() error {
			m.updateNoise()
			if m.noises != nil {
				m.followNoise()
			}
			return nil
		}},
		work.Update{Name: "σ_w²", Step: func() error { m.updateSlab(true, false); return nil }},
		work.Update{Name: "π", Step: func() error { m.updateSlab(false, true); return nil }})
	if m.K > M {
		m.updates = append(m.updates, work.Update{Name: "(μ_c,σ_c²)", Step: func() error { m.updateOffsetPrior(); return nil }})
	}
	if !f.Plain && m.functions == nil {
		m.scales = m.newScaleStep()
		m.updates = append(m.updates, work.Update{Name: "scale", Step: func() error {
			if m.sweeps%scaleEvery == 0 {
				m.rescale()
			}
			return nil
		}})
	}
	if !f.Plain && m.functions == nil && conjugate.Sum(m.count) == float64(m.N)*float64(m.Q) {
		m.shears = m.newShearStep()
		if !m.held.Noise {
			m.noises = m.newNoiseStep()
		}
		shear := work.Update{Name: "shear", Step: func() error {
			if m.sweeps > 1 { // at a start the factors may all be zero
				m.shear()
			}
			return nil
		}}
		m.updates = append([]work.Update{shear}, m.updates...)
	}
	return m, nil
}

// prepare counts, and cuts the work into blocks.
func (m *factors) prepare() {
	y := m.y
	m.objectBlocks, m.taskBlocks = y.byObject.blocks(m.N, m.Q), y.byTask.blocks(m.Q, m.N)
	m.objectSums, m.taskSums = make([]float64, len(m.objectBlocks)-1), make([]slabSums, len(m.taskBlocks)-1)
	m.scale = make([]float64, m.Q)
	if !y.complete() {
		for q := range m.count {
			index, _ := y.byTask.line(q)
			m.count[q] = float64(len(index))
		}
		return
	}
	m.total = make([]float64, m.Q)
	if m.base != 0 {
		m.y = &Observed{n: m.N, q: m.Q, dense: y.dense.Clone()}
	}
	for n := range m.N {
		row := m.y.dense.Row(n)
		for q := range row {
			if m.base != 0 {
				row[q] -= m.base
			}
			m.total[q] += float64(row[q] * row[q])
		}
	}
	for q := range m.count {
		m.count[q] = float64(m.N)
	}
	m.cross = la.NewMatrix[float64](max(m.N, m.Q), m.K)
}

// cover gives the factors their covariance.
func (f Factors) cover(m *factors) error {
	c := f.Covariance
	if c.kind == zeroCovariance || c.kind == whiteCovariance {
		return nil
	}
	if err := c.validate(m.N); err != nil {
		return fmt.Errorf("vi: Covariance: %w", err)
	}
	if f.LengthsEvery < 0 {
		return fmt.Errorf("vi: LengthsEvery is %d: it must not be negative", f.LengthsEvery)
	}
	m.lengthsEvery = cmp.Or(f.LengthsEvery, 5)
	m.functions = make([]latentGP, m.M)
	for k := range m.functions {
		m.functions[k].cov = c
		m.functions[k].start(m.N, make([]float64, m.N))
	}
	m.scratch = newLatentScratch(m.N, true)
	m.scratch.stop = &m.Stop
	m.h = make([]float64, m.N)
	if !m.y.complete() {
		m.lineStats = make([]lineStats, m.N)
		for n := range m.lineStats {
			m.lineStats[n] = lineStats{
				gram: la.NewMatrix[float64](m.M, m.M), cross: make([]float64, m.M), variance: make([]float64, m.M),
			}
		}
	}
	return nil
}

// begin sets the start.
func (f Factors) begin(m *factors) error {
	switch {
	case f.Like != nil:
		return m.like(f.Like)
	case f.Start != nil:
		if len(f.Start.Weights) != len(m.weights) {
			return fmt.Errorf("vi: Start.Weights: %d where %d×%d are needed", len(f.Start.Weights), m.Q, m.M)
		}
		if i := firstBadPair(f.Start.Weights); i >= 0 {
			return fmt.Errorf("vi: Start.Weights[%d] is %+v", i, f.Start.Weights[i])
		}
		copy(m.weights, f.Start.Weights)
		if f.Start.Noise != nil {
			if len(f.Start.Noise) != m.Q {
				return fmt.Errorf("vi: Start.Noise: %d values for %d tasks", len(f.Start.Noise), m.Q)
			}
			for q, v := range f.Start.Noise {
				if !(v > 0) || math.IsInf(v, 1) {
					return fmt.Errorf("vi: Start.Noise[%d] is %g", q, v)
				}
			}
			copy(m.noise, f.Start.Noise)
		}
	case m.N <= m.Q:
		m.drawFactors(f.Seed)
		return nil
	default:
		mean := make([]float64, len(m.weights))
		random.Normal(random.Source(f.Seed), mean)
		sd := math.Sqrt(m.prior.Variance)
		for i, v := range mean {
			m.weights[i] = Pair{Mean: sd * v, Variance: m.prior.Variance}
		}
	}
	for n := range m.N {
		variance := m.object.variance.Row(n)
		for k := range variance {
			variance[k] = 1
			if m.functions != nil {
				variance[k] = m.functions[k].variance[n]
			}
		}
	}
	off := true
	for q := range m.Q {
		e, v := m.task.mean.Row(q), m.task.variance.Row(q)
		for k, w := range m.weights[q*m.M:][:m.M] {
			var square float64
			e[k], square = w.Moments()
			v[k] = w.VarW()
			off = off && square == 0
		}
	}
	if off {
		return fmt.Errorf("vi: Start.Weights: every weight is zero, where the bound is stationary")
	}
	return nil
}

// drawFactors starts from random factors and the weights that are best for them.
// Each factor has its prior's covariance, and for mean white noise z smoothed by it,
// a = c·Kz, c such that a has the prior's power. If it were the weights of many tasks
// that are drawn, the factors would all begin as the data's leading directions, and
// more of them would end unused.
func (m *factors) drawFactors(seed uint64) {
	src := random.Source(seed)
	z := make([]float64, m.N)
	for k := range m.M {
		random.Normal(src, z)
		a := z
		if m.functions != nil {
			f := &m.functions[k]
			f.draw(&m.crew.All, m.scratch, z)
			a = f.mean
		}
		for n, v := range a {
			m.object.mean.Row(n)[k], m.object.variance.Row(n)[k] = v, 1
			if m.functions != nil {
				m.object.variance.Row(n)[k] = m.functions[k].variance[n]
			}
		}
	}
	m.firstWeights()
}

// firstWeights sets the offsets and then, from none, the weights to what is best
// for the factors.
func (m *factors) firstWeights() {
	for i := range m.weights {
		m.weights[i] = Pair{Logit: math.Inf(-1), Variance: m.prior.Variance}
	}
	m.updateTasks(m.M, m.K)
	m.updateTasks(0, m.K)
}

// Sweep implements [vi.Objective].
func (m *factors) Sweep(done func(string)) error {
	m.sweeps++
	return work.Sweep(&m.Stop, m.updates, done)
}

// Roundoff implements [vi.Objective], see [work.Roundoff]: the errors E_q are found as
// differences.
func (m *factors) Roundoff() float64 {
	var sum float64
	for q, v := range m.shake {
		sum += work.Roundoff(m.N) * v / m.noise[q]
	}
	for k := range m.functions {
		sum += m.functions[k].roundoff(m.N)
	}
	return sum
}

// Jittered implements [vi.Objective].
func (m *factors) Jittered() float64 { return jitterOf(m.functions) }

// Observations implements [vi.Objective].
func (m *factors) Observations() float64 { return conjugate.Sum(m.count) }

// updateObjects is q(φ_nm) = N(a, A) for the factors from ≤ m < to, one after the
// other for each object: with E_q|n the weights of the tasks observed in n,
//
//	λ_nm = Σ_q E[w_qm²]/σ_q²,   h_nm = Σ_q E[w_qm]·(y_nq − c_q − Σ_{k≠m} E[w_qk]·a_nk)/σ_q²,
//	A = 1/(1+λ),   a = A·h.
//
// All of an object's h follow from G = Σ_q E[w_q]E[w_q]ᵀ/σ_q² and b = Σ_q E[w_q](y_nq − c_q)/σ_q².
func (m *factors) updateObjects(from, to int) error {
	side := half{
		lines: &m.y.byObject, blocks: m.objectBlocks, other: &m.task, means: m.M, shifted: m.K > m.M,
		base: m.base, weight: 1 / m.noise[0],
	}
	if m.perTask {
		for q, v := range m.noise {
			m.scale[q] = 1 / math.Sqrt(v)
		}
		m.scaled.scaleFrom(&m.task, m.scale)
		side.other, side.scale, side.weight = &m.scaled, m.scale, 1
	}
	var all *lineStats
	if m.y.complete() {
		all = m.crew.shared(m.M)
		m.completeObjects(&side, all)
	}
	if m.functions != nil {
		return m.updateFunctions(&side, all, from, to)
	}
	m.crew.each(side.blocks, func(c *lineWorker, block int) {
		var sum float64
		for n := side.blocks[block]; n < side.blocks[block+1]; n++ {
			s := all
			if s == nil {
				s = c.stats(&side, n)
			} else {
				s = s.with(&c.own, m.cross.Row(n)[:m.M])
			}
			a, variance := m.object.mean.Row(n)[:m.M], m.object.variance.Row(n)
			for k := from; k < to; k++ {
				g := s.gram.Row(k)[:m.M]
				cross := s.cross[k] - la.Dot(g, a) + float64(g[k]*a[k])
				variance[k] = 1 / (1 + float64(side.weight*(g[k]+s.variance[k])))
				a[k] = side.weight * cross * variance[k]
			}
			for k, v := range variance {
				sum += float64(0.5 * (special.Log(v) + 1 - v - float64(a[k]*a[k])))
			}
		}
		m.objectSums[block] = sum
	})
	return nil
}

// updateFunctions is q(φ_m) = N(a, A) for factors with a covariance over the
// objects, after their length where its turn has come: λ and h of updateObjects
// for all objects, and [latentGP.update].
func (m *factors) updateFunctions(side *half, all *lineStats, from, to int) error {
	at := func(n int) *lineStats { return &m.lineStats[n] }
	if all != nil {
		var s lineStats
		at = func(n int) *lineStats { return all.with(&s, m.cross.Row(n)[:m.M]) }
	} else {
		m.crew.each(side.blocks, func(c *lineWorker, block int) {
			for n := side.blocks[block]; n < side.blocks[block+1]; n++ {
				s, own := &m.lineStats[n], c.stats(side, n)
				s.gram.CopyFrom(own.gram)
				copy(s.cross, own.cross)
				copy(s.variance, own.variance)
			}
		})
	}
	ws := &m.crew.All
	for k := from; k < to; k++ {
		if err := m.Ended(); err != nil {
			return err
		}
		f := &m.functions[k]
		for n := range m.N {
			s, a := at(n), m.object.mean.Row(n)[:m.M]
			g := s.gram.Row(k)
			f.lambda[n] = side.weight * (g[k] + s.variance[k])
			m.h[n] = side.weight * (s.cross[k] - la.Dot(g, a) + float64(g[k]*a[k]))
		}
		if f.cov.learned() && m.sweeps > 0 && m.sweeps%m.lengthsEvery == 0 {
			if err := f.climb(ws, m.scratch, m.h, lengthTolerance); err != nil {
				return fmt.Errorf("factor %d: %w", k, err)
			}
		}
		if err := f.update(ws, m.scratch, m.h); err != nil {
			return fmt.Errorf("factor %d: %w", k, err)
		}
		for n := range m.N {
			m.object.mean.Row(n)[k], m.object.variance.Row(n)[k] = f.mean[n], f.variance[n]
		}
	}
	return nil
}

// lengthTolerance is how closely the logarithm of a length is sought; it changes
// from sweep to sweep.
const lengthTolerance = 1e-3

// updateTasks is q(w̃_qm, s_qm) for the weights from ≤ m < to, one after the other
// for each task, and q(c_q) if to = M+1; see [Prior.Posterior]. The same
// matrices as for the objects, without the noise, give what each needs; and E_q.
func (m *factors) updateTasks(from, to int) {
	side := half{
		lines: &m.y.byTask, blocks: m.taskBlocks, other: &m.object, means: m.K, base: m.base, weight: 1,
	}
	logit, logSlab := m.prior.logit(), special.Log(m.prior.Variance)
	var all *lineStats
	var alike []float64 // the gains, if all tasks have the same
	if m.y.complete() {
		all = m.crew.shared(m.K)
		m.completeTasks(all)
		if !m.perTask {
			alike = m.crew.gain
			m.gains(all, m.noise[0], alike)
		}
	}
	m.crew.each(side.blocks, func(c *lineWorker, block int) {
		var sums slabSums
		for q := side.blocks[block]; q < side.blocks[block+1]; q++ {
			s := all
			if s == nil {
				s = c.stats(&side, q)
			} else {
				s = s.with(&c.own, m.cross.Row(q))
				s.total = m.total[q]
			}
			gain := alike
			if gain == nil {
				gain = c.gain
				m.gains(s, m.noise[q], gain)
			}
			m.updateTask(s, q, from, to, logit, logSlab, gain, &sums)
		}
		m.taskSums[block] = sums
	})
}

// gains computes log(σ_w²/v_qm) for the weights of a task.
func (m *factors) gains(s *lineStats, noise float64, gain []float64) {
	for k := range gain {
		gain[k] = special.Log1p((s.gram.At(k, k) + s.variance[k]) * m.prior.Variance / noise)
	}
}

// updateTask is updateTasks for task q, whose statistics are s: the weights from ≤ m < to,
// and q(c_q) if to is beyond them. Its weights are added to sums.
func (m *factors) updateTask(s *lineStats, q, from, to int, logit, logSlab float64, gain []float64, sums *slabSums) {
	e, variance := m.task.mean.Row(q), m.task.variance.Row(q)
	weights := m.weights[q*m.M:][:m.M]
	noise := m.noise[q]
	rest := 1.0
	for k := range weights {
		var logVariance float64
		if k >= from && k < to {
			g := s.gram.Row(k)[:m.K]
			cross := s.cross[k] - la.Dot(g, e) + float64(g[k]*e[k])
			weights[k] = m.prior.posterior(logit, gain[k], cross, g[k]+s.variance[k], noise)
			logVariance = logSlab - gain[k]
		} else {
			logVariance = special.Log(weights[k].Variance)
		}
		var r float64
		e[k], variance[k], r = sums.add(weights[k], logVariance)
		if rest *= r; rest > 1e300 {
			sums.entropy += special.Log(rest)
			rest = 1
		}
	}
	sums.entropy += special.Log(rest)
	if to > m.M {
		g := s.gram.Row(m.M)[:m.K]
		cross := s.cross[m.M] - la.Dot(g, e) + float64(g[m.M]*e[m.M])
		v := 1 / (m.count[q]/noise + 1/m.offsetPrior.Variance)
		m.offsetVar[q] = v
		e[m.M] = v * (cross/noise + m.offsetPrior.Mean/m.offsetPrior.Variance)
	}
	// E_q = Σ(y − Σ e·a)² + Σ_m E[w²]ΣA + Var[w]Σa² + (entries)·Var[c].
	sum, shake := s.total, s.total
	for k, v := range e {
		shake += float64(float64(v*v) * s.gram.At(k, k))
		sum -= float64(v * (float64(2*s.cross[k]) - la.Dot(s.gram.Row(k)[:m.K], e)))
	}
	sum = max(0, sum)
	for k, v := range variance {
		sum += float64((float64(e[k]*e[k])+v)*s.variance[k]) + float64(v*s.gram.At(k, k))
	}
	if m.K > m.M {
		sum += float64(m.count[q] * m.offsetVar[q])
	}
	m.error2[q], m.shake[q] = sum, shake
}

// updateNoise is σ_q² = E_q/N_q, or ΣE_q/ΣN_q, or with the noise's prior
// (E_q + ν·s)/(N_q + ν), where s is then set to its own maximum.
func (m *factors) updateNoise() {
	if m.held.Noise {
		return
	}
	if !m.perTask {
		var e, n float64
		for q, v := range m.error2 {
			e, n = e+v, n+m.count[q]
		}
		v := max(e/n, m.floor)
		for q := range m.noise {
			m.noise[q] = v
		}
		return
	}
	for q, v := range m.error2 {
		if n := m.count[q] + m.noiseWeight; n > 0 {
			m.noise[q] = max((v+float64(m.noiseWeight*m.noiseScale))/n, m.floor)
		}
	}
	m.updateNoiseScale()
}

// updateNoiseScale sets the scale of the noise's prior, if it has one, to its maximum.
func (m *factors) updateNoiseScale() {
	if m.noiseWeight == 0 {
		return
	}
	var precision float64
	for _, v := range m.noise {
		precision += 1 / v
	}
	m.noiseScale = (1 + 2/m.noiseWeight) * float64(m.Q) / precision
}

// sums returns the sums over the weights of all tasks.
func (m *factors) sums() (s slabSums) {
	for i := range m.taskSums {
		s.merge(&m.taskSums[i])
	}
	return s
}

// updateSlab sets σ_w² or π to the maximum of the bound.
func (m *factors) updateSlab(variance, pi bool) {
	s := m.sums()
	if variance && !m.held.Variance {
		m.prior.learnVariance(s.pairSums)
	}
	if pi && !m.held.Pi {
		m.prior.learnPi(s.pairSums)
	}
}

// updateOffsetPrior sets μ_c to the mean of E[c_q] and σ_c² to that of E[(c_q − μ_c)²].
func (m *factors) updateOffsetPrior() {
	n := float64(m.Q)
	var mean, variance float64
	for q := range m.Q {
		mean += m.task.mean.At(q, m.M) / n
	}
	for q := range m.Q {
		d := m.task.mean.At(q, m.M) - mean
		variance += (m.offsetVar[q] + float64(d*d)) / n
	}
	m.offsetPrior = OffsetPrior{mean, max(variance, m.floor)}
}

// Bound implements [vi.Objective]. It is that of the present state after updateTasks.
func (m *factors) Bound() float64 {
	s := m.sums()
	sum := s.bound(m.prior)
	for _, v := range m.objectSums {
		sum += v
	}
	for k := range m.functions {
		sum -= m.functions[k].kl
	}
	for q, e := range m.error2 {
		sum -= float64(0.5 * (float64(m.count[q]*special.Log(2*math.Pi*m.noise[q])) + e/m.noise[q]))
	}
	if m.K > m.M {
		p := m.offsetPrior
		for q, v := range m.offsetVar {
			d := m.task.mean.At(q, m.M) - p.Mean
			sum += float64(0.5 * (special.Log(v/p.Variance) + 1 - (v+float64(d*d))/p.Variance))
		}
	}
	if m.perTask && m.noiseWeight > 0 {
		shape, rate := 1+float64(m.noiseWeight/2), m.noiseWeight*m.noiseScale/2
		gamma := special.LogGamma(shape)
		sum += float64(float64(m.Q) * (float64(shape*special.Log(rate)) - gamma))
		for _, v := range m.noise {
			sum -= float64((shape-1)*special.Log(v)) + rate/v
		}
	}
	return sum
}
