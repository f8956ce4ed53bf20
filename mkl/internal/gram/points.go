package gram

import (
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Points computes the kernels of the active views of a model between one sample and the model's active
// samples.
type Points struct {
	groups  []predictorGroup
	Inputs  []Input
	Views   []Bound
	Samples int       // number of active samples
	D       int       // basis points of the model
	share   []float64 // Design.Share
	selves  bool      // the kernels of the sample with itself are needed

	interactions []*kernel.InteractionPoints // of groups that share them
}

// predictorGroup is a group of the design, pruned.
type predictorGroup struct {
	Group
	slots []int // indices of the group's active views in Points.Views
	pick  []int // rows of the active samples among the basis points that are kept; nil if only they are kept

	panels la.Panels[float64] // the basis, if the statistic is computed by panels

	interactions sharedInteractions // if the group's kernel is one
}

// byPanels reports whether statistics of this kind are computed by panels, which gives the bits of Statistic.Compute.
func byPanels(kind kernel.StatisticKind) bool {
	return kind == kernel.SquaredDistance || kind == kernel.ManhattanDistance || kind == kernel.InnerProduct
}

// statistic stores the statistics of z with the basis points in the first elements of stat, which has room for full panels.
func (g *predictorGroup) statistic(s *PointScratch, z, stat []float64) {
	stat, full := stat[:g.basis.Rows], stat[:g.panels.Padded()]
	switch {
	case len(stat) == 0:
	case g.interactions.points != nil:
		g.interactions.statistic(s, z, stat)
	case !byPanels(g.stat.Kind):
		g.stat.Compute(&s.WS, la.MatrixOf(1, len(z), z), g.basis, la.MatrixOf(1, len(stat), stat))
	case g.stat.Kind == kernel.SquaredDistance:
		g.panels.SqDistVec(z, full)
	case g.stat.Kind == kernel.ManhattanDistance:
		g.panels.AbsDistVec(z, full)
	default:
		g.panels.MultiplyVec(z, full)
	}
}

// NewPoints keeps the parts of the design that the active kernels and samples need.
func NewPoints(ds *Design, kernels, samples []int, selves bool) Points {
	p := Points{Inputs: ds.Inputs, Samples: len(samples), D: ds.D, share: ds.Share, selves: selves}
	for _, i := range kernels {
		p.Views = append(p.Views, ds.Views[i])
	}
	for _, g := range ds.Groups {
		pg := predictorGroup{Group: g}
		pg.Views = nil
		whole := ds.Inputs[g.input].Gaps
		for _, i := range g.Views {
			if n, ok := slices.BinarySearch(kernels, i); ok {
				pg.slots = append(pg.slots, n)
				pg.Views = append(pg.Views, i)
				whole = whole || ds.Views[i].Center
			}
		}
		if len(pg.slots) == 0 {
			continue
		}
		// Centring needs the mean over all training samples, and a basis point that lacks
		// the view needs the mean over all samples that have it.
		if whole || g.stat.Kind == kernel.GivenStatistic {
			pg.pick = samples
		} else {
			pg.basis = g.basis.TakeRows(samples)
		}
		if byPanels(g.stat.Kind) {
			pg.panels = la.PackPanels(pg.basis)
		}
		p.groups = append(p.groups, pg)
	}
	p.shareInteractions()
	for n := range p.Views {
		v := &p.Views[n]
		if v.Center {
			v.RowMean = vec.Picked(v.RowMean, samples)
		}
		if v.Normalize {
			v.Unit = vec.Picked(v.Unit, samples)
		}
	}
	return p
}

// PointScratch is memory for the kernels of one sample.
type PointScratch struct {
	WS   la.Workspace
	z    [][]float64        // by group: the sample as its kernels see it
	stat []float64          // statistics of one group
	raw  []float64          // kernels of one view before centring
	K    la.Matrix[float64] // P×D, the kernels
	Self []float64          // P: the kernels of the sample with itself, if needed

	interactions []*kernel.InteractionScratch

	_ [64]byte // scratch of different callers shares no cache line
}

// NewScratch returns memory for the kernels of a sample.
func (p *Points) NewScratch() *PointScratch {
	P, D := len(p.Views), p.Samples
	s := &PointScratch{
		WS:   la.Workspace{Workers: 1},
		K:    la.NewMatrix[float64](P, D),
		Self: make([]float64, P),
	}
	var longest int
	for i := range p.groups {
		g := &p.groups[i]
		s.z = append(s.z, make([]float64, g.sight.Cols(p.Inputs[g.input].Cols)))
		longest = max(longest, g.basis.Rows, g.panels.Padded())
		if g.stat.Kind == kernel.GivenStatistic {
			longest = max(longest, p.Inputs[g.input].Cols)
		}
	}
	s.stat, s.raw = make([]float64, longest), make([]float64, longest)
	for _, points := range p.interactions {
		s.interactions = append(s.interactions, points.NewScratch())
	}
	return s
}

// Kernels stores the kernels of the sample x in s.K, a row for each view.
func (p *Points) Kernels(s *PointScratch, x [][]float64) {
	for i := range p.groups {
		p.groupKernels(s, i, x)
	}
}

// groupKernels stores the kernels of group i's views in their rows of s.K.
func (p *Points) groupKernels(s *PointScratch, i int, x [][]float64) {
	g := &p.groups[i]
	z := s.z[i]
	var stat []float64
	in := &p.Inputs[g.input]
	absent := in.Gaps && Lacks(x[g.input])
	if g.stat.Kind == kernel.GivenStatistic {
		copy(z, x[g.input])
		stat = z[:p.D]
	} else {
		stat = s.stat[:g.basis.Rows]
		if !absent { // kernels of an absent view do not read it
			in.see(z, x[g.input], g.sight, g.stat.Widths)
			g.statistic(s, z, s.stat)
		}
	}
	for _, n := range g.slots {
		v, k := &p.Views[n], s.K.Row(n)
		mean := 0.0
		switch {
		case v.Center || in.Gaps:
			raw := s.raw[:len(stat)]
			copy(raw, stat)
			v.Kernel.Apply(raw)
			v.fillPoint(raw, in.Lacking, absent)
			mean = sharedMean(raw, p.share)
			vec.Pick(k, raw, g.pick)
		case g.pick != nil:
			vec.Pick(k, stat, g.pick)
			v.Kernel.Apply(k)
		default:
			copy(k, stat)
			v.Kernel.Apply(k)
		}
		self := s.Self[n : n+1]
		if self[0] = g.selfStatistic(v, z); p.selves {
			self[0] = g.statisticOfOne(v, z)
		}
		v.Kernel.Apply(self)
		if absent {
			self[0] = v.ExpectedSelf
		}
		self[0] = v.adjust(k, mean, self[0])
	}
}
