package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// spreads is a model that says how far its kernels move its predictions.
type spreads interface {
	KernelSpreads(ctx context.Context, opt mkl.PredictOptions, x ...mkl.Features) ([]float64, error)
}

// askAnyOptions predicts with options of every kind: MeanOnly leaves the means as they are, and
// the number of workers leaves all bits. Batches without samples are predicted or refused.
func askAnyOptions(p *problem, m mkl.Model) (wrong []string) {
	if _, pairs := m.(sided); pairs || len(m.Inputs()) == 0 {
		return nil
	}
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	const rows = 5
	x := p.points(m, rows)
	opt := mkl.PredictOptions{Published: p.IntN(3) == 0, Unhealed: p.IntN(3) == 0, Workers: 1}
	all, err := predictWith(m, opt, x)
	if err != nil {
		return sane(err)
	}
	wrong = append(wrong, judgePrediction(m, all)...)
	opt.Workers = pick(p.Rand, 0, 2, 3, 7, 1000, -1)
	if got, err := predictWith(m, opt, x); opt.Workers >= 0 && (err != nil || !same(got, all)) {
		complain("%+v: another prediction, %v", opt, err)
	}
	opt.MeanOnly, opt.Workers = true, 1
	if got, err := predictWith(m, opt, x); err != nil {
		complain("%+v: %v", opt, err)
	} else {
		for o := range got.mean {
			for i, v := range got.mean[o] {
				if unit := math.Sqrt(all.variance[o][i]); !(math.Abs(v-all.mean[o][i]) <= float64(1e-9*(math.Abs(v)+unit))) {
					complain("%+v: mean %g, with the variance %g", opt, v, all.mean[o][i])
				}
			}
		}
	}
	if s, ok := m.(spreads); ok {
		got, err := s.KernelSpreads(context.Background(), mkl.PredictOptions{}, x...)
		if err != nil {
			wrong = append(wrong, sane(err)...)
		}
		for k, v := range got { // NaN is documented for what is not known
			if v < 0 || math.IsInf(v, 0) {
				complain("KernelSpreads[%d] is %g", k, v)
			}
		}
	}
	none := make([]mkl.Features, len(x))
	for i, f := range x {
		none[i] = la.NewMatrix[float64](0, f.Cols)
	}
	if _, err := predictWith(m, mkl.PredictOptions{}, none); err != nil {
		wrong = append(wrong, sane(err)...)
	}
	return wrong
}

// predictWith is [predict] with options, for models of samples.
func predictWith(m mkl.Model, opt mkl.PredictOptions, x []mkl.Features) (of prediction, err error) {
	ctx := context.Background()
	switch m := m.(type) {
	case mkl.TargetModel:
		p, err := m.PredictTargets(ctx, opt, x...)
		if err != nil {
			return of, err
		}
		return prediction{mean: p.Mean, variance: p.Variance}, nil
	case mkl.ClassModel[string]:
		p, err := m.PredictClasses(ctx, opt, x...)
		if err != nil {
			return of, err
		}
		return prediction{probability: p.Probability}, nil
	case mkl.LabelModel:
		p, err := m.PredictLabels(ctx, opt, x...)
		if err != nil {
			return of, err
		}
		return prediction{probability: p.Probability}, nil
	}
	return of, fmt.Errorf("%T takes no options here", m)
}

// sums returns the attack on statistics: sums of any layout and of samples of any numbers, which do not depend on the pieces that they
// were added in.
func sums() []siege.Attack {
	return []siege.Attack{{Name: "sums of any samples", Run: func(r *rand.Rand) siege.Case { return attackSums(newProblem(r)) }}}
}

func attackSums(p *problem) siege.Case {
	l := stat.Layout{Views: []int{1 + p.IntN(5)}, Outputs: p.IntN(3)}
	if p.IntN(3) == 0 {
		l.Views = append(l.Views, 1+p.IntN(5))
	}
	if !p.mild() && p.IntN(4) == 0 {
		l.Views = pick(p.Rand, nil, []int{0}, []int{-1}, []int{math.MaxInt, math.MaxInt}, l.Views)
		l.Outputs = pick(p.Rand, -1, 65, math.MaxInt, 1)
	}
	b, err := stat.NewBuilder(l, 1+p.IntN(3))
	if err != nil {
		return refusal(err)
	}
	parts := []*stat.Statistic{}
	for range 1 + p.IntN(3) {
		s := p.samples(l, pick(p.Rand, 0, 1, 3, 10))
		if err := b.Add(s); err != nil {
			return refusal(err)
		}
		one, err := stat.NewBuilder(l, 1)
		if err == nil {
			err = one.Add(s)
		}
		if err != nil {
			return siege.Case{Wrong: []string{"alone a piece is refused: " + err.Error()}}
		}
		parts = append(parts, one.Finish())
		b.EndBlock() // sums within a block are rounded together
	}
	return siege.Case{Outcome: siege.Held, Wrong: judgeSums(p, b.Finish(), parts)}
}

// judgeSums holds a statistic to what its parts say.
func judgeSums(p *problem, whole *stat.Statistic, parts []*stat.Statistic) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	rest := whole.Clone()
	sum, err := stat.New(whole.Layout())
	if err != nil {
		return sane(err)
	}
	for _, k := range p.Perm(len(parts)) {
		if err := sum.Merge(parts[k]); err != nil {
			complain("Merge: %v", err)
		}
		if err := rest.Subtract(parts[k]); err != nil {
			complain("Subtract: %v", err)
		}
	}
	if len(wrong) == 0 && sum.Hash() != whole.Hash() {
		complain("merged in another order the sums differ")
	}
	if len(wrong) == 0 && rest.Samples() != 0 {
		complain("without its parts a statistic has %d samples", rest.Samples())
	}
	moments, err := whole.Moments()
	if err != nil {
		return append(wrong, sane(err)...)
	}
	for _, g := range moments.Groups {
		if slices.ContainsFunc(g.Sums.Data, func(v float64) bool { return v-v != 0 }) {
			complain("sums %g", g.Sums.Data)
		}
	}
	if s, err := moments.PseudoSamples(nil, pick(p.Rand, 0, 1e-3, math.NaN(), -1)); err != nil {
		wrong = append(wrong, sane(err)...)
	} else if s == nil {
		complain("neither pseudo-samples nor an error")
	}
	return wrong
}

// samples returns n samples of a layout, or of nearly that layout.
func (p *problem) samples(l stat.Layout, n int) stat.Samples {
	s := stat.Samples{Targets: la.NewMatrix[float64](l.Outputs, n)}
	value := func() float64 {
		if !p.mild() && p.IntN(10) == 0 {
			return p.number()
		}
		return p.NormFloat64()
	}
	for i := range s.Targets.Data {
		if s.Targets.Data[i] = value(); p.IntN(4) == 0 {
			s.Targets.Data[i] = math.NaN()
		}
	}
	for _, d := range l.Views {
		x := la.NewMatrix[float64](d, n)
		for i := range x.Data {
			x.Data[i] = value()
		}
		if !p.mild() && p.IntN(10) == 0 {
			x.Rows += pick(p.Rand, -1, 1, math.MaxInt/2)
		}
		s.Kernels = append(s.Kernels, x)
	}
	return s
}
