package slab

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// Covariance is the covariance function of a latent function at N samples. The
// zero value is the zero covariance: the function is its mean.
type Covariance struct {
	kind                covarianceKind
	k                   la.Matrix[float64] // N×N: the Gram matrix, or the distances
	length, least, most float64            // ℓ to start from, and its range
	shared              *sharedForm        // the form of a matrix without a length to learn; nil of others
}

// covarianceKind orders the covariances: from fixedCovariance on they fill a matrix.
type covarianceKind int

const (
	zeroCovariance covarianceKind = iota
	whiteCovariance
	fixedCovariance
	decayCovariance
)

// WhiteCovariance is the identity: values independent of one another, N(0, 1).
func WhiteCovariance() Covariance { return Covariance{kind: whiteCovariance} }

// FixedCovariance is the Gram matrix k, N×N; only the lower triangle is read. It is referred to,
// not copied, and must not change once it was used in a fit: [MultiTask.Fit] may reduce it to a
// form of N²/2 numbers, once, which is kept with the value that is returned and its copies. Give
// these to all latent functions and fits with the same matrix. They are safe for concurrent fits.
func FixedCovariance(k la.Matrix[float64]) Covariance {
	return Covariance{kind: fixedCovariance, k: k, shared: &sharedForm{}}
}

// DecayCovariance is exp(−d_ij/ℓ), where d, N×N, holds distances, only the lower triangle is read,
// and the length ℓ is learned between least and most, from length on; it is held if they are equal.
// With d the halved squared distance it is the paper's squared exponential, whose ℓ is a squared
// length. Distances are referred to, not copied, and must not change once they were used in a fit.
// Several latent functions may share them; where the length is held they are to share the value that
// is returned, see [FixedCovariance].
func DecayCovariance(d la.Matrix[float64], length, least, most float64) Covariance {
	c := Covariance{kind: decayCovariance, k: d, length: length, least: least, most: most}
	if !c.learned() {
		c.shared = &sharedForm{}
	}
	return c
}

// validate returns an error unless c is a covariance of N samples.
func (c Covariance) validate(N int) error {
	switch c.kind {
	case zeroCovariance, whiteCovariance:
		return nil
	case decayCovariance:
		if !(c.least > 0) || !(c.least <= c.length && c.length <= c.most) || math.IsInf(c.most, 1) {
			return fmt.Errorf("length %g between %g and %g: they must be positive, finite and ascending", c.length, c.least, c.most)
		}
	}
	if c.k.Rows != N || c.k.Cols != N {
		return fmt.Errorf("%d×%d where %d×%d is needed", c.k.Rows, c.k.Cols, N, N)
	}
	for i := range N {
		row := c.k.Row(i)[:i+1]
		if j := check.NonFinite(row); j >= 0 {
			return fmt.Errorf("entry (%d, %d) is %g", i, j, row[j])
		}
		if c.kind == fixedCovariance {
			if row[i] < 0 {
				return fmt.Errorf("entry (%d, %d) is %g: it is a variance", i, i, row[i])
			}
			continue
		}
		for j, v := range row {
			if v < 0 {
				return fmt.Errorf("entry (%d, %d) is %g: it is a distance", i, j, v)
			}
		}
	}
	return nil
}

// learned reports whether there is a length to learn.
func (c Covariance) learned() bool { return c.kind == decayCovariance && c.least < c.most }

// variance returns entry (n, n) at the given length.
func (c Covariance) variance(n int, length float64) float64 {
	switch c.kind {
	case zeroCovariance:
		return 0
	case whiteCovariance:
		return 1
	case fixedCovariance:
		return c.k.At(n, n)
	}
	return special.Exp(-c.k.At(n, n) / length)
}

// fill stores the lower triangle at the given length in out, N×N.
func (c Covariance) fill(length float64, out la.Matrix[float64]) {
	for i := range out.Rows {
		c.row(i, length, out.Row(i)[:i+1])
	}
}

// row stores row i up to the diagonal, at the given length, in dst.
func (c Covariance) row(i int, length float64, dst []float64) {
	copy(dst, c.k.Row(i)[:i+1])
	if c.kind == decayCovariance {
		la.Scal(-1/length, dst)
		la.Exp(dst, dst)
	}
}
