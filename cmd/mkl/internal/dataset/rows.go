package dataset

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
)

// Complete lists the rows that can be learned from: the rows in which nothing is missing that the plans of the views
// cannot fill in. The error says what is missing in the first of the other rows.
func (t *Table) Complete() (rows []int, first error) {
	return t.complete(t.plans(), make([]*byName, len(t.Views)))
}

func (t *Table) complete(plans []plan.View, named []*byName) (rows []int, first error) {
	why := make(obstacles, t.Rows())
	for i, alone := range t.Files.Alone {
		if alone {
			why[i] = t.Files.AloneError(i)
		}
	}
	if !t.MissingTargets {
		why.ofBeside(&t.Main.Data, t.Targets, t.Beside)
	}
	lacking := make([]int, len(why)) // how many views a row lacks
	for k, v := range t.Views {
		switch {
		case named[k] != nil:
			named[k].lacking(t, why)
		case v.Kernels.OfStrings():
			for i, cell := range columnStrings(v.Source) {
				why.ifEmpty(cell == "", &v.Source.File.Data, i, v.Source.Columns[0])
			}
		case t.Missing == MissingViews && !v.Kernels.Given():
			why.ofView(v, plans[k], lacking, len(t.Views))
		default:
			why.ofCells(v, plans[k])
		}
	}
	for _, b := range named {
		if b != nil {
			b.cells(why)
		}
	}
	for i, err := range why {
		if err == nil {
			rows = append(rows, i)
		} else if first == nil {
			first = err
		}
	}
	return rows, first
}

// obstacles say of each row why it cannot be learned from; nil if it can.
type obstacles []error

// ofTarget notes the rows that lack a target, in column j.
func (why obstacles) ofTarget(d *table.Data, j int) {
	for i, v := range d.Numbers[j] {
		if v != v {
			why[i] = d.Cell(i, j, "the target is missing")
		}
	}
	for i, text := range d.Labels[j] {
		if text == "" {
			why[i] = d.Cell(i, j, "the target is missing")
		}
	}
}

// ofView notes the rows that have a part of a view, or lack the last of so many views. Rows that lack a whole view
// are learned from.
func (why obstacles) ofView(v View, p plan.View, lacking []int, views int) {
	if len(p.At) == 0 {
		return // no column is left, which is an error of the view and not of its rows
	}
	d, at := &v.Source.File.Data, p.At[0]
	encoded := plan.Encode(p.Columns, p.At, d)
	for i, absent := range encoded.Absent {
		if absent {
			lacking[i]++
		}
		switch {
		case why[i] != nil:
		case encoded.Missing[i] && !absent:
			why[i] = d.Cell(i, at, fmt.Sprintf("a part of the view %s is missing in this row", notes.Quoted(v.Name)))
		case lacking[i] == views:
			why[i] = d.Cell(i, at, "every view is missing in this row")
		}
	}
}

// ofCells notes the rows in which a cell of a view is missing that its plan does not fill in.
func (why obstacles) ofCells(v View, p plan.View) {
	d := &v.Source.File.Data
	for c, column := range p.Columns {
		j := p.At[c]
		if column.Fill != nil || d.Gaps[j].Count == 0 {
			continue
		}
		for i, x := range d.Numbers[j] {
			why.ifEmpty(x != x, d, i, j)
		}
		if column.Type == table.Text {
			for i, text := range d.Labels[j] {
				why.ifEmpty(text == "", d, i, j)
			}
		}
	}
}

// ifEmpty notes a row if its cell in column j is empty, and nothing was noted before.
func (why obstacles) ifEmpty(empty bool, d *table.Data, i, j int) {
	if empty && why[i] == nil {
		why[i] = d.Cell(i, j, "the cell is empty")
	}
}
