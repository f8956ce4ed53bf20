package mkl

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// manyRows is a fit of a pool to more than DefaultExactSamples samples. The samples are ordered by their content, and the
// last ones are held out to weight the members.
type manyRows struct {
	*fitting
	ctx     context.Context
	views   []View // all samples, in the order of their content
	order   []int  // of the original samples
	held    int
	seconds float64 // the limit of the forecast
	spent   float64
	exact   float64 // the forecast of the exact members, which come last
	steps   int     // that progress reports: the kinds of members
	remarks []string
	shift   *shift // of the samples held out, nil without effects of levels

	levelLimit int // of sweeps or steps of a fit of effects of levels; 0 means the usual one
}

// heldOut returns the number of held-out samples that weight the members of a pool of n samples.
func heldOut(n int) int { return min(4000, n/5) }

// newManyRows checks the views of samples and orders them, given their targets, which may be names of classes.
func newManyRows(ctx context.Context, f *fitting, views []View, targets []float64, names bool, limit time.Duration) (*manyRows, error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	if limit < 0 {
		return nil, fmt.Errorf("mkl: Time is %v: it must not be negative", limit)
	}
	n := len(targets)
	views, _, _, err := checkPoolViews(views, n, false)
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = DefaultTime(n)
	}
	m := &manyRows{fitting: f, ctx: ctx, held: heldOut(n), seconds: limit.Seconds(), spent: orderSeconds(n, featuresOf(views))}
	m.order = rowOrder(rowColumns(views), [][]float64{targets}, names, f.Seed)
	m.views = takeRows(views, m.order)
	return m, nil
}

// rareFirst returns the targets in an order in which the first rows targets are not all equal. If they are all equal, it
// moves half of the samples with other targets, at most rows/2, to the front.
func (m *manyRows) rareFirst(y []float64, rows int) []float64 {
	if othersThanFirst(y[:rows]) != nil {
		return y
	}
	rare := othersThanFirst(y)
	at := slices.Clone(rare[:min((len(rare)+1)/2, rows/2)])
	front := len(at)
	for i := range y {
		if _, found := slices.BinarySearch(at[:front], i); !found {
			at = append(at, i)
		}
	}
	m.order, m.views = vec.Picked(m.order, at), takeRows(m.views, at)
	return vec.Picked(y, at)
}

// between returns the views of the samples lo ≤ i < hi.
func (m *manyRows) between(lo, hi int) []View { return takeRows(m.views, vec.UpTo(hi)[lo:]) }

// allowed returns the bytes that the fit may take.
func (m *manyRows) allowed() int64 {
	if m.MemoryLimit > 0 {
		return m.MemoryLimit
	}
	return memoryLimit()
}

// leaveOut records that a member could not be fitted. It returns an error only if the context has ended.
func (m *manyRows) leaveOut(what string, err error) error {
	if m.ctx.Err() != nil {
		return err
	}
	m.remarks = append(m.remarks, fmt.Sprintf("%s: left out (%v)", what, err))
	return nil
}

// report returns a function that reports the progress of a step.
func (m *manyRows) report(step int) func(Progress) {
	if m.Progress == nil {
		return nil
	}
	return func(p Progress) {
		p.Member, p.Members = step, m.steps
		m.Progress(p)
	}
}

// localFit returns the settings of the local member, which may use the remaining seconds.
func (m *manyRows) localFit(settings Fitting, step int) *localFit {
	f := &localFit{fitting: &fitting{Fitting: settings}, held: m.held, seconds: max(1, m.seconds-m.spent), limit: m.allowed() / 2}
	f.progress = m.stepSeconds(step)
	return f
}

// stepSeconds returns a function that reports the progress of a step in seconds, nil if nothing is to be reported.
func (m *manyRows) stepSeconds(step int) func(done, all float64) {
	report := m.report(step)
	if report == nil {
		return nil
	}
	return func(done, all float64) {
		report(Progress{Start: 1, Starts: 1, Sweep: int(done), MaxSweeps: int(all), Bound: math.NaN(), Rise: math.NaN(), Left: int(all - done)})
	}
}

// kernelsGiven reports whether members that see features alone cannot learn from the views: a view has a kernel, other than the one of
// categories with all its defaults, or no view is without a kernel. Such members leave out columns of categories.
func (m *manyRows) kernelsGiven() bool {
	return !slices.ContainsFunc(m.views, isOpen) || slices.ContainsFunc(m.views, func(v View) bool { return !isOpen(v) && !isPlainCategorical(v) })
}

// isOpen reports whether a view has no kernel.
func isOpen(v View) bool { return v.Kernel == nil }

// fitMany fits the pool to more samples than its exact members can use. They are fitted to a part of the samples.
func (a Auto) fitMany(ctx context.Context, views []View, y []float64) (*AutoModel, error) {
	n := len(y)
	r, err := newManyRows(ctx, a.fitting(), views, y, false, a.Time)
	if err != nil {
		return nil, err
	}
	if err := r.check(0); err != nil { // members that need too much memory are left out
		return nil, err
	}
	r.steps = 4
	y = vec.Picked(y, r.order)
	train := n - r.held
	scale := ownScale
	if !a.OwnScale {
		if scale, err = r.chooseScale(a.Climb, y); err != nil {
			return nil, err
		}
	}
	largest := largestTarget(scale, y)
	y = scale.all(y)
	need := func(rows int) int64 { return a.exactMemory(FitSize{Kernels: len(views), Outputs: 1}, rows) }
	rows := exactRows(train, len(autoMembers)+1, 1, featuresOf(views), math.Inf(1), need, r.allowed()/2) // what memory allows
	rows = r.exactWithin(rows, r.seconds/3)
	y = r.rareFirst(y, rows)
	r.exact = r.exactForecast(rows)
	m := &AutoModel{}
	m.onLandmarks, m.of, m.rule, m.notes = true, n, weighed, maps.Clone(a.Notes)
	m.scale, m.largest = scale, largest
	j := newJudge(r, y)
	if y, err = a.addLevels(r, m, y); err != nil {
		return nil, err
	}
	j.see()
	if allOpen(r.views) {
		m.edges = edgesOf(distinctInputs(r.views))
	}

	plan, sums, err := a.addLandmarks(r, m, y[:train])
	if err := r.ended(err); err != nil {
		return nil, err
	}
	if err := a.addTrees(r, m, y); err != nil {
		return nil, err
	}
	if err := a.addLocal(r, j, m, y, rows); err != nil {
		return nil, err
	}
	if err := a.addExact(r, j, m, y, rows); err != nil {
		return nil, err
	}
	if len(m.models) == 0 {
		return nil, fmt.Errorf("mkl: no member could be fitted: %s", listed(r.remarks))
	}
	m.remarks = append(m.remarks, r.remarks...)
	if err := m.weigh(r, j); err != nil {
		return nil, err
	}
	m.remarks = append(m.remarks, fmt.Sprintf("the forecast of this fit was %.1f s of one core", r.spent))
	if m.landmarks != nil {
		return m, a.refitLandmarks(r, m, plan, sums, y)
	}
	return m, nil
}

// ended returns the error of a context that has ended.
func (m *manyRows) ended(err error) error {
	if err != nil && m.ctx.Err() != nil {
		return err
	}
	return nil
}

// stepFitting returns the settings of a step's member.
func (m *manyRows) stepFitting(step int) Fitting {
	f := m.Fitting
	f.Notes, f.Progress = nil, m.report(step)
	return f
}

// weigh sets the weights of the members from their predictions of the held-out samples, and drops
// members of small weight.
func (m *AutoModel) weigh(r *manyRows, j *judge) error {
	all, err := j.members(m.models)
	if err != nil {
		return err
	}
	weights := all.weights()
	m.middle, m.widening = j.middle, wideningOf(j.y, j.sd, weights, all.errors, all.variances)
	kept := m.keepWeighed(weights)
	m.members = keptOf[*MultiGPModel](kept)
	m.remarkTable(len(m.members))
	m.landmarks, m.trees, m.local = oneOf[*LandmarkGPModel](kept), oneOf[*treeModel](kept), oneOf[*localModel](kept)
	return nil
}

// remarkTable says which members the table of views describes, if the pool has others than the exact ones, which come first.
func (p *pool) remarkTable(exact int) {
	if p.views == nil || exact == len(p.models) {
		return
	}
	others := vec.Total(p.weights[exact:])
	p.remarks = append(p.remarks, fmt.Sprintf("the table of the views is of the exact Gaussian processes; other members have %.0f %% of the weight", 100*others))
}

// wideningOf returns the widening of the mixture of the members whose weights are not small, by targets held out and the members' errors
// and variances there, in units of the targets' standard deviation and variance.
func wideningOf(held []float64, sd float64, weights []float64, errors, variances [][]float64) widening {
	mean, ratio := make([]float64, len(held)), make([]float64, len(held))
	for i, y := range held {
		var w float64 // of the members so far
		e, v := []float64{0}, []float64{0}
		for k, u := range weights {
			if u >= smallShare(len(weights)) {
				w += u
				mix(e, v, u/w, errors[k][i:i+1], variances[k][i:i+1])
			}
		}
		mean[i], ratio[i] = y+float64(sd*e[0]), float64(e[0]*e[0])/v[0]
	}
	return fitWidening(mean, ratio)
}

// keepWeighed gives the members their weights and drops members of small weight.
func (p *pool) keepWeighed(weights []float64) []Model {
	p.weights = weights
	least := smallShare(len(p.weights))
	small := func(w float64) bool { return w < least }
	kept := keepMembers(p, p.models, func(i int) bool { return !small(p.weights[i]) })
	p.models, p.trace = nil, Trace{}
	for _, m := range kept { // the pool keeps their traces only
		p.add(m)
	}
	p.weights = slices.DeleteFunc(p.weights, small)
	sum := vec.Total(p.weights)
	for i := range p.weights {
		p.weights[i] /= sum
	}
	return p.models
}

// keptOf returns the models of type M.
func keptOf[M Model](all []Model) (kept []M) {
	for _, m := range all {
		if k, ok := m.(M); ok {
			kept = append(kept, k)
		}
	}
	return kept
}

// oneOf returns the first model of type M, or nil.
func oneOf[M Model](all []Model) (one M) {
	for _, m := range keptOf[M](all) {
		return m
	}
	return one
}
