package bemkl

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/predictive"
)

// scorer predicts the targets e_oᵀ·g + b_o of new samples; the posteriors embed it.
type scorer struct{ core predictive.Scorer }

// Prediction is the predictive distribution of T samples. Matrices that were
// not asked for are empty.
type Prediction struct {
	Mean     la.Matrix[float64] // L×T
	Variance la.Matrix[float64] // L×T, of the target with its noise (a classifier's score: 1)

	// Of the intermediate outputs, (L·P)×T, or P×T where the outputs share them.
	GMean, GVariance la.Matrix[float64]
}

// Dims returns the number of outputs, kernels and basis points.
func (p *scorer) Dims() (L, P, D int) {
	return p.core.Dims()
}

// KernelWeights returns the mean and the standard deviation of each kernel
// weight e_m.
func (p *scorer) KernelWeights() (mean, sd []float64) {
	return p.core.KernelWeights()
}

// WeightCovariance returns the covariance of the sample weights a_{o,d} for the
// basis points d in rows, in their order. It costs a Cholesky factorisation of
// order D, once if there is a single row of sample weights, and a solve for each
// row.
func (p *scorer) WeightCovariance(ws *la.Workspace, o int, rows []int) (la.Matrix[float64], error) {
	return p.core.WeightCovariance(ws, o, rows)
}

// WeightVariances returns the variances of the sample weights a_{o,d} of all basis points d:
// the diagonal of WeightCovariance, for a fraction of its time and memory. It also returns the
// share of themselves by which rounding may have moved the variances of predictions of output o,
// given its precisions:
//
//	(4·u·√(D+N·P) + jitter)·c,   c = Σ_d Q_dd·Cov[a_o]_dd,   u = 2⁻⁵³,
//
// of the precision Q = Λ + υS of a_o. What is factored is Q + E with |E_ij| of the order of
// u·√(D+N·P)·√(Q_ii·Q_jj), entries of S being sums of N·P products, and the jitter besides; see
// CovarianceRoundoff for what that does. Where it is 1 or more the computed c can be smaller
// than c, but not so small as to hide it: Q + E is as near to a singular matrix as Q is, but for
// E. tool/digits holds it against 256 bits.
func (p *scorer) WeightVariances(ws *la.Workspace, o int) (variances []float64, rounding float64, err error) {
	return p.core.WeightVariances(ws, o)
}

// CovarianceRoundoff returns how far rounding can move a norm √(kᵀ·Cov[a_o]·k), relative
// to itself and whatever k is, where cov is that covariance as WeightCovariance returns it for all
// basis points. Cov is (Λ + υS)⁻¹, and the computed factor is the exact factor of Λ + υS + E with
// |E_ij| ≤ u·√D·√(Q_i·Q_j), where Q is the diagonal of Λ + υS and u = 2⁻⁵³; see work.Roundoff. So,
// in the norm of the largest singular value,
//
//	|kᵀ·Cov·E·Cov·k| ≤ ‖Q^-½·E·Q^-½‖ · ‖Q^½·Cov·Q^½‖ · kᵀ·Cov·k ≤ u·D · Σ_d Q_d·Cov_dd · kᵀ·Cov·k,
//
// and half of that for the root.
func (p *scorer) CovarianceRoundoff(o int, cov la.Matrix[float64]) float64 {
	return p.core.CovarianceRoundoff(o, cov)
}

// Predict returns the predictive distribution of the samples whose kernels with
// the D basis points are the columns of k: P matrices D×T.
//
// With C the covariance of g* given the posterior, I/υ + (k_mᵀ·Cov[a_o]·k_m')_{m,m'},
// the variance is
//
//	noise + [1 E[g*]]·Cov[b_o,e]·[1 E[g*]]ᵀ + E[e]ᵀ·C·E[e] + tr(Cov[e]·C),
//
// with noise 1/E[ε_o]: the exact second moment under the posterior factors with
// the precisions at their means; the paper (end of section 4) leaves out the
// terms with C. Each row of sample weights costs D²·P·T multiplications and a
// Cholesky factorisation of order D, D³/3, as much as the variances of D/(3·P) samples. The factor
// of a single row is made once and kept. The factors of several rows are made again in every call,
// so calls should be few. Memory beyond the results is one D×D matrix and a block of rows.
func (p *scorer) Predict(k vi.Kernels, opt vi.PredictOptions) (*Prediction, error) {
	out, err := p.core.Predict(k, opt)
	return (*Prediction)(out), err
}

// WeightLimit returns μ such that k_mᵀ·Cov[a_o]·k_m ≤ μ·k_m(x,x) for the positive definite kernel m of any sample x, or +Inf where
// the basis points are not the samples. With k_m = Φφ and |φ|² = k_m(x,x), the left side is at most |φ|² times the largest eigenvalue of
// Φᵀ·Cov·Φ, which is also the largest eigenvalue of Cov·K_m. Since Cov ≤ (λI + υK_m²)⁻¹ with the least precision λ, this eigenvalue is
// at most
//
//	max_δ δ/(λ + υδ²) = 1/(2√(λυ)).
func (p *scorer) WeightLimit(o int) float64 {
	if p.core.D != p.core.Samples {
		return math.Inf(1)
	}
	r := p.core.Row(o)
	least := p.core.LambdaShape * slices.Min(p.core.Lambda.Row(r))
	return 0.5 / math.Sqrt(least*p.core.Upsilon[r])
}
