package main

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// runObserved measures the probabilities of models of times, a part of them censored, of counts and of grades, so many problems of each.
func runObserved(problems, samples, views int) error {
	for kind, name := range []string{"times", "counts", "grades"} {
		var bins bins
		for i := range problems {
			src := rand.New(rand.NewPCG(uint64(i), 78+uint64(kind)))
			of, f, truth := viewsOf(src, samples, views)
			of, _, err := mkl.FillViews(0, of)
			if err != nil {
				return err
			}
			table, err := judged(src, name, of, f)
			if err != nil {
				return err
			}
			for v, w := range table {
				bins.add(w.In, truth[v])
			}
		}
		bins.print(name)
	}
	return nil
}

// judged returns the table of the views of observations that the function f made. Noise has a tenth to three times the deviation of a function.
func judged(src *rand.Rand, name string, views []mkl.View, f []float64) ([]mkl.ViewShare, error) {
	noise := math.Pow(10, 1.5*src.Float64()-1)
	y := make([]float64, len(f))
	for i, v := range f {
		y[i] = v + noise*src.NormFloat64()
	}
	order := slices.Sorted(slices.Values(y))
	quantile := func(q float64) float64 { return order[int(q*float64(len(y)))] }
	switch name {
	case "times":
		limit := quantile(0.6)
		var times []mkl.Lifetime
		for _, v := range y {
			t := mkl.Lifetime{From: math.Exp(min(v, limit)), To: math.Exp(v)}
			if v > limit {
				t.To = math.Inf(1)
			}
			times = append(times, t)
		}
		m, err := mkl.Survival{}.Fit(context.Background(), views, times)
		if err != nil {
			return nil, err
		}
		return m.Views(), nil
	case "counts":
		counts := make([]float64, len(y))
		for i, v := range y {
			counts[i] = poisson(src, math.Exp(min(1+v, 6)))
		}
		m, err := mkl.Counts{}.Fit(context.Background(), views, counts)
		if err != nil {
			return nil, err
		}
		return m.Views(), nil
	}
	grades := make([]int, len(y))
	for i, v := range y {
		for _, q := range []float64{0.25, 0.5, 0.75} {
			if v > quantile(q) {
				grades[i]++
			}
		}
	}
	m, err := mkl.Ordinal[int]{}.Fit(context.Background(), views, grades)
	if err != nil {
		return nil, err
	}
	return m.Views(), nil
}

// poisson draws a count: the events of a process of rate 1 before the mean.
func poisson(src *rand.Rand, mean float64) (count float64) {
	for t := src.ExpFloat64(); t < mean; t += src.ExpFloat64() {
		count++
	}
	return count
}

// viewsOf returns views that share factors, a function of some of them, and which views these are. The parts have up to a factor of ten between their
// sizes.
func viewsOf(src *rand.Rand, n, views int) (of []mkl.View, f []float64, on []bool) {
	const factors = 4
	shared := normal(src, n, factors)
	f = make([]float64, n)
	for v := range views {
		width := 1 + src.IntN(8)
		x := normal(src, n, width)
		la.Gemm(nil, la.NoTrans, la.NoTrans, 0.5, shared, normal(src, factors, width), 1, x)
		standardise(x)
		name := strconv.Itoa(v)
		of, on = append(of, mkl.View{Name: name, Input: name, X: x}), append(on, src.Float64() < 0.5)
		if on[v] {
			addPart(src, math.Pow(10, src.Float64()-1), x, f)
		}
	}
	return of, f, on
}

// addPart adds a smooth function of a view, of the given size, to f.
func addPart(src *rand.Rand, size float64, x la.Matrix[float64], f []float64) {
	direction, phase := normal(src, x.Cols, 1).Data, 6*src.Float64()
	for i := range f {
		u := la.Dot(x.Row(i), direction) / math.Sqrt(float64(x.Cols))
		f[i] += size * (u + math.Sin(u+phase))
	}
}
