package vecchia

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// samples are rows with their targets, in random order.
type samples struct {
	x     la.Matrix[float64] // n×d
	y     la.Matrix[float64] // n×t
	noise []float64          // relative variances, nil for 1
}

// newSamples checks arguments and returns the samples.
func newSamples(x, y la.Matrix[float64], noise []float64) (*samples, error) {
	switch {
	case x.Rows == 0 || x.Cols == 0:
		return nil, fmt.Errorf("vecchia: x: %d×%d where at least one row and one column are needed", x.Rows, x.Cols)
	case y.Rows != x.Rows || y.Cols == 0:
		return nil, fmt.Errorf("vecchia: y: %d×%d where %d rows and at least one column are needed", y.Rows, y.Cols, x.Rows)
	case noise != nil && len(noise) != x.Rows:
		return nil, fmt.Errorf("vecchia: noise: length %d where %d is needed", len(noise), x.Rows)
	}
	for i := range x.Rows {
		if f := check.NonFinite(x.Row(i)); f >= 0 {
			return nil, fmt.Errorf("vecchia: x: entry (%d, %d) is %g", i, f, x.At(i, f))
		}
		if t := check.NonFinite(y.Row(i)); t >= 0 {
			return nil, fmt.Errorf("vecchia: y: entry (%d, %d) is %g", i, t, y.At(i, t))
		}
	}
	for i, v := range noise {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("vecchia: noise: entry %d is %g, not a positive number", i, v)
		}
	}
	return &samples{x: x, y: y, noise: noise}, nil
}

// relative returns the relative noise variance of row i.
func (s *samples) relative(i int) float64 {
	if s.noise == nil {
		return 1
	}
	return s.noise[i]
}

// between returns the samples lo ≤ i < hi.
func (s *samples) between(lo, hi int) *samples {
	f := &samples{x: s.x.Slice(lo, hi, 0, s.x.Cols), y: s.y.Slice(lo, hi, 0, s.y.Cols)}
	if s.noise != nil {
		f.noise = s.noise[lo:hi]
	}
	return f
}
