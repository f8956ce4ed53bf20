package pivot

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

const (
	// MostPivots is the most pivots of one kernel.
	MostPivots = 512

	// Worth is the share of an exact prediction's multiplications that a projection may have.
	Worth = 0.5

	// pivotsShare is the share of the tolerance that the pivots may use up; the forms may use the
	// rest. A digit more costs either of them a few coordinates more.
	pivotsShare = 0.3

	// finest is the smallest share of its unit that a form leaves out.
	finest = 1e-3
)

// Quadratics are the symmetric matrices of a projection's forms, each with the unit that its values
// are measured in, and the sizes of the coordinates.
type Quadratics struct {
	a            []la.Matrix[float64]
	units, sizes []float64
}

// NewQuadratics returns no matrices yet, for coordinates whose values at the training samples are
// the rows of x.
func NewQuadratics(x la.Matrix[float64]) *Quadratics { return &Quadratics{sizes: Largest(x)} }

// Add adds a matrix.
func (q *Quadratics) Add(a la.Matrix[float64], unit float64) {
	q.a, q.units = append(q.a, a), append(q.units, unit)
}

// Candidate is a projection onto the pivots of the moment.
type Candidate[Q any] struct {
	Forms *Quadratics
	With  func(f Forms) Q   // the projection with these forms
	Worst func(q Q) float64 // the largest bound of a projection at some training samples
}

// Search looks for the smallest projection whose bounds at the training samples are at most half
// the tolerance. It reports false if there is no such projection that is worth its cost.
//
// The function grow adds pivots until the residuals are at most limit, in units of the tolerance and
// of the largest residual, and returns how many coordinates there are. The function dear reports
// whether a projection with so many coordinates costs too much. The function project returns the
// projection onto the pivots of the moment.
//
// How far residuals move a prediction is known only after a try, so each try sets the next limit.
func Search[Q any](
	ws *la.Workspace, tolerance float64,
	grow func(limit float64) (order int, err error), dear func(order int) bool, project func() (Candidate[Q], error),
) (q Q, ok bool, err error) {
	var none Q
	before, last := math.Inf(1), -1 // the worst bound and the order of the last try
	for limit := 0.01; limit > 1e-14; {
		order, err := grow(limit)
		if err != nil {
			return none, false, err
		}
		if order == last {
			limit /= 2
			continue
		}
		last = order
		if dear(order) {
			return none, false, nil
		}
		c, err := project()
		if err != nil {
			return none, false, err
		}
		q := c.With(c.forms(ws, finest))
		if worst := c.Worst(q) / (pivotsShare * tolerance / 2); !(worst <= 1) {
			if !(worst < before) {
				return none, false, nil // rounding is what is left
			}
			before = worst
			limit *= max(0.1, min(0.6/worst, 0.5))
			continue
		}
		return c.coarsest(ws, q, tolerance/2), true, nil
	}
	return none, false, nil
}

// forms returns forms that leave out about this share of their units.
func (c Candidate[Q]) forms(ws *la.Workspace, share float64) Forms {
	return NewForms(ws, c.Forms.a, c.Forms.units, c.Forms.sizes, share)
}

// coarsest returns the projection with the coarsest forms whose bounds are within the limit; the
// bounds of q, which has the finest forms, are.
func (c Candidate[Q]) coarsest(ws *la.Workspace, q Q, limit float64) Q {
	for share := 1.0; share > finest && len(c.Forms.a) > 0; share /= 3 {
		if coarse := c.With(c.forms(ws, share)); c.Worst(coarse) <= limit {
			return coarse
		}
	}
	return q
}
