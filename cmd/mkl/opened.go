package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

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
			x[k] = x[k].TakeRows(kept)
		}
	}
	return x, kept, nil
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
