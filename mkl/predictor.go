package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/stairs"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// PredictorOptions says what a [Predictor] predicts and how closely. The zero
// value predicts the mean and the full variance of the first target.
type PredictorOptions struct {
	// Target is the index of the target; predictors of all outputs at a time do not
	// use it.
	Target int

	// Tolerance is how far pruning may move a predictive mean or standard
	// deviation, in units of the noise's standard deviation. 0 means
	// DefaultPruning; negative prunes nothing. A prediction from pivots, see
	// [Predictor], may be off by a tenth of that in units of the sample's own predictive
	// standard deviation.
	Tolerance float64

	// MeanOnly leaves out the variance. Predictions are then much faster unless
	// the priors are sparse: a sample whose weight is near 0 but uncertain counts
	// for the variance alone.
	MeanOnly bool

	// Published selects the paper's predictive variance, which is too small and
	// nearly as fast as the mean.
	Published bool

	// Unhealed leaves out healing, as in PredictOptions. A healed predictor of a
	// [RegressionModel] keeps every sample, and its mean costs two products with a
	// matrix of their order; without healing a sparse model is left with few samples.
	Unhealed bool
}

// DefaultPruning is the default Tolerance of a [Predictor].
const DefaultPruning = 0.01

// Predictor predicts one target of one sample at a time: the form of a model for a
// program in which latency counts. It is pruned to the samples and kernels that
// matter. A prediction takes no lock, starts no goroutine and, as long as no more
// callers than processors predict at a time, allocates nothing. A Predictor is
// immutable and safe for concurrent use.
//
// Pruning leaves out kernels and samples whose weights contribute little, and
// cuts the factors of the covariances off where their rest does. Bounds on what
// that does to mean and standard deviation are proved, not sampled: see
// PredictorInfo. Where predictions are healed no sample is left out.
//
// If the kernels are smooth a prediction takes each kernel with a few of the training
// samples only, its pivots, and comes with a bound on its error; where that is more than
// the tolerance, far from the samples above all, it is computed again as above.
// docs/predictor.md derives the bound. Kernels that were given and those of [Func] have no
// pivots.
type Predictor struct {
	pointKernels
	info PredictorInfo

	bias float64
	e    []float64 // E[e] of the active kernels
	a    []float64 // E[a] of the active samples

	// With v(x) = K·U, K the kernel values of the active samples and kernels,
	// the variance is constant + wᵀ·cov·w + ‖Cᵀ·v‖², w = (1, g). With the samples in
	// the right order Cᵀ is lower trapezoidal.
	constant float64
	cov      la.Matrix[float64] // of the bias and the active kernels' weights
	u        la.Matrix[float64] // P×R, U·Uᵀ ≈ E[e·eᵀ]
	ct       stairs.Matrix      // ρ×D, C·Cᵀ ≈ Cov[a]
	order    []int              // of the samples in ct
	full     bool               // the last term counts

	healer  *bemkl.Healer // nil if predictions are not healed
	healing *healing      // the like
	bare    []input       // the inputs of predictions that are not healed

	near      *bemkl.Projection // nil if there are no pivots
	pivots    *pivotKernels     // the like
	tolerance float64           // of near, in predictive standard deviations

	target target
	pool   scratchPool

	gaps  *viewGaps // nil unless samples may lack views
	ds    *design   // for gaps
	index int       // the like
}

// PredictorInfo says what is left of a model in a [Predictor].
type PredictorInfo struct {
	Kernels []int // the active views
	Samples []int // the active basis points

	// MeanError and SDError bound how far pruning moves a predictive mean or
	// standard deviation, in the target's units. The bounds hold for every sample if
	// Certain, beside round-off of at most 0.0001 of the standard deviation. Otherwise
	// some kernel is unbounded, and they hold where its values are no larger than in
	// training; or the model is so ill-conditioned that rounding can do more. A prediction
	// from Pivots has bounds of its own, see [Predictor.PredictWithBound].
	MeanError, SDError float64
	Certain            bool

	// Pivots lists the training samples with which each view's kernel is computed
	// first; nil if every prediction takes the active samples.
	Pivots [][]int
}

// function is one function of a fitted model: what a Predictor is made from.
type function struct {
	*weighted
	index   int                // the row of the posterior
	basis   []int              // the basis points that it has; nil: all
	a       []float64          // its sample weights' means
	beMean  []float64          // biases and kernel weights
	beCov   la.Matrix[float64] // their covariance
	spread  float64            // variance of an intermediate output around aᵀk
	noise   float64            // variance of the target around eᵀg + b
	targets int
	target  target
	healing *healing      // nil if predictions are not healed
	healer  *bemkl.Healer // the like
	gaps    *viewGaps     // nil unless samples may lack views
	project func(k bemkl.Columns, opt bemkl.ProjectOptions) (*bemkl.Projection, error)
	// How far rounding can move what Cov[a] contributes to a standard deviation.
	roundoff func(o int, cov la.Matrix[float64]) float64
}

// basisPoints returns the basis points that the function has.
func (f *function) basisPoints() []int {
	if f.basis == nil {
		return upTo(f.design.d)
	}
	return f.basis
}

// newPredictor prunes a function.
func newPredictor(opt PredictorOptions, f function) (*Predictor, error) {
	pr, err := newPruning(opt, f)
	if err != nil {
		return nil, fmt.Errorf("mkl: Predictor: %w", err)
	}
	if err := pr.run(); err != nil {
		return nil, fmt.Errorf("mkl: Predictor: %w", err)
	}

	ds := f.design
	if f.healing != nil {
		ds = f.healing.design
	}
	p := &Predictor{
		pointKernels: newPointKernels(ds, pr.kernels, pr.samples, f.healing != nil),
		healing:      f.healing, bare: f.design.inputs,
		info: pr.info(f.target.sd), target: f.target,
		gaps: f.gaps, ds: f.design, index: f.index,
		bias: f.beMean[f.index], full: !opt.MeanOnly && !opt.Published,
	}
	if f.healer != nil {
		p.healer = f.healer.Keep(pr.kernels)
	}
	for _, d := range pr.samples {
		p.a = append(p.a, pr.a[d])
	}
	for _, i := range pr.kernels {
		p.e = append(p.e, pr.e[i])
	}
	if !opt.MeanOnly {
		own := slices.Concat([]int{f.index}, shifted(pr.kernels, f.targets))
		p.cov = f.beCov.Take(own, own)
		p.constant = f.noise
	}
	if p.full {
		for i := range pr.e {
			p.constant += float64(pr.ee.At(i, i) * f.spread)
		}
		p.u, p.order = pr.u, pr.order
		p.ct = stairs.New(pr.ct)
	}
	p.pool = newScratchPool(p.newScratch)
	if err := p.project(opt, f); err != nil {
		return nil, fmt.Errorf("mkl: Predictor: %w", err)
	}
	return p, nil
}

// project finds pivots with which predictions are faster, if there are any.
func (p *Predictor) project(opt PredictorOptions, f function) (err error) {
	if f.project == nil || opt.Published || opt.Tolerance < 0 || !f.design.definite() {
		return nil
	}
	if p.tolerance = opt.Tolerance / 10; p.tolerance == 0 {
		p.tolerance = DefaultPruning / 10
	}
	p.near, err = f.project(newTrainingKernels(f.design, f.basisPoints()), bemkl.ProjectOptions{
		Tolerance: p.tolerance, MeanOnly: opt.MeanOnly, Healed: p.healer != nil, Exact: p.cost(),
	})
	if p.near != nil {
		for _, own := range p.near.Pivots {
			p.info.Pivots = append(p.info.Pivots, picked(f.basisPoints(), own))
		}
		p.pivots = newPivotKernels(f.design, p.info.Pivots, p.near.ScratchSize())
	}
	return err
}

// cost estimates the multiplications of a prediction without pivots.
func (p *Predictor) cost() float64 {
	samples := float64(p.samples)
	c := float64(8 * samples * float64(len(p.e)))
	if p.full {
		rank, _ := p.ct.Dims()
		c += float64(float64(p.u.Cols) * float64(rank) * (samples - float64(float64(rank)/2)))
	}
	if p.healer != nil {
		c += float64(2 * samples * samples)
	}
	return c
}

func shifted(x []int, by int) []int {
	y := make([]int, len(x))
	for i, v := range x {
		y[i] = v + by
	}
	return y
}

func (p *Predictor) newScratch() *scratch {
	s := p.pointKernels.newScratch()
	s.g = make([]float64, len(p.e))
	if p.full {
		rank, _ := p.ct.Dims()
		s.v = la.NewMatrix[float64](p.u.Cols, p.samples)
		s.ordered = la.NewMatrix[float64](p.u.Cols, p.samples)
		s.cv = la.NewMatrix[float64](p.u.Cols, rank)
	}
	if p.healer != nil {
		s.heal = make([]float64, p.healer.ScratchSize())
	}
	return s
}

// Info says what pruning kept and what it costs in accuracy.
func (p *Predictor) Info() PredictorInfo { return p.info.clone() }

func (i PredictorInfo) clone() PredictorInfo {
	i.Kernels, i.Samples = slices.Clone(i.Kernels), slices.Clone(i.Samples)
	i.Pivots = slices.Clone(i.Pivots)
	for n := range i.Pivots {
		i.Pivots[n] = slices.Clone(i.Pivots[n])
	}
	return i
}

// Predict returns the predictive mean and variance (noise included; NaN with
// MeanOnly) of one sample, in the target's units and their square, given as one row for
// each of the model's Inputs, Input.Cols long. It is an error if there are other rows or
// lengths, a *[ValueError] if a value is NaN or infinite, and an error if the prediction is
// not finite.
func (p *Predictor) Predict(x ...[]float64) (mean, variance float64, err error) {
	b, err := p.PredictWithBound(x...)
	return b.Mean, b.Variance, err
}

// PredictWithBound is Predict with bounds on its error: those of the sample if it was
// predicted from pivots, else those of PredictorInfo. Errors are those of Predict.
func (p *Predictor) PredictWithBound(x ...[]float64) (BoundedPrediction, error) {
	none := BoundedPrediction{Mean: math.NaN(), Variance: math.NaN()}
	healed := p.healing.heals(len(x), func(i int) int { return len(x[i]) })
	inputs := p.bare
	if healed {
		inputs = p.inputs
	}
	if err := checkPoint(inputs, x); err != nil {
		return none, err
	}
	b, ok := p.fromPivots(x)
	if !ok {
		s := p.pool.take()
		b = BoundedPrediction{MeanError: p.info.MeanError, SDError: p.info.SDError}
		b.Mean, b.Variance = p.predict(s, x)
		if healed {
			m, v := p.healer.Heal(&s.ws, s.k, s.self, s.heal)
			b.Mean, b.Variance = b.Mean+m, b.Variance+v
		}
		p.pool.put(s)
	}
	if p.gaps != nil {
		b.Variance += p.gaps.extra(p.ds, p.index, func(j int) bool { return inputs[j].gaps && lacks(x[j]) })
	}
	b.Mean, b.Variance = p.target.mean+float64(p.target.sd*b.Mean), p.target.sd*p.target.sd*b.Variance
	positive := b.Variance
	if p.cov.Rows == 0 { // MeanOnly
		positive = 1
	}
	if err := checkMoments(b.Mean, positive); err != nil {
		return none, fmt.Errorf("mkl: %w", err)
	}
	return b, nil
}

// fromPivots predicts the standardised target of x from the pivots; ok says whether
// the bound on the error is within the tolerance. The errors are in the target's units.
func (p *Predictor) fromPivots(x [][]float64) (b BoundedPrediction, ok bool) {
	if p.near == nil {
		return b, false
	}
	s := p.pivots.pool.take()
	p.pivots.compute(s, x)
	c := p.near.Predict(&s.ws, s.phi, s.self, s.solved)
	p.pivots.pool.put(s)
	sd := p.target.sd
	return BoundedPrediction{Mean: c.Mean, Variance: c.Variance, MeanError: sd * c.MeanError, SDError: sd * c.SDError}, c.Within(p.tolerance)
}

// predict works on the standardised target.
func (p *Predictor) predict(s *scratch, x [][]float64) (mean, variance float64) {
	p.kernels(s, x)
	mean = p.bias
	for n, e := range p.e {
		s.g[n] = la.Dot(s.k.Row(n), p.a)
		mean += float64(e * s.g[n])
	}
	if p.cov.Rows == 0 {
		return mean, math.NaN()
	}
	variance = p.constant + p.cov.At(0, 0)
	for n, g := range s.g {
		row := p.cov.Row(n + 1)
		variance += float64(g * (2*row[0] + la.Dot(row[1:], s.g)))
	}
	if p.full && len(s.v.Data) > 0 && len(s.cv.Data) > 0 {
		la.Gemm(&s.ws, la.Transpose, la.NoTrans, 1, p.u, s.k, 0, s.v)
		for r := range s.v.Rows {
			pick(s.ordered.Row(r), s.v.Row(r), p.order)
		}
		p.ct.Multiply(&s.ws, s.ordered, s.cv)
		variance += la.SumSq(s.cv.Data)
	}
	return mean, variance
}
