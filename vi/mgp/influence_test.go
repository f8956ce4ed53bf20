package mgp

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// tiltedVariance is the variance of N(mean, variance) times Φ(label·f), by the trapezoidal rule.
func tiltedVariance(label, mean, variance float64) float64 {
	var z, first, second float64
	for i := -4000; i <= 4000; i++ {
		d := float64(i) * 0.003 * math.Sqrt(variance)
		p := math.Exp(-0.5*d*d/variance + special.LogNormalCDF(label*(mean+d)))
		z, first, second = z+p, first+p*d, second+p*d*d
	}
	return second/z - first/z*(first/z)
}

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Influence is the share of the variance that a label takes away.
func TestInfluence(t *testing.T) {
	x, _, labels := toy(5)
	rows := []int{0, 1, 3, 4, 6, 8, 9, 11, 12, 15, 17, 20, 22, 23, 26, 27, 30, 31, 35, 39}
	some, part := la.NewMatrix[float64](len(rows), x.Cols), make([]float64, len(rows))
	for i, r := range rows {
		copy(some.Row(i), x.Row(r))
		part[i] = labels[r]
	}
	first, err := Evidence{}.FitLabels(context.Background(), newScaled(t, some), part)
	require.NoError(t, err)
	s := first.Posterior.State()
	e := Evidence{Start: &EvidenceStart{Gamma: s.Gamma, Parameters: first.Parameters, Part: first.Posterior, Rows: rows}}
	all := newScaled(t, x)
	influence, err := e.Influence(context.Background(), all, labels)
	require.NoError(t, err)
	require.Len(t, influence, len(labels))

	self := la.NewMatrix[float64](3, x.Rows)
	for p := range self.Rows {
		for i := range x.Rows {
			self.Set(p, i, all.At(p).At(i, i))
		}
	}
	everyone := make([]int, x.Rows)
	for i := range everyone {
		everyone[i] = i
	}
	p, err := first.Posterior.Predict(all.Select(rows, everyone), self, vi.PredictOptions{})
	require.NoError(t, err)
	for i, v := range p.Function {
		want := 1 - tiltedVariance(labels[i], p.Mean[i], v)/v
		if at := slices.Index(rows, i); at >= 0 {
			want = s.Sites[at] * v
		}
		assert.InDelta(t, want, influence[i], 1e-6)
		assert.Positive(t, influence[i])
		assert.Less(t, influence[i], 1.0)
	}

	// Kernels that are no matrices in memory have the same.
	fixed := Evidence{Start: &EvidenceStart{Gamma: s.Gamma, Part: first.Posterior, Rows: rows}}
	want, err := fixed.Influence(context.Background(), all.Dense, labels)
	require.NoError(t, err)
	got, err := fixed.Influence(context.Background(), struct{ vi.Kernels }{all.Dense}, labels)
	require.NoError(t, err)
	assert.InEpsilonSlice(t, want, got, 1e-10)

	e.Start.Part = nil
	_, err = e.Influence(context.Background(), all, labels)
	assert.ErrorContains(t, err, "Start.Part is nil")
	_, err = e.Influence(context.Background(), all, labels[1:])
	assert.ErrorContains(t, err, "39 values for 40 samples")
	e.Start.Part = first.Posterior
	_, err = e.Influence(ended(), all, labels)
	assert.ErrorIs(t, err, context.Canceled)
}

// With Keep a fit to labels finds the sites and leaves the scales.
func TestKeptScalesOfLabels(t *testing.T) {
	x, _, labels := toy(5)
	ascent := vi.Ascent{Tolerance: 1e-10}
	want, err := Evidence{Ascent: ascent}.FitLabels(context.Background(), newScaled(t, x), labels)
	require.NoError(t, err)
	s := want.Posterior.State()
	e := Evidence{Start: &EvidenceStart{Gamma: s.Gamma, Parameters: want.Parameters, Keep: true}, Ascent: ascent}
	fit, err := e.FitLabels(context.Background(), newScaled(t, x), labels)
	require.NoError(t, err)
	got := fit.Posterior.State()
	assert.InEpsilonSlice(t, s.Gamma, got.Gamma, 1e-13)
	assert.Equal(t, want.Parameters, fit.Parameters)
	assert.InDelta(t, want.LogEvidence, fit.LogEvidence, 1e-6)
	assert.InDelta(t, want.Record.Bound(), fit.Record.Bound(), 1e-6)
	assert.InDeltaSlice(t, s.Sites, got.Sites, 1e-4)
	assert.Len(t, fit.Record.Trace, 1)
	_, err = e.FitLabels(ended(), newScaled(t, x), labels)
	assert.ErrorIs(t, err, context.Canceled)

	e.Start.Gamma = []float64{1, 2, 3}
	fit, err = e.FitLabels(context.Background(), newScaled(t, x), labels)
	require.NoError(t, err)
	assert.InEpsilonSlice(t, []float64{1, 2, 3}, fit.Posterior.State().Gamma, 1e-13)

	ended, end := context.WithCancel(context.Background())
	end()
	_, err = e.FitLabels(ended, newScaled(t, x), labels)
	assert.ErrorIs(t, err, context.Canceled)
}
