package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Kernels among new samples follow the formulas of the kernels, of centring and of normalising.
func TestKernelsAmongNewSamples(t *testing.T) {
	const n, m = 70, 9
	rng := rand.New(rand.NewPCG(1, 2))
	x, z := normal(rng, n, 3), normal(rng, m, 3)
	var meanE, meanM float64
	for i := range n {
		for j := range n {
			meanE += euclid(x.Row(i), x.Row(j)) / (n * n)
			meanM += manhattan(x.Row(i), x.Row(j)) / (n * n)
		}
	}
	for _, c := range kernelCases {
		f := func(a, b []float64) float64 { return c.f(a, b, meanE, meanM) }
		level, all := make([]float64, m), 0.0
		for i := range n {
			for j := range n {
				all += f(x.Row(i), x.Row(j)) / (n * n)
			}
			for j := range m {
				level[j] += f(x.Row(i), z.Row(j)) / n
			}
		}
		for _, center := range []bool{false, true} {
			for _, normalize := range []bool{false, true} {
				want := matrix(m, m, func(i, j int) float64 {
					if !center {
						return f(z.Row(i), z.Row(j))
					}
					return f(z.Row(i), z.Row(j)) - level[i] - level[j] + all
				})
				if normalize {
					raw := want.Clone()
					want = matrix(m, m, func(i, j int) float64 { return raw.At(i, j) / math.Sqrt(raw.At(i, i)*raw.At(j, j)) })
				}
				ds, _, _ := trained(t, 2, []View{{X: x, Kernel: c.kernel, Center: center, Normalize: normalize}}, nil)
				got, err := ds.Among(t.Context(), 2, []Features{z})
				require.NoError(t, err, c.name)
				requireClose(t, want, got[0], 1e-11)
			}
		}
	}
}

// The joint posterior of new samples agrees with Gaussian conditioning, written out with kernels of its own.
func TestPredictJointDense(t *testing.T) {
	x, y := bumpy(70) // more than are averaged over draws
	at := normal(rand.New(rand.NewPCG(6, 6)), 5, 3)
	m, err := MultiGP{}.Fit(t.Context(), []View{{X: x, Kernel: kernel.RBF{Width: 1.5}}, {X: x, Kernel: kernel.Linear{}}}, y)
	require.NoError(t, err)
	s := m.Posterior().State()
	k := func(a, b []float64) float64 {
		d := euclid(a, b)
		return math.Exp(-d*d/(2*1.5*1.5))/s.Gamma[0] + inner(a, b)/s.Gamma[1]
	}
	const n, T = 70, 5
	row := func(i int) []float64 {
		if i < n {
			return x.Row(i)
		}
		return at.Row(i - n)
	}
	b := matrix(n+T, n+T, func(i, j int) float64 { return k(row(i), row(j)) })
	for i := range n {
		b.Set(i, i, b.At(i, i)+1/s.Tau)
		// Elimination leaves the posterior covariance in the last corner.
	}
	for c := range n {
		for i := c + 1; i < n+T; i++ {
			f := b.At(i, c) / b.At(c, c)
			for j := c; j < n+T; j++ {
				b.Set(i, j, b.At(i, j)-f*b.At(c, j))
			}
		}
	}
	p, err := m.PredictJoint(t.Context(), PredictOptions{}, at)
	require.NoError(t, err)
	mean, cov, noise := p.Moments()
	single, err := m.PredictTargets(t.Context(), PredictOptions{}, at)
	require.NoError(t, err)
	unit := m.target.sd * m.target.sd
	for i := range T {
		assert.InDelta(t, single.Mean[0][i], mean[i], 1e-12)
		assert.InDelta(t, single.Variance[0][i], cov.At(i, i)+noise[i], 1e-12)
		for j := range T {
			assert.InDelta(t, unit*b.At(n+i, n+j), cov.At(i, j), 1e-9*unit)
		}
	}
}

// A pool's joint posterior has the moments of its predictions, and draws have the moments of the joint posterior, where
// a sample occurs twice too.
func TestJointDraws(t *testing.T) {
	x, y := bumpy(40)
	at := normal(rand.New(rand.NewPCG(7, 7)), 4, 3)
	copy(at.Row(3), at.Row(1))
	m := fitPool(t, Auto{}, []View{{X: x}}, y)
	p, err := m.PredictJoint(t.Context(), PredictOptions{}, at)
	require.NoError(t, err)
	mean, cov, noise := p.Moments()
	single, err := m.PredictTargets(t.Context(), PredictOptions{}, at)
	require.NoError(t, err)
	for i := range 4 {
		assert.InDelta(t, single.Mean[0][i], mean[i], 1e-10)
		assert.InDelta(t, single.Variance[0][i], cov.At(i, i)+noise[i], 1e-10)
	}
	const draws = 20_000
	all, err := p.Draws(draws, 1)
	require.NoError(t, err)
	again, err := p.Draws(draws, 1)
	require.NoError(t, err)
	assert.Equal(t, all, again)
	drawn, moments := make([]float64, 4), la.NewMatrix[float64](4, 4)
	for _, d := range all {
		la.Axpy(1.0/draws, d, drawn)
		assert.InDelta(t, d[1], d[3], 1e-5*math.Sqrt(cov.At(1, 1)), "a sample that occurs twice")
		for i := range 4 {
			for j := range 4 {
				moments.Set(i, j, moments.At(i, j)+(d[i]-mean[i])*(d[j]-mean[j])/draws)
			}
		}
	}
	for i := range 4 {
		// Five standard errors; of products at most √(2·C_ii·C_jj) for normal draws, and twice it for the mixture's tails.
		assert.InDelta(t, mean[i], drawn[i], 5*math.Sqrt(cov.At(i, i)/draws))
		for j := range 4 {
			assert.InDelta(t, cov.At(i, j), moments.At(i, j), 10*math.Sqrt(2*cov.At(i, i)*cov.At(j, j)/draws))
		}
	}
}

// What has no joint posterior is refused with its reason.
func TestPredictJointRefuses(t *testing.T) {
	x, y := bumpy(30)
	ctx := context.Background()
	m := fitPool(t, Auto{}, []View{{X: x}}, y)
	_, err := m.PredictJoint(ctx, PredictOptions{}, x, x)
	assert.ErrorContains(t, err, "2 input matrices where the model needs 1")
	_, err = m.PredictJoint(ctx, PredictOptions{}, la.NewMatrix[float64](0, 3))
	assert.ErrorContains(t, err, "no samples")
	var none context.Context
	_, err = m.PredictJoint(none, PredictOptions{}, x)
	assert.Error(t, err)
	p, err := m.PredictJoint(ctx, PredictOptions{}, x)
	require.NoError(t, err)
	_, err = p.Draws(-1, 0)
	assert.EqualError(t, err, "mkl: Draws: draws is -1")
	m.onLandmarks = true
	_, err = m.PredictJoint(ctx, PredictOptions{}, x)
	assert.ErrorContains(t, err, "no joint posterior")

	k := matrix(30, 30, func(i, j int) float64 { return inner(x.Row(i), x.Row(j)) })
	given, err := MultiGP{}.Fit(ctx, []View{{X: k, Kernel: kernel.Precomputed{}}}, y)
	require.NoError(t, err)
	withSelf := matrix(2, 31, func(i, j int) float64 { return inner(x.Row(i), x.Row(min(j, 29))) })
	_, err = given.PredictJoint(ctx, PredictOptions{}, withSelf)
	assert.ErrorContains(t, err, "input 0 holds kernels or distances to the training samples")
}

// Draws come from each part of a mixture as often as its weight says.
func TestDrawsOfEachPart(t *testing.T) {
	p := &JointPrediction{}
	weights := []float64{0.2, 0.3, 0.5}
	for k, w := range weights {
		p.Parts = append(p.Parts, JointPart{w, []float64{float64(100 * k)}, la.MatrixOf(1, 1, []float64{1}), []float64{0}})
	}
	const draws = 20_000
	all, err := p.Draws(draws, 3)
	require.NoError(t, err)
	share := make([]float64, len(weights))
	for _, d := range all {
		share[int(math.Round(d[0]/100))] += 1.0 / draws
	}
	for k, w := range weights {
		assert.InDelta(t, w, share[k], 5*math.Sqrt(w*(1-w)/draws))
	}
	none, err := p.Draws(0, 3)
	require.NoError(t, err)
	assert.Empty(t, none)
}

// The joint posterior of the function between two classes has the moments that explain the probabilities. With linear kernels the function of the
// sample in the middle of two others is the mean of theirs, which fixes the covariances.
func TestPredictJointOfClasses(t *testing.T) {
	views, class, _ := threeViews(80, 5)
	x := views[0].X
	ctx := t.Context()
	m, err := MultiGPClassifier[int]{}.Fit(ctx, []View{{X: x, Kernel: kernel.Linear{}}}, atMost(class, 2))
	require.NoError(t, err)
	at := normal(rand.New(rand.NewPCG(8, 8)), 3, 3)
	for f := range at.Cols {
		at.Set(2, f, 0.5*(at.At(0, f)+at.At(1, f)))
	}
	p, err := m.PredictJoint(ctx, PredictOptions{}, at)
	require.NoError(t, err)
	mean, cov, noise := p.Moments()
	assert.Equal(t, []float64{0, 0, 0}, noise)
	_, probability, err := m.Predict(at)
	require.NoError(t, err)
	variance := make([]float64, 3) // of the function, as the probabilities Φ(mean/√(1 + variance)), sharpened, say
	for i, of := range probability {
		odds := math.Log(of[1]/of[0]) / m.Sharpness()
		z := math.Sqrt2 * math.Erfinv(math.Tanh(odds/2))
		variance[i] = math.Pow(mean[i]/z, 2) - 1
		assert.InEpsilon(t, variance[i], cov.At(i, i), 1e-6)
	}
	assert.InDelta(t, 0.5*(mean[0]+mean[1]), mean[2], 1e-9)
	assert.InDelta(t, 0.5*(4*variance[2]-variance[0]-variance[1]), cov.At(0, 1), 1e-5*variance[0])
	for j := range 3 {
		assert.InDelta(t, 0.5*(cov.At(0, j)+cov.At(1, j)), cov.At(2, j), 1e-9)
		assert.Equal(t, cov.At(1, j), cov.At(j, 1))
	}

	_, err = m.PredictJoint(ctx, PredictOptions{}, la.NewMatrix[float64](0, 3))
	assert.ErrorContains(t, err, "no samples")
	_, err = m.PredictJoint(ctx, PredictOptions{}, at, at)
	assert.ErrorContains(t, err, "2 input matrices where the model needs 1")
	three, err := MultiGPClassifier[int]{}.Fit(ctx, []View{{X: x, Kernel: kernel.Linear{}}}, class)
	require.NoError(t, err)
	_, err = three.PredictJoint(ctx, PredictOptions{}, at)
	assert.ErrorContains(t, err, "3 classes have 3 functions")
}
