package mgp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// bellsOf returns the kernel of the points x with the points z.
func bellsOf(x, z []float64) la.Matrix[float64] {
	k := la.NewMatrix[float64](len(x), len(z))
	for i, a := range x {
		for j, b := range z {
			k.Set(i, j, math.Exp(-0.5*(a-b)*(a-b)))
		}
	}
	return k
}

// fitSome fits counts of the first samples and extends the fit to all.
func fitSome(t *testing.T, x, y []float64, few int) (part, whole *Fit) {
	rows := make([]int, few)
	for i := range rows {
		rows[i] = i
	}
	c := Counts{Y: y, Dispersed: true}
	k, err := vi.NewDense(bellsOf(x[:few], x[:few]))
	require.NoError(t, err)
	part, err = Evidence{}.FitLikelihood(context.Background(), k, c.Some(rows))
	require.NoError(t, err)
	scale := 1 / part.Posterior.State().Gamma[0]
	e := Extension{Likelihood: c, Among: bellsOf(x[:few], x[:few]), Cross: bellsOf(x, x[:few]), Self: make([]float64, len(x))}
	la.Scal(scale, e.Among.Data)
	la.Scal(scale, e.Cross.Data)
	for i := range e.Self {
		e.Self[i] = scale
	}
	whole, err = part.Posterior.Extend(context.Background(), e, 1)
	require.NoError(t, err)
	return part, whole
}

func waveCounts(n int) (x, y []float64) {
	r := rand.New(rand.NewPCG(3, 1))
	for range n {
		x = append(x, 6*r.Float64()-3)
	}
	for _, v := range x {
		mu := math.Exp(0.5 + math.Sin(2*v))
		k, p := 0.0, r.Float64()
		for q := math.Exp(-mu); p > q && k < 100; q *= mu / k {
			p -= q
			k++
		}
		y = append(y, k)
	}
	return x, y
}

// An extension to the same samples is the fit itself.
func TestExtendToItself(t *testing.T) {
	x, y := waveCounts(60)
	part, whole := fitSome(t, x, y, 60)
	assert.Equal(t, vi.Converged, whole.Record.Reason)
	a, b := part.Posterior.State(), whole.Posterior.State()
	assert.InDelta(t, part.LogEvidence, whole.LogEvidence, 0.02)
	assert.InDelta(t, a.Shape[0], b.Shape[0], 0.05)
	assert.InDelta(t, a.Shape[1], b.Shape[1], 0.2)
	at := []float64{-4, -2, -0.3, 0, 1.7, 9}
	k, err := vi.NewDense(bellsOf(x, at))
	require.NoError(t, err)
	self := la.NewMatrix[float64](1, len(at))
	self.Fill(1)
	p, err := part.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	q, err := whole.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	for i := range at {
		assert.InDelta(t, p.Mean[i], q.Mean[i], 0.02, "%g", at[i])
		assert.InEpsilon(t, p.Function[i], q.Function[i], 0.02, "%g", at[i])
	}
}

// An extension is expectation propagation under the prior Q + diag(K − Q), Q = K_nm·K_mm⁻¹·K_mn, computed with N×N matrices.
func TestExtendIsFITC(t *testing.T) {
	const n, few = 150, 12
	x, y := waveCounts(n)
	_, whole := fitSome(t, x, y, few)
	state := whole.Posterior.State()
	scale := 1 / state.Gamma[0]

	among := bellsOf(x[:few], x[:few])
	la.Scal(scale, among.Data)
	for i := range few {
		among.Set(i, i, among.At(i, i)*(1+firstNugget))
	}
	require.NoError(t, la.Cholesky(nil, among))
	v := bellsOf(x, x[:few])
	la.Scal(scale, v.Data)
	la.Trsm(nil, la.Right, la.Transpose, among, v)
	prior := la.NewMatrix[float64](n, n)
	la.Syrk(nil, la.NoTrans, 1, v, 0, prior)
	for i := range n {
		prior.Set(i, i, scale)
	}
	s := newSites(&la.Workspace{}, n)
	s.k, s.l = prior, la.NewMatrix[float64](n, n)
	l := &likelihood{Likelihood: Counts{Y: y, Dispersed: true}}
	l.at(state.Shape)
	s.start(l, prior)
	logZ, err := s.propagate(l, 1e-8)
	require.NoError(t, err)
	assert.InDelta(t, logZ, whole.LogEvidence, 1e-3)
	assert.InDeltaSlice(t, l.leaveOneOut(s), whole.LeaveOneOut.LogProbability, 2e-3)

	// u at the landmarks given the posterior of f: the function there, by way of the samples.
	at := []float64{-2.5, -1, 0, 0.4, 2}
	k, err := vi.NewDense(bellsOf(x[:few], at))
	require.NoError(t, err)
	self := la.NewMatrix[float64](1, len(at))
	self.Fill(1)
	p, err := whole.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	z := bellsOf(at, x[:few])
	la.Scal(scale, z.Data)
	la.Trsm(nil, la.Right, la.Transpose, among, z)
	r := s.precision()
	for i := range at {
		k := make([]float64, n) // Q of the point with the samples
		la.Gemv(nil, la.NoTrans, 1, v, z.Row(i), 0, k)
		mean, variance := state.Shape[0]+la.Dot(k, s.alpha), scale
		for a := range n {
			for b := range n {
				variance -= k[a] * k[b] * r.At(max(a, b), min(a, b))
			}
		}
		assert.InDelta(t, mean, p.Mean[i], 2e-3, "%g", at[i])
		assert.InEpsilon(t, variance, p.Function[i], 5e-3, "%g", at[i])
	}
}
