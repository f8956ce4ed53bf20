package mgp

import (
	"fmt"
	"math"
)

// Observed gives the moments of observations to packages that infer the numbers f_n themselves.
type Observed struct{ like Likelihood }

// Observe returns the observations of a likelihood. It returns an error for observations that are not valid.
func Observe(l Likelihood) (*Observed, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	return &Observed{l}, nil
}

// Samples returns the number N of observations.
func (o *Observed) Samples() int { return o.like.Samples() }

// Prior returns the means and the standard deviations of the normal prior of the level b and of the parameters η.
func (o *Observed) Prior() (mean, sd []float64) { return o.like.prior() }

// Moments returns log Z = log ∫ p(y_n | f)·N(f | mean, variance) df at the parameters eta, with d log Z/dm and −d² log Z/dm² by the mean. f includes
// the level. It stores the derivatives by eta in slopes, unless that is nil.
func (o *Observed) Moments(n int, mean, variance float64, eta, slopes []float64) (logZ, slope, bend float64) {
	m := o.like.moments(n, mean, variance, eta, slopes)
	return m.logZ, m.slope, m.bend
}

// Offset is a likelihood with a known part of the function: sample n has f_n + Of[n] in the place of f_n.
type Offset struct {
	Likelihood
	Of []float64
}

// Some implements [Likelihood].
func (o Offset) Some(rows []int) Likelihood {
	return Offset{o.Likelihood.Some(rows), picked(o.Of, rows)}
}

func (o Offset) check() error {
	if len(o.Of) != o.Samples() {
		return fmt.Errorf("%d offsets for %d samples", len(o.Of), o.Samples())
	}
	for n, v := range o.Of {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the offset of sample %d is %g", n, v)
		}
	}
	return o.Likelihood.check()
}

func (o Offset) identity() []float64 { return append(o.Likelihood.identity(), o.Of...) }

func (o Offset) moments(n int, mean, variance float64, eta, slopes []float64) moments {
	return o.Likelihood.moments(n, mean+o.Of[n], variance, eta, slopes)
}

func (o Offset) site(n int, mean, variance float64, eta []float64) (precision, shift float64) {
	precision, shift = o.Likelihood.site(n, mean+o.Of[n], variance, eta)
	return precision, shift - float64(precision*o.Of[n])
}

func (o Offset) logProbability(n int, mean, variance float64, eta []float64) float64 {
	return o.Likelihood.logProbability(n, mean+o.Of[n], variance, eta)
}
