package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// Names of columns and classes come from strangers. No text, table or page that a command writes may hold a character
// that steers a terminal or turns the direction of text, nor a cell that a spreadsheet executes.
func TestHostileNames(t *testing.T) {
	const steer, formula = "a\x1b[2J\u202eb", `=HYPERLINK("http://a","b")`
	var rows strings.Builder
	w := csv.NewWriter(&rows)
	require.NoError(t, w.Write([]string{steer, "z", "kind"}))
	for i := range 30 {
		kind := steer
		if i%3 == 0 {
			kind = formula
		}
		require.NoError(t, w.Write([]string{fmt.Sprint(i % 7), fmt.Sprint(i % 5), kind}))
	}
	w.Flush()
	files := map[string]string{"d.csv": rows.String()}
	run := func(args ...string) string {
		status, stdout, stderr := command(t, files, "", args...)
		require.Equal(t, console.StatusOK, status, stderr)
		files = nil
		assert.False(t, strings.ContainsAny(stdout, "\x1b\u202e"), "%v: %q", args, stdout)
		return stdout
	}
	run("fit", "d.csv", "-target", "kind", "-sweeps", "20", "-model", "bmkl", "-o", "m.mkl")
	assert.Contains(t, run("inspect", "m.mkl"), `a\u001b[2J\u202eb`)
	var inspected struct{ Classes []string }
	require.NoError(t, json.Unmarshal([]byte(run("inspect", "m.mkl", "-json")), &inspected))
	assert.ElementsMatch(t, []string{steer, formula}, inspected.Classes)
	run("evaluate", "m.mkl", "d.csv")
	run("report", "m.mkl", "-data", "d.csv", "-o", "r.html")
	page, err := os.ReadFile("r.html")
	require.NoError(t, err)
	assert.False(t, strings.ContainsAny(string(page), "\x1b\u202e"))

	run("predict", "m.mkl", "d.csv", "-o", "p.csv")
	text, err := os.ReadFile("p.csv")
	require.NoError(t, err)
	cells, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	formulas := 0
	for _, row := range cells {
		for _, cell := range row {
			assert.False(t, strings.HasPrefix(cell, "="), cell)
			if cell == "'"+formula {
				formulas++
			}
		}
	}
	assert.Positive(t, formulas)
}

// What is reported of a multi-task model says how many samples it keeps.
func TestSamplesOfTasks(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("a,b,y,w\n")
	for i := range 24 {
		fmt.Fprintf(&rows, "%d,%d,%d,%d\n", i%7, i%5, i%7+i%5, i%7-i%5)
	}
	files := map[string]string{"d.csv": rows.String()}
	for _, task := range []string{"multitask", "shared", "tasks", "multioutput"} {
		status, _, stderr := command(t, files, "", "fit", "d.csv", "-target", "y,w", "-task", task, "-sweeps", "10", "-o", "m.mkl")
		require.Equal(t, console.StatusOK, status, stderr)
		files = nil
		status, stdout, stderr := command(t, nil, "", "inspect", "m.mkl", "-json")
		require.Equal(t, console.StatusOK, status, stderr)
		var r struct{ Samples int }
		require.NoError(t, json.Unmarshal([]byte(stdout), &r))
		assert.Equal(t, 24, r.Samples, task)
	}
}
