package kbmf

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
	"github.com/bmkl/bmkl/vi/internal/healing"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/predictive"
	"github.com/bmkl/bmkl/vi/internal/target"
)

// State is everything a [Posterior] is made of. It is plain data, to be saved and
// restored; matrices of a state that belongs to a posterior must not be changed.
type State struct {
	Priors         Priors
	SigmaG, SigmaH float64 // σ_g and σ_h

	// Labels says that the pairs have labels and Margin is ν; else Noise is the standard
	// deviation of their values, and Epsilon q(ε), which is zero where the noise was held.
	Labels  bool
	Margin  float64
	Noise   float64
	Epsilon vi.Gamma

	Bias, BiasVariance float64  // of q(b); 0 in a model without a bias
	Gamma              vi.Gamma // q(γ)

	X, Z SideState // the rows and the columns
}

// SideState are the factors of the rows, or of the columns.
type SideState struct {
	Lambda la.Matrix[float64] // R×D, scales of q(λ); their shape is Priors.Lambda.Shape + ½
	A      la.Matrix[float64] // R×D, means of the sample weights a
	Eta    []vi.Gamma         // P

	E    []float64          // P, means of the kernel weights
	ECov la.Matrix[float64] // P×P, their covariance

	Gram la.Matrix[float64] // Σ_m K_m·K_mᵀ, D×D; only the upper triangle is read

	H    la.Matrix[float64] // R×N, means of the training samples' factors
	HCov la.Matrix[float64] // N×R², the covariance of each one's

	Healing *Healing // nil if the factors of new samples cannot be healed
}

// Posterior is the approximate posterior of a [Regression] or [Classification]. It
// is immutable and safe for concurrent use.
type Posterior struct {
	x, z               scorer
	xHealers, zHealers []*healing.Healer // a component each; none if they cannot be healed
	s                  State
}

// scorer predicts the factors of rows, or of columns.
type scorer struct{ predictive.Scorer }

// NewPosterior returns the posterior of a state, which it keeps and which must not be changed
// afterwards. The error says what does not fit.
func NewPosterior(s State) (*Posterior, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("vi: state of pairs: %w", err)
	}
	return wrapState(s), nil
}

// validate returns an error unless all parts fit each other and are of a posterior.
func (s *State) validate() error {
	if err := s.Priors.validate(); err != nil {
		return err
	}
	if !check.Deviation(s.SigmaG) || !check.Deviation(s.SigmaH) || !s.Labels && !check.Deviation(s.Noise) {
		return fmt.Errorf("SigmaG %g, SigmaH %g, Noise %g: each, and one over its square, must be positive and finite", s.SigmaG, s.SigmaH, s.Noise)
	}
	if err := target.CheckMargin(s.Margin); err != nil {
		return err
	}
	if check.NonFinite([]float64{s.Bias, s.BiasVariance}) >= 0 || s.BiasVariance < 0 {
		return fmt.Errorf("the bias has mean %g and variance %g", s.Bias, s.BiasVariance)
	}
	if err := conjugate.CheckPrior("Gamma", s.Gamma); err != nil {
		return err
	}
	if err := s.X.validate(s.X.Lambda.Rows); err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	if err := s.Z.validate(s.X.Lambda.Rows); err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	return nil
}

// validate checks the state of one side with R components.
func (s *SideState) validate(R int) error {
	D, P, N := s.Lambda.Cols, len(s.Eta), s.H.Cols
	if R < 1 || D < 1 || P < 1 || N < 1 || len(s.E) != P {
		return fmt.Errorf("%d components, %d kernels, %d kernel weights, %d basis points, %d samples", R, P, len(s.E), D, N)
	}
	err := check.Parts(
		conjugate.Factors("Eta", s.Eta, P),
		check.Vector("E", s.E, check.Finite),
		check.Matrix("Lambda", s.Lambda, R, D, check.Positive),
		check.Matrix("A", s.A, R, D, check.Finite),
		check.Matrix("ECov", s.ECov, P, P, check.Finite),
		check.Upper("Gram", s.Gram, D),
		check.Matrix("H", s.H, R, N, check.Finite),
		check.Matrix("HCov", s.HCov, N, R*R, check.Finite),
	)
	if err != nil {
		return err
	}
	if s.Healing == nil {
		return nil
	}
	return s.Healing.validate(R, D, N)
}

// wrapState returns the posterior of a valid state.
func wrapState(s State) *Posterior {
	p := &Posterior{s: s}
	p.x.setSide(&s, &s.X)
	p.z.setSide(&s, &s.Z)
	p.xHealers, p.zHealers = newHealers(s.X.Healing, &p.x), newHealers(s.Z.Healing, &p.z)
	return p
}

// setPairSide makes p predict the factors of one side.
func (p *scorer) setSide(s *State, side *SideState) {
	R, D := side.Lambda.Rows, side.Lambda.Cols
	P := len(side.E)
	mean, cov := append([]float64{0}, side.E...), la.NewMatrix[float64](1+P, 1+P)
	cov.Slice(1, 1+P, 1, 1+P).CopyFrom(side.ECov)
	p.L, p.P, p.D, p.Samples = R, P, D, side.H.Cols
	p.LambdaShape, p.Lambda, p.A, p.Gram = s.Priors.Lambda.Shape+0.5, side.Lambda, side.A, side.Gram
	common := predictive.NewCombination(mean, cov)
	for range R {
		p.Upsilon = append(p.Upsilon, 1/(s.SigmaG*s.SigmaG))
		p.Noise = append(p.Noise, s.SigmaH*s.SigmaH)
		p.Combinations = append(p.Combinations, common)
	}
}

// state returns the factors of this side, copied but for the Gram matrix, which never changes,
// without what heals new ones.
func (s *side) state() SideState {
	out := SideState{
		Lambda: la.MatrixOf(s.R, s.D, s.Lambda.Scale).Clone(), A: s.AMean.Clone(),
		E: append([]float64(nil), s.e.Mean...), ECov: s.e.Cov.Clone(), Gram: s.GramUpper,
		H: s.factors.Clone(), HCov: s.cov.Clone(),
	}
	for m := range s.P {
		out.Eta = append(out.Eta, s.eta.At(m))
	}
	return out
}

// state returns the factors that both models have.
func (m *model) state(pr Priors) State {
	epsilon := m.precision()
	s := State{
		Priors: pr, SigmaG: 1 / math.Sqrt(m.x.precision[0]), SigmaH: 1 / math.Sqrt(m.x.tau),
		Bias: m.b[0], BiasVariance: m.b[1], Gamma: m.gamma.At(0), X: m.x.state(), Z: m.z.state(),
	}
	s.X.Healing, s.Z.Healing = m.x.healing(m.z, epsilon, m.b[0]), m.z.healing(m.x, epsilon, m.b[0])
	return s
}

// wrap returns the posterior of the present state s.
func (m *model) wrap(s State) *Posterior {
	p := wrapState(s)
	p.x.Room, p.z.Room = m.x.Room(), m.z.Room()
	return p
}

// Retire ends the sweeps of both sides.
func (m *model) Retire() {
	m.x.Retire()
	m.z.Retire()
}

// covariances returns the covariances of the kernel weights and of every sample's factors.
func (s State) covariances() (cov []la.Matrix[float64]) {
	for _, side := range []*SideState{&s.X, &s.Z} {
		cov = append(cov, side.ECov)
		for i := range side.HCov.Rows {
			cov = append(cov, la.MatrixOf(side.H.Rows, side.H.Rows, side.HCov.Row(i)))
		}
	}
	return cov
}

// collapsed reports whether what the kernels say of the observed pairs varies by less than
// collapseShare of the observed values.
func (m *model) collapsed(y la.Matrix[float64]) bool {
	var p vi.Predictions
	m.predictions(&p, 1)
	var seen []float64
	for _, at := range m.sample {
		seen = append(seen, y.At(at.row, at.col))
	}
	target := intermediate.Variation(seen)
	return target > 0 && intermediate.Variation(p.Mean) < intermediate.CollapseShare*target
}

// Posterior returns the present state.
func (m *regression) Posterior() *Posterior {
	s := m.state(m.priors)
	s.Noise = 1 / math.Sqrt(m.precision())
	if m.noise.Learns() {
		s.Epsilon = m.noise.At(0)
	}
	return m.wrap(s)
}

// Posterior returns the present state.
func (m *classification) Posterior() *Posterior {
	s := m.state(m.priors)
	s.Labels, s.Margin = true, m.margin
	return m.wrap(s)
}

// State returns what the posterior is made of. Its slices and matrices are the posterior's own
// and must not be changed.
func (p *Posterior) State() State { return p.s }

// Dims returns the number of components, of training rows and of training columns.
func (p *Posterior) Dims() (R, rows, columns int) { return p.x.L, p.s.X.H.Cols, p.s.Z.H.Cols }

// KernelWeights returns the mean and the standard deviation of each weight of the kernels of
// the rows, or of the columns.
func (p *Posterior) KernelWeights(columns bool) (mean, sd []float64) {
	return p.side(columns).KernelWeights()
}

// Rounding returns the largest of what [RegressionPosterior.WeightVariances] says that rounding may
// have done, of the sample weights of all components of the rows and of the columns. It costs as
// many factorisations of the basis points' orders.
func (p *Posterior) Rounding(ws *la.Workspace) (most float64, err error) {
	for _, side := range []*scorer{&p.x, &p.z} {
		for r := range side.L {
			_, rounding, err := side.WeightVariances(ws, r)
			if err != nil {
				return 0, err
			}
			most = max(most, rounding)
		}
	}
	return most, nil
}

// side returns what predicts the factors of the rows or of the columns.
func (p *Posterior) side(columns bool) *scorer {
	if columns {
		return &p.z
	}
	return &p.x
}

// Factors holds the posterior of the factors of T rows, or of T columns.
type Factors struct {
	Mean       la.Matrix[float64] // R×T
	Covariance la.Matrix[float64] // T×R², of each sample's R factors; empty where only means were asked for
}

// Known returns the factors of training rows, or columns, at the given places, nil meaning all of
// them. These factors follow from the kernels and from the observed pairs. Every place must be the
// index of a training sample.
func (p *Posterior) Known(columns bool, places []int) *Factors {
	s := &p.s.X
	if columns {
		s = &p.s.Z
	}
	if places == nil {
		return &Factors{s.H, s.HCov}
	}
	f := &Factors{la.NewMatrix[float64](s.H.Rows, len(places)), la.NewMatrix[float64](len(places), s.HCov.Cols)}
	for t, i := range places {
		for r := range s.H.Rows {
			f.Mean.Set(r, t, s.H.At(r, i))
		}
		copy(f.Covariance.Row(t), s.HCov.Row(i))
	}
	return f
}

// New returns the factors of T rows, or columns, from their kernels with the D basis points, the
// columns of k. With g* their intermediate outputs the covariance of the factors s and t is
//
//	E[g*_s]ᵀ·Cov[e]·E[g*_t] + δ_st·(tr(E[e·eᵀ]·Cov[g*_s]) + σ_h²),
//
// the exact second moment under the posterior factors. Covariances cost R factorisations of order D
// in every call. With a single component the factorisation is made once and kept.
func (p *Posterior) New(columns bool, k vi.Kernels, opt vi.PredictOptions) (*Factors, error) {
	side := p.side(columns)
	out, err := side.Predict(k, factorOptions(opt))
	if err != nil {
		return nil, err
	}
	return side.factorsOf(out), nil
}

// NewHealed is New with the cure of docs/theory/healing.md, as docs/theory/kbmf.md derives it: for each
// component every new sample is given a basis point of its own, whose weight is unknown but for
// what the pairs of the samples near it tell. That moves the means and raises the variances where
// the samples do not reach. self holds the kernels of the new samples with themselves, P×T.
//
// Beyond New it costs another R factorisations of order D in every call, and 3·R·D² multiplications
// for each sample; means alone cost the same.
func (p *Posterior) NewHealed(columns bool, k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*Factors, error) {
	side := p.side(columns)
	out, err := healing.Predict(&side.Scorer, p.healers(columns), k, self, factorOptions(opt))
	if err != nil {
		return nil, err
	}
	return side.factorsOf(out), nil
}

// Healable reports whether the factors of new rows, or columns, can be healed.
func (p *Posterior) Healable(columns bool) bool { return p.healers(columns) != nil }

// healers returns what heals the factors of new rows or of new columns.
func (p *Posterior) healers(columns bool) []*healing.Healer {
	if columns {
		return p.zHealers
	}
	return p.xHealers
}

// factorOptions returns with what predictions of factors are made.
func factorOptions(opt vi.PredictOptions) vi.PredictOptions {
	return vi.PredictOptions{MeanOnly: opt.MeanOnly, Intermediate: true, Workers: opt.Workers}
}

// pairFactors completes predictions of factors by the covariances between components.
func (p *scorer) factorsOf(out *predictive.Prediction) *Factors {
	f := &Factors{Mean: out.Mean}
	if out.Variance.Rows == 0 {
		return f
	}
	R, P, T := p.L, p.P, out.Mean.Cols
	f.Covariance = la.NewMatrix[float64](T, R*R)
	g, turned := la.NewMatrix[float64](R, P), make([]float64, P)
	for t := range T {
		for j := range g.Data {
			g.Data[j] = out.GMean.At(j, t)
		}
		row := f.Covariance.Row(t)
		p.crossCovariance(g, turned, row)
		for r := range R {
			row[r*R+r] = out.Variance.At(r, t)
		}
	}
	return f
}

// crossCovariance stores the covariances g_rᵀ·Cov[e]·g_c of different components r and c in dst,
// R×R, given their intermediate outputs g, R×P. turned is scratch, P.
func (p *scorer) crossCovariance(g la.Matrix[float64], turned, dst []float64) {
	R, P := g.Rows, g.Cols
	cov := p.Combinations[0].Cov
	for r := range R {
		for m := range P {
			turned[m] = la.Dot(cov.Row(1 + m)[1:], g.Row(r))
		}
		for c := range r {
			v := la.Dot(turned, g.Row(c))
			dst[r*R+c], dst[c*R+r] = v, v
		}
	}
}

// Prediction is the predictive distribution of the pairs of some rows and some columns:
// matrices rows × columns. Those that were not asked for are empty.
type Prediction struct {
	Mean        la.Matrix[float64] // of the values, or of the labels' scores
	Variance    la.Matrix[float64] // with the noise, of scores 1
	Probability la.Matrix[float64] // of the label +1, where there are labels; outside the margin's gap
}

// Predict returns the predictive distribution of every pair of the rows x and the columns z. Its
// variance is the exact second moment of h_xᵀh_z + b + noise under the factors' moments,
//
//	E[h_x]ᵀ·Cov[h_z]·E[h_x] + E[h_z]ᵀ·Cov[h_x]·E[h_z] + tr(Cov[h_x]·Cov[h_z]) + Var[b] + noise,
//
// where the papers have none. Without the covariances of a side there are means alone.
func (p *Posterior) Predict(x, z *Factors) *Prediction {
	T, U := x.Mean.Cols, z.Mean.Cols
	out := &Prediction{Mean: la.NewMatrix[float64](T, U)}
	out.Mean.Fill(p.s.Bias)
	la.Gemm(nil, la.Transpose, la.NoTrans, 1, x.Mean, z.Mean, 1, out.Mean)
	if x.Covariance.Rows == 0 || z.Covariance.Rows == 0 {
		return out
	}
	out.Variance = la.NewMatrix[float64](T, U)
	if p.s.Labels {
		out.Probability = la.NewMatrix[float64](T, U)
	}
	hx, hz := transposed(x.Mean), transposed(z.Mean)
	for t := range T {
		for u := range U {
			_, v, chance := p.Pair(hx.Row(t), x.Covariance.Row(t), hz.Row(u), z.Covariance.Row(u))
			out.Variance.Set(t, u, v)
			if p.s.Labels {
				out.Probability.Set(t, u, chance)
			}
		}
	}
	return out
}

// transposed returns the transpose of x.
func transposed(x la.Matrix[float64]) la.Matrix[float64] {
	y := la.NewMatrix[float64](x.Cols, x.Rows)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			y.Set(j, i, v)
		}
	}
	return y
}
