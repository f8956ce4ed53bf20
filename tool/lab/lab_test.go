package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sample = `# Page

<!-- lab
measured: 2026-11-23, commit 2fa2c90, a machine
command: fits
seconds: 3
rows: .runs[] | select(.set != "none")
key set: .set
key margin: .margin
column accuracy, %: .accuracy*100 ± 0.2
column loss: .loss
column bounds: [.bounds | min, max] ± 0.1
column why: .why
besides: 1
-->
| set | margin | accuracy, % | loss | bounds | why | s |
| --- | --: | --: | --: | --- | --- | --: |
| iris | 0 | **96.5** | 0.088 | −10.2 … −9.9 | converged | 3 |
| wine | 0.5 | 97.0 | 1.1e-3 | 5 | converged | 4 |
| the paper | | 93 | | | | |

` + "```\n| no | table |\n| --- | --- |\n```\n"

// printed is what the command prints: two records for the table above, and one that its query leaves out.
func printed(t *testing.T, iris, wine string) map[string]any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(`{"runs": [
		{"set": "none"},
		{"set": "wine", "margin": 0.5, `+wine+`},
		{"set": "iris", "margin": 0, `+iris+`}]}`), &v))
	return map[string]any{"fits": v}
}

func TestStaleFigures(t *testing.T) {
	const iris = `"accuracy": 0.9668, "loss": 0.08849, "bounds": [-10.14, -9.95], "why": "converged"`
	const wine = `"accuracy": 0.97, "loss": 0.0011, "bounds": [5], "why": "converged"`
	for _, c := range []struct {
		name, iris, wine string
		stale            []string // what is printed of each
	}{
		{"one number for two", iris, wine, []string{"page.md:19: wine, 0.5: bounds is 5, now [5 5]"}},
		{"a number beyond its deviation", strings.Replace(iris, "0.9668", "0.96", 1), wine, []string{
			"page.md:19: wine, 0.5: bounds is 5, now [5 5]", "page.md:18: iris, 0: accuracy, % is **96.5**, now **96.0**"}},
		{"a number beyond its last digit", strings.Replace(iris, "0.08849", "0.0886", 1), wine, []string{
			"page.md:19: wine, 0.5: bounds is 5, now [5 5]", "page.md:18: iris, 0: loss is 0.088, now 0.089"}},
		{"one of several numbers, and a text", strings.NewReplacer("-9.95", "-9.5", "converged", "max sweeps").Replace(iris), wine, []string{
			"page.md:19: wine, 0.5: bounds is 5, now [5 5]", "page.md:18: iris, 0: bounds is −10.2 … −9.9, now −10.2 … −9.5",
			"page.md:18: iris, 0: why is converged, now max sweeps"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := parse("page.md", sample)
			require.NoError(t, err)
			require.Len(t, p.tables, 1)
			var out bytes.Buffer
			all := &checker{pick: regexp.MustCompile(""), most: time.Minute, out: &out, outputs: printed(t, c.iris, c.wine)}
			require.NoError(t, all.check(t.Context(), []*page{p}))
			assert.Equal(t, len(c.stale), all.stale)
			for _, s := range c.stale {
				assert.Contains(t, out.String(), s)
			}
			assert.Contains(t, out.String(), "1 tables compared")
		})
	}
}

func TestStaleFiguresAreWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	p, err := parse(file, strings.Replace(sample, "| 5 |", "| 5, 5 |", 1))
	require.NoError(t, err)
	c := &checker{pick: regexp.MustCompile(""), most: time.Minute, out: new(bytes.Buffer), outputs: printed(t,
		`"accuracy": 0.912, "loss": 0.5, "bounds": [-1, 2], "why": "max sweeps"`, `"accuracy": 0.97, "loss": 0.0015, "bounds": [5], "why": "converged"`)}
	require.NoError(t, c.check(t.Context(), []*page{p}))
	require.NoError(t, writePages([]*page{p}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| iris | 0 | **91.2** | 0.500 | −1.0 … 2.0 | max sweeps | 3 |\n| wine | 0.5 | 97.0 | 1.5e−3 | 5, 5 | converged | 4 |\n| the paper | | 93 | | | | |\n")
	before, _, _ := strings.Cut(sample, "| iris")
	assert.True(t, strings.HasPrefix(string(text), before))
}

func TestCommandsAreRunOnce(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("commands are for a shell")
	}
	text := "<!-- lab\nmeasured: today\ncommand: echo >>$DATA/runs; echo '[{\"a\": 1}]'\nseconds: 1\nrows: .[]\nkey a: .a\ncolumn b: .a\n-->\n| a | b |\n| - | - |\n| 1 | 1 |\n\n"
	p, err := parse("page.md", text+text)
	require.NoError(t, err)
	dir := t.TempDir()
	c := &checker{data: dir, pick: regexp.MustCompile("echo"), most: time.Minute, out: new(bytes.Buffer)}
	require.NoError(t, c.check(t.Context(), []*page{p}))
	runs, err := os.ReadFile(filepath.Join(dir, "runs"))
	require.NoError(t, err)
	assert.Equal(t, "\n", string(runs))
	for _, c := range []*checker{
		{data: dir, pick: regexp.MustCompile("none"), most: time.Minute},
		{data: "", pick: regexp.MustCompile(""), most: time.Minute},
		{data: dir, pick: regexp.MustCompile(""), most: time.Millisecond},
	} {
		c.out = new(bytes.Buffer)
		require.NoError(t, c.check(t.Context(), []*page{p}))
		assert.Empty(t, c.outputs)
	}
}

func TestLinesThatAreNoJSON(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("commands are for a shell")
	}
	p, err := parse("page.md", "<!-- lab\nmeasured: today\ncommand: printf 'of 9 in all\\nx: 3 of 4\\n'\nseconds: 1\n"+
		"rows: .[] | capture(\"^(?<a>.): (?<b>[0-9]+) of\")\nkey a: .a\ncolumn b: .b | tonumber\n-->\n| a | b |\n| - | - |\n| x | 2 |\n")
	require.NoError(t, err)
	var out bytes.Buffer
	c := &checker{pick: regexp.MustCompile(""), most: time.Minute, out: &out}
	require.NoError(t, c.check(t.Context(), []*page{p}))
	assert.Contains(t, out.String(), "x: b is 2, now 3")
}

func TestWhatIsNoPage(t *testing.T) {
	const table = "| a | b |\n| - | - |\n| 1 | 1 |\n"
	const fields = "measured: today\ncommand: fits\nseconds: 1\n"
	for _, c := range []struct{ name, text, want string }{
		{"no end", "<!-- lab\nmeasured: today\n", "does not end"},
		{"no table", "<!-- lab\n" + fields + "-->\n", "of no table"},
		{"two for a table", "<!-- lab\n" + fields + "-->\n<!-- lab\n" + fields + "-->\n" + table, "of no table"},
		{"an unknown field", "<!-- lab\n" + fields + "colour: red\n-->\n" + table, `"colour" is no field`},
		{"no value", "<!-- lab\nmeasured\n-->\n" + table, "no field and value"},
		{"no command", "<!-- lab\nmeasured: today\n-->\n" + table, "a command or an origin"},
		{"both", "<!-- lab\n" + fields + "origin: a paper\n-->\n" + table, "a command or an origin"},
		{"no time", "<!-- lab\nmeasured: today\ncommand: fits\n-->\n" + table, "seconds"},
		{"no date", "<!-- lab\ncommand: fits\nseconds: 1\n-->\n" + table, "measured"},
		{"rows alone", "<!-- lab\n" + fields + "rows: .[]\n-->\n" + table, "keys"},
		{"columns alone", "<!-- lab\n" + fields + "column a: .a\n-->\n" + table, "rows"},
	} {
		_, err := parse("page.md", c.text)
		assert.ErrorContains(t, err, c.want, c.name)
	}
	for _, c := range []struct{ name, fields, want string }{
		{"no origin", "", "no comment"},
		{"a row of no record", "rows: .runs[]\nkey a: .a\ncolumn b: .b\nbesides: 1\n", "0 rows"},
		{"a record of no row", "rows: .others[]\nkey a: .a\ncolumn b: .b\n", "no row of the table is 2"},
		{"a column that is not there", "rows: .runs[]\nkey a: .a\ncolumn c: .b\n", `no column "c"`},
		{"a key that is not there", "rows: .runs[]\nkey c: .a\ncolumn b: .b\n", "lacks a column"},
		{"a wrong query", "rows: .runs[\nkey a: .a\ncolumn b: .b\n", ".runs["},
		{"a query of nothing", "rows: .runs[]\nkey a: .a\ncolumn b: .c\n", "not one value"},
	} {
		text := table
		if c.fields != "" {
			text = "<!-- lab\n" + fields + c.fields + "-->\n" + table
		}
		p, err := parse("page.md", text)
		require.NoError(t, err, c.name)
		all := &checker{pick: regexp.MustCompile(""), most: time.Minute, out: new(bytes.Buffer), outputs: map[string]any{
			"fits": map[string]any{"runs": []any{map[string]any{"a": 1.0, "b": 1.0}}, "others": []any{map[string]any{"a": 2.0, "b": 1.0}}}}}
		assert.ErrorContains(t, all.check(t.Context(), []*page{p}), c.want, c.name)
	}
}

// TestTablesOfTheLab asks every table of docs/lab for its origin, and for queries and columns that are there.
func TestTablesOfTheLab(t *testing.T) {
	pages, err := readPages(filepath.Join("..", "..", "docs", "lab"))
	require.NoError(t, err)
	for _, p := range pages {
		for _, table := range p.tables {
			at := filepath.Base(p.file) + ": " + strings.Join(table.header, ", ")
			if !assert.NotNil(t, table.origin, at) {
				continue
			}
			o := table.origin
			if o.rows != "" {
				_, err := gojq.Parse(o.rows)
				assert.NoError(t, err, at)
			}
			for _, q := range slices.Concat(o.keys, o.columns) {
				_, err := gojq.Parse(q.text)
				assert.NoError(t, err, at)
				assert.Contains(t, table.header, q.column, at)
			}
		}
	}
}
