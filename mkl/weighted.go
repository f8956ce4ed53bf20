package mkl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// weighted is what models have in common whose functions are sums over samples and
// kernels, each with a weight. A function is a row of the posterior, for a
// target, a label, or a class (two classes have one function).
type weighted struct {
	onViews
	weights  posterior
	active   [][]SampleWeight // of each function
	rounding float64          // see Rounding
}

// posterior is the interface that the posteriors of all such models have.
type posterior interface {
	Dims() (L, P, D int)
	KernelWeights() (mean, sd []float64)
	WeightCovariance(ws *la.Workspace, o int, rows []int) (la.Matrix[float64], error)
}

// variances are posteriors that can compute the variances of all sample weights of a function at lower
// cost than their covariance, and a bound on the rounding of predictive variances. Sampled posteriors
// cannot.
type variances interface {
	WeightVariances(ws *la.Workspace, o int) (variances []float64, rounding float64, err error)
}

// weightVariances returns the variances of the sample weights of function o listed in rows, and records
// the rounding of predictions.
func (m *weighted) weightVariances(ws *la.Workspace, o int, rows []int) ([]float64, error) {
	out := make([]float64, len(rows))
	if w, ok := m.weights.(variances); ok {
		all, rounding, err := w.WeightVariances(ws, o)
		if err != nil {
			return nil, err
		}
		m.rounding = max(m.rounding, rounding)
		for r, d := range rows {
			out[r] = all[d]
		}
		return out, nil
	}
	cov, err := m.weights.WeightCovariance(ws, o, rows)
	if err != nil {
		return nil, err
	}
	for r := range out {
		out[r] = cov.At(r, r)
	}
	return out, nil
}

// prepare finds the active samples; a, functions × basis points, are the means of
// the sample weights. It returns an error for weights that are not finite.
func (m *weighted) prepare(a la.Matrix[float64]) error {
	ws := &la.Workspace{}
	m.active = make([][]SampleWeight, a.Rows)
	for o := range a.Rows {
		var rows []int
		limit := ActiveThreshold * vec.LargestAbs(a.Row(o))
		for d, v := range a.Row(o) {
			if limit > 0 && math.Abs(v) >= limit {
				rows = append(rows, d)
			}
		}
		variance, err := m.weightVariances(ws, o, rows)
		if err != nil {
			return fmt.Errorf("mkl: %w", err)
		}
		for r, d := range rows {
			m.active[o] = append(m.active[o], SampleWeight{Sample: d, Mean: a.At(o, d), SD: math.Sqrt(variance[r])})
		}
	}
	return checkWeights(m.KernelWeights())
}

// KernelWeights returns the views' weights in the order of the views.
//
// Weights multiply kernels in their own scale: compare them only between kernels of
// the same scale, such as RBF kernels or those with Normalize. Their sign alone has no
// meaning, because the sample weights may have the opposite sign.
func (m *weighted) KernelWeights() []KernelWeight { return m.kernelWeights(m.weights.KernelWeights()) }

// ActiveSamples returns the samples whose weight for a target (label, class; 0
// with two classes) is at least ActiveThreshold times the largest, in ascending
// order of the sample. Targets count from 0; there are as many as Outputs.
func (m *weighted) ActiveSamples(target int) []SampleWeight { return slices.Clone(m.active[target]) }

// Rounding returns the relative error that rounding may have caused in the variances of
// predictions, for the function with the largest error: see docs/lab/digits.md.
// It is large if kernels have nearly constant and large values, such as linear kernels
// of features far from 0, which need Standardize or Center. Summary warns above a thousandth. It is 0
// after Gibbs sampling, where it is not known.
func (m *weighted) Rounding() float64 { return m.rounding }

// roundingNote warns of rounding that may move variances by the given share.
func roundingNote(rounding float64) string {
	if rounding <= noticeable {
		return ""
	}
	most := "all"
	if rounding < 1 { // false for an infinity and NaN, which come from sums that overflow
		most = fmt.Sprintf("%.2g", rounding)
	}
	return fmt.Sprintf("ILL-CONDITIONED: rounding may move the variances of predictions by %s of themselves; "+
		"features far from 0 want Standardize or Center\n", most)
}

// Outputs reports the weights that the fit learned for each function.
func (m *weighted) Outputs() []ModelOutput {
	out := make([]ModelOutput, len(m.active))
	for o := range out {
		out[o].Active = append([]SampleWeight{}, m.active[o]...)
	}
	return out
}

// describe returns what String of a model returns.
func (m *weighted) describe(what string) string {
	return fmt.Sprintf("%s, bound %.6g", m.describeSize(what), m.Bound())
}

// describeSize adds the numbers of kernels and samples.
func (m *weighted) describeSize(what string) string {
	_, P, D := m.weights.Dims()
	return fmt.Sprintf("%s on %d kernels (%d active) and %d samples", what, P, countActive(m.KernelWeights()), D)
}

// summary returns what Summary of a model returns; row(o) begins the line on function o.
func (m *weighted) summary(headline string, row func(o int) string) string {
	var b strings.Builder
	fmt.Fprintln(&b, headline)
	b.WriteString(m.trace.outcome())
	for o, active := range m.active {
		fmt.Fprintf(&b, "%s, %d of %d samples active", row(o), len(active), m.design.D)
		if slices.Contains(m.trace.collapsed, o) {
			fmt.Fprint(&b, "; COLLAPSED: its weights vanish and its predictions are constant")
		}
		fmt.Fprintln(&b)
	}
	b.WriteString(summarizeActive(m.KernelWeights()))
	b.WriteString(roundingNote(m.rounding))
	return b.String()
}
