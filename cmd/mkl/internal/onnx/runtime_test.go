package onnx

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl"
)

// script runs the graph named first with ONNX Runtime on the inputs in the file named second.
const script = `
const ort = require('onnxruntime-node'), fs = require('fs');
(async () => {
  const session = await ort.InferenceSession.create(process.argv[1]);
  const feeds = {}, inputs = JSON.parse(fs.readFileSync(process.argv[2]));
  for (const [name, x] of Object.entries(inputs)) {
    const type = process.argv[3], array = type == 'float32' ? Float32Array : Float64Array;
    feeds[name] = new ort.Tensor(type, array.from(x.numbers), x.shape);
  }
  const out = await session.run(feeds), all = {};
  for (const [name, t] of Object.entries(out)) {
    all[name] = { shape: t.dims, [t.type == 'string' ? 'texts' : 'numbers']: Array.from(t.data) };
  }
  console.log(JSON.stringify(all));
})();
`

// TestRuntime has ONNX Runtime compute the graphs, where Node finds it: npm install onnxruntime-node, and
// NODE_PATH naming its node_modules.
func TestRuntime(t *testing.T) {
	testkit.NotShort(t)
	if err := exec.CommandContext(t.Context(), "node", "-e", "require('onnxruntime-node')").Run(); err != nil {
		t.Skip("onnxruntime-node is not there: ", err)
	}
	type tensors map[string]struct {
		Shape   []int     `json:"shape"`
		Numbers []float64 `json:"numbers"`
		Texts   []string  `json:"texts"`
	}
	s, new := draw(1, 30), others()
	x := []mkl.Features{new.x, new.z}
	feeds := tensors{}
	for i, name := range []string{"x1", "x2"} {
		a := matrixArray(x[i])
		feeds[name] = struct {
			Shape   []int     `json:"shape"`
			Numbers []float64 `json:"numbers"`
			Texts   []string  `json:"texts"`
		}{a.shape, a.numbers, nil}
	}
	dir := t.TempDir()
	graph, inputs := filepath.Join(dir, "m.onnx"), filepath.Join(dir, "x.json")
	text, err := json.Marshal(feeds)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(inputs, text, 0o666))
	for _, c := range fitted {
		m, err := c.fit(t, s)
		require.NoError(t, err)
		for _, opt := range []Options{{}, {Float32: true}} {
			kind, tolerance := "float64", 1e-9
			if opt.Float32 {
				kind, tolerance = "float32", 1e-5
			}
			require.NoError(t, os.WriteFile(graph, exported(t, m, opt), 0o666))
			run := exec.CommandContext(t.Context(), "node", "-e", script, graph, inputs, kind)
			run.Stderr = os.Stderr
			printed, err := run.Output()
			require.NoError(t, err, c.name)
			var found tensors
			require.NoError(t, json.Unmarshal(printed, &found), c.name)
			out := map[string]array{}
			for name, a := range found {
				out[name] = array{a.Shape, a.Numbers, a.Texts}
			}
			t.Logf("%s, %s: %.1e", c.name, kind, compare(t, m, x, out, tolerance))
		}
	}
}
