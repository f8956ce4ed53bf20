package factors

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl"
)

// Rows are the rows of a file, which a model of factors is to predict or to describe by its factors.
type Rows struct {
	File    *console.File
	Columns []int    // of the file: the columns of the table, or the columns of entries
	Names   []string // of the columns of the table
	Listed  bool     // the file lists entries

	note  *notes.Table
	fit   *mkl.FactorAnalysisModel
	held  bool
	group int // the column of the groups, −1 without groups
}

// Use is what rows are for.
type Use struct {
	Values bool // the values of a list of entries are read
	Held   bool // each entry is predicted from the other entries of its row, to compare the prediction with the entry
}

// Find asks a file for the columns that a model needs, as its notes say.
func Find(m *mkl.FactorAnalysisModel, n *notes.Notes, f *console.File, use Use) (*Rows, error) {
	t := &Rows{File: f, Names: n.Targets, Listed: n.Table.Listed(), note: n.Table, fit: m, held: use.Held}
	if err := t.findGroups(); err != nil {
		return nil, err
	}
	if !t.Listed {
		var err error
		if t.Columns, err = spec.Select(spec.Names(t.Names), f.Columns(), nil); err != nil {
			return nil, console.Inputf("%s: %w", f.Name(), err)
		}
		for q, j := range t.Columns {
			want := table.Want{Column: j, Kind: table.Optional}
			if slices.Contains(n.Table.Booleans, t.Names[q]) {
				want.Kind, want.As = table.Any, table.Boolean
			}
			f.Want(want)
		}
		return t, nil
	}
	names := n.Table.Entries
	if !use.Values {
		names = names[:2]
	}
	for k, name := range names {
		found, err := spec.Select(spec.Names([]string{name}), f.Columns(), nil)
		if err != nil {
			return nil, console.Inputf("%s: %w", f.Name(), err)
		}
		t.Columns = append(t.Columns, found[0])
		kind := table.OptionalLabel
		if k == 2 {
			kind = table.Optional
		}
		f.Need(found[0], kind)
	}
	return t, nil
}

// Noun is what a sentence calls one of the rows.
func (t *Rows) Noun() string {
	if t.Listed {
		return "entry"
	}
	return "row"
}

// wide returns the rows of the file in the units of the fit.
func (t *Rows) wide() mkl.DenseTable {
	y := make(mkl.DenseTable, t.File.Data.Rows)
	for i := range y {
		y[i] = make([]float64, len(t.Columns))
		for q, j := range t.Columns {
			center, scale := t.note.Unit(q)
			y[i][q] = (t.File.Data.Numbers[j][i] - center) / scale
		}
	}
	return y
}

// Predict predicts the entries that the file lists, or all entries of its rows by the entries that are there. It
// says on standard error what it cannot predict.
func (t *Rows) Predict(e *console.Env) (*prediction.Outcome, error) {
	if t.Listed {
		return t.predictListed(e)
	}
	var complete by = t.fit.CompleteRows
	if t.held {
		complete = t.fit.LeaveOneOut
	}
	p, err := t.complete(complete)
	if err != nil {
		return nil, err
	}
	out := &prediction.Outcome{Prediction: prediction.Numbers{Prediction: p}, Rows: t.File.Data.Rows}
	for i := range out.Rows {
		out.Kept = append(out.Kept, i)
	}
	return out, nil
}

// Complete predicts all entries of the rows by the entries that are there.
func (t *Rows) Complete() (*mkl.Prediction, error) { return t.complete(t.fit.CompleteRows) }

func (t *Rows) complete(rows by) (*mkl.Prediction, error) {
	mean, variance, err := rows.of(t)
	if err != nil {
		return nil, err
	}
	p := &mkl.Prediction{Mean: make([][]float64, len(t.Names)), Variance: make([][]float64, len(t.Names))}
	for q := range t.Names {
		center, scale := t.note.Unit(q)
		for i := range mean {
			p.Mean[q] = append(p.Mean[q], center+float64(scale*mean[i][q]))
			p.Variance[q] = append(p.Variance[q], scale*scale*variance[i][q])
		}
	}
	return p, nil
}

// predictListed predicts the entries that the file lists.
func (t *Rows) predictListed(e *console.Env) (*prediction.Outcome, error) {
	rows, cols := dataset.Places(t.note.Rows), dataset.Places(t.Names)
	var cells []mkl.TableCell
	d := &t.File.Data
	out := &prediction.Outcome{Rows: d.Rows}
	gaps := dataset.Shortfall{Rows: d.Rows}
	for i := range d.Rows {
		row, rowKnown := rows[d.Labels[t.Columns[0]][i]]
		col, colKnown := cols[d.Labels[t.Columns[1]][i]]
		if rowKnown && colKnown {
			cells, out.Kept = append(cells, mkl.TableCell{Row: row, Col: col}), append(out.Kept, i)
			continue
		}
		if gaps.Missing++; gaps.Missing > 1 {
			continue
		}
		j := t.Columns[0]
		if rowKnown {
			j = t.Columns[1]
		}
		gaps.First = d.Cell(i, j, fmt.Sprintf("%q is not in the table that the model was fitted to", d.Labels[j][i]))
	}
	mean, variance, err := t.fit.Complete(cells...)
	if err != nil {
		return nil, console.Input(err)
	}
	out.Prediction = prediction.Numbers{Prediction: &mkl.Prediction{Mean: [][]float64{mean}, Variance: [][]float64{variance}}}
	return out, gaps.Warn(e, nil, "predicted")
}

// Name adds the columns that name the entries of a list.
func (t *Rows) Name(out *prediction.Columns) {
	if !t.Listed {
		return
	}
	for k, column := range t.note.Entries[:2] {
		names := t.File.Data.Labels[t.Columns[k]]
		out.Add(column, func(i int) string { return names[i] })
	}
}

// EntryNames are the names of the columns of a list of entries.
func (t *Rows) EntryNames() []string { return t.note.Entries }

// Scores are the factors of rows.
type Scores struct {
	Names          []string // of the rows of a list of entries; nil for the rows of the file
	Rows, Factors  int
	Mean, Variance [][]float64 // by row and factor
}

// Scores describes rows by the factors. Rows of a list of entries are new ones, whatever they are called; standard
// error says how many of their entries are of columns that the model does not have.
func (t *Rows) Scores(e *console.Env) (*Scores, error) {
	s := &Scores{Rows: t.File.Data.Rows}
	_, _, s.Factors = t.fit.Dims()
	var err error
	if !t.Listed {
		s.Mean, s.Variance, err = by(t.fit.Transform).of(t)
		return s, err
	}
	list, names, err := t.newRows(e)
	if err != nil {
		return nil, err
	}
	s.Rows, s.Names = len(names), names
	if s.Mean, s.Variance, err = t.fit.Transform(list); err != nil {
		return nil, console.Input(err)
	}
	return s, nil
}

// newRows returns the entries that the file lists as rows of a table of the model's columns, and the names of the
// rows.
func (t *Rows) newRows(e *console.Env) (entries mkl.SparseTable, names []string, err error) {
	read, err := readEntries(t.File, t.Columns)
	if err != nil {
		return entries, nil, err
	}
	cols := dataset.Places(t.Names)
	entries = mkl.SparseTable{Rows: read.Rows, Cols: len(t.Names)}
	strange, first := 0, error(nil)
	for i, entry := range read.Entries {
		name := read.columns[entry.Col]
		col, known := cols[name]
		switch {
		case math.IsNaN(entry.Value):
			continue
		case !known:
			if strange++; strange == 1 {
				first = t.File.Data.Cell(i, t.Columns[1], fmt.Sprintf("%q is not in the table that the model was fitted to", name))
			}
			continue
		}
		entry.Col = col
		entries.Entries = append(entries.Entries, entry)
	}
	if strange > 0 && len(entries.Entries) == 0 {
		return entries, nil, console.Input(first)
	}
	if strange > 0 {
		fmt.Fprintf(e.Stderr, "mkl: warning: %s of columns that the model has not, the first: %v\n", console.Plural(strange, "entry"), first)
	}
	return entries, read.rows, nil
}
