package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// TestOrdinalModel compares what the command predicts and measures of grades with what the package does.
func TestOrdinalModel(t *testing.T) {
	var text, words strings.Builder
	text.WriteString("x,y\n")
	words.WriteString("x,y\n")
	for i := range 60 {
		x := float64(i%20)/4 + 0.01*float64(i)
		grade := min(int(x)+i%2, 4) // five of them
		fmt.Fprintf(&text, "%g,%d\n", x, grade)
		fmt.Fprintf(&words, "%g,%s\n", x, []string{"Low", "Low", "Medium", "High", "High"}[grade])
	}
	files := map[string]string{"d.csv": text.String(), "w.csv": words.String()}
	status, stdout, stderr := command(t, files, "", strings.Fields("fit d.csv -target y -task ordinal -view x:rbf(width=1) -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "ordinal (mgp) of y")
	assert.Contains(t, stdout, "grades between cut points of the function, in units of its noise: 0 | ")
	m := fromFile[*mkl.OrdinalModel[string]](t)
	assert.Equal(t, []string{"0", "1", "2", "3", "4"}, m.Classes())

	out := predicted(t, "d.csv")
	x, y := numbersOf(t, out["x"]), []int{}
	if len(x) == 0 {
		for _, line := range strings.Split(strings.TrimSpace(text.String()), "\n")[1:] {
			v, _ := strconv.ParseFloat(strings.Split(line, ",")[0], 64)
			x = append(x, v)
			grade, _ := strconv.Atoi(strings.Split(line, ",")[1])
			y = append(y, grade)
		}
	}
	labels, p, err := m.Predict(mkl.Column(x))
	require.NoError(t, err)
	var median []int
	for i, of := range p {
		assert.Equal(t, labels[i], out["label"][i])
		assert.Equal(t, strconv.Itoa(mkl.MedianGrade(of)), out["median"][i])
		assert.InDelta(t, of[0]+of[1], numbersOf(t, out["p_to_1"])[i], 1e-12)
		median = append(median, mkl.MedianGrade(of))
	}
	v := measured(t, "d.csv")
	rps, err := metrics.RankedProbability(y, p)
	require.NoError(t, err)
	assert.InDelta(t, rps, v["RPS"], 1e-12)
	qwk, err := metrics.WeightedKappa(y, median, 5)
	require.NoError(t, err)
	assert.InDelta(t, qwk, v["QWK"], 1e-12)
	assert.Less(t, v["grades off"], 0.6)
	status, stdout, stderr = command(t, nil, "", "report", "m", "-data", "d.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "RPS")

	for args, want := range map[string]string{
		"fit w.csv -target y -task ordinal":                     "-grades names them from the lowest to the highest",
		"fit w.csv -target y -grades Low,High":                  `"Medium" is a grade of the data, but not in Low,High`,
		"fit w.csv -target y -grades Low,High,Low":              "name each grade once",
		"fit w.csv -target y -grades Low":                       "two grades are needed",
		"fit w.csv -target y -task multiclass -grades Low,High": "-grades is not for -task multiclass",
		"cv w.csv -target y -task ordinal":                      "-grades names them from the lowest to the highest",
		"fit d.csv -target y -task ordinal -model auto":         "-model auto is for -task regression",
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.NotEqual(t, console.StatusOK, status, args)
		assert.Contains(t, stderr, want, args)
	}
	status, _, stderr = command(t, nil, "", strings.Fields("fit w.csv -target y -grades Low,Medium,High,Higher -view x:rbf(width=1) -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Len(t, fromFile[*mkl.OrdinalModel[string]](t).CutPoints(), 3)
	status, stdout, stderr = command(t, nil, "", "export", "m", "-o", "m.onnx")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "to probability, label, for the 1 target y")
}

// TestGradesAsNumbers finds grades that the data and the test rows write as other texts of the same numbers.
func TestGradesAsNumbers(t *testing.T) {
	var whole, point, mixed strings.Builder
	for _, b := range []*strings.Builder{&whole, &point, &mixed} {
		b.WriteString("x,y\n")
	}
	for i := range 60 {
		x, grade := float64(i%20)/4, 1+min(i%20/6+i%2, 2)
		fmt.Fprintf(&whole, "%g,%d\n", x, grade)
		fmt.Fprintf(&point, "%g,%d.0\n", x, grade)
		fmt.Fprintf(&mixed, "%g,%d%s\n", x, grade, []string{"", ".0"}[i/30])
	}
	files := map[string]string{"whole.csv": whole.String(), "point.csv": point.String(), "mixed.csv": mixed.String()}
	var want map[string]float64
	for _, data := range []string{"whole", "point"} {
		status, _, stderr := command(t, files, "", strings.Fields("fit "+data+".csv -target y -grades 1,2,3 -view x:rbf(width=1) -o m")...)
		require.Equal(t, console.StatusOK, status, stderr)
		for _, test := range []string{"whole.csv", "point.csv", "mixed.csv"} {
			got := measured(t, test)
			if want == nil {
				want = got
			}
			assert.Equal(t, want, got, "%s %s", data, test)
		}
	}
	status, _, stderr := command(t, nil, "", strings.Fields("fit mixed.csv -target y -grades 1,2,3 -view x:rbf(width=1)")...)
	assert.NotEqual(t, console.StatusOK, status)
	assert.Contains(t, stderr, `the data write the grade 1 as "1" and as "1.0"`)
	status, _, stderr = command(t, nil, "", strings.Fields("cv point.csv -folds 3 -target y -task ordinal -grades 1,2,3,4 -view x:rbf(width=1)")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, _, stderr = command(t, nil, "", strings.Fields("fit point.csv -target y -grades 1,2,3,3.0 -view x:rbf(width=1)")...)
	assert.NotEqual(t, console.StatusOK, status)
	assert.Contains(t, stderr, "name each grade once")
}

// TestGradesCompared compares models of grades on held-out rows, with grades that are numbers and with grades that are words. The third
// fold may lack a grade, whose probability the other grades still leave.
func TestGradesCompared(t *testing.T) {
	testkit.NotShort(t)
	var text strings.Builder
	text.WriteString("x,y,w\n")
	for i := range 45 {
		x := float64(i%15)/4 + 0.01*float64(i)
		grade := min(int(x)+i%2, 3)
		if i == 44 {
			grade = 4
		}
		fmt.Fprintf(&text, "%g,%d,%s\n", x, grade, []string{"low", "low", "middle", "high", "high"}[grade])
	}
	for _, args := range []string{"-target y -task ordinal -view x", "-target w -task ordinal -grades low,middle,high -view x"} {
		status, stdout, stderr := command(t, map[string]string{"d.csv": text.String()}, "", strings.Fields("cv d.csv -folds 3 -json "+args)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stdout, `"mgp"`, args)
		assert.Contains(t, stdout, `"linear"`, args)
	}
}

// TestGradesAreRecognised says of words in order and of few whole numbers that they may be grades, and learns them as before.
func TestGradesAreRecognised(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,size,mark,colour\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%g,%s,%d,%s\n", float64(i*i%17), []string{"medium", "small", "large"}[i%3], 1+i%5, []string{"red", "blue", "small"}[i%3])
	}
	for target, want := range map[string]string{
		"size":   "column size: seems to be grades, which are in order: -grades 'small,medium,large' learns them as such",
		"mark":   "-task ordinal as grades",
		"colour": "",
	} {
		status, _, stderr := command(t, map[string]string{"d.csv": text.String()}, "", "fit", "d.csv", "-target", target, "-view", "x:rbf(width=1)", "-model", "mgp")
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stderr, want)
		assert.Equal(t, want != "", strings.Contains(stderr, "grades"), target)
	}
}
