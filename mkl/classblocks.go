package mkl

import (
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// blockShare is the share of the tolerance that the members of a block leave to each other: rounding of float32 seldom needs more.
const blockShare = 1.0 / 16

// classBlocks predicts the classes of blocks of samples, for one caller. Members whose functions need all rows of their triangles compute
// variances as products of the triangles in float32 with the kernels of all samples of a block. The others, which leave rows out for
// each sample by itself, predict sample by sample.
type classBlocks[T comparable] struct {
	*processClassPredictor[T]
	s       *bankScratch
	rows    *mgp.Rows
	members []blockClasses[T]
	others  []int // members, in the order of their predictions
	level   levelRow

	sum           la.Matrix[float64] // by sample, of the probabilities so far
	errors        []float64          // by sample, the bound so far
	square, bound []float64          // by sample, of a triangle
}

// blockClasses is a member that predicts blocks.
type blockClasses[T comparable] struct {
	*classMember[T]
	functions []blockScore
}

// blockScore is a function of a member, and what is known of it for each sample of a block.
type blockScore struct {
	*processFunction
	set        int // of composite kernels in [classBlocks].rows
	mean, self []float64
	certified  []vi.Certified
}

// inBlocks reports whether the member predicts blocks.
func (m *classMember[T]) inBlocks() bool {
	return m.functions != nil && !m.refines && !slices.ContainsFunc(m.functions, func(f pointFunction) bool {
		p := f.process
		return !p.inBlocks() || p.noise != nil || p.triangle == nil || p.triangle.Fine() < leastTriedInBlock
	})
}

// blocks returns memory for the prediction of blocks, or nil if no member gains from them.
func (p *processClassPredictor[T]) blocks() *classBlocks[T] {
	b := &classBlocks[T]{processClassPredictor: p}
	var orders []int
	for _, i := range p.order {
		m := &p.members[i]
		if !m.inBlocks() {
			b.others = append(b.others, i)
			continue
		}
		member := blockClasses[T]{classMember: m}
		for _, f := range m.functions {
			member.functions = append(member.functions, blockScore{
				f.process, len(orders), make([]float64, blockSamples), make([]float64, blockSamples), make([]vi.Certified, blockSamples),
			})
			orders = append(orders, f.process.dim())
		}
		b.members = append(b.members, member)
	}
	if b.members == nil {
		return nil
	}
	b.s, b.rows = p.bank.pool.Create(), mgp.NewRows(blockSamples, orders...)
	b.sum, b.errors = la.NewMatrix[float64](blockSamples, len(p.classes)), make([]float64, blockSamples)
	b.square, b.bound = make([]float64, blockSamples), make([]float64, blockSamples)
	return b
}

// predict predicts the samples from first to last−1, at most [blockSamples], and stores the errors of those that have one.
func (b *classBlocks[T]) predict(first, last int, at func(i int) [][]float64, out *ManyClasses[T], failures []error) {
	n := last - first
	for r := range n {
		x := at(first + r)
		if failures[r] = checkPoint(b.inputs, x); failures[r] != nil {
			n = r // the samples after it are not predicted
			break
		}
		if b.levels != nil {
			x = b.levels.point(&b.level, x)
		}
		b.begin(r, x)
	}
	for i := range b.members {
		for j := range b.members[i].functions {
			f := &b.members[i].functions[j]
			f.triangle.Squares(b.rows, f.set, b.square[:n], b.bound[:n])
			for r, square := range b.square[:n] {
				f.certified[r] = f.posterior.Certified(f.mean[r], f.self[r]-square, b.bound[r])
			}
		}
	}
	for r := range n {
		i, p := first+r, b.sum.Row(r)
		if !b.finish(r) || checkClasses(p) != nil {
			out.Class[i], out.Bound[i], failures[r] = b.predictBounded(out.Probability[i], at(i))
			continue
		}
		out.Class[i], out.Bound[i] = b.classes[vec.ArgMax(p)], b.errors[r]
		copy(out.Probability[i], p)
	}
}

// begin computes the kernels of sample r of the block, and predicts it by the members that do not predict blocks.
func (b *classBlocks[T]) begin(r int, x [][]float64) {
	s := b.s
	s.Begin()
	for i := range b.members {
		for j := range b.members[i].functions {
			f := &b.members[i].functions[j]
			k := s.phi[:f.dim()]
			f.self[r] = b.bank.weigh(s.BankScratch, f.shared, x, k)
			f.mean[r] = f.posterior.MeanOf(k)
			b.rows.Set(f.set, r, k, f.self[r])
		}
	}
	bound, tolerance, sum := 0.0, float64((1-blockShare)*b.tolerance), b.sum.Row(r)
	clear(sum)
	for _, i := range b.others {
		m := &b.processClassPredictor.members[i]
		bound += float64(m.weight * m.predict(&b.bank, s, x, hasty, (tolerance-bound)*m.share))
		la.Axpy(m.weight, s.log, sum)
	}
	b.errors[r] = bound
}

// finish adds the members that predict blocks to the prediction of sample r, and reports whether it is within the tolerance.
func (b *classBlocks[T]) finish(r int) bool {
	sum := b.sum.Row(r)
	for i := range b.members {
		m, moved := &b.members[i], false
		for o := range m.functions {
			f := &m.functions[o]
			if !f.certified[r].Within(f.tolerance) {
				return false
			}
			moves := b.s.setScore(o, f.certified[r])
			moved = moved || moves
		}
		b.errors[r] += float64(m.weight * m.decide(b.s, moved))
		la.Axpy(m.weight, b.s.log, sum)
	}
	return b.errors[r] <= b.tolerance
}
