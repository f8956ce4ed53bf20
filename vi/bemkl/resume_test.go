package bemkl

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi"
)

// TestFromContinues resumes converged fits: the bound goes on from where it was
// and the ascent stops as soon as it may.
func TestFromContinues(t *testing.T) {
	ctx := context.Background()
	check := func(name string, before, after vi.Record) {
		t.Helper()
		assert.Equal(t, vi.Converged, after.Reason, name)
		assert.Greater(t, after.Trace[0], before.Bound()-1e-6*math.Abs(before.Bound()), name)
		assert.LessOrEqual(t, len(after.Trace), max(11, len(before.Trace)/2), name) // no rule stops before
	}
	for _, p := range []problem{problems[0], problems[4], problems[5], problems[6]} {
		r, k, y := p.draw(t, 1)
		r.Ascent.Tolerance = 1e-5 // whose rule says how soon that is
		first, err := r.Fit(ctx, k, y)
		require.NoError(t, err)
		r.From = first.Posterior
		second, err := r.Fit(ctx, k, y)
		require.NoError(t, err)
		check(p.name, first.Record, second.Record)

		r.Lambda = vi.Gamma{Shape: 3, Scale: 1} // other priors: the bound is valid at once
		requireMonotone(t, r, k, y, 10)

		s, k, y := p.shared(t, 1)
		firstShared, err := s.Fit(ctx, k, y)
		require.NoError(t, err)
		s.From = firstShared.Posterior
		secondShared, err := s.Fit(ctx, k, y)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(secondShared.Record.Trace), len(firstShared.Record.Trace), "%s, shared", p.name)

		c, k, y := p.labels(t, 1)
		firstClass, err := c.Fit(ctx, k, y)
		require.NoError(t, err)
		c.From = firstClass.Posterior
		secondClass, err := c.Fit(ctx, k, y)
		require.NoError(t, err)
		assert.Equal(t, vi.Converged, secondClass.Record.Reason)
		assert.Less(t, len(secondClass.Record.Trace), len(firstClass.Record.Trace), "%s, classes", p.name)
	}
}

func TestFromOfAnotherSizeIsRefused(t *testing.T) {
	ctx := context.Background()
	r, k, y := problems[0].draw(t, 1)
	r.Ascent.MaxSweeps = 3
	fit, err := r.Fit(ctx, k, y)
	require.NoError(t, err)
	r, k, y = problems[3].draw(t, 1)
	r.From = fit.Posterior
	_, err = r.Fit(ctx, k, y)
	assert.EqualError(t, err, "vi: From: 1 outputs, 3 kernels, 12 basis points where there are 2, 3 and 5")
}
