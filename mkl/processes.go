package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// processes is what fitted multiple Gaussian processes have in common: a sum of
// processes for the target, or for each class.
type processes struct {
	onViews    // its trace is those of the functions, one after another
	posteriors []*mgp.Posterior
	limits     []bool    // the prior became a point
	bounds     []float64 // of each function
}

// add appends a fit. The traces of several follow one another.
func (m *processes) add(f *mgp.Fit) {
	t := newTrace(f.Record, m.trace.collapsed)
	if f.Collapsed {
		t.collapsed = append(t.collapsed, len(m.posteriors))
	}
	if len(m.posteriors) > 0 {
		t.Sweeps += m.trace.Sweeps
		t.Bounds = append(m.trace.Bounds, t.Bounds...)
		switch {
		case !m.trace.Converged:
			t.Converged, t.Reason = false, m.trace.Reason
		case t.Converged && m.trace.Reason == vi.RoundOff.String():
			t.Reason = m.trace.Reason
		}
	}
	m.trace = t
	m.posteriors = append(m.posteriors, f.Posterior)
	m.limits = append(m.limits, f.GPLimit)
	m.bounds = append(m.bounds, f.Record.Bound())
}

// Bound returns the lower bound on the log evidence in nats: in regression of the
// target as the fit saw it, standardised unless RawTargets; with several classes
// the sum over them.
func (m *processes) Bound() float64 { return total(m.bounds) }

// KernelWeights returns E[1/γ_p] of the views and its standard deviation, in the
// order of the views: the variance that a view adds to the function for each unit
// of its kernel. In regression it is relative to the variance of the standardised
// target, for labels to that of the noise. With several classes it is the mean
// over them. Under [ARD] there is no deviation. Compare weights only between
// kernels of one scale.
func (m *processes) KernelWeights() []KernelWeight {
	if len(m.posteriors) == 1 {
		return m.weights(0)
	}
	P, L := len(m.design.views), float64(len(m.posteriors))
	mean, sd := make([]float64, P), make([]float64, P)
	for o := range m.posteriors {
		for i, w := range m.weights(o) {
			mean[i] += w.Mean
			sd[i] += float64(w.SD * w.SD)
		}
	}
	for i := range mean {
		mean[i] /= L
		sd[i] = math.Sqrt(sd[i]) / L
	}
	return m.kernelWeights(mean, sd)
}

// Outputs tells what was learned of each function.
func (m *processes) Outputs() []Output {
	out := make([]Output, len(m.posteriors))
	for o := range out {
		out[o].Prior = m.prior(o)
		if len(out) > 1 {
			out[o].Weights = m.weights(o)
		}
	}
	return out
}

// weights returns the posterior of 1/γ_p of one function.
func (m *processes) weights(o int) []KernelWeight {
	return m.kernelWeights(m.posteriors[o].KernelWeights())
}

// prior says in words what was learned about the scales of one function.
func (m *processes) prior(o int) string {
	s := m.posteriors[o].State()
	switch {
	case s.Family == ARD:
		return "ARD: each kernel's weight is set by maximum likelihood, and those not needed go to zero"
	case m.limits[o]:
		return fmt.Sprintf("%v: learned to the limit of a plain Gaussian process: the kernels matter alike", s.Family)
	}
	p := s.Prior
	// A function given γ is Gaussian with variance 1/γ.
	var tails string
	switch excess := 3 * p.VarInv() / (p.MeanInv() * p.MeanInv()); {
	case p.Chi == 0:
		tails = fmt.Sprintf("%.3g degrees of freedom, ", 2*p.Omega)
		switch {
		case p.Omega <= 1:
			tails += "tails so heavy that the variance is infinite"
		case p.Omega <= 2:
			tails += "very heavy tails"
		case p.Omega <= 15:
			tails += "heavy tails"
		default:
			tails += "nearly Gaussian"
		}
	case excess > 10:
		tails = fmt.Sprintf("very heavy tails (excess kurtosis %.3g)", excess)
	case excess > 1:
		tails = fmt.Sprintf("heavy tails (excess kurtosis %.3g)", excess)
	case excess > 0.1:
		tails = fmt.Sprintf("light tails (excess kurtosis %.3g)", excess)
	default:
		tails = "nearly Gaussian"
	}
	spread := "few kernels carry the weight"
	factor := math.Exp(math.Sqrt(p.VarLog()))
	switch {
	case factor < 1.5:
		spread = "the kernels matter alike"
	case factor < 5:
		spread = "some kernels matter more than others"
	}
	return fmt.Sprintf("%v: %s; weights vary by a factor of about %.2g: %s", s.Family, tails, factor, spread)
}

// predict calls do with the predictions of the t samples of x from first on by
// function o, for block after block.
func (m *processes) predict(ctx context.Context, opt PredictOptions, x []Features, t int, do func(o, first int, p *mgp.Prediction)) error {
	return m.design.eachBlock(ctx, opt.Workers, predictWords, true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, _ int) error {
		for o, q := range m.posteriors {
			p, err := q.Predict(k, self, vi.PredictOptions{MeanOnly: opt.MeanOnly, Workers: opt.Workers})
			if err != nil {
				return err
			}
			do(o, first, p)
		}
		return nil
	})
}

// describe is a model's String.
func (m *processes) describe(what string) string {
	return fmt.Sprintf("%s on %d kernels (%d active) and %d samples, bound %.6g",
		what, len(m.design.views), countActive(m.KernelWeights()), m.design.d, m.Bound())
}

// summary describes the model line by line; name begins the line on a function.
func (m *processes) summary(headline string, name func(o int) string) string {
	var b strings.Builder
	fmt.Fprintln(&b, headline)
	b.WriteString(m.trace.outcome())
	for o := range m.posteriors {
		fmt.Fprintf(&b, "%s, %s", name(o), m.prior(o))
		if slices.Contains(m.trace.collapsed, o) {
			fmt.Fprint(&b, "; COLLAPSED: the function vanishes")
		}
		fmt.Fprintln(&b)
		b.WriteString(summarizeActive(m.weights(o)))
	}
	return b.String()
}
