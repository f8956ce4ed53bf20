package mgp

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// This file holds the checks of arguments, and the starts, that several fits share.

// checkKernels returns an error unless the kernels are square and of so many targets.
func checkKernels(k vi.Kernels, targets int) error {
	if k == nil {
		return fmt.Errorf("vi: kernels: nil")
	}
	if err := vi.RefuseCompressed(k); err != nil {
		return err
	}
	switch _, D, N := k.Dims(); {
	case D != N:
		return fmt.Errorf("vi: kernels: %d×%d where square ones are needed", D, N)
	case targets != N:
		return fmt.Errorf("vi: y: %d values for %d samples", targets, N)
	}
	return nil
}

// checkTargets returns an error that names the first target that is not finite.
func checkTargets(y []float64) error {
	if i := check.NonFinite(y); i >= 0 {
		return fmt.Errorf("vi: y: value %d is %g", i, y[i])
	}
	return nil
}

// checkLabels reports labels that are not −1 or +1, or all alike.
func checkLabels(t []float64) error {
	var positive int
	for i, v := range t {
		switch v {
		case 1:
			positive++
		case -1:
		default:
			return fmt.Errorf("vi: t: label %d is %g: labels are −1 and +1", i, v)
		}
	}
	if positive == 0 || positive == len(t) {
		return fmt.Errorf("vi: t: all %d labels are alike", len(t))
	}
	return nil
}

// logShare returns the logarithm of the amplitude of a kernel at which its function has the given
// variance, where the kernel has this mean on its diagonal.
func logShare(variance, diagonal float64) float64 {
	x := special.Log(variance)
	if diagonal > 0 {
		x -= special.Log(diagonal)
	}
	return x
}

// takeGamma sets x, the logarithms of the amplitudes 1/γ_p, from the γ of a start, if it has any.
func takeGamma(gamma, x []float64) error {
	for p, g := range gamma {
		if !check.Positive(g) {
			return fmt.Errorf("vi: Start.Gamma[%d] is %g", p, g)
		}
		x[p] = -special.Log(g)
	}
	return nil
}
