package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
func (p *problem) factorModel() mkl.FactorModel {
	return mkl.FactorModel{
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

// tableInput is the columns of a file with what a model of factors is to predict, or to be told.
type tableInput struct {
	*tableNote
	fit     *mkl.FactorFit
	file    *console.File
	names   []string // of the columns of the table
	columns []int    // of the file: of the table, or of rows and columns, and of values where they are wanted
	held    bool     // each entry is predicted as if it were not there: it is the truth
}

// tableOf asks for the columns of a model of factors; nil if the model is none. Of a list of entries it asks for
// the values only if they are wanted.
func (m *loaded) tableOf(f *console.File, values bool) (*tableInput, error) {
	fit, ok := m.Model.(*mkl.FactorFit)
	if !ok {
		return nil, nil
	}
	if f == nil {
		return nil, console.Inputf("a model of factors needs a data file")
	}
	t := &tableInput{tableNote: m.notes.Table, fit: fit, file: f, names: m.notes.Targets}
	if !t.listed() {
		var err error
		if t.columns, err = spec.Select(spec.Names(t.names), f.Columns(), nil); err != nil {
			return nil, console.Inputf("%s: %w", f.Name(), err)
		}
		for _, j := range t.columns {
			f.Need(j, table.Optional)
		}
		return t, nil
	}
	names := t.Entries
	if !values {
		names = names[:2]
	}
	for k, name := range names {
		found, err := spec.Select(spec.Names([]string{name}), f.Columns(), nil)
		if err != nil {
			return nil, console.Inputf("%s: %w", f.Name(), err)
		}
		t.columns = append(t.columns, found[0])
		kind := table.OptionalLabel
		if k == 2 {
			kind = table.Optional
		}
		f.Need(found[0], kind)
	}
	return t, nil
}

// wide returns the rows of the file in the units of the fit.
func (t *tableInput) wide() mkl.Dense {
	y := make(mkl.Dense, t.file.Data.Rows)
	for i := range y {
		y[i] = make([]float64, len(t.columns))
		for q, j := range t.columns {
			center, scale := t.unit(q)
			y[i][q] = (t.file.Data.Numbers[j][i] - center) / scale
		}
	}
	return y
}

// predict predicts each entry that the file lists, or all entries of its rows by those that are there. kept are
// the rows of the file that can be predicted, and missing says what is wrong with the first of the others.
func (t *tableInput) predict() (p *mkl.Prediction, kept []int, missing error, err error) {
	if t.listed() {
		return t.predictListed()
	}
	complete := t.fit.CompleteRows
	if t.held {
		complete = t.fit.LeaveOneOut
	}
	mean, variance, err := complete(t.wide())
	if err != nil {
		return nil, nil, nil, console.Input(err)
	}
	p = &mkl.Prediction{Mean: make([][]float64, len(t.names)), Variance: make([][]float64, len(t.names))}
	for q := range t.names {
		center, scale := t.unit(q)
		for i := range mean {
			p.Mean[q] = append(p.Mean[q], center+float64(scale*mean[i][q]))
			p.Variance[q] = append(p.Variance[q], scale*scale*variance[i][q])
		}
	}
	for i := range mean {
		kept = append(kept, i)
	}
	return p, kept, nil, nil
}

// predictListed predicts the entries that the file lists.
func (t *tableInput) predictListed() (p *mkl.Prediction, kept []int, missing error, err error) {
	rows, cols := places(t.Rows), places(t.names)
	var cells []mkl.Cell
	d := &t.file.Data
	for i := range d.Rows {
		row, rowKnown := rows[d.Labels[t.columns[0]][i]]
		col, colKnown := cols[d.Labels[t.columns[1]][i]]
		switch {
		case rowKnown && colKnown:
			cells, kept = append(cells, mkl.Cell{Row: row, Col: col}), append(kept, i)
		case missing != nil:
		default:
			j := t.columns[0]
			if rowKnown {
				j = t.columns[1]
			}
			missing = d.Cell(i, j, fmt.Sprintf("%q is not in the table that the model was fitted to", d.Labels[j][i]))
		}
	}
	p = &mkl.Prediction{}
	mean, variance, err := t.fit.Complete(cells...)
	if err != nil {
		return nil, nil, nil, console.Input(err)
	}
	p.Mean, p.Variance = [][]float64{mean}, [][]float64{variance}
	return p, kept, missing, nil
}

// name adds the columns that name the entries of a list.
func (t *tableInput) name(out *columns) {
	if !t.listed() {
		return
	}
	for k, column := range t.Entries[:2] {
		names := t.file.Data.Labels[t.columns[k]]
		out.add(column, func(i int) string { return names[i] })
	}
}

// places tells where each name stands.
func places(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	return at
}

// predicted names what a model predicts.
func (m *loaded) predicted() []string {
	if t := m.notes.Table; t != nil && t.listed() {
		return t.Entries[2:]
	}
	return m.notes.Targets
}

// refuseTables refuses a model of factors or of pairs, which the named command is not for.
func (m *loaded) refuseTables(what string) error {
	if m.est.pairs {
		return console.Inputf("%s is not for models of pairs, which predict by what two tables tell of a row and of a column: "+
			"mkl inspect tells what they hold, and mkl evaluate how well they predict", what)
	}
	if m.est.form != tableEntries {
		return nil
	}
	return console.Inputf("%s is not for models of factors, which have neither kernels nor targets beside their table: "+
		"mkl inspect tells what they hold, and mkl evaluate how well they predict", what)
}

// factorInput is the flags of the commands that are for models of factors alone.
type factorInput struct {
	Model string `arg:"" help:"Model file of mkl fit -task factors; - is standard input."`
	Data  string `arg:"" help:"Table, as that of the fit was; - is standard input."`

	ID     string `name:"id" placeholder:"COLUMN" help:"Column to copy to the front of the output."`
	Output string `short:"o" placeholder:"FILE" help:"File to write; - and by default standard output."`
	JSON   bool   `name:"json" help:"Print JSON: a list with an object for each row, by the names of the columns."`

	console.Layout `embed:""`
}

// open reads the model and the table, and begins the output with the column of -id.
func (c *factorInput) open(e *console.Env, what string) (t *tableInput, out *columns, err error) {
	if c.Model == console.Standard && c.Data == console.Standard {
		return nil, nil, console.Inputf("- is both the model and the data: standard input holds one of them")
	}
	if err := e.CheckOutput(c.Output, true); err != nil {
		return nil, nil, err
	}
	opt, err := c.Options()
	if err != nil {
		return nil, nil, err
	}
	m, err := load(e, c.Model)
	if err != nil {
		return nil, nil, err
	}
	if m.est.form != tableEntries {
		return nil, nil, console.Inputf("%s: %s is for models of mkl fit -task %s, and this is one of %s", c.Model, what, taskFactors, m.notes.Task)
	}
	fs := &console.Files{Env: e, Opt: opt}
	defer fs.Close()
	f, err := fs.Open(c.Data)
	if err != nil {
		return nil, nil, err
	}
	if t, err = m.tableOf(f, true); err != nil {
		return nil, nil, err
	}
	out = &columns{}
	column := -1
	if c.ID != "" {
		if t.listed() {
			return nil, nil, console.Inputf("-id is not for a list of entries: its rows are those of column %s", t.Entries[0])
		}
		if column, err = idColumn(f, c.ID); err != nil {
			return nil, nil, err
		}
	}
	if _, err := fs.Read(); err != nil {
		return nil, nil, err
	}
	if column >= 0 {
		ids := f.Data.Labels[column]
		out.add(c.ID, func(i int) string { return ids[i] })
	}
	return t, out, nil
}

// write writes n rows.
func (c *factorInput) write(e *console.Env, out *columns, n int) error {
	write := out.write
	if c.JSON {
		write = out.writeJSON
	}
	return e.Create(cmp.Or(c.Output, console.Standard), func(w io.Writer) error { return write(w, n) })
}

// completeCmd is mkl complete.
type completeCmd struct {
	SD bool `name:"sd" help:"Add a column NAME_sd to each: the standard deviation of what was filled in, empty where an entry was there."`

	factorInput `embed:""`
}

// Run writes the table with its empty cells filled in.
func (c *completeCmd) Run(e *console.Env) error {
	t, out, err := c.open(e, "mkl complete")
	if err != nil {
		return err
	}
	if t.listed() {
		return console.Inputf("%s: the model is of a list of entries: mkl predict fills in those that a table of %s and %s names",
			c.Model, t.Entries[0], t.Entries[1])
	}
	p, _, _, err := t.predict()
	if err != nil {
		return err
	}
	for q, j := range t.columns {
		known := t.file.Data.Numbers[j]
		out.addNumber(t.names[q], func(i int) float64 {
			if math.IsNaN(known[i]) {
				return p.Mean[q][i]
			}
			return known[i]
		})
		if !c.SD {
			continue
		}
		out.add(t.names[q]+"_sd", func(i int) string {
			if !math.IsNaN(known[i]) {
				return ""
			}
			return number(math.Sqrt(p.Variance[q][i]))
		})
		out.text[len(out.text)-1] = false
	}
	return c.write(e, out, t.file.Data.Rows)
}

// transformCmd is mkl transform.
type transformCmd struct {
	SD bool `name:"sd" help:"Add a column with the standard deviation of each factor."`

	factorInput `embed:""`
}

// Run writes the factors of each row.
func (c *transformCmd) Run(e *console.Env) error {
	t, out, err := c.open(e, "mkl transform")
	if err != nil {
		return err
	}
	y := mkl.Table(nil)
	rows := t.file.Data.Rows
	if t.listed() {
		list, names, err := t.newRows(e)
		if err != nil {
			return err
		}
		y, rows = list, len(names)
		out.add(t.Entries[0], func(i int) string { return names[i] })
	} else {
		y = t.wide()
	}
	mean, variance, err := t.fit.Transform(y)
	if err != nil {
		return console.Input(err)
	}
	_, _, factors := t.fit.Dims()
	for k := range factors {
		name := fmt.Sprintf("factor%d", k+1)
		out.addNumber(name, func(i int) float64 { return mean[i][k] })
		if c.SD {
			out.addNumber(name+"_sd", func(i int) float64 { return math.Sqrt(variance[i][k]) })
		}
	}
	return c.write(e, out, rows)
}

// newRows returns the entries that the file lists as rows of a table of the model's columns, and their names. It
// says on standard error how many are of other columns, and count for nothing.
func (t *tableInput) newRows(e *console.Env) (list mkl.Entries, names []string, err error) {
	read, err := listedEntries(t.file, t.columns)
	if err != nil {
		return list, nil, err
	}
	cols := places(t.names)
	list = mkl.Entries{Rows: read.list.Rows, Cols: len(t.names)}
	strange, first := 0, error(nil)
	for i, entry := range read.list.List {
		col, known := cols[read.columns[entry.Col]]
		switch {
		case math.IsNaN(entry.Value):
			continue
		case !known:
			if strange++; strange == 1 {
				first = t.file.Data.Cell(i, t.columns[1], fmt.Sprintf("%q is not in the table that the model was fitted to", read.columns[entry.Col]))
			}
			continue
		}
		entry.Col = col
		list.List = append(list.List, entry)
	}
	if strange > 0 && len(list.List) == 0 {
		return list, nil, console.Input(first)
	}
	if strange > 0 {
		fmt.Fprintf(e.Stderr, "mkl: warning: %s of columns that the model has not, the first: %v\n", console.Plural(strange, "entry"), first)
	}
	return list, read.Rows, nil
}

// factorReport is a factor of a model.
type factorReport struct {
	Factor int           `json:"factor"` // counted from 1
	Share  float64       `json:"share"`  // of the power of the fitted table
	Active bool          `json:"active"`
	Shapes []shapeReport `json:"columns"` // those whose weights are probably not zero, the largest first
}

// shapeReport is what a column has of a factor.
type shapeReport struct {
	Column    string         `json:"column"`
	Weight    console.Number `json:"weight"` // in the column's units, for a factor of standard deviation 1
	Inclusion float64        `json:"inclusion"`
}

// Factors below these are not told: with less of the power, and of a column with less of a probability to have it.
const (
	leastShare     = 1e-3
	leastInclusion = 0.5
)

// describeFactors reports on a model of factors.
func (r *report) describeFactors(n *notes, m *mkl.FactorFit) {
	weights, inclusion := m.Weights()
	scores, _ := m.Factors()
	for k, share := range m.Energy() {
		f := factorReport{Factor: k + 1, Share: share, Active: share > leastShare}
		var power float64
		for _, row := range scores {
			power += float64(row[k]*row[k]) / float64(len(scores))
		}
		for q := range weights {
			if inclusion[q][k] < leastInclusion {
				continue
			}
			_, scale := n.Table.unit(q)
			f.Shapes = append(f.Shapes, shapeReport{n.Targets[q], console.Number(scale * weights[q][k] * math.Sqrt(power)), inclusion[q][k]})
		}
		slices.SortStableFunc(f.Shapes, func(a, b shapeReport) int {
			return cmp.Compare(math.Abs(float64(b.Weight)), math.Abs(float64(a.Weight)))
		})
		r.Factors = append(r.Factors, f)
	}
	slices.SortStableFunc(r.Factors, func(a, b factorReport) int { return cmp.Compare(b.Share, a.Share) })
	for q, sd := range m.NoiseSD() {
		_, scale := n.Table.unit(q)
		r.Targets = append(r.Targets, targetReport{Name: n.Targets[q], NoiseSD: console.Number(scale * sd)})
	}
}

// mostColumns is the number of columns up to which all are listed.
const mostColumns = 12

// printFactors prints the factors that matter, and the noise of the columns.
func (r *report) printFactors(out io.Writer) error {
	const most = 4
	rows := [][]string(nil)
	active := 0
	for _, f := range r.Factors {
		if !f.Active {
			continue
		}
		active++
		var on []string
		for _, s := range f.Shapes[:min(most, len(f.Shapes))] {
			on = append(on, s.Column+" "+signed(float64(s.Weight)))
		}
		if more := len(f.Shapes) - len(on); more > 0 {
			on = append(on, fmt.Sprintf("… %d more", more))
		}
		rows = append(rows, []string{"", fmt.Sprintf("%.1f %%", 100*f.Share), fmt.Sprintf("factor%d", f.Factor), strings.Join(on, ", ")})
	}
	fmt.Fprintf(out, "\n%d of %s active: share of the fitted power, columns by what a standard deviation of the factor adds\n", active, console.Plural(len(r.Factors), "factor"))
	if err := console.PrintTable(out, "lrll", rows); err != nil {
		return err
	}
	var noise []float64
	for _, t := range r.Targets {
		noise = append(noise, float64(t.NoiseSD))
	}
	if len(r.Targets) > mostColumns {
		slices.Sort(noise)
		fmt.Fprintf(out, "\nnoise SD %s in the median column, from %s to %s\n",
			console.Figure(noise[len(noise)/2]), console.Figure(noise[0]), console.Figure(noise[len(noise)-1]))
		return nil
	}
	rows = [][]string{{"column", "noise SD"}}
	for q, t := range r.Targets {
		rows = append(rows, []string{t.Name, console.Figure(noise[q])})
	}
	fmt.Fprintln(out)
	return console.PrintTable(out, "lr", rows)
}

// tells says in a line what a model's table was.
func (t *tableNote) tells(rows int, columns []string) string {
	text := fmt.Sprintf("%s, %s, factors", console.Plural(rows, "row"), console.Plural(len(columns), "column"))
	if t.listed() {
		return text + fmt.Sprintf(", of a list of entries (%s)", strings.Join(t.Entries, ", "))
	}
	if len(columns) <= mostColumns {
		text += ": " + strings.Join(columns, ", ")
	}
	return text
}
