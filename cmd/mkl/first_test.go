package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// TestDecimalCommas fits a table as spreadsheets in Europe write it: the model is the one of the same table with
// decimal points, and so are its predictions.
func TestDecimalCommas(t *testing.T) {
	files := map[string]string{"point.csv": line(), "comma.csv": strings.NewReplacer(",", ";", ".", ",").Replace(line())}
	fit := strings.Fields("-target y -view x:rbf(width=1) -model mgp -sweeps 5")
	status, _, stderr := command(t, files, "", append([]string{"fit", "point.csv", "-o", "p"}, fit...)...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, _, stderr = command(t, nil, "", append([]string{"fit", "comma.csv", "-o", "c"}, fit...)...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "comma.csv: numbers have a decimal comma (-decimal . reads them as text)\n")
	_, want, _ := command(t, nil, "", "predict", "p", "point.csv")
	for _, data := range []string{"comma.csv", "point.csv"} {
		_, got, _ := command(t, nil, "", "predict", "c", data)
		assert.Equal(t, want, got)
	}

	status, _, stderr = command(t, nil, "", append([]string{"fit", "comma.csv", "-task", "regression", "-decimal", "."}, fit...)...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "is not a number: -decimal , reads decimal commas")
	status, _, stderr = command(t, nil, "", append([]string{"fit", "comma.csv", "-decimal", ";"}, fit...)...)
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: -decimal \";\": it is . or ,\n", stderr)
}

// TestFilledIn warns where a prediction fills in a column that had no gap in the fit.
func TestFilledIn(t *testing.T) {
	status, _, stderr := command(t, map[string]string{"d.csv": line()}, "", strings.Fields("fit d.csv -target y -view x -model mgp -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "x\n1.5\nwhat\n\"\"\n", "predict", "m", "-")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `^mkl: warning: column x: 2 cells without a value that can be read, where the fit had none: filled in with [\d.]+\n$`, stderr)
	rows := strings.Split(stdout, "\n")
	assert.NotEmpty(t, strings.Split(rows[2], ",")[0])
	assert.Equal(t, rows[2], rows[3])
}

// TestFarOutside warns of numbers and dates that are farther from the fit's than these are from each other, and of no
// others.
func TestFarOutside(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,day,y\n")
	for i := range 20 {
		b.WriteString(number(float64(i)/2) + ",2026-03-" + number(float64(10+i)) + "," + number(math.Sin(float64(i))) + "\n")
	}
	status, _, stderr := command(t, map[string]string{"d.csv": b.String()}, "", strings.Fields("fit d.csv -target y -model mgp -sweeps 3 -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, _, stderr = command(t, nil, "x,day\n19,2026-02-20\n-9.5,2026-04-16\n", "predict", "m", "-")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Empty(t, stderr)
	status, _, stderr = command(t, nil, "x,day\n5,2026-03-12\n950,2062-03-12\n-95,2026-03-12\n", "predict", "m", "-")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, "mkl: warning: column x: 2 cells far outside of the fit (0 … 9.5), the first 950: predictions there are guesses\n"+
		"mkl: warning: column day: 1 cell far outside of the fit (2026-03-10 … 2026-03-29), the first 2062-03-12: predictions there are guesses\n", stderr)
}

// TestCodesWarning names a column of numbers that looks like codes, and follows what it advises.
func TestCodesWarning(t *testing.T) {
	var b strings.Builder
	b.WriteString("shop,size,y\n")
	for i := range 120 {
		b.WriteString(number(float64(i*7%30)) + "," + number(float64(i*i%17)/3) + "," + number(float64(i*7%30%4)+float64(i*i%17)/5) + "\n")
	}
	fit := strings.Fields("fit d.csv -target y -model mgp -sweeps 3")
	status, _, stderr := command(t, map[string]string{"d.csv": b.String()}, "", fit...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "plan: warning: shop looks like codes of categories: -as 'shop=text' -text category compares them so, ")
	for _, as := range [][]string{{"-as", "shop=text", "-text", "category"}, {"-as", "shop=number"}} {
		status, _, stderr = command(t, nil, "", append(fit, as...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.NotContains(t, stderr, "plan: warning")
	}
}

// TestLeftOut says how well a model predicts the rows that it has not seen.
func TestLeftOut(t *testing.T) {
	status, stdout, stderr := command(t, map[string]string{"d.csv": line(), "f.csv": flowers()}, "", strings.Fields("fit d.csv -target y -view x:rbf -model mgp")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `\nleft out one by one: explains 9\d(\.\d)? % of the variance of rows it has not seen \(RMSE [\d.]+, the mean: [\d.]+\); 95 % intervals hold \d+ %\n`, stdout)
	for _, model := range []string{"auto", "mgp"} {
		status, stdout, stderr = command(t, nil, "", "fit", "f.csv", "-target", "species", "-view", "x,z:rbf", "-model", model)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Regexp(t, `\nleft out one by one: \d+(\.\d)? % of the rows are classified rightly, log loss [\d.]+ \(the most frequent class: \d+ %, the frequencies: 1[\d.]+\)\n`, stdout)
	}
	status, stdout, stderr = command(t, nil, "", strings.Fields("fit d.csv -target y -view x:rbf -model bmkl")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, stdout, "left out", "a model without such predictions")
}

// TestVersionFlag prints what mkl version prints.
func TestVersionFlag(t *testing.T) {
	_, want, _ := command(t, nil, "", "version")
	for _, flag := range []string{"-version", "--version"} {
		status, stdout, stderr := command(t, nil, "", flag)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, want, stdout)
	}
}

// TestForecastOfTime says what a limit of time of a pool counts.
func TestForecastOfTime(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 800 {
		b.WriteString(number(float64(i)/80) + "," + number(math.Sin(float64(i)/80)) + "\n")
	}
	status, _, stderr := command(t, map[string]string{"d.csv": b.String()}, "", strings.Fields("fit d.csv -target y -view x:linear -time 1ms")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "forecast: -time 1ms counts the operations of a fast core, ")
}
