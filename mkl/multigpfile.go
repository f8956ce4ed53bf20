package mkl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/bmkl/bmkl/vi/mgp"
)

// processJSON is one function of a multiple Gaussian process. Its tensors are
// process.O.gamma, E[γ], of length P; process.O.scales, ω, χ and φ of q(γ), P×3,
// unless ARD; process.O.alpha, B⁻¹E[y], of length N; and process.O.factor, the
// lower triangle of the Cholesky factor of B.
type processJSON struct {
	Family  Family  `json:"family"`
	Labels  bool    `json:"labels,omitempty"`
	Prior   GIG     `json:"prior,omitzero"`
	Tau     float64 `json:"tau"`
	GPLimit bool    `json:"gp_limit,omitempty"`
	Bound   float64 `json:"bound"`
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *MultiGPModel) Save(w io.Writer) error {
	f, err := m.save()
	if err != nil {
		return err
	}
	f.add("target.mean", []float64{m.target.mean}, 1)
	f.add("target.sd", []float64{m.target.sd}, 1)
	return f.write(w, kindMultiGP)
}

// Save writes the model to a file that [Load] and [LoadMultiGPClassifier] read,
// like [RegressionModel.Save]. Classes are kept as JSON.
func (m *MultiGPClassifierModel[T]) Save(w io.Writer) error {
	f, err := m.save()
	if err != nil {
		return err
	}
	if err := encodeClasses(f, m.classes, m.text); err != nil {
		return err
	}
	return f.write(w, kindMultiGPClassifier)
}

// save begins a file with all but what regression and classes add.
func (m *processes) save() (*fileWriter, error) {
	f, err := (&fitted{design: m.design, record: m.record}).save()
	if err != nil {
		return nil, err
	}
	f.Samples = m.design.d
	for o, p := range m.posteriors {
		s := p.State()
		P, N := p.Dims()
		f.Processes = append(f.Processes, processJSON{s.Family, s.Labels, s.Prior, s.Tau, m.limits[o], m.bounds[o]})
		name := fmt.Sprintf("process.%d.", o)
		f.add(name+"gamma", s.Gamma, P)
		if s.Family != ARD {
			var scales []float64
			for _, q := range s.Scales {
				scales = append(scales, q.Omega, q.Chi, q.Phi)
			}
			f.add(name+"scales", scales, P, 3)
		}
		f.add(name+"alpha", s.Alpha, N)
		f.add(name+"factor", packLower(s.Factor), N*(N+1)/2)
	}
	return f, nil
}

// LoadMultiGP is [Load] for a file that must hold a [MultiGPModel].
func LoadMultiGP(r io.Reader) (*MultiGPModel, error) { return loadAs[*MultiGPModel](Load(r)) }

// LoadMultiGPClassifier is [Load] for a file that must hold a
// [MultiGPClassifierModel] whose classes are of type T.
func LoadMultiGPClassifier[T comparable](r io.Reader) (*MultiGPClassifierModel[T], error) {
	return loadAs[*MultiGPClassifierModel[T]](load(r, classReader(typedClass[T])))
}

// loadProcesses finds the sizes of a model, from elements that are there, and
// reads it.
func loadProcesses(f modelFile, read func(modelFile) (Model, error)) (Model, error) {
	f.L, f.P, f.D = len(f.Processes), len(f.ts["process.0.gamma"].data), f.Basis
	if f.L < 1 || f.P < 1 || f.D < 1 || f.D != len(f.ts["process.0.alpha"].data) || f.Samples != f.D {
		return nil, fmt.Errorf("model: %d functions, %d kernels and %d samples do not fit the tensors", f.L, f.P, f.D)
	}
	if f.Margin != 0 || f.SigmaG != 0 || f.Priors != (priorsJSON{}) {
		return nil, errors.New("model: settings of another kind")
	}
	return read(f)
}

func (f *modelFile) processes(labels bool) (m processes, err error) {
	base, err := f.fitted()
	if err != nil {
		return m, err
	}
	m = processes{design: base.design, record: base.record}
	for o, j := range f.Processes {
		if j.Labels != labels {
			return m, fmt.Errorf("model: processes[%d]: labels is %t", o, j.Labels)
		}
		name := fmt.Sprintf("process.%d.", o)
		s := mgp.State{
			Family: j.Family, Labels: j.Labels, Prior: j.Prior, Tau: j.Tau,
			Gamma: f.take(name+"gamma", f.P),
		}
		if j.Family != ARD {
			for scales := f.take(name+"scales", f.P, 3); len(scales) > 0; scales = scales[3:] {
				s.Scales = append(s.Scales, GIG{Omega: scales[0], Chi: scales[1], Phi: scales[2]})
			}
		}
		s.Alpha = f.take(name+"alpha", f.D)
		packed := f.take(name+"factor", f.D*(f.D+1)/2)
		if f.err != nil {
			return m, f.err
		}
		s.Factor = unpackLower(f.D, packed)
		p, err := mgp.NewPosterior(s)
		if err != nil {
			return m, fmt.Errorf("model: processes[%d]: %w", o, err)
		}
		m.posteriors, m.limits, m.bounds = append(m.posteriors, p), append(m.limits, j.GPLimit), append(m.bounds, j.Bound)
	}
	return m, nil
}

// unexpected reports a tensor that nothing took.
func (f *modelFile) unexpected() error {
	for name := range f.ts {
		return fmt.Errorf("tensor %q is not expected", name)
	}
	return f.err
}

func loadMultiGP(f modelFile) (Model, error) {
	if f.L != 1 || f.Classes != nil {
		return nil, errors.New("model: a regression has one process and no classes")
	}
	base, err := f.processes(false)
	if err != nil {
		return nil, err
	}
	mean, sd := f.take("target.mean", 1), f.take("target.sd", 1)
	if err := f.unexpected(); err != nil {
		return nil, err
	}
	if !(sd[0] > 0) || math.IsInf(sd[0], 1) {
		return nil, fmt.Errorf("tensor %q: element 0 is %g", "target.sd", sd[0])
	}
	return &MultiGPModel{processes: base, target: target{mean[0], sd[0]}}, nil
}

func loadMultiGPClassifier[T comparable](f modelFile, decode func(json.RawMessage) (T, error)) (Model, error) {
	base, err := f.processes(true)
	if err != nil {
		return nil, err
	}
	m := &MultiGPClassifierModel[T]{processes: base, text: f.Classes}
	if m.classes, err = decodeClasses(f, decode); err != nil {
		return nil, err
	}
	if err := f.unexpected(); err != nil {
		return nil, err
	}
	return m, nil
}
