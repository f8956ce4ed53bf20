package gonen2012

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass/multiclasstest"
	"github.com/bmkl/bmkl/internal/testkit"
)

// experimentJSON runs an experiment and returns its outcomes.
func experimentJSON(t *testing.T, experiment any, files map[string]string, args ...string) []outcome {
	t.Helper()
	status, stdout, stderr := consoletest.Run(t, experiment, files, append(args, "-data", ".", "-sweeps", "20", "-json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var got struct{ Outcomes []outcome }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	return got.Outcomes
}

// TestReproduceFlowers17 reads files of the authors' form with two classes.
func TestReproduceFlowers17(t *testing.T) {
	testkit.NotShort(t)
	var splits []multiclasstest.Array
	for s := 1; s <= 3; s++ {
		var trn, val, tst []int
		for i := 1; i <= 160; i++ {
			switch (i + s) % 8 {
			case 0, 1, 2, 3:
				trn = append(trn, i)
			case 4, 5:
				val = append(val, i)
			default:
				tst = append(tst, i)
			}
		}
		splits = append(splits, multiclasstest.Vector(fmt.Sprintf("trn%d", s), trn...), multiclasstest.Vector(fmt.Sprintf("val%d", s), val...), multiclasstest.Vector(fmt.Sprintf("tst%d", s), tst...))
	}
	distances := func(names ...string) string {
		var all []multiclasstest.Array
		for k, name := range names {
			d := multiclasstest.ClassDistance(80)
			all = append(all, multiclasstest.Matrix(name, 160, 160, func(i, j int) float64 { return float64(k+1) * d(i, j) }))
		}
		return multiclasstest.MAT(all...)
	}
	files := map[string]string{
		"datasplits.mat":                 multiclasstest.MAT(splits...),
		"distancematrices17gcfeat06.mat": distances("D_colourgc", "D_shapegc", "D_texturegc"),
		"distancematrices17itfeat08.mat": distances("D_hog", "D_hsv", "D_siftbdy", "D_siftint"),
	}
	got := experimentJSON(t, new(Flowers17), files)
	require.Len(t, got, 9)
	for _, o := range got {
		assert.Equal(t, 1.0, o.Accuracy, o)
		assert.Equal(t, 1.0, o.AUC, o)
		assert.Equal(t, 0.0, o.EER, o)
	}

	status, stdout, stderr := consoletest.Run(t, new(Flowers17), nil, "-data", ".", "-models", "multiple", "-sweeps", "2")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "mean ± SD")
	assert.Contains(t, stdout, "86.0 ± 1.6")

	for _, c := range []struct {
		file, text, want string
	}{
		{"datasplits.mat", multiclasstest.MAT(multiclasstest.Vector("trn1", 1, 2)), "datasplits.mat: no array val1"},
		{"datasplits.mat", multiclasstest.MAT(multiclasstest.Vector("trn1", 1, 2), multiclasstest.Vector("val1", 2), multiclasstest.Vector("tst1", 3)), "datasplits.mat: val1: element 1: sample 2 is there twice"},
		{"datasplits.mat", multiclasstest.MAT(multiclasstest.Vector("trn1", 1, 9), multiclasstest.Vector("val1", 2), multiclasstest.Vector("tst1", 3)), "datasplits.mat: trn1: element 2 is 9, not a sample from 1 to 4"},
		{"datasplits.mat", multiclasstest.MAT(multiclasstest.Matrix("trn1", 1, 1, func(int, int) float64 { return 1.5 })), "datasplits.mat: trn1: element 1 is 1.5, not a whole number"},
		{"distancematrices17itfeat08.mat", distances("D_hog"), "distancematrices17itfeat08.mat: no array D_hsv"},
		{"distancematrices17gcfeat06.mat", multiclasstest.MAT(multiclasstest.Matrix("D_colourgc", 2, 3, func(int, int) float64 { return 1 })), "distancematrices17gcfeat06.mat: D_colourgc: an array of shape [2 3] where a square matrix of order 160 or more is needed"},
		{"distancematrices17gcfeat06.mat", multiclasstest.MAT(multiclasstest.Matrix("D_colourgc", 160, 160, func(int, int) float64 { return -1 })), "distancematrices17gcfeat06.mat: D_colourgc: element (1, 1) is -1, not a distance"},
		{"distancematrices17gcfeat06.mat", "text", "distancematrices17gcfeat06.mat: not a MAT-file: its header is cut short"},
	} {
		require.NoError(t, os.WriteFile(c.file, []byte(c.text), 0o600))
		status, stdout, stderr := consoletest.Run(t, new(Flowers17), nil, "-data", ".", "-sweeps", "1", "-models", "multiple")
		assert.Equal(t, console.StatusInput, status)
		assert.Empty(t, stdout)
		assert.Equal(t, "mkl: "+c.want+"\n", stderr)
		require.NoError(t, os.WriteFile(c.file, []byte(files[c.file]), 0o600))
	}
	status, _, stderr = consoletest.Run(t, new(Flowers17), nil, "-data", ".", "-memory", "1MB")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "mkl: the experiment needs about ")
	status, _, stderr = consoletest.Run(t, new(Flowers17), nil, "-data", "nowhere")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "nowhere")
}

func TestReproduceFlowers102(t *testing.T) {
	got := experimentJSON(t, new(Flowers102), multiclasstest.Flowers102Files())
	require.Len(t, got, 3)
	for _, o := range got {
		assert.Equal(t, 1.0, o.Accuracy, o)
	}
}

// TestReproduceDerived reads word counts, with a split and without.
func TestReproduceDerived(t *testing.T) {
	files := map[string]string{}
	counts := func(i, j int) byte {
		if i/8 == j {
			return byte(20 + i%3)
		}
		return byte(1 + (i+j)%3)
	}
	matrix := func(rows, cols int, at func(i, j int) byte) string {
		h := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }\n", rows, cols)
		s := "\x93NUMPY\x01\x00" + string([]byte{byte(len(h)), 0}) + h
		for i := range rows {
			for j := range cols {
				s += string([]byte{at(i, j)})
			}
		}
		return s
	}
	for _, name := range []string{"hsv", "lab3x3", "hog", "siftdense", "siftkey", "gabor", "lbp"} {
		files[name+".npy"] = matrix(24, 5, counts)
	}
	files["labels.npy"] = matrix(24, 1, func(i, _ int) byte { return byte(1 + i/8) })
	got := experimentJSON(t, new(Derived), files)
	require.Len(t, got, 3)
	for _, o := range got {
		assert.Equal(t, 1.0, o.Accuracy, o)
		assert.Equal(t, "random split, seed 1", o.Split)
	}
	var trn, val, tst []int
	for i := 1; i <= 24; i++ {
		switch i % 4 {
		case 0, 1:
			trn = append(trn, i)
		case 2:
			val = append(val, i)
		default:
			tst = append(tst, i)
		}
	}
	files["datasplits.mat"] = multiclasstest.MAT(multiclasstest.Vector("trn2", trn...), multiclasstest.Vector("val2", val...), multiclasstest.Vector("tst2", tst...))
	got = experimentJSON(t, new(Derived), files, "-models", "mgp,multitask,multiple")
	require.Len(t, got, 3)
	for _, o := range got {
		assert.Equal(t, 1.0, o.Accuracy, o)
	}
	assert.Equal(t, "official split 2", got[0].Split)
}

func TestReproduceProteinfold(t *testing.T) {
	files := multiclasstest.ProteinFiles()
	got := experimentJSON(t, new(Proteinfold), files)
	require.Len(t, got, 3)
	for _, o := range got {
		assert.Equal(t, 1.0, o.Accuracy, o)
	}
	files["L1_Test.csv"] = "1,2\n"
	status, _, stderr := consoletest.Run(t, new(Proteinfold), files, "-data", ".")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: L1_Test.csv: 1×2 where 9×3 is expected\n", stderr)
}
