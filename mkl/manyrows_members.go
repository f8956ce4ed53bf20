package mkl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bmkl/bmkl/stat"
)

// addLandmarks adds a member on landmarks, fitted to the first len(y) samples. It returns
// its plan and sums, to which further samples can be added.
func (a Auto) addLandmarks(r *manyRows, m *AutoModel, y []float64) (*Plan, *stat.Statistic, error) {
	const what = "landmarks"
	train := r.between(0, len(y))
	g := LandmarkGP{Fitting: r.stepFitting(1), Climb: a.Climb, ordered: true}
	kernels := len(r.views) * (2 + len(narrower))
	count := Landmarks{}.count(kernels)
	for count > leastLandmarks && landmarkSeconds(len(y), count*kernels) > (r.seconds-r.spent-r.exact)/2 {
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
	settings := PlanFitting{r.stepFitting(1), a.Climb}
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

// addLocal adds the local member, unless [manyRows.kernelsGiven]: the local member supports no kernels. It leaves time for exact members on half of
// the rows.
func (a Auto) addLocal(r *manyRows, j *judge, m *AutoModel, y []float64, rows int) error {
	if r.kernelsGiven() {
		return nil
	}
	others, err := j.members(m.models)
	if err != nil {
		return err
	}
	f := r.localFit(r.stepFitting(3), 3)
	// Where the noise is small, solutions for all samples take long and are worth more than exact members on many rows.
	f.seconds = max(1, f.seconds-r.exactForecast(rows/2)-r.viewsForecast(rows/2))
	f.promise = func(mean, variance []float64) bool { return others.and(j.of(mean, variance)).promise(1) }
	member, err := f.numbers(r.ctx, r.views, y)
	if err != nil {
		return r.leaveOut(nearestSamples, err)
	}
	r.spent += member.posterior.Spent
	m.local = member
	m.names = append(m.names, nearestSamples)
	m.add(member)
	return nil
}

// addExact adds the exact members, before the others, fitted to the first rows samples, or to fewer if no time is left. If the fit to all
// rows takes long, members fitted to half of the rows must show that they have weight beside the other members.
func (a Auto) addExact(r *manyRows, j *judge, m *AutoModel, y []float64, rows int) error {
	rows = r.exactBeside(rows)
	others, err := j.members(m.models)
	if err != nil {
		return err
	}
	if r.triesExact(rows) {
		few, err := a.fitExact(r, y, rows/2)
		if few == nil {
			return r.leaveOut("exact members", err)
		}
		all := others
		for _, model := range few.models {
			g, err := j.member(model)
			if err != nil {
				return err
			}
			all = all.and(g)
		}
		if !all.promise(len(few.models)) {
			m.dropped = append(slices.Concat(few.dropped, few.names), m.dropped...)
			if m.views, m.groups = few.views, few.groups; m.views != nil {
				m.remarks = append(m.remarks, fmt.Sprintf("the members that the table of the views describes were fitted to %d samples", few.Samples()))
			}
			return nil
		}
	}
	exact, err := a.fitExact(r, y, rows)
	if exact == nil {
		return r.leaveOut("exact members", err)
	}
	m.views, m.groups = exact.views, exact.groups
	m.members, m.left = exact.members, exact.left
	m.dropped, m.remarks = append(exact.dropped, m.dropped...), append(exact.remarks, m.remarks...)
	m.names, m.models = slices.Concat(exact.names, m.names), slices.Concat(exact.models, m.models)
	return nil
}

// triesExact reports whether exact members on so many samples are first tried on half of them.
func (m *manyRows) triesExact(rows int) bool {
	const long = 10 // seconds
	return rows >= 2*leastExactRows && exactPoolSeconds(rows, m.held, featuresOf(m.views)) > long
}

// exactForecast forecasts the exact members on so many samples, with the trial on half of them.
func (m *manyRows) exactForecast(rows int) float64 {
	d := featuresOf(m.views)
	s := exactPoolSeconds(rows, m.held, d)
	if m.triesExact(rows) {
		s += exactPoolSeconds(rows/2, m.held, d)
	}
	return s
}

// exactWithin returns how many of the rows the exact members can use if they may take the given seconds.
func (m *manyRows) exactWithin(rows int, seconds float64) int {
	for rows > leastExactRows && m.exactForecast(rows) > seconds {
		rows = fewerRows(rows)
	}
	return rows
}

// exactBeside returns how many of the rows the exact members can use in the time that the other members leave, with the table of several views.
func (m *manyRows) exactBeside(rows int) int {
	for rows > leastExactRows && m.exactForecast(rows)+m.viewsForecast(rows) > m.seconds-m.spent {
		rows = fewerRows(rows)
	}
	return rows
}

// fewerRows returns the next smaller number of rows of exact members.
func fewerRows(rows int) int { return max(leastExactRows, int(math.Floor(0.85*float64(rows)))) }

// viewsForecast forecasts the members of several views on so many samples and the table of the views. It includes the trial.
func (m *manyRows) viewsForecast(rows int) float64 {
	s := viewsSeconds(m.views, rows, 1)
	if m.triesExact(rows) {
		s += viewsSeconds(m.views, rows/2, 1)
	}
	return s
}

// fitExact fits the exact members to the first rows samples.
func (a Auto) fitExact(r *manyRows, y []float64, rows int) (*AutoModel, error) {
	a.part = true
	a.MaxSamples, a.Progress = rows, r.report(4)
	// Other kinds of noise may take longer than all other members together.
	a.Time = time.Duration(float64(len(autoMembers)+1) * exactSeconds(rows, 1, featuresOf(r.views)) * float64(time.Second))
	m, err := a.Fit(r.ctx, r.between(0, rows), y[:rows])
	if err != nil {
		return nil, err
	}
	r.spent += exactPoolSeconds(rows, r.held, featuresOf(r.views)) + viewsSeconds(r.views, rows, 1)
	for i := range m.names {
		m.names[i] += fmt.Sprintf(" (%d samples)", rows)
	}
	for i := range m.dropped {
		m.dropped[i] += fmt.Sprintf(" (%d samples)", rows)
	}
	return m, nil
}
