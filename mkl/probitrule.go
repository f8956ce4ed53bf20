package mkl

import "github.com/bmkl/bmkl/vi/probit"

// Rule says how a probit kernel machine makes one kernel of the P kernels K_p of the views: [FixedSum], [WeightedSum],
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
	// Weights are the P weights β. Nil means 1/√P for each, so that the functions of many kernels are no larger than
	// a function of one kernel would be if they were independent. The paper takes ones.
	Weights []float64
}

// WeightedSum is the rule Σ β_p·K_p with learned weights that add up to 1 (WSum in the paper).
type WeightedSum struct {
	Start []float64 // the weights that a fit starts from; nil means 1/P for each

	// Rho is the prior of each ρ_p of the Dirichlet distribution of the weights; the zero value means Gamma{1, 1}.
	// [ProbitSampler] learns them, and so does [ProbitClassifier] with [WeightSearchSampling].
	Rho Gamma
}

// SwitchedSum is the rule Σ β_p·K_p with learned switches β_p of 0 or 1 (Bin in the paper).
type SwitchedSum struct {
	Start    []float64 // the probabilities that a fit starts from; nil means ½ for each
	On       []float64 // the prior probability that a kernel is on; nil means ½ for each
	NotEmpty bool      // at least one kernel is on
}

// FixedProduct is the rule Π K_p^β_p, entry by entry, with given powers (FixProd in the paper). A product of Gaussian
// kernels is a Gaussian kernel narrower than the narrowest of them. A product with which most samples have nothing in
// common with any other sample is an error.
type FixedProduct struct {
	Powers []float64 // β; nil means 1/P for each, the geometric mean. The paper takes ones.
}

// WeightedProduct is the rule Π K_p^β_p, entry by entry, with learned positive powers (WProd in the paper). The values of
// the kernels must lie in [0, 1].
type WeightedProduct struct {
	Start []float64 // the powers that a fit starts from; nil means 1 for each

	// Kappa and Xi are the rates of the exponential priors of shape and rate of the gamma distribution of each power; 0
	// means 1.
	Kappa, Xi float64
}

// probitRule is a rule with its settings, as package probit has them.
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

// ruleOrDefault returns the rule with its settings, FixedSum for nil.
func ruleOrDefault(r Rule) probitRule {
	if r == nil {
		return FixedSum{}.rule()
	}
	return r.rule()
}

// WeightUpdate says how a [ProbitClassifier] learns the kernels' weights.
type WeightUpdate = probit.WeightUpdate

// Ways to learn the kernels' weights; [probit.WeightUpdate] says what each does.
const (
	WeightUpdatePlugIn     = probit.WeightUpdatePlugIn
	WeightUpdateMeanField  = probit.WeightUpdateMeanField
	WeightUpdateStructured = probit.WeightUpdateStructured // of SwitchedSum with at most 8 views
)

// WeightSearch says how a [ProbitClassifier] finds the posterior of the weights.
type WeightSearch = probit.WeightSearch

// Ways to find the posterior of the weights; [probit.WeightSearch] says what each takes.
const (
	WeightSearchMode     = probit.WeightSearchMode
	WeightSearchSampling = probit.WeightSearchSampling
)
