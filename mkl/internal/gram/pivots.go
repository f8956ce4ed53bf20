package gram

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Pivots computes the kernels between one sample and the pivots of a projection.
// Each view has its own training samples as pivots.
type Pivots struct {
	groups []pivotGroup
	inputs []Input
	views  []Bound
	picks  [][]int   // of each view, its pivots among its group's samples
	first  []int     // where the kernels of each view begin, and after them their number
	selves []float64 // of each view, the kernel of every sample with itself; NaN if it varies
	d      int       // basis points of the model
	Pool   reuse.Pool[PivotScratch]
}

// pivotGroup is a group of the design with the samples that any of its views needs.
type pivotGroup struct {
	Group
	all bool // the samples are the model's basis points
}

// PivotScratch is memory for a prediction from pivots.
type PivotScratch struct {
	PointScratch
	Phi   []float64 // the kernels with the pivots, view after view
	Spare []float64
}

// NewPivots returns the kernels of ds with pivots of each view. A prediction
// also gets spare words of scratch memory.
func NewPivots(ds *Design, pivots [][]int, spare int) *Pivots {
	p := &Pivots{inputs: ds.Inputs, views: slices.Clone(ds.Views), picks: make([][]int, len(pivots)), first: []int{0}, selves: make([]float64, len(pivots)), d: ds.D}
	for i, own := range pivots {
		p.first = append(p.first, p.first[i]+len(own))
		v := &p.views[i]
		if v.Center {
			v.RowMean = vec.Picked(v.RowMean, own)
		}
		if v.Normalize {
			v.Unit = vec.Picked(v.Unit, own)
		}
	}
	longest := 0
	for _, g := range ds.Groups {
		pg := pivotGroup{Group: g}
		var samples []int
		for _, i := range g.Views {
			pg.all = pg.all || ds.Views[i].Center // it needs the mean over all samples
			samples = append(samples, pivots[i]...)
		}
		slices.Sort(samples)
		samples = slices.Compact(samples)
		if !pg.all {
			pg.basis = g.basis.TakeRows(samples)
		}
		for _, i := range g.Views {
			if p.selves[i] = math.NaN(); g.stat.IsDistance() && !ds.Views[i].Center && !ds.Views[i].Normalize {
				p.selves[i] = 0
				ds.Views[i].Kernel.Apply(p.selves[i : i+1])
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
	p.Pool = reuse.NewPool(func() *PivotScratch {
		s := &PivotScratch{PointScratch: PointScratch{WS: la.Workspace{Workers: 1}, Self: make([]float64, len(p.views))}}
		for i := range p.groups {
			g := &p.groups[i]
			s.z = append(s.z, make([]float64, g.sight.Cols(p.inputs[g.input].Cols)))
		}
		s.stat, s.raw = make([]float64, longest), make([]float64, longest)
		s.Phi, s.Spare = make([]float64, p.first[len(p.views)]), make([]float64, spare)
		return s
	})
	return p
}

// Compute stores the kernels of the sample x with the pivots in s.Phi, view after
// view, and its kernels with itself in s.Self.
func (p *Pivots) Compute(s *PivotScratch, x [][]float64) {
	for i := range p.groups {
		g := &p.groups[i]
		z, stat := s.z[i], s.stat[:g.basis.Rows]
		p.inputs[g.input].see(z, x[g.input], g.sight, g.stat.Widths)
		if len(stat) > 0 {
			g.stat.Compute(&s.WS, la.MatrixOf(1, len(z), z), g.basis, la.MatrixOf(1, len(stat), stat))
		}
		for _, n := range g.Views {
			v, k := &p.views[n], s.Phi[p.first[n]:p.first[n+1]]
			mean := 0.0
			if v.Center {
				raw := s.raw[:len(stat)]
				copy(raw, stat)
				v.Kernel.Apply(raw)
				mean = vec.Total(raw) / float64(len(raw))
				vec.Pick(k, raw, p.picks[n])
			} else {
				vec.Pick(k, stat, p.picks[n])
				v.Kernel.Apply(k)
			}
			self := s.Self[n : n+1]
			if self[0] = p.selves[n]; !math.IsNaN(self[0]) {
				continue
			}
			self[0] = g.statisticOfOne(v, z)
			v.Kernel.Apply(self)
			self[0] = v.adjust(k, mean, self[0])
		}
	}
}

// Definite reports whether every kernel of the design is known to be positive semidefinite and a function of
// quantities, and no sample may lack a view.
func (ds *Design) Definite() bool {
	for i := range ds.Inputs {
		if ds.Inputs[i].Gaps {
			return false
		}
	}
	for i := range ds.Views {
		k := ds.Views[i].Kernel
		if !k.Properties().Definite || k.Statistic().Kind == kernel.Disagreement {
			return false
		}
	}
	return true
}

// TrainingColumns computes the kernels of some of a design's basis points.
type TrainingColumns struct {
	ds    *Design
	basis []int
	all   Points
	work  *PointScratch
	x     [][]float64
}

// NewTrainingColumns returns the kernels of the given basis points.
func NewTrainingColumns(ds *Design, basis []int) *TrainingColumns {
	t := &TrainingColumns{
		ds: ds, basis: basis, all: NewPoints(ds, vec.UpTo(len(ds.Views)), basis, true), x: make([][]float64, len(ds.Inputs)),
	}
	t.work = t.all.NewScratch()
	return t
}

// Column implements Columns of package vi.
func (t *TrainingColumns) Column(i int, dst la.Matrix[float64]) {
	for j := range t.x {
		t.x[j] = t.ds.Inputs[j].Basis.Row(t.basis[i])
	}
	t.all.Kernels(t.work, t.x)
	dst.CopyFrom(t.work.K)
}

// Diagonal implements Columns of package vi.
func (t *TrainingColumns) Diagonal(dst la.Matrix[float64]) { t.all.Diagonal(t.ds, t.basis, dst) }

// Diagonal stores the kernels of the given basis points with
// themselves, a row for each view. basis must be the basis points of p.
func (p *Points) Diagonal(ds *Design, basis []int, dst la.Matrix[float64]) {
	for n := range p.groups {
		g := &p.groups[n]
		for _, slot := range g.slots {
			v, row := &p.Views[slot], dst.Row(slot)
			for i, d := range basis {
				row[i] = g.statisticOfOne(v, ds.Groups[n].basis.Row(d))
			}
			v.Kernel.Apply(row)
			for i := range row {
				if v.Center {
					row[i] += v.TotalMean - 2*v.RowMean[i]
				}
				if v.Normalize {
					row[i] *= v.Unit[i] * v.Unit[i]
				}
			}
		}
	}
}
