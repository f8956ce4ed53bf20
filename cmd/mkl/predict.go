package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// modelInput is the flags that name a model and the data to predict.
type modelInput struct {
	Model string `arg:"" help:"Model file; - is standard input."`
	Data  string `arg:"" optional:"" help:"Table with a row for each sample (CSV, also compressed, NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MAT-file); - is standard input. Not needed if every view has a file of its own."`

	sideFlags    `embed:""`
	predictFlags `embed:""`
}

// predictFlags say where views are in the data, how files are laid out, and what to predict.
type predictFlags struct {
	View      []string `sep:"none" placeholder:"NAME=COLUMNS" help:"Columns of a view, if they are not called what they were in the fit; @file takes a file."`
	Interval  float64  `default:"0.95" help:"Probability of the predictive interval of a regression (${default})."`
	Published bool     `help:"Use the published predictive variance, which is too small."`
	Unhealed  bool     `help:"Use the posterior's own predictions of a BMKLR regression, or of new rows and columns of pairs, whose intervals are too short away from the samples."`
	Workers   int      `help:"Most goroutines at work; 0 means one for each processor."`

	console.Layout `embed:""`
}

func (c *predictFlags) check() error {
	if !(c.Interval > 0 && c.Interval < 1) {
		return console.Inputf("-interval %g is not between 0 and 1", c.Interval)
	}
	if c.Workers < 0 {
		return console.Inputf("-workers %d is negative", c.Workers)
	}
	return nil
}

func (c *modelInput) check() error {
	if c.Model == console.Standard && c.Data == console.Standard {
		return console.Inputf("- is both the model and the data: standard input holds one of them")
	}
	return c.predictFlags.check()
}

// loaded is a model read from a file.
type loaded struct {
	mkl.Model
	est   *estimator
	notes *notes
}

// load reads a model file. The error is a mistake in the command line: a file that is
// not there, is damaged, or holds a model that no estimator of the table makes.
func load(e *console.Env, path string) (*loaded, error) { return loadTo(e, path, io.Discard) }

// loadTo is load, and writes what was read to a copy.
func loadTo(e *console.Env, path string, file io.Writer) (*loaded, error) {
	in := e.Stdin
	if path != console.Standard {
		f, err := e.Open(path)
		if err != nil {
			return nil, console.Input(err)
		}
		defer f.Close()
		in = f
	}
	m, err := mkl.Load(io.TeeReader(e.Reader(in), file))
	if err != nil {
		return nil, console.Inputf("%s: %s", path, strings.TrimPrefix(err.Error(), "mkl: load: "))
	}
	est := estimatorOf(m.Kind())
	if est == nil {
		return nil, console.Inputf("%s: a model of a kind that the command does not know: %v", path, m)
	}
	return &loaded{m, est, notesOf(est, m)}, nil
}

// opened is a model with the files of what it shall predict.
type opened struct {
	*loaded
	files  *console.Files
	inputs []input     // of the model
	table  *tableInput // of a model of factors; nil of others
	pairs  *pairInput  // of a model of pairs; nil of others
}

// input is the columns that one of a model's inputs is made of.
type input struct {
	console.Source
	plan    []plan.Column
	strings *stringNote // of an input of strings, in place of the plan
	gaps    bool        // samples may lack it
}

// open reads the model and opens the files, which the caller closes.
func (c *modelInput) open(e *console.Env) (*opened, error) {
	m, err := load(e, c.Model)
	if err != nil {
		return nil, err
	}
	return c.openFor(e, m)
}

// openFor opens the files for a model that was read.
func (c *modelInput) openFor(e *console.Env, m *loaded) (*opened, error) {
	opt, err := c.Options()
	if err != nil {
		return nil, err
	}
	for _, v := range m.notes.Views {
		opt.Sparse = append(opt.Sparse, v.Columns...)
	}
	o := &opened{loaded: m, files: &console.Files{Env: e, Opt: opt, Join: cmp.Or(c.Join, m.notes.Join)}}
	if o.est.pairs {
		if o.pairs, err = c.pairInput(e, o); err != nil {
			o.files.Close()
			return nil, err
		}
		return o, nil
	}
	if c.Rows != nil || c.Columns != nil {
		return nil, console.Inputf("-rows and -columns are for models of pairs, and this is one of %s", m.notes.Task)
	}
	if o.inputs, err = c.inputs(o.files, m.notes, m.Inputs()); err != nil {
		o.files.Close()
		return nil, err
	}
	if o.est.form == tableEntries {
		var main *console.File
		if len(o.files.All) > 0 {
			main = o.files.All[0]
		}
		if o.table, err = o.tableOf(main, false); err != nil {
			o.files.Close()
			return nil, err
		}
	}
	return o, nil
}

// outcome is what was predicted of the rows of a file.
type outcome struct {
	prediction
	rows int
	kept []int // the rows that could be predicted, in order; others have a value missing

	x       []mkl.Features // what the rows that were kept were predicted from
	options mkl.PredictOptions
}

// predict reads the columns asked for and predicts the rows. It says on standard error what it could not read.
func (o *opened) predict(e *console.Env, c *modelInput) (*outcome, error) {
	rows, err := o.files.Read()
	if err != nil {
		return nil, err
	}
	if o.table != nil {
		return o.predictTable(e, rows)
	}
	if o.pairs != nil {
		return o.predictPairs(e, rows)
	}
	out := &outcome{rows: rows, options: mkl.PredictOptions{Published: c.Published, Unhealed: c.Unhealed, Workers: c.Workers}}
	var gaps shortfall
	if out.x, out.kept, err = o.features(e.Ctx, rows, c.Workers, &gaps); err != nil {
		return nil, err
	}
	if err := gaps.tell(e, o.inputs, "predicted"); err != nil {
		return nil, err
	}
	out.prediction, err = predict(e.Ctx, o.Model, out.options, out.x)
	return out, err
}

// predictTable is predict for a model of factors.
func (o *opened) predictTable(e *console.Env, rows int) (*outcome, error) {
	p, kept, missing, err := o.table.predict()
	if err != nil {
		return nil, err
	}
	gaps := &shortfall{rows: rows, missing: rows - len(kept), first: missing}
	return &outcome{prediction: numberPrediction{p}, rows: rows, kept: kept}, gaps.tell(e, nil, "predicted")
}

// shortfall is what is amiss with rows, of one block of them after another.
type shortfall struct {
	rows    int
	missing int                   // those in which something is missing
	first   error                 // what is missing in the first of them
	unknown map[string]plan.Count // by column, cells of categories that the fit had not seen
}

// tell says on standard error how many rows cannot be done what with, and which text the fit had
// not seen. The error is that nothing can be done.
func (s *shortfall) tell(e *console.Env, inputs []input, what string) error {
	for _, in := range inputs {
		for _, column := range in.plan { // in their order
			if n := s.unknown[column.Name]; n.Cells > 0 {
				fmt.Fprintf(e.Stderr, "mkl: warning: column %s: %s of categories that the fit had not seen, the first %q: they count as none\n",
					column.Name, console.Plural(n.Cells, "cell"), n.First)
			}
		}
	}
	if s.rows > 0 && s.missing == s.rows {
		return console.Inputf("none of %s can be %s: %w", console.Plural(s.rows, "row"), what, s.first)
	}
	if s.missing > 0 {
		fmt.Fprintf(e.Stderr, "mkl: warning: %d of %s cannot be %s, the first: %v\n", s.missing, console.Plural(s.rows, "row"), what, s.first)
	}
	return nil
}

// features makes features of the columns that were read of so many rows, and returns them of
// the rows that have no value missing, which are kept. What is amiss with the others is added to gaps.
func (o *opened) features(ctx context.Context, rows, workers int, gaps *shortfall) (x []mkl.Features, kept []int, err error) {
	missing := make([]bool, rows)
	note := func(gone []bool) {
		for i, gone := range gone {
			missing[i] = missing[i] || gone
		}
	}
	note(o.files.Alone)
	similar := map[int][]mkl.Features{}
	for _, in := range o.inputs {
		if in.strings != nil {
			k, gone, err := o.similarities(ctx, in, workers, similar)
			if err != nil {
				return nil, nil, console.Input(err)
			}
			x = append(x, k)
			note(gone)
			continue
		}
		encoded := plan.Encode(in.plan, in.Columns, &in.File.Data)
		if in.gaps {
			encoded.Lack()
		}
		x = append(x, encoded.X)
		note(encoded.Missing)
		for column, n := range encoded.Unknown {
			gaps.count(column, n)
		}
	}
	for i := range rows {
		if !missing[i] {
			kept = append(kept, i)
		}
	}
	gaps.rows += rows
	if left := rows - len(kept); left > 0 {
		if gaps.missing += left; gaps.first == nil {
			gaps.first = o.firstGap(missing)
		}
		for k := range x {
			x[k] = pickRows(x[k], kept)
		}
	}
	return x, kept, nil
}

// count adds cells of a column that the fit had not seen.
func (s *shortfall) count(column string, n plan.Count) {
	if s.unknown == nil {
		s.unknown = map[string]plan.Count{}
	}
	all, ok := s.unknown[column]
	if !ok {
		all.First = n.First
	}
	all.Cells += n.Cells
	s.unknown[column] = all
}

// firstGap says what is missing in the first of the rows in which something is.
func (o *opened) firstGap(missing []bool) error {
	i := slices.Index(missing, true)
	if o.files.Alone != nil && o.files.Alone[i] {
		return o.files.AloneError(i)
	}
	for _, in := range o.inputs {
		d := &in.File.Data
		if in.strings != nil && columnStrings(in.Source)[i] == "" {
			return d.Cell(i, in.Columns[0], "the cell is empty")
		}
		for k, column := range in.plan {
			j := in.Columns[k]
			if column.Fill != nil || column.Type == table.Text && d.Labels[j][i] != "" || column.Type != table.Text && d.Numbers[j][i] == d.Numbers[j][i] {
				continue
			}
			if first := d.Gaps[j].First; d.IsRow(first, i) {
				return first // which also says what is wrong with it
			}
			return d.Cell(i, j, "the cell is empty or cannot be read")
		}
	}
	return nil // not reached: something is missing in the row
}

// pickRows returns some rows of a matrix.
func pickRows(x mkl.Features, rows []int) mkl.Features {
	some := la.NewMatrix[float64](len(rows), x.Cols)
	for k, i := range rows {
		copy(some.Row(k), x.Row(i))
	}
	return some
}

// prediction is what a model predicts: numbers, classes or labels.
type prediction interface {
	// columns adds what mkl predict prints. Targets are the names of what was
	// predicted; a number has an interval of the given probability.
	columns(out *columns, targets []string, interval float64)

	// measure compares the prediction with the truth in columns of f, which were read.
	measure(ev *evaluation, f *console.File, truth []int, targets []string) error
}

// predict predicts with a model of any kind.
func predict(ctx context.Context, m mkl.Model, opt mkl.PredictOptions, x []mkl.Features) (prediction, error) {
	switch m := m.(type) {
	case mkl.TargetModel:
		p, err := m.PredictTargets(ctx, opt, x...)
		return numberPrediction{p}, err
	case mkl.ClassModel[string]:
		p, err := m.PredictClasses(ctx, opt, x...)
		return classPrediction{p, m.Classes()}, err
	case mkl.LabelModel:
		p, err := m.PredictLabels(ctx, opt, x...)
		return labelPrediction{p}, err
	}
	return nil, console.Inputf("the command does not know how to predict with %v", m)
}

type (
	numberPrediction struct{ *mkl.Prediction }
	classPrediction  struct {
		*mkl.ClassPrediction[string]
		classes []string
	}
	labelPrediction struct{ *mkl.LabelPrediction }
)

// columns are those of the output of mkl predict.
type columns struct {
	names []string
	cells []func(i int) string // of row i
	text  []bool               // by column: the cells are no numbers
}

func (t *columns) add(name string, cell func(i int) string) {
	t.names, t.cells, t.text = append(t.names, name), append(t.cells, cell), append(t.text, true)
}

func (t *columns) addNumber(name string, value func(i int) float64) {
	t.add(name, func(i int) string { return number(value(i)) })
	t.text[len(t.text)-1] = false
}

// number is a number for machines, with all its digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// addProbability adds a column of probabilities. None of the models gives a probability
// of exactly 0 or 1: a number that has become one by rounding is printed as the next to it.
func (t *columns) addProbability(name string, value func(i int) float64) {
	t.addNumber(name, func(i int) float64 {
		return min(max(value(i), math.SmallestNonzeroFloat64), math.Nextafter(1, 0))
	})
}

// addRows adds columns of some rows of n, in order; the others have empty cells.
func (t *columns) addRows(some *columns, rows []int, n int) {
	at := make([]int, n)
	for i := range at {
		at[i] = -1
	}
	for k, i := range rows {
		at[i] = k
	}
	for j, cell := range some.cells {
		t.add(some.names[j], func(i int) string {
			if at[i] < 0 {
				return ""
			}
			return cell(at[i])
		})
		t.text[len(t.text)-1] = some.text[j]
	}
}

func (p numberPrediction) columns(out *columns, targets []string, interval float64) {
	z := measure.Quantile(interval)
	for o, target := range targets {
		prefix := ""
		if len(targets) > 1 {
			prefix = target + "_"
		}
		mean, sd := p.Mean[o], make([]float64, len(p.Mean[o]))
		for i, v := range p.Variance[o] {
			sd[i] = math.Sqrt(v)
		}
		out.addNumber(prefix+"mean", func(i int) float64 { return mean[i] })
		out.addNumber(prefix+"sd", func(i int) float64 { return sd[i] })
		out.addNumber(prefix+"lower", func(i int) float64 { return mean[i] - float64(z*sd[i]) })
		out.addNumber(prefix+"upper", func(i int) float64 { return mean[i] + float64(z*sd[i]) })
	}
}

func (p classPrediction) columns(out *columns, _ []string, _ float64) {
	out.add("label", func(i int) string { return p.Label[i] })
	for k, class := range p.classes {
		out.addProbability("p_"+class, func(i int) float64 { return p.Probability[i][k] })
	}
}

func (p labelPrediction) columns(out *columns, targets []string, _ float64) {
	for o, target := range targets {
		out.add(target, func(i int) string {
			if p.Label[o][i] {
				return "1"
			}
			return "0"
		})
		out.addProbability("p_"+target, func(i int) float64 { return p.Probability[o][i] })
	}
}

// predictCmd is mkl predict.
type predictCmd struct {
	Output string `short:"o" placeholder:"FILE" help:"File to write; - and by default standard output."`
	ID     string `name:"id" placeholder:"COLUMN" help:"Column to copy to the front of the output."`
	JSON   bool   `name:"json" help:"Print JSON: a list with an object for each row, by the names of the columns; null where a row cannot be predicted."`

	modelInput `embed:""`
}

// Run predicts the rows and writes them.
func (c *predictCmd) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := e.CheckOutput(c.Output, true); err != nil {
		return err
	}
	m, err := c.open(e)
	if err != nil {
		return err
	}
	defer m.files.Close()
	id := -1
	if c.ID != "" {
		if c.Data == "" {
			return console.Inputf("-id needs a data file")
		}
		if id, err = idColumn(m.files.All[0], c.ID); err != nil {
			return err
		}
	}
	p, err := m.predict(e, &c.modelInput)
	if err != nil {
		return err
	}
	var predicted, out columns
	if id >= 0 {
		ids := m.files.All[0].Data.Labels[id]
		out.add(c.ID, func(i int) string { return ids[i] })
	}
	if m.table != nil {
		m.table.name(&out)
	}
	if m.pairs != nil {
		m.pairs.name(&out)
	}
	p.columns(&predicted, m.predicted(), c.Interval)
	out.addRows(&predicted, p.kept, p.rows)
	write := out.write
	if c.JSON {
		write = out.writeJSON
	}
	return e.Create(cmp.Or(c.Output, console.Standard), func(w io.Writer) error { return write(w, p.rows) })
}

// idColumn finds the column that -id names and asks for it.
func idColumn(f *console.File, name string) (int, error) {
	items, err := spec.ParseColumns(name)
	if err != nil {
		return 0, console.Inputf("-id %w", err)
	}
	found, err := spec.Select(items, f.Columns(), nil)
	if err != nil {
		return 0, console.Inputf("-id: %s: %w", f.Name(), err)
	}
	if len(found) > 1 {
		return 0, console.Inputf("-id %s: that is %d columns", name, len(found))
	}
	if f.Needs(found[0]) && !f.Joins(found[0]) {
		return 0, console.Inputf("-id %s: the column is part of a view", name)
	}
	f.Need(found[0], table.Label)
	return found[0], nil
}

// write prints n rows as CSV.
func (t *columns) write(w io.Writer, n int) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.names); err != nil {
		return err
	}
	row := make([]string, len(t.cells))
	for i := range n {
		for j, cell := range t.cells {
			row[j] = cell(i)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeJSON prints n rows as a list of objects.
func (t *columns) writeJSON(w io.Writer, n int) error {
	all := make([]map[string]any, n)
	for i := range all {
		all[i] = map[string]any{}
		for j, cell := range t.cells {
			text := cell(i)
			switch x, err := strconv.ParseFloat(text, 64); {
			case text == "":
				all[i][t.names[j]] = nil
			case t.text[j] || err != nil:
				all[i][t.names[j]] = text
			default:
				all[i][t.names[j]] = console.Number(x)
			}
		}
	}
	return console.PrintJSON(w, all)
}

// inputs finds the columns of each of the model's inputs and asks for them.
func (c *modelInput) inputs(fs *console.Files, n *notes, of []mkl.Input) ([]input, error) {
	var main *console.File
	if c.Data != "" {
		var err error
		if main, err = fs.Open(c.Data); err != nil {
			return nil, err
		}
	}
	given := map[string][]spec.Item{}
	for _, text := range c.View {
		v, err := spec.ParseView(text)
		if err != nil {
			return nil, console.Inputf("-view %w", err)
		}
		switch {
		case v.Kernels != nil:
			return nil, console.Inputf("-view %s: the model has its kernels already", text)
		case v.Name == "" && len(n.viewNames()) == 1:
			v.Name = n.Views[0].Name
		}
		if !slices.Contains(n.viewNames(), v.Name) {
			return nil, console.Inputf("-view %s: the model has no view %q (%s)", text, v.Name, spec.List(n.viewNames()))
		}
		given[v.Name] = v.Columns
	}
	var all []input
	for i, in := range of {
		v := n.Views[i]
		items, ok := given[v.Name]
		switch {
		case ok:
		case v.File:
			return nil, console.Inputf("view %s is made from a file of its own: -view %s=@FILE", quoted(v.Name), v.Name)
		default:
			items = spec.Names(v.Columns)
		}
		if main == nil && items[0].File == "" {
			return nil, console.Inputf("view %s: no data file is given", quoted(v.Name))
		}
		s, err := fs.Resolve(items, main, nil)
		if err != nil {
			return nil, console.Inputf("view %s: %w", quoted(v.Name), err)
		}
		if v.Strings != nil {
			if s, err = stringColumn(s, v.Columns[0]); err != nil {
				return nil, console.Inputf("view %s: %w", quoted(v.Name), err)
			}
			s.File.Need(s.Columns[0], table.OptionalLabel)
			all = append(all, input{Source: s, strings: v.Strings})
			continue
		}
		need := v.plan()
		if v.Plan == nil {
			need = v.numbers(in.Cols) // a given kernel may need one column more than the fit
		}
		if items[0].File != "" && len(need) == len(v.Columns) {
			// Of a file with names, columns that the fit left out do not matter, nor does the order.
			if columns, err := spec.Select(spec.Names(v.Columns), s.File.Columns(), nil); err == nil {
				s.Columns = columns
			}
		}
		if len(s.Columns) != len(need) {
			return nil, console.Inputf("view %s: %s has %s where the model needs %d", quoted(v.Name), s.File.Name(), console.Plural(len(s.Columns), "column"), len(need))
		}
		for k, j := range s.Columns {
			s.File.Want(need[k].Want(j, true))
		}
		all = append(all, input{Source: s, plan: need, gaps: in.MissingViews})
	}
	return all, nil
}

// quoted is how messages call a view.
func quoted(name string) string {
	if name == "" {
		return "of the model"
	}
	return strconv.Quote(name)
}
