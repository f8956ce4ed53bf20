package mkl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// designJSON is the part of the settings of a model fitted to views.
type designJSON struct {
	Basis   int             `json:"basis"`   // D
	Samples int             `json:"samples"` // N
	Inputs  []inputJSON     `json:"inputs"`
	Views   json.RawMessage `json:"views"` // an array of viewJSON
}

type (
	inputJSON struct {
		Cols  int  `json:"cols"`
		Given bool `json:"given,omitempty"`
		Gaps  bool `json:"gaps,omitempty"`
	}
	viewJSON struct {
		Name        string     `json:"name"`
		Kernel      kernelJSON `json:"kernel"`
		Input       int        `json:"input"`
		Columns     []int      `json:"columns,omitempty"`
		Standardize bool       `json:"standardize,omitempty"`
		Ranks       bool       `json:"ranks,omitempty"`
		Center      bool       `json:"center,omitempty"`
		Normalize   bool       `json:"normalize,omitempty"`
		TotalMean   float64    `json:"total_mean,omitempty"`
		Largest     float64    `json:"largest"`
		Expected    float64    `json:"expected_self,omitempty"`
	}
	kernelJSON struct {
		Kind            string    `json:"kind"`
		Width           float64   `json:"width,omitempty"`
		Scale           float64   `json:"scale,omitempty"`
		Widths          []float64 `json:"widths,omitempty"`
		Manhattan       bool      `json:"manhattan,omitempty"`
		Overlap         bool      `json:"overlap,omitempty"`
		Degree          int       `json:"degree,omitempty"`
		Offset          float64   `json:"offset,omitempty"`
		AllowIndefinite bool      `json:"allow_indefinite,omitempty"`
	}
)

// addDesign adds the design and returns its part of the settings.
func (f *fileWriter) addDesign(ds *design, samples int) designJSON {
	D := ds.d
	j := designJSON{Basis: D, Samples: samples}
	for i, in := range ds.inputs {
		j.Inputs = append(j.Inputs, inputJSON{Cols: in.cols, Given: in.given, Gaps: in.gaps})
		if !in.given {
			f.add(fmt.Sprintf("input.%d.basis", i), flat(in.basis), D, in.cols)
		}
		if in.lacking != nil {
			f.add(fmt.Sprintf("input.%d.lacking", i), numbers(in.lacking), D)
		}
		if in.mean != nil {
			f.add(fmt.Sprintf("input.%d.mean", i), in.mean, in.cols)
			f.add(fmt.Sprintf("input.%d.sd", i), in.sd, in.cols)
		}
	}
	var views []viewJSON
	for i, v := range ds.views {
		k, err := encodeKernel(v.kernel)
		if err != nil {
			f.fail(fmt.Errorf("view %q: %w", v.name, err))
		}
		views = append(views, viewJSON{
			Name: v.name, Kernel: k, Input: v.input,
			Columns: v.sight.columns, Standardize: v.sight.standardize, Ranks: v.sight.ranks, Center: v.center, Normalize: v.normalize, TotalMean: v.totalMean, Largest: v.largest,
			Expected: v.expectedSelf,
		})
		if v.expected != nil {
			f.add(fmt.Sprintf("view.%d.expected", i), v.expected, D)
		}
		if v.center {
			f.add(fmt.Sprintf("view.%d.row_mean", i), v.rowMean, D)
		}
		if v.normalize {
			f.add(fmt.Sprintf("view.%d.unit", i), v.unit, D)
		}
	}
	for i, in := range ds.inputs {
		if in.apart {
			f.addRanks(fmt.Sprintf("input.%d.ranks", i), in.ranks)
		}
	}
	if ds.share != nil {
		f.add("share", ds.share, D)
	}
	text, err := json.Marshal(views)
	if err != nil {
		f.fail(err)
	}
	j.Views = text
	return j
}

// addRanks adds the sorted values by which ranks are told, a row for each column.
func (f *fileWriter) addRanks(name string, r *rankScores) {
	cols, n := len(r.sorted), len(r.sorted[0])
	f.add(name, slices.Concat(r.sorted...), cols, n)
}

// takeRanks takes what addRanks adds.
func (f *fileReader) takeRanks(name string, cols int) (*rankScores, error) {
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
	return newRankScores(samples), nil
}

// takeOnViews takes the record and the design of a model of L outputs and P
// kernels. If they belong to Gaussian processes, a prediction needs the kernels of
// samples with themselves.
func (f *fileReader) takeOnViews(r recordJSON, j designJSON, L, P int, process bool) (m onViews, err error) {
	if m.record, err = f.takeRecord(r, L); err != nil {
		return m, err
	}
	if m.design, err = f.takeDesign(j, P, process); err != nil {
		return m, err
	}
	return m, f.err
}

// takeDesign takes a design of P kernels.
func (f *fileReader) takeDesign(j designJSON, P int, process bool) (*design, error) {
	if len(j.Inputs) < 1 || len(j.Inputs) > P {
		return nil, fmt.Errorf("model: %d inputs for %d views", len(j.Inputs), P)
	}
	ds := &design{d: j.Basis}
	for i, in := range j.Inputs {
		b := input{cols: in.Cols, given: in.Given, gaps: in.Gaps}
		switch {
		case in.Given && in.Gaps:
			return nil, fmt.Errorf("model: inputs[%d]: given kernels with gaps", i)
		case in.Given && in.Cols != ds.d && in.Cols != ds.d+1:
			return nil, fmt.Errorf("model: inputs[%d]: %d columns for %d basis points", i, in.Cols, ds.d)
		case !in.Given && j.Samples != ds.d && (in.Gaps || process && !f.has("share")):
			return nil, fmt.Errorf("model: %d samples and %d basis points, which must be the same for features here", j.Samples, ds.d)
		case !in.Given && in.Cols < 1:
			return nil, fmt.Errorf("model: inputs[%d]: %d columns", i, in.Cols)
		case !in.Given:
			name := fmt.Sprintf("input.%d.", i)
			b.basis = f.takeMatrix(name+"basis", ds.d, in.Cols)
			if in.Gaps && f.has(name+"lacking") {
				var err error
				if b.lacking, err = f.takeLacking(name+"lacking", ds.d); err != nil {
					return nil, err
				}
			}
			if f.has(name + "mean") {
				b.mean, b.sd = f.take(name+"mean", in.Cols), f.takePositive(name+"sd", in.Cols)
			}
			if f.err != nil {
				return nil, f.err
			}
		}
		ds.inputs = append(ds.inputs, b)
	}
	used := make([]bool, len(ds.inputs))
	selfColumn := make([]bool, len(ds.inputs))
	views, err := decodeViews(j.Views, P)
	if err != nil {
		return nil, fmt.Errorf("model: views: %w", err)
	}
	for i, vj := range views {
		v, err := f.takeView(i, vj, ds)
		if err != nil {
			return nil, fmt.Errorf("model: views[%d]: %w", i, err)
		}
		ds.views = append(ds.views, v)
		used[v.input] = true
		if _, ok := v.kernel.(Precomputed); ok && (v.normalize || process) {
			selfColumn[v.input] = true
		}
	}
	for i := range ds.inputs {
		in, name := &ds.inputs[i], fmt.Sprintf("input.%d.ranks", i)
		if in.apart = in.ranks != nil && f.has(name); in.apart {
			if in.ranks, err = f.takeRanks(name, in.cols); err != nil {
				return nil, err
			}
		}
	}
	for i, in := range ds.inputs {
		if !used[i] {
			return nil, fmt.Errorf("model: inputs[%d] has no view", i)
		}
		if in.given && (in.cols == ds.d+1) != selfColumn[i] {
			return nil, fmt.Errorf("model: inputs[%d]: %d columns for %d basis points", i, in.cols, ds.d)
		}
	}
	if process && j.Samples != ds.d {
		if ds.linearFeatures() == 0 {
			return nil, errors.New("model: kernels that few samples do not span")
		}
		ds.share = f.take("share", ds.d)
	}
	ds.group()
	return ds, nil
}

// decodeViews reads an array of exactly n views.
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

// takeView takes view i of the design.
func (f *fileReader) takeView(i int, j viewJSON, ds *design) (v boundView, err error) {
	if j.Input < 0 || j.Input >= len(ds.inputs) {
		return v, fmt.Errorf("input %d of %d", j.Input, len(ds.inputs))
	}
	in := &ds.inputs[j.Input]
	k, err := decodeKernel(j.Kernel)
	if err != nil {
		return v, err
	}
	see := sight{columns: j.Columns, standardize: j.Standardize, ranks: j.Ranks}
	if err := see.check(in.cols); err != nil {
		return v, err
	}
	if err := k.check(see.cols(in.cols)); err != nil {
		return v, err
	}
	_, categories := k.(Categorical)
	_, function := k.(Function)
	switch isGiven := k.statistic().kind == given; {
	case function && f.kind != (*MultiTaskModel)(nil).Kind():
		return v, errors.New("a function is for multi-task models")
	case function && (len(j.Columns) != 1 || j.Center || j.Normalize):
		return v, errors.New("a function is one column, neither centred nor normalised")
	case k.lacks() != noFigure:
		return v, fmt.Errorf("kernel %v lacks its width", k)
	case isGiven != in.given:
		return v, fmt.Errorf("kernel %v on the wrong sort of input", k)
	case j.Standardize && in.mean == nil:
		return v, errors.New("the input has no means")
	case categories && (see.standardize || see.ranks):
		return v, errors.New("standardize or ranks with categories")
	case isGiven && !see.equal(sight{}):
		return v, errors.New("standardize, ranks or columns with a given kernel")
	case !(j.Largest > 0):
		return v, fmt.Errorf("largest is %g", j.Largest)
	}
	v = boundView{
		name: j.Name, kernel: k.resolve(0), input: j.Input, sight: see,
		center: j.Center, normalize: j.Normalize, totalMean: j.TotalMean, largest: j.Largest,
	}
	if v.center {
		v.rowMean = f.take(fmt.Sprintf("view.%d.row_mean", i), ds.d)
	}
	if v.normalize {
		v.unit = f.takePositive(fmt.Sprintf("view.%d.unit", i), ds.d)
	}
	if in.gaps {
		v.expected, v.expectedSelf = f.take(fmt.Sprintf("view.%d.expected", i), ds.d), j.Expected
	}
	if f.err != nil {
		return v, f.err
	}
	if v.sight.ranks && in.ranks == nil {
		in.ranks = newRankScores(in.present(in.basis))
	}
	v.derive()
	return v, nil
}

func encodeKernel(k Kernel) (kernelJSON, error) {
	switch k := k.(type) {
	case RBF:
		return kernelJSON{Kind: "rbf", Width: k.Width, Scale: k.Scale, Widths: k.Widths}, nil
	case Laplacian:
		return kernelJSON{Kind: "laplacian", Width: k.Width, Widths: k.Widths, Manhattan: k.Manhattan}, nil
	case Categorical:
		return kernelJSON{Kind: "categorical", Width: k.Width, Overlap: k.Overlap}, nil
	case Constant:
		return kernelJSON{Kind: "constant"}, nil
	case Function:
		return kernelJSON{Kind: "function"}, nil
	case Linear:
		return kernelJSON{Kind: "linear", Scale: k.Scale}, nil
	case Polynomial:
		return kernelJSON{Kind: "polynomial", Degree: k.Degree, Offset: k.Offset, Scale: k.Scale}, nil
	case FromDistance:
		return kernelJSON{Kind: "distance", Scale: k.Scale}, nil
	case Precomputed:
		return kernelJSON{Kind: "precomputed", AllowIndefinite: k.AllowIndefinite}, nil
	}
	return kernelJSON{}, fmt.Errorf("the kernel %v cannot be saved", k)
}

func decodeKernel(j kernelJSON) (Kernel, error) {
	switch j.Kind {
	case "rbf":
		return RBF{Width: j.Width, Scale: j.Scale, Widths: j.Widths}, nil
	case "laplacian":
		return Laplacian{Width: j.Width, Widths: j.Widths, Manhattan: j.Manhattan}, nil
	case "categorical":
		return Categorical{Width: j.Width, Overlap: j.Overlap}, nil
	case "constant":
		return Constant{}, nil
	case "function":
		return Function{}, nil
	case "linear":
		return Linear{Scale: j.Scale}, nil
	case "polynomial":
		return Polynomial{Degree: j.Degree, Offset: j.Offset, Scale: j.Scale}, nil
	case "distance":
		return FromDistance{Scale: j.Scale}, nil
	case "precomputed":
		return Precomputed{AllowIndefinite: j.AllowIndefinite}, nil
	}
	return nil, fmt.Errorf("kernel kind %q is unknown", j.Kind)
}
