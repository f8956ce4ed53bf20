package table

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmkl/bmkl/internal/encode"
)

// Type is what the cells of a column are. A date reads as days since 1970-01-01, with fractions; a boolean as
// 1 (true, yes) or 0 (false, no).
type Type = encode.Type

// Types of columns.
const (
	Numeric   = encode.Numeric
	Date      = encode.Date
	DateDots  = encode.DateDots
	DateDay   = encode.DateDay
	DateMonth = encode.DateMonth
	Boolean   = encode.Boolean
	Text      = encode.Text
)

// Types are all of them, in the order in which cells are tried for them.
var Types = encode.Types

// value reads a cell that is not missing as one of a type other than text, or says what is wrong
// with it.
func value(t Type, cell string) (x float64, msg string) {
	if t == Numeric {
		return parse(cell, Number)
	}
	x, ok := t.Value(cell)
	switch {
	case ok:
		return x, ""
	case t == Boolean:
		return 0, fmt.Sprintf("%q is neither true, yes or 1 nor false, no or 0", short(cell))
	}
	return 0, fmt.Sprintf("%q is not a %s", short(cell), t)
}

// typeOf finds the type of a column from some of its cells. If most of the cells that are not
// missing are numbers, the column holds numbers, so that a slip of the pen cannot be read, unless the cells
// are codes. It holds dates or booleans if all cells do. If day and month of all dates could be exchanged, it is text.
func typeOf(cells []string) Type {
	present, numbers := 0, 0
	different, others := map[string]bool{}, map[string]bool{} // all cells, and the cells that are no numbers
	could := map[Type]bool{Boolean: true, Date: true, DateDots: true, DateDay: true, DateMonth: true}
	for _, cell := range cells {
		if Missing(cell) {
			continue
		}
		present++
		different[cell] = true
		if _, err := strconv.ParseFloat(cell, 64); err == nil {
			numbers++
		} else {
			others[cell] = true
		}
		for t := range could {
			if _, msg := value(t, cell); msg != "" {
				delete(could, t)
			}
		}
	}
	switch {
	case 2*numbers >= present && 4*len(different) <= present && codes(present, present-numbers, others):
		return Text
	case 2*numbers >= present: // also of a column without any cell
		return Numeric
	case could[DateDay] && could[DateMonth]:
		return Text
	}
	for _, t := range Types {
		if could[t] {
			return t
		}
	}
	return Text
}

// codes reports whether the cells of a column that are no numbers are codes, such as 12a beside 12. There are n such cells among
// those present; others has each different one. A slip of the pen is seldom made twice. A word among numbers, such as unknown, or a limit,
// such as <5, is no code.
func codes(present, n int, others map[string]bool) bool {
	if n < 3 || 50*n < present || n < 2*len(others) {
		return false
	}
	for cell := range others {
		if !strings.ContainsAny(cell, "0123456789") || strings.ContainsAny(cell, "<>+,") {
			return false
		}
	}
	return true
}

// told is the number of cells, without those that are missing, by which the type of a
// column is known: later cells must have this type.
const told = 1024

// anyColumn takes the cells of a column of [Any] one by one.
type anyColumn struct {
	Want
	texts   []string // while the type is open, and of text
	numbers []float64
	present int               // cells that are not missing, while the type is open
	names   map[string]string // the one copy of each text
	blanks  encode.Blanks
	gap     Gap
	missing int    // the first that is missing
	wrong   string // what is wrong with that one, if it is not just missing
	bad     int    // the first that cannot be read
	badly   string // what is wrong with that one
}

// anyColumns returns what takes the cells of the columns of [Any].
func anyColumns(want []Want, blanks encode.Blanks) map[int]*anyColumn {
	all := map[int]*anyColumn{}
	for _, w := range want {
		if w.Kind == Any {
			all[w.Column] = &anyColumn{Want: w, blanks: blanks}
		}
	}
	return all
}

// text adds a cell of a text file. If a cell is wrong it returns which, counted from 0,
// and what is wrong with it.
func (c *anyColumn) text(cell string) (at int, msg string) {
	i := len(c.texts) + len(c.numbers)
	cell = c.blanks.Text(cell)
	if c.As != "" {
		return i, c.add(i, cell)
	}
	if Missing(cell) {
		c.texts = append(c.texts, "")
		return 0, ""
	}
	c.texts = append(c.texts, c.name(cell))
	c.present++
	if c.present < told {
		return 0, ""
	}
	return c.decide()
}

// decide finds the type from the cells so far, and reads them again.
func (c *anyColumn) decide() (at int, msg string) {
	if c.As != "" {
		return 0, ""
	}
	cells := c.texts
	c.As, c.texts = typeOf(cells), nil
	for i, cell := range cells {
		if msg := c.add(i, cell); msg != "" {
			return i, msg
		}
	}
	return 0, ""
}

// add adds cell i of a column whose type is known.
func (c *anyColumn) add(i int, cell string) (msg string) {
	if c.As == Text {
		if Missing(cell) {
			c.gone(i, "")
			cell = ""
		}
		c.texts = append(c.texts, c.name(cell))
		return ""
	}
	if Missing(cell) {
		return c.push(i, nan, "")
	}
	x, msg := value(c.As, cell)
	return c.push(i, x, msg)
}

// name returns the one copy of a text that the column keeps.
func (c *anyColumn) name(cell string) string {
	name, ok := c.names[cell]
	if !ok {
		if c.names == nil {
			c.names = map[string]string{}
		}
		name = strings.Clone(cell)
		c.names[name] = name
	}
	return name
}

// push adds number i, which is missing if it is NaN or if something is wrong with it and
// the column is lenient.
func (c *anyColumn) push(i int, x float64, wrong string) (msg string) {
	if wrong != "" {
		if !c.Lenient {
			return wrong
		}
		if c.gap.Wrong == 0 {
			c.bad, c.badly = i, wrong
		}
		c.gap.Wrong++
		x = nan
	}
	if x != x {
		c.gone(i, wrong)
	}
	c.numbers = append(c.numbers, x)
	return ""
}

// gone notes that cell i is missing.
func (c *anyColumn) gone(i int, wrong string) {
	if c.gap.Count == 0 {
		c.missing, c.wrong = i, wrong
	}
	c.gap.Count++
}

// number adds a cell of a file that holds numbers, of the type that the file says.
func (c *anyColumn) number(x float64, t Type) (at int, msg string) {
	if c.As == "" && len(c.texts) > 0 { // a damaged file: texts came before
		if at, msg := c.decide(); msg != "" {
			return at, msg
		}
	}
	i := len(c.texts) + len(c.numbers)
	if t == Numeric { // not a date whose days since 1970 are such a number
		x = c.blanks.Number(x)
	}
	if c.As == Text {
		if x != x {
			return i, c.add(i, "")
		}
		return i, c.add(i, textOf(x, t))
	}
	if c.As == "" {
		c.As = t
	}
	switch {
	case x == x && !finite(x):
		msg = fmt.Sprintf("%v is not a finite number", x)
	case x == x && c.As == Boolean && t != Boolean && x != 0 && x != 1:
		msg = fmt.Sprintf("%v is neither 1 nor 0", x)
	}
	return i, c.push(i, x, msg)
}

// textOf writes a number of a type as text.
func textOf(x float64, t Type) string {
	switch {
	case t == Boolean:
		return strconv.FormatBool(x != 0)
	case t == Date:
		return time.UnixMilli(int64(math.Round(x * 24 * 60 * 60 * 1000))).UTC().Format("2006-01-02T15:04:05")
	}
	return encode.Number(x)
}

// finish puts the columns into the data once all cells of a block are there; what is left of them
// takes the next block.
func (d *Data) finish(columns map[int]*anyColumn) error {
	for _, j := range slices.Sorted(maps.Keys(columns)) {
		c := columns[j]
		if at, msg := c.decide(); msg != "" {
			return d.Cell(at, j, msg)
		}
		if c.gap.Count > 0 {
			if c.wrong == "" {
				c.wrong = "the cell is empty"
			}
			c.gap.First = d.Cell(c.missing, j, c.wrong)
		}
		if c.gap.Wrong > 0 {
			c.gap.FirstWrong = d.Cell(c.bad, j, c.badly)
		}
		d.Types[j], d.Gaps[j] = c.As, c.gap
		if c.As == Text {
			d.Labels[j] = c.texts
		} else {
			d.Numbers[j] = c.numbers
		}
		*c = anyColumn{Want: c.Want, blanks: c.blanks}
	}
	return nil
}
