package bemkl

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// tangent is, by dense matrices, what covariance_tangent.go puts in place of
// ln|I + PS|, P = diag(υ/λ): the tangent at the λ and υ of a factorisation.
type tangent struct {
	s      la.Matrix[float64]
	p, v   []float64
	logDet float64
}

func newTangent(t testing.TB, k *vi.Dense, lambda []float64, upsilon float64) *tangent {
	_, D, _ := k.Dims()
	x := &tangent{s: la.NewMatrix[float64](D, D)}
	k.GramSum(nil, x.s)
	x.s.MirrorLower()
	cov := x.covariance(t, lambda, upsilon)
	for d, l := range lambda {
		x.p = append(x.p, upsilon/l)
		x.v = append(x.v, l*la.Dot(x.s.Row(d), cov.Row(d))) // S(I + PS)⁻¹ = S·(Λ + υS)⁻¹·Λ
	}
	x.logDet = x.logDetAt(t, lambda, upsilon)
	return x
}

// factor returns the Cholesky factor of Λ + υS.
func (x *tangent) factor(t testing.TB, lambda []float64, upsilon float64) la.Matrix[float64] {
	f := x.s.Clone()
	la.Scal(upsilon, f.Data)
	for d, l := range lambda {
		f.Row(d)[d] += l
	}
	require.NoError(t, la.Cholesky(nil, f))
	return f
}

// covariance returns (Λ + υS)⁻¹.
func (x *tangent) covariance(t testing.TB, lambda []float64, upsilon float64) la.Matrix[float64] {
	c := x.factor(t, lambda, upsilon)
	la.CholeskyInv(nil, c)
	c.MirrorLower()
	return c
}

// logDetAt returns ln|I + PS|.
func (x *tangent) logDetAt(t testing.TB, lambda []float64, upsilon float64) float64 {
	sum := la.LogDet(x.factor(t, lambda, upsilon))
	for _, l := range lambda {
		sum -= math.Log(l)
	}
	return sum
}

// below returns how far the tangent takes the bound below the one with Cov[a] at its best.
func (x *tangent) below(t testing.TB, lambda []float64, upsilon float64) float64 {
	at := x.logDet
	for d, l := range lambda {
		at += x.v[d] * (upsilon/l - x.p[d])
	}
	gap := 0.5 * (at - x.logDetAt(t, lambda, upsilon))
	assert.GreaterOrEqual(t, gap, -1e-9*(1+math.Abs(x.logDet)))
	return gap
}

// TestBestPrecision compares with a search over λ.
func TestBestPrecision(t *testing.T) {
	for _, c := range [][3]float64{{1, 1, 3}, {1, 0.3, 0}, {1e-10, 1e-10, 5}, {1e-10, 2, 1e-8}, {0.5, 4, 200}, {1e6, 1e6, 2}} {
		alpha, half, pull := c[0], c[1], c[2]
		value := func(l float64) float64 { return alpha*math.Log(l) - half*l - 0.5*pull/l }
		lambda, root := bestPrecision(alpha, half, pull)
		for _, s := range []float64{0.5, 0.9, 1.1, 2} {
			assert.Greater(t, value(lambda), value(s*lambda), c)
		}
		assert.InEpsilon(t, alpha*math.Log(lambda)-alpha-pull/lambda+1e3, value(lambda)+1e3, 1e-9, c)
		const h = 1e-5
		up, _ := bestPrecision(alpha, half*(1+h), pull)
		down, _ := bestPrecision(alpha, half*(1-h), pull)
		assert.InEpsilon(t, -lambda*lambda/root, (up-down)/(2*h*half), 1e-6, c)
	}
}
