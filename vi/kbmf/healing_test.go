package kbmf

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/fittest"
)

// denseFactor writes down the Gaussian of a component r of one side given all means but its own:
// of its sample weights a, the factors h of all components and samples, and, if the precision of a
// new sample's weight is positive, that weight. The prior mean of a is such that, without the new
// weight, its posterior mean is E[a]. It returns mean and variance of the function at the new
// sample, whose basis functions are phi and whose own is self.
func denseFactor(t *testing.T, s, other *side, y func(i, j int) float64, epsilon, b float64, r int, phi []float64, self, precision float64) (mean, variance float64) {
	t.Helper()
	D, N, R := s.D, s.N, s.R
	kernel := la.NewMatrix[float64](N, D) // F
	one := la.NewMatrix[float64](N, D)
	noise := 1 / s.tau
	for m, e := range s.e.Mean {
		s.K.Columns(m, 0, one)
		for i := range N {
			la.Axpy(e, one.Row(i), kernel.Row(i))
		}
		noise += (e*e + s.e.Cov.At(m, m)) / s.precision[0]
	}
	function := func(c, i int) float64 { return la.Dot(kernel.Row(i), s.AMean.Row(c)) }
	size := D + R*N
	if precision > 0 {
		size++
	}
	at := func(c, i int) int { return D + i*R + c }
	info, linear := la.NewMatrix[float64](size, size), make([]float64, size)
	add := func(i, j int, v float64) { info.Set(i, j, info.At(i, j)+v) }
	for d := range D {
		lambda := s.Lambda.Mean(r*D + d)
		add(d, d, lambda)
		linear[d] += lambda * s.AMean.At(r, d)
	}
	if precision > 0 {
		add(size-1, size-1, precision)
	}
	for i := range N {
		told, right := la.NewMatrix[float64](R, R), make([]float64, R) // h_i's own: with its prior, given the functions
		for c := range R {
			for j := range other.N {
				if math.IsNaN(y(i, j)) {
					continue
				}
				right[c] += epsilon * (y(i, j) - b) * other.factors.At(c, j)
				for l := range R {
					told.Set(c, l, told.At(c, l)+epsilon*(other.factors.At(c, j)*other.factors.At(l, j)+other.cov.Row(j)[c*R+l]))
				}
			}
			linear[at(c, i)] += right[c]
			right[c] += function(c, i) / noise
			for l := range R {
				add(at(c, i), at(l, i), told.At(c, l))
			}
			told.Set(c, c, told.At(c, c)+1/noise)
			add(at(c, i), at(c, i), 1/noise)
			if c != r {
				linear[at(c, i)] += function(c, i) / noise
			}
		}
		cov, _ := fittest.Inverse(told)
		pull := (fittest.Times(cov, right)[r] - function(r, i)) / noise // of h_ri on the weights, where these are at their means
		place, row := []int{at(r, i)}, []float64{-1}
		for d := range D {
			linear[d] -= kernel.At(i, d) * pull
			place, row = append(place, d), append(row, kernel.At(i, d))
		}
		if precision > 0 {
			place, row = append(place, size-1), append(row, phi[i])
		}
		for n, p := range place {
			for l, q := range place {
				if p != at(r, i) || q != at(r, i) { // h² is there already
					add(p, q, row[n]*row[l]/noise)
				}
			}
		}
	}
	cov, _ := fittest.Inverse(info)
	weight := append(append([]float64(nil), phi...), make([]float64, size-D)...)
	if precision > 0 {
		weight[size-1] = self
	}
	return la.Dot(weight, fittest.Times(cov, linear)), la.Dot(weight, fittest.Times(cov, weight))
}

// TestPairHealingIsTheAugmentedGaussian compares what healing adds with what a new weight adds to
// the joint Gaussian of a component.
func TestPairHealingIsTheAugmentedGaussian(t *testing.T) {
	for name, p := range map[string]problem{
		"values":        {rows: 9, cols: 7, Px: 2, Pz: 1, R: 2},
		"one component": {rows: 6, cols: 8, Px: 1, Pz: 3, R: 1, missing: 0.2},
		"missing":       {rows: 8, cols: 7, Px: 2, Pz: 2, R: 3, missing: 0.4},
		"labels":        {rows: 9, cols: 8, Px: 2, Pz: 1, R: 2, missing: 0.3, labels: true},
	} {
		kx, kz, y := p.draw(t, 3)
		x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
		var m fitted
		var layers *model
		epsilon := 1.0
		if p.labels {
			c, err := Classification{Components: p.R, Plain: true}.model(x, z, y)
			require.NoError(t, err)
			m, layers = c, c.model
		} else {
			c, err := Regression{Components: p.R, Plain: true}.model(x, z, y)
			require.NoError(t, err)
			m, layers = c, c.model
		}
		for range 12 {
			require.NoError(t, m.Sweep(nil))
		}
		post := m.Posterior()
		if c, ok := m.(*regression); ok {
			epsilon = c.precision()
		}
		src := rand.New(rand.NewPCG(7, 7))
		for columns, side := range map[bool]*side{false: layers.x, true: layers.z} {
			other, at := layers.z, func(i, j int) float64 { return y.At(i, j) }
			if columns {
				other, at = layers.x, func(i, j int) float64 { return y.At(j, i) }
			}
			target := at // NaN where missing
			if p.labels {
				target = func(i, j int) float64 {
					if math.IsNaN(at(i, j)) {
						return math.NaN()
					}
					return side.target.At(i, j)
				}
			}
			require.True(t, post.Healable(columns))
			const T = 3
			var later []la.Matrix[float64]
			for range side.P {
				later = append(later, testkit.Normal(src, side.D, T))
			}
			k, self := testkit.Must(vi.NewDense(later...)), testkit.Normal(src, side.P, T)
			plain := testkit.Must(post.New(columns, k, vi.PredictOptions{}))
			healed := testkit.Must(post.NewHealed(columns, k, self, vi.PredictOptions{}))
			means := testkit.Must(post.NewHealed(columns, k, self, vi.PredictOptions{MeanOnly: true, Workers: 2}))
			require.Equal(t, healed.Mean, means.Mean)
			points := testkit.Must(post.Points(nil, columns, false, true))
			scratch := make([]float64, points.ScratchSize())
			for i := range T {
				phi, own := make([]float64, side.D), 0.0
				one, ownOf := la.NewMatrix[float64](side.P, side.D), make([]float64, side.P)
				for n, e := range side.e.Mean {
					own += e * self.At(n, i)
					ownOf[n] = self.At(n, i)
					for d := range side.D {
						one.Set(n, d, later[n].At(d, i))
						phi[d] += e * later[n].At(d, i)
					}
				}
				mean, cov := make([]float64, p.R), make([]float64, p.R*p.R)
				points.At(nil, one, ownOf, scratch, mean, cov)
				testkit.RequireClose(t, "Cov[h] of one", healed.Covariance.Row(i), cov, 1e-10)
				for r := range p.R {
					require.InDelta(t, healed.Mean.At(r, i), mean[r], 1e-10)
					m0, v0 := denseFactor(t, side, other, target, epsilon, layers.b[0], r, phi, own, 0)
					m1, v1 := denseFactor(t, side, other, target, epsilon, layers.b[0], r, phi, own, float64(side.D)/squares(side, r))
					assert.InDelta(t, m1-m0, healed.Mean.At(r, i)-plain.Mean.At(r, i), 1e-9*(1+math.Abs(m1)), name)
					assert.InDelta(t, v1-v0, healed.Covariance.At(i, r*p.R+r)-plain.Covariance.At(i, r*p.R+r), 1e-9*(1+v1), name)
					assert.Greater(t, healed.Covariance.At(i, r*p.R+r), plain.Covariance.At(i, r*p.R+r), name)
					for c := range r {
						assert.Equal(t, plain.Covariance.At(i, r*p.R+c), healed.Covariance.At(i, r*p.R+c), name)
					}
				}
			}
		}
	}
}

// squares is Σ_d E[a_{r,d}²].
func squares(s *side, r int) (sum float64) {
	for d, a := range s.AMean.Row(r) {
		sum += a*a + s.AVar.At(r, d)
	}
	return sum
}

// TestPairsWithoutHealing demands predictions as they were of models that cannot be healed, or whose
// state is from before there was healing, and refusals that name what does not fit.
func TestPairsWithoutHealing(t *testing.T) {
	p := problem{rows: 7, cols: 6, Px: 1, Pz: 1, R: 2, basis: 4}
	kx, kz, y := p.draw(t, 1)
	x, z := testkit.Must(vi.NewDense(kx...)), testkit.Must(vi.NewDense(kz...))
	fit, err := Regression{Components: p.R, Ascent: vi.Ascent{MaxSweeps: 4}}.Fit(context.Background(), x, z, y)
	require.NoError(t, err)
	assert.False(t, fit.Posterior.Healable(false))
	assert.True(t, fit.Posterior.Healable(true))
	_, err = fit.Posterior.NewHealed(false, x, la.NewMatrix[float64](1, 7), vi.PredictOptions{})
	assert.EqualError(t, err, "vi: the posterior cannot be healed: its basis points are not the samples")
	_, err = fit.Posterior.Points(nil, false, false, true)
	assert.EqualError(t, err, "vi: output 0 cannot be healed")
	_, err = fit.Posterior.NewHealed(true, z, la.NewMatrix[float64](1, 3), vi.PredictOptions{})
	assert.EqualError(t, err, "vi: self: 1×3 where 1×6 is needed")

	s := fit.Posterior.State()
	s.Z.Healing = nil
	before := testkit.Must(NewPosterior(s))
	assert.False(t, before.Healable(true))
	require.Equal(t, testkit.Must(fit.Posterior.New(true, z, vi.PredictOptions{})), testkit.Must(before.New(true, z, vi.PredictOptions{})))

	for want, spoil := range map[string]func(h *Healing){
		"vi: state of pairs: columns: Healing.Precision: 0 entries where 2 are needed":                 func(h *Healing) { h.Precision = nil },
		"vi: state of pairs: columns: Healing.Trust: entry (1, 0) is -1":                               func(h *Healing) { h.Trust.Set(1, 0, -1) },
		"vi: state of pairs: columns: Healing.Residual: entry (0, 0) is NaN":                           func(h *Healing) { h.Residual.Set(0, 0, math.NaN()) },
		"vi: state of pairs: columns: Healing.Kernel is not symmetric":                                 func(h *Healing) { h.Kernel.Set(0, 1, 7) },
		"vi: state of pairs: columns: Healing.Kernel: 5×5 (stride 6, 29 elements) where 6×6 is needed": func(h *Healing) { h.Kernel = h.Kernel.Slice(0, 5, 0, 5) },
	} {
		s := fit.Posterior.State()
		h := *s.Z.Healing
		h.Kernel, h.Trust, h.Residual = h.Kernel.Clone(), h.Trust.Clone(), h.Residual.Clone()
		s.Z.Healing = &h
		spoil(&h)
		_, err := NewPosterior(s)
		assert.EqualError(t, err, want)
	}
}
