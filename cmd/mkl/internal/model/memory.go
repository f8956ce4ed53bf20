package model

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/mkl"
)

// count is the number of kernels of views, or of features of an estimator without kernels; at most, where the data
// suggest the kernels. An estimator that chooses kernels counts views.
func (est *Estimator) count(shapes []dataset.Shape) (n int) {
	set, open := mkl.KernelsBroad, 0
	for _, s := range shapes {
		if s.Kernels == nil && !s.Coded && !s.Worded { // codes and words have kernels of their own, and may be all columns of a view
			open++
		}
	}
	if open > 1 {
		set = mkl.KernelsOfView
	}
	for _, s := range shapes {
		if est.Kernels() {
			n += s.OwnKernels()
		}
		switch {
		case !est.Kernels():
			n += s.Width
		case est.Open:
			n++
		case s.Kernels == nil:
			n += set.MaxKernels(s.Width)
		default:
			n += s.Count()
		}
	}
	return n
}

// size returns the size of a fit, and about how many bytes its tables take.
func (r *Request) size(shapes []dataset.Shape, n, outputs int) (size mkl.FitSize, data float64) {
	size = mkl.FitSize{Samples: n, Kernels: r.count(shapes), Views: len(shapes), Outputs: outputs}
	columns, linear := 0, true
	for _, s := range shapes {
		switch {
		case s.Kernels.Given():
			size.Basis = s.Width
			columns += s.Width
		case s.Kernels.OfStrings():
			columns += n * len(s.Kernels)
		default:
			columns += s.Width
			if s.Kernels == nil {
				size.Columns = max(size.Columns, s.Width)
			}
		}
		seen, ok := s.LinearFeatures()
		size.LinearColumns, linear = size.LinearColumns+seen, linear && ok
	}
	if !linear {
		size.LinearColumns = 0
	}
	// The columns are there as read and as matrices, and the model keeps a copy.
	return size, float64(3 * 8 * float64(n) * float64(columns+outputs))
}

// Need is about how many bytes a fit to n samples with so many outputs takes.
func (r *Request) Need(shapes []dataset.Shape, n, outputs int) float64 {
	size, data := r.size(shapes, n, outputs)
	return r.needOf(size) + data
}

// needOf is about how many bytes the estimator takes.
func (r *Request) needOf(size mkl.FitSize) float64 {
	return float64(r.fitter(r.fitting(Run{}, false)).Memory(size))
}

// CheckMemory refuses a fit to n samples with so many outputs that needs more memory than the flag -memory allows,
// or than the machine has available.
func (r *Request) CheckMemory(flag memory.Size, shapes []dataset.Shape, n, outputs int) error {
	size, data := r.size(shapes, n, outputs)
	part := r.Part
	if r.Open {
		part = "view"
	}
	what := fmt.Sprintf("a fit of %s with %s", console.Plural(n, "sample"), console.Plural(size.Kernels, part))
	return console.Input(memory.Refuse(flag, what, r.needOf(size)+data, func(limit float64) string { return r.smaller(size, data, limit) }))
}

// smaller says which fit to as many samples would take less memory than the limit, if one does. data is the bytes of
// the tables.
func (r *Request) smaller(size mkl.FitSize, data, limit float64) string {
	if r.Takes("store") && r.storage == (mkl.KernelStorage{}) {
		rounded := *r
		rounded.storage.Float32 = true
		if need := rounded.needOf(size) + data; need <= limit {
			return fmt.Sprintf(": -store %s takes about %v", storeFloat32, memory.Size(need))
		}
	}
	need := math.Inf(1)
	switch {
	case size.Basis > 0 || data > limit || r.Model == LandmarksModel:
	case r.Form == dataset.Numbers && size.Outputs == 1:
		need = float64(mkl.LandmarkGP{}.EstimateMemory(size)) + data
	case r.Form == dataset.Classes:
		need = float64(mkl.LandmarkClassifier[string]{}.EstimateMemory(size)) + data
	}
	if need > limit {
		return ""
	}
	return fmt.Sprintf(": -model %s takes about %v, for any number of samples", LandmarksModel, memory.Size(need))
}
