package mkl

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/effects"
)

const (
	fewLevels        = 30    // columns with more levels have effects
	levelFolds       = 10    // of the samples that are not held out
	levelCentres     = 128   // of the functions beside the effects
	mostLevelLinear  = 200   // linear functions beside the effects
	clearEffect      = 2     // standard errors
	secondsLevelWork = 1e-9  // of a product of effects.Work
	secondsOddsWork  = 5e-10 // of a product of effects.OddsWork, with the fit without the columns that are dropped
)

// levelFit is the fit of effects of levels.
type levelFit struct {
	ctx      context.Context
	seed     uint64
	workers  int
	views    []View
	held     int       // the last samples, which are held out
	y        []float64 // targets less their mean
	x        []Features
	fold     []int // of each sample; the samples held out are the last fold
	at       []levelColumn
	without  []levelColumn // columns without an effect
	columns  []effects.Column
	features effects.Features
	remarks  []string
	limit    int // of sweeps or steps of a fit; 0 means the usual one
}

// newLevelFit returns a fit for n samples in the views, the last of them held out, with the columns that have effects. It returns nil without such columns.
func newLevelFit(ctx context.Context, seed uint64, workers int, views []View, n, held int) *levelFit {
	f := &levelFit{ctx: ctx, seed: seed, workers: workers, views: views, held: held, x: distinctInputs(views)}
	if f.find(); f.at == nil {
		return nil
	}
	for i := range n {
		if i < n-held {
			f.fold = append(f.fold, i%levelFolds)
		} else {
			f.fold = append(f.fold, levelFolds)
		}
	}
	return f
}

// unsettled says that a fit of at most so many sweeps or steps has not settled.
func (f *levelFit) unsettled(most int, of string) string {
	return fmt.Sprintf("not settled after %d %s", cmp.Or(f.limit, most), of)
}

// levelFit returns the fit of effects of levels for all n samples.
func (m *manyRows) levelFit(n int) *levelFit {
	f := newLevelFit(m.ctx, m.Seed, m.workers(), m.views, n, m.held)
	if f != nil {
		f.limit = m.levelLimit
	}
	return f
}

// takeLevels takes the views of the members and the remarks of a fit of effects.
func (m *manyRows) takeLevels(f *levelFit, views []View) {
	m.views, m.remarks = views, append(m.remarks, f.remarks...)
}

// addLevels fits effects of the levels of columns of categories to the targets y of all samples. The views of the members then see the
// effects in the places of the codes, and the members learn what it returns: the targets less the effects that are learned without their
// samples. Without such columns, it returns y.
func (a Auto) addLevels(r *manyRows, m *AutoModel, y []float64) (rest []float64, err error) {
	const what = "effects of levels"
	f := r.levelFit(len(y))
	if f == nil {
		return y, nil
	}
	middle, _ := vec.MeanSD(y)
	for _, v := range y {
		f.y = append(f.y, v-middle)
	}
	f.describe(len(y), levelCentres, isOpen)
	width, all := f.size()
	seconds := float64(secondsLevelWork * effects.Work(len(y), len(f.columns), all, width))
	if seconds > (r.seconds-r.spent)/2 {
		return y, r.leaveOut(what, fmt.Errorf("they would take %.0f s of one core", seconds))
	}
	if need, limit := effects.Memory(len(y), len(f.columns), all, width), r.allowed()/2; need > limit {
		return y, r.leaveOut(what, &MemoryError{Need: need, Limit: limit})
	}
	r.spent += seconds
	left, err := f.leftOut()
	if err == nil && f.drop(left) && f.at != nil {
		left, err = f.leftOut()
	}
	if err != nil {
		return y, r.leaveOut(what, err)
	}
	every, err := f.everyEffect(left)
	if err != nil {
		return nil, err
	}
	seen := make([][][]float64, len(f.at)+len(f.without))
	for c := range f.at {
		seen[c] = [][]float64{left.mean[c]}
	}
	l, s := f.learned(every, left.levelMoments)
	if !left.posterior.Settled {
		f.remarks = append(f.remarks, "the effects of levels have "+f.unsettled(effects.MostSteps, "steps"))
	}
	rest = slices.Clone(y)
	la.Axpy(-1, s.mean, rest)
	m.levels = l
	train := len(y) - r.held
	r.shift = &shift{l, s.mean[train:], s.variance[train:]}
	r.takeLevels(f, f.seen(seen))
	return rest, nil
}

// size returns the number of features beside the effects, and of all levels.
func (f *levelFit) size() (width, levels int) {
	width = 1
	for _, g := range f.features.Groups {
		width += g
	}
	for _, c := range f.columns {
		levels += c.Levels
	}
	return width, levels
}

// find finds the columns: numbers of more than fewLevels values that views with the plain categorical kernel see, and no others.
func (f *levelFit) find() {
	inputs := f.inputs()
	for k, x := range f.x {
		for j := range x.Cols {
			by, others := false, false
			for i, v := range f.views {
				if inputs[i] == k && (v.Columns == nil || slices.Contains(v.Columns, j)) {
					ofLevels := isPlainCategorical(v)
					_, blind := v.Kernel.(kernel.Constant)
					by, others = by || ofLevels, others || !ofLevels && !blind
				}
			}
			if !by || others {
				continue
			}
			codes := make([]float64, x.Rows)
			for i := range codes {
				codes[i] = x.At(i, j)
			}
			of := slices.DeleteFunc(slices.Clone(codes), func(v float64) bool { return v != v }) // samples may lack views
			slices.Sort(of)
			if of = slices.Compact(of); len(of) <= fewLevels {
				continue
			}
			c := effects.Column{Levels: len(of)}
			for _, v := range codes {
				at, _ := slices.BinarySearch(of, v)
				c.Of = append(c.Of, at)
			}
			f.at, f.columns = append(f.at, levelColumn{input: k, column: j, codes: of}), append(f.columns, c)
		}
	}
}

// isPlainCategorical reports whether a view has the kernel of categories with all its defaults.
func isPlainCategorical(v View) bool {
	return v.Kernel == kernel.Kernel(kernel.Categorical{}) && !v.Center && !v.Normalize
}

// inputs returns the input of each view.
func (f *levelFit) inputs() []int {
	var names []string
	at := make([]int, len(f.views))
	for i, v := range f.views {
		if at[i] = slices.Index(names, v.Input); at[i] < 0 {
			at[i] = len(names)
			names = append(names, v.Input)
		}
	}
	return at
}

// describe makes the features beside the effects of n samples: linear functions and radial functions, at most so many, of the columns that some of the
// views see.
func (f *levelFit) describe(n, centred int, some func(View) bool) {
	inputs := f.inputs()
	columns := make([][]int, len(f.x))
	for k, x := range f.x {
		columns[k] = []int{}
		for i, v := range f.views {
			if inputs[i] == k && some(v) {
				if columns[k] = append(columns[k], v.Columns...); v.Columns == nil {
					columns[k] = vec.UpTo(x.Cols)
				}
			}
		}
		slices.Sort(columns[k])
		columns[k] = slices.Compact(columns[k])
	}
	l := newLocalFeatures(f.x, columns)
	d := len(l.columns)
	at := func(lo, hi int) la.Matrix[float64] {
		part := make([]Features, len(f.x))
		for k, x := range f.x {
			part[k] = x.Slice(lo, hi, 0, x.Cols)
		}
		return l.of(part)
	}
	linear, radial := min(d, mostLevelLinear), 0
	if d > 0 {
		radial = min(centred, n/20)
	}
	centres := at(0, radial)
	f.features.Groups = nil
	for _, g := range []int{linear, radial} {
		if g > 0 {
			f.features.Groups = append(f.features.Groups, g)
		}
	}
	f.features.Rows = func(lo, hi int) la.Matrix[float64] {
		phi := la.NewMatrix[float64](hi-lo, 1+linear+radial)
		z := at(lo, hi)
		for i := range phi.Rows {
			row, zi := phi.Row(i), z.Row(i)
			row[0] = 1
			copy(row[1:1+linear], zi)
			for c := range radial {
				var s float64
				for j, v := range centres.Row(c) {
					e := v - zi[j]
					s += float64(e * e)
				}
				row[1+linear+c] = special.Exp(-s / float64(2*d))
			}
		}
		return phi
	}
}

// levelMoments are the moments of each sample's effects, [column][sample], from the samples of other folds.
type levelMoments struct{ mean, variance [][]float64 }

// levelsLeftOut are the moments of each sample's effects, and what they leave.
type levelsLeftOut struct {
	levelMoments
	posterior *effects.Posterior
	rest      []float64 // targets less the functions beside the effects
}

// leftOut fits the variances to the samples that are not held out, and the effects for each sample without the samples of its fold. No effect
// that is not of a sample held out is learned from these samples.
func (f *levelFit) leftOut() (*levelsLeftOut, error) {
	n := len(f.y)
	train := n - f.held
	first := make([]effects.Column, len(f.columns))
	for c, column := range f.columns {
		first[c] = effects.Column{Of: column.Of[:train], Levels: column.Levels}
	}
	out := &levelsLeftOut{}
	var err error
	if out.posterior, err = (effects.Process{Seed: f.seed, Limit: f.limit}).Fit(f.ctx, f.features, first, f.y[:train]); err != nil {
		return nil, err
	}
	out.rest = slices.Clone(f.y)
	const block = 2048
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		la.Gemv(nil, la.NoTrans, -1, f.features.Rows(lo, hi), out.posterior.Beta, 1, out.rest[lo:hi])
	}
	out.levelMoments, err = f.acrossFolds(func(kept []bool) ([]effects.Effects, error) {
		return out.posterior.Without(f.ctx, f.columns, out.rest, kept)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// acrossFolds returns the moments of each sample's effects, given a function that learns the effects of the columns from the samples that are kept.
func (f *levelFit) acrossFolds(without func(kept []bool) ([]effects.Effects, error)) (left levelMoments, err error) {
	n := len(f.fold)
	for range f.columns {
		left.mean, left.variance = append(left.mean, make([]float64, n)), append(left.variance, make([]float64, n))
	}
	err = f.eachFold(func(kept []bool, rows []int) error {
		all, err := without(kept)
		for c, e := range all {
			for _, i := range rows {
				l := f.columns[c].Of[i]
				left.mean[c][i], left.variance[c][i] = e.Mean[l], e.Variance[l]
			}
		}
		return err
	})
	return left, err
}

// eachFold calls do for each fold: with its samples, and with the samples from which their effects are learned.
func (f *levelFit) eachFold(do func(kept []bool, rows []int) error) error {
	kept := make([]bool, len(f.fold))
	for fold := range levelFolds + 1 {
		var rows []int
		for i, k := range f.fold {
			if kept[i] = k != fold && k < levelFolds; k == fold {
				rows = append(rows, i)
			}
		}
		if rows == nil { // no samples are held out
			continue
		}
		if err := do(kept, rows); err != nil {
			return err
		}
	}
	return nil
}

// beside returns Φβ of all samples, the functions beside the effects.
func (f *levelFit) beside(beta []float64) []float64 {
	out := make([]float64, len(f.fold))
	const block = 2048
	for lo := 0; lo < len(out); lo += block {
		hi := min(lo+block, len(out))
		la.Gemv(nil, la.NoTrans, 1, f.features.Rows(lo, hi), beta, 0, out[lo:hi])
	}
	return out
}

// drop drops the columns whose effects do not predict samples of other folds, and reports whether there are any. Of a column the gain of a level is
//
//	g_l = Σ_{n∈l} (e_n + u_n)² − e_n²,   e_n = rest_n − Σ_c u_{c,n}.
func (f *levelFit) drop(left *levelsLeftOut) bool {
	errors := slices.Clone(left.rest)
	for _, u := range left.mean {
		la.Axpy(-1, u, errors)
	}
	return f.dropUnless(func(c, i int) float64 {
		u := left.mean[c][i]
		return float64(u * (float64(2*errors[i]) + u))
	})
}

// dropUnless drops the columns whose gains, of column c and sample i, do not clearly have a sum above 0. It reports whether there are any.
func (f *levelFit) dropUnless(gainOf func(c, i int) float64) bool {
	var at []levelColumn
	var columns []effects.Column
	var none []string
	for c, column := range f.columns {
		gain := make([]float64, column.Levels)
		for i, l := range column.Of {
			gain[l] += gainOf(c, i)
		}
		if clearly(gain) {
			at, columns = append(at, f.at[c]), append(columns, column)
			continue
		}
		none = append(none, f.name(f.at[c]))
		f.without = append(f.without, levelColumn{input: f.at[c].input, column: f.at[c].column})
	}
	if none == nil {
		return false
	}
	f.remarks = append(f.remarks, noEffect(none))
	f.at, f.columns = at, columns
	return true
}

// clearly reports whether a sum of gains is above 0 by two standard errors, √Σg².
func clearly(gain []float64) bool {
	return vec.Total(gain) > float64(clearEffect*math.Sqrt(la.SumSq(gain)))
}

// name names a column in remarks.
func (f *levelFit) name(c levelColumn) string {
	name := ""
	inputs := f.inputs()
	for i, v := range f.views {
		if inputs[i] == c.input && v.Name != "" {
			name = " of " + v.Name
			break
		}
	}
	return name + gram.Sight{Columns: []int{c.column}}.String()
}

// everyEffect returns the effects that are learned from all samples.
func (f *levelFit) everyEffect(left *levelsLeftOut) ([]effects.Effects, error) {
	if f.at == nil {
		return nil, nil
	}
	return left.posterior.Without(f.ctx, f.columns, left.rest, everySample(len(f.y)))
}

// everySample returns that all of n samples are kept.
func everySample(n int) []bool {
	kept := make([]bool, n)
	for i := range kept {
		kept[i] = true
	}
	return kept
}

// learned returns the levels of a model, given the effects from all samples, and what the effects from other folds add to each sample. From then on
// f.at has also the columns without an effect, behind the others.
func (f *levelFit) learned(all []effects.Effects, left levelMoments) (*levels, *shift) {
	for c, e := range all {
		f.at[c].mean, f.at[c].variance, f.at[c].prior = e.Mean, e.Variance, e.Prior
		f.remarks = append(f.remarks, fmt.Sprintf("the effects of the levels%s have the standard deviation %.3g", f.name(f.at[c]), math.Sqrt(e.Prior)))
	}
	l := &levels{columns: slices.Concat(f.at, f.without)}
	n := len(f.fold)
	s := &shift{l, make([]float64, n), make([]float64, n)}
	for c := range f.at {
		la.Axpy(1, left.mean[c], s.mean)
		la.Axpy(1, left.variance[c], s.variance)
	}
	train := n - f.held
	l.usual = vec.Total(s.variance[:train]) / float64(train)
	f.at = l.columns
	return l, s
}

// seen returns the views as members see them: with the effects [column][effect][sample], from other folds, in the places of the codes, and with open
// views of these columns in the places of views with the categorical kernel. Further effects of a column are behind the columns of the input.
func (f *levelFit) seen(effects [][][]float64) (views []View) {
	inputs := f.inputs()
	x := slices.Clone(f.x)
	places := make([][]int, len(x)) // columns of effects of each input
	var none []levelColumn          // columns without an effect
	for c, column := range f.at {
		k := column.input
		if places[k] == nil {
			x[k] = x[k].Clone()
		}
		places[k] = append(places[k], column.column)
		for i := range x[k].Rows {
			x[k].Set(i, column.column, 0)
		}
		if effects[c] == nil {
			none = append(none, column)
		}
		for e, u := range effects[c] {
			place := column.column
			if e > 0 {
				place = x[k].Cols
				x[k] = widened(x[k], 1)
				places[k] = append(places[k], place)
			}
			for i, v := range u {
				x[k].Set(i, place, v)
			}
		}
	}
	useless := func(k, j int) bool {
		return slices.ContainsFunc(none, func(c levelColumn) bool { return c.input == k && c.column == j })
	}
	done := make([]bool, len(x)) // the open view of the effects is among the views
	for i, v := range f.views {
		k := inputs[i]
		of := places[k]
		v.X = x[k]
		if of == nil || v.Kernel != nil && !isPlainCategorical(v) {
			views = append(views, v)
			continue
		}
		if v.Kernel != nil {
			others := v.Columns
			if others == nil {
				others = vec.UpTo(f.x[k].Cols)
			}
			others = slices.DeleteFunc(slices.Clone(others), func(j int) bool { return slices.Contains(of, j) })
			if len(others) > 0 {
				v.Columns = others
				views = append(views, v)
			}
			if v.Kernel = nil; done[k] {
				continue
			}
			v.Columns = nil
			for w, open := range f.views {
				if inputs[w] == k && open.Kernel == nil {
					v = open
					v.X = x[k]
					break
				}
			}
		}
		if done[k] {
			continue
		}
		done[k] = true
		v.Columns = slices.Concat(v.Columns, of)
		slices.Sort(v.Columns)
		if useful := slices.DeleteFunc(slices.Clone(v.Columns), func(j int) bool { return useless(k, j) }); len(useful) > 0 {
			v.Columns = useful
		}
		views = append(views, v)
	}
	return views
}

// widened returns a copy of x with more columns, of zeros.
func widened(x Features, more int) Features {
	out := la.NewMatrix[float64](x.Rows, x.Cols+more)
	for i := range x.Rows {
		copy(out.Row(i), x.Row(i))
	}
	return out
}
