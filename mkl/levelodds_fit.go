package mkl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/effects"
)

const (
	oddsCentres = 64 // levelCentres for log odds, whose sums are made anew in each step
	oddsAtOnce  = 4  // classes whose effects are fitted at the same time
)

// addLevelOdds fits effects of the levels of columns of categories on the log odds of each class against all others. The views of the members then see
// the effects in the places of the codes. class holds the classes of all samples. It returns nil without such columns.
func (m *manyRows) addLevelOdds(class []int, classes int) (*levelOdds, error) {
	const what = "effects of levels"
	f := m.levelFit(len(class))
	if f == nil {
		return nil, nil
	}
	f.describe(len(class), oddsCentres, isOpen)
	functions := functions(classes)
	width, all := f.size()
	seconds := float64(secondsOddsWork * float64(functions) * effects.OddsWork(len(class), len(f.columns), all, width))
	if seconds > (m.seconds-m.spent)/2 {
		return nil, m.leaveOut(what, fmt.Errorf("they would take %.0f s of one core", seconds))
	}
	need := effects.Memory(len(class), len(f.columns), all, width) * int64(min(functions, oddsAtOnce))
	if limit := m.allowed() / 2; need > limit {
		return nil, m.leaveOut(what, &MemoryError{Need: need, Limit: limit})
	}
	m.spent += seconds
	of, failed := make([]oddsOf, functions), make([]error, functions)
	for k := range of {
		of[k] = oddsOf{f: f, class: k, at: vec.UpTo(len(f.columns))}
		if classes == 2 {
			of[k].class = 1
		}
	}
	err := gram.InBlocks(m.ctx, min(m.workers(), oddsAtOnce), functions, 1, func() func(first, last int) {
		return func(k, _ int) { failed[k] = of[k].fit(class) }
	})
	if err := cmp.Or(append(failed, err)...); err != nil {
		return nil, m.leaveOut(what, err)
	}
	l, views := f.takeOdds(of, classes)
	m.takeLevels(f, views)
	return l, nil
}

// oddsOf is the fit of effects on the log odds of a class against all others.
type oddsOf struct {
	f     *levelFit
	class int
	at    []int // columns of f

	posterior *effects.Odds
	left      [][]float64 // [column][sample], from the samples of other folds
	all       [][]float64 // [column][level], from all samples
}

// fit fits the effects, drops the columns whose effects do not predict samples of other folds, and fits the effects of the others.
func (o *oddsOf) fit(class []int) error {
	y := make([]float64, len(class))
	for i, k := range class {
		if k == o.class {
			y[i] = 1
		}
	}
	offset, err := o.leftOut(y)
	if err != nil {
		return err
	}
	if o.drop(y, offset) && len(o.at) > 0 {
		if offset, err = o.leftOut(y); err != nil {
			return err
		}
	}
	if len(o.at) == 0 {
		return nil
	}
	o.all, err = o.posterior.Without(o.f.ctx, o.columns(), offset, y, everySample(len(y)))
	return err
}

// columns returns the columns of the fit.
func (o *oddsOf) columns() (of []effects.Column) {
	for _, c := range o.at {
		of = append(of, o.f.columns[c])
	}
	return of
}

// leftOut fits the variances to the samples that are not held out, and the effects for each sample without the samples of its fold. It returns
// the functions beside the effects.
func (o *oddsOf) leftOut(y []float64) (offset []float64, err error) {
	f, n := o.f, len(y)
	train := n - f.held
	columns := o.columns()
	first := make([]effects.Column, len(columns))
	for c, column := range columns {
		first[c] = effects.Column{Of: column.Of[:train], Levels: column.Levels}
	}
	if o.posterior, err = (effects.Process{Seed: f.seed, Limit: f.limit}).FitOdds(f.ctx, f.features, first, y[:train]); err != nil {
		return nil, err
	}
	offset = f.beside(o.posterior.Beta)
	o.left = nil
	for range columns {
		o.left = append(o.left, make([]float64, n))
	}
	err = f.eachFold(func(kept []bool, rows []int) error {
		all, err := o.posterior.Without(f.ctx, columns, offset, y, kept)
		for c, u := range all {
			for _, i := range rows {
				o.left[c][i] = u[columns[c].Of[i]]
			}
		}
		return err
	})
	return offset, err
}

// drop drops the columns whose effects do not predict samples of other folds, and reports whether there are any. Of a column the gain of a level is
//
//	g_l = Σ_{n∈l} log p(y_n | η_n) − log p(y_n | η_n − u_{c,n}),   η_n = φ_nᵀβ + Σ_c u_{c,n}.
func (o *oddsOf) drop(y, offset []float64) bool {
	eta := slices.Clone(offset)
	for _, u := range o.left {
		la.Axpy(1, u, eta)
	}
	var at []int
	for k, c := range o.at {
		column := o.f.columns[c]
		gain := make([]float64, column.Levels)
		for i, u := range o.left[k] {
			gain[column.Of[i]] += effects.LogProbability(y[i], eta[i]) - effects.LogProbability(y[i], eta[i]-u)
		}
		if clearly(gain) {
			at = append(at, c)
		}
	}
	dropped := len(at) < len(o.at)
	o.at = at
	return dropped
}

// takeOdds returns the effects, and the views of the members.
func (f *levelFit) takeOdds(of []oddsOf, classes int) (*levelOdds, []View) {
	l := &levelOdds{}
	var seen [][][]float64
	var none []string
	for c, column := range f.at {
		to := oddsColumn{input: column.input, column: column.column}
		var left [][]float64
		var sds []float64
		for _, o := range of {
			if k := slices.Index(o.at, c); k >= 0 {
				to.codes, to.classes, to.effects = column.codes, append(to.classes, o.class), append(to.effects, o.all[k])
				left, sds = append(left, o.left[k]), append(sds, math.Sqrt(o.posterior.Effects[k].Prior))
			}
		}
		l.columns, seen = append(l.columns, to), append(seen, left)
		switch {
		case left == nil:
			none = append(none, f.name(column))
		case classes == 2:
			f.remarks = append(f.remarks, fmt.Sprintf("the effects of the levels%s on the log odds have the standard deviation %.3g", f.name(column), sds[0]))
		default:
			f.remarks = append(f.remarks, fmt.Sprintf("the effects of the levels%s on the log odds of %d of %d classes have standard deviations of %.3g to %.3g",
				f.name(column), len(sds), classes, slices.Min(sds), slices.Max(sds)))
		}
	}
	if none != nil {
		f.remarks = append(f.remarks, noEffect(none))
	}
	if of = slices.DeleteFunc(slices.Clone(of), func(o oddsOf) bool { return len(o.at) == 0 || o.posterior.Settled }); len(of) > 0 {
		which := ""
		if classes > 2 {
			which = fmt.Sprintf(" of %d of %d classes", len(of), classes)
		}
		f.remarks = append(f.remarks, fmt.Sprintf("the effects of levels on the log odds%s have %s", which, f.unsettled(effects.MostSteps, "steps")))
	}
	return l, f.seen(seen)
}

// noEffect is the remark on columns that are left out.
func noEffect(names []string) string {
	return levelsWithoutEffect(names) + ", and are left out"
}

func levelsWithoutEffect(names []string) string {
	return fmt.Sprintf("the levels%s have no effect that predicts other samples", strings.Join(names, " and"))
}
