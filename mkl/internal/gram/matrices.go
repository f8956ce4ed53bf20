package gram

import (
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// ErrNoContext reports a nil context. It is returned where a context is first needed, before other
// goroutines get it: nobody could recover from a panic there.
var ErrNoContext = errors.New("mkl: ctx is nil")

// ErrBeyond is the cause of errors about numbers that are too large or too small.
var ErrBeyond = errors.New("the data, their units or the sample are beyond the range of floating-point numbers")

// SampleError is about samples that cannot be predicted. The others can.
type SampleError struct {
	Samples []int  // some of them, ascending
	Of      string // what the first is predicted of, such as "target 0, ", or nothing
	Err     error  // what is wrong with the first
}

// Error implements error.
func (e *SampleError) Error() string {
	return fmt.Sprintf("mkl: %ssample %d: %v", e.Of, e.Samples[0], e.Err)
}

// Unwrap returns what is wrong with the first sample.
func (e *SampleError) Unwrap() error { return e.Err }

// CheckLayout returns an error for a matrix with fewer elements than its shape needs; arg
// names x.
func CheckLayout(arg string, x la.Matrix[float64]) error {
	if !x.Valid() {
		return fmt.Errorf("mkl: %s: a %d×%d matrix of stride %d needs more than its %d elements", arg, x.Rows, x.Cols, x.Stride, len(x.Data))
	}
	return nil
}

// ColumnStats returns each column's mean and standard deviation (with n−1). The
// standard deviation of a constant column is 1.
func ColumnStats(x la.Matrix[float64]) (mean, sd []float64) {
	mean, sd = make([]float64, x.Cols), make([]float64, x.Cols)
	col := make([]float64, x.Rows)
	for j := range mean {
		for i := range col {
			col[i] = x.At(i, j)
		}
		mean[j], sd[j] = vec.MeanSD(col)
		if sd[j] == 0 {
			sd[j] = 1
		}
	}
	return mean, sd
}
