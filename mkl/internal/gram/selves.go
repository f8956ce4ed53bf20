package gram

import (
	"slices"

	"github.com/bmkl/bmkl/mkl/kernel"
)

// SelfDesign is the design for predictions that are healed.
type SelfDesign struct {
	// Design is the model's design in which every precomputed input has one more column, with the
	// kernel of each sample with itself. Added lists the inputs that do not have this column in
	// the model's own design: predictions without it are not healed.
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

// Heals reports whether inputs with these numbers of columns have all that healing needs.
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
