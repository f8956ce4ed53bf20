package mkl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// KernelSet is a choice of kernels for features about which nothing is known. Sets can
// be joined: KernelsAdditive|KernelsARDRanks. The zero value is [KernelsBroad] for one view and [KernelsOfView] for several.
//
// Every set has a constant, which takes the place of a bias, and the linear kernel
// XXᵀ/D of standardised features, whose entries are of order 1 whatever the number
// D of features.
type KernelSet int

const (
	// KernelsBroad has kernels of many widths. Seven Gaussian kernels of standardised features
	// have widths of 2⁻³ … 2³ times the median distance of the samples: widths near the
	// median fit smooth functions, smaller widths local detail, and large widths
	// quadratic functions and interactions. Five Laplacian
	// kernels of the features' ranks, with widths of 2⁻² … 2² medians, fit functions with
	// edges and corners, as trees do; ranks are insensitive to outliers and skewed features.
	KernelsBroad KernelSet = 1 << iota

	// KernelsARD has one Gaussian kernel of standardised features whose widths are learned,
	// one for each feature. It is the best set where few features matter and the function
	// is smooth, and the first to overfit where features are many and samples few.
	KernelsARD

	// KernelsARDRanks has one Laplacian kernel of the features' ranks whose widths are learned.
	KernelsARDRanks

	// KernelsAdditive has one Gaussian kernel for each feature. Above 20 features it has one for
	// each of 10 groups of correlated features. All widths are of the order of the features'
	// spread. The kernels fit a sum of functions of single features, which needs few samples.
	KernelsAdditive

	// KernelsOfView has four Gaussian kernels with widths of √½, 1, √2 and 2 times the median distance. They are fewer than in the other sets, since each
	// of several views has as many. By itself, the set replaces features with heavy tails, such as counts, abundances and
	// intensities, by normal scores of their ranks: these kernels and the linear kernel see them if the median kurtosis of the features is
	// above 6.
	KernelsOfView
)

// Constants of the default kernels.
const (
	// mostAlone is the largest number of features that get an additive kernel each: that many kernels
	// cost as much as the kernels of the other sets together.
	mostAlone      = 20
	additiveGroups = 10

	// mostLinked is the largest number of features whose correlations are compared: their matrix is
	// mostLinked × mostLinked. Above it, groups consist of neighbouring columns.
	mostLinked = 2000
)

// defaultViews returns the views that a set makes for the inputs, as [FillViews] describes them.
func defaultViews(set KernelSet, inputs ...View) (views []View, notes []string, err error) {
	if len(inputs) == 0 {
		return nil, nil, fmt.Errorf("mkl: inputs: none given")
	}
	if err := checkShared(inputs); err != nil {
		return nil, nil, err
	}
	switch {
	case set == 0 && len(inputs) > 1:
		set = KernelsOfView
	case set == 0:
		set = KernelsBroad
	}
	if x := inputs[0].X; x.Rows == 0 {
		return nil, nil, fmt.Errorf("mkl: inputs[0].X is %d×%d: there are no samples", x.Rows, x.Cols)
	}
	views = []View{{Name: "constant", X: inputs[0].X, Input: inputs[0].Input, Kernel: kernel.Constant{}, from: inputs[0].from}}
	for i, in := range inputs {
		arg := "inputs[" + strconv.Itoa(i) + "]"
		if err := gram.CheckLayout(arg+".X", in.X); err != nil {
			return nil, nil, err
		}
		if n := inputs[0].X.Rows; in.X.Rows != n {
			return nil, nil, fmt.Errorf("mkl: %s.X is %d×%d where inputs[0].X has %d samples (samples are rows)", arg, in.X.Rows, in.X.Cols, n)
		}
		if err := (gram.Sight{Columns: in.Columns}).Check(in.X.Cols); err != nil {
			return nil, nil, fmt.Errorf("mkl: %s: %w", arg, err)
		}
		if err := checkValues(arg+".X", in.X, true); err != nil {
			return nil, nil, err
		}
		varying, constant := splitBySpread(in)
		if len(constant) > 0 {
			notes = append(notes, inputNote(in, i, len(inputs))+"features of one value are left out:"+strings.TrimPrefix(gram.Sight{Columns: constant}.String(), " of"))
		}
		if len(varying) == 0 {
			continue
		}
		if len(constant) == 0 {
			varying = in.Columns
		}
		views = append(views, set.views(in, varying)...)
	}
	return pruneDefaults(views, notes)
}

// inputNote begins a note on input i of n.
func inputNote(in View, i, n int) string {
	switch {
	case in.Name != "":
		return in.Name + ": "
	case n > 1:
		return fmt.Sprintf("x%d: ", i+1)
	}
	return ""
}

// splitBySpread separates the columns of an input that vary from the columns with one value.
func splitBySpread(in View) (varying, constant []int) {
	columns := in.Columns
	if columns == nil {
		columns = vec.UpTo(in.X.Cols)
	}
	x := presentRows(in.X)
	for _, c := range columns {
		varies := false
		for i := 1; i < x.Rows && !varies; i++ {
			varies = x.At(i, c) != x.At(0, c)
		}
		if varies {
			varying = append(varying, c)
		} else {
			constant = append(constant, c)
		}
	}
	return varying, constant
}

// presentRows returns the rows of the samples that do not lack the view.
func presentRows(x Features) Features {
	var rows []int
	for i := range x.Rows {
		if !gram.Lacks(x.Row(i)) {
			rows = append(rows, i)
		}
	}
	if len(rows) == x.Rows {
		return x
	}
	return x.TakeRows(rows)
}

// views returns the kernels of the set, without the constant, on the given columns of an input; nil
// means all columns.
func (set KernelSet) views(in View, columns []int) []View {
	d := gram.Sight{Columns: columns}.Cols(in.X.Cols)
	scaled := View{Name: in.Name, X: in.X, Input: in.Input, Columns: columns, Standardize: true, from: in.from}
	ranked := View{Name: in.Name, X: in.X, Input: in.Input, Columns: columns, Ranks: true, from: in.from}
	if set == KernelsOfView && heavyTailed(presentRows(in.X), columns) {
		scaled = ranked
	}
	var views []View
	add := func(v View, k kernel.Kernel) {
		v.Kernel = k
		views = append(views, v)
	}
	add(scaled, kernel.Linear{Scale: 1 / float64(d)})
	if set&KernelsBroad != 0 {
		for p := -3; p <= 3; p++ {
			add(scaled, kernel.RBF{Medians: math.Ldexp(1, p)})
		}
		for p := -2; p <= 2; p++ {
			add(ranked, kernel.Laplacian{Medians: math.Ldexp(1, p), Manhattan: true})
		}
	}
	if set&KernelsOfView != 0 {
		for _, m := range viewMedians {
			add(scaled, kernel.RBF{Medians: m})
		}
	}
	if set&kernelsOfRanks != 0 {
		for p := -1; p <= 1; p++ {
			add(ranked, kernel.Laplacian{Medians: math.Ldexp(1, p), Manhattan: true})
		}
	}
	if set&KernelsARD != 0 {
		add(scaled, kernel.RBF{ARD: true})
	}
	if set&KernelsARDRanks != 0 {
		add(ranked, kernel.Laplacian{ARD: true})
	}
	if set&kernelsOfInteractions != 0 {
		for _, k := range interactionKernels(d) {
			add(scaled, k)
		}
	}
	if set&KernelsAdditive != 0 {
		for _, g := range additive(presentRows(in.X), columns) {
			v := scaled
			v.Columns = g
			if v.Name != "" {
				v.Name += gram.Sight{Columns: g}.String()
			}
			// The distance of two standardised samples grows with the root of the
			// number of features.
			add(v, kernel.RBF{Width: math.Sqrt(float64(len(g)))})
		}
	}
	return views
}

// MaxKernels returns the largest number of kernels that [FillViews] makes for an input with that many columns. The zero value counts as for one view.
func (set KernelSet) MaxKernels(columns int) int {
	if set == 0 {
		set = KernelsBroad
	}
	n := 2 // constant and linear
	if set&KernelsBroad != 0 {
		n += 12
	}
	if set&KernelsOfView != 0 {
		n += len(viewMedians)
	}
	if set&KernelsARD != 0 {
		n++
	}
	if set&KernelsARDRanks != 0 {
		n++
	}
	switch {
	case set&KernelsAdditive == 0:
	case columns <= mostAlone:
		n += columns
	default:
		n += additiveGroups
	}
	return n
}

// additive returns the features of each additive kernel.
func additive(x Features, columns []int) (groups [][]int) {
	if columns == nil {
		columns = vec.UpTo(x.Cols)
	}
	d := len(columns)
	switch {
	case d <= mostAlone:
		for _, c := range columns {
			groups = append(groups, []int{c})
		}
	case d > mostLinked:
		for g := range additiveGroups {
			groups = append(groups, columns[g*d/additiveGroups:(g+1)*d/additiveGroups])
		}
	default:
		for _, g := range linked(correlations(x, columns), additiveGroups) {
			groups = append(groups, vec.Picked(columns, g))
		}
	}
	return groups
}

// correlations returns 1 − |r| for each pair of columns, which must vary.
func correlations(x Features, columns []int) la.Matrix[float64] {
	z := la.NewMatrix[float64](len(columns), x.Rows)
	for j, c := range columns {
		row := z.Row(j)
		for i := range row {
			row[i] = x.At(i, c)
		}
		mean, _ := vec.MeanSD(row)
		for i := range row {
			row[i] -= mean
		}
		la.Scal(1/math.Sqrt(la.SumSq(row)), row)
	}
	r := la.NewMatrix[float64](len(columns), len(columns))
	la.Gemm(nil, la.NoTrans, la.Transpose, 1, z, z, 0, r)
	for i := range r.Data {
		r.Data[i] = 1 - math.Abs(r.Data[i])
	}
	return r
}

// linked joins the two closest groups, measured by the mean distance d between their
// members, until count groups are left. It overwrites d. Groups and their members are in
// ascending order.
func linked(d la.Matrix[float64], count int) (groups [][]int) {
	nearest := make([]int, d.Rows)
	for i := range d.Rows {
		groups = append(groups, []int{i})
	}
	find := func(i int) {
		nearest[i] = -1
		for j, v := range d.Row(i) {
			if j != i && groups[j] != nil && (nearest[i] < 0 || v < d.At(i, nearest[i])) {
				nearest[i] = j
			}
		}
	}
	for i := range groups {
		find(i)
	}
	for left := d.Rows; left > count; left-- {
		a := -1
		for i, g := range groups {
			if g != nil && (a < 0 || d.At(i, nearest[i]) < d.At(a, nearest[a])) {
				a = i
			}
		}
		a, b := min(a, nearest[a]), max(a, nearest[a])
		na, nb := float64(len(groups[a])), float64(len(groups[b]))
		for j := range groups {
			v := (float64(na*d.At(a, j)) + float64(nb*d.At(b, j))) / (na + nb)
			d.Set(a, j, v)
			d.Set(j, a, v)
		}
		groups[a] = append(groups[a], groups[b]...)
		groups[b] = nil
		for i, g := range groups {
			if g != nil && (i == a || nearest[i] == a || nearest[i] == b) {
				find(i)
			}
		}
	}
	groups = slices.DeleteFunc(groups, func(g []int) bool { return g == nil })
	for _, g := range groups {
		slices.Sort(g)
	}
	return groups
}

// pruneDefaults drops the views whose kernels are useless on their samples,
// and appends a note on each.
func pruneDefaults(views []View, notes []string) (kept []View, _ []string, err error) {
	ctx := context.Background()
	gaps := slices.ContainsFunc(views, func(v View) bool {
		return slices.ContainsFunc(vec.UpTo(v.X.Rows), func(i int) bool { return gram.Lacks(v.X.Row(i)) })
	})
	t, err := bindViews(views, views[0].X.Rows, gaps)
	if err != nil {
		return nil, nil, err
	}
	t.Regroup()
	if err := t.Resolve(ctx, 0); err != nil {
		return nil, nil, err
	}
	drop := make([]bool, len(views))
	err = t.DropIdentities(ctx, drop, func(i int, largest float64) {
		notes = append(notes, fmt.Sprintf("%s is left out: it is too narrow, no two samples have more than %.1g in common", noted(views[i]), largest))
	})
	if err != nil {
		return nil, nil, err
	}
	t.DropDuplicates(drop, func(first, i int) {
		notes = append(notes, fmt.Sprintf("%s is left out: on these samples it does what %s does", noted(views[i]), noted(views[first])))
	})
	for i, v := range views {
		if !drop[i] {
			kept = append(kept, v)
		}
	}
	return kept, notes, nil
}

// noted names a view in a note.
func noted(v View) string {
	s := v.Kernel.String() + gram.Sight{Columns: v.Columns, Ranks: v.Ranks}.String()
	if v.Name != "" {
		s = v.Name + ": " + s
	}
	return s
}
