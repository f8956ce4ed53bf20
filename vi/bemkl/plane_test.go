package bemkl

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// TestPlaneIsConjugateGradients holds every factor but a, b and G fixed, λ by its prior:
// they then solve a linear system, which conjugate gradients do in about as many steps as
// it has unknowns, z being nearly a linear function of the residual, and alternating
// updates do not.
func TestPlaneIsConjugateGradients(t *testing.T) {
	for _, p := range []problem{problems[0], problems[3], problems[5], problems[6]} {
		p.lambda = vi.Gamma{Shape: 1e5, Scale: 1e-5}
		r, k, y := p.draw(t, 2)
		rest := func(fast bool) float64 {
			m, err := r.model(k, y)
			require.NoError(t, err)
			for range 3 {
				require.NoError(t, m.Sweep(nil))
			}
			for range p.D + 5 {
				if fast {
					require.NoError(t, m.updateIntermediate(m.upsilonMean, m.epsilonMean, m.y))
					require.NoError(t, m.plane.begin())
					require.NoError(t, m.Crew.Each(m.plane.moveTask))
					m.updateLambdaAndCovariance()
					m.plane.keepStep()
					m.plane.staged = false
				} else {
					require.NoError(t, m.UpdateWeights(m.upsilonMean))
				}
				require.NoError(t, m.updateIntermediate(m.upsilonMean, m.epsilonMean, m.y))
			}
			// The projections kept up to date equal the projections of the weights.
			h := la.NewMatrix[float64](p.L*p.P, p.N)
			k.Project(nil, m.AMean, h)
			testkit.RequireClose(t, "projections", h, m.H, 1e-12)
			// How far the next plain update of a still goes.
			before := m.AMean.Clone()
			require.NoError(t, m.UpdateWeights(m.upsilonMean))
			la.Axpy(-1, before.Data, m.AMean.Data)
			return la.SumSq(m.AMean.Data) / la.SumSq(before.Data)
		}
		assert.Less(t, rest(true), 1e-10, p.name)
		assert.Greater(t, rest(false), 1e-8, p.name)
	}
}

// TestPlaneBoundIsTheBound moves the sample weights of a row along the plane, lets G, b,
// λ and Cov[a] follow, and compares the change of the bound.
func TestPlaneBoundIsTheBound(t *testing.T) {
	for _, p := range problems {
		if p.lambda == broken {
			continue // rounding is amplified
		}
		for _, move := range [][2]float64{{0.3, 0}, {1, -0.4}, {-0.2, 1.5}} {
			r, k, y := p.draw(t, 4)
			m, err := r.model(k, y)
			require.NoError(t, err)
			s, k, y := p.shared(t, 4)
			n, err := s.model(k, y)
			require.NoError(t, err)
			for _, x := range []struct {
				vi.Objective
				*plane
				*work.Schedule
			}{{m, m.plane, &m.updates}, {n, n.plane, &n.updates}} {
				for range work.FirstSweeps + 2 {
					require.NoError(t, x.Objective.Sweep(nil))
				}
				l := x.plane
				for _, u := range x.Schedule.Settled[:2] { // G, Cov[a]
					require.NoError(t, u.Step())
				}
				w := l.Crew.Workers[0]
				require.NoError(t, l.follow(w, 0))
				l.sum(w, 0)
				l.updateLambdaAndCovariance()
				before := x.Objective.Bound()
				require.NoError(t, l.follow(w, 0))
				f := l.plane.bound(w, 0)
				want := f.at(move[0], move[1]).value - f.at(0, 0).value
				l.moveBy(w, 0, move[0], move[1])
				l.sum(w, 0)
				l.updateLambdaAndCovariance()
				assert.InDelta(t, want, x.Objective.Bound()-before, 1e-9*(1+math.Abs(before)+math.Abs(want)), p.name)
				// G and b are where the move has taken them.
				after := x.Objective.Bound()
				require.NoError(t, l.follow(w, 0))
				l.sum(w, 0)
				assert.InDelta(t, after, x.Objective.Bound(), 1e-9*(1+math.Abs(after)), p.name)
				a, b := f.maximum()
				assert.GreaterOrEqual(t, f.at(a, b).value, f.at(0, 0).value)
				for _, step := range [][2]float64{{1e-2, 0}, {-1e-2, 0}, {0, 1e-2}, {0, -1e-2}} {
					assert.LessOrEqual(t, f.at(a+step[0], b+step[1]).value, f.at(a, b).value+1e-5, p.name)
				}
			}
		}
	}
}

// TestNewtonCurvature compares the matrix of the system that the direction z solves with the curvature
// of the bound along a direction, G and b following. With kernel weights that are known it is exact.
func TestNewtonCurvature(t *testing.T) {
	for _, p := range problems {
		r, k, y := p.draw(t, 4)
		m, err := r.model(k, y)
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, m.Sweep(nil))
		}
		m.be.Cov.Fill(0)
		m.updateEE()
		require.NoError(t, m.updateIntermediate(m.upsilonMean, m.epsilonMean, m.y))
		l := m.plane
		l.formComposite()
		random.Normal(random.Source(1), l.step.Data)
		k.Project(nil, l.step, l.GMean)
		l.staged = true
		require.NoError(t, l.Crew.Each(l.openTask))
		w := l.Crew.Workers[0]
		for o := range m.R {
			require.NoError(t, l.follow(w, o))
			want := (*plane).bound(l, w, o).curve[0]
			weight, z := l.curvature(w, o), l.step.Row(o)
			clear(l.scratch[w.Index].cg[3]) // no Λ
			l.multiply(w, o, weight, z)
			assert.InEpsilon(t, want, la.Dot(z, l.scratch[w.Index].cg[2]), 1e-7, "%s, output %d", p.name, o)
		}
	}
}

// TestPlaneWorkersDoNotChangeBits is large enough for products that workers share.
func TestPlaneWorkersDoNotChangeBits(t *testing.T) {
	outputs, workers := []int{1, 3}, []int{1, 2, 3}
	if testing.Short() {
		outputs, workers = outputs[1:], []int{1, 3}
	}
	for _, L := range outputs {
		var want [3]float64
		for _, workers := range workers {
			p := problem{P: 3, D: 200, N: 200, L: L}
			r, k, y := p.draw(t, 1)
			r.Workers = workers
			m, err := r.model(k, y)
			require.NoError(t, err)
			s, k, y := p.shared(t, 1)
			s.Workers = workers
			n, err := s.model(k, y)
			require.NoError(t, err)
			c, k, y := p.labels(t, 1)
			c.Workers = workers
			q, err := c.model(k, y)
			require.NoError(t, err)
			for i, x := range []vi.Objective{m, n, q} {
				for range work.FirstSweeps + 3 {
					require.NoError(t, x.Sweep(nil))
				}
				if workers == 1 {
					want[i] = x.Bound()
				}
				assert.Equal(t, want[i], x.Bound(), "model %d, %d workers", i, workers)
			}
		}
	}
}
