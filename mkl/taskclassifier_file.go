package mkl

import (
	"fmt"
	"io"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// taskClassifierJSON is the settings of a task classifier. The tensors of task O have the
// names of a classifier's of one function, after task.O. .
type taskClassifierJSON struct {
	scoresJSON
	TaskSamples []int `json:"task_samples"` // of each task
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save]. It takes
// about 4·D² bytes for each task of D basis points.
func (m *TaskClassifierModel) Save(w io.Writer) error {
	s := m.posterior.State()
	L, P, D := m.weights.Dims()
	var f fileWriter
	j := taskClassifierJSON{TaskSamples: m.TaskSamples()}
	j.scoresJSON = scoresJSON{recordJSON: f.addRecord(&m.record), Priors: scorePriorsJSON(s.Priors), Margin: s.Margin, SigmaG: s.SigmaG}
	j.designJSON = f.addDesign(m.design, m.design.d)
	f.addTaskBasis(m.functions.basis, D)
	var gamma []Gamma
	for _, task := range s.Tasks {
		gamma = append(gamma, task.Gamma)
	}
	f.add("gamma", pairs(gamma), L, 2)
	f.add("omega", pairs(s.Omega), P, 2)
	f.add("be.mean", s.BEMean, L+P)
	f.add("be.cov", flat(s.BECov), L+P, L+P)
	for o, task := range s.Tasks {
		d := len(task.A)
		f.prefix = fmt.Sprintf("task.%d.", o)
		f.add("lambda", task.Lambda, d)
		f.add("a", task.A, d)
		f.add("gram", packLower(task.Gram), d*(d+1)/2)
	}
	f.prefix = ""
	return f.write(w, m.Kind(), j)
}

func (m *TaskClassifierModel) decode(f *fileReader) error {
	var j taskClassifierJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	L, P, D := f.size("gamma")/2, f.size("omega")/2, j.Basis
	if L < 1 || P < 1 || D < 1 || f.size("basis.of")/L != D || len(j.TaskSamples) != L {
		return fmt.Errorf("model: %d labels, %d kernels and %d basis points do not fit the tensors", L, P, D)
	}
	var err error
	if m.onViews, err = f.takeOnViews(j.recordJSON, j.designJSON, L, P, false); err != nil {
		return err
	}
	s := bemkl.TaskClassificationState{
		Priors: bemkl.ClassificationPriors(j.Priors), Margin: j.Margin, SigmaG: j.SigmaG, Omega: unpair(f.take("omega", P, 2)),
		BEMean: f.take("be.mean", L+P), BECov: f.takeCovariance("be.cov", L+P),
	}
	gamma := unpair(f.take("gamma", L, 2))
	basis, sizes, err := f.takeTaskBasis(L, D)
	if err != nil {
		return err
	}
	for o, n := range sizes {
		f.prefix = fmt.Sprintf("task.%d.", o)
		s.Tasks = append(s.Tasks, bemkl.TaskClassificationFactors{
			Samples: j.TaskSamples[o], Lambda: f.take("lambda", n), A: f.take("a", n), Gamma: gamma[o], Gram: f.takeLower("gram", n),
		})
		f.prefix = ""
		if f.err != nil {
			return f.err
		}
	}
	if err := f.close(); err != nil {
		return err
	}
	p, err := bemkl.NewTaskClassificationPosterior(s)
	if err != nil {
		return err
	}
	return m.set(p, basis)
}
