package trees

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// ClassState holds the numbers of a posterior of classes, to be saved. It is shared, not copied.
type ClassState struct {
	Level   []float64 // of each function: its score without trees
	Trees   []Tree    // equally many of each function, function by function
	Heights []float64 // of all leaves, tree by tree
}

// ClassPosterior predicts classes. It is immutable and safe for concurrent use.
type ClassPosterior struct {
	// HeldProbability has the probabilities of the samples held out, [sample][class], from the others, and HeldLoss the mean of
	// −log of the probability of their class. They are empty for a posterior that was not fitted.
	HeldProbability [][]float64
	HeldLoss        float64

	// Spent is the work of the fit in seconds, as its forecast counts it.
	Spent float64

	state ClassState
}

// NewClassPosterior returns the posterior of a state of so many features. Errors name what does not fit together.
func NewClassPosterior(s ClassState, features int) (*ClassPosterior, error) {
	if len(s.Level) == 0 || len(s.Trees)%len(s.Level) != 0 {
		return nil, fmt.Errorf("trees: %d trees of %d functions", len(s.Trees), len(s.Level))
	}
	if i := check.NonFinite(s.Level); i >= 0 {
		return nil, fmt.Errorf("trees: level %d is %g", i, s.Level[i])
	}
	heights := 0
	for i := range s.Trees {
		if err := s.Trees[i].check(features); err != nil {
			return nil, fmt.Errorf("trees: tree %d: %w", i, err)
		}
		heights += s.Trees[i].Leaves
	}
	if len(s.Heights) != heights {
		return nil, fmt.Errorf("trees: %d heights of %d leaves", len(s.Heights), heights)
	}
	if i := check.NonFinite(s.Heights); i >= 0 {
		return nil, fmt.Errorf("trees: height %d is %g", i, s.Heights[i])
	}
	return &ClassPosterior{state: s}, nil
}

// State returns what the posterior consists of.
func (p *ClassPosterior) State() *ClassState { return &p.state }

// Scores stores the score of each function for one sample, which is not checked. It does not allocate.
func (p *ClassPosterior) Scores(x, score []float64) {
	s := &p.state
	rounds, first := len(s.Trees)/len(s.Level), 0
	for f, v := range s.Level {
		for t := f * rounds; t < (f+1)*rounds; t++ {
			v += s.Heights[first+s.Trees[t].leaf(x)]
			first += s.Trees[t].Leaves
		}
		score[f] = v
	}
}

// Probabilities stores the probabilities of classes with the given scores: one for each class, or the log odds of the second of two
// classes alone.
func Probabilities(score, probability []float64) {
	if len(score) == 1 {
		probability[0], probability[1] = 1/(1+special.Exp(score[0])), 1/(1+special.Exp(-score[0]))
		return
	}
	special.Softmax(score, probability)
}

// Predict returns the scores of the rows of x, a column for each function. If ctx ends the error wraps its cause.
func (p *ClassPosterior) Predict(ctx context.Context, x la.Matrix[float64], workers int) (la.Matrix[float64], error) {
	score := la.NewMatrix[float64](x.Rows, len(p.state.Level))
	tasks := (x.Rows + tileRows - 1) / tileRows
	crew := work.NewCrew(workers, max(1, tasks), func(int) struct{} { return struct{}{} })
	crew.Stop = new(work.Stop)
	crew.Stop.Heed(ctx)
	err := crew.First(tasks, func(_ struct{}, task int) error {
		for i := task * tileRows; i < min(x.Rows, (task+1)*tileRows); i++ {
			p.Scores(x.Row(i), score.Row(i))
		}
		return nil
	})
	return score, err
}

// Spread returns the sum of the variances, over its own heights, of each tree.
func (s *ClassState) Spread() (leaves float64) {
	first := 0
	for i := range s.Trees {
		n := s.Trees[i].Leaves
		leaves += variance(s.Heights[first : first+n])
		first += n
	}
	return leaves
}
