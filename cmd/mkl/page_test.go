package main

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
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
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
)

// outline is what a page is made of, a line for each heading, picture and table; it must be well-formed and ask for
// nothing outside.
func outline(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotRegexp(t, `https?:|url\(|@import|<script|NaN|ZgotmplZ`, string(text))
	d := xml.NewDecoder(strings.NewReader(string(text)))
	var lines []string
	in := ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			return lines
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			in = e.Name.Local
			for _, a := range e.Attr {
				if a.Name.Local == "aria-label" && a.Value != "Sections" {
					lines = append(lines, "  table "+a.Value)
				}
			}
		case xml.EndElement:
			in = ""
		case xml.CharData:
			switch in {
			case "h1", "h2":
				lines = append(lines, string(e))
			case "figcaption":
				lines = append(lines, "  picture "+string(e))
			}
		}
	}
}

// TestReport writes the page of a regression, of classes, of labels and of several targets.
func TestReport(t *testing.T) {
	command(t, map[string]string{"d.csv": line(), "f.csv": flowers()}, "")
	for _, c := range []struct{ fit, report, want string }{
		{
			"d.csv -target y -model bmkl -view both=x,z:linear,rbf(width=1) -view other=noise:rbf(width=2)", "-data d.csv -train d.csv",
			`Report on m
Errors
  table Errors
Predictions
  picture Truths between predicted quantiles: y
  picture Predicted against true: y
  picture Calibration: intervals of y
  table Truths of y between predicted quantiles
  table Intervals of y
Shares
  picture Shares of the views
  picture Shares of the kernels
  table Views
  table All 3 kernels
Importance
  picture Permutation importance of views
  picture Permutation importance of columns
  table Importance of all views
  table Importance of all columns
Partial dependence
  picture Partial dependence on x
  picture Partial dependence on z
  table Partial dependence of y on x (columns) and z (rows)
What was fitted
  table The model
Trace
  picture Lower bound after each sweep
Active samples
  table y: # of 24 samples active
Provenance
  table The model
  table This report`,
		},
		{
			"f.csv -target species -task multiclass -view x,z:linear,rbf(width=1) -model mgp", "-data f.csv",
			`Report on m
Errors
  table Errors
Predictions
  picture Calibration: probabilities of the most probable class
  picture Receiver operating characteristic
  picture Precision and recall
  table true class (rows) and predicted class (columns)
  table Calibration of the probabilities of the most probable class`,
		},
		{
			"f.csv -target big,odd -task multilabel -view x,z:linear,rbf(width=1)", "-data f.csv",
			`Report on m
Errors
  table Errors
Predictions
  picture Calibration: probabilities of big
  picture Calibration: probabilities of odd
  picture Receiver operating characteristic
  picture Precision and recall
  table big: true class (rows) and predicted class (columns)
  table Calibration of the probabilities of big
  table odd: true class (rows) and predicted class (columns)
  table Calibration of the probabilities of odd`,
		},
		{
			"d.csv -target y,noise -task shared -view x=x:rbf(width=1) -view z=z:rbf(width=1)", "-data d.csv",
			`Report on m
Errors
  table Errors
Predictions
  picture Truths between predicted quantiles: y
  picture Predicted against true: y
  picture Calibration: intervals of y
  picture Truths between predicted quantiles: noise
  picture Predicted against true: noise
  picture Calibration: intervals of noise
  table Truths of y between predicted quantiles
  table Intervals of y
  table Truths of noise between predicted quantiles
  table Intervals of noise
Shares
  picture Shares of the views of y
  picture Shares of the kernels of y
  picture Shares of the views of noise
  picture Shares of the kernels of noise
  table Views of y
  table All 2 kernels of y
  table Views of noise
  table All 2 kernels of noise`,
		},
	} {
		t.Run(c.fit, func(t *testing.T) {
			status, _, stderr := command(t, nil, "", append(append([]string{"fit"}, strings.Fields(c.fit)...), "-o", "m")...)
			require.Equal(t, console.StatusOK, status, stderr)
			status, stdout, stderr := command(t, nil, "", append([]string{"report", "m", "-o", "r.html"}, strings.Fields(c.report)...)...)
			require.Equal(t, console.StatusOK, status, stderr)
			assert.Empty(t, stdout)
			lines := strings.Join(outline(t, "r.html"), "\n")
			lines = regexp.MustCompile(`\d+ of 24`).ReplaceAllString(lines, "# of 24")
			assert.True(t, strings.HasPrefix(lines+"\n", c.want+"\n"), lines)
			first, err := os.ReadFile("r.html")
			require.NoError(t, err)
			status, stdout, stderr = command(t, nil, "", append([]string{"report", "m"}, strings.Fields(c.report)...)...)
			require.Equal(t, console.StatusOK, status, stderr)
			assert.Equal(t, string(first), stdout, "the same page again, whatever it is written to")
		})
	}
	status, stdout, stderr := command(t, nil, "", "plot", "m", "-data", "d.csv", "-o", "pictures")
	require.Equal(t, console.StatusOK, status, stderr)
	files, err := os.ReadDir("pictures")
	require.NoError(t, err)
	assert.Len(t, files, strings.Count(stdout, "\n"))
	assert.Contains(t, stdout, "predicted-2.svg: Predicted against true: noise")

	// One sample is enough for a page, if not for importances.
	one, _, _ := strings.Cut(line(), "\ns1,")
	require.NoError(t, os.WriteFile("one.csv", []byte(one+"\n"), 0o600))
	status, _, stderr = command(t, nil, "", "report", "m", "-data", "one.csv", "-o", "r.html")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, outline(t, "r.html"), "Importance")

	for _, c := range []struct{ args, want string }{
		{"m", "missing flags: -data=FILE"},
		{"m -data f.csv", `f.csv: no column "y"`},
		{"m -data d.csv -train f.csv", "-train: "},
		{"m -data d.csv -o nowhere/r.html", "there is no folder nowhere"},
		{"m -data d.csv -bins=-1", "-bins -1 is negative"},
	} {
		status, _, stderr := command(t, nil, "", append([]string{"report"}, strings.Fields(c.args)...)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
}

// fittedLine is a model of the file d.csv, tested on it.
func fittedLine(t *testing.T, args ...string) *evaluation.Samples {
	t.Helper()
	command(t, map[string]string{"d.csv": line()}, "")
	status, _, stderr := command(t, nil, "", append([]string{"fit", "d.csv", "-target", "y", "-o", "m"}, args...)...)
	require.Equal(t, console.StatusOK, status, stderr)
	m, err := evaluation.Test(env(t), &saved.Input{Model: "m", Data: "d.csv", Flags: saved.Flags{Interval: 0.95}}, "", 10)
	require.NoError(t, err)
	t.Cleanup(m.Files.Close)
	samples, err := m.Samples("a test")
	require.NoError(t, err)
	return samples
}

// columnsOf are the columns of a model by their names.
func columnsOf(t *testing.T, m *evaluation.Samples) map[string]evaluation.Importance {
	t.Helper()
	all, err := m.Importances(env(t), rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	at := map[string]evaluation.Importance{}
	for _, one := range all.Columns {
		at[one.Name] = one
	}
	return at
}

// varianceOf is the variance of numbers.
func varianceOf(x []float64) float64 {
	_, sd := measure.MeanSD(x)
	return sd * sd
}

func env(t *testing.T) *console.Env {
	return &console.Env{Ctx: t.Context(), Stdout: io.Discard, Stderr: io.Discard}
}

// TestImportance compares importances with what the parts of y = 2x + z/2 + sin x make of its variance: to
// permute one leaves twice the variance of its part as squared error.
func TestImportance(t *testing.T) {
	m := fittedLine(t, "-model", "mgp", "-view", "both=x,z:linear,rbf(width=2)", "-view", "other=noise:rbf(width=2)")
	all, err := m.Importances(env(t), rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	views, columns := all.Views, all.Columns
	assert.False(t, all.Left)
	assert.Equal(t, 24, all.Rows)
	x, z, _ := lineColumns(t)
	variance := func(f func(i int) float64) float64 {
		var part []float64
		for i := range 24 {
			part = append(part, f(i))
		}
		return varianceOf(part)
	}
	truth := varianceOf(m.Main.Data.Numbers[m.Truth[0]])
	want := map[string]float64{
		"x":     2 * variance(func(i int) float64 { return 2*x.At(i, 0) + math.Sin(x.At(i, 0)) }) / truth,
		"z":     2 * variance(func(i int) float64 { return z.At(i, 0) / 2 }) / truth,
		"noise": 0,
	}
	require.Len(t, columns, 3)
	assert.Equal(t, "x", columns[0].Name)
	for _, c := range columns {
		assert.InDelta(t, want[c.Name], c.Rise, 3*c.SE+0.02, c.Name)
	}
	require.Len(t, views, 2)
	assert.Equal(t, "both", views[0].Name)
	assert.Greater(t, views[0].Rise, columns[0].Rise-3*columns[0].SE)
}

// TestDependence compares partial dependence with the mean prediction of files in which every sample has the value.
func TestDependence(t *testing.T) {
	m := fittedLine(t, "-model", "bmkl", "-view", "x,z,noise:linear,rbf(width=2)")
	lines, values, err := m.Dependence(env(t), columnsOf(t, m)["z"], 0.95, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	require.Len(t, lines, 1)
	assert.Len(t, values, 24)
	x, _, noise := lineColumns(t)
	for g, v := range lines[0].At {
		text := "x,z,noise\n"
		for i := range 24 {
			text += fmt.Sprintf("%g,%g,%g\n", x.At(i, 0), v, noise.At(i, 0))
		}
		require.NoError(t, os.WriteFile("v.csv", []byte(text), 0o600))
		status, stdout, stderr := command(t, nil, "", "predict", "m", "v.csv")
		require.Equal(t, console.StatusOK, status, stderr)
		rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		require.NoError(t, err)
		var mean, low, high float64
		for _, row := range rows[1:] {
			for j, sum := range map[int]*float64{0: &mean, 2: &low, 3: &high} {
				p, err := strconv.ParseFloat(row[j], 64)
				require.NoError(t, err)
				*sum += p / 24
			}
		}
		assert.InDelta(t, mean, lines[0].Mean[g], 1e-9)
		assert.InDelta(t, low, lines[0].Low[g], 1e-9)
		assert.InDelta(t, high, lines[0].High[g], 1e-9)
	}
}

// TestSurface compares partial dependence on two columns with the mean prediction of files in which every
// sample has both values.
func TestSurface(t *testing.T) {
	m := fittedLine(t, "-model", "bmkl", "-view", "x,z,noise:linear,rbf(width=2)")
	at := columnsOf(t, m)
	lines, gridX, gridZ, err := m.Surface(env(t), at["x"], at["z"], 0.95, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	require.Len(t, lines, 1)
	require.Len(t, gridX, 6)
	require.Len(t, gridZ, 5, "all the values that there are")
	_, _, noise := lineColumns(t)
	for _, g := range []int{0, 4, 13, 29} {
		text := "x,z,noise\n"
		for i := range 24 {
			text += fmt.Sprintf("%v,%v,%v\n", gridX[g%len(gridX)], gridZ[g/len(gridX)], noise.At(i, 0))
		}
		require.NoError(t, os.WriteFile("v.csv", []byte(text), 0o600))
		status, stdout, stderr := command(t, nil, "", "predict", "m", "v.csv")
		require.Equal(t, console.StatusOK, status, stderr)
		rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		require.NoError(t, err)
		mean := 0.0
		for _, row := range rows[1:] {
			p, err := strconv.ParseFloat(row[0], 64)
			require.NoError(t, err)
			mean += p / 24
		}
		assert.InDelta(t, mean, lines[0].Mean[g], 1e-9)
	}
}

// TestReportOnTrainingData demands that errors of the file of the fit, by whatever name, are called training
// errors, and others not.
func TestReportOnTrainingData(t *testing.T) {
	other := strings.Replace(flowers(), "setosa", "virginica", 1)
	command(t, map[string]string{"f.csv": flowers(), "again.csv": flowers(), "other.csv": other}, "")
	status, _, stderr := command(t, nil, "", "fit", "f.csv", "-target", "species", "-model", "probit", "-view", "x,z:rbf(width=2)", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	for file, learned := range map[string]bool{"f.csv": true, "again.csv": true, "other.csv": false} {
		status, page, stderr := command(t, nil, "", "report", "m", "-data", file)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, learned, strings.Contains(page, "The model was fitted to "+file), file)
		assert.Equal(t, !learned, strings.Contains(page, "held out"), file)
	}
}

// TestDependenceOnText compares the table of a column of text with the mean prediction of files in which every
// sample has the text.
func TestDependenceOnText(t *testing.T) {
	command(t, map[string]string{"f.csv": flowers()}, "")
	status, _, stderr := command(t, nil, "", "fit", "f.csv", "-target", "x", "-model", "bmkl", "-view", "species,z:linear,rbf(width=2)", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	status, page, stderr := command(t, nil, "", "report", "m", "-data", "f.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	rows, err := csv.NewReader(strings.NewReader(flowers())).ReadAll()
	require.NoError(t, err)
	_, shown, ok := strings.Cut(page, `aria-label="Partial dependence on species"`)
	require.True(t, ok)
	for _, species := range []string{"setosa", "virginica", "iris, other"} {
		text := "species,z\n"
		for _, row := range rows[1:] {
			text += `"` + species + `",` + row[4] + "\n"
		}
		require.NoError(t, os.WriteFile("v.csv", []byte(text), 0o600))
		status, stdout, stderr := command(t, nil, "", "predict", "m", "v.csv")
		require.Equal(t, console.StatusOK, status, stderr)
		predicted, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		require.NoError(t, err)
		mean := 0.0
		for _, row := range predicted[1:] {
			p, err := strconv.ParseFloat(row[0], 64)
			require.NoError(t, err)
			mean += p / float64(len(predicted)-1)
		}
		assert.Contains(t, shown, `<th scope="row">`+species+`</th><td>`+console.Figure(mean)+`</td>`)
	}
}

// TestProvenance finds in a model what made it, and nothing of where it went or how it was computed.
func TestProvenance(t *testing.T) {
	text := line()
	command(t, map[string]string{"d.csv": text}, "")
	var first []byte
	for _, more := range []string{"-o m", "-output=m -workers 1", "-json -o m", "--output m -memory=1GiB"} {
		fit := []string{"fit", "d.csv", "-target", "y", "-model", "bmkl", "-view", "a b=x,z:linear", "-seed", "3"}
		status, _, stderr := command(t, nil, "", append(fit, strings.Fields(more)...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		model, err := os.ReadFile("m")
		require.NoError(t, err)
		if first == nil {
			first = model
		}
		assert.Equal(t, first, model, more)
		require.NoError(t, os.Remove("m"))
	}
	require.NoError(t, os.WriteFile("m", first, 0o600))
	m, err := saved.Load(env(t), "m")
	require.NoError(t, err)
	made := m.Notes.Made
	require.NotNil(t, made)
	assert.Equal(t, "mkl fit d.csv -target y -model bmkl -view 'a b=x,z:linear' -seed 3", made.Command)
	assert.Equal(t, uint64(3), made.Seed)
	sum := sha256.Sum256([]byte(text))
	assert.Equal(t, []provenance.File{{Path: "d.csv", SHA256: hex.EncodeToString(sum[:])}}, made.Data)
	assert.NotEmpty(t, made.Version)
}
