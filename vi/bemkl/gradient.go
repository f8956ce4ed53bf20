package bemkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/gram"
)

// BoundGradient calls each with the derivative of the lower bound by the entries of
// each kernel, D×N, in their order:
//
//	∂L/∂K_m = Σ_o E[υ_o]·(E[a_o]·(E[g_{o,m}] − K_mᵀE[a_o])ᵀ − Cov[a_o]·K_m),
//
// so that a parameter θ on which the kernels depend has ∂L/∂θ = Σ_m <∂L/∂K_m, ∂K_m/∂θ>,
// the sum of the products of all entries. The matrix is overwritten by the next.
//
// It is exact where the ascent has converged: the bound is then stationary in every
// factor of the posterior, and only its explicit dependence on the kernels, through
// Σ E[(g − a_oᵀk)²], is left. The cost is 2D³ for each output and D²·N for each kernel.
// It must not be called by several goroutines at once.
func (f *RegressionFit) BoundGradient(each func(kernel int, g la.Matrix[float64])) error {
	return f.state.boundGradient(f.upsilon, each)
}

// BoundGradient does what [RegressionFit.BoundGradient] does, with a single row of sample weights.
func (f *SharedFit) BoundGradient(each func(kernel int, g la.Matrix[float64])) error {
	return f.state.boundGradient(f.state.upsilonMean, each)
}

// BoundGradient does what [RegressionFit.BoundGradient] does, with 1/σ_g² in place of E[υ_o].
func (f *ClassificationFit) BoundGradient(each func(kernel int, g la.Matrix[float64])) error {
	return f.state.boundGradient(f.state.upsilonMean, each)
}

// SettingsGradient returns the derivatives of the lower bound by log σ_g and by the
// margin ν, exact where the ascent has converged:
//
//	∂L/∂log σ_g = Σ_{o,m,i} (E[(g − a_oᵀk)²]/σ_g² − 1),   ∂L/∂ν = −Σ_{o,i} y·(E[f] − m).
//
// It must not be called by several goroutines at once.
func (f *ClassificationFit) SettingsGradient() (logSigmaG, margin float64) {
	s := f.state
	for o := range s.L {
		logSigmaG += float64(s.upsilonMean[o]*s.Distance(o)) - float64(s.N*s.P)
		for i, y := range s.y.Row(o) { // 0 where missing
			margin -= float64(y * (s.f.At(o, i) - s.location.At(o, i)))
		}
	}
	return logSigmaG, margin
}

// boundGradient is BoundGradient at the given E[υ].
func (l *latent) boundGradient(upsilon []float64, each func(kernel int, g la.Matrix[float64])) error {
	ws := &l.Crew.All
	cov, err := l.weightedCovariance(ws, upsilon)
	if err != nil {
		return err
	}
	a := l.AMean.Clone() // rows υ_o·E[a_o]
	for r, v := range upsilon {
		la.Scal(v, a.Row(r))
	}
	rest, columns := la.NewMatrix[float64](l.R, l.N), la.NewMatrix[float64](l.N, l.D)
	g := la.NewMatrix[float64](l.D, l.N)
	for m := range l.P {
		for r := range l.R {
			copy(rest.Row(r), l.GMean.Row(r*l.P+m))
			la.Axpy(-1, l.H.Row(r*l.P+m), rest.Row(r))
		}
		l.K.Columns(m, 0, columns)
		la.Gemm(ws, la.NoTrans, la.Transpose, -1, cov, columns, 0, g)
		la.Gemm(ws, la.Transpose, la.NoTrans, 1, a, rest, 1, g)
		each(m, g)
	}
	return nil
}

// weightedCovariance returns Σ_r υ_r·Cov[a_r].
func (l *latent) weightedCovariance(ws *la.Workspace, upsilon []float64) (la.Matrix[float64], error) {
	sum, b := la.NewMatrix[float64](l.D, l.D), la.NewMatrix[float64](l.D, l.D)
	s := make([]float64, l.D)
	for r, u := range upsilon {
		for d := range s {
			s[d] = 1 / math.Sqrt(l.Lambda.Mean(r*l.D+d))
		}
		if _, err := gram.FactorInPlace(ws, b, func() { gram.ToLower(l.GramUpper, b) }, u, s); err != nil {
			return sum, fmt.Errorf("vi: sample weights of output %d: %w", r, err)
		}
		la.CholeskyInv(ws, b)
		for d := range l.D {
			row, us := sum.Row(d), u*s[d]
			for j, v := range b.Row(d)[:d+1] {
				row[j] += float64(float64(us*s[j]) * v)
			}
		}
	}
	sum.MirrorLower()
	return sum, nil
}
