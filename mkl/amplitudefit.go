package mkl

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// amplitudeFit is a member whose amplitudes borrow strength: see docs/theory/views.md.
type amplitudeFit struct {
	name string
	*amplitude.Fit
}

// fitAmplitudes fits the members to the rows of y, which have mean 0 and variance 1. For several views there are two members:
// in one the amplitudes are tied over the views, in the other each view has a half-Cauchy factor. The table describes the
// views. Both members leave out a view that by itself more probably has no information than some; if every view is like
// that, all stay. For one view there is the first member only.
func (a *amplitudeKernels) fitAmplitudes(ctx context.Context, f *fitting, y la.Matrix[float64], indicators bool) (out []amplitudeFit, table []ViewShare, err error) {
	p := amplitude.Problem{Kernels: a.packed, Layout: a.layout, Y: y, Indicators: indicators, Workers: f.Workers}
	var include, probability []float64
	if len(a.names) > 1 {
		if probability, err = p.Screen(ctx); err != nil {
			return nil, nil, stopped(ctx, err)
		}
		include = informative(probability)
	}
	members := amplitudeMembers
	if len(a.names) == 1 {
		members = oneViewMember
	}
	for _, m := range members {
		fit, err := p.Fit(ctx, m.structure, amplitude.Search{Include: include, Steps: cmp.Or(f.MaxSweeps, mostAmplitudeSteps)})
		if err != nil {
			return nil, nil, stopped(ctx, err)
		}
		out = append(out, amplitudeFit{m.name, fit})
	}
	if probability != nil {
		table, err = a.viewTable(ctx, p, out, probability, f.Seed)
	}
	return out, table, err
}

// mostAmplitudeSteps is the most steps of the search for amplitudes.
const mostAmplitudeSteps = 500

// stopped returns the error of a search: with the cause of the context's end, if the context has ended.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("mkl: stopped: %w", context.Cause(ctx))
	}
	return fmt.Errorf("mkl: %w", err)
}

type amplitudeMember struct {
	name      string
	structure amplitude.Structure
}

// The members for several views, and the member for one view.
var (
	amplitudeMembers = []amplitudeMember{{"kernels alike in all views", amplitude.Tied}, {"few views", amplitude.Sparse}}
	oneViewMember    = []amplitudeMember{{"broad kernels, least squares", amplitude.Tied}}
)

// informative returns, for each view, 1 if its probability of having information is above one half, else 0. It returns nil if
// every view, or no view, is above.
func informative(probability []float64) []float64 {
	include := make([]float64, len(probability))
	for v, q := range probability {
		if q >= 0.5 {
			include[v] = 1
		}
	}
	if !slices.Contains(include, 0) || !slices.Contains(include, 1) {
		return nil
	}
	return include
}

// amplitudeTrace is the trace of a search. Its one bound is the log evidence at the end.
func amplitudeTrace(f *amplitude.Fit) Trace {
	reason := vi.Converged
	if !f.Converged {
		reason = vi.MaxSweeps
	}
	return newTrace(vi.Record{Trace: []float64{f.LogEvidence}, Reason: reason}, nil)
}

// orderedKernels are some of the held kernels, in another order.
type orderedKernels struct {
	gram.Held
	of []int
}

// Dims implements [vi.Kernels].
func (k orderedKernels) Dims() (P, D, N int) {
	_, D, N = k.Held.Dims()
	return len(k.of), D, N
}

// Columns implements [vi.Kernels].
func (k orderedKernels) Columns(m, first int, dst la.Matrix[float64]) {
	k.Held.Columns(k.of[m], first, dst)
}
