package mkl

import (
	"errors"
	"fmt"
	"io"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi/mgp"
)

// multiGPJSON holds the settings of a multiple Gaussian process.
type multiGPJSON struct {
	designJSON
	recordJSON
	Processes []processJSON `json:"processes"`
	Draws     []drawJSON    `json:"draws,omitempty"` // of a target
}

// drawJSON is one of the functions over which predictions are averaged, with scales drawn from their posterior. Its
// tensors are named like the tensors of a function with ARD, with draw.I. instead of process.O. .
type drawJSON struct {
	Tau    float64     `json:"tau"`
	Widths [][]float64 `json:"widths,omitempty"`
}

// processJSON is one function of a multiple Gaussian process. Its tensors are
// process.O.gamma, E[γ], of length P; process.O.scales, ω, χ and φ of q(γ), P×3,
// unless ARD; process.O.alpha, B⁻¹E[y], of length N; process.O.factor, the lower
// triangle of the Cholesky factor of B; and, if there are sites, process.O.sites,
// their precisions, of length N.
type processJSON struct {
	Family  Family  `json:"family"`
	Labels  bool    `json:"labels,omitempty"`
	Prior   GIG     `json:"prior,omitzero"`
	Tau     float64 `json:"tau"`
	GPLimit bool    `json:"gp_limit,omitempty"`
	Bound   float64 `json:"bound"`
	Sites   bool    `json:"sites,omitempty"`

	LogEvidence bool `json:"log_evidence,omitempty"` // Bound is the log evidence or an estimate of it

	Known []int `json:"known,omitempty"` // the kernels whose weights were known

	// Noise is the noise of a target whose noise varies. The posterior of the logarithm of its
	// variance has the tensors process.O.noise.gamma and so on, with sites.
	Noise *noiseJSON `json:"noise,omitempty"`

	Freedom float64 `json:"freedom,omitempty"` // of heavy-tailed noise; there are then sites

	Likelihood string    `json:"likelihood,omitempty"` // of times and counts; there are then sites
	Shape      []float64 `json:"shape,omitempty"`      // its level and parameters

	// Widths holds the widths of each view whose kernel has one for each feature, and null for
	// the others; it is left out if the views have the widths.
	Widths [][]float64 `json:"widths,omitempty"`
}

// noiseJSON describes varying noise: the level of the logarithm of its variance, and the
// prior of the process about this level.
type noiseJSON struct {
	Level  float64 `json:"level"`
	Family Family  `json:"family"`
	Prior  GIG     `json:"prior,omitzero"`
}

// addProcesses adds the functions and returns their settings.
func (f *fileWriter) addProcesses(m *processes) (designJSON, recordJSON, []processJSON) {
	record := f.addRecord(&m.record)
	design := f.addDesign(m.design, m.Samples())
	var all []processJSON
	for o, p := range m.posteriors {
		s := p.State()
		j := processJSON{
			Family: s.Family, Labels: s.Labels, Prior: s.Prior, Tau: s.Tau,
			GPLimit: m.limits[o], Bound: m.bounds[o], Sites: s.Sites != nil, LogEvidence: m.evidence, Freedom: s.Freedom,
			Likelihood: s.Likelihood, Shape: s.Shape,
		}
		for i, known := range s.Known {
			if known {
				j.Known = append(j.Known, i)
			}
		}
		if m.designs[o] != m.designs[0] {
			j.Widths = m.designs[o].AllWidths()
		}
		name := fmt.Sprintf("process.%d.", o)
		f.addState(name, s)
		if m.noise != nil {
			about := m.noise.About.State()
			j.Noise = &noiseJSON{Level: m.noise.Level, Family: about.Family, Prior: about.Prior}
			f.addState(name+"noise.", about)
		}
		all = append(all, j)
	}
	return design, record, all
}

// addDrawn adds the drawn functions, whose designs are ds with other widths, and
// returns their settings.
func (f *fileWriter) addDrawn(draws *processes, ds *gram.Design) (all []drawJSON) {
	if draws == nil {
		return nil
	}
	for i, p := range draws.posteriors {
		j := drawJSON{Tau: p.State().Tau}
		if draws.designs[i] != ds {
			j.Widths = draws.designs[i].AllWidths()
		}
		f.addState(fmt.Sprintf("draw.%d.", i), p.State())
		all = append(all, j)
	}
	return all
}

// takeDrawn reads the drawn functions of m.
func (f *fileReader) takeDrawn(m *processes, all []drawJSON) error {
	if len(all) == 0 {
		return nil
	}
	m.draws = &processes{}
	P, N := m.posteriors[0].Dims()
	for i, j := range all {
		p, err := f.takeState(fmt.Sprintf("draw.%d.", i), mgp.State{Family: FamilyFlat, Tau: j.Tau}, P, N, m.posteriors[0].State().Sites != nil)
		if f.err != nil {
			return f.err
		}
		ds := m.design
		if err == nil && j.Widths != nil {
			ds, err = ds.WithWidths(j.Widths)
		}
		if err != nil {
			return fmt.Errorf("model: draws[%d]: %w", i, err)
		}
		m.draws.designs, m.draws.posteriors = append(m.draws.designs, ds), append(m.draws.posteriors, p)
	}
	return nil
}

// addState adds the tensors of a posterior.
func (f *fileWriter) addState(name string, s mgp.State) {
	P, N := len(s.Gamma), len(s.Alpha)
	if s.Sites != nil {
		f.add(name+"sites", s.Sites, N)
	}
	f.add(name+"gamma", s.Gamma, P)
	if s.Family != FamilyFlat {
		var scales []float64
		for _, q := range s.Scales {
			scales = append(scales, q.Omega, q.Chi, q.Phi)
		}
		f.add(name+"scales", scales, P, 3)
	}
	f.add(name+"alpha", s.Alpha, N)
	f.addLower(name+"factor", s.Factor)
}

// takeState reads the tensors of a posterior of P kernels and N samples. s holds the rest of its
// state.
func (f *fileReader) takeState(name string, s mgp.State, P, N int, sites bool) (*mgp.Posterior, error) {
	s.Gamma = f.take(name+"gamma", P)
	if s.Family != FamilyFlat {
		for scales := f.take(name+"scales", P, 3); len(scales) > 0; scales = scales[3:] {
			s.Scales = append(s.Scales, GIG{Omega: scales[0], Chi: scales[1], Phi: scales[2]})
		}
	}
	if sites {
		s.Sites = f.take(name+"sites", N)
	}
	s.Alpha, s.Factor = f.take(name+"alpha", N), f.takeLower(name+"factor", N)
	if f.err != nil {
		return nil, f.err
	}
	return mgp.NewPosterior(s)
}

// takeProcesses reads the functions, for labels or for a target.
func (f *fileReader) takeProcesses(design designJSON, record recordJSON, all []processJSON, labels bool) (m processes, err error) {
	L, P, N := len(all), f.size("process.0.gamma"), design.Basis
	if L < 1 || P < 1 || N < 1 || N != f.size("process.0.alpha") || design.Samples < N {
		return m, fmt.Errorf("model: %d functions, %d kernels and %d samples do not fit the tensors", L, P, N)
	}
	if m.onViews, err = f.takeOnViews(record, design, L, P, true); err != nil {
		return m, err
	}
	for o, j := range all {
		err := j.check(design, labels)
		if err == nil {
			err = f.takeProcess(&m, fmt.Sprintf("process.%d.", o), j, design, P)
		}
		switch {
		case f.err != nil:
			return m, f.err
		case err != nil:
			return m, fmt.Errorf("model: processes[%d]: %w", o, err)
		}
	}
	return m, nil
}

// check returns an error for settings of a function that do not fit each other or the design. labels says what it is for.
func (j processJSON) check(design designJSON, labels bool) error {
	varies, heavy := j.Noise != nil, j.Freedom != 0 || j.Likelihood != "" // or the model is for times or counts
	onLandmarks := j.Likelihood != "" && design.Samples != design.Basis
	switch {
	case j.Labels != labels:
		return fmt.Errorf("labels is %t", j.Labels)
	case varies && design.Samples != design.Basis:
		return fmt.Errorf("noise that varies of %d samples that span %d", design.Basis, design.Samples)
	case heavy && j.Sites == onLandmarks, labels && (varies || heavy), varies && j.Sites:
		return errors.New("sites are for labels, heavy noise and targets with weights, and noise for targets")
	}
	return nil
}

// takeProcess reads a function and adds it to m.
func (f *fileReader) takeProcess(m *processes, name string, j processJSON, design designJSON, P int) error {
	known, err := j.knownWeights(P)
	if err != nil {
		return err
	}
	N := design.Basis
	s := mgp.State{Family: j.Family, Labels: j.Labels, Prior: j.Prior, Tau: j.Tau, Freedom: j.Freedom, Likelihood: j.Likelihood, Shape: j.Shape, Known: known}
	if design.Samples != N {
		s.Samples = design.Samples
	}
	p, err := f.takeState(name, s, P, N, j.Sites)
	if err != nil {
		return err
	}
	if j.Noise != nil {
		if m.noise, err = f.takeNoise(name+"noise.", *j.Noise, p, P, N); err != nil {
			return err
		}
	}
	ds := m.design
	if j.Widths != nil {
		if ds, err = ds.WithWidths(j.Widths); err != nil {
			return fmt.Errorf("widths: %w", err)
		}
	}
	m.designs, m.evidence = append(m.designs, ds), j.LogEvidence
	m.posteriors, m.limits, m.bounds = append(m.posteriors, p), append(m.limits, j.GPLimit), append(m.bounds, j.Bound)
	return nil
}

// knownWeights reports for each of P kernels whether its weight was given; nil if no weight was.
func (j processJSON) knownWeights(P int) (is []bool, err error) {
	for i, p := range j.Known {
		if p < 0 || p >= P || i > 0 && p <= j.Known[i-1] {
			return nil, fmt.Errorf("known[%d] is %d: ascending numbers below %d are needed", i, p, P)
		}
		if is == nil {
			is = make([]bool, P)
		}
		is[p] = true
	}
	return is, nil
}

// takeNoise reads the varying noise of a function.
func (f *fileReader) takeNoise(name string, j noiseJSON, function *mgp.Posterior, P, N int) (*mgp.NoiseProcess, error) {
	about, err := f.takeState(name, mgp.State{Family: j.Family, Prior: j.Prior, Tau: 1}, P, N, true)
	if err != nil {
		return nil, err
	}
	return mgp.NewNoiseProcess(j.Level, function, about)
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *MultiGPModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encode(&f))
}

// encode adds the model's tensors and returns its settings.
func (m *MultiGPModel) encode(f *fileWriter) (j multiGPJSON) {
	j.designJSON, j.recordJSON, j.Processes = f.addProcesses(&m.processes)
	j.Draws = f.addDrawn(m.draws, m.design)
	f.addTargets(m.target)
	return j
}

func (m *MultiGPModel) decode(f *fileReader) error {
	var j multiGPJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if err := m.take(f, j); err != nil {
		return err
	}
	return f.close()
}

// take fills in the model from its settings and tensors.
func (m *MultiGPModel) take(f *fileReader, j multiGPJSON) (err error) {
	if len(j.Processes) != 1 {
		return fmt.Errorf("model: %d processes in a regression, which has one", len(j.Processes))
	}
	if name := j.Processes[0].Likelihood; name != "" {
		return fmt.Errorf("model: likelihood %q of a regression", name)
	}
	if m.processes, err = f.takeProcesses(j.designJSON, j.recordJSON, j.Processes, false); err != nil {
		return err
	}
	if len(j.Draws) > 0 && (m.noise != nil || j.Samples != j.Basis) {
		return errors.New("model: draws beside noise that varies or samples that span others")
	}
	if err = f.takeDrawn(&m.processes, j.Draws); err != nil {
		return err
	}
	targets := f.takeTargets(1)
	if f.err != nil {
		return f.err
	}
	m.target = targets[0]
	return nil
}
