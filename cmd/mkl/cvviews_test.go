package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/ranking"
)

// instruments are three views: one that the target is a function of, one with the same information less precisely, and noise.
func instruments(rows int) string {
	rng := rand.New(rand.NewPCG(28, 1))
	var b strings.Builder
	b.WriteString("good1,good2,copy,noise1,noise2,y,big\n")
	for range rows {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		y := 3*x - z + 0.1*rng.NormFloat64()
		fmt.Fprintf(&b, "%g,%g,%g,%g,%g,%g,%v\n", x, z, x+0.3*rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), y, y > 0)
	}
	return b.String()
}

func TestCVViews(t *testing.T) {
	files := map[string]string{"d.csv": instruments(60)}
	views := map[string][]string{"good": {"-view", "good=good1,good2"}, "copy": {"-view", "copy=copy"}, "noise": {"-view", "noise=noise*"}}
	run := func(args string, names ...string) *ranking.Comparison {
		line := strings.Fields("cv d.csv -kernels linear -models mgp -json " + args)
		for _, name := range names {
			line = append(line, views[name]...)
		}
		status, stdout, stderr := command(t, files, "", line...)
		require.Equal(t, console.StatusOK, status, stderr)
		files = nil
		out := &ranking.Comparison{}
		require.NoError(t, json.Unmarshal([]byte(stdout), out))
		return out
	}
	named := func(c *ranking.Comparison, name string) (found ranking.Candidate) {
		for _, one := range c.Candidates {
			if one.Name == name {
				found = one
			}
		}
		require.NotEmpty(t, found.Name, name)
		return found
	}
	got := run("-target y -views -resume s", "good", "copy", "noise")
	assert.Len(t, got.Candidates, 8)
	assert.Equal(t, "all views", got.Reference)
	require.Len(t, got.Views, 3)
	for i, want := range []string{"needed", "says something alone", "no sign"} {
		assert.Contains(t, got.Views[i].Finding, want)
	}

	// A candidate has the scores of a model that was given these views only, and its difference is paired.
	all, other := named(got, "all views"), named(run("-target y", "copy", "noise"), "mgp linear")
	for _, own := range []struct {
		title string
		alone ranking.Candidate
	}{{"without good", other}, {"copy alone", named(run("-target y", "copy"), "mgp linear")}} {
		one := named(got, own.title)
		for name, score := range own.alone.Scores {
			assert.Equal(t, score["value"], one.Scores[name]["value"], "%s: %s", own.title, name)
		}
		var differences []float64
		for f := range one.ByFold {
			a, b := one.ByFold[f]["RMSE"], all.ByFold[f]["RMSE"]
			differences = append(differences, a*a/(2*one.Scores["RMSE"]["value"])-b*b/(2*all.Scores["RMSE"]["value"]))
		}
		mean, variance := 0.0, 0.0
		for _, d := range differences {
			mean += d / 5
		}
		for _, d := range differences {
			variance += (d - mean) * (d - mean) / 4
		}
		assert.InEpsilon(t, math.Sqrt((1./5+1./4)*variance), one.Difference["se"], 1e-9, own.title)
		assert.InEpsilon(t, one.Scores["RMSE"]["value"]-all.Scores["RMSE"]["value"], one.Difference["value"], 1e-9)
	}
	assert.Equal(t, named(got, "without copy").Difference, got.Views[1].Without)
	assert.Equal(t, named(got, "noise alone").Difference, got.Views[2].Alone)

	// Two views have three models, and text has the findings.
	line := append(strings.Fields("cv d.csv -kernels linear -models mgp -target big -views"), append(views["good"], views["noise"]...)...)
	status, stdout, stderr := command(t, nil, "", line...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "cv: 4 candidates in 5 folds: all views, good alone, noise alone, no view\n")
	assert.Regexp(t, `(?s)2 labels|model mgp\n\n +log loss ± SE +from all views ± SE \[95 %\] .*\n\ngood: needed: predictions are worse without it\nnoise: no sign`, stdout)

	for _, c := range []struct{ args, want string }{
		{"-models mgp,bmkl -view a=good1 -view b=copy", "-views compares views with one model, and -models names 2"},
		{"-kernels linear -kernels rbf -view a=good1 -view b=copy", "-views compares views with one set of kernels, and there are 2 -kernels"},
		{"-models mgp", "-views needs two views at least"},
		{"-models bmkl -kernels linear -resume s -view good=good1,good2 -view copy=copy -view noise=noise*", "s is the state of a validation of other data, folds or settings"},
	} {
		status, _, stderr := command(t, nil, "", strings.Fields("cv d.csv -target y -views "+c.args)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Contains(t, stderr, c.want)
	}
}

// The default model compares views of every kind of target.
func TestCVViewsOfObservations(t *testing.T) {
	for _, flags := range []string{"-task counts", "-task ordinal", "-task survival"} {
		var b strings.Builder
		b.WriteString("a,b,y\n")
		for i := range 40 {
			fmt.Fprintf(&b, "%d,%d,%d\n", i%5, i*7%11, i%5+1)
		}
		line := strings.Fields("cv d.csv -target y -views -view a=a -view b=b -kernels linear -folds 2 -json " + flags)
		status, stdout, stderr := command(t, map[string]string{"d.csv": b.String()}, "", line...)
		require.Equal(t, console.StatusOK, status, stderr)
		var got ranking.Comparison
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		require.Len(t, got.Views, 2)
		assert.NotContains(t, got.Views[0].Finding, "no sign", flags)
	}
}

// Views are compared for several targets together, and for each.
func TestCVViewsOfSeveralTargets(t *testing.T) {
	status, stdout, stderr := command(t, map[string]string{"d.csv": sensors(45, false)}, "",
		strings.Fields("cv d.csv -target near,other -views -view a=x -view b=z -models multioutput -folds 3 -sweeps 30 -json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var got ranking.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Targets, 2)
	for o, own := range got.Targets { // near is a function of x, other of z
		require.Len(t, own.Views, 2)
		assert.Contains(t, own.Views[o].Finding, "needed", own.Target)
	}
}
