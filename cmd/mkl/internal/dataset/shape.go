package dataset

import (
	"github.com/bmkl/bmkl/internal/encode"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Shape is the size of a view, as far as the command knows it. Before the columns are read, each counts as one feature.
type Shape struct {
	Kernels Kernels
	Width   int  // features, or columns of a kernel that is given
	Coded   bool // some features are codes of categories
	Worded  bool // some features are bags of words
}

// Shape is the shape of a view whose columns are not read.
func (v View) Shape() Shape { return Shape{Kernels: v.Kernels, Width: len(v.Source.Columns)} }

// Shape is the shape of a view whose columns are read.
func (f Features) Shape() Shape {
	s := f.View.Shape()
	if f.Plan != nil {
		parts := encode.Divide(f.Plan)
		s.Width, s.Coded, s.Worded = encode.Width(f.Plan), parts.Codes != nil, parts.Words != nil
	}
	return s
}

// Shapes are the shapes of views whose columns are not read.
func (o *Opened) Shapes() (all []Shape) {
	for _, v := range o.Views {
		all = append(all, v.Shape())
	}
	return all
}

// Shapes are the shapes of the views.
func (s *Samples) Shapes() (all []Shape) {
	for _, f := range s.Features {
		all = append(all, f.Shape())
	}
	return all
}

// OwnKernels counts the kernels that the categories and the words of the view get and the command line does not name.
func (s Shape) OwnKernels() (n int) {
	if s.Coded && !s.Kernels.ofCategories() {
		n++
	}
	if s.Worded {
		n++
	}
	return n
}

// Count is the number of kernels, without functions that are known.
func (s Shape) Count() (n int) {
	for _, k := range s.Kernels {
		if !isFunction(k) {
			n++
		}
	}
	return n
}

// LinearFeatures returns how many features the kernels are inner products of, if they are: columns, and ranks of
// columns.
func (s Shape) LinearFeatures() (n int, ok bool) {
	var columns, ranks int
	for _, k := range s.Kernels {
		switch _, linear := k.Kernel.(kernel.Linear); {
		case k.Normalize, !linear && !isConstant(k):
			return 0, false
		case linear && k.Ranks:
			ranks = s.Width
		case linear:
			columns = s.Width
		}
	}
	return columns + ranks, s.Kernels != nil && !s.Coded && !s.Worded
}
