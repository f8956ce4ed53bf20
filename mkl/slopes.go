package mkl

import (
	"errors"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
)

// Slopes are the derivatives of the lower bound of a fit with respect to the logarithms of
// settings: to first order, the number of nats by which the bound rises when a width grows by
// the factor e. They are exact if the ascent has converged.
type Slopes struct {
	Views []WidthSlopes // one for each view

	// With respect to log SigmaG and to Margin, for [Classifier] and [MultiLabel]; 0 for others.
	SigmaG, Margin float64
}

// WidthSlopes are the slopes with respect to the widths of one view's kernel.
type WidthSlopes struct {
	// Widths are the kernel's width or scale, with defaults resolved by the training samples,
	// or its Widths. They are nil for kernels without widths, for views that are
	// centred or normalised, and for widths that [MultiTask] learned itself.
	Widths []float64
	Slopes []float64 // ∂L/∂log of each width
}

// widthSlopes returns the slopes of each view: see lengthSlopes.
func widthSlopes(ds *gram.Design, ks []la.Matrix[float64], of []int, boundGradient func(func(int, la.Matrix[float64])) error) ([]WidthSlopes, error) {
	lengths, slopes, err := ds.LengthSlopes(ks, of, boundGradient)
	if err != nil {
		return nil, err
	}
	out := make([]WidthSlopes, len(lengths))
	for i := range out {
		out[i] = WidthSlopes{lengths[i], slopes[i]}
	}
	return out, nil
}

// tell calls f.slopes, if it is not nil, with the slopes of a fit with the kernels k.
// more completes them and may be nil.
func (f *fitting) tell(ds *gram.Design, k gram.Held, boundGradient func(func(int, la.Matrix[float64])) error, more func(s *Slopes)) error {
	if f.slopes == nil {
		return nil
	}
	if f.missingViews {
		return errors.New("mkl: Slopes: MissingViews leaves no derivatives with respect to the widths")
	}
	dense, ok := k.(*vi.Dense)
	if !ok {
		return errors.New("mkl: Slopes: the derivatives by the widths are those of kernels held as float64 in memory: leave out Storage")
	}
	ks := make([]la.Matrix[float64], len(ds.Views))
	for i := range ks {
		ks[i] = dense.At(i)
	}
	views, err := widthSlopes(ds, ks, vec.UpTo(len(ds.Views)), boundGradient)
	if err != nil {
		return err
	}
	s := Slopes{Views: views}
	if more != nil {
		more(&s)
	}
	f.slopes(s)
	return nil
}
