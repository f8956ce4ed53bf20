package vi

import "math"

// fell reports whether a bound that went from a to b fell by more than rounding
// explains, noise of which is the model's own estimate, or is not a number.
func fell(a, b, noise float64) bool {
	return math.IsNaN(b) || b < a-1e-9*(1+math.Abs(a))-noise
}
