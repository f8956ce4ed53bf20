// Package factors reads tables with gaps, for factor analysis and for the prediction of their entries. A file holds a
// table either with a column for each column, or as a list of entries: the name of a row, the name of a column and
// a value in each line.
package factors

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/mkl"
)

// Table is a table that was read for a fit.
type Table struct {
	Note    notes.Table
	Columns []string         // names
	Table   mkl.Table        // as package mkl takes it
	Entries int              // that are there
	Views   []mkl.FactorView // in the order of the columns, which they divide; nil without views
	Groups  []string         // of the rows; nil without groups
	Lines   []string         // what is to be said of the table

	Files  []*console.File
	Source console.Source // the columns that were read
}

// Name is the name of the file.
func (t *Table) Name() string { return t.Source.File.Name() }

// check refuses flags that are not for such a table.
func check(f dataset.Flags, task, entries string) error {
	switch {
	case entries != "" && f.View != nil:
		return console.Inputf("-entries excludes -view: a list of entries has no views")
	case f.View != nil && f.Target != "":
		return console.Inputf("-view excludes -target: with -task %s it names the columns to learn", task)
	case entries != "" && f.Target != "":
		return console.Inputf("-entries excludes -target: it names the column of the values")
	}
	for _, flag := range []struct {
		name  string
		given bool
	}{{"missing", f.Missing != dataset.MissingImpute}, {"as", f.As != nil}, {"join", f.Join != ""}} {
		if flag.given {
			return console.Inputf("-%s is not for -task %s, which learns from tables with missing entries", flag.name, task)
		}
	}
	return nil
}

// Request says how a table is laid out.
type Request struct {
	Task    string
	Entries string   // the text of -entries: the columns of a list of entries; empty if the file has a column for each column
	Groups  string   // the text of -groups: the column of the groups of rows
	Kinds   []string // the texts of -view-kind
}

// Read reads a table for a fit.
func Read(e *console.Env, f dataset.Flags, r Request) (*Table, error) {
	if err := check(f, r.Task, r.Entries); err != nil {
		return nil, err
	}
	switch {
	case r.Kinds != nil && f.View == nil:
		return nil, console.Inputf("-view-kind %s: it sets the kind of a -view, and no -view is given", r.Kinds[0])
	case r.Groups != "" && r.Entries != "":
		return nil, console.Inputf("-groups excludes -entries: a list of entries has no column with the groups of its rows")
	}
	opt, err := f.Options()
	if err != nil {
		return nil, err
	}
	fs := &console.Files{Env: e, Opt: opt}
	defer fs.Close()
	main, err := fs.Open(f.Data)
	if err != nil {
		return nil, err
	}
	t := &Table{Files: fs.All}
	if r.Entries != "" {
		err = t.readList(fs, main, r.Entries)
	} else {
		err = t.readWide(fs, main, f, r)
	}
	if err != nil {
		return nil, err
	}
	t.Lines = append(fs.Remarks(), t.Lines...)
	return t, nil
}

// readList reads a list of entries.
func (t *Table) readList(fs *console.Files, f *console.File, entries string) error {
	columns, err := dataset.EntryColumns(entries, f)
	if err != nil {
		return err
	}
	t.Source = console.Source{File: f, Columns: columns}
	f.Need(columns[0], table.Label)
	f.Need(columns[1], table.Label)
	f.Need(columns[2], table.Number)
	if _, err := fs.Read(); err != nil {
		return err
	}
	l, err := readEntries(f, columns)
	if err != nil {
		return err
	}
	for _, j := range columns {
		t.Note.Entries = append(t.Note.Entries, f.Columns()[j])
	}
	t.Note.Rows, t.Columns, t.Table, t.Entries = l.rows, l.columns, l.SparseTable, len(l.Entries)
	return nil
}

// readWide reads the columns of numbers among the columns that -target or -view names, view by view, each in units of its
// standard deviation unless -raw-columns or the kind of the view says otherwise.
func (t *Table) readWide(fs *console.Files, f *console.File, flags dataset.Flags, r Request) error {
	group, err := dataset.OneColumn(f, "-groups", r.Groups, nil)
	if err != nil {
		return err
	}
	views, err := t.views(f, flags, r.Task)
	if err != nil {
		return err
	}
	given, err := kindsOf(r.Kinds, views)
	if err != nil {
		return err
	}
	if err := t.askGroups(f, group, views); err != nil {
		return err
	}
	t.Source = console.Source{File: f}
	for _, v := range views {
		t.Source.Columns = append(t.Source.Columns, v.columns...)
		for _, j := range v.columns {
			kind := table.Any
			if v.named[j] {
				kind = table.Optional
			}
			f.Need(j, kind)
		}
	}
	if _, err := fs.Read(); err != nil {
		return err
	}
	if err := t.takeGroups(f, group); err != nil {
		return err
	}
	var kept []int
	raw := map[int]bool{} // columns that stay as they are
	for _, v := range views {
		before := len(kept)
		for _, j := range v.columns {
			if f.Data.Numbers[j] == nil || f.Data.Types[j] == table.Date {
				t.Lines = append(t.Lines, fmt.Sprintf("column %s: it is not of numbers, and left out", f.Columns()[j]))
				continue
			}
			kept = append(kept, j)
		}
		switch {
		case flags.View == nil:
		case len(kept) == before:
			return console.Inputf("view %s: %s: no column of the view is of numbers", notes.Quoted(v.name), f.Name())
		default:
			kind, err := t.kind(f, v.name, kept[before:], given)
			if err != nil {
				return err
			}
			for _, j := range kept[before:] {
				raw[j] = kind != mkl.GaussianView
			}
			t.Views = append(t.Views, mkl.FactorView{Name: v.name, Columns: len(kept) - before, Kind: kind})
		}
	}
	if len(kept) == 0 {
		return console.Inputf("%s: no column is of numbers: a list of entries needs -entries ROW,COLUMN,VALUE", f.Name())
	}
	if err := t.take(f, kept, !flags.RawColumns, raw); err != nil {
		return err
	}
	if columns := t.Source.Columns; len(columns) == 3 && t.Entries == len(kept)*f.Data.Rows {
		t.Lines = append(t.Lines, "no cell is empty: if each line is an entry of a table, -entries ROW,COLUMN,VALUE says so")
	}
	return nil
}

// take makes the table of columns that were read, each in units of its standard deviation if standard is set, unless it is raw.
func (t *Table) take(f *console.File, columns []int, standard bool, raw map[int]bool) error {
	wide := make(mkl.DenseTable, f.Data.Rows)
	for i := range wide {
		wide[i] = make([]float64, len(columns))
	}
	for k, j := range columns {
		t.Columns = append(t.Columns, f.Columns()[j])
		if f.Data.Types[j] == table.Boolean {
			t.Note.Booleans = append(t.Note.Booleans, f.Columns()[j])
		}
		n, center, scale := unitOf(f.Data.Numbers[j])
		if t.Groups != nil {
			_, _, scale = unitOf(withinGroups(f.Data.Numbers[j], t.Groups))
		}
		if n == 0 {
			return console.Inputf("%s: column %q has no entry: leave it out by -target", f.Name(), f.Columns()[j])
		}
		if t.Entries += n; raw[j] {
			center, scale = 0, 1
		} else if standard && (math.IsInf(scale, 0) || math.IsNaN(scale)) {
			return console.Inputf("%s: column %q: the squares of its numbers are beyond the range of floating-point numbers: leave the column out by -target", f.Name(), f.Columns()[j])
		}
		if standard {
			t.Note.Center, t.Note.Scale = append(t.Note.Center, center), append(t.Note.Scale, scale)
		} else {
			center, scale = 0, 1
		}
		for i, v := range f.Data.Numbers[j] {
			wide[i][k] = (v - center) / scale
		}
	}
	t.Table = wide
	return nil
}

// unitOf returns how many numbers of a column are there, their mean and their standard deviation, 1 if that is 0.
func unitOf(column []float64) (n int, mean, sd float64) {
	var count, sum, square float64
	for _, v := range column {
		if !math.IsNaN(v) {
			count, sum = count+1, sum+v
		}
	}
	mean = sum / count
	for _, v := range column {
		if !math.IsNaN(v) {
			square += float64((v - mean) * (v - mean))
		}
	}
	sd = math.Sqrt(square / count)
	if sd == 0 {
		sd = 1
	}
	return int(count), mean, sd
}

// list is a table that a file lists as entries, with the names of its rows and columns, which are numbered in the
// order in which they appear.
type list struct {
	mkl.SparseTable
	rows, columns []string
}

// readEntries reads entries whose columns were read.
func readEntries(f *console.File, columns []int) (l list, err error) {
	number := func(names *[]string, of map[string]int, name string) int {
		i, ok := of[name]
		if !ok {
			i = len(*names)
			of[name], *names = i, append(*names, name)
		}
		return i
	}
	rows, cols, first := map[string]int{}, map[string]int{}, map[mkl.TableCell]int{}
	for i, v := range f.Data.Numbers[columns[2]] {
		row, col := f.Data.Labels[columns[0]][i], f.Data.Labels[columns[1]][i]
		for k, name := range []string{row, col} {
			if name == "" {
				return l, console.Input(f.Data.Cell(i, columns[k], "an entry without it has no place in the table"))
			}
		}
		cell := mkl.TableCell{Row: number(&l.rows, rows, row), Col: number(&l.columns, cols, col)}
		if before, twice := first[cell]; twice {
			return l, console.Input(f.Data.Cell(i, columns[2], fmt.Sprintf("the entry of %s and %s is there twice, first in row %d", row, col, before+1)))
		}
		first[cell] = i
		l.Entries = append(l.Entries, mkl.TableEntry{TableCell: cell, Value: v})
	}
	l.Rows, l.Cols = len(l.rows), len(l.columns)
	return l, nil
}
