package mkl

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// fitMany fits the pool to more samples than its exact members can use. The local member comes first, because it
// is the best if there are many classes.
func (a AutoClassifier[T]) fitMany(ctx context.Context, views []View, labels, classes []T, class []int) (*AutoClassifierModel[T], error) {
	n := len(labels)
	r, err := newManyRows(ctx, a.fitting(), views, vec.Floats(class), true, a.Time)
	if err != nil {
		return nil, err
	}
	if err := r.check(0); err != nil {
		return nil, err
	}
	labels, class = vec.Picked(labels, r.order), vec.Picked(class, r.order)
	r.steps = 4
	m := &AutoClassifierModel[T]{}
	m.onLandmarks, m.of, m.rule = true, n, weighed
	m.record = r.record(Trace{})
	if m.levels, err = r.addLevelOdds(class, len(classes)); err != nil {
		return nil, err
	}
	if err := a.addLocal(r, m, classes, class); err != nil {
		return nil, err
	}
	if err := a.addTrees(r, m, classes, class); err != nil {
		return nil, err
	}
	if err := a.addExact(r, m, classes, labels, class); err != nil {
		return nil, err
	}
	if err := a.addLandmarks(r, m, classes, labels[:n-r.held]); err != nil {
		return nil, err
	}
	if len(m.models) == 0 {
		return nil, fmt.Errorf("mkl: no member could be fitted: %s", listed(r.remarks))
	}
	m.remarks, m.notes = append(m.remarks, r.remarks...), maps.Clone(a.Notes)
	m.sortMembers()
	return m, m.weigh(r, class)
}

// addLocal adds the local member, unless [manyRows.kernelsGiven]: the local member supports no kernels.
func (a AutoClassifier[T]) addLocal(r *manyRows, m *AutoClassifierModel[T], classes []T, class []int) error {
	if r.kernelsGiven() {
		return nil
	}
	f := r.localFit(r.stepFitting(1), 1)
	f.seconds *= 0.75
	local, err := f.classes(r.ctx, r.views, class, len(classes))
	if err != nil {
		return r.leaveOut(nearestSamples, err)
	}
	r.spent += local.posterior.Spent
	m.local = &localClassModel[T]{localClasses: local, classes: classSet[T]{names: classes}}
	m.names = append(m.names, nearestSamples)
	m.add(m.local)
	return nil
}

// addExact adds the exact members, fitted to a part of the samples in which every class keeps its share.
func (a AutoClassifier[T]) addExact(r *manyRows, m *AutoClassifierModel[T], classes, labels []T, class []int) error {
	K := labelWork * functions(len(classes))
	need := func(rows int) int64 {
		return a.exactMemory(FitSize{Kernels: len(r.views), Outputs: len(classes)}, rows)
	}
	seconds := (r.seconds - r.spent) / 2
	train := len(labels) - r.held
	some := sample(train, exactRows(train, len(autoMembers), K, featuresOf(r.views), seconds, need, r.allowed()/2), class[:train], a.Seed)
	rows := len(some)
	e := a
	e.part = true
	e.MaxSamples, e.Time, e.Progress, e.Classes = rows, 0, r.report(3), classes
	exact, err := e.Fit(r.ctx, takeRows(r.views, some), vec.Picked(labels, some))
	if exact == nil || err != nil {
		return r.leaveOut("exact members", err)
	}
	r.spent += float64(float64(len(autoMembers))*exactSeconds(rows, K, featuresOf(r.views))) + viewsSeconds(r.views, rows, functions(len(classes)))
	for i, member := range exact.models {
		m.names = append(m.names, fmt.Sprintf("%s (%d samples)", exact.names[i], rows))
		m.add(member)
	}
	m.remarks, m.dropped, m.views, m.groups = exact.remarks, exact.dropped, exact.views, exact.groups
	return nil
}

// addLandmarks adds a member on landmarks, fitted to the first samples.
func (a AutoClassifier[T]) addLandmarks(r *manyRows, m *AutoClassifierModel[T], classes, labels []T) error {
	const what = "landmarks"
	c := LandmarkClassifier[T]{Fitting: r.stepFitting(4), MaxPasses: a.MaxSteps, Classes: classes, ordered: true}
	kernels := len(r.views) * (2 + len(narrower))
	count, most := Landmarks{}.count(kernels), Landmarks{}.count(kernels)
	for count > leastLandmarks && classLandmarkSeconds(len(labels), count*kernels, functions(len(classes))) > r.seconds-r.spent {
		count = int(0.8 * float64(count))
	}
	if count < most {
		c.Landmarks = &Landmarks{Count: count}
	}
	member, err := c.Fit(r.ctx, r.between(0, len(labels)), labels)
	if member == nil {
		return r.leaveOut(what, err)
	}
	r.spent += classLandmarkSeconds(len(labels), count*kernels, functions(len(classes)))
	m.landmarks = member
	m.names = append(m.names, fmt.Sprintf("%d landmarks", member.Samples()))
	m.add(member)
	return nil
}

// sortMembers puts the local member last and the one with trees before it, as in files.
func (m *AutoClassifierModel[T]) sortMembers() {
	for _, kind := range []string{"tree-classes", "local-classes"} {
		i := slices.IndexFunc(m.models, func(model Model) bool { return model.Kind() == kind })
		if i < 0 {
			continue
		}
		model, name := m.models[i], m.names[i]
		m.models, m.names = append(slices.Delete(m.models, i, i+1), model), append(slices.Delete(m.names, i, i+1), name)
	}
}

// weigh sets the weights of the members from their predictions of the held-out samples' classes, and drops members of
// small weight.
func (m *AutoClassifierModel[T]) weigh(r *manyRows, class []int) error {
	n := len(class)
	held, at := class[n-r.held:], distinctInputs(r.between(n-r.held, n))
	var all [][]float64
	for _, model := range m.models {
		var p [][]float64
		if h, ok := model.(interface{ heldProbabilities() [][]float64 }); ok {
			// The model was fitted to these samples too, but made these predictions before.
			p = h.heldProbabilities()
		} else {
			q, err := model.(ClassModel[T]).PredictClasses(r.ctx, PredictOptions{Workers: r.Workers}, at...)
			if err != nil {
				return err
			}
			p = q.Probability
		}
		log := make([]float64, len(held))
		for i, c := range held {
			log[i] = special.Log(max(p[i][c], math.SmallestNonzeroFloat64))
		}
		all = append(all, log)
	}
	kept := m.keepWeighed(stack(all, r.Seed))
	m.members, m.indicators = keptOf[*MultiGPClassifierModel[T]](kept), keptOf[*indicatorModel[T]](kept)
	m.remarkTable(len(m.members) + len(m.indicators))
	m.landmarks, m.trees, m.local = oneOf[*LandmarkClassifierModel[T]](kept), oneOf[*treeClassModel[T]](kept), oneOf[*localClassModel[T]](kept)
	return nil
}
