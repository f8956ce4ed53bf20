package main

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// tableInput is the columns of a file with what a model of factors is to predict, or to be told.
type tableInput struct {
	*tableNote
	fit     *mkl.FactorAnalysisModel
	file    *console.File
	names   []string // of the columns of the table
	columns []int    // of the file: of the table, or of rows and columns, and of values where they are wanted
	held    bool     // each entry is predicted as if it were not there: it is the truth
}

// tableOf asks for the columns of a model of factors; nil if the model is none. Of a list of entries it asks for
// the values only if they are wanted.
func (m *loaded) tableOf(f *console.File, values bool) (*tableInput, error) {
	fit, ok := m.Model.(*mkl.FactorAnalysisModel)
	if !ok {
		return nil, nil
	}
	if f == nil {
		return nil, console.Inputf("a model of factors needs a data file")
	}
	t := &tableInput{tableNote: m.notes.Table, fit: fit, file: f, names: m.notes.Targets}
	if !t.listed() {
		var err error
		if t.columns, err = spec.Select(spec.Names(t.names), f.Columns(), nil); err != nil {
			return nil, console.Inputf("%s: %w", f.Name(), err)
		}
		for _, j := range t.columns {
			f.Need(j, table.Optional)
		}
		return t, nil
	}
	names := t.Entries
	if !values {
		names = names[:2]
	}
	for k, name := range names {
		found, err := spec.Select(spec.Names([]string{name}), f.Columns(), nil)
		if err != nil {
			return nil, console.Inputf("%s: %w", f.Name(), err)
		}
		t.columns = append(t.columns, found[0])
		kind := table.OptionalLabel
		if k == 2 {
			kind = table.Optional
		}
		f.Need(found[0], kind)
	}
	return t, nil
}

// wide returns the rows of the file in the units of the fit.
func (t *tableInput) wide() mkl.Dense {
	y := make(mkl.Dense, t.file.Data.Rows)
	for i := range y {
		y[i] = make([]float64, len(t.columns))
		for q, j := range t.columns {
			center, scale := t.unit(q)
			y[i][q] = (t.file.Data.Numbers[j][i] - center) / scale
		}
	}
	return y
}

// predict predicts each entry that the file lists, or all entries of its rows by those that are there. kept are
// the rows of the file that can be predicted, and missing says what is wrong with the first of the others.
func (t *tableInput) predict() (p *mkl.Prediction, kept []int, missing error, err error) {
	if t.listed() {
		return t.predictListed()
	}
	complete := t.fit.CompleteRows
	if t.held {
		complete = t.fit.LeaveOneOut
	}
	mean, variance, err := complete(t.wide())
	if err != nil {
		return nil, nil, nil, console.Input(err)
	}
	p = &mkl.Prediction{Mean: make([][]float64, len(t.names)), Variance: make([][]float64, len(t.names))}
	for q := range t.names {
		center, scale := t.unit(q)
		for i := range mean {
			p.Mean[q] = append(p.Mean[q], center+float64(scale*mean[i][q]))
			p.Variance[q] = append(p.Variance[q], scale*scale*variance[i][q])
		}
	}
	for i := range mean {
		kept = append(kept, i)
	}
	return p, kept, nil, nil
}

// predictListed predicts the entries that the file lists.
func (t *tableInput) predictListed() (p *mkl.Prediction, kept []int, missing error, err error) {
	rows, cols := places(t.Rows), places(t.names)
	var cells []mkl.Cell
	d := &t.file.Data
	for i := range d.Rows {
		row, rowKnown := rows[d.Labels[t.columns[0]][i]]
		col, colKnown := cols[d.Labels[t.columns[1]][i]]
		switch {
		case rowKnown && colKnown:
			cells, kept = append(cells, mkl.Cell{Row: row, Col: col}), append(kept, i)
		case missing != nil:
		default:
			j := t.columns[0]
			if rowKnown {
				j = t.columns[1]
			}
			missing = d.Cell(i, j, fmt.Sprintf("%q is not in the table that the model was fitted to", d.Labels[j][i]))
		}
	}
	p = &mkl.Prediction{}
	mean, variance, err := t.fit.Complete(cells...)
	if err != nil {
		return nil, nil, nil, console.Input(err)
	}
	p.Mean, p.Variance = [][]float64{mean}, [][]float64{variance}
	return p, kept, missing, nil
}

// name adds the columns that name the entries of a list.
func (t *tableInput) name(out *columns) {
	if !t.listed() {
		return
	}
	for k, column := range t.Entries[:2] {
		names := t.file.Data.Labels[t.columns[k]]
		out.add(column, func(i int) string { return names[i] })
	}
}

// places tells where each name stands.
func places(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	return at
}

// predicted names what a model predicts.
func (m *loaded) predicted() []string {
	if t := m.notes.Table; t != nil && t.listed() {
		return t.Entries[2:]
	}
	return m.notes.Targets
}

// refuseTables refuses a model of factors or of pairs, which the named command is not for.
func (m *loaded) refuseTables(what string) error {
	if m.est.pairs {
		return console.Inputf("%s is not for models of pairs, which predict by what two tables tell of a row and of a column: "+
			"mkl inspect tells what they hold, and mkl evaluate how well they predict", what)
	}
	if m.est.form != tableEntries {
		return nil
	}
	return console.Inputf("%s is not for models of factors, which have neither kernels nor targets beside their table: "+
		"mkl inspect tells what they hold, and mkl evaluate how well they predict", what)
}
