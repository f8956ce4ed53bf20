package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/record"
)

// rowsThatDiffer is a table of 40 rows with weights w, noise of the standard deviations s = 2/√w, offsets o and the target yo = y + o.
func rowsThatDiffer() string {
	src := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	b.WriteString("x,w,s,o,y,yo\n")
	for i := range 40 {
		x, w := 4*src.Float64(), float64(1+i%5)
		y := math.Sin(x) + src.NormFloat64()/math.Sqrt(w)
		o := math.Round(100*src.NormFloat64()) / 8
		y = math.Round(y*1024) / 1024
		fmt.Fprintf(&b, "%g,%g,%.17g,%g,%g,%g\n", x, w, 2/math.Sqrt(w), o, y, y+o)
	}
	return b.String()
}

// TestRowsThatDiffer compares what the command learns with weights, noise and offsets of rows with what the package learns.
func TestRowsThatDiffer(t *testing.T) {
	data := rowsThatDiffer()
	gaps := strings.Replace(strings.Replace(data, ",1,2,", ",0,,", 1), ",3,", ",,", 1)
	command(t, map[string]string{"d.csv": data, "gaps.csv": gaps, "numbered.csv": strings.Replace(data, ",s,", ",2,", 1)}, "")
	table := strings.Split(strings.TrimSpace(data), "\n")[1:]
	var x, w, s, y []float64
	for _, line := range table {
		row := numbersOf(t, strings.Split(line, ","))
		x, w, s, y = append(x, row[0]), append(w, row[1]), append(s, row[2]), append(y, row[4])
	}
	view := mkl.View{X: mkl.Column(x), Kernel: kernel.RBF{Width: 1}, Standardize: true}
	fit := func(g mkl.MultiGP) mkl.Prediction {
		g.Seed = 1 // of the command
		m, err := g.Fit(t.Context(), []mkl.View{view}, y)
		require.NoError(t, err)
		mean, variance, err := m.Predict(mkl.Column(x))
		require.NoError(t, err)
		return mkl.Prediction{Mean: [][]float64{mean}, Variance: [][]float64{variance}}
	}
	kernels := "-view x:rbf(width=1) -model mgp"
	learn := func(flags string) map[string][]string {
		_, text := fitted(t, strings.Fields("d.csv "+kernels+" "+flags)...)
		assert.Contains(t, text, "regression (mgp)")
		return predicted(t, "d.csv")
	}
	agree := func(want mkl.Prediction, got map[string][]string) {
		t.Helper()
		mean, sd := numbersOf(t, got["mean"]), numbersOf(t, got["sd"])
		for i, v := range want.Mean[0] {
			assert.InDelta(t, v, mean[i], 1e-9)
			assert.InDelta(t, math.Sqrt(want.Variance[0][i]), sd[i], 1e-9)
		}
	}
	agree(fit(mkl.MultiGP{Weights: w}), learn("-target y -weights w"))

	var square float64
	for _, v := range s {
		square += v * v / float64(len(s))
	}
	each := make([]float64, len(s))
	for i, v := range s {
		each[i] = square / (v * v)
	}
	agree(fit(mkl.MultiGP{Weights: each, KnownNoise: math.Sqrt(square)}), learn("-target y -noise-sd s"))
	agree(fit(mkl.MultiGP{Weights: w, KnownNoise: 2}), learn("-target y -weights w -noise-sd 2"))
	run(t, "", "fit numbered.csv -header yes -target y -weights w -noise-sd 2 "+kernels) // a number, whatever columns are called

	// With an offset the difference is learned, and predictions have the offset again.
	plain := numbersOf(t, learn("-target y")["mean"])
	offset := learn("-target yo -offset o")
	other := numbersOf(t, predicted(t, "d.csv", "-offset", "1000")["mean"])
	for i, line := range table {
		o := numbersOf(t, strings.Split(line, ","))[3]
		assert.InDelta(t, plain[i]+o, numbersOf(t, offset["mean"])[i], 1e-9)
		assert.InDelta(t, plain[i]+1000, other[i], 1e-9)
	}
	status, _, stderr := command(t, nil, "", strings.Fields("export m -o g.onnx")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `the fit had offsets in the column "o"`)
	of, err := record.New(fromFile[*mkl.MultiGPModel](t))
	require.NoError(t, err)
	assert.Contains(t, of.Columns(), record.Column{Name: "o", Type: "number", Views: []string{}, Role: record.OffsetRole, Required: true})

	// Rows of weight 0 and without a weight are left out.
	status, _, stderr = command(t, nil, "", strings.Fields("fit gaps.csv -target y -weights w "+kernels)...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "2 of 40 rows left out")
	assert.Contains(t, stderr, "weights from 1.000 to 5.000; intervals are of targets of weight 1")

	for args, want := range map[string]string{
		"fit d.csv -target y -weights w -noise-sd s":                   "-weights excludes -noise-sd COLUMN",
		"fit d.csv -target y -weights y":                               "-weights y: the column has another role already",
		"fit d.csv -target y -weights o":                               "the weight is -",
		"fit d.csv -target y -noise-sd 0":                              "-noise-sd 0 is not a positive number",
		"fit d.csv -target y -noise-sd nothing":                        "-noise-sd: d.csv: no column \"nothing\"",
		"fit d.csv -target y -weights w -model bmkl":                   "-weights is not for -task regression with -model bmkl (it is for -model auto and -model mgp)",
		"fit d.csv -target y -weights w -model mgp -method factorised": "-weights and -noise-sd COLUMN are not for -method factorised",
		"fit d.csv -target w -weights s -task multiclass":              "-weights is not for -task multiclass",
		"fit d.csv -target w -offset o -task counts":                   "-offset is not for -task counts",
		"fit d.csv -target y,yo -weights w":                            "-weights is not for -task regression",
		"fit d.csv -target y -weight w -model mgp":                     "-weights COLUMN is for weights of rows",
		"predict m d.csv -offset nothing":                              "-offset: d.csv: no column \"nothing\"",
		"predict m d.csv -offset x":                                    "-offset x: the column is part of a view",
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, console.StatusInput, status, args)
		assert.Contains(t, stderr, want, args)
	}
	status, stdout, stderr := command(t, nil, "", strings.Fields("cv d.csv -target yo -offset o -weights w -models mgp -folds 3 -view x:rbf(width=1)")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "mgp")
}
