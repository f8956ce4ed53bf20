package bemkl

import (
	"context"

	"github.com/bmkl/bmkl/vi"
)

// mostSparse is the largest shape of a sparse prior, whose rate is no larger. With 1e-10 most fits gain by start; with 1e-3
// most gain little, and some lose much: docs/lab/convergence.md.
const mostSparse = 1e-5

// looseSweeps is how many sweeps a sparse fit makes under the loose prior: the first ten in the plain order, and as many
// again.
const looseSweeps = 20

// start makes the first sweeps of a fit with sparse sample and kernel weights under λ ~ Gamma(1, 1), and then gives λ its own
// prior. A sparse prior takes a random sample weight near zero for one that the targets do not need, and the kernel weights
// follow: such fits end in the empty model, or in a maximum that the random weights have chosen. Under the loose prior the
// targets choose first. These sweeps are a part of the start and not of the record. Measured in docs/lab/convergence.md.
func (r Regression) start(ctx context.Context, m *regression) error {
	if !isSparse(m.priors.Lambda) || !isSparse(m.priors.Omega) || r.Plain || r.Start != nil || r.From != nil {
		return nil
	}
	loose := vi.Gamma{Shape: 1, Scale: 1}
	m.swapLambda(loose)
	_, err := vi.Ascent{Tolerance: -1, MaxSweeps: looseSweeps}.Run(ctx, m)
	m.swapLambda(m.priors.Lambda)
	return err
}

func isSparse(g vi.Gamma) bool { return g.Shape <= mostSparse && g.Scale*mostSparse >= 1 }

// swapLambda changes the prior of λ and keeps E[λ].
func (m *regression) swapLambda(prior vi.Gamma) {
	before := m.Lambda.Shape
	m.Lambda.SetPrior(prior, prior.Shape+0.5)
	for i := range m.Lambda.Scale {
		m.Lambda.Scale[i] *= before / m.Lambda.Shape
	}
}
