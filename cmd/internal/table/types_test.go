package table

import (
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
