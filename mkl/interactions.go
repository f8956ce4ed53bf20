package mkl

import (
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// interactionsMember is the member of a pool of one table whose kernels are products of functions of single features, for functions
// such as x₁x₂x₃x₄ or sin(x₁)·x₂². The member learns no widths, so that its leave-one-out predictions are unbiased. Where it is left
// out, the pool predicts as a pool that never fitted it: see docs/lab/choosing.md.
const interactionsMember = "products of features"

const (
	mostInteractions = 4  // features in a product
	mostInteracting  = 20 // features: with more, measurements found no gain on real data
)

// interactionWidths are the widths of the kernels, in standard deviations of a feature.
var interactionWidths = []float64{1, 3}

// leastBeside is the least weight of the member beside the pool of all others. Leave-one-out predictions of a pool that learns widths
// are somewhat too good, so that a member with that weight predicts at least as well.
const leastBeside = 0.5

// kernelsOfInteractions has a kernel for products of one feature, two features and so on.
const kernelsOfInteractions = kernelsOfRanks << 1

// interactionKernels returns the kernels of products of up to mostInteractions of d features, or none.
func interactionKernels(d int) (all []kernel.Kernel) {
	if d < 2 || d > mostInteracting {
		return nil
	}
	for _, w := range interactionWidths {
		for o := 1; o <= min(d, mostInteractions); o++ {
			all = append(all, kernel.Interaction{Order: o, Width: w})
		}
	}
	return all
}

// interactions returns the views of the member with products of features, or nil if the pool has no such member. The member is for one
// view without a kernel, and for more than mostDrawn samples: with fewer, members average over draws, and measurements found no gain.
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

// interactionsInTime returns the views of the member with products of features and the settings of its fit. each is the forecast time
// of one member in seconds. It returns no views if there is no such member, or if it would exceed the limit in seconds.
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
	return views, f.ofMember(members, members), nil
}

// addInteractions fits the member with products of features and adds it if its weight beside the pool of all others is at least
// leastBeside. It returns the densities of all members of the pool.
func (a Auto) addInteractions(ctx context.Context, m *AutoModel, plan *poolPlan, y []float64, density [][]float64, each float64) ([][]float64, error) {
	if a.part {
		return density, nil
	}
	views, settings, err := m.interactionsInTime(plan, a.fitting(), a.Time.Seconds(), each)
	if err != nil || views == nil {
		return density, err
	}
	member, err := a.process(settings).Fit(ctx, views, y)
	if err != nil {
		return density, m.without(ctx, interactionsMember, err)
	}
	own := member.leftOutDensity(y)
	if weightBeside(mixedDensity(density, stack(density, a.Seed)), own, a.Seed) < leastBeside {
		m.dropped = append(m.dropped, interactionsMember)
		return density, nil
	}
	m.names, m.members = append(m.names, interactionsMember), append(m.members, member)
	m.add(member)
	return append(slices.Clone(density), own), nil
}

// fitInteractions fits the member with products of features, with a sharpness of its own. It returns nil if the pool has no such member.
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
	member, err := a.process(plan, settings, classes).Fit(ctx, views, labels)
	if err != nil {
		return nil, m.without(ctx, interactionsMember, err)
	}
	return member, nil
}

// without adds the remark that a member is left out, because its fit failed with err. If the context has ended it returns err instead.
func (p *pool) without(ctx context.Context, member string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	p.remarks = append(p.remarks, fmt.Sprintf("%s: left out (%v)", member, err))
	return nil
}
