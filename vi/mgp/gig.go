package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// GIG is the generalised inverse Gaussian distribution with density
// proportional to x^(Omega−1)·exp(−(Chi/x + Phi·x)/2) on x > 0. With Chi = 0 and
// Omega > 0 it is a gamma distribution, Gamma{Omega, 2/Phi}; with Phi = 0 and
// Omega < 0 the reciprocal of one, 1/x ~ Gamma{−Omega, 2/Chi}. Other zeros are
// not distributions.
type GIG struct {
	Omega, Chi, Phi float64
}

// Mean returns E[x], +Inf if it diverges.
func (g GIG) mean() float64 { return g.moments().mean }

// MeanInv returns E[1/x], +Inf if it diverges.
func (g GIG) MeanInv() float64 { return g.moments().inv }

// MeanLog returns E[log x].
func (g GIG) meanLog() float64 { return g.moments().log }

// VarInv returns the variance of 1/x, +Inf if it diverges.
func (g GIG) VarInv() float64 {
	// E[x⁻²] = E[1/x] under g times E[1/x] under the law of order one less.
	inv := g.MeanInv()
	if math.IsInf(inv, 1) || g.Chi == 0 && g.Omega <= 2 {
		return math.Inf(1)
	}
	return max(0, inv*(GIG{g.Omega - 1, g.Chi, g.Phi}.MeanInv()-inv)) // rounding may leave less than 0
}

// SDInv returns the standard deviation of 1/x: +Inf if its variance diverges, but a number where the variance is
// only too large for a float64.
func (g GIG) sdInv() float64 {
	v, inv := g.VarInv(), g.MeanInv()
	if math.IsInf(v, 1) && inv > 1 && !math.IsInf(inv, 1) {
		return inv * math.Sqrt(GIG{g.Omega, g.Chi * inv, g.Phi / inv}.VarInv()) // of the law of inv·x
	}
	return math.Sqrt(v)
}

// VarLog returns the variance of log x, to about six digits unless x or 1/x is
// gamma.
func (g GIG) VarLog() float64 {
	switch {
	case g.Chi == 0:
		return special.Trigamma(g.Omega)
	case g.Phi == 0:
		return special.Trigamma(-g.Omega)
	}
	h := float64(1e-4 * max(1, math.Abs(g.Omega))) // the result is the derivative of E[log x] in ω
	up, down := GIG{g.Omega + h, g.Chi, g.Phi}, GIG{g.Omega - h, g.Chi, g.Phi}
	return max(0, (up.meanLog()-down.meanLog())/(2*h))
}

// inverse returns the distribution of 1/x.
func (g GIG) inverse() GIG { return GIG{-g.Omega, g.Phi, g.Chi} }

// gigMoments is what the bound and the updates need of a GIG.
type gigMoments struct {
	logZ           float64 // log ∫ x^(ω−1)·exp(−(χ/x + φx)/2) dx
	mean, inv, log float64
}

// moments evaluates the moments in a form that is finite and free of
// cancellation in both limits. With z = √χ·√φ and ω > 0
//
//	log Z    = log 2 − ω·log φ + log(z^ω·K_ω(z)),
//	E[log x] = −log φ + d/dω log(z^ω·K_ω(z)),
//	E[x]     = z·K_{ω+1}(z)/K_ω(z)/φ,   E[1/x] = φ/(z·K_ω(z)/K_{ω−1}(z));
//
// where ω < 0 the moments are derived from the distribution of 1/x.
func (g GIG) moments() gigMoments {
	if g.Omega < 0 {
		m := g.inverse().moments()
		return gigMoments{m.logZ, m.inv, m.mean, -m.log}
	}
	w, c, f := g.Omega, g.Chi, g.Phi
	// The root of the product would underflow.
	z := math.Sqrt(c) * math.Sqrt(f)
	b := special.NewBesselK(w, z)
	logF := special.Log(f)
	m := gigMoments{
		logZ: math.Ln2 - float64(w*logF) + b.LogScaled,
		mean: b.Ratio / f,
		log:  b.DLogScaled - logF,
	}
	if math.Abs(b.DLog) < math.Abs(b.DLogScaled) {
		m.log = b.DLog + float64(0.5*(special.Log(c)-logF))
	}
	switch {
	case c == 0 && w <= 1:
		m.inv = math.Inf(1)
	case w > 0.5:
		m.inv = f / special.NewBesselK(w-1, z).Ratio
	default:
		m.inv = special.NewBesselK(-w, z).Ratio / c
	}
	return m
}

// validate returns an error that names the prior unless g is a distribution.
func (g GIG) validate(name string) error {
	finite := g.Omega-g.Omega == 0 && g.Chi-g.Chi == 0 && g.Phi-g.Phi == 0
	if !finite || g.Chi < 0 || g.Phi < 0 ||
		g.Omega >= 0 && g.Phi == 0 || g.Omega <= 0 && g.Chi == 0 {
		return fmt.Errorf("vi: prior %s: GIG(%g, %g, %g) is not a distribution: χ > 0 and φ > 0 are needed, or χ = 0 with ω > 0, or φ = 0 with ω < 0",
			name, g.Omega, g.Chi, g.Phi)
	}
	return nil
}

// bound returns minus the divergence of q, whose moments are m, from the
// prior p: log Z_q − log Z_p + (ω_p−ω_q)·E[log x] + ½(χ_q−χ_p)·E[1/x] + ½(φ_q−φ_p)·E[x].
func (q GIG) bound(m gigMoments, p GIG) float64 {
	if q.Chi == 0 && p.Chi == 0 {
		return q.gammaBound(m, p)
	}
	sum := m.logZ - p.moments().logZ + float64((p.Omega-q.Omega)*m.log) + float64(0.5*(q.Phi-p.Phi)*m.mean)
	if q.Chi != p.Chi { // E[1/x] may be infinite where its factor is zero
		sum += float64(0.5 * (q.Chi - p.Chi) * m.inv)
	}
	return sum
}

// gammaBound is bound for two gamma distributions, without the cancellation of
// their log Z at large shapes.
func (q GIG) gammaBound(m gigMoments, p GIG) float64 {
	d := q.Omega - p.Omega
	var rise float64 // log Γ(q.Omega) − log Γ(p.Omega)
	if d >= 0 {
		rise = special.LogGammaRise(p.Omega, d)
	} else {
		rise = -special.LogGammaRise(q.Omega, -d)
	}
	return rise - float64(p.Omega*special.Log1p((q.Phi-p.Phi)/p.Phi)) - float64(d*(special.Log(q.Phi/2)+m.log)) + float64(0.5*(q.Phi-p.Phi)*m.mean)
}
