package main

import (
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
)

// guessTask tells what is to be learned of a column by its cells, and what it is about
// the column that says so. Cells that are empty or NA say nothing. Where most of the
// others are numbers the task is a regression, so that a slip of the pen is an error and
// no class; but 0 and 1, or -1 and 1, are two classes. All else are labels.
func guessTask(cells []string) (task, why string) {
	var texts []string
	var values []float64
	present := 0
	for _, cell := range cells {
		if table.Missing(cell) {
			continue
		}
		present++
		if v, err := strconv.ParseFloat(cell, 64); err == nil {
			values = append(values, v)
		}
		texts = append(texts, cell)
	}
	if 2*len(values) >= present {
		texts = table.Classes(texts)
		slices.Sort(values)
		if v := slices.Compact(values); len(texts) == 2 && len(v) == 2 && (v[0] == 0 || v[0] == -1) && v[1] == 1 {
			return taskBinary, "is " + texts[0] + " or " + texts[1]
		}
		return taskRegression, "has numbers"
	}
	classes := len(table.Classes(texts))
	why = "has " + console.Plural(classes, "label")
	if classes <= 2 {
		return taskBinary, why
	}
	return taskMulticlass, why
}
