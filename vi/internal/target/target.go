// Package target is the last layer of models whose scores s are normal in the posterior: targets t
// with noise,
//
//	t_i | s ~ N(s_i, 1/ε),   p(y_i | t_i),
//
// about which nothing is known but the data y. A [Likelihood] is p(y | t) with what is known of ε, and has
// a file: [Normal], where the targets are the data, and [Probit], where the data are their signs.
// Families with a factor q(t) use it: vi/bemkl and vi/kbmf. docs/theory/likelihoods.md derives the
// interface and says how to add a likelihood.
package target

import (
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Likelihood is the likelihood of targets that have ε in common, with its factors q(ε) and q(t) of the
// posterior. The targets are rows: one for an output, or the rows of a table of pairs.
//
// The model's other factors see targets as known values E[t] with the noise precision E[ε]. The model
// stores m_i = E[s_i] where the likelihood was made to read it, and reads E[t_i] where it was made to
// store it; both are 0 and E[t_i] stays so where y_i is missing.
type Likelihood interface {
	// Precision returns E[ε].
	Precision() float64

	// Learns reports whether ε has a distribution. UpdateNoise is q(ε) given
	// R = Σ E[(E[t_i] − s_i)²], to which it adds Σ Var[t_i]; or it does nothing.
	Learns() bool
	UpdateNoise(square float64)

	// Latent reports whether the targets have a distribution. UpdateTargets is
	// q(t_i) = p(y_i | t_i)·N(t_i | m_i, 1/E[ε])/Z_i, or does nothing.
	Latent() bool
	UpdateTargets()

	// Terms returns what the likelihood adds to the lower bound beside ½·E[ε] times every Shift:
	//
	//	noise = E[log p(ε)] − E[log q(ε)],   logZ = Σ log Z_i,
	//
	// and the rest as fit: −½·E[ε]·R of latent targets with a known ε, and the mean log density of
	// targets that are the data, whose logZ is 0. They are apart because models add them at different
	// places, and a sum in another order has other last digits.
	Terms(square float64) (noise, logZ, fit float64)

	// Shift returns Σ (E[t_i] − m_i)² of a row with the m of the last update, 0 of targets that are
	// the data.
	Shift(row int) float64

	// Predictions turns predictions of targets into predictions of data.
	Predictions(p *vi.Predictions)

	// Memorise adds to m what a posterior holds.
	Memorise(m *work.Memory)

	// Snapshot names the factors, and the data and settings if q(t) depends on them.
	Snapshot(s *work.Snapshot)
}
