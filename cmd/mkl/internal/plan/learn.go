package plan

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/internal/encode"
)

// Table is the columns of a view in a table that was read.
type Table struct {
	Data    *table.Data
	Names   []string // of all columns of the table
	Columns []int    // columns of the view
	Named   []bool   // by column of the view, whether it is one by its own name: then it is not left out
	Text    Text     // what columns of text become
	Dates   bool     // dates have features of the calendar where these say something

	// Outcomes holds what is to be predicted, by target and row; NaN is missing. Without it all columns that look like codes are named.
	Outcomes [][]float64
}

// Text says what columns of text become.
type Text string

// What columns of text can become.
const (
	// ByColumn makes codes of the categories of a column that has more than 30, a bag of words of prose, and columns of 0
	// and 1 of other text.
	ByColumn Text = "auto"
	OneHot   Text = "onehot"   // columns of 0 and 1
	Category Text = "category" // codes of categories
)

// LeftOut is a column that is no feature, and why.
type LeftOut struct {
	Column string `json:"column"`
	Why    string `json:"why"`
}

// Mixed is a column of text whose cells are numbers for the most part, and a cell that is no number.
type Mixed struct{ Column, Other string }

// View is the plan of a view.
type View struct {
	Columns []Column
	At      []int // the places of the columns in the table
	Left    []LeftOut
	Codes   []string // columns of numbers that look like codes of categories, which were not named
	Many    []string // columns of text that become many columns of 0 and 1
	Prose   []string // columns of text that were left out, of several words in a cell
	Mixed   []Mixed  // columns of text whose cells are numbers for the most part
}

// Learn makes the plan of a view by its training data. If impute, missing values are
// filled in: numbers and dates by their median, booleans by what is more frequent, and the columns that
// have missing values get an indicator.
//
// Columns are left out that are empty, have one value only, are text that is different in
// more than half of the rows, count the rows from 0 or 1, are whole numbers all different
// and called an id, or repeat a column before them. Those that were named stay, unless they are empty. The last two
// kinds of numbers also stay where nothing else would.
func Learn(t Table, impute bool) View {
	var v View
	var counts []int // columns that only count the rows or name them
	seen := map[uint64][]int{}
	seed := maphash.MakeSeed()
	for k, j := range t.Columns {
		why, counting := t.useless(j)
		if why == "" {
			if first, ok := t.repeats(j, seed, seen); ok {
				why = "the same as " + t.Names[first]
			}
		}
		switch {
		case why == "" || t.Named[k] && why != empty || strings.HasPrefix(why, ofText) && t.bag(j):
			v.At = append(v.At, j)
		case counting:
			counts = append(counts, j)
			fallthrough
		default:
			v.Left = append(v.Left, LeftOut{t.Names[j], why})
			if strings.HasPrefix(why, ofText) && prose(t.Data.Labels[j]) {
				v.Prose = append(v.Prose, t.Names[j])
			}
		}
	}
	if v.At == nil {
		v.At = counts
		for _, j := range counts {
			v.Left = slices.DeleteFunc(v.Left, func(l LeftOut) bool { return l.Column == t.Names[j] })
		}
	}
	for _, j := range v.At {
		v.Columns = append(v.Columns, t.column(j, impute))
		if k := slices.Index(t.Columns, j); !t.Named[k] && t.Data.Types[j] == table.Numeric && looksCoded(t.Data.Numbers[j]) &&
			orderless(t.Data.Numbers[j], t.Outcomes) {
			v.Codes = append(v.Codes, t.Names[j])
		}
		if other := mixed(t.Data.Labels[j]); other != "" {
			v.Mixed = append(v.Mixed, Mixed{t.Names[j], other})
		}
		if c := v.Columns[len(v.Columns)-1]; !c.Codes && len(c.Categories) > fewCodes {
			v.Many = append(v.Many, t.Names[j])
		}
	}
	return v
}

// mixed returns the first cell that is no number of a column of text in which at least half of the cells are numbers; else nothing.
func mixed(cells []string) (other string) {
	numbers, others := 0, 0
	for _, cell := range cells {
		if cell == "" {
			continue
		}
		if _, err := strconv.ParseFloat(cell, 64); err == nil {
			numbers++
		} else if others++; others == 1 {
			other = cell
		}
	}
	if numbers < others {
		return ""
	}
	return other
}

// bag reports whether a column of text becomes a bag of words.
func (t Table) bag(j int) bool {
	if t.Text != ByColumn || t.Data.Types[j] != table.Text || !prose(t.Data.Labels[j]) {
		return false
	}
	words, _ := encode.Bag(t.Data.Labels[j])
	return len(words) > 1
}

// empty is why a column without any value is left out.
const empty = "empty"

// useless says why a column says nothing of the samples, and whether it counts or names them by numbers.
func (t Table) useless(j int) (why string, counting bool) {
	if t.Data.Types[j] == table.Text {
		return uselessText(t.Data.Labels[j]), false
	}
	x := t.Data.Numbers[j]
	present, one, whole, counts := 0, true, true, true
	first, low, high := nan, math.Inf(1), math.Inf(-1)
	for i, v := range x {
		if v != v {
			counts = false
			continue
		}
		low, high = min(low, v), max(high, v)
		if present++; present == 1 {
			first = v
		}
		one = one && v == first
		whole = whole && v == math.Trunc(v)
		counts = counts && v == x[0]+float64(i) && (x[0] == 0 || x[0] == 1)
	}
	switch {
	case present == 0:
		return empty, false
	case one && present == len(x):
		return fmt.Sprintf("always %.6g", first), false
	case high/4-low/4 > math.MaxFloat64/16: // the standard deviation could be beyond the largest number
		return fmt.Sprintf("its numbers from %.6g to %.6g are too far apart for floating-point numbers", low, high), false
	case len(x) < fewRows || t.Data.Types[j] != table.Numeric:
		return "", false
	case counts:
		return "counts the rows", true
	case whole && isID(t.Names[j]) && allDifferent(x):
		return "an id by its name, and different in every row", true
	}
	return "", false
}

// ofText begins the reason why a column of text is left out that has many values.
const ofText = "text that is different"

// fewRows are too few to tell a column that counts or names them from one that means something.
const fewRows = 10

var nan = math.NaN()

// uselessText is useless for a column of text.
func uselessText(cells []string) string {
	distinct := map[string]bool{}
	present := 0
	for _, cell := range cells {
		if cell != "" {
			present++
			distinct[cell] = true
		}
	}
	switch n := len(distinct); {
	case n == 0:
		return empty
	case n == 1 && present == len(cells):
		return "always " + cells[0]
	case len(cells) < fewRows:
	case n == present:
		return ofText + " in every row"
	case 2*n > present:
		return fmt.Sprintf(ofText+" in most rows (%d of %d)", n, present)
	}
	return ""
}

// prose reports whether the cells of a column have more than a name's words each, on average.
func prose(cells []string) bool {
	const words = 3
	spaces, present := 0, 0
	for _, cell := range cells {
		if cell != "" {
			present++
			spaces += strings.Count(cell, " ")
		}
	}
	return spaces >= words*present
}

// isID reports whether the name of a column says that it is an id.
func isID(name string) bool {
	lower := strings.ToLower(name)
	return lower == "id" || lower == "index" || strings.HasSuffix(lower, "_id") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID")
}

func allDifferent(x []float64) bool {
	seen := make(map[float64]bool, len(x))
	for _, v := range x {
		if v != v || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

// repeats finds a column before this one with the same cells, among those that were seen.
func (t Table) repeats(j int, seed maphash.Seed, seen map[uint64][]int) (first int, ok bool) {
	var h maphash.Hash
	h.SetSeed(seed)
	text := t.Data.Types[j] == table.Text
	for _, cell := range t.Data.Labels[j] {
		h.WriteString(cell)
		h.WriteByte(0)
	}
	for _, v := range t.Data.Numbers[j] {
		maphash.WriteComparable(&h, bits(v))
	}
	sum := h.Sum64()
	for _, k := range seen[sum] {
		same := t.Data.Types[k] == t.Data.Types[j]
		if text {
			same = same && slices.Equal(t.Data.Labels[k], t.Data.Labels[j])
		} else {
			same = same && slices.EqualFunc(t.Data.Numbers[k], t.Data.Numbers[j], func(a, b float64) bool { return bits(a) == bits(b) })
		}
		if same {
			return k, true
		}
	}
	seen[sum] = append(seen[sum], j)
	return 0, false
}

// bits returns the bits of a number, the same for every NaN and for both zeros.
func bits(v float64) uint64 {
	if v != v {
		v = nan
	}
	return math.Float64bits(v + 0)
}

// column is the plan of a column.
func (t Table) column(j int, impute bool) Column {
	c := Column{Name: t.Names[j], Type: t.Data.Types[j]}
	gaps := false
	if c.Type == table.Text {
		c.Categories = table.Classes(slices.Clone(t.Data.Labels[j]))
		if at := slices.Index(c.Categories, ""); at >= 0 {
			gaps = true
			c.Categories = slices.Delete(c.Categories, at, at+1)
		}
		many := t.Text == ByColumn && len(c.Categories) > fewCodes
		c.Codes = t.Text == Category || many
		if many && t.bag(j) {
			c.Codes, c.Categories, gaps = false, nil, false
			c.Words, c.Weights = encode.Bag(t.Data.Labels[j])
		}
	} else {
		gaps = slices.ContainsFunc(t.Data.Numbers[j], math.IsNaN)
		c.Range = span(c.Type, t.Data.Numbers[j])
		if t.Dates && c.Type != table.Numeric && c.Type != table.Boolean {
			c.Calendar = calendar(t.Data.Numbers[j])
		}
	}
	if impute {
		fill := 0.0
		if c.Type != table.Text {
			fill = middle(t.Data.Numbers[j])
			if c.Type == table.Boolean {
				fill = math.Floor(fill) // of as many 0 as 1
			}
		}
		c.Fill, c.Indicator = &fill, gaps
	}
	return c
}

// span is the least and the largest of the numbers or dates that are not missing; nil for booleans, and if all are missing.
func span(as table.Type, x []float64) *[2]float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if v == v {
			low, high = min(low, v), max(high, v)
		}
	}
	if as == table.Boolean || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return nil
	}
	return &[2]float64{low, high}
}

// middle is the median of the numbers that are not missing.
func middle(x []float64) float64 {
	x = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	slices.Sort(x)
	n := len(x)
	if n%2 == 1 {
		return x[n/2]
	}
	if d := x[n/2] - x[n/2-1]; !math.IsInf(d, 0) {
		return x[n/2-1] + float64(d/2)
	}
	return float64(x[n/2-1]/2) + float64(x[n/2]/2)
}

// Lines say what becomes of the columns, one for each kind of change: columns that are left out for one
// reason share a line.
func (v View) Lines() (lines []string) {
	for _, c := range v.Columns {
		if text := c.String(); text != "" {
			lines = append(lines, text)
		}
	}
	const most = 12
	if n := len(lines); n > most {
		lines = append(lines[:most:most], fmt.Sprintf("… and %s more that are not plain numbers", encode.Plural(n-most, "column")))
	}
	var reasons []string
	columns := map[string][]string{}
	for _, l := range v.Left {
		if columns[l.Why] == nil {
			reasons = append(reasons, l.Why)
		}
		columns[l.Why] = append(columns[l.Why], l.Column)
	}
	for i, why := range reasons {
		if i == most {
			return append(lines, fmt.Sprintf("… and columns left out for %s more", encode.Plural(len(reasons)-most, "reason")))
		}
		what := "left out:"
		if strings.HasPrefix(why, ofText) {
			what = "warning: nothing is learned from"
		}
		lines = append(lines, fmt.Sprintf("%s %s (%s)", what, encode.Few(console.ColumnNames(columns[why])), why))
	}
	return lines
}
