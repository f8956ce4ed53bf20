package mkl

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// A pool of one table has a member whose kernels are products of functions of single features, for functions such as
// x₁x₂x₃x₄ or sin(x₁)·x₂². It learns no widths, so that its leave-one-out predictions are unbiased. Where the mixture does not call
// for it the pool is as it would be without: see docs/lab/choosing.md.
const interactionsMember = "products of features"

const (
	mostInteractions = 4  // features in a product
	mostInteracting  = 20 // features: a kernel costs an exponential for each of them
)

// kernelsOfInteractions has a kernel for products of one feature, two features and so on.
const kernelsOfInteractions KernelSet = 1 << 18

// interactionKernels returns the kernels of products of up to mostInteractions of d features, or none.
func interactionKernels(d int) (all []kernel.Kernel) {
	if d < 2 || d > mostInteracting {
		return nil
	}
	for o := 1; o <= min(d, mostInteractions); o++ {
		all = append(all, kernel.Interaction{Order: o, Width: 1})
	}
	return all
}

// interactions returns the views of the member with products of features, or nil if the pool has none. The member is for one
// view without a kernel and for samples that are too many for an average over draws, which measurements found not to gain.
func (p *poolPlan) interactions() ([]View, error) {
	if len(p.rows) <= mostDrawn || len(p.views) != 1 || !allOpen(p.views) {
		return nil, nil
	}
	views, _, err := FillViews(kernelsOfInteractions, p.views)
	if err != nil || !slices.ContainsFunc(views, func(v View) bool { _, ok := v.Kernel.(kernel.Interaction); return ok }) {
		return nil, err
	}
	return views, nil
}

// interactionsInTime returns the views of the member with products of features and the settings of its fit, after so many other
// members that take each seconds. It returns no views if there is no such member or no time for it.
func (p *pool) interactionsInTime(plan *poolPlan, f *fitting, limit, each float64) ([]View, Fitting, error) {
	views, err := plan.interactions()
	if err != nil || views == nil {
		return nil, Fitting{}, err
	}
	members := len(p.models) + 1
	if limit > 0 && float64(each*float64(members)) > limit {
		p.left = append(p.left, interactionsMember)
		return nil, Fitting{}, nil
	}
	settings := f.Fitting
	settings.Notes = nil
	if f.Progress != nil {
		settings.Progress = func(q Progress) {
			q.Member, q.Members = members, members
			f.Progress(q)
		}
	}
	return views, settings, nil
}

// addInteractions fits the member with products of features and adds it if its weight in the mixture is at least an equal
// share. It appends the member's densities to density and returns it.
func (a Auto) addInteractions(ctx context.Context, m *AutoModel, plan *poolPlan, y []float64, density [][]float64, each float64) ([][]float64, error) {
	if a.part {
		return density, nil
	}
	views, settings, err := m.interactionsInTime(plan, a.fitting(), a.Time.Seconds(), each)
	if err != nil || views == nil {
		return density, err
	}
	member, err := MultiGP{Fitting: settings, Climb: a.Climb, Weights: a.Weights, KnownNoise: a.KnownNoise, hurried: true}.Fit(ctx, views, y)
	if err != nil {
		return density, m.withoutInteractions(ctx, err)
	}
	with := append(slices.Clone(density), member.leftOutDensity(y))
	if w := stack(with, a.Seed); w[len(w)-1] < 1/float64(len(w)) {
		m.dropped = append(m.dropped, interactionsMember)
		return density, nil
	}
	m.names, m.members = append(m.names, interactionsMember), append(m.members, member)
	m.add(member)
	return with, nil
}

// fitInteractions fits the member with products of features, or returns nil if the pool has none. Its probabilities have a
// sharpness of its own.
func (a AutoClassifier[T]) fitInteractions(
	ctx context.Context, m *AutoClassifierModel[T], plan *poolPlan, labels, classes []T, each float64,
) (*MultiGPClassifierModel[T], error) {
	if a.part || len(m.members) == 0 || m.members[0].leaveOneOut == nil {
		return nil, nil
	}
	views, settings, err := m.interactionsInTime(plan, a.fitting(), a.Time.Seconds(), each)
	if err != nil || views == nil {
		return nil, err
	}
	member, err := MultiGPClassifier[T]{Fitting: settings, Climb: a.Climb, Classes: classes, hurried: true}.Fit(ctx, views, labels)
	if err != nil {
		return nil, m.withoutInteractions(ctx, err)
	}
	return member, nil
}

// withoutInteractions says why the member with products of features is left out: its fit failed. If the context has ended it
// returns the error instead.
func (p *pool) withoutInteractions(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	p.remarks = append(p.remarks, fmt.Sprintf("%s: left out (%v)", interactionsMember, err))
	return nil
}
