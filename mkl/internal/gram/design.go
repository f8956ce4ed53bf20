package gram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Input holds the statistics of one distinct X of the training views that predictions need.
type Input struct {
	Name     string
	Basis    la.Matrix[float64] // the basis points' features, D×d; empty if given
	Cols     int                // columns of X in a prediction
	Given    bool               // X holds precomputed kernels or distances
	Mean, SD []float64
	Ranks    *Ranks // nil unless a view sees ranks
	Apart    bool   // ranks are computed among other samples than the basis points

	Gaps    bool   // samples may lack it, with NaN for all their features
	Lacking []bool // D, which basis points lack it; nil if none does
}

// Bound is a view after training: its kernel with every default filled in,
// and the training statistics that its test kernels need.
type Bound struct {
	Name   string
	Kernel kernel.Kernel
	Input  int
	Sight  Sight

	Center    bool
	RowMean   []float64 // D, mean of the kernels between each basis point and the training samples
	TotalMean float64

	Normalize bool
	Unit      []float64 // D, 1/√ of each basis point's (centred) kernel with itself
	floor     float64   // the kernel of a sample with itself must be larger to count

	// For an input with gaps: the kernels of a sample that lacks the view with each of the D basis
	// points, and with itself, before they are centred and normalised.
	Expected     []float64
	ExpectedSelf float64

	// Largest is the largest absolute value of the kernel in training. If Certain, it is a
	// bound for all samples.
	Largest float64
	Certain bool
}

// Design is the bound views of a model.
type Design struct {
	Inputs []Input
	Views  []Bound
	D      int // basis points
	Groups []Group

	// Share holds the weight of each basis point in the mean of the training samples, in the feature space
	// of every kernel, if a few basis points span more training samples. It is nil if
	// the basis points are the training samples, which have equal weights.
	Share []float64
}

// mean returns the mean of a sample's kernels with the training samples, given k, its kernels with the
// basis points.
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

// CheckDistances returns an error for the first negative distance.
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

// nameViews fills in missing names, once the kernels are resolved. A name is the kernel's notation or, if
// there are several inputs, the input's name, followed by the notation if other views share the input.
func (ds *Design) nameViews() {
	views := make([]int, len(ds.Inputs)) // number of views of each input
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
		named = kernel.WithLengths(named, nil) // widths that will be learned are no part of the name
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
