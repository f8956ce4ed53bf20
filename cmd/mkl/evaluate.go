package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/measure"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// evaluateCmd is mkl evaluate.
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
	Measures    []measures    `json:"measures"`           // by target; one for a classifier
	Baseline    *measures     `json:"baseline,omitempty"` // of one target: what the mean or the frequencies of these samples would have
	Calibration []measure.Bin `json:"calibration,omitempty"`

	// Training tells that the file is one that the model was fitted to.
	Training bool `json:"training,omitempty"`

	bins     int     // of the calibration
	noun     string  // of what was predicted, if they are not samples
	held     bool    // each entry of a table was predicted from the others of its row
	interval float64 // probability of the interval whose coverage is measured; 0 if there is none
}

// measures are what was measured of a target, by name.
type measures struct {
	Target string          `json:"target"`
	Values console.Figures `json:"values"`
}

// measureNames are the measures in the order in which they are printed.
var measureNames = []string{
	"RMSE", "RMSE/SD", "log density", "coverage",
	"accuracy", "log loss", "ECE", "Brier", "AUC", "EER", measure.Surprises,
}

// Run predicts the rows and measures the predictions.
func (c *evaluateCmd) Run(e *console.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	m, err := c.tested(e)
	if err != nil {
		return err
	}
	defer m.files.Close()
	ev := m.evaluation
	if c.JSON {
		return console.PrintJSON(e.Stdout, ev)
	}
	return ev.print(e.Stdout)
}

// tested is a model, what it predicts of the rows of a file, and how that compares with the truth.
type tested struct {
	*opened
	*outcome
	*evaluation
	main    *console.File // with the rows that could be predicted
	truth   []int         // its columns of the targets
	learned bool          // it is a file that the model was fitted to
}

// tested predicts the rows and measures the predictions. The caller closes the files.
func (c *evaluateCmd) tested(e *console.Env) (_ *tested, err error) {
	if c.Bins < 0 {
		return nil, console.Inputf("-bins %d is negative", c.Bins)
	}
	if c.Data == "" {
		return nil, console.Inputf("evaluate needs a data file, which holds the truth")
	}
	m := &tested{}
	if m.opened, err = c.open(e); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.files.Close()
		}
	}()
	m.main = m.files.All[0]
	if m.truth, err = m.findTruth(m.main, c.Target); err != nil {
		return nil, err
	}
	if m.learned, err = m.notes.Made.used(e, m.main.Path); err != nil {
		return nil, err
	}
	if m.outcome, err = m.opened.predict(e, &c.modelInput); err != nil {
		return nil, err
	}
	m.main.Data.Pick(m.kept)
	m.evaluation = &evaluation{Task: m.notes.Task, Samples: len(m.kept), Training: m.learned, bins: c.Bins}
	if m.table != nil {
		m.held, m.noun = m.table.held, "row"
		if m.table.listed() {
			m.noun = "entry"
		}
	}
	if m.pairs != nil {
		m.noun = "pair"
	}
	if m.est.form == numbers || m.est.form == tableEntries {
		m.interval = c.Interval
	}
	return m, m.prediction.measure(m.evaluation, m.main, m.truth, m.predicted())
}

// findTruth finds the columns that hold the truth, those that target names or else those of the fit, and asks
// for them.
func (m *opened) findTruth(main *console.File, target string) ([]int, error) {
	targets := m.predicted()
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
	if m.table != nil && !m.table.listed() {
		if !slices.Equal(found, m.table.columns) {
			return nil, console.Inputf("-target is not for a model of factors: each entry of its table is predicted from the others of its row")
		}
		m.table.held = true
		return found, nil
	}
	for _, j := range found {
		if main.Needs(j) {
			return nil, console.Inputf("column %q is both a target and part of a view", main.Columns()[j])
		}
		kind := m.est.form.kind(true)
		if c, ok := m.Model.(mkl.ClassModel[string]); ok && slices.ContainsFunc(c.Classes(), table.Missing) {
			kind = table.Label // NA is a class
		}
		main.Need(j, kind)
	}
	return found, nil
}

func (p numberPrediction) measure(ev *evaluation, f *console.File, truth []int, targets []string) error {
	for o, j := range truth {
		v, err := measure.Target(f.Data.Numbers[j], p.Mean[o], p.Variance[o], ev.interval)
		if err != nil {
			return console.Inputf("%s: %w", targets[o], err)
		}
		ev.Measures = append(ev.Measures, measures{targets[o], v})
		if ratio := v["RMSE/SD"]; ratio > 0 && len(truth) == 1 {
			ev.Baseline = &measures{"mean", console.Figures{"RMSE": v["RMSE"] / ratio, "RMSE/SD": 1}}
		}
	}
	return nil
}

func (p classPrediction) measure(ev *evaluation, f *console.File, truth []int, targets []string) error {
	class, probability, err := p.known(f, truth[0])
	if err != nil {
		return err
	}
	ev.Samples = len(class)
	v, err := measure.Classes(class, probability)
	if err != nil {
		return err
	}
	ev.Measures, ev.Baseline = []measures{{targets[0], v}}, frequencies(class)
	if ev.bins > 0 {
		ev.Calibration, err = measure.Calibration(class, probability, ev.bins)
	}
	return err
}

func (p labelPrediction) measure(ev *evaluation, f *console.File, truth []int, targets []string) error {
	for o, j := range truth {
		has, err := hasLabel(f, j)
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
		ev.Measures = append(ev.Measures, measures{targets[o], v})
		if len(truth) == 1 {
			ev.Baseline = frequencies(class)
		}
	}
	return nil
}

// frequencies measures the prediction of each sample by the frequencies of the classes among all: no other
// that is the same for every sample has a lower log loss or Brier score.
func frequencies(class []int) *measures {
	count := map[int]int{}
	for _, k := range class {
		count[k]++
	}
	most, entropy, squares := 0.0, 0.0, 0.0
	for _, k := range slices.Sorted(maps.Keys(count)) {
		p := float64(count[k]) / float64(len(class))
		most = max(most, p)
		entropy -= float64(p * math.Log(p))
		squares += float64(p * p)
	}
	return &measures{"frequencies", console.Figures{"accuracy": most, "log loss": entropy, "Brier": 1 - squares}}
}

// known returns the positions among the classes of the labels of a column, and what was predicted of the
// same samples, without those that have no label.
func (p classPrediction) known(f *console.File, column int) (class []int, probability [][]float64, err error) {
	for i, label := range f.Data.Labels[column] {
		if label == "" {
			continue
		}
		k := slices.Index(p.classes, label)
		if k < 0 {
			return nil, nil, console.Input(f.Data.Cell(i, column, fmt.Sprintf("%q is not a class of the model", label)))
		}
		class, probability = append(class, k), append(probability, p.Probability[i])
	}
	return class, probability, nil
}

// ofTraining says of rows that the model was fitted to them.
func ofTraining(training bool) string {
	if !training {
		return ""
	}
	return " that the model was fitted to: errors on new rows are larger"
}

func (ev *evaluation) print(out io.Writer) error {
	fmt.Fprintf(out, "%s, %s%s\n", ev.Task, console.Plural(ev.Samples, cmp.Or(ev.noun, "sample")), ofTraining(ev.Training))
	if ev.held {
		fmt.Fprintln(out, "each entry predicted from the others of its row")
	}
	fmt.Fprintln(out)
	header := []string{"target"}
	align := "l"
	for _, name := range measureNames {
		if slices.ContainsFunc(ev.Measures, func(m measures) bool { _, ok := m.Values[name]; return ok }) {
			header, align = append(header, name), align+"r"
		}
	}
	rows := [][]string{header}
	all := ev.Measures
	if ev.Baseline != nil {
		all = append(slices.Clone(all), *ev.Baseline)
	}
	for _, m := range all {
		row := []string{columnName(m.Target)}
		for _, name := range header[1:] {
			cell := ""
			if v, ok := m.Values[name]; ok {
				cell = console.Figure(v)
				if name == measure.Surprises { // a count
					cell = strconv.FormatFloat(v, 'f', 0, 64)
				}
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	if err := console.PrintTable(out, align, rows); err != nil {
		return err
	}
	if slices.Contains(header, measure.Surprises) {
		fmt.Fprintf(out, "\nECE: expected calibration error, of the most probable class in %d bins; %s: truths that were given a smaller probability\n", measure.ErrorBins, measure.Surprises)
	}
	if ev.Baseline != nil {
		fmt.Fprintf(out, "\n%s: predicting each sample by that of all, which a model should beat\n", ev.Baseline.Target)
	}
	if ev.interval > 0 {
		fmt.Fprintf(out, "\nlog density: mean per sample, in nats; coverage: of the %g %% interval\n", 100*ev.interval)
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
