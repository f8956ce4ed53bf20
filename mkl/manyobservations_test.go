package mkl

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/mgp"
)

// countsOnLandmarks fits counts as above DefaultExactSamples.
func countsOnLandmarks(t *testing.T, c Counts, views []View, landmarks int, y []float64) *CountModel {
	m, err := c.problem().fitMany(t.Context(), views, landmarks, func(i int) float64 { return y[i] }, mgp.Counts{Y: y, Exposure: c.Exposure, Dispersed: true})
	require.NoError(t, err)
	return &CountModel{*m}
}

// A fit on landmarks predicts as the exact fit of all samples does, and better than the fit of the landmarks alone.
func TestCountsOnLandmarks(t *testing.T) {
	const n, landmarks = 700, 60
	views, y, exposure, _ := someVisits(5, n, 2)
	c := Counts{Exposure: exposure}
	exact, err := c.Fit(t.Context(), views, y)
	require.NoError(t, err)
	m := countsOnLandmarks(t, c, views, landmarks, y)
	assert.Equal(t, n, m.Samples())
	assert.True(t, m.Trace().Converged)
	test, later, o, _ := someVisits(6, 2000, 2)
	score := func(m *CountModel) (sum float64) {
		p, err := m.PredictCounts(t.Context(), PredictOptions{}, o, test[0].X)
		require.NoError(t, err)
		for i, v := range later {
			sum += p.LogProbability(i, v) / float64(len(later))
		}
		return sum
	}
	rows := landmarkRows(rowOrder(distinctInputs(views), func(i int) float64 { return y[i] }, 0), func(i int) float64 { return y[i] }, landmarks)
	few, err := Counts{Exposure: vec.Picked(exposure, rows)}.Fit(t.Context(), takeRows(views, rows), vec.Picked(y, rows))
	require.NoError(t, err)
	assert.InDelta(t, score(exact), score(m), 0.01)
	assert.Greater(t, score(m), score(few)+0.03)
	assert.InDelta(t, exact.Dispersion(), m.Dispersion(), 0.05)

	back := requireFile(t, m, LoadAs[*CountModel], 20_011)
	p, err := m.Predict(test[0].X)
	require.NoError(t, err)
	q, err := back.Predict(test[0].X)
	require.NoError(t, err)
	assert.Equal(t, p, q)

	c.Workers = 3
	other := countsOnLandmarks(t, c, views, landmarks, y)
	assert.Equal(t, m.Posterior().State(), other.Posterior().State())
}

// A fit that is stopped where all samples begin is the one of the landmarks.
func TestStoppedOnLandmarks(t *testing.T) {
	views, y, _, _ := someVisits(5, 200, 0)
	ctx, cancel := context.WithCancel(t.Context())
	c := Counts{Climb: Climb{MaxSteps: 2}, Fitting: Fitting{Progress: func(p Progress) {
		if p.Sweep == 2 {
			cancel()
		}
	}}}
	m, err := c.problem().fitMany(ctx, views, 50, func(i int) float64 { return y[i] }, mgp.Counts{Y: y})
	require.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, m)
	assert.Equal(t, 50, m.Samples())
}

// Samples may lack a view.
func TestCountsOnLandmarksWithGaps(t *testing.T) {
	views, y, _, mean := someVisits(7, 300, 0)
	for i := range 300 {
		if i%7 == 0 {
			views[0].X.Set(i, 0, math.NaN())
			views[0].X.Set(i, 1, math.NaN())
		}
	}
	m := countsOnLandmarks(t, Counts{MissingViews: true}, views, 50, y)
	back := requireFile(t, m, LoadAs[*CountModel], 20_011)
	p, err := back.Predict(views[0].X)
	require.NoError(t, err)
	got, _ := p.Moments()
	miss, known := 0.0, 0.0
	for i, v := range got {
		if i%7 != 0 {
			miss += math.Abs(math.Log(v / mean[i]))
			known++
		}
	}
	assert.Less(t, miss/known, 0.55) // the exposures, which the fit does not know, make .4
}

// Landmarks have more than one value where the samples do.
func TestLandmarksOfRareEvents(t *testing.T) {
	y := make([]float64, 4000)
	y[17], y[3001] = 1, 2
	value := func(i int) float64 { return y[i] }
	x, _, _, _ := someVisits(8, len(y), 0)
	rows := landmarkRows(rowOrder(distinctInputs(x), value, 1), value, 100)
	assert.Len(t, rows, 100)
	assert.True(t, slices.IsSorted(rows))
	assert.Contains(t, rows, 17)
	assert.Contains(t, rows, 3001)
	assert.Equal(t, 2000, observationLandmarks(4000))
	assert.Equal(t, 1414, observationLandmarks(50_000))
	assert.Equal(t, 316, observationLandmarks(1_000_000))
}
