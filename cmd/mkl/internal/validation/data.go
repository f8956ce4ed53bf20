package validation

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/fitting"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/ranking"
	"github.com/bmkl/bmkl/mkl/choose"
)

// data is the samples that candidates are compared on.
type data struct {
	samples *dataset.Samples
	task    string
	form    dataset.Form // of the targets
	classes []string     // nil of a regression
	truth   choose.Truth

	exposure []float64 // by sample, of counts; nil means 1

	groups []int     // by sample; nil without -group
	order  []float64 // by sample; nil without -order
}

// read reads the table and makes the plan of the views by all rows: it says which columns are features and which rows
// are complete.
func read(e *console.Env, f *Flags, quiet bool) (*data, error) {
	o, err := dataset.OpenFiles(e, f.Learn.Flags, "", f.Group)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	order, err := dataset.OneColumn(o.Main, "-order", f.Order, o.Targets)
	if err != nil {
		return nil, err
	}
	var more []table.Want
	if order >= 0 {
		more = append(more, table.Want{Column: order, Kind: table.Any})
	}
	named := fitting.Named(f.Task, o, f.Settings.Grades)
	t, task, guessed, err := fitting.Read(o, named, func(task string) (dataset.Form, error) { return formOf(o, task) }, more...)
	if err != nil {
		return nil, err
	}
	form, err := formOf(o, task)
	if err != nil {
		return nil, err
	}
	s, lines, err := t.Samples()
	if err != nil {
		return nil, err
	}
	if s, err = s.Compare(e, quiet, f.Workers); err != nil {
		return nil, err
	}
	y, err := fitting.Targets(s, form, task)
	if err != nil {
		return nil, err
	}
	for _, line := range slices.Concat(o.Files.Remarks(), lines, fitting.Remarks(t, form, y, task, guessed), fitting.Copies(s.Features, s.Rows(), y)) {
		fmt.Fprintln(e.Stderr, line)
	}
	if task == model.Regression && len(o.Targets) > 1 {
		task = model.Multioutput
	}
	d := &data{samples: s, task: task, form: form, classes: y.Classes, truth: truthOf(y, task), exposure: y.Exposure}
	if d.groups = groupsOf(s, o.Group); order < 0 {
		return d, nil
	}
	d.order, err = orderOf(s, order, f.Order)
	return d, err
}

// formOf refuses tasks that do not fit the targets, and returns the form of these.
func formOf(o *dataset.Opened, task string) (dataset.Form, error) {
	ofOne := []string{model.Regression, model.Binary, model.Multiclass, model.OrdinalTask, model.CountsTask, model.Survival}
	single, several := slices.Contains(ofOne, task), len(o.Targets) > 1
	switch {
	case !several && !single:
		return 0, console.Inputf("mkl cv is for -task %s of one target, not %s: the others need several", console.List(ofOne), task)
	case several && single && task != model.Regression:
		return 0, console.Inputf("-task %s needs one target, not %d", task, len(o.Targets))
	case !several && o.MissingTargets:
		return 0, console.Inputf("-missing-targets is for several targets")
	}
	est, err := model.Find(task, nil, len(o.Targets))
	if err != nil {
		return 0, err
	}
	return est.Form, nil
}

// truthOf is the truth as package choose takes it.
func truthOf(y dataset.Targets, task string) (t choose.Truth) {
	switch task {
	case model.CountsTask:
		return choose.Truth{Counts: y.Numbers[0]}
	case model.Survival:
		return choose.Truth{Times: y.Times}
	}
	if y.Outputs() > 1 && y.Classes == nil {
		for _, numbers := range y.Numbers {
			t.Targets = append(t.Targets, choose.Truth{Numbers: numbers})
		}
		for _, has := range y.Labels {
			t.Targets = append(t.Targets, choose.Truth{Classes: ranking.OfLabels(has)})
		}
		return t
	}
	if y.Classes != nil {
		return choose.Truth{Classes: ranking.OfClasses(y.Class, y.Classes)}
	}
	return choose.Truth{Numbers: y.Numbers[0]}
}

// groupsOf numbers the groups that a column names; nil if it is −1.
func groupsOf(s *dataset.Samples, column int) (groups []int) {
	if column < 0 {
		return nil
	}
	labels := s.Main.Data.Labels[column]
	at := dataset.Places(table.Classes(labels))
	for _, name := range labels {
		groups = append(groups, at[name])
	}
	return groups
}

// orderOf returns the dates or numbers of a column, which -order names.
func orderOf(s *dataset.Samples, column int, name string) ([]float64, error) {
	d := &s.Main.Data
	if d.Types[column] == table.Text {
		return nil, console.Inputf("-order %s: the column is text: dates or numbers are needed", name)
	}
	if i := slices.IndexFunc(d.Numbers[column], math.IsNaN); i >= 0 {
		return nil, console.Input(d.Cell(i, column, "the cell is empty: -order needs all of them"))
	}
	return d.Numbers[column], nil
}
