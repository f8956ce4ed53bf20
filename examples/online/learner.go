package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
)

// day is the samples of a day.
type day struct {
	x mkl.Features
	y []float64
}

// measure is day d of the plant: what it gives is a function of two settings, which drifts, with noise.
func measure(d int) day {
	const samples = 200
	rng := rand.New(rand.NewPCG(uint64(d), 7))
	drift := float64(d) / 60
	m := day{x: la.NewMatrix[float64](samples, 2), y: make([]float64, samples)}
	for i := range samples {
		a, b := 4*rng.Float64()-2, 4*rng.Float64()-2
		m.x.Set(i, 0, a)
		m.x.Set(i, 1, b)
		m.y[i] = math.Sin(2*a+drift) + 0.5*b + 0.1*rng.NormFloat64()
	}
	return m
}

// learner knows the days of the window by their sums, and no sample.
type learner struct {
	plan  *mkl.Plan
	days  []*stat.Statistic // the oldest first
	sums  *stat.Statistic   // over all of them
	model *mkl.LandmarkGPModel
}

// begin makes the plan of the first days, kernels and landmarks, and learns of them.
func begin(ctx context.Context, days []day) (*learner, error) {
	g := mkl.LandmarkGP{Landmarks: &mkl.Landmarks{Count: 60}}
	plan, err := g.Begin(ctx, []mkl.View{{X: days[0].x, Kernel: kernel.RBF{}}, {X: days[0].x, Kernel: kernel.Linear{}}}, days[0].y)
	if err != nil {
		return nil, err
	}
	l := &learner{plan: plan, sums: &stat.Statistic{}}
	for _, d := range days {
		if err := l.add(d); err != nil {
			return nil, err
		}
	}
	l.model, err = plan.Fit(ctx, mkl.PlanFitting{}, l.sums)
	return l, err
}

// add adds the sums of a day.
func (l *learner) add(d day) error {
	b, err := l.plan.Builder(0)
	if err != nil {
		return err
	}
	if err := b.Add(d.y, d.x); err != nil {
		return err
	}
	s, err := b.Finish()
	if err != nil {
		return err
	}
	l.days = append(l.days, s)
	return l.sums.Merge(s)
}

// learn adds today, takes away the day that leaves the window, and fits anew.
func (l *learner) learn(ctx context.Context, today day) (err error) {
	if err := l.add(today); err != nil {
		return err
	}
	if err := l.sums.Subtract(l.days[0]); err != nil {
		return err
	}
	l.days = l.days[1:]
	l.model, err = l.model.Refit(ctx, mkl.PlanFitting{}, l.sums)
	return err
}

// miss is the root mean squared error of a model's predictions of a day.
func miss(m *mkl.LandmarkGPModel, d day) (float64, error) {
	mean, _, err := m.Predict(d.x)
	if err != nil {
		return 0, err
	}
	total := 0.0
	for i := range mean {
		total += (mean[i] - d.y[i]) * (mean[i] - d.y[i])
	}
	return math.Sqrt(total / float64(len(mean))), nil
}
