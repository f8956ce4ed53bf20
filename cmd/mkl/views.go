package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// view is a view of the command line: columns, with one or more kernels, or with none
// for an estimator without.
type view struct {
	name    string
	source  console.Source
	kernels []spec.ViewKernel
}

// views finds the views in the files and asks for their columns.
func (c *fitCmd) views(est *estimator, fs *console.Files, main *console.File, targets []int) ([]view, error) {
	texts := c.View
	if len(texts) == 0 {
		texts = []string{"*"}
	}
	defaults, err := spec.Parse(c.Kernels)
	if err != nil {
		return nil, console.Inputf("-kernels %w", err)
	}
	if !est.kernels() {
		defaults = nil
		if len(texts) > 1 {
			return nil, console.Inputf("-model %s has one view, not %d", c.Model, len(texts))
		}
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
		switch {
		case kernels == nil:
			kernels = defaults
		case !est.kernels():
			return fail(fmt.Errorf("-model %s has no kernels", c.Model))
		}
		for _, k := range kernels {
			vk, err := spec.Build(k)
			if err != nil {
				return fail(err)
			}
			v.kernels = append(v.kernels, vk)
		}
		for _, j := range v.source.Columns {
			v.source.File.Need(j, table.Number)
		}
		all = append(all, v)
	}
	return all, nil
}

// mklViews makes the views as package mkl takes them, of the columns that were read.
func (c *fitCmd) mklViews(views []view) []mkl.View {
	var all []mkl.View
	for _, v := range views {
		x := v.source.Matrix()
		for _, k := range v.kernels {
			all = append(all, mkl.View{
				Name: v.name, X: x, Kernel: k.Kernel,
				Standardize: !c.RawColumns && !k.Given && !k.Ranks, Ranks: k.Ranks, Center: k.Center, Normalize: k.Normalize,
			})
		}
	}
	return all
}

// count is the number of kernels of the views, or of whatever else the estimator has
// weights of.
func (est *estimator) count(views []view) (n int) {
	for _, v := range views {
		if est.kernels() {
			n += len(v.kernels)
		} else {
			n += len(v.source.Columns)
		}
	}
	return n
}

// checkMemory refuses a fit to n samples with so many outputs that needs more memory
// than it may take. need is the estimator's own estimate.
func (c *fitCmd) checkMemory(est *estimator, need func(mkl.Size) int64, views []view, n, outputs int) error {
	limit, whose := c.Memory, "-memory allows"
	if limit == 0 {
		limit, whose = memory.Available(), "the machine has available (-memory overrides)"
	}
	if limit == 0 {
		return nil
	}
	size := mkl.Size{Samples: n, Kernels: est.count(views), Outputs: outputs}
	columns := 0
	for _, v := range views {
		columns += len(v.source.Columns)
		for _, k := range v.kernels {
			if k.Given {
				size.Basis = len(v.source.Columns)
			}
		}
	}
	// The columns are there as read and as matrices, and the model keeps a copy.
	data := 3 * 8 * float64(n) * float64(columns+outputs)
	if total := float64(need(size)) + data; total > float64(limit) {
		return console.Inputf("a fit of %s with %s needs about %v of memory, more than the %v that %s",
			console.Plural(n, "sample"), console.Plural(size.Kernels, est.partName()), memory.Size(min(total, math.MaxInt64)), limit, whose)
	}
	return nil
}
