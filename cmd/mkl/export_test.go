package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/internal/testkit"
)

// TestExport writes graphs, whose predictions package onnx compares with the models'.
func TestExport(t *testing.T) {
	testkit.NotShort(t)
	status, _, stderr := command(t, map[string]string{"d.csv": houses(), "l.csv": line()}, "",
		"fit", "d.csv", "-target", "price", "-missing", "impute", "-model", "mgp", "-sweeps", "5", "-view", "a=area,city:rbf", "-view", "b=garden:rbf(width=1)", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "", "export", "m", "-o", "m.onnx")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, "m.onnx: x1 (5 columns), x2 (1 column) to mean, sd, for the 1 target price\n", stdout)
	assert.Equal(t, `the graph takes features: area is numbers, 96 where missing, and a column of 0 and 1 that says where
the graph takes features: city is text: 3 columns of 0 and 1 (Bonn, Jena, Ulm)
the graph takes features: garden is yes or no: 1 and 0
`, stderr)
	graph, err := os.ReadFile("m.onnx")
	require.NoError(t, err)
	assert.Contains(t, string(graph), `[["area","area missing","city=Bonn","city=Jena","city=Ulm"],["garden"]]`)
	status, stdout, _ = command(t, nil, "", "export", "m", "-o", "-")
	require.Equal(t, console.StatusOK, status)
	assert.Equal(t, string(graph), stdout)
	status, _, stderr = command(t, nil, "", "export", "m", "-single", "-o", "s.onnx", "-q")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Empty(t, stderr)
	single, err := os.ReadFile("s.onnx")
	require.NoError(t, err)
	assert.Less(t, len(single), len(graph)*2/3)

	for args, want := range map[string]string{
		"-model spikeslab": "a model of the kind spike-slab cannot be exported: one of the kinds classifier, counts, landmarks, multigp, multigp-classifier, multilabel, ordinal, pool, pool-classifier, regression, survival can",
		"-missing views -model mgp -view x:rbf(width=1) -view z:rbf(width=1)": "samples may lack views (-missing views), which a graph cannot express",
		"-view id:spectrum(k=1) -model mgp":                                   `view of the model: kernels of strings cannot be exported: there are no operators that compare strings`,
	} {
		status, _, stderr = command(t, nil, "", append([]string{"fit", "l.csv", "-target", "y", "-sweeps", "5", "-o", "no"}, strings.Fields(args)...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		status, _, stderr = command(t, nil, "", "export", "no", "-o", "no.onnx")
		assert.Equal(t, console.StatusInput, status)
		assert.Equal(t, "mkl: no: "+want+"\n", stderr)
		assert.NoFileExists(t, "no.onnx")
	}
}
