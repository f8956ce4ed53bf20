package mkl

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// errNoContext reports a nil context. It is told where a context is first needed, before
// other goroutines, in which nobody could recover from a panic, have it.
var errNoContext = errors.New("mkl: ctx is nil")

// ValueError reports a NaN or an infinity in an argument. Indices count from 0.
type ValueError struct {
	Arg      string  // the argument, such as views[2].X
	Row, Col int     // its place; for a slice Row is the index and Col is −1
	Value    float64 // the NaN or infinity
}

// Error implements error.
func (e *ValueError) Error() string {
	place := "[" + strconv.Itoa(e.Row) + "]"
	if e.Col >= 0 {
		place += "[" + strconv.Itoa(e.Col) + "]"
	}
	return fmt.Sprintf("mkl: %s%s is %g", e.Arg, place, e.Value)
}

// DuplicateError reports two views with the same kernel matrix: nothing in the
// data tells their weights apart.
type DuplicateError struct {
	First, Second int // indices of the views
	names         [2]string
}

// Error implements error.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("mkl: views[%d] (%s) and views[%d] (%s) have the same kernel matrix: remove one or set AllowDuplicates",
		e.First, e.names[0], e.Second, e.names[1])
}

// MemoryError reports a fit that would take more memory than it may.
type MemoryError struct {
	Need, Limit int64 // bytes

	// Landmarks is the number of bytes that [LandmarkGP] would take in place of a regression,
	// or [LandmarkClassifier] in place of a classifier; 0 where they cannot stand in.
	Landmarks int64

	by   string // which of them
	what string // what takes it, empty for a fit

	// Float32 and File are the bytes with kernels in float32 and in a file, by [Fitting].Storage; 0
	// where that is no choice. Neither need be within the limit.
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

// suggestLandmarks adds to an error of memory what landmarks would cost a regression of one
// target, or a classifier of so many classes, 0 standing for the former, if they would cost less.
func suggestLandmarks(err error, f Fitting, views []View, n, classes int) error {
	e, ok := errors.AsType[*MemoryError](err)
	if !ok || slices.ContainsFunc(views, isGiven) || classes > mostLandmarkClasses {
		return err
	}
	s := Size{Samples: n, Kernels: len(views), Outputs: classes}
	need, by := LandmarkGP{Fitting: f}.EstimateMemory(s), "LandmarkGP"
	if classes > 0 {
		need, by = LandmarkClassifier[int]{Fitting: f}.EstimateMemory(s), "LandmarkClassifier"
	}
	if need < e.Need {
		e.Landmarks, e.by = need, by
	}
	return err
}

// KindError reports a file that holds something else than what was to be loaded.
type KindError struct {
	Kind string // of the file
	Want string // what was to be loaded
}

// Error implements error.
func (e *KindError) Error() string { return fmt.Sprintf("the file holds %q, not %q", e.Kind, e.Want) }

func formatBytes(n int64) string {
	const units = "KMGTPE"
	v, unit := float64(n), ""
	for i := 0; v >= 1024 && i < len(units); i++ {
		v, unit = v/1024, units[i:i+1]+"i"
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + unit + "B"
}

// CollapsedError reports a fit, or the best of several, that ended where all
// weights vanish and every prediction is the mean of the targets. That is the
// right answer if the views say nothing about the targets, and a poor local
// optimum otherwise: more Restarts may then do better. The fit is returned beside
// the error as well. [Regression],
// [SharedRegression], [Classifier], [MultiLabel], [MultiTask], [PairRegression] and
// [PairClassifier] return it.
type CollapsedError struct {
	Model Model // the fit, usable all the same
}

// Error implements error.
func (e *CollapsedError) Error() string {
	return fmt.Sprintf("mkl: the fit collapsed: all weights vanish and every prediction is the target's mean (bound %.6g after %d sweeps); either the views say nothing about the targets or more Restarts are needed",
		e.Model.Bound(), e.Model.Trace().Sweeps)
}
