package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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

// checkLabels refuses to take for classes what names the samples: labels that are different in more than
// half of the rows.
func (p *problem) checkLabels(cells []string) error {
	if p.task == taskRegression || len(cells) < fewRows {
		return nil
	}
	labels := slices.DeleteFunc(slices.Clone(cells), table.Missing)
	if classes := len(table.Classes(labels)); 2*classes > len(labels) {
		return console.Inputf("%s: column %q has %d labels in %d rows: it seems to name the samples (-task %s learns them all the same)",
			p.main.Name(), p.main.Columns()[p.targets[0]], classes, len(labels), taskMulticlass)
	}
	return nil
}

// Numbers of classes that make one doubt what a column means.
const (
	fewRows    = 10 // too few to doubt anything
	fewValues  = 20 // so few whole numbers may be classes
	manyLabels = 20 // so many classes that are numbers may be quantities
)

// doubts says what is odd about the targets.
func (p *problem) doubts(d *data) (lines []string) {
	j := p.targets[0]
	name := p.main.Columns()[j]
	switch {
	case p.est.form == classes:
		count := map[string]int{}
		for _, label := range d.class {
			count[label]++
		}
		var alone []string
		for _, class := range d.classes {
			if count[class] == 1 {
				alone = append(alone, class)
			}
		}
		if alone != nil {
			lines = append(lines, fmt.Sprintf("column %s: %s of one sample (%s): what is predicted of such a class is little more than a guess",
				name, console.Plural(len(alone), "class"), few(alone)))
		}
		if len(d.classes) > manyLabels && allNumbers(d.classes) {
			lines = append(lines, fmt.Sprintf("column %s: %d classes that are numbers: -task %s learns them as quantities", name, len(d.classes), taskRegression))
		}
	case p.guessed != "" && p.est.form == numbers:
		if n := wholeValues(d.numbers[0]); n > 0 && n <= fewValues && 5*n <= len(d.numbers[0]) {
			lines = append(lines, fmt.Sprintf("column %s: %d different whole numbers: -task %s learns them as classes", name, n, taskMulticlass))
		}
	}
	return lines
}

// allNumbers reports whether all labels are numbers.
func allNumbers(labels []string) bool {
	return !slices.ContainsFunc(labels, func(label string) bool {
		_, err := strconv.ParseFloat(label, 64)
		return err != nil
	})
}

// wholeValues counts the different values, if all are whole numbers.
func wholeValues(x []float64) int {
	values := map[float64]bool{}
	for _, v := range x {
		if v != math.Trunc(v) {
			return 0
		}
		values[v] = true
	}
	return len(values)
}

// few lists the first of names.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … %d in all", strings.Join(names[:most], ", "), len(names))
}
