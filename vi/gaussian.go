package vi

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// gaussian is a Gaussian factor of small dimension in moment form.
type gaussian struct {
	mean   []float64
	cov    la.Matrix[float64] // full symmetric
	logDet float64            // log|cov|

	unit []float64 // scratch: the scaling to unit diagonal
}

// newGaussian returns the standard Gaussian of dimension n.
func newGaussian(n int) gaussian {
	g := gaussian{mean: make([]float64, n), cov: la.NewMatrix[float64](n, n), unit: make([]float64, n)}
	for i := range n {
		g.cov.Set(i, i, 1)
	}
	return g
}

// setPrecision makes the inverse of the lower triangle left in g.cov the
// covariance, and cov·rhs the mean. The precision is scaled to unit diagonal
// before it is factorised: under sparse priors its diagonal spans twenty decades.
func (g *gaussian) setPrecision(ws *la.Workspace, rhs []float64) error {
	c, u := g.cov, g.unit
	var logUnit float64
	for i := range u {
		u[i] = 1 / math.Sqrt(c.At(i, i))
		logUnit += math.Log(u[i])
	}
	scale := func() {
		for i := range u {
			for j, v := range c.Row(i)[:i+1] {
				c.Data[i*c.Stride+j] = float64(u[i]*v) * u[j]
			}
		}
	}
	scale()
	if err := la.Cholesky(ws, c); err != nil {
		return err
	}
	g.logDet = 2*logUnit - la.LogDet(c)
	for i := range g.mean {
		g.mean[i] = u[i] * rhs[i]
	}
	la.CholeskySolveVec(c, g.mean)
	for i := range g.mean {
		g.mean[i] *= u[i]
	}
	la.CholeskyInv(ws, c)
	scale()
	c.MirrorLower()
	return nil
}

// resume copies mean and covariance.
func (g *gaussian) resume(mean []float64, cov la.Matrix[float64]) error {
	copy(g.mean, mean)
	factor := cov.Clone()
	if err := la.Cholesky(nil, factor); err != nil {
		return err
	}
	g.cov.CopyFrom(cov)
	g.logDet = la.LogDet(factor)
	return nil
}

// square returns the second moment of variable j.
func (g *gaussian) square(j int) float64 {
	return float64(g.mean[j]*g.mean[j]) + g.cov.At(j, j)
}

// rescale multiplies the variables from the given one on by c.
func (g *gaussian) rescale(c float64, from int) {
	la.Scal(c, g.mean[from:])
	for j := range g.mean {
		row := g.cov.Row(j)
		la.Scal(c, row[from:])
		if j >= from {
			la.Scal(c, row)
		}
	}
	g.logDet += 2 * float64(len(g.mean)-from) * math.Log(c)
}

// entropy returns −E[log q].
func (g *gaussian) entropy() float64 {
	return 0.5 * (g.logDet + float64(len(g.mean))*(1+log2Pi))
}

const log2Pi = 1.83787706640934548356065947281123527972
