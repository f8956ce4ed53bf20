package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/table"
)

// Rows in the same place of several files are the same sample, unless -join names a column. Where files have a column that names the rows,
// the names are compared, so that rows in another order are no silent mistake.

// namesRows finds a column that may name the rows of two files: the first column of one of them, if the other has a column of that
// name. It returns −1 without one. Names that are positions, of a file without names, do not count.
func namesRows(first, other *File) (of, at int) {
	for _, name := range []string{other.Columns()[0], first.Columns()[0]} {
		if _, err := strconv.Atoi(name); err == nil || name == "" {
			continue
		}
		if of, at = slices.Index(first.Columns(), name), slices.Index(other.Columns(), name); of >= 0 && at >= 0 {
			return of, at
		}
	}
	return -1, -1
}

// askNames asks for the columns that may name the rows.
func (fs *Files) askNames() {
	for _, f := range fs.All[1:] {
		if of, at := namesRows(fs.All[0], f); at >= 0 {
			fs.All[0].Need(of, table.OptionalLabel)
			f.Need(at, table.OptionalLabel)
		}
	}
}

// sameOrder refuses a file whose rows have the names of the first file's rows in another order. Both were read. A column names the rows if all
// its cells differ; two such columns name the same rows if at least half of the names are in both. Numbers, dates and times may also be measured
// in each file, one step later than in the other, so that all of them must be in both.
func (fs *Files) sameOrder(f *File) error {
	first := fs.All[0]
	of, at := namesRows(first, f)
	if at < 0 {
		return nil
	}
	names, others := cellsOf(first, of), cellsOf(f, at)
	places, ok := distinctCells(names)
	if _, too := distinctCells(others); !ok || !too || len(others) == 0 {
		return nil
	}
	common, differs := 0, -1
	for i, name := range others {
		place, in := places[name]
		if in {
			common++
		}
		if differs < 0 && (!in || place != i) {
			differs = i
		}
	}
	column := first.Columns()[of]
	if strings.ContainsAny(column, " \t'\"") {
		column = strconv.Quote(column)
	}
	same := 2*common >= len(others)
	if strings.ContainsAny(others[0][:1], "0123456789+-.") {
		same = common == len(others)
	}
	switch {
	case !same:
	case len(names) != len(others):
		return Inputf("%s has %d rows, %s has %d: -join %s matches rows by their names", first.Name(), len(names), f.Name(), len(others), column)
	case differs >= 0:
		return Input(f.Data.Cell(differs, at, fmt.Sprintf("%q where %s has %q: rows in the same place are the same sample, unless -join %s matches rows by their names",
			others[differs], first.Name(), names[differs], column)))
	}
	return nil
}

// cellsOf returns the cells of a column that was read, as text; an empty cell is empty.
func cellsOf(f *File, column int) []string {
	if cells := f.Data.Labels[column]; cells != nil {
		return cells
	}
	cells := make([]string, f.Data.Rows)
	for i, v := range f.Data.Numbers[column] {
		if v == v {
			cells[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return cells
}

// distinctCells returns the place of each cell, if all differ and none is empty.
func distinctCells(cells []string) (places map[string]int, ok bool) {
	places = make(map[string]int, len(cells))
	for i, cell := range cells {
		if _, twice := places[cell]; twice || cell == "" {
			return nil, false
		}
		places[cell] = i
	}
	return places, true
}
