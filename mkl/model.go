package mkl

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/bmkl/bmkl/vi"
)

// Model is what all fitted models have in common. The kinds of models are those of
// this package.
type Model interface {
	fmt.Stringer // the model in one line

	// Kind returns what a file calls this kind of model: regression,
	// shared-regression, task-regression, classifier, multilabel, task-classifier, multigp,
	// multigp-classifier, pool, pool-classifier, landmarks, landmark-classifier, probit-classifier,
	// spike-slab, multi-task, factors, pair-regression or pair-classifier.
	Kind() string

	// Samples returns the number of samples that the model keeps: the basis points
	// of its kernels, which are the training samples unless a rectangular kernel
	// says otherwise; the rows of a factor model; those of both sides of a model of pairs; 0
	// for a [SpikeSlabModel].
	Samples() int

	// Outputs tells what was learned of each output: the targets, the labels, the
	// classes (two classes are one output, except of a [ProbitClassifierModel]), or
	// the columns of a factor model, or the one value of pairs.
	Outputs() []Output

	// Inputs describes the matrices that a prediction takes, one for each distinct
	// X of the training views, in the order of their first view; of a model of pairs
	// those of new rows and then those of new columns.
	Inputs() []Input

	// KernelWeights returns the weights of the views' kernels; a factor model has
	// none.
	KernelWeights() []KernelWeight

	// Collapsed lists the outputs, ascending, whose fitted function is constant
	// because all their weights vanish.
	Collapsed() []int

	// Bound returns the lower bound on the log evidence in nats, or where the model has
	// one the log evidence or an estimate of it; NaN for a sampled model.
	Bound() float64

	// Trace returns the record of the fit.
	Trace() Trace

	// Notes returns the notes given to the fit.
	Notes() map[string]string

	// Summary describes the model in words, line by line.
	Summary() string

	// Save writes the model to a file that [Load] and [LoadAs] read. What is loaded
	// gives the same predictions, bit for bit. Models with a kernel [Func] and
	// classes that have no JSON cannot be saved.
	Save(w io.Writer) error

	// decode makes the model what a file of its kind says.
	decode(f *fileReader) error
}

// TargetModel is a model whose outputs are numbers.
type TargetModel interface {
	Model

	// Targets returns the number of targets.
	Targets() int

	// NoiseSD returns the standard deviation of each target's noise, in the
	// target's units.
	NoiseSD() []float64

	// PredictTargets predicts every target of T samples. It takes one matrix for each of
	// Inputs, in their order, of T rows and Input.Cols columns. An error names the matrix and
	// what is wrong with it, and is a *[ValueError] for NaN (but see MissingViews of [Input])
	// and infinities. It wraps the cause if ctx has ended. A prediction that is not finite is
	// an error too.
	PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error)
}

// ClassModel is a model that tells classes of type T apart.
type ClassModel[T comparable] interface {
	Model

	// Classes returns the classes in the order of probabilities and decisions.
	Classes() []T

	// PredictClasses predicts the class of each sample. It takes the matrices of
	// [TargetModel.PredictTargets], with its errors.
	PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error)
}

// LabelModel is a model of labels that samples have or have not.
type LabelModel interface {
	Model

	// Labels returns the number of labels.
	Labels() int

	// PredictLabels predicts every label of each sample. It takes the matrices of
	// [TargetModel.PredictTargets], with its errors.
	PredictLabels(ctx context.Context, opt PredictOptions, x ...Features) (*LabelPrediction, error)
}

// Output is what was learned of one output of a model.
type Output struct {
	// NoiseSD is the standard deviation of a target's noise, in the target's units;
	// 0 for labels and classes.
	NoiseSD float64

	// NoiseFreedom is the degrees of freedom of the noise's Student-t density; 0 if the
	// noise is normal.
	NoiseFreedom float64

	// Prior says in words what was learned about the scales of the kernels; only
	// multiple Gaussian processes learn it.
	Prior string

	// Weights are the output's own weights of the kernels, in the order of
	// KernelWeights; nil if all outputs have those.
	Weights []KernelWeight

	// Inclusion is the probability of each weight of not being zero, of Weights or
	// else of KernelWeights; nil unless the model has a spike-and-slab prior.
	Inclusion []float64

	// Active are the samples whose weight is at least ActiveThreshold times the
	// largest, ascending; nil if the model gives samples no weights.
	Active []SampleWeight
}

// KernelWeight is the posterior of one view's weight. What the weight means, and in
// which unit, the model's KernelWeights says.
type KernelWeight struct {
	View   string  // its name
	Kernel string  // its kernel, as fitted
	Mean   float64 // its posterior mean
	SD     float64 // its posterior standard deviation; +Inf where a posterior of heavy tails has none
	Active bool    // |Mean| is at least ActiveThreshold times the largest
}

// SampleWeight is the posterior of one basis point's weight a.
type SampleWeight struct {
	Sample int     // index of the training sample, or of the basis point
	Mean   float64 // its posterior mean, E[a]
	SD     float64 // its posterior standard deviation
}

// ActiveThreshold is the share of the largest absolute weight from which a
// kernel or a sample counts as active. Sparse priors leave weights that are
// either of the order of the largest or many orders of magnitude below it.
const ActiveThreshold = 0.01

// Trace is the record of a fit.
type Trace struct {
	Bounds    []float64 // what the model's Bound returns, after each sweep, in nats
	Sweeps    int       // with all samples; of each chain if sampled
	Converged bool      // there was nothing left to climb, or nothing that double precision can tell
	Reason    string    // why it stopped
	Mixing    Mixing    // of sampled chains; the zero value if there are none

	// Left is about how many sweeps more would have been needed, 0 if none or if that is not
	// known.
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
		return fmt.Sprintf("%s after %d sweeps: the lower bound can no longer be told from its rounding errors\n", t.Reason, t.Sweeps)
	case t.Converged:
		return fmt.Sprintf("converged after %d sweeps\n", t.Sweeps)
	}
	more := ""
	if t.Left > 0 {
		more = fmt.Sprintf(", about %d too few", t.Left)
	}
	return fmt.Sprintf("NOT converged: %s after %d sweeps%s\n", t.Reason, t.Sweeps, more)
}

// record is what every model tells of how it was made.
type record struct {
	trace Trace
	notes map[string]string
}

// Trace returns the record of the fit.
func (m *record) Trace() Trace {
	t := m.trace
	t.Bounds = slices.Clone(t.Bounds)
	return t
}

// Notes returns the notes given to the fit.
func (m *record) Notes() map[string]string { return maps.Clone(m.notes) }

// Bound returns the lower bound on the log evidence in nats, NaN for a sampled
// model. That of a regression is of the targets as the fit saw them: standardised,
// unless RawTargets. To compare it with a fit to raw targets subtract n·log(SD) for
// each target with its n observed values and standard deviation SD (with n−1).
func (m *record) Bound() float64 {
	if len(m.trace.Bounds) == 0 {
		return math.NaN()
	}
	return m.trace.Bounds[len(m.trace.Bounds)-1]
}

// Collapsed lists the outputs, ascending, whose fitted function is constant: all
// their weights vanish. If that holds for every output of a regression, classifier
// or multi-task model, the fit returned a *[CollapsedError].
func (m *record) Collapsed() []int { return slices.Clone(m.trace.collapsed) }

// collapsed reports whether all of so many outputs have collapsed.
func (m *record) collapsed(outputs int) bool { return len(m.trace.collapsed) == outputs }

// onViews is what models fitted to views have in common.
type onViews struct {
	record
	design *design
}

// Samples returns the number of basis points: the training samples, unless a
// rectangular kernel says otherwise.
func (m *onViews) Samples() int { return m.design.d }

// Inputs describes the matrices that a prediction takes, one for each distinct X
// of the training views, in the order of their first view.
func (m *onViews) Inputs() []Input {
	in := make([]Input, len(m.design.inputs))
	for i := range in {
		in[i].Cols, in[i].MissingViews = m.design.inputs[i].cols, m.design.inputs[i].gaps
	}
	for i, v := range m.design.views {
		in[v.input].Views = append(in[v.input].Views, i)
	}
	return in
}

// kernelWeights gives the weights of the views' kernels their names.
func (m *onViews) kernelWeights(mean, sd []float64) []KernelWeight {
	limit := ActiveThreshold * largestAbs(mean)
	out := make([]KernelWeight, len(mean))
	for i, v := range m.design.views {
		out[i] = KernelWeight{
			View: v.name, Kernel: v.kernel.String(), Mean: mean[i], SD: sd[i],
			Active: limit > 0 && math.Abs(mean[i]) >= limit,
		}
	}
	return out
}

func largestAbs(x []float64) (largest float64) {
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	return largest
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

// summarizeActive lists the active kernels, one on a line.
func summarizeActive(weights []KernelWeight) string {
	text := "active kernels (weight ± SD):\n"
	for _, w := range weights {
		if w.Active {
			text += fmt.Sprintf("  %-32s %10.4g ± %.2g\n", w.View, w.Mean, w.SD)
		}
	}
	return text
}
