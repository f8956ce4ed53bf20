package bemkl

import "github.com/bmkl/bmkl/vi/internal/work"

// updates are the updates of a model's factors.
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
	order := []work.Update{work.Step("λ", u.lambda)}
	if u.upsilon != nil {
		order = append(order, work.Step("υ", u.upsilon))
	}
	order = append(order, u.a, u.g)
	order = append(order, u.rest...)
	if u.score != nil {
		order = append(order, work.Step("f", u.score))
	}
	return order
}
