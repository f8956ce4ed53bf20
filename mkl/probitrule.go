package mkl

import "github.com/bmkl/bmkl/vi/probit"

// Rule says how a probit kernel machine combines the P kernels K_p of the views to one kernel: [FixedSum], [WeightedSum],
// [SwitchedSum], [FixedProduct] or [WeightedProduct].
type Rule interface {
	rule() probitRule
}

// PointRule is a rule whose weights can be estimated without their uncertainty: [FixedSum], [WeightedSum] or
// [FixedProduct].
type PointRule interface {
	Rule
	point()
}

// FixedSum is the rule Σ β_p·K_p with given weights (FixSum in the paper).
type FixedSum struct {
	// Weights are the P weights β. Nil means 1/√P for each: functions of many kernels, if they were independent, are then no
	// larger than a function of one kernel. The paper uses ones.
	Weights []float64
}

// WeightedSum is the rule Σ β_p·K_p with learned weights that add up to 1 (WSum in the paper).
type WeightedSum struct {
	Start []float64 // the weights that a fit starts from; nil means 1/P for each

	// Rho is the prior of each parameter ρ_p of the Dirichlet distribution of the weights; the zero value means Gamma{1, 1}.
	// [ProbitSampler] learns ρ, and so does [ProbitClassifier] with [WeightSearchSampling].
	Rho Gamma
}

// SwitchedSum is the rule Σ β_p·K_p with learned switches β_p of 0 or 1 (Bin in the paper).
type SwitchedSum struct {
	Start    []float64 // the probabilities that a fit starts from; nil means ½ for each
	On       []float64 // the prior probability that a kernel is on; nil means ½ for each
	NotEmpty bool      // at least one kernel is on
}

// FixedProduct is the rule Π K_p^β_p, entry by entry, with given powers (FixProd in the paper). A product of Gaussian
// kernels is a Gaussian kernel narrower than the narrowest of them. It is an error if the product of most
// samples with every other sample is nearly 0.
type FixedProduct struct {
	Powers []float64 // β; nil means 1/P for each, the geometric mean. The paper uses ones.
}

// WeightedProduct is the rule Π K_p^β_p, entry by entry, with learned positive powers (WProd in the paper). The values of
// the kernels must lie in [0, 1].
type WeightedProduct struct {
	Start []float64 // the powers that a fit starts from; nil means 1 for each

	// Each power has a gamma prior, whose shape and rate have exponential priors with the rates Kappa and Xi; 0
	// means 1.
	Kappa, Xi float64
}

// probitRule is a rule with its settings in the form of package probit.
type probitRule struct {
	kind      probit.Rule
	beta, on  []float64
	rho       Gamma
	kappa, xi float64
	notEmpty  bool
}

func (r FixedSum) rule() probitRule { return probitRule{kind: probit.RuleFixSum, beta: r.Weights} }

func (r WeightedSum) rule() probitRule {
	return probitRule{kind: probit.RuleWSum, beta: r.Start, rho: r.Rho}
}

func (r SwitchedSum) rule() probitRule {
	return probitRule{kind: probit.RuleBin, beta: r.Start, on: r.On, notEmpty: r.NotEmpty}
}

func (r FixedProduct) rule() probitRule {
	return probitRule{kind: probit.RuleFixProd, beta: r.Powers}
}

func (r WeightedProduct) rule() probitRule {
	return probitRule{kind: probit.RuleWProd, beta: r.Start, kappa: r.Kappa, xi: r.Xi}
}

func (FixedSum) point()     {}
func (WeightedSum) point()  {}
func (FixedProduct) point() {}

// ruleOrDefault returns the rule with its settings; nil means FixedSum.
func ruleOrDefault(r Rule) probitRule {
	if r == nil {
		return FixedSum{}.rule()
	}
	return r.rule()
}

// WeightUpdate says how a [ProbitClassifier] updates the kernels' weights.
type WeightUpdate = probit.WeightUpdate

// Ways to update the kernels' weights; [probit.WeightUpdate] describes each.
const (
	WeightUpdatePlugIn     = probit.WeightUpdatePlugIn
	WeightUpdateMeanField  = probit.WeightUpdateMeanField
	WeightUpdateStructured = probit.WeightUpdateStructured // for SwitchedSum with at most 8 views
)

// WeightSearch says how a [ProbitClassifier] computes the posterior of the weights.
type WeightSearch = probit.WeightSearch

// Ways to compute the posterior of the weights; [probit.WeightSearch] describes each.
const (
	WeightSearchMode     = probit.WeightSearchMode
	WeightSearchSampling = probit.WeightSearchSampling
)
