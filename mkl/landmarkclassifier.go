package mkl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
)

// LandmarkClassifier is [MultiGPClassifier] for any number of samples: each function is a sum
// of Gaussian processes on the kernels' features at a few landmarks, as in [LandmarkGP].
// Sums alone do not suffice for labels, but few passes over the samples do: one pass sums products of
// features, and five to fifteen more let all functions take a step each. Fit
// makes the passes in memory; Begin makes the [ClassPlan] for samples that are read anew in each
// pass. The zero value is ready.
//
// There are at most 64 classes. Two classes have one function, more have one each against the rest. It accepts the views
// and kernels that LandmarkGP accepts. Widths that are to be learned are learned by a
// MultiGPClassifier of a few hundred samples, one set of widths for all classes. The odds of
// the classes are sharpened as in [MultiGPClassifier], with leave-one-out predictions of some samples.
// docs/theory/statistics.md has the mathematics, docs/lab/scale.md times and errors.
type LandmarkClassifier[T comparable] struct {
	Fitting

	// MinRise is the convergence criterion: the fit ends with a pass that raises the log evidence by less than this, in
	// nats a sample. 0 means 1e-5. Negative: it makes MaxPasses passes.
	MinRise float64

	// MaxPasses is the largest number of passes over the samples; 0 means 50.
	MaxPasses int

	// Landmarks says how the landmarks are chosen; nil means the zero value of [Landmarks].
	Landmarks *Landmarks

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier]. The sample of Begin may lack some of them.
	Classes []T

	ordered bool // the order of the samples follows what they hold
}

// mostLandmarkClasses is the largest number of classes of a [LandmarkClassifier].
const mostLandmarkClasses = stat.MaxOutputs

// Fit fits the model to the views of N samples and their labels. It returns the errors that
// [MultiGPClassifier.Fit] returns.
func (c LandmarkClassifier[T]) Fit(ctx context.Context, views []View, labels []T) (*LandmarkClassifierModel[T], error) {
	classes, _, err := checkLabels(c.Classes, labels)
	if err != nil {
		return nil, err
	}
	c.Classes = classes
	p, err := c.Begin(ctx, views, labels)
	if err != nil {
		return nil, err
	}
	x := distinctInputs(views)
	rows := func(yield func(ClassRows[T], error) bool) {
		for first := 0; first < len(labels); first += pieceSamples {
			last := min(len(labels), first+pieceSamples)
			if !yield(ClassRows[T]{labels[first:last], rowsFrom(x, first, last)}, nil) {
				return
			}
		}
	}
	settings := ClassPlanFitting{c.Fitting, c.MinRise, c.MaxPasses}
	samples, moments, err := p.labelMoments(ctx, c.Workers, rows, nil)
	if _, beyond := errors.AsType[*rangeError](err); beyond {
		samples, moments, err = p.wideMoments(ctx, c.Workers, rows, x)
	}
	if err != nil {
		return nil, err
	}
	return p.fit(ctx, settings.fitting(), rows, samples, moments)
}

// wideMoments is labelMoments for samples beyond the range of the plan's sums. It sums them in larger units and converts
// the moments to the units of the plan, in which passes start best.
func (p *ClassPlan[T]) wideMoments(ctx context.Context, workers int, rows iter.Seq2[ClassRows[T], error], x []Features) (int64, *stat.Moments, error) {
	wide := &ClassPlan[T]{classes: p.classes}
	var err error
	if wide.featurePlan, err = p.widenedFor(ctx, workers, x); err != nil {
		return 0, nil, err
	}
	if err := wide.seal(); err != nil {
		return 0, nil, err
	}
	samples, moments, err := wide.labelMoments(ctx, workers, rows, nil)
	if err != nil {
		return 0, nil, err
	}
	first := 0
	for i, n := range moments.Views {
		square := wide.scale[i] / p.scale[i] // a power of four
		unit := math.Sqrt(square)
		for _, g := range moments.Groups {
			g.Self[i] *= square
			for d := first; d < first+n; d++ {
				la.Scal(unit, g.Sums.Row(d))
				g.Scale[d] *= unit
				for r := range g.Sums.Rows {
					g.Sums.Set(r, d, unit*g.Sums.At(r, d))
				}
			}
		}
		first += n
	}
	return samples, moments, nil
}

// Begin makes the plan of a fit from a sample, as [LandmarkGP.Begin] does. If Classes is nil
// the sample must contain every class.
func (c LandmarkClassifier[T]) Begin(ctx context.Context, views []View, labels []T) (*ClassPlan[T], error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	classes, index, err := indexLabels(c.Classes, labels)
	if err != nil {
		return nil, err
	}
	if len(classes) > mostLandmarkClasses {
		return nil, fmt.Errorf("mkl: labels: %d classes where landmarks take at most %d", len(classes), mostLandmarkClasses)
	}
	p := planning{fitting: &fitting{Fitting: c.Fitting}, Landmarks: c.Landmarks.orDefault(), functions: functions(len(classes)), ordered: c.ordered}
	if err := p.checkViews(views, len(labels), p.planMemory(len(labels), len(views))); err != nil {
		return nil, err
	}
	order := p.order(views, vec.Floats(index), true)
	rows := p.sampled(order, vec.Picked(index, order))
	p.learn = func(views []View) ([]kernel.Kernel, error) {
		some, someOf := vec.Picked(labels, rows), vec.Picked(index, rows)
		few := sample(len(some), widthSamples, someOf, c.Seed)
		m, err := MultiGPClassifier[T]{Fitting: p.hurry(), hurried: true}.Fit(ctx, takeRows(views, few), vec.Picked(some, few))
		if err != nil {
			return nil, fmt.Errorf("mkl: widths learned of %d samples: %w", len(few), err)
		}
		return commonKernels(m.designs), nil
	}
	plan := &ClassPlan[T]{classes: classSet[T]{names: classes}}
	if plan.featurePlan, err = p.plan(ctx, views, rows, len(labels)); err != nil {
		return nil, err
	}
	return plan, plan.seal()
}

// EstimateMemory returns about how many bytes a fit of the given size takes besides its data.
// s.Outputs counts the classes.
func (c LandmarkClassifier[T]) EstimateMemory(s FitSize) int64 {
	return c.Landmarks.orDefault().memory(&fitting{Fitting: c.Fitting}, s, functions(s.Outputs))
}

// commonKernels returns common kernels for several designs that differ in learned widths. The
// inverse square of a feature's width is the mean over the designs: a feature that matters to one
// function matters.
func commonKernels(designs []*gram.Design) []kernel.Kernel {
	out := kernelsOf(designs[0])
	for i, k := range out {
		common := slices.Clone(kernel.Widths(k))
		if common == nil {
			continue
		}
		for j := range common {
			var sum float64
			for _, ds := range designs {
				w := kernel.Widths(ds.Views[i].Kernel)[j]
				sum += 1 / float64(w*w)
			}
			common[j] = math.Sqrt(float64(len(designs)) / sum)
		}
		out[i] = kernel.WithLengths(k, common)
	}
	return out
}
