package mkl

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"unsafe"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// input is what predictions need of one distinct X of the training views.
type input struct {
	basis    Features // the basis points' features, D×d; empty if given
	cols     int      // columns of X in a prediction
	given    bool     // X holds precomputed kernels or distances
	mean, sd []float64
	ranks    *rankScores // nil unless a view sees ranks
	apart    bool        // ranks are told by other samples than the basis points

	gaps    bool   // samples may lack it: all their features are then NaN
	lacking []bool // D, which basis points do; nil if none does
}

// boundView is a view after training: its kernel with every default filled in,
// and the training statistics that its test kernels need.
type boundView struct {
	name   string
	kernel Kernel
	input  int
	sight  sight

	center    bool
	rowMean   []float64 // D, mean of the kernel between each basis point and the training samples
	totalMean float64

	normalize bool
	unit      []float64 // D, 1/√ of each basis point's (centred) kernel with itself
	floor     float64   // what the kernel of a sample with itself must exceed

	// Of an input with gaps: the kernel of a sample that lacks the view with each basis
	// point, D of them, and with itself, before they are centred and normalised.
	expected     []float64
	expectedSelf float64

	// largest is the largest absolute value of the kernel in training, or a
	// bound on its value for any sample at all if certain.
	largest float64
	certain bool
}

// design is the bound views of a model.
type design struct {
	inputs []input
	views  []boundView
	d      int // basis points
	groups []group

	// share is what each basis point counts in the mean of the training samples, in the feature space
	// of every kernel, where those samples are more than the basis points, which span them; nil if
	// the basis points count alike.
	share []float64
}

// mean returns the mean over the training samples of the kernel with one sample, given that with each
// basis point.
func (ds *design) mean(k []float64) float64 { return sharedMean(k, ds.share) }

// total returns the sum of x.
func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

func sharedMean(k, share []float64) float64 {
	if share == nil {
		return total(k) / float64(len(k))
	}
	return la.Dot(k, share)
}

// kernels checks the views of n samples and the memory that their fit needs, and
// computes their kernel matrices, basis points × samples. No widths are to be learned.
func (f *Fitting) kernels(ctx context.Context, views []View, n, outputs int, need func(Size) int64) (*design, heldKernels, error) {
	ds, err := newDesign(views, n, f.MissingViews)
	if err != nil {
		return nil, nil, err
	}
	if err := ds.checkFixed(views); err != nil {
		return nil, nil, err
	}
	return f.kernelsOf(ctx, ds, views, n, outputs, need)
}

// kernelsOf is kernels of views that are bound; those that learn widths have the ones they start from.
func (f *Fitting) kernelsOf(ctx context.Context, ds *design, views []View, n, outputs int, need func(Size) int64) (*design, heldKernels, error) {
	if err := f.checkKernels(need, ds, Size{Samples: n, Basis: ds.d, Kernels: len(views), Outputs: outputs}); err != nil {
		return nil, nil, err
	}
	k, err := f.holdKernels(ctx, ds, views, func(i int, k la.Matrix[float64]) error {
		ds.views[i].forget(k, ds.inputs[ds.views[i].input].lacking)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if !f.AllowDuplicates {
		if err := findDuplicates(views, k); err != nil {
			var none *struct{}
			release(k, &none, &err)
			return nil, nil, err
		}
	}
	return ds, k, nil
}

// newDesign checks the views of n samples, which may have gaps, and finds their distinct
// inputs. The bound views still lack what only the kernel matrices tell.
func newDesign(views []View, n int, gaps bool) (*design, error) {
	for i := range views {
		if _, ok := views[i].Kernel.(Function); ok {
			return nil, fmt.Errorf("mkl: %s: a Function is for MultiTask", views[i].label(i))
		}
	}
	return bindViews(views, n, gaps)
}

// bindViews is newDesign of views that may be functions.
func bindViews(views []View, n int, gaps bool) (*design, error) {
	if len(views) == 0 {
		return nil, fmt.Errorf("mkl: views: none given")
	}
	ds, seen := &design{}, map[matrixIdentity]int{}
	for i := range views {
		v := &views[i]
		label := v.label(i)
		see, err := v.check(i, n, gaps)
		if err != nil {
			return nil, err
		}
		d := n
		if isGiven(*v) {
			d = v.X.Cols
		}
		if i == 0 {
			ds.d = d
		} else if d != ds.d {
			return nil, fmt.Errorf("mkl: %s: %d basis points where %s has %d", label, d, views[0].label(0), ds.d)
		}
		if err := checkText(v.Name); err != nil {
			return nil, fmt.Errorf("mkl: views[%d]: Name: %w", i, err)
		}
		id := v.identity()
		j, ok := seen[id]
		if !ok {
			in, err := v.newInput(i, gaps)
			if err != nil {
				return nil, err
			}
			j = len(ds.inputs)
			seen[id], ds.inputs = j, append(ds.inputs, in)
		}
		if err := ds.inputs[j].serve(v, label); err != nil {
			return nil, err
		}
		ds.views = append(ds.views, boundView{
			name: v.Name, kernel: ownWidths(v.Kernel), input: j, sight: see, center: v.Center, normalize: v.Normalize,
		})
	}
	return ds, nil
}

// matrixIdentity tells matrices apart: views of one share an input, unless it is given to one of them.
type matrixIdentity struct {
	data               *float64
	rows, cols, stride int
	given              bool
}

func (v *View) identity() matrixIdentity {
	return matrixIdentity{unsafe.SliceData(v.X.Data), v.X.Rows, v.X.Cols, v.X.Stride, isGiven(*v)}
}

// check reports settings of view i that do not fit each other or n samples, which may have gaps, and returns
// what the kernel sees.
func (v *View) check(i, n int, gaps bool) (see sight, err error) {
	label := v.label(i)
	if v.Kernel == nil {
		return see, fmt.Errorf("mkl: %s: Kernel is nil", label)
	}
	if err := checkLayout(v.argument(i)+".X", v.X); err != nil {
		return see, err
	}
	if v.X.Rows != n {
		return see, fmt.Errorf("mkl: %s: X is %d×%d where y has %d samples (samples are rows)", label, v.X.Rows, v.X.Cols, n)
	}
	if v.X.Cols == 0 {
		return see, fmt.Errorf("mkl: %s: X has no columns", label)
	}
	see = sight{columns: slices.Clone(v.Columns), standardize: v.Standardize, ranks: v.Ranks}
	if err := see.check(v.X.Cols); err != nil {
		return see, fmt.Errorf("mkl: %s: %w", label, err)
	}
	if err := v.Kernel.check(see.cols(v.X.Cols)); err != nil {
		return see, fmt.Errorf("mkl: %s: %w", label, err)
	}
	_, categories := v.Kernel.(Categorical)
	given := isGiven(*v)
	switch {
	case learns(v.Kernel) && (v.Center || v.Normalize):
		return see, fmt.Errorf("mkl: %s: ARD excludes Center and Normalize", label)
	case learns(v.Kernel) && gaps:
		return see, fmt.Errorf("mkl: %s: ARD excludes MissingViews", label)
	case categories && (v.Standardize || v.Ranks):
		return see, fmt.Errorf("mkl: %s: Standardize and Ranks are for quantities, not for categories", label)
	case given && v.Standardize:
		return see, fmt.Errorf("mkl: %s: Standardize is for features, not for given kernels or distances", label)
	case given && (v.Ranks || v.Columns != nil):
		return see, fmt.Errorf("mkl: %s: Ranks and Columns are for features, not for given kernels or distances", label)
	case given && v.X.Cols != n && (v.Center || v.Normalize):
		return see, fmt.Errorf("mkl: %s: Center and Normalize need the %d samples as basis points, and X has %d columns", label, n, v.X.Cols)
	}
	return see, nil
}

// newInput returns the input of view i, whose samples may have gaps.
func (v *View) newInput(i int, gaps bool) (in input, err error) {
	in = input{cols: v.X.Cols, given: isGiven(*v)}
	in.gaps = gaps && !in.given
	if err := in.checkPresent(v.argument(i)+".X", v.X); err != nil {
		return in, err
	}
	if !in.given {
		err = in.take(v.label(i), v.X)
	}
	return in, err
}

// serve completes the input by what a view needs of it.
func (in *input) serve(v *View, label string) error {
	if in.given {
		if err := checkGiven(label, v.Kernel, v.X); err != nil {
			return err
		}
		if _, kernel := v.Kernel.(Precomputed); kernel && v.Normalize {
			in.cols = v.X.Cols + 1
		}
	}
	if v.Standardize && in.mean == nil {
		in.mean, in.sd = columnStats(in.present(in.basis))
		if c := firstNonFinite(append(slices.Clone(in.mean), in.sd...)); c >= 0 {
			return fmt.Errorf("mkl: %s: the spread of column %d is beyond the range of numbers: it cannot be standardised", label, c%len(in.mean))
		}
	}
	if v.Ranks && in.ranks == nil {
		in.ranks = newRankScores(in.present(in.basis))
	}
	return nil
}

// ownWidths returns the kernel with a copy of its widths.
func ownWidths(k Kernel) Kernel {
	switch k := k.(type) {
	case RBF:
		k.Widths = slices.Clone(k.Widths)
		return k
	case Laplacian:
		k.Widths = slices.Clone(k.Widths)
		return k
	}
	return k
}

// checkGiven reports distances that are negative.
func checkGiven(label string, k Kernel, x Features) error {
	if _, ok := k.(FromDistance); !ok {
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

// nameViews fills in the names that were left out, once the kernels are resolved.
func (ds *design) nameViews() {
	for i := range ds.views {
		v := &ds.views[i]
		if v.name != "" {
			continue
		}
		kernel := v.kernel
		switch k := kernel.(type) { // widths that are still to be learned are no name
		case RBF:
			if k.ARD {
				kernel = RBF{ARD: true}
			}
		case Laplacian:
			if k.ARD {
				kernel = Laplacian{ARD: true}
			}
		}
		v.name = kernel.String() + v.sight.String()
		if len(ds.inputs) > 1 {
			v.name = fmt.Sprintf("x%d %s", v.input+1, v.name)
		}
	}
}

// checkInputs reports whether x is what a prediction needs, and the number of
// samples.
func (ds *design) checkInputs(x []Features) (t int, err error) {
	if len(x) != len(ds.inputs) {
		return 0, fmt.Errorf("mkl: %d input matrices where the model needs %d, one for each distinct X of its views", len(x), len(ds.inputs))
	}
	t = x[0].Rows
	for i := range x {
		arg := "x[" + strconv.Itoa(i) + "]"
		in := &ds.inputs[i]
		if x[i].Cols != in.cols {
			what := "features"
			if in.given {
				what = "basis points"
				if in.cols > ds.d {
					what = "basis points and the kernel of each sample with itself"
				}
			}
			return 0, fmt.Errorf("mkl: %s: %d×%d where %d columns are needed (%s)", arg, x[i].Rows, x[i].Cols, in.cols, what)
		}
		if x[i].Rows != t {
			return 0, fmt.Errorf("mkl: %s: %d samples where x[0] has %d", arg, x[i].Rows, t)
		}
		if err := checkLayout(arg, x[i]); err != nil {
			return 0, err
		}
		if err := in.checkPresent(arg, x[i]); err != nil {
			return 0, err
		}
	}
	for i := range ds.views {
		v := &ds.views[i]
		if err := checkGiven("x["+strconv.Itoa(v.input)+"]", v.kernel, x[v.input]); err != nil {
			return 0, err
		}
	}
	return t, nil
}

// checkSquare reports kernels whose basis points are not the n samples.
func (ds *design) checkSquare(views []View, n int) error {
	if ds.d != n {
		return fmt.Errorf("mkl: %s: %d basis points for %d samples: the model needs square kernels", views[0].label(0), ds.d, n)
	}
	return nil
}

// useInProcess checks that the training kernel k of view i is one that a Gaussian
// process can have. If it is given, a prediction also needs the kernel of each
// sample with itself: one more column.
func (ds *design) useInProcess(i int, label string, k la.Matrix[float64]) error {
	v := &ds.views[i]
	p, ok := v.kernel.(Precomputed)
	if !ok {
		return nil
	}
	if p.AllowIndefinite && checkSemidefinite(k) != nil { // otherwise checked before
		return fmt.Errorf("mkl: %s: X is not symmetric and positive semidefinite, which a Gaussian process needs in spite of AllowIndefinite", label)
	}
	ds.inputs[v.input].cols = ds.d + 1
	return nil
}

// findDuplicates reports the first pair of equal kernel matrices.
func findDuplicates(views []View, k heldKernels) error {
	for j := range views {
		for i := range j {
			if k.Equal(i, j) {
				return &DuplicateError{First: i, Second: j, names: [2]string{views[i].describe(), views[j].describe()}}
			}
		}
	}
	return nil
}

// predictWords is the least number of kernel values that a block of predictions
// may hold, and mostPredictWords the largest.
const (
	predictWords     = 1 << 21
	mostPredictWords = 1 << 26
)

// blockWords returns how many kernel values a block of predictions may hold: as many as
// four matrices of the basis points' order, but at least 16 MiB and at most 512 MiB. That
// is enough for what a block costs to outweigh a Cholesky factorisation of that order, or,
// where a model keeps its factors, the copy that a solve makes of one.
func (ds *design) blockWords() int { return max(predictWords, min(4*ds.d*ds.d, mostPredictWords)) }

// predictBlocks calls do with the kernels of samples first … first+n−1 of x, for
// block after block.
func (ds *design) predictBlocks(ctx context.Context, workers int, x []Features, t int, do func(k vi.Kernels, first, n int) error) error {
	return ds.eachBlock(ctx, workers, ds.blockWords(), false, x, t, func(k *vi.Dense, _ la.Matrix[float64], first, n int) error {
		return do(k, first, n)
	})
}

// eachBlock calls do with the kernels k, D×n, of samples first … first+n−1 of the t
// in x, for block after block of about so many words. With selves it also gives the
// kernels of those samples with themselves, P×n.
func (ds *design) eachBlock(ctx context.Context, workers, words int, selves bool, x []Features, t int, do func(k *vi.Dense, self la.Matrix[float64], first, n int) error) error {
	if ctx == nil {
		return errNoContext
	}
	P, D := len(ds.views), ds.d
	block := min(t, max(1, words/(P*D)))
	buffer := make([]float64, P*D*block)
	for first := 0; first < t; first += block {
		n := min(block, t-first)
		ks := make([]la.Matrix[float64], P)
		for i := range ks {
			ks[i] = la.MatrixOf(D, n, buffer[i*D*n:(i+1)*D*n])
		}
		var self la.Matrix[float64]
		if selves {
			self = la.NewMatrix[float64](P, n)
		}
		if err := ds.crossSelf(ctx, workers, x, first, ks, self); err != nil {
			return err
		}
		k, err := vi.NewDense(ks...)
		if err != nil {
			return fmt.Errorf("mkl: kernels of the samples from %d: %w", first, err)
		}
		if err := do(k, self, first, n); err != nil {
			return fmt.Errorf("mkl: %w", err)
		}
	}
	return nil
}
