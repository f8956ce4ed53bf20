package mkl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// designJSON is the part of the settings that every model fitted to views has.
type designJSON struct {
	Basis   int             `json:"basis"`   // D
	Samples int             `json:"samples"` // N
	Inputs  []inputJSON     `json:"inputs"`
	Views   json.RawMessage `json:"views"` // an array of viewJSON
}

type (
	inputJSON struct {
		Name  string `json:"name,omitempty"`
		Cols  int    `json:"cols"`
		Given bool   `json:"given,omitempty"`
		Gaps  bool   `json:"gaps,omitempty"`
	}
	viewJSON struct {
		Name        string          `json:"name"`
		Kernel      json.RawMessage `json:"kernel"`
		Input       int             `json:"input"`
		Columns     []int           `json:"columns,omitempty"`
		Standardize bool            `json:"standardize,omitempty"`
		Ranks       bool            `json:"ranks,omitempty"`
		Center      bool            `json:"center,omitempty"`
		Normalize   bool            `json:"normalize,omitempty"`
		TotalMean   float64         `json:"total_mean,omitempty"`
		Largest     float64         `json:"largest"`
		Expected    float64         `json:"expected_self,omitempty"`
	}
)

// addDesign adds the design and returns its part of the settings.
func (f *fileWriter) addDesign(ds *gram.Design, samples int) designJSON {
	D := ds.D
	j := designJSON{Basis: D, Samples: samples}
	for i, in := range ds.Inputs {
		j.Inputs = append(j.Inputs, inputJSON{Name: in.Name, Cols: in.Cols, Given: in.Given, Gaps: in.Gaps})
		if !in.Given {
			f.add(fmt.Sprintf("input.%d.basis", i), flat(in.Basis), D, in.Cols)
		}
		if in.Lacking != nil {
			f.add(fmt.Sprintf("input.%d.lacking", i), vec.Numbers(in.Lacking), D)
		}
		if in.Mean != nil {
			f.add(fmt.Sprintf("input.%d.mean", i), in.Mean, in.Cols)
			f.add(fmt.Sprintf("input.%d.sd", i), in.SD, in.Cols)
		}
	}
	var views []viewJSON
	for i, v := range ds.Views {
		k, err := kernel.Encode(v.Kernel)
		if err != nil {
			f.fail(fmt.Errorf("view %q: %w", v.Name, err))
		}
		views = append(views, viewJSON{
			Name: v.Name, Kernel: k, Input: v.Input,
			Columns: v.Sight.Columns, Standardize: v.Sight.Standardize, Ranks: v.Sight.Ranks, Center: v.Center, Normalize: v.Normalize, TotalMean: v.TotalMean, Largest: v.Largest,
			Expected: v.ExpectedSelf,
		})
		if v.Expected != nil {
			f.add(fmt.Sprintf("view.%d.expected", i), v.Expected, D)
		}
		if v.Center {
			f.add(fmt.Sprintf("view.%d.row_mean", i), v.RowMean, D)
		}
		if v.Normalize {
			f.add(fmt.Sprintf("view.%d.unit", i), v.Unit, D)
		}
	}
	for i, in := range ds.Inputs {
		if in.Apart {
			f.addRanks(fmt.Sprintf("input.%d.ranks", i), in.Ranks)
		}
	}
	if ds.Share != nil {
		f.add("share", ds.Share, D)
	}
	text, err := json.Marshal(views)
	if err != nil {
		f.fail(err)
	}
	j.Views = text
	return j
}

// addRanks adds the sorted training values that define the ranks, a row for each column.
func (f *fileWriter) addRanks(name string, r *gram.Ranks) {
	cols, n := len(r.Sorted), len(r.Sorted[0])
	f.add(name, slices.Concat(r.Sorted...), cols, n)
}

// takeRanks reads what addRanks wrote.
func (f *fileReader) takeRanks(name string, cols int) (*gram.Ranks, error) {
	n := f.size(name) / cols
	x := f.takeMatrix(name, cols, n)
	if f.err != nil {
		return nil, f.err
	}
	if n < 1 {
		return nil, fmt.Errorf("tensor %q is empty", name)
	}
	samples := la.NewMatrix[float64](n, cols)
	for r := range n {
		for c := range cols {
			samples.Set(r, c, x.At(c, r))
		}
	}
	return gram.NewRanks(samples), nil
}

// takeOnViews reads the record and the design of a model of L outputs and P
// kernels. process says that the kernels belong to Gaussian processes, whose predictions need the kernel of
// each sample with itself.
func (f *fileReader) takeOnViews(r recordJSON, j designJSON, L, P int, process bool) (m onViews, err error) {
	if m.record, err = f.takeRecord(r, L); err != nil {
		return m, err
	}
	if m.design, err = f.takeDesign(j, P, process); err != nil {
		return m, err
	}
	return m, f.err
}

// takeDesign reads a design of P kernels.
func (f *fileReader) takeDesign(j designJSON, P int, process bool) (*gram.Design, error) {
	onLandmarks := f.onLandmarks(j)
	if err := j.check(P, process && !onLandmarks && !f.has("share"), onLandmarks); err != nil {
		return nil, err
	}
	ds := &gram.Design{D: j.Basis}
	for i, in := range j.Inputs {
		b, err := f.takeInput(fmt.Sprintf("input.%d.", i), in, ds.D)
		if err != nil {
			return nil, err
		}
		ds.Inputs = append(ds.Inputs, b)
	}
	if err := checkInputNames(ds.Inputs); err != nil {
		return nil, err
	}
	views, err := decodeViews(j.Views, P)
	if err != nil {
		return nil, fmt.Errorf("model: views: %w", err)
	}
	for i, vj := range views {
		v, err := f.takeView(i, vj, ds)
		if err != nil {
			return nil, fmt.Errorf("model: views[%d]: %w", i, err)
		}
		ds.Views = append(ds.Views, v)
	}
	for i := range ds.Inputs {
		in, name := &ds.Inputs[i], fmt.Sprintf("input.%d.ranks", i)
		if in.Apart = in.Ranks != nil && f.has(name); in.Apart {
			if in.Ranks, err = f.takeRanks(name, in.Cols); err != nil {
				return nil, err
			}
		}
	}
	if err := checkInputsUsed(ds, process); err != nil {
		return nil, err
	}
	if process && !onLandmarks && j.Samples != ds.D {
		if ds.LinearFeatures() == 0 {
			return nil, errors.New("model: kernels that few samples do not span")
		}
		ds.Share = f.take("share", ds.D)
	}
	ds.Regroup()
	return ds, nil
}

// onLandmarks reports whether the basis points are some of the samples of a model of observations, its landmarks.
func (f *fileReader) onLandmarks(j designJSON) bool {
	return j.Samples != j.Basis && slices.Contains([]string{(*CountModel)(nil).Kind(), (*SurvivalModel)(nil).Kind(), (*OrdinalModel[string])(nil).Kind()}, f.kind)
}

// check returns an error for inputs that do not fit P kernels or each other. With allBasis every sample must be a basis point. Inputs with
// gaps have other samples only beside landmarks.
func (j designJSON) check(P int, allBasis, onLandmarks bool) error {
	if len(j.Inputs) < 1 || len(j.Inputs) > P {
		return fmt.Errorf("model: %d inputs for %d views", len(j.Inputs), P)
	}
	for i, in := range j.Inputs {
		switch {
		case in.Given && in.Gaps:
			return fmt.Errorf("model: inputs[%d]: given kernels with gaps", i)
		case in.Given && in.Cols != j.Basis && in.Cols != j.Basis+1:
			return fmt.Errorf("model: inputs[%d]: %d columns for %d basis points", i, in.Cols, j.Basis)
		case !in.Given && j.Samples != j.Basis && (in.Gaps && !onLandmarks || allBasis):
			return fmt.Errorf("model: %d samples and %d basis points, which must be the same for features here", j.Samples, j.Basis)
		case !in.Given && in.Cols < 1:
			return fmt.Errorf("model: inputs[%d]: %d columns", i, in.Cols)
		}
	}
	return nil
}

// takeInput reads an input with d basis points, whose tensor names begin with prefix.
func (f *fileReader) takeInput(prefix string, j inputJSON, d int) (in gram.Input, err error) {
	in = gram.Input{Name: j.Name, Cols: j.Cols, Given: j.Given, Gaps: j.Gaps}
	if in.Given {
		return in, nil
	}
	in.Basis = f.takeMatrix(prefix+"basis", d, in.Cols)
	if in.Gaps && f.has(prefix+"lacking") {
		if in.Lacking, err = f.takeLacking(prefix+"lacking", d); err != nil {
			return in, err
		}
	}
	if f.has(prefix + "mean") {
		in.Mean, in.SD = f.take(prefix+"mean", in.Cols), f.takePositive(prefix+"sd", in.Cols)
	}
	return in, f.err
}

// checkInputsUsed returns an error for an input without a view. It also returns one for an input of given kernels that has a
// column for the kernel of each sample with itself although predictions do not need it, or that lacks it although they do.
func checkInputsUsed(ds *gram.Design, process bool) error {
	used, selfColumn := make([]bool, len(ds.Inputs)), make([]bool, len(ds.Inputs))
	for _, v := range ds.Views {
		used[v.Input] = true
		if _, ok := v.Kernel.(kernel.Precomputed); ok && (v.Normalize || process) {
			selfColumn[v.Input] = true
		}
	}
	for i, in := range ds.Inputs {
		if !used[i] {
			return fmt.Errorf("model: inputs[%d] has no view", i)
		}
		if in.Given && (in.Cols == ds.D+1) != selfColumn[i] {
			return fmt.Errorf("model: inputs[%d]: %d columns for %d basis points", i, in.Cols, ds.D)
		}
	}
	return nil
}

// checkInputNames returns an error if two inputs have one name. In files from before inputs had names all are empty.
func checkInputNames(inputs []gram.Input) error {
	for i, in := range inputs {
		if in.Name != "" && slices.ContainsFunc(inputs[:i], func(other gram.Input) bool { return other.Name == in.Name }) {
			return fmt.Errorf("model: inputs[%d]: a second input is called %q", i, in.Name)
		}
	}
	return nil
}

// decodeViews decodes an array of exactly n views.
func decodeViews(text []byte, n int) (views []viewJSON, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, errors.New("not an array")
	}
	for d.More() && len(views) <= n {
		var v viewJSON
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	if len(views) != n {
		return nil, fmt.Errorf("%d where the tensors have %d kernels", len(views), n)
	}
	return views, nil
}

// takeView reads view i of the design.
func (f *fileReader) takeView(i int, j viewJSON, ds *gram.Design) (v gram.Bound, err error) {
	if j.Input < 0 || j.Input >= len(ds.Inputs) {
		return v, fmt.Errorf("input %d of %d", j.Input, len(ds.Inputs))
	}
	in := &ds.Inputs[j.Input]
	k, err := kernel.Decode(j.Kernel)
	if err != nil {
		return v, err
	}
	if err := j.check(k, in); err != nil {
		return v, err
	}
	if _, function := k.(kernel.KnownFunction); function {
		switch {
		case f.kind != (*MultiTaskModel)(nil).Kind():
			return v, errors.New("a function is for multi-task models")
		case len(j.Columns) != 1 || j.Center || j.Normalize:
			return v, errors.New("a function is one column, neither centred nor normalised")
		}
	}
	v = gram.Bound{
		Name: j.Name, Kernel: k.Resolve(0), Input: j.Input, Sight: j.sight(),
		Center: j.Center, Normalize: j.Normalize, TotalMean: j.TotalMean, Largest: j.Largest,
	}
	if v.Center {
		v.RowMean = f.take(fmt.Sprintf("view.%d.row_mean", i), ds.D)
	}
	if v.Normalize {
		v.Unit = f.takePositive(fmt.Sprintf("view.%d.unit", i), ds.D)
	}
	if in.Gaps {
		v.Expected, v.ExpectedSelf = f.take(fmt.Sprintf("view.%d.expected", i), ds.D), j.Expected
	}
	if f.err != nil {
		return v, f.err
	}
	if v.Sight.Ranks && in.Ranks == nil {
		in.Ranks = gram.NewRanks(in.Present(in.Basis))
	}
	v.Derive()
	return v, nil
}

// sight returns what the view sees of its input.
func (j viewJSON) sight() gram.Sight {
	return gram.Sight{Columns: j.Columns, Standardize: j.Standardize, Ranks: j.Ranks}
}

// check returns an error for settings that do not fit the view's kernel or its input.
func (j viewJSON) check(k kernel.Kernel, in *gram.Input) error {
	see := j.sight()
	if err := see.Check(in.Cols); err != nil {
		return err
	}
	if err := k.Check(see.Cols(in.Cols)); err != nil {
		return err
	}
	_, categories := k.(kernel.Categorical)
	given := k.Statistic().Kind == kernel.GivenStatistic
	switch {
	case kernel.LacksRange(k):
		return fmt.Errorf("kernel %v lacks its ranges", k)
	case k.Missing() != kernel.NoDistance:
		return fmt.Errorf("kernel %v lacks its width", k)
	case given != in.Given:
		return fmt.Errorf("kernel %v on the wrong sort of input", k)
	case j.Standardize && in.Mean == nil:
		return errors.New("the input has no means")
	case categories && (see.Standardize || see.Ranks):
		return errors.New("standardize or ranks with categories")
	case given && !see.Equal(gram.Sight{}):
		return errors.New("standardize, ranks or columns with a given kernel")
	case !(j.Largest > 0):
		return fmt.Errorf("largest is %g", j.Largest)
	}
	return nil
}

// takeLacking reads which of the d basis points lack a view. At least one must lack it, and at least two must have it.
func (f *fileReader) takeLacking(name string, d int) ([]bool, error) {
	x := f.take(name, d)
	if f.err != nil {
		return nil, f.err
	}
	is := make([]bool, d)
	for i, v := range x {
		if v != 0 && v != 1 {
			return nil, fmt.Errorf("tensor %q: entry %d is %g", name, i, v)
		}
		is[i] = v == 1
	}
	if n := vec.Count(is); n == 0 || d-n < 2 {
		return nil, fmt.Errorf("tensor %q: %d of %d basis points lack the view", name, n, d)
	}
	return is, nil
}
