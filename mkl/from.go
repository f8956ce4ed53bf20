package mkl

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// checkFrom returns an error if a fit cannot continue from model: with Restarts, or if the numbers of outputs, kernels
// and samples differ. what names the outputs; outputs belongs to the model, wanted and ds to the fit.
func checkFrom(f *fitting, model *gram.Design, what string, outputs int, ds *gram.Design, wanted int) error {
	return checkShape(f, "%d "+what+", %d kernels and %d samples where there are %d, %d and %d",
		outputs, len(model.Views), model.D, wanted, len(ds.Views), ds.D)
}

// checkShape is checkFrom for any numbers: the model's numbers first, then the fit's.
func checkShape(f *fitting, format string, numbers ...any) error {
	if f.Restarts > 0 {
		return fmt.Errorf("mkl: Restarts is %d: with From there is one start", f.Restarts)
	}
	if n := len(numbers) / 2; !slices.Equal(numbers[:n], numbers[n:]) {
		return fmt.Errorf("mkl: From: "+format, numbers...)
	}
	return nil
}
