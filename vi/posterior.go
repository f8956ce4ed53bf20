package vi

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// RegressionState is everything a [RegressionPosterior] is made of. It is plain
// data, to be saved and restored; matrices of a state that belongs to a
// posterior must not be changed.
type RegressionState struct {
	Priors  RegressionPriors
	Samples int // N, the training samples

	Lambda  la.Matrix[float64] // L×D, scales of q(λ); their shape is Priors.Lambda.Shape + ½
	A       la.Matrix[float64] // L×D, means of the sample weights a
	Upsilon []Gamma            // L
	Epsilon []Gamma            // L
	Gamma   []Gamma            // L
	Omega   []Gamma            // P

	// Mean and covariance of (b_1 … b_L, e_1 … e_P).
	BEMean []float64
	BECov  la.Matrix[float64]

	// S = Σ_m K_m·K_mᵀ, D×D, of which the lower triangle counts: with Lambda and
	// Upsilon it gives the covariance of a_o, (diag E[λ_o] + E[υ_o]·S)^-1.
	Gram la.Matrix[float64]
}

// RegressionPosterior is the approximate posterior of a [Regression]. It is
// immutable and safe for concurrent use.
type RegressionPosterior struct {
	s       RegressionState
	L, P, D int
	ee      la.Matrix[float64] // P×P, E[e·eᵀ]
}

// NewRegressionPosterior returns the posterior of a state, which it keeps and
// which must not be changed afterwards. The error says what does not fit.
func NewRegressionPosterior(s RegressionState) (*RegressionPosterior, error) {
	L, D, P := s.Lambda.Rows, s.Lambda.Cols, len(s.Omega)
	fail := func(format string, args ...any) (*RegressionPosterior, error) {
		return nil, fmt.Errorf("vi: regression state: "+format, args...)
	}
	if err := s.Priors.validate(); err != nil {
		return nil, err
	}
	if L < 1 || D < 1 || P < 1 || s.Samples < 1 {
		return fail("%d outputs, %d kernels, %d basis points, %d samples: each must be at least 1", L, P, D, s.Samples)
	}
	for _, f := range []struct {
		name string
		g    []Gamma
		n    int
	}{{"Upsilon", s.Upsilon, L}, {"Epsilon", s.Epsilon, L}, {"Gamma", s.Gamma, L}, {"Omega", s.Omega, P}} {
		if len(f.g) != f.n {
			return fail("%s: %d factors where %d are needed", f.name, len(f.g), f.n)
		}
		for i, g := range f.g {
			if err := g.validate(fmt.Sprintf("%s[%d]", f.name, i)); err != nil {
				return fail("%w", err)
			}
		}
	}
	if len(s.BEMean) != L+P {
		return fail("BEMean: %d entries where %d are needed", len(s.BEMean), L+P)
	}
	if j := firstNonFinite(s.BEMean); j >= 0 {
		return fail("BEMean[%d] is %g", j, s.BEMean[j])
	}
	for _, f := range []struct {
		name       string
		x          la.Matrix[float64]
		rows, cols int
		positive   bool
		lower      bool
	}{
		{"Lambda", s.Lambda, L, D, true, false},
		{"A", s.A, L, D, false, false},
		{"BECov", s.BECov, L + P, L + P, false, false},
		{"Gram", s.Gram, D, D, false, true},
	} {
		if f.x.Rows != f.rows || f.x.Cols != f.cols || f.x.Stride < f.cols || len(f.x.Data) < (f.rows-1)*f.x.Stride+f.cols {
			return fail("%s: %d×%d (stride %d, %d elements) where %d×%d is needed",
				f.name, f.x.Rows, f.x.Cols, f.x.Stride, len(f.x.Data), f.rows, f.cols)
		}
		for i := range f.rows {
			row := f.x.Row(i)
			if f.lower {
				row = row[:i+1]
			}
			for j, v := range row {
				if v-v != 0 || f.positive && v <= 0 {
					return fail("%s: entry (%d, %d) is %g", f.name, i, j, v)
				}
			}
		}
	}
	return wrapState(s), nil
}

// wrapState returns the posterior of a valid state.
func wrapState(s RegressionState) *RegressionPosterior {
	L, D, P := s.Lambda.Rows, s.Lambda.Cols, len(s.Omega)
	p := &RegressionPosterior{s: s, L: L, P: P, D: D, ee: la.NewMatrix[float64](P, P)}
	e := s.BEMean[L:]
	for m := range P {
		copy(p.ee.Row(m), s.BECov.Row(L + m)[L:])
		la.Axpy(e[m], e, p.ee.Row(m))
	}
	return p
}

// posterior returns the present state, copied.
func (m *regression) posterior() *RegressionPosterior {
	s := RegressionState{
		Priors:  m.priors,
		Samples: m.N,
		Lambda:  la.MatrixOf(m.L, m.D, m.lambda.scale).Clone(),
		A:       m.aMean.Clone(),
		BEMean:  append([]float64(nil), m.be.mean...),
		BECov:   m.be.cov.Clone(),
		Gram:    m.gram.Clone(),
	}
	for o := range m.L {
		s.Upsilon = append(s.Upsilon, m.upsilon.at(o))
		s.Epsilon = append(s.Epsilon, m.epsilon[o].at(0))
		s.Gamma = append(s.Gamma, m.gamma.at(o))
	}
	for j := range m.P {
		s.Omega = append(s.Omega, m.omega.at(j))
	}
	return wrapState(s)
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *RegressionPosterior) State() RegressionState { return p.s }

// Dims returns the number of outputs, kernels and basis points.
func (p *RegressionPosterior) Dims() (L, P, D int) { return p.L, p.P, p.D }

// KernelWeights returns the mean and the standard deviation of each kernel
// weight e_m.
func (p *RegressionPosterior) KernelWeights() (mean, sd []float64) {
	mean = append([]float64(nil), p.s.BEMean[p.L:]...)
	sd = make([]float64, p.P)
	for m := range sd {
		sd[m] = math.Sqrt(p.s.BECov.At(p.L+m, p.L+m))
	}
	return mean, sd
}

// factor stores s = Λ_o^-½ and the Cholesky factor of B = I + υ_o·Λ^-½·S·Λ^-½,
// with which Cov[a_o] = s·B⁻¹·s.
func (p *RegressionPosterior) factor(ws *la.Workspace, o int, b la.Matrix[float64], s []float64) error {
	shape, upsilon := p.s.Priors.Lambda.Shape+0.5, p.s.Upsilon[o].Mean()
	for d, scale := range p.s.Lambda.Row(o) {
		s[d] = 1 / math.Sqrt(shape*scale)
	}
	formB(b, p.s.Gram, upsilon, s)
	if err := la.Cholesky(ws, b); err != nil {
		return fmt.Errorf("vi: sample weights of output %d: I + υΛ^-½SΛ^-½: %w", o, err)
	}
	return nil
}

// WeightCovariance returns the covariance of the sample weights a_{o,d} for the
// basis points d in rows, in their order. It costs a Cholesky factorisation of
// order D and a solve for each row.
func (p *RegressionPosterior) WeightCovariance(ws *la.Workspace, o int, rows []int) (la.Matrix[float64], error) {
	b, s := la.NewMatrix[float64](p.D, p.D), make([]float64, p.D)
	if err := p.factor(ws, o, b, s); err != nil {
		return la.Matrix[float64]{}, err
	}
	x := la.NewMatrix[float64](len(rows), p.D) // rows L⁻¹·s_d·u_d
	for r, d := range rows {
		x.Set(r, d, s[d])
	}
	la.Trsm(ws, la.Right, la.Transpose, b, x)
	cov := la.NewMatrix[float64](len(rows), len(rows))
	la.Syrk(ws, la.NoTrans, 1, x, 0, cov)
	cov.MirrorLower()
	return cov, nil
}

// collapseShare is the share of an output's variance below which its fitted
// function counts as constant.
const collapseShare = 1e-6

// collapsed returns the outputs whose fitted function E[e]ᵀ·E[a_o]ᵀk_i varies
// over the samples by less than collapseShare of the targets' own variation.
func (m *regression) collapsed() []int {
	var out []int
	f := make([]float64, m.N)
	for o := range m.L {
		clear(f)
		for j := range m.P {
			la.Axpy(m.be.mean[m.L+j], m.h.Row(o*m.P+j), f)
		}
		var seen []float64
		for i, v := range m.y.Row(o) {
			if m.observed.Rows == 0 || m.observed.At(o, i) != 0 {
				seen = append(seen, v)
			}
		}
		// A constant target leaves nothing to explain and is no collapse.
		if vy := variation(seen) / float64(len(seen)); vy > 0 && variation(f)/float64(m.N) < collapseShare*vy {
			out = append(out, o)
		}
	}
	return out
}

// variation returns Σ (x − mean)².
func variation(x []float64) float64 {
	var mean, sum float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum
}
