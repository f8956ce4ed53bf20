package python

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// python finds a Python that has NumPy.
func python(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "python", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	t.Skip("no Python with NumPy here")
	return ""
}

// Python reads the file that Go wrote, and predicts the same.
func TestReadModel(t *testing.T) {
	interpreter := python(t)
	x, at := la.NewMatrix[float64](40, 2), la.NewMatrix[float64](9, 2)
	var y [2][]float64
	for i := range x.Rows {
		x.Set(i, 0, math.Sin(float64(i)))
		x.Set(i, 1, math.Cos(float64(3*i)))
		y[0] = append(y[0], 10+x.At(i, 0)*x.At(i, 0)+x.At(i, 1))
		y[1] = append(y[1], 5-3*x.At(i, 1))
	}
	rows := "a,b\n"
	for i := range at.Rows {
		at.Set(i, 0, float64(i-4)/4)
		at.Set(i, 1, float64(i*i%9-4)/4)
		rows += fmt.Sprintf("%v,%v\n", at.At(i, 0), at.At(i, 1))
	}
	views := []mkl.View{{X: x, Kernel: kernel.RBF{Width: 0.5}}, {X: x, Kernel: kernel.RBF{Width: 2}}}
	m, err := mkl.Regression{Ascent: mkl.Ascent{MaxSweeps: 5}}.Fit(t.Context(), views, y[:]...)
	require.NoError(t, err)
	want, err := m.PredictTargets(t.Context(), mkl.PredictOptions{Unhealed: true}, at)
	require.NoError(t, err)

	dir := t.TempDir()
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.mkl"), file.Bytes(), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.csv"), []byte(rows), 0o666))
	out, err := exec.Command(interpreter, "read_model.py", filepath.Join(dir, "m.mkl"), filepath.Join(dir, "x.csv")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, at.Rows)
	for i, line := range lines {
		var got [2]float64
		_, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "%g %g", &got[0], &got[1])
		require.NoError(t, err, line)
		for o := range got {
			require.InEpsilon(t, want.Mean[o][i], got[o], 1e-8) // ten digits are printed
		}
	}
}

// A model that the example does not read is refused in words.
func TestReadOtherModel(t *testing.T) {
	interpreter := python(t)
	x := la.NewMatrix[float64](20, 1)
	y := make([]float64, 20)
	for i := range y {
		x.Set(i, 0, float64(i))
		y[i] = math.Sin(float64(i))
	}
	m, err := mkl.MultiGP{}.Fit(t.Context(), []mkl.View{{X: x, Kernel: kernel.RBF{Width: 3}}}, y)
	require.NoError(t, err)
	dir := t.TempDir()
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "m.mkl"), file.Bytes(), 0o666))
	out, err := exec.Command(interpreter, "read_model.py", filepath.Join(dir, "m.mkl"), "none.csv").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "m.mkl: not a model of mkl fit -model bmkl -kernels rbf -raw-columns: this example reads no others")
	require.NotContains(t, string(out), "Traceback")
}
