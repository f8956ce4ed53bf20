package pairs

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl"
)

// Sides are the flags that name the files of rows and columns that a model was not fitted to.
type Sides struct {
	Rows    []string `sep:"none" placeholder:"NAME=FILE" help:"File with a view of new rows, for a model of pairs, laid out as in the fit; can be repeated, and needs a name where the model has several views of rows."`
	Columns []string `sep:"none" placeholder:"NAME=FILE" help:"File with a view of new columns, likewise."`
}

// Model is a model that predicts pairs.
type Model interface {
	Predictor(opt mkl.PredictorOptions) (*mkl.PairPredictor, error)
	SideInputs() (rows, columns []mkl.ModelInput)
}

// List is the columns of a file with the pairs that a model is to predict, and what is known of new rows and columns.
type List struct {
	File *console.File

	note    *notes.Pairs
	columns [2]int // of ids
	sides   [2]*newSide
	of      *mkl.PairPredictor
	labels  bool // a pair has a label or has not
	gaps    dataset.Shortfall
	plans   [][]plan.Column // for the words of gaps
}

// newSide is the rows that a model can predict pairs of, or the columns: the ids of the fit, and new ids.
type newSide struct {
	flag   string
	known  map[string]int
	at     map[string]int // new ids, which all views have
	paths  []string       // of the new ids' files
	x      []mkl.Features
	gone   []bool // of a new id: a view has a value missing
	factor func() *mkl.PairFactors
	found  map[string]*mkl.PairFactors
}

// Find asks the file data, one of fs, for the columns of ids, and reads the files of new rows and columns. n are the
// notes of the model.
func Find(m Model, n *notes.Notes, fs *console.Files, data string, new Sides, opt mkl.PredictorOptions, labels bool) (*List, error) {
	t := &List{note: n.Pairs, labels: labels}
	var err error
	if t.File, err = fs.Open(data); err != nil {
		return nil, err
	}
	for k := range t.columns {
		found, err := spec.Select(spec.Names(t.note.Entries[k:k+1]), t.File.Columns(), nil)
		if err != nil {
			return nil, console.Inputf("%s: %w", t.File.Name(), err)
		}
		t.columns[k] = found[0]
		t.File.Need(found[0], table.OptionalLabel)
	}
	if t.of, err = m.Predictor(opt); err != nil {
		return nil, console.Input(err)
	}
	t.sides = [2]*newSide{
		{flag: "rows", known: dataset.Places(t.note.Rows), factor: t.of.Row, found: map[string]*mkl.PairFactors{}},
		{flag: "columns", known: dataset.Places(t.note.Columns), factor: t.of.Column, found: map[string]*mkl.PairFactors{}},
	}
	rows, _ := m.SideInputs()
	views := [2][]notes.View{n.Views[:len(rows)], n.Views[len(rows):]}
	for k, texts := range [2][]string{new.Rows, new.Columns} {
		if texts == nil {
			continue
		}
		if err := t.read(fs, t.sides[k], texts, views[k], t.note.Entries[k]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Noun is what a sentence calls one of the rows of the file.
func (t *List) Noun() string { return "pair" }

// read reads the files of new rows, or columns: one for each of the views.
func (t *List) read(fs *console.Files, s *newSide, texts []string, views []notes.View, ids string) error {
	files := map[string]string{}
	for _, text := range texts {
		v, path, err := parseSide(s.flag, text)
		switch {
		case err != nil:
			return err
		case v.Kernels != nil:
			return console.Inputf("-%s %s: the model has its kernels already", s.flag, text)
		case v.Name == "" && len(views) == 1:
			v.Name = views[0].Name
		}
		if !slices.ContainsFunc(views, func(w notes.View) bool { return w.Name == v.Name }) {
			return console.Inputf("-%s %s: the model has no view of the %s called %q (%s)", s.flag, text, s.flag, v.Name, spec.List(notes.Names(views)))
		}
		files[v.Name] = path
	}
	for _, v := range views {
		path, ok := files[v.Name]
		if !ok {
			return console.Inputf("-%s: the view %q is missing: -%s %s=FILE", s.flag, v.Name, s.flag, v.Name)
		}
		if err := t.readView(fs, s, path, v, ids); err != nil {
			return err
		}
	}
	return nil
}

// readView reads a view of new rows, or columns, in the order of the ids of the first view.
func (t *List) readView(fs *console.Files, s *newSide, path string, v notes.View, ids string) error {
	f, err := openSide(fs.Env, fs.Opt, path, ids)
	if err != nil {
		return err
	}
	defer f.Close()
	columns, err := spec.Select(spec.Names(v.Columns), f.file.Columns(), nil)
	if err != nil {
		return console.Inputf("-%s: %s: %w", s.flag, f.file.Name(), err)
	}
	need := v.Features()
	for k, j := range columns {
		f.file.Want(plan.Want(need[k], j, true))
	}
	at, err := f.read()
	if err != nil {
		return err
	}
	if s.at == nil {
		s.at, s.gone = at, make([]bool, f.file.Data.Rows)
	}
	rows := make([]int, len(s.gone))
	for id, k := range s.at {
		i, ok := at[id]
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
	t.gaps.AddCells(encoded)
	t.plans = append(t.plans, need)
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
		return nil, fmt.Sprintf("of %q not every value is known in %s", id, console.List(s.paths)), nil
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

// Predict predicts the pairs that the file lists, which was read. It says on standard error which ids are not known.
func (t *List) Predict(e *console.Env) (*prediction.Outcome, error) {
	d := &t.File.Data
	out := &prediction.Outcome{Rows: d.Rows}
	t.gaps.Rows = d.Rows
	var mean, variance, probability []float64
	var has []bool
	for i := range d.Rows {
		if err := e.Ctx.Err(); err != nil {
			return nil, err
		}
		var pair [2]*mkl.PairFactors
		for k, s := range t.sides {
			f, why, err := s.of(t.of, d.Labels[t.columns[k]][i])
			if err != nil {
				return nil, console.Input(d.Cell(i, t.columns[k], err.Error()))
			}
			if why != "" && t.gaps.First == nil {
				t.gaps.First = d.Cell(i, t.columns[k], why)
			}
			pair[k] = f
		}
		if pair[0] == nil || pair[1] == nil {
			t.gaps.Missing++
			continue
		}
		m, v, err := t.of.Predict(pair[0], pair[1])
		if err != nil {
			return nil, console.Input(d.Cell(i, t.columns[0], err.Error()))
		}
		mean, variance, out.Kept = append(mean, m), append(variance, v), append(out.Kept, i)
		if !t.labels {
			continue
		}
		p, err := t.of.Probability(pair[0], pair[1])
		if err != nil {
			return nil, console.Input(d.Cell(i, t.columns[0], err.Error()))
		}
		probability, has = append(probability, p), append(has, m >= 0)
	}
	out.Prediction = prediction.Numbers{Prediction: &mkl.Prediction{Mean: [][]float64{mean}, Variance: [][]float64{variance}}}
	if t.labels {
		out.Prediction = prediction.Labels{LabelPrediction: &mkl.LabelPrediction{
			Label: [][]bool{has}, Probability: [][]float64{probability}, Decision: [][]float64{mean},
		}}
	}
	return out, t.gaps.Warn(e, t.plans, "predicted")
}

// Name adds the columns that name the pairs.
func (t *List) Name(out *prediction.Columns) {
	for k, column := range t.note.Entries[:2] {
		ids := t.File.Data.Labels[t.columns[k]]
		out.Add(column, func(i int) string { return ids[i] })
	}
}
