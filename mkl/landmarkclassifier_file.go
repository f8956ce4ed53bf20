package mkl

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi/mgp"
)

// classPlanJSON holds the settings of a plan of classes. Its tensors are those named at planJSON, without
// the targets.
type classPlanJSON struct {
	planJSON
	Classes []json.RawMessage `json:"classes"`
}

// landmarkClassifierJSON holds the settings of a classifier with landmarks. Its tensors are the tensors
// of the plan, with the prefix plan. ; beyond, of length P; shift, of all D features; gram, the lower
// triangle of the sums of products of the features and 1; and, with a row for each function,
// gamma, P+1, and weights, D+1. Files without curvatures hold models in which all labels have
// the curvature 1.
type landmarkClassifierJSON struct {
	recordJSON
	Plan         classPlanJSON `json:"plan"`
	Observations int64         `json:"observations"`
	Sharpness    float64       `json:"sharpness"`
	Bounds       []float64     `json:"bounds"`
	Curvatures   []float64     `json:"curvatures"`
}

// Kind returns "class-plan".
func (p *ClassPlan[T]) Kind() string { return "class-plan" }

// Save writes the plan to a file that [LoadAs] reads. Classes are kept as JSON.
func (p *ClassPlan[T]) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, p.Kind(), p.encode(&f))
}

func (p *ClassPlan[T]) decode(f *fileReader) error {
	var j classPlanJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	f.anyClass = true
	if err := p.take(f, j); err != nil {
		return err
	}
	if err := f.close(); err != nil {
		return err
	}
	return p.seal()
}

// seal sets the maps, and the hash to the hash of the plan's file.
func (p *ClassPlan[T]) seal() (err error) {
	p.maps = mapsOf(p.by)
	p.hash, err = hashOf(p.Save)
	return err
}

// encode adds the plan's tensors and returns its settings.
func (p *ClassPlan[T]) encode(f *fileWriter) classPlanJSON {
	return classPlanJSON{p.featurePlan.encode(f), p.classes.encode(f)}
}

// take fills in the plan, except its hash, from its settings and tensors.
func (p *ClassPlan[T]) take(f *fileReader, j classPlanJSON) (err error) {
	if err := p.featurePlan.take(f, j.planJSON); err != nil {
		return err
	}
	if len(j.Classes) > mostLandmarkClasses {
		return fmt.Errorf("plan: %d classes", len(j.Classes))
	}
	n := functions(len(j.Classes))
	p.classes, err = decodeClasses[T](f, j.Classes, n, n)
	return err
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save].
// Classes are kept as JSON.
func (m *LandmarkClassifierModel[T]) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encode(&f))
}

// encode adds the model's tensors and returns its settings.
func (m *LandmarkClassifierModel[T]) encode(f *fileWriter) landmarkClassifierJSON {
	prefix := f.prefix
	f.prefix += "plan."
	j := landmarkClassifierJSON{Plan: m.plan.encode(f), Observations: m.observations, Sharpness: m.sharpness, Bounds: m.bounds, Curvatures: m.curvatures}
	f.prefix = prefix
	j.recordJSON = f.addRecord(&m.record)
	P, D, L := len(m.plan.by), m.plan.width(), len(m.posteriors)
	f.add("beyond", m.beyond, P)
	f.add("shift", slices.Concat(m.shift...), D)
	f.addLower("gram", m.gram)
	var gamma, weights []float64
	for _, p := range m.posteriors {
		gamma, weights = append(gamma, p.State().Gamma...), append(weights, p.State().Mean...)
	}
	f.add("gamma", gamma, L, P+1)
	f.add("weights", weights, L, D+1)
	return j
}

func (m *LandmarkClassifierModel[T]) decode(f *fileReader) error {
	var j landmarkClassifierJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	if err := m.take(f, j); err != nil {
		return err
	}
	return f.close()
}

// take fills in the model from its settings and tensors.
func (m *LandmarkClassifierModel[T]) take(f *fileReader, j landmarkClassifierJSON) (err error) {
	m.plan = &ClassPlan[T]{}
	if err := takePlan(f, func() error { return m.plan.take(f, j.Plan) }, m.plan.seal); err != nil {
		return err
	}
	if m.record, err = f.takeRecord(j.recordJSON, 0); err != nil {
		return err
	}
	m.design = m.plan.design
	P, D, L := len(m.plan.by), m.plan.width(), m.plan.functions()
	m.beyond = f.take("beyond", P)
	shift := f.take("shift", D)
	m.gram = f.takeLower("gram", D+1)
	gamma, weights := f.takeMatrix("gamma", L, P+1), f.takeMatrix("weights", L, D+1)
	if f.err != nil {
		return f.err
	}
	m.shift = m.plan.split(shift)
	switch {
	case j.Observations < 2 || j.Observations > stat.MaxSamples:
		return fmt.Errorf("model: observations is %d", j.Observations)
	case !(j.Sharpness >= leastSharpness && j.Sharpness <= mostSharpness):
		return fmt.Errorf("model: sharpness is %g", j.Sharpness)
	case len(j.Bounds) != L || math.IsNaN(vec.Total(j.Bounds)):
		return fmt.Errorf("model: bounds of %d functions where there are %d", len(j.Bounds), L)
	}
	if j.Curvatures == nil {
		j.Curvatures = slices.Repeat([]float64{1}, L)
	}
	if len(j.Curvatures) != L {
		return fmt.Errorf("model: curvatures of %d functions where there are %d", len(j.Curvatures), L)
	}
	m.observations, m.sharpness, m.bounds, m.curvatures = j.Observations, j.Sharpness, j.Bounds, j.Curvatures
	blocks := append(m.plan.Features(), 1)
	for o := range L {
		p, err := mgp.NewLabelPosterior(m.gram, blocks, gamma.Row(o), weights.Row(o), m.curvatures[o], 0)
		if err != nil {
			return fmt.Errorf("model: function %d: %w", o, err)
		}
		m.posteriors = append(m.posteriors, p)
	}
	return nil
}
