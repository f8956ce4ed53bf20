package mkl

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/la"
)

// pointKernels computes the kernels between one sample and the active samples of a
// model, of its active views.
type pointKernels struct {
	groups  []predictorGroup
	inputs  []input
	views   []boundView
	samples int       // active ones
	d       int       // basis points of the model
	share   []float64 // see design
	selves  bool      // the kernels of the sample with itself are wanted
}

// predictorGroup is a group of the design, pruned.
type predictorGroup struct {
	group
	slots []int // of the group's active views, their indices in pointKernels.views
	pick  []int // the active samples among the basis kept; nil if these are the same
}

// newPointKernels keeps what the active kernels and samples need of the design.
func newPointKernels(ds *design, kernels, samples []int, selves bool) pointKernels {
	p := pointKernels{inputs: ds.inputs, samples: len(samples), d: ds.d, share: ds.share, selves: selves}
	for _, i := range kernels {
		p.views = append(p.views, ds.views[i])
	}
	for _, g := range ds.groups {
		pg := predictorGroup{group: g}
		pg.views = nil
		whole := ds.inputs[g.input].gaps
		for _, i := range g.views {
			if n, ok := slices.BinarySearch(kernels, i); ok {
				pg.slots = append(pg.slots, n)
				pg.views = append(pg.views, i)
				whole = whole || ds.views[i].center
			}
		}
		if len(pg.slots) == 0 {
			continue
		}
		// Centring needs the mean over all training samples, and a basis point that lacks
		// the view that over all that have it.
		if whole || g.stat.kind == given {
			pg.pick = samples
		} else {
			pg.basis = g.basis.TakeRows(samples)
		}
		p.groups = append(p.groups, pg)
	}
	for n := range p.views {
		v := &p.views[n]
		if v.center {
			v.rowMean = picked(v.rowMean, samples)
		}
		if v.normalize {
			v.unit = picked(v.unit, samples)
		}
	}
	return p
}

// picked returns the elements of x at the given places, and pick stores them in dst.
func picked[T any](x []T, at []int) []T {
	y := make([]T, len(at))
	pick(y, x, at)
	return y
}

// newScratch returns memory for the kernels of a sample.
func (p *pointKernels) newScratch() *scratch {
	P, D := len(p.views), p.samples
	s := &scratch{
		ws:   la.Workspace{Workers: 1},
		k:    la.NewMatrix[float64](P, D),
		self: make([]float64, P),
	}
	var longest int
	for i := range p.groups {
		g := &p.groups[i]
		s.z = append(s.z, make([]float64, g.sight.cols(p.inputs[g.input].cols)))
		longest = max(longest, g.basis.Rows)
		if g.stat.kind == given {
			longest = max(longest, p.inputs[g.input].cols)
		}
	}
	s.stat, s.raw = make([]float64, longest), make([]float64, longest)
	return s
}

// checkPoint reports a sample x, a row for each input, that is none of the model's.
func (p *pointKernels) checkPoint(x [][]float64) error { return checkPoint(p.inputs, x) }

func checkPoint(inputs []input, x [][]float64) error {
	if len(x) != len(inputs) {
		return fmt.Errorf("mkl: %d inputs where the model needs %d", len(x), len(inputs))
	}
	for i, row := range x {
		if len(row) != inputs[i].cols {
			return fmt.Errorf("mkl: x[%d]: %d values where %d are needed", i, len(row), inputs[i].cols)
		}
		if j := firstNonFinite(row); j >= 0 && !(inputs[i].gaps && lacks(row)) {
			return &ValueError{Arg: "x[" + strconv.Itoa(i) + "]", Row: j, Col: -1, Value: row[j]}
		}
	}
	return nil
}

// kernels stores the kernels of the sample x in s.k, a row for each view.
func (p *pointKernels) kernels(s *scratch, x [][]float64) {
	for i := range p.groups {
		p.groupKernels(s, i, x)
	}
}

// groupKernels stores the kernels of group i's views in their rows of s.k.
func (p *pointKernels) groupKernels(s *scratch, i int, x [][]float64) {
	g := &p.groups[i]
	z := s.z[i]
	var stat []float64
	in := &p.inputs[g.input]
	absent := in.gaps && lacks(x[g.input])
	if g.stat.kind == given {
		copy(z, x[g.input])
		stat = z[:p.d]
	} else {
		stat = s.stat[:g.basis.Rows]
		if !absent { // otherwise what stands in their place is not looked at
			in.see(z, x[g.input], g.sight, g.stat.widths)
			g.stat.compute(&s.ws, la.MatrixOf(1, len(z), z), g.basis, la.MatrixOf(1, len(stat), stat))
		}
	}
	for _, n := range g.slots {
		v, k := &p.views[n], s.k.Row(n)
		mean := 0.0
		switch {
		case v.center || in.gaps:
			raw := s.raw[:len(stat)]
			copy(raw, stat)
			v.kernel.apply(raw)
			v.fillPoint(raw, in.lacking, absent)
			mean = sharedMean(raw, p.share)
			pick(k, raw, g.pick)
		case g.pick != nil:
			pick(k, stat, g.pick)
			v.kernel.apply(k)
		default:
			copy(k, stat)
			v.kernel.apply(k)
		}
		self := s.self[n : n+1]
		if self[0] = g.selfStatistic(v, z); p.selves {
			self[0] = g.statisticOfOne(v, z)
		}
		v.kernel.apply(self)
		if absent {
			self[0] = v.expectedSelf
		}
		self[0] = v.adjust(k, mean, self[0])
	}
}

func pick[T any](dst, src []T, at []int) {
	for i, d := range at {
		dst[i] = src[d]
	}
}
