package mcmc

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// probitSampler is a chain of a [Probit]. Its state is Y, W and α, the kernel weights
// with their hyperparameters, and the kernel parameters; the rest follows from these.
type probitSampler struct {
	*probitProblem
	ws   *la.Workspace
	cone special.Cone

	y, w, alpha la.Matrix[float64] // C×N, C×D, C×D
	beta        []float64          // P
	logBeta     []float64          // P; for WSum and WProd, whose β may underflow
	rho         []float64          // P; for WSum
	pi, chi     []float64          // P; for WProd
	theta       []float64          // Q

	base         []la.Matrix[float64] // P base kernels, each D×N; if there are parameters
	composite    *probit.Composite
	kernel, gram la.Matrix[float64] // D×N, and the lower triangle of K·Kᵀ
	f            la.Matrix[float64] // C×N, W·K

	fit, tried regressorFit // of the present kernel, and for Bin of a proposal

	leap    walk   // along a trajectory
	sizes   []walk // of w and α: one for each class and, last, one for single regressors
	weights []walk // of β given the labels: one for each component and, last, one for all together
	given   []walk // of β of a sum given Y, likewise
	hyper   []walk // of ρ, one for each component
	kernels []walk // of θ, one for each kernel with parameters

	exchanges []walk // of θ against β of a product, likewise

	sumSteps sumWeights
	trial    trialKernel
	path     trajectory
	column   []float64 // C, a column of f
	drawn    []float64 // C, a column of y
}

// regressorFit is the conditional distribution of W given Y, α and a kernel: with
// R = diag(α_c)^-½ and B_c = I + R·K·Kᵀ·R, w_c ~ N(R·B_c⁻¹·R·K·y_c, R·B_c⁻¹·R).
type regressorFit struct {
	factors []la.Matrix[float64] // C Cholesky factors L_c of B_c
	u       la.Matrix[float64]   // C×D, L_c⁻¹·R·K·y_c
	root    la.Matrix[float64]   // C×D, diag(R)
}

func newProbitSampler(m *probitProblem, ws *la.Workspace) *probitSampler {
	vector := func() []float64 { return make([]float64, m.P) }
	s := &probitSampler{
		probitProblem: m, ws: ws,
		y: la.NewMatrix[float64](m.C, m.N), w: la.NewMatrix[float64](m.C, m.D), alpha: la.NewMatrix[float64](m.C, m.D),
		beta: vector(), logBeta: vector(), rho: vector(), pi: vector(), chi: vector(), theta: make([]float64, m.Q),
		composite: m.composite, kernel: m.kernel, gram: m.gram,
		f:      la.NewMatrix[float64](m.C, m.N),
		column: make([]float64, m.C), drawn: make([]float64, m.C),
	}
	copy(s.beta, m.beta)
	if m.rule.Learned() || m.Q > 0 {
		s.kernel, s.gram = la.NewMatrix[float64](m.D, m.N), la.NewMatrix[float64](m.D, m.D)
	}
	if m.Q > 0 {
		for range m.P {
			s.base = append(s.base, la.NewMatrix[float64](m.D, m.N))
		}
	}
	s.fit = m.newFit()
	for c := range m.C {
		s.sizes = append(s.sizes, newWalk(fmt.Sprintf("W[%d]", c)))
	}
	s.sizes = append(s.sizes, newWalk("single W"))
	betas := func(given string) (all []walk) {
		for p := range m.P {
			all = append(all, newWalk(fmt.Sprintf("beta[%d]%s", p, given)))
		}
		return append(all, newWalk("beta"+given))
	}
	switch m.rule {
	case probit.RuleWSum:
		s.weights, s.given = betas(""), betas(" given Y")
		for p := range m.P {
			s.hyper = append(s.hyper, newWalk(fmt.Sprintf("rho[%d]", p)))
		}
		s.sumSteps = newSumWeights(m)
	case probit.RuleWProd:
		s.weights = betas("")
	case probit.RuleBin:
		s.tried = m.newFit()
	}
	for p, n := range m.counts {
		if n > 0 {
			s.kernels = append(s.kernels, newWalk(fmt.Sprintf("theta of kernel %d", p)))
			if m.rule == probit.RuleWProd {
				s.exchanges = append(s.exchanges, newWalk(fmt.Sprintf("theta of kernel %d against beta", p)))
			}
		}
	}
	s.trial = newTrialKernel(m)
	s.path = newTrajectory(m)
	s.leap = walk{step: "trajectory", size: leapAtFirst, target: leapTarget}
	return s
}

// newFit returns room for the conditional distribution of W.
func (m *probitProblem) newFit() regressorFit {
	fit := regressorFit{u: la.NewMatrix[float64](m.C, m.D), root: la.NewMatrix[float64](m.C, m.D)}
	for range m.C {
		fit.factors = append(fit.factors, la.NewMatrix[float64](m.D, m.D))
	}
	return fit
}

// settle is the number of sweeps at the start of a chain in which weights and kernel
// parameters stay as drawn. Y and W, which begin without regard to the kernel, adapt to
// it in the meantime; weights that moved at once would adapt to a meaningless Y.
const settle = 20

// start draws weights and parameters from their priors, sets α to its prior mean,
// draws Y as if W were 0, and lets Y, W and α settle.
func (s *probitSampler) start(r random) error {
	s.drawWeights(r)
	if err := s.renew(); err != nil {
		return err
	}
	for c := range s.C {
		for d := range s.D {
			s.alpha.Set(c, d, s.probitProblem.alpha[c].Mean())
		}
	}
	s.f.Fill(0)
	for range settle {
		if err := s.sweepY(r); err != nil {
			return err
		}
		if err := s.sweepW(r); err != nil {
			return err
		}
		s.sweepAlpha(r)
	}
	return nil
}

// drawWeights draws β, unless it is fixed, its hyperparameters and θ from their
// priors.
func (s *probitSampler) drawWeights(r random) {
	switch s.rule {
	case probit.RuleWSum:
		for p := range s.rho {
			s.rho[p] = s.probitProblem.rho.Scale * special.Exp(logGamma(r, s.probitProblem.rho.Shape))
		}
		dirichlet(r, s.rho, s.beta, s.logBeta)
	case probit.RuleBin:
		for again := true; again; {
			for p, on := range s.on {
				s.beta[p] = 0
				if r.Float64() < on {
					s.beta[p], again = 1, false
				}
			}
			again = again && s.notEmpty
		}
	case probit.RuleWProd:
		for p := range s.beta {
			s.pi[p] = -special.Log(uniform(r)) / s.kappa
			s.chi[p] = -special.Log(uniform(r)) / s.xi
			s.logBeta[p] = logGamma(r, s.pi[p]) - special.Log(s.chi[p])
			s.beta[p] = special.Exp(s.logBeta[p])
		}
	}
	for q := range s.theta {
		s.theta[q] = s.probitProblem.theta.Scale * special.Exp(logGamma(r, s.probitProblem.theta.Shape))
	}
}

// renew computes all kernels from β and θ.
func (s *probitSampler) renew() error {
	if s.Q > 0 {
		first := 0
		for p, n := range s.counts {
			s.k.Kernel(s.ws, p, s.theta[first:first+n], s.base[p])
			first += n
		}
		if err := s.recompose(); err != nil {
			return err
		}
	}
	s.recombine()
	return nil
}

// recompose makes the composite anew after base kernels have changed.
func (s *probitSampler) recompose() error {
	k, err := vi.NewDense(s.base...)
	if err != nil {
		return err
	}
	s.composite, err = probit.NewComposite(s.rule, k)
	return err
}

// recombine computes K and K·Kᵀ from the composite and β, unless both are fixed.
func (s *probitSampler) recombine() {
	if s.rule.Learned() || s.Q > 0 {
		s.combine(s.ws, s.composite, s.beta, s.kernel, s.gram)
	}
}

// sweep moves W, α, weights and parameters given the labels, then draws Y, W and α, or for Bin Y,
// β, W and α, and last what depends on the weights. The kernel and f belong to the state before
// and after.
func (s *probitSampler) sweep(r random, burnIn bool) error {
	if err := s.sweepGivenLabels(r, burnIn); err != nil {
		return err
	}
	if err := s.sweepY(r); err != nil {
		return err
	}
	if s.rule == probit.RuleBin {
		if err := s.sweepSwitches(r); err != nil {
			return err
		}
	} else if err := s.sweepW(r); err != nil {
		return err
	}
	s.sweepAlpha(r)
	switch s.rule {
	case probit.RuleWSum:
		s.sweepSimplex(r, burnIn)
		s.sweepConcentration(r, burnIn)
		s.recombine()
		s.project()
	case probit.RuleWProd:
		s.drawShapes(r)
		s.drawRates(r)
	}
	return nil
}

// project computes f = W·K.
func (s *probitSampler) project() {
	la.Gemm(s.ws, la.NoTrans, la.NoTrans, 1, s.w, s.kernel, 0, s.f)
}

// sweepY draws y_n | W, K, t_n for every sample.
func (s *probitSampler) sweepY(r random) error {
	for n, t := range s.labels {
		for c := range s.C {
			s.column[c] = s.f.Data[c*s.f.Stride+n]
		}
		if err := drawCone(r, &s.cone, t, s.column, s.drawn); err != nil {
			return fmt.Errorf("sample %d: %w", n, err)
		}
		for c, v := range s.drawn {
			s.y.Data[c*s.y.Stride+n] = v
		}
	}
	return nil
}

// solve computes the conditional distribution of W, given a kernel and its K·Kᵀ,
// which gets a relative jitter where rounding has made the matrix to be factorised
// indefinite.
func (s *probitSampler) solve(fit *regressorFit, kernel, gram la.Matrix[float64]) error {
	la.Gemm(s.ws, la.NoTrans, la.Transpose, 1, s.y, kernel, 0, fit.u)
	for c, b := range fit.factors {
		root, u := fit.root.Row(c), fit.u.Row(c)
		for d, a := range s.alpha.Row(c) {
			root[d] = 1 / math.Sqrt(a)
			u[d] *= root[d]
		}
		for added := 0.0; ; {
			for i, ri := range root {
				row, g := b.Row(i), gram.Row(i)
				for j, v := range g[:i+1] {
					row[j] = float64(ri*v) * root[j]
				}
				row[i] = 1 + float64(row[i]*(1+added))
			}
			err := la.Cholesky(s.ws, b)
			if err == nil {
				break
			}
			more, ok := jitter.More(b.Rows, added, err)
			if !ok {
				return fmt.Errorf("regressors of class %d: %w", c, err)
			}
			added = more
		}
		la.Trsv(la.NoTrans, b, u)
	}
	return nil
}

// drawW draws W from its conditional distribution and computes f.
func (s *probitSampler) drawW(r random, fit *regressorFit) {
	for c, b := range fit.factors {
		w, root := s.w.Row(c), fit.root.Row(c)
		normals(r, w)
		la.Axpy(1, fit.u.Row(c), w)
		la.Trsv(la.Transpose, b, w)
		for d := range w {
			w[d] *= root[d]
		}
	}
	s.project()
}

// sweepW draws W | Y, α, K.
func (s *probitSampler) sweepW(r random) error {
	if err := s.solve(&s.fit, s.kernel, s.gram); err != nil {
		return err
	}
	s.drawW(r, &s.fit)
	return nil
}

// sweepAlpha draws every α_{c,d} | w ~ Gamma(τ + ½, rate ν + w²/2).
func (s *probitSampler) sweepAlpha(r random) {
	for c, prior := range s.probitProblem.alpha {
		w, alpha := s.w.Row(c), s.alpha.Row(c)
		for d, v := range w {
			alpha[d] = special.Exp(logGamma(r, prior.Shape+0.5)) / (1/prior.Scale + float64(0.5*v*v))
		}
	}
}

// evidence returns log p(Y | α, K) = Σ_c log N(y_c; 0, I + Kᵀ·diag(α_c)⁻¹·K), with W
// integrated out, for the kernel of fit. The determinant of that covariance is |B_c|.
func (s *probitSampler) evidence(fit *regressorFit) float64 {
	l := -0.5 * float64(s.C*s.N) * special.Log(2*math.Pi)
	for c, b := range fit.factors {
		l -= float64(0.5 * (la.LogDet(b) + la.SumSq(s.y.Row(c)) - la.SumSq(fit.u.Row(c))))
	}
	return l
}

// keep appends the variables in the order of probitVariables.
func (s *probitSampler) keep(dst []float64) []float64 {
	dst = append(dst, s.w.Data...)
	for c := range s.C {
		var sum float64
		for _, a := range s.alpha.Row(c) {
			sum += special.Log(a)
		}
		dst = append(dst, sum/float64(s.D))
	}
	for c := range s.C {
		dst = append(dst, la.SumSq(s.y.Row(c))/float64(s.N))
	}
	if s.rule.Learned() {
		dst = append(dst, s.beta...)
	}
	switch s.rule {
	case probit.RuleWSum:
		dst = append(dst, s.rho...)
	case probit.RuleWProd:
		dst = append(append(dst, s.pi...), s.chi...)
	}
	return append(dst, s.theta...)
}

// states are the slices that make up the state.
func (s *probitSampler) states() [][]float64 {
	return [][]float64{s.y.Data, s.w.Data, s.alpha.Data, s.beta, s.logBeta, s.rho, s.pi, s.chi, s.theta}
}

// walks are all steps that are accepted or not.
func (s *probitSampler) walks() []*walk {
	all := []*walk{&s.leap}
	for _, walks := range [][]walk{s.sizes, s.weights, s.given, s.hyper, s.kernels, s.exchanges} {
		for i := range walks {
			all = append(all, &walks[i])
		}
	}
	return all
}

func (s *probitSampler) save(dst []float64) []float64 {
	for _, x := range s.states() {
		dst = append(dst, x...)
	}
	for _, w := range s.walks() {
		dst = w.save(dst)
	}
	return dst
}

func (s *probitSampler) restore(src []float64) error {
	need := 0
	for _, x := range s.states() {
		need += len(x)
	}
	need += walkState * len(s.walks())
	if len(src) != need {
		return fmt.Errorf("a state of %d numbers where %d are needed", len(src), need)
	}
	for _, x := range s.states() {
		src = src[copy(x, src):]
	}
	for _, w := range s.walks() {
		if err := w.restore(src); err != nil {
			return err
		}
		src = src[walkState:]
	}
	if err := s.renew(); err != nil {
		return err
	}
	s.project()
	return nil
}

func (s *probitSampler) moves() []Move {
	var out []Move
	for _, w := range s.walks() {
		out = append(out, w.move())
	}
	return out
}
