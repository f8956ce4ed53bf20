package mkl

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/internal/stairs"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// weightPredictor predicts one target of a model of weighted kernels. It is pruned to the samples and kernels that
// matter. If predictions are healed, no sample is left out.
type weightPredictor struct {
	gram.Points
	info   PredictorInfo
	pruned BoundKind // of predictions in float64

	bias float64
	e    []float64 // E[e] of the active kernels
	a    []float64 // E[a] of the active samples

	// Let v(x) = K·U, where K are the kernel values of the active samples and kernels. The
	// variance is constant + wᵀ·cov·w + ‖Cᵀ·v‖², w = (1, g). With the samples in
	// the right order Cᵀ is lower trapezoidal.
	constant float64
	cov      la.Matrix[float64] // of the bias and the active kernels' weights
	u        la.Matrix[float64] // P×R, U·Uᵀ ≈ E[e·eᵀ]
	ct       stairs.Matrix      // ρ×D, C·Cᵀ ≈ Cov[a]
	order    []int              // of the samples in ct
	full     bool               // the last term counts

	healer  *bemkl.Healer // nil if predictions are not healed
	healing *healing      // nil if predictions are not healed
	bare    []gram.Input  // the inputs of predictions that are not healed

	near   *bemkl.Projection // nil without pivots
	pivots *gram.Pivots      // nil without pivots

	triangles *bemkl.Triangles // nil if predictions from all samples are in float64
	rounded   *gram.Rounded    // kernels in float32, for triangles in integers; nil if these are not tried
	unitError float64          // of E[g] with rounded, for kernels of at most 1
	least     float64          // the least standard deviation of a prediction
	tolerance float64          // of triangles, in units of the predictive standard deviation; near has a tenth of it

	target target
	pool   reuse.Pool[scratch]

	gaps  *viewGaps    // nil unless samples may lack views
	ds    *gram.Design // for gaps
	index int          // for gaps

	whole bool // no sample is left out
}

// function is one function of a fitted model: what a Predictor is made from.
type function struct {
	*weighted
	index   int                // the row of the posterior
	basis   []int              // the basis points of the function; nil: all
	a       []float64          // its sample weights' means
	beMean  []float64          // biases and kernel weights
	beCov   la.Matrix[float64] // their covariance
	spread  float64            // variance of an intermediate output around aᵀk
	noise   float64            // variance of the target around eᵀg + b
	targets int
	target  target
	healing *healing      // nil if predictions are not healed
	healer  *bemkl.Healer // nil if predictions are not healed
	gaps    *viewGaps     // nil unless samples may lack views
	model   listModel     // nil if predictions of all targets would be too many
	project func(k vi.Columns, opt bemkl.ProjectOptions) (*bemkl.Projection, error)
	// A bound on the rounding of the part of a standard deviation that comes from Cov[a].
	roundoff func(o int, cov la.Matrix[float64]) float64
	limit    func(o int) float64 // see bemkl.RegressionPosterior.WeightLimit; nil if it is not known
}

// basisPoints returns the basis points that the function has.
func (f *function) basisPoints() []int {
	if f.basis == nil {
		return vec.UpTo(f.design.D)
	}
	return f.basis
}

// newPredictor prunes a function. What takes long comes from the archive of the options, if it is for reading.
func newPredictor(opt PredictorOptions, f function) (*weightPredictor, error) {
	pr, err := newPruning(opt, f)
	if err != nil {
		return nil, opt.predictorError(err)
	}
	ds := f.design
	if f.healing != nil {
		ds = f.healing.Design
	}
	p := &weightPredictor{
		Points:  gram.NewPoints(ds, pr.kernels, pr.samples, f.healing != nil || f.limit != nil),
		healing: f.healing, bare: f.design.Inputs,
		info: pr.info(f.target.sd), pruned: pruningKind(pr.certain), target: f.target,
		gaps: f.gaps, ds: f.design, index: f.index, whole: len(pr.samples) == f.design.D,
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
		own := slices.Concat([]int{f.index}, vec.Shifted(pr.kernels, f.targets))
		p.cov = f.beCov.Take(own, own)
		p.constant = f.noise
	}
	if p.full {
		for i := range pr.e {
			p.constant += float64(pr.ee.At(i, i) * f.spread)
		}
		p.u, p.order, p.ct = pr.u, pr.order, pr.stairs
	}
	p.tolerance, p.least = opt.pruning(), math.Sqrt(f.noise)
	if pr.precise && !opt.Published && !opt.Exact { // where rounding is not small, another way to compute would predict something else
		if err := p.approximate(opt, pr, f); err != nil {
			return nil, opt.predictorError(err)
		}
	}
	p.info.Bytes = p.firstBytes()
	p.pool = reuse.NewPool(p.newScratch)
	return p, nil
}

// approximate prepares predictions in float32 and from pivots.
func (p *weightPredictor) approximate(opt PredictorOptions, pr *pruning, f function) error {
	var err error
	project := bemkl.ProjectOptions{Tolerance: p.tolerance / 10, MeanOnly: opt.MeanOnly, Healed: p.healer != nil, Exact: p.cost()}
	if !opt.reading() {
		p.round(pr, f)
		err = p.project(project, f)
	}
	if a := opt.archive; a != nil && err == nil {
		p.archive(a, project, f)
		err = a.Err()
	}
	if err != nil {
		return err
	}
	if p.triangles != nil {
		p.info.Float32, p.info.Kind = true, max(p.info.Kind, BoundCalibrated)
	}
	if p.near != nil {
		for _, own := range p.near.Pivots {
			p.info.Pivots = append(p.info.Pivots, vec.Picked(f.basisPoints(), own))
		}
		p.pivots = gram.NewPivots(f.design, p.info.Pivots, p.near.ScratchSize())
	}
	return nil
}

// firstBytes returns the number of bytes of the matrices and weights that a prediction reads first.
func (p *weightPredictor) firstBytes() int {
	switch {
	case p.near != nil:
		return p.near.Bytes()
	case p.triangles != nil:
		return 8*len(p.a) + p.triangles.Bytes()
	case p.healer != nil:
		return 8*len(p.a) + p.ct.Bytes() + p.healer.Bytes()
	}
	return 8*len(p.a) + p.ct.Bytes()
}

// archive describes what round and project prepare.
func (p *weightPredictor) archive(a *archive.Archive, project bemkl.ProjectOptions, f function) {
	p.triangles = archive.Value(a, func() *bemkl.Triangles { return p.triangles }, func(t *bemkl.Triangles, a *archive.Archive) {
		t.Archive(a, p.e, p.Samples, p.full, p.healer != nil)
	})
	integers := p.rounded != nil
	if a.Bool(&integers); integers && a.Reading() && a.Err() == nil {
		if p.rounded, _ = gram.NewRounded(&p.Points); p.rounded == nil || p.triangles == nil || !p.triangles.Coarse() {
			a.Fail(errors.New("a predictor has no triangles in integers"))
		}
	}
	a.Float(&p.unitError)
	p.near = archive.Value(a, func() *bemkl.Projection { return p.near }, func(q *bemkl.Projection, a *archive.Archive) {
		q.Archive(a, len(f.design.Views), len(f.basisPoints()), project)
	})
}

// round prepares predictions in float32, unless samples are left out, kernels are given or may be indefinite, or samples may lack
// views.
func (p *weightPredictor) round(pr *pruning, f function) {
	if !p.full && p.healer == nil || f.limit == nil || len(p.e) == 0 || p.Samples < f.design.D || !f.design.Definite() ||
		slices.ContainsFunc(p.Inputs, func(in gram.Input) bool { return in.Given }) {
		return
	}
	parts := bemkl.TriangleParts{E: p.e, Healer: p.healer, Tolerance: p.tolerance}
	parts.Trials, parts.Selves = p.trials()
	if p.full {
		if parts.Limit = f.limit(f.index); math.IsInf(parts.Limit, 1) {
			return
		}
		parts.CovE, parts.Root, parts.Order = pr.eCov.Take(pr.kernels, pr.kernels), pr.ct, pr.order
	}
	if p.triangles = bemkl.NewTriangles(parts); p.triangles == nil {
		return
	}
	if p.triangles.Coarse() {
		p.rounded, _ = gram.NewRounded(&p.Points)
	}
	s := p.newScratch()
	p.calibrate(s)
	within, coarse := 0, 0
	samples := p.someSamples(func(_, _ int, x [][]float64) {
		p.Kernels(s.PointScratch, x)
		if p.certified(s).Within(p.tolerance) {
			within++
		}
		if p.rounded != nil && p.inIntegers(s, x).Within(p.tolerance) {
			coarse++
		}
	})
	if 2*coarse < samples { // most predictions would be computed twice
		p.rounded = nil
	}
	if 2*within < samples {
		p.triangles, p.rounded = nil, nil
	}
}

// calibrate sets the error of E[g] from kernels in float32. If the errors of kernels are independent, and none is above 2⁻²³, its standard
// deviation is less than 2⁻²³·|a|. The error is four such deviations, or three times the largest of the calibration samples.
func (p *weightPredictor) calibrate(s *scratch) {
	if p.rounded == nil {
		return
	}
	unit := 0x1p-23 * math.Sqrt(la.SumSq(p.a))
	p.unitError = 4 * unit
	near := make([]float64, len(p.e))
	p.someSamples(func(_, _ int, x [][]float64) {
		p.rounded.Kernels(s.rounded, s.PointScratch, x)
		la.GemvMixed(&s.WS, la.NoTrans, 1, s.rounded.K, p.a, 0, near)
		p.Kernels(s.PointScratch, x)
		for n, v := range near {
			if size := s.rounded.Largest[n]; size > 0 {
				p.unitError = max(p.unitError, 3*math.Abs(v-la.Dot(s.K.Row(n), p.a))/size)
			}
		}
	})
}

// someSamples calls do for up to calibrationSamples samples, evenly spaced: q counts the calls, i is the sample's index, and x are its
// rows. It returns the number of calls.
func (p *weightPredictor) someSamples(do func(q, i int, x [][]float64)) int {
	n, x := min(p.Samples, calibrationSamples), make([][]float64, len(p.Inputs))
	for q := range n {
		i := q * p.Samples / n
		for j := range x {
			x[j] = p.Inputs[j].Basis.Row(i)
		}
		do(q, i, x)
	}
	return n
}

// calibrationSamples is the most training samples in the calibration of float32.
const calibrationSamples = 64

// trials returns the vectors of the calibration: each of n samples, and its midpoint and its difference with the sample before, in the
// feature space of the kernel. all has a 3n×D matrix for each kernel, its values with the samples; selves is P×3n, the values of the
// vectors with themselves.
func (p *weightPredictor) trials() (all []la.Matrix[float64], selves la.Matrix[float64]) {
	n := min(p.Samples, calibrationSamples)
	selves = la.NewMatrix[float64](len(p.e), 3*n)
	s, last := p.newScratch(), 0
	all = make([]la.Matrix[float64], len(p.e))
	for m := range all {
		all[m] = la.NewMatrix[float64](3*n, p.Samples)
	}
	p.someSamples(func(q, i int, x [][]float64) {
		p.Kernels(s.PointScratch, x)
		for m, k := range all {
			copy(k.Row(3*q), s.K.Row(m))
			between, apart, before := k.Row(3*q+1), k.Row(3*q+2), k.Row(3*max(q-1, 0))
			copy(between, s.K.Row(m))
			la.Axpy(1, before, between)
			la.Scal(0.5, between)
			copy(apart, s.K.Row(m))
			la.Axpy(-1, before, apart)
			selves.Set(m, 3*q, s.Self[m])
			with, both := k.At(3*q, last), s.Self[m]+selves.At(m, 3*max(q-1, 0))
			selves.Set(m, 3*q+1, 0.25*(both+2*with))
			selves.Set(m, 3*q+2, both-2*with)
		}
		last = i
	})
	return all, selves
}

// project finds pivots if predictions with them are faster.
func (p *weightPredictor) project(opt bemkl.ProjectOptions, f function) (err error) {
	if f.project == nil || !f.design.Definite() {
		return nil
	}
	p.near, err = f.project(gram.NewTrainingColumns(f.design, f.basisPoints()), opt)
	return err
}

// cost estimates the multiplications of a prediction without pivots.
func (p *weightPredictor) cost() float64 {
	samples := float64(p.Samples)
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

func (p *weightPredictor) newScratch() *scratch {
	s := &scratch{PointScratch: p.Points.NewScratch()}
	s.g = make([]float64, len(p.e))
	if p.full {
		rank, _ := p.ct.Dims()
		s.v = la.NewMatrix[float64](p.u.Cols, p.Samples)
		s.ordered = la.NewMatrix[float64](p.u.Cols, p.Samples)
		s.cv = la.NewMatrix[float64](p.u.Cols, rank)
	}
	if p.healer != nil {
		s.heal = make([]float64, p.healer.ScratchSize())
	}
	if p.triangles != nil {
		s.triangles = bemkl.NewTrianglesScratch(p.Samples)
		s.f = make([]float64, p.Samples)
	}
	if p.rounded != nil {
		s.rounded = p.rounded.NewScratch()
	}
	return s
}

// predictBounded predicts one sample.
func (p *weightPredictor) predictBounded(x [][]float64) (BoundedPrediction, error) {
	healed := p.healing.heals(len(x), func(i int) int { return len(x[i]) })
	inputs := p.inputsOf(healed)
	if err := checkPoint(inputs, x); err != nil {
		return nothing, err
	}
	b, ok := p.fromPivots(x)
	if !ok {
		s := p.pool.Take()
		b = p.fromAll(s, x, healed)
		p.pool.Put(s)
	}
	return p.restored(b, x, inputs)
}

// inputsOf returns the inputs of predictions that are healed, or not.
func (p *weightPredictor) inputsOf(healed bool) []gram.Input {
	if healed {
		return p.Inputs
	}
	return p.bare
}

// restored returns a prediction of the standardised target of x in the target's units.
func (p *weightPredictor) restored(b BoundedPrediction, x [][]float64, inputs []gram.Input) (BoundedPrediction, error) {
	var err error
	if p.gaps != nil {
		b.Variance += p.gaps.extra(p.ds, p.index, func(j int) bool { return inputs[j].Gaps && gram.Lacks(x[j]) })
	}
	b.Mean, b.Variance = p.target.mean+float64(p.target.sd*b.Mean), p.target.sd*p.target.sd*b.Variance
	if p.cov.Rows == 0 { // MeanOnly
		_, err = checkMoments(b.Mean, 1)
	} else {
		b.Variance, err = checkMoments(b.Mean, b.Variance)
	}
	if err != nil {
		return nothing, fmt.Errorf("mkl: %w", err)
	}
	return b, nil
}

// fromPivots predicts the standardised target of x from the pivots. ok reports whether
// the bound on the error is within the tolerance. The errors are in the target's units.
func (p *weightPredictor) fromPivots(x [][]float64) (b BoundedPrediction, ok bool) {
	if p.near == nil {
		return b, false
	}
	s := p.pivots.Pool.Take()
	p.pivots.Compute(s, x)
	c := p.near.Predict(&s.WS, s.Phi, s.Self, s.Spare)
	p.pivots.Pool.Put(s)
	sd := p.target.sd
	b = BoundedPrediction{Mean: c.Mean, Variance: c.Variance, MeanError: sd * c.MeanError, SDError: sd * c.SDError, Kind: BoundProved}
	return b, c.Within(p.tolerance / 10)
}

// fromAll predicts the standardised target of x from all samples that are kept: in integers, in float32 or in float64, the first in this
// order whose bound, with the errors of pruning, is within the tolerance. The errors are in the target's units.
func (p *weightPredictor) fromAll(s *scratch, x [][]float64, healed bool) BoundedPrediction {
	if b, ok := p.approximated(s, x, healed, true); ok {
		return b
	}
	return p.inFloat64(s, healed)
}

// approximated is fromAll in integers, if these are asked for, and in float32. ok reports whether a bound is within the tolerance. If
// none is, s has the kernels of x.
func (p *weightPredictor) approximated(s *scratch, x [][]float64, healed, integers bool) (b BoundedPrediction, ok bool) {
	prepared := healed == (p.healer != nil)
	if integers && p.rounded != nil && prepared {
		if c := p.inIntegers(s, x); c.Within(p.tolerance) {
			return p.bounded(c), true
		}
	}
	p.Kernels(s.PointScratch, x)
	if p.triangles != nil && prepared {
		if c := p.certified(s); c.Within(p.tolerance) {
			return p.bounded(c), true
		}
	}
	return b, false
}

// inFloat64 predicts the standardised target from the kernels in s in float64.
func (p *weightPredictor) inFloat64(s *scratch, healed bool) BoundedPrediction {
	mean, variance := p.linear(s)
	b := BoundedPrediction{Mean: mean, Variance: variance + p.inside(s), MeanError: p.info.MeanError, SDError: p.info.SDError, Kind: p.pruned}
	if healed {
		m, v := p.healer.Heal(&s.WS, s.K, s.Self, s.heal)
		b.Mean, b.Variance = b.Mean+m, b.Variance+v
	}
	return b
}

// bounded returns a prediction of the standardised target with its errors in the target's units.
func (p *weightPredictor) bounded(c vi.Certified) BoundedPrediction {
	sd := p.target.sd
	return BoundedPrediction{Mean: c.Mean, Variance: c.Variance, MeanError: sd * c.MeanError, SDError: sd * c.SDError, Kind: p.info.Kind}
}

// certified predicts the standardised target from the kernels in s, in float32. The bounds include the errors of pruning.
func (p *weightPredictor) certified(s *scratch) vi.Certified {
	mean, variance := p.linear(s)
	clear(s.f)
	for n, e := range p.e {
		la.Axpy(e, s.K.Row(n), s.f)
	}
	return p.withForms(weighedKernels{mean: mean, variance: variance}, p.triangles.Predict(s.f, s.Self, 0, false, s.triangles))
}

// inIntegers predicts the standardised target of x from kernels in float32, in integers. The bounds include the errors of pruning.
func (p *weightPredictor) inIntegers(s *scratch, x [][]float64) vi.Certified {
	w := p.weighed(s, x, s.f)
	return p.withForms(w, p.triangles.Predict(s.f, s.Self, w.inexact, true, s.triangles))
}

// weighedKernels are the parts of mean and variance that need no forms, and their errors.
type weighedKernels struct {
	mean, variance, meanError, varianceError float64
	inexact                                  float64 // the standard deviation of the errors of f
}

// weighed computes the parts of the prediction of x that need no forms, from kernels in float32. It stores the vector of the forms in f.
func (p *weightPredictor) weighed(s *scratch, x [][]float64, f []float64) (w weighedKernels) {
	p.rounded.Kernels(s.rounded, s.PointScratch, x)
	la.GemvMixed(&s.WS, la.NoTrans, 1, s.rounded.K, p.a, 0, s.g)
	la.GemvMixed(&s.WS, la.Transpose, 1, s.rounded.K, p.e, 0, f)
	w.mean, w.variance = p.ofWeights(s.g)
	var inexact float64
	for n, size := range s.rounded.Largest {
		inexact += float64(math.Abs(p.e[n]) * size)
		if p.cov.Rows > 0 {
			row := p.cov.Row(n + 1)
			slope := row[0] + la.Dot(row[1:], s.g)
			w.varianceError += float64(2 * math.Abs(slope) * p.unitError * size)
		}
	}
	w.meanError, w.inexact = float64(p.unitError*inexact), 0x1p-23*inexact
	return w
}

// withForms returns the prediction with these parts and what the forms add. The bounds include the errors of pruning.
func (p *weightPredictor) withForms(w weighedKernels, a bemkl.Addition) vi.Certified {
	c := vi.Certified{
		Mean: w.mean + a.Mean, Variance: w.variance + a.Variance,
		MeanError: w.meanError + a.MeanError + p.info.MeanError/p.target.sd, LeastSD: p.least,
	}
	if p.cov.Rows > 0 {
		sd, e := math.Sqrt(c.Variance), w.varianceError+a.VarianceError
		c.LeastSD = math.Sqrt(max(p.least*p.least, c.Variance-e))
		c.SDError = max(math.Sqrt(c.Variance+e)-sd, sd-c.LeastSD) + p.info.SDError/p.target.sd
	}
	return c
}

// linear returns the mean, and the variance without the part of the covariance of the sample weights. It stores E[g] in s.
func (p *weightPredictor) linear(s *scratch) (mean, variance float64) {
	for n := range p.e {
		s.g[n] = la.Dot(s.K.Row(n), p.a)
	}
	return p.ofWeights(s.g)
}

// ofWeights returns the moments of linear from E[g].
func (p *weightPredictor) ofWeights(e []float64) (mean, variance float64) {
	mean = p.bias
	for n, g := range e {
		mean += float64(p.e[n] * g)
	}
	if p.cov.Rows == 0 {
		return mean, math.NaN()
	}
	variance = p.constant + p.cov.At(0, 0)
	for n, g := range e {
		row := p.cov.Row(n + 1)
		variance += float64(g * (2*row[0] + la.Dot(row[1:], e)))
	}
	return mean, variance
}

// inside returns what the covariance of the sample weights adds to the variance.
func (p *weightPredictor) inside(s *scratch) float64 {
	if !p.full || len(s.v.Data) == 0 || len(s.cv.Data) == 0 {
		return 0
	}
	la.Gemm(&s.WS, la.Transpose, la.NoTrans, 1, p.u, s.K, 0, s.v)
	for r := range s.v.Rows {
		vec.Pick(s.ordered.Row(r), s.v.Row(r), p.order)
	}
	p.ct.Multiply(&s.WS, s.ordered, s.cv)
	return la.SumSq(s.cv.Data)
}
