package work

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbersOf is a state of every kind of number.
type numbersOf struct {
	fixed, list []float64
	x           float64
	n           int
	on          bool
	same        float64
}

func (v *numbersOf) visit(s *Snapshot) {
	s.Same(v.same)
	s.Floats(v.fixed)
	s.Float(&v.x)
	s.Int(&v.n, 9)
	s.Bool(&v.on)
	s.List(&v.list, math.MaxInt32)
}

func TestSnapshot(t *testing.T) {
	from := &numbersOf{fixed: []float64{1, 2}, list: []float64{3, 4, 5}, x: math.Inf(1), n: 7, on: true, same: -0.5}
	values := Take(from.visit, nil)
	to := &numbersOf{fixed: make([]float64, 2), same: -0.5}
	require.NoError(t, Put(to.visit, values))
	assert.Equal(t, from, to)
	assert.Equal(t, values, Take(to.visit, make([]float64, 0, 20)), "in the room that there is")

	for n := range values {
		assert.Error(t, Put(to.visit, values[:n]), "cut off at %d", n)
	}
	assert.Error(t, Put(to.visit, append(values[:len(values):len(values)], 1)), "more than the state has")
	to.same = 0.5
	assert.EqualError(t, Put(to.visit, values), "it is of other data, other settings or another version")
	to.same = -0.5
	refuse := func(what string) func(*Snapshot) {
		return func(s *Snapshot) {
			to.visit(s)
			s.Refuse(errors.New(what))
			s.Refuse(errors.New("another"))
		}
	}
	assert.Equal(t, values, Take(refuse("x is infinite"), nil), "nothing is refused that is taken")
	assert.EqualError(t, Put(refuse("x is infinite"), values), "x is infinite", "the first counts")
	const n, list = 4, 6 // their places
	for place, forged := range map[int][]float64{n: {10, -1, 0.5, math.NaN()}, list: {1 << 30, -2, math.Inf(1)}} {
		for _, v := range forged {
			bad := append([]float64(nil), values...)
			bad[place] = v
			assert.Error(t, Put(to.visit, bad), "%g at %d", v, place)
		}
	}
}
