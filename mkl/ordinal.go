package mkl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Ordinal is the multiple Gaussian process model for grades: classes in order, such as stages of a disease or answers
// from "never" to "always", whose distances are not known. A grade says between which cut points a sum of one Gaussian
// process for each view lies, with standard normal noise:
//
//	P(y ≤ k) = Φ(c_k − Σ_p f_p(x)).
//
// The kernels' weights, the cut points and learned length scales maximise the evidence, which expectation propagation
// estimates. One function serves all grades. The cost and effects of codes are as in [Survival]. The zero value is ready to fit
// grades that are numbers. The fit has no random start: Seed chooses the landmarks of many samples.
//
// Source: W. Chu and Z. Ghahramani, "Gaussian processes for ordinal regression", JMLR 6 (2005);
// docs/theory/likelihoods.md derives the moments; the model is the one of [MultiGP].
type Ordinal[T comparable] struct {
	Fitting
	Climb

	// Grades holds the grades from the lowest to the highest. Some of them may have no sample. nil means the numbers among the
	// labels, in ascending order; for labels that are not numbers it is an error.
	Grades []T

	// Landmarks is the number of samples that are landmarks. 0 means an exact fit of at most [DefaultExactSamples] samples, and
	// [ObservationLandmarks] of more. If there are no more samples than Landmarks, the fit is exact.
	Landmarks int

	Groups       []ViewGroup   // as in [Auto]
	MissingViews bool          // as in [Regression]
	Storage      KernelStorage // as in [Regression]
}

// Fit fits the model to the views of N samples and their grades. It returns the errors that [MultiGPClassifier.Fit]
// returns.
func (o Ordinal[T]) Fit(ctx context.Context, views []View, grades []T) (*OrdinalModel[T], error) {
	order := o.Grades
	if order == nil {
		var err error
		if order, err = ascending(grades); err != nil {
			return nil, err
		}
	}
	classes, index, err := indexLabels(order, grades)
	if err != nil {
		return nil, err
	}
	m, err := o.problem().fit(ctx, views, [][]float64{vec.Floats(index)}, mgp.Ordinal{Y: index, Grades: len(classes)})
	if m == nil {
		return nil, err
	}
	return &OrdinalModel[T]{*m, classSet[T]{names: classes}}, err
}

// ascending returns the distinct labels in ascending order, if they are numbers.
func ascending[T comparable](labels []T) ([]T, error) {
	var less func(a, b reflect.Value) bool
	switch kind := reflect.TypeFor[T]().Kind(); {
	case kind >= reflect.Int && kind <= reflect.Int64:
		less = func(a, b reflect.Value) bool { return a.Int() < b.Int() }
	case kind >= reflect.Uint && kind <= reflect.Uintptr:
		less = func(a, b reflect.Value) bool { return a.Uint() < b.Uint() }
	case kind == reflect.Float32 || kind == reflect.Float64:
		less = func(a, b reflect.Value) bool { return a.Float() < b.Float() }
	default:
		return nil, errors.New("mkl: Grades is nil, and the labels are not numbers: it must name the grades from the lowest to the highest")
	}
	hashable := hashableClass[T]()
	seen := map[T]bool{}
	var out []T
	for i, label := range labels {
		if err := hashable(label); err != nil {
			return nil, fmt.Errorf("mkl: labels[%d]: %w", i, err)
		}
		if !seen[label] {
			seen[label] = true
			out = append(out, label)
		}
	}
	slices.SortFunc(out, func(a, b T) int {
		x, y := reflect.ValueOf(a), reflect.ValueOf(b)
		switch {
		case less(x, y):
			return -1
		case less(y, x):
			return 1
		}
		return 0
	})
	return out, nil
}

// EstimateMemory returns about how many bytes a fit of the given size takes. Outputs of the size has no effect.
func (o Ordinal[T]) EstimateMemory(size FitSize) int64 { return o.problem().memory(size) }

func (o *Ordinal[T]) problem() *processObservations {
	return newProcessObservations(o.Fitting, o.Climb, o.Groups, o.MissingViews, o.Storage, o.Landmarks)
}
