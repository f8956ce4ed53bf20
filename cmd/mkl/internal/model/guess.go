package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
)

// Guess infers the task from the cells of the only target, and says what about the column decided. Empty cells and
// NA do not count. Where most of the others are numbers the task is a regression, so that a slip of the pen is an
// error and no class; but 0 and 1, or −1 and 1, are two classes. All else are labels.
func Guess(cells []string) (task, why string) {
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
			return Binary, "is " + texts[0] + " or " + texts[1]
		}
		return Regression, "has numbers"
	}
	classes := len(table.Classes(texts))
	why = "has " + console.Plural(classes, "label")
	if classes <= 2 {
		return Binary, why
	}
	return Multiclass, why
}

// CheckGuess refuses to take for classes what names the samples: labels that are different in more than half of the
// rows.
func CheckGuess(task string, t *dataset.Table) error {
	cells := t.Undecided()
	if task == Regression || len(cells) < fewRows {
		return nil
	}
	labels := slices.DeleteFunc(slices.Clone(cells), table.Missing)
	if classes := len(table.Classes(labels)); 2*classes > len(labels) {
		return console.Inputf("%s: column %q has %d labels in %d rows: it seems to name the samples (-task %s learns its labels nevertheless)",
			t.Main.Name(), t.TargetName(), classes, len(labels), Multiclass)
	}
	return nil
}

// Numbers of classes that make one doubt what a column means.
const (
	fewRows    = 10 // too few to doubt anything
	fewValues  = 20 // so few whole numbers may be classes
	fewGrades  = 10 // so few whole numbers may be grades
	manyLabels = 20 // so many classes that are numbers may be quantities
)

// Doubts describe what is odd about targets of a form. name is the name of the first target. guessed reports whether the task was
// inferred from the cells.
func Doubts(form dataset.Form, name string, y dataset.Targets, guessed bool) (lines []string) {
	switch {
	case form == dataset.Classes:
		count := map[string]int{}
		for _, label := range y.Class {
			count[label]++
		}
		var alone []string
		for _, class := range y.Classes {
			if count[class] == 1 {
				alone = append(alone, class)
			}
		}
		if alone != nil {
			lines = append(lines, fmt.Sprintf("column %s: %s of one sample (%s): what is predicted of such a class is little more than a guess",
				name, console.Plural(len(alone), "class"), console.Few(alone)))
		}
		if order := knownOrder(y.Classes); guessed && order != nil {
			lines = append(lines, fmt.Sprintf("column %s: seems to be grades, which are in order: -grades '%s' learns them as such", name, strings.Join(order, ",")))
		}
		if len(y.Classes) > manyLabels && allNumbers(y.Classes) {
			lines = append(lines, fmt.Sprintf("column %s: %d classes that are numbers: -task %s learns them as quantities", name, len(y.Classes), Regression))
		}
	case guessed && form == dataset.Numbers && dataset.SeemCounts(y.Numbers[0]):
		lines = append(lines, fmt.Sprintf("column %s: seems to be counts, and its intervals may go below 0: -task %s learns it as counts", name, CountsTask))
	case guessed && form == dataset.Numbers:
		if n := dataset.WholeValues(y.Numbers[0]); n > 0 && n <= fewValues && 5*n <= len(y.Numbers[0]) {
			text := fmt.Sprintf("column %s: %d different whole numbers: -task %s learns them as classes", name, n, Multiclass)
			if n > 2 && n <= fewGrades {
				text += fmt.Sprintf(", -task %s as grades", OrdinalTask)
			}
			lines = append(lines, text)
		}
	}
	return lines
}

// gradeWords are words for grades, from the lowest to the highest.
var gradeWords = [][]string{
	{"none", "very low", "low", "medium", "high", "very high"},
	{"very low", "low", "middle", "high", "very high"},
	{"none", "minimal", "mild", "moderate", "severe", "very severe"},
	{"none", "some", "marked"},
	{"never", "rarely", "sometimes", "often", "always"},
	{"very bad", "bad", "poor", "fair", "good", "very good", "excellent"},
	{"very small", "small", "medium", "large", "very large"},
	{"strongly disagree", "disagree", "neutral", "agree", "strongly agree"},
	{"very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"},
	{"i", "ii", "iii", "iv", "v"},
	{"stage i", "stage ii", "stage iii", "stage iv"},
}

// knownOrder returns three labels or more in the order of a scale whose words they all are, in letters of any case. It
// returns nil if there is no such scale.
func knownOrder(labels []string) []string {
	if len(labels) < 3 {
		return nil
	}
	for _, scale := range gradeWords {
		var order []string
		for _, word := range scale {
			for _, label := range labels {
				if strings.ToLower(strings.TrimSpace(label)) == word {
					order = append(order, label)
				}
			}
		}
		if len(order) == len(labels) {
			return order
		}
	}
	return nil
}

// allNumbers reports whether all labels are numbers.
func allNumbers(labels []string) bool {
	return !slices.ContainsFunc(labels, func(label string) bool {
		_, err := strconv.ParseFloat(label, 64)
		return err != nil
	})
}
