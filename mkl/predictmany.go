package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// blockSamples is the number of samples of a block of PredictMany. The kernels of a block, in float32, and a panel of a triangle are
// in the second cache together.
const blockSamples = 32

// PredictMany predicts the samples in the rows of x, which has a matrix for each of the model's Inputs, with bounds as
// [Predictor.PredictWithBound] returns them, in less time than for one sample after the other. Products with triangles are for
// blocks of samples, and Gaussian processes use float32. Samples for which that is not enough take longer. A model of one target with weighted kernels
// or with landmarks predicts all of these together: it is then faster than a predictor.
//
// A sample predicted alone may get another prediction, within the bounds. Predictions do not depend on the workers (0: as many as
// processors) nor on the other samples. An error names a row: the first with a value that is not finite, or one whose prediction is not.
func (p *Predictor) PredictMany(ctx context.Context, workers int, x ...Features) ([]BoundedPrediction, error) {
	n, err := samplesOf(x)
	if err != nil {
		return nil, err
	}
	out, beyond := make([]BoundedPrediction, n), make([]bool, n)
	err = predictRows(ctx, workers, x, func(at func(i int) [][]float64, failures []error) func(first, last int) {
		predict := p.blocks()
		return func(first, last int) {
			var some []bool
			if p.list != nil {
				some = beyond[first:last]
			}
			predict(first, last, at, out[first:last], failures[first:last], some)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := p.byModel(ctx, workers, x, beyond, out); err != nil {
		return nil, err
	}
	return out, nil
}

// blockPredictor predicts the samples from first to last−1. Where beyond is not nil it may leave samples for the model.
type blockPredictor func(first, last int, at func(i int) [][]float64, out []BoundedPrediction, failures []error, beyond []bool)

// blocks returns what predicts blocks of samples for one caller.
func (p *Predictor) blocks() blockPredictor {
	if p.weights != nil {
		return p.weights.blocks().predict
	}
	if p.mixture != nil {
		if b := p.mixture.blocks(); b != nil {
			return b.predict
		}
	}
	return func(first, last int, at func(i int) [][]float64, out []BoundedPrediction, failures []error, beyond []bool) {
		for r := range out {
			x := at(first + r)
			if beyond == nil {
				out[r], failures[r] = p.PredictWithBound(x...)
				continue
			}
			failures[r], beyond[r] = checkPoint(p.mixture.inputs, x), true // on landmarks: weighted kernels have blocks
		}
	}
}

// listModel predicts the only target of samples by the model, with the options of a predictor.
type listModel func(ctx context.Context, workers int, x []Features) (*Prediction, error)

// newListModel returns the list of a model with one target.
func newListModel(m TargetModel, opt PredictorOptions) listModel {
	own := PredictOptions{MeanOnly: opt.MeanOnly, Published: opt.Published, Unhealed: opt.Unhealed}
	return func(ctx context.Context, workers int, x []Features) (*Prediction, error) {
		own := own
		own.Workers = workers
		return m.PredictTargets(ctx, own, x...)
	}
}

// byModel predicts some samples by the model, all together.
func (p *Predictor) byModel(ctx context.Context, workers int, x []Features, which []bool, out []BoundedPrediction) error {
	var rows []int
	for i, w := range which {
		if w {
			rows = append(rows, i)
		}
	}
	if rows == nil {
		return nil
	}
	some := slices.Clone(x)
	if len(rows) < len(which) {
		for j := range x {
			some[j] = x[j].TakeRows(rows)
		}
	}
	of, err := p.list(ctx, workers, some)
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("mkl: PredictMany: %w", err)
	case err != nil: // single predictions find the row
		return predictRows(ctx, 1, x, func(at func(i int) [][]float64, failures []error) func(first, last int) {
			return func(first, last int) {
				for i := first; i < last; i++ {
					if which[i] {
						out[i], failures[i] = p.PredictWithBound(at(i)...)
					}
				}
			}
		})
	}
	for j, i := range rows {
		out[i] = BoundedPrediction{Mean: of.Mean[0][j], Variance: math.NaN()}
		if of.Variance != nil {
			out[i].Variance = of.Variance[0][j]
		}
	}
	return nil
}

// ManyClasses are the predictions of many samples by [ClassPredictor.PredictMany], each with a bound on its error.
type ManyClasses[T comparable] struct {
	Class       []T         // by sample, the most probable
	Probability [][]float64 // by sample, of each class
	Bound       []float64   // by sample, on the difference of any probability from the model's
}

// PredictMany predicts the samples in the rows of x, which has a matrix for each of the model's Inputs, as
// [ClassPredictor.PredictWithBound] does. Gaussian processes of few training samples compute variances for blocks of samples, in less time
// than for one sample after the other. A sample predicted alone may get other probabilities, within the bounds. Predictions do not depend
// on the workers (0: as many as processors) nor on the other samples. An error names the first row that has one.
func (p *ClassPredictor[T]) PredictMany(ctx context.Context, workers int, x ...Features) (*ManyClasses[T], error) {
	n, err := samplesOf(x)
	if err != nil {
		return nil, err
	}
	all := la.NewMatrix[float64](n, p.classes())
	out := &ManyClasses[T]{Class: make([]T, n), Probability: make([][]float64, n), Bound: make([]float64, n)}
	for i := range out.Probability {
		out.Probability[i] = all.Row(i)
	}
	err = predictRows(ctx, workers, x, func(at func(i int) [][]float64, failures []error) func(first, last int) {
		if p.processes != nil {
			if b := p.processes.blocks(); b != nil {
				return func(first, last int) { b.predict(first, last, at, out, failures[first:last]) }
			}
		}
		return func(first, last int) {
			for i := first; i < last; i++ {
				out.Class[i], out.Bound[i], failures[i] = p.PredictWithBound(out.Probability[i], at(i)...)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// classes returns the number of classes.
func (p *ClassPredictor[T]) classes() int {
	switch {
	case p.scores != nil:
		return len(p.scores.classes)
	case p.processes != nil:
		return len(p.processes.classes)
	}
	return len(p.probit.classes)
}

// samplesOf returns the number of samples in matrices that must be laid out alike.
func samplesOf(x []Features) (int, error) {
	if len(x) == 0 {
		return 0, errors.New("mkl: no input matrices")
	}
	for i := range x {
		arg := "x[" + strconv.Itoa(i) + "]"
		if x[i].Rows != x[0].Rows {
			return 0, fmt.Errorf("mkl: %s: %d samples where x[0] has %d", arg, x[i].Rows, x[0].Rows)
		}
		if err := gram.CheckLayout(arg, x[i]); err != nil {
			return 0, err
		}
	}
	return x[0].Rows, nil
}

// predictRows predicts the rows of x in blocks, spread over workers. newTask returns the memory of a worker as a function of the ends of a block;
// at returns a row, and failures are by row.
func predictRows(ctx context.Context, workers int, x []Features, newTask func(at func(i int) [][]float64, failures []error) func(first, last int)) error {
	failures := make([]error, x[0].Rows)
	err := gram.InBlocks(ctx, workers, len(failures), blockSamples, func() func(int, int) {
		row := make([][]float64, len(x))
		return newTask(func(i int) [][]float64 {
			for j := range x {
				row[j] = x[j].Row(i)
			}
			return row
		}, failures)
	})
	if err != nil {
		return fmt.Errorf("mkl: PredictMany: %w", err)
	}
	if i := slices.IndexFunc(failures, func(err error) bool { return err != nil }); i >= 0 {
		return ofRow(failures[i], i)
	}
	return nil
}

// ofRow returns the error of a sample that is row i of matrices.
func ofRow(err error, i int) error {
	var value *ValueError
	if errors.As(err, &value) {
		return &ValueError{Arg: value.Arg, Row: i, Col: value.Row, Value: value.Value}
	}
	return fmt.Errorf("%w (row %d)", err, i)
}
