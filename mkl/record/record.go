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
	"github.com/bmkl/bmkl/mkl/sequence"
)

// Predictor predicts records with a model. It does not change, and can be used by several goroutines at once.
type Predictor struct {
	model   mkl.Model
	notes   notes
	columns []Column
	known   map[string]int  // place among columns, by name
	ignored map[string]bool // columns that the fit left out, and targets
	blanks  encode.Blanks   // values that are missing, beside those that always are

	comparers []*sequence.Comparer // by set of strings

	near *near // nil if the model predicts all records
}

// notes are the parts of the notes of mkl fit that records need.
type notes struct {
	Task    string   `json:"task"`
	Targets []string `json:"targets"`
	Views   []view   `json:"views"` // by input of the model
	Beside  struct { // columns that belong to the target
		Event    string `json:"event"`
		Upper    string `json:"upper"`
		Exposure string `json:"exposure"`
		Weights  string `json:"weights"`
		Noise    string `json:"noise"`
		Offset   string `json:"offset"`
	} `json:"beside"`
	NA      []string        `json:"na"`      // texts that stand for an empty cell, beside those that always do
	Strings []*sequence.Set `json:"strings"` // of the fit, with their kernels
}

type view struct {
	Name    string          `json:"name"`
	Columns []string        `json:"columns"`
	Plan    []encode.Column `json:"plan"` // nil: all columns are numbers
	Left    []struct {
		Column string `json:"column"`
	} `json:"left"`
	Strings *struct { // of an input of strings
		Set    int `json:"set"`    // of the notes
		Kernel int `json:"kernel"` // of the set
	} `json:"strings"`
}

// Column is a column that a model predicts from.
type Column struct {
	Name string `json:"name"` // in the table

	// Type is the type of the values: number, boolean, text, or date with its layout, as in date(d.m.y).
	Type string `json:"type"`

	// Views are the views that the column is in. A column with a Role is in none.
	Views []string `json:"views"`

	// Role says what a column of numbers is for that is in no view: [ExposureRole] or [OffsetRole]. It is empty for others.
	Role string `json:"role,omitempty"`

	// Categories are the texts that the fit saw. Another text counts as none of them.
	Categories []string `json:"categories,omitempty"`

	// Required says that a record without a value cannot be predicted. The fit filled in no values of the column.
	Required bool `json:"required"`

	// Range is the least and the largest value of the fit, of numbers and dates (in days since 1970). It is nil of other
	// columns, and in files of builds that did not keep it.
	Range *[2]float64 `json:"range,omitempty"`

	free bool // text that is no category: it becomes a bag of words, or is compared letter by letter
}

// What columns are for that are in no view.
const (
	ExposureRole = "exposure" // what a count is proportional to; it is positive
	OffsetRole   = "offset"   // the known part of a target, which is added to its prediction
)

// Open reads a model file that mkl fit wrote. It returns an error if the file is no model or has no plan of columns,
// and if the model is not of samples with columns: models of factors and of pairs.
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
	case mkl.TargetModel, mkl.ClassModel[string], mkl.LabelModel, *mkl.CountModel, *mkl.SurvivalModel:
	default:
		return nil, fmt.Errorf("record: a record is not what a model of the kind %s predicts from: mkl predict takes a table", m.Kind())
	}
	inputs := m.Inputs()
	if len(p.notes.Views) != len(inputs) {
		return nil, fmt.Errorf("record: the plan has %d inputs where the model has %d", len(p.notes.Views), len(inputs))
	}
	for i, set := range p.notes.Strings {
		if set == nil {
			return nil, fmt.Errorf("record: the set %d of strings is null", i+1)
		}
		c, err := set.Comparer(context.Background())
		if err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
		p.comparers = append(p.comparers, c)
	}
	for i := range p.notes.Views {
		if err := p.add(&p.notes.Views[i], inputs[i]); err != nil {
			return nil, err
		}
	}
	for _, of := range []struct{ name, role string }{{p.notes.Beside.Exposure, ExposureRole}, {p.notes.Beside.Offset, OffsetRole}} {
		if err := p.addBeside(of.name, of.role); err != nil {
			return nil, err
		}
	}
	for _, name := range append(slices.Clone(p.notes.Targets), p.notes.Beside.Weights, p.notes.Beside.Noise, p.notes.Beside.Event, p.notes.Beside.Upper) {
		p.ignored[name] = true
	}
	return p, nil
}

// addBeside adds a column with a role, unless its name is empty.
func (p *Predictor) addBeside(name, role string) error {
	if name == "" {
		return nil
	}
	if _, ok := p.known[name]; ok {
		return fmt.Errorf("record: the column %q is both part of a view and the %s", name, role)
	}
	p.known[name] = len(p.columns)
	p.columns = append(p.columns, Column{Name: name, Type: string(encode.Numeric), Views: []string{}, Role: role, Required: true})
	return nil
}

// add adds the columns of a view.
func (p *Predictor) add(v *view, in mkl.ModelInput) error {
	switch {
	case v.Strings != nil:
		return p.addStrings(v, in)
	case v.Plan == nil:
		for _, name := range v.Columns {
			v.Plan = append(v.Plan, encode.Plain(name))
		}
	}
	if n := encode.Width(v.Plan); n != in.Cols {
		return fmt.Errorf("record: view %q: its columns become %d features where the model needs %d", v.Name, n, in.Cols)
	}
	for _, c := range v.Plan {
		one, err := p.column(Column{Name: c.Name, Type: string(c.Type), Categories: c.Categories, Range: c.Range, free: c.Words != nil})
		if err != nil {
			return err
		}
		one.Views = append(one.Views, v.Name)
		one.Required = one.Required || c.Fill == nil && !in.MissingViews
	}
	for _, l := range v.Left {
		p.ignored[l.Column] = true
	}
	return nil
}

// column returns the column with the name of c. It adds c if no column has this name.
func (p *Predictor) column(c Column) (*Column, error) {
	at, ok := p.known[c.Name]
	if !ok {
		at = len(p.columns)
		p.known[c.Name] = at
		p.columns = append(p.columns, c)
	}
	if of := p.columns[at].Type; of != c.Type {
		return nil, fmt.Errorf("record: the column %q is a %s in one view and a %s in another", c.Name, of, c.Type)
	}
	return &p.columns[at], nil
}

// addStrings adds the column of a view of strings. Each of its kernels is an input.
func (p *Predictor) addStrings(v *view, in mkl.ModelInput) error {
	s := v.Strings
	if s.Set < 0 || s.Set >= len(p.notes.Strings) || s.Kernel < 0 || s.Kernel >= len(p.notes.Strings[s.Set].Kernels) || len(v.Columns) != 1 {
		return fmt.Errorf("record: view %q: the plan has no such strings", v.Name)
	}
	set, name := p.notes.Strings[s.Set], v.Columns[0]
	width := len(set.Strings) + 1
	if _, ok := set.Kernels[s.Kernel].(sequence.Pairwise); ok {
		width--
	}
	if width != in.Cols {
		return fmt.Errorf("record: view %q: its strings have %d kernels where the model needs %d", v.Name, width, in.Cols)
	}
	c, err := p.column(Column{Name: name, Type: string(encode.Text), free: true})
	if err != nil {
		return err
	}
	if c.Required = true; !slices.Contains(c.Views, v.Name) {
		c.Views = append(c.Views, v.Name)
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

// Prediction is the prediction of a record. The task decides which of Numbers, Times, Classes and Labels is not nil.
type Prediction struct {
	Numbers []Number `json:"numbers,omitempty"` // by target; also counts
	Times   []Time   `json:"times,omitempty"`   // until an event, by target
	Class   string   `json:"class,omitempty"`   // the most probable
	Median  string   `json:"median,omitempty"`  // of grades: the median grade
	Classes []Class  `json:"classes,omitempty"` // all, in the order of the model; also grades
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
	counts         *mkl.CountPrediction   // of several samples whose target is a count; nil of other targets
	bounded        *mkl.BoundedPrediction // of a sample that was predicted within a tolerance, without its offset
	offset         float64                // of a sample that was predicted within a tolerance
}

// Interval returns the ends of the central interval of a probability between 0 and 1. It is
// [mkl.Prediction.Interval] or [mkl.CountPrediction.Interval] for a number that the package has predicted, and the interval of a normal
// distribution for others. The ends of counts are counts.
func (n Number) Interval(probability float64) (lower, upper float64) {
	switch {
	case n.counts != nil:
		return n.counts.Interval(n.sample, probability)
	case n.of != nil:
		return n.of.Interval(n.target, n.sample, probability)
	case n.bounded != nil:
		lower, upper = n.bounded.Interval(probability)
		return lower + n.offset, upper + n.offset
	}
	z := Quantile(probability)
	return n.Mean - float64(z*n.SD), n.Mean + float64(z*n.SD)
}

// Quantile is how many standard deviations to either side of the mean of a normal distribution hold a probability.
func Quantile(probability float64) float64 {
	return special.NormalQuantile(0.5 + float64(0.5*probability))
}

// Time is the predicted time until an event. Its methods are for times that the package has predicted.
type Time struct {
	Target string  `json:"target"` // name of the target
	Median float64 `json:"median"` // the time by which the event has happened with probability ½
	Risk   float64 `json:"risk"`   // the higher it is, the earlier the event: see [mkl.SurvivalPrediction.Risk]

	of     *mkl.SurvivalPrediction // of several samples
	sample int
}

// Interval returns the ends of the central interval of a probability between 0 and 1.
func (t Time) Interval(probability float64) (lower, upper float64) {
	return t.of.Interval(t.sample, probability)
}

// After returns the probability that the event is later than a time.
func (t Time) After(time float64) float64 { return Inside(t.of.Survival(t.sample, []float64{time})[0]) }

// Inside returns the probability p. No model gives a probability of exactly 0 or 1: if p has become 0 or 1 by rounding, Inside returns the
// number next to it.
func Inside(p float64) float64 {
	return min(max(p, math.SmallestNonzeroFloat64), math.Nextafter(1, 0))
}

// Class is the probability of a class.
type Class struct {
	Class       string  `json:"class"`
	Probability float64 `json:"probability"` // between 0 and 1

	// UpTo is the probability of this grade or a lower one, of grades. It is 1 for the highest grade, and 0 for classes that are in no order.
	UpTo float64 `json:"up_to,omitempty"`
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
	x, err := p.features(ctx, cells, len(records))
	if err != nil {
		return nil, err
	}
	return out, p.predict(ctx, x, p.beside(cells), out)
}

// beside holds the values of the columns that are in no view, by record; nil without such a column.
type beside struct{ exposure, offset []float64 }

func (p *Predictor) beside(cells encode.Cells) (b beside) {
	for j, c := range p.columns {
		switch c.Role {
		case ExposureRole:
			b.exposure = cells.Numbers[j]
		case OffsetRole:
			b.offset = cells.Numbers[j]
		}
	}
	return b
}

// of returns the values of some records.
func (b beside) of(rows []int) beside {
	pick := func(all []float64) (some []float64) {
		for _, i := range rows {
			if all != nil {
				some = append(some, all[i])
			}
		}
		return some
	}
	return beside{pick(b.exposure), pick(b.offset)}
}

// predict predicts features and writes the predictions.
func (p *Predictor) predict(ctx context.Context, x []mkl.Features, b beside, out []Prediction) error {
	rows := vec.UpTo(len(out))
	if p.near != nil {
		left, err := p.near.predict(ctx, p, x, out)
		if err != nil {
			left = rows // the model predicts them, or says which record cannot be predicted
		}
		for i := range out {
			for o := range out[i].Numbers {
				if b.offset != nil {
					out[i].Numbers[o].Mean += b.offset[i]
					out[i].Numbers[o].offset = b.offset[i]
				}
			}
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
	return failed(p.byModel(ctx, x, b.of(rows), rows, out), rows)
}

// failed returns an error of a prediction of records, whose samples are the given rows.
func failed(err error, rows []int) error {
	if beyond, ok := errors.AsType[*mkl.SampleError](err); ok {
		return &ValueError{Record: rows[beyond.Samples[0]], Msg: "cannot be predicted: " + beyond.Err.Error()}
	}
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// byModel predicts features by the model, and writes the prediction of sample n to out[rows[n]].
func (p *Predictor) byModel(ctx context.Context, x []mkl.Features, b beside, rows []int, out []Prediction) error {
	var opt mkl.PredictOptions
	switch m := p.model.(type) {
	case mkl.TargetModel:
		got, err := m.PredictTargets(ctx, opt, x...)
		if err == nil && b.offset != nil {
			err = got.AddOffset(0, b.offset)
		}
		if err != nil {
			return err
		}
		for n, i := range rows {
			for o, target := range p.notes.Targets {
				out[i].Numbers = append(out[i].Numbers, Number{Target: target, Mean: got.Mean[o][n], SD: math.Sqrt(got.Variance[o][n]), of: got, target: o, sample: n})
			}
		}
	case *mkl.CountModel:
		got, err := m.PredictCounts(ctx, opt, b.exposure, x...)
		if err != nil {
			return err
		}
		mean, variance := got.Moments()
		for n, i := range rows {
			out[i].Numbers = []Number{{Target: p.notes.Targets[0], Mean: mean[n], SD: math.Sqrt(variance[n]), counts: got, sample: n}}
		}
	case *mkl.SurvivalModel:
		got, err := m.PredictTimes(ctx, opt, x...)
		if err != nil {
			return err
		}
		median, risk := got.Median(), got.Risk()
		for n, i := range rows {
			out[i].Times = []Time{{Target: p.notes.Targets[0], Median: median[n], Risk: risk[n], of: got, sample: n}}
		}
	case mkl.ClassModel[string]:
		got, err := m.PredictClasses(ctx, opt, x...)
		if err != nil {
			return err
		}
		names := m.Classes()
		_, grades := p.model.(*mkl.OrdinalModel[string])
		for n, i := range rows {
			out[i].Class, out[i].Classes = got.Label[n], classesOf(names, got.Probability[n])
			if grades {
				out[i].Median = names[mkl.MedianGrade(got.Probability[n])]
				addUpTo(out[i].Classes, got.Probability[n])
			}
		}
	case mkl.LabelModel:
		got, err := m.PredictLabels(ctx, opt, x...)
		if err != nil {
			return err
		}
		for n, i := range rows {
			for o, target := range p.notes.Targets {
				out[i].Labels = append(out[i].Labels, Label{Target: target, Present: got.Label[o][n], Probability: Inside(got.Probability[o][n])})
			}
		}
	}
	return nil
}

// classesOf returns classes with their probabilities.
func classesOf(names []string, probability []float64) (out []Class) {
	for k, name := range names {
		out = append(out, Class{Class: name, Probability: Inside(probability[k])})
	}
	return out
}

// addUpTo adds to grades the probabilities of each grade or a lower one.
func addUpTo(grades []Class, probability []float64) {
	var sum float64
	for k, v := range probability[:len(grades)-1] {
		sum += v
		grades[k].UpTo = Inside(sum)
	}
	grades[len(grades)-1].UpTo = 1
}
