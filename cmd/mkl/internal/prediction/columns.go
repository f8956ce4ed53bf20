package prediction

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl/record"
)

// Columns are the columns of a table that a command writes, such as mkl predict. The zero value has none.
type Columns struct {
	names []string
	cells []func(i int) string // of row i
	text  []bool               // by column: the cells are no numbers
}

// Add adds a column of text.
func (t *Columns) Add(name string, cell func(i int) string) { t.add(name, true, cell) }

func (t *Columns) add(name string, text bool, cell func(i int) string) {
	t.names, t.cells, t.text = append(t.names, name), append(t.cells, cell), append(t.text, text)
}

// AddNumber adds a column of numbers.
func (t *Columns) AddNumber(name string, value func(i int) float64) {
	t.add(name, false, func(i int) string { return number(value(i)) })
}

// AddSome adds a column of numbers with an empty cell where there is no number.
func (t *Columns) AddSome(name string, value func(i int) (x float64, ok bool)) {
	t.add(name, false, func(i int) string {
		if x, ok := value(i); ok {
			return number(x)
		}
		return ""
	})
}

// number writes a number for machines, with all its digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// addProbability adds a column of probabilities, which are never exactly 0 or 1: see [record.Inside].
func (t *Columns) addProbability(name string, value func(i int) float64) {
	t.AddNumber(name, func(i int) float64 { return record.Inside(value(i)) })
}

// AddRows adds columns of some rows of n, in order; the other rows have empty cells.
func (t *Columns) AddRows(some *Columns, rows []int, n int) {
	at := make([]int, n)
	for i := range at {
		at[i] = -1
	}
	for k, i := range rows {
		at[i] = k
	}
	for j, cell := range some.cells {
		t.add(some.names[j], some.text[j], func(i int) string {
			if at[i] < 0 {
				return ""
			}
			return cell(at[i])
		})
	}
}

// Write writes n rows to a file, - being standard output: as CSV, or as JSON.
func (t *Columns) Write(e *console.Env, path string, n int, json bool) error {
	write := t.writeCSV
	if json {
		write = t.writeJSON
	}
	return e.Create(cmp.Or(path, console.Standard), func(w io.Writer) error { return write(w, n) })
}

// inert returns the text of a CSV cell. Spreadsheets execute a cell that begins as a formula, such as =HYPERLINK(…), and
// names of classes come from files: such a cell gets an apostrophe in front, which marks text. Signs alone are left, as
// in the class -1. JSON keeps all text unchanged.
func inert(cell string) string {
	if cell == "" {
		return cell
	}
	switch cell[0] {
	case '=', '@', '\t', '\r', '\n':
		return "'" + cell
	case '+', '-':
		if strings.ContainsAny(cell, "(|!") {
			return "'" + cell
		}
	}
	return cell
}

// writeCSV writes n rows as CSV.
func (t *Columns) writeCSV(w io.Writer, n int) error {
	out := csv.NewWriter(w)
	row := make([]string, len(t.cells))
	for j, name := range t.names {
		row[j] = inert(name)
	}
	if err := out.Write(row); err != nil {
		return err
	}
	for i := range n {
		for j, cell := range t.cells {
			if row[j] = cell(i); t.text[j] {
				row[j] = inert(row[j])
			}
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeJSON writes n rows as a list of objects.
func (t *Columns) writeJSON(w io.Writer, n int) error {
	all := make([]map[string]any, n)
	for i := range all {
		all[i] = map[string]any{}
		for j, cell := range t.cells {
			text := cell(i)
			switch x, err := strconv.ParseFloat(text, 64); {
			case text == "":
				all[i][t.names[j]] = nil
			case t.text[j] || err != nil:
				all[i][t.names[j]] = text
			default:
				all[i][t.names[j]] = console.Number(x)
			}
		}
	}
	return console.PrintJSON(w, all)
}
