package mkl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/la"
)

// A file holds tensors and, as text, its format and version, the kind of model, and
// the settings of that model, as JSON. docs/theory/model-file.md describes it. Each
// kind has settings of its own: the struct that its Save fills in and its decode
// reads, without any other field.
const (
	fileFormat  = "bmkl"
	fileVersion = "1"
)

// kinds returns an empty model of each kind. The classes of models with classes are strings.
func kinds() []Model {
	return []Model{
		&RegressionModel{}, &SharedRegressionModel{}, &TaskRegressionModel{},
		&ClassifierModel[string]{}, &MultiLabelModel{}, &TaskClassifierModel{},
		&MultiGPModel{}, &MultiGPClassifierModel[string]{}, &ProbitClassifierModel[string]{},
		&MultiTaskModel{}, &SpikeSlabModel{}, &FactorAnalysisModel{},
		&AutoModel{}, &AutoTargetsModel{}, &AutoClassifierModel[string]{},
		&LandmarkGPModel{}, &LandmarkClassifierModel[string]{},
		&PairRegressionModel{}, &PairClassifierModel{},
		&SurvivalModel{}, &CountModel{}, &OrdinalModel[string]{},
	}
}

// Load reads a model of any kind. It returns a pointer to one of this
// package's models. The classes of a model are strings; classes that were not strings become their JSON
// text. The file need not be trusted: Load checks all of it, and takes memory in
// proportion to the file's true size.
func Load(r io.Reader) (Model, error) {
	return loadIn(r, nil)
}

// loadIn is Load of a file that lies in memory; nil if it does not.
func loadIn(r io.Reader, memory []byte) (Model, error) {
	f, err := readFileIn(r, memory)
	if err != nil {
		return nil, loadError(err)
	}
	f.anyClass = true
	for _, m := range kinds() {
		if m.Kind() != f.kind {
			continue
		}
		if err := decode(f, m); err != nil {
			return nil, err
		}
		return m, nil
	}
	return nil, loadError(fmt.Errorf("kind is %q, which this program does not know", f.kind))
}

// Saved is what a file can hold: a [Model] of any kind, a [Plan] or a [ClassPlan].
type Saved interface {
	// Kind returns the name of this kind in files.
	Kind() string

	// Save writes a file that [LoadAs] reads.
	Save(w io.Writer) error

	decode(f *fileReader) error
}

// LoadAs reads a file that must hold the type M:
//
//	model, err := mkl.LoadAs[*mkl.RegressionModel](file)
//	model, err := mkl.LoadAs[*mkl.ClassifierModel[int]](file)
//	plan, err := mkl.LoadAs[*mkl.Plan](file)
//
// It returns a *[KindError] for a file of another kind, and an error if the classes have another type than T. If T is string,
// the classes of a plan that are not strings become their JSON text. LoadAs checks the file as [Load] does.
func LoadAs[M interface {
	*T
	Saved
}, T any](r io.Reader) (M, error) {
	f, err := readFile(r)
	if err != nil {
		return nil, loadError(err)
	}
	m := M(new(T))
	if f.kind != m.Kind() {
		return nil, loadError(&KindError{Kind: f.kind, Want: m.Kind()})
	}
	if err := decode(f, m); err != nil {
		return nil, err
	}
	return m, nil
}

// decode fills in s, which must be empty and of the file's kind.
func decode(f *fileReader, s Saved) error {
	p, err := f.takePrepared()
	if err == nil {
		err = s.decode(f)
	}
	if err != nil {
		return loadError(err)
	}
	if keeper, ok := s.(interface{ keep(*prepared) }); ok {
		keeper.keep(p)
	}
	if m, ok := s.(Model); ok {
		return checkWeights(m.KernelWeights())
	}
	return nil
}

// loadError wraps an error about a file. It cuts off a long message, because
// a message may quote the file.
func loadError(err error) error {
	const longest = 1000
	text := err.Error()
	if len(text) <= longest {
		return fmt.Errorf("mkl: load: %w", err)
	}
	return fmt.Errorf("mkl: load: %s…", strings.ToValidUTF8(text[:longest], ""))
}

// recordJSON is the part of the settings that every kind has.
type recordJSON struct {
	Trace struct {
		Converged bool   `json:"converged"`
		Reason    string `json:"reason"`
		Left      int    `json:"left,omitempty"`
		Collapsed []int  `json:"collapsed,omitempty"`
	} `json:"trace"`
	Notes map[string]string `json:"notes,omitempty"`
}

// fileReader is a file that has been read: decoders read its settings first, and then
// its tensors one by one.
type fileReader struct {
	kind     string
	text     string // the settings as JSON
	tensors  map[string]tensor
	prefix   string // of the names of the tensors that are read
	err      error  // the first error of the tensors read
	anyClass bool   // classes of any type may become strings

	prepared string // the settings of prepared values; empty without any
}

// readFile reads a file and checks that this version can read its format.
func readFile(r io.Reader) (*fileReader, error) { return readFileIn(r, nil) }

// readFileIn is readFile of a file that lies in memory; nil if it does not.
func readFileIn(r io.Reader, memory []byte) (*fileReader, error) {
	metadata, ts, err := readTensorsIn(r, memory)
	if err != nil {
		return nil, err
	}
	if f := metadata["format"]; f != fileFormat {
		return nil, fmt.Errorf("format is %q, not %q", f, fileFormat)
	}
	if v := metadata["version"]; v != fileVersion {
		return nil, fmt.Errorf("version is %q and this program reads version %s", v, fileVersion)
	}
	return &fileReader{kind: metadata["kind"], text: metadata["model"], tensors: ts, prepared: metadata[preparedKey]}, nil
}

// settings decodes the settings into j, which must have a field for each of them.
func (f *fileReader) settings(j any) error {
	if err := strictJSON([]byte(f.text), j); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// size returns the number of elements of a tensor, or 0 if the file lacks it. Sizes of a
// model come from the elements in the file and not from shapes, because a file can
// claim any shape at no cost.
func (f *fileReader) size(name string) int { return len(f.tensors[f.prefix+name].data) }

// has reports whether there is such a tensor.
func (f *fileReader) has(name string) bool {
	_, ok := f.tensors[f.prefix+name]
	return ok
}

// take returns the elements of a tensor, which must be finite and have the given shape.
// Otherwise it returns nil and keeps the error.
func (f *fileReader) take(name string, shape ...int) []float64 {
	x, err := f.find(name, shape)
	if f.err == nil {
		f.err = err
	}
	return x
}

func (f *fileReader) find(name string, shape []int) ([]float64, error) {
	name = f.prefix + name
	t, ok := f.tensors[name]
	if !ok {
		return nil, fmt.Errorf("tensor %q is missing", name)
	}
	delete(f.tensors, name)
	if !slices.Equal(t.shape, shape) {
		return nil, fmt.Errorf("tensor %q: shape is %v where %v is expected", name, t.shape, shape)
	}
	if err := checkTensor(name, 0, t.data); err != nil {
		return nil, err
	}
	return t.data, nil
}

// takePositive is take for elements that must be positive.
func (f *fileReader) takePositive(name string, shape ...int) []float64 {
	x := f.take(name, shape...)
	for i, v := range x {
		if !(v > 0) {
			if f.err == nil {
				f.err = fmt.Errorf("tensor %q: element %d is %g", name, i, v)
			}
			return nil
		}
	}
	return x
}

// takeMatrix is take for a matrix.
func (f *fileReader) takeMatrix(name string, rows, cols int) la.Matrix[float64] {
	x := f.take(name, rows, cols)
	if x == nil {
		return la.Matrix[float64]{}
	}
	return la.MatrixOf(rows, cols, x)
}

// triangle returns the number of entries in the triangle of an n×n matrix. If an int cannot hold
// the number of the matrix's entries it returns −1, which is the size of no tensor.
func triangle(n int) int {
	if n > 0 && n+1 > math.MaxInt/n {
		return -1
	}
	return n * (n + 1) / 2
}

// takeLower is take for a packed lower triangle.
func (f *fileReader) takeLower(name string, n int) la.Matrix[float64] {
	x := f.take(name, triangle(n))
	if x == nil {
		return la.Matrix[float64]{}
	}
	return unpackLower(n, x)
}

// takeUpper is takeLower for a symmetric matrix that is kept in its upper triangle.
func (f *fileReader) takeUpper(name string, n int) la.Matrix[float64] {
	x := f.take(name, triangle(n))
	if x == nil {
		return la.Matrix[float64]{}
	}
	m, at := la.NewMatrix[float64](n, n), 0
	for i := range n {
		for j := range i + 1 {
			m.Data[j*n+i] = x[at]
			at++
		}
	}
	return m
}

// takeTargets reads the means and standard deviations that standardised the targets.
func (f *fileReader) takeTargets(n int) []target {
	mean, sd := f.take("target.mean", n), f.takePositive("target.sd", n)
	if mean == nil || sd == nil {
		return nil
	}
	targets := make([]target, n)
	for o := range targets {
		targets[o] = target{mean[o], sd[o]}
	}
	return targets
}

// takeCovariance is take for a covariance.
func (f *fileReader) takeCovariance(name string, order int) la.Matrix[float64] {
	x := f.takeMatrix(name, order, order)
	f.checkCovariance(name, x)
	return x
}

// checkCovariance keeps the error of an invalid covariance, unless there is an earlier error.
func (f *fileReader) checkCovariance(name string, x la.Matrix[float64]) {
	if f.err != nil {
		return
	}
	if err := jitter.Covariance(x); err != nil {
		f.err = fmt.Errorf("tensor %q: %w", name, err)
	}
}

// takeRecord reads the record of a fit of the given number of outputs.
func (f *fileReader) takeRecord(j recordJSON, outputs int) (record, error) {
	for _, o := range j.Trace.Collapsed {
		if o < 0 || o >= outputs {
			return record{}, fmt.Errorf("model: trace.collapsed names target %d of %d", o, outputs)
		}
	}
	t := Trace{
		Bounds:    f.take("trace.bounds", f.size("trace.bounds")),
		Converged: j.Trace.Converged, Reason: j.Trace.Reason, Left: j.Trace.Left, collapsed: j.Trace.Collapsed,
	}
	t.Sweeps = len(t.Bounds)
	return record{trace: t, notes: j.Notes}, nil
}

// close returns an error if a tensor is missing, damaged, or left over.
func (f *fileReader) close() error {
	if f.err != nil {
		return f.err
	}
	for _, name := range slices.Sorted(maps.Keys(f.tensors)) {
		return fmt.Errorf("tensor %q is not expected", name)
	}
	return nil
}

// fileWriter collects the tensors of a file.
type fileWriter struct {
	tensors []tensor
	prefix  string // of the names of the tensors that are added
	err     error  // the first error of encoding

	prepared string // the settings of prepared values; empty without any
}

// fail keeps the first error.
func (f *fileWriter) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// add adds a tensor. A tensor with NaN or infinity is an error, because [Load] refuses it.
func (f *fileWriter) add(name string, data []float64, shape ...int) {
	f.addTensor(tensor{name: name, shape: shape, data: data})
}

// addLower adds the lower triangle of a square matrix as a tensor with one axis.
func (f *fileWriter) addLower(name string, x la.Matrix[float64]) {
	f.addTensor(tensor{name: name, shape: []int{triangle(x.Rows)}, lower: x})
}

func (f *fileWriter) addTensor(t tensor) {
	t.name = f.prefix + t.name
	first := 0
	for part := range t.parts() {
		if err := checkTensor(t.name, first, part); err != nil {
			f.fail(err)
			break
		}
		first += len(part)
	}
	f.tensors = append(f.tensors, t)
}

// addTargets adds the means and standard deviations that standardised the targets.
func (f *fileWriter) addTargets(targets ...target) {
	mean, sd := make([]float64, len(targets)), make([]float64, len(targets))
	for o, t := range targets {
		mean[o], sd[o] = t.mean, t.sd
	}
	f.add("target.mean", mean, len(mean))
	f.add("target.sd", sd, len(sd))
}

// addRecord adds the record of the fit and returns its part of the settings.
func (f *fileWriter) addRecord(r *record) (j recordJSON) {
	f.add("trace.bounds", r.trace.Bounds, len(r.trace.Bounds))
	j.Trace.Converged, j.Trace.Reason, j.Trace.Collapsed = r.trace.Converged, r.trace.Reason, r.trace.collapsed
	j.Trace.Left = r.trace.Left
	j.Notes = r.notes
	return j
}

// write writes the file of a model of the given kind.
func (f *fileWriter) write(w io.Writer, kind string, settings any) error {
	text, err := json.Marshal(settings)
	if f.err != nil {
		err = f.err
	}
	if err == nil {
		metadata := map[string]string{"format": fileFormat, "version": fileVersion, "kind": kind, "model": string(text)}
		if f.prepared != "" {
			metadata[preparedKey] = f.prepared
		}
		err = writeTensors(w, metadata, f.tensors)
	}
	if err != nil {
		return fmt.Errorf("mkl: save: %w", err)
	}
	return nil
}

// strictJSON decodes one JSON value; a field that v does not have is an error.
func strictJSON(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text follows the JSON value")
	}
	return nil
}

// flat returns the elements of x in the order of rows.
func flat(x la.Matrix[float64]) []float64 {
	if x.Stride == x.Cols {
		return x.Data[:x.Rows*x.Cols]
	}
	return x.Clone().Data
}

// pairs returns the shape and the scale of each gamma distribution.
func pairs(g []Gamma) []float64 {
	out := make([]float64, 0, 2*len(g))
	for _, f := range g {
		out = append(out, f.Shape, f.Scale)
	}
	return out
}

// unpair is the inverse of pairs.
func unpair(x []float64) []Gamma {
	out := make([]Gamma, len(x)/2)
	for i := range out {
		out[i] = Gamma{Shape: x[2*i], Scale: x[2*i+1]}
	}
	return out
}

// packLower returns the rows of the lower triangle, diagonal included.
func packLower(x la.Matrix[float64]) []float64 {
	out := make([]float64, 0, x.Rows*(x.Rows+1)/2)
	for i := range x.Rows {
		out = append(out, x.Row(i)[:i+1]...)
	}
	return out
}

// packUpper is packLower for a symmetric matrix that is kept in its upper triangle.
func packUpper(x la.Matrix[float64]) []float64 {
	out := make([]float64, 0, x.Rows*(x.Rows+1)/2)
	for i := range x.Rows {
		for j := range i + 1 {
			out = append(out, x.Data[j*x.Stride+i])
		}
	}
	return out
}

// unpackLower is the inverse of packLower.
func unpackLower(n int, packed []float64) la.Matrix[float64] {
	x := la.NewMatrix[float64](n, n)
	for i := range n {
		copy(x.Row(i), packed[i*(i+1)/2:][:i+1])
	}
	return x
}
