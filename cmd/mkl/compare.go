package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/cmd/mkl/internal/ranking"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
	"github.com/bmkl/bmkl/mkl/choose"
)

// compareCmd is mkl compare.
type compareCmd struct {
	Models []string `arg:"" help:"Two model files or more."`
	Data   string   `required:"" placeholder:"FILE" help:"Table with rows that no model was fitted to, and the truth."`
	Target string   `placeholder:"COLUMNS" help:"Columns that hold the truth, if they have other names than in the fits."`
	View   []string `sep:"none" placeholder:"NAME=COLUMNS" help:"Columns of a view, if they have other names than in the fits; @file takes a file."`
	Score  string   `enum:"auto,rmse,nlpd,crps,log-loss,accuracy,brier,log-score,deviance,concordance" default:"auto" help:"Score that decides: rmse, nlpd or crps of numbers, log-loss, accuracy or brier of classes and labels, log-score, deviance, rmse or crps of counts, log-score, concordance or brier of times; auto is the first of these."`
	At     float64  `placeholder:"TIME" help:"Time of the Brier score of times until an event; by default the median of the times."`

	console.WorkersFlag `embed:""`
	console.JSONFlag    `embed:""`
	console.Layout      `embed:""`
}

// contender is a model with the open file of the test rows.
type contender struct {
	*saved.Opened
	name  string
	truth []int // columns of the file
}

// Run predicts the rows with each model and compares the predictions, target by target, on the rows that all can
// predict.
func (c *compareCmd) Run(e *console.Env) error {
	switch {
	case len(c.Models) < 2:
		return console.Inputf("compare needs two models or more")
	case !(c.At >= 0) || math.IsInf(c.At, 1):
		return console.Inputf("-at %g: times are positive numbers", c.At)
	case c.Data == "-":
		return console.Inputf("-data -: every model reads the table, and standard input can be read once only")
	}
	var all []*contender
	defer func() {
		for _, m := range all {
			m.Files.Close()
		}
	}()
	for _, path := range c.Models {
		m, err := c.open(e, path)
		if err != nil {
			return err
		}
		if all = append(all, m); len(m.truth) != len(all[0].truth) || m.Estimator.Form != all[0].Estimator.Form {
			return console.Inputf("%s (%s) and %s (%s) predict different things", c.Models[0], all[0].Notes.Task, path, m.Notes.Task)
		}
	}
	predicted := make([]*prediction.Outcome, len(all))
	for k, m := range all {
		var err error
		if predicted[k], err = m.Predict(e); err != nil {
			return err
		}
	}
	fitted, err := fittedTo(e, all)
	if err != nil {
		return err
	}
	var list []*ranking.Comparison
	for o := range all[0].truth {
		out, err := c.target(all, predicted, o)
		if err != nil {
			return err
		}
		out.Training = fitted
		list = append(list, out)
	}
	if fitted != nil {
		verb := "was"
		if len(fitted) > 1 {
			verb = "were"
		}
		fmt.Fprintf(e.Stderr, "mkl: warning: %s %s fitted to these rows: errors on new rows are larger\n", console.List(fitted), verb)
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, list)
	}
	for i, out := range list {
		if i > 0 {
			fmt.Fprintln(e.Stdout)
		}
		if err := out.Print(e.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// open opens a model and asks for the columns that it needs.
func (c *compareCmd) open(e *console.Env, path string) (*contender, error) {
	m, err := saved.Load(e, path)
	if err != nil {
		return nil, err
	}
	in := &saved.Input{Model: path, Data: c.Data, Flags: saved.Flags{View: c.View, WorkersFlag: c.WorkersFlag, Layout: c.Layout}}
	o, err := m.Open(e, in, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	truth, err := o.AskTruth(c.Target)
	if err != nil {
		o.Files.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &contender{o, path, truth}, nil
}

// fittedTo names the models that were fitted to the file.
func fittedTo(e *console.Env, all []*contender) (fitted []string, err error) {
	for _, m := range all {
		used, err := m.Notes.Made.Used(e, m.Main().Path)
		if err != nil {
			return nil, err
		}
		if used {
			fitted = append(fitted, m.name)
		}
	}
	return fitted, nil
}

// target compares what was predicted of one target.
func (c *compareCmd) target(all []*contender, predicted []*prediction.Outcome, target int) (*ranking.Comparison, error) {
	first := all[0]
	truth, classes, err := truthOf(first, predicted, target)
	if err != nil {
		return nil, err
	}
	rows := slices.Clone(predicted[0].Kept)
	for _, p := range predicted[1:] {
		rows = slices.DeleteFunc(rows, func(i int) bool { _, ok := slices.BinarySearch(p.Kept, i); return !ok })
	}
	rows = slices.DeleteFunc(rows, func(i int) bool { return missing(truth, i) })
	if len(rows) == 0 {
		return nil, console.Inputf("%s: there is no row with a truth that all models can predict", first.Main().Name())
	}
	if c.At > 0 && truth.Times == nil {
		return nil, console.Inputf("-at is for times until an event, and these are models of %s", first.Notes.Task)
	}
	truth.At = c.At
	var some []*choose.Prediction
	for _, p := range predicted {
		own, err := p.Of(target, classes)
		if err != nil {
			return nil, err
		}
		at := make([]int, len(rows)) // of the rows among the rows that this model could predict
		for k, i := range rows {
			at[k], _ = slices.BinarySearch(p.Kept, i)
		}
		some = append(some, own.Of(at))
	}
	r, err := choose.Compare(truth.Of(rows), c.Models, some)
	if err != nil {
		return nil, console.Input(err)
	}
	by, err := ranking.ScoreNamed(c.Score, truth.Kind())
	if err != nil {
		return nil, err
	}
	name := first.Notes.Predicted()[target]
	out := &ranking.Comparison{
		Task: first.Notes.Task, Target: name, Samples: len(rows),
		Of: fmt.Sprintf("%s: %s, %s of %s", first.Main().Name(), console.Plural(len(rows), "sample"), first.Notes.Task, console.ColumnName(name)),
	}
	return out, out.Rank(r, by)
}

// missing reports whether the truth of a row is not known.
func missing(t choose.Truth, i int) bool {
	switch t.Kind() {
	case choose.ClassTruth:
		return t.Classes[i] < 0
	case choose.CountTruth:
		return math.IsNaN(t.Counts[i])
	case choose.TimeTruth:
		return math.IsNaN(t.Times[i].From)
	}
	return math.IsNaN(t.Numbers[i])
}

// areCounts reports whether all models predict distributions of counts.
func areCounts(predicted []*prediction.Outcome) bool {
	return !slices.ContainsFunc(predicted, func(p *prediction.Outcome) bool {
		of, ok := p.Prediction.(prediction.Numbers)
		return !ok || of.Counts == nil
	})
}

// truthOf reads the truth of every row from the first model's file, NaN or −1 where it is missing, and the classes of
// all models.
func truthOf(first *contender, predicted []*prediction.Outcome, target int) (t choose.Truth, classes []string, err error) {
	f, column := first.Main(), first.truth[target]
	switch first.Estimator.Form {
	case dataset.Numbers, dataset.Entries:
		if t.Numbers = f.Data.Numbers[column]; areCounts(predicted) {
			t = choose.Truth{Counts: t.Numbers}
		}
	case dataset.Times:
		if t.Times, err = first.Beside.Lifetimes(f, column); err != nil {
			return t, nil, err
		}
	case dataset.Labels:
		has, err := dataset.HasLabel(f, column)
		if err != nil {
			return t, nil, err
		}
		t.Classes = ranking.OfLabels(has)
	default:
		for _, p := range predicted {
			if of, ok := p.Prediction.(prediction.Classes); ok {
				for _, class := range of.Classes {
					if !slices.Contains(classes, class) {
						classes = append(classes, class)
					}
				}
			}
		}
		t.Classes = ranking.OfClasses(f.Data.Labels[column], classes)
		for i, class := range t.Classes {
			if label := f.Data.Labels[column][i]; class < 0 && label != "" {
				return t, nil, console.Input(f.Data.Cell(i, column, fmt.Sprintf("%q is not a class of any model", label)))
			}
		}
	}
	return t, classes, nil
}
