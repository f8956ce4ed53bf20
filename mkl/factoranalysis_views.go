package mkl

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/bmkl/bmkl/vi/slab"
)

// FactorView is a view of the rows of a table: a number of columns that stand side by side.
type FactorView struct {
	Name    string `json:"name"`    // for reports; no two views may have the same
	Columns int    `json:"columns"` // at least 1

	Kind FactorKind `json:"kind,omitempty"` // of the entries
}

// FactorKind is the distribution of the entries of a view, given the function f, which is the sum of the column's offset and of the products of
// factors and weights: [GaussianView], [BernoulliView] or [PoissonView].
type FactorKind = slab.FactorKind

// Kinds of views.
const (
	GaussianView  = slab.Gaussian  // numbers, normal with the mean f and the noise of the column; the default
	BernoulliView = slab.Bernoulli // 0 or 1, and 1 with the probability 1/(1+exp(−f))
	PoissonView   = slab.Poisson   // counts 0, 1, 2, …, Poisson distributed with the mean log(1+exp(f))
)

// ViewVariance holds the shares of the variance of a view that the factors explain, at most 1.
type ViewVariance struct {
	View    string    `json:"view"`    // name
	All     float64   `json:"all"`     // share that all factors explain together
	Factors []float64 `json:"factors"` // share that each factor explains alone

	Groups []GroupVariance `json:"groups,omitempty"` // the same among the rows of each group; nil without groups
}

// unusedVariance is the share of the variance of a view below which a factor counts as not used there.
const unusedVariance = 0.01

// factorViews are the views of a model, and the units of its columns. The pointer is nil without views: fromUnit and moments then
// return their arguments.
type factorViews struct {
	views     []FactorView
	center    [][]float64  // of the columns, for each group; without groups there is one
	scale     []float64    // of the columns
	kinds     []FactorKind // of the columns
	explained []ViewVariance
	groups    []string // names; nil without groups
}

// viewsOf checks the views of a table, and finds the units of its columns, in which each column has the mean 0, if there are
// offsets, and the entries of each view have the mean square 1. With groups the mean is 0 in each group. It returns nil without views.
func (f FactorAnalysis) viewsOf(y *slab.Observed, groups *rowGroups) (*factorViews, error) {
	if len(f.Views) == 0 {
		return nil, nil
	}
	N, Q, _ := y.Dims()
	if err := checkFactorViews(f.Views, Q); err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	of := &factorViews{views: slices.Clone(f.Views), kinds: kindsOfColumns(f.Views), scale: make([]float64, Q)}
	group := make([]int, N)
	if groups != nil {
		of.groups, group = groups.names, groups.of
	}
	for range max(1, len(of.groups)) {
		of.center = append(of.center, make([]float64, Q))
	}
	kinds := of.kinds
	for n := range N {
		if err := checkKinds(kinds, n, y); err != nil {
			return nil, err
		}
	}
	each := func(do func(g, q int, v float64)) {
		for n := range N {
			tasks, entries := y.Object(n)
			for i, q := range tasks {
				do(group[n], q, entries[i])
			}
		}
	}
	inGroup := make([][]float64, len(of.center)) // entries
	for g := range inGroup {
		inGroup[g] = make([]float64, Q)
	}
	count, square := make([]float64, Q), make([]float64, Q)
	each(func(g, q int, v float64) {
		inGroup[g][q]++
		count[q]++
		if !f.NoOffsets && kinds[q] == GaussianView {
			of.center[g][q] += v
		}
	})
	for q, n := range count {
		var mean float64
		for g := range of.center {
			mean += of.center[g][q] / max(n, 1)
		}
		for g := range of.center {
			if own := inGroup[g][q]; own > 0 {
				of.center[g][q] /= own
			} else { // no entry of the group says more
				of.center[g][q] = mean
			}
		}
	}
	each(func(g, q int, v float64) {
		d := v - of.center[g][q]
		square[q] += float64(d * d)
	})
	first := 0
	for i, v := range f.Views {
		var sum, n float64
		for q := first; q < first+v.Columns; q++ {
			sum, n = sum+square[q], n+count[q]
		}
		sd := 1.0
		if sum > 0 && v.Kind == GaussianView {
			sd = math.Sqrt(sum / n)
		}
		if math.IsInf(sd, 1) {
			return nil, fmt.Errorf("mkl: Views[%d]: the squares of its entries overflow", i)
		}
		for q := first; q < first+v.Columns; q++ {
			of.scale[q] = sd
		}
		first += v.Columns
	}
	return of, nil
}

// kindsOfColumns returns the kind of each column.
func kindsOfColumns(views []FactorView) (kinds []FactorKind) {
	for _, v := range views {
		kinds = append(kinds, slices.Repeat([]FactorKind{v.Kind}, v.Columns)...)
	}
	return kinds
}

// checkKinds returns an error for the first entry of row n that is not of the kind of its column.
func checkKinds(kinds []FactorKind, n int, y *slab.Observed) error {
	columns, entries := y.Object(n)
	for i, q := range columns {
		if err := kinds[q].Check(entries[i]); err != nil {
			return fmt.Errorf("mkl: y: row %d, column %d, of a %s view, %w", n, q, kinds[q], err)
		}
	}
	return nil
}

// checkFactorViews returns an error unless every view has a column and a name of its own, and the views have the given number of columns
// together.
func checkFactorViews(views []FactorView, cols int) error {
	at := map[string]int{}
	left := cols
	for i, v := range views {
		if v.Columns < 1 {
			return fmt.Errorf("Views[%d].Columns is %d: it must be positive", i, v.Columns)
		}
		if k, taken := at[v.Name]; taken {
			return fmt.Errorf("Views[%d].Name is %q, as Views[%d] is called", i, v.Name, k)
		}
		if v.Kind < GaussianView || v.Kind > PoissonView {
			return fmt.Errorf("Views[%d].Kind is %d: there is no such kind", i, v.Kind)
		}
		if at[v.Name] = i; v.Columns > left {
			return fmt.Errorf("Views[%d].Columns is %d: %d of the table's %d columns are left", i, v.Columns, left, cols)
		}
		left -= v.Columns
	}
	if left > 0 {
		return fmt.Errorf("Views: %d of the table's %d columns are of no view", left, cols)
	}
	return nil
}

// explain sets the variance of y that the factors explain, and returns the posterior with its factors sorted by it, the largest first.
// y is the table in the units of the fit.
func (of *factorViews) explain(p *slab.FactorPosterior, y *slab.Observed) (*slab.FactorPosterior, error) {
	each, all, err := p.Explained(y)
	if err != nil {
		return nil, err
	}
	order, sum := make([]int, each.Cols), make([]float64, each.Cols)
	for k := range order {
		order[k] = k
		for v := range each.Rows {
			sum[k] += each.At(v, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sum[b], sum[a]) })
	for v, view := range of.views {
		own := ViewVariance{View: view.Name, All: all[v]}
		for _, k := range order {
			own.Factors = append(own.Factors, each.At(v, k))
		}
		of.explained = append(of.explained, own)
	}
	if err := of.explainGroups(p, y, order); err != nil {
		return nil, err
	}
	return p.Reordered(order)
}

// fromUnit converts a standard deviation or a weight of column q from the unit of the fit to the unit of the table.
func (of *factorViews) fromUnit(q int, x float64) float64 {
	if of == nil {
		return x
	}
	return of.scale[q] * x
}

// moments converts the mean and the variance of an entry of column q, in group g, from the unit of the fit to the unit of the table.
func (of *factorViews) moments(g, q int, mean, variance float64) (inMean, inVariance float64) {
	if of == nil {
		return mean, variance
	}
	s := of.scale[q]
	return of.center[g][q] + float64(s*mean), s * s * variance
}

// Views returns the views of the fit, or nil.
func (m *FactorAnalysisModel) Views() []FactorView {
	if m.views == nil {
		return nil
	}
	return slices.Clone(m.views.views)
}

// VarianceExplained returns for each view the share of its variance that the factors explain, each alone and all together,
//
//	1 − Σ(y − offset − f)²/Σ(y − offset)²,
//
// where f is the contribution of the factors and the sums are over the observed entries of the view. A factor that increases the squares
// has a negative share. Of a view that is not Gaussian the shares are of the deviance, with twice what log p(y|f) lacks of its
// maximum over f in place of the squares. VarianceExplained returns nil without views.
//
// Source: R. Argelaguet et al., "Multi-Omics Factor Analysis: a framework for unsupervised integration of multi-omics data
// sets", Molecular Systems Biology 14:e8124 (2018).
func (m *FactorAnalysisModel) VarianceExplained() []ViewVariance {
	if m.views == nil {
		return nil
	}
	all := slices.Clone(m.views.explained)
	for i, v := range all {
		all[i].Factors = slices.Clone(v.Factors)
		all[i].Groups = slices.Clone(v.Groups)
		for g, own := range v.Groups {
			all[i].Groups[g].Factors = slices.Clone(own.Factors)
		}
	}
	return all
}

// Used returns the factors, counted from 0, that explain at least a hundredth of the variance of some view, or with groups of some view
// in some group. It returns nil without views.
func (m *FactorAnalysisModel) Used() []int {
	if m.views == nil {
		return nil
	}
	return m.views.used()
}

// used returns the factors that explain at least unusedVariance of some view or, with groups, of some view in some group.
func (of *factorViews) used() (factors []int) {
	for k := range of.explained[0].Factors {
		if slices.ContainsFunc(of.explained, func(v ViewVariance) bool {
			return v.Factors[k] >= unusedVariance || slices.ContainsFunc(v.Groups, func(g GroupVariance) bool { return g.Factors[k] >= unusedVariance })
		}) {
			factors = append(factors, k)
		}
	}
	return factors
}

// summary writes the table of views and factors.
func (of *factorViews) summary(out io.Writer) {
	used := of.used()
	fmt.Fprintf(out, "%d of %d factors explain at least 1 %% of a view; variance explained, %%\n", len(used), len(of.explained[0].Factors))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "view\tall\t")
	for _, k := range used {
		fmt.Fprintf(w, "factor %d\t", k+1)
	}
	fmt.Fprintln(w)
	row := func(name string, all float64, factors []float64) {
		fmt.Fprintf(w, "%s\t%.1f\t", name, 100*all)
		for _, k := range used {
			fmt.Fprintf(w, "%.1f\t", 100*factors[k])
		}
		fmt.Fprintln(w)
	}
	for _, v := range of.explained {
		row(v.View, v.All, v.Factors)
		for _, g := range v.Groups {
			row(v.View+", "+g.Group, g.All, g.Factors)
		}
	}
	w.Flush()
}

// add adds the views to a model file.
func (of *factorViews) add(f *fileWriter, j *factorsJSON, s *slab.FactorState) {
	if of == nil {
		return
	}
	j.Views, j.Groups = of.views, of.groups
	of.addGroups(f, s.Groups)
	var flat, explained []float64
	for _, p := range s.Priors {
		flat = append(flat, p.Pi, p.Variance)
	}
	for _, v := range of.explained {
		explained = append(append(explained, v.All), v.Factors...)
	}
	V, Q := len(of.views), len(of.scale)
	f.add("views.priors", flat, V, len(s.Priors)/V, 2)
	f.add("views.explained", explained, V, len(explained)/V)
	f.add("views.center", of.center[0], Q)
	if of.groups != nil {
		f.add("groups.center", slices.Concat(of.center...), len(of.groups), Q)
	}
	f.add("views.scale", of.scale, Q)
	if s.OffsetPriors != nil {
		var flat []float64
		for _, p := range s.OffsetPriors {
			flat = append(flat, p.Mean, p.Variance)
		}
		f.add("views.offsets", flat, V, 2)
	}
}

// decodeViews reads the arrays that add has written.
func (m *FactorAnalysisModel) decodeViews(f *fileReader, s *slab.FactorState, j factorsJSON) error {
	views := j.Views
	if len(views) == 0 {
		if j.Groups != nil {
			return fmt.Errorf("model: groups without views")
		}
		return nil
	}
	V, Q, M := len(views), len(s.Noise), s.Mean.Cols
	if err := checkFactorViews(views, Q); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	of := &factorViews{views: views, kinds: kindsOfColumns(views)}
	priors, explained := f.take("views.priors", V, M, 2), f.takeMatrix("views.explained", V, M+1)
	of.center, of.scale = [][]float64{f.take("views.center", Q)}, f.takePositive("views.scale", Q)
	if j.Groups != nil {
		centers := f.takeMatrix("groups.center", len(j.Groups), Q)
		of.center = of.center[:0]
		for g := range centers.Rows {
			of.center = append(of.center, centers.Row(g))
		}
	}
	if f.has("views.offsets") {
		offsets := f.take("views.offsets", V, 2)
		for v := range len(offsets) / 2 {
			s.OffsetPriors = append(s.OffsetPriors, slab.OffsetPrior{Mean: offsets[2*v], Variance: offsets[2*v+1]})
		}
	}
	if f.err != nil {
		return f.err
	}
	for v, view := range views {
		row := explained.Row(v)
		s.Views, s.Kinds = append(s.Views, view.Columns), append(s.Kinds, view.Kind)
		of.explained = append(of.explained, ViewVariance{View: view.Name, All: row[0], Factors: slices.Clone(row[1:])})
		for k := range M {
			p := priors[2*(v*M+k):]
			s.Priors = append(s.Priors, SlabPrior{Pi: p[0], Variance: p[1]})
		}
	}
	m.views = of
	return of.decodeGroups(f, s, j.Groups)
}
