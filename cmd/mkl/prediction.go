package main

import (
	"context"
	"math"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/measure"
	"github.com/bmkl/bmkl/mkl"
)

// prediction is what a model predicts: numbers, classes or labels.
type prediction interface {
	// columns adds what mkl predict prints. Targets are the names of what was
	// predicted; a number has an interval of the given probability.
	columns(out *columns, targets []string, interval float64)

	// measure compares the prediction with the truth in columns of f, which were read.
	measure(ev *evaluation, f *console.File, truth []int, targets []string) error
}

// predict predicts with a model of any kind.
func predict(ctx context.Context, m mkl.Model, opt mkl.PredictOptions, x []mkl.Features) (prediction, error) {
	switch m := m.(type) {
	case mkl.TargetModel:
		p, err := m.PredictTargets(ctx, opt, x...)
		return numberPrediction{p}, err
	case mkl.ClassModel[string]:
		p, err := m.PredictClasses(ctx, opt, x...)
		return classPrediction{p, m.Classes()}, err
	case mkl.LabelModel:
		p, err := m.PredictLabels(ctx, opt, x...)
		return labelPrediction{p}, err
	}
	return nil, console.Inputf("the command does not know how to predict with %v", m)
}

type (
	numberPrediction struct{ *mkl.Prediction }
	classPrediction  struct {
		*mkl.ClassPrediction[string]
		classes []string
	}
	labelPrediction struct{ *mkl.LabelPrediction }
)

func (p numberPrediction) columns(out *columns, targets []string, interval float64) {
	z := measure.Quantile(interval)
	for o, target := range targets {
		prefix := ""
		if len(targets) > 1 {
			prefix = target + "_"
		}
		mean, sd := p.Mean[o], make([]float64, len(p.Mean[o]))
		for i, v := range p.Variance[o] {
			sd[i] = math.Sqrt(v)
		}
		out.addNumber(prefix+"mean", func(i int) float64 { return mean[i] })
		out.addNumber(prefix+"sd", func(i int) float64 { return sd[i] })
		out.addNumber(prefix+"lower", func(i int) float64 { return mean[i] - float64(z*sd[i]) })
		out.addNumber(prefix+"upper", func(i int) float64 { return mean[i] + float64(z*sd[i]) })
	}
}

func (p classPrediction) columns(out *columns, _ []string, _ float64) {
	out.add("label", func(i int) string { return p.Label[i] })
	for k, class := range p.classes {
		out.addProbability("p_"+class, func(i int) float64 { return p.Probability[i][k] })
	}
}

func (p labelPrediction) columns(out *columns, targets []string, _ float64) {
	for o, target := range targets {
		out.add(target, func(i int) string {
			if p.Label[o][i] {
				return "1"
			}
			return "0"
		})
		out.addProbability("p_"+target, func(i int) float64 { return p.Probability[o][i] })
	}
}
