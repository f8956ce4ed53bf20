package mkl

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// amplitudeFit is a member whose amplitudes borrow strength: see docs/theory/views.md.
type amplitudeFit struct {
	name string
	*amplitude.Fit
}

// fitAmplitudes fits the members to targets. Of several views the members are one with amplitudes that are tied over the views and one with
// a half-Cauchy factor for each view; the table describes the views and the groups of views. The first is without the views that [viewProbabilities.kept] leaves
// out, and the second has the probabilities as multipliers of its amplitudes. One view has the first member. With many
// samples, the probabilities and the table are learned from some of them.
func (a *amplitudeKernels) fitAmplitudes(ctx context.Context, f *fitting, t amplitudeTargets) (out []amplitudeFit, table viewTable, err error) {
	groups, err := groupsOf(f.groups, vec.Picked(a.names, a.told))
	if err != nil {
		return nil, table, err
	}
	for _, g := range groups {
		for k, v := range g.views {
			g.views[k] = a.told[v]
		}
	}
	p := a.problem(f, &t)
	search := amplitude.Search{Steps: cmp.Or(f.MaxSweeps, mostAmplitudeSteps)}
	if len(a.names) == 1 {
		fit, err := p.Fit(ctx, oneViewMember.structure, search)
		if err != nil {
			return nil, table, stopped(ctx, err)
		}
		return []amplitudeFit{{oneViewMember.name, fit}}, table, nil
	}
	few, of, alone := p, t, p // the problem that the table describes, and of each view by itself
	if t.alone != nil {
		alone = a.problem(f, t.alone)
	}
	rows := a.judged(t)
	if rows != nil {
		if few, err = p.Part(rows); err != nil {
			return nil, table, stopped(ctx, err)
		}
		if alone, err = alone.Part(rows); err != nil {
			return nil, table, stopped(ctx, err)
		}
		of = t.part(few.Y, rows)
	}
	if of.correction != nil {
		if few.Correction, err = of.correction(ctx, few, of, rows); err != nil {
			return nil, table, err
		}
	}
	q, err := judgeViews(ctx, few, alone, of.class, f.Seed)
	if err != nil {
		return nil, table, stopped(ctx, err)
	}
	for i, m := range amplitudeMembers {
		search.Include = [][]float64{q.kept(), q.either()}[i]
		fit, err := p.Fit(ctx, m.structure, search)
		if err != nil {
			return nil, table, stopped(ctx, err)
		}
		out = append(out, amplitudeFit{m.name, fit})
	}
	described := out
	if rows != nil {
		described = nil
		for _, member := range out {
			fit, err := few.FitWith(ctx, member.Fit, nil, 1, changedSearch)
			if err != nil {
				return nil, table, stopped(ctx, err)
			}
			described = append(described, amplitudeFit{member.name, fit})
		}
	}
	table, err = a.viewTable(ctx, few, described, q, of, groups)
	table.samples = len(rows)
	return out, table, err
}

// problem returns the problem of fitting amplitudes to targets.
func (a *amplitudeKernels) problem(f *fitting, t *amplitudeTargets) amplitude.Problem {
	return amplitude.Problem{
		Kernels: a.packed, Layout: a.layout, Y: t.y, Indicators: t.classes > 2, NoiseShare: t.noiseShare, OwnNoise: t.ownNoise, KnownNoise: t.knownNoise, Workers: f.Workers, Work: a.counted,
	}
}

// judged returns the samples from which the probabilities and the table of the views are learned; nil for all of them.
func (a *amplitudeKernels) judged(t amplitudeTargets) []int {
	kernels, n := a.packed.Dims()
	most := judgedSamples(a.work, n, kernels, a.layout.Views(), t.y.Rows)
	if most == n || a.some == nil {
		return nil
	}
	return a.some(t.class, most)
}

// mostAmplitudeSteps is the most steps of the search for amplitudes.
const mostAmplitudeSteps = 500

// leftOutRemark says why a pool has no members with amplitudes that borrow strength.
func leftOutRemark(err error) string { return fmt.Sprintf("least squares: left out (%v)", err) }

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
	oneViewMember    = amplitudeMember{"broad kernels, least squares", amplitude.Tied}
)

// amplitudeTrace is the trace of a search, which has one bound.
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
