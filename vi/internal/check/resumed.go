package check

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/la"
)

// Resumed holds the state that a fit ends in, with these covariances, to what one must be that is
// restored from a file, if the fit had a journal, whose numbers may be anybody's.
func Resumed[P, S any](journal bool, s S, restore func(S) (*P, error), cov ...la.Matrix[float64]) error {
	if !journal {
		return nil
	}
	_, err := restore(s)
	for _, c := range cov {
		if err == nil {
			err = jitter.Covariance(c)
		}
	}
	if err != nil {
		return fmt.Errorf("vi: what the journal leads to: %w", err)
	}
	return nil
}
