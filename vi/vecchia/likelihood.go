package vecchia

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/nearest"
	"github.com/bmkl/bmkl/vi/internal/work"
)

const (
	learnNear     = 32  // neighbours of a term
	learnBatch    = 256 // terms of a step
	termsTogether = 8   // terms of a task

	// drift is the relative change of a scale after which neighbours are sought by the new scales.
	drift = 0.15
)

// likelihood computes terms of the likelihood of ordered samples,
//
//	Σ_i log p(y_i | y_j, j the m rows nearest to i among j < i).
type likelihood struct {
	*samples
	workers int
	stop    *work.Stop

	metric []float64 // scales of the features by which the index was made
	points la.Matrix[float32]
	index  *nearest.Index
}

// look makes the index by the metric of cov, unless it is nearly the one that it has.
func (l *likelihood) look(cov *Covariance) {
	m := cov.metric()
	if l.index != nil {
		change, most := 0.0, slices.Max(m)
		for f, v := range m {
			// A feature that hardly matters may change as it likes.
			change = max(change, math.Abs(v-l.metric[f])/(float64(0.1*most)+max(v, l.metric[f])))
		}
		if change < drift {
			return
		}
	}
	l.metric = m
	l.points = scaled(l.x, m)
	l.index = nearest.New(l.workers, l.points, learnNear)
}

// terms returns the sum of the terms of some rows, and adds its gradient to gradient unless that is
// nil.
func (l *likelihood) terms(cov *Covariance, rows []int, gradient []float64) (float64, error) {
	l.look(cov)
	near := make([]int32, len(rows)*learnNear)
	l.index.Search(l.workers, l.points.TakeRows(rows), rows, learnNear, near)
	tasks := (len(rows) + termsTogether - 1) / termsTogether
	values := make([]float64, tasks)
	gradients := la.NewMatrix[float64](tasks, len(gradient))
	crew := work.NewCrew(l.workers, tasks, func(int) *conditional {
		return newConditional(l.samples, len(cov.Parts), learnNear)
	})
	crew.Stop = l.stop
	err := crew.Each(func(c *conditional, t int) error {
		c.cov = cov
		var g []float64
		if gradient != nil {
			g = gradients.Row(t)
		}
		for i := t * termsTogether; i < min(len(rows), (t+1)*termsTogether); i++ {
			values[t] += c.density(near[i*learnNear:][:learnNear], rows[i], g)
		}
		return nil
	})
	sum := 0.0
	for t, v := range values {
		sum += v
		if gradient != nil {
			la.Axpy(1, gradients.Row(t), gradient)
		}
	}
	return sum, err
}
