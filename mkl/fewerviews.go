package mkl

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// viewsBut returns the views but those with the given names.
func viewsBut(views []View, names []string) []View {
	key := viewKey(views)
	return slices.DeleteFunc(slices.Clone(views), func(v View) bool { return slices.Contains(names, key(v)) })
}

// withoutViews returns the plan of members that are sums over views but the doubtful ones. Every matrix keeps its place among the inputs: one
// without a view gets a constant.
func (p *poolPlan) withoutViews(doubtful []string, gaps bool) (less poolPlan, err error) {
	less.rows = p.rows
	if err := less.plan(viewsBut(p.views, doubtful), gaps); err != nil {
		return less, err
	}
	for i := range less.members {
		less.members[i].views = allInputs(p.views, less.members[i].views)
	}
	return less, nil
}

// allInputs adds to some views, in the order of the inputs, a constant for each input of all views that they lack.
func allInputs(all, some []View) []View {
	some = slices.Clone(some)
	place := func(v View) int {
		return slices.IndexFunc(all, func(w View) bool { return v.Input == w.Input })
	}
	for i, v := range all {
		if place(v) == i && !slices.ContainsFunc(some, func(w View) bool { return v.Input == w.Input }) {
			some = append(some, View{Name: v.Name, X: v.X, Input: v.Input, Kernel: kernel.Constant{}, from: v.from})
		}
	}
	slices.SortStableFunc(some, func(a, b View) int { return place(a) - place(b) })
	return some
}

// mayLeaveOut reports whether a plan's members may be fitted without some views: no view has a kernel, and there is time for two members more,
// the least-squares members and the first member without these views.
func (p *poolPlan) mayLeaveOut(limit time.Duration, each float64) bool {
	inTime := limit <= 0 || float64(each*float64(len(p.members)+2)) <= limit.Seconds()
	return inTime && len(p.members) > 0 && countViews(p.views) > 1 && allOpen(p.views)
}

// leaveOut replaces the members of the plan by members without the doubtful views.
func (p *poolPlan) leaveOut(doubtful []string, less poolPlan) {
	p.members, p.leftOut = less.members, less.leftOut
	p.notes = append(p.notes, fmt.Sprintf("sums on default kernels leave out %s, which more probably say nothing: "+
		"without them, the first predicts the training samples, each from all others, better", strings.Join(doubtful, ", ")))
}

// chooseViews fits the first member of a plan with and without the doubtful views. It learns no widths, to which leave-one-out densities would
// be blind. If its density is larger without these views, all members of the plan are without them. The result is the first member of
// the plan. first is the member with all views, or nil. density returns the logarithms of a member's leave-one-out densities, or nil.
func chooseViews[M any](
	ctx context.Context, p *poolPlan, first *M, doubtful []string, gaps bool, fit func(views []View) (*M, error), density func(*M) []float64,
) (member *M, err error) {
	if first == nil {
		if first, err = fit(p.members[0].views); err != nil {
			return nil, err
		}
	}
	less, err := p.withoutViews(doubtful, gaps)
	if err != nil {
		return first, p.withAll(ctx, doubtful, err)
	}
	other, err := fit(less.members[0].views)
	if err != nil {
		return first, p.withAll(ctx, doubtful, err)
	}
	if with, without := density(first), density(other); with == nil || without == nil || vec.Total(without) <= vec.Total(with) {
		return first, nil
	}
	p.leaveOut(doubtful, less)
	return other, nil
}

// withAll notes that the members have all views, because the fit without the doubtful ones failed with err. If the context has ended it returns err
// instead.
func (p *poolPlan) withAll(ctx context.Context, doubtful []string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	p.notes = append(p.notes, fmt.Sprintf("sums on default kernels do not leave out %s: without them, the fit fails (%v)", strings.Join(doubtful, ", "), err))
	return nil
}

// trial returns the settings of the fit of a member that may be dropped.
func trial(f Fitting) Fitting {
	f.Notes, f.Progress, f.Journal = nil, nil, nil
	return f
}

// chooseViews is [chooseViews] for numbers. first is the first member, or nil; so is the result if no view is doubtful.
func (a Auto) chooseViews(ctx context.Context, p *poolPlan, first *MultiGPModel, doubtful []string, y []float64) (*MultiGPModel, error) {
	if len(doubtful) == 0 {
		return first, nil
	}
	return chooseViews(ctx, p, first, doubtful, a.MissingViews,
		func(views []View) (*MultiGPModel, error) { return a.process(trial(a.Fitting)).Fit(ctx, views, y) },
		func(m *MultiGPModel) []float64 { return m.leftOutDensity(y) })
}

// chooseViews is [chooseViews] for classes. The least-squares members, which say which views are doubtful, are fitted first. The result is nil if no
// view is doubtful.
func (a AutoClassifier[T]) chooseViews(ctx context.Context, p *poolPlan, l *leastSquares[T], labels []T, each float64) (*MultiGPClassifierModel[T], error) {
	if l.tried || !p.mayLeaveOut(a.Time, each) {
		return nil, nil
	}
	if err := l.fit(ctx); err != nil {
		return nil, err
	}
	doubtful := doubtful(l.table.views)
	if len(doubtful) == 0 {
		return nil, nil
	}
	return chooseViews(ctx, p, nil, doubtful, a.MissingViews,
		func(views []View) (*MultiGPClassifierModel[T], error) {
			return a.process(p, trial(a.Fitting), l.classes).Fit(ctx, views, labels)
		},
		func(m *MultiGPClassifierModel[T]) []float64 { return m.leftOutLogProbabilities(l.class) })
}
