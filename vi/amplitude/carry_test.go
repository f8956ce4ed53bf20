package amplitude

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// A normal density near the posterior is about its mode, and its variances are below the prior's.
func TestNormalDensityNearThePosterior(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 8))
	k, l := simulated(t, src, 2, 14, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 2, 14), Workers: 1}
	s := p.newSelector(Sparse, make([]float64, 2), 5)
	q := s.nearOf(context.Background(), []bool{false, true})
	require.NotNil(t, q)
	require.Equal(t, []int{4, 2, 3}, q.places)
	cost := func(x []float64) float64 { // −log p(θ) − E(θ)
		theta := []float64{math.Inf(-1), math.Inf(-1), x[1], x[2], x[0]}
		return -q.logPrior(theta) - s.e.value(theta)
	}
	for r := range q.places {
		for _, step := range []float64{-0.3, 0.3} {
			x := append([]float64(nil), q.mean...)
			x[r] += step
			assert.Greater(t, cost(x), cost(q.mean))
		}
		// The prior of log a_j has the variance 3² + 1.5² + 1.5² + ½², of the noise 2².
		assert.Less(t, q.covariance.At(r, r), []float64{4, 13.75, 13.75}[r])
		assert.Greater(t, q.covariance.At(r, r), 0.0)
	}
	none := s.nearOf(context.Background(), []bool{false, false})
	require.NotNil(t, none)
	// Without views y_c ~ N(0, 11ᵀ + σ²I). The expected information about log σ² is ½·C·(N − 1 + (1 + N/σ²)⁻²).
	sigma := math.Exp(none.mean[0])
	shrunk := 1 / (1 + 14/(sigma+s.e.least))
	share := sigma / (sigma + s.e.least)
	info := 0.5 * 2 * (13 + shrunk*shrunk) * share * share
	assert.InDelta(t, 1/(0.25+info), none.covariance.At(0, 0), 1e-9)
}

// Switches that carry the other variables along sample the same posterior, and their probabilities vary less from seed to seed.
func TestCarriedSwitches(t *testing.T) {
	src := rand.New(rand.NewPCG(7, 21))
	k, l := simulated(t, src, 3, 30, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 30), Workers: 1}
	m := la.NewMatrix[float64](30, 30)
	unpack(k.whole.Row(0), 0, 0, m)
	m.MirrorLower()
	for i := range 30 { // the first view has information
		p.Y.Row(0)[i] += 2*m.At(3, i) - 2*m.At(8, i)
	}
	standardise(p.Y.Row(0))
	ctx := context.Background()
	include := []float64{0.5, 0.6, 0.4}
	plain, err := p.selection(ctx, Sparse, include, Sampling{Sweeps: 4000, Seed: 1}, false)
	require.NoError(t, err)
	carried, err := p.selection(ctx, Sparse, include, Sampling{Sweeps: 2000, Seed: 2}, true)
	require.NoError(t, err)
	var spread [2]float64 // mean squares of the distances to the long run
	const seeds = 8
	for i, with := range []bool{false, true} {
		for seed := range uint64(seeds) {
			s, err := p.selection(ctx, Sparse, include, Sampling{Seed: seed}, with)
			require.NoError(t, err)
			for v, q := range s.Included {
				d := q - carried.Included[v]
				spread[i] += d * d / (3 * seeds)
			}
		}
	}
	for v, q := range plain.Included {
		assert.InDelta(t, q, carried.Included[v], 0.001+5*math.Hypot(plain.Error[v], carried.Error[v]), "view %d", v)
	}
	assert.Less(t, math.Sqrt(spread[1]), 0.03)
	assert.Less(t, spread[1], 0.5*spread[0])
}
