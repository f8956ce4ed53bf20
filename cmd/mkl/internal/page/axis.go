package page

import (
	"math"
	"strconv"
)

// axis maps values between low and high to places between from and to of a picture.
type axis struct {
	low, high float64
	from, to  float64
	ticks     []float64
	step      float64
}

// Numbers beyond mostDrawn, in size, are drawn at the end of their axis: ticks and differences stay finite. An axis is longer than
// leastDrawn, so that its step is not 0.
const (
	mostDrawn  = math.MaxFloat64 / 8
	leastDrawn = 1e-300
)

// newAxis is an axis that holds all of the values that are finite, with about n round ticks.
func newAxis(from, to float64, n int, values ...[]float64) axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, some := range values {
		for _, v := range some {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low > high {
		low, high = 0, 1
	}
	low, high = min(max(low, -mostDrawn), mostDrawn), min(max(high, -mostDrawn), mostDrawn)
	if high-low <= max(leastDrawn, 1e-12*max(math.Abs(low), math.Abs(high))) {
		d := max(1e-9, math.Abs(low)/10)
		low, high = low-d, high+d
	}
	a := axis{low: low, high: high, from: from, to: to, step: round((high - low) / float64(n))}
	a.low, a.high = math.Floor(low/a.step+1e-9)*a.step, math.Ceil(high/a.step-1e-9)*a.step
	for i := 0; ; i++ {
		v := a.low + float64(i)*a.step
		if v > a.high+a.step/2 {
			break
		}
		if math.Abs(v) < a.step/1e6 {
			v = 0
		}
		a.ticks = append(a.ticks, v)
	}
	return a
}

// unit is an axis from 0 to 1.
func unit(from, to float64) axis { return newAxis(from, to, 5, []float64{0, 1}) }

// at is the place of a value. What is beyond an end is drawn at this end.
func (a axis) at(v float64) float64 {
	return a.from + (min(max(v, a.low), a.high)-a.low)/(a.high-a.low)*(a.to-a.from)
}

// label is the text of a tick: as many digits as the step needs.
func (a axis) label(v float64) string {
	if m := max(math.Abs(a.low), math.Abs(a.high)); m >= 1e6 || m < 1e-3 {
		digits := 1 + int(math.Round(math.Log10(m))) - int(math.Floor(math.Log10(a.step)+1e-9))
		return strconv.FormatFloat(v, 'g', max(3, digits), 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(math.Log10(a.step)+1e-9))), 64)
}

// widest is the width of the widest label.
func (a axis) widest() (w float64) {
	for _, v := range a.ticks {
		w = max(w, width(a.label(v)))
	}
	return w
}

// thin leaves out every second tick until the labels of an axis from left to right have room.
func (a *axis) thin() {
	const apart = 6
	for len(a.ticks) > 2 && (a.widest()+apart)*float64(len(a.ticks)-1) > math.Abs(a.at(a.ticks[len(a.ticks)-1])-a.at(a.ticks[0])) {
		some := a.ticks[:0:0]
		for i := 0; i < len(a.ticks); i += 2 {
			some = append(some, a.ticks[i])
		}
		a.ticks = some
	}
}

// round is the least of 1, 2 and 5 times a power of 10 that is not below x.
func round(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}
