package special

import "math"

// This file has the cone of independent y_c ~ N(m_c, 1) at lower accuracy and cost than
// [Cone.LogProbability] and [Cone.Mean], for samplers, which need it millions of times.
//
// A variable far below y_i is left out: given that y_i is above the others it is the more
// likely to be above y_j too, so that the logarithm of the probability changes by
// log Φ(d_j/√2) at most. What is left of two variables has a closed form, and what is left of
// more a trapezoidal rule of wider steps that ends earlier.

// coneRule is an accuracy.
type coneRule struct {
	far  float64 // d_j above which y_j is left out
	step float64 // of the trapezoidal rule, in units of (1 + the variables left)^-½
	tail float64 // how far, in logarithms, the last term is below the largest
}

// The error of the trapezoidal rule is about e^(−2π²/step²), the error of its ends e^tail.
var (
	coneFine  = coneRule{far: 9.6, step: 0.9, tail: -24}  // 1e-11, 3e-11 and 4e-11
	coneRough = coneRule{far: 5.5, step: 1.25, tail: -12} // 5e-5, 3e-6 and 6e-6
)

// QuickLogProbability returns log P(y_i is the largest) for independent y_c ~ N(m_c, 1), to
// about 1e-10 for each variable. It is NaN if a mean is not a finite number.
func (c *Cone) QuickLogProbability(i int, m []float64) float64 {
	return c.quick(coneFine, i, m, false)
}

// QuickSlope stores in g about the slope of [Cone.QuickLogProbability] by each m_c, E[y_c] − m_c in
// the cone, to some 1e-4. g has the length of m and may not be m.
func (c *Cone) QuickSlope(i int, m, g []float64) {
	c.quick(coneRough, i, m, true)
	var all float64
	k := 0
	for j, mj := range m {
		g[j] = 0
		if j != i && !(m[i]-mj > coneRough.far) {
			g[j] = -c.sum[k]
			all += c.sum[k]
			k++
		}
	}
	g[i] = all
}

// quick integrates by a rule, and leaves in c.sum the means of λ(u + d_j) if moments are wanted.
func (c *Cone) quick(rule coneRule, i int, m []float64, moments bool) float64 {
	c.set(i, m, nil)
	near := c.d[:0]
	for _, d := range c.d {
		if !(d > rule.far) {
			near = append(near, d)
		}
	}
	if v := m[i]; v-v != 0 {
		return math.NaN()
	}
	n := len(near)
	c.a, c.d, c.lambda, c.sum = c.a[:n], near, c.lambda[:n], c.sum[:n]
	switch n {
	case 0:
		return 0
	case 1:
		if math.IsInf(near[0], 0) {
			return math.NaN()
		}
		lambda, logZ := Mills(near[0] / math.Sqrt2)
		c.sum[0] = lambda / math.Sqrt2
		return logZ
	}
	step := rule.step / math.Sqrt(float64(1+n))
	u := c.about(step)
	top := c.at(u)
	clear(c.sum)
	total := c.add(1, moments)
	for _, side := range [...]float64{step, -step} {
		for k := range int(2 * coneReach / step) {
			h := c.at(u+float64(float64(k+1)*side)) - top
			if !(h > rule.tail) {
				break
			}
			total += c.add(Exp(min(h, coneRound)), moments)
		}
	}
	for j := range c.sum {
		c.sum[j] /= total
	}
	return top + Log(total*step) - logSqrt2Pi
}

// about returns the mode of h to within about a step, which is near enough for the trapezoidal rule.
func (c *Cone) about(within float64) (u float64) {
	for range 200 {
		slope, curve := -u, 1.0
		for _, d := range c.d {
			x := u + d
			l, _ := millsNear(x)
			slope += l
			curve += decay(x, l)
		}
		step := slope / curve
		u += step
		if !(step > within) {
			break
		}
	}
	return u
}
