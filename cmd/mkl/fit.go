package main

import (
	"cmp"
	"encoding/json"
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
	Target  string   `required:"" placeholder:"COLUMNS" help:"Columns to learn: a name, #position or pattern, or several with commas between."`
	View    []string `sep:"none" placeholder:"NAME=COLUMNS:KERNELS" help:"A view of the samples; can be repeated. Without one, all columns that are not targets."`
	Kernels string   `default:"${kernels}" placeholder:"KERNELS" help:"Kernels of views that name none (${default})."`
	Output  string   `short:"o" placeholder:"FILE" help:"Model file to write."`

	Sparse string   `enum:"none,kernels,samples,both" default:"none" help:"What to make sparse by Gamma(1e-10,1e+10) priors on weights: none, kernels, samples or both."`
	Prior  []string `sep:"none" placeholder:"NAME=SHAPE,SCALE" help:"Gamma prior of lambda, upsilon, gamma, omega or epsilon; can be repeated (1,1)."`
	Margin float64  `default:"0" help:"Half the width of the gap between classes, on the scale of the scores (${default}); the paper has one, and probabilities too near 0 and 1."`
	SigmaG float64  `default:"0.1" name:"sigma-g" help:"Standard deviation of a classifier's intermediate outputs (${default})."`

	Latents int `help:"Latent functions of each kernel of -task multitask; 0 means as many as there are targets, at most 5."`

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
	r, err := c.regression()
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
	views, err := c.views(fs, main, targets)
	if err != nil {
		return err
	}
	if n := main.Rows(); n >= 0 {
		if err := c.checkMemory(r, views, n, len(targets)); err != nil {
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
	if err := c.checkMemory(r, views, n, rows); err != nil {
		return err
	}

	names := make([]string, len(targets))
	for o, j := range targets {
		names[o] = main.Columns()[j]
	}
	inputs, notes := c.build(views, names)
	if r.Notes, err = notes.encode(); err != nil {
		return err
	}
	fit, err := c.fit(e, r, inputs, main, targets)
	if err != nil {
		return err
	}
	model, err := fitWithProgress(e, c.JSON, c.Sweeps, c.Restarts, fit)
	if err != nil {
		return err
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
		return printJSON(e.stdout, rep)
	}
	fmt.Fprintf(e.stdout, "%s: %s, %s in %s, %s\n", main.Name(), plural(n, "sample"), plural(len(inputs), "kernel"), plural(len(views), "view"), targetList(notes.Task, names))
	if err := rep.print(e.stdout); err != nil {
		return err
	}
	if c.Output != "" {
		fmt.Fprintf(e.stdout, "\nmodel: %s\n", c.Output)
	}
	return nil
}

func targetList(task string, names []string) string {
	if len(names) > 5 {
		return task + " of " + plural(len(names), "target")
	}
	named := slices.Clone(names)
	for i, n := range named {
		if _, err := strconv.Atoi(n); err == nil { // a file without names
			named[i] = "column " + n
		}
	}
	return task + " of " + strings.Join(named, ", ")
}

// Tasks.
const (
	taskRegression  = "regression"
	taskMultioutput = "multioutput"
	taskShared      = "shared"
	taskMultitask   = "multitask"
	taskBinary      = "binary"
	taskMulticlass  = "multiclass"
	taskMultilabel  = "multilabel"
)

// classes reports whether the task learns classes or labels.
func (c *fitCmd) classes() bool { return !isRegression(c.Task) }

// isRegression reports whether the task's targets are numbers.
func isRegression(task string) bool {
	return task == taskRegression || task == taskMultioutput || task == taskShared || task == taskMultitask
}

// fit returns the fit that the task asks for, with the data that were read. Its
// settings are those of r.
func (c *fitCmd) fit(e *env, r mkl.Regression, views []mkl.View, main *file, targets []int) (func(func(mkl.Progress)) (model, error), error) {
	s := mkl.Classification{
		Lambda: r.Lambda, Gamma: r.Gamma, Omega: r.Omega, Margin: c.Margin, SigmaG: c.SigmaG,
		Seed: r.Seed, Restarts: r.Restarts, Tolerance: r.Tolerance, MaxSweeps: r.MaxSweeps, Plain: r.Plain,
		AllowDuplicates: r.AllowDuplicates, Workers: r.Workers, Notes: r.Notes,
	}
	switch c.Task {
	case taskBinary, taskMulticlass:
		labels := main.data.Labels[targets[0]]
		classes := classesOf(labels)
		if c.Task == taskBinary && len(classes) != 2 {
			return nil, inputf("%s: column %q has %s where -task binary needs 2: %s", main.Name(), main.Columns()[targets[0]],
				plural(len(classes), "class"), strings.Join(classes[:min(5, len(classes))], ", "))
		}
		return func(p func(mkl.Progress)) (model, error) {
			s.Progress = p
			return mkl.Classifier[string]{Classification: s, Classes: classes}.Fit(e.ctx, views, labels)
		}, nil
	case taskMultilabel:
		var labels [][]mkl.Label
		for _, j := range targets {
			has, err := flags(main, j)
			if err != nil {
				return nil, err
			}
			labels = append(labels, has)
		}
		return func(p func(mkl.Progress)) (model, error) {
			s.Progress = p
			return mkl.MultiLabel{Classification: s}.FitKnown(e.ctx, views, labels...)
		}, nil
	}
	var y [][]float64
	for _, j := range targets {
		y = append(y, main.data.Numbers[j])
	}
	return func(p func(mkl.Progress)) (model, error) {
		r.Progress = p
		if c.Task == taskShared {
			return mkl.SharedRegression(r).Fit(e.ctx, views, y...)
		}
		if c.Task == taskMultitask {
			return c.multiTask(r).Fit(e.ctx, views, y...)
		}
		return r.Fit(e.ctx, views, y...)
	}, nil
}

// multiTask is the estimator of -task multitask, with what of r's settings it has.
func (c *fitCmd) multiTask(r mkl.Regression) mkl.MultiTask {
	return mkl.MultiTask{
		Latents: c.Latents, Plain: r.Plain, MissingTargets: r.MissingTargets, RawTargets: r.RawTargets,
		Restarts: r.Restarts, Seed: r.Seed, Tolerance: r.Tolerance, MaxSweeps: r.MaxSweeps,
		Workers: r.Workers, Progress: r.Progress, Notes: r.Notes,
	}
}

// latents is the number of latent functions of each kernel.
func (c *fitCmd) latents(targets int) int {
	if c.Latents > 0 {
		return c.Latents
	}
	return min(targets, 5)
}

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

// regression is the estimator that the flags ask for.
func (c *fitCmd) regression() (mkl.Regression, error) {
	r := mkl.Regression{
		Seed: c.Seed, Restarts: c.Restarts, Tolerance: c.Tolerance, MaxSweeps: c.Sweeps, Plain: c.Plain,
		RawTargets: c.RawTargets, MissingTargets: c.Missing, AllowDuplicates: c.AllowDuplicates, Workers: c.Workers,
	}
	for _, f := range []struct {
		flag  string
		value int
	}{{"restarts", c.Restarts}, {"sweeps", c.Sweeps}, {"workers", c.Workers}, {"latents", c.Latents}} {
		if f.value < 0 {
			return r, inputf("-%s %d is negative", f.flag, f.value)
		}
	}
	if !(c.Tolerance >= 0 && c.Tolerance < 1) {
		return r, inputf("-tolerance %g is not between 0 and 1", c.Tolerance)
	}
	sparse := mkl.Gamma{Shape: 1e-10, Scale: 1e+10}
	if c.Sparse == "kernels" || c.Sparse == "both" {
		r.Omega = sparse
	}
	if c.Sparse == "samples" || c.Sparse == "both" {
		r.Lambda = sparse
	}
	if !(c.Margin >= 0) || math.IsInf(c.Margin, 0) {
		return r, inputf("-margin %g is not a number from 0 up", c.Margin)
	}
	if !(c.SigmaG > 0) || math.IsInf(c.SigmaG, 0) {
		return r, inputf("-sigma-g %g is not a positive number", c.SigmaG)
	}
	priors := map[string]*mkl.Gamma{"lambda": &r.Lambda, "upsilon": &r.Upsilon, "gamma": &r.Gamma, "omega": &r.Omega, "epsilon": &r.Epsilon}
	for _, s := range c.Prior {
		name, value, _ := strings.Cut(s, "=")
		g, ok := priors[strings.ToLower(strings.TrimSpace(name))]
		if !ok {
			return r, inputf("-prior %s: the priors are lambda, upsilon, gamma, omega and epsilon", s)
		}
		if c.classes() && (g == &r.Upsilon || g == &r.Epsilon) {
			return r, inputf("-prior %s: classifiers have the priors lambda, gamma and omega", s)
		}
		shape, scale, _ := strings.Cut(value, ",")
		var errs [2]error
		g.Shape, errs[0] = strconv.ParseFloat(strings.TrimSpace(shape), 64)
		g.Scale, errs[1] = strconv.ParseFloat(strings.TrimSpace(scale), 64)
		if errs[0] != nil || errs[1] != nil || !(g.Shape > 0 && g.Scale > 0) || math.IsInf(g.Shape, 0) || math.IsInf(g.Scale, 0) {
			return r, inputf("-prior %s: two positive numbers are needed, as in %s=1e-10,1e+10", s, name)
		}
	}
	return r, nil
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
func (c *fitCmd) views(fs *files, main *file, targets []int) ([]view, error) {
	texts := c.View
	if len(texts) == 0 {
		texts = []string{"*"}
	}
	defaults, err := spec.Parse(c.Kernels)
	if err != nil {
		return nil, inputf("-kernels %w", err)
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
		if kernels == nil {
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
func (c *fitCmd) checkMemory(r mkl.Regression, views []view, n, targets int) error {
	limit, whose := c.Memory, "-memory allows"
	if limit == 0 {
		limit, whose = memory.Available(), "the machine has available (-memory overrides)"
	}
	if limit == 0 {
		return nil
	}
	kernels, basis, columns := 0, n, targets
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
	data := 3 * 8 * float64(n) * float64(columns)
	estimate := r.EstimateMemory
	if c.Task == taskShared {
		estimate = mkl.SharedRegression(r).EstimateMemory
	}
	if c.Task == taskMultitask {
		estimate = func(n, _, p, l int) int64 { return c.multiTask(r).EstimateMemory(n, p, l) }
	}
	need := float64(estimate(n, basis, kernels, targets)) + data
	if need > float64(limit) {
		return inputf("a fit of %s with %s needs about %v of memory, more than the %v that %s",
			plural(n, "sample"), plural(kernels, "kernel"), memory.Size(min(need, math.MaxInt64)), limit, whose)
	}
	return nil
}

// build makes the views of the estimator, and the notes on them that a
// prediction needs.
func (c *fitCmd) build(views []view, targets []string) ([]mkl.View, *notes) {
	var all []mkl.View
	n := &notes{Task: c.Task, Targets: targets}
	if c.Task == taskRegression && len(targets) > 1 {
		n.Task = taskMultioutput
	}
	for i, v := range views {
		x := v.source.file.matrix(v.source.columns)
		n.Views = append(n.Views, viewNote{Name: v.name, Columns: v.source.names(), File: v.source.file.path != c.Data})
		for _, k := range v.kernels {
			all = append(all, mkl.View{
				Name: v.name, X: x, Kernel: k.Kernel,
				Standardize: !c.RawColumns && !k.given, Center: k.center, Normalize: k.normalize,
			})
			each := 1 // of the model's kernels
			if c.Task == taskMultitask {
				each = c.latents(len(targets))
			}
			n.ViewOf = append(n.ViewOf, slices.Repeat([]int{i}, each)...)
		}
	}
	return all, n
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
	case *mkl.ClassifierModel[string]:
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
