package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/ranking"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// testSet reads a file of testdata.
func testSet(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/" + name)
	require.NoError(t, err)
	return string(text)
}

// veterans are 137 patients with lung cancer, in halves: every other row.
func veterans(t *testing.T) (train, test string) {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimSpace(testSet(t, "veteran.csv")), "\n")
	train, test = lines[0], lines[0]
	for i, line := range lines[1:] {
		if i%2 == 0 {
			train += line
		} else {
			test += line
		}
	}
	return train, test
}

// numbersOf are the cells of a column as numbers.
func numbersOf(t *testing.T, cells []string) (x []float64) {
	t.Helper()
	for _, cell := range cells {
		v, err := strconv.ParseFloat(cell, 64)
		require.NoError(t, err)
		x = append(x, v)
	}
	return x
}

// TestSurvivalModel compares what the command predicts and measures with what the package does.
func TestSurvivalModel(t *testing.T) {
	train, test := veterans(t)
	command(t, map[string]string{"train.csv": train, "test.csv": test}, "")
	r, text := fitted(t, "train.csv", "-target", "time", "-event", "status", "-view", "karno,age,trt:linear,rbf")
	assert.Contains(t, text, "survival (mgp) of time")
	assert.Regexp(t, `Weibull of the shape|the logarithm of a time has the error`, text)
	assert.NotEmpty(t, r.Targets[0].Law)

	columns := predicted(t, "test.csv", "-times", "30,200")
	median, risk := numbersOf(t, columns["median"]), numbersOf(t, columns["risk"])
	lower, upper := numbersOf(t, columns["lower"]), numbersOf(t, columns["upper"])
	after30, after200 := numbersOf(t, columns["p_after_30"]), numbersOf(t, columns["p_after_200"])
	m := fromFile[*mkl.SurvivalModel](t)
	var times []float64
	var events []bool
	var x []float64
	for _, line := range strings.Split(strings.TrimSpace(test), "\n")[1:] {
		cells := strings.Split(line, ",") // trt, celltype, time, status, karno, diagtime, age, prior
		v := numbersOf(t, []string{cells[4], cells[6], cells[0], cells[2]})
		x = append(x, v[:3]...) // karno, age, trt
		times, events = append(times, v[3]), append(events, cells[3] == "1")
	}
	p, err := m.Predict(la.MatrixOf(len(times), 3, x))
	require.NoError(t, err)
	score := 0.0
	for i, l := range mkl.Lifetimes(times, events) {
		s := p.Survival(i, []float64{30, 200})
		assert.InDelta(t, s[0], after30[i], 1e-12)
		assert.InDelta(t, s[1], after200[i], 1e-12)
		assert.InEpsilon(t, p.Median()[i], median[i], 1e-12)
		assert.InDelta(t, p.Risk()[i], risk[i], 1e-12)
		assert.InDelta(t, 0.975, p.Survival(i, lower[i:])[0], 1e-9)
		assert.InDelta(t, 0.025, p.Survival(i, upper[i:])[0], 1e-9)
		score += p.LogScore(i, l) / float64(len(times))
	}

	status, stdout, stderr := command(t, nil, "", "evaluate", "m", "test.csv", "-times", "30,200", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var ev evaluation.Evaluation
	require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
	assert.InDelta(t, score, ev.Measures[0].Values["log score"], 1e-9)
	c, err := metrics.CensoredConcordance(times, events, p.Risk())
	require.NoError(t, err)
	assert.InDelta(t, c, ev.Measures[0].Values["concordance"], 1e-12)
	assert.Greater(t, c, 0.6)
	require.Len(t, ev.Times, 2)
	brier, err := metrics.CensoredBrier(times, events, after200, 200)
	require.NoError(t, err)
	assert.InDelta(t, brier, float64(ev.Times[1].Brier), 1e-9)
	assert.Less(t, ev.Times[1].Brier, ev.Times[1].Baseline)

	status, stdout, stderr = command(t, nil, "", "evaluate", "m", "test.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "Kaplan–Meier")

	status, stdout, stderr = command(t, nil, "", "report", "m", "-data", "test.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	for _, want := range []string{"low risk", "middle risk", "high risk", "concordance of risks and times", "Kaplan and Meier", "log score falls", "mean of the medians"} {
		assert.Contains(t, stdout, want)
	}
}

// TestExportTimes writes a graph of times, whose predictions package onnx compares with the models'.
func TestExportTimes(t *testing.T) {
	train, _ := veterans(t)
	command(t, map[string]string{"train.csv": train}, "")
	for _, law := range []string{"log-normal", "weibull"} {
		fitted(t, "train.csv", "-target", "time", "-event", "status", "-law", law, "-view", "karno,age:rbf(width=2)")
		status, stdout, stderr := command(t, nil, "", "export", "m", "-o", "m.onnx", "-times", "90,365", "-interval", "0.8")
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, "m.onnx: x1 (2 columns) to median, lower, upper, risk, p_after, for the 1 target time\n", stdout)
		graph, err := os.ReadFile("m.onnx")
		require.NoError(t, err)
		assert.Contains(t, string(graph), "[90,365]")
		status, stdout, stderr = command(t, nil, "", "export", "m", "-o", "n.onnx")
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stdout, "to median, lower, upper, risk, for the 1 target time")
	}
	status, _, stderr := command(t, nil, "", "export", "m", "-o", "m.onnx", "-times", "90,0")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "-times 0: times are positive numbers")
	fitted(t, "train.csv", "-target", "karno", "-view", "age:rbf(width=2)", "-model", "mgp")
	for args, want := range map[string]string{
		"-times 90":     "-times is for models of times until an event, and this is one of regression",
		"-interval 0.8": "-interval is for models of times until an event, and this is one of regression",
	} {
		status, _, stderr := command(t, nil, "", append([]string{"export", "m", "-o", "m.onnx"}, strings.Fields(args)...)...)
		assert.Equal(t, console.StatusInput, status)
		assert.Contains(t, stderr, want)
	}
}

// TestTimesByBounds learns times that lie between others as the package does, and the cells of -event that mean an event.
func TestTimesByBounds(t *testing.T) {
	var between, events, codes strings.Builder
	between.WriteString("x,from,to\n")
	events.WriteString("x,t,died\n")
	codes.WriteString("x,t,status\n")
	var x []float64
	var all []mkl.Lifetime
	for i := range 30 {
		v := float64(i%7) - 3
		at := math.Round(100 * math.Exp(1+v/2+float64(i%5)/5))
		x = append(x, v)
		switch i % 4 {
		case 0:
			fmt.Fprintf(&between, "%g,%g,%g\n", v, at, at)
			all = append(all, mkl.EventAt(at))
		case 1:
			fmt.Fprintf(&between, "%g,%g,\n", v, at)
			all = append(all, mkl.EventAfter(at))
		case 2:
			fmt.Fprintf(&between, "%g,,%g\n", v, at)
			all = append(all, mkl.EventBefore(at))
		default:
			fmt.Fprintf(&between, "%g,%g,%g\n", v, at, 2*at)
			all = append(all, mkl.EventBetween(at, 2*at))
		}
		fmt.Fprintf(&events, "%g,%g,%d\n", v, at, min(1, i%4))
		fmt.Fprintf(&codes, "%g,%g,%d\n", v, at, 1+2*min(1, i%4))
	}
	files := map[string]string{"b.csv": between.String(), "e.csv": events.String(), "c.csv": codes.String(), "half.csv": "x,from,to\n1,2,3\n1,,\n"}
	_, _, stderr := command(t, files, "", strings.Fields("fit b.csv -target from -upper to -view x:rbf(width=2) -law weibull -o m")...)
	assert.Contains(t, stderr, "column from: 8 times known, 8 later than the last observation, 7 earlier than the first, 7 between two")
	own, err := mkl.Survival{Law: mkl.Weibull}.Fit(t.Context(), []mkl.View{{X: mkl.Column(x), Kernel: kernel.RBF{Width: 2}, Standardize: true}}, all)
	require.NoError(t, err)
	assert.InDelta(t, own.Bound(), fromFile[*mkl.SurvivalModel](t).Bound(), 1e-9)

	status, stdout, stderr := command(t, nil, "", "evaluate", "m", "b.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, stdout, "Brier", "scores of censored times are not for intervals")
	status, stdout, stderr = command(t, nil, "", "evaluate", "m", "half.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "survival, 1 sample")

	var bounds []float64
	for _, fit := range []string{"fit e.csv -target t -event died", "fit c.csv -target t -event status=3"} {
		status, _, stderr := command(t, nil, "", append(strings.Fields(fit), "-view", "x:rbf(width=2)", "-o", "m")...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stderr, "column t: 22 times known, 8 later than the last observation")
		bounds = append(bounds, fromFile[*mkl.SurvivalModel](t).Bound())
		status, _, stderr = command(t, nil, "", "evaluate", "m", map[bool]string{true: "e.csv", false: "c.csv"}[len(bounds) == 1])
		require.Equal(t, console.StatusOK, status, stderr)
	}
	assert.InDelta(t, bounds[0], bounds[1], 1e-12)
}

// TestTimesOfZero counts times of 0 as half of the least positive time, which another column may hold instead.
func TestTimesOfZero(t *testing.T) {
	var zero, half, from strings.Builder
	zero.WriteString("x,t,died\n")
	half.WriteString("x,t,died\n")
	from.WriteString("x,from,to\n")
	for i := range 30 {
		v, died := float64(i%7)-3, min(1, i%3)
		at := math.Round(20 * math.Exp(v/2+float64(i%5)/5))
		instead := at
		if i%6 < 2 { // an event of 0 and an observation that ended at 0
			at, instead = 0, 1.5
		} else if i == 2 {
			at, instead = 3, 3 // the least
		}
		fmt.Fprintf(&zero, "%g,%g,%d\n", v, at, died)
		fmt.Fprintf(&half, "%g,%g,%d\n", v, instead, died)
		if died == 1 {
			fmt.Fprintf(&from, "%g,%g,%g\n", v, at, at)
		} else {
			fmt.Fprintf(&from, "%g,%g,\n", v, at)
		}
	}
	files := map[string]string{"zero.csv": zero.String(), "half.csv": half.String(), "from.csv": from.String()}
	var outputs []string
	for _, data := range []string{"zero.csv -target t -event died", "half.csv -target t -event died", "from.csv -target from -upper to"} {
		status, _, stderr := command(t, files, "", strings.Fields("fit "+data+" -view x:rbf(width=2) -o m")...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, !strings.HasPrefix(data, "half"), strings.Contains(stderr, "10 times of 0 counted as 1.500, half of the least positive time"), stderr)
		status, stdout, stderr := command(t, nil, "", "evaluate", "m", data[:strings.Index(data, " ")])
		require.Equal(t, console.StatusOK, status, stderr)
		figures := strings.Fields(stdout[strings.Index(stdout, "PIT\n"):strings.Index(stdout, "chance")])
		outputs = append(outputs, strings.Join(figures[2:], " "))
	}
	assert.Equal(t, outputs[1], outputs[0])
	assert.Equal(t, outputs[1], outputs[2])
}

// TestEventsAreNumbers reads events that are written as 1.0 and 0.0, and finds the number that -event names in whatever way it is written.
func TestEventsAreNumbers(t *testing.T) {
	var data strings.Builder
	data.WriteString("x,t,died,status\n")
	for i := range 20 {
		fmt.Fprintf(&data, "%d,%d,%d.0,%d.0\n", i%5, 1+i%7, i%2, 1+i%2)
	}
	for _, event := range []string{"died", "died=1", "status=2", "status=2.00"} {
		status, _, stderr := command(t, map[string]string{"d.csv": data.String()}, "", "fit", "d.csv", "-target", "t", "-event", event, "-view", "x:rbf", "-o", "m")
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stderr, "column t: 10 times known, 10 later than the last observation", event)
	}
}

// TestTimesSayWhatIsWrong refuses what there is no time in, and what other models have.
func TestTimesSayWhatIsWrong(t *testing.T) {
	files := map[string]string{
		"d.csv": "x,t,u,died,status\n1,2,3,1,1\n2,0,1,1,2\n3,4,1,0,1\n4,-1,9,0,1\n",
		"0.csv": "x,t,died\n1,0,1\n2,0,0\n3,0,1\n",
		"e.csv": "x,t,died,n\n1,2,1,3\n2,5,0,1\n3,4,1,4\n4,9,1,0\n5,1,0,2\n6,3,,2\n7,3,1,0\n",
		"n.csv": "x,t,died\n1,2,0\n2,5,0\n3,4,no\n",
	}
	command(t, files, "")
	for args, want := range map[string]string{
		"fit d.csv -target t -event died":                            "row 4 (line 5), column 2 \"t\": a time must not be negative",
		"fit 0.csv -target t -event died":                            "row 1 (line 2), column 2 \"t\": a time must not be negative, and the column must have a positive one",
		"fit d.csv -target t -event status":                          "row 2 (line 3), column 5 \"status\": \"2\" is neither 1, true or yes nor 0, -1, false or no (-event COLUMN=VALUE says",
		"fit e.csv -target t -event died=yes":                        "e.csv: column \"died\": no cell is \"yes\", so the event happened in no row; the cells are 0, 1",
		"cv e.csv -target t -event n=9 -folds 2":                     "e.csv: column \"n\": no cell is \"9\", so the event happened in no row; the cells are 0, 1, 2, 3, 4",
		"fit n.csv -target t -event died":                            "n.csv: column \"died\": the event happened in no row, and a fit needs rows where it did",
		"fit d.csv -target x -upper u":                               "row 2 (line 3), column 3 \"u\": 1 is below 2, the other end of the time",
		"fit d.csv -target x -event died -upper u":                   "-event excludes -upper",
		"fit d.csv -target x -event x":                               "-event x: the column has another role already",
		"fit d.csv -target x -event y":                               "-event: d.csv: no column \"y\"",
		"fit d.csv -target x -event died -task regression":           "-event is not for -task regression with -model auto",
		"fit d.csv -target x -exposure u -task survival":             "-exposure is not for -task survival with -model mgp",
		"fit d.csv -target x -event died -task survival -model auto": "-model auto is for -task regression, binary and multiclass, not survival",
		"fit d.csv -target x -law weibull -task regression":          "-law is not for -task regression",
		"fit e.csv -target n -exposure t -task counts -law weibull":  "-law weibull: counts have poisson or negative-binomial or double-poisson",
		"fit e.csv -target t -event died -missing refuse":            "row 6 (line 7), column 3 \"died\": the cell is empty",
		"fit d.csv -target died -exposure t":                         "row 2 (line 3), column 2 \"t\": the exposure is 0: it must be positive; leave out the row, or leave this cell empty",
		"cv d.csv -target t -task counts -folds 2":                   `row 4 (line 5), column 2 "t": -1 is none of the counts 0, 1, 2, …`,
		"cv e.csv -target n -task counts -at 3":                      "-at is for times until an event",
		"cv d.csv -target x -event died -at=-3":                      "-at -3: times are positive numbers",
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, console.StatusInput, status, args)
		assert.Contains(t, stderr, want, args)
	}
	for _, fit := range []string{"fit e.csv -target t -event died -view x:rbf -o s", "fit e.csv -target n -exposure t -view x:rbf -o c", "fit e.csv -target n -view x:rbf -model mgp -o r"} {
		status, _, stderr := command(t, nil, "", strings.Fields(fit)...)
		require.Equal(t, console.StatusOK, status, stderr)
	}
	for args, want := range map[string]string{
		"compare s s -data e.csv -at 1e9":   "no sample is left at the time",
		"compare c c -data e.csv -at 3":     "-at is for times until an event",
		"compare s c -data e.csv":           "predict different things",
		"predict r e.csv -times 3":          "-times is for models of times until an event",
		"predict s e.csv -times 0":          "-times 0: times are positive numbers",
		"predict s e.csv -exposure 3":       "-exposure is for models of counts",
		"predict c e.csv -exposure=-3":      "-exposure -3: exposures are positive numbers",
		"predict c e.csv -exposure x":       "-exposure x: the column is part of a view",
		"predict c d.csv -exposure nothing": "-exposure: d.csv: no column \"nothing\"",
		"evaluate s e.csv -times 1e9":       "-times 1e+09: metrics: no sample is left at the time",
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, console.StatusInput, status, args)
		assert.Contains(t, stderr, want, args)
	}
}

// TestWrongExposures refuses exposures out of their limits. Rows with an empty exposure are left out, as the error of an exposure of 0 advises.
func TestWrongExposures(t *testing.T) {
	const head = "x,u,y\n"
	table := func(cell string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range 24 {
			u := strconv.Itoa(1 + i%3)
			if i == 4 {
				u = cell
			}
			fmt.Fprintf(&b, "%d,%s,%d\n", i, u, i%5)
		}
		return b.String()
	}
	command(t, map[string]string{"ok.csv": table("2"), "zero.csv": table("0"), "below.csv": table("-2"), "tiny.csv": table("1e-200"), "empty.csv": table("")}, "")
	fit := func(file string) []string {
		return strings.Fields("fit " + file + " -target y -exposure u -task counts -view x:rbf -o m-" + file)
	}
	for _, file := range []string{"ok.csv", "empty.csv"} {
		status, _, stderr := command(t, nil, "", fit(file)...)
		require.Equal(t, console.StatusOK, status, stderr)
	}
	for file, want := range map[string]string{
		"zero.csv":  "the exposure is 0: it must be positive; leave out the row, or leave this cell empty",
		"below.csv": "the exposure is -2: it must be positive; leave out the row, or leave this cell empty",
		"tiny.csv":  "the exposure is 1e-200: it must be from 1e-100 to 1e+100",
	} {
		for _, args := range [][]string{fit(file), {"predict", "m-ok.csv", file}, {"evaluate", "m-ok.csv", file}} {
			status, _, stderr := command(t, nil, "", args...)
			assert.Equal(t, console.StatusInput, status, args)
			assert.Equal(t, "mkl: "+file+`: row 5 (line 6), column 2 "u": `+want+"\n", stderr, args)
		}
	}
	for _, args := range [][]string{{"predict", "m-ok.csv", "empty.csv"}, {"evaluate", "m-ok.csv", "empty.csv"}} {
		status, _, stderr := command(t, nil, "", args...)
		assert.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stderr, `row 5 (line 6), column 2 "u": the exposure is missing`)
	}
}

// TestExposures learns claims of car drivers by the number of policies: what is predicted of a row is proportional to it.
func TestExposures(t *testing.T) {
	claims := strings.ReplaceAll(testSet(t, "insurance.csv"), "Holders", "policies")
	var lacking strings.Builder
	for line := range strings.Lines(claims) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if cells[3] == "246" {
			cells[3] = ""
		}
		lacking.WriteString(strings.Join(cells, ",") + "\n")
	}
	command(t, map[string]string{"d.csv": claims, "gap.csv": lacking.String(), "without.csv": "District,Group,Age,Claims\n1,<1l,<25,3\n"}, "")
	_, text := fitted(t, "d.csv", "-target", "Claims", "-exposure", "policies", "-view", "District,Age,Group:rbf")
	assert.Contains(t, text, "counts (mgp) of Claims")
	assert.Contains(t, text, "has the variance μ + ")
	own, one, hundred := predicted(t, "d.csv"), predicted(t, "d.csv", "-exposure", "1"), predicted(t, "d.csv", "-exposure", "100")
	var policies []string
	for _, line := range strings.Split(strings.TrimSpace(claims), "\n")[1:] {
		policies = append(policies, strings.Split(line, ",")[3])
	}
	all := numbersOf(t, policies)
	for i, mean := range numbersOf(t, one["mean"]) {
		assert.InEpsilon(t, 100*mean, numbersOf(t, hundred["mean"])[i], 1e-9)
		assert.InEpsilon(t, all[i]*mean, numbersOf(t, own["mean"])[i], 1e-9)
		lower := numbersOf(t, own["lower"])[i]
		assert.Zero(t, math.Mod(lower, 1))
		assert.GreaterOrEqual(t, lower, 0.0)
	}
	v := measured(t, "d.csv")
	assert.Less(t, v["RMSE/SD"], 0.2)
	assert.Greater(t, v["coverage"], 0.9)

	m := fromFile[*mkl.CountModel](t)
	assert.Positive(t, m.Dispersion())
	gap := predicted(t, "gap.csv")
	assert.Equal(t, "", gap["mean"][2])
	assert.Equal(t, own["mean"][3], gap["mean"][3])
	status, _, stderr := command(t, nil, "", "predict", "m", "without.csv")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `without.csv has no column "policies" of exposures, as the fit had: -exposure COLUMN names another`)
	status, _, stderr = command(t, nil, "", "predict", "m", "without.csv", "-exposure", "12")
	assert.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "", "report", "m", "-data", "d.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "Counts are for the exposure 1.")
	status, stdout, stderr = command(t, nil, "", "export", "m", "-o", "m.onnx")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "to mean, sd, for the 1 target Claims")
	assert.Contains(t, stderr, `mean and sd are of counts with the exposure 1: a graph has no input for the column "policies"`)
	status, _, stderr = command(t, nil, "", "fit", "gap.csv", "-target", "Claims", "-exposure", "policies", "-view", "District:rbf", "-law", "poisson", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "1 of 64 rows left out, where something is missing")
	assert.Zero(t, fromFile[*mkl.CountModel](t).Dispersion())
}

// TestCountsAreRecognised says of whole numbers from 0 on that they seem to be counts, and of no others.
func TestCountsAreRecognised(t *testing.T) {
	for name, c := range map[string]struct {
		y    func(i int) float64
		says bool
	}{
		"visits":    {func(i int) float64 { return float64([]int{0, 0, 1, 0, 2, 1, 0, 5, 1, 3}[i%10]) }, true},
		"negative":  {func(i int) float64 { return float64([]int{0, 0, -1, 0, 2, 1, 0, 5, 1, 3}[i%10]) }, false},
		"fractions": {func(i int) float64 { return float64([]int{0, 0, 1, 0, 2, 1, 0, 5, 1, 3}[i%10]) / 2 }, false},
		"digits":    {func(i int) float64 { return float64(i % 10) }, false},
		"prices":    {func(i int) float64 { return float64(200 + i*i%37) }, false},
		"skewed":    {func(i int) float64 { return float64(12 + (i%10)*(i%10)*(i%10)*(i%10)) }, false},
	} {
		var text strings.Builder
		text.WriteString("x,y\n")
		for i := range 40 {
			fmt.Fprintf(&text, "%d,%g\n", i*i%17, c.y(i))
		}
		status, _, stderr := command(t, map[string]string{"d.csv": text.String()}, "", strings.Fields("fit d.csv -target y -view x:rbf(width=1) -model mgp")...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, c.says, strings.Contains(stderr, "column y: seems to be counts, and its intervals may go below 0: -task counts learns it as counts"), name)
	}
}

// foldsOf runs mkl cv and returns what it found, with what it said.
func foldsOf(t *testing.T, args string) (found ranking.Comparison, said string) {
	t.Helper()
	status, _, said := command(t, nil, "", strings.Fields(args)...)
	require.Equal(t, console.StatusOK, status, said)
	status, stdout, stderr := command(t, nil, "", strings.Fields(args+" -json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &found))
	return found, said
}

// TestTimesCompared compares models of times by folds and on a test set. A fold's scores are what mkl evaluate finds for a fit to a
// file of the training rows; but for the Brier score, whose weights come from the rows of all folds.
func TestTimesCompared(t *testing.T) {
	testkit.NotShort(t)
	train, test := veterans(t)
	lines := strings.SplitAfter(strings.TrimSpace(train)+"\n", "\n")
	lines = lines[:len(lines)-1]
	files := map[string]string{"d.csv": train, "test.csv": test}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i]) + "," + strconv.Itoa(i) + "\n" // when it came
	}
	lines[0] = strings.Replace(lines[0], ",0\n", ",came\n", 1)
	files["ordered.csv"] = strings.Join(lines, "")
	command(t, files, "")
	found, said := foldsOf(t, "cv d.csv -target time -event status -view karno,age:rbf -folds 3 -law weibull")
	assert.Contains(t, said, "3 folds, each with its share of events, seed 1")
	assert.Contains(t, said, "candidates in 3 folds: all alike, linear, mgp")
	assert.Equal(t, "log score", found.By)
	assert.NotZero(t, found.At)
	for k, one := range found.Candidates {
		assert.Equal(t, []string{"all alike", "linear", "mgp"}[k], one.Name)
		for _, score := range []string{"log score", "concordance", "Brier"} {
			assert.Contains(t, one.Scores, score)
			assert.Len(t, one.ByFold, 3)
		}
	}
	assert.InDelta(t, 0.5, found.Candidates[0].Scores["concordance"]["value"], 1e-9)
	assert.Greater(t, found.Candidates[2].Scores["concordance"]["value"], 0.6)
	assert.Positive(t, found.Candidates[2].Scores["log score"]["value"]-found.Candidates[0].Scores["log score"]["value"])

	// Two parts in the order of the rows: the last is predicted from those before it.
	found, _ = foldsOf(t, "cv ordered.csv -target time -event status -view karno,age:rbf -folds 2 -law weibull -order came -no-baselines -score concordance -at 100")
	assert.Equal(t, 100.0, float64(found.At))
	require.Len(t, found.Candidates, 1)
	n := len(lines) - 1
	part := func(name string, from, to int) {
		require.NoError(t, os.WriteFile(name, []byte(lines[0]+strings.Join(lines[1+from:1+to], "")), 0o600))
	}
	part("before.csv", 0, 2*n/3)
	part("after.csv", 2*n/3, n)
	status, _, stderr := command(t, nil, "", strings.Fields("fit before.csv -target time -event status -view karno,age:rbf -law weibull -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	v := measured(t, "after.csv")
	for _, score := range []string{"log score", "concordance"} {
		assert.InDelta(t, v[score], found.Candidates[0].ByFold[1][score], 1e-9)
	}

	// Two models on a test set.
	for name, args := range map[string]string{"a": "-view karno,age:rbf", "b": "-view diagtime:rbf -law log-normal"} {
		status, _, stderr := command(t, nil, "", strings.Fields("fit d.csv -target time -event status -o "+name+" "+args)...)
		require.Equal(t, console.StatusOK, status, stderr)
	}
	status, stdout, stderr := command(t, nil, "", strings.Fields("compare a b -data test.csv -at 100 -json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var all []ranking.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &all))
	require.Len(t, all, 1)
	assert.Equal(t, "a", all[0].Best)
	for k, model := range []string{"a", "b"} {
		status, stdout, stderr := command(t, nil, "", "evaluate", model, "test.csv", "-times", "100", "-json")
		require.Equal(t, console.StatusOK, status, stderr)
		var ev evaluation.Evaluation
		require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
		own := all[0].Candidates[k].Scores
		assert.InDelta(t, ev.Measures[0].Values["log score"], own["log score"]["value"], 1e-9)
		assert.InDelta(t, ev.Measures[0].Values["concordance"], own["concordance"]["value"], 1e-9)
		assert.InDelta(t, float64(ev.Times[0].Brier), own["Brier"]["value"], 1e-9)
	}
	status, stdout, stderr = command(t, nil, "", strings.Fields("compare a b -data test.csv -score brier -at 100")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "Brier: of the probability that the event is later than 100")
}

// TestCountsCompared compares models of counts with exposures by folds, and on a test set beside a regression.
func TestCountsCompared(t *testing.T) {
	testkit.NotShort(t)
	command(t, map[string]string{"d.csv": testSet(t, "insurance.csv")}, "")
	found, said := foldsOf(t, "cv d.csv -target Claims -exposure Holders -view District,Age,Group:rbf -folds 3")
	assert.Contains(t, said, "candidates in 3 folds: mean rate, linear, mgp")
	assert.Equal(t, "log score", found.By)
	for _, one := range found.Candidates {
		for _, score := range []string{"log score", "deviance", "RMSE", "CRPS", "coverage", "PIT"} {
			assert.Contains(t, one.Scores, score)
		}
	}
	rate, linear := found.Candidates[0].Scores, found.Candidates[1].Scores
	assert.Greater(t, linear["log score"]["value"], rate["log score"]["value"])
	assert.Less(t, linear["deviance"]["value"], rate["deviance"]["value"])

	for name, args := range map[string]string{"a": "-exposure Holders -view District,Age:rbf", "b": "-task counts -view District,Age:rbf", "r": "-model mgp -view District,Age:rbf"} {
		status, _, stderr := command(t, nil, "", strings.Fields("fit d.csv -target Claims -o "+name+" "+args)...)
		require.Equal(t, console.StatusOK, status, stderr)
	}
	status, stdout, stderr := command(t, nil, "", strings.Fields("compare a b -data d.csv -score deviance -json")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var all []ranking.Comparison
	require.NoError(t, json.Unmarshal([]byte(stdout), &all))
	for k, model := range []string{"a", "b"} {
		status, stdout, stderr := command(t, nil, "", "evaluate", model, "d.csv", "-json")
		require.Equal(t, console.StatusOK, status, stderr)
		var ev evaluation.Evaluation
		require.NoError(t, json.Unmarshal([]byte(stdout), &ev))
		for _, score := range []string{"log score", "deviance", "RMSE", "CRPS", "coverage"} {
			assert.InDelta(t, ev.Measures[0].Values[score], all[0].Candidates[k].Scores[score]["value"], 1e-9*max(1, math.Abs(ev.Measures[0].Values[score])), score)
		}
	}
	status, stdout, stderr = command(t, nil, "", strings.Fields("compare a r -data d.csv")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "RMSE", "a regression has no distribution of counts")
}
