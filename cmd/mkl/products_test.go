package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// TestRandomSlopes compares standard deviations of intercepts, slopes and noise with lme4, lmer(Reaction ~ z + (1|Subject) + (0+z|Subject)).
func TestRandomSlopes(t *testing.T) {
	command(t, map[string]string{"d.csv": testSet(t, "sleepstudy.csv")}, "")
	views := []string{"-view", "mean=Days:linear", "-view", "level=Subject:categorical(overlap)", "-view", "slope=Subject:categorical(overlap)*Days:linear"}
	r, text := fitted(t, append([]string{"d.csv", "-target", "Reaction", "-model", "mgp", "-as", "Subject=text"}, views...)...)
	assert.Contains(t, text, "categorical(overlap)*linear")
	const sd = 56.32876 // of the target
	weights := map[string]float64{}
	for _, k := range r.Kernels {
		weights[k.View] = sd * math.Sqrt(float64(k.Weight))
	}
	assert.InEpsilon(t, 37.53, weights["level"], 0.04)
	assert.InEpsilon(t, 17.06, weights["slope"], 0.04)
	assert.InEpsilon(t, 25.59, float64(r.Targets[0].NoiseSD), 0.02)
	assert.Len(t, predicted(t, "d.csv")["mean"], 180)

	for view, want := range map[string]string{
		"Subject:linear*Days:categorical":  "is text, which categorical compares",
		"Days:linear*Days:rbf":             "column \"Days\" is in two factors",
		"Days:linear*Subject:rbf(ard)":     "widths of a product are not learned",
		"Days:linear*nothing:rbf":          "no column \"nothing\"",
		"Days:linear*Subject:categorical*": "expected a column",
	} {
		status, _, stderr := command(t, nil, "", "fit", "d.csv", "-target", "Reaction", "-as", "Subject=text", "-view", view)
		assert.Equal(t, console.StatusInput, status, view)
		assert.Contains(t, stderr, want, view)
	}
	status, _, stderr := command(t, nil, "", strings.Fields("predict m d.csv -view slope=Subject:categorical*Days:linear")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "the model has its kernels already")
	status, _, stderr = command(t, nil, "", strings.Fields("export m -o g.onnx")...)
	require.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "product")
}
