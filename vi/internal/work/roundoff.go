package work

import "math"

// Roundoff returns what the sum Σ_i B_ii·(B⁻¹)_ii is to be multiplied by for the
// round-off, in nats, of ½ log|B| and of the ½ tr B⁻¹ beside it in a bound, B being of order n: two
// standard deviations. The computed factor is the exact factor of B + E with
//
//	|E_ij| ≤ u·√n·√(B_ii·B_jj),   u = 2⁻⁵³,
//
// errors being of both signs, so that log|B| is wrong by tr(B⁻¹E), whose standard
// deviation for independent E_ij is at most u·√n·‖D·B⁻¹·D‖ ≤ u·√n·tr(D·B⁻¹·D) with
// D² = diag B. A quadratic form xᵀBx of a solution x is wrong by xᵀEx: at most
// u·√n·Σ B_ii·x_i² likewise.
//
// Source: N. J. Higham and T. Mary, "A new approach to probabilistic rounding error
// analysis", SIAM J. Sci. Comput. 41 (2019).
func Roundoff(n int) float64 { return float64(0x1p-53 * math.Sqrt(float64(n))) }

// Difference returns the round-off of ½·precision·Σ r² where the r were found as
// differences of sums of n terms: square is Σ r², and size Σ of the squares of the
// terms, such as a² + b² for a − b.
func Difference(n int, precision, square, size float64) float64 {
	d := float64(Roundoff(n) * math.Sqrt(size))
	return float64(precision * d * (float64(2*math.Sqrt(max(0, square))) + d))
}
