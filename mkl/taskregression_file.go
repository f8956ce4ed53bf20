package mkl

import (
	"fmt"
	"io"

	"github.com/bmkl/bmkl/vi/bemkl"
)

// taskRegressionJSON is the settings of a task regression. The tensors of task O have the
// names of a regression's of one target, after task.O. .
type taskRegressionJSON struct {
	targetsJSON
	TaskSamples []int `json:"task_samples"` // of each task
}

// Save writes the model to a file that [Load] reads, like [RegressionModel.Save]. It takes
// about 8·D² bytes for each task of D basis points.
func (m *TaskRegressionModel) Save(w io.Writer) error {
	s := m.posterior.State()
	L, P, D := m.weights.Dims()
	samples := m.TaskSamples()
	var f fileWriter
	j := taskRegressionJSON{f.addTargetFunctions(&m.targetFunctions, m.design.d, s.Priors), samples}
	var upsilon, epsilon, gamma []Gamma
	for _, task := range s.Tasks {
		upsilon, epsilon, gamma = append(upsilon, task.Upsilon), append(epsilon, task.Epsilon), append(gamma, task.Gamma)
	}
	f.addTaskBasis(m.functions.basis, D)
	f.add("upsilon", pairs(upsilon), L, 2)
	f.add("epsilon", pairs(epsilon), L, 2)
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
		f.addHealing(task.Healing, 1, d)
	}
	f.prefix = ""
	return f.write(w, m.Kind(), j)
}

func (m *TaskRegressionModel) decode(f *fileReader) error {
	var j taskRegressionJSON
	if err := f.settings(&j); err != nil {
		return err
	}
	L, P, D := f.size("gamma")/2, f.size("omega")/2, j.Basis
	if L < 1 || P < 1 || D < 1 || f.size("basis.of")/L != D || len(j.TaskSamples) != L {
		return fmt.Errorf("model: %d targets, %d kernels and %d basis points do not fit the tensors", L, P, D)
	}
	var err error
	if m.targetFunctions, err = f.takeTargetFunctions(&j.targetsJSON, L, P); err != nil {
		return err
	}
	s := bemkl.TaskState{
		Priors: bemkl.RegressionPriors(j.Priors), Omega: unpair(f.take("omega", P, 2)),
		BEMean: f.take("be.mean", L+P), BECov: f.takeCovariance("be.cov", L+P),
	}
	upsilon, epsilon, gamma := unpair(f.take("upsilon", L, 2)), unpair(f.take("epsilon", L, 2)), unpair(f.take("gamma", L, 2))
	basis, sizes, err := f.takeTaskBasis(L, D)
	if err != nil {
		return err
	}
	for o, n := range sizes {
		f.prefix = fmt.Sprintf("task.%d.", o)
		s.Tasks = append(s.Tasks, bemkl.TaskFactors{
			Samples: j.TaskSamples[o], Lambda: f.take("lambda", n), A: f.take("a", n),
			Upsilon: upsilon[o], Epsilon: epsilon[o], Gamma: gamma[o],
			Gram: f.takeLower("gram", n), Healing: f.takeHealing(1, n),
		})
		f.prefix = ""
		if f.err != nil {
			return f.err
		}
	}
	if err := f.close(); err != nil {
		return err
	}
	p, err := bemkl.NewTaskPosterior(s)
	if err != nil {
		return err
	}
	return m.set(p, basis)
}
