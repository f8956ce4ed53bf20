package plan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/internal/encode"
)

// Features of the calendar are those that the dates show.
func TestCalendarOfDates(t *testing.T) {
	series := func(n int, first, step float64) (x []float64) {
		for i := range n {
			x = append(x, first+step*float64(i))
		}
		return x
	}
	season := []encode.Calendar{encode.YearSine, encode.YearCosine}
	week := encode.Weekdays[:]
	for name, tt := range map[string]struct {
		dates []float64
		want  []encode.Calendar
	}{
		"nothing":                {nil, nil},
		"few":                    {series(9, 0, 100), nil},
		"one date, many times":   {make([]float64, 50), nil},
		"days of a week":         {series(20, 5, 1), nil},
		"days of two months":     {series(60, 5, 1), week},
		"days of two years":      {series(730, 5, 1), append(season, week...)},
		"months of a year":       {series(13, 0, 30.4), nil},
		"months of four years":   {series(48, 0, 30.4), season},
		"quarters of four years": {series(16, 0, 91.3), season},
		"years":                  {series(40, 0, 365.25), nil},
		"weeks of four years":    {series(200, 0, 7), season},
		"hours of two days":      {series(48, 0.5, 1.0/24), nil},
		"hours of a week":        {series(168, 0.5, 1.0/24), []encode.Calendar{encode.DaySine, encode.DayCosine}},
		"some missing":           {append(series(60, 5, 1), math.NaN()), week},
		"working days":           {working(60), []encode.Calendar{"Thursday", "Friday", "Monday", "Tuesday", "Wednesday"}},
	} {
		assert.Equal(t, tt.want, calendar(tt.dates), name)
	}
}

// working are dates without Saturdays and Sundays.
func working(n int) (x []float64) {
	for d := 0.0; len(x) < n; d++ {
		if w := encode.Weekdays[encode.Weekday(d)]; w != "Saturday" && w != "Sunday" {
			x = append(x, d)
		}
	}
	return x
}
