package special

// Sincos returns the sine and the cosine of an angle between −2π and 2π, each with an error below
// 4e-15: Taylor's series at a sixteenth of the angle, doubled four times.
func Sincos(x float64) (sin, cos float64) {
	x /= 16
	square := float64(x * x)
	// s is sin x, and v is 1 − cos x, which keeps its digits where cos x is near 1.
	s, v := 1.0, 1.0
	for k := 8.0; k >= 1; k-- {
		s = 1 - float64(square/(2*k*(2*k+1))*s)
		v = 1 - float64(square/((2*k+1)*(2*k+2))*v)
	}
	s *= x
	v = float64(0.5 * square * v)
	for range 4 {
		s, v = 2*s*(1-v), float64(2*s*s)
	}
	return s, 1 - v
}
