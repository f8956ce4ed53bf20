package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/mkl"
)

// judgeSingles asks a model's predictor of single samples, of whatever kind, for samples
// that the model could predict: it gives numbers that are finite and probabilities, or an
// error.
func judgeSingles(m mkl.Model, x []mkl.Features) (wrong []string) {
	if len(x) == 0 || len(x[0].Data) == 0 {
		return nil
	}
	// Draws of its own, so that the draws of later attacks do not depend on these.
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
	opt := mkl.PredictorOptions{
		Tolerance: pick(p.Rand, 0, -1, 0.5, 1e300, math.NaN()), Exact: p.IntN(4) == 0, Draws: pick(p.Rand, 0, 1, 3), Inclusion: pick(p.Rand, 0, 0.5),
	}
	switch m := m.(type) {
	case interface {
		Classes() []string
		Predictor(mkl.PredictorOptions) (*mkl.ClassPredictor[string], error)
	}:
		if one, err := m.Predictor(opt); err == nil {
			return func(x [][]float64) (prediction, error) {
				probability := make([]float64, len(m.Classes()))
				_, err := one.Predict(probability, x...)
				return prediction{probability: [][]float64{probability}}, err
			}
		}
	case interface {
		Labels() int
		Predictor(mkl.PredictorOptions) (*mkl.LabelPredictor, error)
	}:
		if one, err := m.Predictor(opt); err == nil {
			return func(x [][]float64) (prediction, error) {
				probability := make([]float64, m.Labels())
				err := one.Predict(probability, x...)
				return prediction{probability: [][]float64{probability}}, err
			}
		}
	case interface {
		Predictor(mkl.PredictorOptions) (*mkl.Predictor, error)
	}:
		if one, err := m.Predictor(opt); err == nil {
			return func(x [][]float64) (prediction, error) {
				mean, variance, err := one.Predict(x...)
				return prediction{mean: [][]float64{{mean}}, variance: [][]float64{{variance}}}, err
			}
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
