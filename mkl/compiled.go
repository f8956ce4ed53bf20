package mkl

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/bmkl/bmkl/internal/archive"
)

// preparedVersion is the version of the prepared parts of compiled files. It changes when the fields of a prepared value change, or
// what they are computed from. Files of other versions are loaded without these parts.
const preparedVersion = "6"

const (
	preparedKey    = "prepared"  // of the metadata
	preparedPrefix = "prepared." // of the names of the tensors
)

// preparedJSON says what the tensors prepared.0, prepared.1, … of a compiled file hold.
type preparedJSON struct {
	Version string            `json:"version"`
	Of      []preparedOptions `json:"of"`
}

// preparedOptions are the options of a predictor for which a compiled file has the prepared values.
type preparedOptions struct {
	Target    int     `json:"target,omitempty"`
	Tolerance float64 `json:"tolerance,omitempty"`
	Exact     bool    `json:"exact,omitempty"`
	MeanOnly  bool    `json:"mean_only,omitempty"`
	Published bool    `json:"published,omitempty"`
	Unhealed  bool    `json:"unhealed,omitempty"`
}

// same reports whether predictors with the options are the same. A tolerance of 0 is the default.
func (o preparedOptions) same(p preparedOptions) bool {
	for _, tolerance := range []*float64{&o.Tolerance, &p.Tolerance} {
		if *tolerance == 0 {
			*tolerance = DefaultProcessTolerance // it is DefaultPruning too
		}
	}
	return o == p
}

// preparedOptionsOf returns the options on which prepared values depend.
func preparedOptionsOf(opt PredictorOptions) preparedOptions {
	return preparedOptions{opt.Target, opt.Tolerance, opt.Exact, opt.MeanOnly, opt.Published, opt.Unhealed}
}

// prepared holds what a compiled file has for predictors.
type prepared struct {
	of   []preparedOptions
	data [][]byte
}

// compilable is a model whose predictors can be in a compiled file.
type compilable interface {
	Model

	// encodeModel adds the model's tensors and returns its settings.
	encodeModel(f *fileWriter) any

	// compile makes a predictor by way of the archive of the options.
	compile(opt PredictorOptions) error
}

// Compile writes a file that holds a model and the preparation of predictors with each of the options; no options stand for the zero
// value. A model that [Load] or [OpenFile] reads from the file makes such predictors in about the time of a read. It makes
// predictors with other options as other models do. Predictions are the same. Each preparation takes about half of the memory of the model.
//
// Compile is for Gaussian processes, also on landmarks, and pools of them: the models of [MultiGP], [LandmarkGP], [Auto], their
// classifiers and [AutoTargets]. It is also for weighted kernels: the models of [Regression], [SharedRegression], [TaskRegression],
// [Classifier], [MultiLabel] and [TaskClassifier]. It returns an error for other models, which prepare in little time or are small.
func Compile(w io.Writer, m Model, options ...PredictorOptions) error {
	c, ok := m.(compilable)
	if !ok {
		return fmt.Errorf("mkl: Compile: a model of the kind %s makes its predictor in little time", m.Kind())
	}
	if len(options) == 0 {
		options = []PredictorOptions{{}}
	}
	var f fileWriter
	j := preparedJSON{Version: preparedVersion}
	for i, opt := range options {
		opt.archive = archive.New()
		if err := c.compile(opt); err != nil {
			return err
		}
		j.Of = append(j.Of, preparedOptionsOf(opt))
		data := opt.archive.Bytes()
		f.tensors = append(f.tensors, tensor{name: preparedName(i), shape: []int{len(data)}, bytes: data})
	}
	text, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("mkl: Compile: %w", err)
	}
	f.prepared = string(text)
	return f.write(w, m.Kind(), c.encodeModel(&f))
}

// preparedName is the name of the tensor of the values for options i.
func preparedName(i int) string { return fmt.Sprintf("%s%d", preparedPrefix, i) }

// takePrepared takes the prepared values. It returns nil if they are of another version.
func (f *fileReader) takePrepared() (*prepared, error) {
	if f.prepared == "" {
		return nil, nil // tensors of bytes, if there are any, are not expected
	}
	var j preparedJSON
	if err := json.Unmarshal([]byte(f.prepared), &j); err != nil {
		return nil, fmt.Errorf("prepared: %w", err)
	}
	p := &prepared{of: j.Of}
	for i := range j.Of {
		t, ok := f.tensors[preparedName(i)]
		if !ok {
			return nil, fmt.Errorf("tensor %q is missing", preparedName(i))
		}
		delete(f.tensors, t.name)
		p.data = append(p.data, t.bytes)
	}
	if j.Version != preparedVersion {
		return nil, nil
	}
	return p, nil
}

// keep keeps prepared values.
func (m *record) keep(p *prepared) { m.prepared = p }

func (m *record) kept() *prepared { return m.prepared }

// archived returns the options with the archive of their predictor, if the model's file has it and there is no archive yet.
func (m *record) archived(opt PredictorOptions) PredictorOptions {
	if m.prepared == nil || opt.archive != nil {
		return opt
	}
	for i, have := range m.prepared.of {
		if have.same(preparedOptionsOf(opt)) {
			opt.archive = archive.Open(m.prepared.data[i])
			break
		}
	}
	return opt
}

// archiveError returns the error of an archive whose predictor is complete.
func (opt *PredictorOptions) archiveError() error {
	if opt.archive == nil {
		return nil
	}
	if err := opt.archive.Close(); err != nil {
		return opt.predictorError(err)
	}
	return nil
}

// predictorError returns the error of a predictor that could not be made. An error of the archive comes first.
func (opt *PredictorOptions) predictorError(err error) error {
	if opt.archive != nil && opt.archive.Err() != nil {
		return fmt.Errorf("mkl: Predictor: the prepared values of the model's file: %w", opt.archive.Err())
	}
	return fmt.Errorf("mkl: Predictor: %w", err)
}

// reading reports whether a predictor is made from an archive.
func (opt *PredictorOptions) reading() bool { return opt.archive != nil && opt.archive.Reading() }

// Prepared returns the options of the predictors for which the file of a model has the preparation; see [Compile].
func Prepared(m Model) (options []PredictorOptions) {
	k, ok := m.(interface{ kept() *prepared })
	if !ok || k.kept() == nil {
		return nil
	}
	for _, have := range k.kept().of {
		opt := PredictorOptions{Target: have.Target, Tolerance: have.Tolerance, Exact: have.Exact, MeanOnly: have.MeanOnly,
			Published: have.Published, Unhealed: have.Unhealed}
		options = append(options, opt)
	}
	return options
}

func (m *MultiGPModel) encodeModel(f *fileWriter) any               { return m.encode(f) }
func (m *MultiGPClassifierModel[T]) encodeModel(f *fileWriter) any  { return m.encode(f) }
func (m *LandmarkGPModel) encodeModel(f *fileWriter) any            { return m.encode(f) }
func (m *LandmarkClassifierModel[T]) encodeModel(f *fileWriter) any { return m.encode(f) }
func (m *AutoModel) encodeModel(f *fileWriter) any                  { return m.encode(f) }
func (m *AutoTargetsModel) encodeModel(f *fileWriter) any           { return m.encode(f) }
func (m *AutoClassifierModel[T]) encodeModel(f *fileWriter) any     { return m.encode(f) }

// compileBy makes a predictor and returns its error.
func compileBy[P any](predictor func(PredictorOptions) (P, error), opt PredictorOptions) error {
	_, err := predictor(opt)
	return err
}

func (m *MultiGPModel) compile(opt PredictorOptions) error { return compileBy(m.Predictor, opt) }
func (m *MultiGPClassifierModel[T]) compile(opt PredictorOptions) error {
	return compileBy(m.Predictor, opt)
}
func (m *LandmarkGPModel) compile(opt PredictorOptions) error { return compileBy(m.Predictor, opt) }
func (m *LandmarkClassifierModel[T]) compile(opt PredictorOptions) error {
	return compileBy(m.Predictor, opt)
}
func (m *AutoModel) compile(opt PredictorOptions) error        { return compileBy(m.Predictor, opt) }
func (m *AutoTargetsModel) compile(opt PredictorOptions) error { return compileBy(m.Predictor, opt) }
func (m *AutoClassifierModel[T]) compile(opt PredictorOptions) error {
	return compileBy(m.Predictor, opt)
}
func (m *RegressionModel) compile(opt PredictorOptions) error { return compileBy(m.Predictor, opt) }
func (m *SharedRegressionModel) compile(opt PredictorOptions) error {
	return compileBy(m.Predictor, opt)
}
func (m *TaskRegressionModel) compile(opt PredictorOptions) error { return compileBy(m.Predictor, opt) }
func (m *ClassifierModel[T]) compile(opt PredictorOptions) error  { return compileBy(m.Predictor, opt) }
func (m *MultiLabelModel) compile(opt PredictorOptions) error     { return compileBy(m.Predictor, opt) }
func (m *TaskClassifierModel) compile(opt PredictorOptions) error { return compileBy(m.Predictor, opt) }
