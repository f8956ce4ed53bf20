package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// Drugs and targets of the tests have two features each; binding is a product of the features of a drug and the features of a
// target, and a level that all pairs have.
func drug(i int) (a, b float64) { return math.Cos(float64(3 * i)), math.Sin(float64(5 * i * i)) }

func protein(j int) (u, v float64) { return math.Sin(float64(2*j + 1)), math.Cos(float64(7 * j * j)) }

func binding(i, j int) float64 {
	a, b := drug(i)
	u, v := protein(j)
	return 6 + 2*a*u - 1.5*b*v + 0.05*math.Sin(float64(7*i+11*j*j))
}

// drugs are the features of the drugs from and before to, with a column of noise and one of text.
func drugs(from, to int) string {
	var s strings.Builder
	s.WriteString("drug,a,b,noise,form\n")
	for i := from; i < to; i++ {
		a, b := drug(i)
		fmt.Fprintf(&s, "d%d,%.4f,%.4f,%.4f,%s\n", i, a, b, math.Sin(float64(i*i*i)), []string{"oral", "topical"}[i%2])
	}
	return s.String()
}

// proteins are the features of the targets, in which ids have no column of their name.
func proteins(from, to int) string {
	var s strings.Builder
	s.WriteString("id,u,v\n")
	for j := from; j < to; j++ {
		u, v := protein(j)
		fmt.Fprintf(&s, "t%d,%.4f,%.4f\n", j, u, v)
	}
	return s.String()
}

// likeness is the similarity of drugs, rows from and before to, to the drugs before n: 1 for a drug with itself.
func likeness(from, to, n int) string {
	var s strings.Builder
	for k := range n {
		fmt.Fprintf(&s, "\td%d", (k+5)%n) // in another order than the rows
	}
	s.WriteString("\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&s, "d%d", i)
		a, b := drug(i)
		for k := range n {
			c, d := drug((k + 5) % n)
			fmt.Fprintf(&s, "\t%.17g", math.Exp(-(a-c)*(a-c)-(b-d)*(b-d)))
		}
		s.WriteString("\n")
	}
	return s.String()
}

// bindings are the pairs of drugs and targets before so many: those that are there, for rest those that are not.
func bindings(nd, nt int, rest bool) string {
	var s strings.Builder
	s.WriteString("drug,target,affinity,binds\n")
	for i := range nd {
		for j := range nt {
			if missing := (3*i+j*j)%5 == 0; missing == rest {
				binds := "no"
				if binding(i, j) > 6.3 {
					binds = "yes"
				}
				fmt.Fprintf(&s, "d%d,t%d,%.4f,%s\n", i, j, binding(i, j), binds)
			}
		}
	}
	return s.String()
}

// wide is a list of pairs as a table with a column for each target and empty cells where there is no pair.
func wide(list string, nd, nt, value int) string {
	at := map[string]string{}
	for line := range strings.Lines(list) {
		r := strings.Split(strings.TrimSpace(line), ",")
		at[r[0]+r[1]] = r[value]
	}
	var s strings.Builder
	for j := range nt {
		fmt.Fprintf(&s, "\tt%d", j)
	}
	for i := range nd {
		fmt.Fprintf(&s, "\nd%d", i)
		for j := range nt {
			fmt.Fprintf(&s, "\t%s", at[fmt.Sprintf("d%dt%d", i, j)])
		}
	}
	return s.String() + "\n"
}

// pharmacy is the files of the tests: pairs of twenty drugs and fifteen targets, and six drugs and five targets more.
func pharmacy() map[string]string {
	return map[string]string{
		"pairs.csv": bindings(20, 15, false), "rest.csv": bindings(20, 15, true), "all.csv": bindings(26, 20, true),
		"drugs.csv": drugs(0, 20), "new-drugs.csv": drugs(20, 26), "targets.csv": proteins(0, 15), "new-targets.csv": proteins(15, 20),
		"likeness.tsv": likeness(0, 20, 20), "new-likeness.tsv": likeness(20, 26, 20), "binds.tsv": wide(bindings(20, 15, false), 20, 15, 3),
	}
}

// matrixOf are some columns of numbers of a table.
func matrixOf(t *testing.T, text string, columns ...int) la.Matrix[float64] {
	rows := readCSV(t, text)[1:]
	x := la.NewMatrix[float64](len(rows), len(columns))
	for i, r := range rows {
		for k, j := range columns {
			x.Set(i, k, floatOf(t, r[j]))
		}
	}
	return x
}

// TestPairs predicts pairs of known and of new drugs and targets as the library does, and close to what made them.
func TestPairs(t *testing.T) {
	testkit.NotShort(t)
	files := pharmacy()
	consoletest.InFolder(t, files)
	run := func(args string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := command(t, nil, "", strings.Fields(args)...)
		require.Equal(t, console.StatusOK, status, "%s: %s", args, stderr)
		return stdout, stderr
	}
	out, _ := run("fit pairs.csv -task pairs -entries drug,target,affinity -rows drugs.csv:rbf(width=1) -columns targets.csv -kernels rbf(width=2) " +
		"-as form=none -as noise=none -components 2 -o m.mkl")
	assert.Contains(t, out, "20 rows (drug), 15 columns (target), pairs of affinity, 240 pairs (80.00 % of the table)")
	assert.Contains(t, out, "\nrows: 1 of 1 kernel active")
	assert.Contains(t, out, "\ncolumns: 1 of 1 kernel active")
	out, _ = run("inspect m.mkl")
	assert.Contains(t, out, "20 rows (drug), 15 columns (target), pairs of affinity")
	assert.Contains(t, out, "view rows = a file of its own with 2 columns")

	file, err := os.Open("m.mkl")
	require.NoError(t, err)
	defer file.Close()
	held, err := mkl.Load(file)
	require.NoError(t, err)
	m, ok := held.(*mkl.PairRegressionModel)
	require.True(t, ok)
	fresh, variance, err := m.Predict(mkl.PairSide{X: []mkl.Features{matrixOf(t, files["new-drugs.csv"], 1, 2)}},
		mkl.PairSide{X: []mkl.Features{matrixOf(t, files["new-targets.csv"], 1, 2)}})
	require.NoError(t, err)
	known, _, err := m.Predict(mkl.PairSide{}, mkl.PairSide{})
	require.NoError(t, err)

	out, stderr := run("predict m.mkl all.csv -rows new-drugs.csv -columns new-targets.csv")
	assert.Empty(t, stderr)
	rows := readCSV(t, out)
	assert.Equal(t, []string{"drug", "target", "mean", "sd", "lower", "upper"}, rows[0])
	seen := [2]int{}
	for _, r := range rows[1:] {
		var i, j int
		_, err := fmt.Sscanf(r[0]+" "+r[1], "d%d t%d", &i, &j)
		require.NoError(t, err)
		mean, sd := floatOf(t, r[2]), floatOf(t, r[3])
		assert.InDelta(t, binding(i, j), mean, 5*sd, r)
		switch {
		case i < 20 && j < 15:
			seen[0]++
			assert.InDelta(t, known[i][j], mean, 1e-9)
			assert.InDelta(t, binding(i, j), mean, 0.25, r)
		case i >= 20 && j >= 15:
			seen[1]++
			assert.InDelta(t, fresh[i-20][j-15], mean, 1e-9)
			assert.InDelta(t, math.Sqrt(variance[i-20][j-15]), sd, 1e-9)
		}
	}
	assert.Equal(t, [2]int{60, 6}, seen)

	out, stderr = run("predict m.mkl all.csv -columns new-targets.csv") // drugs from d20 are not known
	assert.Contains(t, stderr, `rows cannot be predicted, the first: all.csv: row 81 (line 82), column 1 "drug": "d20" is not among the rows of the fit`)
	for _, r := range readCSV(t, out)[1:] {
		assert.Equal(t, slices.Contains([]string{"d20", "d21", "d22", "d23", "d24", "d25"}, r[0]), r[2] == "", r)
	}
	out, _ = run("evaluate m.mkl rest.csv")
	assert.Regexp(t, `^pairs, 60 pairs\n\n.*RMSE.*\naffinity +0\.0`, out)

	out, _ = run("fit pairs.csv -task pairs -entries drug,target,affinity -rows drugs.csv -columns targets.csv -components 2 -o other.mkl")
	assert.Contains(t, out, "kernels active")
	out, _ = run("compare m.mkl other.mkl -data rest.csv")
	assert.Contains(t, out, "other.mkl")

	run("fit pairs.csv -task pairs -entries drug,target,affinity -rows drugs.csv -columns targets.csv -components 2 -o part.mkl -resume s -sweeps 5")
	_, stderr = run("fit pairs.csv -task pairs -entries drug,target,affinity -rows drugs.csv -columns targets.csv -components 2 -o part.mkl -resume s")
	assert.Contains(t, stderr, "going on from s")
	whole, err := os.ReadFile("other.mkl")
	require.NoError(t, err)
	part, err := os.ReadFile("part.mkl")
	require.NoError(t, err)
	assert.Equal(t, whole, part)
}

// TestPairLabels learns labels by similarities of drugs that are given, of a list and of a table, and predicts
// new drugs by their similarities with the drugs of the fit.
func TestPairLabels(t *testing.T) {
	testkit.NotShort(t)
	files := pharmacy()
	files["wanted.csv"] = strings.Replace(files["all.csv"], "drug,target,affinity,binds", "row,column,affinity,value", 1)
	consoletest.InFolder(t, files)
	run := func(args string) string {
		t.Helper()
		status, stdout, stderr := command(t, nil, "", strings.Fields(args)...)
		require.Equal(t, console.StatusOK, status, "%s: %s", args, stderr)
		return stdout
	}
	const how = " -task pairlabels -rows likeness.tsv:precomputed -columns @targets.csv:rbf -components 2 "
	run("fit pairs.csv -entries drug,target,binds -o list.mkl" + how)
	run("fit binds.tsv -o wide.mkl" + how)

	out := run("predict list.mkl all.csv -rows new-likeness.tsv -columns new-targets.csv")
	rows := readCSV(t, out)
	assert.Equal(t, []string{"drug", "target", "binds", "p_binds"}, rows[0])
	var right, all float64
	for _, r := range rows[1:] {
		var i, j int
		_, err := fmt.Sscanf(r[0]+" "+r[1], "d%d t%d", &i, &j)
		require.NoError(t, err)
		assert.Equal(t, r[2] == "1", floatOf(t, r[3]) >= 0.5, r)
		all++
		if (binding(i, j) > 6.3) == (r[2] == "1") {
			right++
		}
	}
	assert.Greater(t, right/all, 0.85)
	same := readCSV(t, run("predict wide.mkl wanted.csv -rows new-likeness.tsv -columns new-targets.csv"))
	assert.Equal(t, []string{"row", "column", "value", "p_value"}, same[0])
	assert.Equal(t, rows[1:], same[1:], "a table is the same pairs as a list")
	assert.Regexp(t, `^pairlabels, 60 pairs\n\n.*accuracy`, run("evaluate list.mkl rest.csv"))
}

// TestPairMistakes holds what is said of flags and files that are wrong.
func TestPairMistakes(t *testing.T) {
	testkit.NotShort(t)
	files := pharmacy()
	files["twice.csv"] = files["pairs.csv"] + "d0,t1,3,no\n"
	files["same-id.csv"] = files["drugs.csv"] + "d3,1,2,3,oral\n"
	files["few.csv"] = drugs(0, 19)
	files["gap.csv"] = strings.Replace(files["targets.csv"], "t4,", "t4,NA", 1)
	consoletest.InFolder(t, files)
	status, _, stderr := command(t, nil, "", strings.Fields("fit pairs.csv -task pairs -entries drug,target,affinity -rows a=drugs.csv:rbf -columns targets.csv:rbf -components 1 -sweeps 3 -o m.mkl")...)
	require.Equal(t, console.StatusOK, status, stderr)
	const fit = "fit pairs.csv -task pairs -entries drug,target,affinity "
	for _, c := range []struct{ args, want string }{
		{"fit pairs.csv -rows drugs.csv", "-rows and -columns are for -task pairs, of values, and -task pairlabels, of labels"},
		{"fit pairs.csv -task regression -target affinity -rows drugs.csv", "-rows is not for -task regression"},
		{fit + "-columns targets.csv", "-rows is missing"},
		{fit + "-rows drugs.csv", "-columns is missing"},
		{fit + "-rows drugs.csv -columns targets.csv -view a", "-view is not for -task pairs"},
		{fit + "-rows drugs.csv -columns targets.csv -missing drop", "-missing drop is not for -task pairs"},
		{fit + "-rows drugs.csv -columns targets.csv -margin 1", "-margin is not for -task pairs"},
		{fit + "-rows drugs.csv -columns targets.csv -components=-1", "-components -1 is negative"},
		{fit + "-rows drugs.csv -columns targets.csv -sigma-h=-1", "-sigma-h -1 is not a number from 0 up"},
		{fit + "-rows drugs.csv -columns targets.csv -memory 1KiB", "needs about"},
		{fit + "-rows drugs.csv -columns rows=targets.csv", `two views are called "rows"`},
		{fit + "-rows drugs.csv,few.csv -columns targets.csv", "a view is the path of one file"},
		{fit + "-rows drugs.csv:spectrum -columns targets.csv", "kernels of strings are not for pairs"},
		{fit + "-rows likeness.tsv:precomputed(normalize) -columns targets.csv", "give similarities that are normalised already"},
		{fit + "-rows new-likeness.tsv:precomputed -columns targets.csv", `similarities have a column for each id: no column "d20"`},
		{fit + "-rows few.csv -columns targets.csv", `column 1 "drug": "d19" is not in few.csv, the first file of -rows`},
		{fit + "-rows drugs.csv -rows few.csv -columns targets.csv", `few.csv has no row for "d19", which drugs.csv has`},
		{fit + "-rows same-id.csv -columns targets.csv", `same-id.csv: row 21 (line 22), column 1 "drug": "d3" is there twice`},
		{fit + "-rows drugs.csv -columns gap.csv -as u=number", `gap.csv: row 5 (line 6), column 2 "u"`},
		{"fit twice.csv -task pairs -entries drug,target,affinity -rows drugs.csv -columns targets.csv", "the pair of d0 and t1 is there twice, first in row 1"},
		{"fit pairs.csv -task pairs -entries drug,target,binds -rows drugs.csv -columns targets.csv", `column 4 "binds": "no" is not a number`},
		{"fit pairs.csv -task pairlabels -entries drug,target,affinity -rows drugs.csv -columns targets.csv", "is neither 1, true or yes nor 0"},
		{"cv pairs.csv -task pairs", "cv is not for -task pairs"},
		{"predict m.mkl", "names them by the columns drug and target"},
		{"predict m.mkl drugs.csv", `no column "target"`},
		{"predict m.mkl all.csv -rows b=new-drugs.csv", `the model has no view of the rows called "b"`},
		{"predict m.mkl all.csv -rows likeness.tsv", `-rows: likeness.tsv: no column "a"`},
		{"predict m.mkl all.csv -view a=u", "-view is not for a model of pairs"},
		{"report m.mkl -data rest.csv -o r.html", "a report is not for models of pairs"},
		{"export m.mkl -o r.onnx", "mkl export is not for models of pairs"},
		{"complete m.mkl rest.csv", "mkl complete is for models of mkl fit -task factors"},
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(c.args)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
}
