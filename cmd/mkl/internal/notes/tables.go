package notes

import (
	"slices"

	"github.com/bmkl/bmkl/mkl"
)

// Table says how the table of a model of factors lay in its file.
type Table struct {
	Entries []string `json:"entries,omitempty"` // of a list of entries: the columns of rows, columns and values
	Rows    []string `json:"rows,omitempty"`    // of a list of entries: the names of the rows

	Groups string `json:"groups,omitempty"` // the column of the groups of rows, if there is one

	Booleans []string `json:"booleans,omitempty"` // the columns of yes and no, which are 1 and 0

	// What was subtracted from each column, and by what it was then divided; nil if neither was done.
	Center []float64 `json:"center,omitempty"`
	Scale  []float64 `json:"scale,omitempty"`
}

// Listed reports whether the file lists entries.
func (t *Table) Listed() bool { return t.Entries != nil }

// Unit returns what was subtracted from a column, and by what it was divided.
func (t *Table) Unit(q int) (center, scale float64) {
	if t.Center == nil {
		return 0, 1
	}
	return t.Center[q], t.Scale[q]
}

// fits reports whether the note describes a model of so many rows and columns.
func (t *Table) fits(rows, cols int) bool {
	return (!t.Listed() || len(t.Entries) == 3 && len(t.Rows) == rows) &&
		(t.Center == nil || len(t.Center) == cols) && len(t.Scale) == len(t.Center) &&
		!slices.ContainsFunc(t.Scale, func(s float64) bool { return !(s > 0) })
}

// Pairs says which pairs of a row and a column a model was fitted to.
type Pairs struct {
	Entries []string `json:"entries"` // the columns of rows, columns and values in a list of pairs
	Rows    []string `json:"rows"`    // ids
	Columns []string `json:"columns"` // ids
}

// sided is a model of pairs.
type sided interface {
	Dims() (rows, columns, components int)
	SideWeights() (rows, columns []mkl.KernelWeight)
}

// fits reports whether the note describes a model.
func (n *Pairs) fits(m sided) bool {
	rows, columns, _ := m.Dims()
	return n != nil && len(n.Entries) == 3 && len(n.Rows) == rows && len(n.Columns) == columns
}
