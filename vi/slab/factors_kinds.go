package slab

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// kindsOf returns the kind of each task, or nil if all are Gaussian, and checks the entries.
func (f Factors) kindsOf(y *Observed) ([]FactorKind, error) {
	if f.Kinds == nil {
		return nil, nil
	}
	if len(f.Kinds) != len(f.Views) {
		return nil, fmt.Errorf("vi: Kinds: %d for %d views", len(f.Kinds), len(f.Views))
	}
	for v, k := range f.Kinds {
		if k < Gaussian || k > Poisson {
			return nil, fmt.Errorf("vi: Kinds[%d] is %d", v, k)
		}
	}
	if err := checkViews(f.Views, y.q); err != nil {
		return nil, fmt.Errorf("vi: Views: %w", err)
	}
	kinds := kindsOfTasks(f.Kinds, f.Views)
	if kinds == nil {
		return nil, nil
	}
	for n := range y.n {
		tasks, entries := y.Object(n)
		for i, q := range tasks {
			if err := kinds[q].Check(entries[i]); err != nil {
				return nil, fmt.Errorf("vi: y: entry (%d, %d) %w", n, q, err)
			}
		}
	}
	return kinds, nil
}

// kindsOfTasks returns the kind of each task, or nil if all are Gaussian.
func kindsOfTasks(kinds []FactorKind, views []int) (of []FactorKind) {
	if !slices.ContainsFunc(kinds, func(k FactorKind) bool { return k != Gaussian }) {
		return nil
	}
	for v, n := range views {
		of = append(of, slices.Repeat(kinds[v:v+1], n)...)
	}
	return of
}

// kindsOfViews returns the kind of each view.
func kindsOfViews(tasks []FactorKind, views []int) (of []FactorKind) {
	first := 0
	for _, n := range views {
		of = append(of, tasks[first])
		first += n
	}
	return of
}

// momentsOf returns the mean and the variance of the Gaussian entries. If tasks are of other kinds it returns the mean 0, and the variance 1
// if no task is Gaussian.
func momentsOf(y *Observed, kinds []FactorKind) (mean, variance float64) {
	if kinds == nil {
		return y.moments()
	}
	var count, sum float64
	each := func(do func(v float64)) {
		for n := range y.n {
			tasks, entries := y.Object(n)
			for i, q := range tasks {
				if kinds[q] == Gaussian {
					do(entries[i])
				}
			}
		}
	}
	each(func(v float64) { count, sum = count+1, sum+v })
	if count == 0 {
		return 0, 1
	}
	each(func(v float64) {
		d := v - sum/count
		variance += float64(d*d) / count
	})
	return 0, variance
}

// hasSites reports whether task q is not Gaussian, so that its entries have sites.
func (m *factors) hasSites(q int) bool { return m.kinds != nil && m.kinds[q] != Gaussian }

// withRoots returns the same entries in lines, each with the root 1 of its precision.
func (y *Observed) withRoots() *Observed {
	to := y
	if y.complete() {
		all := make([]Entry, 0, y.n*y.q)
		for n := range y.n {
			for q, v := range y.dense.Row(n) {
				all = append(all, Entry{int32(n), int32(q), v})
			}
		}
		to, _ = ObserveEntries(y.n, y.q, all) // entries that were observed are valid
	}
	with := func(l lines) lines {
		l.value = slices.Clone(l.value)
		l.root = slices.Repeat([]float64{1}, len(l.value))
		return l
	}
	return &Observed{n: to.n, q: to.q, byObject: with(to.byObject), byTask: with(to.byTask)}
}

// beginSites sets the offsets of tasks that are not Gaussian to what gives their mean entry, and the sites there.
func (m *factors) beginSites() {
	if m.kinds == nil && m.groups == nil {
		return
	}
	for q := range m.Q {
		if index, value := m.y.byTask.line(q); m.hasSites(q) && m.K > m.M && len(index) > 0 {
			var mean float64
			for _, v := range value {
				mean += v / float64(len(value))
			}
			m.task.mean.Set(q, m.M, m.kinds[q].start(mean, float64(len(value))))
		}
	}
	m.raw = &Observed{n: m.N, q: m.Q, byObject: m.y.byObject, byTask: m.y.byTask}
	m.raw.byObject.value, m.raw.byTask.value = slices.Clone(m.y.byObject.value), slices.Clone(m.y.byTask.value)
	m.updateSites()
}

// Entries of 0 and 1 say little each: a site has a precision of at most ¼, under which random factors explain next to nothing, and the
// spike takes their weights before they have turned to the data. The first sweep of a drawn start therefore comes after sharpSweeps
// sweeps in which an entry counts as sharper entries, so that its site has a precision of up to 1.
const (
	sharper     = 4
	sharpSweeps = 5
)

// sharpen makes the sweeps of the start in which entries of 0 and 1 count more.
func (m *factors) sharpen() error {
	m.sharp = true
	defer func() { m.sharp, m.sweeps = false, 0 }()
	for range sharpSweeps {
		m.sweeps++
		if err := work.Sweep(&m.Stop, m.updates, func(string) {}); err != nil {
			return err
		}
	}
	return nil
}

// updateSites sets the targets and the precisions of the entries that are not Gaussian to those whose bound is highest under q(f).
func (m *factors) updateSites() {
	by := &m.y.byTask
	m.crew.each(m.taskBlocks, func(_ *lineWorker, block int) {
		for q := m.taskBlocks[block]; q < m.taskBlocks[block+1]; q++ {
			if !m.hasSites(q) && m.groups == nil {
				continue
			}
			index, value := m.raw.byTask.line(q)
			first := by.start[q]
			m.level[q] = 0
			for i, n := range index {
				c, own := m.groupOffset(int(n), q)
				if !m.hasSites(q) {
					by.value[first+i], by.root[first+i] = value[i]-c, 1/math.Sqrt(m.groups.Noise.At(m.groups.Of[n], q))
					continue
				}
				s := m.kinds[q].site(value[i], c+la.Dot(m.object.mean.Row(int(n))[:m.K], m.task.mean.Row(q)), m.spread(int(n), q, own))
				if m.sharp && m.kinds[q] == Bernoulli {
					s.precision *= sharper
				}
				by.value[first+i], by.root[first+i] = s.target-c, math.Sqrt(s.precision)
				m.level[q] += s.level
			}
		}
	})
	m.copyTargets()
}

// copyTargets copies the targets and precisions of the entries from the lines of the tasks to the lines of the objects.
func (m *factors) copyTargets() {
	by := &m.y.byTask
	// The entries of a task are in the order of their objects.
	next := slices.Clone(by.start[:m.Q])
	to := &m.y.byObject
	for i, q := range to.index {
		to.value[i], to.root[i] = by.value[next[q]], by.root[next[q]]
		next[q]++
	}
}

// spread returns the variance of the function of task q at object n, plus the variance own of an entry.
func (m *factors) spread(n, q int, own float64) (variance float64) {
	variance = own
	a, w := m.object.mean.Row(n), m.task.mean.Row(q)
	A, v := m.object.variance.Row(n), m.task.variance.Row(q)
	if m.K > m.M {
		variance += m.offsetVar[q]
	}
	for k := range A {
		variance += float64((float64(w[k]*w[k])+v[k])*A[k]) + float64(v[k]*float64(a[k]*a[k]))
	}
	return variance
}

// validateKinds checks the kinds of the views.
func (s *FactorState) validateKinds() error {
	if s.Kinds == nil {
		return nil
	}
	if len(s.Kinds) != len(s.Views) {
		return fmt.Errorf("Kinds: %d for %d views", len(s.Kinds), len(s.Views))
	}
	q := 0
	for v, k := range s.Kinds {
		if k < Gaussian || k > Poisson {
			return fmt.Errorf("Kinds[%d] is %d", v, k)
		}
		for range s.Views[v] {
			if k != Gaussian && s.Noise[q] != 1 {
				return fmt.Errorf("Noise[%d] is %g: a view that is not Gaussian has 1", q, s.Noise[q])
			}
			q++
		}
	}
	return nil
}

// validateOffsetPriors checks the prior of the offsets, or of the offsets of each view.
func (s *FactorState) validateOffsetPriors() error {
	priors := []OffsetPrior{s.OffsetPrior}
	if kindsOfTasks(s.Kinds, s.Views) != nil {
		if priors = s.OffsetPriors; len(priors) != len(s.Views) {
			return fmt.Errorf("OffsetPriors: %d for %d views", len(priors), len(s.Views))
		}
	}
	for _, p := range priors {
		if err := check.Parts(
			check.Number("OffsetPrior.Variance", p.Variance, check.Positive),
			check.Number("OffsetPrior.Mean", p.Mean, check.Finite),
		); err != nil {
			return err
		}
	}
	return nil
}

// kind returns the kind of task q.
func (p *FactorPosterior) kind(q int) FactorKind {
	if p.kinds == nil {
		return Gaussian
	}
	return p.kinds[q]
}

// Outcome returns the mean and the variance of an entry of task q whose function has the given mean and variance. It adds the noise
// of a Gaussian task. Of another task it averages the mean entry, and its variance, over a normal distribution of the function.
func (p *FactorPosterior) Outcome(q int, mean, function float64) (inMean, inVariance float64) {
	if k := p.kind(q); k != Gaussian {
		return k.moments(mean, function)
	}
	return mean, function + p.s.Noise[q]
}

// errUnsettled says that the sites of a new object still moved after siteRounds rounds.
var errUnsettled = errors.New("the bound of the entries has not settled")

// siteRounds is the number of rounds in which the sites of a new object settle at most, and siteChange the change of the factors
// below which they have.
const (
	siteRounds = 1000
	siteChange = 1e-9
)
