package mkl

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
)

// This file holds what [PairRegression] and [PairClassifier] have in common: pairs of a row and a
// column, and views of rows and of columns.

// defaultComponents is the default number of components.
const defaultComponents = 5

// components checks and returns the number of components.
func components(n int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("mkl: Components is %d: it must not be negative", n)
	}
	if n == 0 {
		return defaultComponents, nil
	}
	return n, nil
}

// pairData holds a fit's pairs and the kernels of both sides.
type pairData struct {
	y             la.Matrix[float64] // rows × columns, NaN where nothing is observed
	seen          []float64          // the observed values, row by row
	rows, columns *gram.Training
	kx, kz        gram.Held
}

// gatherPairs checks the views and the pairs of a fit with the given number of components, and computes the kernels.
func (f *fitting) gatherPairs(ctx context.Context, rows, columns []View, y Table, components int) (*pairData, error) {
	if y == nil {
		return nil, fmt.Errorf("mkl: y: nil")
	}
	n, m := y.Dims()
	p := &pairData{}
	for _, side := range []struct {
		name  string
		views []View
		n     int
		t     **gram.Training
	}{{"rows", rows, n, &p.rows}, {"columns", columns, m, &p.columns}} {
		t, err := bindViews(side.views, side.n, false)
		if err == nil {
			err = t.CheckFixed()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", side.name, err)
		}
		*side.t = t
	}
	need := f.pairMemory(
		FitSize{Samples: n, Basis: p.rows.D, Kernels: len(rows)}, FitSize{Samples: m, Basis: p.columns.D, Kernels: len(columns)}, components)
	if err := f.check(need); err != nil {
		return nil, err
	}
	o, err := observe(y)
	if err != nil {
		return nil, err
	}
	p.y = la.NewMatrix[float64](n, m)
	p.y.Fill(math.NaN())
	for i := range n {
		at, values := o.Object(i)
		for j, c := range at {
			p.y.Set(i, c, values[j])
		}
		p.seen = append(p.seen, values...)
	}
	free := func(FitSize) int64 { return 0 } // the memory of both sides together has been checked
	if p.kx, err = f.weightedKernels(ctx, p.rows, components, free); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	if p.kz, err = f.weightedKernels(ctx, p.columns, components, free); err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	return p, nil
}

// pairMemory estimates the bytes of a fit.
func (f *fitting) pairMemory(rows, columns FitSize, components int) int64 {
	n, m, r := float64(rows.Samples), float64(columns.Samples), float64(components)
	own := inBytes(float64(7*n*m) + float64((n+m)*r*(float64(6*r)+8))) // values, places and fitted values; factors
	sum := own
	for _, side := range []FitSize{rows, columns} {
		more := f.kernelMemory(side, components)
		sum = min(sum, math.MaxInt64-more) + more
	}
	return sum
}

// PairSide says which rows, or which columns, of pairs are predicted. The zero value means all rows, or columns,
// of the fit.
type PairSide struct {
	// X are new rows or columns: a matrix for each distinct X of the side's views, with a line for each of them.
	X []Features

	// Known are indices of rows, or columns, of the fit. It is used if
	// X is nil; nil means all. Their observed pairs count in the prediction.
	Known []int
}

// PairPrediction holds predictions [row][column] in the units of the values.
type PairPrediction struct {
	Mean     [][]float64 // of the value
	Variance [][]float64 // of the value with its noise; nil with MeanOnly
}

// PairLabelPrediction holds predictions [row][column] of a label that a pair has or has not.
type PairLabelPrediction struct {
	Probability [][]float64 // that the pair has the label; nil with MeanOnly
	Decision    [][]float64 // the mean of the label's score
}

// lines returns the rows of x, which share its memory.
func lines(x la.Matrix[float64]) [][]float64 {
	if x.Rows == 0 {
		return nil
	}
	out := make([][]float64, x.Rows)
	for i := range out {
		out[i] = x.Row(i)
	}
	return out
}

// ofPairs returns the options that models of pairs support.
func (opt PredictOptions) ofPairs() vi.PredictOptions {
	return vi.PredictOptions{MeanOnly: opt.MeanOnly, Workers: opt.Workers}
}
