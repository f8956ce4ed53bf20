package mgp

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/vi"
)

// TestJournal demands that fits which go on from the journals after some of the steps of a fit
// end in its bits.
func TestJournal(t *testing.T) {
	testkit.NotShort(t)
	ctx := context.Background()
	k, y, labels := mgpProblem(t, 40, 3, 3)
	train, _, z := blocks(1)
	some, weights, _, u := spannedProblem(t, 40)
	labelled := newLabelled(2, 300, 1, 0.5)
	for name, fit := range map[string]func(vi.Ascent) (any, error){
		"targets":         func(a vi.Ascent) (any, error) { return Evidence{Ascent: a, Draws: 3}.Fit(ctx, k, y) },
		"a prior learned": func(a vi.Ascent) (any, error) { return Evidence{Ascent: a, Family: FamilyStudentT}.Fit(ctx, k, y) },
		"labels":          func(a vi.Ascent) (any, error) { return Evidence{Ascent: a}.FitLabels(ctx, k, labels) },
		"labels, bound": func(a vi.Ascent) (any, error) {
			return Evidence{Ascent: a, Sites: SitesBound}.FitLabels(ctx, k, labels)
		},
		"varying": func(a vi.Ascent) (any, error) { return Evidence{Ascent: a}.FitVarying(ctx, k, y) },
		"heavy":   func(a vi.Ascent) (any, error) { return Evidence{Ascent: a}.FitHeavy(ctx, k, y) },
		"features": func(a vi.Ascent) (any, error) {
			return Evidence{Ascent: a}.FitFeatures(ctx, Features{Blocks: train, Targets: z})
		},
		"labels of features": func(a vi.Ascent) (any, error) {
			return Evidence{Ascent: a}.FitFeatureLabels(ctx, labelled.labels(new(int)))
		},
		"spanned":           func(a vi.Ascent) (any, error) { return Evidence{Ascent: a}.FitSpanned(ctx, some, weights, u) },
		"factorised":        func(a vi.Ascent) (any, error) { a.MaxSweeps = 20; return Model{Ascent: a}.Fit(ctx, k, y) },
		"factorised labels": func(a vi.Ascent) (any, error) { a.MaxSweeps = 20; return Model{Ascent: a}.FitLabels(ctx, k, labels) },
	} {
		var kept [][]byte
		j := &vi.Journal{}
		j.Save = func() error {
			b, err := j.MarshalBinary()
			kept = append(kept, b)
			return err
		}
		whole, err := fit(vi.Ascent{})
		require.NoError(t, err, name)
		again, err := fit(vi.Ascent{Journal: j})
		require.NoError(t, err, name)
		require.Equal(t, whole, again, "%s: a journal changes nothing", name)
		for n := 0; n < len(kept); n += 1 + len(kept)/5 {
			j := &vi.Journal{}
			require.NoError(t, j.UnmarshalBinary(kept[n]))
			again, err := fit(vi.Ascent{Journal: j})
			require.NoError(t, err, name)
			assert.Equal(t, whole, again, "%s: from step %d of %d", name, n+1, len(kept))
		}
	}
	j := &vi.Journal{}
	_, err := Evidence{Ascent: vi.Ascent{Journal: j}}.Fit(ctx, k, y)
	require.NoError(t, err)
	for i := range y {
		y[i] = math.Abs(y[i])
	}
	kept, err := j.MarshalBinary()
	require.NoError(t, err)
	require.NoError(t, j.UnmarshalBinary(kept))
	fit, err := Evidence{Ascent: vi.Ascent{Journal: j}}.Fit(ctx, k, y)
	assert.EqualError(t, err, "vi: the state of ascent 1: it is of other data, other settings or another version")
	assert.Nil(t, fit, "what was put back before it was refused is no fit")
}
