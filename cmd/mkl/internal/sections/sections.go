// Package sections makes the page of mkl report and the pictures of mkl plot: sections on what a model learned, how well
// it predicts, and which columns its predictions depend on.
package sections

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/cmd/mkl/internal/saved"
	"github.com/bmkl/bmkl/mkl"
)

// Flags are the flags of mkl report and mkl plot.
type Flags struct {
	Model  string `arg:"" help:"Model file."`
	Data   string `required:"" placeholder:"FILE" help:"Table with samples that the fit has not seen, and their truth; - is standard input."`
	Train  string `placeholder:"FILE" help:"Table that the model was fitted to, for its training errors. Views must not be in files of their own."`
	Target string `placeholder:"COLUMNS" help:"Columns that hold the truth, if they have other names than in the fit."`
	Bins   int    `default:"10" help:"Number of points of a classifier's calibration picture (${default}); 0 leaves the picture out."`
	Seed   uint64 `default:"1" help:"Seed of the permutations and of the rows that stand for many (${default})."`

	saved.Flags `embed:""`
}

// reporter is what the sections are made of.
type reporter struct {
	*Flags
	env   *console.Env
	held  *evaluation.Samples // -data
	train *evaluation.Tested  // -train; nil without it
	told  *report.Report
	rng   *rand.Rand
}

// Page reads the model and the data and makes the page. For the rows of the data in explain, counted from 1, the page shows what each view
// adds to the prediction.
func (c *Flags) Page(e *console.Env, explain []int) (*page.Page, error) {
	tested, err := c.test(e, c.Data)
	if err != nil {
		return nil, err
	}
	defer tested.Files.Close()
	held, err := tested.Samples("a report")
	if err != nil {
		return nil, err
	}
	r := &reporter{Flags: c, env: e, held: held, rng: rand.New(rand.NewPCG(c.Seed, 0))}
	if c.Train != "" {
		if slices.ContainsFunc(held.Notes.Views, func(v notes.View) bool { return v.File }) {
			return nil, console.Inputf("-train: the model has views from files of their own, and the command takes only one set of these files")
		}
		if r.train, err = c.test(e, c.Train); err != nil {
			return nil, fmt.Errorf("-train: %w", err)
		}
		defer r.train.Files.Close()
	}
	r.told = report.New(held.Estimator, held.Opened.Model.Model, held.Notes)
	importances, err := held.Importances(e, r.rng)
	if err != nil {
		return nil, err
	}
	shares, err := r.shares(importances.Views)
	if err != nil {
		return nil, err
	}
	predictions, err := r.predictions()
	if err != nil {
		return nil, err
	}
	dependence, err := r.dependence(importances.Columns)
	if err != nil {
		return nil, err
	}
	views, err := r.views(explain)
	if err != nil {
		return nil, err
	}
	p := &page.Page{Title: "Report on " + filepath.Base(c.Model), Lead: r.lead(importances.Columns), Warnings: r.warnings()}
	for _, s := range []page.Section{
		r.errors(), predictions, views, shares, r.importance(importances), dependence, r.fitted(), r.trace(), r.active(), r.provenance(),
	} {
		if s.Paragraphs != nil || s.Pictures != nil || s.Tables != nil {
			p.Sections = append(p.Sections, s)
		}
	}
	return p, nil
}

// test predicts and measures a file as mkl evaluate does.
func (c *Flags) test(e *console.Env, path string) (*evaluation.Tested, error) {
	return evaluation.Test(e, &saved.Input{Model: c.Model, Data: path, Flags: c.Flags}, c.Target, c.Bins)
}

// Most targets that have a picture of their own, and most samples in a list.
const (
	mostTargets = 4
	mostSamples = 20
)

// lead sums the report up in a few sentences.
func (r *reporter) lead(columns []evaluation.Importance) (all []string) {
	text := r.told.Learned(r.held.Notes.Targets)
	if n := r.held.Notes.Rows; n > 0 {
		text += ", learned from " + console.Plural(n, "sample")
	}
	all = append(all, strings.ToUpper(text[:1])+text[1:]+". "+r.headline())
	if len(columns) > 0 && columns[0].Rise > 2*columns[0].SE {
		all = append(all, "What predictions lean on most: "+console.ColumnName(columns[0].Name)+".")
	}
	return all
}

// warnings are of a fit that did not end well.
func (r *reporter) warnings() (all []string) {
	if !r.told.Converged {
		all = append(all, "the fit has "+r.told.Unfinished()+".")
	}
	for _, t := range r.told.Targets {
		if t.Collapsed {
			all = append(all, t.Name+" has collapsed: all weights vanish and every prediction is the mean.")
		}
	}
	return all
}

// headline is how well the predictions of new samples agree with the truth, on average over the targets.
func (r *reporter) headline() string {
	v := func(name string) (mean float64) {
		for _, m := range r.held.Measures {
			mean += m.Values[name] / float64(len(r.held.Measures))
		}
		return mean
	}
	where := fmt.Sprintf("On %s of %s", console.Plural(r.held.Evaluation.Samples, "sample"), r.held.Main.Name())
	several := len(r.held.Measures) > 1
	if several {
		where += ", on average over the targets,"
	}
	switch {
	case r.held.Estimator.Form == dataset.Times:
		return r.timesHeadline(where)
	case r.held.Estimator.Form.Probabilities():
		return fmt.Sprintf("%s %.1f %% of the labels are right; the log loss is %s nats.", where, 100*v("accuracy"), console.Figure(v("log loss")))
	case several:
		return fmt.Sprintf("%s the root mean squared error is %s of the standard deviation of the truth; the %g %% intervals hold %.1f %% of the truths.",
			where, console.Figure(v("RMSE/SD")), 100*r.Interval, 100*v("coverage"))
	}
	return fmt.Sprintf("%s the root mean squared error is %s, %s of the standard deviation of the truth; the %g %% intervals hold %.1f %% of the truths.",
		where, console.Figure(v("RMSE")), figureOf(r.held.Measures[0].Values, "RMSE/SD"), 100*r.Interval, 100*v("coverage"))
}

// fitted says what was fitted.
func (r *reporter) fitted() page.Section {
	m := r.held.Opened.Model
	rows := [][]string{{"task", r.told.Learned(m.Notes.Targets)}, {"model", m.String()}}
	for _, v := range m.Notes.Views {
		if v.Strings != nil && v.Strings.Kernel > 0 {
			continue // of the same column as the kernel before
		}
		rows = append(rows, []string{"view", v.String()})
		for _, l := range v.Left {
			rows = append(rows, []string{"left out", l.Column + " (" + l.Why + ")"})
		}
	}
	if r.told.Classes != nil {
		rows = append(rows, []string{"classes", strings.Join(r.told.Classes, ", ")})
	}
	rows = append(rows, []string{"end", r.told.Ended()})
	for _, t := range r.told.Targets {
		if t.NoiseSD > 0 {
			rows = append(rows, []string{"noise of " + t.Name, "standard deviation " + console.Figure(float64(t.NoiseSD))})
		}
		if t.Law != "" {
			rows = append(rows, []string{"law of " + t.Name, t.Law})
		}
		if t.Prior != "" {
			rows = append(rows, []string{"prior of " + t.Name, t.Prior})
		}
	}
	s := page.Section{ID: "fitted", Title: "What was fitted", Tables: []page.Table{{Caption: "The model", Words: true, Rows: rows}}}
	s.Paragraphs = lines(r.told.Story)
	for _, t := range r.told.Targets {
		if t.Story != "" {
			s.Paragraphs = append(append(s.Paragraphs, t.Name+":"), lines(t.Story)...)
		}
	}
	return s
}

// lines are the lines of a text that hold something.
func lines(text string) (all []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			all = append(all, line)
		}
	}
	return all
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return "?"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

// figureOf is a measure as text, ? if it was not taken.
func figureOf(v console.Figures, name string) string {
	if x, ok := v[name]; ok {
		return console.Figure(x)
	}
	return "?"
}

// errors is the table of the measures, for new samples and for the samples of the fit.
func (r *reporter) errors() page.Section {
	head := []string{"target", "data", "samples"}
	var names []string
	for _, n := range evaluation.MeasureNames {
		if slices.ContainsFunc(r.held.Measures, func(m evaluation.Measures) bool { _, ok := m.Values[n]; return ok }) {
			names = append(names, n)
		}
	}
	var rows [][]string
	for i, held := range r.held.Measures {
		add := func(data string, m *evaluation.Tested) {
			row := []string{held.Target, data, strconv.Itoa(m.Evaluation.Samples)}
			for _, n := range names {
				row = append(row, figureOf(m.Measures[i].Values, n))
			}
			rows = append(rows, row)
		}
		if r.train != nil {
			add("training", r.train)
		}
		if r.held.Training {
			add("training", r.held.Tested)
		} else {
			add("held out", r.held.Tested)
		}
	}
	if base := r.held.Baseline; base != nil {
		row := []string{r.held.Measures[0].Target, base.Target + " alone", strconv.Itoa(r.held.Evaluation.Samples)}
		for _, n := range names {
			cell := ""
			if v, ok := base.Values[n]; ok {
				cell = console.Figure(v)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	s := page.Section{ID: "errors", Title: "Errors", Tables: []page.Table{{Caption: "Errors", Names: 1, Head: append(head, names...), Rows: rows}}}
	if times := r.held.Evaluation.Times; times != nil {
		s.Tables = append(s.Tables, timesTable(times))
	}
	switch {
	case r.held.Counts():
		s.Paragraphs = []string{fmt.Sprintf("RMSE is the root mean squared error, RMSE/SD divides it by the standard deviation of the truth: predicting the mean has 1. The log score is the mean logarithm of the probability of the true count, in nats; coverage is the share of truths in the %g %% interval; since counts are whole numbers, it is larger than the probability.", 100*r.Interval)}
	case r.held.Estimator.Form == dataset.Times:
		s.Paragraphs = []string{"Concordance is the share of pairs that the risks put into the right order; the log score is the mean logarithm of the density of a known time's logarithm, or of the probability of what else is known of a time, in nats."}
	case !r.held.Estimator.Form.Probabilities():
		s.Paragraphs = []string{fmt.Sprintf("RMSE is the root mean squared error in the target's unit, RMSE/SD divides it by the standard deviation of the truth: predicting the mean has 1. Log density is per sample, in nats; coverage is the share of truths in the %g %% interval.", 100*r.Interval)}
	default:
		s.Paragraphs = []string{"Log loss is in nats; ECE is the expected calibration error; the Brier score is between 0 and 2; AUC and the equal error rate (EER) compare each class with the others, averaged; the last column counts truths that were given a probability below 1e-6."}
	}
	if base := r.held.Baseline; base != nil {
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("“%s alone” predicts each sample by the %[1]s of all of them, and looks at no column. A model should beat it.", base.Target))
	}
	switch {
	case r.held.Training:
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("The model was fitted to %s: errors of samples that it has not seen are larger as a rule.", r.held.Main.Name()))
	case r.train == nil:
		s.Paragraphs = append(s.Paragraphs, "Training errors are shown with -train FILE.")
	}
	return s
}

// trace draws the lower bound.
func (r *reporter) trace() page.Section {
	bounds := r.held.Opened.Model.Trace().Bounds
	s := page.Section{ID: "trace", Title: "Trace"}
	if r.told.Pooled() { // its members' bounds do not compare
		return s
	}
	bounds = slices.DeleteFunc(bounds, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(bounds) > 1 {
		s.Paragraphs = []string{r.told.Ended() + "."}
		if n := len(bounds) / 10; n > 0 {
			s.Paragraphs = append(s.Paragraphs, "The picture leaves out the first "+console.Plural(n, "sweep")+", in which the bound rises most.")
		}
		s.Pictures = []*page.Picture{page.Trace(bounds)}
	}
	return s
}

// active lists the samples with the largest weights.
func (r *reporter) active() page.Section {
	s := page.Section{ID: "samples", Title: "Active samples"}
	if r.told.Samples == 0 {
		return s
	}
	s.Paragraphs = []string{fmt.Sprintf("Samples of the fit whose weight is at least %g %% of the largest, by their row; at most those with the largest weights.", 100*mkl.ActiveThreshold)}
	for _, t := range r.told.Targets[:min(len(r.told.Targets), mostTargets)] {
		listed := slices.Clone(t.Active)
		slices.SortStableFunc(listed, func(a, b report.Sample) int {
			return cmp.Compare(math.Abs(float64(b.Weight)), math.Abs(float64(a.Weight)))
		})
		var rows [][]string
		for _, a := range listed[:min(len(listed), mostSamples)] {
			rows = append(rows, []string{strconv.Itoa(a.Sample + 1), console.Figure(float64(a.Weight)), "± " + console.Uncertainty(float64(a.SD))})
		}
		s.Tables = append(s.Tables, page.Table{
			Caption: fmt.Sprintf("%s: %d of %s active", t.Name, len(t.Active), console.Plural(r.told.Samples, "sample")),
			Head:    []string{"row", "weight", "SD"}, Rows: rows, Folded: true,
		})
	}
	return s
}

// provenance says where the model and the report come from.
func (r *reporter) provenance() page.Section {
	s := page.Section{ID: "provenance", Title: "Provenance"}
	if made := r.held.Notes.Made; made != nil {
		s.Tables = append(s.Tables, page.Table{Caption: "The model", Words: true, Rows: made.Rows()})
	} else {
		s.Paragraphs = []string{"The model does not say how it was made."}
	}
	here := &provenance.Made{Command: provenance.CommandLine(r.env.Args), Version: provenance.Build().Program(), Seed: r.Seed, Machine: provenance.Machine()}
	for _, path := range []string{r.Model, r.Data, r.Train} {
		if path != "" {
			_ = here.Add(r.env, path) // the files were read, and one that is gone since has no hash
		}
	}
	s.Tables = append(s.Tables, page.Table{Caption: "This report", Words: true, Rows: here.Rows()})
	return s
}
