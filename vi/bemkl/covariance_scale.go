package bemkl

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// updateCovarianceScale multiplies Cov[a_r] by the κ that raises the bound most. The
// terms of the bound with Cov[a_r] are
//
//	½·log|Cov[a_r]| − ½·tr((E[Λ_r] + E[υ_r]·S)·Cov[a_r]),
//
// so that κ·Cov[a_r] changes it by ½D·ln κ − ½(κ−1)·Q, where Q is the trace. That is
// highest at κ = D/Q. The shape of Cov[a_r] is that of its last factorisation; with κ
// its size follows λ and υ at once, and they it. Derived in docs/acceleration.md.
func (l *latent) updateCovarianceScale() {
	for r := range l.R {
		variance := l.aVar.Row(r)
		trace := float64(l.lambda.Shape*la.Dot(l.lambda.Scale[r*l.D:(r+1)*l.D], variance)) + float64(l.upsilon[r]*l.aTrace[r])
		kappa := float64(l.D) / trace
		if !(kappa > 0) || math.IsInf(kappa, 0) {
			continue
		}
		la.Scal(kappa, variance)
		l.aTrace[r] *= kappa
		l.aLogDet[r] += float64(l.D) * math.Log(kappa)
	}
}
