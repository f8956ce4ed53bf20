// Package evaluation compares what models predict with the truth, and finds which columns predictions depend on.
package evaluation

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/factors"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/prediction"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
	"github.com/bmkl/bmkl/mkl"
)

// Evaluation is how predictions compare with the truth.
type Evaluation struct {
	Task        string        `json:"task"`
	Samples     int           `json:"samples"`
	Measures    []Measures    `json:"measures"`           // by target; one for a classifier
	Baseline    *Measures     `json:"baseline,omitempty"` // of one target: what the mean or the frequencies of these samples would have
	Calibration []measure.Bin `json:"calibration,omitempty"`
	Fifths      []Fifths      `json:"fifths,omitempty"` // coverage, by target
	Times       []AtTime      `json:"times,omitempty"`  // of a model of times

	// Training is true if the model was fitted to the file.
	Training bool `json:"training,omitempty"`

	// Unseen is the number of rows whose class the fit had not seen. The measures leave them out.
	Unseen int `json:"unseen,omitempty"`

	bins     int     // of the calibration
	noun     string  // what a sentence calls one of the rows
	held     bool    // each entry of a table was predicted from the other entries of its row
	interval float64 // probability of the interval whose coverage is measured; 0 to measure none
}

// Measures are what was measured of a target, by name.
type Measures struct {
	Target string          `json:"target"`
	Values console.Figures `json:"values"`
}

// pit is the name of the distance of the probability integral transform from uniform.
const pit = "PIT"

// byChance, divided by √n, is the mean PIT of n rows whose predicted distributions are right: see [metrics.PITDistance].
const byChance = 0.8

// MeasureNames are the measures in the order in which they are printed.
var MeasureNames = []string{
	"RMSE", "RMSE/SD", "R²", "MAE", concordance, logScore, deviance, "log density", "CRPS", "interval score", "coverage", pit,
	"accuracy", kappa, rankedScore, gradesOff, "F1", "log loss", "ECE", "Brier", "AUC", "AP", "EER", measure.Surprises,
}

// Tested is a model, what it predicts of the rows of a file, and how the predictions compare with the truth. The
// caller closes the files.
type Tested struct {
	*saved.Opened
	*prediction.Outcome
	*Evaluation
	Main  *console.File // with the rows that could be predicted
	Truth []int         // its columns of the targets

	Lifetimes []mkl.Lifetime // of a model of times: the truth of the rows; NaN where it is missing
}

// Test predicts rows and compares the predictions with the truth: the columns that target names, or else the targets
// of the fit. bins is the number of rows of a calibration table.
func Test(e *console.Env, in *saved.Input, target string, bins int) (_ *Tested, err error) {
	if in.Data == "" {
		return nil, console.Inputf("evaluate needs a data file, which holds the truth")
	}
	o, err := saved.Open(e, in, true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			o.Files.Close()
		}
	}()
	main := o.Main()
	truth, err := o.AskTruth(target)
	if err != nil {
		return nil, err
	}
	training, err := o.Notes.Made.Used(e, main.Path)
	if err != nil {
		return nil, err
	}
	out, err := o.Predict(e)
	if err != nil {
		return nil, err
	}
	main.Data.Pick(out.Kept)
	ev := &Evaluation{Task: o.Notes.Task, Samples: len(out.Kept), Training: training, bins: bins, noun: o.Rows.Noun()}
	if t, ok := o.Rows.(*factors.Rows); ok {
		ev.held = !t.Listed
	}
	if f := o.Estimator.Form; f == dataset.Numbers || f == dataset.Entries {
		ev.interval = in.Interval
	}
	t := &Tested{o, out, ev, main, truth, nil}
	if p, ok := out.Prediction.(prediction.Times); ok {
		if t.Lifetimes, err = o.Beside.Lifetimes(main, truth[0]); err != nil {
			return nil, err
		}
		return t, ev.measureTimes(p, t.Lifetimes, o.Notes.Targets[0])
	}
	return t, ev.measure(e, out.Prediction, main, truth, o.Notes.Predicted())
}

// measure compares predictions with the truth in columns of f, which were read.
func (ev *Evaluation) measure(e *console.Env, p prediction.Prediction, f *console.File, truth []int, targets []string) error {
	for _, j := range truth {
		if known := func(v float64) bool { return v == v }; !slices.ContainsFunc(f.Data.Numbers[j], known) &&
			!slices.ContainsFunc(f.Data.Labels[j], func(label string) bool { return label != "" }) {
			return console.Inputf("%s: column %q: no row has a truth that predictions could be compared with", f.Name(), f.Columns()[j])
		}
	}
	switch p := p.(type) {
	case prediction.Numbers:
		return ev.measureNumbers(p, f, truth, targets)
	case prediction.Classes:
		return ev.measureClasses(e, p, f, truth[0], targets[0])
	case prediction.Labels:
		return ev.measureLabels(p, f, truth, targets)
	}
	return nil
}

func (ev *Evaluation) measureNumbers(p prediction.Numbers, f *console.File, truth []int, targets []string) error {
	if p.Counts != nil {
		return ev.measureCounts(p, f.Data.Numbers[truth[0]], targets[0])
	}
	for o, j := range truth {
		v, err := measure.Target(f.Data.Numbers[j], p.Mean[o], p.Variance[o], ev.interval)
		if err != nil {
			return console.Inputf("%s: %w", targets[o], err)
		}
		if err := measure.Law(v, p.Prediction, o, f.Data.Numbers[j], ev.interval); err != nil {
			return console.Inputf("%s: %w", targets[o], err)
		}
		lower, upper := p.Intervals(o, ev.interval)
		ev.Measures = append(ev.Measures, Measures{targets[o], v})
		if fifths := measure.Fifths(f.Data.Numbers[j], p.Mean[o], lower, upper); fifths != nil {
			ev.Fifths = append(ev.Fifths, Fifths{targets[o], fifths})
		}
		if len(truth) == 1 {
			ev.Baseline = meanOf(v)
		}
	}
	return nil
}

// meanOf is what the mean of the truth has, where a prediction has some measures; nil if the truth does not vary.
func meanOf(v console.Figures) *Measures {
	ratio := v["RMSE/SD"]
	if !(ratio > 0) {
		return nil
	}
	return &Measures{"mean", console.Figures{"RMSE": v["RMSE"] / ratio, "RMSE/SD": 1}}
}

func (ev *Evaluation) measureClasses(e *console.Env, p prediction.Classes, f *console.File, truth int, target string) error {
	class, probability, unseen := Known(p, f, truth)
	if ev.Unseen = len(unseen); ev.Unseen > 0 {
		if len(class) == 0 {
			return unseen[0]
		}
		fmt.Fprintf(e.Stderr, "mkl: warning: %s of a class that the fit had not seen: left out of the measures, the first: %v\n",
			console.Plural(ev.Unseen, "row"), unseen[0])
	}
	ev.Samples = len(class)
	v, err := measure.Classes(class, probability)
	if err != nil {
		return err
	}
	ev.Measures, ev.Baseline = []Measures{{target, v}}, frequencies(class)
	if p.Grades {
		if err := ev.measureGrades(class, probability); err != nil {
			return err
		}
	}
	if ev.bins > 0 {
		ev.Calibration, err = measure.Calibration(class, probability, ev.bins)
	}
	return err
}

func (ev *Evaluation) measureLabels(p prediction.Labels, f *console.File, truth []int, targets []string) error {
	for o, j := range truth {
		has, err := dataset.HasLabel(f, j)
		if err != nil {
			return err
		}
		var probability [][]float64
		var class []int
		for i, v := range has {
			if v != mkl.LabelUnknown {
				probability = append(probability, []float64{1 - p.Probability[o][i], p.Probability[o][i]})
				class = append(class, int(v-mkl.LabelAbsent))
			}
		}
		v, err := measure.Classes(class, probability)
		if err != nil {
			return err
		}
		ev.Measures = append(ev.Measures, Measures{targets[o], v})
		if len(truth) == 1 {
			ev.Baseline = frequencies(class)
		}
	}
	return nil
}

// frequencies measures the prediction of each sample by the frequencies of the classes among all: no other
// that is the same for every sample has a lower log loss or Brier score.
func frequencies(class []int) *Measures {
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
	return &Measures{"frequencies", console.Figures{"accuracy": most, "log loss": entropy, "Brier": 1 - squares}}
}

// Known returns the positions among the classes of the labels of a column, and what was predicted of the same samples. It leaves out
// samples that have no label, and samples whose label is no class of the model: for each of these it returns an error that names the cell.
func Known(p prediction.Classes, f *console.File, column int) (class []int, probability [][]float64, unseen []error) {
	for i, label := range f.Data.Labels[column] {
		if label == "" {
			continue
		}
		k := table.Find(p.Classes, label)
		if k < 0 {
			unseen = append(unseen, console.Input(f.Data.Cell(i, column, fmt.Sprintf("%q is not a class of the model", label))))
			continue
		}
		class, probability = append(class, k), append(probability, p.Probability[i])
	}
	return class, probability, unseen
}

// ofTraining says of rows that the model was fitted to them.
func ofTraining(training bool) string {
	if !training {
		return ""
	}
	return " that the model was fitted to: errors on new rows are larger"
}

// Print prints the measures, and the calibration of a classifier.
func (ev *Evaluation) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s, %s%s\n", ev.Task, console.Plural(ev.Samples, ev.noun), ofTraining(ev.Training))
	if ev.held {
		fmt.Fprintln(out, "each entry predicted from the others of its row")
	}
	fmt.Fprintln(out)
	header := []string{"target"}
	align := "l"
	for _, name := range MeasureNames {
		if slices.ContainsFunc(ev.Measures, func(m Measures) bool { _, ok := m.Values[name]; return ok }) {
			header, align = append(header, name), align+"r"
		}
	}
	rows := [][]string{header}
	all := ev.Measures
	if ev.Baseline != nil {
		all = append(slices.Clone(all), *ev.Baseline)
	}
	for _, m := range all {
		row := []string{console.ColumnName(m.Target)}
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
		fmt.Fprintf(out, "\n%s: the same prediction for every sample, the mean or the share of each class; a model should beat it\n", ev.Baseline.Target)
	}
	if slices.Contains(header, rankedScore) {
		fmt.Fprintf(out, "\n%s: ranked probability score, the mean Brier score of the probabilities of each grade or a lower one; %s: quadratic weighted kappa of the median; %s: mean distance of the median from the truth, in grades\n", rankedScore, kappa, gradesOff)
	}
	if slices.Contains(header, logScore) {
		fmt.Fprintf(out, "\nlog score: mean per sample, in nats, of the logarithm of what the prediction said of the truth\n")
	}
	if slices.Contains(header, deviance) {
		fmt.Fprintf(out, "\ndeviance: mean per sample, of Poisson distributions with the predicted means\n")
	}
	if slices.Contains(header, pit) {
		fmt.Fprintf(out, "\nPIT: largest distance between a level and the share of truths below the predicted quantile of this level; by chance about %s here\n",
			console.Uncertainty(byChance/math.Sqrt(float64(ev.Samples))))
	}
	if slices.Contains(header, pit) && ev.Task == model.Survival {
		fmt.Fprintln(out, "a censored time counts evenly at all levels above its own: the more times are censored, the smaller the PIT by chance")
	}
	if err := ev.printTimes(out); err != nil {
		return err
	}
	if ev.interval > 0 && slices.Contains(header, "log density") {
		fmt.Fprintf(out, "\nlog density: mean per sample, in nats; coverage: of the %g %% interval\n", 100*ev.interval)
	}
	if err := ev.printFifths(out); err != nil || len(ev.Calibration) == 0 {
		return err
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
