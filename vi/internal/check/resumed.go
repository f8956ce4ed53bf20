package check

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/la"
)

// Resumed returns the posterior p that a fit ends in, with these covariances, if the fit had no
// journal. Of one that had, whose numbers may be anybody's, it returns the posterior that a file
// of p's state restores, held to what such a state must be: what p keeps beside its state may
// not follow from it.
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
