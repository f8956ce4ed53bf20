package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata, the synopses in docs/guide/command, and the schemas in docs/schema")

// command runs the command line in a folder of its own with the given files, or where
// the last one ran if files is nil. What it prints with -json is held to the command's schema.
func command(t *testing.T, files map[string]string, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	consoletest.InFolder(t, files)
	var out, errs bytes.Buffer
	status = program().Run(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	if status == console.StatusOK {
		validate(t, args, out.String())
	}
	return status, out.String(), errs.String()
}

var digits = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?`)

// golden compares text with testdata/name below dir. Numbers count as one and the
// same, and so do spaces: what is held is what is said and in which order.
func golden(t *testing.T, dir, name, got string) {
	t.Helper()
	got = digits.ReplaceAllString(got, "#")
	got = regexp.MustCompile(` +`).ReplaceAllString(got, " ")
	path := filepath.Join(dir, "testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got, name)
}

func here(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	return dir
}

// number writes a number with all its digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// line is y = 2x + z/2 with a bend, 24 rows, and a column of no use.
func line() string {
	var b strings.Builder
	b.WriteString("id,x,z,noise,y\n")
	for i := range 24 {
		x, z := float64(i)/4, math.Mod(float64(i*7), 5)
		y := 2*x + z/2 + math.Sin(x)
		b.WriteString(strings.Join([]string{
			"s" + strconv.Itoa(i), number(x), number(z), number(math.Mod(float64(i*i), 7)), number(math.Round(y*100) / 100),
		}, ",") + "\n")
	}
	return b.String()
}

func entries(t *testing.T) (names []string) {
	t.Helper()
	list, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestErrors is the table of what goes wrong: the command's exit status, its one
// line, and that nothing is left behind.
func TestErrors(t *testing.T) {
	testkit.NotShort(t)
	files := map[string]string{
		"d.csv":      "a,b,y\n1,2,3\n4,5,6\n7,8,10\n",
		"cell.csv":   "a,b,y\n1,2,3\n4,five,6\n",
		"empty.csv":  "a,b,y\n1,2,3\n4,,6\n",
		"ragged.csv": "a,b,y\n1,2,3\n4,5\n",
		"none.csv":   "a,b,y\n",
		"flat.csv":   "a,b,y\n1,2,3\n4,5,3\n",
		"short.csv":  "1\n2\n",
		"other.csv":  "p,q\n1,2\n",
		"bin.csv":    "\x00\x01",
		"slip.csv":   "a,y\n1,2.5\n2,\"4,5\"\n3,4\n",
		"two.csv":    "a,y\n1,yes\n2,no\n3,NA\n",
	}
	for _, c := range []struct{ args, want string }{
		{"report m d.csv", "unexpected argument d.csv: -data names the table"},
		{"frobnicate", "there is no command frobnicate: mkl help lists them"},
		{"fit d.csv -target y -frob", "unknown flag -frob"},
		{"fit d.csv", "-target is missing, the column to learn: d.csv: there are "},
		{"fit -target y", `expected "<data>"`},
		{"fit d.csv -target z", `-target: d.csv: no column "z" (there are a, b, y)`},
		{"fit d.csv -target #4", "-target: d.csv: no column #4 (there are 3)"},
		{"fit d.csv -target a,,b", `-target "a,,b": at ",b": expected a column`},
		{"fit d.csv -target y -seed x", `-seed: expected a valid 64 bit uint but got "x"`},
		{"fit d.csv -target y -restarts=-1", "-restarts -1 is negative"},
		{"fit d.csv -target y -tolerance 2", "-tolerance 2 is not between 0 and 1"},
		{"fit d.csv -target y -model bmkl -prior beta=1,1", "-prior beta=1,1: the priors are lambda, upsilon, gamma, omega and epsilon"},
		{"fit d.csv -target y -model bmkl -prior omega=1", "-prior omega=1: two positive numbers are needed, as in omega=1e-10,1e+10"},
		{"fit d.csv -target y -task guess", `-task must be one of "regression","binary","multiclass","multioutput","shared","tasks","multitask","multilabel","tasklabels","counts","survival","ordinal","factors","pairs","pairlabels" but got "guess"`},
		{"fit d.csv -target y -task multioutput", "-task multioutput needs several targets"},
		{"fit d.csv -target y -task shared", "-task shared needs several targets"},
		{"fit d.csv -target y,a -task multitask -latents=-1", "-latents -1 is negative"},
		{"fit d.csv -target a,y -task binary", "-task binary needs one target, the column of labels, not 2"},
		{"fit d.csv -target y -task binary", `d.csv: column "y" has 3 classes where -task binary needs 2: 3, 6, 10`},
		{"fit flat.csv -target y -task multiclass", "labels: every label is 3: there is nothing to learn"},
		{"fit d.csv -target y -task multilabel", `d.csv: row 1 (line 2), column 3 "y": "3" is neither 1, true or yes nor 0, -1, false or no`},
		{"fit d.csv -target y -task binary -missing-targets", "-missing-targets is not for -task binary: labels must be complete"},
		{"fit d.csv -target y -task binary -model bmkl -prior epsilon=1,1", "-prior epsilon=1,1: the priors are lambda, gamma and omega"},
		{"fit d.csv -target y -task binary -model probit -prior omega=1,1", "-prior omega=1,1: the priors are alpha, rho, sigma, kappa, xi and theta"},
		{"fit d.csv -target y -task binary -model probit -prior sigma=0.2", "-prior sigma=0.2 is for -rule bin, not fixsum"},
		{"fit d.csv -target y -task binary -model probit -rule bin -prior sigma=0.2,1", "-prior sigma=0.2,1: probabilities above 0 and below 1 are needed, as in sigma=0.2 or sigma=0.2,0.5"},
		{"fit d.csv -q -target y -task multiclass -model probit -rule bin -view v=a:rbf(width=1) -prior sigma=0.2,0.3", "-prior sigma has 2 probabilities for 1 kernel: one is needed, or one for each kernel"},
		{"fit d.csv -target y -task binary -model bmkl -prior sigma=0.2", "-prior sigma=0.2: the priors are lambda, gamma and omega"},
		{"fit d.csv -target y -task binary -model probit -prior kappa=1,1", "-prior kappa=1,1: a positive number is needed, as in kappa=0.5"},
		{"fit d.csv -target y -model lasso", `-model must be one of "auto","bmkl","mgp","probit","landmarks","spikeslab","factors","pairs" but got "lasso"`},
		{"fit d.csv -target y -model probit", "-model probit is for -task binary and multiclass, not regression"},
		{"fit d.csv -target y -task multilabel -model mgp", "-model mgp is for -task regression, binary, multiclass, counts, survival and ordinal, not multilabel"},
		{"fit d.csv -target y,a -model mgp", "-model mgp needs one target, not 2"},
		{"fit d.csv -target y -model mgp -restarts 2", "-restarts is not for -task regression with -model mgp"},
		{"fit d.csv -target y -model mgp -sparse both", "-sparse is not for -task regression with -model mgp"},
		{"fit d.csv -target y -noise varying", "-noise is not for -task regression with -model auto (it is for -model mgp)"},
		{"fit d.csv -target y -family ard", "-family is not for -task regression with -model auto (it is for -model mgp)"},
		{"fit d.csv -target y -model spikeslab -kernels linear", "-kernels is not for -task regression with -model spikeslab"},
		{"fit d.csv -target y -model spikeslab -view a:linear", "-view a:linear: -model spikeslab has no kernels"},
		{"fit d.csv -target y -model spikeslab -view a -view b", "-model spikeslab has one view, not 2"},
		{"fit d.csv -target y -model spikeslab -memory 1", "a fit of 3 samples with 2 features needs about "},
		{"fit d.csv -target y -task binary -raw-targets", "-raw-targets is not for -task binary with -model auto"},
		{"fit d.csv -target y -task binary -own-scale", "-own-scale is not for -task binary with -model auto"},
		{"fit d.csv -target y -sparse both", "-sparse is not for -task regression with -model auto (it is for -model bmkl)"},
		{"fit d.csv -target y -restarts 2", "-restarts is not for -task regression with -model auto (it is for -model bmkl and -model spikeslab)"},
		{"fit d.csv -target y -time=-1s", "-time -1s is negative"},
		{"fit d.csv -target y,a -task shared -model auto", "-model auto is for -task regression, binary and multiclass, not shared"},
		{"fit d.csv -target y -model mgp -method laplace", `-method must be one of "evidence","gaussian-bound","factorised","published" but got "laplace"`},
		{"fit d.csv -target y -model mgp -method factorised -plain", "-plain is -method published: it cannot be factorised as well"},
		{"fit d.csv -target y -raw-columns", "-raw-columns needs -kernels or views with kernels"},
		{"fit d.csv -target y -task multiclass -model probit -rule fixprod", "-rule fixprod needs -kernels or views with kernels"},
		{"fit slip.csv -target y", `slip.csv: row 2 (line 3), column 2 "y": "4,5" is not a number`},
		{"fit two.csv -target y -missing refuse", `two.csv: column "y" has 3 classes where -task binary needs 2: NA, no, yes`},
		{"fit d.csv -target y -task binary -model probit -inference map -rule wsum -update meanfield", "-update is not for -inference map: it is for variational"},
		{"fit d.csv -target y -task binary -model probit -prior alpha=learn -inference prune", "-prior alpha=learn is for -inference variational without -class-prior"},
		{"fit d.csv -target y -task binary -model probit -inference prune -rule wsum -search sampling", "-search is not for -inference prune: it is for variational"},
		{"fit d.csv -target y -task binary -model probit -inference prune -rule wprod", "-inference prune is for -rule fixsum, fixprod and wsum, not wprod"},
		{"fit d.csv -target y -task binary -model probit -inference map -prior theta=1,1", "-prior theta=1,1 is not for -inference map: it is for variational and gibbs"},
		{"fit d.csv -target y -task binary -model probit -inference exact", `-inference must be one of "variational","gibbs","relevance","prune","map" but got "exact"`},
		{"fit d.csv -target y -model mgp -method gaussian-bound", "-method gaussian-bound is for -task binary and multiclass, not regression"},
		{"fit d.csv -target y -model mgp -method factorised -noise heavy", "-noise heavy is not for -method factorised, whose noise is constant"},
		{"fit d.csv -target y -task binary -model probit -inference map -rule bin", "-inference map is for -rule fixsum, fixprod and wsum, not bin"},
		{"fit d.csv -target y -model mgp -hold omega=1", "-hold is for -family student-t, laplace, gamma-variance and gig: none has no prior that is learned"},
		{"fit d.csv -target y -model mgp -family gig -hold tau=1", "-hold tau=1: omega, chi or phi and a number are needed, as in omega=0.5"},
		{"fit d.csv -target y -model mgp -noise-sd=-1", "-noise-sd -1 is not a positive number"},
		{"fit d.csv -target y -model mgp -noise-sd NaN", "-noise-sd NaN is not a positive number"},
		{"fit d.csv -target y -model mgp -noise heavy -noise-sd 1", "-noise-sd is for constant noise, not for -noise heavy"},
		{"fit d.csv -target y -model bmkl -noise-sd 1", "-noise-sd is not for -task regression with -model bmkl (it is for -model auto and -model mgp)"},
		{"fit d.csv -target y -model mgp -view v=a:function", `view "v": function is for -task multitask`},
		{"fit d.csv -target y -model mgp -weight trend=-1", "-weight trend=-1: a view and a positive number are needed, as in trend=10"},
		{"fit d.csv -target y -model mgp -method factorised -weight trend=1", "-weight is not for -method factorised, which learns all weights"},
		{"fit d.csv -target y -model mgp -weight trend=1", "-weight trend=1: there is no view of that name"},
		{"fit d.csv -target y -model mgp -view trend=a:linear,rbf -weight trend=1", "-weight trend=1: a view with one kernel is needed, as in -view 'trend=COLUMNS:linear'"},
		{"fit d.csv -target y -task binary -model probit -inference relevance -prior alpha=1,1", "-prior is not for -inference relevance: it is for variational, gibbs, prune and map"},
		{"fit d.csv -target y -task binary -model probit -inference relevance -search sampling", "-search is not for -inference relevance: it is for variational"},
		{"fit d.csv -target y -task binary -model probit -inference relevance -ridge 1", "-ridge is not for -inference relevance: it is for variational, gibbs, prune and map"},
		{"fit d.csv -target y -task binary -model probit -ridge=-1", "-ridge -1 is not a number from 0 up"},
		{"fit d.csv -target y -task binary -model probit -class-prior yes", "-class-prior yes: a class and two positive numbers are needed, as in yes=2,0.5"},
		{"fit d.csv -target y -task binary -model probit -update meanfield", "-update is for rules that learn weights: -rule fixsum learns none"},
		{"fit d.csv -target y -task binary -model probit -rule wsum -update structured", "-update structured is for -rule bin, not wsum"},
		{"fit d.csv -target y -task binary -model probit -rule wsum -inference gibbs -update meanfield",
			"-update is not for -inference gibbs: it is for variational"},
		{"fit d.csv -target y -task binary -model probit -inference relevance -rule bin", "-inference relevance is for -rule fixsum, fixprod and wsum, not bin"},
		{"fit d.csv -target y -task binary -model probit -chains 2", "-chains is not for -inference variational: it is for gibbs"},
		{"fit d.csv -target y -task binary -model probit -inference gibbs -sweeps 9", "-sweeps is not for -inference gibbs: it is for variational, relevance, prune and map"},
		{"fit d.csv -target y -task binary -model probit -inference gibbs -search sampling", "-search is not for -inference gibbs: it is for variational"},
		{"fit d.csv -target y -task binary -model probit -inference gibbs -draws=-1", "-draws -1 is negative"},
		{"fit d.csv -target y -task binary -sigma-g 0", "-sigma-g 0 is not a positive number"},
		{"fit d.csv -target y -margin NaN", "-margin NaN is not a number from 0 up"},
		{"fit d.csv -target y -sparse all", `-sparse must be one of "none","kernels","samples","both" but got "all"`},
		{"fit d.csv -target y -memory 1kB", "a fit of 3 samples with 1 view needs about "},
		{"fit d.csv -target y -model mgp -memory 1kB", "a fit of 3 samples with 14 kernels needs about "},
		{"fit d.csv -target y -store float32", "-store is not for -task regression with -model auto (it is for -model bmkl and -model mgp)"},
		{"fit d.csv -target y -model bmkl -store float16", "-store float16 is neither float64 nor float32, nor a path with a slash"},
		{"fit d.csv -target y -model bmkl -store none/", "-store none/: there is no such folder"},
		{"fit d.csv -target y -model bmkl -choose pivoted", "-choose needs -landmarks with -model bmkl"},
		{"fit d.csv -target y -model bmkl -landmarks 2 -store float32", "-store is for kernels between all rows: it is not for -landmarks"},
		{"fit d.csv -target y -model mgp -landmarks 2", "-landmarks is not for -task regression with -model mgp (it is for -model bmkl and -model landmarks)"},
		{"fit d.csv -target y,a -task tasks -landmarks 2", "-landmarks is not for -task tasks with -model bmkl"},
		{"fit d.csv -target y -memory much", `-memory: "much" is not a size such as 8GiB or 500MB`},
		{"fit d.csv -target y -separator ab", `-separator "ab": one character is needed`},
		{"fit d.csv -target y -o none/m", "none/m: there is no folder none"},
		{"fit d.csv -target y -o .", ". is a folder"},
		{"fit . -target y", ". is a folder"},
		{"fit missing.csv -target y", "open missing.csv: "},
		{"fit cell.csv -target y -missing refuse", `cell.csv: row 2 (line 3), column 2 "b": "five" is not a number`},
		{"fit empty.csv -target y -missing refuse", `empty.csv: row 2 (line 3), column 2 "b": the cell is empty`},
		{"fit ragged.csv -target y", "ragged.csv: row 2 (line 3): 2 cells where there are 3 columns"},
		{"fit none.csv -target y", "none.csv has no rows"},
		{"fit bin.csv -target y", "bin.csv: neither text nor an Excel, NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MATLAB file: byte 1 is zero"},
		{"fit flat.csv -target y -task regression", "y: every target is 3: there is nothing to learn"},
		{"fit d.csv -target y -view v=c", `-view v=c: d.csv: no column "c" (there are a, b, y)`},
		{"fit d.csv -target y -view v=a,y", `-view v=a,y: d.csv: column "y" is a target`},
		{"fit d.csv -target y -view v=a:rbf(width=1", `-view "v=a:rbf(width=1": at the end: expected , or ) after width`},
		{"fit d.csv -target y -view v=a:rbg", `-view v=a:rbg: no kernel is called "rbg": there are rbf, laplacian, matern, rational-quadratic, power-exponential, periodic, spectral, tanimoto, chi2, intersection, clinical, ibs, categorical, linear, polynomial, interaction, constant, distance, precomputed and function, and of strings spectrum, mismatch, subsequence, oligomer, alignment, la, pairwise`},
		{"fit d.csv -target y -view v=a:rbf(widht=1)", `-view v=a:rbf(widht=1): rbf has no setting "widht": it has width, scale, medians, ard, ranks, center, normalize`},
		{"fit d.csv -target y -view v=a:rbf(width=0)", "-view v=a:rbf(width=0): rbf: width=0: a positive number or mean is needed"},
		{"fit d.csv -target y -view v=a:poly(degree=1.5)", "-view v=a:poly(degree=1.5): poly: degree=1.5: a whole number from 1 up is needed"},
		{"fit d.csv -target y -view v=a:linear -view v=b:linear", `-view: two views are called "v"`},
		{"fit d.csv -target y -view v=@short.csv", "d.csv has 3 rows, short.csv has 2"},
		{"fit d.csv -target y -view v=a,@short.csv", "-view v=a,@short.csv: @short.csv is a view of its own: it cannot be joined with other columns"},
		{"fit d.csv -target y -view v=@short.csv,a", "-view v=@short.csv,a: @short.csv is a view of its own: it cannot be joined with other columns"},
		{"fit d.csv -target y -task regression -model bmkl -kernels rbf(width=1),rbf(width=1)", "views[0] (rbf(width=1)) and views[1] (rbf(width=1)) have the same kernel matrix: "},
		{"fit d.csv -target y -task regression -view v=a,b:precomputed(normalize)", `view "v": d.csv has 3 rows and 2 columns: a kernel or distance that is given has a column for each training sample, unless `},
		{"fit d.csv -target y -task regression -view v=a,b:precomputed(basis,normalize)", `views[0] ("v", precomputed): Center and Normalize need the 3 samples as basis points, and X has 2 columns`},
		{"predict d.csv d.csv", "d.csv: "},
		{"predict none.model d.csv", "open none.model: "},
		{"predict d.csv d.csv -interval 1", "-interval 1 is not between 0 and 1"},
		{"inspect d.csv", "d.csv: "},
		{"demo -o out.pdf", "out.pdf: a picture's name ends in .svg or .png"},
	} {
		t.Run(c.args, func(t *testing.T) {
			args := strings.Fields(c.args)
			if len(args) > 0 && args[0] == "fit" && !strings.Contains(c.args, " -o ") {
				args = append(args, "-o", "m")
			}
			status, stdout, stderr := command(t, files, "", args...)
			assert.Equal(t, console.StatusInput, status)
			assert.Empty(t, stdout)
			assert.Equal(t, "mkl: "+c.want, stderr[:min(len(stderr), len("mkl: "+c.want))])
			assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			assert.Len(t, entries(t), len(files))
		})
	}
}

// TestFitPredictInspect goes through the commands as a user would.
func TestFitPredictInspect(t *testing.T) {
	dir := here(t)
	status, stdout, stderr := command(t, map[string]string{"d.csv": line()}, "",
		"fit", "d.csv", "-target", "y", "-model", "bmkl", "-view", "both=x,z:linear,rbf(width=2^-1..2^1)", "-view", "other=noise:rbf(width=mean)", "-o", "m.mkl")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, "task: regression (column y has numbers)\n", stderr)
	golden(t, dir, "fit.txt", stdout)
	assert.Equal(t, []string{"d.csv", "m.mkl"}, entries(t))

	status, stdout, stderr = command(t, nil, "", "inspect", "m.mkl")
	require.Equal(t, console.StatusOK, status, stderr)
	golden(t, dir, "inspect.txt", stdout)

	// Predictions to a file and to standard output are the same; columns are
	// found by their names wherever they stand.
	status, stdout, stderr = command(t, nil, "", "predict", "m.mkl", "d.csv", "-o", "p.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Empty(t, stdout)
	file, err := os.ReadFile("p.csv")
	require.NoError(t, err)
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []string{"mean", "sd", "lower", "upper"}, rows[0])
	require.Len(t, rows, 25)
	data, err := csv.NewReader(strings.NewReader(line())).ReadAll()
	require.NoError(t, err)
	var moved strings.Builder
	for i, row := range data {
		moved.WriteString(strings.Join([]string{row[3], row[2], row[0], row[1]}, ";") + "\n")
		if i == 0 {
			continue
		}
		var v [4]float64
		for j := range v {
			v[j], err = strconv.ParseFloat(rows[i][j], 64)
			require.NoError(t, err)
		}
		y, err := strconv.ParseFloat(row[4], 64)
		require.NoError(t, err)
		assert.InDelta(t, y, v[0], 4*v[1], "row %d", i)
		assert.InDelta(t, v[0]-1.959963984540054*v[1], v[2], 1e-12)
		assert.InDelta(t, v[0]+1.959963984540054*v[1], v[3], 1e-12)
	}
	status, stdout, stderr = command(t, nil, moved.String(), "predict", "m.mkl", "-")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, string(file), stdout)

	// With an identifier, another interval, and views by other names.
	renamed := strings.Replace(line(), "id,x,z,noise", "id,u,v,w", 1)
	require.NoError(t, os.WriteFile("r.csv", []byte(renamed), 0o600))
	status, _, stderr = command(t, nil, "", "predict", "m.mkl", "r.csv")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: view \"both\": r.csv: no column \"x\" (there are id, u, v, w, y)\n", stderr)
	status, stdout, stderr = command(t, nil, "", "predict", "m.mkl", "r.csv", "-view", "both=u,v", "-view=other=w", "-id", "id", "-interval", ".5")
	require.Equal(t, console.StatusOK, status, stderr)
	lines := strings.Split(stdout, "\n")
	assert.Equal(t, "id,mean,sd,lower,upper", lines[0])
	assert.True(t, strings.HasPrefix(lines[1], "s0,"+rows[1][0]+","+rows[1][1]+","), lines[1])

	for _, c := range []struct{ args, want string }{
		{"-view q=a", `-view q=a: the model has no view "q" (there are both, other)`},
		{"-view both=x", `view "both": d.csv has 1 column where the model needs 2`},
		{"-view both=x,z:linear", "-view both=x,z:linear: the model has its kernels already"},
		{"-id x", "-id x: the column is part of a view"},
		{"-id s*", `-id: d.csv: no column matches "s*" (there are id, x, z, noise, y)`},
	} {
		status, stdout, stderr := command(t, nil, "", append([]string{"predict", "m.mkl", "d.csv"}, strings.Fields(c.args)...)...)
		assert.Equal(t, console.StatusInput, status)
		assert.Empty(t, stdout)
		assert.Equal(t, "mkl: "+c.want+"\n", stderr)
	}
	status, _, stderr = command(t, nil, "", "predict", "m.mkl")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: view \"both\": no data file is given\n", stderr)

	// A damaged model is refused.
	model, err := os.ReadFile("m.mkl")
	require.NoError(t, err)
	model[len(model)/2] ^= 1
	require.NoError(t, os.WriteFile("bad.mkl", model, 0o600))
	status, _, stderr = command(t, nil, "", "inspect", "bad.mkl")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "mkl: bad.mkl: ")
}

// TestJSON checks what machines read.
func TestJSON(t *testing.T) {
	status, stdout, stderr := command(t, map[string]string{"d.csv": line()}, "",
		"fit", "d.csv", "-target", "y,noise", "-view", "x,z:linear,rbf(width={1,2})", "-json", "-o", "m", "-sweeps", "30", "-sparse", "kernels", "-model", "bmkl")
	require.Equal(t, console.StatusOK, status, stderr)
	var fit report.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &fit))
	assert.Equal(t, "multioutput", fit.Task)
	assert.Equal(t, 24, fit.Samples)
	assert.Len(t, fit.Kernels, 3)
	assert.Len(t, fit.Targets, 2)
	assert.Len(t, fit.Trace, fit.Sweeps)
	assert.Equal(t, fit.Bound, fit.Trace[len(fit.Trace)-1])

	status, stdout, stderr = command(t, nil, "", "inspect", "m", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var again report.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &again))
	assert.Equal(t, fit, again)

	status, stdout, stderr = command(t, nil, "", "predict", "m", "d.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.True(t, strings.HasPrefix(stdout, "y_mean,y_sd,y_lower,y_upper,noise_mean,"), stdout)
}

// TestGivenKernels fits kernels from files of their own.
func TestGivenKernels(t *testing.T) {
	var y, k strings.Builder
	for i := range 8 {
		y.WriteString(number(float64(i*i)) + "\n")
		for j := range 8 {
			if j > 0 {
				k.WriteByte(',')
			}
			k.WriteString(number(math.Abs(float64(i - j))))
		}
		k.WriteByte('\n')
	}
	files := map[string]string{"y.csv": y.String(), "dist.csv": k.String()}
	status, stdout, stderr := command(t, files, "", "fit", "y.csv", "-target", "#1", "-view", "d=@dist.csv:distance(scale={mean,1})", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "2 kernels in 1 view, regression (auto) of column 1")
	status, _, stderr = command(t, nil, "", "predict", "m", "y.csv")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: view \"d\" is made from a file of its own: -view d=@FILE\n", stderr)
	status, stdout, stderr = command(t, nil, "", "predict", "m", "-view", "d=@dist.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, 9, strings.Count(stdout, "\n"))
}

// flowers is three well separated classes, 36 rows, with two labels of their own.
func flowers() string {
	var b strings.Builder
	b.WriteString("species,big,odd,x,z\n")
	for i := range 36 {
		class := i % 3
		big, odd := "no", "0"
		if class == 2 {
			big = "yes"
		}
		if class == 1 {
			odd = "1"
		}
		x := 4*float64(class) + math.Mod(float64(i*7), 5)/4
		z := float64(class*class) + math.Mod(float64(i*11), 7)/5
		b.WriteString(strings.Join([]string{[]string{"setosa", "virginica", "iris, other"}[class], big, odd, number(x), number(z)}, ",") + "\n")
	}
	return strings.ReplaceAll(b.String(), "iris, other", `"iris, other"`)
}

// TestClassification fits, inspects and predicts classes and labels.
func TestClassification(t *testing.T) {
	dir := here(t)
	status, stdout, stderr := command(t, map[string]string{"f.csv": flowers()}, "",
		"fit", "f.csv", "-model", "bmkl", "-target", "species", "-view", "x,z:linear,rbf(width={.5,1})", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, "task: multiclass (column species has 3 labels)\n", stderr)
	golden(t, dir, "multiclass.txt", stdout)
	status, stdout, stderr = command(t, nil, "", "inspect", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "multiclass of species")
	status, stdout, stderr = command(t, nil, "", "predict", "m", "f.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []string{"label", "p_iris, other", "p_setosa", "p_virginica"}, rows[0])
	truth, err := csv.NewReader(strings.NewReader(flowers())).ReadAll()
	require.NoError(t, err)
	for i, row := range rows[1:] {
		assert.Equal(t, truth[i+1][0], row[0], "row %d", i+1)
		var sum float64
		for _, cell := range row[1:] {
			p, err := strconv.ParseFloat(cell, 64)
			require.NoError(t, err)
			sum += p
		}
		assert.InDelta(t, 1, sum, 1e-12)
	}

	status, stdout, stderr = command(t, nil, "", "fit", "f.csv", "-task", "binary", "-target", "big", "-view", "x,z:linear,rbf(width=1)", "-margin", "0", "-o", "b", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var rep report.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &rep))
	assert.Equal(t, []string{"no", "yes"}, rep.Classes)
	assert.Equal(t, "yes against no", rep.Targets[0].Name)
	status, stdout, stderr = command(t, nil, "", "predict", "b", "f.csv", "-id", "species")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.True(t, strings.HasPrefix(stdout, "species,label,p_no,p_yes\nsetosa,no,0."), stdout)

	status, _, stderr = command(t, nil, "", "fit", "f.csv", "-task", "multilabel", "-target", "big,odd", "-view", "x,z:rbf(width={.5,1,2})", "-o", "l")
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr = command(t, nil, "", "predict", "l", "f.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	rows, err = csv.NewReader(strings.NewReader(stdout)).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []string{"big", "p_big", "odd", "p_odd"}, rows[0])
	for i, row := range rows[1:] {
		assert.Equal(t, map[string]string{"yes": "1", "no": "0"}[truth[i+1][1]], row[0], "row %d", i+1)
		assert.Equal(t, truth[i+1][2], row[2], "row %d", i+1)
	}
}

// TestMissingLabels fits labels, some of them unknown.
func TestMissingLabels(t *testing.T) {
	text := strings.Replace(strings.Replace(flowers(), ",yes,", ",,", 1), ",no,", ",NA,", 1)
	fit := []string{"fit", "f.csv", "-task", "multilabel", "-target", "big,odd", "-view", "x,z:rbf(width={.5,1,2})", "-o", "l"}
	status, _, stderr := command(t, map[string]string{"f.csv": text}, "", append(fit, "-missing", "refuse")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `"big"`)
	status, _, stderr = command(t, nil, "", append(fit, "-missing-targets")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "", "evaluate", "l", "f.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "multilabel")
	status, _, stderr = command(t, nil, "", "fit", "f.csv", "-task", "binary", "-target", "big", "-missing-targets")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: -missing-targets is not for -task binary: labels must be complete\n", stderr)
}

// TestShared fits targets that share the sample weights.
func TestShared(t *testing.T) {
	var b strings.Builder
	b.WriteString("u,v,p,q\n")
	for i := range 40 {
		u, v := float64(i)/10, math.Mod(float64(7*i), 11)/3
		fmt.Fprintf(&b, "%g,%g,%g,%g\n", u, v, math.Sin(2*u), 5+math.Cos(2*v))
	}
	status, stdout, stderr := command(t, map[string]string{"s.csv": b.String()}, "",
		"fit", "s.csv", "-task", "shared", "-target", "p,q", "-view", "left=u:rbf(width=.5)", "-view", "right=v:rbf(width=.5)", "-o", "s")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "shared of p, q")
	assert.Equal(t, 2, strings.Count(stdout, "of 2 kernels active"), stdout)
	status, stdout, stderr = command(t, nil, "", "inspect", "s", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var rep report.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &rep))
	for o, target := range rep.Targets {
		assert.Greater(t, math.Abs(float64(target.Kernels[o].Weight)), 2*math.Abs(float64(target.Kernels[1-o].Weight)), target.Name)
	}
	status, stdout, stderr = command(t, nil, "", "predict", "s", "s.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.True(t, strings.HasPrefix(stdout, "p_mean,p_sd,p_lower,p_upper,q_mean,"), stdout)
	status, stdout, stderr = command(t, nil, "", "evaluate", "s", "s.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "shared, 40 samples")
}

// TestTasks fits targets that are known for samples of their own.
func TestTasks(t *testing.T) {
	var b strings.Builder
	b.WriteString("u,v,p,q\n")
	for i := range 40 {
		u, v := float64(i)/10, math.Mod(float64(7*i), 11)/3
		p, q := fmt.Sprint(math.Sin(2*u)), fmt.Sprint(5+math.Cos(2*u))
		if i%3 == 0 {
			p = ""
		}
		if i > 25 {
			q = "NA"
		}
		fmt.Fprintf(&b, "%g,%g,%s,%s\n", u, v, p, q)
	}
	fit := []string{"fit", "s.csv", "-task", "tasks", "-target", "p,q", "-view", "left=u:rbf(width=.5)", "-view", "right=v:rbf(width=.5)", "-o", "s"}
	status, _, stderr := command(t, map[string]string{"s.csv": b.String()}, "", append(fit, "-missing", "refuse")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `"p"`)
	status, _, stderr = command(t, nil, "", fit...)
	assert.Equal(t, console.StatusOK, status)
	assert.Contains(t, stderr, "(-missing-targets learns from rows that lack some targets)\n")
	status, stdout, stderr := command(t, nil, "", append(fit, "-missing-targets")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "tasks of p, q")
	status, stdout, stderr = command(t, nil, "", "inspect", "s")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "left")
	status, stdout, stderr = command(t, nil, "", "predict", "s", "s.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.True(t, strings.HasPrefix(stdout, "p_mean,p_sd,p_lower,p_upper,q_mean,"), stdout)
	assert.Equal(t, 41, strings.Count(stdout, "\n"), "a prediction for every sample")
	status, _, stderr = command(t, nil, "", "evaluate", "s", "s.csv")
	require.Equal(t, console.StatusOK, status, stderr)
}

// TestFitTaskLabels fits labels that are known for samples of their own.
func TestFitTaskLabels(t *testing.T) {
	var b strings.Builder
	b.WriteString("u,v,p,q\n")
	for i := range 40 {
		u, v := float64(i)/10, math.Mod(float64(7*i), 11)/3
		p, q := "0", "no"
		if math.Sin(2*u) > 0 {
			p = "1"
		}
		if math.Cos(2*u) > 0 {
			q = "yes"
		}
		if i%3 == 0 {
			p = ""
		}
		fmt.Fprintf(&b, "%g,%g,%s,%s\n", u, v, p, q)
	}
	fit := []string{"fit", "s.csv", "-task", "tasklabels", "-target", "p,q", "-view", "left=u:rbf(width=.5)", "-view", "right=v:rbf(width=.5)", "-o", "s"}
	status, _, stderr := command(t, map[string]string{"s.csv": b.String()}, "", append(fit, "-missing", "refuse")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `"p"`)
	status, stdout, stderr := command(t, nil, "", append(fit, "-missing-targets")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "tasklabels of p, q")
	status, stdout, stderr = command(t, nil, "", "predict", "s", "s.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.True(t, strings.HasPrefix(stdout, "p,p_p,q,p_q\n"), stdout)
	assert.Equal(t, 41, strings.Count(stdout, "\n"), "a prediction for every sample")
	status, stdout, stderr = command(t, nil, "", "evaluate", "s", "s.csv", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var ev evaluation.Evaluation
	require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
	for _, m := range ev.Measures {
		assert.Greater(t, m.Values["accuracy"], 0.9, m)
	}
}

// TestEvaluate measures models of every kind on the data they were fitted to.
func TestEvaluate(t *testing.T) {
	testkit.NotShort(t)
	files := map[string]string{"f.csv": flowers(), "d.csv": line()}
	evaluate := func(args ...string) (ev evaluation.Evaluation) {
		t.Helper()
		status, stdout, stderr := command(t, nil, "", append([]string{"evaluate"}, append(args, "-json")...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
		return ev
	}
	status, _, stderr := command(t, files, "", "fit", "d.csv", "-target", "y", "-model", "bmkl", "-view", "x,z:linear,rbf(width=1)", "-o", "r")
	require.Equal(t, console.StatusOK, status, stderr)
	ev := evaluate("r", "d.csv")
	require.Len(t, ev.Measures, 1)
	v := ev.Measures[0].Values
	assert.Less(t, v["RMSE/SD"], 0.5)
	assert.Less(t, v["RMSE"], 3.0)
	assert.Greater(t, v["coverage"], 0.8)
	half := evaluate("r", "d.csv", "-interval", ".5").Measures[0].Values
	assert.Less(t, half["coverage"], v["coverage"])
	assert.Equal(t, half["RMSE"], v["RMSE"])
	status, stdout, stderr := command(t, nil, "", "evaluate", "r", "d.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `(?m)^target +RMSE +RMSE/SD +R² +MAE +log density +CRPS +interval score +coverage +PIT$`, stdout)

	status, _, stderr = command(t, nil, "", "fit", "f.csv", "-task", "multiclass", "-target", "species", "-view", "x,z:linear,rbf(width=1)", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	ev = evaluate("m", "f.csv")
	assert.Equal(t, 1.0, ev.Measures[0].Values["accuracy"])
	assert.Equal(t, 1.0, ev.Measures[0].Values["AUC"])
	assert.Equal(t, 0.0, ev.Measures[0].Values["EER"])
	assert.Less(t, ev.Measures[0].Values["log loss"], 0.5)
	count := 0
	for _, b := range ev.Calibration {
		count += b.Count
		assert.Equal(t, 1.0, b.Observed)
	}
	assert.Equal(t, 36, count)
	status, stdout, stderr = command(t, nil, "", "evaluate", "m", "f.csv", "-bins", "4")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `(?m)^0.75 … 1.00 +36 +[01].\d+ +1.000$`, stdout)

	status, _, stderr = command(t, nil, "", "fit", "f.csv", "-task", "multilabel", "-target", "big,odd", "-view", "x,z:linear,rbf(width=1)", "-o", "l")
	require.Equal(t, console.StatusOK, status, stderr)
	ev = evaluate("l", "f.csv", "-target", "big,odd")
	require.Len(t, ev.Measures, 2)
	assert.Equal(t, "odd", ev.Measures[1].Target)
	assert.Equal(t, 1.0, ev.Measures[0].Values["accuracy"])

	for _, c := range []struct{ args, want string }{
		{"m", "evaluate needs a data file, which holds the truth"},
		{"m f.csv -target big", `f.csv: row 1 (line 2), column 2 "big": "no" is not a class of the model`},
		{"m f.csv -target big,odd", "-target: 2 columns where the model has 1 target"},
		{"m f.csv -target x", `column "x" is both a target and part of a view`},
		{"m f.csv -target u", `target: f.csv: no column "u" (there are species, big, odd, x, z)`},
		{"m f.csv -bins=-1", "-bins -1 is negative"},
		{"l f.csv -target big,species", `f.csv: row 1 (line 2), column 1 "species": "setosa" is neither 1, true or yes nor 0, -1, false or no`},
	} {
		status, stdout, stderr := command(t, nil, "", append([]string{"evaluate"}, strings.Fields(c.args)...)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Empty(t, stdout)
		assert.Equal(t, "mkl: "+c.want+"\n", stderr)
	}
}

// TestMissingTargets leaves out rows without a target, unless -missing refuses them.
func TestMissingTargets(t *testing.T) {
	files := map[string]string{"d.csv": strings.Replace(line(), "\ns3,0.75,1,2,", "\ns3,0.75,1,2,NA\ns3,0.75,1,2,", 1)}
	status, _, stderr := command(t, files, "", "fit", "d.csv", "-target", "y", "-view", "x", "-missing", "refuse")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: d.csv: row 4 (line 5), column 5 \"y\": \"NA\" is not a number: -missing impute or drop leaves out rows without a target\n", stderr)
	status, _, stderr = command(t, nil, "", "fit", "d.csv", "-target", "y", "-view", "x", "-missing-targets", "-model", "bmkl")
	assert.Equal(t, console.StatusOK, status, stderr)
	args := strings.Fields("fit d.csv -target y,noise -task shared -view x -o shared.safetensors")
	status, _, stderr = command(t, nil, "", append(args, "-missing-targets")...)
	assert.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "", "predict", "shared.safetensors", "d.csv")
	assert.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, stdout, "NaN")
}

// TestInterrupt checks that a fit that is stopped leaves nothing behind.
func TestInterrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("d.csv", []byte(line()), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{"demo", "fit d.csv -target y -o m"} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, console.StatusInterrupted, program().Run(ctx, strings.Fields(args), nil, &stdout, &stderr))
		assert.Empty(t, stdout.String())
		assert.Equal(t, "mkl: interrupted: nothing was written\n", stderr.String())
	}
	assert.Equal(t, []string{"d.csv"}, entries(t))
}

// TestDemo checks the demonstration: that it finds a few kernels of moderate
// width and a few samples, in words and in JSON, and draws its picture.
func TestDemo(t *testing.T) {
	testkit.NotShort(t)
	status, stdout, stderr := command(t, map[string]string{}, "", "demo")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `converged after \d+ sweeps`, stdout)
	assert.Regexp(t, `(?m)^\d of 21 kernels active: share, kernel, weight ± SD$`, stdout)
	assert.Regexp(t, `(?m)^ +row +\d+ +-?[\d.]+ +± [\d.]+ +[\d.]+ ms +-?[\d.]+ g$`, stdout)
	assert.Contains(t, stdout, "picture: motorcycle.svg")
	svg, err := os.ReadFile("motorcycle.svg")
	require.NoError(t, err)
	assert.Contains(t, string(svg), "<svg")

	status, stdout, stderr = command(t, nil, "", "demo", "-json", "-o", "m.png")
	require.Equal(t, console.StatusOK, status, stderr)
	var rep report.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &rep))
	assert.True(t, rep.Converged)
	require.Len(t, rep.Kernels, 21)
	active := 0
	for i, k := range rep.Kernels {
		if k.Active {
			active++
			assert.True(t, 4 <= i && i <= 12, "%s is active", k.Kernel)
		}
	}
	assert.True(t, 1 <= active && active <= 5, "%d active kernels", active)
	assert.True(t, 2 <= len(rep.Targets[0].Active) && len(rep.Targets[0].Active) <= 30)
	assert.InDelta(t, 22, float64(rep.Targets[0].NoiseSD), 3)
}

// TestNoCommand lists the commands, one screen of them, where none is named.
func TestNoCommand(t *testing.T) {
	status, stdout, stderr := command(t, nil, "")
	assert.Equal(t, console.StatusInput, status)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "\n  demo          Fit the motorcycle data, ")
	assert.True(t, strings.HasSuffix(stderr, "\nmkl: a command is needed\n"), stderr)
	assert.LessOrEqual(t, strings.Count(stderr, "\n"), 40)
}

// TestHelp prints help on standard output.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-help"}, {"--help"}, {"fit", "-h"}} {
		status, stdout, stderr := command(t, nil, "", args...)
		assert.Equal(t, console.StatusOK, status)
		assert.Contains(t, stdout, "Usage: mkl")
		assert.NotContains(t, stdout, "--")
		assert.Empty(t, stderr)
	}
}

// TestNPY fits and predicts matrices without names.
func TestNPY(t *testing.T) {
	const rows = 20
	header := func(rows int) string {
		h := fmt.Sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': (%d, 3), }\n", rows)
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(h)), 0}) + h
	}
	file := header(rows)
	for j := range 3 {
		for i := range rows {
			x := float64(i) / 4
			v := []float64{x, math.Mod(float64(7*i), 5), 3*x + math.Mod(float64(7*i), 5)}[j]
			file += string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	status, stdout, stderr := command(t, map[string]string{"d.npy": file}, "", "fit", "d.npy", "-target", "#3", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "regression (auto) of column 3")
	status, stdout, stderr = command(t, nil, "", "evaluate", "m", "d.npy")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "regression, 20 samples")
	status, stdout, stderr = command(t, nil, file, "predict", "m", "-")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, rows+1, strings.Count(stdout, "\n"))

	// The command finds the need from the header, before it reads a row.
	status, _, stderr = command(t, nil, header(200000), "fit", "-", "-target", "#3", "-task", "regression", "-model", "bmkl", "-memory", "1GB")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "a fit of 200000 samples with 14 kernels needs about ")
	status, _, stderr = command(t, nil, header(2000), "fit", "-", "-target", "#3", "-task", "binary", "-model", "bmkl", "-memory", "500MB")
	assert.Equal(t, console.StatusInput, status)
	assert.Regexp(t, `: -store float32 takes about \d+ MiB`, stderr)

	// Few features take little, and it is the missing rows that end this fit.
	status, _, stderr = command(t, nil, header(200000), "fit", "-", "-target", "#3", "-model", "mgp", "-kernels", "linear,constant", "-memory", "1GB")
	assert.Equal(t, console.StatusInput, status)
	assert.NotContains(t, stderr, "needs about")
}
