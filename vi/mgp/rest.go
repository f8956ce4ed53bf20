package mgp

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// The factor takes nearly all of a posterior's memory. A fit of many functions need not keep the factors of those it has
// found: it lets their posteriors rest, and wakes the ones that the model keeps in the end.

// Rest returns the posterior without its factor. A resting posterior has its State, its KernelWeights and its Dims, but does
// not predict: see [Posterior.Wake]. Posteriors without sites do not rest, and Rest returns p itself.
func (p *Posterior) Rest() *Posterior {
	if p.root == nil || p.s.Freedom != 0 || p.s.Samples != 0 {
		return p
	}
	resting := *p
	resting.s.Factor = la.Matrix[float64]{}
	return &resting
}

// Resting reports whether the posterior has no factor.
func (p *Posterior) Resting() bool { return p.s.Factor.Rows == 0 }

// Waking makes the factor of a resting posterior from the kernels of its training samples, some samples at a time. It is not safe for concurrent use.
type Waking struct {
	p    *Posterior
	sum  la.Matrix[float64] // the lower triangle is Σ_p K_p/γ_p, of the rows that are known
	some la.Matrix[float64]
	rows int // known
}

// Wake begins to make the factor of a resting posterior.
func (p *Posterior) Wake() *Waking {
	N := p.dim.N
	return &Waking{p: p, sum: la.NewMatrix[float64](N, N), some: la.NewMatrix[float64](min(N, work.PredictRows), N)}
}

// Add takes the next training samples. Their kernels with all N training samples are the columns of k, P matrices N×T.
func (w *Waking) Add(k vi.Kernels) error {
	P, N, T := k.Dims()
	if P != w.p.dim.P || N != w.p.dim.N || w.rows+T > N {
		return fmt.Errorf("vi: Waking: %d kernels of %d×%d where %d with %d samples are needed, of which %d are left", P, N, T, w.p.dim.P, w.p.dim.N, w.p.dim.N-w.rows)
	}
	for first := 0; first < T; first += w.some.Rows {
		n := min(w.some.Rows, T-first)
		some := w.some.Slice(0, n, 0, N)
		for i, g := range w.p.s.Gamma {
			k.Columns(i, first, some)
			for r := range n {
				end := w.rows + r + 1
				la.Axpy(1/g, some.Row(r)[:end], w.sum.Row(end - 1)[:end])
			}
		}
		w.rows += n
	}
	return nil
}

// Finish returns the posterior with the factor of B = I + S^½·K·S^½. The error says which samples are missing, or that B has no factor.
func (w *Waking) Finish(workers int) (*Posterior, error) {
	if w.rows < w.p.dim.N {
		return nil, fmt.Errorf("vi: Waking: the kernels of %d of %d samples", w.rows, w.p.dim.N)
	}
	for i, r := range w.p.root {
		row := w.sum.Row(i)[:i+1]
		for j, v := range w.p.root[:i+1] {
			row[j] *= r * v
		}
		row[i]++
	}
	if err := la.Cholesky(&la.Workspace{Workers: workers}, w.sum); err != nil {
		return nil, fmt.Errorf("vi: Waking: I + S½KS½: %w", err)
	}
	awake := *w.p
	awake.s.Factor = w.sum
	return &awake, nil
}
