package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// scalePrior is the prior of γ.
type scalePrior struct {
	family Family
	prior  GIG
	held   HeldPrior // by the family too
	unit   []float64 // of γ_p
	known  []float64 // weights 1/γ_p, 0 where they are learned; nil if all are

	relative bool // the default prior: the unit of γ_p is its value at an equal share of the function
}

// choose sets the prior to start from, and the unit of every γ_p to 1, of targets with this mean
// square.
func (m *scalePrior) choose(P int, held HeldPrior, power float64) error {
	if m.relative = m.family == FamilyDefault; m.relative {
		m.family, m.prior = FamilyHyperbola, FamilyHyperbola.vague(1)
	}
	for range P {
		m.unit = append(m.unit, 1)
	}
	m.held = m.family.held().with(held)
	m.prior = m.family.begin(m.prior, m.held, 1/power)
	return m.family.validate(m.prior)
}

// setUnits sets the units of a relative prior, given the logarithms x of the amplitudes at which
// every kernel has an equal share of the function.
func (m *scalePrior) setUnits(x []float64) {
	if !m.relative {
		return
	}
	for p := range m.unit {
		m.unit[p] = special.Exp(-x[p]) / float64(len(m.unit))
	}
}

// isKnown reports whether γ_p is known.
func (m *scalePrior) isKnown(p int) bool { return m.known != nil && m.known[p] > 0 }

// checkKnown reports known weights that are negative or not finite, and fits that would learn no
// weight.
func (m *scalePrior) checkKnown(P int) error {
	if m.known == nil {
		return nil
	}
	if len(m.known) != P {
		return fmt.Errorf("vi: Known: %d weights for %d kernels", len(m.known), P)
	}
	for p, v := range m.known {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("vi: Known[%d] is %g: it must be positive and finite, or 0", p, v)
		}
	}
	return nil
}

// logPrior returns log p(log γ) but for a constant, at u = log γ in its unit, and
// its slope in u: ω·u − ½(χ·e⁻ᵘ + φ·eᵘ), or zero where there is no prior.
func (m *scalePrior) logPrior(u float64) (density, slope float64) {
	if m.family == FamilyFlat {
		return 0, 0
	}
	down, up := float64(m.prior.Chi*special.Exp(-u)), float64(m.prior.Phi*special.Exp(u))
	return float64(m.prior.Omega*u) - float64(0.5*(down+up)), m.prior.Omega + float64(0.5*(down-up))
}

// learnPrior sets the prior of γ to the one with the maximum likelihood under the present q(γ), and
// reports whether it has moved.
func (m *evidence) learnPrior() bool {
	q, moments := m.scales()
	old := m.prior
	q, moments = learned(&m.scalePrior, q), learned(&m.scalePrior, moments)
	if len(q) == 0 {
		return false
	}
	m.prior = m.family.learn(m.prior, m.family.meanMoments(q, moments), m.held, true)
	m.best = math.Inf(1)
	moved := func(a, b float64) bool { return math.Abs(a-b) > 1e-3*(math.Abs(a)+math.Abs(b)) }
	return moved(old.Omega, m.prior.Omega) || moved(old.Chi, m.prior.Chi) || moved(old.Phi, m.prior.Phi)
}

// knownKernels says of each kernel whether its weight is known, nil if none is.
func (m *scalePrior) knownKernels() (known []bool) {
	for p := range m.known {
		known = append(known, m.isKnown(p))
	}
	return known
}

// learned returns what is of kernels whose weights are not known.
func learned[T any](m *scalePrior, all []T) (some []T) {
	if m.known == nil {
		return all
	}
	for p, v := range all {
		if !m.isKnown(p) {
			some = append(some, v)
		}
	}
	return some
}

// scales returns q(γ_p) = GIG(ω + N/2, χ, φ + s_p) and its moments, where with
// a_p = 1/γ_p (D3–D11, the sites' precisions in place of τ)
//
//	s_p = E[f_pᵀK_p⁻¹f_p] = a_p²·αᵀK_pα + a_p·(N − a_p·tr RK_p),
//	N − a_p·tr RK_p = Σ_{q≠p} a_q·tr RK_q + tr(R·S⁻¹),
//
// a sum whose terms are not negative but for rounding, which hides sums below 2⁻⁵²·N. Its mean is
// the present γ_p up to O(1/N).
func (m *evidence) scales() (q []GIG, moments []gigMoments) {
	for p, a := range m.weight {
		rest := m.left
		for q, t := range m.trace {
			if q != p {
				rest += float64(m.weight[q] * max(0, t))
			}
		}
		s := float64(a * (float64(a*max(0, m.quad[p])) + max(rest, float64(0x1p-52*m.samples()))))
		g := m.scale(p, s)
		q = append(q, g)
		moments = append(moments, g.moments())
	}
	return q, moments
}

// scale returns q(γ_p) for s_p = E[f_pᵀK_p⁻¹f_p].
func (m *evidence) scale(p int, s float64) GIG {
	return GIG{m.prior.Omega + float64(m.samples()/2), m.prior.Chi * m.unit[p], m.prior.Phi/m.unit[p] + s}
}
