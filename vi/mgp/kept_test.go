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

// sure returns points of the plane with labels that a curve separates nearly all, and a start for a fit to
// all of them: the end of a fit to the first of them.
func sure(t *testing.T, n, first int) (x la.Matrix[float64], labels []float64, start *EvidenceStart) {
	t.Helper()
	src := rand.New(rand.NewPCG(9, 2))
	x = la.NewMatrix[float64](n, 2)
	for i := range n {
		a, b := 6*src.NormFloat64(), src.NormFloat64()
		copy(x.Row(i), []float64{a, b})
		labels = append(labels, math.Copysign(1, a+math.Sin(b)+0.3*src.NormFloat64()))
	}
	part, err := Evidence{}.FitLabels(context.Background(), newScaled(t, x.Slice(0, first, 0, 2)), labels[:first])
	require.NoError(t, err)
	start = &EvidenceStart{Gamma: part.Posterior.State().Gamma, Parameters: part.Parameters, Keep: true, Part: part.Posterior}
	for i := range first {
		start.Rows = append(start.Rows, i)
	}
	return x, labels, start
}

// At scales that are kept the sites of the samples that tell nearly all, and what those ask of the others, make the
// posterior of expectation propagation among all.
func TestSitesByFew(t *testing.T) {
	x, labels, start := sure(t, 300, 120)
	k := newScaled(t, x)
	fit, err := Evidence{Start: start, Ascent: vi.Ascent{Tolerance: 1e-10}}.FitLabels(context.Background(), k, labels)
	require.NoError(t, err)
	alone := *start
	alone.Part, alone.Rows = nil, nil
	want, err := Evidence{Start: &alone, Ascent: vi.Ascent{Tolerance: 1e-10}}.FitLabels(context.Background(), k, labels)
	require.NoError(t, err)

	m, _, err := Evidence{Start: start}.objective(context.Background(), k, labels, true)
	require.NoError(t, err)
	m.compose(logWeights(start))
	m.begin()
	few, rest := m.divide()
	assert.Len(t, append(few, rest...), 300)
	assert.Less(t, len(few), 225, "or sitesOfAll is what is tested")

	self := la.NewMatrix[float64](3, x.Rows)
	for p := range self.Rows {
		for i := range x.Rows {
			self.Set(p, i, k.At(p).At(i, i))
		}
	}
	got, err := fit.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	exact, err := want.Posterior.Predict(k, self, vi.PredictOptions{})
	require.NoError(t, err)
	var square float64
	for i := range labels {
		sd := math.Sqrt(exact.Function[i])
		d, v := (got.Mean[i]-exact.Mean[i])/sd, got.Function[i]/exact.Function[i]-1
		square += (d*d + v*v) / float64(len(labels))
		assert.InDelta(t, exact.Probability[i], got.Probability[i], 0.003)
		assert.InDelta(t, want.LeaveOneOut.LogProbability[i], fit.LeaveOneOut.LogProbability[i], 0.01)
	}
	assert.Less(t, math.Sqrt(square), 0.01)
	assert.InDelta(t, want.LogEvidence, fit.LogEvidence, 0.1)
	assert.InDelta(t, want.Record.Bound(), fit.Record.Bound(), 0.1)
	assert.False(t, fit.Collapsed)

	// The factor is the Cholesky factor of B with these sites.
	s := fit.Posterior.State()
	for i := range 300 {
		for j := range i + 1 {
			b := la.Dot(s.Factor.Row(i)[:j+1], s.Factor.Row(j)[:j+1])
			sum := 0.0
			for p, g := range s.Gamma {
				sum += k.At(p).At(i, j) / g
			}
			sum *= math.Sqrt(s.Sites[i] * s.Sites[j])
			if i == j {
				sum++
			}
			assert.InDelta(t, sum, b, 1e-9*(1+math.Abs(sum)))
		}
	}
}

// logWeights returns the variables of the objective of labels at its start.
func logWeights(s *EvidenceStart) (x []float64) {
	for _, g := range s.Gamma {
		x = append(x, -math.Log(g))
	}
	return append(x, s.Parameters...)
}

// Where the samples that tell nearly all are too many all sites are found together, and so they are for a
// bound.
func TestKeptScalesWithPart(t *testing.T) {
	x, _, labels := toy(5)
	first, err := Evidence{}.FitLabels(context.Background(), newScaled(t, x.Slice(0, 25, 0, 2)), labels[:25])
	require.NoError(t, err)
	start := EvidenceStart{Gamma: first.Posterior.State().Gamma, Parameters: first.Parameters, Keep: true}
	with := start
	with.Part = first.Posterior
	for i := range 25 {
		with.Rows = append(with.Rows, i)
	}
	for _, how := range []Sites{SitesEP, SitesBound} {
		ascent := vi.Ascent{Tolerance: 1e-10}
		want, err := Evidence{Sites: how, Start: &start, Ascent: ascent}.FitLabels(context.Background(), newScaled(t, x), labels)
		require.NoError(t, err)
		got, err := Evidence{Sites: how, Start: &with, Ascent: ascent}.FitLabels(context.Background(), newScaled(t, x), labels)
		require.NoError(t, err)
		assert.InDeltaSlice(t, want.Posterior.State().Sites, got.Posterior.State().Sites, 1e-4)
		assert.InDelta(t, want.LogEvidence, got.LogEvidence, 1e-6)
		assert.Equal(t, how == SitesBound, got.LeaveOneOut.LogProbability == nil)
	}
}

// At the scales of highest density q(γ) needs no inverse.
func TestScalesAtMode(t *testing.T) {
	x, _, labels := toy(5)
	want, err := Evidence{Ascent: vi.Ascent{Tolerance: 1e-12}}.FitLabels(context.Background(), newScaled(t, x), labels)
	require.NoError(t, err)
	s := want.Posterior.State()
	start := &EvidenceStart{Gamma: s.Gamma, Parameters: want.Parameters, Keep: true}
	fit, err := Evidence{Start: start}.FitLabels(context.Background(), newScaled(t, x), labels)
	require.NoError(t, err)
	for p, q := range fit.Posterior.State().Scales {
		assert.InEpsilon(t, s.Scales[p].mean(), q.mean(), 1e-3)
		assert.InEpsilon(t, s.Scales[p].sdInv(), q.sdInv(), 1e-3)
	}
}

// Where no posterior of all comes of the few, all sites are found together, as if the few had not been tried.
func TestSitesByFewFail(t *testing.T) {
	x, labels, start := sure(t, 300, 120)
	m, at, err := Evidence{Start: start}.objective(context.Background(), newScaled(t, x), labels, true)
	require.NoError(t, err)
	m.compose(at)
	want := m.sum.Clone()
	m.begin()
	_, rest := m.divide()
	m.sum.Set(rest[1], rest[0], 1e30) // of two of the others: read at the end alone
	_, _, err = m.sitesByFew()
	require.ErrorContains(t, err, "I + S½KS½")
	for i := range 300 {
		require.Equal(t, want.Row(i)[:i+1], m.sum.Row(i)[:i+1])
	}
	log, loo, err := m.sitesOfAll(at)
	require.NoError(t, err)
	alone := *start
	alone.Part, alone.Rows = nil, nil
	fit, err := Evidence{Start: &alone, Ascent: vi.Ascent{Tolerance: 1e-10}}.FitLabels(context.Background(), newScaled(t, x), labels)
	require.NoError(t, err)
	assert.InDelta(t, fit.LogEvidence, log, 0.1)
	assert.InDeltaSlice(t, fit.LeaveOneOut.LogProbability, loo, 0.01)
}
