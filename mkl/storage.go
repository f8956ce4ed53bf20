package mkl

import (
	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// KernelStorage says how a fit holds its kernel matrices. The zero value holds them in memory
// as float64.
//
// Kernels rounded to float32 move predictions by much less than a standard deviation, because all
// arithmetic remains in float64; the model itself is float64 either way. docs/lab/scale.md
// has the figures, under "Exact models in little memory".
type KernelStorage struct {
	// Float32 rounds the kernels to float32 and keeps one triangle of symmetric
	// ones: a quarter of the memory.
	Float32 bool

	// Directory, if not empty, is the place of a file that replaces memory. The file holds rounded kernels, 2·P·N²
	// bytes for P kernels of N samples, and is removed at the end of the fit. If it does not fit
	// into free memory, the fit runs at the speed of the disk. Two or more N×N matrices
	// remain in memory; see EstimateMemory.
	Directory string
}

// held returns the storage in the form of package gram.
func (s KernelStorage) held() gram.Storage {
	return gram.Storage{Float32: s.Float32, Directory: s.Directory}
}
