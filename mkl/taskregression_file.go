package mkl

import (
	"io"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// taskRegressionJSON holds the settings of a task regression. The tensors of task O are named
// like the tensors of a regression of one target, with the prefix task.O. .
type taskRegressionJSON struct {
	targetsJSON
	TaskSamples []int `json:"task_samples"` // of each task
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save]. It takes
// about 8·D² bytes for each task with D basis points.
func (m *TaskRegressionModel) Save(w io.Writer) error {
	var f fileWriter
	return f.write(w, m.Kind(), m.encodeModel(&f))
}

func (m *TaskRegressionModel) encodeModel(f *fileWriter) any {
	s := m.posterior.State()
	L, samples := len(s.Tasks), m.taskSamples()
	j := taskRegressionJSON{f.addTargetFunctions(&m.targetFunctions, m.design.D, s.Priors), samples}
	t := &taskTensors{basis: m.functions.basis, omega: s.Omega, mean: s.BEMean, cov: s.BECov}
	var upsilon, epsilon []Gamma
	for _, task := range s.Tasks {
		upsilon, epsilon = append(upsilon, task.Upsilon), append(epsilon, task.Epsilon)
		t.addTask(task.Gamma, task.Lambda, task.A, task.Gram)
	}
	f.add("upsilon", pairs(upsilon), L, 2)
	f.add("epsilon", pairs(epsilon), L, 2)
	f.addTasks(t, m.design.D)
	for o, task := range s.Tasks {
		f.prefix = taskPrefix(o)
		f.addHealing(task.Healing, 1, len(task.A))
	}
	f.prefix = ""
	return j
}

func (m *TaskRegressionModel) decode(f *fileReader) error {
	var j taskRegressionJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	L, P, err := f.taskSizes("targets", j.TaskSamples, j.designJSON)
	if err != nil {
		return err
	}
	if m.targetFunctions, err = f.takeTargetFunctions(&j.targetsJSON, L, P); err != nil {
		return err
	}
	t, err := f.takeTasks(L, P, j.Basis)
	if err != nil {
		return err
	}
	s := bemkl.TaskState{Priors: bemkl.RegressionPriors(j.Priors), Omega: t.omega, BEMean: t.mean, BECov: t.cov}
	upsilon, epsilon := unpair(f.take("upsilon", L, 2)), unpair(f.take("epsilon", L, 2))
	for o, a := range t.a {
		f.prefix = taskPrefix(o)
		healing := f.takeHealing(1, len(a))
		f.prefix = ""
		if f.err != nil {
			return f.err
		}
		s.Tasks = append(s.Tasks, bemkl.TaskFactors{
			Samples: j.TaskSamples[o], Lambda: t.lambda[o], A: a,
			Upsilon: upsilon[o], Epsilon: epsilon[o], Gamma: t.gamma[o], Gram: t.gram[o], Healing: healing,
		})
	}
	if err := f.close(); err != nil {
		return err
	}
	p, err := bemkl.NewTaskPosterior(s)
	if err != nil {
		return err
	}
	return m.set(p, t.basis)
}
