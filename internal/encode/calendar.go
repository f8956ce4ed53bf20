package encode

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Calendar is a feature of a date beside its days since 1970.
type Calendar string

// The features of a cycle are the sine and the cosine of a date's place in it. A Gaussian kernel of both is the periodic kernel with that
// period.
const (
	YearSine   Calendar = "year sine"
	YearCosine Calendar = "year cosine"
	DaySine    Calendar = "hour sine"
	DayCosine  Calendar = "hour cosine"
)

// Weekdays are the features of the days of the week, 1 on the day and else 0. The first is Thursday, the weekday of 1970-01-01.
var Weekdays = [7]Calendar{"Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"}

// Year is the mean length of a year of the Gregorian calendar in days.
const Year = 365.2425

// Weekday returns the place in [Weekdays] of a date in days since 1970-01-01.
func Weekday(days float64) int {
	w := math.Mod(math.Floor(days), 7)
	if w < 0 {
		w += 7
	}
	return int(w)
}

// Of returns the feature of a date in days since 1970-01-01. It is 0 for a name that this package does not know.
func (c Calendar) Of(days float64) float64 {
	period := Year
	switch c {
	case DaySine, DayCosine:
		period = 1
	case YearSine, YearCosine:
	default:
		if Weekdays[Weekday(days)] == c {
			return 1
		}
		return 0
	}
	sin, cos := special.Sincos(2 * math.Pi * (math.Mod(days, period) / period))
	if c == YearSine || c == DaySine {
		return sin
	}
	return cos
}
