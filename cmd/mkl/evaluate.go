package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

type evaluateCmd struct {
	Target string `placeholder:"COLUMNS" help:"Columns that hold the truth, if they are not called what they were in the fit."`
	Bins   int    `default:"10" help:"Rows of the calibration table of a classifier (${default}); 0 leaves it out."`
	JSON   bool   `name:"json" help:"Print JSON."`

	modelInput `embed:""`
}

// evaluation is how predictions compare with the truth.
type evaluation struct {
	Task        string        `json:"task"`
	Samples     int           `json:"samples"`
	Measures    []measures    `json:"measures"` // by target; one for a classifier
	Calibration []measure.Bin `json:"calibration,omitempty"`
}

// measures are a target's, by name.
type measures struct {
	Target string             `json:"target"`
	Values map[string]float64 `json:"values"`
}

// measureNames are the columns of the table, in order.
var measureNames = []string{
	"RMSE", "RMSE/SD", "log density", "coverage",
	"accuracy", "log loss", "Brier", "AUC", "EER",
}

func (c *evaluateCmd) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Bins < 0 {
		return console.Inputf("-bins %d is negative", c.Bins)
	}
	if c.Data == "" {
		return console.Inputf("evaluate needs a data file, which holds the truth")
	}
	o, err := c.open(e)
	if err != nil {
		return err
	}
	defer o.files.Close()
	n, main := o.notes, o.files.All[0]
	truth, err := c.truth(main, o.model, n)
	if err != nil {
		return err
	}
	x, rows, err := o.read()
	if err != nil {
		return err
	}
	ev := &evaluation{Task: n.Task, Samples: rows}
	predict := mkl.PredictOptions{Published: c.Published, Workers: c.Workers}
	switch m := o.model.(type) {
	case regressionModel:
		p, err := m.PredictTargets(e.Ctx, predict, x...)
		if err != nil {
			return err
		}
		for o, j := range truth {
			v, err := measure.Target(main.Data.Numbers[j], p.Mean[o], p.Variance[o], c.Interval)
			if err != nil {
				return console.Inputf("%s: %w", n.Targets[o], err)
			}
			ev.Measures = append(ev.Measures, measures{n.Targets[o], v})
		}
	case classifier:
		p, err := m.PredictClasses(e.Ctx, predict, x...)
		if err != nil {
			return err
		}
		class, err := classIndices(main, truth[0], m.Classes())
		if err != nil {
			return err
		}
		if err := c.classifier(ev, n.Targets[0], class, p); err != nil {
			return err
		}
	case *mkl.MultiLabelModel:
		p, err := m.Predict(e.Ctx, predict, x...)
		if err != nil {
			return err
		}
		for o, j := range truth {
			has, err := flags(main, j)
			if err != nil {
				return err
			}
			var probability [][]float64
			var class []int
			for i, v := range has {
				if v != mkl.Unknown {
					probability = append(probability, []float64{1 - p.Probability[o][i], p.Probability[o][i]})
					class = append(class, int(v-mkl.Absent))
				}
			}
			v, err := measure.Classes(class, probability)
			if err != nil {
				return err
			}
			ev.Measures = append(ev.Measures, measures{n.Targets[o], v})
		}
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, ev)
	}
	return c.print(e.Stdout, ev)
}

// truth finds the columns of the targets and asks for them.
func (c *evaluateCmd) truth(main *console.File, m model, n *notes) ([]int, error) {
	var items []spec.Item
	for _, name := range n.Targets {
		items = append(items, spec.Item{From: spec.Bound{Name: name}, To: spec.Bound{Name: name}})
	}
	if c.Target != "" {
		var err error
		if items, err = spec.ParseColumns(c.Target); err != nil {
			return nil, console.Inputf("-target %w", err)
		}
	}
	columns, err := spec.Select(items, main.Columns(), nil)
	if err != nil {
		return nil, console.Inputf("target: %s: %w", main.Name(), err)
	}
	if len(columns) != len(n.Targets) {
		return nil, console.Inputf("-target: %s where the model has %s", console.Plural(len(columns), "column"), console.Plural(len(n.Targets), "target"))
	}
	kind := table.Label
	switch m.(type) {
	case regressionModel:
		kind = table.Optional
	case *mkl.MultiLabelModel:
		kind = table.OptionalLabel
	}
	for _, j := range columns {
		if slices.ContainsFunc(main.Want, func(w table.Want) bool { return w.Column == j }) {
			return nil, console.Inputf("column %q is both a target and part of a view", main.Columns()[j])
		}
		main.Need(j, kind)
	}
	return columns, nil
}

// classIndices are the positions of the labels of a column among the classes.
func classIndices(f *console.File, column int, classes []string) ([]int, error) {
	out := make([]int, f.Data.Rows)
	for i, label := range f.Data.Labels[column] {
		if out[i] = slices.Index(classes, label); out[i] < 0 {
			return nil, console.Input(&table.CellError{File: f.Name(), Row: i + 1, Column: column, Name: f.Columns()[column],
				Msg: fmt.Sprintf("%q is not a class of the model", label)})
		}
	}
	return out, nil
}

// classifier measures a classifier and fills in its calibration.
func (c *evaluateCmd) classifier(ev *evaluation, target string, class []int, p *mkl.ClassPrediction[string]) error {
	v, err := measure.Classes(class, p.Probability)
	if err != nil {
		return err
	}
	ev.Measures = []measures{{target, v}}
	if c.Bins == 0 {
		return nil
	}
	ev.Calibration, err = measure.Calibration(class, p.Probability, c.Bins)
	return err
}

func (c *evaluateCmd) print(out io.Writer, ev *evaluation) error {
	fmt.Fprintf(out, "%s, %s\n\n", ev.Task, console.Plural(ev.Samples, "sample"))
	header := []string{"target"}
	align := "l"
	for _, name := range measureNames {
		if slices.ContainsFunc(ev.Measures, func(m measures) bool { _, ok := m.Values[name]; return ok }) {
			header, align = append(header, name), align+"r"
		}
	}
	rows := [][]string{header}
	for _, m := range ev.Measures {
		row := []string{m.Target}
		for _, name := range header[1:] {
			cell := ""
			if v, ok := m.Values[name]; ok {
				cell = fmt.Sprintf("%.4f", v)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	if err := console.PrintTable(out, align, rows); err != nil {
		return err
	}
	if isRegression(ev.Task) {
		fmt.Fprintf(out, "\nlog density: mean per sample, in nats; coverage: of the %g %% interval\n", 100*c.Interval)
	}
	if len(ev.Calibration) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	rows = [][]string{{"predicted", "samples", "mean", "came true"}}
	for _, b := range ev.Calibration {
		rows = append(rows, []string{
			fmt.Sprintf("%.2f … %.2f", b.From, b.To), fmt.Sprint(b.Count), fmt.Sprintf("%.3f", b.Mean), fmt.Sprintf("%.3f", b.Observed),
		})
	}
	return console.PrintTable(out, "lrrr", rows)
}
