package mkl

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/bmkl/bmkl/vi/mgp"
)

// planJSON holds the settings of a plan. Its tensors are the design's tensors; scale, the mean
// kernel of a landmark with itself, of length P; view.I.features, the matrix whose product with
// the kernels is the features; input.I.ranks, the sorted values of its features; and
// target.mean and target.sd.
type planJSON struct {
	designJSON
	Notes map[string]string `json:"notes,omitempty"`
}

// landmarksJSON holds the settings of a model with landmarks. Its tensors are the tensors of the
// plan, with the prefix plan. ; beyond and gamma, of length P; shift and weights, of all features;
// factor, the lower triangle of the Cholesky factor of the weights' precision; target.mean and
// target.sd.
type landmarksJSON struct {
	recordJSON
	Plan         planJSON `json:"plan"`
	Observations int64    `json:"observations"`
	Noise        float64  `json:"noise"`
	Evidence     float64  `json:"evidence"`
}

// Kind returns "plan".
func (p *Plan) Kind() string { return "plan" }

// Save writes the plan to a file that [LoadAs] reads.
func (p *Plan) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, p.Kind(), p.encode(&f))
}

func (p *Plan) decode(f *fileReader) error {
	var j planJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if err := p.take(f, j); err != nil {
		return err
	}
	if err := f.close(); err != nil {
		return err
	}
	return p.seal()
}

// seal sets the maps, and the hash to the hash of the plan's file.
func (p *Plan) seal() (err error) {
	p.maps = mapsOf(p.by)
	p.hash, err = hashOf(p.Save)
	return err
}

// hashOf returns the hash of a file.
func hashOf(save func(io.Writer) error) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if err := save(h); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// encode adds the plan's tensors and returns its settings.
func (p *Plan) encode(f *fileWriter) planJSON {
	j := p.featurePlan.encode(f)
	f.addTargets(p.target)
	return j
}

// take fills in the plan, except its hash, from its settings and tensors.
func (p *Plan) take(f *fileReader, j planJSON) error {
	if err := p.featurePlan.take(f, j); err != nil {
		return err
	}
	targets := f.takeTargets(1)
	if f.err != nil {
		return f.err
	}
	p.target = targets[0]
	return nil
}

// encode adds the tensors and returns the settings.
func (p *featurePlan) encode(f *fileWriter) planJSON {
	j := planJSON{f.addDesign(p.design, p.design.D), p.notes}
	f.add("scale", p.scale, len(p.scale))
	for i, by := range p.by {
		f.add(fmt.Sprintf("view.%d.features", i), flat(by), by.Rows, by.Cols)
	}
	return j
}

// take fills in the plan, except its hash, from its settings and tensors.
func (p *featurePlan) take(f *fileReader, j planJSON) (err error) {
	P := f.size("scale")
	if P < 1 || j.Basis < 1 {
		return fmt.Errorf("plan: %d kernels on %d landmarks", P, j.Basis)
	}
	if p.design, err = f.takeDesign(j.designJSON, P, true); err != nil {
		return err
	}
	for i, in := range p.design.Inputs {
		if in.Given {
			return errors.New("plan: kernels that are given have no landmarks")
		}
		if in.Ranks != nil && !in.Apart {
			return fmt.Errorf("plan: tensor %q is missing", f.prefix+fmt.Sprintf("input.%d.ranks", i))
		}
	}
	p.scale = f.takePositive("scale", P)
	for i := range P {
		name := fmt.Sprintf("view.%d.features", i)
		by := f.takeMatrix(name, f.size(name)/j.Basis, j.Basis)
		if f.err == nil && (by.Rows < 1 || by.Rows > j.Basis) {
			return fmt.Errorf("tensor %q: %d features of %d landmarks", name, by.Rows, j.Basis)
		}
		p.by = append(p.by, by)
	}
	p.notes = j.Notes
	return f.err
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
func (m *LandmarkGPModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encode(&f))
}

// encode adds the model's tensors and returns its settings.
func (m *LandmarkGPModel) encode(f *fileWriter) landmarksJSON {
	s := m.posterior.State()
	prefix := f.prefix
	f.prefix += "plan."
	j := landmarksJSON{Plan: m.plan.encode(f), Observations: m.observations, Noise: s.Noise, Evidence: m.evidence}
	f.prefix = prefix
	j.recordJSON = f.addRecord(&m.record)
	f.add("beyond", m.beyond, len(m.beyond))
	f.add("gamma", s.Gamma, len(s.Gamma))
	D := len(s.Mean)
	f.add("shift", slices.Concat(m.shift...), D)
	f.add("weights", s.Mean, D)
	f.addLower("factor", s.Factor)
	f.addTargets(m.target)
	return j
}

func (m *LandmarkGPModel) decode(f *fileReader) error {
	var j landmarksJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if err := m.take(f, j); err != nil {
		return err
	}
	return f.close()
}

// take fills in the model from its settings and tensors.
func (m *LandmarkGPModel) take(f *fileReader, j landmarksJSON) (err error) {
	m.plan = &Plan{}
	if err := takePlan(f, func() error { return m.plan.take(f, j.Plan) }, m.plan.seal); err != nil {
		return err
	}
	if m.record, err = f.takeRecord(j.recordJSON, 1); err != nil {
		return err
	}
	m.design = m.plan.design
	P, D := len(m.plan.by), m.plan.width()
	m.beyond = f.take("beyond", P)
	s := mgp.FeatureState{Blocks: m.plan.Features(), Gamma: f.take("gamma", P), Noise: j.Noise}
	shift := f.take("shift", D)
	s.Mean, s.Factor = f.take("weights", D), f.takeLower("factor", D)
	targets := f.takeTargets(1)
	if f.err != nil {
		return f.err
	}
	m.shift = m.plan.split(shift)
	if j.Observations < 2 {
		return fmt.Errorf("model: observations is %d", j.Observations)
	}
	m.target, m.observations, m.evidence = targets[0], j.Observations, j.Evidence
	m.posterior, err = mgp.NewFeaturePosterior(s)
	return err
}

// takePlan reads the plan of a model: take reads it, and seal sets its hash.
func takePlan(f *fileReader, take, seal func() error) error {
	prefix := f.prefix
	f.prefix += "plan."
	err := take()
	if f.prefix = prefix; err != nil {
		return err
	}
	return seal()
}

// split cuts a vector over all features into one vector for each view.
func (p *featurePlan) split(x []float64) (out [][]float64) {
	for _, n := range p.Features() {
		out, x = append(out, x[:n:n]), x[n:]
	}
	return out
}
