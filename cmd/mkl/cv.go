package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl/choose"
)

// cvCmd is mkl cv.
type cvCmd struct {
	Models    []string `sep:"," placeholder:"MODELS" help:"Models to compare, with commas between (those of mkl fit -model; of several targets also tasks, such as multioutput and shared); by default all that are for the task."`
	Kernels   []string `sep:"none" placeholder:"KERNELS" help:"A set of kernels for the views that name none; can be repeated, and each model is fitted with each set. The set auto is what the data suggest, and the default."`
	Baselines bool     `default:"true" negatable:"" help:"Compare with predicting the mean or the frequencies of the classes, and with a linear function."`

	Folds    int    `default:"5" help:"Parts into which the samples are divided (${default}); each is predicted from the others."`
	Repeats  int    `default:"1" help:"Divisions, each by another random order (${default})."`
	Stratify bool   `default:"true" negatable:"" help:"Give every fold its share of each class; -no-stratify leaves it to chance."`
	Group    string `placeholder:"COLUMN" help:"Column by which samples belong together, such as a patient: they are never divided. It is no feature."`
	Order    string `placeholder:"COLUMN" help:"Column of dates or numbers that says what came first: every fold is predicted from what was before it."`

	Score  string `enum:"auto,rmse,nlpd,log-loss,accuracy,brier" default:"auto" help:"Score that decides: rmse or nlpd of numbers, log-loss, accuracy or brier of classes; auto is the first of these."`
	Resume string `placeholder:"FILE" help:"File that keeps what is done; the same command goes on from there."`

	MissingTargets bool `help:"Learn from samples some of whose targets are missing (empty cells, NA, NaN), and score the others: for several targets."`

	learnFlags `embed:""`
}

// crossValidation is what a command line asks mkl cv to compare.
type crossValidation struct {
	*cvCmd
	p       *problem // without an estimator
	env     *console.Env
	classes []string // nil of a regression
	truth   choose.Truth
	groups  []int
	order   []float64
}

// Run reads the table, divides it, and compares the candidates.
func (c *cvCmd) Run(e *console.Env) error {
	switch {
	case c.Task != nil && slices.Contains([]string{taskFactors, taskPairs, taskPairLabels}, *c.Task):
		return console.Inputf("cv is not for -task %s: mkl evaluate measures such a model by entries that it was not fitted to", *c.Task)
	case c.Folds < 2:
		return console.Inputf("-folds %d: two at least are needed", c.Folds)
	case c.Repeats < 1:
		return console.Inputf("-repeats %d is below 1", c.Repeats)
	case c.Order != "" && (c.Repeats > 1 || c.Group != ""):
		return console.Inputf("-order excludes -repeats and -group")
	case c.Target == "":
		return missingTarget(e, c.Data, c.Layout)
	}
	base := &fitCmd{learnFlags: c.learnFlags, MissingTargets: c.MissingTargets}
	if err := base.checkNumbers(); err != nil {
		return err
	}
	if err := base.checkSampling(); err != nil {
		return err
	}
	opt, err := c.Options()
	if err != nil {
		return err
	}
	fs := &console.Files{Env: e, Opt: opt, Join: c.Join}
	defer fs.Close()
	v := &crossValidation{cvCmd: c, env: e, p: &problem{fitCmd: base, bar: &sweepBar{env: e, quiet: true}}}
	if v.p.main, err = fs.Open(c.Data); err != nil {
		return err
	}
	if err := v.read(fs); err != nil {
		return err
	}
	by, err := v.by()
	if err != nil {
		return err
	}
	folds, err := v.split()
	if err != nil {
		return console.Input(err)
	}
	candidates, workers, err := v.candidates(len(folds))
	if err != nil {
		return err
	}
	key, err := v.key()
	if err != nil {
		return err
	}
	bar := console.NewProgress(e, c.JSON, len(candidates)*len(folds), "fits")
	if c.Resume != "" {
		e.Kept = c.Resume
	}
	result, err := choose.Validation{
		Truth: v.truth, Folds: folds, Candidates: candidates, Workers: workers, File: c.Resume, Key: key,
		Progress: func(done, total int) { bar.Set(done, total, "") },
	}.Run(e.Ctx)
	bar.Finish()
	if err != nil {
		return console.Input(err)
	}
	out, err := v.compared(result, by)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(e.Stdout, out)
	}
	return out.print(e.Stdout)
}

// several reports whether there are several targets.
func (v *crossValidation) several() bool { return len(v.p.targets) > 1 }

// compared is what the result says, of several targets of each besides.
func (v *crossValidation) compared(result *choose.Result, by choose.Score) (*comparison, error) {
	var names []string
	for _, j := range v.p.targets {
		names = append(names, v.p.main.Columns()[j])
	}
	of := func(name string) *comparison {
		return &comparison{Task: v.p.task, Target: name, Samples: v.p.main.Data.Rows, Folds: v.Folds, Repeats: v.Repeats}
	}
	out := of(strings.Join(names, ","))
	out.of = fmt.Sprintf("%s: %s, %s of %s, %s", v.p.main.Name(), console.Plural(out.Samples, "sample"), v.p.task, few(columnNames(names)), v.division())
	if v.several() {
		by = by.InAll()
	}
	if err := out.rank(result, by); err != nil {
		return nil, fmt.Errorf("no candidate has a score: %w", firstError(result))
	}
	for o, target := range result.Targets {
		own := of(names[o])
		own.of = names[o]
		if err := own.rank(target, target.Scores()[slices.Index(result.Scores(), by)]); err != nil {
			continue // a target that no fold has is told of no score
		}
		out.Targets = append(out.Targets, own)
	}
	return out, nil
}

// division says how the samples are divided.
func (v *crossValidation) division() string {
	text := console.Plural(v.Folds, "fold")
	switch {
	case v.Order != "":
		text += " in the order of " + v.Order
	case v.Group != "":
		text += fmt.Sprintf(" of whole groups (%s)", v.Group)
	}
	if v.Repeats > 1 {
		text += fmt.Sprintf(", %d times", v.Repeats)
	}
	return text
}

// by is the score that decides.
func (v *crossValidation) by() (choose.Score, error) { return scoreNamed(v.Score, v.form() != numbers) }

// scoreNamed is the score that -score names.
func scoreNamed(name string, classes bool) (choose.Score, error) {
	scores := choose.Scores(classes)
	if name == "auto" {
		return scores[0], nil
	}
	var names []string
	for _, s := range scores {
		if !s.Ranks() {
			continue
		}
		own := strings.ReplaceAll(strings.ToLower(s.String()), " ", "-")
		if own == name {
			return s, nil
		}
		names = append(names, own)
	}
	return 0, console.Inputf("-score %s is not for these predictions: it is %s", name, strings.Join(names, " or "))
}

// key stands for the data and the flags on which the scores depend.
func (v *crossValidation) key() (string, error) {
	flags := v.learnFlags
	flags.Workers, flags.Memory, flags.JSON = 0, 0, false
	return v.p.key([]any{flags, v.MissingTargets})
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
