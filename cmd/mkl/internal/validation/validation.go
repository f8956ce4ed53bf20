// Package validation compares models and kernels by cross-validation, for mkl cv.
//
//	Flags       what the command line asks to compare
//	data        the samples, their truth, and what belongs together     read
//	folds       the divisions of the samples                            data.split
//	candidates  baselines, and each model with each set of kernels      comparison.candidates
//	            or one model with some of the views                     list.addEachView
//	ranking     what package choose says of their predictions           Run
package validation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/fitting"
	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
	"github.com/bmkl/bmkl/cmd/mkl/internal/ranking"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
)

// Flags are the flags of mkl cv.
type Flags struct {
	Models    []string `sep:"," placeholder:"MODELS" help:"Models to compare, with commas between, as mkl fit -model has them; for several targets also tasks, such as multioutput and shared. By default all models for the task; if a fit has more than 3000 samples, only the models whose time grows in proportion to the samples."`
	Kernels   []string `sep:"none" placeholder:"KERNELS" help:"A set of kernels for the views that name none; can be repeated, and each model is fitted with each set. The default set is auto, the kernels that mkl fit chooses."`
	Baselines bool     `default:"true" negatable:"" help:"Compare with predicting the mean or the frequencies of the classes, and with a linear function."`

	Views bool `help:"Compare views, not models: one model of all views, of all but each, and of each alone, with paired differences."`

	Folds    int    `default:"5" help:"Parts into which the samples are divided (${default}); each is predicted from the others."`
	Repeats  int    `default:"1" help:"How often the samples are divided, each time in another random order (${default})."`
	Stratify bool   `default:"true" negatable:"" help:"Give every fold its share of each class, or of events and of censored times; -no-stratify leaves it to chance."`
	Group    string `placeholder:"COLUMN" help:"Column that says which samples belong together, such as a patient: they stay in the same part. The column is not a feature."`
	Order    string `placeholder:"COLUMN" help:"Column of dates or numbers that orders the samples: every part is predicted from the samples before it."`

	Score  string  `enum:"auto,rmse,nlpd,crps,log-loss,accuracy,brier,log-score,deviance,concordance" default:"auto" help:"Score that decides: rmse, nlpd or crps of numbers, log-loss, accuracy or brier of classes, log-score, deviance, rmse or crps of counts, log-score, concordance or brier of times; auto is the first of these."`
	At     float64 `placeholder:"TIME" help:"Time of the Brier score of times until an event; by default the median of all times."`
	Resume string  `placeholder:"FILE" help:"File that keeps the finished parts; the same command continues from it."`

	model.TaskFlag `embed:""`
	Learn          `embed:""`
	fitting.Limits `embed:""`
}

// Learn are the flags that say from what and how a model learns.
type Learn struct {
	dataset.Flags  `embed:""`
	model.Settings `embed:""`
}

// check refuses flags that contradict each other.
func (f *Flags) check() error {
	switch {
	case f.Task != nil && slices.Contains([]string{model.FactorsTask, model.PairsTask, model.PairLabels}, *f.Task):
		return console.Inputf("cv is not for -task %s: mkl evaluate measures such a model by entries that it was not fitted to", *f.Task)
	case f.Folds < 2:
		return console.Inputf("-folds %d: two at least are needed", f.Folds)
	case f.Repeats < 1:
		return console.Inputf("-repeats %d is below 1", f.Repeats)
	case !(f.At >= 0) || math.IsInf(f.At, 1):
		return console.Inputf("-at %g: times are positive numbers", f.At)
	case f.Order != "" && (f.Repeats > 1 || f.Group != ""):
		return console.Inputf("-order excludes -repeats and -group")
	}
	return nil
}

// comparison is the candidates that are compared on data.
type comparison struct {
	*Flags
	*data
	env *console.Env
}

// Run reads the table, divides it, and compares the candidates. It shows no progress if quiet.
func Run(e *console.Env, f *Flags, quiet bool) (*ranking.Comparison, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	d, err := read(e, f, quiet)
	if err != nil {
		return nil, err
	}
	c := &comparison{Flags: f, data: d, env: e}
	if err := c.checkViews(); err != nil {
		return nil, err
	}
	if d.task == model.OrdinalTask { // a fold may lack a grade
		if f.Settings.Grades, err = model.Grades(f.Settings.Grades, d.classes); err != nil {
			return nil, err
		}
	}
	if f.At > 0 && d.truth.Kind() != choose.TimeTruth {
		return nil, console.Inputf("-at is for times until an event, and this is %s", d.task)
	}
	d.truth.At = f.At
	by, err := ranking.ScoreNamed(f.Score, d.truth.Kind())
	if err != nil {
		return nil, err
	}
	if by == choose.CRPS && c.several() {
		return nil, console.Inputf("-score crps is for one target: several have different units")
	}
	folds, err := c.split()
	if err != nil {
		return nil, console.Input(err)
	}
	candidates, workers, err := c.candidates(len(folds))
	if err != nil {
		return nil, err
	}
	for _, line := range c.remarks(len(folds)) {
		fmt.Fprintln(e.Stderr, line)
	}
	settings := []any{f.Learn, f.Task}
	if f.Views {
		settings = append(settings, c.viewModel(), f.Kernels)
	}
	key, err := fitting.Key(settings, d.samples.Files.All)
	if err != nil {
		return nil, err
	}
	progress := newProgress(e, quiet, candidates, len(folds), workers)
	if !quiet {
		fmt.Fprintf(e.Stderr, "cv: %s in %s: %s\n", console.Plural(len(candidates), "candidate"), console.Plural(len(folds), "fold"), strings.Join(titles(candidates), ", "))
		fmt.Fprintf(e.Stderr, "cv: %s\n", c.describe(folds))
	}
	if f.Resume != "" {
		e.Kept = f.Resume
	}
	result, err := choose.Validation{
		Truth: d.truth, Folds: folds, Candidates: candidates, Workers: workers, File: f.Resume, Key: key,
		Progress: progress.step,
	}.Run(e.Ctx)
	progress.bar.Finish()
	if err != nil {
		return nil, console.Input(err)
	}
	return c.rank(result, by)
}

// titles are the names of candidates.
func titles(all []choose.Candidate) (names []string) {
	for _, c := range all {
		names = append(names, c.Name)
	}
	return names
}

// several reports whether there are several targets.
func (d *data) several() bool { return len(d.samples.Targets) > 1 }

// rank ranks the candidates: of several targets by all of them together, and by each.
func (c *comparison) rank(result *choose.Result, by choose.Score) (*ranking.Comparison, error) {
	names := c.samples.TargetNames()
	of := func(name string) *ranking.Comparison {
		return &ranking.Comparison{Task: c.task, Target: name, Samples: c.samples.Rows(), Folds: c.Folds, Repeats: c.Repeats}
	}
	rank := func(out *ranking.Comparison, r *choose.Result, by choose.Score) error {
		if c.Views {
			return out.RankViews(r, by, c.viewEffects(), noView)
		}
		return out.Rank(r, by)
	}
	out := of(strings.Join(names, ","))
	out.Of = fmt.Sprintf("%s: %s, %s of %s, %s", c.samples.Main.Name(), console.Plural(out.Samples, "sample"), c.task,
		console.Few(console.ColumnNames(names)), c.division())
	if c.Views {
		out.Of += ", model " + c.viewModel()
	}
	inAll := by
	if c.several() {
		inAll = by.InAll()
	}
	if err := rank(out, result, inAll); err != nil {
		return nil, fmt.Errorf("no candidate has a score: %w", firstError(result))
	}
	for o, target := range result.Targets {
		own := of(names[o])
		own.Of = names[o]
		if err := rank(own, target, by); err != nil {
			continue // no fold has the target, and it has no score
		}
		out.Targets = append(out.Targets, own)
	}
	return out, nil
}

// division says how the samples are divided.
func (c *comparison) division() string {
	text := console.Plural(c.Folds, "fold")
	switch {
	case c.Order != "":
		text += " in the order of " + c.Order
	case c.Group != "":
		text += fmt.Sprintf(" of whole groups (%s)", c.Group)
	}
	if c.Repeats > 1 {
		text += fmt.Sprintf(", %d times", c.Repeats)
	}
	return text
}

// describe says what the folds are: their kind, groups and seed, and how many rows each learns from and predicts.
func (c *comparison) describe(folds []choose.Fold) string {
	text := c.division()
	if c.groups != nil {
		text += fmt.Sprintf(", %d groups", len(slices.Compact(slices.Sorted(slices.Values(c.groups)))))
	}
	switch {
	case c.order != nil:
	case c.Stratify && c.truth.Classes != nil:
		text += fmt.Sprintf(", each with its share of each class, seed %d", c.Seed)
	case c.Stratify && c.truth.Times != nil:
		text += fmt.Sprintf(", each with its share of events, seed %d", c.Seed)
	default:
		text += fmt.Sprintf(", drawn with seed %d", c.Seed)
	}
	rows := func(of func(choose.Fold) []int) string {
		least, most := c.samples.Rows(), 0
		for _, f := range folds {
			least, most = min(least, len(of(f))), max(most, len(of(f)))
		}
		if least == most {
			return console.Plural(most, "row")
		}
		return fmt.Sprintf("%d to %s", least, console.Plural(most, "row"))
	}
	learned, predicted := rows(func(f choose.Fold) []int { return f.Train }), rows(func(f choose.Fold) []int { return f.Test })
	return fmt.Sprintf("%s; each learns from %s and predicts %s", text, learned, predicted)
}

// split divides the rows.
func (c *comparison) split() ([]choose.Fold, error) {
	p := choose.Plan{Folds: c.Folds, Repeats: c.Repeats, Seed: c.Seed, Groups: c.groups, Time: c.order}
	if c.Stratify && c.order == nil {
		p.Strata = c.truth.Classes
		if c.truth.Times != nil {
			p.Strata = strataOf(c.truth.Times)
		}
	}
	return choose.Split(c.samples.Rows(), p)
}

// strataOf numbers what is known of times: the time, that it is later than one, earlier, or between two.
func strataOf(times []mkl.Lifetime) []int {
	strata := make([]int, len(times))
	for i, t := range times {
		switch {
		case t.From == t.To:
		case math.IsInf(t.To, 1):
			strata[i] = 1
		case t.From == 0:
			strata[i] = 2
		default:
			strata[i] = 3
		}
	}
	return strata
}

// firstError is why the first fold failed that did.
func firstError(r *choose.Result) error {
	for _, of := range r.Errors {
		for _, err := range of {
			if err != nil {
				return err
			}
		}
	}
	return nil
}
