package check

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/la"
)

// Resumed returns the posterior of a fit that ends in p. Without a journal it returns p. Anybody
// may have written the numbers of a journal: p's state and its covariances cov are then checked in
// the way of a model file. The posterior is the one that restore makes of the state, because what p
// keeps beside its state may contradict it.
func Resumed[S any, P interface{ State() S }](journal bool, p P, restore func(S) (P, error), cov ...la.Matrix[float64]) (P, error) {
	if !journal {
		return p, nil
	}
	restored, err := restore(p.State())
	for _, c := range cov {
		if err == nil {
			err = jitter.Covariance(c)
		}
	}
	if err != nil {
		var none P
		return none, fmt.Errorf("vi: what the journal leads to: %w", err)
	}
	return restored, nil
}
