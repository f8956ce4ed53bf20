package exploration

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	cells "github.com/bmkl/bmkl/cmd/internal/table"
)

// Column describes a column.
type Column struct {
	Name       string     `json:"name"`
	Type       cells.Type `json:"type"` // as mkl fit reads it
	Gaps       int        `json:"gaps"` // cells without a value that can be read
	Unreadable int        `json:"unreadable,omitempty"`
	Levels     int        `json:"levels"`             // different values
	Range      *Range     `json:"range,omitempty"`    // of numbers and dates
	Frequent   []Level    `json:"frequent,omitempty"` // of text and booleans: at most three, the most frequent first
	Outliers   *Far       `json:"outliers,omitempty"`
	LeftOut    string     `json:"left_out,omitempty"` // why mkl fit learns nothing from it
	Alone      *Alone     `json:"alone,omitempty"`    // how well it alone predicts the target
}

// Range is a column's values in five numbers. Dates are days since 1970-01-01.
type Range struct {
	Least   float64 `json:"least"`
	Lower   float64 `json:"lower_quartile"`
	Median  float64 `json:"median"`
	Upper   float64 `json:"upper_quartile"`
	Largest float64 `json:"largest"`
}

// Level is a value and how often it is there.
type Level struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Far is the values of a column outside of the fences. A fence is six times as far from a quartile as the median is: one
// value in 400 000 of a normal distribution is outside. Where more than a tenth of the values would be outside there are no fences.
type Far struct {
	Below int     `json:"below"` // how many are below the lower fence
	Above int     `json:"above"`
	Lower float64 `json:"lower_fence"`
	Upper float64 `json:"upper_fence"`
	Value float64 `json:"value"` // the value that is farthest outside
	Row   int     `json:"row"`   // the row of this value, counted from 1
}

const (
	fenceWidth   = 6    // distances between quartile and median
	fenceRows    = 20   // fewer rows have no fences
	fewFar       = 3    // values outside, at most, that are outliers whatever the number of rows
	farShare     = 500  // with at most one value in 500 outside they are outliers too; more are a long tail
	groupShare   = 10   // with more than one value in 10 outside they are a second group, and nothing is reported
	fewLevels    = 3    // columns of at most three different numbers show how often each is there, as texts do
	nearConstant = 0.99 // share of the rows
	constantRows = 100  // fewer rows have no near-constant columns
	idRows       = 50   // fewer rows do not tell identifiers from measures
)

// describe describes the column, and finds what is odd about it.
func (c *column) describe() (out Column, found []Finding) {
	add := func(kind Kind, format string, args ...any) {
		found = append(found, Finding{kind, c.name, fmt.Sprintf(format, args...)})
	}
	out = Column{Name: c.name, Type: c.typ, Gaps: c.gap.Count, Unreadable: c.gap.Wrong, LeftOut: c.left}
	sorted := slices.DeleteFunc(slices.Clone(c.values), math.IsNaN)
	slices.Sort(sorted)
	levels := levelsOf(sorted)
	out.Levels = len(levels)
	if n := c.gap.Wrong; n > 0 {
		add(Unreadable, "%s that cannot be read, the first in %v: mkl fit takes them for missing unless -as names the type; -as '%s=text' takes all of the column for text",
			console.Plural(n, "cell"), c.gap.FirstWrong, c.name)
	}
	if c.left != "" {
		add(LeftOut, "mkl fit learns nothing from it: %s", c.left)
	}
	if len(sorted) == 0 {
		return out, found
	}
	top := slices.MaxFunc(levels, func(a, b level) int { return a.count - b.count })
	if share := float64(top.count) / float64(len(c.values)); c.left == "" && len(c.values) >= constantRows && share >= nearConstant {
		add(NearConstant, "%s in %s of the rows", c.text(top.value), percent(share))
	}
	if c.typ == cells.Text || c.typ == cells.Boolean || len(levels) <= fewLevels {
		out.Frequent = c.frequent(levels)
	}
	if c.typ == cells.Text || c.typ == cells.Boolean {
		return out, found
	}
	out.Range = rangeOf(sorted)
	if c.codes {
		add(Codes, "looks like codes of categories: -as '%[1]s=text' -text category compares them so", c.name)
	} else if c.left == "" && c.names(len(levels)) {
		add(Identifier, "whole numbers, different in every row, that count or name the rows: -as '%s=none' leaves the column out", c.name)
	}
	if v, next, n := gapCode(sorted, levels); n > 0 && c.left == "" {
		add(GapCode, "%[1]s in %[2]s, far from the other values (the nearest is %[3]s): does %[1]s stand for an empty cell? Then -na=%[1]s says so",
			c.text(v), console.Plural(n, "row"), c.text(next))
	}
	if out.Outliers = c.far(out.Range); out.Outliers != nil && c.left == "" {
		far := out.Outliers
		text, count := far.text(c), far.Below+far.Above
		if count <= max(fewFar, len(sorted)/farShare) {
			add(Outliers, "%s %s", console.Plural(count, "value"), text)
		} else {
			add(LongTail, "%s of the values %s", percent(float64(count)/float64(len(sorted))), text)
		}
	}
	return out, found
}

// text says where the values are.
func (f *Far) text(c *column) string {
	where := "outside of " + c.text(f.Lower) + " … " + c.text(f.Upper)
	switch {
	case f.Below == 0:
		where = "above " + c.text(f.Upper)
	case f.Above == 0:
		where = "below " + c.text(f.Lower)
	}
	return fmt.Sprintf("%s, the farthest %s in row %d", where, c.text(f.Value), f.Row)
}

// gapCode finds a least or largest value that stands apart and is a number which people write for an empty cell. It
// also returns the value next to it and its rows, 0 if there is no such value.
func gapCode(sorted []float64, levels []level) (v, next float64, rows int) {
	n := len(sorted)
	if n < fenceRows || len(levels) < nearLevels {
		return 0, 0, 0
	}
	spread := spreadOf(sorted)
	for _, end := range [][2]level{{levels[0], levels[1]}, {levels[len(levels)-1], levels[len(levels)-2]}} {
		v, next := end[0].value, end[1].value
		if slices.Contains([]float64{0, 1, 9, 99, 999, 9999, 99999, 999999}, math.Abs(v)) && math.Abs(v-next) >= spread && spread > 0 {
			return v, next, end[0].count
		}
	}
	return 0, 0, 0
}

// level is a value, and how many cells have it.
type level struct {
	value float64
	count int
}

// levelsOf counts the different values of sorted numbers.
func levelsOf(sorted []float64) (all []level) {
	for _, v := range sorted {
		if n := len(all); n > 0 && all[n-1].value == v {
			all[n-1].count++
		} else {
			all = append(all, level{v, 1})
		}
	}
	return all
}

// frequent is the most frequent levels.
func (c *column) frequent(levels []level) (top []Level) {
	const most = 3
	levels = slices.SortedStableFunc(slices.Values(levels), func(a, b level) int { return b.count - a.count })
	for _, l := range levels[:min(most, len(levels))] {
		top = append(top, Level{c.text(l.value), l.count})
	}
	return top
}

// text writes a value of the column.
func (c *column) text(v float64) string {
	switch c.typ {
	case cells.Text:
		return short(c.levels[int(v)])
	case cells.Boolean:
		if v != 0 {
			return "yes"
		}
		return "no"
	}
	return c.typ.Text(v)
}

// short cuts a long text.
func short(text string) string {
	const most = 24
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// spreadOf is the distance between the quantiles 0.05 and 0.95 of sorted values.
func spreadOf(sorted []float64) float64 {
	n := len(sorted)
	return sorted[n-1-n/20] - sorted[n/20]
}

// rangeOf is sorted values in five numbers.
func rangeOf(sorted []float64) *Range {
	at := func(p float64) float64 {
		k := p * float64(len(sorted)-1)
		low := math.Floor(k)
		a, b := sorted[int(low)], sorted[int(math.Ceil(k))]
		if a == b {
			return a
		}
		return float64((1-(k-low))*a) + float64((k-low)*b) // never beyond a float64
	}
	return &Range{sorted[0], at(0.25), at(0.5), at(0.75), sorted[len(sorted)-1]}
}

// names reports whether the numbers seem to count or name the rows: they are whole, different in every row, and rise or
// fall throughout or leave few numbers out.
func (c *column) names(levels int) bool {
	n := len(c.values)
	if n < idRows || levels < n || c.typ != cells.Numeric {
		return false
	}
	rises, falls := true, true
	for i, v := range c.values {
		if v != math.Trunc(v) {
			return false
		}
		if i > 0 {
			rises, falls = rises && v > c.values[i-1], falls && v < c.values[i-1]
		}
	}
	return rises || falls || slices.Max(c.values)-slices.Min(c.values) < 2*float64(n)
}

// far finds the values outside of the fences; nil without such values.
func (c *column) far(r *Range) *Far {
	if len(c.values)-c.gap.Count < fenceRows || r.Upper == r.Lower {
		return nil
	}
	half := func(d float64) float64 {
		if d == 0 {
			return (r.Upper - r.Lower) / 2
		}
		return d
	}
	f := Far{Lower: r.Lower - float64(fenceWidth*half(r.Median-r.Lower)), Upper: r.Upper + float64(fenceWidth*half(r.Upper-r.Median))}
	if math.IsInf(f.Upper, 0) || math.IsInf(f.Lower, 0) {
		return nil
	}
	farthest := 0.0
	for i, v := range c.values {
		switch {
		case v < f.Lower:
			f.Below++
		case v > f.Upper:
			f.Above++
		default:
			continue
		}
		if beyond := max(f.Lower-v, v-f.Upper); beyond > farthest {
			farthest, f.Value, f.Row = beyond, v, i+1
		}
	}
	if n := f.Below + f.Above; n == 0 || groupShare*n > len(c.values)-c.gap.Count {
		return nil
	}
	return &f
}

// percent writes a share. It writes 100 % only for all, and 0 % only for nothing.
func percent(share float64) string {
	digits := 0
	if share > 0.99 || share < 0.01 {
		digits = 1
	}
	text := fmt.Sprintf("%.*f", digits, 100*share)
	switch {
	case share < 1 && text == "100.0":
		text = "99.9"
	case share == 1 || share == 0:
		text = fmt.Sprintf("%.0f", 100*share)
	case share > 0 && text == "0.0":
		text = "below 0.1"
	}
	return text + " %"
}
