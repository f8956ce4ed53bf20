package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// fitted fits a model to a file, checks that its report and the file's report are
// the same, and returns it, both as text and as data.
func fitted(t *testing.T, args ...string) (report.Report, string) {
	t.Helper()
	fit := append([]string{"fit"}, append(args, "-o", "m")...)
	status, text, stderr := command(t, nil, "", fit...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, again, stderr := command(t, nil, "", append(fit, "-json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, inspected, stderr := command(t, nil, "", "inspect", "m", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var r, loaded report.Report
	require.NoError(t, json.Unmarshal([]byte(again), &r))
	require.NoError(t, json.Unmarshal([]byte(inspected), &loaded))
	body, seen := text, []*report.LeftOut{r.LeftOut} // only the fit has them
	r.LeftOut = nil
	for o := range r.Targets {
		seen, r.Targets[o].LeftOut = append(seen, r.Targets[o].LeftOut), nil
	}
	assert.Equal(t, r, loaded)
	for _, l := range seen {
		if l != nil {
			before := body
			body = strings.Replace(body, l.String()+"\n", "", 1)
			assert.NotEqual(t, before, body)
		}
	}
	status, inspected, stderr = command(t, nil, "", "inspect", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	_, body, ok := strings.Cut(body, "\n")
	require.True(t, ok)
	body, _, _ = strings.Cut(body, "\nmodel: ")
	assert.True(t, strings.HasSuffix(inspected, body), "%s\n%s", inspected, body)
	return r, text
}

// predicted returns what mkl predict says, by column.
func predicted(t *testing.T, file string, more ...string) map[string][]string {
	t.Helper()
	status, stdout, stderr := command(t, nil, "", append([]string{"predict", "m", file}, more...)...)
	require.Equal(t, console.StatusOK, status, stderr)
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	require.NoError(t, err)
	columns := map[string][]string{}
	for j, name := range rows[0] {
		for _, row := range rows[1:] {
			columns[name] = append(columns[name], row[j])
		}
	}
	return columns
}

func measured(t *testing.T, file string) map[string]float64 {
	t.Helper()
	status, stdout, stderr := command(t, nil, "", "evaluate", "m", file, "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var ev evaluation.Evaluation
	require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
	require.Len(t, ev.Measures, 1)
	return ev.Measures[0].Values
}

// requireOnesOwn checks predictions against the package's predictions, for a model that
// is read from the command's file.
func requireOnesOwn(t *testing.T, columns map[string][]string, mean, variance []float64) {
	t.Helper()
	for i := range mean {
		m, err := strconv.ParseFloat(columns["mean"][i], 64)
		require.NoError(t, err)
		sd, err := strconv.ParseFloat(columns["sd"][i], 64)
		require.NoError(t, err)
		assert.Equal(t, mean[i], m)
		assert.Equal(t, math.Sqrt(variance[i]), sd)
	}
}

func fromFile[M mkl.Model](t *testing.T) M {
	t.Helper()
	f, err := os.Open("m")
	require.NoError(t, err)
	defer f.Close()
	m, err := mkl.Load(f)
	require.NoError(t, err)
	require.IsType(t, *new(M), m)
	return m.(M)
}

// lineColumns are the columns x and z of line.
func lineColumns(t *testing.T) (x, z, noise mkl.Features) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(line())).ReadAll()
	require.NoError(t, err)
	var c [3][]float64
	for _, row := range rows[1:] {
		for j := range c {
			v, err := strconv.ParseFloat(row[j+1], 64)
			require.NoError(t, err)
			c[j] = append(c[j], v)
		}
	}
	return mkl.Column(c[0]), mkl.Column(c[1]), mkl.Column(c[2])
}

// TestAuto fits what a newcomer would: a file and a target, and no more.
func TestAuto(t *testing.T) {
	numbered := strings.ReplaceAll(line(), "\ns", "\n1") // so that all columns are numbers
	command(t, map[string]string{"d.csv": numbered, "f.csv": flowers()}, "")
	r, text := fitted(t, "d.csv", "-target", "y")
	assert.Contains(t, text, "kernels in 1 view, regression (auto) of y")
	assert.Regexp(t, `(?s)Tried: .*\nKept: .*\nWhy: `, text)
	assert.Equal(t, "auto", r.Kind)
	assert.Contains(t, text, r.Story)
	require.NotEmpty(t, r.Members)
	total := 0.0
	for _, m := range r.Members {
		total += m.Weight
		assert.Contains(t, text, m.Name)
	}
	assert.InDelta(t, 1, total, 1e-9)
	assert.Positive(t, float64(r.Targets[0].NoiseSD))
	assert.Less(t, measured(t, "d.csv")["RMSE/SD"], 0.1)

	// Views are kept apart; one of them has its kernels.
	r, _ = fitted(t, "d.csv", "-target", "y", "-view", "a=x,z", "-view", "b=noise:rbf(width=1)")
	seen := map[string]int{}
	for _, k := range r.Kernels {
		_, view, _ := strings.Cut(k.View, ": ")
		seen[view]++
	}
	assert.Equal(t, len(r.Members), seen["b"])
	assert.Greater(t, seen["a"], seen["b"])
	x, z, noise := lineColumns(t)
	xz := la.NewMatrix[float64](x.Rows, 2)
	for i := range xz.Rows {
		xz.Row(i)[0], xz.Row(i)[1] = x.At(i, 0), z.At(i, 0)
	}
	mean, variance, err := fromFile[*mkl.AutoModel](t).Predict(xz, noise)
	require.NoError(t, err)
	requireOnesOwn(t, predicted(t, "d.csv"), mean, variance)

	// So little time is enough for one member.
	r, text = fitted(t, "d.csv", "-target", "y", "-time", "1ns")
	assert.Len(t, r.Members, 1)
	assert.Contains(t, text, "There was no time for")

	r, text = fitted(t, "f.csv", "-target", "species", "-view", "x,z")
	assert.Contains(t, text, "multiclass (auto) of species")
	assert.Equal(t, []string{"iris, other", "setosa", "virginica"}, r.Classes)
	values := measured(t, "f.csv")
	assert.Equal(t, 1.0, values["accuracy"])
	assert.Less(t, values["log loss"], 0.1)
	assert.Zero(t, values["p < 1e-6"])
	assert.InDelta(t, 0, values["ECE"], 0.1)

	_, text = fitted(t, "f.csv", "-target", "odd", "-view", "x,z")
	assert.Contains(t, text, "binary (auto) of odd")
	status, _, stderr := command(t, nil, "", "fit", "f.csv", "-target", "odd", "-view", "x,z", "-task", "regression")
	require.Equal(t, console.StatusOK, status)
	assert.Empty(t, stderr)
}

// Several targets take columns as functions that are known, beside kernels.
func TestKnownFunctions(t *testing.T) {
	command(t, map[string]string{"d.csv": line()}, "")
	r, _ := fitted(t, "d.csv", "-target", "y,noise", "-view", "x:function", "-view", "z:rbf", "-task", "multitask", "-sweeps", "5")
	require.NotEmpty(t, r.Kernels)
	assert.Equal(t, "function", r.Kernels[0].Kernel)
	predicted(t, "d.csv")
}

// TestDefaultKernels fits every model that has kernels without naming one.
func TestDefaultKernels(t *testing.T) {
	testkit.NotShort(t)
	files := map[string]string{"d.csv": line(), "f.csv": flowers()}
	for _, args := range []string{
		"d.csv -target y -view x,z -model mgp",
		"d.csv -target y -view x,z -model mgp -method factorised",
		"d.csv -target y -view x,z -model bmkl -sweeps 20",
		"d.csv -target y,noise -view a=x -view b=z -sweeps 20",
		"d.csv -target y,noise -view x,z -task shared -sweeps 20",
		"d.csv -target y,noise -view x,z -task tasks -sweeps 20",
		"d.csv -target y,noise -view x,z -task multitask -sweeps 5",
		"f.csv -target species -view x,z -model mgp",
		"f.csv -target big -view x,z -model bmkl -sweeps 20",
		"f.csv -target species -view x,z -model probit -sweeps 20",
		"f.csv -target big,odd -view x,z -task multilabel -sweeps 20",
	} {
		t.Run(args, func(t *testing.T) {
			command(t, files, "")
			r, _ := fitted(t, strings.Fields(args)...)
			var names []string
			for _, k := range r.Kernels {
				names = append(names, k.Kernel)
			}
			all := strings.Join(names, " ")
			assert.Contains(t, all, "constant")
			assert.Contains(t, all, "linear")
			assert.Contains(t, all, "laplacian(")
			predicted(t, strings.Fields(args)[0])
		})
	}

	// Columns of one value are no use, and one line says so.
	header, rows, _ := strings.Cut(line(), "\n")
	flat := header + "\n" + regexp.MustCompile(`,[^,]*,([^,]*)\n`).ReplaceAllString(rows, ",1,$1\n")
	status, _, stderr := command(t, map[string]string{"d.csv": flat}, "", "fit", "d.csv", "-target", "y", "-view", "x,noise", "-model", "mgp", "-task", "regression")
	assert.Equal(t, console.StatusOK, status)
	assert.Regexp(t, `(?m)^kernels: features of one value are left out: #2$`, stderr)
}

// TestTargetsOfTheirOwn fits several targets: each is predicted as by a fit to it alone, and its views add up to its mean.
func TestTargetsOfTheirOwn(t *testing.T) {
	testkit.NotShort(t)
	command(t, map[string]string{"d.csv": line()}, "")
	run := func(args string) string {
		status, stdout, stderr := command(t, nil, "", strings.Fields(args)...)
		require.Equal(t, console.StatusOK, status, stderr)
		return stdout
	}
	text := run("fit d.csv -target y,noise -view a=x -view b=z -o all.mkl")
	assert.Contains(t, text, "regression (auto) of y, noise")
	assert.Equal(t, 2, strings.Count(text, "left out one by one: "))
	assert.Equal(t, 2, strings.Count(text, "share: of the function's variance"))
	run("fit d.csv -target y -view a=x -view b=z -o y.mkl -task regression")
	run("fit d.csv -target noise -view a=x -view b=z -o noise.mkl -task regression")
	rows := func(model string) (all []map[string]float64) {
		require.NoError(t, json.Unmarshal([]byte(run("predict "+model+" d.csv -views -json")), &all))
		return all
	}
	all := rows("all.mkl")
	for _, target := range []string{"y", "noise"} {
		for i, row := range rows(target + ".mkl") {
			for name, v := range row {
				assert.Equal(t, v, all[i][target+"_"+name], name)
			}
			assert.InDelta(t, row["mean"], row["constant"]+row["view_a"]+row["view_b"]+row["view_"+mkl.AllColumns], 1e-9)
			assert.Positive(t, row["view_a_sd"])
		}
	}
	var told report.Report
	require.NoError(t, json.Unmarshal([]byte(run("inspect all.mkl -json")), &told))
	assert.Equal(t, "regression", told.Task)
	require.Len(t, told.Targets, 2)
	for _, target := range told.Targets {
		assert.NotEmpty(t, target.Story)
		assert.Len(t, target.Views, 2)
		assert.NotEmpty(t, target.Members)
	}
	run("evaluate all.mkl d.csv")
	run("report all.mkl -data d.csv -o page.html")

	run("fit d.csv -target y -view x -model bmkl -sweeps 20 -task regression -o b.mkl")
	status, _, stderr := command(t, nil, "", "predict", "b.mkl", "d.csv", "-views")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "mkl: views: the predictions are no sum over views: this is a")
}

// TestOwnScale fits positive targets that the default learns by their logarithm. With -own-scale the predictions are sums over views.
func TestOwnScale(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("x,y\n")
	rng := rand.New(rand.NewPCG(2, 9))
	for range 60 {
		x := rng.NormFloat64()
		fmt.Fprintf(&csv, "%g,%g\n", x, math.Exp(x+0.3*rng.NormFloat64()))
	}
	files := map[string]string{"d.csv": csv.String()}
	for _, own := range []string{"", " -own-scale"} {
		status, stdout, stderr := command(t, files, "", strings.Fields("fit d.csv -target y -o m.mkl"+own)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, own == "", strings.Contains(stdout, "the members learn the target's logarithm"))
		if own != "" {
			status, _, stderr = command(t, nil, "", strings.Fields("predict m.mkl d.csv -views")...)
			assert.Equal(t, console.StatusOK, status, stderr)
			continue
		}
		for _, args := range []string{"predict m.mkl d.csv -views", "report m.mkl -data d.csv -explain 1 -o page.html"} {
			status, _, stderr = command(t, nil, "", strings.Fields(args)...)
			assert.Equal(t, console.StatusInput, status)
			const want = "mkl: the predictions are no sum over views: the members learn the target's logarithm; mkl fit -own-scale, "
			assert.Contains(t, stderr, want, args)
		}
	}
}

// A fit that does not converge prints one warning on standard error.
func TestWarning(t *testing.T) {
	for _, args := range []string{"-sweeps 2", "-sweeps 2 -json"} {
		status, _, stderr := command(t, map[string]string{"d.csv": line()}, "",
			append(strings.Fields("fit d.csv -target y -task regression -model bmkl -view x,z:rbf"), strings.Fields(args)...)...)
		assert.Equal(t, console.StatusOK, status)
		assert.Regexp(t, `^mkl: warning: the fit has NOT converged \([^\n]*\) after 2 sweeps\n$`, stderr)
	}
}

func TestMultiGPModel(t *testing.T) {
	command(t, map[string]string{"d.csv": line()}, "")
	r, text := fitted(t, "d.csv", "-target", "y", "-model", "mgp", "-family", "laplace",
		"-view", "x:linear,rbf(width=1)", "-view", "z:linear", "-view", "noise:rbf(width=1)", "-sweeps", "300")
	assert.Contains(t, text, "regression (mgp) of y")
	assert.Contains(t, text, "prior Laplace: ")
	assert.Equal(t, "mgp", r.Kind)
	require.Len(t, r.Kernels, 4)
	for i, k := range r.Kernels {
		assert.Positive(t, float64(k.SD))
		assert.Equal(t, i < 3, k.Weight > 0.02, k.View)
	}
	assert.Positive(t, float64(r.Targets[0].NoiseSD))
	assert.Less(t, measured(t, "d.csv")["RMSE/SD"], 0.1)
	x, z, noise := lineColumns(t)
	mean, variance, err := fromFile[*mkl.MultiGPModel](t).Predict(x, z, noise)
	require.NoError(t, err)
	requireOnesOwn(t, predicted(t, "d.csv"), mean, variance)
}

func TestVaryingNoiseModel(t *testing.T) {
	command(t, map[string]string{"d.csv": line()}, "")
	_, text := fitted(t, "d.csv", "-target", "y", "-model", "mgp", "-noise", "varying", "-view", "x:linear,rbf(width=1)", "-view", "z:linear", "-view", "noise:rbf(width=1)")
	assert.Contains(t, text, "noise SD")
	x, z, noise := lineColumns(t)
	m := fromFile[*mkl.MultiGPModel](t)
	assert.Len(t, m.NoiseWeights(), 4)
	mean, variance, err := m.Predict(x, z, noise)
	require.NoError(t, err)
	requireOnesOwn(t, predicted(t, "d.csv"), mean, variance)
}

func TestKnownNoise(t *testing.T) {
	command(t, map[string]string{"d.csv": line()}, "")
	_, text := fitted(t, "d.csv", "-target", "y", "-model", "mgp", "-noise-sd", "0.25", "-view", "x:linear,rbf(width=1)")
	assert.Contains(t, text, "noise SD 0.25")
}

func TestHeavyNoiseModel(t *testing.T) {
	command(t, map[string]string{"d.csv": line()}, "")
	_, text := fitted(t, "d.csv", "-target", "y", "-model", "mgp", "-noise", "heavy", "-view", "x:linear,rbf(width=1)", "-view", "z:linear", "-view", "noise:rbf(width=1)")
	assert.Contains(t, text, "degrees of freedom")
	x, z, noise := lineColumns(t)
	m := fromFile[*mkl.MultiGPModel](t)
	assert.Greater(t, m.Outputs()[0].NoiseFreedom, 2.0)
	mean, variance, err := m.Predict(x, z, noise)
	require.NoError(t, err)
	requireOnesOwn(t, predicted(t, "d.csv"), mean, variance)
}

func TestSpikeSlabModel(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,z,none,y\n")
	all := la.NewMatrix[float64](24, 3)
	for i := range all.Rows {
		row := all.Row(i)
		row[0], row[1], row[2] = float64(i)/4, float64(7*i%5), float64(i*i%7)
		y := 2*row[0] + row[1]/2 + float64(11*i%3)/10
		fmt.Fprintf(&text, "%g,%g,%g,%g\n", row[0], row[1], row[2], y)
	}
	command(t, map[string]string{"d.csv": text.String()}, "")
	r, out := fitted(t, "d.csv", "-target", "y", "-model", "spikeslab", "-restarts", "2")
	assert.Contains(t, out, "24 samples, 3 features in 1 view, regression (spikeslab) of y")
	assert.Contains(t, out, "2 of 3 features active: weight ± SD, probability of being there")
	require.Len(t, r.Kernels, 3)
	for i, truth := range []float64{2, 0.5, 0} {
		k := r.Kernels[i]
		assert.Equal(t, []string{"x", "z", "none"}[i], k.View)
		assert.InDelta(t, truth, float64(k.Weight), 4*float64(k.SD))
		assert.Equal(t, i < 2, k.Active)
		assert.Equal(t, i < 2, *k.Inclusion > 0.9)
	}
	assert.Less(t, measured(t, "d.csv")["RMSE/SD"], 0.1)
	mean, variance, err := fromFile[*mkl.SpikeSlabModel](t).Predict(all)
	require.NoError(t, err)
	requireOnesOwn(t, predicted(t, "d.csv"), mean, variance)
}

// Counts have means and intervals that are not negative.
func TestCountModel(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%g,%d\n", float64(i%10)/3, i%10*(i%3)/2)
	}
	command(t, map[string]string{"d.csv": text.String()}, "")
	_, out := fitted(t, "d.csv", "-target", "y", "-task", "counts", "-kernels", "rbf(width=1)")
	assert.Contains(t, out, "counts (mgp) of y")
	p, err := fromFile[*mkl.CountModel](t).Predict(mkl.Column([]float64{0, 3}))
	require.NoError(t, err)
	mean, _ := p.Moments()
	assert.Greater(t, mean[1], mean[0])
	assert.Less(t, measured(t, "d.csv")["RMSE/SD"], 0.9)
}

// Counts that vary less than Poisson counts have a double Poisson distribution, which the commands name, measure and predict by.
func TestNarrowCountModel(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%g,%d\n", float64(i%10)/3, 1+i%10/2+i*i%7/5)
	}
	command(t, map[string]string{"d.csv": text.String()}, "")
	fitted(t, "d.csv", "-target", "y", "-task", "counts", "-kernels", "rbf(width=1)")
	m := fromFile[*mkl.CountModel](t)
	require.Equal(t, mkl.DoublePoisson, m.Law())
	for _, args := range []string{"inspect m", "report m -data d.csv"} {
		status, stdout, stderr := command(t, nil, "", strings.Fields(args)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stdout, "double Poisson given the function: a count of the mean μ has a variance of about μ/"+console.Figure(m.Precision())+", below μ", args)
	}
	v := measured(t, "d.csv")
	assert.Less(t, v["RMSE/SD"], 0.4)
	p, err := m.Predict(mkl.Column([]float64{0, 3}))
	require.NoError(t, err)
	mean, variance := p.Moments()
	assert.Less(t, variance[1], 0.5*mean[1])
	got := numbersOf(t, predicted(t, "d.csv")["mean"])
	assert.InEpsilon(t, mean[0], got[0], 1e-9)
	status, _, stderr := command(t, nil, "", strings.Fields("cv d.csv -target y -task counts -kernels rbf -folds 2")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "", "export", "m", "-o", "m.onnx")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "to mean, sd, for the 1 target y")

	fitted(t, "d.csv", "-target", "y", "-task", "counts", "-kernels", "rbf(width=1)", "-law", "negative-binomial")
	assert.Equal(t, mkl.NegativeBinomial, fromFile[*mkl.CountModel](t).Law())
	for _, c := range [][2]string{
		{"-law log-normal", "counts have poisson or negative-binomial or double-poisson"},
	} {
		status, _, stderr = command(t, nil, "", strings.Fields("fit d.csv -target y -task counts "+c[0])...)
		require.Equal(t, console.StatusInput, status)
		assert.Contains(t, stderr, c[1])
	}
}

// TestClassModels fits the same classes by every model that has them.
func TestClassModels(t *testing.T) {
	files := map[string]string{"f.csv": flowers()}
	for i, c := range []struct {
		args, says string
		own        bool // each class has its own kernel weights
	}{
		{"-task binary -target big -model mgp", "yes against no", false},
		{"-task multiclass -target species -model mgp -family ard", "\nno prior: each kernel's weight is set by maximum likelihood", true},
		{"-task binary -target big -model probit", "binary (probit) of big", false},
		{"-task multiclass -target species -model probit -rule wsum -restarts 1", "multiclass (probit) of species", false},
		{"-task multiclass -target species -model probit -prior alpha=learn", "iris, other", false},
		{"-task multiclass -target species -model probit -rule bin -prior alpha=2,1 -prior sigma=0.2", "iris, other", false},
		{"-task multiclass -target species -model probit -kernels rbf(ard) -prior theta=2,0.5 -search sampling -sweeps 3", "iris, other", false},
		{"-task multiclass -target species -model probit -kernels rbf(ard) -inference gibbs -chains 1 -draws 5 -thin 1", "1 chain of 10 sweeps, 5 draws kept", false},
		{"-task multiclass -target species -model probit -rule wprod -kernels rbf(width={1,2}) -prior kappa=0.5 -prior xi=2", "iris, other", false},
		{"-task binary -target big -model probit -rule wprod", "binary (probit) of big", false},
		{"-task multiclass -target species -model probit -rule wsum -inference relevance", "iris, other", false},
		{"-task multiclass -target species -model probit -rule wsum -inference map", "iris, other", false},
		{"-task multiclass -target species -model probit -inference prune -prior alpha=1e-4,1e+5", "iris, other", false},
		{"-task binary -target big -model mgp -family gig -hold omega=-1", "generalised inverse Gaussian", false},
		{"-task multiclass -target species -model probit -rule bin -update structured -ridge 0.1", "iris, other", false},
		{"-task multiclass -target species -model probit -class-prior virginica=2,0.5", "iris, other", false},
		{"-task multiclass -target species -model probit -rule wsum -inference gibbs -chains 2 -draws 60 -thin 1", "2 chains of 120 sweeps, 120 draws kept", false},
	} {
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run(c.args, func(t *testing.T) {
			command(t, files, "")
			args := append(strings.Fields("f.csv -view x,z:rbf(width={.5,1})"), strings.Fields(c.args)...)
			if !strings.Contains(c.args, "gibbs") {
				args = append(args, "-sweeps", "60")
			}
			r, text := fitted(t, args...)
			assert.Contains(t, text, c.says)
			assert.Len(t, r.Kernels, 2)
			assert.Equal(t, strings.Contains(c.args, "gibbs"), r.Sampled != nil)
			for _, target := range r.Targets {
				assert.Equal(t, c.own, len(target.Kernels) == 2)
			}
			columns, sums := predicted(t, "f.csv"), make([]float64, 36)
			for _, class := range r.Classes {
				for i, cell := range columns["p_"+class] {
					p, err := strconv.ParseFloat(cell, 64)
					require.NoError(t, err)
					sums[i] += p
				}
			}
			for _, sum := range sums {
				assert.InDelta(t, 1, sum, 1e-9)
			}
			values := measured(t, "f.csv")
			assert.Equal(t, 1.0, values["accuracy"])
			assert.Less(t, values["log loss"], 0.5)
		})
	}
}

// TestMultitask fits targets that are combinations of common functions.
func TestMultitask(t *testing.T) {
	var b strings.Builder
	b.WriteString("u,p,q,r\n")
	for i := range 40 {
		u := float64(i) / 10
		f, g := math.Sin(2*u), math.Cos(3*u)
		gap := fmt.Sprint(5 + f - g)
		if i > 15 && i < 22 {
			gap = "NA"
		}
		fmt.Fprintf(&b, "%g,%g,%s,%g\n", u, f+0.01*float64(i%3), gap, 100*(f+g))
	}
	status, stdout, stderr := command(t, map[string]string{"s.csv": b.String()}, "",
		"fit", "s.csv", "-task", "multitask", "-target", "p,q,r", "-kernels", "rbf(width=.5)", "-latents", "2", "-missing-targets", "-sweeps", "60", "-o", "s")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "multitask of p, q, r")
	assert.Equal(t, 3, strings.Count(stdout, "of 2 kernels active"), stdout)
	status, stdout, stderr = command(t, nil, "", "inspect", "s", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var rep report.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &rep))
	require.Len(t, rep.Targets, 3)
	for _, target := range rep.Targets {
		require.Len(t, target.Kernels, 2)
		assert.NotNil(t, target.Kernels[0].Inclusion)
	}
	status, stdout, stderr = command(t, nil, "", "predict", "s", "s.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.True(t, strings.HasPrefix(stdout, "p_mean,p_sd,p_lower,p_upper,q_mean,"), stdout)
	status, _, stderr = command(t, nil, "", "inspect", "s")
	require.Equal(t, console.StatusOK, status, stderr)
}

// Data without noise are learned by every model of numbers, and predicted.
func TestDataWithoutNoise(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("x,z,y\n")
	for i := range 30 {
		x, z := float64(i%6), float64(i/6)
		rows.WriteString(number(x) + "," + number(z) + "," + number(10+2*x-3*z) + "\n")
	}
	files := map[string]string{"d.csv": rows.String()}
	for _, model := range []string{"auto", "mgp -kernels linear,constant", "bmkl -sweeps 200", "landmarks", "spikeslab"} {
		status, _, stderr := command(t, files, "", strings.Fields("fit d.csv -target y -task regression -o m -model "+model)...)
		require.Equal(t, console.StatusOK, status, "%s: %s", model, stderr)
		status, stdout, stderr := command(t, nil, "", "evaluate", "m", "d.csv", "-json")
		require.Equal(t, console.StatusOK, status, "%s: %s", model, stderr)
		var ev evaluation.Evaluation
		require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
		assert.Less(t, ev.Measures[0].Values["RMSE/SD"], 0.05, model)
		files = nil
	}
}

// The default width of a kernel grows with the root of the number of columns, as distances do.
func TestWidthsGrowWithColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	width := func(columns int) float64 {
		var text strings.Builder
		for j := range columns {
			text.WriteString("x" + strconv.Itoa(j) + ",")
		}
		text.WriteString("y\n")
		for range 60 {
			for range columns {
				text.WriteString(number(rng.NormFloat64()) + ",")
			}
			text.WriteString(number(rng.NormFloat64()) + "\n")
		}
		args := strings.Fields("fit d.csv -target y -task regression -model mgp -kernels rbf -sweeps 1 -json")
		status, stdout, stderr := command(t, map[string]string{"d.csv": text.String()}, "", args...)
		require.Equal(t, console.StatusOK, status, stderr)
		var r report.Report
		require.NoError(t, json.Unmarshal([]byte(stdout), &r))
		w, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(r.Kernels[0].Kernel, "rbf(width="), ")"), 64)
		require.NoError(t, err)
		return w
	}
	assert.InDelta(t, 2, width(64)/width(16), 0.1)
}

// TestMultitaskOfOneTarget learns one target, and says that the kernel that it is a function of is there for sure.
func TestMultitaskOfOneTarget(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,z,y\n")
	for i := range 40 {
		x := float64(i%20) / 4
		fmt.Fprintf(&text, "%g,%d,%g\n", x, i*i*i%23, math.Sin(x)+0.05*float64(i*7%5))
	}
	status, stdout, stderr := command(t, map[string]string{"d.csv": text.String()}, "",
		strings.Fields("fit d.csv -target y -task multitask -view x:rbf(width=1) -view z:rbf(width=1) -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "multitask of y")
	m := fromFile[*mkl.MultiTaskModel](t)
	require.Len(t, m.Outputs(), 1)
	assert.Greater(t, m.Outputs()[0].Inclusion[0], 0.99)
	assert.NotEmpty(t, predicted(t, "d.csv")["mean"])
}
