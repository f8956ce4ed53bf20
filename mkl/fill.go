package mkl

import (
	"slices"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// FillViews replaces each view without a Kernel by views with the kernels of a set. Views with a Kernel stay.
// It uses the Name, X, Input and Columns of a view without a Kernel. Each such view gets kernels of its own, but all share one
// constant. A sample may lack views: all its features are then NaN, and the estimator needs MissingViews. The kernels are for
// Gaussian processes: the ARD kernels for [MultiGP] and [MultiGPClassifier] only, all others for every estimator. A prediction
// takes the same matrices in the same order as for the original views.
//
// Kernels that are useless on these samples are left out, and the notes say so in plain words: features with one value,
// kernels so narrow that no two samples are similar, and kernels that equal an earlier one up to a factor and a constant.
// An error names a view whose data are not features.
func FillViews(set KernelSet, views []View) (filled []View, notes []string, err error) {
	if err := checkShared(views); err != nil {
		return nil, nil, err
	}
	var open, all []View
	for _, v := range views {
		if v.Kernel == nil {
			open = append(open, v)
		} else {
			all = append(all, v)
		}
	}
	if open == nil {
		return views, nil, nil
	}
	made, notes, err := defaultViews(set, open...)
	if err != nil {
		return nil, nil, err
	}
	all = append(all, made...)
	same := func(v, w View) bool { return v.Input == w.Input }
	place := func(v View) int {
		return slices.IndexFunc(views, func(w View) bool { return same(v, w) })
	}
	for i, v := range views {
		// A matrix keeps its place among the inputs even if each of its features has one value only.
		if place(v) == i && !slices.ContainsFunc(all, func(w View) bool { return same(v, w) }) {
			all = append(all, View{Name: v.Name, X: v.X, Input: v.Input, Kernel: kernel.Constant{}, from: v.from})
		}
	}
	slices.SortStableFunc(all, func(a, b View) int { return place(a) - place(b) })
	return all, notes, nil
}
