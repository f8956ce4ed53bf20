package main

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/exploration"
)

// visits is a table with an example of most findings of mkl explore.
func visits() string {
	var b strings.Builder
	b.WriteString("id,shop,size,twice,colour,note,day,seen,always,paid,gave,price\n")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 240 {
		shop, size := r.IntN(33), r.NormFloat64()
		colour := []string{"red", "green", "blue"}[r.IntN(3)]
		price := 10 + 3*size + 2*float64(shop%4) + r.NormFloat64()
		day := fmt.Sprintf("2026-%02d-%02d", 1+i%12, 1+i%28)
		gave := ""
		if price > 14 {
			gave = "yes"
		} else if i%40 == 0 {
			gave = "no"
		}
		written := fmt.Sprintf("%.3f", size)
		if i == 100 {
			written = "12o"
		}
		fmt.Fprintf(&b, "v%d,%d,%s,%s,%s,n%d,%s,%v,3,%.4f,%s,%.3f\n", i, shop, written, written, colour, i*i%241, day, i%2 == 0, 0.01*price, gave, price)
	}
	return b.String()
}

// TestExplore finds what is odd about a table, and reads it as mkl fit does.
func TestExplore(t *testing.T) {
	status, stdout, stderr := command(t, map[string]string{"v.csv": visits()}, "", "explore", "v.csv", "-target", "price", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Empty(t, stderr)
	var r exploration.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	found := map[string]string{}
	for _, f := range r.Findings {
		found[string(f.Kind)+" "+f.Column] = f.Text
	}
	for name, text := range map[string]string{
		"unreadable size":  `1 cell that cannot be read, the first in v.csv: row 101 (line 102), column 3 "size": "12o" is not a number`,
		"left-out id":      "text that is different in every row",
		"left-out note":    "text that is different in most rows",
		"left-out twice":   "the same as size",
		"left-out always":  "always 3",
		"leak paid":        "it is the target in other units",
		"codes shop":       "looks like codes of categories",
		"empty-cell gave":  "that a cell is empty explains",
		"unreadable twice": "1 cell that cannot be read",
	} {
		assert.Contains(t, found[name], text, name)
	}
	assert.Len(t, found, 9, "%v", found)
	types := map[string]string{}
	for _, c := range r.Columns {
		types[c.Name] = string(c.Type)
	}
	assert.Equal(t, map[string]string{
		"id": "text", "shop": "number", "size": "number", "twice": "number", "colour": "text", "note": "text", "day": "date",
		"seen": "boolean", "always": "number", "paid": "number", "gave": "boolean",
	}, types)
	assert.Equal(t, 240, r.Target.Rows)

	status, stdout, stderr = command(t, nil, "", "explore", "v.csv", "-target", "price")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "v.csv: 240 rows, 11 columns and the target\n")
	assert.Regexp(t, `\nprice \(regression\): what each column explains of its variance alone, in rows left out \(5 parts of 240 rows\)\ncolumn +explains +rank correlation\npaid +99\.9 % +\+1\.00\n`, stdout)
	assert.Contains(t, stdout, "\nworth a look:\n- paid: gives the target away: it is the target in other units (-as 'paid=none' leaves the column out)\n")
	assert.Regexp(t, `\nday +date +0 +\d+ +2026-01-01 … 2026-\d\d-\d\d … 2026-12-\d\d\n`, stdout)
	fit := strings.Fields("fit v.csv -target price -model mgp -sweeps 2 -as size=none -as twice=none")
	status, _, stderr = command(t, nil, "", fit...)
	require.Equal(t, console.StatusOK, status, stderr)
	for _, c := range r.Columns {
		if c.LeftOut != "" && c.Name != "twice" {
			assert.Contains(t, stderr, "("+c.LeftOut+")", c.Name)
		}
	}
}

// TestExploreClasses measures a target of classes, and one that the command line takes for classes.
func TestExploreClasses(t *testing.T) {
	status, stdout, stderr := command(t, map[string]string{"f.csv": flowers()}, "", "explore", "f.csv", "-target", "species")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `\nspecies \(multiclass\): .*\ncolumn +explains +right +rank correlation\n`, stdout)
	status, stdout, stderr = command(t, nil, "a,y\n"+strings.Repeat("1,3\n2,4\n5,5\n", 20), "explore", "-", "-target", "y", "-task", "classes")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "a: gives the target away, or is known after it: alone it explains ")
}

// TestExploreTimes counts the events of times, with the columns that mkl fit takes for the same task.
func TestExploreTimes(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,t,died\n")
	for i := range 40 {
		died := []string{"yes", "no", "yes", "yes"}[i%4]
		if i == 5 {
			died = ""
		}
		fmt.Fprintf(&b, "%d.5,%d,%s\n", i*i%17, i%9-1, died)
	}
	files := map[string]string{"s.csv": b.String(), "never.csv": "x,t,died\n1,2,0\n2,5,0\n"}
	args := strings.Fields("explore s.csv -target t -event died")
	status, stdout, stderr := command(t, files, "", args...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "s.csv: 40 rows, 1 column and the target\n")
	assert.Contains(t, stdout, "\nt (survival): the event happened in 30 of 39 rows (77 %); the other times are lower bounds\n")
	assert.Contains(t, stdout, "- t: 5 times below 0, the first in row 1: mkl fit refuses them\n")
	assert.NotContains(t, stdout, "explains")

	status, stdout, stderr = command(t, nil, "", append(args[:len(args):len(args)], "-json", "-o", "s.html")...)
	require.Equal(t, console.StatusOK, status, stderr)
	var r exploration.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &r))
	assert.Equal(t, &exploration.Events{Happened: 30, Rows: 39}, r.Target.Events)
	assert.Equal(t, "survival", r.Target.Task)
	require.Len(t, r.Columns, 1)
	assert.Nil(t, r.Columns[0].Alone)
	text, err := os.ReadFile("s.html")
	require.NoError(t, err)
	assert.Contains(t, string(text), "Times until an event: the event happened in 30 of 39 rows (77 %)")

	status, stdout, stderr = command(t, nil, "", strings.Fields("explore s.csv -target t -event died=no")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "happened in 9 of 39 rows (23 %)")
	status, stdout, stderr = command(t, nil, "", strings.Fields("explore never.csv -target t -event died")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "- t: the event happened in no row, and a fit needs rows where it did\n")
	for args, want := range map[string]string{
		"explore s.csv -event died":                         "-event died: -target names the column of the times",
		"explore s.csv -event died -target t -task classes": "-event died: the target holds times, and -task classes takes it for classes",
		"explore s.csv -event t -target t":                  "-event t: the column has another role already, such as the target",
		"explore s.csv -event y -target t":                  `-event: s.csv: no column "y"`,
		"explore s.csv -event x -target t":                  `s.csv: row 1 (line 2), column 1 "x": "0.5" is neither 1, true or yes nor 0, -1, false or no`,
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, console.StatusInput, status, args)
		assert.Contains(t, stderr, want, args)
	}
}

// TestExploreSamples says how many rows the sample of a larger table has.
func TestExploreSamples(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 500 {
		fmt.Fprintf(&b, "%d,%g\n", i*7919%501, math.Sin(float64(i*7919%501)/50))
	}
	status, stdout, stderr := command(t, map[string]string{"s.csv": b.String()}, "", "explore", "s.csv", "-target", "y", "-sample", "200")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "s.csv: 500 rows, 1 column and the target; a sample of 200 rows shows what columns explain, and near-repetitions\n")
	assert.Contains(t, stdout, "(5 parts of 200 rows)")
	_, again, _ := command(t, nil, "", "explore", "s.csv", "-target", "y", "-sample", "200")
	assert.Equal(t, stdout, again)
	status, _, stderr = command(t, nil, "", "explore", "s.csv", "-sample", "99")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: -sample 99 is below 100\n", stderr)
}

// TestExploreBadData looks at tables of random cells. Each ends with an error of the data or with a report, whose JSON and page are
// valid.
func TestExploreBadData(t *testing.T) {
	t.Chdir(t.TempDir())
	some := []string{"", "NA", "1", "0", "-1", "1e308", "-1e308", "1e-320", "x", "yes", "true", "2026-01-02", "31/12/2026", "99999", "ab cd ef gh ij", "=1", "\x01", "inf", "nan", "0.5"}
	r := rand.New(rand.NewPCG(7, 7))
	done := 0
	for range 60 {
		columns, rows := 1+r.IntN(5), r.IntN(60)
		var b strings.Builder
		for j := range columns {
			fmt.Fprintf(&b, "%sc%d", strings.Repeat(",", min(j, 1)), j)
		}
		palette := make([][]string, columns)
		for j := range palette {
			for range 1 + r.IntN(4) {
				palette[j] = append(palette[j], some[r.IntN(len(some))])
			}
		}
		for range rows {
			b.WriteString("\n")
			for j := range columns {
				b.WriteString(strings.Repeat(",", min(j, 1)) + `"` + palette[j][r.IntN(len(palette[j]))] + `"`)
			}
		}
		args := []string{"explore", "-", "-json"}
		if r.IntN(4) > 0 {
			args = append(args, "-target", fmt.Sprintf("c%d", r.IntN(columns)))
		}
		status, stdout, stderr := command(t, nil, b.String(), args...)
		if status == console.StatusInput {
			assert.NotEmpty(t, stderr)
			continue
		}
		require.Equal(t, console.StatusOK, status, "%s\n%q", stderr, b.String())
		require.True(t, json.Valid([]byte(stdout)), b.String())
		status, _, _ = command(t, nil, b.String(), append(args[:2:2], args[3:]...)...)
		require.Equal(t, console.StatusOK, status)
		status, _, stderr = command(t, nil, b.String(), append(args[:2:2], append(args[3:], "-o", "page.html")...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		require.NotEmpty(t, outline(t, "page.html"))
		done++
	}
	assert.Greater(t, done, 25)
}

// TestExplorePage writes what was found as a page, which says the same as the text.
func TestExplorePage(t *testing.T) {
	status, stdout, stderr := command(t, map[string]string{"v.csv": visits(), "f.csv": flowers()}, "", "explore", "v.csv", "-target", "price", "-o", "v.html")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Empty(t, stdout+stderr)
	assert.Equal(t, `Exploration of v.csv
Worth a look
  table Findings
What each column predicts alone
  picture What each column explains alone
  table What columns explain alone
Target
  picture Distribution of price
  table Quantiles of price
Columns
  table Columns as mkl fit reads them
  table Quantiles
Gaps
  picture Gaps
  table Gaps of columns
Provenance
  table This page`, strings.Join(outline(t, "v.html"), "\n"))
	page, err := os.ReadFile("v.html")
	require.NoError(t, err)
	_, text, _ := command(t, nil, "", "explore", "v.csv", "-target", "price")
	for line := range strings.SplitSeq(text, "\n") {
		if column, finding, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": "); ok && strings.HasPrefix(line, "- ") {
			row := `<th scope="row">` + template.HTMLEscapeString(column) + `</th><td>` + template.HTMLEscapeString(finding) + `</td>`
			assert.Contains(t, string(page), row, line)
		}
	}
	assert.Contains(t, string(page), `<p class="warning">Warning: paid: gives the target away`)
	assert.Regexp(t, `<th scope="row">paid</th><td>99\.9 %</td><td>&#43;1\.00</td>`, string(page))
	assert.Contains(t, string(page), `<th scope="row">command</th><td>mkl explore v.csv -target price</td>`)
	assert.NotContains(t, string(page), `<th scope="row">seed</th>`)

	status, stdout, stderr = command(t, nil, "", "explore", "v.csv", "-target", "price", "-o", "-")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, string(page), stdout, "the same page, whatever it is written to")
	status, stdout, stderr = command(t, nil, "", "explore", "v.csv", "-target", "price", "-o", "w.html", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.True(t, json.Valid([]byte(stdout)))
	assert.Equal(t, outline(t, "v.html"), outline(t, "w.html"))

	status, _, stderr = command(t, nil, "", "explore", "f.csv", "-target", "species", "-o", "f.html")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, outline(t, "f.html"), "  picture Rows of each class of species")
	status, _, stderr = command(t, nil, "", "explore", "f.csv", "-o", "f.html")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, outline(t, "f.html"), "Target")

	for _, c := range []struct{ args, want string }{
		{"-o - -json", "-o -: with -json standard output holds the JSON"},
		{"-o nowhere/v.html", "there is no folder nowhere"},
	} {
		status, _, stderr := command(t, nil, "", append([]string{"explore", "f.csv"}, strings.Fields(c.args)...)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
}
