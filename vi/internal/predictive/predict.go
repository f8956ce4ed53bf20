package predictive

import (
	"fmt"
	"math"
	"sync"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/gram"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Prediction is the predictive distribution of T samples. Matrices that were
// not asked for are empty.
type Prediction struct {
	Mean     la.Matrix[float64] // L×T
	Variance la.Matrix[float64] // L×T, of the target with its noise (a classifier's score: 1)

	// Of the intermediate outputs, (L·P)×T, or P×T where the outputs share them.
	GMean, GVariance la.Matrix[float64]
}

// Scorer predicts the targets e_oᵀ·g + b_o of new samples; the posteriors embed it. The
// models differ in the noise they add, in whether outputs have sample weights of their
// own (R = L rows) or share them (R = 1), and in whether they share the kernel weights.
type Scorer struct {
	L, P, D      int
	Samples      int // N
	LambdaShape  float64
	Lambda       la.Matrix[float64] // R×D, scales of q(λ)
	A            la.Matrix[float64] // R×D
	Upsilon      []float64          // R, E[υ]
	Noise        []float64          // L, the variance of the target around eᵀ·g + b
	Combinations []Combination      // L
	Gram         la.Matrix[float64] // D×D, upper triangle

	// The factor of a single row of sample weights, made when it is first needed
	// and kept: in room if there is any, and else in as much memory as gram has. Several
	// rows' would take L times that and are made again in every call.
	Room   la.Matrix[float64] // lower triangle
	once   sync.Once
	only   WeightFactor
	failed error
}

// WeightFactor holds s = Λ_r^-½ and the Cholesky factor of B = I + υ_r·Λ^-½·S·Λ^-½,
// with which Cov[a_r] = s·B⁻¹·s.
type WeightFactor struct {
	B      la.Matrix[float64] // lower triangle
	S      []float64
	jitter float64 // relative, of the diagonal of S
}

// newFactor returns memory for a factor, its own where room has none.
func (p *Scorer) newFactor(room la.Matrix[float64]) WeightFactor {
	if room.Rows == 0 {
		room = la.NewMatrix[float64](p.D, p.D)
	}
	return WeightFactor{B: room, S: make([]float64, p.D)}
}

// Combination holds the moments of q(b, e) by which one output combines its
// intermediate outputs.
type Combination struct {
	Mean []float64          // b, e_1 … e_P
	Cov  la.Matrix[float64] // (1+P)×(1+P)
	EE   la.Matrix[float64] // P×P, E[e·eᵀ]
}

// NewCombination returns the combination with the given mean and covariance of (b, e).
func NewCombination(mean []float64, cov la.Matrix[float64]) Combination {
	P := len(mean) - 1
	c := Combination{Mean: mean, Cov: cov, EE: la.NewMatrix[float64](P, P)}
	for m, e := range mean[1:] {
		copy(c.EE.Row(m), cov.Row(1 + m)[1:])
		la.Axpy(e, mean[1:], c.EE.Row(m))
	}
	return c
}

// SplitCombination returns what every output needs of (b_1 … b_L, e).
func SplitCombination(mean []float64, cov la.Matrix[float64], L int) []Combination {
	var out []Combination
	for o := range L {
		out = append(out, NewCombination(Marginal(mean, cov, L, o)))
	}
	return out
}

// Marginal returns the mean and the covariance of (b_o, e), given the mean and the covariance of
// (b_1 … b_L, e).
func Marginal(mean []float64, cov la.Matrix[float64], L, o int) ([]float64, la.Matrix[float64]) {
	P := len(mean) - L
	index := func(j int) int {
		if j == 0 {
			return o
		}
		return L + j - 1
	}
	m, c := make([]float64, 1+P), la.NewMatrix[float64](1+P, 1+P)
	for i := range m {
		m[i] = mean[index(i)]
		for j := range m {
			c.Set(i, j, cov.At(index(i), index(j)))
		}
	}
	return m, c
}

// Dims returns the number of outputs, kernels and basis points.
func (p *Scorer) Dims() (L, P, D int) { return p.L, p.P, p.D }

// KernelWeights returns the mean and the standard deviation of each kernel
// weight e_m.
func (p *Scorer) KernelWeights() (mean, sd []float64) { return p.Combinations[0].Weights() }

// kernelWeights returns the means and the standard deviations of e.
func (c *Combination) Weights() (mean, sd []float64) {
	mean = append([]float64(nil), c.Mean[1:]...)
	sd = make([]float64, len(mean))
	for m := range sd {
		sd[m] = math.Sqrt(c.Cov.At(1+m, 1+m))
	}
	return mean, sd
}

// Row returns the row of sample weights that output o uses.
func (p *Scorer) Row(o int) int {
	if p.A.Rows == 1 {
		return 0
	}
	return o
}

// Factor returns the factor of row r, which must not be changed and may lie in
// scratch; that is empty at first.
func (p *Scorer) Factor(ws *la.Workspace, r int, scratch *WeightFactor) (WeightFactor, error) {
	if p.A.Rows == 1 {
		p.once.Do(func() {
			p.only = p.newFactor(p.Room)
			p.failed = p.factorise(ws, 0, &p.only)
		})
		return p.only, p.failed
	}
	if scratch.S == nil {
		*scratch = p.newFactor(la.Matrix[float64]{})
	}
	err := p.factorise(ws, r, scratch)
	return *scratch, err
}

// factorise stores the factor of row r in f.
func (p *Scorer) factorise(ws *la.Workspace, r int, f *WeightFactor) (err error) {
	for d, scale := range p.Lambda.Row(r) {
		f.S[d] = 1 / math.Sqrt(p.LambdaShape*scale)
	}
	if f.jitter, err = gram.FactorInPlace(ws, f.B, func() { gram.ToLower(p.Gram, f.B) }, p.Upsilon[r], f.S); err != nil {
		return fmt.Errorf("vi: sample weights of output %d: %w", r, err)
	}
	return nil
}

// WeightCovariance returns the covariance of the sample weights a_{o,d} for the
// basis points d in rows, in their order. It costs a Cholesky factorisation of
// order D, once if there is a single row of sample weights, and a solve for each
// row.
func (p *Scorer) WeightCovariance(ws *la.Workspace, o int, rows []int) (la.Matrix[float64], error) {
	f, err := p.Factor(ws, p.Row(o), new(WeightFactor))
	if err != nil {
		return la.Matrix[float64]{}, err
	}
	x := la.NewMatrix[float64](len(rows), p.D) // rows L⁻¹·s_d·u_d
	for r, d := range rows {
		x.Set(r, d, f.S[d])
	}
	la.Trsm(ws, la.Right, la.Transpose, f.B, x)
	cov := la.NewMatrix[float64](len(rows), len(rows))
	la.Syrk(ws, la.NoTrans, 1, x, 0, cov)
	cov.MirrorLower()
	return cov, nil
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
func (p *Scorer) WeightVariances(ws *la.Workspace, o int) (variances []float64, rounding float64, err error) {
	r := p.Row(o)
	f, err := p.Factor(ws, r, new(WeightFactor))
	if err != nil {
		return nil, 0, err
	}
	variances = make([]float64, p.D)
	la.CholeskyInvDiag(ws, f.B, variances)
	var condition float64
	for d, s := range f.S {
		own := s * s
		condition += float64((1 + float64(float64(p.Upsilon[r]*own)*p.Gram.At(d, d))) * variances[d])
		variances[d] *= own
	}
	return variances, float64((float64(4*work.Roundoff(p.D+p.Samples*p.P)) + f.jitter) * condition), nil
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
func (p *Scorer) CovarianceRoundoff(o int, cov la.Matrix[float64]) float64 {
	r := p.Row(o)
	var sum float64
	for d, scale := range p.Lambda.Row(r) {
		sum += float64((float64(p.LambdaShape*scale) + float64(p.Upsilon[r]*p.Gram.At(d, d))) * cov.At(d, d))
	}
	return 0x1p-54 * float64(p.D) * sum
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
func (p *Scorer) Predict(k vi.Kernels, opt vi.PredictOptions) (*Prediction, error) {
	return p.PredictIn(&la.Workspace{Workers: opt.Workers}, k, opt)
}

// predict is Predict in a workspace.
func (p *Scorer) PredictIn(ws *la.Workspace, k vi.Kernels, opt vi.PredictOptions) (*Prediction, error) {
	if k == nil {
		return nil, fmt.Errorf("vi: kernels: nil")
	}
	P, D, T := k.Dims()
	if P != p.P || D != p.D {
		return nil, fmt.Errorf("vi: kernels: %d of %d×%d where %d with %d basis points are needed", P, D, T, p.P, p.D)
	}
	L := p.L
	out := &Prediction{Mean: la.NewMatrix[float64](L, T)}
	g := la.NewMatrix[float64](p.A.Rows*P, T)
	k.Project(ws, p.A, g)
	for o := range L {
		w, row := p.Combinations[o].Mean, out.Mean.Row(o)
		for i := range row {
			row[i] = w[0]
		}
		for m := range P {
			la.Axpy(w[1+m], g.Row(p.Row(o)*P+m), row)
		}
	}
	if opt.Intermediate {
		out.GMean = g
	}
	if opt.MeanOnly {
		return out, nil
	}

	out.Variance = la.NewMatrix[float64](L, T)
	for o := range L {
		p.combinationVariance(o, g, out.Variance.Row(o))
	}
	if opt.Published && !opt.Intermediate {
		return out, nil
	}
	if opt.Intermediate {
		out.GVariance = la.NewMatrix[float64](p.A.Rows*P, T)
	}
	return out, p.addIntermediateVariance(ws, k, opt, out)
}

// combinationVariance stores noise + [1 g]·Cov[b_o,e]·[1 g]ᵀ for every sample.
func (p *Scorer) combinationVariance(o int, g la.Matrix[float64], dst []float64) {
	P, cov, r := p.P, p.Combinations[o].Cov, p.Row(o)
	for i := range dst {
		v := p.Noise[o] + cov.At(0, 0)
		for m := range P {
			c := cov.Row(1 + m)
			s := 2 * c[0]
			for n := range P {
				s += float64(c[1+n] * g.At(r*P+n, i))
			}
			v += float64(g.At(r*P+m, i) * s)
		}
		dst[i] = v
	}
}

// addIntermediateVariance adds E[e]ᵀCE[e] + tr(Cov[e]C) = tr(E[eeᵀ]·C) to the
// variances, and stores the diagonal of C, as opt says.
func (p *Scorer) addIntermediateVariance(ws *la.Workspace, k vi.Kernels, opt vi.PredictOptions, out *Prediction) error {
	P, D := p.P, p.D
	_, _, T := k.Dims()
	var scratch WeightFactor
	block := min(T, max(1, work.PredictRows/P))
	x := la.NewMatrix[float64](P*block, D)
	c := la.NewMatrix[float64](P, P)
	for r := range p.A.Rows {
		f, err := p.Factor(ws, r, &scratch)
		if err != nil {
			return err
		}
		for first := 0; first < T; first += block {
			n := min(block, T-first)
			// Row m·n+t becomes L⁻¹·s∘k_{m,t}; products of rows are then
			// k_mᵀ·Cov[a]·k_m'.
			xn := x.Slice(0, P*n, 0, D)
			for m := range P {
				k.Columns(m, first, xn.Slice(m*n, (m+1)*n, 0, D))
			}
			for j := range xn.Rows {
				row := xn.Row(j)
				for d := range row {
					row[d] *= f.S[d]
				}
			}
			la.Trsm(ws, la.Right, la.Transpose, f.B, xn)
			for t := range n {
				for m := range P {
					for j := range m + 1 {
						c.Set(m, j, la.Dot(xn.Row(m*n+t), xn.Row(j*n+t)))
					}
					c.Row(m)[m] += 1 / p.Upsilon[r]
					if opt.Intermediate {
						out.GVariance.Set(r*P+m, first+t, c.At(m, m))
					}
				}
				if opt.Published {
					continue
				}
				c.MirrorLower()
				for o := range p.L {
					if p.Row(o) != r {
						continue
					}
					for m := range P {
						out.Variance.Row(o)[first+t] += la.Dot(p.Combinations[o].EE.Row(m), c.Row(m))
					}
				}
			}
		}
	}
	return nil
}

// PriorRoots returns Λ^-½ of row r.
func (p *Scorer) PriorRoots(r int) []float64 {
	s := make([]float64, p.D)
	for d, scale := range p.Lambda.Row(r) {
		s[d] = 1 / math.Sqrt(p.LambdaShape*scale)
	}
	return s
}
