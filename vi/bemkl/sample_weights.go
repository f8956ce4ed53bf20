package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// updateLambda is q(λ) ∝ Gamma(α_λ + ½, (1/β_λ + E[a²]/2)^-1).
func (l *latent) updateLambda() {
	for o := range l.R {
		mean, variance := l.aMean.Row(o), l.aVar.Row(o)
		for d := range mean {
			l.lambda.Observe(o*l.D+d, float64(0.5*(float64(mean[d]*mean[d])+variance[d])))
		}
	}
}

// updateWeights is q(a_o) = N(Σ·υ_o·Σ_m K_m E[g_{o,m}], Σ),
// Σ = (diag(λ_o) + υ_o·S)^-1, and the projections h that follow from its mean.
func (l *latent) updateWeights(upsilon []float64) error {
	l.k.Combine(&l.crew.All, l.gMean, l.response)
	l.upsilon, l.solution = upsilon, l.aMean
	if err := l.crew.Each(l.weightTask); err != nil {
		return err
	}
	l.k.Project(&l.crew.All, l.aMean, l.h)
	l.distanceStale = true
	return nil
}

// gradient stores in response, for every row, the gradient of the bound in E[a] over υ,
// Σ_m K_m(g_m − h_m) − Λa/υ, given g − h. It is formed from what is left over: where sparse
// priors let a grow, the difference of two solutions would cancel.
func (l *latent) gradient(away la.Matrix[float64]) {
	l.k.Combine(&l.crew.All, away, l.response)
	for r := range l.R {
		rest, a := l.response.Row(r), l.aMean.Row(r)
		for d := range rest {
			rest[d] -= float64(l.lambda.Mean(r*l.D+d)*a[d]) / l.upsilon[r]
		}
	}
}

// updateWeightsOf factorises B = I + υ·Λ^-½·S·Λ^-½, whose eigenvalues are at
// least 1 however far the λ are apart; Σ = Λ^-½·B⁻¹·Λ^-½ is never formed. As
// υ·tr(SΣ) = tr(B⁻¹(B−I)), the trace costs no more than the variances. Its
// rounding error is D ulp of 1/υ, and next to it in every use stands
// N·tr Cov[g], which is of the order of N·P/υ.
func (l *latent) updateWeightsOf(w *worker, o int) error {
	b, s, x := w.factor, w.d1, w.d2
	lambda := l.lambda.Scale[o*l.D : (o+1)*l.D]
	var logLambda float64
	for d, scale := range lambda {
		mean := l.lambda.Shape * scale
		s[d] = 1 / math.Sqrt(mean)
		logLambda += special.Log(mean)
	}
	upsilon := l.upsilon[o]
	var err error
	if l.jitter[o], err = factorB(&w.ws, b, l.gram, upsilon, s); err != nil {
		return fmt.Errorf("sample weights of output %d: %w", o, err)
	}
	l.aLogDet[o] = -logLambda - la.LogDet(b)

	for d, r := range l.response.Row(o) {
		x[d] = upsilon * s[d] * r
	}
	la.CholeskySolveVec(b, x)
	for d, v := range x {
		l.solution.Row(o)[d] = s[d] * v
	}

	la.CholeskyInvDiag(&w.ws, b, x)
	var trace, shake float64
	l.level[o] = la.LogDet(b)
	for d, v := range x {
		determined := max(leastDetermined, 1-v)
		l.slope.Row(o)[d] = determined / float64(float64(upsilon*s[d])*s[d])
		l.level[o] -= determined
		trace += 1 - v
		l.aVar.Row(o)[d] = s[d] * s[d] * v
		shake += float64((1 + float64(float64(upsilon*s[d]*s[d])*l.gram.At(d, d))) * v)
	}
	l.aTrace[o] = max(0, trace) / upsilon
	l.noise[o] = (work.Roundoff(l.D) + l.jitter[o]) * shake
	return nil
}

// factorB stores the Cholesky factor of B = I + υ·s·S·s. Where sparse priors make
// υ·s·S·s larger than the inverse of the machine's precision and rounding has
// made B indefinite, S gets a relative jitter on its diagonal, see [jitter.More],
// which is returned.
func factorB(ws *la.Workspace, b, gram la.Matrix[float64], upsilon float64, s []float64) (added float64, err error) {
	return factorJittered(ws, b, func(jitter float64) { formB(b, gram, upsilon, s, jitter) })
}

// factorBInPlace is factorB where load stores the lower triangle of S in b.
func factorBInPlace(ws *la.Workspace, b la.Matrix[float64], load func(), upsilon float64, s []float64) (added float64, err error) {
	return factorJittered(ws, b, func(jitter float64) {
		load()
		formB(b, b, upsilon, s, jitter)
	})
}

// factorJittered is factorB where form stores B with that jitter in b.
func factorJittered(ws *la.Workspace, b la.Matrix[float64], form func(jitter float64)) (added float64, err error) {
	for {
		form(added)
		if err = la.Cholesky(ws, b); err == nil {
			return added, nil
		}
		more, ok := jitter.More(b.Rows, added, err)
		if !ok {
			return added, fmt.Errorf("factor of I + υΛ^-½SΛ^-½ with relative jitter %.2g: %w", added, err)
		}
		added = more
	}
}

// formB stores the lower triangle of I + υ·s·(S + jitter·diag(S))·s; b may be S's own memory.
func formB(b, gram la.Matrix[float64], upsilon float64, s []float64, jitter float64) {
	for d := range b.Rows {
		row, us := b.Row(d)[:d+1], upsilon*s[d]
		for j, v := range gram.Row(d)[:d+1] {
			row[j] = float64(us*s[j]) * v
		}
		row[d] = 1 + float64(row[d]*(1+jitter))
	}
}
