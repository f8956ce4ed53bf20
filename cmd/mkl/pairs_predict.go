package main

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// sideFlags name the files of rows and columns that a model of pairs was not fitted to.
type sideFlags struct {
	Rows    []string `sep:"none" placeholder:"NAME=FILE" help:"File with a view of new rows, for a model of pairs, as that of the fit was; can be repeated, and needs a name where the model has several views of rows."`
	Columns []string `sep:"none" placeholder:"NAME=FILE" help:"File with a view of new columns, likewise."`
}

// pairInput is the columns of a file with the pairs that a model shall predict, and what is known of new rows and
// columns.
type pairInput struct {
	*pairNote
	file    *console.File
	columns [2]int // of ids
	sides   [2]*newSide
	of      *mkl.PairPredictor
	gaps    shortfall
	inputs  []input // for the words of gaps
}

// newSide is the rows that a model can predict pairs of, or the columns: those of the fit, and new ones.
type newSide struct {
	flag   string
	known  map[string]int
	at     map[string]int // new ids that all views have
	paths  []string       // of the new ids' files
	x      []mkl.Features
	gone   []bool // of a new id: a view has a value missing
	factor func() *mkl.PairFactors
	found  map[string]*mkl.PairFactors
}

// pairInput asks for the columns of ids and reads what is known of new rows and columns.
func (c *modelInput) pairInput(e *console.Env, o *opened) (*pairInput, error) {
	n := o.notes
	switch {
	case n.Pairs == nil:
		return nil, console.Inputf("%s: the command did not make this model of pairs, and cannot know what its rows and columns are called", c.Model)
	case c.Data == "":
		return nil, console.Inputf("a model of pairs needs a data file, which names them by the columns %s and %s", n.Pairs.Entries[0], n.Pairs.Entries[1])
	case c.View != nil:
		return nil, console.Inputf("-view is not for a model of pairs: -rows and -columns name the files of new rows and columns")
	}
	t := &pairInput{pairNote: n.Pairs}
	var err error
	if t.file, err = o.files.Open(c.Data); err != nil {
		return nil, err
	}
	for k := range t.columns {
		found, err := spec.Select(spec.Names(t.Entries[k:k+1]), t.file.Columns(), nil)
		if err != nil {
			return nil, console.Inputf("%s: %w", t.file.Name(), err)
		}
		t.columns[k] = found[0]
		t.file.Need(found[0], table.OptionalLabel)
	}
	m, ok := o.Model.(interface {
		Predictor(opt mkl.PredictorOptions) (*mkl.PairPredictor, error)
		SideInputs() (rows, columns []mkl.Input)
	})
	if !ok {
		return nil, console.Inputf("the command does not know how to predict with %v", o.Model)
	}
	if t.of, err = m.Predictor(mkl.PredictorOptions{Published: c.Published, Unhealed: c.Unhealed}); err != nil {
		return nil, console.Input(err)
	}
	rows, _ := m.SideInputs()
	t.sides = [2]*newSide{
		{flag: "rows", known: places(t.Rows), factor: t.of.Row, found: map[string]*mkl.PairFactors{}},
		{flag: "columns", known: places(t.pairNote.Columns), factor: t.of.Column, found: map[string]*mkl.PairFactors{}},
	}
	for k, texts := range [2][]string{c.Rows, c.Columns} {
		views := n.Views[:len(rows)]
		if k == 1 {
			views = n.Views[len(rows):]
		}
		if texts == nil {
			continue
		}
		if err := t.read(e, o.files.Opt, t.sides[k], texts, views, t.Entries[k]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// read reads the files of new rows, or columns: one for each of the views.
func (t *pairInput) read(e *console.Env, opt table.Options, s *newSide, texts []string, views []viewNote, ids string) error {
	files := map[string]string{}
	for _, text := range texts {
		v, err := parseSide(s.flag, text)
		switch {
		case err != nil:
			return err
		case v.Kernels != nil:
			return console.Inputf("-%s %s: the model has its kernels already", s.flag, text)
		case v.Name == "" && len(views) == 1:
			v.Name = views[0].Name
		}
		if !slices.ContainsFunc(views, func(w viewNote) bool { return w.Name == v.Name }) {
			return console.Inputf("-%s %s: the model has no view of the %s called %q (%s)", s.flag, text, s.flag, v.Name, spec.List(namesOf(views)))
		}
		files[v.Name] = v.Columns[0].File
	}
	for _, v := range views {
		path, ok := files[v.Name]
		if !ok {
			return console.Inputf("-%s: the view %q is missing: -%s %s=FILE", s.flag, v.Name, s.flag, v.Name)
		}
		if err := t.readView(e, opt, s, path, v, ids); err != nil {
			return err
		}
	}
	return nil
}

// namesOf are the names of views.
func namesOf(views []viewNote) (names []string) {
	for _, v := range views {
		names = append(names, v.Name)
	}
	return names
}

// readView reads a view of new rows, or columns, in the order of the ids of the first view.
func (t *pairInput) readView(e *console.Env, opt table.Options, s *newSide, path string, v viewNote, ids string) error {
	f, err := openSide(e, opt, path, ids)
	if err != nil {
		return err
	}
	defer f.Close()
	columns, err := spec.Select(spec.Names(v.Columns), f.file.Columns(), nil)
	if err != nil {
		return console.Inputf("-%s: %s: %w", s.flag, f.file.Name(), err)
	}
	need := v.plan()
	for k, j := range columns {
		f.file.Want(need[k].Want(j, true))
	}
	if err := f.read(); err != nil {
		return err
	}
	if s.at == nil {
		s.at, s.gone = f.at, make([]bool, f.file.Data.Rows)
	}
	rows := make([]int, len(s.gone))
	for id, k := range s.at {
		i, ok := f.at[id]
		if !ok {
			s.gone[k] = true
		}
		rows[k] = i
	}
	f.file.Data.Pick(rows)
	encoded := plan.Encode(need, columns, &f.file.Data)
	for k, missing := range encoded.Missing {
		s.gone[k] = s.gone[k] || missing
	}
	for column, n := range encoded.Unknown {
		t.gaps.count(column, n)
	}
	t.inputs = append(t.inputs, input{plan: need})
	s.x, s.paths = append(s.x, encoded.X), append(s.paths, f.file.Name())
	return nil
}

// of returns the factors of an id, or else what is wrong with it. What was observed of an id of the fit counts.
func (s *newSide) of(p *mkl.PairPredictor, id string) (f *mkl.PairFactors, why string, err error) {
	if f, done := s.found[id]; done {
		return f, "", nil
	}
	at, known := s.known[id]
	k, added := s.at[id]
	switch {
	case known:
		f = s.factor()
		err = p.Known(f, at)
	case id == "":
		return nil, "the cell is empty", nil
	case !added && s.at == nil:
		return nil, fmt.Sprintf("%q is not among the %s of the fit, and no file of new ones is given: -%s", id, s.flag, s.flag), nil
	case !added:
		return nil, fmt.Sprintf("%q is neither among the %s of the fit nor in %s", id, s.flag, s.paths[0]), nil
	case s.gone[k]:
		return nil, fmt.Sprintf("of %q not every value is known in %s", id, join(s.paths)), nil
	default:
		x := make([][]float64, len(s.x))
		for i := range x {
			x[i] = s.x[i].Row(k)
		}
		f = s.factor()
		err = p.New(f, x...)
	}
	if err == nil {
		s.found[id] = f
	}
	return f, "", err
}

// predictPairs predicts the pairs that the file lists. It says on standard error which ids are not known.
func (o *opened) predictPairs(e *console.Env, rows int) (*outcome, error) {
	t, d := o.pairs, &o.pairs.file.Data
	out := &outcome{rows: rows}
	t.gaps.rows = rows
	var mean, variance, probability []float64
	var has []bool
	for i := range rows {
		if err := e.Ctx.Err(); err != nil {
			return nil, err
		}
		var pair [2]*mkl.PairFactors
		for k, s := range t.sides {
			f, why, err := s.of(t.of, d.Labels[t.columns[k]][i])
			if err != nil {
				return nil, console.Input(d.Cell(i, t.columns[k], err.Error()))
			}
			if why != "" && t.gaps.first == nil {
				t.gaps.first = d.Cell(i, t.columns[k], why)
			}
			pair[k] = f
		}
		if pair[0] == nil || pair[1] == nil {
			t.gaps.missing++
			continue
		}
		m, v, err := t.of.Predict(pair[0], pair[1])
		if err != nil {
			return nil, console.Input(d.Cell(i, t.columns[0], err.Error()))
		}
		mean, variance, out.kept = append(mean, m), append(variance, v), append(out.kept, i)
		if o.est.form != labels {
			continue
		}
		p, err := t.of.Probability(pair[0], pair[1])
		if err != nil {
			return nil, console.Input(d.Cell(i, t.columns[0], err.Error()))
		}
		probability, has = append(probability, p), append(has, m >= 0)
	}
	out.prediction = numberPrediction{&mkl.Prediction{Mean: [][]float64{mean}, Variance: [][]float64{variance}}}
	if o.est.form == labels {
		out.prediction = labelPrediction{&mkl.LabelPrediction{
			Label: [][]bool{has}, Probability: [][]float64{probability}, Decision: [][]float64{mean},
		}}
	}
	return out, t.gaps.tell(e, t.inputs, "predicted")
}

// name adds the columns that name the pairs.
func (t *pairInput) name(out *columns) {
	for k, column := range t.Entries[:2] {
		ids := t.file.Data.Labels[t.columns[k]]
		out.add(column, func(i int) string { return ids[i] })
	}
}
