package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// This file holds what [TaskRegression] and [TaskClassifier] have in common: targets, the
// tasks, each with samples of its own.

// splitTasks returns a task for each row of z, with the samples where it is not NaN. It also returns the
// basis points of each task: its samples if the kernels are square, else nil for all.
// Tasks with the same samples share their kernels.
func splitTasks(k gram.Held, z la.Matrix[float64]) (tasks []bemkl.Task, basis [][]int) {
	_, D, N := k.Dims()
	var own []vi.Kernels
	var of [][]int
	for o := range z.Rows {
		var samples []int
		var y []float64
		for i, v := range z.Row(o) {
			if !math.IsNaN(v) {
				samples, y = append(samples, i), append(y, v)
			}
		}
		rows := samples
		if D != N || len(samples) == N {
			rows = nil
		}
		j := slices.IndexFunc(of, func(other []int) bool { return slices.Equal(samples, other) })
		if j < 0 {
			part := vi.Kernels(k)
			if len(samples) < N {
				from := rows
				if from == nil {
					from = vec.UpTo(D)
				}
				part = k.Select(from, samples)
			}
			j = len(of)
			own, of = append(own, part), append(of, samples)
		}
		tasks, basis = append(tasks, bemkl.Task{Kernels: own[j], Y: y}), append(basis, rows)
	}
	return tasks, basis
}

// taskMemory returns about how many bytes the tasks' own kernels and factors take.
func taskMemory(s FitSize) int64 {
	n, p, l, d := float64(s.Samples), float64(s.Kernels), float64(s.Outputs), float64(s.basis())
	words := float64(l * p * d * n)                                                          // the tasks' own kernels
	words += float64(l * (float64(5*d*d) + float64(d*n) + float64(6*p*n) + float64(12*p*p))) // Gram sums, factors, healing; composite kernels; intermediate outputs
	return inBytes(words)
}

// taskWeights holds the posteriors of tasks, which have basis points of their own, for the basis points of
// the design.
type taskWeights[T interface {
	posterior
	variances
	CovarianceRoundoff(o int, cov la.Matrix[float64]) float64
}] struct {
	tasks []T
	basis [][]int // the basis points of each task, ascending; nil: all
	d     int     // basis points of the design
}

// Dims returns the number of tasks, kernels and basis points of the design.
func (p *taskWeights[T]) Dims() (L, P, D int) {
	_, P, _ = p.tasks[0].Dims()
	return len(p.tasks), P, p.d
}

// KernelWeights returns the mean and the standard deviation of each kernel weight.
func (p *taskWeights[T]) KernelWeights() (mean, sd []float64) { return p.tasks[0].KernelWeights() }

// WeightCovariance returns the covariance of task o's weights for the given basis points, which it must have.
func (p *taskWeights[T]) WeightCovariance(ws *la.Workspace, o int, rows []int) (la.Matrix[float64], error) {
	return p.tasks[o].WeightCovariance(ws, 0, p.places(o, rows))
}

// WeightVariances returns the variances of task o's weights, 0 for basis points that it lacks.
func (p *taskWeights[T]) WeightVariances(ws *la.Workspace, o int) (variances []float64, rounding float64, err error) {
	own, rounding, err := p.tasks[o].WeightVariances(ws, 0)
	if err != nil {
		return nil, 0, err
	}
	return moved(p.basis[o], own, 0, nil, p.d), rounding, nil
}

// roundoff bounds the rounding of task o's covariance.
func (p *taskWeights[T]) roundoff(o int, cov la.Matrix[float64]) float64 {
	return p.tasks[o].CovarianceRoundoff(0, cov)
}

// places returns the indices of basis points of the design among the basis points of task o.
func (p *taskWeights[T]) places(o int, rows []int) []int {
	if p.basis[o] == nil {
		return rows
	}
	own := make([]int, len(rows))
	for i, d := range rows {
		own[i], _ = slices.BinarySearch(p.basis[o], d)
	}
	return own
}

// kernels returns the kernels of task o: its own rows of k.
func (p *taskWeights[T]) kernels(o int, k vi.Kernels) vi.Kernels {
	if p.basis[o] == nil {
		return k
	}
	_, _, N := k.Dims()
	return k.(*vi.Dense).Select(p.basis[o], vec.UpTo(N)) // the kernels of a prediction are dense
}

// widen returns a row for each task with its values at its own basis points, and 0 elsewhere.
func (p *taskWeights[T]) widen(of func(o int) []float64) la.Matrix[float64] {
	a := la.NewMatrix[float64](len(p.basis), p.d)
	for o, basis := range p.basis {
		copy(a.Row(o), moved(basis, of(o), 0, nil, p.d))
	}
	return a
}

// moved returns values, which belong to the basis points from, for the basis points to of a design of d basis points. It
// puts rest where from lacks a basis point; nil means all basis points.
func moved(from []int, values []float64, rest float64, to []int, d int) []float64 {
	if from == nil {
		from = vec.UpTo(d)
	}
	if to == nil {
		to = vec.UpTo(d)
	}
	out := make([]float64, len(to))
	for i, b := range to {
		out[i] = rest
		if j, ok := slices.BinarySearch(from, b); ok {
			out[i] = values[j]
		}
	}
	return out
}

// taskTensors holds what files of models of tasks have in common.
type taskTensors struct {
	basis        [][]int              // the basis points of each task; nil: all
	gamma, omega []Gamma              // of the tasks' biases, and of the kernel weights
	mean         []float64            // of the biases and the kernel weights
	cov          la.Matrix[float64]   // of the biases and the kernel weights
	lambda, a    [][]float64          // of each task
	gram         []la.Matrix[float64] // of each task
}

// addTask adds the tensors of one task.
func (t *taskTensors) addTask(gamma Gamma, lambda, a []float64, gram la.Matrix[float64]) {
	t.gamma, t.lambda, t.a, t.gram = append(t.gamma, gamma), append(t.lambda, lambda), append(t.a, a), append(t.gram, gram)
}

// addTasks adds the tensors of tasks in a design of D basis points.
func (f *fileWriter) addTasks(t *taskTensors, D int) {
	L, P := len(t.gamma), len(t.omega)
	has := la.NewMatrix[float64](L, D)
	for o, own := range t.basis {
		if own == nil {
			own = vec.UpTo(D)
		}
		for _, d := range own {
			has.Set(o, d, 1)
		}
	}
	f.add("basis.of", flat(has), L, D)
	f.add("gamma", pairs(t.gamma), L, 2)
	f.add("omega", pairs(t.omega), P, 2)
	f.add("be.mean", t.mean, L+P)
	f.add("be.cov", flat(t.cov), L+P, L+P)
	for o := range L {
		d := len(t.a[o])
		f.prefix = taskPrefix(o)
		f.add("lambda", t.lambda[o], d)
		f.add("a", t.a[o], d)
		f.add("gram", packUpper(t.gram[o]), d*(d+1)/2)
	}
	f.prefix = ""
}

// taskPrefix returns the prefix of the names of a task's own tensors.
func taskPrefix(o int) string { return fmt.Sprintf("task.%d.", o) }

// taskSizes returns the numbers of tasks and of kernels of a file with the given design, or an error if sizes
// do not fit. what names the tasks; samples are their numbers of training samples.
func (f *fileReader) taskSizes(what string, samples []int, d designJSON) (L, P int, err error) {
	L, P = f.size("gamma")/2, f.size("omega")/2
	if L < 1 || P < 1 || d.Basis < 1 || d.Samples != d.Basis || f.size("basis.of")/L != d.Basis || len(samples) != L {
		return 0, 0, fmt.Errorf("model: %d %s, %d kernels, %d basis points and %d samples do not fit the tensors", L, what, P, d.Basis, d.Samples)
	}
	return L, P, nil
}

// takeTasks reads the tensors of L tasks, P kernels and D basis points.
func (f *fileReader) takeTasks(L, P, D int) (*taskTensors, error) {
	t := &taskTensors{
		omega: unpair(f.take("omega", P, 2)), mean: f.take("be.mean", L+P), cov: f.takeCovariance("be.cov", L+P),
	}
	gamma := unpair(f.take("gamma", L, 2))
	basis, sizes, err := f.takeTaskBasis(L, D)
	if err != nil {
		return nil, err
	}
	t.basis = basis
	for o, n := range sizes {
		f.prefix = taskPrefix(o)
		t.addTask(gamma[o], f.take("lambda", n), f.take("a", n), f.takeUpper("gram", n))
		f.prefix = ""
		if f.err != nil {
			return nil, f.err
		}
	}
	return t, nil
}

// takeTaskBasis reads the basis points of the L tasks (nil: all), and sizes, the number of basis points of each task.
func (f *fileReader) takeTaskBasis(L, D int) (basis [][]int, sizes []int, err error) {
	has := f.takeMatrix("basis.of", L, D)
	if f.err != nil {
		return nil, nil, f.err
	}
	for o := range L {
		var own []int
		for d, v := range has.Row(o) {
			switch v {
			case 0:
			case 1:
				own = append(own, d)
			default:
				return nil, nil, fmt.Errorf("tensor %q: entry (%d, %d) is %g", "basis.of", o, d, v)
			}
		}
		n := len(own)
		if n == 0 {
			return nil, nil, fmt.Errorf("tensor %q: target %d has no basis points", "basis.of", o)
		}
		if n == D {
			own = nil
		}
		basis, sizes = append(basis, own), append(sizes, n)
	}
	return basis, sizes, nil
}
