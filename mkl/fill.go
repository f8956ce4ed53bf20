package mkl

import "slices"

// FillViews returns the views with the kernels of a set, as [DefaultViews] gives them,
// in place of those that have no Kernel. Views with one stay as they are. A prediction
// takes the same matrices in the same order as of the views given. Errors and notes are
// those of DefaultViews.
func FillViews(set KernelSet, views []View) (filled []View, notes []string, err error) {
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
	made, notes, err := DefaultViews(set, open...)
	if err != nil {
		return nil, nil, err
	}
	all = append(all, made...)
	same := func(v, w View) bool { return sameMatrix(v.X, w.X) && isGiven(v) == isGiven(w) }
	place := func(v View) int {
		return slices.IndexFunc(views, func(w View) bool { return same(v, w) })
	}
	for i, v := range views {
		// A matrix all of whose features have one value still has its place.
		if place(v) == i && !slices.ContainsFunc(all, func(w View) bool { return same(v, w) }) {
			all = append(all, View{Name: v.Name, X: v.X, Kernel: Constant{}, from: v.from})
		}
	}
	slices.SortStableFunc(all, func(a, b View) int { return place(a) - place(b) })
	return all, notes, nil
}
