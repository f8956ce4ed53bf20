package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/effects"
	"github.com/bmkl/bmkl/vi/mgp"
)

// observedLevels are effects of the levels of columns of categories on the function of a model of very many counts, grades or times, with what the
// model is fitted to: views that see the effects, and likelihoods to whose function they are added. See docs/theory/levels.md.
type observedLevels struct {
	levels *levels // nil without effects
	views  []View
	all    []mgp.Likelihood
	about  levelRemarks

	unsettled string // why the fit has not converged, if the effects have not settled; empty if they have
}

// levelRemarks say why columns of many levels have no effects.
type levelRemarks struct {
	Useless string `json:"useless,omitempty"` // which columns have effects that do not predict other samples
	Left    string `json:"left,omitempty"`    // why no effects could be computed
}

// addLevels fits effects of levels to all samples. Without columns of many levels that have effects, and where the effects take too much memory or cannot be
// computed, the views and the likelihoods stay, and with them the kernel of categories. The remarks then say why. It returns an error only if the context
// has ended.
func (p *processObservations) addLevels(ctx context.Context, views []View, targets [][]float64, all []mgp.Likelihood) (*observedLevels, error) {
	out := &observedLevels{views: views, all: all}
	n := all[0].Samples()
	order := rowOrder(rowColumns(views), targets, false, p.seed) // of the folds, so that they do not depend on the order of the samples
	f := newLevelFit(ctx, p.seed, p.Workers, takeRows(views, order), n, 0)
	switch {
	case f == nil:
		return out, nil
	case p.missingViews:
		out.about.Left = "samples may lack views"
		return out, nil
	}
	p.before, f.limit = 1, p.levelLimit
	err := p.fitLevels(f, order, out)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		out.about.Left = err.Error()
		for _, prefix := range []string{"mkl: ", "vi: ", "effects: "} { // the packages
			out.about.Left = strings.TrimPrefix(out.about.Left, prefix)
		}
	}
	return out, nil
}

// fitLevels adds the effects to out, if there are any.
func (p *processObservations) fitLevels(f *levelFit, order []int, out *observedLevels) error {
	n := len(order)
	f.describe(n, levelCentres, seesNumbers)
	width, levels := f.size()
	if err := p.check(effects.Memory(n, len(f.columns), levels, width)); err != nil {
		return err
	}
	laws := p.certain(out.all)
	passes := p.passes(len(laws))
	var best *observedOf
	for _, l := range laws {
		o := &observedOf{f: f, passes: passes}
		var err error
		if o.observed, err = mgp.Observe(l.Some(order)); err != nil {
			return err
		}
		if err := o.fit(); err != nil {
			return err
		}
		if best == nil || o.posterior.LogScore > best.posterior.LogScore {
			best = o
		}
	}
	if err := best.leftOut(); err != nil {
		return err
	}
	if best.drop() {
		var names []string
		for _, c := range f.without {
			names = append(names, columnOf(len(f.x), f.views[slices.Index(f.inputs(), c.input)].Input, c.column))
		}
		out.about.Useless = levelsWithoutEffect(names) + ", and keep the kernel of categories"
		if f.at == nil {
			return nil
		}
		if err := best.fit(); err != nil {
			return err
		}
		if err := best.leftOut(); err != nil {
			return err
		}
	}
	every, err := best.posterior.Without(f.ctx, p.Workers, f.columns, best.offset, everySample(n))
	if err != nil {
		return err
	}
	passes.pass()
	if !best.posterior.Settled {
		out.unsettled = "effects of levels " + f.unsettled(effects.MostSweeps, "sweeps")
	}
	f.without = nil // the kernel of categories stays on columns without an effect
	l, s := f.learned(every, best.left)
	out.levels, out.views = l, f.observedViews(out.views, best.left, order)
	offset := make([]float64, n)
	for k, i := range order {
		offset[i] = s.mean[k]
	}
	all := out.all
	out.all = nil
	for _, l := range all {
		out.all = append(out.all, mgp.Offset{Likelihood: l, Of: offset})
	}
	return nil
}

// levelPasses reports the progress of a fit of effects: its passes over all samples.
type levelPasses struct {
	report      func(Progress) // nil if nothing is to be reported
	done, most  int            // passes
	score, rise float64
}

// passes returns the progress of effects under so many laws. The last of them may be fitted again without some columns.
func (p *processObservations) passes(laws int) *levelPasses {
	q := &levelPasses{most: (laws+1)*effects.MostSweeps + 2*levelFolds + 1, rise: math.NaN()}
	if p.Progress != nil {
		starts := laws + 2 // the effects, a fit of the landmarks for each law, and the fit of all samples
		q.report = func(r Progress) {
			r.Start, r.Starts, r.MaxSweeps, r.Left = 1, starts, q.most, -1
			p.Progress(r)
		}
	}
	return q
}

// sweep reports a sweep with the leave-one-out log score of all samples.
func (q *levelPasses) sweep(sweep int, score float64) {
	if q.rise = score - q.score; sweep == 1 {
		q.rise = math.NaN()
	}
	q.score = score
	q.pass()
}

// pass reports a pass, after which the score is the one of the last sweep.
func (q *levelPasses) pass() {
	q.done++
	if q.report != nil {
		q.report(Progress{Sweep: q.done, Bound: q.score, Rise: q.rise})
	}
}

// seesNumbers reports whether a view sees numbers, and not codes.
func seesNumbers(v View) bool {
	switch v.Kernel.(type) {
	case kernel.Categorical, kernel.Constant:
		return false
	}
	return true
}

// observedOf is the fit of effects to observations.
type observedOf struct {
	f         *levelFit
	passes    *levelPasses
	observed  *mgp.Observed
	posterior *effects.Observed
	offset    []float64 // the functions beside the effects
	left      levelMoments
}

// fit fits the functions, the effects and their variances.
func (o *observedOf) fit() (err error) {
	f := o.f
	process := effects.Process{Seed: f.seed, Workers: f.workers, Limit: f.limit, Progress: o.passes.sweep}
	o.posterior, err = process.FitLikelihood(f.ctx, f.features, f.columns, o.observed)
	return err
}

// leftOut fits the effects for each sample without the samples of its fold.
func (o *observedOf) leftOut() (err error) {
	f := o.f
	o.offset = f.beside(o.posterior.Beta)
	o.left, err = f.acrossFolds(func(kept []bool) ([]effects.Effects, error) {
		defer o.passes.pass()
		return o.posterior.Without(f.ctx, f.workers, f.columns, o.offset, kept)
	})
	return err
}

// drop drops the columns whose effects do not predict samples of other folds, and reports whether there are any. Of column c the gain of a sample is
//
//	log p(y_n | means and variances of the effects from other folds) − log p(y_n | the same, but the mean of column c is 0).
func (o *observedOf) drop() bool {
	mean, variance := slices.Clone(o.offset), make([]float64, len(o.offset))
	for c := range o.f.columns {
		la.Axpy(1, o.left.mean[c], mean)
		la.Axpy(1, o.left.variance[c], variance)
	}
	theta := o.posterior.Theta
	return o.f.dropUnless(func(c, i int) float64 {
		with, _, _ := o.observed.Moments(i, mean[i], variance[i], theta, nil)
		without, _, _ := o.observed.Moments(i, mean[i]-o.left.mean[c][i], variance[i], theta, nil)
		return with - without
	})
}

// observedViews returns the views as the model sees them: the effects from other folds are in the places of the codes, and a linear and a Gaussian kernel
// of the effects in the place of the kernel of categories. Sample k of the fit is sample order[k] of the views.
func (f *levelFit) observedViews(views []View, left levelMoments, order []int) (seen []View) {
	inputs := f.inputs()
	x := distinctInputs(views)
	places := make([][]int, len(x)) // columns of effects of each input
	for c, column := range f.at {
		k := column.input
		if places[k] == nil {
			x[k] = x[k].Clone()
		}
		places[k] = append(places[k], column.column)
		for r, u := range left.mean[c] {
			x[k].Set(order[r], column.column, u)
		}
	}
	for i, v := range views {
		k := inputs[i]
		v.X = x[k]
		if places[k] == nil || !isPlainCategorical(v) {
			seen = append(seen, v)
			continue
		}
		var of, others []int
		columns := v.Columns
		if columns == nil {
			columns = vec.UpTo(x[k].Cols)
		}
		for _, j := range columns {
			if slices.Contains(places[k], j) {
				of = append(of, j)
			} else {
				others = append(others, j)
			}
		}
		if others != nil {
			rest := v
			rest.Columns = others
			seen = append(seen, rest)
		}
		if of == nil {
			continue
		}
		var square float64
		for _, j := range of {
			var s float64
			for r := range x[k].Rows {
				s += float64(x[k].At(r, j) * x[k].At(r, j))
			}
			square += s / float64(x[k].Rows)
		}
		v.Columns, v.Kernel = of, kernel.Linear{Scale: 1 / square}
		bent := v
		bent.Kernel = kernel.RBF{Width: math.Sqrt(2 * square)}
		seen = append(seen, v, bent)
	}
	return seen
}

// columnOf names a column of an input, which is one of so many.
func columnOf(inputs int, input string, column int) string {
	name := gram.Sight{Columns: []int{column}}.String()
	if inputs > 1 {
		name = " of " + input + name
	}
	return name
}

// LevelEffects says which columns of categories have an effect of each level on the function, and why others have none, a sentence for each. #1 is the first
// column of an input. A fit with landmarks learns effects.
func (m *processes) LevelEffects() (sentences []string) {
	if m.levels != nil {
		for _, c := range m.levels.columns {
			name := columnOf(len(m.design.Inputs), m.design.Inputs[c.input].Name, c.column)
			sentences = append(sentences, fmt.Sprintf("the effects of %d levels%s on the function have the standard deviation %.3g", len(c.codes), name, math.Sqrt(c.prior)))
		}
	}
	if m.about.Useless != "" {
		sentences = append(sentences, m.about.Useless)
	}
	if left := m.LevelsLeftOut(); left != "" {
		sentences = append(sentences, left)
	}
	return sentences
}

// LevelsLeftOut says why the fit could not learn effects of levels, although a column of categories has many levels. It is empty otherwise.
func (m *processes) LevelsLeftOut() string {
	if m.about.Left == "" {
		return ""
	}
	return "effects of levels are left out (" + m.about.Left + "), and the kernel of categories stays"
}
