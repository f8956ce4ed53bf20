package slab

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/roots"
)

// With views each factor has a prior for the weights of each view. Where no task of a view needs
// the factor, π_vm → 0 and σ_vm² → 0 explain the weights equally well, so that the bound is flat between them. Weak priors
// decide for π_vm = 0. They count as viewWeight weights of variance priorScale, the variance at the
// start, and as viewWeight weights that are zero,
//
//	1/σ_vm² ~ Gamma(1 + ½·viewWeight, ½·viewWeight·priorScale),   π_vm ~ Beta(1, 1 + viewWeight).
//
// A π_vm or σ_vm² that is held has no such prior.
const viewWeight = 1

// startPriors sets the priors of the weights at the start, for data of the given power.
func (f Factors) startPriors(m *factors, power float64) error {
	p := f.Prior
	if p.Pi == 0 {
		p.Pi = 0.5
	}
	if p.Variance == 0 {
		p.Variance = 0.5 * power / (p.Pi * float64(m.M))
	}
	if err := p.validate(); err != nil {
		return err
	}
	count := 1
	if f.Views != nil {
		if err := checkViews(f.Views, m.Q); err != nil {
			return fmt.Errorf("vi: Views: %w", err)
		}
		m.views, m.viewOf, m.priorScale = f.Views, viewsOfTasks(f.Views), p.Variance
		count = len(f.Views) * m.M
	}
	m.priors = make([]Prior, count)
	for i := range m.priors {
		m.priors[i] = p
	}
	m.total, m.odds, m.logVar = make([]slabSums, count), make([]float64, count), make([]float64, count)
	return nil
}

// checkViews returns an error unless every view has a task and the views have the given number of tasks together.
func checkViews(views []int, tasks int) error {
	sum := 0
	for v, n := range views {
		if n < 1 || n > tasks {
			return fmt.Errorf("view %d has %d tasks", v, n)
		}
		if sum += n; sum > tasks {
			break
		}
	}
	if sum != tasks {
		return fmt.Errorf("%d tasks in all where there are %d", sum, tasks)
	}
	return nil
}

// viewsOfTasks returns the view of each task.
func viewsOfTasks(views []int) (of []int32) {
	for v, n := range views {
		for range n {
			of = append(of, int32(v))
		}
	}
	return of
}

// priorsOf returns where the priors of task q's weights are: weight k has the prior priors[first+k·step].
func (m *factors) priorsOf(q int) (first, step int) {
	if m.viewOf == nil {
		return 0, 0
	}
	return int(m.viewOf[q]) * m.M, 1
}

// withSlabWeights returns the sums with the weights for which the prior of σ_vm² counts.
func (m *factors) withSlabWeights(s pairSums) pairSums {
	if m.viewOf != nil {
		s.included += viewWeight
		s.slabPower += viewWeight * m.priorScale
	}
	return s
}

// withSpikeWeights returns the sums with the weights for which the prior of π_vm counts.
func (m *factors) withSpikeWeights(s pairSums) pairSums {
	if m.viewOf != nil {
		s.count += viewWeight
	}
	return s
}

// viewPriorsBound returns the log density of the σ_vm² and π_vm that are learned, 0 without views.
func (m *factors) viewPriorsBound() (sum float64) {
	if m.viewOf == nil {
		return 0
	}
	const shape = 1 + 0.5*viewWeight
	rate := 0.5 * viewWeight * m.priorScale
	gamma := special.LogGamma(shape)
	for _, p := range m.priors {
		if !m.held.Variance {
			sum += float64(shape*special.Log(rate)) - gamma - float64((shape-1)*special.Log(p.Variance)) - rate/p.Variance
		}
		if !m.held.Pi {
			sum += special.Log(1+viewWeight) + float64(viewWeight*special.Log1p(-p.Pi))
		}
	}
	return sum
}

// bestOfViews sets the changes of the scales that are best with views, and leaves the sums of all weights in total. A learned σ_vm² moves
// with the weights, whose terms then do not change. The factors' terms and the priors of σ_vm² remain,
//
//	−½N·x − ½S·e^−x − ½·viewWeight·Σ_v (x + e^−x·priorScale/σ_vm²),
//
// whose maximum is at e^x = (S + viewWeight·Σ_v priorScale/σ_vm²)/(N + viewWeight·V). With σ_vm² held, e^x is
// the root of [scaleStep] with Σ_v P_vm/σ_vm² for P/σ_w². With groups N and S are 0: the τ_gm² move with the factors.
func (m *factors) bestOfViews(s *scaleStep) {
	sums := m.sums()
	for k := range s.all {
		count, square := float64(m.N), s.all[k].square
		if m.groups != nil { // the variances of the factors move with the factors, whose terms then do not change
			count, square = 0, 0
		}
		var power float64
		for i := k; i < len(m.priors); i += m.M {
			power += sums[i].slabPower / m.priors[i].Variance
			if !m.held.Variance {
				count += viewWeight
				square += viewWeight * (m.priorScale / m.priors[i].Variance)
			}
		}
		change, ok := square/count, square > 0
		switch {
		case m.held.Variance && m.groups != nil:
			change, ok = s.all[k].included/power, power > 0 && s.all[k].included > 0
		case m.held.Variance:
			change, ok = roots.Ridge(float64(m.N)-s.all[k].included, square, power)
			ok = ok && power > 0
		}
		s.change[k] = 1
		if ok {
			s.change[k] = math.Sqrt(min(max(change, special.Exp(-maxScale)), special.Exp(maxScale)))
		}
	}
}

// rescaleViews changes the sums of factor k's weights in each view and the learned σ_vm², for weights that are multiplied by the root of
// square, whose logarithm is x. It needs the sums that bestOfViews leaves in total.
func (m *factors) rescaleViews(k int, square, x float64) {
	for i := k; i < len(m.priors); i += m.M {
		m.taskSums[i].rescale(square, x, m.total[i].included, m.total[i].slabPower)
		if !m.held.Variance {
			m.priors[i].Variance *= square
		}
	}
}

// validatePriors checks the priors of the weights.
func (s *FactorState) validatePriors() error {
	if s.Views == nil {
		return s.Prior.validate()
	}
	if err := checkViews(s.Views, len(s.Noise)); err != nil {
		return fmt.Errorf("Views: %w", err)
	}
	if want := len(s.Views) * s.Mean.Cols; len(s.Priors) != want {
		return fmt.Errorf("Priors: %d where %d are needed", len(s.Priors), want)
	}
	for i, p := range s.Priors {
		if err := p.validate(); err != nil {
			return fmt.Errorf("Priors[%d]: %w", i, err)
		}
	}
	return nil
}

// Explained returns the share of the variance of each view that the factors explain,
//
//	R²_vm = 1 − Σ(y_nq − E[c_q] − E[w_qm]·a_nm)²/Σ(y_nq − E[c_q])²,
//
// with the sums over the observed entries of view v. each, V×M, holds the share of each factor alone. all, V, holds the share of all
// factors together. Of a view that is not Gaussian they are shares of the deviance, with twice the difference of log p(y|y) and
// log p(y|f) for the square. Without views all tasks are one view. It returns an error unless y has the shape of the table of the fit.
//
// Source: R. Argelaguet et al., "Multi-Omics Factor Analysis", Molecular Systems Biology 14 (2018).
func (p *FactorPosterior) Explained(y *Observed) (each la.Matrix[float64], all []float64, err error) {
	whole, _, err := p.explained(y)
	if err != nil {
		return each, nil, err
	}
	return whole.each, whole.all, nil
}

// ExplainedByGroup returns what Explained does, for the objects of each group by themselves. Without groups it returns nil.
func (p *FactorPosterior) ExplainedByGroup(y *Observed) (each []la.Matrix[float64], all [][]float64, err error) {
	_, parts, err := p.explained(y)
	for _, s := range parts {
		each, all = append(each, s.each), append(all, s.all)
	}
	return each, all, err
}

// explained returns the shares of all objects, and with groups of the objects of each group.
func (p *FactorPosterior) explained(y *Observed) (whole *viewSquares, parts []*viewSquares, err error) {
	if y == nil || y.n != p.dim.N || y.q != p.dim.Q {
		return nil, nil, fmt.Errorf("vi: y: it is not the table of the fit, of %d×%d", p.dim.N, p.dim.Q)
	}
	views := p.s.Views
	if views == nil {
		views = []int{p.dim.Q}
	}
	whole = newViewSquares(len(views), p.dim.M)
	of := viewsOfTasks(views)
	if p.byGroup == nil {
		for n := range p.dim.N {
			whole.add(p, y, n, of)
		}
		whole.toShares()
		return whole, nil, nil
	}
	for range p.byGroup {
		parts = append(parts, newViewSquares(len(views), p.dim.M))
	}
	for n := range p.dim.N {
		parts[p.s.Groups.Of[n]].add(p.at(n), y, n, of)
	}
	for _, s := range parts {
		whole.merge(s)
		s.toShares()
	}
	whole.toShares()
	return whole, parts, nil
}

// viewSquares are sums of squares, or deviances, over the entries of each view: of what each factor alone leaves, of what all leave, and
// of the entries.
type viewSquares struct {
	each       la.Matrix[float64] // V×M
	all, total []float64          // V
}

// newViewSquares returns sums that are zero.
func newViewSquares(views, M int) *viewSquares {
	return &viewSquares{la.NewMatrix[float64](views, M), make([]float64, views), make([]float64, views)}
}

// merge adds the sums of t.
func (s *viewSquares) merge(t *viewSquares) {
	for v := range s.all {
		la.Axpy(1, t.each.Row(v), s.each.Row(v))
		s.all[v] += t.all[v]
		s.total[v] += t.total[v]
	}
}

// add adds the entries of object n. of has the view of each task.
func (s *viewSquares) add(p *FactorPosterior, y *Observed, n int, of []int32) {
	each, all, total := s.each, s.all, s.total
	a := p.s.Mean.Row(n)
	tasks, entries := y.Object(n)
	for i, q := range tasks {
		c, _ := p.offset(q)
		y, v, e := entries[i]-c, of[q], p.e.Row(q)
		rest, row := y, each.Row(int(v))
		if kind := p.kind(q); kind != Gaussian {
			y, f := entries[i], c
			for k, ak := range a {
				own := float64(e[k] * ak)
				f += own
				row[k] += kind.deviance(y, c+own)
			}
			total[v] += kind.deviance(y, c)
			all[v] += kind.deviance(y, f)
			continue
		}
		for k, ak := range a {
			f := float64(e[k] * ak)
			rest -= f
			row[k] += float64((y - f) * (y - f))
		}
		total[v] += float64(y * y)
		all[v] += float64(rest * rest)
	}
}

// toShares turns the sums into the shares that are explained.
func (s *viewSquares) toShares() {
	for v, t := range s.total {
		for k, r := range s.each.Row(v) {
			s.each.Row(v)[k] = share(r, t)
		}
		s.all[v] = share(s.all[v], t)
	}
}

// share returns 1 − rest/total, the share that is explained if rest is not. It is 0 if total is 0.
func share(rest, total float64) float64 {
	if total == 0 {
		return 0
	}
	return 1 - rest/total
}

// Reordered returns the posterior with its factors in another order: factor k is factor order[k] of p. It returns an error unless order is
// a permutation of the M factors.
func (p *FactorPosterior) Reordered(order []int) (*FactorPosterior, error) {
	M, s := p.dim.M, p.s
	sorted := slices.Sorted(slices.Values(order))
	for k := range M {
		if len(sorted) != M || sorted[k] != k {
			return nil, fmt.Errorf("vi: order: %v is no order of %d factors", order, M)
		}
	}
	s.Mean, s.Variance = la.NewMatrix[float64](p.dim.N, M), la.NewMatrix[float64](p.dim.N, M)
	for n := range p.dim.N {
		for k, from := range order {
			s.Mean.Set(n, k, p.s.Mean.At(n, from))
			s.Variance.Set(n, k, p.s.Variance.At(n, from))
		}
	}
	s.Weights = reordered(p.s.Weights, order)
	s.Priors, s.Lengths = reordered(p.s.Priors, order), reordered(p.s.Lengths, order)
	if b := s.Groups; b != nil {
		own := *b
		own.Variance = la.NewMatrix[float64](b.groups(), M)
		for g := range b.groups() {
			copy(own.Variance.Row(g), reordered(b.Variance.Row(g), order))
		}
		s.Groups = &own
	}
	return NewFactorPosterior(s)
}

// reordered returns x in another order of the M factors. Entry i of x belongs to factor i mod M.
func reordered[T any](x []T, order []int) []T {
	if x == nil {
		return nil
	}
	to := make([]T, len(x))
	for i := range to {
		k := i % len(order)
		to[i] = x[i-k+order[k]]
	}
	return to
}
