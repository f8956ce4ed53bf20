package mcmc

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Probit samples from the posterior of the multinomial probit kernel machine that
// [probit.Model] approximates:
//
//	α_{c,d} ~ Gamma(Alpha)         precisions, α = 1/ζ
//	w_{c,d} | α ~ N(0, 1/α_{c,d})  regressors
//	y_{c,n} | w ~ N(w_cᵀ·k_n, 1)   auxiliary variables
//	t_n = argmax_c y_{c,n}         labels
//
// for classes c = 1 … C, basis points d = 1 … D and samples n = 1 … N. k_n is column n
// of the composite kernel K, D×N, which Rule makes of P base kernels with the weights
// β. The prior of the weights depends on the rule:
//
//	WSum    β ~ Dirichlet(ρ),  ρ_p ~ Gamma(Rho)
//	Bin     P(β_p = 1) = On[p], and β_p is 0 otherwise
//	WProd   β_p ~ Gamma(π_p, 1/χ_p),  π_p and χ_p exponential with the rates Kappa and Xi
//	FixSum, FixProd   the weights are Beta
//
// and kernel parameters, if there are any, have the prior θ ~ Gamma(Theta). Gamma
// distributions are given by shape and scale. The zero value is ready: FixSum, with
// Gamma(1, 1) for every prior.
//
// A sweep moves W, α, weights and parameters given the labels alone, with Y integrated
// out, by Hamiltonian Monte Carlo and by Metropolis–Hastings steps whose sizes adapt in the
// burn-in. It then draws Y (exactly, the whole vector of a sample at once), W and α from
// their conditional distributions; for Bin β and W together, each β_p with W integrated
// out. It costs some 24 products of K with C vectors, twice, and with weights that are
// learned as many composites; about 30·N integrals over a cone; C Cholesky factorisations of
// order D, CD³/6 multiplications, as every class has precisions of its own; and D²N/2
// for K·Kᵀ if weights or parameters are sampled. For Bin there are P+1 times as many
// factorisations and P products K·Kᵀ. docs/theory/mcmc.md describes the moves.
//
// Source: T. Damoulas and M. Girolami, "Combining information with a Bayesian
// multi-class multi-kernel pattern recognition machine", section 1.3.1.
type Probit struct {
	Rule probit.Rule

	Alpha      vi.Gamma   // prior of the precisions, Gamma(τ, 1/ν) in the paper's letters
	ClassAlpha []vi.Gamma // if not nil, the prior for each class

	// Ridge adds Ridge·N_c/N to the diagonal entry of each sample of a square training
	// kernel, where N_c of the N samples are of the sample's class.
	Ridge float64

	Beta      []float64 // the weights of the fixed rules; nil means 1
	Rho       vi.Gamma  // prior of ρ
	On        []float64 // P(β_p = 1), in (0, 1); nil means ½
	NotEmpty  bool      // Bin: leave out the state without kernels
	Kappa, Xi float64   // rates of the priors of π and χ; 0 means 1
	Theta     vi.Gamma  // prior of θ, for SampleParametric

	Sampling Sampling // how long to sample
}

// Sample runs the chains, given P base kernels, each D×N, and the classes of the N
// samples, which are counted from 0 and must all occur. An error names the argument
// and the place of what is wrong with it. If the context ends, the error wraps its
// cause and comes with the draws made before.
func (p Probit) Sample(ctx context.Context, k vi.Kernels, labels []int) (*ProbitDraws, error) {
	if k == nil {
		return nil, fmt.Errorf("mcmc: kernels: nil")
	}
	return p.SampleParametric(ctx, fixedKernels{k}, labels)
}

// SampleParametric is Sample for kernels whose parameters θ are sampled as well.
func (p Probit) SampleParametric(ctx context.Context, k vi.ParametricKernels, labels []int) (*ProbitDraws, error) {
	m, err := p.problem(k, labels)
	if err != nil {
		return nil, err
	}
	t := target{
		name:      "Gibbs sampler of a multinomial probit machine, " + p.Rule.String(),
		data:      m.digest(),
		variables: probitVariables(m.rule, m.C, m.D, m.P, m.Q),
		new:       func(ws *la.Workspace) sampler { return newProbitSampler(m, ws) },
	}
	draws, err := p.Sampling.run(ctx, t)
	if draws == nil {
		return nil, err
	}
	return &ProbitDraws{Draws: draws, rule: m.rule, beta: m.beta, counts: m.counts}, err
}

// probitProblem is what the chains share: data, and hyperparameters with their
// defaults. Q is the number of kernel parameters.
type probitProblem struct {
	C, P, D, N, Q int
	k             vi.ParametricKernels
	counts        []int // P, how many parameters each kernel has
	labels        []int
	rule          probit.Rule
	alpha         []vi.Gamma // C
	ridge         []float64  // N, nil without a ridge
	beta          []float64  // P, of the fixed rules
	rho, theta    vi.Gamma
	on            []float64 // P
	notEmpty      bool
	kappa, xi     float64

	// composite is set if Q is 0; kernel and gram, the D×N composite kernel K and the
	// lower triangle of K·Kᵀ, if the weights are fixed too.
	composite    *probit.Composite
	kernel, gram la.Matrix[float64]
}

// or1 returns g, or Gamma(1, 1) if g is zero.
func or1(g vi.Gamma) vi.Gamma {
	if g == (vi.Gamma{}) {
		return vi.Gamma{Shape: 1, Scale: 1}
	}
	return g
}

func checkGamma(name string, g vi.Gamma) error {
	if !isPositive(g.Shape) || !isPositive(g.Scale) {
		return fmt.Errorf("mcmc: %s is Gamma(%g, %g): shape and scale must be positive and finite", name, g.Shape, g.Scale)
	}
	return nil
}

// problem checks data and hyperparameters and prepares what the chains share.
func (p Probit) problem(k vi.ParametricKernels, labels []int) (*probitProblem, error) {
	m := &probitProblem{
		k: k, labels: labels, rule: p.Rule, rho: or1(p.Rho), theta: or1(p.Theta),
		notEmpty: p.NotEmpty,
	}
	m.P, m.D, m.N = k.Dims()
	for i := range m.P {
		m.counts = append(m.counts, k.Parameters(i))
		m.Q += m.counts[i]
	}
	sizes, err := m.countClasses()
	if err != nil {
		return nil, err
	}
	if err := p.priors(m); err != nil {
		return nil, err
	}
	if err := m.setRidge(p.Ridge, sizes); err != nil {
		return nil, err
	}
	if m.Q == 0 {
		err = m.composeFixed(p.Sampling.Workers)
	}
	return m, err
}

// countClasses sets C and returns the number of samples of each class.
func (m *probitProblem) countClasses() (sizes []int, err error) {
	if len(m.labels) != m.N {
		return nil, fmt.Errorf("mcmc: labels: %d values for %d samples", len(m.labels), m.N)
	}
	for i, c := range m.labels {
		if c < 0 {
			return nil, fmt.Errorf("mcmc: labels: value %d is %d", i, c)
		}
		m.C = max(m.C, c+1)
	}
	sizes = make([]int, m.C)
	for _, c := range m.labels {
		sizes[c]++
	}
	for c, n := range sizes {
		if n == 0 {
			return nil, fmt.Errorf("mcmc: labels: no sample is of class %d", c)
		}
	}
	if m.C < 2 {
		return nil, fmt.Errorf("mcmc: labels: all samples are of one class")
	}
	return sizes, nil
}

// setRidge sets what the diagonal of the composite kernel gets, given the number of samples of each
// class.
func (m *probitProblem) setRidge(ridge float64, sizes []int) error {
	switch {
	case ridge == 0:
		return nil
	case !isPositive(ridge):
		return fmt.Errorf("mcmc: Ridge is %g: it must not be negative", ridge)
	case m.D != m.N:
		return fmt.Errorf("mcmc: Ridge is given but the kernels are %d×%d", m.D, m.N)
	}
	for _, c := range m.labels {
		m.ridge = append(m.ridge, ridge*float64(sizes[c])/float64(m.N))
	}
	return nil
}

// composeFixed prepares the composite of kernels without parameters, and forms it if the weights
// are fixed too.
func (m *probitProblem) composeFixed(workers int) (err error) {
	fixed, _ := m.k.(fixedKernels)
	if m.composite, err = probit.NewComposite(m.rule, fixed.Kernels); err != nil {
		return err
	}
	if err := m.composite.Bounded(); err != nil {
		return err
	}
	if !m.rule.Learned() {
		m.kernel, m.gram = la.NewMatrix[float64](m.D, m.N), la.NewMatrix[float64](m.D, m.D)
		m.combine(&la.Workspace{Workers: workers}, m.composite, m.beta, m.kernel, m.gram)
	}
	return nil
}

// priors checks the hyperparameters and stores them with their defaults.
func (p Probit) priors(m *probitProblem) (err error) {
	if p.Rule < probit.RuleFixSum || p.Rule > probit.RuleWProd {
		return fmt.Errorf("mcmc: Rule is %v", p.Rule)
	}
	if m.alpha, err = p.alphas(m.C); err != nil {
		return err
	}
	if err := checkGamma("Rho", m.rho); err != nil {
		return err
	}
	if err := checkGamma("Theta", m.theta); err != nil {
		return err
	}
	if p.Rule.Learned() && p.Beta != nil {
		return fmt.Errorf("mcmc: Beta is given but %v samples it", p.Rule)
	}
	allowed := func(v float64) bool { return isFinite(v) && (v >= 0 || p.Rule != probit.RuleFixProd) }
	if m.beta, err = perKernel("Beta", p.Beta, m.P, 1, allowed); err != nil {
		return err
	}
	if m.on, err = perKernel("On", p.On, m.P, 0.5, func(v float64) bool { return v > 0 && v < 1 }); err != nil {
		return err
	}
	if m.kappa, err = rateOr1("Kappa", p.Kappa); err != nil {
		return err
	}
	m.xi, err = rateOr1("Xi", p.Xi)
	return err
}

// alphas returns the prior of α of every class.
func (p Probit) alphas(C int) ([]vi.Gamma, error) {
	all := slices.Repeat([]vi.Gamma{or1(p.Alpha)}, C)
	if p.ClassAlpha != nil {
		if len(p.ClassAlpha) != C {
			return nil, fmt.Errorf("mcmc: ClassAlpha: %d priors for %d classes", len(p.ClassAlpha), C)
		}
		all = p.ClassAlpha
	}
	for _, prior := range all {
		if err := checkGamma("the prior of Alpha", prior); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// perKernel returns x, or P times the default if x is nil. The error names the first value that is
// not allowed.
func perKernel(name string, x []float64, P int, value float64, allowed func(float64) bool) ([]float64, error) {
	if x == nil {
		x = slices.Repeat([]float64{value}, P)
	}
	if len(x) != P {
		return nil, fmt.Errorf("mcmc: %s: %d values for %d kernels", name, len(x), P)
	}
	for i, v := range x {
		if !allowed(v) {
			return nil, fmt.Errorf("mcmc: %s[%d] is %g", name, i, v)
		}
	}
	return x, nil
}

// rateOr1 returns a rate, 1 in place of 0.
func rateOr1(name string, v float64) (float64, error) {
	if v == 0 {
		return 1, nil
	}
	if !isPositive(v) {
		return 0, fmt.Errorf("mcmc: %s is %g: it must be positive and finite", name, v)
	}
	return v, nil
}

func isFinite(v float64) bool   { return v-v == 0 }
func isPositive(v float64) bool { return v > 0 && isFinite(v) }

// compose stores the composite kernel of the weights beta, with its ridge, in k.
func (m *probitProblem) compose(ws *la.Workspace, c *probit.Composite, beta []float64, k la.Matrix[float64]) {
	c.Combine(ws, beta, k)
	for n, r := range m.ridge {
		k.Row(n)[n] += r
	}
}

// combine stores the composite kernel in k and the lower triangle of K·Kᵀ in gram.
func (m *probitProblem) combine(ws *la.Workspace, c *probit.Composite, beta []float64, k, gram la.Matrix[float64]) {
	m.compose(ws, c, beta, k)
	la.Syrk(ws, la.NoTrans, 1, k, 0, gram)
}

// digest identifies the problem. Kernels enter with all their parameters at 1.
func (m *probitProblem) digest() digest {
	d := newDigester()
	for _, g := range append([]vi.Gamma{m.rho, m.theta}, m.alpha...) {
		d.numbers(g.Shape, g.Scale)
	}
	d.numbers(m.kappa, m.xi)
	d.numbers(m.beta...)
	d.numbers(m.on...)
	d.numbers(m.ridge...)
	if m.notEmpty {
		d.numbers(1)
	}
	for _, c := range m.labels {
		d.numbers(float64(c))
	}
	ws := &la.Workspace{Workers: 1}
	k := la.NewMatrix[float64](m.D, m.N)
	for p, n := range m.counts {
		theta := make([]float64, n)
		for i := range theta {
			theta[i] = 1
		}
		m.k.Kernel(ws, p, theta, k)
		d.matrix(k)
	}
	return d.sum()
}
