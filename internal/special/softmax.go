package special

import "math"

// Softmax stores e^{u_m}/Σ_l e^{u_l} in w, which is as long as u. It subtracts the largest element first, so that finite elements do not
// overflow.
func Softmax(u, w []float64) {
	top, sum := math.Inf(-1), 0.0
	for _, v := range u {
		top = max(top, v)
	}
	for m, v := range u {
		w[m] = Exp(v - top)
		sum += w[m]
	}
	for m := range w {
		w[m] /= sum
	}
}
