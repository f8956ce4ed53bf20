// Package splits reads data sets with their splits into training and test samples.
package splits

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// Table is a data set of numbers.
type Table struct {
	Targets map[string][]float64 // the columns that were asked for, by name
	X       [][]float64          // [sample][feature]: the other columns
	Train   [][]bool             // [split][sample]: whether a column named train… has a 1
}

// Read reads a CSV file with a header. It is an error if a target is not there or a cell is not a number.
func Read(name string, targets ...string) (*Table, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%d rows", len(rows))
	}
	t := &Table{Targets: map[string][]float64{}, X: make([][]float64, len(rows)-1)}
	for _, target := range targets {
		t.Targets[target] = nil
	}
	for j, column := range rows[0] {
		_, target := t.Targets[column]
		var train []bool
		for i, row := range rows[1:] {
			v, err := strconv.ParseFloat(row[j], 64)
			switch {
			case err != nil:
				return nil, fmt.Errorf("row %d, column %s: %w", i+1, column, err)
			case target:
				t.Targets[column] = append(t.Targets[column], v)
			case strings.HasPrefix(column, "train"):
				train = append(train, v == 1)
			default:
				t.X[i] = append(t.X[i], v)
			}
		}
		if train != nil {
			t.Train = append(t.Train, train)
		}
	}
	for target, values := range t.Targets {
		if values == nil {
			return nil, fmt.Errorf("there is no column %s", target)
		}
	}
	return t, nil
}

// Part returns the features of the samples of a split that train, or of the others, and their numbers in the table.
func (t *Table) Part(split int, train bool) (x mkl.Features, rows []int) {
	x = la.NewMatrix[float64](0, len(t.X[0]))
	for i, is := range t.Train[split] {
		if is == train {
			x.Data, x.Rows = append(x.Data, t.X[i]...), x.Rows+1
			rows = append(rows, i)
		}
	}
	return x, rows
}
