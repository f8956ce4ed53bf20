package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// view is a view of the command line: columns, with the kernels that it or -kernels
// names. One without kernels is open: the data suggest them.
type view struct {
	name    string
	source  console.Source
	kernels []spec.ViewKernel

	// These are known once the columns are read.
	plan []plan.Column // of the source's columns
	left []plan.LeftOut
	x    la.Matrix[float64]

	strings *compared // of a view of strings, in place of features
}

// given reports whether the columns are kernels or distances, not features.
func (v *view) given() bool {
	return slices.ContainsFunc(v.kernels, func(k spec.ViewKernel) bool { return k.Given })
}

// ofCategories reports whether a kernel of a view is of categories.
func (v *view) ofCategories() bool {
	return slices.ContainsFunc(v.kernels, func(k spec.ViewKernel) bool { return k.Categories })
}

// categorical reports whether all kernels of a view are of categories, which all its columns then are.
func (v *view) categorical() bool {
	return v.ofCategories() && !slices.ContainsFunc(v.kernels, func(k spec.ViewKernel) bool { return !k.Categories && k.Kernel != mkl.Kernel(mkl.Constant{}) })
}

// codes reports whether columns of text become codes of their categories, for kernels of categories.
func (c *fitCmd) codes(v *view) bool {
	return c.Text == textCategory || v.ofCategories()
}

// width is the number of features, as far as it is known.
func (v *view) width() int {
	if v.plan != nil {
		return plan.Width(v.plan)
	}
	return len(v.source.Columns)
}

// linearFeatures returns how many features the kernels are inner products of, if they are: columns, and ranks
// of columns.
func (v *view) linearFeatures() (n int, ok bool) {
	var columns, ranks int
	for _, k := range v.kernels {
		switch _, linear := k.Kernel.(mkl.Linear); {
		case k.Normalize, !linear && k.Kernel != mkl.Kernel(mkl.Constant{}):
			return 0, false
		case linear && k.Ranks:
			ranks = v.width()
		case linear:
			columns = v.width()
		}
	}
	codes, _ := plan.Coded(v.plan)
	return columns + ranks, v.kernels != nil && codes == nil
}

// features names the features, as far as they are known.
func (v *view) features() []string {
	if v.plan != nil {
		return plan.Features(v.plan)
	}
	return v.source.Names()
}

// open reports whether a view is open.
func open(views []view) bool {
	return slices.ContainsFunc(views, func(v view) bool { return v.kernels == nil })
}

// views finds the views in the files and asks for their columns.
func (c *fitCmd) views(fs *console.Files, main *console.File, targets []int) ([]view, error) {
	texts := c.View
	if len(texts) == 0 {
		texts = []string{"*"}
	}
	var defaults []spec.Kernel
	if c.Kernels != "" {
		var err error
		if defaults, err = spec.Parse(c.Kernels); err != nil {
			return nil, console.Inputf("-kernels %w", err)
		}
	}
	as, err := c.conversions()
	if err != nil {
		return nil, err
	}
	var all []view
	for i, text := range texts {
		fail := func(err error) ([]view, error) { return nil, console.Inputf("-view %s: %w", text, err) }
		parsed, err := spec.ParseView(text)
		if err != nil {
			return nil, console.Inputf("-view %w", err)
		}
		v := view{name: parsed.Name}
		if v.name == "" && len(texts) > 1 {
			v.name = fmt.Sprintf("view%d", i+1)
		}
		if slices.ContainsFunc(all, func(w view) bool { return w.name == v.name }) {
			return nil, console.Inputf("-view: two views are called %q", v.name)
		}
		if v.source, err = fs.Resolve(parsed.Columns, main, targets); err != nil {
			return fail(err)
		}
		kernels := parsed.Kernels
		if kernels == nil {
			kernels = defaults
		}
		for _, k := range kernels {
			vk, err := spec.Build(k)
			if err != nil {
				return fail(err)
			}
			v.kernels = append(v.kernels, vk)
		}
		if err := as.ask(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, as.unused(main, targets)
}

// checkViews refuses views that are not for the estimator.
func (c *fitCmd) checkViews(est *estimator, views []view) error {
	switch {
	case c.Missing == missingViews && open(views):
		return console.Inputf("-missing views needs -kernels or views with kernels")
	case est.kernels() && c.RawColumns && open(views):
		return console.Inputf("-raw-columns needs -kernels or views with kernels: those that the data suggest are of standardised columns")
	case open(views) && est.takes("rule") && (rule(c.Rule) == mkl.FixProd || rule(c.Rule) == mkl.WProd):
		return console.Inputf("-rule %s needs -kernels or views with kernels: products need entries that are not negative, which not all kernels have that the data suggest", c.Rule)
	case est.kernels():
		return nil
	case len(views) > 1:
		return console.Inputf("-model %s has one view, not %d", c.model, len(views))
	case !open(views):
		return console.Inputf("-view %s: -model %s has no kernels", c.View[0], c.model)
	}
	return nil
}

// mklViews makes the views as package mkl takes them, of the columns that were read.
// Columns that are categories are seen by kernels of categories, and the others by the others.
// Views without kernels are given kernels, unless the estimator chooses them itself;
// the notes say what was left out.
func (c *fitCmd) mklViews(est *estimator, views []view) (all []mkl.View, notes []string, err error) {
	for _, v := range views {
		x := v.x
		if v.strings != nil {
			all = append(all, v.strings.views...)
			continue
		}
		codes, others := plan.Coded(v.plan)
		if codes == nil {
			others = nil // all
		}
		if v.kernels == nil && (codes == nil || others != nil) {
			all = append(all, mkl.View{Name: v.name, X: x, Columns: others})
		}
		for _, k := range v.kernels {
			sees := others
			switch {
			case isFunction(k) && est.kind != kindMultiTask:
				return nil, nil, console.Inputf("view %s: function is for -task multitask", quoted(v.name))
			case k.Categories && codes == nil:
				return nil, nil, console.Inputf("view %s: %v is of categories, and no column is text: -as COLUMN=text makes one", quoted(v.name), k.Kernel)
			case k.Categories:
				sees = codes
			case k.Kernel == mkl.Kernel(mkl.Constant{}):
				sees = nil
			case codes != nil && others == nil:
				return nil, nil, console.Inputf("view %s: all columns are categories, and %v is not of categories", quoted(v.name), k.Kernel)
			}
			all = append(all, mkl.View{
				Name: v.name, X: x, Columns: sees, Kernel: k.Kernel,
				Standardize: !c.RawColumns && !k.Given && !k.Ranks && !k.Categories, Ranks: k.Ranks, Center: k.Center, Normalize: k.Normalize,
			})
		}
		if codes != nil && !v.ofCategories() {
			all = append(all, mkl.View{Name: v.name, X: x, Columns: codes, Kernel: mkl.Categorical{}})
		}
	}
	if est.open || !open(views) {
		return all, nil, nil
	}
	if all, notes, err = mkl.FillViews(mkl.Broad, all); err != nil {
		return nil, nil, console.Input(err)
	}
	return all, notes, nil
}

// isFunction reports whether what stands for a kernel is a function that is known.
func isFunction(k spec.ViewKernel) bool { return k.Kernel == mkl.Kernel(mkl.Function{}) }

// count is the number of kernels of the views, or of whatever else the estimator has
// weights of; at most, where the data suggest the kernels.
func (est *estimator) count(views []view) (n int) {
	for _, v := range views {
		columns := v.width()
		if codes, _ := plan.Coded(v.plan); codes != nil && !v.ofCategories() && est.kernels() {
			n++ // the kernel of the categories
		}
		switch {
		case !est.kernels():
			n += columns
		case est.open: // which counts views
			n++
		case v.kernels == nil:
			n += mkl.Broad.MaxKernels(columns)
		default:
			for _, k := range v.kernels {
				if !isFunction(k) {
					n++
				}
			}
		}
	}
	return n
}

// checkMemory refuses a fit to n samples with so many outputs that needs more memory
// than it may take.
func (p *problem) checkMemory(n, outputs int) error {
	limit, whose := p.Memory, "-memory allows"
	if limit == 0 {
		limit, whose = memory.Available(), "the machine has available (-memory overrides)"
	}
	if limit == 0 {
		return nil
	}
	part := p.est.partName()
	if p.est.open {
		part = "view"
	}
	if size, data := p.size(n, outputs); p.need(n, outputs) > float64(limit) {
		return console.Inputf("a fit of %s with %s needs about %v of memory, more than the %v that %s%s",
			console.Plural(n, "sample"), console.Plural(size.Kernels, part), memory.Size(min(p.need(n, outputs), math.MaxInt64)), limit, whose,
			p.smaller(size, data, float64(limit)))
	}
	return nil
}

// outputs is how many functions are learned: one for each target, or for each class.
func (p *problem) outputs(d *data) int { return max(len(p.targets), len(d.classes)) }

// need is about how many bytes a fit takes.
func (p *problem) need(n, outputs int) float64 {
	size, data := p.size(n, outputs)
	return float64(p.memory(size)) + data
}

// size returns the size of a fit, and about how many bytes its tables take.
func (p *problem) size(n, outputs int) (size mkl.Size, data float64) {
	size = mkl.Size{Samples: n, Kernels: p.est.count(p.views), Outputs: outputs}
	columns, linear := 0, true
	for _, v := range p.views {
		switch {
		case v.given():
			size.Basis = v.width()
			columns += size.Basis
		case v.ofStrings():
			columns += n * len(v.kernels)
		default:
			columns += v.width()
		}
		seen, ok := v.linearFeatures()
		size.Features, linear = size.Features+seen, linear && ok
	}
	if size.Features++; !linear {
		size.Features = 0
	}
	// The columns are there as read and as matrices, and the model keeps a copy.
	return size, float64(3 * 8 * float64(n) * float64(columns+outputs))
}

// smaller says which fit of as many samples would take less memory than the limit, if one
// does. Data is the bytes of the tables.
func (p *problem) smaller(size mkl.Size, data, limit float64) string {
	if p.est.takes("store") && p.Store == storeFloat64 {
		rounded := *p.settings
		rounded.fitting.Storage.Float32 = true
		if need := float64(p.est.build(&rounded).memory(size)) + data; need <= limit {
			return fmt.Sprintf(": -store %s takes about %v", storeFloat32, memory.Size(need))
		}
	}
	switch {
	case size.Basis > 0 || data > limit || p.est.model == modelLandmarks:
	case p.est.form == numbers && len(p.targets) == 1:
		if need := float64(mkl.LandmarkGP{}.EstimateMemory(size)) + data; need <= limit {
			return fmt.Sprintf(": -model %s takes about %v, for any number of samples", modelLandmarks, memory.Size(need))
		}
	case p.est.form == classes:
		if need := float64(mkl.LandmarkClassifier[string]{}.EstimateMemory(size)) + data; need <= limit {
			return fmt.Sprintf(": -model %s takes about %v, for any number of samples", modelLandmarks, memory.Size(need))
		}
	}
	return ""
}
