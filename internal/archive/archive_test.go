package archive

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// value has a field of each kind.
type value struct {
	n       int
	x       float64
	yes     bool
	of      []int
	floats  []float64
	singles []float32
	bytes   []int8
	inner   *value
}

func (v *value) archive(a *Archive) {
	a.Same("version", 3)
	a.Int(&v.n)
	a.Float(&v.x)
	a.Bool(&v.yes)
	a.Ints(&v.of)
	a.Floats(&v.floats)
	a.Floats32(&v.singles)
	a.Bytes8(&v.bytes)
	v.inner = Value(a, func() *value { return v.inner }, (*value).archive)
}

func example() *value {
	return &value{
		-5, math.Pi, true, []int{1, -2, math.MaxInt}, []float64{1, math.Inf(-1), 3}, []float32{0.5, -1}, []int8{-128, 7},
		&value{n: 1, of: []int{}, inner: nil},
	}
}

// What was written is read, also where arrays cannot stay in place. Archives that end early or go on are refused.
func TestArchive(t *testing.T) {
	a := New()
	assert.False(t, a.Reading())
	assert.Same(t, a, a)
	want := example()
	assert.Equal(t, want, Value(a, func() *value { return want }, (*value).archive))
	assert.Nil(t, Value(a, func() *value { return nil }, (*value).archive))
	require.NoError(t, a.Close())
	data := a.Bytes()
	require.Zero(t, len(data)%Align)
	none := func() *value { t.Fatal("a value that is read is prepared"); return nil }
	for shift := range 9 {
		moved := append(make([]byte, shift), data...)[shift:]
		r := Open(moved)
		assert.True(t, r.Reading())
		got := Value(r, none, (*value).archive)
		assert.Equal(t, want, got)
		assert.Nil(t, Value(r, none, (*value).archive))
		assert.NoError(t, r.Close())
	}
	for n := range len(data) - Align {
		r := Open(data[:n:n])
		got := Value(r, none, (*value).archive)
		Value(r, none, (*value).archive)
		assert.Error(t, r.Close(), n)
		assert.ErrorIs(t, r.Err(), errShort)
		assert.Nil(t, got)
	}
	r := Open(append(data[:len(data):len(data)], make([]byte, Align)...))
	Value(r, none, (*value).archive)
	Value(r, none, (*value).archive)
	assert.ErrorContains(t, r.Close(), "bytes follow the last value")
}

// Errors stay, and wrong values are errors.
func TestErrors(t *testing.T) {
	a := New()
	a.Same("order", 3)
	two := 2
	a.Int(&two)
	huge := math.MaxInt
	a.Int(&huge)
	r := Open(a.Bytes())
	r.Same("order", 4)
	assert.EqualError(t, r.Close(), "order is 3 where 4 is expected")
	r.Fail(errors.New("later"))
	assert.EqualError(t, r.Err(), "order is 3 where 4 is expected")

	r = Open(a.Bytes())
	r.Same("order", 3)
	var yes bool
	r.Bool(&yes)
	assert.EqualError(t, r.Err(), "a truth value is 2")
	r = Open(a.Bytes())
	r.Same("order", 3)
	r.Int(&two)
	var x []float64
	r.Floats(&x)
	assert.ErrorIs(t, r.Err(), errShort)
	assert.Empty(t, x)
	made := 0
	assert.Equal(t, 1, *Value(nil, func() *int { made++; return &made }, nil))
	assert.Empty(t, New().Bytes())
	assert.NotNil(t, New().Bytes())
}
