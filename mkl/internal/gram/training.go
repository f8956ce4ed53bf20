package gram

import (
	"fmt"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Training is the design of a model that is being fitted, and the views that it was made from.
type Training struct {
	*Design
	sources []View
}

// Bind checks the views of n samples and finds their inputs. If gaps is true samples may lack views, with
// NaN for all their features. The caller has checked that all other values are finite. Some fields of the bound views are
// set later, when the kernel matrices are known.
func Bind(sources []View, n int, gaps bool) (*Training, error) {
	for i := range sources {
		if _, ok := sources[i].Kernel.(kernel.KnownFunction); ok {
			return nil, fmt.Errorf("mkl: %s: a KnownFunction is for MultiTask", sources[i].Label())
		}
	}
	return BindFunctions(sources, n, gaps)
}

// BindFunctions is Bind for views that may include known functions.
func BindFunctions(sources []View, n int, gaps bool) (*Training, error) {
	if len(sources) == 0 {
		return nil, fmt.Errorf("mkl: views: none given")
	}
	t := &Training{&Design{}, sources}
	for i := range sources {
		if err := sources[i].check(n, gaps); err != nil {
			return nil, err
		}
	}
	if err := CheckInputs(sources); err != nil {
		return nil, err
	}
	for i := range sources {
		v := &sources[i]
		d := n
		if v.Given() {
			d = v.X.Cols
		}
		if i == 0 {
			t.D = d
		} else if d != t.D {
			return nil, fmt.Errorf("mkl: %s: %d basis points where %s has %d", v.Label(), d, sources[0].Label(), t.D)
		}
		j, err := t.inputOf(i, gaps)
		if err != nil {
			return nil, err
		}
		if err := t.Inputs[j].serve(v); err != nil {
			return nil, err
		}
		t.Views = append(t.Views, Bound{
			Name: v.Name, Kernel: t.Inputs[j].ranged(ownWidths(v.Kernel), v.Sight), Input: j, Sight: v.Sight.clone(), Center: v.Center, Normalize: v.Normalize,
		})
	}
	return t, nil
}

// ranged returns the kernel with the ranges of the features of the samples, if it needs them.
func (in *Input) ranged(k kernel.Kernel, s Sight) kernel.Kernel {
	if !kernel.LacksRange(k) {
		return k
	}
	x := in.Seen(in.Present(in.Basis), s, nil)
	low, high := make([]float64, x.Cols), make([]float64, x.Cols)
	for j := range low {
		for i := range x.Rows {
			v := x.At(i, j)
			if i == 0 {
				low[j], high[j] = v, v
			}
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	return k.(kernel.Ranged).WithRange(low, high)
}

// CheckInputs returns an error if views of one input have different matrices.
func CheckInputs(sources []View) error {
	first := map[string]int{}
	for i := range sources {
		v := &sources[i]
		j, ok := first[v.Input]
		if !ok {
			first[v.Input] = i
			continue
		}
		switch w := &sources[j]; {
		case v.Given() != w.Given():
			return fmt.Errorf("mkl: %s and %s have the same Input %q, and X holds features for one and kernels or distances for the other: they need different names", w.Label(), v.Label(), v.Input)
		case !SameMatrix(v.X, w.X):
			return fmt.Errorf("mkl: %s and %s have the same Input %q and different X: views of different matrices need different names", w.Label(), v.Label(), v.Input)
		}
	}
	return nil
}

// inputOf returns the index of the input of view i. It adds the input if no earlier view has it.
func (t *Training) inputOf(i int, gaps bool) (int, error) {
	v := &t.sources[i]
	for j := range t.Inputs {
		if t.Inputs[j].Name == v.Input {
			return j, nil
		}
	}
	in, err := v.newInput(gaps)
	if err != nil {
		return 0, err
	}
	t.Inputs = append(t.Inputs, in)
	return len(t.Inputs) - 1, nil
}

// newInput returns the input of the view, whose samples may have gaps.
func (v *View) newInput(gaps bool) (in Input, err error) {
	in = Input{Name: v.Input, Cols: v.X.Cols, Given: v.Given()}
	in.Gaps = gaps && !in.Given
	if !in.Given {
		err = in.take(v.Label(), v.X)
	}
	return in, err
}

// serve adds to the input what a view needs of it, such as ranks.
func (in *Input) serve(v *View) error {
	label := v.Label()
	if in.Given {
		if err := CheckDistances(label, v.Kernel, v.X); err != nil {
			return err
		}
		if _, precomputed := v.Kernel.(kernel.Precomputed); precomputed && v.Normalize {
			in.Cols = v.X.Cols + 1
		}
	}
	if v.Sight.Standardize && in.Mean == nil {
		in.Mean, in.SD = ColumnStats(in.Present(in.Basis))
		if c := vec.FirstNonFinite(append(append([]float64(nil), in.Mean...), in.SD...)); c >= 0 {
			return fmt.Errorf("mkl: %s: the spread of column %d is beyond the range of numbers: it cannot be standardised", label, c%len(in.Mean))
		}
	}
	if v.Sight.Ranks && in.Ranks == nil {
		in.Ranks = NewRanks(in.Present(in.Basis))
	}
	return nil
}

// Label names view i in errors.
func (t *Training) Label(i int) string { return t.sources[i].Label() }

// Describe names view i without its number.
func (t *Training) Describe(i int) string {
	v := &t.sources[i]
	if v.Name == "" {
		return v.Kernel.String()
	}
	return fmt.Sprintf("%q, %s", v.Name, v.Kernel)
}

// Samples returns the number of training samples.
func (t *Training) Samples() int { return t.sources[0].X.Rows }

// on returns the training of the same views with other matrices x, one for each input, and their design ds.
func (t *Training) on(ds *Design, x []la.Matrix[float64]) *Training {
	out := &Training{ds, append([]View(nil), t.sources...)}
	for i := range out.sources {
		out.sources[i].X = x[t.Views[i].Input]
	}
	return out
}

// CheckFixed returns an error if a kernel has widths to be learned. Estimators that learn no widths call it.
func (t *Training) CheckFixed() error {
	for i, v := range t.Views {
		if kernel.Learns(v.Kernel) {
			return fmt.Errorf("mkl: %s: ARD: this estimator cannot learn widths, only MultiGP, LandmarkGP, their classifiers and ProbitClassifier can: give Widths, or learn them with package tune", t.Label(i))
		}
	}
	return nil
}

// CheckSquare returns an error if the basis points of a kernel are not the training samples.
func (t *Training) CheckSquare() error {
	if n := t.Samples(); t.D != n {
		return fmt.Errorf("mkl: %s: %d basis points for %d samples: the model needs square kernels", t.Label(0), t.D, n)
	}
	return nil
}

// Duplicates returns the first pair of views with equal kernel matrices, or false.
func (t *Training) Duplicates(k Held) (first, second int, ok bool) {
	for j := range t.Views {
		for i := range j {
			if k.Equal(i, j) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// UseInProcess checks that a Gaussian process can have the training kernel k of view i. If the kernel is
// given, a prediction also needs the kernel of each sample with itself: one more column.
func (t *Training) UseInProcess(i int, k la.Matrix[float64]) error {
	v := &t.Views[i]
	p, ok := v.Kernel.(kernel.Precomputed)
	if !ok {
		return nil
	}
	if p.AllowIndefinite && checkSemidefinite(k) != nil { // otherwise checked before
		return fmt.Errorf("mkl: %s: X is not symmetric and positive semidefinite, which a Gaussian process needs in spite of AllowIndefinite", t.Label(i))
	}
	t.Inputs[v.Input].Cols = t.D + 1
	return nil
}
