package mkl

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// LandmarkClassifierModel is a fitted [LandmarkClassifier]. It is immutable and safe for
// concurrent use.
type LandmarkClassifierModel[T comparable] struct {
	onViews
	plan         *ClassPlan[T]
	observations int64
	shift        [][]float64        // of the features of each view, which gives them mean 0
	beyond       []float64          // P: the share of each kernel's trace that the landmarks leave out
	gram         la.Matrix[float64] // Σφφᵀ of the features and 1
	posteriors   []*mgp.FeaturePosterior
	bounds       []float64 // the log evidence of each function
	curvatures   []float64 // c of the labels, for each function
	sharpness    float64   // of the functions' log odds
}

// Kind returns "landmark-classifier".
func (m *LandmarkClassifierModel[T]) Kind() string { return "landmark-classifier" }

// Classes returns the classes in the order of probabilities and decisions.
func (m *LandmarkClassifierModel[T]) Classes() []T { return m.plan.Classes() }

// Observations returns the number of samples that the model was fitted to. Samples returns the number
// of its landmarks.
func (m *LandmarkClassifierModel[T]) Observations() int64 { return m.observations }

// Plan returns the plan of the fit.
func (m *LandmarkClassifierModel[T]) Plan() *ClassPlan[T] { return m.plan }

// Bound returns Laplace's approximation of the log evidence in nats, summed over the functions. It is not a lower bound.
func (m *LandmarkClassifierModel[T]) Bound() float64 { return vec.Total(m.bounds) }

// Sharpness returns the power of the odds in the probabilities of the classes.
func (m *LandmarkClassifierModel[T]) Sharpness() float64 { return m.sharpness }

// KernelWeights returns 1/γ_p of the views: the variance that a view adds to the function for
// each unit of its kernel, relative to the variance of the noise. With several classes it is the mean
// over them. It has no standard deviation.
func (m *LandmarkClassifierModel[T]) KernelWeights() []KernelWeight {
	mean := make([]float64, len(m.plan.by))
	for o := range m.posteriors {
		la.Axpy(1/float64(len(m.posteriors)), m.weights(o), mean)
	}
	return m.kernelWeights(mean, make([]float64, len(mean)))
}

// weights returns 1/γ_p of one function.
func (m *LandmarkClassifierModel[T]) weights(o int) []float64 {
	w := make([]float64, len(m.plan.by))
	for i, scale := range m.plan.scale {
		w[i] = 1 / (m.posteriors[o].State().Gamma[i] * scale)
	}
	return w
}

// Outputs reports the noise that the fit learned for each function.
func (m *LandmarkClassifierModel[T]) Outputs() []ModelOutput {
	out := make([]ModelOutput, len(m.posteriors))
	if len(out) > 1 {
		for o := range out {
			w := m.weights(o)
			out[o].Weights = m.kernelWeights(w, make([]float64, len(w)))
		}
	}
	return out
}

// Predict returns the most probable class of each sample and the probabilities
// of all classes, [sample][class]. The arguments and errors are as in [ClassModel.PredictClasses].
func (m *LandmarkClassifierModel[T]) Predict(x ...Features) (labels []T, probability [][]float64, err error) {
	return mostProbable(m, x)
}

// PredictClasses is Predict with options, and with decision values, the functions' means.
// Probabilities are computed as in [MultiGPClassifierModel.PredictClasses].
func (m *LandmarkClassifierModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	K := len(m.plan.classes.names)
	out, score := newClassPrediction[T](t, K, opt), scoreRows(t, K)
	err = m.predict(ctx, opt, x, t, func(o, first int, mean, variance []float64) {
		for i, mean := range mean {
			if K == 2 {
				copy(out.Decision[first+i], []float64{-mean, mean})
			} else {
				out.Decision[first+i][o] = mean
			}
			if !opt.MeanOnly {
				z := mean / math.Sqrt(variance[i])
				score.set(first+i, o, special.LogNormalCDF(z), special.LogNormalCDF(-z))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	sharpenAll(m.sharpness, score, out.Probability)
	return out.labelled(m.plan.classes.names)
}

// predict calls do for each block of the t samples of x, with the mean and variance of function o for the samples
// from first on. Without variances, variance is nil.
func (m *LandmarkClassifierModel[T]) predict(
	ctx context.Context, opt PredictOptions, x []Features, t int, do func(o, first int, mean, variance []float64),
) error {
	return m.eachBlock(ctx, opt.Workers, x, t, func(phi []la.Matrix[float64], first int) error {
		for o, p := range m.posteriors {
			mean, variance, err := p.Predict(phi, la.Matrix[float64]{}, opt.MeanOnly, opt.Workers)
			if err != nil {
				return err
			}
			do(o, first, mean, variance)
		}
		return nil
	})
}

// eachBlock calls do with the features of each block of the t samples of x, with a last feature of ones. The block begins with the sample first.
func (m *LandmarkClassifierModel[T]) eachBlock(ctx context.Context, workers int, x []Features, t int, do func(phi []la.Matrix[float64], first int) error) error {
	mem := &featureMemory{ws: la.Workspace{Workers: workers}}
	return m.design.EachBlock(ctx, workers, gram.PredictWords, false, x, t, func(k *vi.Dense, _ la.Matrix[float64], first, n int) error {
		ones := la.NewMatrix[float64](1, n)
		ones.Fill(1)
		return do(append(m.plan.centred(mem, k, n, m.shift), ones), first)
	})
}

// String describes the model in one line.
func (m *LandmarkClassifierModel[T]) String() string {
	return fmt.Sprintf("multiple Gaussian process classifier of %d classes on %d kernels (%d active), %d landmarks and %d samples, bound %.6g",
		len(m.plan.classes.names), len(m.design.Views), countActive(m.KernelWeights()), m.design.D, m.observations, m.Bound())
}

// Summary describes the model in words, line by line.
func (m *LandmarkClassifierModel[T]) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", m, m.trace.outcome())
	all := m.KernelWeights()
	for o := range m.posteriors {
		w := m.weights(o)
		fmt.Fprintln(&b, m.plan.classes.against(o, " against the rest"))
		b.WriteString(summarizeActive(m.kernelWeights(w, make([]float64, len(w)))))
	}
	b.WriteString(leftOutText(all, m.beyond, m.design.D))
	return b.String()
}

// leftOutText says which active kernels this number of landmarks does not represent.
func leftOutText(weights []KernelWeight, beyond []float64, landmarks int) (text string) {
	for i, w := range weights {
		if w.Active && beyond[i] > 0.05 {
			text += fmt.Sprintf("%d landmarks leave out %.0f %% of %s: more of them may fit better\n", landmarks, 100*beyond[i], w.View)
		}
	}
	return text
}
