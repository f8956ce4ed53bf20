package encode

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Weekdays are the weekdays of package time, before 1970 too, and the cycles are sines and cosines with their periods.
func TestCalendar(t *testing.T) {
	for when := time.Date(1890, 1, 1, 5, 30, 0, 0, time.UTC); when.Year() < 2110; when = when.AddDate(0, 0, 13) {
		days := Days(when)
		assert.Equal(t, when.Weekday().String(), string(Weekdays[Weekday(days)]), when)
		var sum float64
		for _, w := range Weekdays {
			sum += w.Of(days)
		}
		assert.Equal(t, 1.0, sum)
		assert.InDelta(t, math.Sin(2*math.Pi*days/Year), YearSine.Of(days), 1e-11)
		assert.InDelta(t, math.Cos(2*math.Pi*days/Year), YearCosine.Of(days), 1e-11)
		assert.InDelta(t, math.Sin(2*math.Pi*5.5/24), DaySine.Of(days), 1e-9)
		assert.InDelta(t, math.Cos(2*math.Pi*5.5/24), DayCosine.Of(days), 1e-9)
	}
	assert.Zero(t, Calendar("Blueday").Of(3))
}

// A Gaussian kernel of the sine and the cosine is the periodic kernel.
func TestSeasonIsPeriodic(t *testing.T) {
	const a, b, width = 15000.0, 17211.0, 0.7
	s, c := YearSine.Of(a)-YearSine.Of(b), YearCosine.Of(a)-YearCosine.Of(b)
	sin := math.Sin(math.Pi * (a - b) / Year)
	assert.InDelta(t, math.Exp(-2*sin*sin/(width*width)), math.Exp(-(s*s+c*c)/(2*width*width)), 1e-12)
}

// A missing date has the days of its stand-in, no weekday and no season, and its indicator.
func TestCalendarOfMissing(t *testing.T) {
	fill := 100.0
	c := Column{Name: "d", Type: Date, Fill: &fill, Indicator: true, Calendar: []Calendar{YearSine, YearCosine, "Monday"}}
	assert.Equal(t, 5, c.Width())
	assert.Equal(t, []string{"d", "d year sine", "d year cosine", "d Monday", "d missing"}, c.Features())
	e := Encode([]Column{c}, []int{0}, Cells{Rows: 2, Numbers: map[int][]float64{0: {math.NaN(), 4}}})
	assert.Equal(t, []float64{100, 0, 0, 0, 1}, e.X.Row(0))
	assert.Equal(t, []float64{4, YearSine.Of(4), YearCosine.Of(4), 1, 0}, e.X.Row(1))
	put := make([]float64, 5)
	put[4] = 1
	c.Put(put, 4)
	assert.Equal(t, e.X.Row(1), put)
	assert.Equal(t, "d is a date: days since 1970, the season as sine and cosine, the weekday as 1 column of 0 and 1, 100 where missing, "+
		"and a column of 0 and 1 that says where", c.String())
}
