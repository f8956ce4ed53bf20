package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// widths are the widths of the RBF kernels of the regressions.
var widths = []float64{.5, 1, 2, 3, 5, 8, 12}

// problem is a regression on n samples of ten features; two of them matter.
type problem struct {
	k []la.Matrix[float64]
	y []float64
	a []float64          // start: sample weights, n
	g la.Matrix[float64] // start: intermediate outputs, P×n
}

func newProblem(n int) problem {
	x := random(n, 10, 1)
	noise, p := random(1, n, 2).Data, problem{a: random(1, n, 3).Data, g: random(len(widths), n, 4)}
	for i := range n {
		r := x.Row(i)
		p.y = append(p.y, math.Sin(2*r[0])+0.5*r[1]+0.1*noise[i])
	}
	d := la.NewMatrix[float64](n, n)
	la.SqDist(nil, x, x, d)
	for _, w := range widths {
		k := d.Clone()
		la.Scal(-1/(2*w*w), k.Data)
		la.Exp(k.Data, k.Data)
		p.k = append(p.k, k)
	}
	return p
}

// fit runs bmkl's regression for that many sweeps, with the lower bound of each.
func (p problem) fit(sweeps, workers int) {
	k, err := vi.NewDense(p.k...)
	must(err)
	_, err = bemkl.Regression{
		Workers: workers,
		Ascent:  vi.Ascent{Tolerance: -1, MaxSweeps: sweeps},
		Start:   &bemkl.Start{A: la.MatrixOf(1, len(p.a), p.a), G: p.g},
	}.Fit(context.Background(), k, la.MatrixOf(1, len(p.y), p.y))
	must(err)
}

// fitPaper runs the paper's updates on gonum for that many sweeps, without the bound.
func (p problem) fitPaper(sweeps int) {
	dense := func(m la.Matrix[float64]) *mat.Dense { return mat.NewDense(m.Rows, m.Cols, m.Data) }
	var k []*mat.Dense
	for _, km := range p.k {
		k = append(k, dense(km))
	}
	one := gammaPrior{1, 1}
	r := newPaperRegression(paperPriors{one, one, one, one, one}, k, p.y,
		append([]float64(nil), p.a...), dense(p.g.Clone()))
	for range sweeps {
		r.sweep()
	}
}

// setupRows returns the rows of Σ_m K_m·K_mᵀ, which a fit computes at the start of its sweeps.
func setupRows(m limits) (rows list) {
	const n = 1000
	sums := func() (k *vi.Dense, s la.Matrix[float64]) {
		k, err := vi.NewDense(newProblem(n).k...)
		must(err)
		return k, la.NewMatrix[float64](n, n)
	}
	name := fmt.Sprintf("sum of %d squared kernels/n=%d", len(widths), n)
	rows.add(name, func() measurer {
		k, s := sums()
		one := &la.Workspace{Workers: 1}
		return row{
			name: name, unit: "GFLOP/s", work: float64(len(widths)) * cube(n), goal: .85, goalPeer: fmaPeak,
			contenders: []contender{{run: func(int) { k.GramSum(one, s) }}, m.fma64},
		}
	})
	rows.add(name+", 2 workers", func() measurer {
		k, s := sums()
		r := twoWorkers(&la.Workspace{Workers: 1}, &la.Workspace{Workers: 2}, nil,
			func(w *la.Workspace, _ la.Matrix[float64]) { k.GramSum(w, s) })
		r.name, r.goal = name+", 2 workers", 1.85
		return r
	})
	return rows
}

// modelRows returns the rows of the models, with predictions from the pivots of dense models of 10 000
// samples if large.
func modelRows(m limits, large bool) list {
	rows := setupRows(m)
	for _, n := range []int{250, 500, 1000} {
		name := fmt.Sprintf("regression, 10 sweeps with set-up/n=%d", n)
		rows.add(name, func() measurer {
			p := newProblem(n)
			return row{name: name, unit: "µs", contenders: []contender{
				{run: func(int) { p.fit(10, 1) }},
				{name: "the paper on gonum", run: func(int) { p.fitPaper(10) }},
			}}
		})
	}
	rows = slices.Concat(rows, predictorRows(), projectionRows(large), batchRows())
	rows.add("RBF/n=4000", func() measurer {
		n := 4000
		x, k := random(n, 10, 1), la.NewMatrix[float64](n, n)
		one := &la.Workspace{Workers: 1}
		return row{name: "RBF/n=4000", unit: "µs", goal: 1 / 1.6, goalPeer: "its exps alone", contenders: []contender{
			{run: func(int) { la.RBF(one, 0.01, x, x, k) }},
			{name: "its exps alone", run: func(int) { la.Exp(k.Data, k.Data) }},
		}}
	})
	for _, c := range []struct {
		name  string
		prior mkl.Gamma
	}{
		{"prediction/sparse, 133 samples, 21 kernels", mkl.Gamma{Shape: 1e-10, Scale: 1e10}},
		{"prediction/dense, 133 samples, 21 kernels", mkl.Gamma{}},
	} {
		rows.add(c.name, func() measurer { return newLatency(c.name, c.prior) })
	}
	return append(rows, besideRows()...)
}
