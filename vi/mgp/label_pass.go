package mgp

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Pass is what one pass over the samples finds out of the functions that still rise. Parts of the
// samples can have a Pass each, as [Pass.Part] makes them, to be merged.
type Pass struct {
	functions []int              // which, F of them
	weights   la.Matrix[float64] // F×D, E[w]
	gradient  la.Matrix[float64] // F×D, Σ y·h·φ with h = φ(z)/Φ(z) at z = y·wᵀφ
	fit       []float64          // F, Σ log Φ(z)
	curvature []float64          // F, Σ h·(h + z), minus the second derivatives of log Φ
	samples   float64
	f         []float64
	ws        la.Workspace
}

// newPass returns a pass over no samples yet.
func newPass(functions []int, weights la.Matrix[float64], workers int) *Pass {
	F := len(functions)
	return &Pass{
		functions: functions, weights: weights, gradient: la.NewMatrix[float64](F, weights.Cols),
		fit: make([]float64, F), curvature: make([]float64, F), ws: la.Workspace{Workers: workers},
	}
}

// Weights returns E[w] of the functions that the pass is about, F×D. It must not be changed.
func (p *Pass) Weights() la.Matrix[float64] { return p.weights }

// Add adds samples: the features of each kernel, D_p×n, and the labels of every function, L×n. The error
// names a label that is neither −1 nor +1, or a block that does not fit.
func (p *Pass) Add(features []la.Matrix[float64], y la.Matrix[float64]) error {
	n, F := y.Cols, len(p.functions)
	if cap(p.f) < F*n {
		p.f = make([]float64, F*n)
	}
	f := la.MatrixOf(F, n, p.f[:F*n])
	first, beta := 0, 0.0
	for i, phi := range features {
		last := first + phi.Rows
		if phi.Cols != n || last > p.weights.Cols || !phi.Valid() {
			return fmt.Errorf("vi: features: block %d is %d×%d with %d labels and %d weights", i, phi.Rows, phi.Cols, n, p.weights.Cols-first)
		}
		la.Gemm(&p.ws, la.NoTrans, la.NoTrans, 1, p.weights.Slice(0, F, first, last), phi, beta, f)
		first, beta = last, 1
	}
	if first != p.weights.Cols {
		return fmt.Errorf("vi: features: %d where there are %d weights", first, p.weights.Cols)
	}
	if err := p.Look(f, y); err != nil {
		return err
	}
	first = 0
	for _, phi := range features {
		last := first + phi.Rows
		la.Gemm(&p.ws, la.NoTrans, la.Transpose, 1, f, phi, 1, p.gradient.Slice(0, F, first, last))
		first = last
	}
	return nil
}

// Look is the first part of Add, for callers with a shorter way to wᵀφ than by the features. f, F×n,
// holds wᵀφ of each sample, in the order of the rows of Weights, and becomes the slopes y·h. y, L×n,
// has the labels of every function.
func (p *Pass) Look(f, y la.Matrix[float64]) error {
	n := y.Cols
	if f.Rows != len(p.functions) || f.Cols != n || !f.Valid() || !y.Valid() || p.functions[len(p.functions)-1] >= y.Rows {
		return fmt.Errorf("vi: labels: %d×%d with values %d×%d of %d functions", y.Rows, n, f.Rows, f.Cols, len(p.functions))
	}
	for k, o := range p.functions {
		row := f.Row(k)
		for i, label := range y.Row(o) {
			if label != 1 && label != -1 {
				return fmt.Errorf("vi: labels: %d of function %d is %g: labels are −1 and +1", i, o, label)
			}
			z := float64(label * row[i])
			h, logCDF := special.Mills(z)
			row[i] = label * h
			p.fit[k] += logCDF
			p.curvature[k] += float64(h * (h + z))
		}
	}
	p.samples += float64(n)
	return nil
}

// AddGradient is the second part of Add: g, F×D, is the sum of slope·φᵀ over samples that were looked at.
func (p *Pass) AddGradient(g la.Matrix[float64]) error {
	if g.Rows != p.gradient.Rows || g.Cols != p.gradient.Cols || !g.Valid() {
		return fmt.Errorf("vi: gradient: %d×%d where %d×%d is needed", g.Rows, g.Cols, p.gradient.Rows, p.gradient.Cols)
	}
	for k := range g.Rows {
		la.Axpy(1, g.Row(k), p.gradient.Row(k))
	}
	return nil
}

// LogLikelihood returns Σ log Φ(y·wᵀφ) of the samples added, at the weights of the pass, for each of its
// functions.
func (p *Pass) LogLikelihood() []float64 { return p.fit }

// Part returns a pass of the same weights over other samples.
func (p *Pass) Part() *Pass { return newPass(p.functions, p.weights, p.ws.Workers) }

// Merge adds what a part has found out. Results depend on the order of the parts by rounding.
func (p *Pass) Merge(part *Pass) {
	la.Axpy(1, part.gradient.Data, p.gradient.Data)
	la.Axpy(1, part.fit, p.fit)
	la.Axpy(1, part.curvature, p.curvature)
	p.samples += part.samples
}
