package special

import "math"

// Cone integrates over the cone in which one of C independent Gaussian variables
// is the largest. With y_c ~ N(m_c, s_c²) and u = (y_i − m_i)/s_i,
//
//	P(y_i > y_j for all j ≠ i) = E_{u~N(0,1)} Π_{j≠i} Φ(a_j·u + d_j),
//	a_j = s_i/s_j,   d_j = (m_i − m_j)/s_j,
//
// and every moment that is needed is one of the density ∝ e^h(u),
//
//	h(u) = −u²/2 + Σ_j log Φ(a_j·u + d_j).
//
// As −(1 + Σ a_j²) ≤ h″ ≤ −1, the integrand is a smooth hump, nowhere narrower than
// (1 + Σ a_j²)^-½, on which the trapezoidal rule centred at the mode converges
// geometrically. Gauss–Hermite rules in u fail where y_i is far from being the largest
// (d_j ≪ 0) and where scales differ.
//
// A Cone keeps scratch memory: it serves one call at a time. The zero value is
// ready.
//
// Source: the probabilities are equations 1.3 and 1.10, the means 1.6 and 1.7, of
// T. Damoulas and M. Girolami, "Combining information with a Bayesian multi-class
// multi-kernel pattern recognition machine"; the quadrature is derived in
// docs/theory/probit.md.
type Cone struct {
	a, d   []float64 // C−1, one for each variable but the i-th
	lambda []float64 // C−1, λ(a_j·u + d_j)
	sum    []float64 // C−1, its weighted sum over u
}

// set stores a_j and d_j of the variables other than i. A nil sd stands for ones.
func (c *Cone) set(i int, m, sd []float64) {
	n := len(m) - 1
	if cap(c.d) < n {
		buffer := make([]float64, 4*n)
		c.a, c.d, c.lambda, c.sum = buffer[:n:n], buffer[n:2*n:2*n], buffer[2*n:3*n:3*n], buffer[3*n:]
	}
	c.a, c.d, c.lambda, c.sum = c.a[:n], c.d[:n], c.lambda[:n], c.sum[:n]
	k := 0
	for j, mj := range m {
		if j == i {
			continue
		}
		s, a := 1.0, 1.0
		if sd != nil {
			s, a = sd[j], sd[i]/sd[j]
		}
		c.a[k], c.d[k] = a, (m[i]-mj)/s
		k++
	}
}

// at returns h(u) and stores λ(a_j·u + d_j) in c.lambda.
func (c *Cone) at(u float64) float64 {
	h := -0.5 * u * u
	lambda, a := c.lambda[:len(c.d)], c.a[:len(c.d)]
	for j, d := range c.d {
		l, logCDF := millsNear(float64(a[j]*u) + d)
		lambda[j] = l
		h += logCDF
	}
	return h
}

// mode returns the maximum u* ≥ 0 of h. As h′ is convex and decreasing, Newton's
// iteration from 0 rises to it.
func (c *Cone) mode() float64 {
	var u float64
	for range 200 {
		slope, curve := -u, 1.0
		for j, d := range c.d {
			a := c.a[j]
			x := float64(a*u) + d
			l, _ := millsNear(x)
			slope += float64(a * l)
			curve += float64(float64(a*a) * decay(x, l))
		}
		step := slope / curve
		u += step
		if !(step > 1e-9*(1+u)) { // convergence is quadratic: the error left is about step²
			break
		}
	}
	return u
}

// decay returns −λ′(x) = λ(x)·(x + λ(x)), which is between 0 and 1.
func decay(x, lambda float64) float64 {
	if x < -1e4 {
		return 1 // 1 − 1/x² + …
	}
	if lambda == 0 {
		return 0 // x may be infinite
	}
	return lambda * (x + lambda)
}

// SetUnit selects the cone in which y_i is the largest of independent y_c ~ N(m_c, 1),
// for [Cone.Mode] and [Cone.LogDensity].
func (c *Cone) SetUnit(i int, m []float64) { c.set(i, m, nil) }

// Mode returns the u at which h is largest, for the cone of [Cone.SetUnit].
func (c *Cone) Mode() float64 { return c.mode() }

// LogDensity returns h(u) for the cone of [Cone.SetUnit].
func (c *Cone) LogDensity(u float64) float64 { return c.at(u) }

const (
	// coneTail is how far, in logarithms, a term may be below the largest before the
	// sum ends. As h″ ≤ −1, coneReach on either side of the mode is far enough for it.
	coneTail, coneReach = -39, 9

	// coneRound is how far, in logarithms, a term may be above that at the mode.
	// Where u is very large, rounding exceeds it; the terms are then as good as equal.
	coneRound = 1

	// coneSharp is the sum 1 + Σ a_j² above which the trapezoidal rule would take
	// thousands of steps.
	coneSharp = 1e4
)

// integrate returns log E_{u~N(0,1)} Π Φ(a_j·u + d_j) and, if moments, leaves in
// c.sum the means of λ(a_j·u + d_j) under the density of u.
func (c *Cone) integrate(moments bool) float64 {
	squares := 1.0
	for _, a := range c.a {
		squares += float64(a * a)
	}
	u := c.mode()
	if !moments && squares > coneSharp {
		logZ, _ := c.sharp(u, 1/math.Sqrt(squares))
		return logZ
	}
	step := 0.7 / math.Sqrt(squares)
	clear(c.sum)
	top := c.at(u)
	total := c.add(1, moments)
	for _, side := range [...]float64{step, -step} {
		for k := range int(coneReach / step) {
			h := min(c.at(u+float64(float64(k+1)*side))-top, coneRound)
			if !(h > coneTail) {
				break
			}
			total += c.add(Exp(h), moments)
		}
	}
	for j := range c.sum {
		c.sum[j] /= total
	}
	return top + Log(total*step) - logSqrt2Pi
}

// add adds the present λ to the sums with a weight, which it returns.
func (c *Cone) add(weight float64, moments bool) float64 {
	if moments {
		for j, l := range c.lambda {
			c.sum[j] += float64(weight * l)
		}
	}
	return weight
}

// Mean stores in y the mean of y ~ N(m, I) restricted to the cone in which y_i is the
// largest, and returns the logarithm of the cone's probability. y has the length of m
// and may be m:
//
//	E[y_c] = m_c − E[λ(u + d_c)],   E[y_i] = m_i + Σ_{c≠i} E[λ(u + d_c)].
func (c *Cone) Mean(i int, m, y []float64) (logZ float64) {
	c.set(i, m, nil)
	logZ = c.integrate(true)
	var all float64
	k := 0
	for j, mj := range m {
		if j != i {
			y[j] = mj - c.sum[k]
			all += c.sum[k]
			k++
		}
	}
	y[i] = m[i] + all
	return logZ
}

// LogProbability returns log P(y_i is the largest) for independent y_c ~ N(m_c,
// sd_c²); a nil sd stands for ones. It is NaN if a mean or a deviation is not a
// finite number. Up to a ratio sd_i/sd_j of about 100 the cost grows in proportion to
// it, beyond in proportion to its logarithm; of two variables there is a closed form.
func (c *Cone) LogProbability(i int, m, sd []float64) float64 {
	c.set(i, m, sd)
	if len(m) == 2 {
		return logHalfPlane(c.a[0], c.d[0])
	}
	return min(0, c.integrate(false)) // rounding may take it above
}

// logHalfPlane returns log E_{u~N(0,1)} Φ(a·u + d) = log Φ(d/√(1 + a²)), a ≥ 0.
func logHalfPlane(a, d float64) float64 {
	if a > 1 { // whose square may overflow
		d /= a
		a = 1 / a
	}
	if math.IsInf(d, 0) {
		return math.NaN()
	}
	return LogNormalCDF(d / math.Sqrt(1+float64(a*a)))
}
