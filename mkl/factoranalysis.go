package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/slab"
)

// SlabPrior is the spike-and-slab prior of a weight.
type SlabPrior = slab.Prior

// FactorAnalysis is sparse factor analysis of a table, with or without gaps: each
// entry is the column's offset, a sum of products of the row's factors and the
// column's weights, and noise. Weights have a spike-and-slab prior, so that a
// column depends on few factors, and factors that no column needs vanish. It
// completes tables (ratings, damaged pictures), reduces rows to their factors, and
// learns dictionaries. The zero value is ready to fit.
//
// Source: M. K. Titsias and M. Lázaro-Gredilla, "Spike and slab variational
// inference for multi-task and multiple kernel learning", NIPS 2011, sections 2.2
// and 2.3.
type FactorAnalysis struct {
	Fitting
	Ascent

	// Factors is the number of factors, at most; 0 means 10.
	Factors int

	// Views, if not empty, says that the columns are of several views: the first Views[0].Columns columns are of the first view,
	// and so on. Each factor then has a spike-and-slab prior of its own for the weights of each view, so that it can be at
	// work in some views only, and [FactorAnalysisModel.VarianceExplained] says in which. The fit centres the columns, unless NoOffsets is
	// set, and divides each view by its standard deviation, so that the units of the views have no effect. Predictions, weights and
	// noise are in the units of the table. The factors are sorted by the variance that they explain. The entries of a view may be
	// numbers, 0 and 1, or counts: see [FactorView].
	Views []FactorView

	// Groups, if not nil, holds the name of the group of each row, such as a condition, a batch or a study. The groups share the
	// weights. Each group has offsets and noise of its own, and a variance of each factor, so that a factor can be at work in one
	// group and silent in another. Differences between the means of groups are then no factors. A group needs two rows. Without
	// Views all columns are one view, called "table". If all rows are of one group the fit is the same as without groups. With more groups
	// the first start is at rotated principal components, and Restarts are drawn.
	Groups []string

	// Prior is the prior of the weights from which the fit starts; with FixedPrior it is kept. A
	// Pi of 0 means ½. A Variance of 0 is replaced so that half the variance of the data comes from
	// the factors. Pi must be less than 1.
	Prior      SlabPrior
	FixedPrior bool

	// SharedNoise gives all columns the same noise (probabilistic PCA). Without it each
	// column has its own noise (factor analysis).
	SharedNoise bool

	// NoiseWeight is the weight, in entries, of a prior that makes the columns'
	// noise alike; its scale is learned. 0 means 10. A negative weight switches the prior off, as in
	// the paper; a column of few entries is then fitted without error.
	NoiseWeight float64

	// NoOffsets leaves out the columns' offsets, as in the paper; the table should
	// then be centred. Offsets have a normal prior, which is learned.
	NoOffsets bool

	// RowDistances, if not empty, holds the distances between the rows, rows × rows. Each
	// factor is then a Gaussian process over the rows with the covariance exp(−d/ℓ), whose
	// length ℓ is learned, so that near rows have similar factors. It is meant for few
	// rows and many columns: a sweep costs rows³ more for each factor.
	RowDistances Features

	// Like, if not nil, is a fit of other columns with the same rows. Its factors replace
	// the random start: a few of many columns may be fitted first.
	// With Like there is one start, and Restarts must be 0.
	Like *FactorAnalysisModel
}

const (
	defaultFactors     = 10
	defaultNoiseWeight = 10
)

// inference checks the settings and converts them to the settings of package slab.
func (f FactorAnalysis) inference(rows int) (slab.Factors, error) {
	v := slab.Factors{
		Count: f.Factors, Prior: f.Prior, NoiseWeight: f.NoiseWeight, Offsets: !f.NoOffsets,
		Held: slab.Held{Pi: f.FixedPrior, Variance: f.FixedPrior}, Workers: f.Workers,
	}
	switch {
	case f.Factors < 0:
		return v, fmt.Errorf("mkl: Factors is %d: it must not be negative", f.Factors)
	case f.Factors == 0:
		v.Count = defaultFactors
	}
	if f.Restarts > 0 && f.Like != nil {
		return v, fmt.Errorf("mkl: Restarts is %d: with Like there is one start", f.Restarts)
	}
	if len(f.Groups) > 0 && f.RowDistances.Rows > 0 {
		return v, fmt.Errorf("mkl: RowDistances excludes Groups")
	}
	if len(f.Views) > 0 && f.Like != nil {
		return v, fmt.Errorf("mkl: Like: fits with Views have no such start")
	}
	if f.Prior.Pi == 1 {
		return v, fmt.Errorf("mkl: Prior.Pi is 1: it must be less")
	}
	if f.SharedNoise {
		v.Noise = slab.NoiseShared
	}
	switch {
	case f.SharedNoise || f.NoiseWeight < 0:
		v.NoiseWeight = 0
	case f.NoiseWeight == 0:
		v.NoiseWeight = defaultNoiseWeight
	}
	if d := f.RowDistances; d.Rows > 0 || d.Cols > 0 {
		var err error
		if v.Covariance, err = rowCovariance(d, rows); err != nil {
			return v, err
		}
	}
	for _, view := range f.Views {
		v.Views, v.Kinds = append(v.Views, view.Columns), append(v.Kinds, view.Kind)
	}
	if f.Like != nil {
		v.Like = f.Like.posterior
	}
	return v, nil
}

// rowCovariance returns the covariance of factors over rows at the distances d. Its
// length ℓ starts at a tenth of the largest distance.
func rowCovariance(d Features, rows int) (c slab.Covariance, err error) {
	if d.Rows != rows || d.Cols != rows {
		return c, fmt.Errorf("mkl: RowDistances: %d×%d for %d rows", d.Rows, d.Cols, rows)
	}
	if err := gram.CheckLayout("RowDistances", d); err != nil {
		return c, err
	}
	if err := checkFinite("RowDistances", d); err != nil {
		return c, err
	}
	least, most := math.Inf(1), 0.0
	for i := range rows {
		for j, v := range d.Row(i) {
			switch {
			case v < 0 || i == j && v != 0:
				return c, &ValueError{Arg: "RowDistances", Row: i, Col: j, Value: v}
			case v != d.At(j, i):
				return c, fmt.Errorf("mkl: RowDistances[%d][%d] is %g and [%d][%d] is %g", i, j, v, j, i, d.At(j, i))
			case v > 0:
				least, most = min(least, v), max(most, v)
			}
		}
	}
	if most == 0 {
		return c, fmt.Errorf("mkl: RowDistances: every distance is zero")
	}
	return slab.DecayCovariance(d, max(0.1*most, least), 0.01*least, 100*most), nil
}

// fit returns the model of a fit, with the notes. With views, y is the table in the units of the fit.
func (f FactorAnalysis) fit(fit *slab.FactorFit, y *slab.Observed, of *factorViews) (*FactorAnalysisModel, error) {
	m := &FactorAnalysisModel{record: f.fitting().record(newTrace(fit.Record, nil)), posterior: fit.Posterior}
	if of == nil {
		return m, nil
	}
	m.views = of
	var err error
	m.posterior, err = of.explain(fit.Posterior, y)
	return m, err
}

// EstimateMemory returns about how many bytes a fit takes, without the table itself,
// for a table with the given numbers of rows, columns and observed entries.
func (f FactorAnalysis) EstimateMemory(rows, cols, entries int) int64 {
	m := float64(f.Factors) // not an int: one more than the largest is negative
	if m == 0 {
		m = defaultFactors
	}
	bytes := float64(32*float64(rows)*(m+1)) + float64(64*float64(cols)*(m+1))
	if entries == rows*cols {
		bytes += float64(8*float64(entries)) + float64(8*float64(max(rows, cols))*(m+1))
	} else {
		bytes += float64(24 * float64(entries))
	}
	if len(f.Groups) > 0 { // targets and precisions, as below, and the sums of every row
		bytes += float64(56*float64(entries)) + float64(8*float64(rows)*m*(m+4))
		bytes += float64(8 * m * float64(2*rows+cols)) // the start
	}
	if len(f.Views) > 0 { // a copy of the values in other units, by row and by column
		bytes += float64(16 * float64(entries))
	}
	if slices.ContainsFunc(f.Views, func(v FactorView) bool { return v.Kind != GaussianView }) { // targets and precisions, by row and by column
		bytes += float64(56 * float64(entries))
	}
	if !f.SharedNoise {
		bytes += float64(16 * float64(cols) * (m + 1))
	}
	return inBytes(bytes / 8)
}

// fitting returns the settings of a fit.
func (f FactorAnalysis) fitting() *fitting {
	return &fitting{Fitting: f.Fitting, Ascent: f.Ascent}
}

// Fit fits the model to a table. Errors name the argument and the place of the
// fault. If the context ends, an update fails or the bound falls
// by more than rounding explains, Fit returns an error and the model of the sweeps
// before, or a nil model if there were none.
func (f FactorAnalysis) Fit(ctx context.Context, y Table) (*FactorAnalysisModel, error) {
	settings := f.fitting()
	if y == nil {
		return nil, fmt.Errorf("mkl: y: nil")
	}
	rows, cols := y.Dims()
	if err := settings.check(f.EstimateMemory(rows, cols, 0)); err != nil { // before the entries are read
		return nil, err
	}
	groups, err := rowGroupsOf(f.Groups, rows)
	if err != nil {
		return nil, err
	}
	if groups != nil && len(f.Views) == 0 {
		f.Views = []FactorView{{Name: "table", Columns: cols}}
	}
	v, err := f.inference(rows)
	if err != nil {
		return nil, err
	}
	v.Groups = groups.indices()
	if err := y.check("y"); err != nil {
		return nil, err
	}
	if rows == 1 { // before the entries are laid out: each list of 2³¹ columns takes 17 GB
		return nil, fmt.Errorf("mkl: y: one row: factors are learned from how rows differ, and need at least two")
	}
	o, err := layOut(y)
	if err != nil {
		return nil, err
	}
	_, _, entries := o.Dims()
	if f.Factors > entries {
		return nil, fmt.Errorf("mkl: Factors is %d: a table of %d entries determines at most %d", f.Factors, entries, entries)
	}
	if err := settings.check(f.EstimateMemory(rows, cols, entries)); err != nil {
		return nil, err
	}
	of, err := f.viewsOf(o, groups)
	if err != nil {
		return nil, err
	}
	if of != nil {
		o = of.inUnits(o, groups.indices())
	}
	fit, err := bestStart(ctx, settings, func(seed uint64, a vi.Ascent) (*slab.FactorFit, error) {
		v.Seed, v.Ascent = seed, a
		v.Principal = groups != nil && seed == f.Seed // the first of all starts
		return v.Fit(ctx, o)
	}, func(fit *slab.FactorFit) vi.Record { return fit.Record })
	if fit == nil {
		return nil, err
	}
	m, bad := f.fit(fit, o, of)
	if bad != nil {
		return nil, fmt.Errorf("mkl: %w", bad)
	}
	return m, err
}
