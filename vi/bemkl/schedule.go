package bemkl

import (
	"github.com/bmkl/bmkl/vi/internal/work"
)

// schedule is the order of the updates in a sweep.
type schedule struct {
	first   []work.Update // in the first sweeps, if there are any
	settled []work.Update
	done    int // sweeps so far
}

// firstSweeps is how many sweeps the plain order has before the accelerated one
// begins. From a random start the latter, under sparse priors, can shrink the
// kernel weights faster than G takes hold of the targets, and ends in the
// all-zero solution.
const firstSweeps = 10

// sweep makes one sweep.
func (s *schedule) sweep(stop *work.Stop, done func(string)) error {
	s.done++
	if s.first != nil && s.done <= firstSweeps {
		return work.Sweep(stop, s.first, done)
	}
	return work.Sweep(stop, s.settled, done)
}

// updates are those of a model.
type updates struct {
	lambda  func()
	upsilon func() // nil if υ has no distribution
	a, g    work.Update
	rest    []work.Update // the others in the order of the paper
	score   func()        // what is last in a classifier's: f; nil in a regression

	// Steps that are not in the papers: along the ridge, and of G with the kernel weights
	// of several outputs; nil where there is no such step.
	scale func()
	mix   func() error
}

// plain returns the order of the papers.
func (u *updates) plain() []work.Update {
	order := []work.Update{step("λ", u.lambda)}
	if u.upsilon != nil {
		order = append(order, step("υ", u.upsilon))
	}
	order = append(order, u.a, u.g)
	order = append(order, u.rest...)
	if u.score != nil {
		order = append(order, step("f", u.score))
	}
	return order
}

// step returns an update that cannot fail.
func step(name string, f func()) work.Update {
	return work.Update{Name: name, Step: func() error { f(); return nil }}
}
