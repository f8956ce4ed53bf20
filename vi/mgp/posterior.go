package mgp

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// State is everything a [Posterior] is made of. It is plain data,
// to be saved and restored; slices and matrices of a state that belongs to a
// posterior must not be changed.
type State struct {
	Family Family
	Labels bool    // fitted to labels ±1, not to targets
	Prior  GIG     // of γ; zero for ARD
	Tau    float64 // τ, one over the variance of the noise

	// Freedom is ν of noise with a Student-t density, above 2, or 0. There are then
	// sites, whose identity in B below is 1 and not 1/τ.
	Freedom float64

	// Likelihood is the name of the likelihood of a fit by [Evidence.FitLikelihood], or empty. Shape then holds its
	// level b and parameters η. There are sites, and Tau is 1.
	Likelihood string
	Shape      []float64

	// Scales holds q(γ_p); nil for ARD. Gamma holds E[γ_p], or its most probable
	// value.
	Scales []GIG
	Gamma  []float64

	Known []bool // the kernels whose γ_p was known and not learned; nil if none was

	// Sites holds the precisions λ_n of the sites of labels, of the logarithm of a
	// noise variance, of noise with heavy tails, or of targets with weights, 1/σ_n², or is nil.
	Sites []float64

	Alpha []float64 // N, B⁻¹·E[y], or S^½·B⁻¹·S^-½·ν with sites

	// Samples is the number of samples of a fit by [Evidence.FitSpanned], 0 of others. If it is not 0, N
	// is the number of the samples that span them, and B = K + σ²(WWᵀ)⁻¹ has another noise than below.
	Samples int

	// Factor is N×N. Its lower triangle is the Cholesky factor of B = K + I/τ, K = Σ K_p/γ_p, or
	// with S = diag(λ) of B = I + S^½·K·S^½. Where the noise varies, each sample's noise variance
	// stands for 1/τ.
	Factor la.Matrix[float64]
}

// Posterior is the approximate posterior of a [Model] or of an [Evidence]. It is immutable and safe
// for concurrent use.
type Posterior struct {
	s    State
	dim  dims
	root []float64 // √λ_n, nil without sites
}

// dims are the numbers of kernels and of training samples.
type dims struct{ P, N int }

// NewPosterior returns the posterior of a state, which it keeps and which
// must not be changed afterwards. The error says what does not fit.
func NewPosterior(s State) (*Posterior, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("vi: multiple Gaussian process state: %w", err)
	}
	p := &Posterior{s: s, dim: dims{len(s.Gamma), len(s.Alpha)}}
	for _, v := range s.Sites {
		p.root = append(p.root, math.Sqrt(v))
	}
	return p, nil
}

// validate returns an error that names the first part that does not fit.
func (s *State) validate() error {
	P, N := len(s.Gamma), len(s.Alpha)
	return check.Parts(
		check.That(P >= 1 && N >= 1, "%d kernels, %d samples: each must be at least 1", P, N),
		func() error { return s.Family.validate(s.Prior) },
		check.Number("Tau", s.Tau, check.Positive),
		check.Vector("Gamma", s.Gamma, check.Positive),
		s.validateScales,
		check.That(s.Known == nil || len(s.Known) == P, "Known: of %d kernels where there are %d", len(s.Known), P),
		check.Vector("Alpha", s.Alpha, check.Finite),
		check.That(s.Sites == nil || len(s.Sites) == N, "Sites: %d precisions for %d samples", len(s.Sites), N),
		check.That(s.Freedom == 0 || s.Freedom > 2 && check.Finite(s.Freedom) && !s.Labels && s.Sites != nil,
			"Freedom is %g: it must be above 2, of targets, with sites", s.Freedom),
		check.That(s.Samples == 0 || s.Samples >= N && !s.Labels && s.Sites == nil,
			"Samples is %d, of targets without sites, spanned by %d", s.Samples, N),
		check.Vector("Sites", s.Sites, check.Positive),
		s.checkLikelihood,
		check.Cholesky("Factor", s.Factor, N),
	)
}

// validateScales checks q(γ). With a flat prior there is no q(γ).
func (s *State) validateScales() error {
	if s.Family == FamilyFlat {
		return nil
	}
	P := len(s.Gamma)
	if len(s.Scales) != P {
		return fmt.Errorf("Scales: %d factors where %d are needed", len(s.Scales), P)
	}
	for p, q := range s.Scales {
		if err := q.validate(fmt.Sprintf("Scales[%d]", p)); err != nil {
			return err
		}
		if inv, v := q.MeanInv(), q.VarInv(); math.IsNaN(inv) || math.IsNaN(v) {
			return fmt.Errorf("Scales[%d]: GIG(%g, %g, %g) is beyond double precision", p, q.Omega, q.Chi, q.Phi)
		}
	}
	return nil
}

// posterior returns the present state, with B at the present γ and τ.
func (m *model) posterior() (*Posterior, error) {
	s := State{
		Family: m.family, Labels: m.labels, Prior: m.prior, Tau: m.tau,
		Alpha:  append([]float64(nil), m.mean...),
		Factor: la.NewMatrix[float64](m.N, m.N),
	}
	weights := make([]float64, m.P)
	for p, v := range m.moments {
		s.Gamma = append(s.Gamma, v.mean)
		weights[p] = 1 / v.mean
	}
	if m.family != FamilyFlat {
		s.Scales = append(s.Scales, m.q...)
	}
	if _, _, err := m.factorise(weights, m.tau, s.Factor); err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	la.CholeskySolveVec(s.Factor, s.Alpha)
	return &Posterior{s: s, dim: dims{m.P, m.N}}, nil
}

// identity returns what B has on its diagonal beside the kernel: 1/τ, or 1 with sites.
func (p *Posterior) identity() float64 {
	if p.root != nil {
		return 1
	}
	return 1 / p.s.Tau
}

// State returns what the posterior is made of. Its slices and matrices are the
// posterior's own and must not be changed.
func (p *Posterior) State() State { return p.s }

// Dims returns the number of kernels, and of training samples or those that span them.
func (p *Posterior) Dims() (P, N int) { return p.dim.P, p.dim.N }

// Samples returns the number of training samples.
func (p *Posterior) Samples() int {
	if p.s.Samples != 0 {
		return p.s.Samples
	}
	return p.dim.N
}

// KernelWeights returns the mean and the standard deviation of 1/γ_p, the
// variance that kernel p contributes per unit of K_p. Under ARD γ_p is a point and the deviations
// are zero. The deviation of a weight that was known is zero too.
func (p *Posterior) KernelWeights() (mean, sd []float64) {
	mean, sd = make([]float64, p.dim.P), make([]float64, p.dim.P)
	for i, g := range p.s.Gamma {
		mean[i] = 1 / g
		if p.s.Family != FamilyFlat && (p.s.Known == nil || !p.s.Known[i]) {
			mean[i], sd[i] = p.s.Scales[i].MeanInv(), p.s.Scales[i].sdInv()
		}
	}
	return mean, sd
}

// Start returns where a fit of a [Model] goes on from the posterior of an earlier one: E[γ], for
// labels E[y] = B·α, and τ.
func (p *Posterior) Start() (start *Start, tau float64) {
	start = &Start{Gamma: p.s.Gamma}
	if p.s.Labels && p.s.Sites == nil {
		l := p.s.Factor
		along, y := make([]float64, p.dim.N), make([]float64, p.dim.N) // Lᵀα, L·Lᵀα
		for i, a := range p.s.Alpha {
			la.Axpy(a, l.Row(i)[:i+1], along[:i+1])
		}
		for i := range y {
			y[i] = la.Dot(l.Row(i)[:i+1], along[:i+1])
		}
		start.Y = y
	}
	return start, p.s.Tau
}

// Coefficients returns the means and the variances of the coefficients β of the function f_p = Hβ,
// whose kernel K_p is HHᵀ, given the rows of Hᵀ, D×N:
//
//	E[β] = Hᵀα/γ_p,   Cov[β] = I/γ_p − HᵀB⁻¹H/γ_p².
func (p *Posterior) Coefficients(kernel int, h la.Matrix[float64]) (mean, variance []float64, err error) {
	if kernel < 0 || kernel >= p.dim.P || h.Cols != p.dim.N {
		return nil, nil, fmt.Errorf("vi: coefficients: kernel %d and features of %d samples where there are %d and %d", kernel, h.Cols, p.dim.P, p.dim.N)
	}
	a := 1 / p.s.Gamma[kernel]
	k := h.Clone()
	mean, variance = make([]float64, h.Rows), make([]float64, h.Rows)
	for d := range k.Rows {
		la.Scal(a, k.Row(d))
		mean[d], variance[d] = la.Dot(k.Row(d), p.s.Alpha), a
	}
	p.takeKnown(&la.Workspace{Workers: 1}, k, variance)
	return mean, variance, nil
}

// Prediction is the predictive distribution of T samples. Slices that
// were not asked for are nil.
type Prediction struct {
	Mean     []float64 // of the function, and of the target; under a [Likelihood] of f + b
	Function []float64 // variance of the function
	Variance []float64 // variance of the target with its noise, Function + 1/τ; nil under a [Likelihood]

	// Probability of the label +1, Φ(Mean/√Variance), and the logarithms of the probabilities of +1
	// and −1, which never round to 0; for labels only.
	Probability, LogPositive, LogNegative []float64
}

// Predict returns the predictive distribution of the samples whose kernels with
// the N training samples are the columns of k, P matrices N×T, and whose kernels
// with themselves are the columns of self, P×T. With k̄ = Σ_p k_p/E[γ_p]
//
//	E[f] = k̄ᵀα (9),   Var[f] = Σ_p k_p(x,x)/E[γ_p] − k̄ᵀB⁻¹k̄ (10),
//	P(t = +1) = Φ(E[f]/√(Var[f] + 1/τ)) (16).
//
// With sites the variance is Σ_p k_p(x,x)/γ_p − |L⁻¹S^½k̄|², and of labels τ is 1.
//
// The mean is exact under the posterior factors. The variance takes γ at its
// mean: it leaves out the uncertainty of the scales, a share of the order of
// 1/r_p. opt.MeanOnly leaves out all but the mean, and needs no self. The other
// options of [vi.PredictOptions] but Workers have no meaning here. The cost is
// N·P·T, and N²·T for the variance.
func (p *Posterior) Predict(k vi.Kernels, self la.Matrix[float64], opt vi.PredictOptions) (*Prediction, error) {
	if k == nil {
		return nil, fmt.Errorf("vi: kernels: nil")
	}
	P, N, T := k.Dims()
	if P != p.dim.P || N != p.dim.N {
		return nil, fmt.Errorf("vi: kernels: %d of %d×%d where %d with %d training samples are needed", P, N, T, p.dim.P, p.dim.N)
	}
	if !opt.MeanOnly && (self.Rows != P || self.Cols != T) {
		return nil, fmt.Errorf("vi: self: %d×%d where %d×%d is needed", self.Rows, self.Cols, P, T)
	}
	var own []float64
	if !opt.MeanOnly {
		own = make([]float64, T)
		for i, g := range p.s.Gamma {
			la.Axpy(1/g, self.Row(i), own)
		}
	}
	out := p.newPrediction(T, own, opt)
	ws := &la.Workspace{Workers: opt.Workers}
	block := min(T, work.PredictRows)
	kbar, one := la.NewMatrix[float64](block, N), la.NewMatrix[float64](block, N)
	for first := 0; first < T; first += block {
		n := min(block, T-first)
		kn, on := kbar.Slice(0, n, 0, N), one.Slice(0, n, 0, N)
		kn.Fill(0)
		for i, g := range p.s.Gamma {
			k.Columns(i, first, on)
			for r := range n {
				la.Axpy(1/g, on.Row(r), kn.Row(r))
			}
		}
		p.predictBlock(ws, kn, first, out)
	}
	p.finish(out)
	return out, nil
}

// PredictComposite is [Posterior.Predict] of T new samples whose composite kernels k̄ = Σ_p k_p/E[γ_p] with the training samples
// are the rows of kbar, which is overwritten. self holds their composite kernels with themselves. Memory
// for the computation is in ws, for one block of samples after the other; it says how many workers there are, and opt does not.
func (p *Posterior) PredictComposite(ws *la.Workspace, kbar la.Matrix[float64], self []float64, opt vi.PredictOptions) (*Prediction, error) {
	if kbar.Cols != p.dim.N {
		return nil, fmt.Errorf("vi: composite kernels: %d×%d where %d training samples are needed", kbar.Rows, kbar.Cols, p.dim.N)
	}
	if !opt.MeanOnly && len(self) != kbar.Rows {
		return nil, fmt.Errorf("vi: self: %d where %d are needed", len(self), kbar.Rows)
	}
	out := p.newPrediction(kbar.Rows, slices.Clone(self), opt)
	p.predictBlock(ws, kbar, 0, out)
	p.finish(out)
	return out, nil
}

// newPrediction returns room for predictions of T samples, whose composite kernels with themselves are own.
func (p *Posterior) newPrediction(T int, own []float64, opt vi.PredictOptions) *Prediction {
	out := &Prediction{Mean: make([]float64, T)}
	if !opt.MeanOnly {
		out.Function, out.Variance = own, make([]float64, T)
	}
	return out
}

// predictBlock predicts the samples from first on, with the composite kernels in the rows of kbar, which is overwritten.
func (p *Posterior) predictBlock(ws *la.Workspace, kbar la.Matrix[float64], first int, out *Prediction) {
	n := kbar.Rows
	la.Gemv(ws, la.NoTrans, 1, kbar, p.s.Alpha, 0, out.Mean[first:first+n])
	if out.Function == nil {
		return
	}
	p.takeKnown(ws, kbar, out.Function[first:])
	for r, v := range out.Function[first : first+n] {
		out.Variance[first+r] = v + 1/p.s.Tau
	}
}

// finish adds to moments what follows from them.
func (p *Posterior) finish(out *Prediction) {
	labels := p.s.Labels && out.Function != nil
	if p.s.Likelihood != "" {
		for i := range out.Mean {
			out.Mean[i] += p.s.Shape[0]
		}
		out.Variance = nil
	}
	if labels {
		T := len(out.Mean)
		out.Probability, out.LogPositive, out.LogNegative = make([]float64, T), make([]float64, T), make([]float64, T)
		for i, v := range out.Variance {
			z := out.Mean[i] / math.Sqrt(v)
			out.LogPositive[i], out.LogNegative[i] = special.LogNormalCDF(z), special.LogNormalCDF(-z)
			out.Probability[i] = special.Exp(out.LogPositive[i])
		}
	}
}

// takeKnown takes k̄ᵀB⁻¹k̄, with sites |L⁻¹S^½k̄|², of the rows of kbar from the variances,
// but leaves none negative. It overwrites kbar.
func (p *Posterior) takeKnown(ws *la.Workspace, kbar la.Matrix[float64], variance []float64) {
	p.whiten(ws, kbar)
	for r := range kbar.Rows {
		variance[r] = max(0, variance[r]-la.SumSq(kbar.Row(r)))
	}
}

// whiten replaces the rows k̄ of kbar by L⁻¹k̄, with sites by L⁻¹S^½k̄.
func (p *Posterior) whiten(ws *la.Workspace, kbar la.Matrix[float64]) {
	if p.root != nil {
		for r := range kbar.Rows {
			row := kbar.Row(r)
			for i, v := range p.root {
				row[i] *= v
			}
		}
	}
	la.Trsm(ws, la.Right, la.Transpose, p.s.Factor, kbar)
}
