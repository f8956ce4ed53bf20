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
// Kernels being those of the member with the most.
func (a Auto) EstimateMemory(s Size) int64 { return a.poolMemory(s, 1) }

// EstimateMemory returns about how many bytes a fit of the given size takes, its
// Outputs being classes and its Kernels those of the member with the most.
func (a AutoClassifier[T]) EstimateMemory(s Size) int64 {
	return Auto{Fitting: a.Fitting, MaxSamples: a.MaxSamples}.poolMemory(s, functions(s.Outputs))
}

// poolMemory estimates what members of l functions take: one of them while it is
// fitted, and of the others the factors that their models keep.
func (a Auto) poolMemory(s Size, l int) int64 {
	most := a.MaxSamples
	if most <= 0 {
		most = DefaultMaxSamples
	}
	s.Samples = min(s.Samples, most)
	N := float64(s.Samples)
	return a.processMemory(s, l) + inBytes(float64(len(autoMembers)-1)*float64(l)*N*N)
}
