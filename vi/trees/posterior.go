package trees

import (
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// State holds the numbers of a posterior, to be saved. It is shared, not copied.
type State struct {
	Curves []Curve // their heights come first
	Trees  []Tree  // their leaves' heights follow, tree by tree

	Noise      float64            // variance
	Mean       []float64          // of the heights: of all knots, then of all leaves
	Covariance la.Matrix[float64] // of the heights; the lower triangle
	Factor     float64            // of the variances of predictions
}

// Posterior predicts targets. It is immutable and safe for concurrent use.
type Posterior struct {
	// HeldMean and HeldVariance are the predictions of the samples held out, from the others, with noise; empty for a posterior
	// that was not fitted.
	HeldMean, HeldVariance []float64

	// Spent is the work of the fit in seconds, as its forecast counts it.
	Spent float64

	state State
}

// NewPosterior returns the posterior of a state of so many features. Errors name what does not fit together.
func NewPosterior(s State, features int) (*Posterior, error) {
	heights := 0
	for i := range s.Curves {
		if err := s.Curves[i].check(features); err != nil {
			return nil, fmt.Errorf("trees: curve %d: %w", i, err)
		}
		heights += len(s.Curves[i].Knots)
	}
	for i := range s.Trees {
		if err := s.Trees[i].check(features); err != nil {
			return nil, fmt.Errorf("trees: tree %d: %w", i, err)
		}
		heights += s.Trees[i].Leaves
	}
	switch {
	case heights == 0 || len(s.Mean) != heights || s.Covariance.Rows != heights || s.Covariance.Cols != heights:
		return nil, fmt.Errorf("trees: %d heights with %d means and a covariance of %d×%d", heights, len(s.Mean), s.Covariance.Rows, s.Covariance.Cols)
	case !(s.Noise > 0 && s.Factor > 0) || math.IsInf(s.Noise, 0) || math.IsInf(s.Factor, 0):
		return nil, fmt.Errorf("trees: noise %g, factor %g", s.Noise, s.Factor)
	case check.NonFinite(s.Mean) >= 0:
		return nil, fmt.Errorf("trees: mean of height %d is %g", check.NonFinite(s.Mean), s.Mean[check.NonFinite(s.Mean)])
	}
	for i := range heights {
		row := s.Covariance.Row(i)[:i+1]
		if j := check.NonFinite(row); j >= 0 || !(row[i] >= 0) {
			return nil, fmt.Errorf("trees: covariance of height %d: %g", i, row[max(j, 0)])
		}
	}
	return &Posterior{state: s}, nil
}

// Spread returns the sums of the variances, over its own heights, of each curve and of each tree.
func (s *State) Spread() (curves, leaves float64) {
	first := 0
	next := func(n int) float64 {
		w := s.Mean[first : first+n]
		first += n
		return variance(w)
	}
	for i := range s.Curves {
		curves += next(len(s.Curves[i].Knots))
	}
	for i := range s.Trees {
		leaves += next(s.Trees[i].Leaves)
	}
	return curves, leaves
}

// variance returns the variance of heights.
func variance(w []float64) (square float64) {
	n := float64(len(w))
	var mean float64
	for _, v := range w {
		mean += v / n
	}
	for _, v := range w {
		square += float64((v-mean)*(v-mean)) / n
	}
	return square
}

// State returns what the posterior consists of.
func (p *Posterior) State() *State { return &p.state }

// Cells holds the heights that a sample has a share of: memory of one goroutine.
type Cells struct {
	at    []int
	share []float64
}

// Cells returns memory for predictions of single samples.
func (p *Posterior) Cells() *Cells {
	n := 2*len(p.state.Curves) + len(p.state.Trees)
	return &Cells{make([]int, 0, n), make([]float64, 0, n)}
}

// find stores the heights that x has a share of, in rising order.
func (c *Cells) find(s *State, x []float64) {
	c.at, c.share = c.at[:0], c.share[:0]
	first := 0
	for i := range s.Curves {
		v := &s.Curves[i]
		k, u := v.at(x[v.Feature])
		c.at = append(c.at, first+k, first+k+1)
		c.share = append(c.share, 1-u, u)
		first += len(v.Knots)
	}
	for i := range s.Trees {
		t := &s.Trees[i]
		c.at = append(c.at, first+t.leaf(x))
		c.share = append(c.share, 1)
		first += t.Leaves
	}
}

// predict returns the mean and the variance, noise included, of a sample.
func (p *Posterior) predict(x []float64, c *Cells) (mean, variance float64) {
	s := &p.state
	c.find(s, x)
	variance = s.Noise
	for a, i := range c.at {
		u := c.share[a]
		mean += float64(u * s.Mean[i])
		row := s.Covariance.Row(i)
		var sum float64
		for b, j := range c.at[:a] {
			sum += float64(c.share[b] * row[j])
		}
		variance += float64(u * (float64(2*sum) + float64(u*row[i])))
	}
	return mean, s.Factor * max(variance, s.Noise)
}

// mean returns the mean alone.
func (p *Posterior) mean(x []float64, c *Cells) (mean float64) {
	c.find(&p.state, x)
	for a, i := range c.at {
		mean += float64(c.share[a] * p.state.Mean[i])
	}
	return mean
}

// One predicts one sample, which is not checked. With meanOnly the variance is NaN. It does not allocate.
func (p *Posterior) One(x []float64, c *Cells, meanOnly bool) (mean, variance float64) {
	if meanOnly {
		return p.mean(x, c), math.NaN()
	}
	return p.predict(x, c)
}

// tileRows is the number of samples that a task predicts.
const tileRows = 256

// Predict predicts the targets of the rows of x. With meanOnly there is no variance. If ctx ends the error wraps its cause.
func (p *Posterior) Predict(ctx context.Context, x la.Matrix[float64], meanOnly bool, workers int) (mean, variance []float64, err error) {
	mean = make([]float64, x.Rows)
	if !meanOnly {
		variance = make([]float64, x.Rows)
	}
	tasks := (x.Rows + tileRows - 1) / tileRows
	crew := work.NewCrew(workers, max(1, tasks), func(int) *Cells { return p.Cells() })
	crew.Stop = new(work.Stop)
	crew.Stop.Heed(ctx)
	err = crew.First(tasks, func(c *Cells, task int) error {
		for i := task * tileRows; i < min(x.Rows, (task+1)*tileRows); i++ {
			if meanOnly {
				mean[i] = p.mean(x.Row(i), c)
			} else {
				mean[i], variance[i] = p.predict(x.Row(i), c)
			}
		}
		return nil
	})
	return mean, variance, err
}
