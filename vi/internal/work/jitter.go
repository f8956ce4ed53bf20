package work

import (
	"errors"

	"github.com/bmkl/bmkl/la"
)

// maxJitter bounds the jitter.
const maxJitter = 1e-8

// MoreJitter returns what to add to the diagonal of a positive semidefinite A, relative
// to it, so that I + A of order n can be factorised, after jitter was too little: the
// least of n·2⁻⁵², ten times that, and so on. It is not ok if err, that of the last
// factorisation, is not for rounding to explain. A's eigenvalues must be larger than
// the inverse of the machine's precision for that.
func MoreJitter(n int, jitter float64, err error) (more float64, ok bool) {
	const eps = 0x1p-52
	var pivot *la.PivotError
	more = max(10*jitter, eps*float64(n))
	return more, errors.As(err, &pivot) && pivot.Indefinite() && more <= maxJitter
}
