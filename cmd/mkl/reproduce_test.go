package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// matArray is one array of a MAT-file as the tests write it: doubles, rows × cols,
// column by column.
type matArray struct {
	name       string
	rows, cols int
	at         func(i, j int) float64
}

// mat writes a level 5 MAT-file, compressed as MATLAB's -v7 does.
func mat(arrays ...matArray) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%-124s", "MATLAB 5.0 MAT-file")
	out.WriteString("\x00\x01IM")
	for _, a := range arrays {
		var body bytes.Buffer
		put := func(v any) { _ = binary.Write(&body, binary.LittleEndian, v) }
		put([]uint32{6, 8, 6, 0, 5, 8, uint32(a.rows), uint32(a.cols), 1, uint32(len(a.name))})
		body.WriteString(a.name + strings.Repeat("\x00", -len(a.name)&7))
		put([]uint32{9, uint32(8 * a.rows * a.cols)})
		for j := range a.cols {
			for i := range a.rows {
				put(a.at(i, j))
			}
		}
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		_ = binary.Write(z, binary.LittleEndian, []uint32{14, uint32(body.Len())})
		_, _ = z.Write(body.Bytes())
		_ = z.Close()
		_ = binary.Write(&out, binary.LittleEndian, []uint32{15, uint32(packed.Len())})
		out.Write(packed.Bytes())
	}
	return out.String()
}

// vector is a row of sample numbers.
func vector(name string, x ...int) matArray {
	return matArray{name, 1, len(x), func(_, j int) float64 { return float64(x[j]) }}
}

// classDistance is small within a class of the given size and large between
// classes, and tells samples apart.
func classDistance(size int) func(i, j int) float64 {
	return func(i, j int) float64 {
		d := 0.01 * math.Abs(float64(i-j))
		if i/size != j/size {
			d += 3
		}
		return d
	}
}

// experimentJSON runs an experiment and returns its outcomes.
func experimentJSON(t *testing.T, experiment any, files map[string]string, args ...string) []outcome {
	t.Helper()
	status, stdout, stderr := runCommand(t, experiment, files, append(args, "-data", ".", "-sweeps", "20", "-json")...)
	require.Equal(t, statusOK, status, stderr)
	var got struct{ Outcomes []outcome }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	return got.Outcomes
}

// TestReproduceFlowers17 reads files of the authors' form with two classes.
func TestReproduceFlowers17(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 60 fits")
	}
	var splits []matArray
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
		splits = append(splits, vector(fmt.Sprintf("trn%d", s), trn...), vector(fmt.Sprintf("val%d", s), val...), vector(fmt.Sprintf("tst%d", s), tst...))
	}
	distances := func(names ...string) string {
		var all []matArray
		for k, name := range names {
			d := classDistance(80)
			all = append(all, matArray{name, 160, 160, func(i, j int) float64 { return float64(k+1) * d(i, j) }})
		}
		return mat(all...)
	}
	files := map[string]string{
		"datasplits.mat":                 mat(splits...),
		"distancematrices17gcfeat06.mat": distances("D_colourgc", "D_shapegc", "D_texturegc"),
		"distancematrices17itfeat08.mat": distances("D_hog", "D_hsv", "D_siftbdy", "D_siftint"),
	}
	got := experimentJSON(t, new(reproduceFlowers17Cmd), files)
	require.Len(t, got, 9)
	for _, o := range got {
		assert.Equal(t, 1.0, o.Accuracy, o)
		assert.Equal(t, 1.0, o.AUC, o)
		assert.Equal(t, 0.0, o.EER, o)
	}

	status, stdout, stderr := runCommand(t, new(reproduceFlowers17Cmd), nil, "-data", ".", "-models", "multiple", "-sweeps", "2")
	require.Equal(t, statusOK, status, stderr)
	assert.Contains(t, stdout, "mean ± SD")
	assert.Contains(t, stdout, "86.0 ± 1.6")

	for _, c := range []struct {
		file, text, want string
	}{
		{"datasplits.mat", mat(vector("trn1", 1, 2)), "datasplits.mat: no array val1"},
		{"datasplits.mat", mat(vector("trn1", 1, 2), vector("val1", 2), vector("tst1", 3)), "datasplits.mat: val1: element 1: sample 2 is there twice"},
		{"datasplits.mat", mat(vector("trn1", 1, 9), vector("val1", 2), vector("tst1", 3)), "datasplits.mat: trn1: element 2 is 9, not a sample from 1 to 4"},
		{"datasplits.mat", mat(matArray{"trn1", 1, 1, func(int, int) float64 { return 1.5 }}), "datasplits.mat: trn1: element 1 is 1.5, not a whole number"},
		{"distancematrices17itfeat08.mat", distances("D_hog"), "distancematrices17itfeat08.mat: no array D_hsv"},
		{"distancematrices17gcfeat06.mat", mat(matArray{"D_colourgc", 2, 3, func(int, int) float64 { return 1 }}), "distancematrices17gcfeat06.mat: D_colourgc: an array of shape [2 3] where a square matrix of order 160 or more is needed"},
		{"distancematrices17gcfeat06.mat", mat(matArray{"D_colourgc", 160, 160, func(int, int) float64 { return -1 }}), "distancematrices17gcfeat06.mat: D_colourgc: element (1, 1) is -1, not a distance"},
		{"distancematrices17gcfeat06.mat", "text", "distancematrices17gcfeat06.mat: not a MAT-file: its header is cut short"},
	} {
		require.NoError(t, os.WriteFile(c.file, []byte(c.text), 0o600))
		status, stdout, stderr := runCommand(t, new(reproduceFlowers17Cmd), nil, "-data", ".", "-sweeps", "1", "-models", "multiple")
		assert.Equal(t, statusInput, status)
		assert.Empty(t, stdout)
		assert.Equal(t, "mkl: "+c.want+"\n", stderr)
		require.NoError(t, os.WriteFile(c.file, []byte(files[c.file]), 0o600))
	}
	status, _, stderr = runCommand(t, new(reproduceFlowers17Cmd), nil, "-data", ".", "-memory", "1MB")
	assert.Equal(t, statusInput, status)
	assert.Contains(t, stderr, "mkl: the experiment needs about ")
	status, _, stderr = runCommand(t, new(reproduceFlowers17Cmd), nil, "-data", "nowhere")
	assert.Equal(t, statusInput, status)
	assert.Contains(t, stderr, "nowhere")
}

// flowers102Files are files of the authors' form with three classes of twenty.
func flowers102Files() map[string]string {
	var trn, val, tst, labels []int
	for i := 1; i <= 60; i++ {
		labels = append(labels, 1+(i-1)/20)
		switch i % 4 {
		case 0:
			trn = append(trn, i)
		case 1:
			val = append(val, i)
		default:
			tst = append(tst, i)
		}
	}
	var distances []matArray
	for _, name := range flowers102Distances {
		distances = append(distances, matArray{name, 60, 60, classDistance(20)})
	}
	return map[string]string{
		"setid.mat":               mat(vector("trnid", trn...), vector("valid", val...), vector("tstid", tst...)),
		"imagelabels.mat":         mat(vector("labels", labels...)),
		"distancematrices102.mat": mat(distances...),
	}
}

func TestReproduceFlowers102(t *testing.T) {
	got := experimentJSON(t, new(reproduceFlowers102Cmd), flowers102Files())
	require.Len(t, got, 3)
	for _, o := range got {
		assert.Equal(t, 1.0, o.Accuracy, o)
	}
}

func TestReproduceMGPFlowers102(t *testing.T) {
	args := []string{"-data", ".", "-curves", "1,3"}
	status, stdout, stderr := runCommand(t, new(reproduceMGPFlowersCmd), flowers102Files(), append(args, "-o", "roc.svg")...)
	require.Equal(t, statusOK, status, stderr)
	for _, s := range []string{"Student-t", "1.000 ± .000", ".957 ± .050", "picture: roc.svg"} {
		assert.Contains(t, stdout, s)
	}
	picture, err := os.ReadFile("roc.svg")
	require.NoError(t, err)
	assert.Contains(t, string(picture), "class 3")

	var got struct{ Outcomes []struct{ AUC []float64 } }
	status, stdout, stderr = runCommand(t, new(reproduceMGPFlowersCmd), nil, append(args, "-priors", "ard", "-json")...)
	require.Equal(t, statusOK, status, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Outcomes, 1)
	assert.Equal(t, []float64{1, 1, 1}, got.Outcomes[0].AUC)

	for _, c := range []struct{ flag, value, want string }{
		{"-curves", "9", "no test samples of class 9"},
		{"-memory", "1kB", "of memory"},
		{"-sweeps", "0", "-sweeps"},
	} {
		status, _, stderr := runCommand(t, new(reproduceMGPFlowersCmd), nil, append(args, c.flag, c.value, "-o", "roc.svg")...)
		assert.Equal(t, statusInput, status, c.flag)
		assert.Contains(t, stderr, c.want)
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
	got := experimentJSON(t, new(reproduceDerivedCmd), files)
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
	files["datasplits.mat"] = mat(vector("trn2", trn...), vector("val2", val...), vector("tst2", tst...))
	got = experimentJSON(t, new(reproduceDerivedCmd), files, "-models", "multiple")
	require.Len(t, got, 1)
	assert.Equal(t, 1.0, got[0].Accuracy)
	assert.Equal(t, "official split 2", got[0].Split)
}

// proteinFiles are small tables of the names of the data set's.
func proteinFiles() map[string]string {
	files := map[string]string{}
	for set, n := range map[string]int{"Train": 18, "Test": 9} {
		var labels strings.Builder
		for i := range n {
			fmt.Fprintln(&labels, 1+i%3)
		}
		files["t_"+set+".csv"] = labels.String()
		for k, s := range proteinSources {
			var x strings.Builder
			for i := range n {
				fmt.Fprintf(&x, "%d,%g,%d\n", 10*(i%3), math.Sin(float64(3*i+k)), (i%3)*(i%3))
			}
			files[s.name+"_"+set+".csv"] = x.String()
		}
	}
	return files
}

func TestReproduceProteinfold(t *testing.T) {
	files := proteinFiles()
	got := experimentJSON(t, new(reproduceProteinfoldCmd), files)
	require.Len(t, got, 3)
	for _, o := range got {
		assert.Equal(t, 1.0, o.Accuracy, o)
	}
	files["L1_Test.csv"] = "1,2\n"
	status, _, stderr := runCommand(t, new(reproduceProteinfoldCmd), files, "-data", ".")
	assert.Equal(t, statusInput, status)
	assert.Equal(t, "mkl: L1_Test.csv: 1×2 where 9×3 is expected\n", stderr)
}

// TestReproduceCalibration holds out a third of two small sets.
func TestReproduceCalibration(t *testing.T) {
	var iris, crabs strings.Builder
	iris.WriteString("a,b,c,d,species\n")
	crabs.WriteString("sp,sex,index,FL,RW,CL,CW,BD\n")
	for i := range 36 {
		k := i % 3
		fmt.Fprintf(&iris, "%d,%g,%g,%d,%c\n", k, math.Sin(float64(i)), math.Cos(float64(3*i)), k*k, 'x'+rune(k))
		fmt.Fprintf(&crabs, "%c,%c,%d,%d,%g,%d,%g,1%d\n", 'B'+rune(i%2), 'F'+rune(i/2%2), i, i%2, math.Sin(float64(i)), i/2%2, math.Cos(float64(i)), i%2)
	}
	files := map[string]string{}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"iris": iris.String(), "crabs": crabs.String()} {
		require.NoError(t, os.Mkdir(name, 0o700))
		require.NoError(t, os.WriteFile(name+"/"+name+".csv", []byte(text), 0o600))
	}
	var app struct {
		Calibration reproduceCalibrationCmd `cmd:"" set:"kernels=linear"`
	}
	args := []string{"calibration", "-data", ".", "-sets", "iris,crabs", "-splits", "2", "-kernels", "linear,rbf(width=2)"}
	status, stdout, stderr := runCommand(t, &app, nil, append(args, "-json")...)
	require.Equal(t, statusOK, status, stderr)
	var got struct{ Runs []calibrationRun }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got.Runs, 4)
	for i, r := range got.Runs {
		assert.Equal(t, []string{"iris", "crabs"}[i/2], r.Set)
		assert.Equal(t, []float64{0, 1}[i%2], r.Margin)
		assert.Equal(t, 24, r.Samples)
		assert.Equal(t, 3+i/2, r.Classes)
		assert.Equal(t, 1.0, r.Measures["accuracy"])
		n := 0
		for _, b := range r.Calibration {
			n += b.Count
		}
		assert.Equal(t, 24, n)
	}
	status, stdout, stderr = runCommand(t, &app, nil, args...)
	require.Equal(t, statusOK, status, stderr)
	assert.Regexp(t, `(?m)^crabs +n +margin 0 +came true +n +margin 1 +came true$`, stdout)
	status, _, stderr = runCommand(t, &app, files, "calibration", "-data", ".")
	assert.Equal(t, statusInput, status)
	assert.Contains(t, stderr, "crabs.csv")
}
