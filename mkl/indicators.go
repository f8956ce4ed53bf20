package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// indicatorModel is a least-squares process of the standardised indicators of classes: a member of [AutoClassifierModel].
// All classes share the kernels' amplitudes. Probabilities come from a softmax with three parameters, which maximise the
// leave-one-out likelihood of the training samples; see docs/theory/views.md, section 6. It is immutable.
type indicatorModel[T comparable] struct {
	onViews
	classes classSet[T]
	weight  []float64          // of the design's kernels; 0 of constants, which the process adds itself
	process *amplitude.Process // with a row for each class, or one row for two classes
	head    *amplitude.Head

	leftOut [][]float64 // [sample][class] leave-one-out probabilities; nil if loaded
}

// newIndicators returns the targets of a least-squares process, standardised to mean 0 and variance 1 over N samples: a row
// of indicators for each class, or for two classes one row, the indicators of the second.
func newIndicators(classes int, class []int) la.Matrix[float64] {
	y := oneAgainstRest(classes, class)
	for c := range y.Rows {
		row := y.Row(c)
		var mean float64
		for _, v := range row {
			mean += v / float64(len(row))
		}
		sd := math.Sqrt(1 - float64(mean*mean)) // of ±1
		for i, v := range row {
			row[i] = (v - mean) / sd
		}
	}
	return y
}

// leastSquares fits the least-squares members of a pool of classes.
type leastSquares[T comparable] struct {
	settings *fitting
	views    []View
	classes  []T
	class    []int // of each sample

	names   []string // of the members
	members []*indicatorModel[T]
	table   viewTable
	notes   []string // on the kernels
	tried   bool     // whether fit has been called
	left    string   // why there are no members; empty if that goes without saying
}

// fit fits the members. Views that learn widths get no members.
func (l *leastSquares[T]) fit(ctx context.Context) error {
	l.tried = true
	if !hasAmplitudes(l.views) {
		return nil
	}
	set := KernelsOfView
	if countViews(l.views) == 1 {
		set |= kernelsOfRanks
	}
	k, err := newAmplitudeKernels(ctx, l.settings, set, l.views, [][]float64{vec.Floats(l.class)}, true)
	if err != nil || k == nil {
		return err
	}
	K := len(l.classes)
	fits, table, err := k.fitAmplitudes(ctx, l.settings, amplitudeTargets{y: newIndicators(K, l.class), class: l.class, classes: K})
	switch {
	case errors.Is(err, amplitude.ErrIndefinite): // processes add jitter
		l.left = leftOutRemark(err)
		return nil
	case err != nil:
		return err
	}
	l.table, l.notes = table, k.notes
	for _, fit := range fits {
		m := &indicatorModel[T]{classes: classSet[T]{names: l.classes}, weight: k.weights(fit.Amplitudes, 0), process: fit.Process}
		m.onViews = onViews{record{trace: amplitudeTrace(fit.Fit)}, k.design}
		if m.head, err = amplitude.FitHead(fit.LeftOutMean, fit.LeftOutVariance, l.class, K); err != nil {
			return fmt.Errorf("mkl: %w", err)
		}
		m.leftOut = rows(len(l.class), K)
		m.head.Probabilities(fit.LeftOutMean, fit.LeftOutVariance, m.leftOut)
		l.names, l.members = append(l.names, fit.name), append(l.members, m)
	}
	return nil
}

// leftOut returns the logarithms of the leave-one-out probabilities of the samples' classes, averaged over the members.
func (l *leastSquares[T]) leftOut() []float64 {
	out := make([]float64, len(l.class))
	for i, c := range l.class {
		var sum float64
		for _, m := range l.members {
			sum += m.leftOut[i][c]
		}
		out[i] = special.Log(max(sum/float64(len(l.members)), leastProbability))
	}
	return out
}

// leastProbability keeps logarithms of probabilities finite.
const leastProbability = 1e-300

// Kind returns "indicators".
func (m *indicatorModel[T]) Kind() string { return "indicators" }

// Classes returns the classes.
func (m *indicatorModel[T]) Classes() []T { return append([]T(nil), m.classes.names...) }

// Outputs returns an empty entry for each function.
func (m *indicatorModel[T]) Outputs() []ModelOutput { return make([]ModelOutput, m.process.Alpha.Rows) }

// KernelWeights returns the amplitudes of the kernels, relative to the variance of the standardised indicators.
func (m *indicatorModel[T]) KernelWeights() []KernelWeight {
	return m.kernelWeights(m.weight, make([]float64, len(m.weight)))
}

// String describes the model in one line.
func (m *indicatorModel[T]) String() string {
	return fmt.Sprintf("least-squares process of %d classes on %d kernels and %d samples", len(m.classes.names), len(m.design.Views), m.Samples())
}

// Summary describes the model in words.
func (m *indicatorModel[T]) Summary() string {
	return fmt.Sprintf("%s\n%s%s", m, m.trace.outcome(), summarizeActive(m.KernelWeights()))
}

// PredictClasses predicts the class of each sample. Decisions are the means of the standardised indicators.
func (m *indicatorModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	out := newClassPrediction[T](t, len(m.classes.names), opt)
	ws := &la.Workspace{Workers: opt.Workers}
	block := func(first int, cross la.Matrix[float64], own []float64) error {
		mean, variance, err := m.process.Predict(ws, cross, own)
		if err != nil {
			return err
		}
		for i := range own {
			m.decide(mean, i, out.Decision[first+i])
		}
		if !opt.MeanOnly {
			m.head.Probabilities(mean, variance, out.Probability[first:first+len(own)])
		}
		return nil
	}
	var batch sumBatch
	whole := false
	if batch.add(m.design, m.weight) && batch.bank.InReach() {
		whole, err = batch.each(ctx, opt.Workers, x, t, func(first int, k []la.Matrix[float64], self [][]float64) error {
			return block(first, k[0], self[0])
		})
	}
	if !whole && err == nil {
		err = m.eachBlock(ctx, opt.Workers, x, t, block)
	}
	if err != nil {
		return nil, err
	}
	return out.labelled(m.classes.names)
}

// eachBlock calls do with the sums of kernels of the samples from first on, for block after block, from kernel matrices.
func (m *indicatorModel[T]) eachBlock(ctx context.Context, workers int, x []Features, t int, do func(first int, cross la.Matrix[float64], own []float64) error) error {
	all := vec.UpTo(len(m.weight))
	return m.design.EachBlock(ctx, workers, gram.PredictWords, true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, _ int) error {
		cross, own := m.sum(k, self, all)
		return do(first, cross, own)
	})
}

// sum returns the sums of some kernels of the samples of a block, each times its weight: with the training samples, and with themselves.
func (m *indicatorModel[T]) sum(k *vi.Dense, self la.Matrix[float64], which []int) (cross la.Matrix[float64], own []float64) {
	cross, own = la.NewMatrix[float64](self.Cols, m.design.D), make([]float64, self.Cols)
	for _, j := range which {
		w := m.weight[j]
		if w == 0 {
			continue
		}
		la.Axpy(w, self.Row(j), own)
		of := k.At(j)
		for i := range of.Rows {
			for r, v := range of.Row(i) {
				cross.Row(r)[i] += float64(w * v)
			}
		}
	}
	return cross, own
}

// decide stores the decisions of sample i.
func (m *indicatorModel[T]) decide(mean la.Matrix[float64], i int, decision []float64) {
	if mean.Rows == 1 {
		decision[0], decision[1] = -mean.At(0, i), mean.At(0, i)
		return
	}
	for c := range decision {
		decision[c] = mean.At(c, i)
	}
}
