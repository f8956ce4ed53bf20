package validation

import (
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/ranking"
)

// Names of candidates of -views.
const (
	allViews = "all views"
	noView   = "no view"
)

// checkViews refuses flags that contradict -views.
func (c *comparison) checkViews() error {
	switch {
	case !c.Views:
		return nil
	case len(c.Models) > 1:
		return console.Inputf("-views compares views with one model, and -models names %d", len(c.Models))
	case len(c.Kernels) > 1:
		return console.Inputf("-views compares views with one set of kernels, and there are %d -kernels", len(c.Kernels))
	case len(c.samples.Views) < 2:
		return console.Inputf("-views needs two views at least: -view NAME=COLUMNS makes one, and can be repeated")
	}
	return nil
}

// viewModel is the model that learns from the views: what -models names, or the default.
func (c *comparison) viewModel() string {
	switch {
	case len(c.Models) > 0:
		return c.Models[0]
	case c.several() && c.task != model.Multioutput:
		return c.task
	case slices.Contains([]string{model.OrdinalTask, model.CountsTask, model.Survival}, c.task):
		return model.ForTask(c.task)[0].Model // the only one
	}
	return model.Auto
}

// viewEffects name the candidates that show what each view does. Without one of two views the other is alone.
func (c *comparison) viewEffects() (all []ranking.ViewEffect) {
	for v, view := range c.samples.Views {
		one := ranking.ViewEffect{View: view.Name, WithoutIt: "without " + view.Name, ByItself: view.Name + " alone"}
		if len(c.samples.Views) == 2 {
			one.WithoutIt = c.samples.Views[1-v].Name + " alone"
		}
		all = append(all, one)
	}
	return all
}

// viewFits is how many candidates of -views are fitted in each fold.
func (c *comparison) viewFits() int {
	if n := len(c.samples.Views); n > 2 {
		return 1 + 2*n
	}
	return 3
}

// addEachView adds the model of all views, of all views but one, and of each view alone, and the baseline that looks at no view. It
// returns the model's estimator.
func (l *list) addEachView(name string, sets []kernelSet) (*model.Estimator, error) {
	est, err := l.addViews(allViews, name, sets[0], func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	effects := l.viewEffects()
	if len(effects) > 2 {
		for v, effect := range effects {
			if _, err := l.addViews(effect.WithoutIt, name, sets[0], func(w int) bool { return w != v }); err != nil {
				return nil, err
			}
		}
	}
	for v, effect := range effects {
		if _, err := l.addViews(effect.ByItself, name, sets[0], func(w int) bool { return w == v }); err != nil {
			return nil, err
		}
	}
	if l.Baselines {
		none := l.trivial()
		none.Name = noView
		l.candidates = append(l.candidates, none)
	}
	return est, nil
}

// addViews adds a candidate that learns from the views, by their places, that the function chooses.
func (l *list) addViews(title, name string, set kernelSet, which func(view int) bool) (*model.Estimator, error) {
	own, some := *l.comparison, *l.data
	some.samples = l.samples.Only(which)
	own.data = &some
	first, err := l.add(title, false, func(target int) (*problem, error) {
		return own.problem(l.Learn, name, set.kernels, isOpen, target)
	})
	if err != nil {
		return nil, err
	}
	return first.model.Estimator, nil
}
