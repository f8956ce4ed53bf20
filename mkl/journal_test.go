package mkl

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
)

// saved returns a model in bytes.
func saved(t *testing.T, m Model) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, m.Save(&b))
	return b.Bytes()
}

// TestEstimatorsGoOnFromAJournal demands that a fit which goes on from what a journal saved, at
// any time, ends in the bits of one that was not cut off.
func TestEstimatorsGoOnFromAJournal(t *testing.T) {
	testkit.NotShort(t)
	eachEstimator(t, func(t *testing.T, e estimator) {
		views, y, _, _ := twoInputs(1, 20)
		s := Fitting{Seed: 3, Restarts: 1, MaxSweeps: e.sweeps(12)}
		if e.staged || e.open {
			s.Restarts = 0
		}
		whole := saved(t, mustFit(t, e, s, views, y))
		var kept [][]byte
		s.Journal = &Journal{Every: 1, Save: func(data []byte) error {
			kept = append(kept, data)
			return nil
		}}
		require.Equal(t, whole, saved(t, mustFit(t, e, s, views, y)), "a journal changes nothing")
		anew := strings.HasPrefix(e.name, "multinomial probit") && !strings.HasSuffix(e.name, "Gibbs sampling")
		require.Equal(t, anew, kept == nil, "%d states", len(kept))
		for n := 0; n < len(kept); n += 1 + len(kept)/4 {
			s.Journal = &Journal{}
			require.NoError(t, s.Journal.UnmarshalBinary(kept[n]))
			assert.Equal(t, whole, saved(t, mustFit(t, e, s, views, y)), "from state %d of %d", n+1, len(kept))
		}
	})
}

func TestJournalRefused(t *testing.T) {
	views, y, _, _ := twoInputs(1, 20)
	ctx := context.Background()
	j := &Journal{}
	_, err := Regression{Fitting: Fitting{MaxSweeps: 3, Journal: j}}.Fit(ctx, views, y)
	require.NoError(t, err)
	data, err := j.MarshalBinary()
	require.NoError(t, err)
	assert.Equal(t, 3, j.Sweeps())

	again := func(f Fitting, y []float64) error {
		f.Journal = &Journal{}
		require.NoError(t, f.Journal.UnmarshalBinary(data))
		_, err := Regression{Fitting: f}.Fit(ctx, views, y)
		return err
	}
	assert.NoError(t, again(Fitting{MaxSweeps: 5}, y), "more sweeps go on")
	assert.EqualError(t, again(Fitting{Seed: 2}, y), "mkl: Journal: it is of a fit with Seed 0 and Tolerance 0, not 2 and 0")
	y[4] = math.Nextafter(y[4], 9)
	assert.EqualError(t, again(Fitting{}, y), "mkl: vi: the state of ascent 1: it is of other data or settings")

	full := errors.New("no space left")
	_, err = Regression{Fitting: Fitting{Journal: &Journal{Save: func([]byte) error { return full }}}}.Fit(ctx, views, y)
	assert.ErrorIs(t, err, full)
	for i := range data {
		assert.Error(t, new(Journal).UnmarshalBinary(data[:i]), i)
	}
}
