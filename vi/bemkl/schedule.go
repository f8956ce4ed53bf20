package bemkl

import (
	"github.com/bmkl/bmkl/vi/internal/target"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// updates are the updates of a model's factors.
type updates struct {
	lambda  func()
	upsilon func() // nil if υ has no distribution
	a, g    work.Update
	rest    []work.Update // the others in the order of the paper
	score   func()        // q(t), the last; nil where the targets are the data

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

// ofLikelihood adds the updates of γ, ω, ε, (b,e) and t, which a likelihood of this kind asks for.
func (u *updates) ofLikelihood(like target.Likelihood, c *commonWeights, epsilon func(), combination work.Update, targets func()) {
	u.rest = []work.Update{work.Step("γ", c.updateGamma), work.Step("ω", c.updateOmega)}
	if like.Learns() {
		u.rest = append(u.rest, work.Step("ε", epsilon))
	}
	u.rest = append(u.rest, combination)
	if like.Latent() {
		u.score = targets
	}
}
