package mkl

import (
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
	r        *manyRows
	x        []Features
	y        []float64 // targets less their mean
	fold     []int     // of each sample; the samples held out are the last fold
	at       []levelColumn
	without  []levelColumn // columns without an effect
	columns  []effects.Column
	features effects.Features
}

// addLevels fits effects of the levels of columns of categories to the targets y of all samples. The views of the members then see the
// effects in the places of the codes, and the members learn what it returns: the targets less the effects that are learned without their
// samples. Without such columns, it returns y.
func (a Auto) addLevels(r *manyRows, m *AutoModel, y []float64) (rest []float64, err error) {
	const what = "effects of levels"
	f := &levelFit{r: r, x: distinctInputs(r.views)}
	if f.find(); f.at == nil {
		return y, nil
	}
	middle, _ := vec.MeanSD(y)
	for _, v := range y {
		f.y = append(f.y, v-middle)
	}
	f.fold = r.levelFolds(len(y))
	f.describe(len(y), levelCentres)
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
	return f.take(m, left, y)
}

// levelFolds returns the fold of each of n samples; the samples held out are the last fold.
func (m *manyRows) levelFolds(n int) (fold []int) {
	for i := range n {
		if i < n-m.held {
			fold = append(fold, i%levelFolds)
		} else {
			fold = append(fold, levelFolds)
		}
	}
	return fold
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
			for i, v := range f.r.views {
				if inputs[i] == k && (v.Columns == nil || slices.Contains(v.Columns, j)) {
					ofLevels := isPlainCategorical(v)
					by, others = by || ofLevels, others || !ofLevels
				}
			}
			if !by || others {
				continue
			}
			codes := make([]float64, x.Rows)
			for i := range codes {
				codes[i] = x.At(i, j)
			}
			of := slices.Clone(codes)
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
	at := make([]int, len(f.r.views))
	for i, v := range f.r.views {
		if at[i] = slices.Index(names, v.Input); at[i] < 0 {
			at[i] = len(names)
			names = append(names, v.Input)
		}
	}
	return at
}

// describe makes the features beside the effects of n samples: linear functions and radial functions, at most so many, of the columns that open
// views see.
func (f *levelFit) describe(n, centred int) {
	inputs := f.inputs()
	columns := make([][]int, len(f.x))
	for k, x := range f.x {
		columns[k] = []int{}
		for i, v := range f.r.views {
			if inputs[i] == k && v.Kernel == nil {
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

// levelsLeftOut are the moments of each sample's effects, [column][sample], from the samples of other folds, and what they leave.
type levelsLeftOut struct {
	posterior      *effects.Posterior
	rest           []float64 // targets less the functions beside the effects
	mean, variance [][]float64
}

// leftOut fits the variances to the samples that are not held out, and the effects for each sample without the samples of its fold. No effect
// that is not of a sample held out is learned from these samples.
func (f *levelFit) leftOut() (*levelsLeftOut, error) {
	n := len(f.y)
	train := n - f.r.held
	first := make([]effects.Column, len(f.columns))
	for c, column := range f.columns {
		first[c] = effects.Column{Of: column.Of[:train], Levels: column.Levels}
	}
	out := &levelsLeftOut{}
	var err error
	if out.posterior, err = (effects.Process{Seed: f.r.Seed}).Fit(f.r.ctx, f.features, first, f.y[:train]); err != nil {
		return nil, err
	}
	out.rest = slices.Clone(f.y)
	const block = 2048
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		la.Gemv(nil, la.NoTrans, -1, f.features.Rows(lo, hi), out.posterior.Beta, 1, out.rest[lo:hi])
	}
	for range f.columns {
		out.mean, out.variance = append(out.mean, make([]float64, n)), append(out.variance, make([]float64, n))
	}
	kept := make([]bool, n)
	for fold := range levelFolds + 1 {
		for i, k := range f.fold {
			kept[i] = k != fold && k < levelFolds
		}
		all, err := out.posterior.Without(f.r.ctx, f.columns, out.rest, kept)
		if err != nil {
			return nil, err
		}
		for c, e := range all {
			for i, k := range f.fold {
				if l := f.columns[c].Of[i]; k == fold {
					out.mean[c][i], out.variance[c][i] = e.Mean[l], e.Variance[l]
				}
			}
		}
	}
	return out, nil
}

// drop drops the columns whose effects do not predict samples of other folds, and reports whether there are any. Of a column the gain of a level is
//
//	g_l = Σ_{n∈l} (e_n + u_n)² − e_n²,   e_n = rest_n − Σ_c u_{c,n},
//
// and Σg must be above 0 by two standard errors, √Σg².
func (f *levelFit) drop(left *levelsLeftOut) bool {
	errors := slices.Clone(left.rest)
	for _, u := range left.mean {
		la.Axpy(-1, u, errors)
	}
	var at []levelColumn
	var columns []effects.Column
	var none []string
	for c, column := range f.columns {
		gain := make([]float64, column.Levels)
		for i, e := range errors {
			u := left.mean[c][i]
			gain[column.Of[i]] += float64(u * (float64(2*e) + u))
		}
		if vec.Total(gain) > float64(clearEffect*math.Sqrt(la.SumSq(gain))) {
			at, columns = append(at, f.at[c]), append(columns, column)
			continue
		}
		none = append(none, f.name(f.at[c]))
		f.without = append(f.without, levelColumn{input: f.at[c].input, column: f.at[c].column})
	}
	if none == nil {
		return false
	}
	f.r.remarks = append(f.r.remarks, noEffect(none))
	f.at, f.columns = at, columns
	return true
}

// name names a column in remarks.
func (f *levelFit) name(c levelColumn) string {
	name := ""
	inputs := f.inputs()
	for i, v := range f.r.views {
		if inputs[i] == c.input && v.Name != "" {
			name = " of " + v.Name
			break
		}
	}
	return name + gram.Sight{Columns: []int{c.column}}.String()
}

// take gives the model its levels and the members their views, and returns what the members learn.
func (f *levelFit) take(m *AutoModel, left *levelsLeftOut, y []float64) (rest []float64, err error) {
	l := &levels{}
	if f.at != nil {
		kept := make([]bool, len(y))
		for i := range kept {
			kept[i] = true
		}
		all, err := left.posterior.Without(f.r.ctx, f.columns, left.rest, kept)
		if err != nil {
			return nil, err
		}
		for c, e := range all {
			f.at[c].mean, f.at[c].variance, f.at[c].prior = e.Mean, e.Variance, e.Prior
			f.r.remarks = append(f.r.remarks, fmt.Sprintf("the effects of the levels%s have the standard deviation %.3g", f.name(f.at[c]), math.Sqrt(e.Prior)))
		}
	}
	l.columns = slices.Concat(f.at, f.without)
	rest = slices.Clone(y)
	s := &shift{l, make([]float64, len(y)), make([]float64, len(y))}
	for c := range f.at {
		la.Axpy(-1, left.mean[c], rest)
		la.Axpy(1, left.mean[c], s.mean)
		la.Axpy(1, left.variance[c], s.variance)
	}
	train := len(y) - f.r.held
	l.usual = vec.Total(s.variance[:train]) / float64(train)
	m.levels = l
	seen := make([][][]float64, len(f.at)+len(f.without))
	for c := range f.at {
		seen[c] = [][]float64{left.mean[c]}
	}
	f.at = l.columns
	f.r.views = f.seen(seen)
	s.mean, s.variance = s.mean[train:], s.variance[train:]
	f.r.shift = s
	return rest, nil
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
	for i, v := range f.r.views {
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
			for w, open := range f.r.views {
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
