package mkl

import (
	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// KernelStorage says how a fit holds its kernel matrices. The zero value holds them in memory
// as float64.
//
// Kernels rounded to float32 move predictions by much less than a standard deviation, for all
// arithmetic remains in float64; the model itself is float64 either way. docs/lab/scale.md
// has the figures, under "Exact models in little memory".
type KernelStorage struct {
	// Float32 rounds the kernels to float32 and keeps one triangle of those that are
	// symmetric: a quarter of the memory.
	Float32 bool

	// Directory, if not empty, is where a file of that form takes the place of memory: of 2·P·N²
	// bytes for P kernels of N samples, removed at the end of the fit. Where it does not fit
	// into free memory the fit runs at the speed of the disk. Two matrices of N×N or more
	// remain in memory; see EstimateMemory.
	Directory string
}

// held returns the storage as the kernels' machinery takes it.
func (s KernelStorage) held() gram.Storage {
	return gram.Storage{Float32: s.Float32, Directory: s.Directory}
}
