package slab

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/fittest"
	"github.com/bmkl/bmkl/vi/internal/random"
)

func TestRegressionJournal(t *testing.T) {
	for _, N := range []int{30, 5} { // with and without XᵀX
		x, y := la.NewMatrix[float64](N, 8), make([]float64, N)
		random.Normal(random.Source(1), x.Data)
		random.Normal(random.Source(2), y)
		for n := range y {
			y[n] += 3 * x.At(n, 2)
		}
		for _, r := range []Regression{{}, {Plain: true}, {Standard: true}} {
			fittest.RequireResumed(t, "regression", 30, []int{1, 7, 11, 16}, func(a vi.Ascent) any {
				r.Ascent = a
				fit, err := r.Fit(t.Context(), x, y)
				require.NoError(t, err)
				return []any{fit.Record, fit.Posterior.State()}
			})
		}
	}
}

// A journal is refused by a fit to another table, even one of the same entries in other rows.
func TestFactorJournalOfAnotherTable(t *testing.T) {
	y := la.NewMatrix[float64](6, 3)
	random.Normal(random.Source(1), y.Data)
	fit := func(y la.Matrix[float64], j *vi.Journal) error {
		o, err := ObserveMatrix(y)
		require.NoError(t, err)
		_, err = Factors{Count: 2, Ascent: vi.Ascent{MaxSweeps: 3, Journal: j}}.Fit(t.Context(), o)
		return err
	}
	j := &vi.Journal{}
	require.NoError(t, fit(y, j))
	kept, err := j.MarshalBinary()
	require.NoError(t, err)
	other := y.Clone()
	copy(other.Row(0), y.Row(1))
	copy(other.Row(1), y.Row(0))
	require.NoError(t, j.UnmarshalBinary(kept))
	assert.EqualError(t, fit(other, j), "vi: the state of ascent 1: it is of other data, other settings or another version")
}
