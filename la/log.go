package la

import "math"

// Coefficients of fdlibm's e_log.c (Sun Microsystems, 1993): the two parts of
// ln 2, the first with trailing zeros, and the minimax polynomial of
// log(1+f) = 2s + s·(z·L₁ + … + z⁷·L₇), s = f/(2+f), z = s².
const (
	logLn2High = 0x1.62e42fee00000p-1
	logLn2Low  = 0x1.a39ef35793c76p-33
)

// logCoef are L₇, …, L₁ in Horner's order.
var logCoef = [...]float64{
	0x1.2f112df3e5244p-3,
	0x1.39a09d078c69fp-3,
	0x1.7466496cb03dep-3,
	0x1.c71c51d8e78afp-3,
	0x1.2492494229359p-2,
	0x1.999999997fa04p-2,
	0x1.5555555555593p-1,
}

// log returns the natural logarithm within 1 ulp and with the same bits on every
// architecture, which math.Log does not promise.
func log(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return math.Log(x) // exact: NaN or ±Inf
	}
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	f, k := m-1, float64(e)
	s := f / (2 + f)
	z := s * s
	p := logCoef[0]
	for _, c := range logCoef[1:] {
		p = math.FMA(p, z, c)
	}
	half := float64(0.5 * f * f)
	tail := math.FMA(s, math.FMA(p, z, half), float64(k*logLn2Low))
	return math.FMA(k, logLn2High, f-(half-tail))
}
