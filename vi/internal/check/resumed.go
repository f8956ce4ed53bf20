package check

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/la"
)

// Resumed returns the posterior of a fit that ends in p. Without a journal that is p. The numbers
// of a journal may be anybody's: then p's state and these covariances of it are checked as those of
// a file are, and the posterior is the one that restore makes of the state, because what p keeps
// beside its state may contradict it.
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
