package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/roots"
)

// Family is a family of priors on the precisions γ_p of a multiple Gaussian
// process, named after the process that f_p then is.
type Family int

// Families of priors.
const (
	FamilyDefault       Family = iota // Hyperbola by the evidence, StudentT with factorised posteriors
	FamilyStudentT                    // γ ~ gamma: χ = 0, ω > 0
	FamilyLaplace                     // 1/γ exponential: ω = −1, φ = 0
	FamilyGammaVariance               // 1/γ ~ gamma: φ = 0, ω < 0
	FamilyGIG                         // all three parameters free
	FamilyHyperbola                   // ω = 0, symmetric in log γ; never learned
	FamilyFlat                        // no prior: γ is a parameter, set by maximum likelihood
)

// String returns the family's name.
func (f Family) String() string {
	switch f {
	case FamilyDefault:
		return "default"
	case FamilyStudentT:
		return "Student-t"
	case FamilyLaplace:
		return "Laplace"
	case FamilyGammaVariance:
		return "gamma-variance"
	case FamilyGIG:
		return "generalised inverse Gaussian"
	case FamilyHyperbola:
		return "hyperbola"
	case FamilyFlat:
		return "ARD"
	}
	return fmt.Sprintf("Family(%d)", int(f))
}

// MarshalText returns the family's name.
func (f Family) MarshalText() ([]byte, error) {
	if f < FamilyStudentT || f > FamilyFlat {
		return nil, fmt.Errorf("vi: Family: %v is not known", f)
	}
	return []byte(f.String()), nil
}

// UnmarshalText reads a family's name.
func (f *Family) UnmarshalText(text []byte) error {
	for g := FamilyStudentT; g <= FamilyFlat; g++ {
		if g.String() == string(text) {
			*f = g
			return nil
		}
	}
	return fmt.Errorf("vi: Family: %q is not known", text)
}

// HeldPrior says which parameters of the prior of γ keep the values that they start from, beside
// those that the family itself holds: a [FamilyStudentT] process whose Omega is held at ½ is a Cauchy
// process, and one of [FamilyGIG] whose Omega is held at −1 a hyperbolic process. The zero value
// holds none.
type HeldPrior struct {
	Omega bool // ω
	Chi   bool // χ
	Phi   bool // φ
}

// All returns that all three parameters are held.
func (HeldPrior) All() HeldPrior { return HeldPrior{true, true, true} }

// held returns which parameters the family itself holds.
func (f Family) held() HeldPrior {
	switch f {
	case FamilyStudentT:
		return HeldPrior{Chi: true}
	case FamilyLaplace:
		return HeldPrior{Omega: true, Phi: true}
	case FamilyGammaVariance:
		return HeldPrior{Phi: true}
	case FamilyGIG:
		return HeldPrior{}
	}
	return HeldPrior{}.All()
}

// with returns what h or g holds.
func (h HeldPrior) with(g HeldPrior) HeldPrior {
	return HeldPrior{h.Omega || g.Omega, h.Chi || g.Chi, h.Phi || g.Phi}
}

// all reports whether nothing is learned.
func (h HeldPrior) all() bool { return h == h.All() }

// scales reports whether (χ, φ) → (cχ, φ/c) leaves alone what is held of p.
func (h HeldPrior) scales(p GIG) bool { return !(h.Chi && p.Chi != 0) && !(h.Phi && p.Phi != 0) }

// begin returns the prior to start from: p, if that is a prior of the family; else the weak prior
// for precisions of the order of scale, with the parameters of p that are not 0 or are held.
func (f Family) begin(p GIG, held HeldPrior, scale float64) GIG {
	weak := f.vague(scale)
	switch {
	case f == FamilyFlat || f.validate(p) == nil:
		return p
	case p == GIG{}:
		return weak
	}
	held = held.with(f.held())
	if p.Omega == 0 && !held.Omega {
		p.Omega = weak.Omega
	}
	chi, phi := p.Chi == 0 && !held.Chi, p.Phi == 0 && !held.Phi // to be chosen
	switch {
	case phi && p.Chi == 0 && !chi: // γ is gamma, of the mean scale
		p.Phi = 2 * p.Omega / scale
	case chi && p.Phi == 0 && !phi: // 1/γ is gamma, of the mean 1/scale
		p.Chi = -2 * p.Omega * scale
	default:
		if chi {
			p.Chi = weak.Chi
		}
		if phi {
			p.Phi = weak.Phi
		}
	}
	return p
}

// vague returns the family's weak prior for precisions of the order of scale.
func (f Family) vague(scale float64) GIG {
	const weak = 0.01
	switch f {
	case FamilyStudentT:
		return GIG{weak, 0, 2 * weak / scale}
	case FamilyLaplace:
		return GIG{-1, 2 * weak * scale, 0}
	case FamilyGammaVariance:
		return GIG{-weak, 2 * weak * scale, 0}
	case FamilyGIG, FamilyHyperbola:
		return GIG{0, 2 * weak * scale, 2 * weak / scale}
	}
	return GIG{}
}

// validate returns an error unless p is a prior of the family.
func (f Family) validate(p GIG) error {
	var ok bool
	switch f {
	case FamilyStudentT:
		ok = p.Chi == 0
	case FamilyLaplace:
		ok = p.Omega == -1 && p.Phi == 0
	case FamilyGammaVariance:
		ok = p.Phi == 0
	case FamilyGIG:
		ok = true
	case FamilyHyperbola:
		ok = p.Omega == 0
	case FamilyFlat:
		if p != (GIG{}) {
			return fmt.Errorf("vi: Prior: %v has none", f)
		}
		return nil
	default:
		return fmt.Errorf("vi: Family: %v is not known", f)
	}
	if !ok {
		return fmt.Errorf("vi: Prior: GIG(%g, %g, %g) is not of the %v family", p.Omega, p.Chi, p.Phi, f)
	}
	if err := p.validate("Prior"); err != nil {
		return err
	}
	if math.IsNaN(p.VarLog()) {
		return fmt.Errorf("vi: Prior: GIG(%g, %g, %g) is beyond double precision", p.Omega, p.Chi, p.Phi)
	}
	return nil
}

// hyper is what type-II maximum likelihood needs of the posterior: the means over
// the kernels of E[γ], E[1/γ] and E[log γ].
type hyper struct {
	mean, inv, log float64
	gap            float64 // log(mean) − log, which is not negative
}

// meanMoments returns the means over the kernels of the moments of q(γ_p).
func (f Family) meanMoments(q []GIG, moments []gigMoments) hyper {
	var h hyper
	P := float64(len(moments))
	for _, v := range moments {
		h.mean += v.mean / P
		h.inv += v.inv / P
		h.log += v.log / P
	}
	h.gap = special.Log(h.mean) - h.log
	if f == FamilyStudentT {
		// log E[γ] − E[log γ] as a sum of what is not negative: the difference would
		// lose 2ω ulp.
		h.gap = 0
		for p, v := range moments {
			h.gap += (logGap(v.mean, h.mean) + special.LogMinusDigamma(q[p].Omega)) / P
		}
	}
	return h
}

// logGap returns d − log(1 + d), d = x/mean − 1, whose mean over the x that have this mean
// is log mean − mean log x. It is not negative.
func logGap(x, mean float64) float64 {
	d := (x - mean) / mean
	if d < -0.5 { // where 1 + d cancels
		return d - special.Log(x/mean)
	}
	return d - special.Log1p(d)
}

// likelihood is the part of the bound that depends on the prior p, divided by the
// number of kernels (D21).
func (h hyper) likelihood(p GIG) float64 {
	sum := float64(p.Omega*h.log) - p.moments().logZ - float64(0.5*p.Phi*h.mean)
	if p.Chi > 0 {
		sum -= float64(0.5 * p.Chi * h.inv)
	}
	return sum
}

// maxOmega is the largest |ω| that is learned. Where the kernels' precisions are alike,
// |ω| grows by r/2 a sweep without end: the prior becomes a point and the model a plain
// Gaussian process.
const maxOmega = 1e4

// learn returns the prior that maximises the bound given the posterior's means,
// equations (11)–(13), over the parameters that neither the family nor held holds: one coordinate
// after another, or jointly where there is a closed form for that. The roots of (12) and (13) need not
// exist; the maximum is then at χ = 0 or φ = 0. Where the means are beyond double
// precision, and so what they lead to is no prior of the family, p stays.
func (f Family) learn(p GIG, h hyper, held HeldPrior, joint bool) GIG {
	if q := h.highest(p, f.held().with(held), joint); f.validate(q) == nil {
		return q
	}
	return p
}

// highest is learn, given all that is held, without a check of what comes out.
func (h hyper) highest(p GIG, held HeldPrior, joint bool) GIG {
	switch {
	case joint && held == HeldPrior{Chi: true} && p.Chi == 0:
		p.Omega = min(gammaShape(h.gap), max(maxOmega, p.Omega))
		p.Phi = 2 * p.Omega / h.mean
		return p
	case joint && held == HeldPrior{Phi: true} && p.Phi == 0:
		p.Omega = -min(gammaShape(special.Log(h.inv)+h.log), max(maxOmega, -p.Omega))
		p.Chi = -2 * p.Omega / h.inv
		return p
	}
	edges := joint && !held.Chi && !held.Phi
	lower, upper := edges && (!held.Omega || p.Omega > 0), edges && (!held.Omega || p.Omega < 0) // χ = 0, φ = 0
	from := GIG{}
	if held.Omega {
		from.Omega = p.Omega
	}
	if !held.Omega {
		limit := max(maxOmega, math.Abs(p.Omega))
		p.Omega = min(max(solveOmega(p, h.log), -limit), limit)
	}
	if !held.Chi {
		p.Chi = solveChi(p.Omega, p.Phi, h.inv)
	}
	if !held.Phi {
		p.Phi = solveChi(-p.Omega, p.Chi, h.mean)
	}
	// Where the best prior is nearly a point, ω, χ and φ approach it ever more
	// slowly one after another; the two families at the edges reach it at once.
	try := func(held HeldPrior) {
		if edge := h.highest(from, held, true); edge.validate("edge") == nil && h.likelihood(edge) > h.likelihood(p) {
			p = edge
		}
	}
	if lower {
		try(HeldPrior{Omega: held.Omega, Chi: true})
	}
	if upper {
		try(HeldPrior{Omega: held.Omega, Phi: true})
	}
	return p
}

// gammaShape solves log w − ψ(w) = gap, the likelihood equation of a gamma
// distribution's shape; 1/2w < log w − ψ(w) < 1/w brackets it.
func gammaShape(gap float64) float64 {
	if !(gap > 0.25/maxOmega) {
		return 2 * maxOmega
	}
	return special.Exp(roots.Find(func(t float64) float64 {
		return gap - special.LogMinusDigamma(special.Exp(t))
	}, -special.Log(2*gap), -special.Log(gap)))
}

// solveOmega solves E[log x] = log for ω with χ and φ as they are (11).
func solveOmega(p GIG, log float64) float64 {
	switch {
	case p.Phi == 0:
		return -solveOmega(p.inverse(), -log)
	case p.Chi == 0: // ψ(ω) = log(φ/2) + E[log x], ω > 0
		psi := special.Log(p.Phi/2) + log
		f := func(t float64) float64 { return special.Digamma(special.Exp(t)) - psi }
		lo, hi := bracket(f, special.Log(p.Omega), special.Log(1e-300), special.Log(1e300))
		return special.Exp(roots.Find(f, lo, hi))
	}
	f := func(w float64) float64 { return GIG{w, p.Chi, p.Phi}.moments().log - log }
	lo, hi := bracket(f, p.Omega, -1e8, 1e8)
	return roots.Find(f, lo, hi)
}

// smallest is the value below which χ and φ count as zero.
const smallest = 1e-280

// solveChi solves E[1/x] = inv for χ (12), or returns 0 where E[1/x] < inv for
// every χ > 0. Since 1/x has the parameters (−ω, φ, χ) it solves (13) too.
func solveChi(omega, phi, inv float64) float64 {
	if phi < smallest {
		return -2 * omega / inv
	}
	if omega > 1 && inv >= phi/(2*(omega-1)) {
		return 0
	}
	f := func(t float64) float64 {
		return special.Log(inv) - special.Log(GIG{omega, special.Exp(t), phi}.moments().inv)
	}
	least := special.Log(smallest)
	lo, hi := bracket(f, special.Log(max(1, math.Abs(omega))/inv), least, special.Log(1/smallest))
	if lo == hi && lo == least && omega > 0 {
		return 0
	}
	return special.Exp(roots.Find(f, lo, hi))
}

// bracket returns an interval around x in which the increasing function f changes sign, within
// [least, most]; if f does not change sign there, it returns the end at which f is nearest to zero,
// twice.
func bracket(f func(float64) float64, x, least, most float64) (lo, hi float64) {
	x = min(max(x, least), most)
	lo, hi = x, x
	below := f(x) < 0
	for step := 0.5; step <= math.MaxFloat64; step *= 2 { // no end is further away
		if below {
			if hi == most {
				return most, most
			}
			lo, hi = hi, min(hi+step, most)
			if f(hi) >= 0 {
				return lo, hi
			}
		} else {
			if lo == least {
				return least, least
			}
			hi, lo = lo, max(lo-step, least)
			if f(lo) < 0 {
				return lo, hi
			}
		}
	}
	return x, x
}
