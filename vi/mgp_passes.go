package vi

import "github.com/bmkl/bmkl/la"

// A sweep of a multiple Gaussian process passes over the kernels twice: once
// for the lower triangle of B, once for tr(B⁻¹K_p) and αᵀK_pα together. Kernels
// that can do so by rows of the lower triangle are read half as often, and by
// several workers; others go through the methods of [Kernels].

// triangular is implemented by kernels that are at hand row by row. Rows are
// those of the lower triangle, 0 ≤ first ≤ i < last.
type triangular interface {
	// sumRows stores Σ_m weights[m]·K_m in rows of out.
	sumRows(weights []float64, first, last int, out la.Matrix[float64])

	// traceRows stores the rows' part of <b, K_m> and of αᵀK_mα, with what
	// mirrors them, in trace and quad. b and the kernels are symmetric.
	traceRows(b la.Matrix[float64], alpha []float64, first, last int, trace, quad []float64)
}

func (k *Dense) sumRows(weights []float64, first, last int, out la.Matrix[float64]) {
	for i := first; i < last; i++ {
		row := out.Row(i)[:i+1]
		clear(row)
		for m, km := range k.k {
			la.Axpy(weights[m], km.Row(i)[:i+1], row)
		}
	}
}

func (k *Dense) traceRows(b la.Matrix[float64], alpha []float64, first, last int, trace, quad []float64) {
	for m, km := range k.k {
		var t, q float64
		for i := first; i < last; i++ {
			left, right, a := b.Row(i), km.Row(i), alpha[i]
			t += 2*la.Dot(left[:i], right[:i]) + float64(left[i]*right[i])
			q += float64(a * (2*la.Dot(right[:i], alpha[:i]) + float64(right[i]*a)))
		}
		trace[m], quad[m] = t, q
	}
}

// passRows is the number of rows of a task. It does not depend on the workers,
// nor do the sums.
const passRows = 32

// passes runs the two passes.
type passes struct {
	k     Kernels
	rows  triangular // nil if the kernels are not
	crew  *crew
	parts []float64 // rows' parts of trace and quad, task by task

	// Arguments of the tasks, which are made once so that a sweep does not
	// allocate.
	weights, alpha     []float64
	out                la.Matrix[float64]
	sumTask, traceTask func(*worker, int) error
}

func newPasses(k Kernels, workers int) *passes {
	P, _, N := k.Dims()
	p := &passes{k: k}
	p.rows, _ = k.(triangular)
	if p.rows == nil {
		return p
	}
	tasks := (N + passRows - 1) / passRows
	p.crew = newCrew(workers, tasks)
	p.parts = make([]float64, tasks*2*P)
	p.sumTask = func(_ *worker, task int) error {
		first := task * passRows
		p.rows.sumRows(p.weights, first, min(first+passRows, N), p.out)
		return nil
	}
	p.traceTask = func(_ *worker, task int) error {
		first := task * passRows
		part := p.parts[task*2*P:][:2*P]
		p.rows.traceRows(p.out, p.alpha, first, min(first+passRows, N), part[:P], part[P:])
		return nil
	}
	return p
}

// sum stores the lower triangle of Σ weights[m]·K_m in out. The rest of out is
// anything.
func (p *passes) sum(w *la.Workspace, weights []float64, out la.Matrix[float64]) {
	if p.rows == nil {
		p.k.Sum(w, weights, out)
		return
	}
	p.weights, p.out = weights, out
	_ = p.crew.each(p.sumTask) // the tasks have no errors
}

// traces stores <b, K_m> in trace and αᵀK_mα in quad, where b is given by its
// lower triangle.
func (p *passes) traces(w *la.Workspace, b la.Matrix[float64], alpha, trace, quad []float64) {
	if p.rows == nil {
		b.MirrorLower()
		p.k.Inner(w, b, trace)
		p.k.Quad(w, alpha, quad)
		return
	}
	p.out, p.alpha = b, alpha
	_ = p.crew.each(p.traceTask)
	clear(trace)
	clear(quad)
	P := len(trace)
	for at := 0; at < len(p.parts); at += 2 * P {
		for m := range P {
			trace[m] += p.parts[at+m]
			quad[m] += p.parts[at+P+m]
		}
	}
}
