package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/encode"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// Predictor predicts records with a model. It does not change, and can be used by several goroutines at once.
type Predictor struct {
	model   mkl.Model
	notes   notes
	columns []Column
	known   map[string]int  // place among columns, by name
	ignored map[string]bool // columns that the fit left out, and targets
	blanks  encode.Blanks   // values that are missing, beside those that always are
	near    *near           // nil if the model predicts all records
}

// notes are the parts of the notes of mkl fit that records need.
type notes struct {
	Task    string   `json:"task"`
	Targets []string `json:"targets"`
	Views   []view   `json:"views"` // by input of the model
	Beside  struct { // columns that belong to the target
		Weights string `json:"weights"`
		Noise   string `json:"noise"`
		Offset  string `json:"offset"`
	} `json:"beside"`
	NA []string `json:"na"` // texts that stand for an empty cell, beside those that always do
}

type view struct {
	Name    string          `json:"name"`
	Columns []string        `json:"columns"`
	Plan    []encode.Column `json:"plan"` // nil: all columns are numbers
	Left    []struct {
		Column string `json:"column"`
	} `json:"left"`
	Strings json.RawMessage `json:"strings"`
}

// Column is a column that a model predicts from.
type Column struct {
	Name string `json:"name"` // in the table

	// Type is the type of the values: number, boolean, text, or date with its layout, as in date(d.m.y).
	Type string `json:"type"`

	// Views are the views that the column is in.
	Views []string `json:"views"`

	// Categories are the texts that the fit saw. Another text counts as none of them.
	Categories []string `json:"categories,omitempty"`

	// Required says that a record without a value cannot be predicted. The fit filled in no values of the column.
	Required bool `json:"required"`

	// Range is the least and the largest value of the fit, of numbers and dates (in days since 1970). It is nil of other
	// columns, and in files of builds that did not keep it.
	Range *[2]float64 `json:"range,omitempty"`

	prose bool // text that becomes a bag of words
}

// Open reads a model file that mkl fit wrote. It returns an error if the file is no model or has no plan of columns,
// and if the model is not of samples with columns: models of factors, of pairs and of strings, and models with offsets.
func Open(r io.Reader) (*Predictor, error) {
	m, err := mkl.Load(r)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return New(m)
}

// New returns the predictor of a loaded model. It returns the errors that [Open] returns.
func New(m mkl.Model) (*Predictor, error) {
	text, ok := m.Notes()[encode.NotesKey]
	if !ok {
		return nil, errors.New("record: the model names no columns: mkl fit did not write it")
	}
	p := &Predictor{model: m, known: map[string]int{}, ignored: map[string]bool{}}
	if err := json.Unmarshal([]byte(text), &p.notes); err != nil {
		return nil, fmt.Errorf("record: the plan of the columns: %w", err)
	}
	p.blanks = encode.NewBlanks(p.notes.NA)
	switch m.(type) {
	case mkl.TargetModel, mkl.ClassModel[string], mkl.LabelModel:
	default:
		return nil, fmt.Errorf("record: a record is not what a model of the kind %s predicts from", m.Kind())
	}
	if name := p.notes.Beside.Offset; name != "" {
		return nil, fmt.Errorf("record: the fit had offsets in the column %q: mkl predict adds them", name)
	}
	inputs := m.Inputs()
	if len(p.notes.Views) != len(inputs) {
		return nil, fmt.Errorf("record: the plan has %d inputs where the model has %d", len(p.notes.Views), len(inputs))
	}
	for i := range p.notes.Views {
		if err := p.add(&p.notes.Views[i], inputs[i]); err != nil {
			return nil, err
		}
	}
	for _, name := range append(slices.Clone(p.notes.Targets), p.notes.Beside.Weights, p.notes.Beside.Noise) {
		p.ignored[name] = true
	}
	return p, nil
}

// add adds the columns of a view.
func (p *Predictor) add(v *view, in mkl.ModelInput) error {
	switch {
	case v.Strings != nil:
		return fmt.Errorf("record: view %q is of strings: mkl predict compares them", v.Name)
	case v.Plan == nil:
		for _, name := range v.Columns {
			v.Plan = append(v.Plan, encode.Plain(name))
		}
	}
	if n := encode.Width(v.Plan); n != in.Cols {
		return fmt.Errorf("record: view %q: its columns become %d features where the model needs %d", v.Name, n, in.Cols)
	}
	for _, c := range v.Plan {
		at, ok := p.known[c.Name]
		if !ok {
			at = len(p.columns)
			p.known[c.Name] = at
			p.columns = append(p.columns, Column{Name: c.Name, Type: string(c.Type), Categories: c.Categories, Range: c.Range, prose: c.Words != nil})
		}
		p.columns[at].Views = append(p.columns[at].Views, v.Name)
		p.columns[at].Required = p.columns[at].Required || c.Fill == nil && !in.MissingViews
	}
	for _, l := range v.Left {
		p.ignored[l.Column] = true
	}
	return nil
}

// Model returns the model.
func (p *Predictor) Model() mkl.Model { return p.model }

// Task is the task of the model, as in the flag -task of mkl fit.
func (p *Predictor) Task() string { return p.notes.Task }

// Targets are the names of what is predicted.
func (p *Predictor) Targets() []string { return slices.Clone(p.notes.Targets) }

// Columns are the columns that the model predicts from, in the order of its views.
func (p *Predictor) Columns() []Column {
	all := slices.Clone(p.columns)
	for i := range all {
		all[i].Views, all[i].Categories = slices.Clone(all[i].Views), slices.Clone(all[i].Categories)
		if r := all[i].Range; r != nil {
			all[i].Range = &[2]float64{r[0], r[1]}
		}
	}
	return all
}

// Prediction is the prediction of a record. The task decides which of Numbers, Classes and Labels is not nil.
type Prediction struct {
	Numbers []Number `json:"numbers,omitempty"` // by target
	Class   string   `json:"class,omitempty"`   // the most probable
	Classes []Class  `json:"classes,omitempty"` // all, in the order of the model
	Labels  []Label  `json:"labels,omitempty"`  // by target

	// Missing are the columns without a value, which were filled in as the fit filled in its gaps.
	Missing []string `json:"missing,omitempty"`

	// Unknown are the columns with a text that the fit had not seen.
	Unknown []string `json:"unknown,omitempty"`

	// Outside are the columns with a number or date that is farther from the values of the fit than these are from each
	// other: the prediction is a guess.
	Outside []string `json:"outside,omitempty"`
}

// Number is the prediction of a target.
type Number struct {
	Target string  `json:"target"` // name of the target
	Mean   float64 `json:"mean"`   // mean of the target
	SD     float64 `json:"sd"`     // standard deviation of the target, noise included

	of             *mkl.Prediction // of several samples
	target, sample int
	bounded        *mkl.BoundedPrediction // of a sample that was predicted within a tolerance
}

// Interval returns the ends of the central interval of a probability between 0 and 1. It is
// [mkl.Prediction.Interval] for a number that the package has predicted, and the interval of a normal distribution for others.
func (n Number) Interval(probability float64) (lower, upper float64) {
	switch {
	case n.of != nil:
		return n.of.Interval(n.target, n.sample, probability)
	case n.bounded != nil:
		return n.bounded.Interval(probability)
	}
	z := Quantile(probability)
	return n.Mean - float64(z*n.SD), n.Mean + float64(z*n.SD)
}

// Quantile is how many standard deviations to either side of the mean of a normal distribution hold a probability.
func Quantile(probability float64) float64 {
	return special.NormalQuantile(0.5 + float64(0.5*probability))
}

// Class is the probability of a class.
type Class struct {
	Class       string  `json:"class"`
	Probability float64 `json:"probability"` // between 0 and 1
}

// Label says whether a record has a label.
type Label struct {
	Target      string  `json:"target"`      // name of the target
	Present     bool    `json:"present"`     // the probability is at least ½
	Probability float64 `json:"probability"` // between 0 and 1
}

// Predict predicts one record; see [Predictor.PredictRows].
func (p *Predictor) Predict(ctx context.Context, record map[string]any) (*Prediction, error) {
	all, err := p.PredictRows(ctx, []map[string]any{record})
	if err != nil {
		return nil, err
	}
	return &all[0], nil
}

// PredictRows predicts records, each a value for every column by its name: a number, a bool, a string that is read as
// mkl predict reads a cell, a [json.Number], or a [time.Time] for a date. A value is missing if its name is absent, if
// it is nil or NaN, and if it is a string such as NA that stands for a missing cell. Other names are ignored, but in a
// record that lacks the name of a column they are errors, unless they are targets or columns that the fit left out.
// A value that the column cannot have is an error, and so is a missing value of a column that is required. Errors of
// records are a *[ValueError].
func (p *Predictor) PredictRows(ctx context.Context, records []map[string]any) ([]Prediction, error) {
	if len(records) == 0 {
		return nil, nil
	}
	out := make([]Prediction, len(records))
	cells, err := p.read(records, out)
	if err != nil {
		return nil, err
	}
	x, err := p.features(cells, len(records))
	if err != nil {
		return nil, err
	}
	return out, p.predict(ctx, x, out)
}

// predict predicts features and writes the predictions.
func (p *Predictor) predict(ctx context.Context, x []mkl.Features, out []Prediction) error {
	rows := vec.UpTo(len(out))
	if p.near != nil {
		left, err := p.near.predict(ctx, p, x, out)
		if err != nil {
			return fmt.Errorf("record: %w", err)
		}
		if len(left) == 0 {
			return nil
		}
		if rows = left; len(left) < len(out) {
			x = slices.Clone(x)
			for i := range x {
				x[i] = x[i].TakeRows(left)
			}
		}
	}
	if err := p.byModel(ctx, x, rows, out); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// byModel predicts features by the model, and writes the prediction of sample n to out[rows[n]].
func (p *Predictor) byModel(ctx context.Context, x []mkl.Features, rows []int, out []Prediction) error {
	var opt mkl.PredictOptions
	switch m := p.model.(type) {
	case mkl.TargetModel:
		got, err := m.PredictTargets(ctx, opt, x...)
		if err != nil {
			return err
		}
		for n, i := range rows {
			for o, target := range p.notes.Targets {
				out[i].Numbers = append(out[i].Numbers, Number{Target: target, Mean: got.Mean[o][n], SD: math.Sqrt(got.Variance[o][n]), of: got, target: o, sample: n})
			}
		}
	case mkl.ClassModel[string]:
		got, err := m.PredictClasses(ctx, opt, x...)
		if err != nil {
			return err
		}
		names := m.Classes()
		for n, i := range rows {
			out[i].Class, out[i].Classes = got.Label[n], classesOf(names, got.Probability[n])
		}
	case mkl.LabelModel:
		got, err := m.PredictLabels(ctx, opt, x...)
		if err != nil {
			return err
		}
		for n, i := range rows {
			for o, target := range p.notes.Targets {
				out[i].Labels = append(out[i].Labels, Label{Target: target, Present: got.Label[o][n], Probability: got.Probability[o][n]})
			}
		}
	}
	return nil
}

// classesOf returns classes with their probabilities.
func classesOf(names []string, probability []float64) (out []Class) {
	for k, name := range names {
		out = append(out, Class{Class: name, Probability: probability[k]})
	}
	return out
}
