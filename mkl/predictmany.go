package mkl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// blockSamples is the number of samples of a block of [Predictor.PredictMany]. The kernels of a block, in float32, and a panel of a triangle are
// in the second cache together.
const blockSamples = 32

// PredictMany predicts the samples in the rows of x, which has a matrix for each of the model's Inputs, with bounds as
// [Predictor.PredictWithBound] returns them. Gaussian processes compute variances for blocks of samples, in float32, in less time than for
// one sample after the other; samples for which float32 is not enough take more time than by the model. A sample predicted alone may get
// another prediction, within the bounds. Predictions do not depend on the workers (0: as many as processors) nor on the other
// samples. An error names the first row that has one.
func (p *Predictor) PredictMany(ctx context.Context, workers int, x ...Features) ([]BoundedPrediction, error) {
	if len(x) == 0 {
		return nil, errors.New("mkl: no input matrices")
	}
	for i := range x {
		arg := "x[" + strconv.Itoa(i) + "]"
		if x[i].Rows != x[0].Rows {
			return nil, fmt.Errorf("mkl: %s: %d samples where x[0] has %d", arg, x[i].Rows, x[0].Rows)
		}
		if err := gram.CheckLayout(arg, x[i]); err != nil {
			return nil, err
		}
	}
	out, failures := make([]BoundedPrediction, x[0].Rows), make([]error, x[0].Rows)
	err := gram.InBlocks(ctx, workers, len(out), blockSamples, func() func(int, int) {
		row := make([][]float64, len(x))
		at := func(i int) [][]float64 {
			for j := range x {
				row[j] = x[j].Row(i)
			}
			return row
		}
		if p.mixture != nil {
			if b := p.mixture.blocks(); b != nil {
				return func(first, last int) { b.predict(first, last, at, out[first:last], failures[first:last]) }
			}
		}
		return func(first, last int) {
			for i := first; i < last; i++ {
				out[i], failures[i] = p.PredictWithBound(at(i)...)
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("mkl: PredictMany: %w", err)
	}
	if i := slices.IndexFunc(failures, func(err error) bool { return err != nil }); i >= 0 {
		return nil, ofRow(failures[i], i)
	}
	return out, nil
}

// ofRow returns the error of a sample that is row i of matrices.
func ofRow(err error, i int) error {
	var value *ValueError
	if errors.As(err, &value) {
		return &ValueError{Arg: value.Arg, Row: i, Col: value.Row, Value: value.Value}
	}
	return fmt.Errorf("%w (row %d)", err, i)
}
