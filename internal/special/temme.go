package special

import "math"

// temmeOrder is the order ν below which Temme's series are used.
const temmeOrder = 8

// tiny is the argument below which only the leading terms of the series count.
const tiny = 1e-17

// besselTemme evaluates K_ν(x), −½ ≤ ν < temmeOrder, 0 < x < ½. With ν = j + μ,
// |μ| ≤ ½ and c_k = (x/2)^{2k}/k!, Temme's series are
//
//	K_μ = Σ c_k·f_k,  (x/2)·K_{μ+1} = Σ c_k·(p_k − k·f_k),
//	p_k = p_{k−1}/(k−μ),  q_k = q_{k−1}/(k+μ),  f_k = (k·f_{k−1} + p_{k−1} + q_{k−1})/(k²−μ²);
//
// κ_j = (x/2)^j·K_{μ+j} then follows κ_{j+1} = (x/2)²·κ_{j−1} + (μ+j)·κ_j. All
// values are multiplied by (x/2)^μ, so that κ_j stays finite as x → 0.
//
// K_μ is a smooth function of m = μ²: derivatives are taken with respect to m
// where they vanish with μ.
func besselTemme(nu, x float64) BesselK {
	j := math.Floor(nu + 0.5)
	mu := nu - j
	a := math.Abs(mu)
	m := float64(a * a)
	half := x / 2
	l := -Log(half)
	sigma := float64(a * l)
	decay := powSmall(half, 2*a) // e^{−2σ}

	// Even and odd part of 1/Γ(1+a) = even + a·odd and their derivatives in m.
	even, dEven := evenOdd(&recipGammaEven, m)
	odd, dOdd := evenOdd(&recipGammaOdd, m)
	dRecip := float64(2*m*dOdd) + odd // d(a·odd)/da
	plus, minus := even+float64(a*odd), even-float64(a*odd)
	psiPlus := -(dRecip + float64(2*a*dEven)) / plus   // ψ(1+a)
	psiMinus := -(dRecip - float64(2*a*dEven)) / minus // ψ(1−a)
	w := 1 / (plus * minus)                            // Γ(1+a)·Γ(1−a) = πa/sin πa
	// d log w/dm; log w = −log(even² − m·odd²).
	dw := -(float64(2*even*dEven) - float64(odd*odd) - float64(2*m*odd*dOdd)) * w

	// cosh σ and sinh σ/σ, scaled by e^{−σ}, and their derivatives in m before
	// scaling.
	c := (1 + decay) / 2
	sh := sinhc(sigma)
	dc := l * l / 2 * sh
	ds := l * l / 2 * sinhcSlope(sigma, c, sh)

	f := w * (float64(even*l*sh) - float64(odd*c))
	df := float64(dw*f) + float64(w*(float64(l*(float64(dEven*sh)+float64(even*ds)))-float64(dOdd*c)-float64(odd*dc)))
	gammaPlus, gammaMinus := w*minus, w*plus // Γ(1+a), Γ(1−a)

	logX := math.Ln2 - l
	if x < tiny {
		if nu >= 0.5 {
			// x^ν·K_ν is at its limit.
			b := besselAtZero(nu)
			b.Log = b.LogScaled - float64(nu*logX)
			b.DLog = b.DLogScaled - logX
			return b
		}
		b := BesselK{DLog: 2 * mu * df / f}
		scale := sigma // log of what f was divided by to reach K_μ
		b.Log = Log(f) + scale
		if mu >= 0 {
			b.LogScaled = Log(f) + float64(nu*math.Ln2)
			b.Ratio = gammaPlus / f
			// The scaled derivative directly: DLog + log x would cancel.
			dcosh := -l * decay
			dsinhc := 2 * l * expRatioSlope(2*sigma, decay)
			b.DLogScaled = math.Ln2 + float64(2*a*dw) +
				w*(float64(l*(float64(2*a*dEven*sh)+float64(even*dsinhc)))-float64(2*a*dOdd*c)-float64(odd*dcosh))/f
		} else {
			b.LogScaled = b.Log + float64(nu*logX)
			b.Ratio = gammaMinus * decay / f
			b.DLogScaled = b.DLog + logX
		}
		return b
	}

	// From here on the scale is e^{−μ·l}, so that it is e^{+σ} for μ < 0.
	p, q := gammaPlus/2, gammaMinus*decay/2
	dp, dq := p*(l+psiPlus), -q*(l+psiMinus)           // d/da
	sum := w * (float64(even*c) - float64(m*odd*l*sh)) // S = p + q and dS/dm
	dsum := float64(dw*sum) + float64(w*(float64(dEven*c)+float64(even*dc)-float64(l*(float64(odd*sh)+float64(m*dOdd*sh)+float64(m*odd*ds)))))
	diff, ddiff := f, df // T = (p − q)/a and dT/dm: Temme's f₀
	side, dside := p, dp // p_k for μ ≥ 0 or q_k for μ < 0, and its derivative by μ
	if mu < 0 {
		side, dside = q, -dq
	}
	h2 := half * half
	k0, d0, k1, d1 := f, df, side, dside
	ck := 1.0
	for k := 1.0; k < mostTerms; k++ {
		ck *= h2 / k
		den := 1 / (float64(k*k) - m)
		df = float64((float64(k*df) + dsum) * den)
		f = (float64(k*f) + sum) * den
		df += float64(f * den)
		dsum, ddiff = float64((float64(k*dsum)+diff+float64(m*ddiff))*den), float64((float64(k*ddiff)+dsum)*den)
		sum, diff = (float64(k*sum)+float64(m*diff))*den, (float64(k*diff)+sum)*den
		dsum += float64(sum * den)
		ddiff += float64(diff * den)
		// side is p_k(μ); with μ = −a it is q_k(a).
		side /= k - mu
		dside = (dside + side) / (k - mu)
		k0 += float64(ck * f)
		d0 += float64(ck * df)
		k1 += float64(ck * (side - float64(k*f)))
		d1 += float64(ck * (dside - float64(k*2*mu*df)))
		if ck*f*k < 1e-17*k1 && ck*f < 1e-17*k0 {
			break
		}
	}
	d0 *= 2 * mu
	if mu < 0 {
		k0, d0, k1, d1 = k0/decay, d0/decay, k1/decay, d1/decay
	}
	for i := range int(j) {
		order := mu + float64(i+1)
		k0, d0, k1, d1 = k1, d1, float64(h2*k0)+float64(order*k1), float64(h2*d0)+float64(order*d1)+k1
	}
	b := BesselK{DLog: d0 / k0, Ratio: 2 * k1 / k0}
	b.LogScaled = Log(k0) + float64(nu*math.Ln2)
	b.Log = b.LogScaled - float64(nu*logX)
	b.DLogScaled = b.DLog + logX
	return b
}

// The coefficients of 1/Γ(1+a) = Σ r_k·a^k, even and odd k apart (Abramowitz
// and Stegun 6.1.34).
var recipGammaEven = [...]float64{
	1,
	-0.65587807152025388108,
	0.1665386113822914895,
	-0.0096219715278769735621,
	-0.0011651675918590651121,
	0.00012805028238811618615,
	-1.2504934821426706573e-6,
	-2.0563384169776071035e-7,
	5.0020076444692229301e-9,
	1.0434267116911005105e-10,
	-3.6968056186422057082e-12,
	-2.0583260535665067832e-14,
}

var recipGammaOdd = [...]float64{
	0.57721566490153286061,
	-0.042002635034095235529,
	-0.042197734555544336748,
	0.0072189432466630995424,
	-0.00021524167411495097282,
	-2.0134854780788238657e-5,
	1.1330272319816958824e-6,
	6.1160951044814158178e-9,
	-1.1812745704870201446e-9,
	7.7822634399050712540e-12,
	5.1003702874544759790e-13,
	-5.3481225394230179824e-15,
}

// evenOdd returns Σ c_j·m^j and its derivative.
func evenOdd(c *[12]float64, m float64) (v, dv float64) {
	for j := len(c) - 1; j >= 0; j-- {
		dv = float64(dv*m) + v
		v = float64(v*m) + c[j]
	}
	return v, dv
}

// powSmall returns x^y for 0 < x ≤ ½ and 0 ≤ y ≤ 1 to an ulp or two: math.Pow
// loses a digit where |log x| is large.
func powSmall(x, y float64) float64 {
	frac, exp := math.Frexp(x)
	k := math.Round(y * float64(exp))
	rest := math.FMA(y, float64(exp), -k)
	return math.Ldexp(Exp(float64(rest*math.Ln2)+float64(y*Log(frac))), int(k))
}

// sinhc returns e^{−s}·sinh(s)/s.
func sinhc(s float64) float64 {
	if s == 0 {
		return 1
	}
	return -Expm1(-2*s) / (2 * s)
}

// sinhcSlope returns e^{−s}·(cosh s − sinh(s)/s)/s², given e^{−s}·cosh s and
// e^{−s}·sinh(s)/s.
func sinhcSlope(s, cosh, sinhc float64) float64 {
	if s > 1 {
		return (cosh - sinhc) / (s * s)
	}
	// Σ_{k≥1} 2k/(2k+1)!·s^{2k−2}
	sum, term := 0.0, 1.0/6
	for k := 1.0; k < 11; k++ {
		sum += float64(2 * k * term)
		term *= s * s / ((2*k + 2) * (2*k + 3))
	}
	return Exp(-s) * sum
}

// expRatioSlope returns the derivative of (1 − e^{−x})/x, given e^{−x}.
func expRatioSlope(x, exp float64) float64 {
	if x > 0.5 {
		return (float64(exp*(1+x)) - 1) / (x * x)
	}
	// −Σ_{k≥1} k·(−x)^{k−1}/(k+1)!
	sum, term := 0.0, -0.5
	for k := 1.0; k < 14; k++ {
		sum += float64(k * term)
		term *= -x / (k + 2)
	}
	return sum
}
