package conjugate

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Gaussian is a Gaussian factor of small dimension in moment form.
type Gaussian struct {
	Mean   []float64
	Cov    la.Matrix[float64] // full symmetric
	LogDet float64            // log|cov|
	Spread float64            // tr C⁻¹, C the precision scaled to unit diagonal: what its round-off depends on

	unit []float64 // scratch: the scaling to unit diagonal
}

// NewGaussian returns the standard Gaussian of dimension n.
func NewGaussian(n int) Gaussian {
	g := Gaussian{Mean: make([]float64, n), Cov: la.NewMatrix[float64](n, n), unit: make([]float64, n)}
	for i := range n {
		g.Cov.Set(i, i, 1)
	}
	return g
}

// SetPrecision makes the inverse of the precision matrix, whose lower triangle the
// caller has left in g.Cov, the covariance, and covariance·rhs the mean. The precision
// is scaled to unit diagonal before it is factorised: under sparse priors its diagonal
// spans twenty decades.
func (g *Gaussian) SetPrecision(ws *la.Workspace, rhs []float64) error {
	c, u := g.Cov, g.unit
	var logUnit float64
	for i := range u {
		u[i] = 1 / math.Sqrt(c.At(i, i))
		logUnit += special.Log(u[i])
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
	g.LogDet = 2*logUnit - la.LogDet(c)
	for i := range g.Mean {
		g.Mean[i] = u[i] * rhs[i]
	}
	la.CholeskySolveVec(c, g.Mean)
	for i := range g.Mean {
		g.Mean[i] *= u[i]
	}
	la.CholeskyInv(ws, c)
	g.Spread = 0
	for i := range u {
		g.Spread += c.At(i, i)
	}
	scale()
	c.MirrorLower()
	return nil
}

// Resume copies mean and covariance.
func (g *Gaussian) Resume(mean []float64, cov la.Matrix[float64]) error {
	copy(g.Mean, mean)
	factor := cov.Clone()
	if err := la.Cholesky(nil, factor); err != nil {
		return err
	}
	g.Cov.CopyFrom(cov)
	g.LogDet = la.LogDet(factor)
	return nil
}

// Square returns the second moment of variable j.
func (g *Gaussian) Square(j int) float64 {
	return float64(g.Mean[j]*g.Mean[j]) + g.Cov.At(j, j)
}

// Rescale multiplies the variables from the given one on by c.
func (g *Gaussian) Rescale(c float64, from int) {
	la.Scal(c, g.Mean[from:])
	for j := range g.Mean {
		row := g.Cov.Row(j)
		la.Scal(c, row[from:])
		if j >= from {
			la.Scal(c, row)
		}
	}
	g.LogDet += float64(2 * float64(len(g.Mean)-from) * special.Log(c))
}

// Entropy returns −E[log q].
func (g *Gaussian) Entropy() float64 {
	return float64(0.5 * (g.LogDet + float64(float64(len(g.Mean))*(1+Log2Pi))))
}

// Snapshot names the factor.
func (g *Gaussian) Snapshot(s *work.Snapshot) {
	s.Floats(g.Mean, g.Cov.Data)
	s.Float(&g.LogDet)
	s.Float(&g.Spread)
}

// Log2Pi is log 2π.
const Log2Pi = 1.83787706640934548356065947281123527972
