package work

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Anderson extrapolates sweeps by [Mixing]: a sweep maps the coordinates of the state that it
// starts from to those where it ends. An extrapolation promises nothing of a bound: Sweep takes
// back what lowers it.
type Anderson struct {
	coordinates []coordinates
	mixing      Mixing
	x, g, r     []float64 // of the last sweep: start, end, and the way between
	started     bool      // there was a sweep
}

// coordinates are a part of the state, taken by their logarithms if they are positive.
type coordinates struct {
	values []float64
	logs   bool
}

// Of adds a part of the state, which must stay where it is; logs says that it is positive
// and taken by its logarithms.
func (a *Anderson) Of(logs bool, x []float64) {
	a.coordinates = append(a.coordinates, coordinates{x, logs})
	n := len(a.g) + len(x)
	a.x, a.g, a.r = make([]float64, n), make([]float64, n), make([]float64, n)
}

// read stores the coordinates of the present state in dst.
func (a *Anderson) read(dst []float64) {
	for _, c := range a.coordinates {
		copy(dst, c.values)
		if c.logs {
			for i, v := range c.values {
				dst[i] = special.Log(v)
			}
		}
		dst = dst[len(c.values):]
	}
}

// write makes x the coordinates of the present state.
func (a *Anderson) write(x []float64) {
	for _, c := range a.coordinates {
		copy(c.values, x)
		if c.logs {
			for i, v := range x[:len(c.values)] {
				c.values[i] = special.Exp(v)
			}
		}
		x = x[len(c.values):]
	}
}

// Forget forgets all sweeps so far.
func (a *Anderson) Forget() {
	a.mixing.Forget()
	a.started = false
}

// State is the state of an ascent of a bound.
type State interface {
	Bound() float64
	Keep()
	Restore()
}

// Sweep makes a sweep of s from coordinates that are extrapolated. One that lowers the
// bound, or fails, is taken back, and made again from where the last one ended.
func (a *Anderson) Sweep(s State, sweep func(done func(string)) error, done func(string)) error {
	last := math.Inf(-1)
	if a.started {
		last = s.Bound()
	}
	s.Keep()
	if !a.extrapolate() {
		return sweep(done)
	}
	if err := sweep(nil); err == nil && s.Bound() >= last {
		if done != nil {
			done("ahead")
		}
		return nil
	}
	s.Restore()
	a.Forget()
	a.extrapolate() // notes where it starts
	return sweep(done)
}

// extrapolate is called at the start of a sweep. It moves the present state, where the
// last sweep has ended, and reports whether it has.
func (a *Anderson) extrapolate() bool {
	a.read(a.g)
	if !a.started {
		a.started = true
		copy(a.x, a.g)
		return false
	}
	for i, v := range a.g {
		a.r[i] = v - a.x[i]
	}
	copy(a.x, a.g)
	if !a.mixing.Extrapolate(a.x, a.r) {
		return false
	}
	a.write(a.x)
	return true
}

// Snapshot names what the sweeps so far have left, without the coordinates themselves.
func (a *Anderson) Snapshot(s *Snapshot) {
	s.Bool(&a.started)
	s.Floats(a.x)
	a.mixing.snapshot(s, len(a.x))
}
