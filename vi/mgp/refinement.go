package mgp

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Refinement is a prediction by a [Triangle] that comes closer with every call of Refine. The mean is exact from the beginning. The rows so
// far leave the function the variance r, and the others can only take variance away: the standard deviation lies between the root of
// the noise and the root of noise and r. A Refinement has the memory of one prediction at a time.
type Refinement struct {
	K []float64 // the composite kernels of the sample, to be set before Begin

	t          *Triangle
	self, mean float64
	begun      bool // rows have been added
	coarse     bool // in integers
	s          *TriangleScratch
}

// NewRefinement returns memory for predictions by triangles of at most n training samples.
func NewRefinement(n int) *Refinement {
	return &Refinement{K: make([]float64, n), s: NewTriangleScratch(n)}
}

// Begin begins the prediction of the sample with the composite kernels r.K, and self with itself, from no row of the triangle.
func (r *Refinement) Begin(t *Triangle, self float64) vi.Certified {
	r.t, r.self, r.mean, r.begun, r.coarse = t, self, la.Dot(r.K, t.post.s.Alpha), false, t.Coarse()
	return upTo(r.mean, 1/t.post.s.Tau, max(0, self))
}

// Refine adds the rows of a panel, and then of as many panels as there are already; of all where they are few. Where all rows in integers
// are not within the tolerance it begins again in float32. It reports whether the prediction has all rows.
func (r *Refinement) Refine() (c vi.Certified, done bool) {
	if !r.begun {
		r.t.Start(r.K, r.self, r.coarse, r.s)
		r.begun = true
	}
	noise := 1 / r.t.post.s.Tau
	square, e, all := r.t.Add(r.s)
	left := max(0, r.self-square)
	if !all {
		return upTo(r.mean, noise, left+e), false
	}
	if c = certified(r.mean, left+noise, e, noise); !r.coarse || c.Within(r.t.tolerance) {
		return c, true
	}
	r.begun, r.coarse = false, false
	return c, false
}

// Self returns the composite kernel of the sample with itself.
func (r *Refinement) Self() float64 { return r.self }
