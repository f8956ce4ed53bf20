package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// This file holds what becomes of samples that lack a view, [Fitting].MissingViews. What such
// a sample would show there is unknown, and drawn like what the samples that have the view
// show. Its kernels are then the expected ones: with another sample the mean of that sample's
// kernels with all that have the view, with another one that lacks it the mean over all pairs,
// and with itself the mean of theirs with themselves. These matrices are expectations of kernel
// matrices, and so are positive semidefinite. Models of weighted kernels see in its kernel with
// itself the mean over all pairs as well. docs/missing-views.md derives what follows.

// lacks reports whether a sample lacks its view: whether all its features are NaN.
func lacks(x []float64) bool {
	for _, v := range x {
		if !math.IsNaN(v) {
			return false
		}
	}
	return len(x) > 0
}

// checkPresent reports the first NaN or infinity in x but for samples that lack the view, if
// they may.
func (in *input) checkPresent(arg string, x Features) error {
	for i := range x.Rows {
		if j := firstNonFinite(x.Row(i)); j >= 0 && !(in.gaps && lacks(x.Row(i))) {
			return &ValueError{Arg: arg, Row: i, Col: j, Value: x.At(i, j)}
		}
	}
	return nil
}

// take makes a copy of x the basis, 0 for the samples that lack the view. Two samples must have it.
func (in *input) take(label string, x Features) error {
	in.basis, in.lacking = in.whole(x)
	if in.lacking == nil {
		in.basis = x.Clone()
		return nil
	}
	if present := x.Rows - count(in.lacking); present < 2 {
		return fmt.Errorf("mkl: %s: %d of %d samples have the view where at least 2 are needed", label, present, x.Rows)
	}
	return nil
}

// whole returns x with 0 for the samples that lack the view, and which they are; x itself and
// nil if none does.
func (in *input) whole(x Features) (Features, []bool) {
	if !in.gaps {
		return x, nil
	}
	var lacking []bool
	z := x
	for i := range x.Rows {
		if !lacks(x.Row(i)) {
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

// count returns how many are true.
func count(is []bool) (n int) {
	for _, v := range is {
		if v {
			n++
		}
	}
	return n
}

// present returns the rows of the basis points, or of what kernels see of them, that have the
// view.
func (in *input) present(basis Features) Features {
	if in.lacking == nil {
		return basis
	}
	x, n := la.NewMatrix[float64](basis.Rows-count(in.lacking), basis.Cols), 0
	for i, missing := range in.lacking {
		if !missing {
			copy(x.Row(n), basis.Row(i))
			n++
		}
	}
	return x
}

// expect fills in the training kernel k of a view where samples lack it, and keeps what they
// have in their place.
func (v *boundView) expect(k la.Matrix[float64], lacking []bool) {
	if lacking == nil {
		lacking = make([]bool, k.Rows)
	}
	n := float64(k.Rows - count(lacking))
	v.expected, v.expectedSelf = make([]float64, k.Rows), 0
	var all float64
	for d, missing := range lacking {
		if missing {
			continue
		}
		v.expected[d] = meanPresent(k.Row(d), lacking)
		all += v.expected[d] / n
		v.expectedSelf += k.At(d, d) / n
	}
	for d, missing := range lacking {
		if missing {
			v.expected[d] = all
		}
	}
	for d, missing := range lacking {
		row := k.Row(d)
		if missing {
			copy(row, v.expected)
			row[d] = v.expectedSelf
			continue
		}
		for s, other := range lacking {
			if other {
				row[s] = v.expected[d]
			}
		}
	}
}

// forget takes from the training kernels k what a sample that lacks a view shows of itself
// there: its kernels become those of a new sample that lacks it. Weights of samples would else
// learn its target by its kernel with itself.
func (v *boundView) forget(k la.Matrix[float64], lacking []bool) {
	if lacking == nil {
		return
	}
	column := slices.Clone(v.expected)
	v.adjust(column, total(column)/float64(len(column)), v.expectedSelf)
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

// fillPoint fills in the kernels k of one sample with all basis points: all of them if it
// lacks the view, else those with basis points that do.
func (v *boundView) fillPoint(k []float64, lacking []bool, absent bool) {
	if absent {
		copy(k, v.expected)
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
func (v *boundView) fillCross(k la.Matrix[float64], lacking, absent []bool) {
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

// numbers returns 1 for true and 0 for false.
func numbers(is []bool) []float64 {
	x := make([]float64, len(is))
	for i, v := range is {
		if v {
			x[i] = 1
		}
	}
	return x
}

// takeLacking takes which of d basis points lack a view: some, and two do not.
func (f *fileReader) takeLacking(name string, d int) ([]bool, error) {
	x := f.take(name, d)
	if f.err != nil {
		return nil, f.err
	}
	is := make([]bool, d)
	for i, v := range x {
		if v != 0 && v != 1 {
			return nil, fmt.Errorf("tensor %q: entry %d is %g", name, i, v)
		}
		is[i] = v == 1
	}
	if n := count(is); n == 0 || d-n < 2 {
		return nil, fmt.Errorf("tensor %q: %d of %d basis points lack the view", name, n, d)
	}
	return is, nil
}

// refuseMissingViews reports a setting that the estimator does not have.
func (f *Fitting) refuseMissingViews(estimator string) error {
	if f.MissingViews {
		return fmt.Errorf("mkl: MissingViews is not for %s", estimator)
	}
	return nil
}
