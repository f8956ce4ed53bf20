package exploration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	cells "github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
)

// fewest is the least size of a sample.
const fewest = 100

// table is a table that was read.
type table struct {
	file    *console.File
	rows    int
	columns []*column // without the target
	target  *target   // nil without a target
}

// column is a column that was read. Text is coded: each text by its place among the levels.
type column struct {
	name   string
	at     int // in the file
	used   bool
	left   string // why mkl fit learns nothing from it
	codes  bool   // whether its numbers look like codes
	typ    cells.Type
	gap    cells.Gap
	values []float64 // by row, NaN where nothing is
	levels []string  // of text, in the order of the rows
}

// fill takes the cells of the column.
func (c *column) fill(d *cells.Data) {
	c.typ, c.gap = d.Types[c.at], d.Gaps[c.at]
	if c.typ != cells.Text {
		c.values = d.Numbers[c.at]
		return
	}
	c.values = make([]float64, d.Rows)
	known := map[string]int{}
	for i, text := range d.Labels[c.at] {
		if text == "" {
			c.values[i] = math.NaN()
			continue
		}
		code, ok := known[text]
		if !ok {
			code = len(c.levels)
			known[text] = code
			c.levels = append(c.levels, text)
		}
		c.values[i] = float64(code)
	}
}

// target is the column to predict.
type target struct {
	name     string
	at       int
	task, by string // by: what about the cells decided the task
	y        []float64
	classes  []string // nil of numbers; y is then the place of the class
	wrong    int      // cells of numbers that cannot be read
	first    string   // where the first such cell is, and what it has
	ofTimes  bool     // whether there is a column of events
	events   *Events  // nil without such a column
}

// describe describes the column of the target.
func (t *target) describe() (Column, []Finding) {
	c := &column{name: t.name, typ: cells.Numeric, values: t.y, levels: t.classes}
	if t.classes != nil {
		c.typ = cells.Text
	}
	for _, v := range t.y {
		if v != v {
			c.gap.Count++
		}
	}
	out, found := c.describe()
	if out.Unreadable = t.wrong; t.wrong > 0 {
		found = append([]Finding{{Unreadable, t.name, fmt.Sprintf("%s that cannot be read, the first in %s: mkl fit refuses the column",
			console.Plural(t.wrong, "cell"), t.first)}}, found...)
	}
	return out, found
}

// doubts are the warnings of mkl fit about the target.
func (t *target) doubts() []string {
	if t.by == "" {
		return nil
	}
	var y dataset.Targets
	form := dataset.Numbers
	present := slices.DeleteFunc(slices.Clone(t.y), math.IsNaN)
	if t.classes != nil {
		form, y.Classes = dataset.Classes, t.classes
		for _, v := range present {
			y.Class = append(y.Class, t.classes[int(v)])
		}
	} else {
		y.Numbers = [][]float64{present}
	}
	if len(present) == 0 {
		return nil
	}
	var lines []string
	for _, line := range model.Doubts(form, t.name, y, true) {
		lines = append(lines, strings.TrimPrefix(line, "column "+t.name+": "))
	}
	return lines
}

// askTarget asks for the column of the target, if there is one.
func (t *table) askTarget(column int, task string) {
	if column < 0 {
		return
	}
	t.target = &target{name: t.file.Columns()[column], at: column}
	t.file.Need(column, cells.Undecided)
}

// decideTarget finds the task by the cells of the target, as mkl fit does, unless it was named.
func (t *table) decideTarget(task string) error {
	y := t.target
	if y == nil {
		return nil
	}
	texts := t.file.Data.Labels[y.at]
	y.task, y.by = model.Guess(texts)
	y.decideTask(task)
	y.y = make([]float64, len(texts))
	if y.task == model.Regression || y.task == model.Survival {
		for i, text := range texts {
			x, err := strconv.ParseFloat(text, 64)
			if bad := err != nil || math.IsNaN(x) || math.IsInf(x, 0); bad {
				x = math.NaN()
				if !cells.Missing(text) {
					if y.wrong++; y.wrong == 1 {
						y.first = t.file.Data.Cell(i, y.at, strconv.Quote(text)+" is not a number").Error()
					}
				}
			}
			y.y[i] = x
		}
		return nil
	}
	y.classes = slices.DeleteFunc(cells.Classes(texts), cells.Missing)
	at := dataset.Places(y.classes)
	for i, text := range texts {
		if code, ok := at[text]; ok {
			y.y[i] = float64(code)
		} else {
			y.y[i] = math.NaN()
		}
	}
	return nil
}

// outcomes is the target as numbers, for what a plan says of columns.
func (t *target) outcomes() [][]float64 {
	switch {
	case t == nil:
		return nil
	case t.classes != nil:
		return plan.Outcomes(t.y)
	}
	return [][]float64{t.y}
}

// sample lists the rows, in their order: all rows or, of a table with more than most rows, a sample of that size, always the same one.
func (t *table) sample(most int) []int {
	rows := make([]int, t.rows)
	for i := range rows {
		rows[i] = i
	}
	if t.rows <= most {
		return rows
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range most {
		k := i + r.IntN(t.rows-i)
		rows[i], rows[k] = rows[k], rows[i]
	}
	rows = rows[:most]
	slices.Sort(rows)
	return rows
}
