package main

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// transformCmd is mkl transform.
type transformCmd struct {
	SD bool `name:"sd" help:"Add a column with the standard deviation of each factor."`

	factorInput `embed:""`
}

// Run writes the factors of each row.
func (c *transformCmd) Run(e *console.Env) error {
	t, out, err := c.open(e, "mkl transform")
	if err != nil {
		return err
	}
	y := mkl.Table(nil)
	rows := t.file.Data.Rows
	if t.listed() {
		list, names, err := t.newRows(e)
		if err != nil {
			return err
		}
		y, rows = list, len(names)
		out.add(t.Entries[0], func(i int) string { return names[i] })
	} else {
		y = t.wide()
	}
	mean, variance, err := t.fit.Transform(y)
	if err != nil {
		return console.Input(err)
	}
	_, _, factors := t.fit.Dims()
	for k := range factors {
		name := fmt.Sprintf("factor%d", k+1)
		out.addNumber(name, func(i int) float64 { return mean[i][k] })
		if c.SD {
			out.addNumber(name+"_sd", func(i int) float64 { return math.Sqrt(variance[i][k]) })
		}
	}
	return c.write(e, out, rows)
}

// newRows returns the entries that the file lists as rows of a table of the model's columns, and their names. It
// says on standard error how many are of other columns, and count for nothing.
func (t *tableInput) newRows(e *console.Env) (list mkl.Entries, names []string, err error) {
	read, err := listedEntries(t.file, t.columns)
	if err != nil {
		return list, nil, err
	}
	cols := places(t.names)
	list = mkl.Entries{Rows: read.list.Rows, Cols: len(t.names)}
	strange, first := 0, error(nil)
	for i, entry := range read.list.List {
		col, known := cols[read.columns[entry.Col]]
		switch {
		case math.IsNaN(entry.Value):
			continue
		case !known:
			if strange++; strange == 1 {
				first = t.file.Data.Cell(i, t.columns[1], fmt.Sprintf("%q is not in the table that the model was fitted to", read.columns[entry.Col]))
			}
			continue
		}
		entry.Col = col
		list.List = append(list.List, entry)
	}
	if strange > 0 && len(list.List) == 0 {
		return list, nil, console.Input(first)
	}
	if strange > 0 {
		fmt.Fprintf(e.Stderr, "mkl: warning: %s of columns that the model has not, the first: %v\n", console.Plural(strange, "entry"), first)
	}
	return list, read.Rows, nil
}
