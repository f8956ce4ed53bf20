package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl/record"
)

// openRecord opens a model file.
func openRecord(t *testing.T, path string) *record.Predictor {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	p, err := record.Open(f)
	require.NoError(t, err)
	return p
}

// records reads a table as records of text.
func records(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	for _, row := range rows[1:] {
		one := map[string]any{}
		for j, name := range rows[0] {
			one[name] = row[j]
		}
		all = append(all, one)
	}
	return all
}

// TestRecordsPredict compares records with mkl predict, bit by bit: numbers, classes and labels, with text, dates,
// booleans and gaps.
func TestRecordsPredict(t *testing.T) {
	table := strings.Replace(houses(), "area,price", "area.2,price", 1) + "41,h41,NA,Rome,2031-01-01,,DE,3,0\n"
	files := map[string]string{"d.csv": strings.Replace(houses(), "area,price", "area.2,price", 1), "new.csv": table, "f.csv": flowers()}
	prose := "note,zip,y\n"
	for i := range 62 {
		prose += fmt.Sprintf("%s and %s of house %d today,z%d,%d\n", []string{"bright", "dark", "Bright"}[i%3], []string{"dry", "damp"}[i/3%2], i, i%31, i%3+i/3%2)
	}
	files["p.csv"] = prose
	dna, _ := stretches()
	files["s.csv"] = dna
	for _, c := range []struct{ fit, data string }{
		{"p.csv -target y -task regression -model mgp", prose + "a new note,z99,1\n,z3,2\n"},
		{"d.csv -target price -model mgp", table},
		{"d.csv -target price -text category -model mgp", table},
		{"d.csv -target price,area.2 -task multioutput -kernels rbf(width=1),linear -model bmkl", table},
		{"d.csv -target garden -model mgp -view city,area:rbf -view built,row:linear", table},
		{"f.csv -target species -model probit -kernels rbf(width=1)", flowers()},
		{"f.csv -target big,odd -task multilabel -view x,z:rbf(width=1)", flowers()},
		{"s.csv -target kind -model bmkl -view dna=dna:mismatch(k={4,5},m=1),la -view size=size:rbf", dna},
		{"s.csv -target y -view dna:spectrum(k=4),pairwise -view size", dna + "x,free,1,0\nGGTGACTCAGCAT,bound,,0\n"},
	} {
		status, _, stderr := command(t, files, "", append([]string{"fit"}, append(strings.Fields(c.fit), "-sweeps", "20", "-o", "m")...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		status, stdout, stderr := command(t, nil, c.data, "predict", "m", "-")
		require.Equal(t, console.StatusOK, status, stderr)
		p := openRecord(t, "m")
		got, err := p.PredictRows(t.Context(), records(t, c.data))
		require.NoError(t, err, c.fit)
		rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		require.NoError(t, err)
		require.Len(t, got, len(rows)-1)
		for i, want := range rows[1:] {
			assert.Equal(t, want, cells(got[i]), "%s: row %d", c.fit, i+1)
		}
	}
}

// cells writes a prediction as mkl predict does.
func cells(p record.Prediction) (out []string) {
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, n := range p.Numbers {
		lower, upper := n.Interval(0.95)
		out = append(out, text(n.Mean), text(n.SD), text(lower), text(upper))
	}
	if p.Classes != nil {
		out = append(out, p.Class)
		for _, c := range p.Classes {
			out = append(out, text(c.Probability))
		}
	}
	for _, l := range p.Labels {
		out = append(out, map[bool]string{true: "1", false: "0"}[l.Present], text(l.Probability))
	}
	return out
}

// TestRecordRefuses refuses models that records are not for.
func TestRecordRefuses(t *testing.T) {
	status, _, stderr := command(t, map[string]string{"d.csv": line()}, "", strings.Fields("fit d.csv -target x,z,y -task factors -factors 2 -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	f, err := os.Open("m")
	require.NoError(t, err)
	defer f.Close()
	_, err = record.Open(f)
	assert.ErrorContains(t, err, "record: a record is not what a model of the kind factors predicts from")
}
