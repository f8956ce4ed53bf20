package mkl

import (
	"io"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// taskClassifierJSON holds the settings of a task classifier. The tensors of task O are named
// like the tensors of a classifier with one function, with the prefix task.O. .
type taskClassifierJSON struct {
	scoresJSON
	TaskSamples []int `json:"task_samples"` // of each task
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save]. It takes
// about 4·D² bytes for each task with D basis points.
func (m *TaskClassifierModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encodeModel(&f))
}

func (m *TaskClassifierModel) encodeModel(f *fileWriter) any {
	s := m.posterior.State()
	j := taskClassifierJSON{TaskSamples: m.taskSamples()}
	j.scoresJSON = scoresJSON{recordJSON: f.addRecord(&m.record), Priors: scorePriorsJSON(s.Priors), Margin: s.Margin, SigmaG: s.SigmaG}
	j.designJSON = f.addDesign(m.design, m.design.D)
	t := &taskTensors{basis: m.functions.basis, omega: s.Omega, mean: s.BEMean, cov: s.BECov}
	for _, task := range s.Tasks {
		t.addTask(task.Gamma, task.Lambda, task.A, task.Gram)
	}
	f.addTasks(t, m.design.D)
	return j
}

func (m *TaskClassifierModel) decode(f *fileReader) error {
	var j taskClassifierJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	L, P, err := f.taskSizes("labels", j.TaskSamples, j.designJSON)
	if err != nil {
		return err
	}
	if m.onViews, err = f.takeOnViews(j.recordJSON, j.designJSON, L, P, false); err != nil {
		return err
	}
	t, err := f.takeTasks(L, P, j.Basis)
	if err != nil {
		return err
	}
	s := bemkl.TaskClassificationState{
		Priors: bemkl.ClassificationPriors(j.Priors), Margin: j.Margin, SigmaG: j.SigmaG, Omega: t.omega, BEMean: t.mean, BECov: t.cov,
	}
	for o, a := range t.a {
		s.Tasks = append(s.Tasks, bemkl.TaskClassificationFactors{
			Samples: j.TaskSamples[o], Lambda: t.lambda[o], A: a, Gamma: t.gamma[o], Gram: t.gram[o],
		})
	}
	if err := f.close(); err != nil {
		return err
	}
	p, err := bemkl.NewTaskClassificationPosterior(s)
	if err != nil {
		return err
	}
	return m.set(p, t.basis)
}
