package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// given returns the attack on kernels that a caller gives as matrices of rounded numbers, as files of text hold them. Such a matrix is
// not quite positive semidefinite, and the row of a new sample does not quite fit to it.
func given() []siege.Attack {
	return []siege.Attack{{Name: "given kernels, rounded", Run: func(r *rand.Rand) siege.Case {
		p := &problem{Rand: r, n: pick(r, 5, 12, 20, 33, 60)}
		return p.askGiven()
	}}}
}

// rounded are kernels of some samples, and of new ones with them, rounded to a number of decimals.
type rounded struct {
	train mkl.View
	test  mkl.Features
}

// roundedKernels returns one to three kernels of n samples of two features, with rows for a number of new samples.
func (p *problem) roundedKernels(tests int) (all []rounded, x mkl.Features) {
	x, z := p.normal(2), la.NewMatrix[float64](tests, 2)
	for i := range z.Data {
		z.Data[i] = float64(2 * p.NormFloat64())
	}
	for range 1 + p.IntN(3) {
		similar := p.similarity()
		unit := math.Pow(10, float64(pick(p.Rand, 3, 4, 6, 8)))
		of := func(a, b []float64) float64 { return math.Round(similar(a, b)*unit) / unit }
		k := rounded{
			train: mkl.View{Name: fmt.Sprint("kernel ", len(all)), X: la.NewMatrix[float64](p.n, p.n), Kernel: kernel.Precomputed{AllowIndefinite: p.IntN(3) == 0}},
			test:  la.NewMatrix[float64](tests, p.n+1),
		}
		for i := range p.n {
			for j := range p.n {
				k.train.X.Set(i, j, of(x.Row(i), x.Row(j)))
			}
		}
		for i := range tests {
			for j := range p.n {
				k.test.Set(i, j, of(z.Row(i), x.Row(j)))
			}
			k.test.Set(i, p.n, of(z.Row(i), z.Row(i)))
		}
		all = append(all, k)
	}
	return all, x
}

// askGiven fits an estimator to rounded kernels, and holds predictors of single samples to their bounds.
func (p *problem) askGiven() siege.Case {
	const tests = 8
	kernels, x := p.roundedKernels(tests)
	var views []mkl.View
	var rows []mkl.Features
	for _, k := range kernels {
		views, rows = append(views, k.train), append(rows, k.test)
	}
	y, labels := make([]float64, p.n), make([]string, p.n)
	for i := range y {
		y[i] = x.At(i, 0) + float64(0.1*p.NormFloat64())
		labels[i] = fmt.Sprint(y[i]+float64(0.3*p.NormFloat64()) > 0)
	}
	labels[0], labels[1] = "true", "false"
	m, err := p.fitGiven(views, y, labels)
	if m == nil {
		return refusal(err)
	}
	c := siege.Case{Outcome: siege.Held}
	_, c.Wrong = judgeFile(m)
	all, err := predict(m, rows)
	if err != nil {
		c.Wrong = append(c.Wrong, sane(err)...)
		return c
	}
	c.Wrong = append(c.Wrong, judgePrediction(m, all)...)
	c.Wrong = append(c.Wrong, boundsHold(m, p.predictorOptions(), rows, all, fmt.Sprint("given kernels of ", m.Kind()))...)
	return c
}

// fitGiven fits one of the estimators that take given kernels and have predictors of single samples.
func (p *problem) fitGiven(views []mkl.View, y []float64, labels []string) (mkl.Model, error) {
	ctx, f := context.Background(), p.fitting()
	switch p.IntN(6) {
	case 0:
		return some(with(f, mkl.Regression{}).Fit(ctx, views, y))
	case 1:
		return some(with(f, mkl.Classifier[string]{}).Fit(ctx, views, labels))
	case 2:
		return some(with(f, mkl.MultiGPClassifier[string]{}).Fit(ctx, views, labels))
	case 3:
		return some(with(f, mkl.ProbitClassifier[string]{Rule: p.rule()}).Fit(ctx, views, labels))
	}
	return some(with(f, mkl.MultiGP{Noise: pick(p.Rand, mkl.ConstantNoise, mkl.VaryingNoise, mkl.HeavyNoise)}).Fit(ctx, views, y))
}
