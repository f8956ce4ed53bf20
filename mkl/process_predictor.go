package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// ProcessPredictorOptions says how closely the predictor of a Gaussian process model
// follows the model. The zero value predicts means and variances.
type ProcessPredictorOptions struct {
	// Tolerance is the error that is accepted of a predictive mean and of a predictive
	// standard deviation, relative to the predictive standard deviation of that sample:
	// 0 means DefaultProcessTolerance.
	Tolerance float64

	// Exact computes every prediction from all training samples.
	Exact bool

	// MeanOnly leaves out the variance. The error of a mean is then relative to the
	// standard deviation of the noise.
	MeanOnly bool
}

// DefaultProcessTolerance is the default Tolerance of the predictors of Gaussian
// process models.
const DefaultProcessTolerance = 1e-3

// tolerance returns the tolerance of one of the functions that make a prediction, with
// this share of it.
func (opt ProcessPredictorOptions) tolerance(share float64) (float64, error) {
	switch t := opt.Tolerance; {
	case t == 0:
		return share * DefaultProcessTolerance, nil
	case !(t > 0) || math.IsInf(t, 1):
		return 0, fmt.Errorf("mkl: Predictor: Tolerance is %g, which is not positive", t)
	default:
		return share * t, nil
	}
}

// ProcessPredictorInfo says of one function what a prediction takes.
type ProcessPredictorInfo struct {
	Samples int // training samples of the model

	// Pivots are the training samples whose kernels a prediction takes, the first
	// Order of which decide the variance and the bounds. They are nil if every
	// prediction takes all samples.
	Pivots []int
	Order  int
}

// processFunction predicts one function of a model at one sample.
type processFunction struct {
	posterior *mgp.Posterior
	near      *mgp.Projection   // nil if there is none
	noise     *mgp.NoiseProcess // nil if it is constant
	tolerance float64
	meanOnly  bool
	pivots    processKernels // for near
	all       processKernels
}

// processKernels computes the composite kernel of a sample with some of the training
// samples.
type processKernels struct {
	pointKernels
	amplitude []float64 // 1/E[γ_p]
	pool      scratchPool

	noiseAmplitude []float64 // of the logarithm of noise that varies
}

// newProcessFunction projects function o of m.
func (m *processes) newProcessFunction(o int, opt ProcessPredictorOptions, share float64) (*processFunction, error) {
	tolerance, err := opt.tolerance(share)
	if err != nil {
		return nil, err
	}
	ds, post := m.designs[o], m.posteriors[o]
	f := &processFunction{posterior: post, tolerance: tolerance, meanOnly: opt.MeanOnly}
	if m.noise != nil && !opt.MeanOnly {
		f.noise = m.noise
		f.all.set(ds, post, upTo(ds.d), ds.d)
		f.all.noiseAmplitude = amplitudes(m.noise.About)
		return f, nil
	}
	f.all.set(ds, post, upTo(ds.d), 0)
	if opt.Exact || m.noise != nil {
		return f, nil
	}
	f.near, err = post.Project(newComposite(ds, &f.all), mgp.ProjectOptions{Tolerance: tolerance, MeanOnly: opt.MeanOnly})
	if err != nil {
		return nil, fmt.Errorf("mkl: Predictor: %w", err)
	}
	if f.near != nil {
		f.pivots.set(ds, post, f.near.Pivots, f.near.ScratchSize())
	}
	return f, nil
}

// set prepares the kernels with these samples.
func (p *processKernels) set(ds *design, post *mgp.Posterior, samples []int, spare int) {
	p.pointKernels = newPointKernels(ds, upTo(len(ds.views)), samples, true)
	p.amplitude = amplitudes(post)
	p.pool = newScratchPool(func() *scratch {
		s := p.newScratch()
		s.phi, s.solved = make([]float64, p.samples), make([]float64, spare)
		return s
	})
}

// amplitudes are those of the kernels in the composite kernel.
func amplitudes(post *mgp.Posterior) (a []float64) {
	for _, g := range post.State().Gamma {
		a = append(a, 1/g)
	}
	return a
}

// composite stores the composite kernels of x with the samples in s.phi, and returns
// that with itself.
func (p *processKernels) composite(s *scratch, x [][]float64) (self float64) {
	p.kernels(s, x)
	return s.weigh(p.amplitude, s.phi)
}

// weigh stores the sum of the kernels in s, with these amplitudes, and returns that of
// the sample with itself.
func (s *scratch) weigh(amplitude, sum []float64) (self float64) {
	clear(sum)
	for n, a := range amplitude {
		la.Axpy(a, s.k.Row(n), sum)
		self += float64(a * s.self[n])
	}
	return self
}

// predict returns the prediction of x, from the pivots if that is within the tolerance.
func (f *processFunction) predict(x [][]float64) (c vi.Certified) {
	if f.near != nil {
		s := f.pivots.pool.take()
		self := f.pivots.composite(s, x)
		c = f.near.Predict(&s.ws, s.phi, self, s.solved)
		f.pivots.pool.put(s)
		if c.Within(f.tolerance) {
			return c
		}
	}
	s := f.all.pool.take()
	self := f.all.composite(s, x)
	if f.noise != nil {
		noiseSelf := s.weigh(f.all.noiseAmplitude, s.solved)
		c = f.noise.PredictOne(f.posterior, s.phi, self, s.solved, noiseSelf)
	} else {
		c = f.posterior.PredictOne(s.phi, self, f.meanOnly)
	}
	f.all.pool.put(s)
	return c
}

func (f *processFunction) info() ProcessPredictorInfo {
	i := ProcessPredictorInfo{Samples: f.posterior.Samples()}
	if f.near != nil {
		i.Pivots, i.Order = append([]int(nil), f.near.Pivots...), f.near.Order
	}
	return i
}

// composite is the composite kernel of the training samples.
type composite struct {
	ds   *design
	all  *processKernels
	work *scratch
	x    [][]float64
}

// newComposite returns the kernel of the design, or nil if some of it was given and is
// not kept, or samples may lack it.
func newComposite(ds *design, all *processKernels) mgp.Composite {
	for _, in := range ds.inputs {
		if in.given || in.gaps {
			return nil
		}
	}
	return &composite{ds: ds, all: all, work: all.pool.create(), x: make([][]float64, len(ds.inputs))}
}

// Column implements [mgp.Composite].
func (c *composite) Column(i int, dst []float64) {
	for j := range c.x {
		c.x[j] = c.ds.inputs[j].basis.Row(i)
	}
	c.all.composite(c.work, c.x)
	copy(dst, c.work.phi)
}

// Diagonal implements [mgp.Composite].
func (c *composite) Diagonal(dst []float64) {
	clear(dst)
	each := la.NewMatrix[float64](len(c.all.amplitude), len(dst))
	c.all.diagonal(c.ds, upTo(c.ds.d), each)
	for n, a := range c.all.amplitude {
		la.Axpy(a, each.Row(n), dst)
	}
}

// BoundedPrediction is the prediction of one sample with certain bounds on how far it
// is from that of the model. Both bounds are 0 where it was computed from all samples.
type BoundedPrediction struct {
	Mean     float64 // of the target
	Variance float64 // with the noise; NaN with MeanOnly

	MeanError float64 // of Mean
	SDError   float64 // of √Variance; 0 with MeanOnly
}

// ProcessPredictor predicts one sample at a time by a [MultiGPModel], a [LandmarkGPModel] or a
// [PoolModel].
// A prediction takes the kernels with a few of the training samples, the pivots, and
// the bound on its error that comes with it; if that is more than the tolerance it is
// computed again from all. Where the noise varies it always takes all. It takes no lock, starts no goroutine and, as long as no
// more callers than processors predict at a time, allocates nothing. A
// ProcessPredictor is immutable and safe for concurrent use. docs/predictor.md has the
// bounds.
type ProcessPredictor struct {
	inputs  []input
	members []processMember
}

// processMember is one of a mixture.
type processMember struct {
	pointFunction
	weight   float64
	target   target
	meanOnly bool
}

// pointFunction predicts one function at one sample.
type pointFunction struct {
	process   *processFunction
	landmarks *landmarkFunction // in place of process, nil if there is that
}

// predict returns the prediction of x. (It is no method of an interface, since x would then
// escape to the heap.)
func (f *pointFunction) predict(x [][]float64) vi.Certified {
	if f.landmarks != nil {
		return f.landmarks.predict(x)
	}
	return f.process.predict(x)
}

func (f *pointFunction) info() ProcessPredictorInfo {
	if f.landmarks != nil {
		return f.landmarks.info()
	}
	return f.process.info()
}

// Predictor prepares the model for predictions of single samples. For m pivots of N
// samples that costs about N²·m multiplications.
func (m *MultiGPModel) Predictor(opt ProcessPredictorOptions) (*ProcessPredictor, error) {
	p := &ProcessPredictor{inputs: m.design.inputs}
	return p, p.add(m, opt, mixedShare(len(m.averaged().posteriors)), 1)
}

// Predictor prepares the model for predictions of single samples: those of every
// member.
func (m *PoolModel) Predictor(opt ProcessPredictorOptions) (*ProcessPredictor, error) {
	if m.landmarks != nil {
		return m.landmarks.Predictor(opt)
	}
	p := &ProcessPredictor{inputs: m.members[0].design.inputs}
	functions := 0
	for _, member := range m.members {
		functions += len(member.averaged().posteriors)
	}
	for i, member := range m.members {
		if err := p.add(member, opt, mixedShare(functions), m.weights[i]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// mixtureShare is the share of the tolerance that the members of a mixture may use: if
// each is within δ of its standard deviation, that of the mixture is within
// ½(1+√2)δ + O(δ²) < δ/0.8; see docs/predictor.md.
const mixtureShare = 0.8

// mixedShare returns the share of the tolerance for each of so many functions.
func mixedShare(functions int) float64 {
	if functions > 1 {
		return mixtureShare
	}
	return 1
}

func (p *ProcessPredictor) add(m *MultiGPModel, opt ProcessPredictorOptions, share, weight float64) error {
	all := m.averaged()
	for o := range all.posteriors {
		f, err := all.newProcessFunction(o, opt, share)
		if err != nil {
			return err
		}
		p.members = append(p.members, processMember{
			pointFunction: pointFunction{process: f}, weight: weight / float64(len(all.posteriors)), target: m.target, meanOnly: opt.MeanOnly,
		})
	}
	return nil
}

// Info says what a prediction by each member of the model takes, by each of its draws if there are any.
func (p *ProcessPredictor) Info() []ProcessPredictorInfo {
	var out []ProcessPredictorInfo
	for _, m := range p.members {
		out = append(out, m.info())
	}
	return out
}

// Predict returns the predictive mean and variance (noise included; NaN with MeanOnly)
// of one sample, given as one row for each of the model's Inputs. It is an error if a
// row has the wrong length or a NaN or infinity in it.
func (p *ProcessPredictor) Predict(x ...[]float64) (mean, variance float64, err error) {
	b, err := p.PredictWithBound(x...)
	return b.Mean, b.Variance, err
}

// PredictWithBound is Predict with bounds on its error. Errors are those of Predict.
func (p *ProcessPredictor) PredictWithBound(x ...[]float64) (BoundedPrediction, error) {
	if err := checkPoint(p.inputs, x); err != nil {
		return BoundedPrediction{Mean: math.NaN(), Variance: math.NaN()}, err
	}
	var mix mixture
	for i := range p.members {
		m := &p.members[i]
		mix.add(m.weight, m.target, m.predict(x))
	}
	b := mix.prediction(len(p.members))
	variance := b.Variance
	if p.members[0].meanOnly {
		variance = 1
	}
	if err := checkMoments(b.Mean, variance); err != nil {
		return BoundedPrediction{Mean: math.NaN(), Variance: math.NaN()}, fmt.Errorf("mkl: %w", err)
	}
	return b, nil
}

// mixture gathers the moments of a mixture and bounds on their errors.
type mixture struct {
	weight, mean, variance float64
	spread                 float64 // Σ w(μ−μ̄)²
	meanError              float64
	squares                float64 // Σ w·(error of the mean)²
	varianceError          float64 // of Σ w·variance
	sdError                float64 // of the last member
}

func (m *mixture) add(w float64, t target, c vi.Certified) {
	mean, variance := t.mean+float64(t.sd*c.Mean), float64(t.sd*t.sd*c.Variance)
	d := mean - m.mean
	m.weight += w
	share := w / m.weight
	m.mean += float64(share * d)
	m.variance += float64(share * (variance - m.variance))
	m.spread += float64(share * (float64((1-share)*d*d) - m.spread))
	m.sdError = float64(t.sd * c.SDError)
	e := float64(t.sd * c.MeanError)
	m.meanError += float64(share * (e - m.meanError))
	m.squares += float64(share * (float64(e*e) - m.squares))
	m.varianceError += float64(share * (float64(m.sdError*(float64(2*math.Sqrt(variance))+m.sdError)) - m.varianceError))
}

// prediction returns the moments of n members. Their means' root mean square distance
// from their own mean moves by no more than that of their errors.
func (m *mixture) prediction(n int) BoundedPrediction {
	b := BoundedPrediction{Mean: m.mean, Variance: m.variance + m.spread, MeanError: m.meanError, SDError: m.sdError}
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
