package dataset

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// Kernels that are given have a row and a column for each sample. With -join both are found by the sample's name, so that several files of
// kernels need neither the same samples nor the same order.

// byName says which column of a view of given kernels has the name of each row.
type byName struct {
	view   View
	places []int // among the view's columns, by row; −1 without a column of the row's name
}

// byNames finds, by view, the columns that have the names of the rows. It is nil for a view without kernels with each sample, and for a view
// whose columns have no name of a row.
func (t *Table) byNames() (all []*byName, err error) {
	all = make([]*byName, len(t.Views))
	ids := t.Main.Joined()
	if ids == nil {
		return all, nil
	}
	for k, v := range t.Views {
		if !v.Kernels.Square() {
			continue
		}
		at, one, found := Places(v.Source.Names()), &byName{view: v}, false
		seen := make(map[string]bool, len(ids))
		for i, id := range ids {
			place, ok := at[id]
			if !ok {
				place = -1
			} else if seen[id] {
				return nil, console.Input(t.Main.JoinedCell(i, fmt.Sprintf("%q is there twice: kernels that are given need one row for each", id)))
			}
			found, seen[id] = found || ok, true
			one.places = append(one.places, place)
		}
		if found {
			all[k] = one
		}
	}
	return all, nil
}

// of is the view with the columns of some rows, in the order of these rows.
func (b *byName) of(rows []int) View {
	v, places := b.view, make([]int, len(rows))
	for k, i := range rows {
		places[k] = b.places[i]
	}
	v.Source = v.Source.At(places)
	return v
}

// lacking notes the rows that have no column, or whose kernel with themselves is missing: the kernel is of other samples.
func (b *byName) lacking(t *Table, why obstacles) {
	f := b.view.Source.File
	for i, place := range b.places {
		switch {
		case why[i] != nil:
		case place < 0:
			why[i] = t.Main.JoinedCell(i, fmt.Sprintf("%s has no column for %q", f.Name(), t.Main.Joined()[i]))
		default:
			j := b.view.Source.Columns[place]
			x := f.Data.Numbers[j][i]
			why.ifEmpty(x != x, &f.Data, i, j)
		}
	}
}

// cells notes the rows that lack the kernel with a row that nothing excludes so far.
func (b *byName) cells(why obstacles) {
	var columns []int
	for i, place := range b.places {
		if why[i] == nil {
			columns = append(columns, b.view.Source.Columns[place])
		}
	}
	d := &b.view.Source.File.Data
	for _, j := range columns {
		for i, x := range d.Numbers[j] {
			why.ifEmpty(x != x, d, i, j)
		}
	}
}

// allByName reports whether all views of given kernels have columns by the names of the rows.
func (t *Table) allByName(named []*byName) bool {
	for k, v := range t.Views {
		if v.Kernels.Given() && named[k] == nil {
			return false
		}
	}
	return true
}
