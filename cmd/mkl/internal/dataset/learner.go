package dataset

import (
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/internal/encode"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Learner says which views an estimator takes.
type Learner struct {
	Chooses    bool // it chooses the kernels of open views itself
	Functions  bool // it takes functions that are known
	RawColumns bool // it sees columns unchanged
}

// KernelViews makes views as package mkl takes them: one for each kernel, or an open view for an estimator that
// chooses kernels. Kernels of categories see the columns that are categories, a linear kernel sees the words of prose, and other kernels
// see the other columns. Open
// views are given kernels, unless the estimator chooses them; left says what was left out.
func KernelViews(features []Features, l Learner) (all []mkl.View, left []string, err error) {
	open := false
	for _, f := range features {
		own, err := f.kernelViews(l)
		if err != nil {
			return nil, nil, err
		}
		all, open = append(all, own...), open || f.Kernels == nil
	}
	if l.Chooses || !open {
		return all, nil, nil
	}
	if all, left, err = mkl.FillViews(0, all); err != nil {
		return nil, nil, console.Input(err)
	}
	return all, left, nil
}

// kernelViews makes the views of one view of the command line.
func (f *Features) kernelViews(l Learner) (all []mkl.View, err error) {
	if f.Strings != nil {
		return f.Strings.views, nil
	}
	if f.Kernels.OfProduct() {
		k, err := f.product(f.Kernels[0])
		if err != nil {
			return nil, err
		}
		return []mkl.View{{Name: f.Name, X: f.X, Input: f.Name, Kernel: k, Standardize: !l.RawColumns && !f.Kernels[0].AsGiven}}, nil
	}
	parts := encode.Divide(f.Plan)
	codes, others := parts.Codes, parts.Others
	whole := codes == nil && parts.Words == nil
	if whole {
		others = nil // all
	}
	if f.Kernels == nil && (whole || others != nil) {
		all = append(all, mkl.View{Name: f.Name, X: f.X, Input: f.Name, Columns: others})
	}
	for _, k := range f.Kernels {
		sees := others
		switch {
		case isFunction(k) && !l.Functions:
			return nil, console.Inputf("view %s: function is for -task multitask", notes.Quoted(f.Name))
		case k.Categories && codes == nil:
			return nil, console.Inputf("view %s: %v is of categories, and no column is text: -as COLUMN=text makes one", notes.Quoted(f.Name), k.Kernel)
		case k.Categories:
			sees = codes
		case isConstant(k):
			sees = nil
		case whole || others != nil:
		case codes != nil && parts.Words == nil:
			return nil, console.Inputf("view %s: all columns are categories, and %v is not of categories", notes.Quoted(f.Name), k.Kernel)
		default:
			continue // of words only, which have a kernel of their own
		}
		all = append(all, mkl.View{
			Name: f.Name, X: f.X, Input: f.Name, Columns: sees, Kernel: k.Kernel,
			Standardize: !l.RawColumns && !k.Given && !k.Ranks && !k.Categories && !k.AsGiven, Ranks: k.Ranks, Center: k.Center, Normalize: k.Normalize,
		})
	}
	if codes != nil && !f.Kernels.ofCategories() {
		all = append(all, mkl.View{Name: f.Name, X: f.X, Input: f.Name, Columns: codes, Kernel: kernel.Categorical{}})
	}
	if parts.Words != nil { // bags are vectors of length 1: the kernel is their cosine
		all = append(all, mkl.View{Name: f.Name, X: f.X, Input: f.Name, Columns: parts.Words, Kernel: kernel.Linear{}})
	}
	return all, nil
}
