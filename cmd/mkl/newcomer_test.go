package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
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
		var ev evaluation.Evaluation
		require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
		assert.Equal(t, of, ev.Training)
		_, stderr := run(nil, "compare m m -data "+file)
		assert.Equal(t, of, strings.Contains(stderr, "mkl: warning: m and m were fitted to these rows: errors on new rows are larger\n"), file)
	}
}

// A fit says what can be done with its model, on a terminal alone, and one that -time ended that it was that.
func TestNext(t *testing.T) {
	of := func(output string, r *report.Report) string { return (&fitCmd{Output: output}).next(r) }
	factors := &report.Report{Factors: []report.Factor{{}}}
	assert.Equal(t, "next: the same with -o FILE keeps the model, to predict with it", of("", &report.Report{}))
	assert.Contains(t, of("m", &report.Report{}), "next: mkl predict m FILE predicts new rows; mkl evaluate m FILE ")
	assert.Equal(t, "next: mkl complete m FILE fills the gaps of a table", of("m", factors))
	assert.Contains(t, (&fitCmd{Output: "m", TableFlags: model.TableFlags{Entries: "a,b,c"}}).next(factors), "mkl predict m FILE")
	assert.Empty(t, of("-", &report.Report{}))

	var out, messages strings.Builder
	status, _, stderr := command(t, map[string]string{"d.csv": line()}, "", strings.Fields("fit d.csv -target y -view x -model spikeslab -sweeps 3 -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	m, err := saved.Load(env(t), "m")
	require.NoError(t, err)
	rep := report.New(m.Estimator, m.Model, m.Notes)
	rep.Converged, rep.Reason, rep.Sweeps = false, "cancelled", 3
	require.NoError(t, new(fitCmd).tell(&console.Env{Stdout: &out, Stderr: &messages}, rep, nil, nil, "headline"))
	assert.Contains(t, out.String(), "headline\nNOT converged (-time is up) after 3 sweeps")
	assert.Equal(t, "mkl: warning: the fit has NOT converged (-time is up) after 3 sweeps\n", messages.String())
}

// The demonstration of the README draws its picture where it stands; git is not to take it for work.
func TestDemoLeavesNothingToCommit(t *testing.T) {
	ignored, err := os.ReadFile(filepath.Join("..", "..", ".gitignore"))
	require.NoError(t, err)
	assert.Contains(t, strings.Fields(string(ignored)), "/motorcycle.svg")
}

// Reports call the columns that a kernel sees by their names in the file, whichever were left out before.
func TestColumnsByName(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("same,width,depth,kind,y\n")
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 60 {
		w, d := rng.NormFloat64(), rng.NormFloat64()
		y := math.Sin(2*w) + math.Cos(2*d) + 0.3*rng.NormFloat64()
		rows.WriteString("1," + number(w) + "," + number(d) + "," + []string{"old", "new"}[i%2] + "," + number(y) + "\n")
	}
	fit := func(args ...string) string {
		t.Helper()
		status, stdout, stderr := command(t, map[string]string{"d.csv": rows.String()}, "", append([]string{"fit", "d.csv", "-target=y"}, args...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		return stdout + stderr
	}
	all := fit("-list-kernels")
	for _, name := range []string{"rbf(width=1) of width ", "rbf(width=1) of depth "} {
		assert.Contains(t, all, name)
	}
	assert.NotContains(t, all, " of #")
	views := fit("-list-kernels", "-view", "size=width,depth", "-view", "rest=kind")
	assert.Contains(t, views, "size of depth  rbf(width=1)")
	assert.NotContains(t, views, " of #")
	alone := fit("-model=bmkl", "-sweeps=20")
	assert.Contains(t, alone, " of ranks ")
	assert.NotRegexp(t, `of ranks  laplacian`, alone)
}

// The command distinguishes a table whose cells are separated by spaces from a table of one column.
func TestSpacedCells(t *testing.T) {
	fit := strings.Fields("fit d.txt -target y")
	status, _, stderr := command(t, map[string]string{"d.txt": "x y\n1 2\n3 4\n"}, "", fit...)
	assert.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "d.txt: spaces separate the cells")
	status, _, stderr = command(t, map[string]string{"d.txt": "x y\n1 2\n3 4 5 6\n"}, "", fit...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `no column "y" (there are x y); the table has one column: if spaces separate its cells, -separator space`)
}

// TestAdvice says what else could be done, where the default is not all that can be had; the advice works.
func TestAdvice(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	words := []string{"good", "bad", "food", "taste", "love", "hate", "fresh", "old"}
	var foods, shops, counts strings.Builder
	foods.WriteString("review,score\n")
	shops.WriteString("shop,a,b\n")
	counts.WriteString("x,visits\n")
	for i := range 120 {
		score := 0
		for k := range 6 {
			w := rng.IntN(len(words))
			score += []int{1, -1, 0, 0, 1, -1, 1, -1}[w]
			foods.WriteString(words[w] + []string{" ", ","}[k/5])
		}
		foods.WriteString(number(float64(score)) + "\n")
		x := float64(i%12) / 4
		shops.WriteString("s" + number(float64(i%40)) + "," + number(x) + "," + number(math.Sin(x)+rng.NormFloat64()/9) + "\n")
		counts.WriteString(number(x) + "," + number(math.Floor(rng.ExpFloat64()*math.Exp(x/2))) + "\n")
	}
	status, _, stderr := command(t, map[string]string{"foods.csv": foods.String(), "shops.csv": shops.String(), "counts.csv": counts.String()}, "", strings.Fields("fit foods.csv -target score -text onehot")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "no column is left: warning: nothing is learned from review (text that is different in ")
	assert.Contains(t, stderr, "; -view 'review:spectrum(k=3)' learns from the letters of such text, as a view beside -view '*'\n")
	for _, c := range []struct{ args, says, instead string }{
		{"fit foods.csv -target score -view review:spectrum(k=3)", "plan: review is strings", "learns from the letters"},
		{"fit foods.csv -target score -model mgp", "plan: review is text: a bag of 8 words\n", "learned from"},
		{"fit shops.csv -target a -model bmkl -sweeps 3", "plan: shop is text: 40 categories, equal or not", "keeps a column"},
		{"fit shops.csv -target a -model bmkl -sweeps 3 -text onehot", "plan: -text category keeps a column with as many texts as shop one column\n", "targets: "},
		{"fit shops.csv -target a -model bmkl -sweeps 3 -text category", "plan: shop is text: 40 categories, equal or not", "keeps a column"},
		{"cv shops.csv -target a,b -folds 2 -models multioutput,mgp -sweeps 3", "cv: 4 candidates in 2 folds: mean, ridge, multioutput, mgp\n", "whole numbers"},
		{"fit counts.csv -target visits -model mgp", "column visits: seems to be counts, and its intervals may go below 0: -task counts learns it as counts\n", "targets: "},
		{"fit counts.csv -target visits -task counts", "", "seems to be counts"},
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(c.args)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stderr, c.says, c.args)
		assert.NotContains(t, stderr, c.instead, c.args)
	}
}

// stumbling is a table of two views and 400 rows, whose noise grows with the first column.
func stumbling() string {
	rng := rand.New(rand.NewPCG(6, 2))
	var b strings.Builder
	b.WriteString("x,z,u,v,w,y\n")
	for range 400 {
		x := 4 * rng.Float64()
		cells := []string{number(x)}
		for range 4 {
			cells = append(cells, number(rng.NormFloat64()))
		}
		b.WriteString(strings.Join(append(cells, number(10+x+x*x*0.3*rng.NormFloat64())), ",") + "\n")
	}
	return b.String()
}

// TestReportIsTrue: a page says of how many rows a model learned, not how many it keeps. It has a line of the baseline, names kernels in
// whole, and shows no standard deviation of 0 where none is known.
func TestReportIsTrue(t *testing.T) {
	status, _, stderr := command(t, map[string]string{"d.csv": stumbling()}, "", strings.Fields("fit d.csv -target y -model landmarks -landmarks 20 -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, page, stderr := command(t, nil, "", "report", "m", "-data", "d.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, page, "learned from 400 samples. ")
	assert.NotContains(t, page, "learned from 20 samples")
	assert.Contains(t, page, "mean alone")
	assert.NotRegexp(t, `± 0(\.0*)?( %|<)`, page)
	assert.NotRegexp(t, `rbf\(width=[^)<]*<`, page, "kernels are named in whole")
}

// TestNoiseThatGrows: evaluate says where intervals of one noise fail, which the coverage of all rows hides.
func TestNoiseThatGrows(t *testing.T) {
	status, _, stderr := command(t, map[string]string{"d.csv": stumbling()}, "", strings.Fields("fit d.csv -target y -model landmarks -landmarks 20 -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "", "evaluate", "m", "d.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `\nwarning: in \d of 5 fifths of the predictions the 95 % interval does not hold its share: the noise is not the same everywhere\n`, stdout)
	status, stdout, _ = command(t, nil, "", "evaluate", "m", "d.csv", "-json")
	require.Equal(t, console.StatusOK, status)
	var ev evaluation.Evaluation
	require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
	require.Len(t, ev.Fifths, 1)
	last := ev.Fifths[0].Parts[4]
	assert.True(t, last.Fails(0.95), "%+v", last)
}

// TestShortFit: a fit of many kernels says on a page's worth of lines what it learned, with a line of each view and the score of rows left out.
func TestShortFit(t *testing.T) {
	const samples = 200
	table := strings.Join(strings.SplitAfter(stumbling(), "\n")[:samples+1], "")
	status, stdout, stderr := command(t, map[string]string{"d.csv": table}, "", strings.Fields("fit d.csv -target y -view a=x,z -view b=u,v,w -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	lines := strings.Fields(strings.ReplaceAll(stdout, " ", ""))
	assert.LessOrEqual(t, len(lines), 16, stdout)
	assert.Contains(t, stdout, "left out one by one: explains ")
	assert.Regexp(t, `(?m)^a +\d+\.\d +± \d`, stdout)
	assert.Contains(t, stdout, "(-list-kernels lists them)")
	assert.NotContains(t, stdout, "rbf(")

	// A file holds two triangles of 8-byte numbers for each member at most, and little else.
	var told struct{ Members []report.Member }
	status, stdout, stderr = command(t, nil, "", "inspect", "m", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &told))
	file, err := os.Stat("m")
	require.NoError(t, err)
	require.NotEmpty(t, told.Members)
	assert.Less(t, file.Size(), int64(len(told.Members)*samples*samples*8+100_000))
}

// TestStumblesHaveTests looks up the tests that docs/lab/stumbles.md names.
func TestStumblesHaveTests(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "lab", "stumbles.md"))
	require.NoError(t, err)
	named := regexp.MustCompile("`([a-z0-9/]+)` `((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(named), 36)
	read := map[string]string{}
	for _, of := range named {
		folder, name := of[1], of[2]
		if _, ok := read[folder]; !ok {
			files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
			require.NoError(t, err)
			for _, file := range files {
				source, err := os.ReadFile(file)
				require.NoError(t, err)
				read[folder] += string(source)
			}
		}
		assert.Contains(t, read[folder], "\nfunc "+name+"(", folder)
	}
}
