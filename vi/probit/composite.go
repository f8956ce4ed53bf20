package probit

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Rule says how P base kernels K_p and their weights β make one
// composite kernel.
//
// Source: T. Damoulas and M. Girolami, "Combining information with a Bayesian
// multi-class multi-kernel pattern recognition machine", section 1.3.
type Rule int

// The rules.
const (
	RuleFixSum  Rule = iota // Σ β_p·K_p, β given, 1 unless told otherwise
	RuleWSum                // Σ β_p·K_p, β on the simplex, with a Dirichlet prior
	RuleBin                 // Σ β_p·K_p, β_p 0 or 1
	RuleFixProd             // Π K_p^β_p element by element, β given, 1 unless told otherwise
	RuleWProd               // Π K_p^β_p element by element, β_p > 0 with gamma priors
)

// String returns the rule's name.
func (r Rule) String() string {
	switch r {
	case RuleFixSum:
		return "FixSum"
	case RuleWSum:
		return "WSum"
	case RuleBin:
		return "Bin"
	case RuleFixProd:
		return "FixProd"
	case RuleWProd:
		return "WProd"
	}
	return fmt.Sprintf("Rule(%d)", int(r))
}

// Learned reports whether the rule's weights are inferred.
func (r Rule) Learned() bool { return r == RuleWSum || r == RuleBin || r == RuleWProd }

// product reports whether kernels are multiplied.
func (r Rule) product() bool { return r == RuleFixProd || r == RuleWProd }

// Composite makes composite kernels of the base kernels given. It is safe for
// concurrent use with different workspaces.
type Composite struct {
	rule Rule
	k    vi.Kernels
	logs []la.Matrix[float64] // of products: log K_p
}

// logZero stands for log 0: any power of it but the zeroth is 0 again.
const logZero = -1e290

// NewComposite returns a composite of the base kernels k. Products keep the
// logarithms of their entries, and it is an error if an entry is negative: its
// power is not defined. (A product of kernels to the power 1 can always be had as
// one kernel.)
func NewComposite(rule Rule, k vi.Kernels) (*Composite, error) {
	if k == nil {
		return nil, fmt.Errorf("vi: kernels: nil")
	}
	if err := vi.RefuseCompressed(k); err != nil {
		return nil, err
	}
	if rule < RuleFixSum || rule > RuleWProd {
		return nil, fmt.Errorf("vi: %v is not a combination rule", rule)
	}
	c := &Composite{rule: rule, k: k}
	if !rule.product() {
		return c, nil
	}
	if _, ok := k.(*vi.Stacked); ok {
		return nil, fmt.Errorf("vi: %v of stacked features: products need base kernels of the same basis points", rule)
	}
	P, D, N := k.Dims()
	ws := &la.Workspace{}
	one := make([]float64, P)
	for p := range P {
		clear(one)
		one[p] = 1
		l := la.NewMatrix[float64](D, N)
		k.Sum(ws, one, l)
		for d := range D {
			for i, v := range l.Row(d) {
				if v < 0 {
					return nil, vi.NewKernelError(p, "entry (%d, %d) is %g: products need entries that are not negative", d, i, v)
				}
			}
		}
		c.logs = append(c.logs, l)
		c.renew(p, l)
	}
	return c, nil
}

// Bounded returns an error if an entry of a base kernel is above 1 and its exponent
// is learned: the prior of [RuleWProd] allows exponents of any size, under which such
// entries overflow, while those from 0 to 1 go to 0 at worst.
func (c *Composite) Bounded() error {
	if c.rule != RuleWProd {
		return nil
	}
	for p, l := range c.logs {
		for d := range l.Rows {
			for i, v := range l.Row(d) {
				if v > 1e-9 {
					return vi.NewKernelError(p, "entry (%d, %d) is %.6g: WProd needs entries of at most 1, as of kernels with unit diagonals", d, i, special.Exp(v))
				}
			}
		}
	}
	return nil
}

// renew replaces base kernel p. Products keep the logarithms of its entries.
func (c *Composite) renew(p int, k la.Matrix[float64]) {
	if !c.rule.product() {
		return
	}
	for d := range k.Rows {
		row := c.logs[p].Row(d)
		for i, v := range k.Row(d) {
			row[i] = max(special.Log(v), logZero)
		}
	}
}

// Dims returns the numbers of base kernels, of basis points and of samples.
func (c *Composite) Dims() (P, D, N int) { return c.k.Dims() }

// Base returns the base kernels.
func (c *Composite) Base() vi.Kernels { return c.k }

// Combine stores the composite kernel with weights beta in the D×N matrix out.
// 0⁰ is 1.
func (c *Composite) Combine(w *la.Workspace, beta []float64, out la.Matrix[float64]) {
	if !c.rule.product() {
		c.k.Sum(w, beta, out)
		return
	}
	for d := range out.Rows {
		c.combineRow(d, beta, out.Row(d))
	}
}

// combineRow stores row d of a product.
func (c *Composite) combineRow(d int, beta, out []float64) {
	clear(out)
	for p, l := range c.logs {
		la.Axpy(beta[p], l.Row(d), out)
	}
	la.Exp(out, out)
}

// Slope stores in dst the derivative of a function of the composite kernel with weights beta by
// each of them, given the D×N matrix g of its derivatives by the kernel's entries. It overwrites g.
func (c *Composite) Slope(w *la.Workspace, beta []float64, g la.Matrix[float64], dst []float64) {
	if !c.rule.product() {
		c.k.Inner(w, g, dst)
		return
	}
	clear(dst)
	row := make([]float64, g.Cols)
	for d := range g.Rows {
		c.combineRow(d, beta, row)
		gd := g.Row(d)
		for n, v := range row {
			gd[n] *= v
		}
		for p, l := range c.logs {
			dst[p] += la.Dot(gd, l.Row(d))
		}
	}
}
