package mkl

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/internal/stairs"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi/bemkl"
	"github.com/bmkl/bmkl/vi/probit"
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

// pointKernels computes the kernels between one sample and the active samples of a
// model, of its active views.
type pointKernels struct {
	groups  []predictorGroup
	inputs  []input
	views   []boundView
	samples int       // active ones
	d       int       // basis points of the model
	share   []float64 // see design
	selves  bool      // the kernels of the sample with itself are wanted
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

// predictorGroup is a group of the design, pruned.
type predictorGroup struct {
	group
	slots []int // of the group's active views, their indices in pointKernels.views
	pick  []int // the active samples among the basis kept; nil if these are the same
}

// scratch is the memory of one prediction.
type scratch struct {
	ws      la.Workspace
	z       [][]float64        // by group: the sample as its kernels see it
	stat    []float64          // statistics of one group
	raw     []float64          // kernels of one view before centring
	k       la.Matrix[float64] // P×D
	self    []float64          // P: the kernels of the sample with itself, if wanted
	g       []float64          // P
	v       la.Matrix[float64] // R×D
	ordered la.Matrix[float64] // the like, with the samples in the order of the covariance's factor
	cv      la.Matrix[float64] // R×ρ

	spread, picked, solved []float64 // of a MultiTaskPredictor
	phi                    []float64 // of a processFunction: the composite kernels
	heal                   []float64 // the Healer's own

	probit    *probit.PointScratch      // of a ProbitPredictor after variational inference
	projected *probit.ProjectionScratch // the like, from pivots
	draws     *mcmc.ProbitPointScratch  // after sampling

	missing []bool      // of a ProbitPredictor: which inputs the sample lacks
	filled  [][]float64 // its inputs, with a stand-in's in place of these
	mean    []float64   // of the probabilities over the stand-ins

	_ [64]byte // scratch of different callers shares no cache line
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
		p.cov = submatrix(f.beCov, slices.Concat([]int{f.index}, shifted(pr.kernels, f.targets)))
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

func submatrix(x la.Matrix[float64], rows []int) la.Matrix[float64] {
	y := la.NewMatrix[float64](len(rows), len(rows))
	for i, r := range rows {
		for j, c := range rows {
			y.Set(i, j, x.At(r, c))
		}
	}
	return y
}

// newPointKernels keeps what the active kernels and samples need of the design.
func newPointKernels(ds *design, kernels, samples []int, selves bool) pointKernels {
	p := pointKernels{inputs: ds.inputs, samples: len(samples), d: ds.d, share: ds.share, selves: selves}
	for _, i := range kernels {
		p.views = append(p.views, ds.views[i])
	}
	for _, g := range ds.groups {
		pg := predictorGroup{group: g}
		pg.views = nil
		whole := ds.inputs[g.input].gaps
		for _, i := range g.views {
			if n, ok := slices.BinarySearch(kernels, i); ok {
				pg.slots = append(pg.slots, n)
				pg.views = append(pg.views, i)
				whole = whole || ds.views[i].center
			}
		}
		if len(pg.slots) == 0 {
			continue
		}
		// Centring needs the mean over all training samples, and a basis point that lacks
		// the view that over all that have it.
		if whole || g.stat.kind == given {
			pg.pick = samples
		} else {
			pg.basis = la.NewMatrix[float64](len(samples), g.basis.Cols)
			for r, d := range samples {
				copy(pg.basis.Row(r), g.basis.Row(d))
			}
		}
		p.groups = append(p.groups, pg)
	}
	for n := range p.views {
		v := &p.views[n]
		if v.center {
			v.rowMean = picked(v.rowMean, samples)
		}
		if v.normalize {
			v.unit = picked(v.unit, samples)
		}
	}
	return p
}

func picked[T any](x []T, at []int) []T {
	y := make([]T, len(at))
	pick(y, x, at)
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

func (p *pointKernels) newScratch() *scratch {
	P, D := len(p.views), p.samples
	s := &scratch{
		ws:   la.Workspace{Workers: 1},
		k:    la.NewMatrix[float64](P, D),
		self: make([]float64, P),
	}
	var longest int
	for i := range p.groups {
		g := &p.groups[i]
		s.z = append(s.z, make([]float64, g.sight.cols(p.inputs[g.input].cols)))
		longest = max(longest, g.basis.Rows)
		if g.stat.kind == given {
			longest = max(longest, p.inputs[g.input].cols)
		}
	}
	s.stat, s.raw = make([]float64, longest), make([]float64, longest)
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
// MeanOnly) of one sample, given as one row for each of the model's Inputs. It
// is an error if a row has the wrong length or a NaN or infinity in it.
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

func (p *pointKernels) checkPoint(x [][]float64) error { return checkPoint(p.inputs, x) }

func checkPoint(inputs []input, x [][]float64) error {
	if len(x) != len(inputs) {
		return fmt.Errorf("mkl: %d inputs where the model needs %d", len(x), len(inputs))
	}
	for i, row := range x {
		if len(row) != inputs[i].cols {
			return fmt.Errorf("mkl: x[%d]: %d values where %d are needed", i, len(row), inputs[i].cols)
		}
		if j := firstNonFinite(row); j >= 0 && !(inputs[i].gaps && lacks(row)) {
			return &ValueError{Arg: "x[" + strconv.Itoa(i) + "]", Row: j, Col: -1, Value: row[j]}
		}
	}
	return nil
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

// kernels stores the kernels of the sample x in s.k, a row for each view.
func (p *pointKernels) kernels(s *scratch, x [][]float64) {
	for i := range p.groups {
		p.groupKernels(s, i, x)
	}
}

// groupKernels stores the kernels of group i's views in their rows of s.k.
func (p *pointKernels) groupKernels(s *scratch, i int, x [][]float64) {
	g := &p.groups[i]
	z := s.z[i]
	var stat []float64
	in := &p.inputs[g.input]
	absent := in.gaps && lacks(x[g.input])
	if g.stat.kind == given {
		copy(z, x[g.input])
		stat = z[:p.d]
	} else {
		stat = s.stat[:g.basis.Rows]
		if !absent { // otherwise what stands in their place is not looked at
			in.see(z, x[g.input], g.sight, g.stat.widths)
			g.stat.compute(&s.ws, la.MatrixOf(1, len(z), z), g.basis, la.MatrixOf(1, len(stat), stat))
		}
	}
	for _, n := range g.slots {
		v, k := &p.views[n], s.k.Row(n)
		mean := 0.0
		switch {
		case v.center || in.gaps:
			raw := s.raw[:len(stat)]
			copy(raw, stat)
			v.kernel.apply(raw)
			v.fillPoint(raw, in.lacking, absent)
			mean = sharedMean(raw, p.share)
			pick(k, raw, g.pick)
		case g.pick != nil:
			pick(k, stat, g.pick)
			v.kernel.apply(k)
		default:
			copy(k, stat)
			v.kernel.apply(k)
		}
		self := s.self[n : n+1]
		if self[0] = g.selfStatistic(v, z); p.selves {
			self[0] = g.statisticOfOne(v, z)
		}
		v.kernel.apply(self)
		if absent {
			self[0] = v.expectedSelf
		}
		self[0] = v.adjust(k, mean, self[0])
	}
}

func pick[T any](dst, src []T, at []int) {
	for i, d := range at {
		dst[i] = src[d]
	}
}
