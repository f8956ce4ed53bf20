package gram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Input is what predictions need of one distinct X of the training views.
type Input struct {
	Name     string
	Basis    la.Matrix[float64] // the basis points' features, D×d; empty if given
	Cols     int                // columns of X in a prediction
	Given    bool               // X holds precomputed kernels or distances
	Mean, SD []float64
	Ranks    *Ranks // nil unless a view sees ranks
	Apart    bool   // ranks are told by other samples than the basis points

	Gaps    bool   // samples may lack it: all their features are then NaN
	Lacking []bool // D, which basis points do; nil if none does
}

// Bound is a view after training: its kernel with every default filled in,
// and the training statistics that its test kernels need.
type Bound struct {
	Name   string
	Kernel kernel.Kernel
	Input  int
	Sight  Sight

	Center    bool
	RowMean   []float64 // D, mean of the kernel between each basis point and the training samples
	TotalMean float64

	Normalize bool
	Unit      []float64 // D, 1/√ of each basis point's (centred) kernel with itself
	floor     float64   // what the kernel of a sample with itself must exceed

	// Of an input with gaps: the kernel of a sample that lacks the view with each basis
	// point, D of them, and with itself, before they are centred and normalised.
	Expected     []float64
	ExpectedSelf float64

	// largest is the largest absolute value of the kernel in training, or a
	// bound on its value for any sample at all if certain.
	Largest float64
	Certain bool
}

// Design is the bound views of a model.
type Design struct {
	Inputs []Input
	Views  []Bound
	D      int // basis points
	Groups []Group

	// share is what each basis point counts in the mean of the training samples, in the feature space
	// of every kernel, where those samples are more than the basis points, which span them; nil if
	// the basis points count alike.
	Share []float64
}

// mean returns the mean over the training samples of the kernel with one sample, given that with each
// basis point.
func (ds *Design) mean(k []float64) float64 { return sharedMean(k, ds.Share) }

func sharedMean(k, share []float64) float64 {
	if share == nil {
		return vec.Total(k) / float64(len(k))
	}
	return la.Dot(k, share)
}

// ownWidths returns the kernel with a copy of its widths.
func ownWidths(k kernel.Kernel) kernel.Kernel {
	if w := kernel.Widths(k); w != nil {
		return kernel.WithLengths(k, slices.Clone(w))
	}
	return k
}

// CheckDistances reports distances that are negative.
func CheckDistances(label string, k kernel.Kernel, x la.Matrix[float64]) error {
	if _, ok := k.(kernel.FromDistance); !ok {
		return nil
	}
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if v < 0 {
				return fmt.Errorf("mkl: %s: X[%d][%d] is %g, a negative distance", label, i, j, v)
			}
		}
	}
	return nil
}

// nameViews fills in the names that were left out, once the kernels are resolved: the kernel's notation, or where
// there are several inputs the input's name and the notation if other views share the input.
func (ds *Design) nameViews() {
	views := make([]int, len(ds.Inputs)) // of each input
	for _, v := range ds.Views {
		views[v.Input]++
	}
	for i := range ds.Views {
		v := &ds.Views[i]
		if v.Name != "" {
			continue
		}
		v.Name = v.notation()
		if len(ds.Inputs) == 1 {
			continue
		}
		if in := ds.Inputs[v.Input].Name; views[v.Input] == 1 {
			v.Name = in
		} else {
			v.Name = in + " " + v.Name
		}
	}
}

// notation is the notation of the view's kernel, which names a view without a name.
func (v *Bound) notation() string {
	named := v.Kernel
	if kernel.Learns(named) {
		named = kernel.WithLengths(named, nil) // those to be learned are no name
	}
	return named.String() + v.Sight.String()
}

// UserViews returns the views that belong together, with the name of each group: the views of one input or, if there is one input only,
// the views of one name. Groups of several inputs have the inputs' order. Kernels of single features count as the view that they are made from,
// and views without a name as one. Constants belong to no group: they are what is left.
func (ds *Design) UserViews() (names []string, of [][]int, constants []int) {
	at := map[string]int{}
	for _, in := range ds.Inputs {
		if len(ds.Inputs) > 1 {
			names, of = append(names, in.Name), append(of, nil)
		}
	}
	for i := range ds.Views {
		v := &ds.Views[i]
		if _, ok := v.Kernel.(kernel.Constant); ok {
			constants = append(constants, i)
			continue
		}
		group := v.Input
		if len(ds.Inputs) == 1 {
			name := strings.TrimSuffix(v.Name, Sight{Columns: v.Sight.Columns}.String())
			if v.Name == v.notation() {
				name = ""
			}
			if _, ok := at[name]; !ok {
				at[name], names, of = len(names), append(names, name), append(of, nil)
			}
			group = at[name]
		}
		of[group] = append(of[group], i)
	}
	return names, of, constants
}
