package work

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/la"
)

// Snapshot copies the numbers of a state out of it, or back into it. What visits a state names
// its numbers once, always in the same order, and does not ask which of the two it is.
type Snapshot struct {
	values []float64
	back   bool
	at     int
	err    error
}

// errOther says that a state belongs to another fit.
var errOther = errors.New("it is of other data, other settings or another version")

// Take returns the numbers that visit names, in buf if that has room.
func Take(visit func(*Snapshot), buf []float64) []float64 {
	s := Snapshot{values: buf[:0]}
	visit(&s)
	return s.values
}

// Put puts numbers that Take returned back where visit names them. An error says that they are
// not of such a state, or not of these data.
func Put(visit func(*Snapshot), values []float64) error {
	s := Snapshot{values: values, back: true}
	visit(&s)
	if s.err == nil && s.at != len(values) {
		s.err = errOther
	}
	return s.err
}

// next returns the n values that follow, nil if there are not as many.
func (s *Snapshot) next(n int) []float64 {
	if s.err == nil && len(s.values)-s.at < n {
		s.err = errOther
	}
	if s.err != nil {
		return nil
	}
	s.at += n
	return s.values[s.at-n : s.at]
}

// Floats names slices, whose lengths stay.
func (s *Snapshot) Floats(x ...[]float64) {
	for _, v := range x {
		if s.back {
			copy(v, s.next(len(v)))
		} else {
			s.values = append(s.values, v...)
		}
	}
}

// Matrices names the entries of matrices, whose sizes stay.
func (s *Snapshot) Matrices(x ...la.Matrix[float64]) {
	for _, v := range x {
		s.Floats(v.Data)
	}
}

// Back reports that numbers are put back: what follows from them is then to be computed anew.
func (s *Snapshot) Back() bool { return s.back && s.err == nil }

// Refuse says what is wrong with numbers that were put back. The first error counts.
func (s *Snapshot) Refuse(err error) {
	if s.Back() {
		s.err = err
	}
}

// Float names a number.
func (s *Snapshot) Float(x *float64) {
	if !s.back {
		s.values = append(s.values, *x)
	} else if v := s.next(1); v != nil {
		*x = v[0]
	}
}

// Int names an integer from 0 to most.
func (s *Snapshot) Int(x *int, most int) {
	v := float64(*x)
	s.Float(&v)
	if !s.back || s.err != nil {
		return
	}
	if !(v >= 0 && v <= float64(most)) || v != math.Trunc(v) {
		s.err = fmt.Errorf("an index is %g where there are %d", v, most)
		return
	}
	*x = int(v)
}

// Bool names a truth value.
func (s *Snapshot) Bool(x *bool) {
	v := 0
	if *x {
		v = 1
	}
	s.Int(&v, 1)
	*x = v == 1
}

// List names a slice of any length up to most.
func (s *Snapshot) List(x *[]float64, most int) {
	n := len(*x)
	s.Int(&n, most)
	if !s.back {
		s.values = append(s.values, *x...)
	} else if values := s.next(n); s.err == nil { // no more room is taken than there are values
		*x = append((*x)[:0], values...)
	}
}

// Same names numbers that are the same whenever data and settings are, bit for bit: with others
// the state is refused.
func (s *Snapshot) Same(x ...float64) {
	if !s.back {
		s.values = append(s.values, x...)
		return
	}
	for i, v := range s.next(len(x)) {
		if math.Float64bits(v) != math.Float64bits(x[i]) {
			s.err = errOther
		}
	}
}

// Random names the place in a stream of random numbers.
func (s *Snapshot) Random(p *rand.PCG) {
	state, _ := p.MarshalBinary() // it has no errors
	for at := len(state) - 16; at < len(state); at += 2 {
		v := int(binary.BigEndian.Uint16(state[at:]))
		s.Int(&v, math.MaxUint16)
		binary.BigEndian.PutUint16(state[at:], uint16(v))
	}
	_ = p.UnmarshalBinary(state) // nor has it of what another wrote
}
