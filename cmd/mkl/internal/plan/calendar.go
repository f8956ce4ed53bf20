package plan

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/encode"
)

// Conditions for features of the calendar. A gap is the median distance between successive different dates of a column.
const (
	fewDates   = 10                // different dates, at least
	seasonSpan = 1.5 * encode.Year // days from the first to the last date, at least: with less, a season is a trend
	seasonGap  = 92                // days: four dates a year
	weekSpan   = 28                // days
	weekGap    = 3.5               // days: two dates a week
	daySpan    = 3                 // days
	dayGap     = 0.25              // days: four dates a day
)

// calendar returns the features of the calendar that a column of dates, in days, gets beside the days. It gets the season if the dates span
// more than a year with several dates a year, the weekday if they are days apart, and the time of day if they are hours apart.
func calendar(dates []float64) (all []encode.Calendar) {
	sorted := slices.DeleteFunc(slices.Clone(dates), math.IsNaN)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	n := len(sorted)
	if n < fewDates {
		return nil
	}
	var gaps []float64
	for i := range n - 1 {
		gaps = append(gaps, sorted[i+1]-sorted[i])
	}
	slices.Sort(gaps)
	gap, span := gaps[(n-1)/2], sorted[n-1]-sorted[0]
	if span >= seasonSpan && gap <= seasonGap {
		all = append(all, encode.YearSine, encode.YearCosine)
	}
	if span >= daySpan && gap <= dayGap {
		all = append(all, encode.DaySine, encode.DayCosine)
	}
	if span < weekSpan || gap > weekGap {
		return all
	}
	var has [7]bool
	for _, d := range sorted {
		has[encode.Weekday(d)] = true
	}
	var week []encode.Calendar
	for k, w := range encode.Weekdays {
		if has[k] {
			week = append(week, w)
		}
	}
	if len(week) < 2 {
		return all
	}
	return append(all, week...)
}
