package vi

import (
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// Compressed are kernels whose samples have been replaced by fewer pseudo-samples by an orthogonal
// change of the samples, which preserves every sum over samples. A model that has no other use for
// samples is the same model on them, provided that it knows how many samples there are and what
// became of the number 1 that stood for each of them. The models
// that know are listed in docs/theory/statistics.md; the others return an error.
type Compressed interface {
	Kernels

	// Ones returns what 1 for every sample has become, a number for each pseudo-sample. The
	// sum over the samples of x is its inner product with x, and its squared length is the
	// number of samples.
	Ones() []float64
}

// NewCompressed returns the kernels k of pseudo-samples, such as a [Dense] or a [Stacked],
// as Compressed. It refers to both arguments and does not copy them. It is an error if their
// sizes differ, if an entry of ones is not finite, or if their squares do not add up to half
// a sample.
func NewCompressed(k Kernels, ones []float64) (Compressed, error) {
	if k == nil {
		return nil, errors.New("vi: kernels: nil")
	}
	if _, _, n := k.Dims(); n != len(ones) {
		return nil, fmt.Errorf("vi: ones: %d values for %d pseudo-samples", len(ones), n)
	}
	if i := check.NonFinite(ones); i >= 0 {
		return nil, fmt.Errorf("vi: ones: value %d is %g", i, ones[i])
	}
	if n := la.SumSq(ones); n < 0.5 {
		return nil, fmt.Errorf("vi: ones: the squares add up to %g samples", n)
	}
	return compressed{k, ones}, nil
}

type compressed struct {
	Kernels
	ones []float64
}

// Ones implements [Compressed].
func (k compressed) Ones() []float64 { return k.ones }

// RefuseCompressed returns an error if k is [Compressed], for models that need the samples
// themselves.
func RefuseCompressed(k Kernels) error {
	if _, is := k.(Compressed); is {
		return errors.New("vi: kernels: of pseudo-samples, where the model needs the samples")
	}
	return nil
}
