package table

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/internal/encode"
)

// A date of a file that holds numbers keeps its second as text: in floating point a time in days is no whole
// number of seconds.
func TestTextOfDates(t *testing.T) {
	first := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	for second := range 24 * 60 * 60 {
		when := first.Add(time.Duration(second) * time.Second)
		want := when.Format("2006-01-02T15:04:05")
		if got := textOf(encode.Days(when), Date); got != want {
			assert.Equal(t, want, got)
			return
		}
	}
}

// A text among numbers is a slip of the pen, unless such texts are codes: frequent, repeated, with digits, in a column of few
// different cells.
func TestTypeOf(t *testing.T) {
	column := func(n int, others ...string) (cells []string) { // n cells, the last of them others
		for i := range n - len(others) {
			cells = append(cells, strconv.Itoa(i%7))
		}
		return append(cells, others...)
	}
	for _, c := range []struct {
		name  string
		cells []string
		want  Type
	}{
		{"numbers", column(40), Numeric},
		{"nothing", []string{"", "NA"}, Numeric},
		{"a slip", column(40, "4x"), Numeric},
		{"several slips", column(40, "4x", "3s", "1o", "6p"), Numeric},
		{"codes", column(40, "4a", "4b", "4a", "4b"), Text},
		{"codes with gaps", column(60, "4a", "4b", "4a", "4b", "", "NA"), Text},
		{"issues of a journal", column(40, "1-2", "1-2", "1-2"), Text},
		{"few of many", column(400, "4a", "4a", "4a"), Numeric},
		{"a word", column(40, "unknown", "unknown", "unknown"), Numeric},
		{"a limit of detection", column(40, "<2", "<2", "<2"), Numeric},
		{"too many values", append(column(12, "4a", "4a", "4a"), "11", "12", "13", "14"), Numeric},
		{"dates", slices.Repeat([]string{"2010-05-01", "2011-05-01"}, 20), Date},
		{"text for the most part", []string{"a", "b", "c", "1"}, Text},
	} {
		assert.Equal(t, c.want, typeOf(c.cells), c.name)
	}
}
