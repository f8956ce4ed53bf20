package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

type fitCmd struct {
	Data    string   `arg:"" help:"CSV or NPY file with a row for each sample; - is standard input."`
	Task    string   `enum:"regression,multioutput,shared,multitask,binary,multiclass,multilabel" default:"regression" help:"What to learn: regression (of one target or several), multioutput (several), shared (several that depend on different views), multitask (several that are sparse combinations of common functions, of kernels whose widths are learned), binary or multiclass (a column of labels), multilabel (several columns of 0 and 1)."`
	Model   string   `enum:"bmkl,mgp,probit,spikeslab" default:"bmkl" help:"What to learn it by: bmkl (for every task), mgp (multiple Gaussian processes, for regression of one target, binary and multiclass), probit (a multinomial probit kernel machine, for binary and multiclass), spikeslab (sparse linear regression of one target, without kernels)."`
	Target  string   `required:"" placeholder:"COLUMNS" help:"Columns to learn: a name, #position or pattern, or several with commas between."`
	View    []string `sep:"none" placeholder:"NAME=COLUMNS:KERNELS" help:"A view of the samples; can be repeated. Without one, all columns that are not targets."`
	Kernels string   `default:"${kernels}" placeholder:"KERNELS" help:"Kernels of views that name none (${default})."`
	Output  string   `short:"o" placeholder:"FILE" help:"Model file to write."`

	Sparse string   `enum:"none,kernels,samples,both" default:"none" help:"What to make sparse by Gamma(1e-10,1e+10) priors on weights: none, kernels, samples or both."`
	Prior  []string `sep:"none" placeholder:"NAME=SHAPE,SCALE" help:"Gamma prior of lambda, upsilon, gamma, omega or epsilon, of -model probit of alpha; can be repeated (1,1)."`
	Margin float64  `default:"0" help:"Half the width of the gap between classes, on the scale of the scores (${default}); the paper has one, and probabilities too near 0 and 1."`
	SigmaG float64  `default:"${sigmaG}" name:"sigma-g" help:"Standard deviation of a classifier's intermediate outputs (${default})."`

	Latents int    `help:"Latent functions of each kernel of -task multitask; 0 means as many as there are targets, at most 5."`
	Family  string `enum:"student-t,laplace,gamma-variance,gig,ard" default:"student-t" help:"Priors of the kernels' scales in -model mgp: student-t, laplace, gamma-variance, gig or ard (${default})."`
	Rule    string `enum:"fixsum,wsum,bin,fixprod,wprod" default:"fixsum" help:"How -model probit makes one kernel of all: fixsum or fixprod, their sum or product; wsum, bin or wprod, with weights, switches or powers that are learned (${default})."`
	Gibbs   bool   `help:"Sample the posterior of -model probit instead of approximating it."`
	Chains  int    `help:"Chains of -gibbs; 0 means 4."`
	Draws   int    `help:"Draws of -gibbs that are kept of each chain; 0 means 250."`
	Thin    int    `help:"Sweeps of -gibbs from one draw that is kept to the next; 0 means 4. As many as are drawn from go before the first."`

	RawColumns      bool `help:"Leave columns as they are; by default each is given mean 0 and standard deviation 1."`
	RawTargets      bool `help:"Leave targets as they are; by default each is given mean 0 and standard deviation 1 for the fit."`
	Missing         bool `help:"Accept empty cells, NA and NaN in the targets of regression, multioutput and multilabel: missing values."`
	AllowDuplicates bool `help:"Accept kernels that are the same matrix."`

	Seed      uint64  `default:"1" help:"Seed of the random start (${default})."`
	Restarts  int     `help:"Further random starts; the one with the highest bound is kept."`
	Sweeps    int     `help:"Most sweeps of a start; 0 means 10000."`
	Tolerance float64 `help:"Relative rise of the bound that counts as none; 0 means 1e-5."`
	Plain     bool    `help:"Do exactly the published updates, which need many more sweeps."`

	Workers int         `help:"Most goroutines at work; 0 means one for each processor."`
	Memory  memory.Size `placeholder:"SIZE" help:"Refuse a fit that needs more than this, such as 8GiB; by default what the machine has available."`
	JSON    bool        `name:"json" help:"Print JSON."`

	layout `embed:""`
}

// view is a view of the command line: columns, with one or more kernels.
type view struct {
	name    string
	source  source
	kernels []viewKernel
}

func (c *fitCmd) Run(e *env) error {
	a, err := c.ask()
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := atomicfile.Check(c.Output); err != nil {
			return input(err)
		}
	}
	opt, err := c.options()
	if err != nil {
		return err
	}
	fs := &files{env: e, opt: opt}
	defer fs.close()
	main, err := fs.open(c.Data)
	if err != nil {
		return err
	}
	targets, err := c.targets(main)
	if err != nil {
		return err
	}
	views, err := a.views(fs, main, targets)
	if err != nil {
		return err
	}
	if n := main.Rows(); n >= 0 {
		if err := a.checkMemory(views, n, len(targets)); err != nil {
			return err
		}
	}
	n, err := fs.read()
	if err != nil {
		return err
	}
	rows := len(targets) // functions to learn
	if c.Task == taskMulticlass {
		if rows = len(classesOf(main.data.Labels[targets[0]])); rows == 2 {
			rows = 1
		}
	}
	if err := a.checkMemory(views, n, rows); err != nil {
		return err
	}

	names := make([]string, len(targets))
	for o, j := range targets {
		names[o] = main.Columns()[j]
	}
	notes := a.describe(views, names)
	if a.notes, err = notes.encode(); err != nil {
		return err
	}
	fit, err := a.fit(e, views, main, targets)
	if err != nil {
		return err
	}
	model, fell := fitWithProgress(e, c.JSON, fit)
	if model == nil {
		return fell
	}
	rep := newReport(model, notes)
	rep.Model = c.Output
	if c.Output != "" {
		if err := atomicfile.Write(e.ctx, c.Output, model.Save); err != nil {
			return err
		}
	}
	if c.JSON {
		rep.Trace = model.Trace().Bounds
		return errors.Join(printJSON(e.stdout, rep), c.unfinished(fell))
	}
	kernels := 0
	for _, v := range views {
		kernels += len(v.kernels)
	}
	parts := plural(kernels, "kernel")
	if a.of == ofSpikeSlab {
		parts = plural(len(rep.Kernels), rep.part())
	}
	fmt.Fprintf(e.stdout, "%s: %s, %s in %s, %s\n", main.Name(), plural(n, "sample"), parts, plural(len(views), "view"), rep.learned(names))
	if err := rep.print(e.stdout); err != nil {
		return err
	}
	if c.Output != "" {
		fmt.Fprintf(e.stdout, "\nmodel: %s\n", c.Output)
	}
	return c.unfinished(fell)
}

// unfinished says what the model is worth where the ascent ended with an error.
func (c *fitCmd) unfinished(err error) error {
	switch {
	case err == nil:
		return nil
	case c.Output == "":
		return fmt.Errorf("%w; the model shown is that of the sweeps before", err)
	}
	return fmt.Errorf("%w; %s holds the model of the sweeps before", err, c.Output)
}

// classes reports whether the task learns classes or labels.
func (c *fitCmd) classes() bool { return !isRegression(c.Task) }

// classesOf returns the distinct labels: in the order of their numbers if all are
// numbers, otherwise of their text.
func classesOf(labels []string) []string {
	classes := slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	numbers := map[string]float64{}
	for _, c := range classes {
		x, err := strconv.ParseFloat(c, 64)
		if err != nil || math.IsNaN(x) {
			return classes
		}
		numbers[c] = x
	}
	slices.SortStableFunc(classes, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	return classes
}

// flags reads a column of labels that samples have or have not.
func flags(f *file, column int) ([]mkl.Label, error) {
	has := make([]mkl.Label, f.data.Rows)
	for i, text := range f.data.Labels[column] {
		switch strings.ToLower(text) {
		case "1", "+1", "true", "yes":
			has[i] = mkl.Present
		case "0", "-1", "false", "no":
			has[i] = mkl.Absent
		case "":
			has[i] = mkl.Unknown
		default:
			return nil, input(&table.CellError{File: f.Name(), Row: i + 1, Column: column, Name: f.Columns()[column],
				Msg: fmt.Sprintf("%q is neither 1, true or yes nor 0, -1, false or no", text)})
		}
	}
	return has, nil
}

// targets finds the target columns and asks for them.
func (c *fitCmd) targets(main *file) ([]int, error) {
	items, err := spec.ParseColumns(c.Target)
	if err != nil {
		return nil, inputf("-target %w", err)
	}
	targets, err := spec.Select(items, main.Columns(), nil)
	if err != nil {
		return nil, inputf("-target: %s: %w", main.Name(), err)
	}
	switch {
	case (c.Task == taskMultioutput || c.Task == taskShared || c.Task == taskMultitask) && len(targets) < 2:
		return nil, inputf("-task %s needs several targets", c.Task)
	case (c.Model == modelMGP || c.Model == modelSpikeSlab) && len(targets) != 1:
		return nil, inputf("-model %s needs one target, not %d", c.Model, len(targets))
	case (c.Task == taskBinary || c.Task == taskMulticlass) && len(targets) != 1:
		return nil, inputf("-task %s needs one target, the column of labels, not %d", c.Task, len(targets))
	}
	kind := table.Number
	switch {
	case (c.Task == taskBinary || c.Task == taskMulticlass) && c.Missing:
		return nil, inputf("-missing is not for -task %s: labels must be complete", c.Task)
	case c.Task == taskShared && c.Missing:
		return nil, inputf("-missing is not for -task shared: targets that share their sample weights must be complete")
	case c.classes() && c.Missing:
		kind = table.OptionalLabel
	case c.classes():
		kind = table.Label
	case c.Missing:
		kind = table.Optional
	}
	for _, j := range targets {
		main.need(j, kind)
	}
	return targets, nil
}

// views resolves the views and asks for their columns.
func (a *asked) views(fs *files, main *file, targets []int) ([]view, error) {
	texts := a.View
	if len(texts) == 0 {
		texts = []string{"*"}
	}
	defaults, err := spec.Parse(a.Kernels)
	if err != nil {
		return nil, inputf("-kernels %w", err)
	}
	if a.of == ofSpikeSlab && len(texts) > 1 {
		return nil, inputf("-model spikeslab has one view, not %d", len(texts))
	}
	var all []view
	for i, text := range texts {
		fail := func(err error) ([]view, error) { return nil, inputf("-view %s: %w", text, err) }
		parsed, err := spec.ParseView(text)
		if err != nil {
			return nil, inputf("-view %w", err)
		}
		v := view{name: parsed.Name}
		if v.name == "" && len(texts) > 1 {
			v.name = fmt.Sprintf("view%d", i+1)
		}
		if slices.ContainsFunc(all, func(w view) bool { return w.name == v.name }) {
			return nil, inputf("-view: two views are called %q", v.name)
		}
		if v.source, err = fs.resolve(parsed.Columns, main, targets); err != nil {
			return fail(err)
		}
		kernels := parsed.Kernels
		switch {
		case a.of == ofSpikeSlab && kernels != nil:
			return fail(errors.New("-model spikeslab has no kernels"))
		case kernels == nil && a.of != ofSpikeSlab:
			kernels = defaults
		}
		for _, k := range kernels {
			vk, err := newKernel(k)
			if err != nil {
				return fail(err)
			}
			v.kernels = append(v.kernels, vk)
		}
		for _, j := range v.source.columns {
			v.source.file.need(j, table.Number)
		}
		all = append(all, v)
	}
	return all, nil
}

// checkMemory refuses a fit of n samples that needs more memory than it may take.
func (a *asked) checkMemory(views []view, n, functions int) error {
	limit, whose := a.Memory, "-memory allows"
	if limit == 0 {
		limit, whose = memory.Available(), "the machine has available (-memory overrides)"
	}
	if limit == 0 {
		return nil
	}
	kernels, basis, columns := 0, n, 0
	for _, v := range views {
		kernels += len(v.kernels)
		columns += len(v.source.columns)
		for _, k := range v.kernels {
			if k.given {
				basis = len(v.source.columns)
			}
		}
	}
	// The columns are there as read and as matrices, and the model keeps a copy.
	data := 3 * 8 * float64(n) * float64(columns+functions)
	need := float64(a.memory(n, basis, kernels, functions, columns)) + data
	if need > float64(limit) {
		what := plural(kernels, "kernel")
		if a.of == ofSpikeSlab {
			what = plural(columns, "feature")
		}
		return inputf("a fit of %s with %s needs about %v of memory, more than the %v that %s",
			plural(n, "sample"), what, memory.Size(min(need, math.MaxInt64)), limit, whose)
	}
	return nil
}

// build makes the views of the estimator.
func (c *fitCmd) build(views []view) []mkl.View {
	var all []mkl.View
	for _, v := range views {
		x := v.source.matrix()
		for _, k := range v.kernels {
			all = append(all, mkl.View{
				Name: v.name, X: x, Kernel: k.Kernel,
				Standardize: !c.RawColumns && !k.given, Center: k.center, Normalize: k.normalize,
			})
		}
	}
	return all
}

// describe makes the notes on views and targets that a prediction needs.
func (a *asked) describe(views []view, targets []string) *notes {
	n := &notes{Task: a.Task, Targets: targets}
	if a.Task == taskRegression && len(targets) > 1 {
		n.Task = taskMultioutput
	}
	for i, v := range views {
		n.Views = append(n.Views, viewNote{Name: v.name, Columns: v.source.names(), File: v.source.file.path != a.Data})
		kernels := len(v.kernels) // of the model
		switch a.of {
		case ofMultitask:
			kernels *= a.latents(len(targets))
		case ofSpikeSlab:
			kernels = len(v.source.columns)
		}
		n.ViewOf = append(n.ViewOf, slices.Repeat([]int{i}, kernels)...)
	}
	return n
}

// notes is what the command keeps with a model of where its data were.
type notes struct {
	Task    string     `json:"task"`
	Targets []string   `json:"targets"` // columns
	Views   []viewNote `json:"views"`
	ViewOf  []int      `json:"view_of"` // the view that each kernel belongs to
}

type viewNote struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	File    bool     `json:"file"` // the columns are those of a file of the view's own
}

// notesKey is the key of the notes in a model.
const notesKey = "mkl-command"

func (n *notes) encode() (map[string]string, error) {
	text, err := json.Marshal(n)
	return map[string]string{notesKey: string(text)}, err
}

// notesOf reads the notes of a model. A model that the command did not make has
// its inputs called x1, x2, … and its targets y1, y2, ….
func notesOf(m model) *notes {
	task, targets := taskRegression, 1
	switch m := m.(type) {
	case *mkl.RegressionModel:
		if targets = m.Targets(); targets > 1 {
			task = taskMultioutput
		}
	case *mkl.SharedRegressionModel:
		task, targets = taskShared, m.Targets()
	case *mkl.MultiTaskModel:
		task, targets = taskMultitask, m.Targets()
	case mkl.ClassModel[string]:
		if task = taskMulticlass; len(m.Classes()) == 2 {
			task = taskBinary
		}
	case *mkl.MultiLabelModel:
		task, targets = taskMultilabel, m.Labels()
	}
	n := &notes{}
	kernels, inputs := len(m.KernelWeights()), m.Inputs()
	if text, ok := m.Notes()[notesKey]; ok && json.Unmarshal([]byte(text), n) == nil && n.fits(kernels, targets) {
		return n
	}
	n = &notes{Task: task, ViewOf: make([]int, kernels)}
	for i, in := range inputs {
		v := viewNote{Name: "x" + strconv.Itoa(i+1)}
		for j := range in.Cols {
			v.Columns = append(v.Columns, strconv.Itoa(j+1))
		}
		n.Views = append(n.Views, v)
		for _, k := range in.Views {
			n.ViewOf[k] = i
		}
	}
	for o := range targets {
		n.Targets = append(n.Targets, "y"+strconv.Itoa(o+1))
	}
	return n
}

// fits reports whether the notes belong to a model of so many kernels and targets.
func (n *notes) fits(kernels, targets int) bool {
	if len(n.ViewOf) != kernels || len(n.Targets) != targets {
		return false
	}
	for _, v := range n.ViewOf {
		if v < 0 || v >= len(n.Views) {
			return false
		}
	}
	return true
}
