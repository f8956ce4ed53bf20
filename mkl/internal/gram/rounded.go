package gram

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Rounded computes the kernels of [Points] in float32. Kernels exp(−d/ℓ) that have the distance d in common share its computation, in
// float64; their exponentials are in float32. All other kernels are computed in float64 and then rounded.
type Rounded struct {
	points *Points
	groups []roundedGroup // by group of the points
}

// roundedGroup is a group of views: its exponentials, and the other views.
type roundedGroup struct {
	decays [2]decays // by the power of the distance, less 1
	others []int     // views
}

// decays are kernels 2^(rate·d) of one distance.
type decays struct {
	distance kernel.Decaying // for its Distances
	views    []int
	rate     []float32
}

// one is the amplitude of an exponential.
var one = []float32{1}

// NewRounded returns the kernels of p in float32. ok is false where a kernel needs more than its statistic with each sample: if it is given,
// centred or normalised, or if samples may lack its input.
func NewRounded(p *Points) (r *Rounded, ok bool) {
	r = &Rounded{points: p}
	for i := range p.groups {
		g := &p.groups[i]
		if p.Inputs[g.input].Gaps || g.pick != nil {
			return nil, false
		}
		var own roundedGroup
		for _, n := range g.slots {
			v := &p.Views[n]
			if v.Center || v.Normalize {
				return nil, false
			}
			k, decaying := v.Kernel.(kernel.Decaying)
			if !decaying {
				own.others = append(own.others, n)
				continue
			}
			l, power := k.Decay()
			if !(l > 0) || power != 1 && power != 2 {
				own.others = append(own.others, n)
				continue
			}
			d := &own.decays[int(power)-1]
			d.distance = k
			d.views, d.rate = append(d.views, n), append(d.rate, float32(-math.Log2E/l))
		}
		r.groups = append(r.groups, own)
	}
	return r, true
}

// RoundedScratch is memory for the kernels of one sample.
type RoundedScratch struct {
	K       la.Matrix[float32] // P×D, the kernels
	Largest []float64          // P: no kernel is larger

	distance []float64
	rounded  []float32
}

// NewScratch returns memory for the kernels of a sample.
func (r *Rounded) NewScratch() *RoundedScratch {
	P, D := len(r.points.Views), r.points.Samples
	return &RoundedScratch{la.NewMatrix[float32](P, D), make([]float64, P), make([]float64, D), make([]float32, D)}
}

// Kernels stores the kernels of the sample x in to.K, a row for each view, and its kernels with itself in s.Self. It changes the
// statistics in s.
//
// Each kernel is within 2⁻²³·Largest of its value.
func (r *Rounded) Kernels(to *RoundedScratch, s *PointScratch, x [][]float64) {
	p := r.points
	for i := range r.groups {
		g, own := &p.groups[i], &r.groups[i]
		z, stat := s.z[i], s.stat[:g.basis.Rows]
		p.Inputs[g.input].see(z, x[g.input], g.sight, g.stat.Widths)
		g.statistic(s, z, s.stat)
		for j := range own.decays {
			if d := &own.decays[j]; len(d.views) > 0 {
				copy(to.distance, stat)
				d.distance.Distances(to.distance)
				for q, v := range to.distance {
					to.rounded[q] = float32(v)
				}
				for q, n := range d.views {
					la.Exp2Sum(d.rate[q:q+1], one, to.rounded, to.K.Row(n), false)
					to.Largest[n], s.Self[n] = 1, 1
				}
			}
		}
		for _, n := range own.others {
			v := &p.Views[n]
			copy(to.distance, stat)
			v.Kernel.Apply(to.distance)
			row, largest := to.K.Row(n), 0.0
			for q, k := range to.distance {
				row[q] = float32(k)
				if size := math.Abs(k); size > largest {
					largest = size
				}
			}
			to.Largest[n] = largest
			self := s.Self[n : n+1]
			if self[0] = g.selfStatistic(v, z); p.selves {
				self[0] = g.statisticOfOne(v, z)
			}
			v.Kernel.Apply(self)
		}
	}
}
