package mkl

import (
	"fmt"
	"strconv"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// The functions of this file check matrices and single samples that come in, so that a
// [ValueError] names the place of every value that is NaN or infinite.

// bindViews checks the views of n samples, which may have gaps, and finds their inputs.
func bindViews(views []View, n int, gaps bool) (*gram.Training, error) {
	sources, err := sourcesOf(views, gaps)
	if err != nil {
		return nil, err
	}
	return gram.Bind(sources, n, gaps)
}

// bindFunctions is bindViews for views that may include known functions. No sample may lack a view.
func bindFunctions(views []View, n int) (*gram.Training, error) {
	views, err := functionViews(views)
	if err != nil {
		return nil, err
	}
	sources, err := sourcesOf(views, false)
	if err != nil {
		return nil, err
	}
	return gram.BindFunctions(sources, n, false)
}

// sourcesOf checks the values and the names of views.
func sourcesOf(views []View, gaps bool) ([]gram.View, error) {
	sources := make([]gram.View, len(views))
	for i := range views {
		v := &views[i]
		if err := checkViewNames(v, i); err != nil {
			return nil, err
		}
		s := v.source(i)
		if v.X.Valid() {
			if err := checkValues(s.Argument+".X", v.X, gaps && !s.Given()); err != nil {
				return nil, err
			}
		}
		sources[i] = s
	}
	return sources, nil
}

// checkViewNames returns an error for names of views[i] that a file cannot keep unchanged.
func checkViewNames(v *View, i int) error {
	for _, name := range []struct{ field, text string }{{"Name", v.Name}, {"Input", v.Input}} {
		if err := checkText(name.text); err != nil {
			return fmt.Errorf("mkl: views[%d]: %s: %w", i, name.field, err)
		}
	}
	return nil
}

// checkShared returns an error if views of one Input have different matrices, before other views are made from them.
func checkShared(views []View) error {
	sources := make([]gram.View, len(views))
	for i := range views {
		if !views[i].X.Valid() {
			return gram.CheckLayout(views[i].argument(i)+".X", views[i].X)
		}
		sources[i] = views[i].source(i)
	}
	return gram.CheckInputs(sources)
}

// checkValues returns an error for the first NaN or infinity in x. With gaps, a sample that lacks the view has a row of NaN.
func checkValues(arg string, x Features, gaps bool) error {
	for i := range x.Rows {
		if j := vec.FirstNonFinite(x.Row(i)); j >= 0 && !(gaps && gram.Lacks(x.Row(i))) {
			return &ValueError{Arg: arg, Row: i, Col: j, Value: x.At(i, j)}
		}
	}
	return nil
}

// checkInputs checks the matrices x of a prediction, and returns the number of
// samples.
func checkInputs(ds *gram.Design, x []Features) (t int, err error) {
	if len(x) != len(ds.Inputs) {
		return 0, fmt.Errorf("mkl: %d input matrices where the model needs %d, one for each Input of its views", len(x), len(ds.Inputs))
	}
	t = x[0].Rows
	for i := range x {
		arg := "x[" + strconv.Itoa(i) + "]"
		in := &ds.Inputs[i]
		if x[i].Cols != in.Cols {
			what := "features"
			if in.Given {
				what = "basis points"
				if in.Cols > ds.D {
					what = "basis points and the kernel of each sample with itself"
				}
			}
			return 0, fmt.Errorf("mkl: %s: %d×%d where %d columns are needed (%s)", arg, x[i].Rows, x[i].Cols, in.Cols, what)
		}
		if x[i].Rows != t {
			return 0, fmt.Errorf("mkl: %s: %d samples where x[0] has %d", arg, x[i].Rows, t)
		}
		if err := gram.CheckLayout(arg, x[i]); err != nil {
			return 0, err
		}
		if err := checkValues(arg, x[i], in.Gaps); err != nil {
			return 0, err
		}
	}
	for i := range ds.Views {
		v := &ds.Views[i]
		if err := gram.CheckDistances("x["+strconv.Itoa(v.Input)+"]", v.Kernel, x[v.Input]); err != nil {
			return 0, err
		}
	}
	return t, nil
}

// checkPoint returns an error if x is not a sample of the model: a row for each input.
func checkPoint(inputs []gram.Input, x [][]float64) error {
	if len(x) != len(inputs) {
		return fmt.Errorf("mkl: %d inputs where the model needs %d", len(x), len(inputs))
	}
	for i, row := range x {
		if len(row) != inputs[i].Cols {
			return fmt.Errorf("mkl: x[%d]: %d values where %d are needed", i, len(row), inputs[i].Cols)
		}
		if j := vec.FirstNonFinite(row); j >= 0 && !(inputs[i].Gaps && gram.Lacks(row)) {
			return &ValueError{Arg: "x[" + strconv.Itoa(i) + "]", Row: j, Col: -1, Value: row[j]}
		}
	}
	return nil
}
