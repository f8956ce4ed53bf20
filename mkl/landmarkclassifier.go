package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/stat"
)

// LandmarkClassifier is [MultiGPClassifier] for any number of samples: each function is a sum
// of Gaussian processes on the kernels' features at a few landmarks, as in [LandmarkGP]. No
// sums tell all of labels, but few passes over the samples do: one sums what the features
// are, and each of some five to fifteen more finds where all functions are to look next. Fit
// does that in memory; Begin makes the [ClassPlan] for samples that are read anew in each
// pass. The zero value is ready.
//
// There are at most 64 classes: two have one function, more one each against the rest. Views
// and kernels are those of [LandmarkGP]; widths that are to be learned are those of a
// MultiGPClassifier of a few hundred samples, of several classes as one for all. The odds of
// the classes are sharpened as in [MultiGPClassifier], by samples of which each is left out.
// docs/scale.md has the mathematics, and what to expect.
type LandmarkClassifier[T comparable] struct {
	Fitting
	Landmarks

	// Classes, if not nil, are the classes in the order that models keep, as in
	// [Classifier]. The sample of Begin may lack some of them.
	Classes []T
}

// mostLandmarkClasses is the most classes of a [LandmarkClassifier].
const mostLandmarkClasses = stat.MaxOutputs

// Fit fits the model to the views of N samples and their labels. Errors are those of
// [MultiGPClassifier.Fit].
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
	return p.Fit(ctx, c.Fitting, func(yield func(LabelledRows[T], error) bool) {
		for first := 0; first < len(labels); first += pieceSamples {
			last := min(len(labels), first+pieceSamples)
			if !yield(LabelledRows[T]{labels[first:last], rowsFrom(x, first, last)}, nil) {
				return
			}
		}
	})
}

// Begin makes the plan of a fit by a sample, as [LandmarkGP.Begin] does. Where Classes is nil
// the sample has all classes.
func (c LandmarkClassifier[T]) Begin(ctx context.Context, views []View, labels []T) (*ClassPlan[T], error) {
	if ctx == nil {
		return nil, errNoContext
	}
	classes, index, err := indexLabels(c.Classes, labels)
	if err != nil {
		return nil, err
	}
	if len(classes) > mostLandmarkClasses {
		return nil, fmt.Errorf("mkl: labels: %d classes where landmarks take at most %d", len(classes), mostLandmarkClasses)
	}
	p := planning{Fitting: c.Fitting, Landmarks: c.Landmarks, name: "LandmarkClassifier"}
	p.memory = func(s Size) int64 {
		s.Outputs = len(classes)
		return c.EstimateMemory(s)
	}
	rows, err := p.sampled(views, len(labels), index)
	if err != nil {
		return nil, err
	}
	p.learn = func(views []View) ([]Kernel, error) {
		some, someOf := picked(labels, rows), picked(index, rows)
		few := sample(len(some), widthSamples, someOf, c.Seed)
		m, err := MultiGPClassifier[T]{Fitting: p.hurry(), hurried: true}.Fit(ctx, takeRows(views, few), picked(some, few))
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

// EstimateMemory returns about how many bytes a fit of the given size takes beside its data,
// its Outputs being classes.
func (c LandmarkClassifier[T]) EstimateMemory(s Size) int64 {
	return c.Landmarks.memory(&c.Fitting, s, functions(s.Outputs))
}

// commonKernels returns the kernels of several designs that differ in learned widths. A
// feature's width is that whose inverse square is the mean of theirs: what matters to one
// function matters.
func commonKernels(designs []*design) []Kernel {
	out := kernelsOf(designs[0])
	for i, k := range out {
		of := func(ds *design) []float64 {
			switch k := ds.views[i].kernel.(type) {
			case RBF:
				return k.Widths
			case Laplacian:
				return k.Widths
			}
			return nil
		}
		common := slices.Clone(of(designs[0]))
		for j := range common {
			var sum float64
			for _, ds := range designs {
				w := of(ds)[j]
				sum += 1 / float64(w*w)
			}
			common[j] = math.Sqrt(float64(len(designs)) / sum)
		}
		switch k := k.(type) {
		case RBF:
			k.Widths = common
			out[i] = k
		case Laplacian:
			k.Widths = common
			out[i] = k
		}
	}
	return out
}
