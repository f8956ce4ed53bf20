package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// taskFactors is the task of a table that has gaps, or is to be told in few numbers a row: it has neither
// views nor kernels, and its targets are all columns.
const taskFactors = "factors"

// factorFlags are the flags of -task factors.
type factorFlags struct {
	Factors     int    `help:"Factors of -task factors, at most; 0 means 10."`
	Entries     string `placeholder:"ROW,COLUMN,VALUE" help:"Columns of a table for -task factors, pairs or pairlabels that lists entries, one a line, such as user,film,rating. Without it the table has a column for each column and empty cells where entries are missing."`
	SharedNoise bool   `help:"Give all columns of -task factors the same noise."`
	NoOffsets   bool   `help:"Leave out the columns' own levels in -task factors."`
}

// tableNote says how the table of a model of factors lay in its file.
type tableNote struct {
	Entries []string `json:"entries,omitempty"` // of a list of entries: the columns of rows, columns and values
	Rows    []string `json:"rows,omitempty"`    // of a list of entries: the names of the rows

	// What each column has had subtracted and was then divided by; nil if nothing was.
	Center []float64 `json:"center,omitempty"`
	Scale  []float64 `json:"scale,omitempty"`
}

// listed reports whether the file lists entries.
func (t *tableNote) listed() bool { return t.Entries != nil }

// unit returns what a column has had subtracted and was divided by.
func (t *tableNote) unit(q int) (center, scale float64) {
	if t.Center == nil {
		return 0, 1
	}
	return t.Center[q], t.Scale[q]
}

// bad reports whether a note does not fit a model of so many rows and columns.
func (t *tableNote) bad(rows, cols int) bool {
	return t.listed() && (len(t.Entries) != 3 || len(t.Rows) != rows) ||
		t.Center != nil && len(t.Center) != cols || len(t.Scale) != len(t.Center) ||
		slices.ContainsFunc(t.Scale, func(s float64) bool { return !(s > 0) })
}

// factorTable is a table as it was read: of all columns, or of a list of entries.
type factorTable struct {
	tableNote
	columns []string
	wide    mkl.Dense
	list    mkl.Entries
	entries int
	notes   []string // what is to be said of it
}

// table returns the table as package mkl takes it.
func (t *factorTable) table() mkl.Table {
	if t.listed() {
		return t.list
	}
	return t.wide
}

// fitFactors is mkl fit -task factors.
func (c *fitCmd) fitFactors(e *console.Env) error {
	p := &problem{fitCmd: c, bar: &sweepBar{env: e, quiet: c.JSON}, resumed: newResumption(c.Resume)}
	t, err := p.gatherFactors(e)
	if err != nil {
		return err
	}
	f := p.factorModel()
	if f.Notes, err = p.notes.encode(); err != nil {
		return err
	}
	rows, cols := t.table().Dims()
	headline := fmt.Sprintf("%s: %s, %s, %s (%s %% of the table), factors", p.main.Name(), console.Plural(rows, "row"),
		console.Plural(cols, "column"), console.Plural(t.entries, "entry"), console.Figure(100*float64(t.entries)/float64(rows)/float64(cols)))
	return p.fitTable(e, headline, func(ctx context.Context) (mkl.Model, error) { return asModel(f.Fit(ctx, t.table())) })
}

// fitTable fits a model of a table that was read, keeps it and reports on it below a headline.
func (p *problem) fitTable(e *console.Env, headline string, fit func(context.Context) (mkl.Model, error)) error {
	e, model, fell, err := p.kept(e, func() (mkl.Model, error) { return inTime(e.Ctx, p.Time, fit) })
	if err != nil {
		return err
	}
	rep := newReport(p.est, model, p.notes)
	return p.tell(e, rep, model, fell, headline)
}

// factorModel is the estimator with its settings.
func (p *problem) factorModel() mkl.FactorAnalysis {
	return mkl.FactorAnalysis{
		Fitting: mkl.Fitting{
			Seed: p.Seed, Restarts: p.Restarts, Tolerance: p.Tolerance, MaxSweeps: p.Sweeps,
			Workers: p.Workers, Progress: p.bar.show, Journal: p.resumed.of(),
		},
		Factors: p.Factors, SharedNoise: p.SharedNoise, NoOffsets: p.NoOffsets,
	}
}

// gatherFactors checks the flags and reads the table.
func (p *problem) gatherFactors(e *console.Env) (*factorTable, error) {
	c := p.fitCmd
	if err := c.checkNumbers(); err != nil {
		return nil, err
	}
	c.task = taskFactors
	var err error
	if p.est, err = c.estimator(1); err != nil {
		return nil, err
	}
	if err := c.check(p.est); err != nil {
		return nil, err
	}
	switch {
	case c.View != nil:
		return nil, console.Inputf("-view is not for -task %s: it has no kernels, and takes the table as it is", taskFactors)
	case c.Entries != "" && c.Target != "":
		return nil, console.Inputf("-entries names the columns of a list of entries: -target is not for it")
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"missing", c.Missing != "refuse"}, {"as", c.As != nil}, {"join", c.Join != ""}} {
		if f.given {
			return nil, console.Inputf("-%s is not for -task %s, which learns from the entries that are there", f.name, taskFactors)
		}
	}
	if err := e.CheckOutput(c.Output, false); err != nil {
		return nil, err
	}
	opt, err := c.Options()
	if err != nil {
		return nil, err
	}
	fs := &console.Files{Env: e, Opt: opt}
	defer fs.Close()
	if p.main, err = fs.Open(c.Data); err != nil {
		return nil, err
	}
	t, err := c.readFactors(fs, p)
	if err != nil {
		return nil, err
	}
	for _, note := range append(fs.Remarks(), t.notes...) {
		fmt.Fprintln(e.Stderr, note)
	}
	if c.made, err = provenanceOf(e, fs, c.Seed); err != nil {
		return nil, err
	}
	rows, cols := t.table().Dims()
	if limit := p.Memory; limit > 0 || memory.Available() > 0 {
		if limit == 0 {
			limit = memory.Available()
		}
		if need := p.factorModel().EstimateMemory(rows, cols, t.entries); float64(need) > float64(limit) {
			return nil, console.Inputf("a fit of %s and %s needs about %v of memory, more than %v (-memory overrides)",
				console.Plural(rows, "row"), console.Plural(cols, "column"), memory.Size(need), limit)
		}
	}
	p.notes = &notes{Task: taskFactors, Targets: t.columns, Table: &t.tableNote, Made: c.made}
	return t, nil
}

// readFactors reads the table of a fit.
func (c *fitCmd) readFactors(fs *console.Files, p *problem) (t *factorTable, err error) {
	f := p.main
	if c.Entries != "" {
		columns, err := entryColumns("-entries "+c.Entries, c.Entries, f)
		if err != nil {
			return nil, err
		}
		p.views = []view{{source: console.Source{File: f, Columns: columns}}}
		f.Need(columns[0], table.Label)
		f.Need(columns[1], table.Label)
		f.Need(columns[2], table.Number)
		if _, err := fs.Read(); err != nil {
			return nil, err
		}
		return listedEntries(f, columns)
	}
	text := c.Target
	if text == "" {
		text = "*"
	}
	items, err := spec.ParseColumns(text)
	if err != nil {
		return nil, console.Inputf("-target %w", err)
	}
	columns, err := spec.Select(items, f.Columns(), nil)
	if err != nil {
		return nil, console.Inputf("-target: %s: %w%s", f.Name(), err, spaced(f))
	}
	named := spec.Named(items, f.Columns())
	p.views = []view{{source: console.Source{File: f, Columns: columns}}}
	for _, j := range columns {
		kind := table.Any
		if named[j] {
			kind = table.Optional
		}
		f.Need(j, kind)
	}
	if _, err := fs.Read(); err != nil {
		return nil, err
	}
	t = &factorTable{}
	var kept []int
	for _, j := range columns {
		if f.Data.Numbers[j] == nil || f.Data.Types[j] == table.Date {
			t.notes = append(t.notes, fmt.Sprintf("column %s: it is not of numbers, and left out", f.Columns()[j]))
			continue
		}
		kept = append(kept, j)
	}
	if len(kept) == 0 {
		return nil, console.Inputf("%s: no column is of numbers: a list of entries needs -entries ROW,COLUMN,VALUE", f.Name())
	}
	if err := t.take(f, kept, !c.RawColumns); err != nil {
		return nil, err
	}
	if len(columns) == 3 && t.entries == len(kept)*f.Data.Rows {
		t.notes = append(t.notes, "no cell is empty: if each line is an entry of a table, -entries ROW,COLUMN,VALUE says so")
	}
	return t, nil
}

// take makes the table of the columns of a file that were read, each in units of its standard deviation if they
// are to be.
func (t *factorTable) take(f *console.File, columns []int, standard bool) error {
	t.wide = make(mkl.Dense, f.Data.Rows)
	for i := range t.wide {
		t.wide[i] = make([]float64, len(columns))
	}
	for k, j := range columns {
		t.columns = append(t.columns, f.Columns()[j])
		var n, sum, square float64
		for _, v := range f.Data.Numbers[j] {
			if !math.IsNaN(v) {
				n, sum = n+1, sum+v
			}
		}
		if n == 0 {
			return console.Inputf("%s: column %q has no entry: leave it out by -target", f.Name(), f.Columns()[j])
		}
		t.entries += int(n)
		center, scale := 0.0, 1.0
		if standard {
			center = sum / n
			for _, v := range f.Data.Numbers[j] {
				if !math.IsNaN(v) {
					square += float64((v - center) * (v - center))
				}
			}
			if sd := math.Sqrt(square / n); sd > 0 && !math.IsInf(sd, 0) {
				scale = sd
			}
			t.Center, t.Scale = append(t.Center, center), append(t.Scale, scale)
		}
		for i, v := range f.Data.Numbers[j] {
			t.wide[i][k] = (v - center) / scale
		}
	}
	return nil
}

// entryColumns finds the columns of rows, columns and values that text names.
func entryColumns(flag, text string, f *console.File) ([]int, error) {
	var columns []int
	names := strings.Split(text, ",")
	if len(names) != 3 {
		return nil, console.Inputf("%s: three columns are needed, of rows, columns and values, as in user,film,rating", flag)
	}
	for _, name := range names {
		items, err := spec.ParseColumns(name)
		if err != nil {
			return nil, console.Inputf("%s: %w", flag, err)
		}
		found, err := spec.Select(items, f.Columns(), nil)
		if err != nil {
			return nil, console.Inputf("%s: %s: %w%s", flag, f.Name(), err, spaced(f))
		}
		if len(found) != 1 || slices.Contains(columns, found[0]) {
			return nil, console.Inputf("%s: three columns are needed, of rows, columns and values, as in user,film,rating", flag)
		}
		columns = append(columns, found[0])
	}
	return columns, nil
}

// listedEntries makes a table of the entries of a file that were read. Rows and columns are numbered in the order
// in which they appear.
func listedEntries(f *console.File, columns []int) (*factorTable, error) {
	t := &factorTable{entries: f.Data.Rows}
	for _, j := range columns {
		t.Entries = append(t.Entries, f.Columns()[j])
	}
	number := func(names *[]string, of map[string]int, name string) int {
		i, ok := of[name]
		if !ok {
			i = len(*names)
			of[name], *names = i, append(*names, name)
		}
		return i
	}
	rows, cols, first := map[string]int{}, map[string]int{}, map[mkl.Cell]int{}
	for i, v := range f.Data.Numbers[columns[2]] {
		row, col := f.Data.Labels[columns[0]][i], f.Data.Labels[columns[1]][i]
		for k, name := range []string{row, col} {
			if name == "" {
				return nil, console.Input(f.Data.Cell(i, columns[k], "an entry without it has no place in the table"))
			}
		}
		cell := mkl.Cell{Row: number(&t.Rows, rows, row), Col: number(&t.columns, cols, col)}
		if before, twice := first[cell]; twice {
			return nil, console.Input(f.Data.Cell(i, columns[2], fmt.Sprintf("the entry of %s and %s is there twice, first in row %d", row, col, before+1)))
		}
		first[cell] = i
		t.list.List = append(t.list.List, mkl.Entry{Cell: cell, Value: v})
	}
	t.list.Rows, t.list.Cols = len(t.Rows), len(t.columns)
	return t, nil
}
