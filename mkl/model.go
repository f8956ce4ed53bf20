package mkl

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
)

// Model is what all fitted models have in common. Every XModel of this package is one.
//
// Kind returns regression, shared-regression, task-regression, classifier, multilabel, task-classifier, multigp,
// multigp-classifier, pool ([AutoModel]), pools ([AutoTargetsModel]), pool-classifier ([AutoClassifierModel]), landmarks ([LandmarkGPModel]),
// landmark-classifier, probit-classifier, spike-slab, multi-task, factors, pair-regression,
// pair-classifier, survival, counts or ordinal. A loaded model
// gives the same predictions, bit for bit, as the model that was saved. Models with a kernel [kernel.Func] and models with
// classes that have no JSON cannot be saved.
type Model interface {
	fmt.Stringer // the model in one line
	Saved

	// Samples returns the number of basis points that the model keeps: its training samples, unless a kernel is given as
	// a rectangular matrix. It is the number of rows of a factor model, rows and columns together of a model of pairs, and
	// 0 for a [SpikeSlabModel].
	Samples() int

	// Outputs describes each output: each target, label, class, or column of a factor model. Two classes are one
	// output, except for a [ProbitClassifierModel]. A model of pairs has one output.
	Outputs() []ModelOutput

	// Inputs describes the matrices that a prediction takes: one for each Input of the training views, in the order of
	// their first views. A model of pairs has the inputs of rows first, then the inputs of columns.
	Inputs() []ModelInput

	// KernelWeights returns the weights of the views' kernels. A factor model has none.
	KernelWeights() []KernelWeight

	// Collapsed returns the indices of the outputs whose fitted function is constant because all their weights vanish,
	// in ascending order.
	Collapsed() []int

	// Bound returns the log evidence in nats, or an estimate or a lower bound of it. It is NaN for a sampled model.
	Bound() float64

	// Trace returns the record of the fit.
	Trace() Trace

	// Notes returns the notes given to the fit.
	Notes() map[string]string

	// Summary describes the model in words, line by line.
	Summary() string
}

// TargetModel is a model whose outputs are numbers.
type TargetModel interface {
	Model

	// Targets returns the number of targets.
	Targets() int

	// NoiseSD returns the standard deviation of each target's noise, in the target's units.
	NoiseSD() []float64

	// PredictTargets predicts every target of T samples. It takes one matrix for each of Inputs, in this order, with T rows
	// and ModelInput.Cols columns. A NaN is a *[ValueError], unless the input may be missing ([ModelInput].MissingViews), and
	// so is an infinity. A prediction that is not finite is an error too. If ctx ends the error wraps its cause.
	PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error)
}

// ClassModel is a model whose output is a class of type T.
type ClassModel[T comparable] interface {
	Model

	// Classes returns the classes in the order of probabilities and decisions.
	Classes() []T

	// PredictClasses predicts the class of each sample. It takes the matrices of [TargetModel.PredictTargets] and returns
	// its errors.
	PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error)
}

// LabelModel is a model of labels. A sample has or does not have each of them.
type LabelModel interface {
	Model

	// Labels returns the number of labels.
	Labels() int

	// PredictLabels predicts every label of each sample. It takes the matrices of [TargetModel.PredictTargets] and
	// returns its errors.
	PredictLabels(ctx context.Context, opt PredictOptions, x ...Features) (*LabelPrediction, error)
}

// ModelOutput describes what the fit learned for one output: a target, label or class.
type ModelOutput struct {
	// NoiseSD is the standard deviation of a target's noise, in the target's units; 0 for labels and classes.
	NoiseSD float64

	// NoiseFreedom is the degrees of freedom of the noise's Student-t density; 0 if the noise is normal.
	NoiseFreedom float64

	// Prior describes in words what was learned about the scales of the kernels. Only multiple Gaussian processes
	// learn it.
	Prior string

	// Weights are the output's own weights of the kernels, in the order of KernelWeights; nil if all outputs share
	// the model's KernelWeights.
	Weights []KernelWeight

	// Inclusion is for each weight the probability that it is not zero; nil unless the model has a spike-and-slab prior.
	// The weights are Weights, or the model's KernelWeights where Weights is nil.
	Inclusion []float64

	// Active are the samples whose weight is at least ActiveThreshold times the largest, in ascending order; nil if the
	// model gives samples no weights.
	Active []SampleWeight
}

// KernelWeight is the posterior of one view's weight. The method KernelWeights of each model says what the weight means
// and what its unit is.
type KernelWeight struct {
	View   string  // the name of the view
	Kernel string  // its kernel, as fitted
	Mean   float64 // posterior mean
	SD     float64 // posterior standard deviation; +Inf if a heavy-tailed posterior has none
	Active bool    // |Mean| is at least ActiveThreshold times the largest, of a pool the largest of the kernel's member
}

// SampleWeight is the posterior of the weight a of one basis point.
type SampleWeight struct {
	Sample int     // index of the training sample, or of the basis point
	Mean   float64 // posterior mean E[a]
	SD     float64 // posterior standard deviation
}

// ActiveThreshold is the share of the largest absolute weight from which a kernel or a sample counts as active. Under a
// sparse prior most weights are many orders of magnitude below the largest.
const ActiveThreshold = 0.01

// Trace is the record of a fit.
type Trace struct {
	Bounds    []float64 // the value of Bound after each sweep, in nats
	Sweeps    int       // number of sweeps over all samples; of each chain if sampled
	Converged bool      // the fit reached its optimum, up to its tolerance or to rounding
	Reason    string    // why the fit stopped
	Mixing    Mixing    // of sampled chains; the zero value without chains

	// Left is about how many more sweeps the fit would have needed; 0 if none, or if the number is not known.
	Left int

	collapsed []int
}

func newTrace(r vi.Record, collapsed []int) Trace {
	return Trace{
		Bounds: r.Trace, Sweeps: len(r.Trace), Converged: r.Reason.Done(),
		Reason: r.Reason.String(), Left: max(0, r.Left), collapsed: collapsed,
	}
}

// outcome says on a line how the fit ended.
func (t Trace) outcome() string {
	switch {
	case t.Converged && t.Reason == vi.RoundOff.String():
		return fmt.Sprintf("%s after %d sweeps: the lower bound changes by no more than its rounding errors\n", t.Reason, t.Sweeps)
	case t.Converged:
		return fmt.Sprintf("converged after %d sweeps\n", t.Sweeps)
	}
	more := ""
	if t.Left > 0 {
		more = fmt.Sprintf(", about %d too few", t.Left)
	}
	return fmt.Sprintf("NOT converged: %s after %d sweeps%s\n", t.Reason, t.Sweeps, more)
}

// record is what every model keeps of its fit.
type record struct {
	trace Trace
	notes map[string]string

	prepared *prepared // of a compiled file, else nil
}

// Trace returns the record of the fit.
func (m *record) Trace() Trace {
	t := m.trace
	t.Bounds = slices.Clone(t.Bounds)
	return t
}

// Notes returns the notes given to the fit.
func (m *record) Notes() map[string]string { return maps.Clone(m.notes) }

// Bound returns the lower bound on the log evidence in nats; NaN for a sampled model. The bound of a regression is about
// the targets as the fit saw them: standardised, unless RawTargets. To compare it with the bound of a fit to raw targets,
// subtract n·log(SD) for each target with n observed values and the standard deviation SD (divisor n−1).
func (m *record) Bound() float64 {
	if len(m.trace.Bounds) == 0 {
		return math.NaN()
	}
	return m.trace.Bounds[len(m.trace.Bounds)-1]
}

// Collapsed returns the indices of the outputs whose fitted function is constant because all their weights vanish, in
// ascending order. If a regression, a classifier or a multi-task model has no other outputs, the fit returned a
// *[CollapsedError].
func (m *record) Collapsed() []int { return slices.Clone(m.trace.collapsed) }

// collapsed reports whether all outputs have collapsed; outputs is their number.
func (m *record) collapsed(outputs int) bool { return len(m.trace.collapsed) == outputs }

// onViews is what models fitted to views have in common.
type onViews struct {
	record
	design *gram.Design
}

// inputs returns the inputs as predictions need them.
func (m *onViews) inputs() []gram.Input { return m.design.Inputs }

// Samples returns the number of basis points: the training samples, unless a kernel is given as a rectangular matrix.
func (m *onViews) Samples() int { return m.design.D }

// Inputs describes the matrices that a prediction takes: one for each Input of the training views, in the order of their
// first views.
func (m *onViews) Inputs() []ModelInput {
	in := make([]ModelInput, len(m.design.Inputs))
	old := len(in) > 1 && !slices.ContainsFunc(m.design.Inputs, func(in gram.Input) bool { return in.Name != "" })
	for i := range in {
		of := &m.design.Inputs[i]
		in[i] = ModelInput{Name: of.Name, Cols: of.Cols, MissingViews: of.Gaps}
		if old { // the model is from a file from before inputs had names
			in[i].Name = fmt.Sprintf("x%d", i+1)
		}
	}
	for i, v := range m.design.Views {
		in[v.Input].Views = append(in[v.Input].Views, i)
	}
	return in
}

// kernelWeights combines the weights of the views' kernels with their names.
func (m *onViews) kernelWeights(mean, sd []float64) []KernelWeight {
	limit := ActiveThreshold * vec.LargestAbs(mean)
	out := make([]KernelWeight, len(mean))
	for i, v := range m.design.Views {
		out[i] = KernelWeight{
			View: v.Name, Kernel: v.Kernel.String(), Mean: mean[i], SD: sd[i],
			Active: limit > 0 && math.Abs(mean[i]) >= limit,
		}
	}
	return out
}

// countActive counts the active kernels.
func countActive(weights []KernelWeight) (n int) {
	for _, w := range weights {
		if w.Active {
			n++
		}
	}
	return n
}

// summarizeActive lists the active kernels, one a line.
func summarizeActive(weights []KernelWeight) string {
	text := "active kernels (weight ± SD):\n"
	for _, w := range weights {
		if w.Active {
			text += fmt.Sprintf("  %-32s %10.4g ± %.2g\n", w.View, w.Mean, w.SD)
		}
	}
	return text
}
