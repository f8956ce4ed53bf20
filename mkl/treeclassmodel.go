package mkl

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi/trees"
)

// treeClassModel is the member of a pool of classes that learns edges and interactions: the scores of the classes are sums of the
// leaves of boosted trees. It is immutable and safe for concurrent use.
type treeClassModel[T comparable] struct {
	onViews
	features  *localFeatures
	posterior *trees.ClassPosterior
	classes   classSet[T]
}

// addTrees adds a member with trees, unless [manyRows.kernelsGiven]: trees see features.
func (a AutoClassifier[T]) addTrees(r *manyRows, m *AutoClassifierModel[T], classes []T, class []int) error {
	if r.kernelsGiven() {
		return nil
	}
	f, err := r.treeFeatures(r.stepFitting(2), func(d int) int64 { return trees.MemoryClasses(len(class), d, functions(len(classes))) })
	if err != nil {
		return r.leaveOut(boostedTrees, err)
	}
	member := &treeClassModel[T]{onViews: f.onViews, features: f.features, classes: classSet[T]{names: classes}}
	f.process.Progress = r.stepSeconds(2)
	member.posterior, err = f.process.FitClasses(r.ctx, f.x, class, len(classes))
	if err != nil {
		return r.leaveOut(boostedTrees, err)
	}
	r.spent += member.posterior.Spent
	m.trees = member
	m.names = append(m.names, boostedTrees)
	m.add(member)
	return nil
}

// heldProbabilities returns the probabilities of the held-out samples, which were predicted without them.
func (m *treeClassModel[T]) heldProbabilities() [][]float64 { return m.posterior.HeldProbability }

// Kind returns "tree-classes", the member's name in a pool's file.
func (m *treeClassModel[T]) Kind() string { return "tree-classes" }

// Classes returns the classes.
func (m *treeClassModel[T]) Classes() []T { return m.classes.names }

// Bound returns NaN: the trees depend on the classes of the samples, so that there is no evidence of a model that was fixed before.
func (m *treeClassModel[T]) Bound() float64 { return math.NaN() }

// Outputs returns an empty entry for each function.
func (m *treeClassModel[T]) Outputs() []ModelOutput {
	return make([]ModelOutput, functions(len(m.classes.names)))
}

// KernelWeights returns what the trees contribute: the sum of the variances of their heights.
func (m *treeClassModel[T]) KernelWeights() (all []KernelWeight) {
	return treeWeights(0, m.posterior.State().Spread())
}

// KernelSpreads returns ones: the weights already measure contributions.
func (m *treeClassModel[T]) KernelSpreads(_ context.Context, _ PredictOptions, x ...Features) ([]float64, error) {
	if _, err := checkInputs(m.design, x); err != nil {
		return nil, err
	}
	return slices.Repeat([]float64{1}, len(m.KernelWeights())), nil
}

// PredictClasses implements [ClassModel].
func (m *treeClassModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	score, err := m.posterior.Predict(ctx, m.features.of(x), opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	out := newClassPrediction[T](t, len(m.classes.names), opt)
	for i := range t {
		row := score.Row(i)
		if len(row) == 1 {
			copy(out.Decision[i], []float64{-row[0], row[0]})
		} else {
			copy(out.Decision[i], row)
		}
		if !opt.MeanOnly {
			trees.Probabilities(row, out.Probability[i])
		}
	}
	return out.labelled(m.classes.names)
}

// info describes the predictions, which are exact.
func (m *treeClassModel[T]) info() PredictorInfo { return treeInfo(m.KernelWeights()) }

// String describes the model in one line.
func (m *treeClassModel[T]) String() string {
	s := m.posterior.State()
	return fmt.Sprintf("%d trees with %d heights on %d features, for %d samples of %d classes",
		len(s.Trees), len(s.Heights), len(m.features.columns), m.Samples(), len(m.classes.names))
}

// Summary describes the model in words.
func (m *treeClassModel[T]) Summary() string {
	return fmt.Sprintf("%s\n%s", m, summarizeActive(m.KernelWeights()))
}

// Save returns an error: the member is part of a pool's file.
func (m *treeClassModel[T]) Save(io.Writer) error { return errOnlyInPool }

func (m *treeClassModel[T]) decode(*fileReader) error { return errOnlyInPool }
