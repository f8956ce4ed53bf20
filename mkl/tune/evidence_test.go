package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// density is the objective of [mgp.Evidence] for targets under ARD, written with
// gonum: the log evidence of N(0, Σ e^{x_p}·K_p + σ²I), σ² = ε + e^{x_P}, and the prior of
// the noise, as docs/theory/mgp.md has them.
type density struct {
	k []la.Matrix[float64]
	y []float64
}

func (d density) at(x []float64) float64 {
	N, P := len(d.y), len(d.k)
	power := la.SumSq(d.y) / float64(N)
	b := mat.NewSymDense(N, nil)
	for i := range N {
		for j := range i + 1 {
			var v float64
			for p, k := range d.k {
				v += math.Exp(x[p]) * k.At(i, j)
			}
			if i == j {
				v += 1e-8*power + math.Exp(x[P])
			}
			b.SetSym(i, j, v)
		}
	}
	var c mat.Cholesky
	if !c.Factorize(b) {
		return math.Inf(-1)
	}
	y, alpha := mat.NewVecDense(N, d.y), mat.NewVecDense(N, nil)
	if c.SolveVecTo(alpha, y) != nil {
		return math.Inf(-1)
	}
	noise := (x[P] - math.Log(0.1*power)) / 2
	return -0.5*(mat.Dot(y, alpha)+c.LogDet()+float64(N)*math.Log(2*math.Pi)) - 0.5*noise*noise
}

// The optimiser of the root module ends where gonum's does on the same evidence.
func TestEvidenceEndsWhereGonumDoes(t *testing.T) {
	for seed := range uint64(4) {
		const N = 30
		rng := rand.New(rand.NewPCG(seed, 11))
		var d density
		x := make([]float64, N)
		for i := range x {
			x[i] = 4 * rng.Float64()
			d.y = append(d.y, 3*math.Sin(2*x[i])+0.2*x[i]+0.2*rng.NormFloat64())
		}
		for _, w := range []float64{0.3, 1, 3} {
			k := la.NewMatrix[float64](N, N)
			for i := range N {
				for j := range N {
					u := (x[i] - x[j]) / w
					k.Set(i, j, math.Exp(-0.5*u*u))
				}
			}
			d.k = append(d.k, k)
		}
		k, err := vi.NewDense(d.k...)
		require.NoError(t, err)
		fit, err := mgp.Evidence{Family: mgp.FamilyFlat, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: 300}}.Fit(context.Background(), k, d.y)
		require.NoError(t, err)
		s := fit.Posterior.State()
		ours := make([]float64, len(d.k)+1)
		for p, g := range s.Gamma {
			ours[p] = -math.Log(g)
		}
		ours[len(d.k)] = math.Log(1/s.Tau - 1e-8*la.SumSq(d.y)/N)
		assert.InEpsilon(t, d.at(ours), fit.Record.Bound(), 1e-9, "the objective itself")

		objective := func(x []float64) float64 { return -d.at(x) }
		found, err := optimize.Minimize(optimize.Problem{
			Func: objective,
			Grad: func(g, x []float64) { fd.Gradient(g, objective, x, &fd.Settings{Formula: fd.Central}) },
		}, make([]float64, len(ours)), &optimize.Settings{GradientThreshold: 1e-6}, &optimize.LBFGS{})
		require.NotNil(t, found, "%v", err) // the line search may fail at the last digits
		assert.InDelta(t, -found.F, fit.Record.Bound(), 1e-5, "seed %d", seed)
	}
}
