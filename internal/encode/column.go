// Package encode makes features of the columns of a table as a model file's plan says: texts become columns of 0 and 1,
// dates days, booleans 1 and 0, and missing values are filled in.
package encode

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
)

// NotesKey is the key under which the notes of a model file hold the plan, as JSON.
const NotesKey = "mkl-command"

// Column says how a column of a table becomes features.
type Column struct {
	Name string `json:"name"`
	Type Type   `json:"type"`

	// Categories are the texts of a column of text: each is a feature, 1 where the cell has that
	// text and else 0. Other text is 0 in all.
	Categories []string `json:"categories,omitempty"`

	// Codes makes one feature of a column of text: the place of the text among the categories,
	// from 0; as many as there are where it is missing and is filled in; −1 for other text.
	Codes bool `json:"codes,omitempty"`

	// Words are the words of a column of text, in alphabetical order: each is a feature, as [Bag] weights it by Weights,
	// and cells are vectors of length 1.
	Words   []string  `json:"words,omitempty"`
	Weights []float64 `json:"weights,omitempty"`

	// Fill stands in for missing values; nil: a row without a value cannot be predicted. Text that is missing is
	// 0 in all categories.
	Fill *float64 `json:"fill,omitempty"`

	// Indicator adds a feature, 1 where the value is missing and else 0.
	Indicator bool `json:"indicator,omitempty"`

	// Calendar are features of a date beside its days since 1970, which is the first. Of a missing date they are 0.
	Calendar []Calendar `json:"calendar,omitempty"`

	// Range is the least and the largest value of the fit, of numbers and dates; nil in files of earlier builds.
	Range *[2]float64 `json:"range,omitempty"`
}

// Plain is the column of numbers called name, each of them an unchanged feature.
func Plain(name string) Column { return Column{Name: name, Type: Numeric} }

// Plain reports whether the features are the cells as they are.
func (c Column) Plain() bool { return c.Type == Numeric && c.Fill == nil }

// Outside reports whether a value is farther from the values of the fit than these are from each other.
func (c Column) Outside(v float64) bool {
	if c.Range == nil {
		return false
	}
	span := c.Range[1] - c.Range[0]
	return v < c.Range[0]-span || v > c.Range[1]+span
}

// Width is the number of features.
func (c Column) Width() int {
	switch {
	case c.Codes:
		return 1
	case c.Words != nil:
		return len(c.Words)
	}
	n := 1 + len(c.Calendar)
	if c.Type == Text {
		n = len(c.Categories)
	}
	if c.Indicator {
		n++
	}
	return n
}

// Features names the features.
func (c Column) Features() []string {
	names := []string{c.Name}
	if c.Codes {
		return names
	}
	if c.Words != nil {
		names = nil
		for _, word := range c.Words {
			names = append(names, c.Name+":"+word)
		}
		return names
	}
	if c.Type == Text {
		names = nil
		for _, category := range c.Categories {
			names = append(names, c.Name+"="+category)
		}
	}
	for _, f := range c.Calendar {
		names = append(names, c.Name+" "+string(f))
	}
	if c.Indicator {
		names = append(names, c.Name+" missing")
	}
	return names
}

// String says what becomes of the column; it is empty if that is nothing.
func (c Column) String() string {
	var what string
	switch {
	case c.Codes:
		what = fmt.Sprintf("text: %s, equal or not (%s)", counted(len(c.Categories), "category", "categories"), Few(c.Categories))
	case c.Words != nil:
		return fmt.Sprintf("%s is text: a bag of %s", c.Name, Plural(len(c.Words), "word"))
	case c.Type == Text:
		what = fmt.Sprintf("text: %s of 0 and 1 (%s)", Plural(len(c.Categories), "column"), Few(c.Categories))
	case c.Type == Boolean:
		what = "yes or no: 1 and 0"
	case c.Type != Numeric:
		what = fmt.Sprintf("a %s: days since 1970%s", c.Type, c.calendar())
	case c.Indicator:
		what = "numbers"
	default:
		return ""
	}
	switch {
	case c.Indicator && c.Codes:
		what += ", and missing values are one more"
	case c.Indicator && c.Type == Text:
		what += ", and one for missing values"
	case c.Indicator:
		what += fmt.Sprintf(", %.4g where missing, and a column of 0 and 1 that says where", *c.Fill)
	}
	return c.Name + " is " + what
}

// calendar says which features a date has beside its days.
func (c Column) calendar() (text string) {
	weekdays := 0
	for _, f := range c.Calendar {
		switch f {
		case YearSine:
			text += ", the season as sine and cosine"
		case DaySine:
			text += ", the time of day as sine and cosine"
		case YearCosine, DayCosine:
		default:
			weekdays++
		}
	}
	if weekdays > 0 {
		text += fmt.Sprintf(", the weekday as %s of 0 and 1", Plural(weekdays, "column"))
	}
	return text
}

// Put stores the features of v, a value of a column of numbers, dates or booleans that is not missing, in Width elements.
func (c Column) Put(features []float64, v float64) {
	clear(features)
	features[0] = v
	for k, f := range c.Calendar {
		features[1+k] = f.Of(v)
	}
}

// Filling says what stands in for a missing value.
func (c Column) Filling() string {
	switch {
	case c.Words != nil:
		return "no word"
	case c.Type == Text:
		return "no category"
	}
	return fmt.Sprintf("%.4g", *c.Fill)
}

// Width is the number of features of columns.
func Width(columns []Column) (n int) {
	for _, c := range columns {
		n += c.Width()
	}
	return n
}

// Features names the features of columns.
func Features(columns []Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Features()...)
	}
	return names
}

// Parts are the features of columns by the kernels that see them.
type Parts struct {
	Codes  []int // codes of categories
	Words  []int // bags of words
	Others []int
}

// Divide divides the features of columns by the kernels that see them.
func Divide(columns []Column) (p Parts) {
	at := 0
	for _, c := range columns {
		to := &p.Others
		switch {
		case c.Codes:
			to = &p.Codes
		case c.Words != nil:
			to = &p.Words
		}
		for range c.Width() {
			*to = append(*to, at)
			at++
		}
	}
	return p
}

// Simple reports whether the features of all columns are the cells as they are.
func Simple(columns []Column) bool {
	return !slices.ContainsFunc(columns, func(c Column) bool { return !c.Plain() })
}

// Encoded is features made by a plan.
type Encoded struct {
	X       la.Matrix[float64]
	Missing []bool           // by row, whether a value is missing that the plan cannot fill in; nil if no value is
	Absent  []bool           // by row, whether all its values are missing; nil if no row is so
	Unknown map[string]Count // by column, the cells with a category that the plan does not have
	Filled  map[string]int   // by column that had a value in every row of the fit, the cells that were filled in
	Outside map[string]Count // by column, the cells far outside of the values of the fit
}

// Count is a number of cells, and what the first of them says.
type Count struct {
	Cells int
	First string
}

// Cells are columns of a table that were read, by their places: text in Labels, else Numbers, NaN where there is nothing.
type Cells struct {
	Rows    int
	Numbers map[int][]float64
	Labels  map[int][]string
}

// Encode makes features of the columns at the given places of a table, which were read as
// the columns' types. The features of missing rows are 0.
func Encode(columns []Column, at []int, d Cells) Encoded {
	e := Encoded{X: la.NewMatrix[float64](d.Rows, Width(columns)), Unknown: map[string]Count{}, Filled: map[string]int{}, Outside: map[string]Count{}}
	first := 0 // feature of the column
	for k, c := range columns {
		switch {
		case c.Words != nil:
			e.words(c, first, d.Labels[at[k]])
		case c.Type == Text:
			e.text(c, first, d.Labels[at[k]])
		default:
			e.numbers(c, first, d.Numbers[at[k]])
		}
		first += c.Width()
	}
	for i, missing := range e.Missing {
		if missing {
			clear(e.X.Row(i))
		}
	}
	if e.Missing != nil {
		e.Absent = make([]bool, d.Rows)
		for i := range e.Absent {
			e.Absent[i] = allMissing(columns, at, d, i)
		}
	}
	return e
}

// allMissing reports whether every value of a row is missing, with no plan to fill it in.
func allMissing(columns []Column, at []int, d Cells, row int) bool {
	for k, c := range columns {
		switch {
		case c.Fill != nil:
			return false
		case c.Type == Text && d.Labels[at[k]][row] != "":
			return false
		case c.Type != Text && d.Numbers[at[k]][row] == d.Numbers[at[k]][row]:
			return false
		}
	}
	return true
}

// Lack marks the rows of the features that are absent: they become NaN, and are missing no more.
func (e *Encoded) Lack() {
	for i, absent := range e.Absent {
		if absent {
			for j := range e.X.Row(i) {
				e.X.Row(i)[j] = math.NaN()
			}
			e.Missing[i] = false
		}
	}
}

func (e *Encoded) numbers(c Column, first int, values []float64) {
	for i, v := range values {
		if v != v {
			if c.Fill == nil {
				e.miss(i)
				continue
			}
			v = *c.Fill
			if c.Indicator {
				e.X.Set(i, first+c.Width()-1, 1)
			} else {
				e.Filled[c.Name]++
			}
			e.X.Set(i, first, v)
			continue
		}
		if c.Outside(v) {
			n := e.Outside[c.Name]
			if n.Cells++; n.Cells == 1 {
				n.First = c.Type.Text(v)
			}
			e.Outside[c.Name] = n
		}
		c.Put(e.X.Row(i)[first:first+c.Width()], v)
	}
}

func (e *Encoded) text(c Column, first int, cells []string) {
	at := make(map[string]int, len(c.Categories))
	for k, category := range c.Categories {
		at[category] = k
	}
	for i, cell := range cells {
		k, known := at[cell]
		switch {
		case known && c.Codes:
			e.X.Set(i, first, float64(k))
		case known:
			e.X.Set(i, first+k, 1)
		case cell == "" && c.Fill == nil:
			e.miss(i)
		case cell == "" && c.Codes:
			e.X.Set(i, first, float64(len(c.Categories)))
		case cell == "" && c.Indicator:
			e.X.Set(i, first+len(c.Categories), 1)
		case cell == "":
			e.Filled[c.Name]++
		default:
			n := e.Unknown[c.Name]
			if n.Cells++; n.Cells == 1 {
				n.First = cell
			}
			if c.Codes {
				e.X.Set(i, first, -1)
			}
			e.Unknown[c.Name] = n
		}
	}
}

func (e *Encoded) miss(i int) {
	if e.Missing == nil {
		e.Missing = make([]bool, e.X.Rows)
	}
	e.Missing[i] = true
}

// Few lists the first of names.
func Few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … %d in all", strings.Join(names[:most], ", "), len(names))
}

// Plural counts things.
func Plural(n int, noun string) string { return counted(n, noun, noun+"s") }

// counted counts things by the nouns for one and for several.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
