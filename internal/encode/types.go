package encode

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Type is what the cells of a column are.
type Type string

// Types of columns. A date reads as days since 1970-01-01, with fractions; a boolean as
// 1 (true, yes) or 0 (false, no).
const (
	Numeric   Type = "number"
	Date      Type = "date"        // year-month-day or year/month/day, with a time or without
	DateDots  Type = "date(d.m.y)" // as in 31.12.2026
	DateDay   Type = "date(d/m/y)" // as in 31/12/2026
	DateMonth Type = "date(m/d/y)" // as in 12/31/2026
	Boolean   Type = "boolean"
	Text      Type = "text"
)

// Types are all of them, in the order in which cells are tried for them.
var Types = []Type{Numeric, Boolean, Date, DateDots, DateDay, DateMonth, Text}

// layouts are how dates of each type are written.
var layouts = map[Type][]string{
	Date: {
		"2006-01-02", "2006-01-02 15:04:05", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04",
		"2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006/1/2", "2006/1/2 15:04:05", "2006/1/2 15:04",
	},
	DateDots:  {"2.1.2006", "2.1.2006 15:04:05", "2.1.2006 15:04"},
	DateDay:   {"2/1/2006", "2/1/2006 15:04:05", "2/1/2006 15:04"},
	DateMonth: {"1/2/2006", "1/2/2006 15:04:05", "1/2/2006 15:04"},
}

// Days is a time in days since 1970-01-01.
func Days(t time.Time) float64 {
	return (float64(t.Unix()) + float64(t.Nanosecond())/1e9) / (24 * 60 * 60)
}

// Text writes a value as a cell: a number with up to six digits, a date without its time.
func (t Type) Text(x float64) string {
	if dates := layouts[t]; dates != nil && math.Abs(x) < 1e6 {
		const day = 24 * 60 * 60
		return time.Unix(int64(math.Floor(x))*day, 0).UTC().Format(dates[0])
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// Value reads a cell that is not missing as one of a type other than text, if it is of the type.
func (t Type) Value(cell string) (x float64, ok bool) {
	switch t {
	case Numeric:
		x, err := strconv.ParseFloat(cell, 64)
		return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
	case Boolean:
		switch strings.ToLower(cell) {
		case "true", "yes", "1":
			return 1, true
		case "false", "no", "0":
			return 0, true
		}
		return 0, false
	}
	for _, layout := range layouts[t] {
		if when, err := time.Parse(layout, cell); err == nil {
			return Days(when), true
		}
	}
	return 0, false
}

// Missing reports whether a cell says that there is nothing.
func Missing(cell string) bool {
	switch cell {
	case "", "NA", "N/A", "n/a", "NULL", "null", "?", ".": // a point in files of SAS and Stata
		return true
	}
	return strings.EqualFold(cell, "nan")
}

// Number writes a number as the text of a cell: whole numbers without an exponent.
func Number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
