package main

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
	"github.com/bmkl/bmkl/vi/mgp"
)

// samples are n samples of one feature with seven RBF kernels: training samples of posteriors
// that are made without a fit, which would take hours where samples are many.
type samples struct {
	x, y  []float64
	gamma []float64 // a kernel is exp(−γ_m·(x−x')²)
}

func newSamples(n int) samples {
	c := newCurve(n)
	s := samples{x: c.x, y: c.y}
	for w := -3; w <= 3; w++ {
		s.gamma = append(s.gamma, 0.5/math.Pow(math.Ldexp(1, w), 2))
	}
	return s
}

// kernel stores kernel m of all samples with each other.
func (s samples) kernel(m int, k la.Matrix[float64]) {
	x := la.MatrixOf(len(s.x), 1, s.x)
	la.RBF(nil, s.gamma[m], x, x, k)
}

// Column implements bemkl.Columns.
func (s samples) Column(i int, dst la.Matrix[float64]) {
	for m, g := range s.gamma {
		row := dst.Row(m)
		for j, x := range s.x {
			row[j] = -g * (x - s.x[i]) * (x - s.x[i])
		}
		la.Exp(row, row)
	}
}

// Diagonal implements bemkl.Columns.
func (s samples) Diagonal(dst la.Matrix[float64]) { dst.Fill(1) }

// composite is the mean of the kernels, as mgp.Composite.
type composite struct {
	samples
	all la.Matrix[float64] // scratch, P×N
}

func (c composite) Diagonal(dst []float64) {
	for i := range dst {
		dst[i] = 1
	}
}

func (c composite) Column(i int, dst []float64) {
	c.samples.Column(i, c.all)
	clear(dst)
	for m := range c.all.Rows {
		la.Axpy(1/float64(c.all.Rows), c.all.Row(m), dst)
	}
}

// projection is a row of the times of predictions from pivots, with mean, variance and bound, by
// the posterior of a model that was made without a fit, kernels included. Such a row says how
// pivots depend on the number of samples.
type projection struct {
	name    string
	pivots  int
	predict func(x float64) vi.Certified
}

// process makes the posterior of a Gaussian process of the mean of the kernels with the noise
// variance 0.09, and projects it.
func (s samples) process(name string) projection {
	n, P := len(s.x), len(s.gamma)
	ws := &la.Workspace{}
	b, one := la.NewMatrix[float64](n, n), la.NewMatrix[float64](min(n, 256), n)
	all := la.MatrixOf(n, 1, s.x)
	for first := 0; first < n; first += one.Rows {
		rows := min(one.Rows, n-first)
		part := one.Slice(0, rows, 0, n)
		for _, g := range s.gamma {
			la.RBF(ws, g, all.Slice(first, first+rows, 0, 1), all, part)
			for i := range rows {
				la.Axpy(1/float64(P), part.Row(i)[:first+i+1], b.Row(first + i)[:first+i+1])
			}
		}
	}
	const noise = 0.09
	for i := range n {
		b.Row(i)[i] += noise
	}
	must(la.Cholesky(ws, b))
	alpha := append([]float64(nil), s.y...)
	la.CholeskySolveVec(b, alpha)
	scales := make([]float64, P)
	for m := range scales {
		scales[m] = float64(P)
	}
	post, err := mgp.NewPosterior(mgp.State{Family: mgp.FamilyFlat, Tau: 1 / noise, Gamma: scales, Alpha: alpha, Factor: b})
	must(err)
	q, err := post.Project(composite{s, la.NewMatrix[float64](P, n)}, mgp.ProjectOptions{Tolerance: 1e-3})
	must(err)
	m := len(q.Pivots)
	raw, k, scratch := make([]float64, P*m), make([]float64, m), make([]float64, q.ScratchSize())
	single := &la.Workspace{Workers: 1}
	return projection{name, m, func(x float64) vi.Certified {
		for p, g := range s.gamma {
			for i, n := range q.Pivots {
				raw[p*m+i] = -g * (x - s.x[n]) * (x - s.x[n])
			}
		}
		la.Exp(raw, raw)
		clear(k)
		for p := range P {
			la.Axpy(1/float64(P), raw[p*m:(p+1)*m], k)
		}
		return q.Predict(single, k, 1, scratch)
	}}
}

// regression makes the posterior of a regression of sample weights, healed: kernel weights and
// precisions come from a fit to a thousand samples, and the means of the sample weights are
// the best ones given those.
func (s samples) regression(name string) projection {
	n, P := len(s.x), len(s.gamma)
	ws := &la.Workspace{}
	state := newSamples(1000).fitted()
	e, b := state.BEMean[1:], state.BEMean[0]

	// K_m = V_mᵀV_m but for round-off, with V_m of few rows. Then F = Σ e_m·K_m, and
	// S = Σ K_m² = Σ (C_mᵀV_m)ᵀ(C_mᵀV_m) with C_m·C_mᵀ = V_m·V_mᵀ.
	gram, f := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
	var vs []la.Matrix[float64]
	for m := range P {
		v := s.factor(m, gram) // in memory that is free yet
		la.Gemm(ws, la.Transpose, la.NoTrans, e[m], v, v, 1, f)
		vs = append(vs, v)
	}
	clear(gram.Data)
	for _, v := range vs {
		la.Syrk(ws, la.Transpose, 1, squared(ws, v), 1, gram)
	}
	gram.MirrorLower()

	var lambda float64 // the mean of the precisions of the sample weights
	shape := state.Priors.Lambda.Shape + 0.5
	for _, scale := range state.Lambda.Data {
		lambda += shape * scale / float64(len(state.Lambda.Data))
	}
	var noise float64
	for _, v := range e {
		noise += v * v
	}
	noise = 1/state.Epsilon[0].Mean() + noise/state.Upsilon[0].Mean()
	target := make([]float64, n)
	for i, y := range s.y {
		target[i] = y - b
	}
	state.Samples, state.Gram = n, gram
	state.A = ridge(f, target, noise*lambda)
	state.Lambda = la.NewMatrix[float64](1, n)
	state.Lambda.Fill(lambda / shape)
	residual := la.MatrixOf(1, n, target)
	la.Gemv(ws, la.NoTrans, -1, f, state.A.Data, 1, residual.Data)
	state.Healing = &bemkl.Healing{Kernel: f, Residual: residual, Precision: []float64{float64(n) / (la.SumSq(state.A.Data) + 1)}}
	post, err := bemkl.NewRegressionPosterior(state)
	must(err)
	q, err := post.Project(s, 0, bemkl.ProjectOptions{Tolerance: 1e-3, Healed: true, Exact: 3 * float64(n) * float64(n)})
	must(err)
	var at, gamma []float64
	for m, pivots := range q.Pivots {
		for _, i := range pivots {
			at, gamma = append(at, s.x[i]), append(gamma, -s.gamma[m])
		}
	}
	k, self, scratch := make([]float64, len(at)), make([]float64, P), make([]float64, q.ScratchSize())
	single := &la.Workspace{Workers: 1}
	return projection{name, len(at), func(x float64) vi.Certified {
		for i, p := range at {
			k[i] = gamma[i] * (x - p) * (x - p)
		}
		la.Exp(k, k)
		for m := range self {
			self[m] = 1
		}
		return q.Predict(single, k, self, scratch)
	}}
}

// fitted returns the posterior of twenty sweeps.
func (s samples) fitted() bemkl.RegressionState {
	var ks []la.Matrix[float64]
	for m := range s.gamma {
		k := la.NewMatrix[float64](len(s.x), len(s.x))
		s.kernel(m, k)
		ks = append(ks, k)
	}
	k, err := vi.NewDense(ks...)
	must(err)
	fit, err := bemkl.Regression{Ascent: vi.Ascent{MaxSweeps: 20}}.Fit(context.Background(), k, la.MatrixOf(1, len(s.y), s.y))
	must(err)
	return fit.Posterior.State()
}

// factor returns the V, of as few rows as the kernel m has rank, with VᵀV that kernel, which it forms in k.
func (s samples) factor(m int, k la.Matrix[float64]) la.Matrix[float64] {
	s.kernel(m, k)
	perm := make([]int, k.Rows)
	rank, err := la.CholeskyPivoted(&la.Workspace{}, k, 0, perm)
	must(err)
	v := la.NewMatrix[float64](rank, k.Rows)
	for i, n := range perm {
		for j := range min(i+1, rank) {
			v.Set(j, n, k.At(i, j))
		}
	}
	return v
}

// squared returns CᵀV with C·Cᵀ = V·Vᵀ.
func squared(ws *la.Workspace, v la.Matrix[float64]) la.Matrix[float64] {
	c := la.NewMatrix[float64](v.Rows, v.Rows)
	la.Syrk(ws, la.NoTrans, 1, v, 0, c)
	c.MirrorLower()
	perm := make([]int, v.Rows)
	rank, err := la.CholeskyPivoted(ws, c, 0, perm)
	must(err)
	root := la.NewMatrix[float64](v.Rows, rank)
	for i, n := range perm {
		copy(root.Row(n), c.Row(i)[:min(i+1, rank)])
	}
	out := la.NewMatrix[float64](rank, v.Cols)
	la.Gemm(ws, la.Transpose, la.NoTrans, 1, root, v, 0, out)
	return out
}

// ridge returns the a that minimises |y − F·a|² + penalty·|a|², by conjugate gradients.
func ridge(f la.Matrix[float64], y []float64, penalty float64) la.Matrix[float64] {
	n := f.Rows
	ws := &la.Workspace{}
	a, r, z := la.NewMatrix[float64](1, n), make([]float64, n), make([]float64, n)
	la.Gemv(ws, la.Transpose, 1, f, y, 0, r)
	d, md := append([]float64(nil), r...), make([]float64, n)
	begin := la.SumSq(r)
	for left := begin; left > 1e-16*begin; {
		la.Gemv(ws, la.NoTrans, 1, f, d, 0, z)
		copy(md, d)
		la.Gemv(ws, la.Transpose, 1, f, z, penalty, md)
		step := left / la.Dot(d, md)
		la.Axpy(step, d, a.Data)
		la.Axpy(-step, md, r)
		next := la.SumSq(r)
		la.Scal(next/left, d)
		la.Axpy(1, r, d)
		left = next
	}
	return a
}

// projectionRows returns the rows of predictions from pivots.
func projectionRows(large bool) (rows list) {
	for _, n := range []int{1000, 5000, 10000} {
		if n > 1000 && !large {
			continue
		}
		process := fmt.Sprintf("projection/Gaussian process, %d samples, 7 kernels", n)
		regression := fmt.Sprintf("projection/regression, healed, %d samples, 7 kernels", n)
		rows.add(process, func() measurer { return newSamples(n).process(process) })
		rows.add(regression, func() measurer { return newSamples(n).regression(regression) })
	}
	return rows
}

func (p projection) measure(rounds int, budget time.Duration) []result {
	worst := 0.0
	for x := -2.0; x < 2; x += 0.01 {
		c := p.predict(x)
		worst = max(worst, max(c.MeanError, c.SDError)/c.LeastSD)
	}
	x := 0.0
	allocs := testing.AllocsPerRun(1000, func() { p.predict(x) })
	times := timed(rounds, budget, func() {
		x = math.Mod(x+0.37, 2)
		p.predict(x)
	})
	return append(percentiles(p.name, times, allocs),
		result{Name: p.name + ", pivots", Unit: "kernels", Value: float64(p.pivots)},
		result{Name: p.name + ", largest bound", Unit: "SD", Value: worst, Peer: "at most", PeerValue: 1e-3, Ratio: 1e-3 / worst, Goal: 1})
}
