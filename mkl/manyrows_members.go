package mkl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/stat"
)

// addLandmarks adds a member on landmarks, fitted to the first len(y) samples. It returns
// its plan and sums, to which further samples can be added.
func (a Auto) addLandmarks(r *manyRows, m *AutoModel, y []float64) (*Plan, *stat.Statistic, error) {
	const what = "landmarks"
	train := r.between(0, len(y))
	g := LandmarkGP{Fitting: r.stepFitting(2), Climb: a.Climb}
	kernels := len(r.views) * (2 + len(narrower))
	count := Landmarks{}.count(kernels)
	for count > leastLandmarks && landmarkSeconds(len(y), count*kernels) > (r.seconds-r.spent)/2 {
		count = int(0.8 * float64(count))
	}
	if count < (Landmarks{}).count(kernels) {
		g.Landmarks = &Landmarks{Count: count}
	}
	plan, err := g.Begin(r.ctx, train, y)
	if err != nil {
		return nil, nil, r.leaveOut(what, err)
	}
	plan, sums, beyond, err := plan.sumAll(r.ctx, r.Workers, distinctInputs(train), y)
	if err != nil {
		return nil, nil, r.leaveOut(what, err)
	}
	r.remarks = append(r.remarks, r.rangeRemarks(beyond)...)
	member, err := plan.Fit(r.ctx, PlanFitting{g.Fitting, g.Climb}, sums)
	if member == nil {
		return nil, nil, r.leaveOut(what, err)
	}
	r.spent += landmarkSeconds(r.views[0].X.Rows, plan.width())
	m.landmarks = member
	m.names = append(m.names, fmt.Sprintf("%d landmarks", member.Samples()))
	m.add(member)
	return plan, sums, nil
}

// rangeRemarks returns a remark on the sample that was beyond the range of the landmarks' sums; nil without one.
func (m *manyRows) rangeRemarks(beyond *rangeError) []string {
	if beyond == nil {
		return nil
	}
	given := *beyond
	given.sample = m.order[given.sample]
	return []string{fmt.Sprintf("landmarks: %s, so that the sums have wider units", given.place())}
}

// refitLandmarks fits the member on landmarks to all samples.
func (a Auto) refitLandmarks(r *manyRows, m *AutoModel, plan *Plan, sums *stat.Statistic, y []float64) error {
	n := len(y)
	settings := PlanFitting{r.stepFitting(2), a.Climb}
	rest, err := plan.sum(r.ctx, r.Workers, distinctInputs(r.between(n-r.held, n)), y[n-r.held:])
	var member *LandmarkGPModel
	if _, beyond := errors.AsType[*rangeError](err); beyond { // the first samples determined the units
		var far *rangeError
		if plan, sums, far, err = plan.sumAll(r.ctx, r.Workers, distinctInputs(r.views), y); err != nil {
			return err
		}
		m.remarks = append(m.remarks, r.rangeRemarks(far)...)
		member, err = plan.Fit(r.ctx, settings, sums)
	} else if err != nil {
		return err
	} else {
		member, err = m.landmarks.Refit(r.ctx, settings, sums, rest)
	}
	if member == nil {
		return err
	}
	i := slices.Index(m.models, Model(m.landmarks))
	m.models[i], m.landmarks = member, member
	return err
}

// addLocal adds the local member, unless a view has a kernel: the local member supports none.
func (a Auto) addLocal(r *manyRows, m *AutoModel, y []float64) error {
	const what = "nearest samples"
	if r.kernelsGiven() {
		return nil
	}
	member, err := r.localFit(r.stepFitting(4), 4).numbers(r.ctx, r.views, y)
	if err != nil {
		return r.leaveOut(what, err)
	}
	m.local = member
	m.names = append(m.names, what)
	m.add(member)
	return nil
}
