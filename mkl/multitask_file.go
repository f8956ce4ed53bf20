package mkl

import (
	"errors"
	"fmt"
	"io"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// multiTaskJSON holds the settings of a multi-task model.
type multiTaskJSON struct {
	designJSON
	recordJSON
	MultiTask slabFunctionsJSON `json:"multi_task"`
}

// slabFunctionsJSON holds the part of a multi-task model that is not in its tensors.
type slabFunctionsJSON struct {
	Pi           float64 `json:"pi"`
	SlabVariance float64 `json:"slab_variance"`
	Active       []int   `json:"active"` // latent functions in the model
	MeanOnly     bool    `json:"mean_only,omitempty"`
}

// Save writes the model to a file that [Load] reads. It takes about 4·N² bytes for
// each latent function in the model, and the features.
func (m *MultiTaskModel) Save(w io.Writer) error {
	s := m.posterior.State()
	Q, M, N := m.posterior.Dims()
	var f fileWriter
	j := multiTaskJSON{
		recordJSON: f.addRecord(&m.record),
		MultiTask:  slabFunctionsJSON{s.Prior.Pi, s.Prior.Variance, s.Active, s.Factors == nil},
	}
	j.designJSON = f.addDesign(m.design, N)
	f.addTargets(m.targets...)
	f.add("noise", s.Noise, Q)
	f.add("weights", slabWeights(s.Weights), Q, M, 3)
	f.add("lengths", s.Lengths, M)
	f.add("root", flat(s.Root), M, N)
	f.add("alpha", flat(s.Alpha), M, N)
	f.add("phi", flat(s.Phi), M, N)
	f.add("phi.variance", flat(s.PhiVariance), M, N)
	if s.Factors != nil {
		for _, i := range s.Active {
			if !s.Dense[i] {
				continue
			}
			f.addLower(fmt.Sprintf("factor.%d", i), s.Factors[i])
		}
	}
	return f.write(w, m.Kind(), j)
}

func (m *MultiTaskModel) decode(f *fileReader) error {
	var all multiTaskJSON
	err := f.settings(&all)
	if err != nil {
		return err
	}
	j := all.MultiTask
	Q, M, N := f.size("noise"), f.size("lengths"), all.Basis
	if Q < 1 || M < 1 || N < 1 || all.Samples != N || f.size("alpha")/M != N {
		return fmt.Errorf("model: %d targets, %d latent functions and %d samples do not fit the tensors", Q, M, N)
	}
	if m.onViews, err = f.takeOnViews(all.recordJSON, all.designJSON, Q, M, true); err != nil {
		return err
	}
	m.targets = f.takeTargets(Q)
	s := slab.MultiTaskState{
		Prior: SlabPrior{Pi: j.Pi, Variance: j.SlabVariance}, Noise: f.take("noise", Q),
		Weights: unslab(f.take("weights", Q, M, 3)), Active: j.Active, Lengths: f.take("lengths", M), Dense: make([]bool, M),
		Root: f.takeMatrix("root", M, N), Alpha: f.takeMatrix("alpha", M, N),
		Phi: f.takeMatrix("phi", M, N), PhiVariance: f.takeMatrix("phi.variance", M, N),
	}
	for i := range s.Dense {
		s.Dense[i] = !m.design.Views[i].IsFunction()
	}
	if !j.MeanOnly {
		s.Factors = make([]la.Matrix[float64], M)
		for _, i := range j.Active {
			if i >= 0 && i < M && !s.Dense[i] {
				continue
			}
			factor := f.takeLower(fmt.Sprintf("factor.%d", i), N)
			if f.err != nil {
				return f.err
			}
			if i >= 0 && i < M {
				s.Factors[i] = factor
			}
		}
	}
	if err := f.close(); err != nil {
		return err
	}
	if len(m.trace.Bounds) == 0 {
		return errors.New("model: the trace is empty")
	}
	m.posterior, err = slab.NewMultiTaskPosterior(s)
	return err
}
