package mkl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// Model is what all fitted models have in common.
type Model interface {
	fmt.Stringer
	Inputs() []Input
	KernelWeights() []KernelWeight
	Bound() float64
	Trace() Trace
	Notes() map[string]string
	Summary() string

	// Save writes the model to a file that Load reads.
	Save(w io.Writer) error
}

const (
	fileFormat     = "bmkl"
	fileVersion    = "1"
	kindRegression = "regression"
	kindClassifier = "classifier"
	kindMultiLabel = "multilabel"

	kindSharedRegression = "shared-regression"

	kindMultiGP           = "multigp"
	kindMultiGPClassifier = "multigp-classifier"

	kindSpikeSlab = "spike-slab"
	kindMultiTask = "multi-task"

	kindProbitClassifier = "probit-classifier"
)

// Load reads a model of any kind: a *[RegressionModel], a
// *[SharedRegressionModel], a *[MultiLabelModel], a *[MultiGPModel], a
// *[SpikeSlabModel], a *[MultiTaskModel], or a *[ClassifierModel],
// *[MultiGPClassifierModel] or *[ProbitClassifierModel] of strings, which has the
// JSON text of classes that are no strings. The file need not be
// trusted: it is checked in full, and memory is taken in proportion to its true
// size.
func Load(r io.Reader) (Model, error) {
	return load(r, classReader(func(text json.RawMessage) (class string, err error) {
		if len(text) > 0 && text[0] != '"' {
			return string(text), nil
		}
		return class, json.Unmarshal(text, &class)
	}))
}

// LoadRegression is [Load] for a file that must hold a [RegressionModel].
func LoadRegression(r io.Reader) (*RegressionModel, error) { return loadAs[*RegressionModel](Load(r)) }

// LoadMultiLabel is [Load] for a file that must hold a [MultiLabelModel].
func LoadMultiLabel(r io.Reader) (*MultiLabelModel, error) { return loadAs[*MultiLabelModel](Load(r)) }

// LoadClassifier is [Load] for a file that must hold a [ClassifierModel] whose
// classes are of type T.
func LoadClassifier[T comparable](r io.Reader) (*ClassifierModel[T], error) {
	return loadAs[*ClassifierModel[T]](load(r, classReader(typedClass[T])))
}

func typedClass[T comparable](text json.RawMessage) (class T, err error) {
	return class, strictJSON(text, &class)
}

// classKinds are the readers of models with classes, by kind.
type classKinds map[string]func(modelFile) (Model, error)

func classReader[T comparable](decode func(json.RawMessage) (T, error)) classKinds {
	return classKinds{
		kindClassifier:        func(f modelFile) (Model, error) { return loadClassifier(f, decode) },
		kindMultiGPClassifier: func(f modelFile) (Model, error) { return loadMultiGPClassifier(f, decode) },
		kindProbitClassifier:  func(f modelFile) (Model, error) { return loadProbitClassifier(f, decode) },
	}
}

func loadAs[M Model](m Model, err error) (M, error) {
	as, ok := m.(M)
	if err == nil && !ok {
		err = fmt.Errorf("mkl: load: the file holds a model of another kind: %v", m)
	}
	return as, err
}

// modelFile is a file that has been read.
type modelFile struct {
	modelJSON
	L, P, D int
	ts      tensors
	err     error // the first of take
}

func load(r io.Reader, classes classKinds) (Model, error) {
	m, err := loadKind(r, classes)
	if err != nil {
		return nil, fmt.Errorf("mkl: load: %w", err)
	}
	return m, nil
}

func loadKind(r io.Reader, classes classKinds) (Model, error) {
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
	read, ok := map[string]func(modelFile) (Model, error){
		kindRegression: loadRegression, kindMultiLabel: loadMultiLabel, kindMultiGP: loadMultiGP,
		kindSharedRegression: loadSharedRegression, kindSpikeSlab: loadSpikeSlab, kindMultiTask: loadMultiTask,
		kindClassifier: classes[kindClassifier], kindMultiGPClassifier: classes[kindMultiGPClassifier],
		kindProbitClassifier: classes[kindProbitClassifier],
	}[metadata["kind"]]
	if !ok {
		return nil, fmt.Errorf("kind is %q, which this program does not know", metadata["kind"])
	}
	f := modelFile{ts: ts}
	if err := strictJSON([]byte(metadata["model"]), &f.modelJSON); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	switch metadata["kind"] {
	case kindSpikeSlab, kindMultiTask:
		return read(f)
	}
	if f.SpikeSlab != nil || f.MultiTask != nil {
		return nil, errors.New("model: settings of another kind")
	}
	if isProcess := strings.HasPrefix(metadata["kind"], kindMultiGP); isProcess != (f.Processes != nil) {
		return nil, errors.New("model: processes belong to multiple Gaussian processes")
	} else if isProcess {
		return loadProcesses(f, read)
	}
	if isProbit := metadata["kind"] == kindProbitClassifier; isProbit != (f.Probit != nil) {
		return nil, errors.New("model: probit belongs to multinomial probit classifiers")
	} else if isProbit {
		return read(f)
	}
	// Sizes come from elements that are there, not from shapes, which cost nothing.
	if metadata["kind"] == kindSharedRegression {
		if err := f.sharedSizes(); err != nil {
			return nil, err
		}
		return read(f)
	}
	f.L, f.P, f.D = len(ts["gamma"].data)/2, len(ts["omega"].data)/2, f.Basis
	if f.L < 1 || f.P < 1 || f.D < 1 || f.D != len(ts["lambda"].data)/f.L {
		return nil, fmt.Errorf("model: %d targets, %d kernels and %d basis points do not fit the tensors", f.L, f.P, f.D)
	}
	return read(f)
}

// The JSON part of a file: metadata["model"].
type (
	modelJSON struct {
		Basis   int               `json:"basis"`   // D
		Samples int               `json:"samples"` // N
		Inputs  []inputJSON       `json:"inputs"`
		Views   json.RawMessage   `json:"views"` // an array of viewJSON
		Priors  priorsJSON        `json:"priors,omitzero"`
		Trace   traceJSON         `json:"trace"`
		Notes   map[string]string `json:"notes,omitempty"`

		Margin  float64           `json:"margin,omitempty"`
		SigmaG  float64           `json:"sigma_g,omitempty"`
		Classes []json.RawMessage `json:"classes,omitempty"`

		Processes []processJSON  `json:"processes,omitempty"`
		SpikeSlab *spikeSlabJSON `json:"spike_slab,omitempty"`
		MultiTask *multiTaskJSON `json:"multi_task,omitempty"`
		Probit    *probitJSON    `json:"probit,omitempty"`
	}
	priorsJSON struct {
		Lambda  Gamma
		Upsilon *Gamma `json:",omitempty"`
		Gamma   Gamma
		Omega   Gamma
		Epsilon *Gamma `json:",omitempty"`
	}
	inputJSON struct {
		Cols  int  `json:"cols"`
		Given bool `json:"given,omitempty"`
	}
	viewJSON struct {
		Name        string     `json:"name"`
		Kernel      kernelJSON `json:"kernel"`
		Input       int        `json:"input"`
		Standardize bool       `json:"standardize,omitempty"`
		Center      bool       `json:"center,omitempty"`
		Normalize   bool       `json:"normalize,omitempty"`
		TotalMean   float64    `json:"total_mean,omitempty"`
		Largest     float64    `json:"largest"`
	}
	kernelJSON struct {
		Kind            string    `json:"kind"`
		Width           float64   `json:"width,omitempty"`
		Scale           float64   `json:"scale,omitempty"`
		Widths          []float64 `json:"widths,omitempty"`
		Manhattan       bool      `json:"manhattan,omitempty"`
		Degree          int       `json:"degree,omitempty"`
		Offset          float64   `json:"offset,omitempty"`
		AllowIndefinite bool      `json:"allow_indefinite,omitempty"`
	}
	traceJSON struct {
		Converged bool   `json:"converged"`
		Reason    string `json:"reason"`
		Collapsed []int  `json:"collapsed,omitempty"`
	}
)

func encodeKernel(k Kernel) (kernelJSON, error) {
	switch k := k.(type) {
	case RBF:
		return kernelJSON{Kind: "rbf", Width: k.Width, Scale: k.Scale, Widths: k.Widths}, nil
	case Laplacian:
		return kernelJSON{Kind: "laplacian", Width: k.Width, Manhattan: k.Manhattan}, nil
	case Linear:
		return kernelJSON{Kind: "linear"}, nil
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
		return Laplacian{Width: j.Width, Manhattan: j.Manhattan}, nil
	case "linear":
		return Linear{}, nil
	case "polynomial":
		return Polynomial{Degree: j.Degree, Offset: j.Offset, Scale: j.Scale}, nil
	case "distance":
		return FromDistance{Scale: j.Scale}, nil
	case "precomputed":
		return Precomputed{AllowIndefinite: j.AllowIndefinite}, nil
	}
	return nil, fmt.Errorf("kernel kind %q is unknown", j.Kind)
}

// fileWriter collects what a file will hold.
type fileWriter struct {
	modelJSON
	ts []tensor
}

func (f *fileWriter) add(name string, data []float64, shape ...int) {
	f.ts = append(f.ts, tensor{name, shape, data})
}

// write writes the file.
func (f *fileWriter) write(w io.Writer, kind string) error {
	text, err := json.Marshal(f.modelJSON)
	if err == nil {
		err = writeTensors(w, map[string]string{"format": fileFormat, "version": fileVersion, "kind": kind, "model": string(text)}, f.ts)
	}
	if err != nil {
		return fmt.Errorf("mkl: save: %w", err)
	}
	return nil
}

// Save writes the model to a file that [Load] reads: the posterior, the kernels,
// the basis points' features and the record of the fit. The loaded model gives
// the same predictions, bit for bit. Every basis point is kept, since the
// predictive variance depends on all of them. The file takes about 4·D² bytes
// for D basis points, and their features.
func (m *RegressionModel) Save(w io.Writer) error {
	s := m.posterior.State()
	L, P, _ := m.posterior.Dims()
	f, err := m.saveOutputs(s.Samples, s.Priors)
	if err != nil {
		return err
	}
	f.add("upsilon", pairs(s.Upsilon), L, 2)
	f.add("epsilon", pairs(s.Epsilon), L, 2)
	f.add("gamma", pairs(s.Gamma), L, 2)
	f.add("omega", pairs(s.Omega), P, 2)
	f.addWeights(s.Lambda, s.A, s.BEMean, s.BECov, s.Gram)
	return f.write(w, kindRegression)
}

// saveOutputs begins a file with what all regressions have.
func (m *outputs) saveOutputs(samples int, pr bemkl.RegressionPriors) (*fileWriter, error) {
	f, err := m.save()
	if err != nil {
		return nil, err
	}
	f.Samples = samples
	f.Priors = priorsJSON{Lambda: pr.Lambda, Upsilon: &pr.Upsilon, Gamma: pr.Gamma, Omega: pr.Omega, Epsilon: &pr.Epsilon}
	mean, sd := make([]float64, len(m.targets)), make([]float64, len(m.targets))
	for o, t := range m.targets {
		mean[o], sd[o] = t.mean, t.sd
	}
	f.add("target.mean", mean, len(mean))
	f.add("target.sd", sd, len(sd))
	return f, nil
}

// Save writes the model to a file that [Load] and [LoadClassifier] read, like
// [RegressionModel.Save]. Classes are kept as JSON.
func (m *ClassifierModel[T]) Save(w io.Writer) error {
	f, err := m.saveScores()
	if err != nil {
		return err
	}
	if err := encodeClasses(f, m.classes, m.text); err != nil {
		return err
	}
	return f.write(w, kindClassifier)
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *MultiLabelModel) Save(w io.Writer) error {
	f, err := m.saveScores()
	if err != nil {
		return err
	}
	return f.write(w, kindMultiLabel)
}

func (m *scores) saveScores() (*fileWriter, error) {
	s := m.posterior.State()
	L, P, _ := m.posterior.Dims()
	f, err := m.save()
	if err != nil {
		return nil, err
	}
	f.Samples, f.Margin, f.SigmaG = s.Samples, s.Margin, s.SigmaG
	f.Priors = priorsJSON{Lambda: s.Priors.Lambda, Gamma: s.Priors.Gamma, Omega: s.Priors.Omega}
	f.add("gamma", pairs(s.Gamma), L, 2)
	f.add("omega", pairs(s.Omega), P, 2)
	f.addWeights(s.Lambda, s.A, s.BEMean, s.BECov, s.Gram)
	return f, nil
}

func (f *fileWriter) addWeights(lambda, a la.Matrix[float64], beMean []float64, beCov, gram la.Matrix[float64]) {
	f.add("lambda", flat(lambda), lambda.Rows, lambda.Cols)
	f.add("a", flat(a), a.Rows, a.Cols)
	f.add("be.mean", beMean, len(beMean))
	f.add("be.cov", flat(beCov), beCov.Rows, beCov.Cols)
	f.add("gram", packLower(gram), gram.Rows*(gram.Rows+1)/2)
}

// save begins a file with the kernels and the record of the fit.
func (m *fitted) save() (*fileWriter, error) {
	D := m.design.d
	f := &fileWriter{modelJSON: modelJSON{
		Basis: D, Notes: m.notes,
		Trace: traceJSON{m.trace.Converged, m.trace.Reason, m.trace.collapsed},
	}}
	f.add("trace.bounds", m.trace.Bounds, len(m.trace.Bounds))
	for i, in := range m.design.inputs {
		f.Inputs = append(f.Inputs, inputJSON{Cols: in.cols, Given: in.given})
		if !in.given {
			f.add(fmt.Sprintf("input.%d.basis", i), flat(in.basis), D, in.cols)
		}
		if in.mean != nil {
			f.add(fmt.Sprintf("input.%d.mean", i), in.mean, in.cols)
			f.add(fmt.Sprintf("input.%d.sd", i), in.sd, in.cols)
		}
	}
	var views []viewJSON
	for i, v := range m.design.views {
		k, err := encodeKernel(v.kernel)
		if err != nil {
			return nil, fmt.Errorf("mkl: save: view %q: %w", v.name, err)
		}
		views = append(views, viewJSON{
			Name: v.name, Kernel: k, Input: v.input, Standardize: v.standardize,
			Center: v.center, Normalize: v.normalize, TotalMean: v.totalMean, Largest: v.largest,
		})
		if v.center {
			f.add(fmt.Sprintf("view.%d.row_mean", i), v.rowMean, D)
		}
		if v.normalize {
			f.add(fmt.Sprintf("view.%d.unit", i), v.unit, D)
		}
	}
	var err error
	if f.Views, err = json.Marshal(views); err != nil {
		return nil, fmt.Errorf("mkl: save: %w", err)
	}
	return f, nil
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

func unpackLower(n int, packed []float64) la.Matrix[float64] {
	x := la.NewMatrix[float64](n, n)
	for i := range n {
		copy(x.Row(i), packed[i*(i+1)/2:][:i+1])
	}
	return x
}

// tensors are those of a file, taken out one by one.
type tensors map[string]tensor

// take returns the elements of a tensor, which must have the shape and be finite.
func (ts tensors) take(name string, shape ...int) ([]float64, error) {
	t, ok := ts[name]
	if !ok {
		return nil, fmt.Errorf("tensor %q is missing", name)
	}
	delete(ts, name)
	if !slices.Equal(t.shape, shape) {
		return nil, fmt.Errorf("tensor %q: shape is %v where %v is expected", name, t.shape, shape)
	}
	if i := firstNonFinite(t.data); i >= 0 {
		return nil, fmt.Errorf("tensor %q: element %d is %g", name, i, t.data[i])
	}
	return t.data, nil
}

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

// take returns the elements of a tensor, or nil and keeps the error.
func (f *modelFile) take(name string, shape ...int) []float64 {
	x, err := f.ts.take(name, shape...)
	if f.err == nil {
		f.err = err
	}
	return x
}

func (f *modelFile) matrix(name string, rows, cols int) la.Matrix[float64] {
	x := f.take(name, rows, cols)
	if x == nil {
		return la.Matrix[float64]{}
	}
	return la.MatrixOf(rows, cols, x)
}

// gram returns S, and reports tensors that are left over.
func (f *modelFile) gram(beCov ...la.Matrix[float64]) (la.Matrix[float64], error) {
	packed := f.take("gram", f.D*(f.D+1)/2)
	if f.err != nil {
		return la.Matrix[float64]{}, f.err
	}
	for name := range f.ts {
		return la.Matrix[float64]{}, fmt.Errorf("tensor %q is not expected", name)
	}
	for _, cov := range beCov {
		if err := checkCovariance(cov); err != nil {
			return la.Matrix[float64]{}, fmt.Errorf("tensor %q: %w", "be.cov", err)
		}
	}
	return unpackLower(f.D, packed), nil
}

// fitted returns the kernels and the record of the fit.
func (f *modelFile) fitted() (m fitted, err error) {
	for _, o := range f.Trace.Collapsed {
		if o < 0 || o >= f.L {
			return m, fmt.Errorf("model: trace.collapsed names target %d of %d", o, f.L)
		}
	}
	if m.design, err = loadDesign(f.modelJSON, f.P, f.ts); err != nil {
		return m, err
	}
	m.notes, m.trace = f.Notes, f.trace()
	return m, f.err
}

// trace returns the record of the fit.
func (f *modelFile) trace() Trace {
	t := Trace{
		Bounds:    f.take("trace.bounds", len(f.ts["trace.bounds"].data)),
		Converged: f.Trace.Converged, Reason: f.Trace.Reason, collapsed: f.Trace.Collapsed,
	}
	t.Sweeps = len(t.Bounds)
	return t
}

// outputs reads what all regressions have, and returns the priors.
func (f *modelFile) outputs(m *outputs) (priors bemkl.RegressionPriors, err error) {
	if m.fitted, err = f.fitted(); err != nil {
		return priors, err
	}
	if f.Priors.Upsilon == nil || f.Priors.Epsilon == nil {
		return priors, errors.New("model: priors are missing")
	}
	if f.Margin != 0 || f.SigmaG != 0 || f.Classes != nil {
		return priors, errors.New("model: settings of a classifier")
	}
	mean, sd := f.take("target.mean", f.L), f.take("target.sd", f.L)
	if f.err != nil {
		return priors, f.err
	}
	for o := range mean {
		if sd[o] <= 0 {
			return priors, fmt.Errorf("tensor %q: element %d is %g", "target.sd", o, sd[o])
		}
		m.targets = append(m.targets, target{mean[o], sd[o]})
	}
	return bemkl.RegressionPriors{
		Lambda: f.Priors.Lambda, Upsilon: *f.Priors.Upsilon, Gamma: f.Priors.Gamma,
		Omega: f.Priors.Omega, Epsilon: *f.Priors.Epsilon,
	}, nil
}

func loadRegression(f modelFile) (Model, error) {
	m := &RegressionModel{}
	priors, err := f.outputs(&m.outputs)
	if err != nil {
		return nil, err
	}
	L, P, D := f.L, f.P, f.D
	state := bemkl.RegressionState{
		Priors: priors, Samples: f.Samples,
		Lambda: f.matrix("lambda", L, D), A: f.matrix("a", L, D),
		Upsilon: unpair(f.take("upsilon", L, 2)), Epsilon: unpair(f.take("epsilon", L, 2)),
		Gamma: unpair(f.take("gamma", L, 2)), Omega: unpair(f.take("omega", P, 2)),
		BEMean: f.take("be.mean", L+P), BECov: f.matrix("be.cov", L+P, L+P),
	}
	if state.Gram, err = f.gram(state.BECov); err != nil {
		return nil, err
	}
	p, err := bemkl.NewRegressionPosterior(state)
	if err != nil {
		return nil, err
	}
	m.set(p, m.trace)
	// This also factorises the sample weights' precision and finds it not
	// positive definite if it is not.
	if err := m.prepare(state.A); err != nil {
		return nil, err
	}
	return m, nil
}

func loadScores(f modelFile) (m scores, err error) {
	if m.fitted, err = f.fitted(); err != nil {
		return m, err
	}
	if f.Priors.Upsilon != nil || f.Priors.Epsilon != nil {
		return m, errors.New("model: priors of a regression")
	}
	L, P, D := f.L, f.P, f.D
	state := bemkl.ClassificationState{
		Priors: bemkl.ClassificationPriors{Lambda: f.Priors.Lambda, Gamma: f.Priors.Gamma, Omega: f.Priors.Omega},
		Margin: f.Margin, SigmaG: f.SigmaG, Samples: f.Samples,
		Lambda: f.matrix("lambda", L, D), A: f.matrix("a", L, D),
		Gamma: unpair(f.take("gamma", L, 2)), Omega: unpair(f.take("omega", P, 2)),
		BEMean: f.take("be.mean", L+P), BECov: f.matrix("be.cov", L+P, L+P),
	}
	if state.Gram, err = f.gram(state.BECov); err != nil {
		return m, err
	}
	p, err := bemkl.NewClassificationPosterior(state)
	if err != nil {
		return m, err
	}
	m.set(p, m.trace)
	return m, m.prepare(state.A)
}

func loadMultiLabel(f modelFile) (Model, error) {
	if f.Classes != nil {
		return nil, errors.New("model: classes in a multilabel model")
	}
	s, err := loadScores(f)
	if err != nil {
		return nil, err
	}
	return &MultiLabelModel{scores: s}, nil
}

func loadClassifier[T comparable](f modelFile, decode func(json.RawMessage) (T, error)) (Model, error) {
	s, err := loadScores(f)
	if err != nil {
		return nil, err
	}
	m := &ClassifierModel[T]{scores: s, text: f.Classes}
	m.classes, err = decodeClasses(f, decode)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// decodeClasses returns the classes of a model.
func decodeClasses[T comparable](f modelFile, decode func(json.RawMessage) (T, error)) (classes []T, err error) {
	if k := len(f.Classes); k != f.L && !(k == 2 && f.L == 1) || k < 2 {
		return nil, fmt.Errorf("model: %d classes with %d functions", k, f.L)
	}
	seen := map[T]bool{}
	for i, text := range f.Classes {
		class, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("model: classes[%d]: %w", i, err)
		}
		if seen[class] {
			return nil, fmt.Errorf("model: classes[%d]: %v is there twice", i, class)
		}
		seen[class] = true
		classes = append(classes, class)
	}
	return classes, nil
}

// encodeClasses adds the classes' text to a file: that of a loaded model, or the
// classes as JSON.
func encodeClasses[T comparable](f *fileWriter, classes []T, text []json.RawMessage) error {
	f.Classes = text
	for _, class := range classes[len(text):] {
		t, err := json.Marshal(class)
		if err != nil {
			return fmt.Errorf("mkl: save: class %v: %w", class, err)
		}
		f.Classes = append(f.Classes, t)
	}
	return nil
}

// checkCovariance reports a matrix that is not symmetric and positive definite.
func checkCovariance(x la.Matrix[float64]) error {
	c := x.Clone()
	for i := range c.Rows {
		for k := range i {
			if c.At(i, k) != c.At(k, i) {
				return fmt.Errorf("elements (%d, %d) and (%d, %d) differ", i, k, k, i)
			}
		}
		if !(c.At(i, i) > 0) {
			return fmt.Errorf("element (%d, %d) is %g", i, i, c.At(i, i))
		}
	}
	// Scaled to unit diagonal, the test does not depend on the weights' units;
	// the jitter allows for round-off.
	scale := make([]float64, c.Rows)
	for i := range scale {
		scale[i] = 1 / math.Sqrt(c.At(i, i))
	}
	for i := range scale {
		for k := range i + 1 {
			c.Set(i, k, c.At(i, k)*scale[i]*scale[k])
		}
		c.Row(i)[i] = 1 + 1e-10
	}
	return la.Cholesky(nil, c)
}

func loadDesign(j modelJSON, P int, ts tensors) (*design, error) {
	if len(j.Inputs) < 1 || len(j.Inputs) > P {
		return nil, fmt.Errorf("model: %d inputs for %d views", len(j.Inputs), P)
	}
	ds := &design{d: j.Basis}
	for i, in := range j.Inputs {
		b := input{cols: in.Cols, given: in.Given}
		switch {
		case in.Given && in.Cols != ds.d && in.Cols != ds.d+1:
			return nil, fmt.Errorf("model: inputs[%d]: %d columns for %d basis points", i, in.Cols, ds.d)
		case !in.Given && j.Samples != ds.d:
			return nil, fmt.Errorf("model: %d samples and %d basis points, which must be the same for features", j.Samples, ds.d)
		case !in.Given:
			data, err := ts.take(fmt.Sprintf("input.%d.basis", i), ds.d, in.Cols)
			if err != nil {
				return nil, err
			}
			if in.Cols < 1 {
				return nil, fmt.Errorf("model: inputs[%d]: %d columns", i, in.Cols)
			}
			b.basis = la.MatrixOf(ds.d, in.Cols, data)
		}
		if _, ok := ts[fmt.Sprintf("input.%d.mean", i)]; ok && !in.Given {
			var err error
			if b.mean, err = ts.take(fmt.Sprintf("input.%d.mean", i), in.Cols); err != nil {
				return nil, err
			}
			if b.sd, err = ts.take(fmt.Sprintf("input.%d.sd", i), in.Cols); err != nil {
				return nil, err
			}
			for k, s := range b.sd {
				if s <= 0 {
					return nil, fmt.Errorf("tensor %q: element %d is %g", fmt.Sprintf("input.%d.sd", i), k, s)
				}
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
		v, err := loadView(i, vj, ds, ts)
		if err != nil {
			return nil, fmt.Errorf("model: views[%d]: %w", i, err)
		}
		ds.views = append(ds.views, v)
		used[v.input] = true
		if _, ok := v.kernel.(Precomputed); ok && (v.normalize || j.Processes != nil || j.MultiTask != nil) {
			selfColumn[v.input] = true
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

func loadView(i int, j viewJSON, ds *design, ts tensors) (v boundView, err error) {
	if j.Input < 0 || j.Input >= len(ds.inputs) {
		return v, fmt.Errorf("input %d of %d", j.Input, len(ds.inputs))
	}
	in := &ds.inputs[j.Input]
	k, err := decodeKernel(j.Kernel)
	if err != nil {
		return v, err
	}
	if err := k.check(in.cols); err != nil {
		return v, err
	}
	switch isGiven := k.statistic().kind == given; {
	case !k.resolved():
		return v, fmt.Errorf("kernel %v lacks its width", k)
	case isGiven != in.given:
		return v, fmt.Errorf("kernel %v on the wrong sort of input", k)
	case j.Standardize && in.mean == nil:
		return v, errors.New("the input has no means")
	case isGiven && j.Standardize:
		return v, errors.New("standardize with a given kernel")
	case !(j.Largest > 0):
		return v, fmt.Errorf("largest is %g", j.Largest)
	}
	v = boundView{
		name: j.Name, kernel: k.resolve(0), input: j.Input, standardize: j.Standardize,
		center: j.Center, normalize: j.Normalize, totalMean: j.TotalMean, largest: j.Largest,
	}
	if v.center {
		if v.rowMean, err = ts.take(fmt.Sprintf("view.%d.row_mean", i), ds.d); err != nil {
			return v, err
		}
	}
	if v.normalize {
		if v.unit, err = ts.take(fmt.Sprintf("view.%d.unit", i), ds.d); err != nil {
			return v, err
		}
		for d, u := range v.unit {
			if u <= 0 {
				return v, fmt.Errorf("unit %d is %g", d, u)
			}
		}
	}
	v.derive()
	return v, nil
}
