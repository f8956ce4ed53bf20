package mkl

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/internal/special"
)

// PredictorOptions says what a predictor of single samples predicts, and how closely. The zero value predicts the mean
// and the full variance of the first target. Models use the options that they have a meaning for.
type PredictorOptions struct {
	// Target is the index of the target that a [Predictor] predicts. Other predictors predict all outputs: they need 0.
	Target int

	// Tolerance is how far a prediction may be from the prediction of the model. 0 means the default; a negative
	// Tolerance is an error. Its unit depends on the model:
	//
	//   - Gaussian processes, by [MultiGP], [LandmarkGP] and [Auto]: the error of a mean and of a standard deviation, in
	//     units of the predictive standard deviation. With MeanOnly: in units of the standard deviation of the noise.
	//     The default is [DefaultProcessTolerance].
	//   - Gaussian processes for classes and a [ProbitClassifierModel]: the error of a probability. The default is
	//     [DefaultProcessTolerance].
	//   - All other models: the error of a mean and of a standard deviation by pruning, in units of the standard deviation
	//     of the noise; for a classifier this is 1, the noise of its scores. The default is [DefaultPruning]. Where float32 is
	//     used, pruning and rounding together move neither by more than Tolerance in units of the predictive standard
	//     deviation. A prediction from pivots may be off by a tenth of that.
	Tolerance float64

	// Exact leaves nothing out and takes every sample: predictions differ from the model's by rounding alone.
	Exact bool

	// MeanOnly leaves out the variance. Classes have no probabilities without it, so that their predictors reject it.
	MeanOnly bool

	// Published selects the predictive variance of the paper, which is too small, as in [PredictOptions]. It is for
	// models of weighted kernels.
	Published bool

	// Unhealed leaves out healing, as in [PredictOptions]. A healed predictor keeps every sample, and its mean costs products
	// with two triangles of their order.
	Unhealed bool

	// Draws is the number of draws of Gibbs sampling that a prediction averages over, evenly spaced in the chains; 0
	// means all. The probabilities of n draws have a Monte Carlo error of at most about √(p(1−p)/n).
	Draws int

	// Inclusion is the smallest probability of inclusion of the features that the predictor of a [SpikeSlabModel] keeps;
	// with 0 it keeps all.
	Inclusion float64

	archive *archive.Archive // of prepared values; nil without one
}

// The default Tolerances of predictors; see [PredictorOptions].
const (
	DefaultPruning          = 0.01
	DefaultProcessTolerance = 1e-2
)

// process returns the tolerance of one of the functions that make a prediction of a Gaussian process, with this share
// of it.
func (opt *PredictorOptions) process(share float64) float64 {
	if opt.Tolerance == 0 {
		return share * DefaultProcessTolerance
	}
	return share * opt.Tolerance
}

// pruning returns the tolerance of pruning in units of the noise's standard deviation; 0 prunes nothing.
func (opt *PredictorOptions) pruning() float64 {
	switch {
	case opt.Exact:
		return 0
	case opt.Tolerance == 0:
		return DefaultPruning
	}
	return opt.Tolerance
}

// check returns an error for options that a predictor of a model with the given number of targets does not support.
func (opt *PredictorOptions) check(targets int) error {
	switch {
	case opt.Target < 0 || opt.Target >= targets:
		return fmt.Errorf("mkl: Predictor: target %d of %d", opt.Target, targets)
	case !(opt.Tolerance >= 0) || math.IsInf(opt.Tolerance, 1):
		return fmt.Errorf("mkl: Predictor: Tolerance is %g: it must be positive, or 0 for the default", opt.Tolerance)
	case opt.Draws < 0:
		return fmt.Errorf("mkl: Predictor: Draws is %d: it must not be negative", opt.Draws)
	case !(opt.Inclusion >= 0 && opt.Inclusion <= 1):
		return fmt.Errorf("mkl: Predictor: Inclusion is %g, which is not a probability", opt.Inclusion)
	}
	return nil
}

// checkClasses returns an error for options that no predictor of classes supports.
func (opt *PredictorOptions) checkClasses() error {
	if opt.MeanOnly {
		return errors.New("mkl: Predictor: MeanOnly leaves no probabilities")
	}
	return opt.check(1)
}

// PredictorInfo says what one function of a predictor uses for a prediction, and bounds the effect of what it leaves out.
type PredictorInfo struct {
	Kernels []int // the views whose kernels count; the latent functions of a [MultiTaskModel]; the features of a [SpikeSlabModel]
	Samples []int // the basis points whose kernels an exact prediction takes

	// Pivots lists for each view the training samples whose kernels a prediction takes first; nil if every prediction
	// takes all of Samples. The first Order of the pivots of a Gaussian process decide its variance and its bounds.
	Pivots [][]int
	Order  int

	// MeanError and SDError bound how far pruning moves a predictive mean and standard deviation, in the target's units. In a pool whose
	// members learn the target's logarithm or square root they are in its units.
	// A prediction from Pivots or in float32 has bounds of its own: see PredictWithBound.
	MeanError, SDError float64

	Kind BoundKind // the weakest kind of bound that a prediction may have

	// Bytes is the size of the matrices and weights that a prediction reads first. The features of the samples are not counted, and
	// nothing of what a prediction reads if its first bound is above the tolerance.
	Bytes int

	// Float32 says that the variance, and of a healed predictor the mean too, is computed in float32 where its bound is within
	// the tolerance.
	Float32 bool
}

// BoundKind says how the bounds on the errors of a prediction are known.
type BoundKind int

// The kinds of bounds, the strongest first.
const (
	// BoundProved holds for every sample, apart from rounding of at most 0.0001 of the standard deviation.
	BoundProved BoundKind = iota

	// BoundCalibrated is an estimate of the rounding of float32 for the sample at hand, times a factor. The factor is four
	// times the largest that the calibration samples need: training samples, and sums and differences of training samples.
	BoundCalibrated

	// BoundAssumed is proved for samples whose kernels are no larger than in training, where rounding is small. A pruned
	// kernel without a bound, such as a linear one, may violate it; so may rounding in a very ill-conditioned model.
	BoundAssumed
)

// String returns "proved", "calibrated" or "assumed".
func (k BoundKind) String() string { return [...]string{"proved", "calibrated", "assumed"}[k] }

func (i PredictorInfo) clone() PredictorInfo {
	i.Kernels, i.Samples = slices.Clone(i.Kernels), slices.Clone(i.Samples)
	i.Pivots = slices.Clone(i.Pivots)
	for n := range i.Pivots {
		i.Pivots[n] = slices.Clone(i.Pivots[n])
	}
	return i
}

// BoundedPrediction is the prediction of one sample with bounds on its difference from the prediction of the model. Both
// bounds are 0 if it was computed from all samples in float64.
type BoundedPrediction struct {
	Mean     float64 // of the target
	Variance float64 // with the noise; NaN with MeanOnly

	MeanError float64   // of Mean
	SDError   float64   // of √Variance; 0 with MeanOnly
	Kind      BoundKind // of both bounds; BoundProved where they are 0

	learned learnedMoments // of a target that was learned on another scale
}

// learnedMoments are moments of a target on the scale on which it was learned.
type learnedMoments struct {
	scale          targetScale
	mean, variance float64
}

// Interval returns the ends of the central interval of a probability, as [Prediction.Interval]. With MeanOnly they are NaN.
func (b BoundedPrediction) Interval(probability float64) (lower, upper float64) {
	z := special.NormalQuantile(0.5 + float64(0.5*probability))
	if b.learned.scale != ownScale {
		half := float64(z * math.Sqrt(b.learned.variance))
		return b.learned.scale.target(b.learned.mean - half), b.learned.scale.target(b.learned.mean + half)
	}
	half := float64(z * math.Sqrt(b.Variance))
	return b.Mean - half, b.Mean + half
}

// nothing is the prediction that accompanies an error.
var nothing = BoundedPrediction{Mean: math.NaN(), Variance: math.NaN()}

// Predictor predicts one target of one sample at a time, for programs in which latency counts. Every model of numbers
// makes one. A prediction takes no lock and starts no goroutine. It allocates nothing unless more callers than
// processors predict at a time. A Predictor is immutable and safe for concurrent use.
//
// Predictors do less work than their models. If the kernels are smooth they compute each kernel with a few training samples
// only, the pivots, and bound the error for the sample at hand. Without pivots, Gaussian processes, those on landmarks, and models of
// weighted kernels compute variances in float32, and estimate the rounding for the sample at hand. If the bound is above the tolerance, a predictor computes the
// prediction again from all samples in float64. Predictors of weighted kernels also leave out kernels and samples whose
// weights contribute little, and reduce the rank of the factors of covariances. [BoundKind] says which bounds are proved;
// docs/theory/predictor.md derives them. Given kernels and kernels [kernel.Func] have no pivots.
type Predictor struct {
	// One of these is set. (They are not one interface: a sample would then escape to the heap.)
	weights *weightPredictor
	mixture *mixturePredictor
	sparse  *sparsePredictor

	list listModel // of samples of a list that need float64; nil if these are predicted one after the other
}

// Predict returns the predictive mean and variance, noise included, of one sample, in the target's units and their
// square. The variance is NaN with MeanOnly. The sample is given as one row for each of the model's Inputs, ModelInput.Cols
// long. It returns an error for another number of rows or another length, a *[ValueError] for a NaN or an infinity, and an
// error for a prediction that is not finite. A sample may lack inputs that have MissingViews: their rows are NaN. A predictor
// of a [SpikeSlabModel] ignores the features that it left out.
func (p *Predictor) Predict(x ...[]float64) (mean, variance float64, err error) {
	b, err := p.PredictWithBound(x...)
	return b.Mean, b.Variance, err
}

// PredictWithBound is Predict with bounds on the error: for this sample if it was predicted from pivots, and otherwise
// the bounds of [PredictorInfo].
func (p *Predictor) PredictWithBound(x ...[]float64) (BoundedPrediction, error) {
	switch {
	case p.weights != nil:
		return p.weights.predictBounded(x)
	case p.mixture != nil:
		return p.mixture.predictBounded(x)
	}
	return p.sparse.predictBounded(x)
}

// Info says what each function of the model uses for a prediction: one function, or one for each member and draw of a
// mixture.
func (p *Predictor) Info() []PredictorInfo {
	switch {
	case p.weights != nil:
		return []PredictorInfo{p.weights.info.clone()}
	case p.mixture != nil:
		return p.mixture.infos()
	}
	return []PredictorInfo{p.sparse.info()}
}

// ClassPredictor predicts the class of one sample at a time, in the way of [Predictor]. Every model of classes makes one.
type ClassPredictor[T comparable] struct {
	// One of these is set.
	scores    *scoreClassPredictor[T]
	processes *processClassPredictor[T]
	probit    *probitPredictor[T]
}

// Predict returns the most probable class of one sample, given as one row for each of the model's Inputs, and stores the
// probabilities of all classes in probability, which has an element for each class or is nil. Another length is an error;
// other errors are the same as for [Predictor.Predict].
func (p *ClassPredictor[T]) Predict(probability []float64, x ...[]float64) (class T, err error) {
	class, _, err = p.PredictWithBound(probability, x...)
	return class, err
}

// PredictWithBound is Predict with a bound on the difference of any probability from the model's. The bound is 0 if all
// training samples were used.
func (p *ClassPredictor[T]) PredictWithBound(probability []float64, x ...[]float64) (class T, bound float64, err error) {
	switch {
	case p.scores != nil:
		return p.scores.predictBounded(probability, x)
	case p.processes != nil:
		return p.processes.predictBounded(probability, x)
	}
	return p.probit.predictBounded(probability, x)
}

// Info says what each function of the model uses for a prediction: one function for two classes, else one for each
// class, and these for each member of a mixture; one function for all classes of a [ProbitClassifierModel].
func (p *ClassPredictor[T]) Info() []PredictorInfo {
	switch {
	case p.scores != nil:
		return p.scores.infos()
	case p.processes != nil:
		return p.processes.infos()
	}
	return []PredictorInfo{p.probit.info()}
}
