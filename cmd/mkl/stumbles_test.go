package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
)

// stumbles are what a newcomer once stumbled over, and the tests that hold it mended, by the folder of their
// package.
var stumbles = []struct{ what, folder, test string }{
	{"a probability of 0, and an infinite log loss", ".", "TestProbabilityColumns"},
	{"infinities in JSON", "internal/console", "TestNumber"},
	{"infinities in JSON", "internal/console", "TestFigures"},
	{"widths that do not know how many columns there are", ".", "TestWidthsGrowWithColumns"},
	{"kernels that are the same, refused where nobody named them", ".", "TestDefaultKernels"},
	{"data without noise refused", ".", "TestDataWithoutNoise"},
	{"minutes for 625 rows", ".", "TestForecast"},
	{"a target of text, refused without a hint", ".", "TestErrors"},
	{"a target of text, refused without a hint", ".", "TestGuessTask"},
	{"missing features", ".", "TestDataAsTheyCome"},
	{"names of samples taken for classes", ".", "TestTargets"},
	{"columns of one name", ".", "TestColumnsOfOneName"},
	{"a given kernel of a rectangular table", ".", "TestPrecomputed"},
	{"help and version", ".", "TestHelpCommand"},
	{"help and version", ".", "TestVersion"},
	{"a report that nobody can read", ".", "TestFitPredictInspect"},
	{"manuals that say other than the help", ".", "TestManualCommands"},
	{"formats refused without their name", "internal/table", "TestOtherFormats"},
	{"LIBSVM files, and lines of comments", "internal/table", "TestLIBSVM"},
	{"LIBSVM files, and lines of comments", "internal/table", "TestComments"},
	{"-o -", ".", "TestStandardOutput"},
	{"the picture of the demonstration left in the clone", ".", "TestDemoLeavesNothingToCommit"},
	{"columns of kernels by numbers that are those of no file", ".", "TestColumnsByName"},
	{"a view and its kernel told by the same words twice", ".", "TestColumnsByName"},
	{"cells that spaces separate, read as one column without a hint", ".", "TestSpacedCells"},
	{"mkl alone, which did not say how to go on", ".", "TestErrors"},
	{"hours that an interruption threw away", ".", "TestResume"},
	{"no cross-validation of several targets", ".", "TestCVOfSeveralTargets"},
	{"errors on the file of the fit, called held out", ".", "TestReportOnTrainingData"},
	{"errors on the file of the fit that look like those on new rows", ".", "TestOfTraining"},
	{"a file without names, and a column that is asked for by name", ".", "TestNameless"},
	{"a target that is not given, and no word on the columns that there are", ".", "TestNameless"},
	{"a table of numbers that are no columns' names: sentences on 1", ".", "TestNameless"},
	{"no command of that name, told as an argument", ".", "TestErrors"},
	{"a table given to mkl report as to mkl predict, refused without a hint", ".", "TestErrors"},
	{"two models, of which one lacks a column, and no word on which", ".", "TestNameless"},
	{"standard deviations of 0 that nobody knows", ".", "TestWeightsForPeople"},
	{"widths of kernels told twice, and thirty lines of kernels that hardly count", ".", "TestWeightsForPeople"},
	{"a calibration of single samples joined by a line", "internal/page", "TestCalibrationOfFew"},
	{"an installation that cannot work", "../../internal/release", "TestInstall"},
}

// TestStumbles sees to it that the tests are there.
func TestStumbles(t *testing.T) {
	tests := map[string]map[string]bool{} // by folder
	for _, s := range stumbles {
		if tests[s.folder] == nil {
			tests[s.folder] = map[string]bool{}
			files, err := filepath.Glob(filepath.Join(filepath.FromSlash(s.folder), "*_test.go"))
			require.NoError(t, err)
			for _, file := range files {
				f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
				require.NoError(t, err)
				for _, d := range f.Decls {
					if fn, ok := d.(*ast.FuncDecl); ok {
						tests[s.folder][fn.Name.Name] = true
					}
				}
			}
		}
		assert.True(t, tests[s.folder][s.test], "%s: %s has no %s", s.what, s.folder, s.test)
	}
}

// The demonstration of the README draws its picture where it stands; git is not to take it for work.
func TestDemoLeavesNothingToCommit(t *testing.T) {
	ignored, err := os.ReadFile(filepath.Join("..", "..", ".gitignore"))
	require.NoError(t, err)
	assert.Contains(t, strings.Fields(string(ignored)), "/motorcycle.svg")
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
		var ev evaluation
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
		var r report
		require.NoError(t, json.Unmarshal([]byte(stdout), &r))
		w, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(r.Kernels[0].Kernel, "rbf(width="), ")"), 64)
		require.NoError(t, err)
		return w
	}
	assert.InDelta(t, 2, width(64)/width(16), 0.1)
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
	all := fit()
	for _, name := range []string{"rbf(width=1) of width ", "rbf(width=1) of depth "} {
		assert.Contains(t, all, name)
	}
	assert.NotContains(t, all, " of #")
	views := fit("-view", "size=width,depth", "-view", "rest=kind")
	assert.Contains(t, views, "size of depth  rbf(width=1)")
	assert.NotContains(t, views, " of #")
	alone := fit("-model=bmkl", "-sweeps=20")
	assert.Contains(t, alone, " of ranks ")
	assert.NotRegexp(t, `of ranks  laplacian`, alone)

	n := &notes{Views: []viewNote{{Name: "a", Columns: []string{"x", "z"}}, {Name: "b a", Columns: []string{"7", "8"}}}}
	for text, want := range map[string]string{
		"a of #2":                  "a of z",
		"b a of ranks of #1,#2":    "b a of ranks of #7, #8",
		"a: rbf of #1":             "a: rbf of #1", // of no view that is known
		"a of #1: rbf of #1":       "a of x: rbf of x",
		"a of #3":                  "a of #3",
		"a of #1,#2,… (9 columns)": "a of x, z,… (9 columns)",
	} {
		assert.Equal(t, want, n.nameColumns(text))
	}
	assert.Equal(t, "b a", n.viewOf("b a of #7", "rbf"))
}

// A table whose cells spaces separate is told from one of a single column.
func TestSpacedCells(t *testing.T) {
	status, _, stderr := command(t, map[string]string{"d.txt": "x y\n1 2\n3 4\n"}, "", "fit", "d.txt", "-target", "y")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `no column "y" (there are x y); the table has one column: if spaces separate its cells, -separator space`)
}
