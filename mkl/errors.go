package mkl

import (
	"fmt"
	"strconv"

	"github.com/bmkl/bmkl/mkl/internal/gram"
)

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

// DuplicateError reports two views with the same kernel matrix. The data cannot
// determine how their common weight divides between them.
type DuplicateError struct {
	First, Second int // indices of the views
	names         [2]string
}

// Error implements error.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("mkl: views[%d] (%s) and views[%d] (%s) have the same kernel matrix: remove one or set AllowDuplicates",
		e.First, e.names[0], e.Second, e.names[1])
}

// KindError reports a file of another kind than the caller asked for.
type KindError struct {
	Kind string // of the file
	Want string // the kind that the caller asked for
}

// Error implements error.
func (e *KindError) Error() string { return fmt.Sprintf("the file holds %q, not %q", e.Kind, e.Want) }

// SampleError reports samples that a model cannot predict, such as samples so far away that their kernels are infinite. The model predicts the
// others without them. [TargetModel], [ClassModel] and [LabelModel] return it.
type SampleError = gram.SampleError

// CollapsedError reports a fit, or the best of several, whose weights all
// vanish, so that every prediction is the mean of the targets. That is the
// right answer if the views say nothing about the targets, and a poor local
// optimum otherwise: more Restarts may then help. Fit returns the model as well as
// the error. [Regression],
// [SharedRegression], [Classifier], [MultiLabel], [MultiTask], [PairRegression] and
// [PairClassifier] return it.
type CollapsedError struct {
	Model Model // the fit, which can be used
}

// Error implements error.
func (e *CollapsedError) Error() string {
	return fmt.Sprintf("mkl: the fit collapsed: all weights vanish and every prediction is the target's mean (bound %.6g after %d sweeps); either the views say nothing about the targets or more Restarts are needed",
		e.Model.Bound(), e.Model.Trace().Sweeps)
}
