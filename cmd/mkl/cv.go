package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
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

// read finds the columns, reads them and makes the plan of the views by all rows: it says which columns are
// features and which rows are complete.
func (v *crossValidation) read(fs *console.Files) error {
	p := v.p
	if err := p.findTargets(); err != nil {
		return err
	}
	guess := p.task == ""
	if guess {
		p.main.Need(p.targets[0], table.Undecided)
	} else if err := v.setForm(); err != nil {
		return err
	} else {
		for _, j := range p.targets {
			p.main.Need(j, p.targetKind())
		}
	}
	group, err := v.column(v.Group, "-group")
	if err != nil {
		return err
	}
	order, err := v.column(v.Order, "-order")
	if err != nil {
		return err
	}
	except := p.targets
	if group >= 0 {
		p.main.Need(group, table.Label)
		except = append(slices.Clone(except), group)
	}
	if p.views, err = p.fitCmd.views(fs, p.main, except); err != nil {
		return err
	}
	if order >= 0 {
		p.main.Want(table.Want{Column: order, Kind: table.Any})
	}
	if _, err := fs.Read(); err != nil {
		return p.hint(err)
	}
	if guess {
		if err := p.guess(v.setForm); err != nil {
			return err
		}
	}
	lines, err := p.makePlan(fs)
	if err != nil {
		return err
	}
	if err := p.compare(v.env.Ctx); err != nil {
		return err
	}
	d, err := p.learnTargets()
	if err != nil {
		return err
	}
	for _, line := range slices.Concat(fs.Remarks(), lines, p.doubtsAndTask(d)) {
		fmt.Fprintln(v.env.Stderr, line)
	}
	switch {
	case v.several():
		for _, y := range d.numbers {
			v.truth.Targets = append(v.truth.Targets, choose.Truth{Numbers: y})
		}
		for _, has := range d.labels {
			v.truth.Targets = append(v.truth.Targets, choose.Truth{Classes: truthOfLabels(has)})
		}
	case d.classes != nil:
		v.classes = d.classes
		for _, label := range d.class {
			v.truth.Classes = append(v.truth.Classes, slices.Index(d.classes, label))
		}
	default:
		v.truth.Numbers = d.numbers[0]
	}
	return v.readDivision(group, order)
}

// setForm refuses tasks that do not fit the targets, and says what these are; the default
// estimator stands in until the candidates are known.
func (v *crossValidation) setForm() (err error) {
	p := v.p
	single := slices.Contains([]string{taskRegression, taskBinary, taskMulticlass}, p.task)
	switch {
	case !v.several() && !single:
		return console.Inputf("mkl cv is for -task %s, %s and %s of one target, not %s: the others need several", taskRegression, taskBinary, taskMulticlass, p.task)
	case v.several() && single && p.task != taskRegression:
		return console.Inputf("-task %s needs one target, the column of labels, not %d", p.task, len(p.targets))
	case !v.several() && p.MissingTargets:
		return console.Inputf("-missing-targets is for several targets")
	case p.Missing == missingViews:
		return console.Inputf("-missing views is not for mkl cv")
	}
	if v.several() && p.task == taskRegression {
		p.task = taskMultioutput
	}
	p.est, err = p.estimator(len(p.targets))
	return err
}

// form is what the targets are.
func (v *crossValidation) form() form { return v.p.est.form }

// column finds the column that a flag names, -1 if it names none.
func (v *crossValidation) column(name, flag string) (int, error) {
	if name == "" {
		return -1, nil
	}
	items, err := spec.ParseColumns(name)
	if err != nil {
		return 0, console.Inputf("%s %w", flag, err)
	}
	found, err := spec.Select(items, v.p.main.Columns(), v.p.targets)
	if err != nil {
		return 0, console.Inputf("%s: %s: %w", flag, v.p.main.Name(), err)
	}
	if len(found) != 1 {
		return 0, console.Inputf("%s %s: that is %d columns", flag, name, len(found))
	}
	return found[0], nil
}

// readDivision reads what the columns of -group and -order say.
func (v *crossValidation) readDivision(group, order int) error {
	d := &v.p.main.Data
	if group >= 0 {
		names := table.Classes(d.Labels[group])
		at := make(map[string]int, len(names))
		for k, name := range names {
			at[name] = k
		}
		for _, name := range d.Labels[group] {
			v.groups = append(v.groups, at[name])
		}
	}
	if order >= 0 {
		if d.Types[order] == table.Text {
			return console.Inputf("-order %s: the column is text: dates or numbers are needed", v.Order)
		}
		v.order = d.Numbers[order]
		if i := slices.IndexFunc(v.order, math.IsNaN); i >= 0 {
			return console.Input(d.Cell(i, order, "the cell is empty: -order needs all of them"))
		}
	}
	return nil
}

// split divides the rows.
func (v *crossValidation) split() ([]choose.Fold, error) {
	p := choose.Plan{Folds: v.Folds, Repeats: v.Repeats, Seed: v.Seed, Groups: v.groups, Time: v.order}
	if v.Stratify && v.order == nil {
		p.Strata = v.truth.Classes
	}
	return choose.Split(v.p.main.Data.Rows, p)
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

// kernelSet is one of -kernels.
type kernelSet struct {
	name    string // empty: what the data suggest
	kernels []spec.ViewKernel
}

// kernelSets reads -kernels.
func (v *crossValidation) kernelSets() (all []kernelSet, err error) {
	if len(v.cvCmd.Kernels) == 0 {
		return []kernelSet{{}}, nil
	}
	if !open(v.p.views) {
		return nil, console.Inputf("-kernels is for views that name no kernels, of which there are none")
	}
	for _, text := range v.cvCmd.Kernels {
		if text == "auto" {
			all = append(all, kernelSet{})
			continue
		}
		parsed, err := spec.Parse(text)
		if err != nil {
			return nil, console.Inputf("-kernels %w", err)
		}
		set := kernelSet{name: text}
		for _, k := range parsed {
			vk, err := spec.Build(k)
			if err != nil {
				return nil, console.Inputf("-kernels %s: %w", text, err)
			}
			if vk.Given || vk.Strings != nil {
				return nil, console.Inputf("-kernels %s: kernels that are given and kernels of strings are named by -view", text)
			}
			set.kernels = append(set.kernels, vk)
		}
		all = append(all, set)
	}
	return all, nil
}

// candidates are the baselines, and each model with each set of kernels; and how many of their fits
// may be at work at a time.
func (v *crossValidation) candidates(folds int) (all []choose.Candidate, workers int, err error) {
	sets, err := v.kernelSets()
	if err != nil {
		return nil, 0, err
	}
	models := v.Models
	if models == nil {
		models = v.defaultModels()
	}
	var problems []*problem
	add := func(name string, baseline bool, make func(target int) (*problem, error)) (*problem, error) {
		one, own, err := v.candidate(name, make)
		if err != nil {
			return nil, err
		}
		one.Baseline = baseline
		problems, all = append(problems, own...), append(all, one)
		return own[0], nil
	}
	if v.Baselines {
		all = append(all, v.trivial())
	}
	if v.Baselines && slices.ContainsFunc(v.p.views, func(w view) bool { return !w.given() && !w.ofStrings() }) {
		name := "ridge"
		if v.form() != numbers {
			name = "linear"
		}
		if _, err := add(name, true, v.linear); err != nil {
			return nil, 0, err
		}
	}
	taken := map[string]bool{} // flags that mean something to a model
	for _, model := range models {
		var est *estimator
		for _, set := range sets {
			if est != nil && !est.kernels() {
				continue // it has no kernels to choose
			}
			of := func(target int) (*problem, error) { return v.problem(model, set, target) }
			name := model
			if q, err := of(0); err != nil {
				return nil, 0, err
			} else if q.est.kernels() && (set.name != "" || len(sets) > 1) {
				name += " " + orAuto(set.name)
			}
			q, err := add(name, false, of)
			if err != nil {
				return nil, 0, err
			}
			est = q.est
		}
		for _, f := range new(fitCmd).optional() {
			taken[f.name] = taken[f.name] || est != nil && est.takes(f.name)
		}
	}
	for _, f := range v.p.optional() {
		if f.given && !taken[f.name] {
			return nil, 0, console.Inputf("-%s is for none of the models: %s", f.name, strings.Join(models, ", "))
		}
	}
	workers, err = v.share(problems, len(all)*folds)
	return all, workers, err
}

func orAuto(name string) string {
	if name == "" {
		return "auto"
	}
	return name
}

// trivial is the baseline that does not look at the features.
func (v *crossValidation) trivial() choose.Candidate {
	one := func(t choose.Truth) choose.Candidate {
		if t.Classes != nil {
			return choose.Frequencies(t.Classes)
		}
		return choose.Mean(t.Numbers)
	}
	if !v.several() {
		return one(v.truth)
	}
	own := one(v.truth.Targets[0])
	all := choose.Each(own.Name, v.truth, func(o int) choose.Candidate { return one(v.truth.Targets[o]) })
	all.Baseline = own.Baseline
	return all
}

// candidate is the candidate that learns the problems that of makes: one of all targets, or one
// of each.
func (v *crossValidation) candidate(name string, of func(target int) (*problem, error)) (one choose.Candidate, problems []*problem, err error) {
	for o := range v.p.targets {
		q, err := of(o)
		if err != nil {
			return one, nil, err
		}
		problems = append(problems, q)
		if len(q.targets) == len(v.p.targets) { // it learns them all
			return choose.Candidate{Name: name, Learn: v.learner(q)}, problems, nil
		}
	}
	return choose.Each(name, v.truth, func(o int) choose.Candidate {
		return choose.Candidate{Name: name, Learn: v.learner(problems[o])}
	}), problems, nil
}

// defaultModels are the models for the task and the views, and of several targets the tasks that learn such
// targets together, and what learns each by itself.
func (v *crossValidation) defaultModels() (all []string) {
	if v.several() {
		if v.Task != nil && v.p.task != taskMultioutput {
			all = append(all, v.p.task)
		} else {
			all = slices.DeleteFunc(v.together(), func(task string) bool {
				// Where all targets are known these two learn what multioutput and multilabel do.
				return !v.p.MissingTargets && (task == "tasks" || task == "tasklabels")
			})
		}
		if v.form() == numbers {
			all = append(all, "auto")
		}
		return all
	}
	for _, est := range estimators {
		if slices.Contains(est.tasks, v.p.task) && (est.kernels() || len(v.p.views) == 1 && open(v.p.views)) {
			all = append(all, est.model)
		}
	}
	return all
}

// together are the tasks that learn several such targets.
func (v *crossValidation) together() (all []string) {
	for _, est := range estimators {
		if est.form != v.form() || est.one || v.p.MissingTargets && !est.takes("missing-targets") {
			continue
		}
		for _, task := range est.tasks {
			if task != taskRegression {
				all = append(all, task)
			}
		}
	}
	return all
}

// problem is the problem of a model and a set of kernels: of all targets, or of the given one if the model
// learns one. Flags that mean nothing to the model have their defaults.
func (v *crossValidation) problem(model string, set kernelSet, target int) (*problem, error) {
	q := *v.p
	c := *q.fitCmd
	q.fitCmd, c.Kernels = &c, set.name
	q.views = slices.Clone(q.views)
	switch {
	case v.several() && slices.Contains(v.together(), model):
		c.task, c.Model = model, nil
	case v.several() && (v.form() != numbers || !slices.Contains(targetModels(), model)):
		return nil, console.Inputf("-models: there is no model %q of several such targets: there are %s", model, v.severalNames())
	case slices.Contains(targetModels(), model):
		c.Model = &model
		if v.several() {
			q.targets, c.task, c.MissingTargets = []int{q.targets[target]}, taskRegression, false
		}
	default:
		return nil, console.Inputf("-models: there is no model %q: there are %s", model, join(targetModels()))
	}
	var err error
	if q.est, err = c.estimator(len(q.targets)); err != nil {
		return nil, err
	}
	for _, f := range c.optional() {
		if f.given && !q.est.takes(f.name) {
			f.reset()
		}
	}
	if q.est.kernels() {
		for i := range q.views {
			if q.views[i].kernels == nil && set.kernels != nil {
				q.views[i].kernels = set.kernels
			}
		}
	}
	if err := q.choose(); err != nil {
		return nil, err
	}
	return &q, q.checkViews(q.est, q.views)
}

// targetModels are the models that learn targets.
func targetModels() []string {
	return distinct(func(est *estimator) []string {
		if est.form == tableEntries || est.pairs {
			return nil
		}
		return []string{est.model}
	})
}

// severalNames are the values of -models for several targets, in words.
func (v *crossValidation) severalNames() string {
	if v.form() == numbers {
		var alone []string
		for _, est := range estimators {
			if slices.Contains(est.tasks, taskRegression) {
				alone = append(alone, est.model)
			}
		}
		return join(v.together()) + ", and of each target by itself " + join(alone)
	}
	return join(v.together())
}

// linear is the problem of the baseline that is a linear function of all features: of a target, or of
// several labels.
func (v *crossValidation) linear(target int) (*problem, error) {
	w := *v
	p := *v.p
	w.p, p.views = &p, slices.Clone(p.views)
	c := *p.fitCmd
	for _, f := range c.optional() {
		if f.name != "missing-targets" {
			f.reset()
		}
	}
	c.RawColumns = false
	p.fitCmd = &c
	kernels := []spec.ViewKernel{{Kernel: mkl.Linear{}}, {Kernel: mkl.Constant{}}}
	for i := range p.views {
		if !p.views[i].given() && !p.views[i].ofStrings() {
			p.views[i].kernels = kernels
		}
	}
	if v.form() == labels {
		return w.problem(v.together()[0], kernelSet{}, target)
	}
	return w.problem("mgp", kernelSet{}, target)
}

// share says how many fits may be at work at a time, as the memory allows, and gives each
// its workers.
func (v *crossValidation) share(problems []*problem, fits int) (int, error) {
	all := console.Processors(v.Workers)
	limit := float64(v.Memory)
	if limit == 0 {
		limit = float64(memory.Available())
	}
	workers := min(all, fits)
	for _, q := range problems {
		if err := q.prepare(); err != nil {
			return 0, err
		}
		outputs := max(1, len(v.classes), len(q.targets))
		if err := q.checkMemory(v.p.main.Data.Rows, outputs); err != nil {
			return 0, err
		}
		if limit > 0 {
			workers = max(1, min(workers, int(limit/q.need(v.p.main.Data.Rows, outputs))))
		}
	}
	for _, q := range problems {
		q.fitCmd.Workers = max(1, all/workers)
	}
	return workers, nil
}

// learner learns a problem's training rows and predicts the others.
func (v *crossValidation) learner(q *problem) func(context.Context, choose.Fold) (*choose.Prediction, error) {
	return func(ctx context.Context, f choose.Fold) (*choose.Prediction, error) {
		part, files := q.part(f.Train)
		part.bar = &sweepBar{env: &console.Env{Ctx: ctx, Stderr: v.env.Stderr}, quiet: true}
		d, _, err := part.learn(files)
		if err != nil {
			return nil, err
		}
		model, err := part.bar.finish(part.fitInTime(ctx, d))
		if err != nil {
			return nil, err
		}
		var x []mkl.Features
		inputs := model.Inputs()
		for k := range part.views {
			some := q.inputs(k, &part.views[k], inputs[len(x):], f)
			x = append(x, some...)
		}
		p, err := predict(ctx, model, mkl.PredictOptions{Workers: part.fitCmd.Workers}, x)
		if err != nil {
			return nil, err
		}
		if len(q.targets) == 1 {
			return asPrediction(p, 0, v.classes)
		}
		all := &choose.Prediction{}
		for o := range q.targets {
			one, err := asPrediction(p, o, nil)
			if err != nil {
				return nil, err
			}
			all.Targets = append(all.Targets, one)
		}
		return all, nil
	}
}

// asPrediction is what a model predicts of a target or of the classes.
func asPrediction(p prediction, target int, classes []string) (*choose.Prediction, error) {
	switch p := p.(type) {
	case numberPrediction:
		return &choose.Prediction{Mean: p.Mean[target], Variance: p.Variance[target]}, nil
	case classPrediction:
		return choose.OfClasses(p.Probability, p.classes, classes)
	case labelPrediction:
		out := &choose.Prediction{}
		for _, has := range p.Probability[target] {
			out.Probability = append(out.Probability, []float64{1 - has, has})
		}
		return out, nil
	}
	return nil, fmt.Errorf("predictions of this kind cannot be compared")
}

// part is the problem of some of the rows, which were read, with files of its own. Of kernels
// that are given it has these rows and columns.
func (p *problem) part(rows []int) (*problem, *console.Files) {
	q := *p
	files := &console.Files{Env: p.bar.env}
	own := map[*console.File]*console.File{}
	some := func(f *console.File) *console.File {
		if own[f] == nil {
			part := *f
			part.Data = f.Data.Some(rows)
			own[f] = &part
			files.All = append(files.All, &part)
		}
		return own[f]
	}
	q.main, q.guessed, q.resumed = some(p.main), "", nil
	q.views = slices.Clone(p.views)
	for i := range q.views {
		v := &q.views[i]
		if v.square() {
			v.source = v.source.At(rows)
		}
		v.source.File = some(v.source.File)
		v.plan, v.left, v.x = nil, nil, mkl.Features{}
		if v.strings != nil {
			v.strings = v.strings.some(rows)
		}
	}
	return &q, files
}

// inputs is the features of a fold's test rows for a view of the fit to its training rows, of
// which the model's next inputs are. A kernel that is given may need a column more than the fit: that of
// each row with itself.
func (p *problem) inputs(k int, fitted *view, next []mkl.Input, f choose.Fold) []mkl.Features {
	if s := p.views[k].strings; s != nil {
		var columns []int
		for _, in := range next[:len(s.views)] {
			columns = append(columns, in.Cols)
		}
		return s.inputs(f.Train, f.Test, columns)
	}
	own := &p.views[k].source
	some := own.File.Data.Some(f.Test)
	x := plan.Encode(fitted.plan, fitted.source.Columns, &some).X
	return []mkl.Features{withSelf(x, next[0].Cols, func(n int) float64 {
		i := f.Test[n]
		return own.File.Data.Numbers[own.Columns[i]][i]
	})}
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
