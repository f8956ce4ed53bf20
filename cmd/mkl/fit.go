package main

import (
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
	Target  string   `required:"" placeholder:"COLUMNS" help:"Columns to learn: a name, #position or pattern, or several with commas between."`
	View    []string `sep:"none" placeholder:"NAME=COLUMNS:KERNELS" help:"A view of the samples; can be repeated. Without one, all columns that are not targets."`
	Kernels string   `default:"${kernels}" placeholder:"KERNELS" help:"Kernels of views that name none (${default})."`
	Output  string   `short:"o" placeholder:"FILE" help:"Model file to write."`

	Sparse string   `enum:"none,kernels,samples,both" default:"none" help:"What to make sparse by Gamma(1e-10,1e+10) priors on weights: none, kernels, samples or both."`
	Prior  []string `sep:"none" placeholder:"NAME=SHAPE,SCALE" help:"Gamma prior of lambda, upsilon, gamma, omega or epsilon; can be repeated (1,1)."`

	RawColumns      bool `help:"Leave columns as they are; by default each is given mean 0 and standard deviation 1."`
	RawTargets      bool `help:"Leave targets as they are; by default each is given mean 0 and standard deviation 1 for the fit."`
	Missing         bool `help:"Accept empty cells, NA and NaN in targets: missing values."`
	AllowDuplicates bool `help:"Accept kernels that are the same matrix."`

	Seed      uint64  `default:"1" help:"Seed of the random start (${default})."`
	Restarts  int     `help:"Further random starts; the one with the highest bound is kept."`
	Sweeps    int     `help:"Most sweeps of a start; 0 means 10000."`
	Tolerance float64 `help:"Relative rise of the bound that counts as none; 0 means 1e-6."`
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
	if err := c.checkMemory(r, views, n, len(targets)); err != nil {
		return err
	}

	var y [][]float64
	var names []string
	for _, j := range targets {
		y = append(y, main.data.Numbers[j])
		names = append(names, main.Columns()[j])
	}
	inputs, notes := c.build(views, names)
	if r.Notes, err = notes.encode(); err != nil {
		return err
	}
	model, err := fitWithProgress(e, c.JSON, r, inputs, y...)
	if err != nil {
		return err
	}
	rep := newReport(model, names)
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
	fmt.Fprintf(e.stdout, "%s: %s, %s in %s, %s\n", main.Name(), plural(n, "sample"), plural(len(inputs), "kernel"), plural(len(views), "view"), targetList(names))
	if err := rep.print(e.stdout); err != nil {
		return err
	}
	if c.Output != "" {
		fmt.Fprintf(e.stdout, "\nmodel: %s\n", c.Output)
	}
	return nil
}

func targetList(names []string) string {
	if len(names) == 1 {
		return "target " + names[0]
	}
	if len(names) > 5 {
		return plural(len(names), "target")
	}
	return "targets " + strings.Join(names, ", ")
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
	}{{"restarts", c.Restarts}, {"sweeps", c.Sweeps}, {"workers", c.Workers}} {
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
	priors := map[string]*mkl.Gamma{"lambda": &r.Lambda, "upsilon": &r.Upsilon, "gamma": &r.Gamma, "omega": &r.Omega, "epsilon": &r.Epsilon}
	for _, s := range c.Prior {
		name, value, _ := strings.Cut(s, "=")
		g, ok := priors[strings.ToLower(strings.TrimSpace(name))]
		if !ok {
			return r, inputf("-prior %s: the priors are lambda, upsilon, gamma, omega and epsilon", s)
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
	kind := table.Number
	if c.Missing {
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
	need := float64(r.EstimateMemory(n, basis, kernels, targets)) + data
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
	n := &notes{Targets: targets}
	for i, v := range views {
		x := v.source.file.matrix(v.source.columns)
		n.Views = append(n.Views, viewNote{Name: v.name, Columns: v.source.names(), File: v.source.file.path != c.Data})
		for _, k := range v.kernels {
			all = append(all, mkl.View{
				Name: v.name, X: x, Kernel: k.Kernel,
				Standardize: !c.RawColumns && !k.given, Center: k.center, Normalize: k.normalize,
			})
			n.ViewOf = append(n.ViewOf, i)
		}
	}
	return all, n
}

// notes is what the command keeps with a model of where its data were.
type notes struct {
	Targets []string   `json:"targets"`
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
func notesOf(m *mkl.RegressionModel) *notes {
	n := &notes{}
	kernels, inputs := len(m.KernelWeights()), m.Inputs()
	if text, ok := m.Notes()[notesKey]; ok && json.Unmarshal([]byte(text), n) == nil && n.fits(kernels, m.Targets()) {
		return n
	}
	n = &notes{ViewOf: make([]int, kernels)}
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
	for o := range m.Targets() {
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
