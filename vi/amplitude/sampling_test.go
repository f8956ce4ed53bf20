package amplitude

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

// batchMean returns the mean of x and its standard error by twenty batches.
func batchMean(x []float64) (mean, se float64) {
	const batches = 20
	size := len(x) / batches
	var means []float64
	for b := range batches {
		var m float64
		for _, v := range x[b*size : (b+1)*size] {
			m += v / float64(size)
		}
		means = append(means, m)
		mean += m / batches
	}
	var square float64
	for _, m := range means {
		square += (m - mean) * (m - mean)
	}
	return mean, math.Sqrt(square / (batches - 1) / batches)
}

// TestSlicesAgreeWithQuadrature compares moments of the draws of two variables with sums over a grid.
func TestSlicesAgreeWithQuadrature(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	whole, l := simulated(t, src, 1, 9, false)
	k := whole.some(0, 1)
	l.View, l.Kind = l.View[:1], l.Kind[:1]
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 9), Workers: 1}
	f, err := p.Fit(context.Background(), Free, Search{})
	require.NoError(t, err)
	draws, err := p.Draws(context.Background(), f, Sampling{Sweeps: 20000, Draws: 20000, Seed: 1})
	require.NoError(t, err)

	pr := newPrior(Free, l)
	c := p.newClimb(&pr)
	const h = 0.05
	var sum float64
	var want [4]float64
	for a := -6.0; a <= 6; a += h {
		for b := -6.0; b <= 6; b += h {
			w := math.Exp(c.value([]float64{a, b}) - f.LogEvidence - 0.5*(a*a+b*b))
			sum += w
			for i, v := range [4]float64{a, b, a * a, b * b} {
				want[i] += w * v
			}
		}
	}
	for i, moment := range []func(z []float64) float64{
		func(z []float64) float64 { return z[0] },
		func(z []float64) float64 { return z[1] },
		func(z []float64) float64 { return z[0] * z[0] },
		func(z []float64) float64 { return z[1] * z[1] },
	} {
		var x []float64
		for _, d := range draws {
			x = append(x, moment(d.Z))
		}
		mean, se := batchMean(x)
		assert.Less(t, se, 0.05, "moment %d", i)
		assert.InDelta(t, want[i]/sum, mean, 5*se, "moment %d", i)
	}
}

// TestSelectionAgreesWithQuadrature compares the probabilities that views of one kernel are included with sums over a grid of
// the evidence of each subset.
func TestSelectionAgreesWithQuadrature(t *testing.T) {
	for seed := range uint64(2) {
		src := rand.New(rand.NewPCG(seed, 5))
		whole, _ := simulated(t, src, 2, 8, false)
		var ks []la.Matrix[float64]
		for _, j := range []int{0, 2} {
			m := la.NewMatrix[float64](8, 8)
			unpack(whole.whole.Row(j), 0, 0, m)
			m.MirrorLower()
			ks = append(ks, m)
		}
		d, err := vi.NewDense(ks...)
		require.NoError(t, err)
		k, err := Pack(d, false)
		require.NoError(t, err)
		p := Problem{Kernels: k, Layout: Layout{View: []int{0, 1}}, Y: targets(src, 1, 8), Workers: 1}
		for i, v := range ks[0].Row(2) { // the first view has information
			p.Y.Set(0, i, 3*v+0.5*p.Y.At(0, i))
		}
		standardise(p.Y.Row(0))

		// log a_v = log ½ + c + d_v, c ~ N(0, 9 + 1.5²), d_v ~ N(0, 1.5² + .5²), log σ² = log .3 + 2·z.
		e := p.evidence(k)
		sdC, sdD := math.Sqrt(9+1.5*1.5), math.Sqrt(2.5)
		grid := func(n int) (x []float64) {
			for i := range n {
				x = append(x, -4.5+9*float64(i)/float64(n-1))
			}
			return x
		}
		evidence := func(on [2]bool) (z float64) {
			cs, ds := grid(70), [2][]float64{{0}, {0}}
			if !on[0] && !on[1] {
				cs = []float64{0}
			}
			norm := 1.0
			for v := range ds {
				if on[v] {
					ds[v] = grid(14)
					norm *= 9.0 / 13
				}
			}
			if len(cs) > 1 {
				norm *= 9.0 / 69
			}
			for _, c := range cs {
				for _, d0 := range ds[0] {
					for _, d1 := range ds[1] {
						for _, s := range grid(30) {
							theta := []float64{math.Inf(-1), math.Inf(-1), math.Log(0.3) + 2*s}
							density := -0.5 * (c*c + d0*d0 + d1*d1 + s*s)
							if on[0] {
								theta[0] = math.Log(0.5) + sdC*c + sdD*d0
							}
							if on[1] {
								theta[1] = math.Log(0.5) + sdC*c + sdD*d1
							}
							z += math.Exp(e.value(theta)+density) * norm
						}
					}
				}
			}
			if len(cs) > 1 { // the normalisers of the normal densities that the sum has
				z /= math.Sqrt(2 * math.Pi)
			}
			for v := range ds {
				if on[v] {
					z /= math.Sqrt(2 * math.Pi)
				}
			}
			return z
		}
		include := []float64{0.5, 0.3}
		var total float64
		var want [2]float64
		for _, on := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			z := evidence(on)
			for v := range 2 {
				if on[v] {
					z *= include[v]
				} else {
					z *= 1 - include[v]
				}
			}
			total += z
			for v := range 2 {
				if on[v] {
					want[v] += z
				}
			}
		}
		s, err := p.Select(context.Background(), Sparse, include, Sampling{Sweeps: 6000, Seed: seed})
		require.NoError(t, err)
		for v := range 2 {
			assert.Less(t, s.Error[v], 0.02)
			assert.InDelta(t, want[v]/total, s.Included[v], 5*s.Error[v], "seed %d, view %d: probabilities %v", seed, v, s.Included)
		}
	}
}

// TestInclusionIsCalibrated draws problems from the prior and holds the included views to their probabilities. Of each problem one
// view counts, so that the sums have independent terms s − P(s) of variance P(1 − P). A threshold of 4.9 standard deviations is passed
// with a probability of 1e-6 if the probabilities are right. tool/inclusion does so with many more problems.
func TestInclusionIsCalibrated(t *testing.T) {
	problems := 150
	if testing.Short() {
		problems = 40
	}
	var sum, variance, score, spread float64
	for i := range problems {
		src := rand.New(rand.NewPCG(uint64(i), 9))
		k, l := simulated(t, src, 4, 24, false)
		if i%2 == 1 {
			l.Group = []int{0, 0, -1, -1}
		}
		p := Problem{Kernels: k, Layout: l, Workers: 1}
		truth := p.Simulate(src, 1+i%3)
		s, err := p.Select(context.Background(), Sparse, nil, Sampling{Seed: uint64(i)})
		require.NoError(t, err)
		v := i % 4
		q, on := s.Included[v], 0.0
		if truth[v] {
			on = 1
		}
		require.True(t, q >= 0 && q <= 1)
		sum += on - q
		variance += q * (1 - q)
		// The score of a slope: views with larger probabilities are included more often.
		score += (on - q) * (q - 0.5)
		spread += q * (1 - q) * (q - 0.5) * (q - 0.5)
	}
	require.Greater(t, variance, 0.04*float64(problems), "probabilities that say something can be wrong")
	assert.Less(t, math.Abs(sum), 4.9*math.Sqrt(variance))
	assert.Less(t, math.Abs(score), 4.9*math.Sqrt(spread))
}

// The probabilities of views and groups are averages of conditional probabilities: they agree with how often the sweeps include them. A
// view of a group that is not included is not included.
func TestProbabilitiesAreFrequencies(t *testing.T) {
	src := rand.New(rand.NewPCG(8, 3))
	k, l := simulated(t, src, 3, 12, false)
	l.Group = []int{0, 0, -1}
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 1, 12), Workers: 1}
	const sweeps = 4000
	s, err := p.Select(context.Background(), Sparse, []float64{0.7, 0.5, 0.4}, Sampling{Sweeps: sweeps, Seed: 4})
	require.NoError(t, err)
	for v, q := range s.Included {
		own := make([]float64, sweeps)
		for i, on := range s.Sweeps {
			if on[v] {
				own[i] = 1
			}
		}
		mean, se := batchMean(own)
		assert.InDelta(t, q, mean, 5*math.Hypot(se, s.Error[v]), "view %d", v)
		require.Less(t, se, 0.03)
		require.Greater(t, q, 0.1, "view %d is included at times", v)
	}
	require.Greater(t, s.Groups[0], 0.1)
	require.Less(t, s.Groups[0], 0.9, "the group is left out at times")
	for v := range 2 {
		assert.Less(t, s.Included[v], s.Groups[0])
	}
}

// TestScreenAgreesWithSampling compares the probabilities of views alone with those that draws of the same posterior give: Laplace's
// approximation is within .1 of them.
func TestScreenAgreesWithSampling(t *testing.T) {
	src := rand.New(rand.NewPCG(8, 2))
	k, l := simulated(t, src, 4, 40, false)
	p := Problem{Kernels: k, Layout: l, Y: targets(src, 2, 40), Workers: 1}
	m := la.NewMatrix[float64](40, 40)
	unpack(k.whole.Row(4), 0, 0, m)
	m.MirrorLower()
	for c := range 2 {
		for i := range 40 { // the third view has information
			p.Y.Row(c)[i] += 0.5*m.At(c, i) - m.At(c+5, i)
		}
		standardise(p.Y.Row(c))
	}
	got, err := p.Screen(context.Background())
	require.NoError(t, err)
	for v, q := range got {
		one := Problem{Kernels: k.some(2*v, 2*v+2), Layout: Layout{View: []int{0, 0}, Kind: []int{0, 1}}, Y: p.Y, Workers: 1}
		s, err := one.Select(context.Background(), Tied, nil, Sampling{Sweeps: 2000, Seed: 3})
		require.NoError(t, err)
		assert.InDelta(t, s.Included[0], q, 0.1+3*s.Error[0], "view %d", v)
	}
	assert.Greater(t, got[2], 0.8)
	assert.Less(t, min(got[0], got[1], got[3]), 0.4)
	p.Layout.Kind = nil
	alike, err := p.Screen(context.Background())
	require.NoError(t, err)
	for v, q := range alike {
		assert.Greater(t, math.Abs(q-got[v]), 1e-6, "view %d: two kinds have two amplitudes", v)
	}
}
