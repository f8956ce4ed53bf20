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

// A file holds tensors and, as text, what format, version and kind of model it is
// and the settings of that model, as JSON. docs/theory/model-file.md describes it. Each
// kind has settings of its own: the struct that its Save fills in and its decode
// reads, in which nothing else may stand.
const (
	fileFormat  = "bmkl"
	fileVersion = "1"
)

// kinds returns an empty model of each kind. Models with classes are of strings.
func kinds() []Model {
	return []Model{
		&RegressionModel{}, &SharedRegressionModel{}, &TaskRegressionModel{},
		&ClassifierModel[string]{}, &MultiLabelModel{}, &TaskClassifierModel{},
		&MultiGPModel{}, &MultiGPClassifierModel[string]{}, &ProbitClassifierModel[string]{},
		&MultiTaskModel{}, &SpikeSlabModel{}, &FactorAnalysisModel{},
		&AutoModel{}, &AutoTargetsModel{}, &AutoClassifierModel[string]{},
		&LandmarkGPModel{}, &LandmarkClassifierModel[string]{},
		&PairRegressionModel{}, &PairClassifierModel{},
		&SurvivalModel{}, &CountModel{},
	}
}

// Load reads a model of any kind. What it returns is a pointer to one of this
// package's models; those with classes have strings for them, the JSON text of
// classes that are no strings. The file need not be trusted: it is checked in full,
// and memory is taken in proportion to its true size.
func Load(r io.Reader) (Model, error) {
	f, err := readFile(r)
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

// Saved is what a file holds: a [Model] of any kind, a [Plan] or a [ClassPlan].
type Saved interface {
	// Kind returns what a file calls this kind.
	Kind() string

	// Save writes a file that [LoadAs] reads.
	Save(w io.Writer) error

	decode(f *fileReader) error
}

// LoadAs reads a file that must hold what M is:
//
//	model, err := mkl.LoadAs[*mkl.RegressionModel](file)
//	model, err := mkl.LoadAs[*mkl.ClassifierModel[int]](file)
//	plan, err := mkl.LoadAs[*mkl.Plan](file)
//
// A file of another kind is a *[KindError]. Classes of another type are an error; classes of a plan that are no strings become
// their JSON text where T is string. The file is checked as by [Load].
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

// decode fills in s, which is empty and of the file's kind.
func decode(f *fileReader, s Saved) error {
	if err := s.decode(f); err != nil {
		return loadError(err)
	}
	if m, ok := s.(Model); ok {
		return checkWeights(m.KernelWeights())
	}
	return nil
}

// loadError says what is wrong with a file. Messages
// that quote from it are cut off: what a file holds may be long.
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

// fileReader is a file that has been read: decoders take its settings, and then
// its tensors one by one.
type fileReader struct {
	kind     string
	text     string // the settings as JSON
	tensors  map[string]tensor
	prefix   string // of the names of the tensors that are taken
	err      error  // the first of the tensors taken
	anyClass bool   // classes of any type may become strings
}

// readFile reads a file and checks that this version can read its format.
func readFile(r io.Reader) (*fileReader, error) {
	metadata, ts, err := readTensors(r)
	if err != nil {
		return nil, err
	}
	if f := metadata["format"]; f != fileFormat {
		return nil, fmt.Errorf("format is %q, not %q", f, fileFormat)
	}
	if v := metadata["version"]; v != fileVersion {
		return nil, fmt.Errorf("version is %q and this program reads version %s", v, fileVersion)
	}
	return &fileReader{kind: metadata["kind"], text: metadata["model"], tensors: ts}, nil
}

// settings stores the settings in j, which must have a field for each of them.
func (f *fileReader) settings(j any) error {
	if err := strictJSON([]byte(f.text), j); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// size returns the number of elements of a tensor, 0 if it is not there. Sizes of a
// model come from elements that are there and not from shapes, which a file can
// claim at no cost.
func (f *fileReader) size(name string) int { return len(f.tensors[f.prefix+name].data) }

// has reports whether there is such a tensor.
func (f *fileReader) has(name string) bool {
	_, ok := f.tensors[f.prefix+name]
	return ok
}

// take returns the elements of a tensor, which must have the shape and be finite.
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
	if err := checkTensor(name, t.data); err != nil {
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

// triangle returns the number of entries of the triangle of n rows of a matrix, or −1, which no tensor
// has, where an int cannot hold those of the matrix.
func triangle(n int) int {
	if n > 0 && n+1 > math.MaxInt/n {
		return -1
	}
	return n * (n + 1) / 2
}

// takeLower is take for a lower triangle, packed.
func (f *fileReader) takeLower(name string, n int) la.Matrix[float64] {
	x := f.take(name, triangle(n))
	if x == nil {
		return la.Matrix[float64]{}
	}
	return unpackLower(n, x)
}

// takeUpper is takeLower of a symmetric matrix of which the upper triangle counts.
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

// takeTargets takes how the targets were standardised.
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

// checkCovariance keeps what is wrong with a covariance, if that is the first error.
func (f *fileReader) checkCovariance(name string, x la.Matrix[float64]) {
	if f.err != nil {
		return
	}
	if err := jitter.Covariance(x); err != nil {
		f.err = fmt.Errorf("tensor %q: %w", name, err)
	}
}

// takeRecord takes the record of a fit of so many outputs.
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

// close reports a tensor that is missing, damaged, or left over.
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
	err     error  // the first of what could not be encoded
}

// fail keeps the first error.
func (f *fileWriter) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// add adds a tensor. [Load] refuses one that is not finite, and so does add.
func (f *fileWriter) add(name string, data []float64, shape ...int) {
	if err := checkTensor(f.prefix+name, data); err != nil {
		f.fail(err)
	}
	f.tensors = append(f.tensors, tensor{f.prefix + name, shape, data})
}

// addTargets adds how the targets were standardised.
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
		err = writeTensors(w, map[string]string{"format": fileFormat, "version": fileVersion, "kind": kind, "model": string(text)}, f.tensors)
	}
	if err != nil {
		return fmt.Errorf("mkl: save: %w", err)
	}
	return nil
}

// strictJSON decodes one JSON value, all of whose fields must be known.
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

// flat returns the elements of x row by row.
func flat(x la.Matrix[float64]) []float64 {
	if x.Stride == x.Cols {
		return x.Data[:x.Rows*x.Cols]
	}
	return x.Clone().Data
}

// pairs returns shape and scale of each factor.
func pairs(g []Gamma) []float64 {
	out := make([]float64, 0, 2*len(g))
	for _, f := range g {
		out = append(out, f.Shape, f.Scale)
	}
	return out
}

// unpair undoes pairs.
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

// packUpper is packLower of a symmetric matrix of which the upper triangle counts.
func packUpper(x la.Matrix[float64]) []float64 {
	out := make([]float64, 0, x.Rows*(x.Rows+1)/2)
	for i := range x.Rows {
		for j := range i + 1 {
			out = append(out, x.Data[j*x.Stride+i])
		}
	}
	return out
}

// unpackLower undoes packLower.
func unpackLower(n int, packed []float64) la.Matrix[float64] {
	x := la.NewMatrix[float64](n, n)
	for i := range n {
		copy(x.Row(i), packed[i*(i+1)/2:][:i+1])
	}
	return x
}
