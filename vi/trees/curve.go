package trees

import (
	"fmt"
	"sort"
)

// Curve is a function of one feature: linear between knots and constant beyond them.
type Curve struct {
	Feature int       // that it is a function of
	Knots   []float64 // rising, at least two
}

// newCurve returns the curve of feature f with at most most knots, at equal steps of the ranks of sorted values that are not all
// equal. A knot at a rank that is no whole number is between two values. The knots of mirrored values are the mirrored knots.
func newCurve(f int, sorted []float64, most int) Curve {
	c := Curve{Feature: f}
	for k := range most {
		place := k * (len(sorted) - 1)
		low, high := sorted[place/(most-1)], sorted[(place+most-2)/(most-1)]
		v := float64(0.5*low) + float64(0.5*high)
		if len(c.Knots) == 0 || v > c.Knots[len(c.Knots)-1] {
			c.Knots = append(c.Knots, v)
		}
	}
	return c
}

// at returns the knot below a value, and the share of the knot above it in the value of the curve.
func (c *Curve) at(v float64) (knot int, share float64) {
	last := len(c.Knots) - 1
	k := sort.SearchFloat64s(c.Knots, v) // the first knot ≥ v
	switch {
	case k == 0:
		return 0, 0
	case k > last:
		return last - 1, 1
	}
	low, high := c.Knots[k-1], c.Knots[k]
	return k - 1, (v - low) / (high - low)
}

// check reports what is no curve of one of so many features.
func (c *Curve) check(features int) error {
	if c.Feature < 0 || c.Feature >= features || len(c.Knots) < 2 || len(c.Knots) > mostBins {
		return fmt.Errorf("%d knots of feature %d of %d", len(c.Knots), c.Feature, features)
	}
	for k, v := range c.Knots {
		if v-v != 0 || k > 0 && !(v > c.Knots[k-1]) {
			return fmt.Errorf("knot %d of feature %d is %g", k, c.Feature, v)
		}
	}
	return nil
}
