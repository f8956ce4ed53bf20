package dataset

import (
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/internal/encode"
)

// Table is a data set whose cells are read.
type Table struct {
	Opened
	strings []*Strings // by view: the strings of a larger table that this one is a part of; nil of other views
}

// TableOf makes a table of one view of a file that was read, without targets.
func TableOf(f Flags, files *console.Files, v View) *Table {
	return &Table{Opened: Opened{Flags: f, Files: files, Main: v.Source.File, Group: -1, Beside: noBeside, Views: []View{v}}, strings: make([]*Strings, 1)}
}

// Rows is the number of rows.
func (t *Table) Rows() int { return t.Main.Data.Rows }

// TargetName is the name of the first target.
func (t *Table) TargetName() string { return t.Main.Columns()[t.Targets[0]] }

// TargetNames are the names of the targets.
func (t *Table) TargetNames() (names []string) {
	for _, j := range t.Targets {
		names = append(names, t.Main.Columns()[j])
	}
	return names
}

// Undecided are the cells of the only target, which was read as text or numbers alike.
func (t *Table) Undecided() []string { return t.Main.Data.Labels[t.Targets[0]] }

// Decide reads the cells of the only target anew, as a kind of cells.
func (t *Table) Decide(kind table.Kind) error {
	if err := t.Main.Data.Decide(t.Targets[0], kind); err != nil {
		return t.hint(console.Input(err))
	}
	return nil
}

// outcomes are the targets as numbers, for what a plan says of columns.
func (t *Table) outcomes() (all [][]float64) {
	for _, j := range t.Targets {
		if numbers, ok := t.Main.Data.Numbers[j]; ok {
			all = append(all, numbers)
			continue
		}
		labels := t.Main.Data.Labels[j]
		at := Places(table.Classes(labels))
		class := make([]float64, len(labels))
		for i, label := range labels {
			class[i] = float64(at[label])
			if label == "" {
				class[i] = math.NaN()
			}
		}
		all = append(all, plan.Outcomes(class)...)
	}
	return all
}

// plans makes the plan of each view by the rows there are.
func (t *Table) plans() (all []plan.View) {
	outcomes := t.outcomes()
	for _, v := range t.Views {
		s := v.Source
		if v.Kernels.Given() || v.Kernels.OfStrings() {
			given := plan.View{At: s.Columns}
			for _, name := range s.Names() {
				given.Columns = append(given.Columns, encode.Plain(name))
			}
			all = append(all, given)
			continue
		}
		text := plan.Text(t.Text)
		if v.Kernels.ofCategories() {
			text = plan.Category
		}
		one := plan.Table{Data: &s.File.Data, Names: s.File.Columns(), Columns: s.Columns, Named: s.Named, Text: text, Dates: v.Kernels == nil && t.Dates != datesTrend}
		if s.File.Data.Rows == t.Rows() {
			one.Outcomes = outcomes
		}
		all = append(all, plan.Learn(one, t.Missing == MissingImpute))
	}
	return all
}
