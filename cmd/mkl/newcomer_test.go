package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/measure"
)

// bare is a table without names: x, z, and three classes called by numbers.
func bare(rows int) string {
	var b strings.Builder
	for _, line := range strings.Split(waves(rows), "\n")[1:] {
		if cells := strings.Split(line, ","); len(cells) == 4 {
			b.WriteString(cells[0] + "," + cells[1] + "," + map[string]string{"low": "1", "high": "2"}[cells[3]] + "\n")
		}
	}
	return b.String()
}

// A file without names says how its columns are called, and sentences call them columns.
func TestNameless(t *testing.T) {
	files := map[string]string{"bare.csv": bare(40), "d.csv": waves(40)}
	run := func(args string, want int) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := command(t, files, "", strings.Fields(args)...)
		files = nil
		require.Equal(t, want, status, "%s: %s", args, stderr)
		return stdout, stderr
	}
	_, stderr := run("fit bare.csv", console.StatusInput)
	assert.Equal(t, "mkl: -target is missing, the column to learn: bare.csv: there are 1, 2, 3; the file has no line of names, "+
		"and its columns are called by their positions (-header yes takes the first line for names)\n", stderr)
	_, stderr = run("fit bare.csv -target class", console.StatusInput)
	assert.Contains(t, stderr, `-target: bare.csv: no column "class" (there are 1, 2, 3); the file has no line of names`)
	_, stderr = run("fit d.csv", console.StatusInput)
	assert.Equal(t, "mkl: -target is missing, the column to learn: d.csv: there are x, z, y, kind\n", stderr)

	stdout, _ := run("fit bare.csv -target 3 -task regression -model mgp -o r", console.StatusOK)
	assert.Contains(t, stdout, "\ncolumn 3: noise SD ")
	_, _ = run("fit bare.csv -target 3 -task multiclass -model bmkl -sweeps 5 -o c", console.StatusOK)
	stdout, _ = run("evaluate c bare.csv", console.StatusOK)
	assert.Contains(t, stdout, "\ncolumn 3 ")
	stdout, _ = run("compare c c -data bare.csv", console.StatusOK)
	assert.Contains(t, stdout, " of column 3\n")
	_, stderr = run("compare c r -data d.csv", console.StatusInput)
	assert.Contains(t, stderr, "mkl: c: view of the model: d.csv: ")
}

// What is predicted of the rows of the fit is said to be.
func TestOfTraining(t *testing.T) {
	run := func(files map[string]string, args string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := command(t, files, "", strings.Fields(args)...)
		require.Equal(t, console.StatusOK, status, stderr)
		return stdout, stderr
	}
	run(map[string]string{"d.csv": waves(40), "copy.csv": waves(40), "new.csv": waves(41)}, "fit d.csv -target y -view x,z:rbf -model mgp -o m")
	for file, of := range map[string]bool{"d.csv": true, "copy.csv": true, "new.csv": false} { // by what it holds
		stdout, _ := run(nil, "evaluate m "+file)
		assert.Equal(t, of, strings.Contains(stdout, "samples that the model was fitted to: errors on new rows are larger\n"), file)
		stdout, _ = run(nil, "evaluate m -json "+file)
		var ev evaluation
		require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
		assert.Equal(t, of, ev.Training)
		_, stderr := run(nil, "compare m m -data "+file)
		assert.Equal(t, of, strings.Contains(stderr, "mkl: warning: m and m were fitted to these rows: errors on new rows are larger\n"), file)
	}
}

// Weights are told without what nobody knows, and kernels without what was told.
func TestWeightsForPeople(t *testing.T) {
	assert.Equal(t, "rbf(width=[1,2])", viewAndKernel("rbf(ard)", "rbf(width=[1,2])"))
	assert.Equal(t, "laplacian(width=[1,2],distance=manhattan) of ranks",
		viewAndKernel("laplacian(ard,distance=manhattan) of ranks", "laplacian(width=[1,2],distance=manhattan)"))
	assert.Equal(t, "size  rbf(width=1)", viewAndKernel("size", "rbf(width=1)"))

	est := estimatorOf("pool")
	r := &report{est: est, Members: []memberReport{{"all", 1}}}
	for i := range 24 {
		k := kernelReport{View: "all: linear", Kernel: "linear", Weight: 1, Active: true}
		if i >= 21 {
			k.Weight = 0.01
		}
		r.Kernels = append(r.Kernels, k)
	}
	var b strings.Builder
	require.NoError(t, r.printKernels(&b, r.Kernels))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	assert.Equal(t, "24 of 24 kernels active: share, kernel, weight", lines[0])
	assert.Equal(t, "  … and 3 below 1 % (-json lists all)", lines[len(lines)-1])
	assert.Len(t, lines, 1+21+1)
	assert.NotContains(t, b.String(), "±")
}

// Weights of a class whose function is constant are not listed as if they were large.
func TestVanishedWeights(t *testing.T) {
	est := estimatorOf("landmark-classifier")
	kernel := func(w console.Number) []kernelReport {
		return []kernelReport{{View: "x", Kernel: "rbf(width=1)", Weight: w, Active: true}}
	}
	r := &report{est: est, Classes: []string{"a", "b", "c"}, Targets: []targetReport{
		{Name: "a", Kernels: kernel(0.5)}, {Name: "b", Kernels: kernel(3e-11)}, {Name: "c", Kernels: kernel(2e-6)},
	}}
	var b strings.Builder
	require.NoError(t, r.print(&b))
	assert.Equal(t, 2, strings.Count(b.String(), "100.0 %"))
	assert.Contains(t, b.String(), "\nb\nno kernel active: no weight is above 3e-11, and the function of the class is constant\n\nc\n")
}

// A fit says what can be done with its model, on a terminal alone, and one that -time ended that it was that.
func TestNext(t *testing.T) {
	of := func(output string, r *report) string { return (&fitCmd{Output: output}).next(r) }
	factors := &report{Factors: []factorReport{{}}}
	assert.Equal(t, "next: the same with -o FILE keeps the model, to predict with it", of("", &report{}))
	assert.Contains(t, of("m", &report{}), "next: mkl predict m FILE predicts new rows; mkl evaluate m FILE ")
	assert.Equal(t, "next: mkl complete m FILE fills the gaps of a table", of("m", factors))
	assert.Contains(t, (&fitCmd{Output: "m", factorFlags: factorFlags{Entries: "a,b,c"}}).next(factors), "mkl predict m FILE")
	assert.Empty(t, of("-", &report{}))

	var out, messages strings.Builder
	rep := &report{est: estimatorOf("landmarks"), Reason: "cancelled", Sweeps: 3}
	require.NoError(t, new(fitCmd).tell(&console.Env{Stdout: &out, Stderr: &messages}, rep, nil, nil, "headline"))
	assert.Contains(t, out.String(), "headline\nNOT converged (-time is up) after 3 sweeps")
	assert.Equal(t, "mkl: warning: the fit has NOT converged (-time is up) after 3 sweeps\n", messages.String())
}

// The baseline of classes is measured like the same probabilities of a model.
func TestFrequencies(t *testing.T) {
	class := []int{0, 2, 2, 0, 2, 1, 2}
	var probability [][]float64
	for range class {
		probability = append(probability, []float64{2. / 7, 1. / 7, 4. / 7})
	}
	want, err := measure.Classes(class, probability)
	require.NoError(t, err)
	got := frequencies(class)
	assert.Len(t, got.Values, 3)
	for name, v := range got.Values {
		assert.InEpsilon(t, want[name], v, 1e-14, name)
	}
}
