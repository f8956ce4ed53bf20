package gram

import (
	"context"
	"math"
	"reflect"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Bank computes the kernels between one sample and the basis points of several designs. What the designs
// have in common is computed once: what a kernel sees of the sample, distances, and kernels.
// Distances have the basis points feature by feature, so that vector instructions work on many of them
// however few the features are. The kernels are not centred; before that they have the bits that [Points] computes.
type Bank struct {
	samples int
	sights  []bankSight
	groups  []bankGroup
	rows    int // number of kernels
}

// bankSight is the part of one input that kernels see, not divided by widths.
type bankSight struct {
	input int
	in    Input
	sight Sight
}

// bankGroup is a statistic and the kernels that are functions of it.
type bankGroup struct {
	sight   int
	stat    kernel.Statistic
	panels  la.Panels[float64] // the basis points as the kernels see them
	kernels []bankKernel
	joint   *jointGroups // nil if the statistic is computed by itself
}

// bankKernel is a kernel, its row among all kernels, and its value for a sample with itself, which is NaN if it
// depends on the sample.
type bankKernel struct {
	kernel kernel.Kernel
	row    int
	self   float64
}

// BankView is where a [Bank] computes the kernel of a view.
type BankView struct{ Group, Row int }

// Add adds the kernels of some views of a design and returns where each is. ok is false, and nothing is added, if a Bank
// cannot compute them all: kernels that are given, functions, categories, normalised, of inputs that samples may
// lack, or of another number of basis points.
func (b *Bank) Add(ds *Design, which []int) (views []BankView, ok bool) {
	if b.samples != 0 && b.samples != ds.D {
		return nil, false
	}
	for _, i := range which {
		v := &ds.Views[i]
		in := &ds.Inputs[v.Input]
		if v.IsFunction() || v.Normalize || in.Given || in.Gaps {
			return nil, false
		}
		switch v.Kernel.Statistic().Kind {
		case kernel.SquaredDistance, kernel.ManhattanDistance, kernel.InnerProduct, kernel.NoStatistic:
		default:
			return nil, false
		}
	}
	b.samples = ds.D
	views = make([]BankView, len(which))
	for _, g := range ds.Groups {
		for n, i := range which {
			if slices.Contains(g.Views, i) {
				at := b.group(ds, g)
				views[n] = BankView{at, b.groups[at].kernel(ds.Views[i].Kernel, &b.rows)}
			}
		}
	}
	return views, true
}

// group returns the index of the group with this statistic, which is added if it is new.
func (b *Bank) group(ds *Design, g Group) int {
	s := b.sight(g.input, &ds.Inputs[g.input], g.sight)
	for i := range b.groups {
		if have := &b.groups[i]; have.sight == s && have.stat.Kind == g.stat.Kind && slices.Equal(have.stat.Widths, g.stat.Widths) {
			return i
		}
	}
	added := bankGroup{sight: s, stat: g.stat}
	if g.stat.Kind != kernel.NoStatistic {
		added.panels = b.pack(s, g)
	}
	b.groups = append(b.groups, added)
	return len(b.groups) - 1
}

// pack returns the basis points of a group of a sight in panels. Groups of one sight that divide by no widths share them.
func (b *Bank) pack(sight int, g Group) la.Panels[float64] {
	for i := range b.groups {
		if have := &b.groups[i]; have.sight == sight && have.stat.Widths == nil && g.stat.Widths == nil && have.panels.Data != nil {
			return have.panels
		}
	}
	return la.PackPanels(g.basis)
}

// sight returns the index of the sight of this input, which is added if it is new.
func (b *Bank) sight(input int, in *Input, sight Sight) int {
	for i := range b.sights {
		s := &b.sights[i]
		same := s.input == input && s.sight.Equal(sight) && SameMatrix(s.in.Basis, in.Basis)
		if sight.Standardize {
			same = same && slices.Equal(s.in.Mean, in.Mean) && slices.Equal(s.in.SD, in.SD)
		}
		if sight.Ranks {
			same = same && reflect.DeepEqual(s.in.Ranks, in.Ranks)
		}
		if same {
			return i
		}
	}
	b.sights = append(b.sights, bankSight{input, *in, sight})
	return len(b.sights) - 1
}

// kernel returns the row of a kernel of the group. A new kernel gets the next row.
func (g *bankGroup) kernel(k kernel.Kernel, rows *int) int {
	for _, have := range g.kernels {
		if reflect.DeepEqual(have.kernel, k) {
			return have.row
		}
	}
	added := bankKernel{kernel: k, row: *rows, self: math.NaN()}
	if g.stat.Kind != kernel.InnerProduct {
		self := []float64{0}
		k.Apply(self)
		added.self = self[0]
	}
	g.kernels = append(g.kernels, added)
	*rows++
	return added.row
}

// BankScratch is memory for the kernels of one sample.
type BankScratch struct {
	K    la.Matrix[float64] // the kernels, a row each, padded for panels
	Self []float64          // the kernels of the sample with itself

	seen  [][]float64 // by sight
	known []bool      // by sight: whether it is computed
	z     []float64   // divided by widths
	parts []float64   // of distances that are computed together, by a panel
	done  []bool      // by group: whether it is computed
}

// NewScratch returns memory for the kernels of a sample.
func (b *Bank) NewScratch() *BankScratch {
	padded := (b.samples + la.PanelRows - 1) / la.PanelRows * la.PanelRows
	s := &BankScratch{
		K: la.NewMatrix[float64](b.rows, padded), Self: make([]float64, b.rows),
		known: make([]bool, len(b.sights)), done: make([]bool, len(b.groups)),
	}
	longest := 0
	for _, v := range b.sights {
		s.seen = append(s.seen, make([]float64, v.sight.Cols(v.in.Cols)))
		longest = max(longest, len(s.seen[len(s.seen)-1]))
	}
	s.z, s.parts = make([]float64, longest), make([]float64, longest*la.PanelRows)
	return s
}

// Begin begins another sample.
func (s *BankScratch) Begin() {
	clear(s.known)
	clear(s.done)
}

// Row returns the kernels of a view, once Kernels has computed them.
func (b *Bank) Row(s *BankScratch, v BankView) []float64 { return s.K.Row(v.Row)[:b.samples] }

// Kernels computes the kernels of the views for the sample x, unless they are known already, with all others of their groups.
func (b *Bank) Kernels(s *BankScratch, views []BankView, x [][]float64) {
	for _, v := range views {
		if !s.done[v.Group] {
			b.compute(s, v.Group, x)
		}
	}
}

// compute computes the kernels of a group, and of all groups whose distances are computed with it.
func (b *Bank) compute(s *BankScratch, i int, x [][]float64) {
	g := &b.groups[i]
	z := s.seen[g.sight]
	if !s.known[g.sight] {
		v := &b.sights[g.sight]
		v.in.see(z, x[v.input], v.sight, nil)
		s.known[g.sight] = true
	}
	if g.joint != nil {
		b.distances(s, g.joint, z)
		for _, each := range g.joint.groups {
			other := &b.groups[each]
			b.apply(s, other, z, s.K.Row(other.kernels[0].row))
			s.done[each] = true
		}
		return
	}
	if g.stat.Widths != nil {
		for j, w := range g.stat.Widths {
			s.z[j] = z[j] / w
		}
		z = s.z[:len(z)]
	}
	stat := s.K.Row(g.kernels[0].row)
	switch g.stat.Kind {
	case kernel.SquaredDistance:
		g.panels.SqDistVec(z, stat)
	case kernel.ManhattanDistance:
		g.panels.AbsDistVec(z, stat)
	case kernel.InnerProduct:
		g.panels.MultiplyVec(z, stat)
	case kernel.NoStatistic:
		clear(stat)
	}
	b.apply(s, g, z, stat)
	s.done[i] = true
}

// apply turns the statistics of a group into its kernels. z is the sample, divided by widths where that matters. The first kernel, whose
// row has the statistics, is the last to be computed.
func (b *Bank) apply(s *BankScratch, g *bankGroup, z, stat []float64) {
	for n := len(g.kernels) - 1; n >= 0; n-- {
		k := &g.kernels[n]
		row := s.K.Row(k.row)[:b.samples]
		if n > 0 {
			copy(row, stat)
		}
		k.kernel.Apply(row)
		self := s.Self[k.row : k.row+1]
		if self[0] = k.self; math.IsNaN(k.self) {
			self[0] = g.stat.Of(z, z)
			k.kernel.Apply(self)
		}
	}
}

// EachRow calls do for each of the samples first … first+n−1 of x, with memory for its kernels, which Begin has prepared. The
// calls are spread over workers (0: all processors).
func (b *Bank) EachRow(ctx context.Context, workers int, x []la.Matrix[float64], first, n int, do func(s *BankScratch, i int, row [][]float64)) error {
	return inBlocks(ctx, workers, n, func() func(int, int) {
		s, row := b.NewScratch(), make([][]float64, len(x))
		return func(begin, end int) {
			for i := begin; i < end; i++ {
				for j := range x {
					row[j] = x[j].Row(first + i)
				}
				s.Begin()
				do(s, i, row)
			}
		}
	})
}

// InReach reports whether the basis points of all groups are so few and have so few features that a computation for one sample
// after another finds them in the second cache. Where they do not fit blocks of samples are faster.
func (b *Bank) InReach() bool {
	const most = 1 << 17 // elements
	for i := range b.groups {
		if len(b.groups[i].panels.Data) > most {
			return false
		}
	}
	return true
}
