package saved

import (
	"errors"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/factors"
	"github.com/bmkl/bmkl/cmd/mkl/internal/pairs"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/mkl"
)

// Flags say where a model's views are in new data, how files are laid out, and what to predict.
type Flags struct {
	View      []string  `sep:"none" placeholder:"NAME=COLUMNS" help:"Columns of a view, if they have other names than in the fit; @file takes a file."`
	Interval  float64   `default:"0.95" above:"0" below:"1" help:"Probability of the predictive interval of a regression (${default})."`
	Published bool      `help:"Use the published predictive variance, which is too small."`
	Exposure  string    `placeholder:"COLUMN|NUMBER" help:"Column of the exposures, for a model of counts, if it has another name than in the fit; or one exposure for all rows."`
	Offset    string    `placeholder:"COLUMN|NUMBER" help:"Column of the offsets, for a regression with offsets, if it has another name than in the fit; or one offset for all rows."`
	Times     []float64 `placeholder:"TIMES" help:"Times for a model of times until an event, with commas between. The command predicts the probability that the event is later than each time, or measures it there."`
	Unhealed  bool      `help:"Leave out healing: the intervals of a BMKLR regression, and of new rows and columns of pairs, are then too short away from the samples."`

	console.WorkersFlag `embed:""`
	console.Layout      `embed:""`
}

// Input names a model and the data to predict.
type Input struct {
	Model string `arg:"" help:"Model file; - is standard input."`
	Data  string `arg:"" optional:"" help:"Table with a row for each sample: CSV (also compressed), Excel (.xlsx), NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MAT-file; - is standard input. Not needed if every view has a file of its own."`

	pairs.Sides `embed:""`
	Flags       `embed:""`
}

// Opened is a model with the open files of what it is to predict. The caller closes the files.
type Opened struct {
	*Model
	Files  *console.Files
	Rows   Rows
	Beside dataset.Beside // of a model of times: what says whether and when the events happened
}

// Rows are the rows of a file that a model is to predict: samples, entries of a table, or pairs.
type Rows interface {
	// Noun is what a sentence calls one of them.
	Noun() string
	// Name adds to the output the columns that name the rows.
	Name(out *prediction.Columns)
	// Predict predicts the rows, which were read. It says on standard error what it cannot predict.
	Predict(e *console.Env) (*prediction.Outcome, error)
}

// Open reads the model and opens the files: see [Model.Open].
func Open(e *console.Env, in *Input, measured bool) (*Opened, error) {
	if in.Model == console.Standard && in.Data == console.Standard {
		return nil, console.Inputf("- is both the model and the data: standard input holds one of them")
	}
	m, err := Load(e, in.Model)
	if err != nil {
		return nil, err
	}
	return m.Open(e, in, measured)
}

// Open opens the files for the model. If measured, the predictions are to be compared with the truth: no entry of a
// table is predicted from itself.
func (m *Model) Open(e *console.Env, in *Input, measured bool) (*Opened, error) {
	fs, err := dataset.NewFiles(e, in.Layout, m.Notes)
	if err != nil {
		return nil, err
	}
	o := &Opened{Model: m, Files: fs}
	if o.Rows, err = m.find(fs, in, measured); err != nil {
		fs.Close()
		return nil, err
	}
	return o, nil
}

// find asks the files for the columns that the model needs.
func (m *Model) find(fs *console.Files, in *Input, measured bool) (Rows, error) {
	if m.Estimator.Pairs {
		return m.findPairs(fs, in)
	}
	if in.Rows != nil || in.Columns != nil {
		return nil, console.Inputf("-rows and -columns are for models of pairs, and this is one of %s", m.Notes.Task)
	}
	inputs, err := dataset.FindInputs(fs, m.Notes, m.Inputs(), in.Data, in.View)
	if err != nil {
		return nil, err
	}
	if f, ok := m.Model.(*mkl.FactorAnalysisModel); ok {
		if in.Data == "" {
			return nil, console.Inputf("a model of factors needs a data file")
		}
		return factors.Find(f, m.Notes, fs.All[0], factors.Use{Held: measured})
	}
	s := &Samples{Inputs: inputs, model: m.Model}
	s.Options.PredictOptions = mkl.PredictOptions{Published: in.Published, Unhealed: in.Unhealed, Workers: in.Workers}
	if err := s.findBeside(fs, m, in); err != nil {
		return nil, err
	}
	return s, nil
}

// findPairs asks for the columns that name pairs, and reads what is known of new rows and columns.
func (m *Model) findPairs(fs *console.Files, in *Input) (Rows, error) {
	n := m.Notes.Pairs
	switch {
	case n == nil:
		return nil, console.Inputf("%s: the command did not make this model of pairs, and does not know the names of its rows and columns", in.Model)
	case in.Data == "":
		return nil, console.Inputf("a model of pairs needs a data file, which names them by the columns %s and %s", n.Entries[0], n.Entries[1])
	case in.View != nil:
		return nil, console.Inputf("-view is not for a model of pairs: -rows and -columns name the files of new rows and columns")
	}
	of, ok := m.Model.(pairs.Model)
	if !ok {
		return nil, console.Inputf("the command does not know how to predict with %v", m.Model)
	}
	opt := mkl.PredictorOptions{Published: in.Published, Unhealed: in.Unhealed}
	return pairs.Find(of, m.Notes, fs, in.Data, in.Sides, opt, m.Estimator.Form == dataset.Labels)
}

// MeanOnly says that means alone are wanted, of a model of numbers.
func (o *Opened) MeanOnly() error {
	s, ok := o.Rows.(*Samples)
	_, numbers := o.Model.Model.(mkl.TargetModel)
	if _, counts := o.Model.Model.(*mkl.CountModel); !ok || !numbers && !counts {
		return console.Inputf("-mean is for models that predict numbers of samples, not for %v", o.Model.Model)
	}
	s.Options.MeanOnly = true
	return nil
}

// Predict reads the columns asked for and predicts the rows.
func (o *Opened) Predict(e *console.Env) (*prediction.Outcome, error) {
	if _, err := o.Files.Read(); err != nil {
		return nil, err
	}
	return o.Rows.Predict(e)
}

// Main is the file with the rows.
func (o *Opened) Main() *console.File { return o.Files.All[0] }

// AskTruth finds the columns of the main file that hold the truth, and asks for them: the columns that target names,
// or else the targets of the fit.
func (o *Opened) AskTruth(target string) ([]int, error) {
	main, targets := o.Main(), o.Notes.Predicted()
	items := spec.Names(targets)
	if target != "" {
		var err error
		if items, err = spec.ParseColumns(target); err != nil {
			return nil, console.Inputf("-target %w", err)
		}
	}
	found, err := spec.Select(items, main.Columns(), nil)
	if err != nil {
		return nil, console.Inputf("target: %s: %w", main.Name(), err)
	}
	if len(found) != len(targets) {
		return nil, console.Inputf("-target: %s where the model has %s", console.Plural(len(found), "column"), console.Plural(len(targets), "target"))
	}
	if t, ok := o.Rows.(*factors.Rows); ok && !t.Listed {
		if !slices.Equal(found, t.Columns) {
			return nil, console.Inputf("-target is not for a model of factors: each entry of its table is predicted from the others of its row")
		}
		return found, nil
	}
	for _, j := range found {
		if main.Needs(j) {
			return nil, console.Inputf("column %q is both a target and part of a view", main.Columns()[j])
		}
		kind := o.Estimator.Form.Kind(true)
		if c, ok := o.Model.Model.(mkl.ClassModel[string]); ok && slices.ContainsFunc(c.Classes(), table.Missing) {
			kind = table.Label // NA is a class
		}
		main.Need(j, kind)
	}
	if o.Estimator.Form == dataset.Times {
		return found, o.askBeside(found)
	}
	return found, nil
}

// Samples are rows that a model of samples is to predict.
type Samples struct {
	*dataset.Inputs
	Options prediction.Options // without exposures and offsets

	exposure, offset rowNumber
	model            mkl.Model
}

// Noun is what a sentence calls one of them.
func (s *Samples) Noun() string { return "sample" }

// Name adds nothing: samples have no names but -id.
func (s *Samples) Name(*prediction.Columns) {}

// Predict predicts the rows, which were read. It says on standard error what it cannot predict.
func (s *Samples) Predict(e *console.Env) (*prediction.Outcome, error) {
	rows := s.Files.All[0].Data.Rows
	var gaps dataset.Shortfall
	x, kept, err := s.Features(e.Ctx, rows, s.Options.Workers, &gaps)
	if err != nil {
		return nil, err
	}
	opt := s.Options
	if opt.Exposure, kept, err = s.exposure.of(s, x, &opt.Offset, kept, &gaps); err != nil {
		return nil, err
	}
	if opt.Offset, kept, err = s.offset.of(s, x, &opt.Exposure, kept, &gaps); err != nil {
		return nil, err
	}
	if err := gaps.Warn(e, s.Plans(), "predicted"); err != nil {
		return nil, err
	}
	out := &prediction.Outcome{Rows: rows, Kept: kept, X: x, Options: opt, Novelty: s.Novelty()}
	wild := dataset.Shortfall{Rows: len(kept)}
	for {
		out.Prediction, err = prediction.By(e.Ctx, s.model, out.Options, out.X)
		beyond, ok := errors.AsType[*mkl.SampleError](err)
		if !ok {
			break
		}
		if wild.First == nil {
			wild.First = s.Files.All[0].Data.Row(out.Kept[beyond.Samples[0]], beyond.Err.Error())
		}
		wild.Missing += len(beyond.Samples)
		if wild.Missing == wild.Rows {
			break
		}
		out.Drop(beyond.Samples)
	}
	if wild := wild.Warn(e, nil, "predicted"); wild != nil {
		return nil, wild
	}
	return out, err
}
