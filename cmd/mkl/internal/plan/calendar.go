package plan

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/encode"
)

// What a column of dates must have for features of the calendar. Gap is the median distance of dates that follow each other.
const (
	fewDates   = 10                // different dates, at least
	seasonSpan = 1.5 * encode.Year // days from the first to the last date, at least: with less, a season is a trend
	seasonGap  = 92                // days: four dates a year
	weekSpan   = 28                // days
	weekGap    = 3.5               // days: two dates a week
	daySpan    = 3                 // days
	dayGap     = 0.25              // days: four dates a day
)

// calendar returns the features of dates in days, beside the days: the season where the dates show more than a year and more than
// single days of it, the weekday where they follow each other by days, and the time of day where they do by hours.
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
