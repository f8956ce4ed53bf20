package probit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Pruned is the multinomial probit kernel machine with few basis points, as [Relevance] is, found from
// above: it begins with all basis points, each with a precision for every class, climbs to a mode of
// the posterior of the regressors ([Model] with MAP), and on the way takes out the basis points whose
// precisions exceed Prune in all classes. Under the prior Alpha, of a small shape, most regressors
// end near 0, where their precisions are largest. The zero value is ready: [RuleFixSum].
//
// It begins with the auxiliary variables of the machine of all basis points, by the prior Gamma(1, 1).
//
// Source: I. Psorakis, T. Damoulas and M. A. Girolami, "Multiclass relevance vector machines: sparsity and
// accuracy", IEEE Transactions on Neural Networks 21 (2010), mRVM2; see docs/theory/relevance.md.
type Pruned struct {
	Rule Rule      // FixSum, FixProd or WSum
	Beta []float64 // as in [Relevance]

	Alpha      vi.Gamma   // prior of the precisions; the zero value means Gamma{1e-5, 1e5}
	ClassAlpha []vi.Gamma // prior for each class, if not nil
	Ridge      float64    // as in [Model]

	// Prune is the precision of basis points that are taken out; 0 means 10⁴. It must be below
	// (Shape + ½)·Scale of their priors, the precision where the regressor is 0.
	Prune float64

	Ascent vi.Ascent

	// Seed selects the random start of the machine of all basis points.
	Seed uint64

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0).
	// Results do not depend on it.
	Workers int
}

// Fit finds a mode of the posterior given the base kernels and the class of each sample, as the Fit
// of [Relevance] does. The posterior is a point.
func (p Pruned) Fit(ctx context.Context, k vi.Kernels, labels []int) (*RelevanceFit, error) {
	m := Model{
		Rule: p.Rule, Beta: p.Beta, Alpha: cmp.Or(p.Alpha, vi.Gamma{Shape: 1e-5, Scale: 1e5}), ClassAlpha: p.ClassAlpha,
		Ridge: p.Ridge, Prune: cmp.Or(p.Prune, 1e4), MAP: true, Ascent: p.Ascent, Workers: p.Workers,
	}
	s, err := m.model(k, labels)
	if err != nil {
		return nil, err
	}
	for _, a := range s.alpha {
		if largest := float64(a.Shape * a.Prior.Scale); largest <= m.Prune {
			return nil, fmt.Errorf("vi: Prune is %g, and by Alpha precisions are at most %.3g: no basis point would go", m.Prune, largest)
		}
	}
	all := Model{Rule: p.Rule, Beta: s.mean, Ridge: p.Ridge, Workers: p.Workers, Seed: p.Seed}
	full, err := all.briefly(ctx, p.Ascent.Journal, k, labels)
	if full == nil {
		return nil, err
	}
	s.y.CopyFrom(full.state.y)
	fit, err := m.climb(ctx, s)
	if fit == nil {
		return nil, err
	}
	out := &RelevanceFit{Record: fit.Record}
	var perr error
	if out.Posterior, out.Vectors, perr = fit.Posterior.small(); perr != nil {
		return nil, perr
	}
	return out, err
}

// briefly is Fit at fixed weights of the kernels for a few sweeps: what relevance vectors begin with.
func (p Model) briefly(ctx context.Context, journal *vi.Journal, k vi.Kernels, labels []int) (*Fit, error) {
	if p.Rule == RuleWSum {
		p.Rule = RuleFixSum
	}
	p.Ascent = vi.Ascent{MaxSweeps: relevanceStart, Journal: journal}
	return p.Fit(ctx, k, labels)
}

// small returns a point without the basis points that were pruned, and which are left: at least the
// first.
func (p *Posterior) small() (*Posterior, []int, error) {
	s := p.s
	var left []int
	for d := range s.W.Cols {
		for c := range s.W.Rows {
			if !math.IsInf(s.Alpha.At(c, d), 1) {
				left = append(left, d)
				break
			}
		}
	}
	if left == nil {
		left = []int{0}
	}
	w, alpha := la.NewMatrix[float64](s.W.Rows, len(left)), la.NewMatrix[float64](s.W.Rows, len(left))
	for c := range w.Rows {
		for i, d := range left {
			w.Set(c, i, s.W.At(c, d))
			alpha.Set(c, i, s.Alpha.At(c, d))
		}
	}
	s.W, s.Alpha, s.Beta = w, alpha, slices.Clone(s.Beta)
	small, err := NewPosterior(s)
	return small, left, err
}
