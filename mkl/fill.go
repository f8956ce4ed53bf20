package mkl

// FillViews returns the views with the kernels of a set, as [DefaultViews] gives them,
// in place of those that have no Kernel. Views with one stay as they are. A prediction
// takes the same matrices in the same order as of the views given. Errors and notes are
// those of DefaultViews.
func FillViews(set KernelSet, views []View) (filled []View, notes []string, err error) {
	for _, v := range views {
		if v.Kernel == nil {
			return autoViews(set, views)
		}
	}
	return views, nil, nil
}

// Most returns the most kernels that [DefaultViews] gives an input of so many columns.
func (set KernelSet) Most(columns int) int {
	if set == 0 {
		set = Broad
	}
	n := 2 // constant and linear
	if set&Broad != 0 {
		n += 12
	}
	if set&ARDRBF != 0 {
		n++
	}
	if set&ARDRanks != 0 {
		n++
	}
	switch {
	case set&Additive == 0:
	case columns <= mostAlone:
		n += columns
	default:
		n += additiveGroups
	}
	return n
}

// EstimateMemory returns about how many bytes a fit of the given size takes, its
// Kernels being views without a kernel and its Outputs classes.
func (a AutoClassifier[T]) EstimateMemory(s Size) int64 {
	return autoMemory(&a.Fitting, s, a.MaxSamples, functions(s.Outputs))
}
