package mgp

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// A sweep of a multiple Gaussian process passes over the kernels twice: once
// for the lower triangle of B, once for tr(B⁻¹K_p) and αᵀK_pα together. Kernels
// that are matrices in memory are read by the rows of their lower triangles: half
// as much, and by several workers. Others go through the methods of [vi.Kernels].

// passes runs the two passes.
type passes struct {
	k     vi.Kernels
	dense []la.Matrix[float64] // the kernels, if they are matrices
	crew  *work.Crew[struct{}]
	parts []float64 // rows' parts of trace and quad, task by task

	// Arguments of the tasks, which are made once so that a sweep does not
	// allocate.
	weights, alpha     []float64
	out                la.Matrix[float64]
	sumTask, traceTask func(struct{}, int) error
}

// newPasses returns the passes over square kernels.
func newPasses(k vi.Kernels, workers int) *passes {
	P, _, N := k.Dims()
	p := &passes{k: k}
	d, ok := k.(interface {
		At(m int) la.Matrix[float64]
	}) // [vi.Dense], or what embeds it
	if !ok {
		return p
	}
	for m := range P {
		p.dense = append(p.dense, d.At(m))
	}
	tasks := (N + work.PassRows - 1) / work.PassRows
	p.crew = work.NewCrew(workers, tasks, func(int) (_ struct{}) { return })
	p.parts = make([]float64, tasks*2*P)
	p.sumTask = func(_ struct{}, task int) error {
		first := task * work.PassRows
		p.sumRows(first, min(first+work.PassRows, N))
		return nil
	}
	p.traceTask = func(_ struct{}, task int) error {
		first := task * work.PassRows
		part := p.parts[task*2*P:][:2*P]
		p.traceRows(first, min(first+work.PassRows, N), part[:P], part[P:])
		return nil
	}
	return p
}

// sumRows stores rows first ≤ i < last of the lower triangle of Σ_m weights[m]·K_m.
func (p *passes) sumRows(first, last int) {
	for i := first; i < last; i++ {
		row := p.out.Row(i)[:i+1]
		clear(row)
		for m, km := range p.dense {
			la.Axpy(p.weights[m], km.Row(i)[:i+1], row)
		}
	}
}

// traceRows stores what rows first ≤ i < last of the lower triangles, and what
// mirrors them, contribute to <out, K_m> and αᵀK_mα.
func (p *passes) traceRows(first, last int, trace, quad []float64) {
	for m, km := range p.dense {
		var t, q float64
		for i := first; i < last; i++ {
			left, right := p.out.Row(i), km.Row(i)
			t += 2*la.Dot(left[:i], right[:i]) + float64(left[i]*right[i])
			if p.alpha == nil {
				continue
			}
			a := p.alpha[i]
			q += float64(a * (2*la.Dot(right[:i], p.alpha[:i]) + float64(right[i]*a)))
		}
		trace[m], quad[m] = t, q
	}
}

// sum stores the lower triangle of Σ weights[m]·K_m in out. The rest of out is
// anything.
func (p *passes) sum(w *la.Workspace, weights []float64, out la.Matrix[float64]) {
	if p.dense == nil {
		p.k.Sum(w, weights, out)
		return
	}
	p.weights, p.out = weights, out
	_ = p.crew.Each(p.sumTask) // the tasks have no errors
}

// columns stores the columns of Σ weights[m]·K_m of the given samples in the columns of out, for kernels that are
// matrices in memory. It alone reads upper triangles too.
func (p *passes) columns(weights []float64, samples []int, out la.Matrix[float64]) {
	line := make([]float64, out.Rows)
	for j, s := range samples {
		clear(line)
		for m, km := range p.dense {
			la.Axpy(weights[m], km.Row(s), line)
		}
		for i, v := range line {
			out.Row(i)[j] = v
		}
	}
}

// diagonal stores the diagonal of Σ weights[m]·K_m in dst, for kernels that are matrices in memory.
func (p *passes) diagonal(weights, dst []float64) {
	for i := range dst {
		dst[i] = 0
		for m, km := range p.dense {
			dst[i] += float64(weights[m] * km.At(i, i))
		}
	}
}

// diagonalSums stores the traces of the kernels of N samples in dst.
func (p *passes) diagonalSums(w *la.Workspace, N int, dst []float64) {
	if p.dense == nil {
		one := la.NewMatrix[float64](N, N)
		for i := range N {
			one.Set(i, i, 1)
		}
		p.k.Inner(w, one, dst)
		return
	}
	for m, km := range p.dense {
		dst[m] = 0
		for i := range N {
			dst[m] += km.At(i, i)
		}
	}
}

// products stores K_m·v in row m of dst.
func (p *passes) products(w *la.Workspace, v []float64, dst la.Matrix[float64]) {
	if p.dense == nil {
		p.k.Project(w, la.MatrixOf(1, len(v), v), dst)
		return
	}
	for m, km := range p.dense {
		la.Symv(w, 1, km, v, 0, dst.Row(m))
	}
}

// traces stores <b, K_m> in trace and αᵀK_mα in quad, unless that is nil, where b is given
// by its lower triangle.
func (p *passes) traces(w *la.Workspace, b la.Matrix[float64], alpha, trace, quad []float64) {
	if p.dense == nil {
		b.MirrorLower()
		p.k.Inner(w, b, trace)
		if quad != nil {
			p.k.Quad(w, alpha, quad)
		}
		return
	}
	p.out, p.alpha = b, alpha
	if quad == nil {
		p.alpha = nil
	}
	_ = p.crew.Each(p.traceTask)
	clear(trace)
	clear(quad)
	P := len(trace)
	for at := 0; at < len(p.parts); at += 2 * P {
		for m := range P {
			trace[m] += p.parts[at+m]
			if quad != nil {
				quad[m] += p.parts[at+P+m]
			}
		}
	}
}
