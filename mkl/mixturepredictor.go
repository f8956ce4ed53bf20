package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// processFunction predicts one function of a model at one sample in up to four ways: from pivots, from all samples with
// the variance in integers or in float32, and from all samples in float64.
type processFunction struct {
	posterior *mgp.Posterior
	noise     *mgp.NoiseProcess // nil if the noise is constant
	tolerance float64           // that is enough, whatever the others of a mixture do
	wide      float64           // for which triangles are prepared
	meanOnly  bool

	near   *mgp.Projection // nil without pivots
	pivots processKernels  // for near

	shared, noiseShared *bankSum       // the composite kernels from the bank; nil if it does not compute them
	all                 processKernels // the kernels in the other case

	amplitude      []float64 // 1/E[γ_p]
	noiseAmplitude []float64 // of the process of the log noise variance

	triangle, noiseTriangle *mgp.Triangle   // nil if float32 is not used
	joint                   *jointFunctions // nil if the function has a triangle of its own, or none
	exact                   bool            // float32 is not enough for most samples: the function has no triangle
}

// processKernels computes the composite kernel between a sample and some of the training
// samples.
type processKernels struct {
	gram.Points
	amplitude []float64 // 1/E[γ_p]
	pool      reuse.Pool[scratch]
}

// newProcessFunction prepares function o of m. The bank b computes its kernels if it can.
func (m *processes) newProcessFunction(o int, b *processBank, opt PredictorOptions, share float64) (*processFunction, error) {
	tolerance := opt.process(share)
	ds, post := m.designs[o], m.posteriors[o]
	f := &processFunction{posterior: post, tolerance: tolerance, wide: tolerance, meanOnly: opt.MeanOnly, amplitude: amplitudes(post)}
	if m.noise != nil && !opt.MeanOnly {
		f.noise = m.noise
		f.noiseAmplitude = amplitudes(m.noise.About)
	}
	f.all.set(ds, f.amplitude, vec.UpTo(ds.D), 0)
	k := newComposite(ds, &f.all)
	// The bounds of a projection hold only if the kernels with a new sample extend the training kernel; given rows may not.
	if !opt.Exact && m.noise == nil && !slices.ContainsFunc(ds.Inputs, func(in gram.Input) bool { return in.Given }) {
		var err error
		f.near, err = post.ArchivedProjection(opt.archive, k, mgp.ProjectOptions{Tolerance: tolerance, MeanOnly: opt.MeanOnly})
		if err != nil {
			return nil, fmt.Errorf("mkl: Predictor: %w", err)
		}
		if f.near != nil && !f.worthPivots() {
			f.near = nil
		}
	}
	if f.near != nil {
		f.pivots.set(ds, f.amplitude, f.near.Pivots, f.near.ScratchSize())
	}
	var ok bool
	if f.shared, ok = b.sum(ds, f.amplitude); ok {
		f.noiseShared, _ = b.sum(ds, f.noiseAmplitude)
	}
	return f, nil
}

// usesTriangle reports whether the function computes variances by a triangle.
func (f *processFunction) usesTriangle(opt PredictorOptions) bool {
	return f.near == nil && !opt.Exact && !opt.MeanOnly
}

// complete prepares the triangles of the function, if it uses any that it has not got yet, and drops what was for preparation alone.
// ds is the design of the function.
func (f *processFunction) complete(ds *gram.Design, opt PredictorOptions) {
	if f.usesTriangle(opt) {
		if f.joint == nil && !f.exact {
			f.triangle = f.posterior.ArchivedTriangle(opt.archive, newComposite(ds, &f.all), f.wide)
		}
		if f.noise != nil {
			noise := f.all
			noise.amplitude = f.noiseAmplitude
			f.noiseTriangle = f.noise.About.ArchivedTriangle(opt.archive, newComposite(ds, &noise), f.wide)
		}
	}
	if f.shared != nil {
		f.all = processKernels{}
	}
}

// Float32 is tried for single samples if it is enough for this share of new samples, and for blocks of samples if it is enough for half
// of them. Of a single sample it takes a fourth of the time of float64, and of a block half.
const (
	leastTried        = 0.25
	leastTriedInBlock = 0.5
)

// worthPivots reports whether predictions from pivots take less than half of the time of predictions from all samples in
// float32, which may share kernels with other functions of the predictor. The times are in ns, rounded
// from timings of an Intel Xeon with AVX-512.
func (f *processFunction) worthPivots() bool {
	kernels, samples, pivots, order := float64(len(f.amplitude)), float64(f.dim()), float64(len(f.near.Pivots)), float64(f.near.Order)
	near := float64(60*kernels) + float64(0.6*kernels*pivots) + float64(0.3*order*order)
	all := float64(30*kernels) + float64(0.5*kernels*samples)
	if !f.meanOnly {
		all += float64(3*samples) + float64(samples*samples/80)
	}
	return 2*near < all
}

// set prepares the kernels of the design with these amplitudes, between a sample and the given samples.
func (p *processKernels) set(ds *gram.Design, amplitude []float64, samples []int, spare int) {
	p.Points = gram.NewPoints(ds, vec.UpTo(len(ds.Views)), samples, true)
	p.amplitude = amplitude
	p.pool = reuse.NewPool(func() *scratch {
		s := &scratch{PointScratch: p.NewScratch()}
		s.phi, s.solved = make([]float64, p.Samples), make([]float64, spare)
		return s
	})
}

// amplitudes returns the amplitudes 1/E[γ_p] of the kernels in the composite kernel.
func amplitudes(post *mgp.Posterior) (a []float64) {
	for _, g := range post.State().Gamma {
		a = append(a, 1/g)
	}
	return a
}

// composite stores the composite kernels of x with the samples in phi, and returns
// the composite kernel of x with itself.
func (p *processKernels) composite(s *scratch, x [][]float64, phi []float64) (self float64) {
	p.Kernels(s.PointScratch, x)
	return s.weigh(p.amplitude, phi)
}

// weigh stores the sum of the kernels in s, weighted by the amplitudes, in sum. It returns the same sum for
// the kernels of the sample with itself.
func (s *scratch) weigh(amplitude, sum []float64) (self float64) {
	clear(sum)
	for n, a := range amplitude {
		la.Axpy(a, s.K.Row(n), sum)
		self += float64(a * s.Self[n])
	}
	return self
}

// stage is how much work a prediction may leave out.
type stage int

const (
	hasty   stage = iota // a function of a class stops where its judge allows
	closely              // every function is within its tolerance
	exactly              // all samples, in float64
)

// way is how a function is predicted: the quickest first, the closest last.
type way int

const (
	byPivots way = iota
	inIntegers
	inFloat32
	inFloat64
	noOther // there is no closer way
)

// predict returns the prediction of x; s is the memory of b for x.
func (f *processFunction) predict(b *processBank, s *bankScratch, x [][]float64, stage stage) (c vi.Certified) {
	if stage == exactly {
		k, noiseK := s.phi[:f.dim()], s.noisePhi[:f.dim()]
		self, noiseSelf := f.kernels(b, s, x, k, noiseK)
		return f.exactly(k, self, noiseK, noiseSelf)
	}
	for next := byPivots; ; {
		if c, next = f.predictBy(next, b, s, x); next == noOther || c.Within(f.tolerance) {
			return c
		}
	}
}

// exactly returns the prediction in float64 of a sample from its composite kernels, which are overwritten.
func (f *processFunction) exactly(k []float64, self float64, noiseK []float64, noiseSelf float64) vi.Certified {
	if f.noise != nil {
		return f.noise.PredictOne(f.posterior, k, self, noiseK, noiseSelf)
	}
	return f.posterior.PredictOne(k, self, f.meanOnly)
}

// predictBy returns the prediction of x by the first of the ways from w on that the function has, and the way after it.
func (f *processFunction) predictBy(w way, b *processBank, s *bankScratch, x [][]float64) (c vi.Certified, next way) {
	if w == byPivots {
		if f.near != nil {
			return f.fromPivots(x), inIntegers
		}
		w = inIntegers
	}
	k, noiseK := s.phi[:f.dim()], s.noisePhi[:f.dim()]
	self, noiseSelf := f.kernels(b, s, x, k, noiseK)
	if f.triangle == nil || f.noise != nil && f.noiseTriangle == nil {
		w = inFloat64
	} else if w == inIntegers && !f.triangle.Coarse() && (f.noise == nil || !f.noiseTriangle.Coarse()) {
		w = inFloat32
	}
	switch {
	case w == inFloat64 && f.noise != nil && f.noiseTriangle != nil:
		c = f.noise.PredictFunctionExactly(f.posterior, f.noiseTriangle, k, self, noiseK, noiseSelf, f.tolerance, s.triangle)
	case w == inFloat64:
		c = f.exactly(k, self, noiseK, noiseSelf)
	case f.noise != nil:
		c = f.noise.PredictByTriangles(f.triangle, f.noiseTriangle, k, self, noiseK, noiseSelf, f.tolerance, w == inIntegers, s.triangle)
	default:
		c = f.triangle.Predict(k, self, w == inIntegers, s.triangle)
	}
	return c, w + 1
}

// fromPivots returns the prediction of x from pivots.
func (f *processFunction) fromPivots(x [][]float64) vi.Certified {
	s := f.pivots.pool.Take()
	self := f.pivots.composite(s, x, s.phi)
	c := f.near.Predict(&s.WS, s.phi, self, s.solved)
	f.pivots.pool.Put(s)
	return c
}

// kernels stores the composite kernels of x with all training samples in k, and of the process of the noise in noiseK. It returns the
// composite kernels of x with itself.
func (f *processFunction) kernels(b *processBank, s *bankScratch, x [][]float64, k, noiseK []float64) (self, noiseSelf float64) {
	if f.shared != nil {
		self = b.weigh(s.BankScratch, f.shared, x, k)
		if f.noise != nil {
			noiseSelf = b.weigh(s.BankScratch, f.noiseShared, x, noiseK)
		}
		return self, noiseSelf
	}
	own := f.all.pool.Take()
	self = f.all.composite(own, x, k)
	if f.noise != nil {
		noiseSelf = own.weigh(f.noiseAmplitude, noiseK)
	}
	f.all.pool.Put(own)
	return self, noiseSelf
}

// refines reports whether begin and refine predict the function: its variance comes from a triangle of many rows, and its noise is constant.
// A triangle of few rows takes less time than the questions whether they are needed.
func (f *processFunction) refines() bool {
	return f.triangle != nil && f.triangle.Divided() && f.noise == nil
}

// begin returns the prediction of x from the kernels alone. refine comes closer. The function must be one that refines.
func (f *processFunction) begin(b *processBank, s *bankScratch, x [][]float64, r *mgp.Refinement) vi.Certified {
	r.K = r.K[:f.dim()]
	self, _ := f.kernels(b, s, x, r.K, nil)
	return r.Begin(f.triangle, self)
}

// refine adds rows of the triangle to a prediction that has begun, and reports whether the prediction cannot come closer. Where all rows are
// not enough it is computed in float64.
func (f *processFunction) refine(r *mgp.Refinement) (c vi.Certified, done bool) {
	if c, done = r.Refine(); !done || c.Within(f.tolerance) {
		return c, done
	}
	return f.posterior.PredictOne(r.K, r.Self(), false), true
}

// dim returns the number of training samples with which the function computes kernels.
func (f *processFunction) dim() int {
	_, n := f.posterior.Dims()
	return n
}

func (f *processFunction) info() PredictorInfo {
	P := len(f.amplitude)
	i := PredictorInfo{Kernels: vec.UpTo(P), Samples: vec.UpTo(f.posterior.Samples())}
	n := len(i.Samples)
	i.Bytes = 8 * n
	if (f.triangle != nil || f.joint != nil) && (f.noise == nil || f.noiseTriangle != nil) {
		i.Kind, i.Float32 = BoundCalibrated, true
	}
	switch {
	case f.near != nil:
		i.Bytes = f.near.Bytes()
	case f.meanOnly:
	case f.joint != nil:
		if f.joint.functions[0] == f { // the others read no triangle
			i.Bytes += f.joint.triangle.Bytes()
		}
	case i.Float32:
		i.Bytes += f.triangle.Bytes()
	default:
		i.Bytes += 4 * n * n
	}
	switch {
	case f.noise == nil || f.meanOnly:
	case f.noiseTriangle != nil:
		i.Bytes += 8*n + f.noiseTriangle.Bytes()
	default:
		i.Bytes += 8*n + 4*n*n
	}
	if f.near != nil {
		i.Order = f.near.Order
		for range P {
			i.Pivots = append(i.Pivots, slices.Clone(f.near.Pivots))
		}
	}
	return i
}

// composite computes the composite kernel of the training samples.
type composite struct {
	ds   *gram.Design
	all  *processKernels
	work *scratch
	x    [][]float64
}

// newComposite returns the composite kernel of the design. It returns nil if an input has given kernels, which are
// not kept, or may be missing.
func newComposite(ds *gram.Design, all *processKernels) mgp.Composite {
	for _, in := range ds.Inputs {
		if in.Given || in.Gaps {
			return nil
		}
	}
	return &composite{ds: ds, all: all, work: all.pool.Create(), x: make([][]float64, len(ds.Inputs))}
}

// Column implements [mgp.Composite].
func (c *composite) Column(i int, dst []float64) {
	for j := range c.x {
		c.x[j] = c.ds.Inputs[j].Basis.Row(i)
	}
	c.all.composite(c.work, c.x, dst)
}

// Diagonal implements [mgp.Composite].
func (c *composite) Diagonal(dst []float64) {
	clear(dst)
	each := la.NewMatrix[float64](len(c.all.amplitude), len(dst))
	c.all.Diagonal(c.ds, vec.UpTo(c.ds.D), each)
	for n, a := range c.all.amplitude {
		la.Axpy(a, each.Row(n), dst)
	}
}

// mixturePredictor predicts the target of one Gaussian process, or of a mixture of several. A process with varying noise
// uses no pivots.
type mixturePredictor struct {
	inputs  []gram.Input
	members []processMember
	bank    processBank

	pool     *poolScale // of a pool, else nil
	edges    edges      // of a pool of very many samples
	levels   *levels    // likewise
	rows     reuse.Pool[levelRow]
	meanOnly bool

	designs []*gram.Design    // by member, of the processes; nil once the predictor is ready
	joint   []*jointFunctions // functions whose variances are computed together

	tolerance float64 // of the mixture
}

// processMember is a member of a mixture.
type processMember struct {
	pointFunction
	weight float64
	target target
}

// pointFunction predicts one function at one sample.
type pointFunction struct {
	process   *processFunction
	landmarks *landmarkFunction // if not nil, it predicts instead of process
	local     *localFunction    // likewise
	trees     *treeFunction     // likewise
	table     *tableFunction    // likewise
}

// predict returns the prediction of x. (It is not a method of an interface: x would then
// escape to the heap.)
func (f *pointFunction) predict(b *processBank, s *bankScratch, x [][]float64, stage stage) vi.Certified {
	switch {
	case f.landmarks != nil:
		return f.landmarks.predict(x, stage)
	case f.local != nil:
		return f.local.predict(x)
	case f.trees != nil:
		return f.trees.predict(x)
	case f.table != nil:
		return f.table.predict(x)
	}
	return f.process.predict(b, s, x, stage)
}

func (f *pointFunction) info() PredictorInfo {
	switch {
	case f.landmarks != nil:
		return f.landmarks.info()
	case f.local != nil:
		return f.local.info()
	case f.trees != nil:
		return f.trees.model.info()
	}
	return f.process.info()
}

// Predictor prepares the model for predictions of single samples. With m pivots of N
// samples this takes about N²·m multiplications.
func (m *MultiGPModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := opt.check(1); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	p := &mixturePredictor{inputs: m.design.Inputs, meanOnly: opt.MeanOnly, tolerance: opt.process(1)}
	functions := len(m.averaged().posteriors)
	if err := p.add(m, opt, mixedShare(functions), 1, functions); err != nil {
		return nil, err
	}
	return p.ready(opt)
}

// Predictor prepares the model, with all its members, for predictions of single
// samples.
func (m *AutoModel) Predictor(opt PredictorOptions) (*Predictor, error) {
	if err := opt.check(1); err != nil {
		return nil, err
	}
	opt = m.archived(opt)
	meanOnly := opt.MeanOnly
	opt.MeanOnly = meanOnly && !m.needsVariance() // a mean on another scale needs the variance of the learned target
	p, err := m.mixture(opt, 1)
	if err != nil {
		return nil, err
	}
	p.meanOnly = meanOnly
	return p.ready(opt)
}

// mixture returns the predictor with all members, which may use a share of the tolerance. It is not complete yet.
func (m *AutoModel) mixture(opt PredictorOptions, share float64) (*mixturePredictor, error) {
	p := &mixturePredictor{inputs: m.models[0].(interface{ inputs() []gram.Input }).inputs(), pool: &m.poolScale, edges: m.edges, levels: m.levels, meanOnly: opt.MeanOnly, tolerance: opt.process(share)}
	if m.levels != nil {
		p.rows = reuse.NewPool(func() *levelRow { return &levelRow{} })
	}
	functions := 0
	for _, member := range m.members {
		functions += len(member.averaged().posteriors)
	}
	if m.landmarks != nil || m.table != nil {
		functions++
	}
	share *= mixedShare(functions)
	for i, member := range m.members {
		if err := p.add(member, opt, share, m.weights[i], functions); err != nil {
			return nil, err
		}
	}
	for i, model := range m.models {
		switch other := model.(type) {
		case *LandmarkGPModel:
			f := newLandmarkFunction(&other.plan.featurePlan, other.shift, other.posterior, opt, share)
			p.members = append(p.members, processMember{pointFunction{landmarks: f}, m.weights[i], other.target})
		case *treeModel:
			p.members = append(p.members, processMember{pointFunction{trees: newTreeFunction(other, opt.MeanOnly)}, m.weights[i], other.target})
		case *localModel:
			p.members = append(p.members, processMember{pointFunction{local: other.function(nil, opt.MeanOnly)}, m.weights[i], other.target})
		case *tableModel:
			f, err := newTableFunction(other, opt, share)
			if err != nil {
				return nil, err
			}
			p.members = append(p.members, processMember{pointFunction{table: f}, m.weights[i], target{sd: 1}})
		}
	}
	return p, nil
}

// ready returns the predictor once it has all members.
func (p *mixturePredictor) ready(opt PredictorOptions) (*Predictor, error) {
	p.complete(opt)
	if err := opt.archiveError(); err != nil {
		return nil, err
	}
	return &Predictor{mixture: p}, nil
}

// complete prepares the triangles of the members and the memory of predictions, once there are all members.
func (p *mixturePredictor) complete(opt PredictorOptions) {
	p.join(opt)
	for i, ds := range p.designs {
		f := p.members[i].process
		if f.complete(ds, opt); f.triangle != nil && f.triangle.Fine() < leastTried {
			f.triangle, f.exact = nil, true
		}
	}
	p.designs = nil
	p.bank.members = len(p.members)
	p.bank.ready()
}

// mixtureShare is the share of the tolerance that the members of a mixture may use. If
// the error of each member is within δ of its standard deviation, the error of the mixture is within
// ½(1+√2)δ + O(δ²) < δ/0.8 of the mixture's; see docs/theory/predictor.md.
const mixtureShare = 0.8

// mixedShare returns the share of the tolerance for each of the given number of functions.
func mixedShare(functions int) float64 {
	if functions > 1 {
		return mixtureShare
	}
	return 1
}

// add adds a member, which may use a share of the tolerance, to a mixture of so many functions.
func (p *mixturePredictor) add(m *MultiGPModel, opt PredictorOptions, share, weight float64, functions int) error {
	all := m.averaged()
	for o := range all.posteriors {
		f, err := all.newProcessFunction(o, &p.bank, opt, share)
		if err != nil {
			return err
		}
		own := weight / float64(len(all.posteriors))
		// Where each function has the error that this tolerance allows, the mixture is within its own.
		f.wide = max(f.tolerance, p.tolerance/(float64(functions)*own))
		p.members = append(p.members, processMember{pointFunction: pointFunction{process: f}, weight: own, target: m.target})
		p.designs = append(p.designs, all.designs[o])
	}
	return nil
}

func (p *mixturePredictor) infos() (all []PredictorInfo) {
	for i := range p.members {
		if t := p.members[i].table; t != nil {
			all = append(all, t.mixture.infos()...)
			continue
		}
		all = append(all, p.members[i].info())
	}
	return all
}

// predictBounded predicts one sample.
func (p *mixturePredictor) predictBounded(x [][]float64) (BoundedPrediction, error) {
	if err := checkPoint(p.inputs, x); err != nil {
		return nothing, err
	}
	var r *levelRow
	if p.levels != nil {
		r = p.rows.Take()
		defer p.rows.Put(r)
	}
	x, effects := p.seen(r, x)
	s := p.bank.take()
	for i := range p.members {
		switch m := &p.members[i]; {
		case m.process == nil:
			s.certified[i], s.next[i] = m.predict(&p.bank, s, x, closely), noOther
		case m.process.joint == nil:
			s.certified[i], s.next[i] = m.process.predictBy(byPivots, &p.bank, s, x)
		}
	}
	for _, j := range p.joint {
		j.predict(&p.bank, s, x)
	}
	p.closer(s, x)
	b, err := p.combined(s.certified, effects)
	p.bank.pool.Put(s)
	return b, err
}

// closer predicts members in closer ways until each is within its own tolerance, or the mixture is within its tolerance. The member that adds
// most to the bound is the next.
func (p *mixturePredictor) closer(s *bankScratch, x [][]float64) {
	for {
		next, most := -1, 0.0
		for i := range p.members {
			m, c := &p.members[i], &s.certified[i]
			if s.next[i] == noOther || c.Within(m.process.tolerance) {
				continue
			}
			if e := m.weight * m.target.sd * m.target.sd * max(c.MeanError, c.SDError) * math.Sqrt(c.Variance); next < 0 || e > most {
				next, most = i, e
			}
		}
		if next < 0 || p.within(s.certified) {
			return
		}
		s.certified[next], s.next[next] = p.members[next].process.predictBy(s.next[next], &p.bank, s, x)
	}
}

// within reports whether the mixture of predictions is within its tolerance.
func (p *mixturePredictor) within(members []vi.Certified) bool {
	b := p.mixed(members)
	return max(b.MeanError, b.SDError) <= p.tolerance*(math.Sqrt(b.Variance)-b.SDError)
}

// mixed returns the mixture of the predictions of its members, as they have learned the target.
func (p *mixturePredictor) mixed(members []vi.Certified) BoundedPrediction {
	var mix mixture
	for i := range p.members {
		mix.add(p.members[i].weight, p.members[i].target, members[i])
	}
	return mix.prediction(len(p.members))
}

// moments are a mean and a variance.
type moments struct{ mean, variance float64 }

// seen returns a sample as the members see it, and what the effects of its levels add. r is memory for it where there are levels.
func (p *mixturePredictor) seen(r *levelRow, x [][]float64) (out [][]float64, effects moments) {
	if p.levels != nil {
		x, effects.mean, effects.variance = p.levels.row(r, x)
	}
	return p.edges.row(x), effects
}

// combined returns the prediction of the mixture from the predictions of its members.
func (p *mixturePredictor) combined(members []vi.Certified, effects moments) (BoundedPrediction, error) {
	b := p.mixed(members)
	b = p.levels.one(b, effects.mean, effects.variance)
	if p.pool != nil {
		b = p.pool.one(b)
	}
	if p.meanOnly {
		b.Variance = 1
	}
	var err error
	if b.Variance, err = checkMoments(b.Mean, b.Variance); err != nil {
		return nothing, fmt.Errorf("mkl: %w", err)
	}
	if p.meanOnly {
		b.Variance, b.SDError = math.NaN(), 0
	}
	return b, nil
}

// mixture accumulates the moments of a mixture and bounds on their errors.
type mixture struct {
	weight, mean, variance float64
	spread                 float64 // Σ w(μ−μ̄)²
	meanError              float64
	squares                float64 // Σ w·(error of the mean)²
	varianceError          float64 // bound on the error of Σ w·variance
	sdError                float64 // bound for the last member
	kind                   BoundKind
}

func (m *mixture) add(w float64, t target, c vi.Certified) {
	mean, variance := t.mean+float64(t.sd*c.Mean), upToLargest(float64(t.sd*t.sd*c.Variance))
	d := mean - m.mean
	m.weight += w
	share := shareUpTo(w, m.weight)
	m.mean += float64(share * d)
	m.variance += float64(share * (variance - m.variance))
	m.spread = upToLargest(m.spread + float64(share*(float64((1-share)*d*d)-m.spread)))
	m.sdError = float64(t.sd * c.SDError)
	if c.Calibrated {
		m.kind = BoundCalibrated
	}
	e := float64(t.sd * c.MeanError)
	m.meanError += float64(share * (e - m.meanError))
	m.squares += float64(share * (float64(e*e) - m.squares))
	m.varianceError += float64(share * (float64(m.sdError*(float64(2*math.Sqrt(variance))+m.sdError)) - m.varianceError))
}

// prediction returns the moments of n members. The root mean square distance of their means
// from the mixture's mean changes by at most the root mean square of their errors.
func (m *mixture) prediction(n int) BoundedPrediction {
	b := BoundedPrediction{Mean: m.mean, Variance: upToLargest(m.variance + m.spread), MeanError: m.meanError, SDError: m.sdError, Kind: m.kind}
	switch {
	case math.IsNaN(b.Variance):
		b.SDError = 0
	case n > 1:
		e := m.varianceError + 2*math.Sqrt(m.spread*m.squares) + m.squares
		sd := math.Sqrt(b.Variance)
		b.SDError = e / (sd + math.Sqrt(max(0, b.Variance-e)))
	}
	return b
}
