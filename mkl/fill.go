package mkl

import (
	"slices"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// FillViews returns the views with the kernels of a set instead of each view without a Kernel. Views with a Kernel stay.
// Of a view without a Kernel its Name, X, Input and Columns count. It gets kernels of its own, but there is one constant
// in all. The kernels are for Gaussian processes: ARD kernels for [MultiGP] and [MultiGPClassifier] only, all others for
// every estimator. A prediction takes the same matrices in the same order as of the views given.
//
// Kernels that are of no use on these samples are left out, and the notes say so in plain words: features of one value,
// kernels so narrow that no two samples are similar, and kernels that equal an earlier one up to a factor and a constant.
// An error names a view whose data are no features.
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
		// A matrix all of whose features have one value still has its place.
		if place(v) == i && !slices.ContainsFunc(all, func(w View) bool { return same(v, w) }) {
			all = append(all, View{Name: v.Name, X: v.X, Input: v.Input, Kernel: kernel.Constant{}, from: v.from})
		}
	}
	slices.SortStableFunc(all, func(a, b View) int { return place(a) - place(b) })
	return all, notes, nil
}
