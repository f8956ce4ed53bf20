package mgp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/vi"
)

// The moments, the variance of 1/x and the divergence against sums over a fine
// grid of log x.
func TestGIGAgainstQuadrature(t *testing.T) {
	for _, g := range []GIG{{2.5, 0, 3}, {-2.5, 3, 0}, {0.3, 1, 2}, {0, 0.5, 0.1}, {-0.4, 0.2, 3}, {5, 1e-3, 2}, {-30, 40, 1}, {300, 2, 500}} {
		prior := GIG{0.7, 0.9, 1.3}
		const h = 0.002
		var z, mean, inv, inv2, log, log2, ratio float64
		density := func(g GIG, x float64) float64 { // of log γ, not normalised
			return g.Omega*x - 0.5*(g.Chi*math.Exp(-x)+g.Phi*math.Exp(x))
		}
		m, pm := g.moments(), prior.moments()
		for x := -40.0; x < 40; x += h {
			p := h * math.Exp(density(g, x)-m.logZ)
			z += p
			mean += p * math.Exp(x)
			inv += p * math.Exp(-x)
			inv2 += p * math.Exp(-2*x)
			log += p * x
			log2 += p * x * x
			if p > 0 {
				ratio += p * (density(prior, x) - pm.logZ - density(g, x) + m.logZ)
			}
		}
		assert.InDelta(t, 1, z, 1e-11, "%v", g)
		assert.InEpsilon(t, mean, g.mean(), 1e-11, "%v", g)
		assert.InEpsilon(t, inv, g.MeanInv(), 1e-11, "%v", g)
		assert.InDelta(t, log, g.meanLog(), 1e-11, "%v", g)
		assert.InEpsilon(t, inv2-inv*inv, g.VarInv(), 1e-8, "%v", g)
		assert.InEpsilon(t, log2-log*log, g.VarLog(), 1e-6, "%v", g)
		assert.InDelta(t, ratio, g.bound(m, prior), 1e-9*max(1, math.Abs(ratio)), "%v", g)
	}
}

func TestGIGGammaBound(t *testing.T) {
	for _, c := range []struct{ q, p vi.Gamma }{
		{vi.Gamma{Shape: 12, Scale: 0.3}, vi.Gamma{Shape: 2, Scale: 1.5}}, {vi.Gamma{Shape: 2, Scale: 0.3}, vi.Gamma{Shape: 12, Scale: 1.5}}, {vi.Gamma{Shape: 5010, Scale: 1.0 / 5020}, vi.Gamma{Shape: 5000, Scale: 1.0 / 5000}},
	} {
		q, p := GIG{c.q.Shape, 0, 2 / c.q.Scale}, GIG{c.p.Shape, 0, 2 / c.p.Scale}
		lq, _ := math.Lgamma(c.q.Shape)
		lp, _ := math.Lgamma(c.p.Shape)
		want := lq + c.q.Shape*math.Log(c.q.Scale) - lp - c.p.Shape*math.Log(c.p.Scale) +
			(c.p.Shape-c.q.Shape)*c.q.MeanLog() + (1/c.q.Scale-1/c.p.Scale)*c.q.Mean()
		assert.InDelta(t, want, q.bound(q.moments(), p), 1e-10)
	}
}

func TestGIGLimits(t *testing.T) {
	assert.True(t, math.IsInf(GIG{0.8, 0, 1}.MeanInv(), 1))
	assert.True(t, math.IsInf(GIG{-0.8, 1, 0}.mean(), 1))
	assert.True(t, math.IsInf(GIG{1.5, 0, 1}.VarInv(), 1))
	assert.True(t, math.IsInf(GIG{1.5, 0, 1e300}.sdInv(), 1))
	assert.InEpsilon(t, math.Sqrt(GIG{3, 0, 6}.VarInv()), GIG{3, 0, 6}.sdInv(), 1e-15)
	assert.InEpsilon(t, 1e250*GIG{3, 0.5, 6}.sdInv(), GIG{3, 0.5e-250, 6e250}.sdInv(), 1e-13) // the variance overflows
	assert.InEpsilon(t, 3.0*3/((3-1.0)*(3-1)*(3-2)), GIG{3, 0, 6}.VarInv(), 1e-13)
	for _, g := range []GIG{{0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {-1, 0, 1}, {1, -1, 1}, {math.NaN(), 1, 1}, {1, 1, math.Inf(1)}} {
		assert.Error(t, g.validate("x"), "%v", g)
	}
	for _, g := range []GIG{{1, 0, 1}, {-1, 1, 0}, {0, 1, 1}, {-3, 1, 1}} {
		assert.NoError(t, g.validate("x"), "%v", g)
	}
}

// Means beyond double precision teach a family nothing: its prior stays a prior.
func TestLearnFromNoMeans(t *testing.T) {
	for _, f := range []Family{FamilyStudentT, FamilyLaplace, FamilyGammaVariance, FamilyGIG} {
		p := f.vague(1)
		for _, v := range []float64{math.NaN(), math.Inf(1), 0} {
			for _, joint := range []bool{false, true} {
				assert.NoError(t, f.validate(f.learn(p, hyper{mean: v, inv: v, log: math.Log(v), gap: v}, HeldPrior{}, joint)), "%v, %g", f, v)
			}
		}
	}
}
