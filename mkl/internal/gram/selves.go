package gram

import (
	"slices"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// SelfDesign is a design of predictions that are healed.
type SelfDesign struct {
	// design is the model's, with the kernel of each sample with itself as one more
	// column of every precomputed input. Those of the inputs in added do not have it
	// in the model's own design: predictions without it are not healed.
	Design *Design
	Added  []int
}

// NewSelfDesign returns the design of healed predictions by a model with the given design.
func NewSelfDesign(ds *Design) *SelfDesign {
	extended := *ds
	extended.Inputs = slices.Clone(ds.Inputs)
	s := &SelfDesign{Design: &extended}
	for _, v := range ds.Views {
		in := &extended.Inputs[v.Input]
		if _, ok := v.Kernel.(kernel.Precomputed); ok && in.Cols == ds.D {
			in.Cols++
			s.Added = append(s.Added, v.Input)
		}
	}
	return s
}

// Heals reports whether inputs of these numbers of columns have all that healing needs.
func (s *SelfDesign) Heals(inputs int, cols func(i int) int) bool {
	if s == nil {
		return false
	}
	for _, i := range s.Added {
		if i >= inputs || cols(i) != s.Design.Inputs[i].Cols {
			return false
		}
	}
	return true
}
