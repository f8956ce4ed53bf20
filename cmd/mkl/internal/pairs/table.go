// Package pairs reads pairs of a row and a column, such as drugs and proteins, with views of the rows and of the
// columns in files of their own: for a fit, and for the prediction of pairs of old and new rows and columns.
package pairs

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// A table with a column for each column has no names for the columns of a list of its pairs: these are they.
var wideEntries = []string{"row", "column", "value"}

// list is the pairs of a file that were read.
type list struct {
	file    *console.File
	entries []string  // the names of the columns of rows, columns and values
	ids     [2]string // the columns of ids in the files of views are called so, or are the first
	cells   []cell
}

// cell is an observed pair and where it stands in its file.
type cell struct {
	row, column string // ids
	value       float64
	at          int // row of the file
	columns     [2]int
}

// readList reads a list of pairs with values or labels, whose columns entries names, or a table of ids with a column
// for each column.
func readList(fs *console.Files, f *console.File, entries string, form dataset.Form) (*list, error) {
	l := &list{file: f}
	if entries != "" {
		columns, err := dataset.EntryColumns(entries, f)
		if err != nil {
			return nil, err
		}
		for _, j := range columns {
			l.entries = append(l.entries, f.Columns()[j])
		}
		l.ids = [2]string{l.entries[0], l.entries[1]}
		f.Need(columns[0], table.Label)
		f.Need(columns[1], table.Label)
		f.Need(columns[2], form.Kind(true))
		if _, err := fs.Read(); err != nil {
			return nil, err
		}
		return l, l.take(form, columns[2], [2]int{columns[0], columns[1]}, "")
	}
	if len(f.Columns()) < 2 || dataset.Nameless(f.Columns()) {
		return nil, console.Inputf("%s: a table of pairs has a line with the ids of the columns, and the ids of the rows in its first column "+
			"(-header yes takes the first line for ids); a list of pairs needs -entries ROW,COLUMN,VALUE", f.Name())
	}
	l.entries = wideEntries
	f.Need(0, table.Label)
	for j := 1; j < len(f.Columns()); j++ {
		f.Need(j, form.Kind(true))
	}
	if _, err := fs.Read(); err != nil {
		return nil, err
	}
	for j := 1; j < len(f.Columns()); j++ {
		if err := l.take(form, j, [2]int{0, j}, f.Columns()[j]); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// take reads the values of a column that are not missing. at are the columns that hold the ids of rows and of
// columns; if all values belong to one column, column is its id.
func (l *list) take(form dataset.Form, values int, at [2]int, column string) error {
	d := &l.file.Data
	var has []mkl.Label
	if form == dataset.Labels {
		var err error
		if has, err = dataset.HasLabel(l.file, values); err != nil {
			return err
		}
	}
	for i := range d.Rows {
		c := cell{row: d.Labels[at[0]][i], column: column, at: i, columns: at}
		if column == "" {
			c.column = d.Labels[at[1]][i]
		}
		switch {
		case has == nil:
			c.value = d.Numbers[values][i]
		case has[i] == mkl.LabelUnknown:
			continue
		case has[i] == mkl.LabelPresent:
			c.value = 1
		}
		if !math.IsNaN(c.value) {
			l.cells = append(l.cells, c)
		}
	}
	return nil
}

// place finds the places of the pairs among the ids of the views.
func (l *list) place(sides [2]Side) (all mkl.SparseTable, err error) {
	all.Rows, all.Cols = len(sides[0].IDs), len(sides[1].IDs)
	var places [2]map[string]int
	for k := range sides {
		places[k] = dataset.Places(sides[k].IDs)
	}
	first := map[mkl.TableCell]int{}
	for _, c := range l.cells {
		var at [2]int
		for k, id := range []string{c.row, c.column} {
			var known bool
			if at[k], known = places[k][id]; !known {
				return all, console.Input(l.file.Data.Cell(c.at, c.columns[k], fmt.Sprintf("%q is not in %s, the first file of -%s", id, sides[k].path, sides[k].flag)))
			}
		}
		pair := mkl.TableCell{Row: at[0], Col: at[1]}
		if before, twice := first[pair]; twice {
			return all, console.Input(l.file.Data.Cell(c.at, c.columns[1], fmt.Sprintf("the pair of %s and %s is there twice, first in row %d", c.row, c.column, before+1)))
		}
		first[pair] = c.at
		all.Entries = append(all.Entries, mkl.TableEntry{TableCell: pair, Value: c.value})
	}
	return all, nil
}
