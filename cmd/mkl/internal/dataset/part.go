package dataset

import (
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/mkl"
)

// Part is the table of some of the rows, with files of its own. Of kernels that are given it has these rows and
// columns. What is known of strings stays known.
func (s *Samples) Part(e *console.Env, rows []int) *Table {
	part := &Table{Opened: s.Opened}
	part.Files = &console.Files{Env: e}
	own := map[*console.File]*console.File{}
	some := func(f *console.File) *console.File {
		if own[f] == nil {
			one := *f
			one.Data = f.Data.Some(rows)
			own[f] = &one
			part.Files.All = append(part.Files.All, &one)
		}
		return own[f]
	}
	part.Main = some(s.Main)
	part.Views = slices.Clone(s.Views)
	for i, f := range s.Features {
		v := View{Name: f.Name, Source: f.Source, Kernels: f.Kernels}
		if v.Kernels.Square() {
			v.Source = v.Source.At(rows)
		}
		v.Source.File = some(v.Source.File)
		part.Views[i] = v
		part.strings = append(part.strings, f.Strings.some(rows))
	}
	return part
}

// HavingAny lists the rows, among the given ones, that have at least one of the views. Only with -missing views are there others.
func (s *Samples) HavingAny(rows []int) (some []int) {
	for _, i := range rows {
		if slices.ContainsFunc(s.Features, func(f Features) bool { return f.Absent == nil || !f.Absent[i] }) {
			some = append(some, i)
		}
	}
	return some
}

// With is the samples with other flags, targets, and kernels for the views that the function chooses.
func (s *Samples) With(f Flags, targets []int, kernels Kernels, views func(View) bool) *Samples {
	other := *s
	other.Flags, other.Targets = f, targets
	other.Views, other.Features = slices.Clone(s.Views), slices.Clone(s.Features)
	for i, v := range s.Views {
		if views(v) {
			other.Views[i].Kernels, other.Features[i].Kernels = kernels, kernels
		}
	}
	return &other
}

// Only is the samples with the views, by their places, that the function chooses.
func (s *Samples) Only(which func(view int) bool) *Samples {
	other := *s
	other.Views, other.Features, other.strings = nil, nil, nil
	for i := range s.Views {
		if which(i) {
			other.Views, other.Features = append(other.Views, s.Views[i]), append(other.Features, s.Features[i])
			other.strings = append(other.strings, s.strings[i])
		}
	}
	return &other
}

// Inputs is what a model takes to predict the rows test, where fitted, a part of these samples with the rows train,
// is what the model was fitted to. of are the model's inputs.
func (s *Samples) Inputs(fitted *Samples, of []mkl.ModelInput, train, test []int) (x []mkl.Features) {
	for k := range s.Features {
		x = append(x, s.Features[k].inputs(&fitted.Features[k], of[len(x):], train, test)...)
	}
	return x
}

// inputs is the features of the rows test for a view of a fit to the rows train. The view's inputs are the first of
// next. A kernel that is given may need a column more than the fit: the kernel of each row with itself.
func (f *Features) inputs(fitted *Features, next []mkl.ModelInput, train, test []int) []mkl.Features {
	if f.Strings != nil {
		var columns []int
		for _, in := range next[:len(f.Strings.views)] {
			columns = append(columns, in.Cols)
		}
		return f.Strings.inputs(train, test, columns)
	}
	some := f.Source.File.Data.Some(test)
	encoded := plan.Encode(fitted.Plan, fitted.Source.Columns, &some)
	if next[0].MissingViews {
		encoded.Lack()
	}
	return []mkl.Features{withSelf(encoded.X, next[0].Cols, func(n int) float64 {
		return f.Source.File.Data.Numbers[f.Source.Columns[test[n]]][test[n]]
	})}
}
