// Package jitter says how much to add to the diagonal of a matrix that rounding has made
// indefinite.
package jitter

import (
	"errors"

	"github.com/bmkl/bmkl/la"
)

// Most is the largest jitter.
const Most = 1e-8

// More returns the jitter to try after last, relative to the diagonal of a matrix of
// order n: the least of n·2⁻⁵², ten times that, and so on up to Most. It is not ok if
// there is no more to try, or if err, the error of the last factorisation, is not for
// rounding to explain.
func More(n int, last float64, err error) (more float64, ok bool) {
	var pivot *la.PivotError
	more = max(10*last, 0x1p-52*float64(n))
	return more, errors.As(err, &pivot) && pivot.Indefinite() && more <= Most
}
