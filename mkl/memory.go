package mkl

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
)

// unknownMemory replaces the memory of a machine if it cannot be determined.
const unknownMemory = 1 << 40

// memoryLimit returns the number of bytes that the program may use by default.
func memoryLimit() int64 { return min(debug.SetMemoryLimit(-1), machineMemory()) }

// inBytes returns the size of words float64 numbers in bytes. It is at least 0 and at most half of the largest int64,
// which it also returns for NaN.
func inBytes(words float64) int64 {
	const most = math.MaxInt64 / 2
	if !(8*words < most) {
		return most
	}
	return int64(max(8*words, 0))
}

// kernelMemory estimates the bytes of a fit of l functions with sample weights and kernel
// weights.
func (f *fitting) kernelMemory(s FitSize, l int) int64 {
	N, D, P, L, W := float64(s.Samples), float64(s.basis()), float64(s.Kernels), float64(l), float64(f.workers())
	words := f.storage.held().Words(P, D, N)              // kernel matrices
	sweeps := float64(D * D * (1 + float64(2*min(W, L)))) // Gram sum; each worker's factor and its inverse
	end := float64(D * D * (2 + min(2, L)))               // Gram sum, composite kernel, inverse of a factor; for several functions also a factor
	words += max(sweeps, end, float64(2*D*N))             // or, before them, a computed kernel and its distances
	if f.slopes != nil {
		words += float64(3 * D * D) // a covariance, and the kernels and slopes that are multiplied by it
	}
	words += float64(4 * L * P * N)              // intermediate outputs: means, priors, start, last step
	words += float64(6 * L * D)                  // sample weights
	words += float64(9*L*P*P) + float64(W*3*P*N) // sums over samples; scratch
	words += float64(W * (1 << 18))              // packed blocks of products
	return inBytes(words)
}

// MemoryError reports a fit that would need more memory than it may use.
type MemoryError struct {
	Need, Limit int64 // bytes

	// Landmarks is the number of bytes that [LandmarkGP] would need instead of a regression,
	// or [LandmarkClassifier] instead of a classifier. It is 0 if they cannot replace it.
	Landmarks int64

	by   string // the name of the estimator with landmarks
	what string // what needs the memory; empty for a fit

	// Float32 and File are the numbers of bytes with kernels in float32 and in a file, by [Fitting].Storage. They are 0
	// if that is not possible. They may be above the limit too.
	Float32, File int64
}

// Error implements error.
func (e *MemoryError) Error() string {
	text := fmt.Sprintf("mkl: the %s needs about %s of memory and may take %s", cmp.Or(e.what, "fit"), formatBytes(e.Need), formatBytes(e.Limit))
	switch {
	case e.Float32 > 0 && e.Float32 <= e.Limit:
		text += fmt.Sprintf(": Storage in float32 would leave about %s", formatBytes(e.Float32))
	case e.File > 0 && e.File <= e.Limit:
		text += fmt.Sprintf(": Storage in a file would leave about %s", formatBytes(e.File))
	}
	if e.Landmarks > 0 {
		text += fmt.Sprintf(": %s would take about %s, for any number of samples", e.by, formatBytes(e.Landmarks))
	}
	return text
}

func formatBytes(n int64) string {
	const units = "KMGTPE"
	v, unit := float64(n), ""
	for i := 0; v >= 1024 && i < len(units); i++ {
		v, unit = v/1024, units[i:i+1]+"i"
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + unit + "B"
}

// suggestLandmarks adds to a *MemoryError the memory that landmarks would need for a classifier of the given number of
// classes, or for a regression of one target if classes is 0. It adds nothing if they need more.
func suggestLandmarks(err error, f Fitting, views []View, n, classes int) error {
	e, ok := errors.AsType[*MemoryError](err)
	if !ok || slices.ContainsFunc(views, isGiven) || classes > mostLandmarkClasses {
		return err
	}
	s := FitSize{Samples: n, Kernels: len(views), Outputs: classes}
	need, by := LandmarkGP{Fitting: f}.EstimateMemory(s), "LandmarkGP"
	if classes > 0 {
		need, by = LandmarkClassifier[int]{Fitting: f}.EstimateMemory(s), "LandmarkClassifier"
	}
	if need < e.Need {
		e.Landmarks, e.by = need, by
	}
	return err
}
