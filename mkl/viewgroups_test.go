package mkl

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Groups have the sums of their views' shares, change no prediction, and a group of one view has the numbers of the view.
func TestViewGroups(t *testing.T) {
	views, class, _ := threeViews(60, 3)
	groups := []ViewGroup{{"both", []string{"b", "a"}}, {"quiet", []string{"noise"}}, {"mixed", []string{"noise", "a"}}}
	check := func(all []ViewGroupShare, table []ViewShare) {
		t.Helper()
		require.Len(t, all, 3)
		of := map[string]ViewShare{}
		for _, v := range table {
			of[v.View] = v
		}
		for i, g := range all {
			assert.Equal(t, groups[i], g.ViewGroup)
			var sum, most float64
			for _, view := range g.Views {
				sum += of[view].Share
				most = max(most, of[view].In)
			}
			assert.InDelta(t, sum, g.Share, 1e-9)
			assert.GreaterOrEqual(t, g.In, most-0.1, "at least one is in no less often than each; sweeps are few")
		}
		assert.Equal(t, []float64{0.75, 0.5, 0.75}, []float64{all[0].Before, all[1].Before, all[2].Before})
		assert.Equal(t, of["noise"], ViewShare{"noise", all[1].Share, all[1].SD, all[1].In, of["noise"].Informative, all[1].Loss, all[1].LossSE})
		assert.Greater(t, all[0].Loss, max(of["a"].Loss, of["b"].Loss), "the views have different information")
		assert.Greater(t, all[0].Loss, 4*all[0].LossSE)
		assert.InDelta(t, 1, all[0].In, 1e-9)
	}
	c := fitClasses(t, AutoClassifier[int]{Groups: groups}, views, class)
	check(c.Groups(), c.Views())
	plain := fitClasses(t, AutoClassifier[int]{}, views, class)
	assert.Equal(t, predicted(t, plain, matricesOf(views)...), predicted(t, c, matricesOf(views)...))
	assert.Equal(t, plain.Views(), c.Views())
	assert.Nil(t, plain.Groups())
	again := requireFile(t, c, LoadAs[*AutoClassifierModel[int]], 1<<30)
	assert.Equal(t, c.Groups(), again.Groups())
	var file bytes.Buffer
	require.NoError(t, c.Save(&file))
	assertRefused(t, file.Bytes(), func(md map[string]string, _ map[string]tensor) {
		md["model"] = strings.Replace(md["model"], `"before":`, `"before":7`, 1)
	}, "groups[0]: share")

	numbers, _, y := threeViews(24, 4)
	m, err := AutoTargets{Groups: groups, Climb: Climb{MaxSteps: 2}}.Fit(context.Background(), numbers, y)
	require.NoError(t, err)
	assert.Len(t, m.Target(0).Groups(), 3)
	var none pool
	none.checkGroups(groups)
	assert.Len(t, none.remarks, 1)

	for want, g := range map[string]ViewGroup{
		`Groups[0] ("g"): there is no view "c" among ["a" "b" "noise"]`:                 {"g", []string{"a", "c"}},
		`Groups[0] ("g"): the view "a" is there twice`:                                  {"g", []string{"a", "a"}},
		`Groups[0] ("g"): 3 of 3 views: a group has at least one view, and not all`:     {"g", []string{"a", "b", "noise"}},
		`Groups[0] ("empty"): 0 of 3 views: a group has at least one view, and not all`: {"empty", nil},
	} {
		_, err := AutoClassifier[int]{Groups: []ViewGroup{g}}.Fit(context.Background(), views, class)
		assert.ErrorContains(t, err, want)
	}
}
