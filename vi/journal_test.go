package vi

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi/internal/work"
)

// journalOf returns a journal with two stages, the second without a state, and what visits the
// state of the first.
func journalOf(t testing.TB) (*Journal, func(*work.Snapshot), []float64) {
	x := []float64{1, 2, 3}
	visit := func(s *work.Snapshot) {
		s.Same(7)
		s.Floats(x)
	}
	j := &Journal{}
	require.NoError(t, j.Next().Note(visit, &Record{Trace: []float64{-3, -2}, Left: -1, Jitter: 0.5}, true))
	j.Next()
	return j, visit, x
}

func TestJournalBytes(t *testing.T) {
	j, visit, x := journalOf(t)
	data, err := j.MarshalBinary()
	require.NoError(t, err)
	assert.Equal(t, 2, j.Sweeps())

	var again Journal
	require.NoError(t, again.UnmarshalBinary(data))
	copied, err := again.MarshalBinary()
	require.NoError(t, err)
	assert.Equal(t, data, copied)
	clear(x)
	var rec Record
	known, done, err := again.Next().Resume(visit, &rec)
	require.NoError(t, err)
	assert.True(t, known)
	assert.True(t, done)
	assert.Equal(t, []float64{1, 2, 3}, x)
	assert.Equal(t, Record{Trace: []float64{-3, -2}, Left: -1, Jitter: 0.5}, rec)
	known, _, err = again.Next().Resume(visit, &rec)
	require.NoError(t, err)
	assert.False(t, known)

	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 1
		assert.Error(t, again.UnmarshalBinary(damaged), i)
		assert.Error(t, again.UnmarshalBinary(data[:i]), i)
	}
}

// begun is an objective with a state.
type begun struct{ Objective }

func (begun) Snapshot(*work.Snapshot) {}

// An ascent that continues another one is in the journal before its first sweep.
func TestJournalOfAnAscentThatHasBegun(t *testing.T) {
	j := &Journal{}
	require.NoError(t, j.Next().Note(func(*work.Snapshot) {}, &Record{Trace: []float64{-3, -2}}, true))
	a := Ascent{Journal: j}
	_, visit := a.journalStage(begun{}, 2)
	require.NotNil(t, visit)
	data, err := j.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, new(Journal).UnmarshalBinary(data))
}

// An ascent that goes on from another has the sweeps of that one in its record too: they count once.
func TestJournalCountsSweepsOnce(t *testing.T) {
	j := &Journal{}
	note := func(trace ...float64) {
		require.NoError(t, j.Next().Note(func(*work.Snapshot) {}, &Record{Trace: trace}, false))
	}
	note(-5, -4)
	j.Next() // keeps no state
	note(-5, -4, -3)
	assert.Equal(t, 3, j.Sweeps())
	note(-6, -5, -4, -3)
	assert.Equal(t, 7, j.Sweeps())
}

// A journal is saved at most once in Every, and an error of Save is one of the fit.
func TestJournalSaves(t *testing.T) {
	full := errors.New("no space")
	saves := 0
	j := &Journal{Every: 1 << 62, Save: func() error { saves++; return nil }}
	note := func() error { return j.Next().Note(func(*work.Snapshot) {}, &Record{}, false) }
	for range 3 {
		require.NoError(t, note())
	}
	assert.Equal(t, 1, saves, "the first is at once: what cannot be written is told early")
	j.Every = 0
	require.NoError(t, note())
	assert.Equal(t, 2, saves)
	j.Save = func() error { return full }
	assert.ErrorIs(t, note(), full)
}

// FuzzJournal demands that bytes are refused or give the same bytes again.
func FuzzJournal(f *testing.F) {
	j, _, _ := journalOf(f)
	data, err := j.MarshalBinary()
	require.NoError(f, err)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var j Journal
		if j.UnmarshalBinary(data) != nil {
			return
		}
		again, err := j.MarshalBinary()
		require.NoError(t, err)
		assert.Equal(t, data, again)
	})
}
