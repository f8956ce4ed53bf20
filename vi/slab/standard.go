package slab

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// standardField is the state of a fit by standard mean field, equation (4):
//
//	q(w̃) = N(μ, Σ),   q(s_m) = Bernoulli(γ_m).
//
// With G = XᵀX, b = Xᵀy and H = γγᵀ∘G but for its diagonal γ_m·G_mm,
//
//	Σ = σ²(H + σ²/σ_w²·I)⁻¹,   μ = Σ·(γ∘b)/σ²,
//	logit γ_m = logit π + [μ_m·b_m − ½C_mm·G_mm − Σ_{k≠m} γ_k·C_mk·G_mk]/σ²,   C = μμᵀ + Σ.
type standardField struct {
	slabState
	ws    la.Workspace
	logit []float64
	gamma []float64
	w     conjugate.Gaussian
	rhs   []float64

	memory work.Memory
}

// Keep implements [vi.Objective]. It copies the weights' covariance, M², beside which a
// sweep costs M³.
func (f *standardField) Keep() {
	f.keepNoise()
	f.memory.Keep()
}

// Restore implements [vi.Objective], as far as posteriors go.
func (f *standardField) Restore() {
	f.restoreNoise()
	f.memory.Restore()
}

// newStandardField returns the state at the start given.
func newStandardField(s slabState, start *RegressionStart, workers int) *standardField {
	f := &standardField{
		slabState: s, ws: la.Workspace{Workers: workers},
		logit: make([]float64, s.M), gamma: append([]float64(nil), start.Inclusion...),
		w: conjugate.NewGaussian(s.M), rhs: make([]float64, s.M),
	}
	for m, g := range f.gamma {
		f.logit[m] = logit(g)
		f.w.Mean[m] = start.Mean[m]
		f.w.Cov.Set(m, m, s.prior.Variance)
		f.e[m] = g * start.Mean[m]
	}
	f.w.LogDet = float64(s.M) * special.Log(s.prior.Variance)
	f.memory.Of(f.logit, f.gamma, f.w.Mean, f.w.Cov.Data)
	return f
}

// Sweep implements [vi.Objective].
func (f *standardField) Sweep(done func(string)) error {
	report := func(name string) {
		if done != nil {
			done(name)
		}
	}
	if err := f.updateSlab(); err != nil {
		return err
	}
	report("w̃")
	for m := range f.gamma {
		if err := f.Ended(); err != nil {
			return err
		}
		f.updateIndicator(m)
		report("s")
	}
	f.updateNoise(f.squared())
	report("σ²")
	if !f.held.Variance {
		f.prior.Variance = f.slabPower() / float64(f.M)
	}
	report("σ_w²")
	if !f.held.Pi {
		var included float64
		for _, g := range f.gamma {
			included += g
		}
		f.prior.learnPi(pairSums{count: float64(f.M), included: included})
	}
	report("π")
	return nil
}

// updateSlab is q(w̃).
func (f *standardField) updateSlab() error {
	prec := f.w.Cov
	for m, g := range f.gamma {
		row := prec.Row(m)
		for k, h := range f.gamma {
			row[k] = float64(g*h) * f.gram.At(m, k) / f.noise
		}
		row[m] = float64(g*f.power[m])/f.noise + 1/f.prior.Variance
		f.rhs[m] = g * f.cross[m] / f.noise
	}
	if err := f.w.SetPrecision(&f.ws, f.rhs); err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	for m, g := range f.gamma {
		f.e[m] = g * f.w.Mean[m]
	}
	return nil
}

// updateIndicator is q(s_m).
func (f *standardField) updateIndicator(m int) {
	mean, cov, gram := f.w.Mean, f.w.Cov.Row(m), f.gram.Row(m)
	pull := float64(mean[m]*f.cross[m]) - float64(0.5*float64(f.power[m]*(float64(mean[m]*mean[m])+cov[m])))
	for k, g := range f.gamma {
		if k != m {
			pull -= float64(float64(g*gram[k]) * (float64(mean[m]*mean[k]) + cov[k]))
		}
	}
	f.logit[m] = f.prior.logit() + pull/f.noise
	f.gamma[m] = expit(f.logit[m])
	f.e[m] = f.gamma[m] * mean[m]
}

// squared returns E|y − Xw|² = |y − Xe|² + <Cov[w], XᵀX>.
func (f *standardField) squared() float64 {
	sum := f.fitted(nil)
	for m, g := range f.gamma {
		gram, cov := f.gram.Row(m), f.w.Cov.Row(m)
		for k, h := range f.gamma {
			if k != m {
				sum += float64(float64(g*h) * float64(gram[k]*cov[k]))
			}
		}
		sum += float64(f.power[m] * f.at(m).VarW())
	}
	return sum
}

// at returns weight m's marginals.
func (f *standardField) at(m int) Pair {
	return Pair{f.logit[m], f.w.Mean[m], f.w.Cov.At(m, m)}
}

// slabPower returns Σ E[w̃_m²].
func (f *standardField) slabPower() float64 {
	sum := la.SumSq(f.w.Mean)
	for m := range f.M {
		sum += f.w.Cov.At(m, m)
	}
	return sum
}

// Roundoff implements [vi.Objective].
func (f *standardField) Roundoff() float64 {
	return f.slabState.Roundoff() + float64(2*work.Roundoff(f.M)*f.w.Spread)
}

// Bound implements [vi.Objective].
func (f *standardField) Bound() float64 {
	M := float64(f.M)
	sum := float64(f.likelihood(f.squared()))
	sum += float64(0.5 * (f.w.LogDet - float64(M*special.Log(f.prior.Variance)) + M - f.slabPower()/f.prior.Variance))
	for m := range f.gamma {
		_, spike := f.at(m).bound(f.prior)
		sum += spike
	}
	return sum
}

// posterior returns the present state, copied.
func (f *standardField) posterior() *RegressionPosterior {
	s := RegressionState{Prior: f.prior, Noise: f.noise, Covariance: f.w.Cov.Clone()}
	for m := range f.gamma {
		s.Weights = append(s.Weights, f.at(m))
	}
	return &RegressionPosterior{s: s}
}
