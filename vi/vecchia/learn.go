package vecchia

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/random"
)

const (
	learnRate  = 0.08 // the largest step of a logarithm
	trialSteps = 60   // of each start, before the better one goes on
)

// climber maximises the likelihood by steps of Adam along gradients of the terms of a few rows each.
//
// Source: D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
type climber struct {
	l     *likelihood
	cov   *Covariance
	train int // terms of the first rows are used
	noise float64
	src   special.Rand
	order []int

	theta, gradient, first, second []float64
	decay1, decay2                 float64
}

// climber returns a climber from cov, which it changes.
func (l *learner) climber(cov *Covariance) *climber {
	theta := cov.parameters()
	n := len(theta)
	return &climber{l: l.l, cov: cov, train: l.train, noise: l.noise, src: random.Source(l.seed), theta: theta,
		gradient: make([]float64, n), first: make([]float64, n), second: make([]float64, n), decay1: 1, decay2: 1}
}

// rows draws the rows of a step. All rows are drawn before any is drawn again.
func (c *climber) rows() []int {
	n := min(learnBatch, c.train)
	if len(c.order) < n {
		c.order = c.src.Perm(c.train)
	}
	rows := c.order[:n]
	c.order = c.order[n:]
	slices.Sort(rows)
	return rows
}

// climb makes steps from ≤ k < to out of all. From half of all steps on, they shorten by a cosine.
func (c *climber) climb(from, to, all int) error {
	const memory1, memory2 = 0.9, 0.99
	low, high := c.cov.bounds()
	if last := len(low) - 1; c.noise > 0 {
		low[last] = max(low[last], special.Log(c.noise))
	}
	for k := from; k < to; k++ {
		rows := c.rows()
		clear(c.gradient)
		if _, err := c.l.terms(c.cov, rows, c.gradient); err != nil {
			return err
		}
		c.decay1 *= memory1
		c.decay2 *= memory2
		rate := learnRate
		if past := 2*float64(k+1)/float64(all) - 1; past > 0 {
			_, cos := special.Sincos(math.Pi * past)
			rate *= max(0.03, 0.5*(1+cos))
		}
		for j, g := range c.gradient {
			g /= float64(len(rows))
			c.first[j] = float64(memory1*c.first[j]) + float64((1-memory1)*g)
			c.second[j] = float64(memory2*c.second[j]) + float64((1-memory2)*g*g)
			step := c.first[j] / (1 - c.decay1) / (math.Sqrt(c.second[j]/(1-c.decay2)) + 1e-8)
			c.theta[j] = min(max(c.theta[j]+float64(rate*step), low[j]), high[j])
		}
		c.cov.set(c.theta)
	}
	return nil
}

// learner learns covariances.
type learner struct {
	l     *likelihood
	train int   // rows that are learned from, the first
	held  []int // rows whose terms compare starts
	seed  uint64
	noise float64 // the least
}

// single learns a covariance of one part, from the better of two starts.
func (l *learner) single(shape Shape, steps int) (*Covariance, error) {
	var best *climber
	most := math.Inf(-1)
	trial := min(trialSteps, steps/2)
	for _, scale := range []float64{3, 1} {
		l.l.index = nil
		c := l.climber(begin(shape, l.l.x.Cols, scale))
		if err := c.climb(0, trial, steps); err != nil {
			return nil, err
		}
		value, err := l.l.terms(c.cov, l.held, nil)
		if err != nil {
			return nil, err
		}
		if best == nil || value > most {
			best, most = c, value
		}
	}
	l.l.index = nil
	return best.cov, best.climb(trial, steps, steps)
}

// double learns a covariance of two parts from a single one that was learned.
func (l *learner) double(from *Covariance, shape Shape, steps int) (*Covariance, error) {
	l.l.index = nil
	c := l.climber(from.split(shape))
	return c.cov, c.climb(0, steps, steps)
}
