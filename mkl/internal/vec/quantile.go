package vec

import "math"

// Quantile returns the quantile of sorted values at a share from 0 to 1: the mean of the two values beside its place, or the value there. The
// quantile of −x at 1 − share is minus the quantile of x at share, so what is built on quantiles does not see the sign of a column.
func Quantile(sorted []float64, share float64) float64 {
	place := float64(share * float64(len(sorted)-1))
	return float64(0.5*sorted[int(math.Floor(place))]) + float64(0.5*sorted[int(math.Ceil(place))])
}
