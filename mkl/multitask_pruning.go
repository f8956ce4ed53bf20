package mkl

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// latentPruning decides what a [MultiTaskPredictor] leaves out. All quantities refer
// to standardised targets.
//
// A latent function's mean is f = Σ α_n·k_n, with k_n = k(x_n, ·), in the space of functions
// that belongs to the kernel k. There f(x) = ⟨f, k_x⟩ with |k_x|² =
// k(x, x) ≤ κ. Its variance is ⟨k_x, k_x⟩ − k*ᵀG·k*, k* = (⟨k_n, k_x⟩), where
// 0 ≤ G ≤ Λ and k*ᵀG·k* ≤ κ. Leaving out the function therefore moves the mean of
// target q by at most |E[w]|·|f|·√κ and the variance by at most E[w²]·κ +
// Var[w]·|f|²·κ.
//
// Let P be the projection on the span of some k_z, and r_n = |k_n − P·k_n|². The r_n are the
// diagonal of the remainder K − C·Cᵀ of a Cholesky factorisation of the kernel matrix K with
// pivots z. With P·k_n instead of k_n the mean becomes ⟨P·f, k_x⟩, whose error is at most
// η·√κ, η² = |f − P·f|² = αᵀ(K − C·Cᵀ)α; and k* moves by a vector d with
// dᵀG·d ≤ κ·tr(G(K − C·Cᵀ)) ≤ ε² = κ·Σ λ_n·r_n, so that the function's variance
// moves by at most ε·(2√κ + ε).
type latentPruning struct {
	design   *gram.Design // a view for each function that is kept
	meanOnly bool
	tol      float64
	noise    []float64 // by target
	kept     []*prunedLatent
	known    []*prunedLatent // known functions, which are all kept
	exact    bool            // the functions keep every sample

	certain bool

	meanError, varError []float64 // by target, from the dropped functions
}

// prunedLatent is a latent function with its weights for each target.
type prunedLatent struct {
	index                  int
	view                   gram.Bound
	weight, square, within []float64 // |E[w]|, E[w²], Var[w]
	alpha, root            []float64
	factor                 la.Matrix[float64]
	kappa, norm            float64 // κ, |f|

	span *pivoted // nil if every sample is kept
	left float64  // η²
	lack float64  // trace of the part that the rank of T leaves out
}

func newLatentPruning(opt PredictorOptions, m *MultiTaskModel) *latentPruning {
	s := m.posterior.State()
	pr := &latentPruning{
		meanOnly: opt.MeanOnly, tol: opt.pruning(), exact: opt.Exact, noise: s.Noise, certain: true,
		meanError: make([]float64, len(m.targets)), varError: make([]float64, len(m.targets)),
	}
	for _, i := range s.Active {
		f := &prunedLatent{
			index: i, view: m.design.Views[i], alpha: s.Alpha.Row(i), root: s.Root.Row(i),
			kappa: m.design.Views[i].Largest, norm: math.Sqrt(max(0, la.Dot(s.Alpha.Row(i), s.Phi.Row(i)))),
		}
		if s.Factors != nil {
			f.factor = s.Factors[i]
		}
		for q := range m.targets {
			w := m.posterior.Weight(q, i)
			mean, square := w.Moments()
			f.weight, f.square, f.within = append(f.weight, math.Abs(mean)), append(f.square, square), append(f.within, w.VarW())
		}
		if f.view.IsFunction() {
			pr.known = append(pr.known, f)
			continue
		}
		pr.exact = pr.exact || f.view.Kernel.Statistic().Kind == kernel.GivenStatistic
		pr.kept = append(pr.kept, f)
	}
	pr.design = &gram.Design{Inputs: m.design.Inputs, D: m.design.D}
	return pr
}

// budgets returns how far the mean and the variance of a target may move within a part of the
// tolerance. A variance is at least the noise σ². If it moves by δ, its square root moves
// by at most √δ and by at most δ/2σ.
func (pr *latentPruning) budgets(q int, part float64) (mean, variance float64) {
	sd := pr.tol * math.Sqrt(pr.noise[q])
	return part * sd, part * max(sd*sd, 2*pr.tol*pr.noise[q])
}

// within reports whether errors stay within a part of the tolerance.
func (pr *latentPruning) within(mean, variance []float64, part float64) bool {
	for q := range mean {
		m, v := pr.budgets(q, part)
		if mean[q] > m || !pr.meanOnly && variance[q] > v {
			return false
		}
	}
	return true
}

// dropFunctions drops functions, beginning with the least important, within a quarter of the
// tolerance.
func (pr *latentPruning) dropFunctions() {
	share := func(f *prunedLatent) (most float64) {
		for q := range pr.noise {
			mean, variance := f.without(q)
			most = max(most, mean*mean/pr.noise[q], variance/pr.noise[q])
		}
		return most
	}
	slices.SortStableFunc(pr.kept, func(a, b *prunedLatent) int { return cmp.Compare(share(a), share(b)) })
	for len(pr.kept) > 0 {
		f := pr.kept[0]
		mean, variance := slices.Clone(pr.meanError), slices.Clone(pr.varError)
		for q := range mean {
			m, v := f.without(q)
			mean[q] += float64(m)
			variance[q] += float64(v)
		}
		if !pr.within(mean, variance, 0.25) {
			break
		}
		pr.meanError, pr.varError = mean, variance
		pr.certain = pr.certain && (f.view.Certain || share(f) == 0)
		pr.kept = pr.kept[1:]
	}
	slices.SortFunc(pr.kept, func(a, b *prunedLatent) int { return cmp.Compare(a.index, b.index) })
	for _, f := range slices.Concat(pr.kept, pr.known) {
		pr.design.Views = append(pr.design.Views, f.view)
	}
	pr.design.Regroup()
}

// without bounds the change of a target's mean and variance if the function is dropped.
func (f *prunedLatent) without(q int) (mean, variance float64) {
	return f.weight[q] * f.norm * math.Sqrt(f.kappa), f.kappa * (f.square[q] + float64(f.within[q]*f.norm*f.norm))
}

// projected bounds the change of a target's mean and variance by the projection and by
// the rank of T.
func (f *prunedLatent) projected(q int) (mean, variance float64) {
	if f.span == nil {
		return 0, 0
	}
	var sum float64 // Σ λ_n·r_n
	for n, r := range f.span.rest {
		if r > f.span.floor {
			sum += float64(f.root[n] * f.root[n] * r)
		}
	}
	eps, eta := math.Sqrt(f.kappa*sum), math.Sqrt(f.left)
	mean = f.weight[q] * eta * math.Sqrt(f.kappa)
	variance = float64(f.square[q]*float64(float64(eps*(float64(2*math.Sqrt(f.kappa))+eps))+float64(f.kappa*f.lack))) + float64(2*f.within[q]*f.kappa*eta*f.norm)
	return mean, variance
}

// dropSamples chooses the samples on which the functions are projected, the same
// samples for all of them, within half of the tolerance. If rounding prevents
// that, all samples are kept.
func (pr *latentPruning) dropSamples() error {
	if pr.exact || len(pr.kept) == 0 {
		return nil
	}
	ks := make([]la.Matrix[float64], len(pr.kept))
	for i := range ks {
		ks[i] = la.NewMatrix[float64](pr.design.D, pr.design.D)
	}
	var x []Features
	for _, in := range pr.design.Inputs {
		x = append(x, in.Basis)
	}
	if err := pr.design.Cross(context.Background(), 0, x, 0, ks); err != nil {
		return err
	}
	importance := make([]float64, len(pr.kept))
	for i, f := range pr.kept {
		f.span, f.left = newPivoted(ks[i]), f.norm*f.norm
		for q, v := range f.square {
			importance[i] = max(importance[i], v/pr.noise[q])
		}
	}
	for !pr.enough() {
		best, most := -1, 0.0
		for n := range pr.design.D {
			var gain float64
			for i, f := range pr.kept {
				if r := f.span.rest[n]; r > f.span.floor {
					gain += float64(importance[i] * f.root[n] * f.root[n] * r)
				}
			}
			if gain > most {
				best, most = n, gain
			}
		}
		if best < 0 { // the rest is round-off, and still too large
			pr.exact = true
			for _, f := range pr.kept {
				f.span = nil
			}
			return nil
		}
		for _, f := range pr.kept {
			if f.span.add(best) {
				rank := len(f.span.pivots) - 1
				var c float64 // coefficient of f along the new direction
				for n, a := range f.alpha {
					c += float64(a * f.span.c.At(n, rank))
				}
				// The rest is accurate to rounding only.
				f.left = max(f.left-float64(c*c), float64(pr.design.D)*0x1p-52*f.norm*f.norm)
			}
		}
	}
	return nil
}

// enough reports whether the projection is within half of the tolerance.
func (pr *latentPruning) enough() bool {
	mean, variance := make([]float64, len(pr.noise)), make([]float64, len(pr.noise))
	for q := range mean {
		for _, f := range pr.kept {
			m, v := f.projected(q)
			mean[q] += float64(m)
			variance[q] += float64(v)
		}
	}
	return pr.within(mean, variance, 0.5)
}

// samples returns the training samples that at least one function keeps, ascending.
func (pr *latentPruning) samples() []int {
	if pr.exact {
		return vec.UpTo(pr.design.D)
	}
	var all []int
	for _, f := range pr.kept {
		all = append(all, f.span.pivots...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// point returns the function in the form that the predictor uses.
func (f *prunedLatent) point(pr *latentPruning, samples []int) (pointLatent, error) {
	ws := &la.Workspace{}
	if f.span == nil {
		l := pointLatent{pick: samples, beta: f.alpha}
		if !pr.meanOnly { // T = L⁻¹·S
			l.t = f.factor.Clone()
			la.TriInv(ws, l.t)
			for n := range l.t.Rows {
				row := l.t.Row(n)
				for j, s := range f.root {
					if row[j] *= s; j > n {
						row[j] = 0
					}
				}
			}
		}
		return l, nil
	}
	// K ≈ C·Cᵀ, and R are the pivots' rows of C: k* ≈ C·R⁻¹·k.
	c, rank := f.span.factor(), len(f.span.pivots)
	r := la.NewMatrix[float64](rank, rank)
	l := pointLatent{beta: make([]float64, rank)}
	for i, n := range f.span.pivots {
		at, ok := slices.BinarySearch(samples, n)
		if !ok {
			return l, fmt.Errorf("sample %d is not kept", n)
		}
		l.pick = append(l.pick, at)
		copy(r.Row(i), c.Row(n)[:i+1])
	}
	if rank == 0 {
		return l, nil
	}
	la.Gemv(ws, la.Transpose, 1, c, f.alpha, 0, l.beta)
	la.Trsm(ws, la.Left, la.Transpose, r, la.MatrixOf(rank, 1, l.beta))
	if pr.meanOnly {
		return l, nil
	}
	x := c.Clone() // L⁻¹·S·C
	for n, s := range f.root {
		la.Scal(s, x.Row(n))
	}
	la.Trsm(ws, la.Left, la.NoTrans, f.factor, x)
	h := la.NewMatrix[float64](rank, rank)
	la.Syrk(ws, la.Transpose, 1, x, 0, h)
	h.MirrorLower()
	root := pivotedCholesky(h, func(rest []float64) bool {
		f.lack = vec.Total(rest)
		return pr.lackIsSmall(f)
	})
	l.t = la.NewMatrix[float64](root.Cols, rank)
	for i := range l.t.Rows {
		for j := range rank {
			l.t.Set(i, j, root.At(j, i))
		}
	}
	la.Trsm(ws, la.Right, la.NoTrans, r, l.t)
	return l, nil
}

// lackIsSmall reports whether the part that the rank of T leaves out is within the
// function's share of a quarter of the tolerance.
func (pr *latentPruning) lackIsSmall(f *prunedLatent) bool {
	for q, v := range f.square {
		if _, most := pr.budgets(q, 0.25/float64(len(pr.kept))); v*f.kappa*f.lack > most {
			return false
		}
	}
	return true
}

// info describes the pruning for target q, whose unit is sd.
func (pr *latentPruning) info(q int, samples []int, sd float64) PredictorInfo {
	mean, variance := pr.meanError[q], pr.varError[q]
	info, certain := PredictorInfo{Samples: samples}, pr.certain
	for _, f := range pr.kept {
		info.Kernels = append(info.Kernels, f.index)
		certain = certain && (f.span == nil || f.view.Certain)
		m, v := f.projected(q)
		mean += m
		variance += v
	}
	for _, f := range pr.known {
		info.Kernels = append(info.Kernels, f.index)
	}
	slices.Sort(info.Kernels)
	info.Kind = pruningKind(certain)
	info.MeanError = sd * mean
	if !pr.meanOnly {
		info.SDError = sd * min(math.Sqrt(variance), variance/(2*math.Sqrt(pr.noise[q])))
	}
	return info
}
