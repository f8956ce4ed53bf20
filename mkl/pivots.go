package mkl

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// pivotKernels computes the kernels between one sample and the pivots of a projection:
// those of each view with training samples of its own.
type pivotKernels struct {
	groups []pivotGroup
	inputs []input
	views  []boundView
	picks  [][]int   // of each view, its pivots among its group's samples
	first  []int     // where the kernels of each view begin; in the end how many there are
	selves []float64 // of each view, the kernel of every sample with itself; NaN if it varies
	d      int       // basis points of the model
	pool   scratchPool
}

// pivotGroup is a group of the design with the samples that any of its views needs.
type pivotGroup struct {
	group
	all bool // the samples are the model's basis points
}

// newPivotKernels returns the kernels of ds with pivots of each view; predictions
// need so much spare scratch memory besides.
func newPivotKernels(ds *design, pivots [][]int, spare int) *pivotKernels {
	p := &pivotKernels{inputs: ds.inputs, views: slices.Clone(ds.views), picks: make([][]int, len(pivots)), first: []int{0}, selves: make([]float64, len(pivots)), d: ds.d}
	for i, own := range pivots {
		p.first = append(p.first, p.first[i]+len(own))
		v := &p.views[i]
		if v.center {
			v.rowMean = picked(v.rowMean, own)
		}
		if v.normalize {
			v.unit = picked(v.unit, own)
		}
	}
	longest := 0
	for _, g := range ds.groups {
		pg := pivotGroup{group: g}
		var samples []int
		for _, i := range g.views {
			pg.all = pg.all || ds.views[i].center // the mean over all samples is wanted
			samples = append(samples, pivots[i]...)
		}
		slices.Sort(samples)
		samples = slices.Compact(samples)
		if !pg.all {
			pg.basis = g.basis.TakeRows(samples)
		}
		for _, i := range g.views {
			if p.selves[i] = math.NaN(); g.stat.isDistance() && !ds.views[i].center && !ds.views[i].normalize {
				p.selves[i] = 0
				ds.views[i].kernel.apply(p.selves[i : i+1])
			}
			p.picks[i] = pivots[i]
			if !pg.all {
				p.picks[i] = make([]int, len(pivots[i]))
				for n, d := range pivots[i] {
					p.picks[i][n], _ = slices.BinarySearch(samples, d)
				}
			}
		}
		longest = max(longest, pg.basis.Rows)
		p.groups = append(p.groups, pg)
	}
	p.pool = newScratchPool(func() *scratch {
		s := &scratch{ws: la.Workspace{Workers: 1}, self: make([]float64, len(p.views))}
		for i := range p.groups {
			g := &p.groups[i]
			s.z = append(s.z, make([]float64, g.sight.cols(p.inputs[g.input].cols)))
		}
		s.stat, s.raw = make([]float64, longest), make([]float64, longest)
		s.phi, s.solved = make([]float64, p.first[len(p.views)]), make([]float64, spare)
		return s
	})
	return p
}

// compute stores the kernels of the sample x with the pivots in s.phi, view after
// view, and those with itself in s.self.
func (p *pivotKernels) compute(s *scratch, x [][]float64) {
	for i := range p.groups {
		g := &p.groups[i]
		z, stat := s.z[i], s.stat[:g.basis.Rows]
		p.inputs[g.input].see(z, x[g.input], g.sight, g.stat.widths)
		if len(stat) > 0 {
			g.stat.compute(&s.ws, la.MatrixOf(1, len(z), z), g.basis, la.MatrixOf(1, len(stat), stat))
		}
		for _, n := range g.views {
			v, k := &p.views[n], s.phi[p.first[n]:p.first[n+1]]
			mean := 0.0
			if v.center {
				raw := s.raw[:len(stat)]
				copy(raw, stat)
				v.kernel.apply(raw)
				mean = total(raw) / float64(len(raw))
				pick(k, raw, p.picks[n])
			} else {
				pick(k, stat, p.picks[n])
				v.kernel.apply(k)
			}
			self := s.self[n : n+1]
			if self[0] = p.selves[n]; !math.IsNaN(self[0]) {
				continue
			}
			self[0] = g.statisticOfOne(v, z)
			v.kernel.apply(self)
			self[0] = v.adjust(k, mean, self[0])
		}
	}
}

// definite reports whether all kernels of the design are computed from features, which no
// sample may lack, and known to be positive definite.
func (ds *design) definite() bool {
	for i := range ds.inputs {
		if ds.inputs[i].gaps {
			return false
		}
	}
	for i := range ds.views {
		switch k := ds.views[i].kernel.(type) {
		case RBF, Laplacian, Linear, Constant:
		case Polynomial:
			if k.filled().Offset < 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// trainingKernels computes the kernels of some of a design's basis points.
type trainingKernels struct {
	ds    *design
	basis []int
	all   pointKernels
	work  *scratch
	x     [][]float64
}

func newTrainingKernels(ds *design, basis []int) *trainingKernels {
	t := &trainingKernels{
		ds: ds, basis: basis, all: newPointKernels(ds, upTo(len(ds.views)), basis, true), x: make([][]float64, len(ds.inputs)),
	}
	t.work = t.all.newScratch()
	return t
}

// Column implements bemkl.Columns.
func (t *trainingKernels) Column(i int, dst la.Matrix[float64]) {
	for j := range t.x {
		t.x[j] = t.ds.inputs[j].basis.Row(t.basis[i])
	}
	t.all.kernels(t.work, t.x)
	dst.CopyFrom(t.work.k)
}

// Diagonal implements bemkl.Columns.
func (t *trainingKernels) Diagonal(dst la.Matrix[float64]) { t.all.diagonal(t.ds, t.basis, dst) }

// diagonal stores the kernels of the given basis points, which are those of p, with
// themselves, a row for each view.
func (p *pointKernels) diagonal(ds *design, basis []int, dst la.Matrix[float64]) {
	for n := range p.groups {
		g := &p.groups[n]
		for _, slot := range g.slots {
			v, row := &p.views[slot], dst.Row(slot)
			for i, d := range basis {
				row[i] = g.statisticOfOne(v, ds.groups[n].basis.Row(d))
			}
			v.kernel.apply(row)
			for i := range row {
				if v.center {
					row[i] += v.totalMean - 2*v.rowMean[i]
				}
				if v.normalize {
					row[i] *= v.unit[i] * v.unit[i]
				}
			}
		}
	}
}
