package gram

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// This file handles samples that lack a view: [Fitting].MissingViews. The view of such
// a sample is unknown, and assumed to be distributed like the view of the samples that have it.
// Its kernels are expectations: with another sample, the mean of that
// sample's kernels with all samples that have the view; with another sample that lacks the view, the mean over all pairs;
// with itself, the mean of their kernels with themselves. These matrices are expectations of kernel
// matrices, and so are positive semidefinite. Models of weighted kernels use the mean over all pairs for its kernel with
// itself as well. docs/theory/missing-views.md derives this.

// Lacks reports whether a sample lacks its view: whether all its features are NaN.
func Lacks(x []float64) bool {
	for _, v := range x {
		if !math.IsNaN(v) {
			return false
		}
	}
	return len(x) > 0
}

// take sets the basis to a copy of x with 0 for the samples that lack the view. At least two samples must have it.
func (in *Input) take(label string, x la.Matrix[float64]) error {
	in.Basis, in.Lacking = in.whole(x)
	if in.Lacking == nil {
		in.Basis = x.Clone()
		return nil
	}
	if present := x.Rows - vec.Count(in.Lacking); present < 2 {
		return fmt.Errorf("mkl: %s: %d of %d samples have the view where at least 2 are needed", label, present, x.Rows)
	}
	return nil
}

// whole returns x with 0 for the samples that lack the view, and a flag for each sample that lacks it. If none does it
// returns x itself and nil.
func (in *Input) whole(x la.Matrix[float64]) (la.Matrix[float64], []bool) {
	if !in.Gaps {
		return x, nil
	}
	var lacking []bool
	z := x
	for i := range x.Rows {
		if !Lacks(x.Row(i)) {
			continue
		}
		if lacking == nil {
			z, lacking = x.Clone(), make([]bool, x.Rows)
		}
		lacking[i] = true
		clear(z.Row(i))
	}
	return z, lacking
}

// Present returns the rows of basis whose basis points have the view. basis holds a row for each basis point, such as
// the features that a kernel sees.
func (in *Input) Present(basis la.Matrix[float64]) la.Matrix[float64] {
	if in.Lacking == nil {
		return basis
	}
	x, n := la.NewMatrix[float64](basis.Rows-vec.Count(in.Lacking), basis.Cols), 0
	for i, missing := range in.Lacking {
		if !missing {
			copy(x.Row(n), basis.Row(i))
			n++
		}
	}
	return x
}

// expect fills in the training kernel k of a view where samples lack it, and keeps the values for
// later samples that lack it.
func (v *Bound) expect(k la.Matrix[float64], lacking []bool) {
	if lacking == nil {
		lacking = make([]bool, k.Rows)
	}
	n := float64(k.Rows - vec.Count(lacking))
	v.Expected, v.ExpectedSelf = make([]float64, k.Rows), 0
	var all float64
	for d, missing := range lacking {
		if missing {
			continue
		}
		v.Expected[d] = meanPresent(k.Row(d), lacking)
		all += v.Expected[d] / n
		v.ExpectedSelf += k.At(d, d) / n
	}
	for d, missing := range lacking {
		if missing {
			v.Expected[d] = all
		}
	}
	for d, missing := range lacking {
		row := k.Row(d)
		if missing {
			copy(row, v.Expected)
			row[d] = v.ExpectedSelf
			continue
		}
		for s, other := range lacking {
			if other {
				row[s] = v.Expected[d]
			}
		}
	}
}

// Forget replaces in the training kernels k, of each sample that lacks the view, its kernels by the kernels of a new
// sample that lacks the view. Otherwise the kernel of such a sample with itself would stand out,
// and weights of samples could learn its target from it.
func (v *Bound) Forget(k la.Matrix[float64], lacking []bool) {
	if lacking == nil {
		return
	}
	column := slices.Clone(v.Expected)
	v.adjust(column, vec.Total(column)/float64(len(column)), v.ExpectedSelf)
	for d, missing := range lacking {
		if missing {
			copy(k.Row(d), column)
		}
	}
	for d := range column {
		for s, missing := range lacking {
			if missing {
				k.Set(d, s, column[d])
			}
		}
	}
}

// meanPresent returns the mean of the kernels with the basis points that have the view.
func meanPresent(k []float64, lacking []bool) float64 {
	var sum, n float64
	for d, missing := range lacking {
		if !missing {
			sum, n = sum+k[d], n+1
		}
	}
	return sum / n
}

// fillPoint fills in the kernels k of one sample with the basis points. If the sample lacks the
// view (absent) it fills in all of them, else the kernels with the basis points that lack it.
func (v *Bound) fillPoint(k []float64, lacking []bool, absent bool) {
	if absent {
		copy(k, v.Expected)
		return
	}
	if lacking == nil {
		return
	}
	mean := meanPresent(k, lacking)
	for d, missing := range lacking {
		if missing {
			k[d] = mean
		}
	}
}

// fillCross is fillPoint for the samples in the columns of k.
func (v *Bound) fillCross(k la.Matrix[float64], lacking, absent []bool) {
	if lacking == nil && absent == nil {
		return
	}
	column := make([]float64, k.Rows)
	for t := range k.Cols {
		if lacking == nil && !absent[t] {
			continue
		}
		for d := range column {
			column[d] = k.At(d, t)
		}
		v.fillPoint(column, lacking, absent != nil && absent[t])
		for d, value := range column {
			k.Set(d, t, value)
		}
	}
}
