package choose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Targets is the candidate that fits an estimator of one target, such as [mkl.Auto.Fit],
// to views of all samples. A given kernel is the matrix between all samples.
func Targets[M mkl.TargetModel](name string, views []mkl.View, y []float64,
	fit func(ctx context.Context, views []mkl.View, y []float64) (M, error)) Candidate {
	return Candidate{Name: name, Learn: func(ctx context.Context, f Fold) (*Prediction, error) {
		if err := cmp.Or(checkViews(views, len(y)), f.check("Fold", len(y))); err != nil {
			return nil, err
		}
		own, err := fit(ctx, rowsOf(views, f.Train), pick(y, f.Train))
		m, err := usable[mkl.TargetModel](own, err)
		if err != nil {
			return nil, err
		}
		p, err := m.PredictTargets(ctx, mkl.PredictOptions{Workers: 1}, inputs(m, views, f)...)
		if err != nil {
			return nil, err
		}
		return OfTargets(p, 0), nil
	}}
}

// Classes is the candidate that fits a classifier, such as [mkl.AutoClassifier.Fit], to
// views of all samples. classes lists every class, in the order of [Truth]. A class without a
// training sample in a fold gets the probability 0.
func Classes[T comparable, M mkl.ClassModel[T]](name string, views []mkl.View, labels, classes []T,
	fit func(ctx context.Context, views []mkl.View, labels []T) (M, error)) Candidate {
	return Candidate{Name: name, Learn: func(ctx context.Context, f Fold) (*Prediction, error) {
		if err := cmp.Or(checkViews(views, len(labels)), f.check("Fold", len(labels))); err != nil {
			return nil, err
		}
		own, err := fit(ctx, rowsOf(views, f.Train), pick(labels, f.Train))
		m, err := usable[mkl.ClassModel[T]](own, err)
		if err != nil {
			return nil, err
		}
		p, err := m.PredictClasses(ctx, mkl.PredictOptions{Workers: 1}, inputs(m, views, f)...)
		if err != nil {
			return nil, err
		}
		return OfClasses(p.Probability, m.Classes(), classes)
	}}
}

// Each is the candidate that learns every target by itself with one(target), from the training
// samples whose value of that target is known.
func Each(name string, t Truth, one func(target int) Candidate) Candidate {
	var own []Candidate
	for o := range t.Targets {
		own = append(own, one(o))
	}
	return Candidate{Name: name, Learn: func(ctx context.Context, f Fold) (*Prediction, error) {
		p := &Prediction{}
		for o, truth := range t.Targets {
			if err := f.check("Fold", truth.samples()); err != nil {
				return nil, err
			}
			known := Fold{Train: pick(f.Train, truth.Of(f.Train).known()), Test: f.Test}
			if len(known.Train) == 0 {
				return nil, fmt.Errorf("choose: target %d is not known of any training sample", o)
			}
			one, err := own[o].Learn(ctx, known)
			if err != nil {
				return nil, fmt.Errorf("target %d: %w", o, err)
			}
			p.Targets = append(p.Targets, one)
		}
		return p, nil
	}}
}

// OfClasses is the prediction of class probabilities, with a model's own classes put in the order
// of all classes. A class that the model does not have gets the probability 0.
func OfClasses[T comparable](probability [][]float64, own, classes []T) (*Prediction, error) {
	at := make([]int, len(own))
	for k, class := range own {
		if at[k] = slices.Index(classes, class); at[k] < 0 {
			return nil, fmt.Errorf("choose: the model has the class %v, which is none of %d", class, len(classes))
		}
	}
	p := &Prediction{}
	for _, row := range probability {
		all := make([]float64, len(classes))
		for k, v := range row {
			all[at[k]] = v
		}
		p.Probability = append(p.Probability, all)
	}
	return p, nil
}

// usable returns the model of a fit, and its error unless all weights have vanished: such a model
// predicts the mean and is as valid as others.
func usable[I mkl.Model](m mkl.Model, err error) (I, error) {
	var collapsed *mkl.CollapsedError
	if errors.As(err, &collapsed) {
		m, err = collapsed.Model, nil
	}
	if err != nil {
		var none I
		return none, err
	}
	return m.(I), nil
}

// checkViews returns an error if a view does not have n samples.
func checkViews(views []mkl.View, n int) error {
	for i, v := range views {
		switch x := v.X; {
		case !x.Valid():
			return fmt.Errorf("choose: views[%d].X: a %d×%d matrix of stride %d needs more than its %d elements", i, x.Rows, x.Cols, x.Stride, len(x.Data))
		case x.Rows != n:
			return fmt.Errorf("choose: views[%d].X has %d rows, not %d", i, x.Rows, n)
		}
	}
	return nil
}

// square reports whether a view's X is a kernel or distance between all samples.
func square(v mkl.View) bool {
	return v.Kernel != nil && v.Kernel.Statistic().Kind == kernel.GivenStatistic && v.X.Rows == v.X.Cols
}

// rowsOf returns the views of the samples rows. Views of one Input share their X.
func rowsOf(views []mkl.View, rows []int) []mkl.View {
	out := slices.Clone(views)
	for i, v := range views {
		first := slices.IndexFunc(views[:i], func(w mkl.View) bool { return w.Input == v.Input })
		switch {
		case first >= 0:
			out[i].X = out[first].X
		case square(v):
			out[i].X = v.X.Take(rows, rows)
		default:
			out[i].X = v.X.TakeRows(rows)
		}
	}
	return out
}

// inputs returns the matrices for which the model predicts the test samples of a fold.
func inputs(m mkl.Model, views []mkl.View, f Fold) (x []mkl.Features) {
	for _, in := range m.Inputs() {
		v := views[in.Views[0]]
		if !square(v) {
			x = append(x, v.X.TakeRows(f.Test))
			continue
		}
		k := v.X.Take(f.Test, f.Train)
		if in.Cols == k.Cols+1 { // a last column holds the kernel of each sample with itself
			wide := la.NewMatrix[float64](k.Rows, in.Cols)
			for r, i := range f.Test {
				copy(wide.Row(r), k.Row(r))
				wide.Set(r, k.Cols, v.X.At(i, i))
			}
			k = wide
		}
		x = append(x, k)
	}
	return x
}

// Mean is the baseline that predicts the mean and the variance of the training targets.
func Mean(y []float64) Candidate {
	return Candidate{Name: "mean", Baseline: true, Learn: func(_ context.Context, f Fold) (*Prediction, error) {
		if err := f.check("Fold", len(y)); err != nil {
			return nil, err
		}
		n := float64(len(f.Train))
		var m, variance float64
		for _, i := range f.Train {
			m += y[i] / n
		}
		for _, i := range f.Train {
			variance += float64((y[i]-m)*(y[i]-m)) / max(1, n-1)
		}
		p := &Prediction{Mean: slices.Repeat([]float64{m}, len(f.Test))}
		if variance > 0 {
			p.Variance = slices.Repeat([]float64{variance * (1 + 1/n)}, len(f.Test))
		}
		return p, nil
	}}
}

// mostClasses limits the memory that a class with a large number can ask for.
const mostClasses = 1 << 24

// Frequencies is the baseline that predicts the frequency of each class among the
// training samples, by Laplace's rule: (n_k + 1)/(n + K).
func Frequencies(classes []int) Candidate {
	return Candidate{Name: "frequencies", Baseline: true, Learn: func(_ context.Context, f Fold) (*Prediction, error) {
		if len(classes) == 0 {
			return nil, errors.New("choose: there are no classes")
		}
		if err := f.check("Fold", len(classes)); err != nil {
			return nil, err
		}
		for i, k := range classes {
			if k < 0 || k >= mostClasses {
				return nil, fmt.Errorf("choose: classes[%d] is %d: classes count from 0 and are fewer than %d", i, k, mostClasses)
			}
		}
		K := slices.Max(classes) + 1
		p := make([]float64, K)
		for k := range p {
			p[k] = 1 / float64(len(f.Train)+K)
		}
		for _, i := range f.Train {
			p[classes[i]] += 1 / float64(len(f.Train)+K)
		}
		return &Prediction{Probability: slices.Repeat([][]float64{p}, len(f.Test))}, nil
	}}
}

// Ridge is the baseline of a linear function of all features: a Gaussian process with the
// linear kernel. This is ridge regression whose penalty and noise maximise the evidence.
// The kernels of the views are ignored; features are standardised.
func Ridge(views []mkl.View, y []float64) Candidate {
	c := Targets("ridge", linear(views), y, mkl.MultiGP{Fitting: mkl.Fitting{Workers: 1}}.Fit)
	c.Baseline = true
	return c
}

// LinearClasses is the baseline of a linear function of all features for classes: a Gaussian process
// classifier with the linear and the constant kernel.
func LinearClasses[T comparable](views []mkl.View, labels, classes []T) Candidate {
	c := Classes("linear", linear(views), labels, classes, mkl.MultiGPClassifier[T]{Fitting: mkl.Fitting{Workers: 1}}.Fit)
	c.Baseline = true
	return c
}

// linear returns each feature matrix of the views once, with the linear kernel, and a constant. Given
// kernel matrices stay views as they are.
func linear(views []mkl.View) (all []mkl.View) {
	for i, v := range views {
		if square(v) {
			all = append(all, v)
			continue
		}
		if !slices.ContainsFunc(views[:i], func(w mkl.View) bool { return w.Input == v.Input && w.X.Rows == v.X.Rows && w.X.Valid() && v.X.Valid() }) {
			all = append(all, mkl.View{Name: v.Name, X: v.X, Input: v.Input, Kernel: kernel.Linear{}, Standardize: true})
		}
	}
	if len(all) > 0 {
		constant := mkl.View{Name: "constant", X: all[0].X, Input: all[0].Input, Kernel: kernel.Constant{}}
		if square(all[0]) {
			constant.Input = "the constant of " + all[0].Input // whose inputs are features
		}
		all = append(all, constant)
	}
	return all
}
