package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/mkl"
)

// judgeSingles asks a model's predictor of single samples, of whatever kind, for samples
// that the model could predict: it gives numbers that are finite and probabilities, or an
// error.
func judgeSingles(m mkl.Model, x []mkl.Features) (wrong []string) {
	if len(x) == 0 || len(x[0].Data) == 0 {
		return nil
	}
	// Draws of its own: those of what comes after stay as they are.
	p := &problem{Rand: rand.New(rand.NewPCG(math.Float64bits(x[0].Data[0]), 5))}
	one := single(p, m)
	if one == nil {
		return nil
	}
	for i := range x[0].Rows {
		var rows [][]float64
		for _, f := range x {
			rows = append(rows, f.Row(i))
		}
		got, err := one(rows)
		if err != nil {
			wrong = append(wrong, sane(err)...)
			continue // the order of its sums may overflow earlier
		}
		for _, w := range judgePrediction(m, got) {
			wrong = append(wrong, fmt.Sprintf("predictor of single samples, sample %d: %s", i, w))
		}
	}
	return wrong
}

// single returns the function that predicts a single sample by a model's predictor, nil if
// it has none or none can be made.
func single(p *problem, m mkl.Model) func(x [][]float64) (prediction, error) {
	tolerance := pick(p.Rand, 0, -1, 0.5, 1e300, math.NaN())
	opt, process := mkl.PredictorOptions{Tolerance: tolerance}, mkl.ProcessPredictorOptions{Tolerance: tolerance, Exact: p.IntN(4) == 0}
	classes := func(c int, predict func(probability []float64, x ...[]float64) (string, error)) func([][]float64) (prediction, error) {
		return func(x [][]float64) (prediction, error) {
			probability := make([]float64, c)
			_, err := predict(probability, x...)
			return prediction{probability: [][]float64{probability}}, err
		}
	}
	number := func(predict func(x ...[]float64) (mean, variance float64, err error)) func([][]float64) (prediction, error) {
		return func(x [][]float64) (prediction, error) {
			mean, variance, err := predict(x...)
			return prediction{mean: [][]float64{{mean}}, variance: [][]float64{{variance}}}, err
		}
	}
	labels := func(n int, predict func(probability []float64, x ...[]float64) error) func([][]float64) (prediction, error) {
		return func(x [][]float64) (prediction, error) {
			probability := make([]float64, n)
			err := predict(probability, x...)
			return prediction{probability: [][]float64{probability}}, err
		}
	}
	switch m := m.(type) {
	case *mkl.ClassifierModel[string]:
		if one, err := m.Predictor(opt); err == nil {
			return classes(len(m.Classes()), one.Predict)
		}
	case *mkl.ProbitClassifierModel[string]:
		if one, err := m.Predictor(mkl.ProbitPredictorOptions{Draws: pick(p.Rand, 0, 1, 3), Tolerance: tolerance, Exact: process.Exact}); err == nil {
			return classes(len(m.Classes()), one.Predict)
		}
	case *mkl.MultiGPClassifierModel[string]:
		if one, err := m.Predictor(process); err == nil {
			return classes(len(m.Classes()), one.Predict)
		}
	case *mkl.LandmarkClassifierModel[string]:
		if one, err := m.Predictor(process); err == nil {
			return classes(len(m.Classes()), one.Predict)
		}
	case *mkl.PoolClassifierModel[string]:
		if one, err := m.Predictor(process); err == nil {
			return classes(len(m.Classes()), one.Predict)
		}
	case *mkl.MultiLabelModel:
		if one, err := m.Predictor(opt); err == nil {
			return labels(m.Labels(), one.Predict)
		}
	case *mkl.TaskClassifierModel:
		if one, err := m.Predictor(opt); err == nil {
			return labels(m.Labels(), one.Predict)
		}
	case *mkl.MultiGPModel:
		if one, err := m.Predictor(process); err == nil {
			return number(one.Predict)
		}
	case *mkl.PoolModel:
		if one, err := m.Predictor(process); err == nil {
			return number(one.Predict)
		}
	case *mkl.LandmarkGPModel:
		if one, err := m.Predictor(process); err == nil {
			return number(one.Predict)
		}
	case *mkl.SpikeSlabModel:
		if one, err := m.Predictor(pick(p.Rand, 0, 0.5)); err == nil {
			return number(func(x ...[]float64) (float64, float64, error) { return one.Predict(slices.Concat(x...)) })
		}
	case *mkl.MultiTaskModel:
		one, err := m.Predictor(opt)
		if err != nil {
			return nil
		}
		return func(x [][]float64) (prediction, error) {
			mean, variance := make([]float64, m.Targets()), make([]float64, m.Targets())
			err := one.Predict(mean, variance, x...)
			var all prediction
			for t := range mean {
				all.mean, all.variance = append(all.mean, mean[t:t+1]), append(all.variance, variance[t:t+1])
			}
			return all, err
		}
	}
	return nil
}
