package mkl

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
)

// Lifetime says what is known about the time of an event: it lies between From and To. It is exact if both are equal. To is
// +Inf if the event had not happened by From (censored on the right). From is 0 if it is only known that the event had
// happened by To (censored on the left), like a concentration below the limit of detection.
type Lifetime struct{ From, To float64 }

// EventAt returns an exact time.
func EventAt(t float64) Lifetime { return Lifetime{t, t} }

// EventAfter returns a time that is censored on the right: the event had not happened by t.
func EventAfter(t float64) Lifetime { return Lifetime{t, math.Inf(1)} }

// EventBefore returns a time that is censored on the left: the event had happened by t.
func EventBefore(t float64) Lifetime { return Lifetime{0, t} }

// EventBetween returns a time that lies between two others.
func EventBetween(from, to float64) Lifetime { return Lifetime{from, to} }

// Lifetimes returns the times of samples. event[i] says whether the event of sample i happened at time[i], or had not
// happened by then. It panics if the lengths differ.
func Lifetimes(time []float64, event []bool) []Lifetime {
	out := make([]Lifetime, len(time))
	for i, t := range time {
		out[i] = EventAfter(t)
		if event[i] {
			out[i] = EventAt(t)
		}
	}
	return out
}

// logTimes returns the bounds of the logarithms of times. They are standardised: a finite bound, or the middle of a finite
// interval, has mean 0 and standard deviation 1 over the samples. unit is the original mean and standard deviation.
func logTimes(times []Lifetime) (unit target, lower, upper []float64, err error) {
	middles := make([]float64, len(times))
	for i, t := range times {
		l, u := special.Log(t.From), special.Log(t.To)
		switch {
		case math.IsNaN(t.From) || math.IsNaN(t.To):
			return unit, nil, nil, &ValueError{Arg: "times", Row: i, Col: -1, Value: math.NaN()}
		case !(t.From >= 0 && t.To >= t.From):
			return unit, nil, nil, fmt.Errorf("mkl: times[%d] is from %g to %g: 0 ≤ From ≤ To is needed", i, t.From, t.To)
		case t.From == 0 && t.To == 0:
			return unit, nil, nil, fmt.Errorf("mkl: times[%d] is 0: times are positive; set it to a part of the least that is measured", i)
		case t.From == 0 && math.IsInf(t.To, 1), math.IsInf(t.From, 1):
			return unit, nil, nil, fmt.Errorf("mkl: times[%d] is from %g to %g, which says nothing", i, t.From, t.To)
		case math.IsInf(u, 1):
			middles[i] = l
		case math.IsInf(l, -1):
			middles[i] = u
		default:
			middles[i] = l + float64(0.5*(u-l))
		}
		lower, upper = append(lower, l), append(upper, u)
	}
	switch {
	case len(times) < 2:
		return unit, nil, nil, fmt.Errorf("mkl: times: %d samples where at least 2 are needed", len(times))
	case slices.Max(middles) == slices.Min(middles):
		return unit, nil, nil, errors.New("mkl: times: all times are the same: there is nothing to learn")
	}
	targets, _ := standardizeTargets([][]float64{middles}, false)
	unit = targets[0]
	for i := range lower {
		lower[i], upper[i] = (lower[i]-unit.mean)/unit.sd, (upper[i]-unit.mean)/unit.sd
	}
	return unit, lower, upper, nil
}
