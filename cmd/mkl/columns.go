package main

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
)

// columns are those of the output of mkl predict.
type columns struct {
	names []string
	cells []func(i int) string // of row i
	text  []bool               // by column: the cells are no numbers
}

func (t *columns) add(name string, cell func(i int) string) {
	t.names, t.cells, t.text = append(t.names, name), append(t.cells, cell), append(t.text, true)
}

func (t *columns) addNumber(name string, value func(i int) float64) {
	t.add(name, func(i int) string { return number(value(i)) })
	t.text[len(t.text)-1] = false
}

// number is a number for machines, with all its digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// addProbability adds a column of probabilities. None of the models gives a probability
// of exactly 0 or 1: a number that has become one by rounding is printed as the next to it.
func (t *columns) addProbability(name string, value func(i int) float64) {
	t.addNumber(name, func(i int) float64 {
		return min(max(value(i), math.SmallestNonzeroFloat64), math.Nextafter(1, 0))
	})
}

// addRows adds columns of some rows of n, in order; the others have empty cells.
func (t *columns) addRows(some *columns, rows []int, n int) {
	at := make([]int, n)
	for i := range at {
		at[i] = -1
	}
	for k, i := range rows {
		at[i] = k
	}
	for j, cell := range some.cells {
		t.add(some.names[j], func(i int) string {
			if at[i] < 0 {
				return ""
			}
			return cell(at[i])
		})
		t.text[len(t.text)-1] = some.text[j]
	}
}

// write prints n rows as CSV.
func (t *columns) write(w io.Writer, n int) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.names); err != nil {
		return err
	}
	row := make([]string, len(t.cells))
	for i := range n {
		for j, cell := range t.cells {
			row[j] = cell(i)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeJSON prints n rows as a list of objects.
func (t *columns) writeJSON(w io.Writer, n int) error {
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
