package special

import "math"

// LogGamma returns log Γ(x) for x ≥ 0, with an error of a few ulp, also near its zeros
// at 1 and 2, and with the same bits on every machine. It is +Inf for x = 0 and NaN
// for x < 0.
//
// Sources: Taylor's series at 2 (DLMF 5.7.3) for x < 10, to which the recurrence leads;
// Stirling's series (DLMF 5.11.1) beyond.
func LogGamma(x float64) float64 {
	switch {
	case !(x > 0) || x > math.MaxFloat64:
		if x == 0 {
			return math.Inf(1)
		}
		if x < 0 {
			return math.NaN()
		}
		return x
	case x >= 10:
		const rest = 0.4189385332046727417803297 // ½·log 2π − ½
		return float64((x-0.5)*(Log(x)-1)) + (rest + stirling(x))
	case x < 0.5:
		return logGammaNear2(x) - Log1p(x) - Log(x)
	case x < 1.5:
		return logGammaNear2(x-1) - Log1p(x-1)
	}
	product := 1.0
	for x > 2.5 {
		x--
		product *= x
	}
	return logGammaNear2(x-2) + Log(product)
}

// logGammaNear2 returns log Γ(2+z) = (1−γ)z + Σ_{k≥2} (−1)^k·(ζ(k)−1)·z^k/k for |z| ≤ ½.
func logGammaNear2(z float64) float64 {
	s := 0.0
	for _, c := range logGammaSeries {
		s = float64(s*z) + c
	}
	return float64(z * (0.4227843350984671393934879 + float64(z*s)))
}

// logGammaSeries are (−1)^k·(ζ(k)−1)/k from k = 26 down to 2.
var logGammaSeries = [...]float64{
	5.73136724167886201333e-10,
	-1.192140140586091207443e-9,
	2.483674543802478317185e-9,
	-5.183475041970046655121e-9,
	1.083865921489695409107e-8,
	-2.271109460894316491032e-8,
	4.76981016936398056576e-8,
	-1.004322482396809960872e-7,
	2.120718480555466586923e-7,
	-4.492469198764566043294e-7,
	9.551412130407419832857e-7,
	-0.000002039215753801366236782,
	0.000004374866789907487804182,
	-0.000009439488275268395903987,
	0.00002050721277567069155317,
	-0.00004492623673813314170021,
	0.0000994575127818085337146,
	-0.0002231547584535793797614,
	0.0005096695247430424223357,
	-0.001192753911703260977114,
	0.002890510330741523285753,
	-0.007385551028673985266273,
	0.020580808427784547879,
	-0.06735230105319809513325,
	0.3224670334241132182362,
}
