package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

type evaluateCmd struct {
	Target string `placeholder:"COLUMNS" help:"Columns that hold the truth, if they are not called what they were in the fit."`
	Bins   int    `default:"10" help:"Rows of the calibration table of a classifier (${default}); 0 leaves it out."`
	JSON   bool   `name:"json" help:"Print JSON."`

	modelInput `embed:""`
}

// evaluation is how predictions compare with the truth.
type evaluation struct {
	Task        string             `json:"task"`
	Samples     int                `json:"samples"`
	Measures    []measures         `json:"measures"` // by target; one for a classifier
	Calibration []calibrationEntry `json:"calibration,omitempty"`
}

// measures are a target's, by name.
type measures struct {
	Target string             `json:"target"`
	Values map[string]float64 `json:"values"`
}

type calibrationEntry struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Count    int     `json:"count"`
	Mean     float64 `json:"mean_probability"`
	Observed float64 `json:"observed"`
}

// measureNames are the columns of the table, in order.
var measureNames = []string{
	"RMSE", "RMSE/SD", "log density", "coverage",
	"accuracy", "log loss", "Brier", "AUC", "EER",
}

func (c *evaluateCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Bins < 0 {
		return inputf("-bins %d is negative", c.Bins)
	}
	if c.Data == "" {
		return inputf("evaluate needs a data file, which holds the truth")
	}
	o, err := c.open(e)
	if err != nil {
		return err
	}
	defer o.files.close()
	n, main := o.notes, o.files.all[0]
	truth, err := c.truth(main, o.model, n)
	if err != nil {
		return err
	}
	x, rows, err := o.read()
	if err != nil {
		return err
	}
	ev := &evaluation{Task: n.Task, Samples: rows}
	predict := mkl.PredictOptions{Published: c.Published, Unhealed: c.Unhealed, Workers: c.Workers}
	switch m := o.model.(type) {
	case mkl.TargetModel:
		p, err := m.PredictTargets(e.ctx, predict, x...)
		if err != nil {
			return err
		}
		for o, j := range truth {
			v, err := c.regression(main.data.Numbers[j], p.Mean[o], p.Variance[o])
			if err != nil {
				return inputf("%s: %w", n.Targets[o], err)
			}
			ev.Measures = append(ev.Measures, measures{n.Targets[o], v})
		}
	case mkl.ClassModel[string]:
		p, err := m.PredictClasses(e.ctx, predict, x...)
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
		p, err := m.PredictLabels(e.ctx, predict, x...)
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
			v, err := classMeasures(class, probability)
			if err != nil {
				return err
			}
			ev.Measures = append(ev.Measures, measures{n.Targets[o], v})
		}
	}
	if c.JSON {
		return printJSON(e.stdout, ev)
	}
	return c.print(e.stdout, ev)
}

// truth finds the columns of the targets and asks for them.
func (c *evaluateCmd) truth(main *file, m model, n *notes) ([]int, error) {
	var items []spec.Item
	for _, name := range n.Targets {
		items = append(items, spec.Item{From: spec.Bound{Name: name}, To: spec.Bound{Name: name}})
	}
	if c.Target != "" {
		var err error
		if items, err = spec.ParseColumns(c.Target); err != nil {
			return nil, inputf("-target %w", err)
		}
	}
	columns, err := spec.Select(items, main.Columns(), nil)
	if err != nil {
		return nil, inputf("target: %s: %w", main.Name(), err)
	}
	if len(columns) != len(n.Targets) {
		return nil, inputf("-target: %s where the model has %s", plural(len(columns), "column"), plural(len(n.Targets), "target"))
	}
	kind := table.Label
	switch m.(type) {
	case mkl.TargetModel:
		kind = table.Optional
	case *mkl.MultiLabelModel:
		kind = table.OptionalLabel
	}
	for _, j := range columns {
		if slices.ContainsFunc(main.want, func(w table.Want) bool { return w.Column == j }) {
			return nil, inputf("column %q is both a target and part of a view", main.Columns()[j])
		}
		main.need(j, kind)
	}
	return columns, nil
}

// regression measures predictions of a target, leaving out missing values.
func (c *evaluateCmd) regression(truth, mean, variance []float64) (map[string]float64, error) {
	var y, predicted []float64
	var density, covered float64
	z := quantile(c.Interval)
	for i, t := range truth {
		if math.IsNaN(t) {
			continue
		}
		y, predicted = append(y, t), append(predicted, mean[i])
		d := t - mean[i]
		density -= 0.5 * (math.Log(2*math.Pi*variance[i]) + d*d/variance[i])
		if math.Abs(d) <= z*math.Sqrt(variance[i]) {
			covered++
		}
	}
	rmse, err := metrics.RMSE(y, predicted)
	if err != nil {
		return nil, err
	}
	n := float64(len(y))
	v := map[string]float64{"RMSE": rmse, "log density": density / n, "coverage": covered / n}
	if _, sd := meanSD(y); sd > 0 {
		v["RMSE/SD"] = rmse / sd
	}
	return v, nil
}

// classIndices are the positions of the labels of a column among the classes.
func classIndices(f *file, column int, classes []string) ([]int, error) {
	out := make([]int, f.data.Rows)
	for i, label := range f.data.Labels[column] {
		if out[i] = slices.Index(classes, label); out[i] < 0 {
			return nil, input(&table.CellError{File: f.Name(), Row: i + 1, Column: column, Name: f.Columns()[column],
				Msg: fmt.Sprintf("%q is not a class of the model", label)})
		}
	}
	return out, nil
}

// classMeasures measures the probabilities of classes. The area and the equal
// error rate are means over the classes, each against the others, that have
// samples of both kinds.
func classMeasures(class []int, probability [][]float64) (map[string]float64, error) {
	best := make([]int, len(class))
	for i, p := range probability {
		for k := range p {
			if p[k] > p[best[i]] {
				best[i] = k
			}
		}
	}
	v := map[string]float64{}
	var err error
	if v["accuracy"], err = metrics.Accuracy(class, best); err != nil {
		return nil, err
	}
	if v["log loss"], err = metrics.LogLoss(class, probability); err != nil {
		return nil, err
	}
	if v["Brier"], err = metrics.Brier(class, probability); err != nil {
		return nil, err
	}
	var areas, rates []float64
	for k := range probability[0] {
		positive, score := make([]bool, len(class)), make([]float64, len(class))
		for i := range class {
			positive[i], score[i] = class[i] == k, probability[i][k]
		}
		if slices.Contains(positive, true) && slices.Contains(positive, false) {
			area, err := metrics.AUC(positive, score)
			if err != nil {
				return nil, err
			}
			rate, err := metrics.EqualErrorRate(positive, score)
			if err != nil {
				return nil, err
			}
			areas, rates = append(areas, area), append(rates, rate)
		}
	}
	if len(areas) > 0 {
		v["AUC"], _ = meanSD(areas)
		v["EER"], _ = meanSD(rates)
	}
	return v, nil
}

// classifier measures a classifier and fills in its calibration.
func (c *evaluateCmd) classifier(ev *evaluation, target string, class []int, p *mkl.ClassPrediction[string]) error {
	v, err := classMeasures(class, p.Probability)
	if err != nil {
		return err
	}
	ev.Measures = []measures{{target, v}}
	if c.Bins == 0 {
		return nil
	}
	ev.Calibration, err = calibration(class, p.Probability, c.Bins)
	return err
}

// calibration is the table of the second class's probability where there are two,
// otherwise of the most probable class's; empty bins are left out.
func calibration(class []int, probability [][]float64, bins int) ([]calibrationEntry, error) {
	right, confidence := make([]bool, len(class)), make([]float64, len(class))
	for i, row := range probability {
		k := 1
		if len(row) > 2 {
			k = slices.Index(row, slices.Max(row))
		}
		right[i], confidence[i] = class[i] == k, min(row[k], 1)
	}
	all, err := metrics.Calibration(right, confidence, bins)
	if err != nil {
		return nil, err
	}
	var out []calibrationEntry
	for _, b := range all {
		if b.Count > 0 {
			out = append(out, calibrationEntry{b.From, b.To, b.Count, b.Mean, b.Observed})
		}
	}
	return out, nil
}

func (c *evaluateCmd) print(out io.Writer, ev *evaluation) error {
	fmt.Fprintf(out, "%s, %s\n\n", ev.Task, plural(ev.Samples, "sample"))
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
	if err := printTable(out, align, rows); err != nil {
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
	return printTable(out, "lrrr", rows)
}
