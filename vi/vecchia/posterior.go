package vecchia

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Solved is a covariance with the solution of its linear equations for all rows.
type Solved struct {
	Covariance Covariance
	Weight     float64            // of its mean
	Alpha      la.Matrix[float64] // n×t
	Double     bool               // its values are computed in float64
}

// State holds the numbers of a posterior, to be saved. Matrices are shared, not copied.
type State struct {
	X, Y  la.Matrix[float64] // n×d and n×t
	Noise []float64          // relative noise variances, nil for ones

	Local       Covariance // of the predictions from neighbours, and of the variances
	Neighbours  int        // of each prediction
	LocalWeight float64    // of their mean

	Solved []Solved  // the other terms of the means
	Factor []float64 // of the variances of each target
}

// Posterior predicts targets. It is immutable and safe for concurrent use.
type Posterior struct {
	// HeldMean and HeldVariance are the predictions of the rows held out, from the other rows, with
	// noise; empty for a posterior that was not fitted.
	HeldMean, HeldVariance la.Matrix[float64]

	// Spent is the work of the fit in seconds, as its forecast counts it.
	Spent float64

	state State
	local *local
	means []*means
}

// NewPosterior returns the posterior of a state. Errors name what does not fit together.
func NewPosterior(s State, workers int) (*Posterior, error) {
	if _, err := newSamples(s.X, s.Y, s.Noise); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("vecchia: %w", err)
	}
	p := &Posterior{}
	p.set(s, workers)
	return p, nil
}

// check reports what is wrong with a state beside its samples.
func (s *State) check() error {
	n, t := s.Y.Rows, s.Y.Cols
	switch {
	case s.Neighbours < 1:
		return fmt.Errorf("%d neighbours", s.Neighbours)
	case len(s.Factor) != t:
		return fmt.Errorf("%d factors of variances for %d targets", len(s.Factor), t)
	case !(s.LocalWeight >= 0 && s.LocalWeight <= 1):
		return fmt.Errorf("the weight of the neighbours' mean is %g", s.LocalWeight)
	}
	for _, v := range s.Factor {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("a factor of variances is %g", v)
		}
	}
	if err := s.Local.check(s.X.Cols); err != nil {
		return err
	}
	for i, v := range s.Solved {
		switch {
		case !(v.Weight >= 0 && v.Weight <= 1):
			return fmt.Errorf("solution %d: its weight is %g", i, v.Weight)
		case v.Alpha.Rows != n || v.Alpha.Cols != t:
			return fmt.Errorf("solution %d: %d×%d where %d×%d is needed", i, v.Alpha.Rows, v.Alpha.Cols, n, t)
		}
		for r := range n {
			if j := check.NonFinite(v.Alpha.Row(r)); j >= 0 {
				return fmt.Errorf("solution %d: entry (%d, %d) is %g", i, r, j, v.Alpha.At(r, j))
			}
		}
		if err := v.Covariance.check(s.X.Cols); err != nil {
			return fmt.Errorf("solution %d: %w", i, err)
		}
	}
	return nil
}

// set makes p the posterior of a state.
func (p *Posterior) set(s State, workers int) {
	p.state = s
	all := &samples{x: s.X, y: s.Y, noise: s.Noise}
	p.local = newLocal(all, &p.state.Local, s.Neighbours, workers)
	for i := range s.Solved {
		v := &p.state.Solved[i]
		p.means = append(p.means, newMeans(all, &v.Covariance, v.Alpha, v.Double))
	}
}

// State returns what the posterior consists of. It must not be changed.
func (p *Posterior) State() State { return p.state }

// Predict returns the means of the targets at the rows of x (m×d), and, unless meanOnly, their
// variances, noise included. noise has the relative noise variance of each row; nil stands for ones.
func (p *Posterior) Predict(ctx context.Context, x la.Matrix[float64], noise []float64, meanOnly bool, workers int) (mean, variance la.Matrix[float64], err error) {
	if x.Cols != p.state.X.Cols || noise != nil && len(noise) != x.Rows {
		return mean, variance, errors.New("vecchia: rows to predict have other features, or noise another length")
	}
	stop := new(work.Stop)
	stop.Heed(ctx)
	t := len(p.state.Factor)
	mean = la.NewMatrix[float64](x.Rows, t)
	if w := p.state.LocalWeight; w > 0 || !meanOnly {
		v := make([]float64, x.Rows)
		if err := p.local.predict(workers, stop, x, noise, mean, v); err != nil {
			return mean, variance, err
		}
		la.Scal(w, mean.Data)
		if !meanOnly {
			variance = la.NewMatrix[float64](x.Rows, t)
			for i, u := range v {
				for c, by := range p.state.Factor {
					variance.Set(i, c, by*u)
				}
			}
		}
	}
	for i, m := range p.means {
		if err := m.add(workers, stop, x, p.state.Solved[i].Weight, mean); err != nil {
			return mean, variance, err
		}
	}
	return mean, variance, nil
}
