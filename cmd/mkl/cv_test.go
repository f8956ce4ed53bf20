package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/ranking"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/choose"
)

// dwellings is a table with numbers, text, dates, a group, a gap, an index and two targets: the price, a bent function of the
// area with a level for each kind, and whether that is high.
func dwellings(n int) string {
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("index,area,kind,sold,owner,dear,price\n")
	for i := range n {
		area, kind := 50+100*rng.Float64(), []string{"flat", "house", "hut"}[rng.IntN(3)]
		price := area + 30*math.Sin(area/12) + 40*float64(len(kind)) + 5*rng.NormFloat64()
		dear := map[bool]string{true: "yes", false: "no"}[price > 270]
		cell := number(math.Round(area))
		if i == 11 {
			cell = ""
		}
		fmt.Fprintf(&b, "%d,%s,%s,2020-%02d-%02d,p%d,%s,%.1f\n", i, cell, kind, 1+i/10%12, 1+i%28, i%12, dear, price)
	}
	return b.String()
}

func TestCV(t *testing.T) {
	files := map[string]string{"h.csv": dwellings(60)}
	args := strings.Fields("cv h.csv -target price -as dear=none -as owner=none -missing impute -models mgp,spikeslab")
	status, stdout, stderr := command(t, files, "", args...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "left out: index (counts the rows)")
	assert.Contains(t, stderr, "task: regression (column price has numbers)")
	lines := strings.Split(stdout, "\n")
	assert.Equal(t, "h.csv: 60 samples, regression of price, 5 folds", lines[0])
	assert.Regexp(t, `^ +RMSE ± SE +from the best \[95 %\] +NLPD +CRPS +coverage +PIT$`, lines[2])
	assert.Regexp(t, `^mean +\S+ ± \S+ +\+\S+ \[\+\S+, \+\S+\] +\S+ +\S+ +\S+ +\S+$`, lines[3])
	assert.Regexp(t, `^ridge `, lines[4])
	assert.Regexp(t, `^mgp +\S+ ± \S+ +best +`, lines[5])
	assert.Regexp(t, `^spikeslab `, lines[6])
	assert.Regexp(t, `^Recommendation: take mgp`, lines[8])

	// The same for every number of workers, and by way of a file of what is done.
	for _, more := range []string{"-workers=1", "-workers=3", "-resume=s.json", "-resume=s.json"} {
		status, again, stderr := command(t, nil, "", append(args, more)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, stdout, again, more)
	}
	assert.FileExists(t, "s.json")
	status, _, stderr = command(t, nil, "", append(args, "-resume=s.json", "-seed=2")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "s.json is the state of a validation of other data, folds or settings")
	require.NoError(t, os.WriteFile("h.csv", []byte(strings.Replace(dwellings(60), "flat", "hut", 1)), 0o600))
	status, _, _ = command(t, nil, "", append(args, "-resume=s.json")...)
	assert.Equal(t, console.StatusInput, status)
}

// What a fold learns from the training rows is what mkl fit learns from a file of them.
func TestCVAgainstFits(t *testing.T) {
	text := dwellings(40)
	status, stdout, stderr := command(t, map[string]string{"h.csv": text}, "",
		strings.Fields("cv h.csv -target price -as dear=none -as owner=none -as index=none -missing drop -models mgp -no-baselines -folds 3 -order sold -json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var got ranking.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	assert.Equal(t, 39, got.Samples)
	require.Len(t, got.Candidates, 1)
	require.Len(t, got.Candidates[0].ByFold, 3)
	lines := strings.SplitAfter(text, "\n")
	header, rows := lines[0], append(append([]string{}, lines[1:12]...), lines[13:41]...) // by date, as they are; without the gap
	for k := 1; k <= 3; k++ {
		from, to := k*39/4, (k+1)*39/4
		require.NoError(t, os.WriteFile("train.csv", []byte(header+strings.Join(rows[:from], "")), 0o600))
		require.NoError(t, os.WriteFile("test.csv", []byte(header+strings.Join(rows[from:to], "")), 0o600))
		status, _, stderr := command(t, nil, "", strings.Fields("fit train.csv -target price -as dear=none -as owner=none -as index=none -model mgp -o m")...)
		require.Equal(t, console.StatusOK, status, stderr)
		status, stdout, stderr := command(t, nil, "", "evaluate", "m", "test.csv", "-json")
		require.Equal(t, console.StatusOK, status, stderr)
		var ev evaluation.Evaluation
		require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
		assert.InEpsilon(t, ev.Measures[0].Values["RMSE"], got.Candidates[0].ByFold[k-1]["RMSE"], 1e-9)
		assert.InEpsilon(t, -ev.Measures[0].Values["log density"], got.Candidates[0].ByFold[k-1]["NLPD"], 1e-9)
	}
}

// Sets of kernels, and flags that only some models know.
func TestCVKernels(t *testing.T) {
	status, stdout, stderr := command(t, map[string]string{"h.csv": dwellings(48)}, "", "cv", "h.csv", "-target", "dear", "-as", "price=none", "-missing", "drop",
		"-models", "mgp,probit", "-kernels", "linear", "-kernels", "auto", "-family", "ard", "-group", "owner", "-score", "brier", "-repeats", "2", "-folds", "3", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "task: binary (column dear has 2 labels)")
	assert.NotContains(t, stderr, "owner", "the group is no feature")
	var got ranking.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	var names []string
	for _, c := range got.Candidates {
		names = append(names, c.Name)
		assert.Empty(t, c.Failed)
		assert.Len(t, c.ByFold, 6)
		assert.Contains(t, c.Scores, "log loss")
	}
	assert.Equal(t, []string{"frequencies", "linear", "mgp linear", "mgp auto", "probit linear", "probit auto"}, names)
	assert.Equal(t, "Brier", got.By)
	assert.Contains(t, names, got.Best)
}

// Given kernels are divided by rows and columns.
func TestCVGivenKernels(t *testing.T) {
	var y, k strings.Builder
	for i := range 20 {
		y.WriteString(number(math.Sin(float64(i)/2)) + "\n")
		for j := range 20 {
			d := float64(i - j)
			k.WriteString(number(math.Exp(-d*d/8)) + map[bool]string{true: "\n", false: ","}[j == 19])
		}
	}
	status, stdout, stderr := command(t, map[string]string{"y.csv": y.String(), "k.csv": k.String()}, "",
		strings.Fields("cv y.csv -target 1 -task regression -view k=@k.csv:precomputed -models mgp,bmkl -folds 4")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, stdout, "failed")
	assert.NotContains(t, stdout, "ridge", "there are no features")
	assert.Regexp(t, `Recommendation: take (mgp|bmkl)`, stdout)
}

// A class that the training rows of a fold lack fails the fold of two classes, and the command says so.
func TestCVFailedFold(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,z,c\n")
	for i := range 20 {
		fmt.Fprintf(&b, "%d,%d,%s\n", i*i%17, i*7%11, map[bool]string{true: "rare", false: "usual"}[i == 4])
	}
	status, stdout, stderr := command(t, map[string]string{"d.csv": b.String()}, "", strings.Fields("cv d.csv -target c -models probit")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `probit: 1 of 5 folds failed: .* has 1 class where -task binary needs 2`, stdout)
	assert.Contains(t, stdout, "Recommendation: take none of the models: the baseline frequencies is best")
}

func TestCVErrors(t *testing.T) {
	testkit.NotShort(t)
	files := map[string]string{"h.csv": dwellings(30)}
	for _, c := range []struct{ args, want string }{
		{"", "-target is missing, the column to learn: "},
		{"-target price -folds 1", "-folds 1: two at least are needed"},
		{"-target price -repeats 0", "-repeats 0 is below 1"},
		{"-target price -order sold -repeats 2", "-order excludes -repeats and -group"},
		{"-target price -task multilabel", "mkl cv is for -task regression, binary, multiclass, ordinal, counts and survival of one target, not multilabel: the others need several"},
		{"-target price -models lasso", `-models: there is no model "lasso": there are auto, bmkl, mgp, probit, landmarks and spikeslab`},
		{"-target price -models probit", "-model probit is for -task binary and multiclass, not regression"},
		{"-target price -models mgp -latents 2", "-latents is for none of the models: mgp"},
		{"-target price -models mgp -kernels rbg", `-kernels rbg: no kernel is called "rbg"`},
		{"-target price -models mgp -kernels precomputed", "-kernels precomputed: kernels that are given and kernels of strings are named by -view"},
		{"-target price -models mgp -view area:linear -kernels linear", "-kernels is for views that name no kernels, and every view names kernels"},
		{"-target price -score brier", "-score brier is not for these predictions: it is rmse or nlpd or crps"},
		{"-target price -order kind", "-order kind: the column is text: dates or numbers are needed"},
		{"-target price -group none", `-group: h.csv: no column "none"`},
		{"-target price -group kind", "choose: 3 groups are too few for 5 folds"},
		{"-target price -models mgp -resume none/s", "choose: open none"},
	} {
		args := append([]string{"cv", "h.csv", "-missing", "drop"}, strings.Fields(c.args)...)
		status, stdout, stderr := command(t, files, "", args...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "mkl: "+c.want, c.args)
	}
}

func TestCompare(t *testing.T) {
	testkit.NotShort(t)
	lines := strings.SplitAfter(dwellings(60), "\n")
	files := map[string]string{
		"train.csv": lines[0] + strings.Join(lines[21:61], ""),
		"test.csv":  lines[0] + strings.Join(lines[1:21], "") + "99,100,flat,2020-01-01,p1,,\n", // a gap in one model's features, and no truth
	}
	fits := []string{
		"train.csv -target price -view area,kind -model mgp -o a",
		"train.csv -target price -view kind,sold -model bmkl -o b",
		"train.csv -target dear -view area,kind -model mgp -o c",
		"train.csv -target dear -view kind -model probit -o d",
	}
	for i, fit := range fits {
		if i > 0 {
			files = nil
		}
		status, _, stderr := command(t, files, "", append([]string{"fit"}, strings.Fields(fit)...)...)
		require.Equal(t, console.StatusOK, status, stderr)
	}
	status, stdout, stderr := command(t, nil, "", "compare", "a", "b", "-data", "test.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.True(t, strings.HasPrefix(stdout, "test.csv: 20 samples, regression of price\n"), stdout)
	assert.Regexp(t, `(?m)^a +\S+ ± \S+ +best `, stdout)
	assert.Contains(t, stdout, "Recommendation: take a")

	// The figures equal the figures of mkl evaluate on the same rows.
	status, stdout, stderr = command(t, nil, "", "compare", "c", "d", "c", "-data", "test.csv", "-json")
	assert.Equal(t, console.StatusOK, status, stderr)
	var got []*ranking.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got, 1)
	status, stdout, stderr = command(t, nil, "", "evaluate", "c", "test.csv", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var ev evaluation.Evaluation
	require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
	for _, name := range []string{"log loss", "accuracy", "Brier"} {
		assert.InEpsilon(t, ev.Measures[0].Values[name], got[0].Candidates[0].Scores[name]["value"], 1e-12, name)
		assert.Equal(t, got[0].Candidates[0].Scores[name], got[0].Candidates[2].Scores[name])
	}

	for _, c := range []struct{ args, want string }{
		{"a -data test.csv", "compare needs two models or more"},
		{"a b -data -", "-data -: every model reads the table"},
		{"a c -data test.csv", "a (regression) and c (binary) predict different things"},
		{"a none -data test.csv", "open none: "},
		{"a b -data test.csv -score brier", "-score brier is not for these predictions"},
		{"a b -data test.csv -target area", `a: column "area" is both a target and part of a view`},
	} {
		status, stdout, stderr := command(t, nil, "", append([]string{"compare"}, strings.Fields(c.args)...)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "mkl: "+c.want, c.args)
	}
}

// TestCVManual holds docs/guide/cv.md to the flags that there are, and runs its first command.
func TestCVManual(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "cv.md"))
	require.NoError(t, err)
	manual := strings.ReplaceAll(string(text), "\r\n", "\n")
	parser, err := kong.New(new(commands), kong.Vars(model.Vars()))
	require.NoError(t, err)
	cv, err := parser.Parse([]string{"cv", "d.csv", "--target", "y"})
	require.NoError(t, err)
	flags := map[string]bool{}
	for _, f := range cv.Flags() {
		flags[f.Name] = true
	}
	for _, found := range regexp.MustCompile("(?m)^\\| `-(no-)?([a-z]+)").FindAllStringSubmatch(manual, -1) {
		assert.True(t, flags[found[2]], "-%s", found[2])
	}
	for _, s := range slices.Concat(choose.Scores(choose.NumberTruth), choose.Scores(choose.ClassTruth), choose.Scores(choose.CountTruth), choose.Scores(choose.TimeTruth)) {
		assert.Contains(t, manual, "\n| "+s.String()+" | ")
	}
	testkit.NotShort(t)
	t.Chdir(filepath.Join("..", ".."))
	_, rest, ok := strings.Cut(manual, "```sh\nmkl ")
	require.True(t, ok)
	args, _, _ := strings.Cut(rest, "\n")
	status, stdout, stderr := command(t, nil, "", strings.Fields(args)...)
	require.Equal(t, console.StatusOK, status, stderr)
	for _, name := range []string{"mean", "ridge", "auto", "mgp", "bmkl"} {
		assert.Regexp(t, "(?m)^"+name+" ", stdout)
		assert.Contains(t, manual, "\n    "+name+" ")
	}
	sentence := stdout[strings.Index(stdout, "Recommendation"):]
	assert.Contains(t, manual, strings.TrimSpace(sentence))
}

// Labels are compared one by one, and so are several targets.
func TestCompareTargets(t *testing.T) {
	testkit.NotShort(t)
	var b strings.Builder
	b.WriteString("x,z,l,m,p,q\n")
	for i := range 40 {
		x, z := math.Sin(float64(i)), math.Cos(float64(3*i))
		yes := func(v bool) int { return map[bool]int{true: 1}[v] }
		fmt.Fprintf(&b, "%g,%g,%d,%d,%g,%g\n", x, z, yes(x > 0), yes(z > 0), 2*x, z-x)
	}
	files := map[string]string{"d.csv": b.String()}
	for _, c := range []struct {
		flags   string
		targets []string
	}{
		{"-target l,m -task multilabel", []string{"l", "m"}},
		{"-target p,q", []string{"p", "q"}},
	} {
		for _, view := range []string{"x", "x,z"} {
			args := append(strings.Fields("fit d.csv -kernels rbf,linear -o m"+strings.ReplaceAll(view, ",", "")), strings.Fields(c.flags)...)
			status, _, stderr := command(t, files, "", append(args, "-view", view)...)
			require.Equal(t, console.StatusOK, status, stderr)
			files = nil
		}
		status, stdout, stderr := command(t, nil, "", "compare", "mx", "mxz", "-data", "d.csv", "-json")
		require.Equal(t, console.StatusOK, status, stderr)
		var got []*ranking.Comparison
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		require.Len(t, got, 2)
		for o, one := range got {
			assert.Equal(t, c.targets[o], one.Target)
			assert.Equal(t, 40, one.Samples)
		}
		assert.Equal(t, "mxz", got[1].Best, "which sees z")
		status, stdout, stderr = command(t, nil, "", "compare", "mx", "mxz", "-data", "d.csv")
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, 2, strings.Count(stdout, "Recommendation: "))
	}
}

// An interruption is reported as other commands report it.
func TestCVInterrupted(t *testing.T) {
	consoletest.InFolder(t, map[string]string{"h.csv": dwellings(40)})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stdout, stderr bytes.Buffer
	status := program().Run(ctx, strings.Fields("cv h.csv -target price -models mgp -missing drop -resume s"), nil, &stdout, &stderr)
	assert.Equal(t, 130, status)
	assert.Empty(t, stdout.String())
	assert.Contains(t, stderr.String(), "mkl: interrupted: ")
}

// sensors are three numbers and two labels. Two of the numbers share a function.
func sensors(rows int, gaps bool) string {
	rng := rand.New(rand.NewPCG(6, 6))
	var b strings.Builder
	b.WriteString("x,z,near,far,other,hot,wet\n")
	for i := range rows {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		near := number(math.Sin(2*x) + 0.1*rng.NormFloat64())
		far := number(100*math.Sin(2*x) + 10*rng.NormFloat64())
		if gaps && i%3 == 0 {
			far = ""
		}
		hot, wet := "no", "0"
		if x > 0 {
			hot = "yes"
		}
		if z > 0 {
			wet = "1"
		}
		b.WriteString(strings.Join([]string{number(x), number(z), near, far, number(z + 0.1*rng.NormFloat64()), hot, wet}, ",") + "\n")
	}
	return b.String()
}

func TestCVOfSeveralTargets(t *testing.T) {
	view := "v=x,z:rbf(width={0.5,2})"
	for _, c := range []struct {
		args       []string
		gaps       bool
		candidates []string
		score      string
	}{
		{[]string{"-target", "near,far,other", "-models", "multioutput,mgp"}, false, []string{"mean", "ridge", "multioutput", "mgp"}, "RMSE/SD"},
		{[]string{"-target", "near,far", "-models", "tasks,mgp", "-missing-targets", "-score=nlpd"}, true, []string{"mean", "ridge", "tasks", "mgp"}, "NLPD"},
		{[]string{"-target", "hot,wet", "-task=multilabel"}, false, []string{"frequencies", "linear", "multilabel"}, "log loss"},
	} {
		args := append([]string{"cv", "d.csv", "-view", view, "-folds=3", "-sweeps=60", "-resume=s", "-json"}, c.args...)
		status, first, stderr := command(t, map[string]string{"d.csv": sensors(45, c.gaps)}, "", args...)
		require.Equal(t, console.StatusOK, status, stderr)
		var out ranking.Comparison
		require.NoError(t, json.Unmarshal([]byte(first), &out))
		var names []string
		for _, one := range out.Candidates {
			names = append(names, one.Name)
			assert.Len(t, one.ByFold, 3)
			assert.Empty(t, one.Failed)
		}
		assert.Equal(t, c.candidates, names)
		assert.Equal(t, c.score, out.By)
		assert.Equal(t, c.args[1], out.Target)
		require.Len(t, out.Targets, strings.Count(c.args[1], ",")+1)
		for _, own := range out.Targets {
			assert.NotEqual(t, c.candidates[0], own.Best, "%s: what looks at the features is better", own.Target)
			assert.Contains(t, own.Candidates[1].Difference, "low")
		}
		status, again, stderr := command(t, nil, "", append(args, "-workers=3")...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, first, again, "what is in the file, with other workers")
	}

	status, stdout, stderr := command(t, map[string]string{"d.csv": sensors(45, false)}, "",
		"cv", "d.csv", "-view", view, "-target", "near,other", "-models=multioutput", "-folds=2", "-sweeps=30")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `(?s)^d.csv: 45 samples, multioutput of near, other, 2 folds\n\n +RMSE/SD ± SE .*Recommendation: .*\n\nnear\n +RMSE ± SE .*\n\nother\n +RMSE ± SE`, stdout)

	for _, c := range []struct{ args, want string }{
		{"-target near,far -task binary", "-task binary needs one target, not 2"},
		{"-target near -missing-targets", "-missing-targets is for several targets"},
		{"-target near,far -models nope", `there is no model "nope" of several such targets: there are multioutput, shared, tasks and multitask, and of each target by itself auto, bmkl, mgp, landmarks and spikeslab`},
		{"-target hot,wet -task multilabel -models auto", "there are multilabel and tasklabels"},
	} {
		status, _, stderr := command(t, nil, "", strings.Fields("cv d.csv -missing drop "+c.args)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Contains(t, stderr, c.want)
	}
}

// Of many rows the candidates are those whose time grows with the rows, and the baselines.
func TestCVOfManyRows(t *testing.T) {
	testkit.NotShort(t)
	rng := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	b.WriteString("a,b,price,dear\n")
	for range 6100 {
		a, c := rng.NormFloat64(), rng.NormFloat64()
		price := math.Exp(3 + math.Sin(a) + 0.5*c + 0.2*rng.NormFloat64())
		fmt.Fprintf(&b, "%s,%s,%s,%v\n", number(a), number(c), number(price), price > 20)
	}
	for target, names := range map[string][]string{"price": {"mean", "ridge", "auto", "landmarks"}, "dear": {"frequencies", "linear", "auto", "landmarks"}} {
		other := map[string]string{"price": "dear", "dear": "price"}[target]
		status, stdout, stderr := command(t, map[string]string{"many.csv": b.String()}, "",
			strings.Fields("cv many.csv -target "+target+" -as "+other+"=none -folds 2 -time 2s")...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stderr, "models: auto and landmarks; the others compare every sample with every other")
		assert.Contains(t, stderr, "forecast: each of the 2 fits of auto takes at most about 2s of processor time")
		for _, name := range names {
			assert.Regexp(t, "(?m)^"+name+"( |$)", stdout) // on a slow machine the time of landmarks may be up before there is a score
		}
		assert.Regexp(t, `(?m)^auto +\S+ ± \S+`, stdout)
	}
}

// TestCVSaysItsSplit: one line says the kind of the folds, their groups, the seed, and the rows of each.
func TestCVSaysItsSplit(t *testing.T) {
	files := map[string]string{"h.csv": dwellings(40)}
	for _, c := range []struct{ args, want string }{
		{"-target price -folds 4", "4 folds, drawn with seed 1; each learns from 30 rows and predicts 10 rows"},
		{"-target price -folds 3 -seed 7 -repeats 2", "3 folds, 2 times, drawn with seed 7; each learns from 26 to 27 rows and predicts 13 to 14 rows"},
		{"-target dear -folds 4", "4 folds, each with its share of each class, seed 1; each learns from 30 rows and predicts 10 rows"},
		{"-target price -folds 3 -group owner", "3 folds of whole groups (owner), 12 groups, drawn with seed 1; each learns from "},
		{"-target price -folds 3 -order sold", "3 folds in the order of sold; each learns from "},
	} {
		status, _, stderr := command(t, files, "", append(strings.Fields("cv h.csv -models bmkl -sweeps 2 -no-baselines"), strings.Fields(c.args)...)...)
		files = nil
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stderr, "\ncv: "+c.want, c.args)
		assert.Equal(t, 1, strings.Count(stderr, "each learns from"))
	}
}
