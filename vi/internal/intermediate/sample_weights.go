package intermediate

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/gram"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// UpdateLambda is q(λ) ∝ Gamma(α_λ + ½, (1/β_λ + E[a²]/2)^-1).
func (l *Outputs) UpdateLambda() {
	for o := range l.R {
		mean, variance := l.AMean.Row(o), l.AVar.Row(o)
		for d := range mean {
			l.Lambda.Observe(o*l.D+d, float64(0.5*(float64(mean[d]*mean[d])+variance[d])))
		}
	}
}

// UpdateWeights is q(a_o) = N(Σ·υ_o·Σ_m K_m E[g_{o,m}], Σ),
// Σ = (diag(λ_o) + υ_o·S)^-1, and the projections h that follow from its mean.
func (l *Outputs) UpdateWeights(upsilon []float64) error {
	l.K.Combine(&l.Crew.All, l.GMean, l.Response)
	l.Upsilon, l.Solution = upsilon, l.AMean
	if err := l.Crew.Each(l.WeightTask); err != nil {
		return err
	}
	l.K.Project(&l.Crew.All, l.AMean, l.H)
	l.DistanceStale = true
	return nil
}

// Gradient stores in response, for every row, the gradient of the bound in E[a] over υ,
// Σ_m K_m(g_m − h_m) − Λa/υ, given g − h. It is formed from what is left over: where sparse
// priors let a grow, the difference of two solutions would cancel.
func (l *Outputs) Gradient(away la.Matrix[float64]) {
	l.K.Combine(&l.Crew.All, away, l.Response)
	for r := range l.R {
		rest, a := l.Response.Row(r), l.AMean.Row(r)
		for d := range rest {
			rest[d] -= float64(l.Lambda.Mean(r*l.D+d)*a[d]) / l.Upsilon[r]
		}
	}
}

// leastDetermined is what the factorisation can tell from 0 of 1 − E[λ_d]·Var(a_d), the
// share of a_d that the targets determine. A slope that is too large by as much costs
// nothing where λ_d grows and is cautious where it falls.
const leastDetermined = 1e-14

// updateWeightsOf factorises B = I + υ·Λ^-½·S·Λ^-½, whose eigenvalues are at
// least 1 however far the λ are apart; Σ = Λ^-½·B⁻¹·Λ^-½ is never formed. As
// υ·tr(SΣ) = tr(B⁻¹(B−I)), the trace costs no more than the variances. Its
// rounding error is D ulp of 1/υ, and next to it in every use stands
// N·tr Cov[g], which is of the order of N·P/υ.
func (l *Outputs) updateWeightsOf(w *Worker, o int) error {
	b, s, x := w.Factor, w.D1, w.D2
	lambda := l.Lambda.Scale[o*l.D : (o+1)*l.D]
	var logLambda float64
	for d, scale := range lambda {
		mean := l.Lambda.Shape * scale
		s[d] = 1 / math.Sqrt(mean)
		logLambda += special.Log(mean)
	}
	upsilon := l.Upsilon[o]
	var err error
	if l.jitter[o], err = gram.Factor(&w.WS, b, l.Gram, upsilon, s); err != nil {
		return fmt.Errorf("sample weights of output %d: %w", o, err)
	}
	l.ALogDet[o] = -logLambda - la.LogDet(b)

	for d, r := range l.Response.Row(o) {
		x[d] = upsilon * s[d] * r
	}
	la.CholeskySolveVec(b, x)
	for d, v := range x {
		l.Solution.Row(o)[d] = s[d] * v
	}

	la.CholeskyInvDiag(&w.WS, b, x)
	var trace, shake float64
	l.Level[o] = la.LogDet(b)
	for d, v := range x {
		determined := max(leastDetermined, 1-v)
		l.Slope.Row(o)[d] = determined / float64(float64(upsilon*s[d])*s[d])
		l.Level[o] -= determined
		trace += 1 - v
		l.AVar.Row(o)[d] = s[d] * s[d] * v
		shake += float64((1 + float64(float64(upsilon*s[d]*s[d])*l.Gram.At(d, d))) * v)
	}
	l.ATrace[o] = max(0, trace) / upsilon
	l.noise[o] = (work.Roundoff(l.D) + l.jitter[o]) * shake
	return nil
}
