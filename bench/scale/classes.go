package main

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/internal/cputime"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// levels are where classes part: the class is the number of levels below f + N(0, 1)/slope.
func levels(classes int) (at []float64) {
	for c := 1; c < classes; c++ {
		at = append(at, level+0.35*(float64(c)-float64(classes)/2))
	}
	return at
}

// classesOf draws classes of samples with function f.
func (g generator) classesOf(f, at []float64) (class []int) {
	for _, f := range f {
		v, c := f+g.src.NormFloat64()/slope, 0
		for c < len(at) && v > at[c] {
			c++
		}
		class = append(class, c)
	}
	return class
}

// probabilityOf returns the probability of a class.
func probabilityOf(f float64, class int, at []float64) float64 {
	below := func(c int) float64 {
		switch {
		case c < 0:
			return 0
		case c == len(at):
			return 1
		}
		return special.Exp(special.LogNormalCDF(slope * (at[c] - f)))
	}
	return below(class) - below(class-1)
}

// learnClasses fits a mkl.LandmarkClassifier of default settings to n samples, which are drawn anew in
// every pass, and prints its cost and its score after each number of passes, 0 being as many as it
// takes; and beside it the exact classifier of some samples, unless that is 0.
func learnClasses(ctx context.Context, seed uint64, n, landmarks, classes int, passesOf []int, exact, workers int) error {
	at := levels(classes)
	draw := func(stream uint64, n int) iter.Seq2[mkl.ClassRows[int], []float64] {
		return func(yield func(mkl.ClassRows[int], []float64) bool) {
			g := generator{src: rand.New(rand.NewPCG(seed, stream))}
			for first := 0; first < n; first += piece {
				x := la.NewMatrix[float64](min(piece, n-first), inputs)
				_, f := g.draw(x)
				if !yield(mkl.ClassRows[int]{Labels: g.classesOf(f, at), X: []mkl.Features{x}}, f) {
					return
				}
			}
		}
	}
	whole := func(stream uint64, n int) (x mkl.Features, class []int, f []float64) {
		x = la.NewMatrix[float64](n, inputs)
		for r, values := range draw(stream, n) {
			x.Slice(len(class), len(class)+len(values), 0, inputs).CopyFrom(r.X[0])
			class, f = append(class, r.Labels...), append(f, values...)
		}
		return x, class, f
	}
	passes := 0
	rows := func(yield func(mkl.ClassRows[int], error) bool) {
		passes++
		for r := range draw(2, n) {
			if !yield(r, nil) {
				return
			}
		}
	}
	points, want, f := whole(3, testSamples)
	report := func(name string, m mkl.ClassModel[int]) error {
		p, err := m.PredictClasses(ctx, mkl.PredictOptions{Workers: workers}, points)
		if err != nil {
			return err
		}
		var loss, truth, wrong float64
		order := m.Classes()
		for i, c := range want {
			loss -= special.Log(p.Probability[i][slices.Index(order, c)]) / testSamples
			truth -= special.Log(probabilityOf(f[i], c, at)) / testSamples
			if p.Label[i] != c {
				wrong++
			}
		}
		fmt.Printf("%s: mean log loss %.5f, of the truth %.5f; errors %.4f\n", name, loss, truth, wrong/testSamples)
		return nil
	}

	t := start()
	x, class, _ := whole(4, mkl.DefaultPlanSamples)
	c := mkl.LandmarkClassifier[int]{Fitting: mkl.Fitting{Workers: workers}, Landmarks: &mkl.Landmarks{Count: landmarks}}
	pl, err := c.Begin(ctx, []mkl.View{{X: x}}, class)
	if err != nil {
		return err
	}
	fmt.Printf("%v: %v\n", pl, t)
	t = start()
	sums, err := pl.Sum(ctx, workers, rows)
	if err != nil {
		return err
	}
	fmt.Printf("pass for the sums: %v\n", t)
	for _, most := range passesOf {
		t, passes = start(), 0
		m, err := pl.Fit(ctx, mkl.ClassPlanFitting{Fitting: mkl.Fitting{Workers: workers}, MaxPasses: most}, rows, sums)
		if err != nil {
			return err
		}
		if err := report(fmt.Sprintf("%d passes (%s, sharpness %.3f): %v", passes, m.Trace().Reason, m.Sharpness(), t), m); err != nil {
			return err
		}
		if most == 0 {
			fmt.Printf("peak memory %.0f MB\n", cputime.PeakMegabytes())
		}
	}
	if exact == 0 {
		return nil
	}
	t = start()
	x, class, _ = whole(2, exact)
	views, _, err := mkl.FillViews(mkl.KernelsARD, []mkl.View{{X: x}})
	if err != nil {
		return err
	}
	m, err := mkl.MultiGPClassifier[int]{Fitting: mkl.Fitting{Workers: workers}}.Fit(ctx, views, class)
	if err != nil {
		return err
	}
	return report(fmt.Sprintf("the exact model of %d samples: %v", exact, t), m)
}
