package mcmc

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/probit"
)

// ProbitDraws are the draws of a [Probit]. The variables are
//
//	W             C×D, the regressors
//	log precision 1×C, the mean over d of log α_{c,d}
//	auxiliary     1×C, the mean over n of y_{c,n}²
//	beta          1×P, the weights of the kernels, unless they are fixed
//	rho           1×P, for WSum
//	pi, chi       1×P, for WProd
//	theta         1×Q, the parameters of all kernels, if there are any
//
// The likelihood does not determine W: adding the same row to all rows of W changes no
// probability of a label, and only the prior holds such a sum. Judge the convergence of
// the chains by probabilities, weights and parameters therefore, not by W.
type ProbitDraws struct {
	*Draws
	rule   probit.Rule
	beta   []float64 // P, the weights of the fixed rules
	counts []int     // P, how many parameters each kernel has
}

// probitVariables are the variables of a draw, in their order.
func probitVariables(rule probit.Rule, C, D, P, Q int) []Variable {
	v := []Variable{{"W", C, D}, {"log precision", 1, C}, {"auxiliary", 1, C}}
	add := func(names ...string) {
		for _, n := range names {
			v = append(v, Variable{n, 1, P})
		}
	}
	switch rule {
	case probit.RuleWSum:
		add("beta", "rho")
	case probit.RuleBin:
		add("beta")
	case probit.RuleWProd:
		add("beta", "pi", "chi")
	}
	if Q > 0 {
		v = append(v, Variable{"theta", 1, Q})
	}
	return v
}

// ProbitState is everything that [ProbitDraws] are made of. It is plain data, to be
// saved and restored. Rule is the rule that combines the P kernels.
type ProbitState struct {
	Rule       probit.Rule
	Classes    int         // C
	Basis      int         // D
	Beta       []float64   // P, the weights of the fixed rules
	Parameters []int       // P, how many each kernel has
	Chains     [][]float64 // for each chain, its draws one behind the other, each with all its variables
	Moves      []Move      // how the Metropolis–Hastings steps of all chains have fared
}

// State returns what the draws are made of, which must not be changed.
func (d *ProbitDraws) State() ProbitState {
	C, _, D := d.Dims()
	return ProbitState{Rule: d.rule, Classes: C, Basis: D, Beta: d.beta, Parameters: d.counts, Chains: d.chains, Moves: d.Moves()}
}

// NewProbitDraws returns the draws of a state. It keeps the state, which must not be
// changed afterwards. The error names the part that does not fit the others or is not
// finite.
func NewProbitDraws(s ProbitState) (*ProbitDraws, error) {
	d, err := s.draws()
	if err != nil {
		return nil, fmt.Errorf("mcmc: probit state: %w", err)
	}
	return &ProbitDraws{Draws: d, rule: s.Rule, beta: s.Beta, counts: s.Parameters}, nil
}

// draws checks the state and returns its draws.
func (s *ProbitState) draws() (*Draws, error) {
	Q := 0
	for p, n := range s.Parameters {
		if n < 0 {
			return nil, fmt.Errorf("kernel %d has %d parameters", p, n)
		}
		Q += n
	}
	switch {
	case s.Rule < probit.RuleFixSum || s.Rule > probit.RuleWProd:
		return nil, fmt.Errorf("%v is not a combination rule", s.Rule)
	case s.Classes < 2 || s.Basis < 1 || len(s.Parameters) == 0:
		return nil, fmt.Errorf("%d classes, %d basis points, %d kernels", s.Classes, s.Basis, len(s.Parameters))
	case len(s.Beta) != len(s.Parameters):
		return nil, fmt.Errorf("%d weights for %d kernels", len(s.Beta), len(s.Parameters))
	case len(s.Chains) == 0:
		return nil, errors.New("no chains")
	}
	d := &Draws{variables: probitVariables(s.Rule, s.Classes, s.Basis, len(s.Beta), Q), chains: s.Chains, moves: [][]Move{s.Moves}}
	for _, v := range d.variables {
		d.width += v.size()
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	for _, m := range s.Moves {
		if m.Accepted > m.Tried {
			return nil, fmt.Errorf("step %q: %d of %d proposals accepted", m.Step, m.Accepted, m.Tried)
		}
	}
	return d, nil
}

// check returns an error unless the chains have the same number of whole draws, of finite numbers.
func (d *Draws) check() error {
	for c, chain := range d.chains {
		if len(chain) == 0 || len(chain) != len(d.chains[0]) || len(chain)%d.width != 0 {
			return fmt.Errorf("chain %d: %d numbers in draws of %d", c, len(chain), d.width)
		}
		for i, v := range chain {
			if !isFinite(v) {
				return fmt.Errorf("chain %d: draw %d has %g", c, i/d.width, v)
			}
		}
	}
	return nil
}

// Rule returns the rule that combines the kernels.
func (d *ProbitDraws) Rule() probit.Rule { return d.rule }

// Dims returns the numbers of classes C, of kernels P and of basis points D.
func (d *ProbitDraws) Dims() (C, P, D int) {
	w, _ := d.find("W")
	return w.Rows, len(d.counts), w.Cols
}

// Parameters returns the number of parameters of all kernels, Q.
func (d *ProbitDraws) Parameters() int {
	sum := 0
	for _, n := range d.counts {
		sum += n
	}
	return sum
}

// Thin returns every step-th draw of each chain, from the first on. A step below 1
// counts as 1.
func (d *ProbitDraws) Thin(step int) *ProbitDraws {
	thin := *d
	thin.Draws = &Draws{variables: d.variables, width: d.width, moves: d.moves}
	for _, chain := range d.chains {
		var kept []float64
		for t := 0; t < d.Len(); t += max(1, step) {
			kept = append(kept, chain[t*d.width:(t+1)*d.width]...)
		}
		thin.chains = append(thin.chains, kept)
	}
	return &thin
}

// KernelWeights returns for each of the P kernels the posterior mean and standard
// deviation of its weight β_p; the latter is 0 for fixed weights.
func (d *ProbitDraws) KernelWeights() (mean, sd []float64) {
	if !d.rule.Learned() {
		return append([]float64(nil), d.beta...), make([]float64, len(d.beta))
	}
	for _, s := range d.Summary("beta") {
		mean, sd = append(mean, s.Mean), append(sd, s.SD)
	}
	return mean, sd
}

// WeightCovariance returns the posterior covariance of the regressors w_{c,d} of class
// c for the basis points d that rows lists, a square matrix of the order len(rows),
// estimated from the draws of all chains. A class or row that does not exist is an
// error. The workspace is not used.
func (d *ProbitDraws) WeightCovariance(_ *la.Workspace, c int, rows []int) (la.Matrix[float64], error) {
	C, _, D := d.Dims()
	if c < 0 || c >= C {
		return la.Matrix[float64]{}, fmt.Errorf("mcmc: class %d of %d", c, C)
	}
	for _, r := range rows {
		if r < 0 || r >= D {
			return la.Matrix[float64]{}, fmt.Errorf("mcmc: row %d of %d", r, D)
		}
	}
	mean := d.Mean("W").Row(c)
	cov := la.NewMatrix[float64](len(rows), len(rows))
	from := make([]float64, len(rows))
	n := d.Len() * d.Chains()
	for chain := range d.Chains() {
		for t := range d.Len() {
			w := d.Value("W", chain, t).Row(c)
			for i, r := range rows {
				from[i] = (w[r] - mean[r]) / math.Sqrt(float64(max(1, n-1)))
			}
			for i, v := range from {
				la.Axpy(v, from, cov.Row(i))
			}
		}
	}
	return cov, nil
}
