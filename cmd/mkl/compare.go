package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
)

// compareCmd is mkl compare.
type compareCmd struct {
	Models []string `arg:"" help:"Two model files or more."`
	Data   string   `required:"" placeholder:"FILE" help:"Table with rows that no model was fitted to, and the truth."`
	Target string   `placeholder:"COLUMNS" help:"Columns that hold the truth, if they are not called what they were in the fits."`
	View   []string `sep:"none" placeholder:"NAME=COLUMNS" help:"Columns of a view, if they are not called what they were in the fits; @file takes a file."`
	Score  string   `enum:"auto,rmse,nlpd,log-loss,accuracy,brier" default:"auto" help:"Score that decides: rmse or nlpd of numbers, log-loss, accuracy or brier of classes and labels; auto is the first of these."`

	Workers int  `help:"Most goroutines at work; 0 means one for each processor."`
	JSON    bool `name:"json" help:"Print JSON."`

	console.Layout `embed:""`
}

// contender is a model with what it predicts of the test rows.
type contender struct {
	*opened
	*outcome
	truth []int // columns of the first file
}

// Run predicts the rows with each model and compares the predictions, target by target, on the
// rows that all can predict.
func (c *compareCmd) Run(e *console.Env) error {
	switch {
	case len(c.Models) < 2:
		return console.Inputf("compare needs two models or more")
	case c.Data == "-":
		return console.Inputf("-data -: every model reads the table, and standard input can be read once only")
	}
	var all []*contender
	defer func() {
		for _, m := range all {
			m.files.Close()
		}
	}()
	for _, path := range c.Models {
		m, err := c.open(e, path)
		if err != nil {
			return err
		}
		if all = append(all, m); len(m.truth) != len(all[0].truth) || m.est.form != all[0].est.form {
			return console.Inputf("%s (%s) and %s (%s) predict different things", c.Models[0], all[0].notes.Task, path, m.notes.Task)
		}
	}
	for _, m := range all {
		input := &modelInput{predictFlags: predictFlags{Interval: 0.95, Workers: c.Workers}}
		var err error
		if m.outcome, err = m.predict(e, input); err != nil {
			return err
		}
	}
	fitted, err := fittedTo(e, all, c.Models)
	if err != nil {
		return err
	}
	first := all[0]
	var list []*comparison
	for o, column := range first.truth {
		out, err := c.target(all, o, column)
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
		fmt.Fprintf(e.Stderr, "mkl: warning: %s %s fitted to these rows: errors on new rows are larger\n", join(fitted), verb)
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, list)
	}
	for i, out := range list {
		if i > 0 {
			fmt.Fprintln(e.Stdout)
		}
		if err := out.print(e.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// fittedTo names the models that were fitted to the file.
func fittedTo(e *console.Env, all []*contender, names []string) (fitted []string, err error) {
	for i, m := range all {
		used, err := m.notes.Made.used(e, m.files.All[0].Path)
		if err != nil {
			return nil, err
		}
		if used {
			fitted = append(fitted, names[i])
		}
	}
	return fitted, nil
}

// open opens a model and asks for the columns that it needs.
func (c *compareCmd) open(e *console.Env, path string) (*contender, error) {
	read, err := load(e, path)
	if err != nil {
		return nil, err
	}
	input := &modelInput{Model: path, Data: c.Data}
	input.predictFlags = predictFlags{View: c.View, Interval: 0.95, Workers: c.Workers, Layout: c.Layout}
	o, err := input.openFor(e, read)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m := &contender{opened: o}
	if m.truth, err = o.findTruth(o.files.All[0], c.Target); err != nil {
		o.files.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// target compares the predictions of one target.
func (c *compareCmd) target(all []*contender, target, column int) (*comparison, error) {
	first := all[0]
	file := first.files.All[0]
	truth, classes, err := truthOf(all, target, column)
	if err != nil {
		return nil, err
	}
	rows := slices.Clone(first.kept)
	for _, m := range all[1:] {
		rows = slices.DeleteFunc(rows, func(i int) bool { _, ok := slices.BinarySearch(m.kept, i); return !ok })
	}
	rows = slices.DeleteFunc(rows, func(i int) bool {
		return truth.Classes != nil && truth.Classes[i] < 0 || truth.Classes == nil && math.IsNaN(truth.Numbers[i])
	})
	if len(rows) == 0 {
		return nil, console.Inputf("%s: there is no row with a truth that all models can predict", file.Name())
	}
	var predictions []*choose.Prediction
	for _, m := range all {
		p, err := asPrediction(m.prediction, target, classes)
		if err != nil {
			return nil, err
		}
		at := make([]int, len(rows)) // of the rows among those that this model could predict
		for k, i := range rows {
			at[k], _ = slices.BinarySearch(m.kept, i)
		}
		predictions = append(predictions, p.Of(at))
	}
	r, err := choose.Compare(truth.Of(rows), c.Models, predictions)
	if err != nil {
		return nil, err
	}
	by, err := scoreNamed(c.Score, truth.Classes != nil)
	if err != nil {
		return nil, err
	}
	name := first.predicted()[target]
	out := &comparison{
		Task: first.notes.Task, Target: name, Samples: len(rows),
		of: fmt.Sprintf("%s: %s, %s of %s", file.Name(), console.Plural(len(rows), "sample"), first.notes.Task, columnName(name)),
	}
	return out, out.rank(r, by)
}

// truthOf reads the truth of every row from the first model's file, NaN or -1 where it is
// missing, and the classes of all models.
func truthOf(all []*contender, target, column int) (t choose.Truth, classes []string, err error) {
	f := all[0].files.All[0]
	switch all[0].est.form {
	case numbers, tableEntries:
		t.Numbers = f.Data.Numbers[column]
	case labels:
		has, err := hasLabel(f, column)
		if err != nil {
			return t, nil, err
		}
		t.Classes = truthOfLabels(has)
	default:
		for _, m := range all {
			if p, ok := m.prediction.(classPrediction); ok {
				for _, class := range p.classes {
					if !slices.Contains(classes, class) {
						classes = append(classes, class)
					}
				}
			}
		}
		for i, label := range f.Data.Labels[column] {
			class := slices.Index(classes, label)
			if class < 0 && label != "" {
				return t, nil, console.Input(f.Data.Cell(i, column, fmt.Sprintf("%q is not a class of any model", label)))
			}
			t.Classes = append(t.Classes, class)
		}
	}
	return t, classes, nil
}

// truthOfLabels are the classes 1 of samples that have a label and 0 of those that have not, -1 where that is
// not known.
func truthOfLabels(has []mkl.Label) []int {
	class := make([]int, len(has))
	for i, v := range has {
		class[i] = -1
		if v != mkl.Unknown {
			class[i] = int(v - mkl.Absent)
		}
	}
	return class
}
