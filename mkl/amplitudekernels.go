package mkl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
)

// kernelsOfRanks has three Laplacian kernels of ranks, and the linear kernel of standardised features. Members whose amplitudes borrow strength have
// these kernels beside [KernelsOfView] if there is one view.
const kernelsOfRanks KernelSet = 1 << 17

// viewMedians are the widths of the Gaussian kernels of KernelsOfView, in medians of the distance.
var viewMedians = []float64{math.Sqrt2 / 2, 1, math.Sqrt2, 2}

// amplitudeKernels are the kernels of the members whose amplitudes borrow strength, packed, with the layout that
// says which kernels belong to a view and which are alike.
type amplitudeKernels struct {
	design *gram.Design
	part   []int    // of each kernel of the design the index among the packed kernels, or −1 of a constant
	names  []string // of the views, in the order of their content
	told   []int    // these views in the order of the design
	notes  []string // on default kernels

	// some returns the places of about so many samples, ascending, which do not depend on the order of the samples. class is nil for targets. It is
	// nil itself if kernels are given, which do not say what samples hold.
	some func(class []int, most int) []int

	work    float64       // the most operations of the least sweeps: judgeWork
	counted *atomic.Int64 // Work of the amplitude.Problem; nil in fits

	packed *amplitude.Kernels
	layout amplitude.Layout
}

// hasAmplitudes reports whether such members can use the views: no view learns widths.
func hasAmplitudes(views []View) bool {
	return !slices.ContainsFunc(views, func(v View) bool { return v.Kernel != nil && kernel.Learns(v.Kernel) })
}

// viewKey returns a function that names the view that a kernel belongs to: by its input or, for a given matrix, by its name.
func viewKey(views []View) func(v View) string {
	several := slices.ContainsFunc(views, func(v View) bool { return v.Input != views[0].Input })
	return func(v View) string {
		if several {
			return v.Input
		}
		return v.Name
	}
}

// countViews returns how many views there are that have features or kernels of their own.
func countViews(views []View) int {
	key, seen := viewKey(views), map[string]bool{}
	for _, v := range views {
		if _, constant := v.Kernel.(kernel.Constant); !constant {
			seen[key(v)] = true
		}
	}
	return len(seen)
}

// newAmplitudeKernels computes the centred kernels of the views. Views without kernels get those that the set names. It
// returns nil if no view has a kernel that varies. Random numbers are drawn view by view: views are in the order of their [contents], which targets
// and names tell apart.
func newAmplitudeKernels(ctx context.Context, f *fitting, set KernelSet, views []View, targets [][]float64, names bool) (a *amplitudeKernels, err error) {
	made, notes, err := FillViews(set, views)
	if err != nil {
		return nil, err
	}
	made = slices.Clone(made)
	a = &amplitudeKernels{notes: notes, work: judgeWork}
	if !slices.ContainsFunc(views, isGiven) {
		a.some = func(class []int, most int) []int { return sampleByContent(views, targets[0], class, most, f.Seed) }
	}
	if slices.ContainsFunc(made, hasOneValue) {
		if err := f.tryKernels(ctx, made); err != nil {
			return nil, err
		}
	}
	key := viewKey(made)
	kinds, of := map[string]int{}, map[string]int{}
	var order []int // of the kernels that vary, view by view
	var told []string
	var all []content // of the views
	held := newContents(made, targets, names, f.Seed)
	for i := range made {
		v := &made[i]
		if hasOneValue(*v) { // centred, its kernel is 0 but for rounding
			*v = View{Name: v.Name, X: v.X, Input: v.Input, Kernel: kernel.Constant{}, from: v.from}
		}
		if _, constant := v.Kernel.(kernel.Constant); constant {
			continue
		}
		v.Center = true
		name := key(*v)
		if _, ok := of[name]; !ok {
			of[name] = len(of)
			told, all = append(told, name), append(all, content{})
		}
		one := held.view(*v)
		all[of[name]].hash += mixBits(one.hash, 1)
		all[of[name]].shape += one.shape
		order = append(order, i)
	}
	if len(order) == 0 {
		return nil, nil
	}
	a.told = make([]int, len(told))
	byContent := vec.UpTo(len(told))
	slices.SortStableFunc(byContent, func(v, w int) int { return all[v].compare(all[w]) })
	for at, v := range byContent {
		of[told[v]], a.told[v] = at, at
		a.names = append(a.names, cmp.Or(told[v], "features"))
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(of[key(made[i])]-of[key(made[j])], held.view(made[i]).compare(held.view(made[j])))
	})
	a.part = make([]int, len(made))
	for i := range a.part {
		a.part[i] = -1
	}
	for at, i := range order {
		a.part[i] = at
		kind := kindOf(made[i])
		if _, ok := kinds[kind]; !ok {
			kinds[kind] = len(kinds)
		}
		a.layout.View = append(a.layout.View, of[key(made[i])])
		a.layout.Kind = append(a.layout.Kind, kinds[kind])
	}
	t, err := bindViews(made, made[0].X.Rows, f.missingViews)
	if err != nil {
		return nil, err
	}
	k, err := f.processKernels(ctx, t, 1, f.amplitudeMemory)
	if err != nil {
		return nil, err
	}
	defer gram.Release(k, &a, &err)
	a.design = t.Design
	a.packed, err = amplitude.Pack(orderedKernels{k, order}, t.Samples() > packExactly)
	if e, ok := errors.AsType[*vi.KernelError](err); ok {
		err = vi.NewKernelError(order[e.Kernel], "%s", e.Reason)
	}
	if err != nil {
		return nil, f.named(err)
	}
	return a, nil
}

// tryKernels returns the error of a kernel of the views that cannot be computed, or is 0 for all samples. In the place of a constant such a kernel
// would not be noticed.
func (f *fitting) tryKernels(ctx context.Context, views []View) (err error) {
	t, err := bindViews(views, views[0].X.Rows, f.missingViews)
	if err != nil {
		return err
	}
	k, err := f.processKernels(ctx, t, 1, f.amplitudeMemory)
	if err != nil {
		return err
	}
	gram.Release(k, &t, &err)
	return err
}

// hasOneValue reports whether all samples that have a view have the same features in it, so that any kernel of them is a constant.
func hasOneValue(v View) bool {
	if _, constant := v.Kernel.(kernel.Constant); constant || isGiven(v) {
		return false
	}
	varying, _ := splitBySpread(v)
	return len(varying) == 0
}

// packExactly is the most samples whose packed kernels are kept in float64. With more samples the search is limited by
// memory bandwidth.
const packExactly = 500

// kindOf names what makes kernels of different views alike.
func kindOf(v View) string {
	k := v.Kernel
	if _, linear := k.(kernel.Linear); linear {
		k = kernel.Linear{} // whose scale is one over the number of features
	}
	return fmt.Sprintf("%v %t", k, v.Ranks)
}

// amplitudeMemory estimates the bytes of a fit: the kernels, their packed triangles, and the workspace of the search.
func (f *fitting) amplitudeMemory(s FitSize) int64 {
	N, P := float64(s.Samples), float64(s.Kernels)
	return inBytes(float64(1.5*P*N*N) + float64(6*N*N))
}

// weights returns the amplitudes of the design's kernels, given the amplitudes of the packed ones; constants share the
// given variance.
func (a *amplitudeKernels) weights(amplitudes []float64, constant float64) []float64 {
	w := make([]float64, len(a.part))
	constants := float64(len(a.part) - len(amplitudes))
	for i, p := range a.part {
		if p < 0 {
			w[i] = constant / constants
			continue
		}
		w[i] = amplitudes[p] * a.packed.Units()[p]
	}
	return w
}

// hasConstant reports whether a kernel of the design is a constant. Kernels that are all given have none.
func (a *amplitudeKernels) hasConstant() bool { return slices.Contains(a.part, -1) }
