package slab

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/roots"
)

// With groups the objects are of several conditions, batches or studies. They share the weights, and each group g has a variance of each
// factor, and offsets and noise of its own:
//
//	φ_nm ~ N(0, τ_gm²),   c_gq ~ N(μ_c, σ_c²),   y_nq ~ N(c_gq + Σ_m w_qm·φ_nm, σ_gq²)   for the objects n of group g.
//
// A factor with τ_gm² = 0 is silent in group g. The densities of 1/τ_gm² are flat. An entry has its own target y − c_gq and precision
// 1/σ_gq², as entries that are not Gaussian have, so that the sums over lines are the same as with sites. Derived in
// docs/theory/factors.md, section 7.

// leastGroupVariance is the smallest τ_gm², for factors whose prior variance is about 1.
const leastGroupVariance = 1e-12

// FactorGroups is what a [FactorState] has of the groups of its objects.
type FactorGroups struct {
	Of       []int              // group of each object, N
	Variance la.Matrix[float64] // τ_gm², G×M
	Noise    la.Matrix[float64] // σ_gq², G×Q; 1 for tasks that are not Gaussian

	// E[c_gq] and Var[c_gq], G×Q; empty without offsets.
	Offset, OffsetVariance la.Matrix[float64]
}

// sampleGroups are the groups of a fit.
type sampleGroups struct {
	FactorGroups
	members [][]int            // objects of each group
	count   la.Matrix[float64] // entries of each group and task, G×Q
	error2  la.Matrix[float64] // Σ_n∈g E[(y_nq − f_nq)²], or with sites Σ_n∈g λ_nq·E[(z_nq − f_nq)²]
	lambda  []float64          // N, of the factor at work
	cuts    []int              // 0, 1, …, G: a block of work for each group
}

// checkGroups returns the number of groups, or an error unless of has the group of each object, and each group two objects.
func checkGroups(of []int, objects int) (int, error) {
	if len(of) != objects {
		return 0, fmt.Errorf("%d for %d objects", len(of), objects)
	}
	count := 0
	for n, g := range of {
		if g < 0 || g >= objects {
			return 0, fmt.Errorf("object %d is of group %d", n, g)
		}
		count = max(count, g+1)
	}
	size := make([]int, count)
	for _, g := range of {
		size[g]++
	}
	for g, n := range size {
		if n < 2 {
			return 0, fmt.Errorf("group %d has %d objects: it needs two", g, n)
		}
	}
	return count, nil
}

// divide makes the groups of a fit, if there are any. The start of the noise is the noise of the tasks, and the offsets start at the
// means of the groups.
func (f Factors) divide(m *factors, variance float64) {
	if f.Groups == nil {
		return
	}
	G := slices.Max(f.Groups) + 1
	s := &sampleGroups{
		FactorGroups: FactorGroups{Of: f.Groups, Variance: la.NewMatrix[float64](G, m.M), Noise: la.NewMatrix[float64](G, m.Q)},
		members:      make([][]int, G), count: la.NewMatrix[float64](G, m.Q), error2: la.NewMatrix[float64](G, m.Q), lambda: make([]float64, m.N),
	}
	for n, g := range s.Of {
		s.members[g] = append(s.members[g], n)
	}
	for g := range G + 1 {
		s.cuts = append(s.cuts, g)
	}
	s.Variance.Fill(1)
	for q := range m.Q {
		index, _ := m.y.byTask.line(q)
		for _, n := range index {
			s.count.Row(s.Of[n])[q]++
		}
		for g := range G {
			s.Noise.Set(g, q, m.noise[q])
		}
		m.noise[q] = 1 // the entries have the precisions
	}
	m.groups, m.h = s, make([]float64, m.N)
	m.lineStats = make([]lineStats, m.N)
	for n := range m.lineStats {
		m.lineStats[n] = lineStats{gram: la.NewMatrix[float64](m.M, m.M), cross: make([]float64, m.M), variance: make([]float64, m.M)}
	}
	m.memory.Of(s.Variance.Data, s.Noise.Data)
	if !f.Offsets {
		return
	}
	s.Offset, s.OffsetVariance = la.NewMatrix[float64](G, m.Q), la.NewMatrix[float64](G, m.Q)
	s.OffsetVariance.Fill(variance)
	for q := range m.Q {
		index, value := m.y.byTask.line(q)
		for i, n := range index {
			s.Offset.Row(s.Of[n])[q] += value[i] / s.count.At(s.Of[n], q)
		}
		for g := range G {
			if count := s.count.At(g, q); m.hasSites(q) && count > 0 {
				s.Offset.Set(g, q, m.kinds[q].start(s.Offset.At(g, q), count))
			}
		}
	}
	m.memory.Of(s.Offset.Data, s.OffsetVariance.Data)
}

// offset returns E[c_gq] and Var[c_gq]; they are 0 without offsets.
func (s *FactorGroups) offset(g, q int) (mean, variance float64) {
	if s.Offset.Rows == 0 {
		return 0, 0
	}
	return s.Offset.At(g, q), s.OffsetVariance.At(g, q)
}

// groupOffset returns the offset of task q at object n with its variance. Both are 0 without groups, where the moments hold offsets.
func (m *factors) groupOffset(n, q int) (mean, variance float64) {
	if m.groups == nil {
		return 0, 0
	}
	return m.groups.offset(m.groups.Of[n], q)
}

// updateGroupedObjects is updateObjects with groups. The variances τ_gm² of a factor and its q(φ_nm) at all objects are updated together.
// With λ_n and h_n of updateObjects the bound is, for the best q(φ_nm) under τ²,
//
//	½ Σ_n∈g [ h_n²·τ²/(1 + λ_n·τ²) − log(1 + λ_n·τ²) ].
func (m *factors) updateGroupedObjects(from, to int) {
	s := m.groups
	side := half{lines: &m.y.byObject, blocks: m.objectBlocks, other: &m.task, means: m.M, weight: 1}
	m.crew.each(side.blocks, func(c *lineWorker, block int) {
		for n := side.blocks[block]; n < side.blocks[block+1]; n++ {
			to, own := &m.lineStats[n], c.stats(&side, n)
			to.gram.CopyFrom(own.gram)
			copy(to.cross, own.cross)
			copy(to.variance, own.variance)
		}
	})
	for k := from; k < to; k++ {
		m.crew.each(side.blocks, func(_ *lineWorker, block int) {
			for n := side.blocks[block]; n < side.blocks[block+1]; n++ {
				own, a := &m.lineStats[n], m.object.mean.Row(n)[:m.M]
				g := own.gram.Row(k)
				s.lambda[n] = g[k] + own.variance[k]
				m.h[n] = own.cross[k] - la.Dot(g, a) + float64(g[k]*a[k])
			}
		})
		m.crew.each(s.cuts, func(_ *lineWorker, g int) {
			t := s.Variance.At(g, k)
			if m.sweeps > groupWait {
				t = m.bestGroupVariance(s.members[g], t)
				s.Variance.Set(g, k, t)
			}
			for _, n := range s.members[g] {
				v := 1 / (1/t + s.lambda[n])
				m.object.variance.Row(n)[k], m.object.mean.Row(n)[k] = v, v*m.h[n]
			}
		})
	}
	m.crew.each(side.blocks, func(_ *lineWorker, block int) {
		var sum float64
		for n := side.blocks[block]; n < side.blocks[block+1]; n++ {
			a, prior := m.object.mean.Row(n), s.Variance.Row(s.Of[n])
			for k, v := range m.object.variance.Row(n) {
				sum += float64(0.5 * (special.Log(v/prior[k]) + 1 - (v+float64(a[k]*a[k]))/prior[k]))
			}
		}
		m.objectSums[block] = sum
	})
}

// groupWait is the number of sweeps before the τ_gm² are learned: only the scale step moves them. The factors of a random start explain
// next to nothing, and would be silenced before they have turned to the data.
const groupWait = 10

// bestGroupVariance returns the τ² of a group of objects with the highest bound of three: the present one, silence, and the maximum uphill from the
// present one. The bound may have more maxima.
func (m *factors) bestGroupVariance(members []int, present float64) float64 {
	lambda, h := m.groups.lambda, m.h
	downhill := func(x float64) (sum float64) { // minus twice the derivative by τ²
		t := special.Exp(x)
		for _, n := range members {
			r := 1 / (1 + float64(lambda[n]*t))
			sum += float64((lambda[n] - float64(float64(h[n]*h[n])*r)) * r)
		}
		return sum
	}
	value := func(t float64) (sum float64) { // twice the bound
		for _, n := range members {
			u := float64(lambda[n] * t)
			sum += float64(float64(h[n]*h[n])*(t/(1+u))) - special.Log1p(u)
		}
		return sum
	}
	most := 0.0 // beyond it every term falls
	for _, n := range members {
		if l := lambda[n]; l > 0 {
			most = max(most, (float64(h[n]*h[n])-l)/(l*l))
		}
	}
	best, high := present, value(present)
	try := func(t float64) {
		if v := value(t); v > high {
			best, high = t, v
		}
	}
	try(leastGroupVariance)
	from, to, at := special.Log(leastGroupVariance), special.Log(max(most, leastGroupVariance)), special.Log(present)
	switch {
	case to <= from:
		return best
	case at > from && at < to && downhill(at) < 0:
		from = at
	case at > from && at < to:
		to = at
	}
	if downhill(from) < 0 {
		try(special.Exp(roots.FindWithin(downhill, from, to, 1e-9)))
	}
	return best
}

// updateGroupOffsets is q(c_gq) = N(mean, v) with the precisions λ_nq of the entries,
//
//	1/v = Σ_n∈g λ_nq + 1/σ_c²,   mean = v·(Σ_n∈g λ_nq·(z_nq − Σ_m E[w_qm]·a_nm) + μ_c/σ_c²),
//
// if there are offsets, and then computes the errors of the entries from the entries one by one.
func (m *factors) updateGroupOffsets(offsets bool) {
	s, by := m.groups, &m.y.byTask
	G := len(s.members)
	m.crew.each(m.taskBlocks, func(_ *lineWorker, block int) {
		weight, pull, move := make([]float64, G), make([]float64, G), make([]float64, G)
		for q := m.taskBlocks[block]; q < m.taskBlocks[block+1]; q++ {
			index, value := by.line(q)
			root := by.root[by.start[q]:]
			e := m.task.mean.Row(q)
			if offsets && s.Offset.Rows > 0 {
				clear(weight)
				clear(pull)
				for i, n := range index {
					g, precision := s.Of[n], float64(root[i]*root[i])
					weight[g] += precision
					pull[g] += float64(precision * (value[i] - la.Dot(m.object.mean.Row(int(n)), e)))
				}
				p := m.offsetPriorOf(q)
				for g := range G {
					v, c := 1/(weight[g]+1/p.Variance), s.Offset.At(g, q)
					now := float64(v * (pull[g] + float64(weight[g]*c) + p.Mean/p.Variance))
					s.OffsetVariance.Set(g, q, v)
					s.Offset.Set(g, q, now)
					move[g] = now - c
				}
				for i, n := range index {
					value[i] -= move[s.Of[n]]
				}
			}
			for g := range G {
				s.error2.Set(g, q, 0)
			}
			for i, n := range index {
				g := s.Of[n]
				_, own := s.offset(g, q)
				r := value[i] - la.Dot(m.object.mean.Row(int(n)), e)
				square := float64(r*r) + m.spread(int(n), q, own)
				if m.hasSites(q) {
					square *= root[i] * root[i]
				}
				s.error2.Row(g)[q] += square
			}
		}
	})
	m.copyTargets()
}

// updateGroupNoise is updateNoise with groups: for each group and task, or for each group alone if the noise of tasks is shared.
func (m *factors) updateGroupNoise() {
	if m.held.Noise {
		return
	}
	s := m.groups
	for g := range s.members {
		var shared, entries float64
		for q, e := range s.error2.Row(g) {
			if m.hasSites(q) {
				continue
			}
			n := s.count.At(g, q)
			shared, entries = shared+e, entries+n
			if n += m.noiseWeight; m.perTask && n > 0 {
				s.Noise.Set(g, q, max((e+float64(m.noiseWeight*m.noiseScale))/n, m.floor))
			}
		}
		for q := range s.Noise.Row(g) {
			if !m.perTask && entries > 0 && !m.hasSites(q) {
				s.Noise.Set(g, q, max(shared/entries, m.floor))
			}
		}
	}
	if m.perTask {
		m.updateNoiseScale()
	}
}

// eachNoise calls do with the noise of every Gaussian task, or of every group and Gaussian task.
func (m *factors) eachNoise(do func(v float64)) {
	rows := [][]float64{m.noise}
	if m.groups != nil {
		rows = rows[:0]
		for g := range m.groups.members {
			rows = append(rows, m.groups.Noise.Row(g))
		}
	}
	for _, row := range rows {
		for q, v := range row {
			if !m.hasSites(q) {
				do(v)
			}
		}
	}
}

// groupsBound is what the entries and the offsets have of the bound with groups.
func (m *factors) groupsBound() (sum float64) {
	s := m.groups
	for g := range s.members {
		for q, e := range s.error2.Row(g) {
			if m.hasSites(q) {
				sum -= float64(0.5 * e)
			} else {
				v := s.Noise.At(g, q)
				sum -= float64(0.5 * (float64(s.count.At(g, q)*special.Log(2*math.Pi*v)) + e/v))
			}
			if s.Offset.Rows > 0 {
				c, v := s.offset(g, q)
				sum += m.offsetPriorOf(q).bound(c, v)
			}
		}
	}
	for _, v := range m.level {
		sum += v
	}
	return sum
}

// bound returns minus the divergence of an offset of the given mean and variance from its prior.
func (p OffsetPrior) bound(mean, variance float64) float64 {
	d := mean - p.Mean
	return float64(0.5 * (special.Log(variance/p.Variance) + 1 - (variance+float64(d*d))/p.Variance))
}

// rescaleGroups changes the τ_gm² of factor k, whose weights are multiplied by the root of square.
func (m *factors) rescaleGroups(k int, square float64) {
	for g := range m.groups.members {
		t := &m.groups.Variance.Row(g)[k]
		*t = max(*t/square, 0x1p-1000)
	}
}

// groups returns how many groups there are.
func (s *FactorGroups) groups() int { return s.Variance.Rows }

// validateGroups checks what a state has of groups.
func (s *FactorState) validateGroups() error {
	b := s.Groups
	if b == nil {
		return nil
	}
	N, M, Q := s.Mean.Rows, s.Mean.Cols, len(s.Noise)
	G, err := checkGroups(b.Of, N)
	if err != nil {
		return fmt.Errorf("Groups.Of: %w", err)
	}
	if s.Views == nil || s.Lengths != nil || s.Offset != nil {
		return fmt.Errorf("Groups: they have views, no lengths, and offsets of their own")
	}
	if err := check.Parts(
		check.Matrix("Groups.Variance", b.Variance, G, M, check.Positive),
		check.Matrix("Groups.Noise", b.Noise, G, Q, check.Positive),
	); err != nil || b.Offset.Rows == 0 {
		return err
	}
	return check.Parts(
		check.Matrix("Groups.Offset", b.Offset, G, Q, check.Finite),
		check.Matrix("Groups.OffsetVariance", b.OffsetVariance, G, Q, check.Positive),
		s.validateOffsetPriors,
	)
}

// Group returns the posterior of the objects of group g, with which [FactorPosterior.Transform] and the other methods describe new objects
// of the group. Without groups it returns p. It panics unless g is a group of the fit.
func (p *FactorPosterior) Group(g int) *FactorPosterior {
	if p.byGroup == nil {
		return p
	}
	return p.byGroup[g]
}

// ofGroup makes the posterior of the objects of group g.
func (p *FactorPosterior) ofGroup(g int) *FactorPosterior {
	b := p.s.Groups
	one := *p
	one.s.Groups, one.byGroup = nil, nil
	one.s.Noise, one.precision = b.Noise.Row(g), make([]float64, p.dim.M)
	for k, v := range b.Variance.Row(g) {
		one.precision[k] = 1 / v
	}
	if b.Offset.Rows > 0 {
		one.s.Offset, one.s.OffsetVariance = b.Offset.Row(g), b.OffsetVariance.Row(g)
	}
	return &one
}

// at returns the posterior of the group of object n.
func (p *FactorPosterior) at(n int) *FactorPosterior {
	if p.byGroup == nil {
		return p
	}
	return p.byGroup[p.s.Groups.Of[n]]
}

// setGroups makes the posteriors of the groups.
func (p *FactorPosterior) setGroups() {
	if p.s.Groups == nil {
		return
	}
	var all []*FactorPosterior
	for g := range p.s.Groups.groups() {
		all = append(all, p.ofGroup(g))
	}
	p.byGroup = all
}
