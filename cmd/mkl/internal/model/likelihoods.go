package model

import (
	"context"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// laws are the distributions of times that -law names, and countLaws the distributions of counts but for the first, by evidence.
var (
	laws = words[mkl.SurvivalLaw]{
		{mkl.LawByEvidence.String(), mkl.LawByEvidence}, {mkl.LogNormal.String(), mkl.LogNormal}, {mkl.Weibull.String(), mkl.Weibull},
	}
	countLaws = words[mkl.CountLaw]{
		{mkl.Poisson.String(), mkl.Poisson}, {mkl.NegativeBinomial.String(), mkl.NegativeBinomial}, {mkl.DoublePoisson.String(), mkl.DoublePoisson},
	}
)

// countLaw returns the distribution of counts that -law names.
func (s *Settings) countLaw() (mkl.CountLaw, error) {
	if s.Law == mkl.CountLawByEvidence.String() {
		return mkl.CountLawByEvidence, nil
	}
	for _, l := range countLaws {
		if l.name == s.Law {
			return l.value, nil
		}
	}
	return 0, console.Inputf("-law %s: counts have %s", s.Law, strings.Join(strings.Split(countLaws.names(), ","), " or "))
}

// countRows are the estimators of counts.
var countRows = []*Estimator{{
	Model: "mgp", Tasks: []string{CountsTask}, Kind: "counts", Form: dataset.Numbers, Part: partKernel, One: true, Gaps: true,
	takes: "kernels text exposure law store resume view-group",
	settle: func(r *Request) (*settled, error) {
		law, err := r.Settings.countLaw()
		if err != nil {
			return nil, err
		}
		groups, views, err := r.Settings.viewGroups()
		if err != nil {
			return nil, err
		}
		return &settled{views: views, fitter: func(f *fitting) Fitter {
			c := mkl.Counts{Fitting: f.Fitting, Climb: f.climb(), Groups: groups, MissingViews: f.missingViews, Storage: f.storage, Law: law}
			return Fitter{c.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				c.Exposure = d.Exposure
				return AsModel(c.Fit(ctx, d.Views, d.Numbers[0]))
			}}
		}}, nil
	},
}}

// survivalRows are the estimators of times.
var survivalRows = []*Estimator{{
	Model: "mgp", Tasks: []string{Survival}, Kind: "survival", Form: dataset.Times, Part: partKernel, One: true, Gaps: true,
	takes: "kernels text event upper law store resume view-group",
	settle: func(r *Request) (*settled, error) {
		if !slices.Contains(strings.Split(laws.names(), ","), r.Settings.Law) {
			return nil, console.Inputf("-law %s: times have %s or %s", r.Settings.Law, mkl.LogNormal, mkl.Weibull)
		}
		groups, views, err := r.Settings.viewGroups()
		if err != nil {
			return nil, err
		}
		return &settled{views: views, fitter: func(f *fitting) Fitter {
			s := mkl.Survival{
				Fitting: f.Fitting, Climb: f.climb(), Groups: groups, MissingViews: f.missingViews, Storage: f.storage, Law: laws.value(r.Settings.Law),
			}
			return Fitter{s.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				return AsModel(s.Fit(ctx, d.Views, d.Times))
			}}
		}}, nil
	},
}}

// ordinalRows are the estimators of grades.
var ordinalRows = []*Estimator{{
	Model: "mgp", Tasks: []string{OrdinalTask}, Kind: "ordinal", Form: dataset.Classes, Part: partKernel, One: true, Gaps: true,
	takes: "kernels text grades store resume view-group",
	settle: func(r *Request) (*settled, error) {
		order, err := gradesOf(r.Settings.Grades)
		if err != nil {
			return nil, err
		}
		groups, views, err := r.Settings.viewGroups()
		if err != nil {
			return nil, err
		}
		return &settled{views: views, fitter: func(f *fitting) Fitter {
			o := mkl.Ordinal[string]{Fitting: f.Fitting, Climb: f.climb(), Groups: groups, MissingViews: f.missingViews, Storage: f.storage}
			return Fitter{o.EstimateMemory, func(ctx context.Context, d *Data) (mkl.Model, error) {
				if o.Grades, err = InOrder(order, d.Classes); err != nil {
					return nil, err
				}
				return AsModel(o.Fit(ctx, d.Views, d.Class))
			}}
		}}, nil
	},
}}

// gradesOf checks -grades.
func gradesOf(order []string) (grades []string, err error) {
	for _, g := range order {
		g = strings.TrimSpace(g)
		if g == "" || table.Find(grades, g) >= 0 {
			return nil, console.Inputf("-grades %s: name each grade once, from the lowest to the highest", strings.Join(order, ","))
		}
		grades = append(grades, g)
	}
	if len(grades) == 1 {
		return nil, console.Inputf("-grades %s: two grades are needed at least", grades[0])
	}
	return grades, nil
}

// Grades returns the grades of a target as InOrder does, from what -grades says.
func Grades(flag, classes []string) ([]string, error) {
	order, err := gradesOf(flag)
	if err != nil {
		return nil, err
	}
	return InOrder(order, classes)
}

// InOrder returns the grades of a target from the lowest to the highest: in the order of -grades and in the words of the data, or as the
// numbers that they are. classes are in ascending order if all of them are numbers.
func InOrder(order, classes []string) ([]string, error) {
	if order == nil {
		if !allNumbers(classes) {
			return nil, console.Inputf("-task %s: the grades %s are not all numbers: -grades names them from the lowest to the highest", OrdinalTask, console.Few(classes))
		}
		return classes, nil
	}
	grades, found := slices.Clone(order), make([]bool, len(order))
	for _, c := range classes {
		k := table.Find(order, c)
		if k < 0 {
			return nil, console.Inputf("-grades: %q is a grade of the data, but not in %s", c, strings.Join(order, ","))
		}
		if found[k] {
			return nil, console.Inputf("-grades: the data write the grade %s as %q and as %q", order[k], grades[k], c)
		}
		grades[k], found[k] = c, true
	}
	return grades, nil
}
