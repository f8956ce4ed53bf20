package slab

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/fittest"
	"github.com/bmkl/bmkl/vi/internal/tridiagonal"
)

// fixedLatents are latent functions. Some share a matrix that never changes: of full rank, of a few
// columns, or of zeros. The others do not.
func fixedLatents(d la.Matrix[float64]) []Latent {
	N := d.Rows
	src := rand.New(rand.NewPCG(7, 7))
	smooth, linear, mean := la.NewMatrix[float64](N, N), la.NewMatrix[float64](N, N), make([]float64, N)
	x := la.NewMatrix[float64](N, 3)
	for i := range x.Data {
		x.Data[i] = src.NormFloat64()
	}
	for i := range N {
		mean[i] = math.Cos(0.3 * float64(i))
		for j := range i + 1 {
			smooth.Set(i, j, 4*math.Exp(-d.At(i, j)/0.3))
			linear.Set(i, j, la.Dot(x.Row(i), x.Row(j)))
		}
	}
	a, b := FixedCovariance(smooth), FixedCovariance(linear)
	return []Latent{
		{Covariance: a}, {Covariance: a}, {Covariance: a, Mean: mean}, {Covariance: b}, {Covariance: b},
		{Covariance: DecayCovariance(d, 2, 2, 2)}, {Covariance: DecayCovariance(d, 0.5, 0.1, 3)},
		{Covariance: FixedCovariance(la.NewMatrix[float64](N, N))}, {Covariance: WhiteCovariance()}, {Mean: mean},
	}
}

// bothWays returns two models of the same state. The second makes all updates with full matrices.
func bothWays(t *testing.T, task MultiTask, latents []Latent, y la.Matrix[float64]) (formed, full *multiTask) {
	t.Helper()
	task.Workers = 1
	formed, err := task.model(latents, y, 3)
	require.NoError(t, err)
	full, err = task.model(latents, y, 3)
	require.NoError(t, err)
	full.formed = true
	require.NoError(t, formed.form())
	shared := 0
	for i := range latents {
		assert.Nil(t, full.latents[i].form)
		if formed.latents[i].form != nil {
			shared++
		}
	}
	require.Positive(t, shared)
	return formed, full
}

// The updates with forms are the same as those with full matrices: after every one of them the
// bound is, and after every sweep all that was learned.
func TestFormsMakeTheSameUpdates(t *testing.T) {
	for name, task := range map[string]MultiTask{
		"default":      {LengthsEvery: 2},
		"plain":        {LengthsEvery: 2, Plain: true},
		"shared noise": {LengthsEvery: 1, SharedNoise: true, KeepAll: true},
		"held":         {LengthsEvery: 3, Held: Held{true, true, true}},
	} {
		for _, noise := range []float64{0.01, 0.3, 5} {
			t.Run(fmt.Sprintf("%s/%g", name, noise), func(t *testing.T) {
				y, d := taskProblem(5, 40, 0.3, 1)
				y = complete(y)
				task.Noise = noise
				formed, full := bothWays(t, task, fixedLatents(d), y)
				formed.lengthTolerance, full.lengthTolerance = 1e-10, 1e-10 // the roots of steps, not their tolerance
				for sweep := range 18 {
					var got, want []float64
					require.NoError(t, formed.Sweep(func(string) { got = append(got, formed.Bound()) }))
					require.NoError(t, full.Sweep(func(string) { want = append(want, full.Bound()) }))
					at := fmt.Sprintf("sweep %d", sweep)
					requireEach(t, "bounds of "+at, want, got, 1e-9)
					require.Equal(t, full.active, formed.active)
					requireEach(t, "σ² after "+at, full.noise, formed.noise, 1e-9)
					requireEach(t, "E[w] after "+at, full.e.Data, formed.e.Data, 1e-7)
					for i := range full.latents {
						a, b, at := &full.latents[i], &formed.latents[i], fmt.Sprintf("function %d after sweep %d", i, sweep)
						requireEach(t, "a of "+at, a.mean, b.mean, 1e-7)
						requireEach(t, "α of "+at, a.alpha, b.alpha, 1e-7)
						requireEach(t, "KL, tr A of "+at, []float64{a.kl, a.total}, []float64{b.kl, b.total}, 1e-7)
					}
				}
				want, err := full.posterior(true)
				require.NoError(t, err)
				got, err := formed.posterior(true)
				require.NoError(t, err)
				a, b := want.Train(vi.PredictOptions{}), got.Train(vi.PredictOptions{})
				requireEach(t, "means", a.Mean.Data, b.Mean.Data, 1e-7)
				requireEach(t, "variances", a.Variance.Data, b.Variance.Data, 1e-7)
			})
		}
	}
}

// exactLatent returns a, diag A and KL(q‖p) for Λ = λI, in 400 bits.
func exactLatent(k la.Matrix[float64], lambda float64, mean, h []float64) (a, variance []float64, kl float64) {
	N := k.Rows
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	mul := func(x, y *big.Float) *big.Float { return num(0).Mul(x, y) }
	// Rows of I + λK | I | r become I | B⁻¹ | α.
	rows, r, whole := make([][]*big.Float, N), make([]*big.Float, N), make([][]*big.Float, N)
	for i := range N {
		rows[i], whole[i] = make([]*big.Float, 2*N+1), make([]*big.Float, N)
		for j := range N {
			whole[i][j] = num(k.At(max(i, j), min(i, j)))
			rows[i][j], rows[i][N+j] = mul(num(lambda), whole[i][j]), num(0)
		}
		rows[i][i].Add(rows[i][i], num(1))
		rows[i][N+i] = num(1)
		r[i] = num(0).Sub(num(h[i]), mul(num(lambda), num(mean[i])))
		rows[i][2*N] = num(0).Set(r[i])
	}
	logDet := 0.0
	for c := range N {
		pivot := num(0).Set(rows[c][c])
		p, _ := pivot.Float64()
		logDet += math.Log(p)
		for j := range rows[c] {
			rows[c][j].Quo(rows[c][j], pivot)
		}
		for i := range N {
			if m := num(0).Set(rows[i][c]); i != c {
				for j := range rows[i] {
					rows[i][j].Sub(rows[i][j], mul(m, rows[c][j]))
				}
			}
		}
	}
	a, variance = make([]float64, N), make([]float64, N)
	sum := num(-float64(N))
	for i := range N {
		ka, v := num(0), num(0)
		for j := range N {
			ka.Add(ka, mul(whole[i][j], rows[j][2*N]))
			v.Add(v, mul(whole[i][j], rows[j][N+i])) // A = K·B⁻¹
		}
		sum.Add(sum, rows[i][N+i])
		sum.Add(sum, mul(rows[i][2*N], ka))
		ka.Add(ka, num(mean[i]))
		a[i], _ = ka.Float64()
		variance[i], _ = v.Float64()
	}
	kl, _ = sum.Float64()
	return a, variance, 0.5 * (kl + logDet)
}

// An update with a form is as exact as is demanded of the one with a matrix (golden file 11)
// where the noise is small, and where it is large.
func TestUniformUpdateIsExact(t *testing.T) {
	const N = 12
	x := []float64{-2.09, -0.07, 0.038, 0.118, 0.22, 0.257, 0.354, 0.552, 1.104, 2.333, 2.746, 2.944}
	k, d, mean, h := la.NewMatrix[float64](N, N), la.NewMatrix[float64](N, N), make([]float64, N), make([]float64, N)
	ws, g := &la.Workspace{Workers: 1}, newLatentScratch(N, false)
	for name, distance := range map[string]func(z float64) float64{
		"squared exponential": func(z float64) float64 { return z * z / 2 }, "exponential": math.Abs,
	} {
		for i := range N {
			mean[i] = math.Sin(x[i])
			for j := range N {
				d.Set(i, j, distance(x[i]-x[j]))
			}
		}
		c := DecayCovariance(d, 0.7, 0.7, 0.7)
		c.fill(0.7, k)
		for _, to := range []struct{ lambda, variance float64 }{{1e-9, 1e-10}, {1e-3, 1e-10}, {10, 1e-10}, {1e4, 1e-9}, {1e7, 1e-6}, {1e9, 1e-4}, {1e11, 1e-2}} {
			l := latentGP{cov: c, prior: mean, uniform: true}
			l.start(N, make([]float64, N))
			for n := range N {
				l.lambda[n] = to.lambda
				h[n] = to.lambda * (math.Cos(2*x[n]) + 0.1*math.Sin(50*x[n])/math.Sqrt(1+to.lambda))
			}
			a, variance, kl := exactLatent(k, to.lambda, mean, h)
			var err error
			l.form, err = c.shared.of(c, g.stop.Ended)
			require.NoError(t, err)
			require.NoError(t, l.update(ws, g, h))
			require.NoError(t, l.settle(ws, g))
			at := fmt.Sprintf("%s, λ = %g", name, to.lambda)
			assert.InDeltaSlice(t, a, l.mean, 1e-8, at)
			assert.InEpsilonSlice(t, variance, l.variance, to.variance, at)
			assert.InDelta(t, kl, l.kl, 1e-6*max(kl, 1e-6), at)
			var trace float64
			for _, v := range variance {
				trace += v
			}
			assert.InEpsilon(t, trace, l.total, to.variance, at)
		}
	}
}

// A matrix that is not positive semidefinite is left to the updates with full matrices, which
// take it where the noise is large and say so where it is not.
func TestIndefiniteMatrixHasNoUniformUpdate(t *testing.T) {
	k := la.MatrixOf(2, 2, []float64{1, 0, 2, 1})
	c := FixedCovariance(k)
	g, ws := newLatentScratch(2, false), &la.Workspace{Workers: 1}
	form, err := c.shared.of(c, g.stop.Ended)
	require.NoError(t, err)
	l, full := latentGP{cov: c, uniform: true, form: form}, latentGP{cov: c}
	for _, f := range []*latentGP{&l, &full} {
		f.start(2, make([]float64, 2))
		f.lambda[0], f.lambda[1] = 0.9, 0.9
		require.NoError(t, f.update(ws, g, []float64{1, 2}))
	}
	assert.Equal(t, full.mean, l.mean)
	assert.Equal(t, full.variance, l.variance)
	assert.Equal(t, full.total, l.total)
	w := slabWeights{own: pairSums{included: 1, slabPower: 1}, variance: 1}
	x, err := l.scale(ws, g, []float64{1, 2}, w, 1e-3)
	require.NoError(t, err)
	want, err := full.scale(ws, g, []float64{1, 2}, w, 1e-3)
	require.NoError(t, err)
	assert.Equal(t, want, x)
	l.lambda[0], l.lambda[1] = 2, 2
	assert.ErrorContains(t, l.update(ws, g, []float64{1, 2}), "the covariance is not positive semidefinite")
}

// Starts and fits with the same covariance reduce its matrix once.
func TestFormsAreShared(t *testing.T) {
	y, d := taskProblem(3, 20, 0.2, 1)
	y = complete(y)
	latents := fixedLatents(d)
	var first []*tridiagonal.Form
	for range 2 {
		_, err := MultiTask{Restarts: 1, Ascent: vi.Ascent{MaxSweeps: 3}}.Fit(t.Context(), latents, y)
		require.NoError(t, err)
		var forms []*tridiagonal.Form
		for _, l := range latents {
			if s := l.Covariance.shared; s != nil {
				require.NotNil(t, s.form)
				forms = append(forms, s.form)
			}
		}
		if first == nil {
			first = forms
		}
		for i := range forms {
			assert.Same(t, first[i], forms[i])
		}
	}
	assert.Same(t, first[0], first[2])
	assert.NotSame(t, first[0], first[3])
	assert.Nil(t, latents[6].Covariance.shared, "its length is learned")

	// A fit that ends in the middle of it leaves it to the next.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := FixedCovariance(latents[0].Covariance.k)
	_, err := MultiTask{}.Fit(ctx, []Latent{{Covariance: c}}, y)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = MultiTask{Ascent: vi.Ascent{MaxSweeps: 1}}.Fit(t.Context(), []Latent{{Covariance: c}}, y)
	assert.NoError(t, err)
	assert.NotNil(t, c.shared.form)
}

// A fit of complete targets resumes in the same bits, from a journal, and near them from a fit.
func TestFormsResume(t *testing.T) {
	y, d := taskProblem(4, 18, 0.2, 1)
	y = complete(y)
	for _, plain := range []bool{false, true} {
		fittest.RequireResumed(t, "forms", 30, []int{1, 7, 11, 16}, func(a vi.Ascent) any {
			fit, err := MultiTask{Workers: 1, Plain: plain, Ascent: a}.Fit(t.Context(), fixedLatents(d), y)
			require.NoError(t, err)
			return []any{fit.Record, fit.Posterior.State()}
		})
	}
	fit := func(sweeps int, from *MultiTaskFit) *MultiTaskFit {
		fit, err := MultiTask{Workers: 2, Plain: true, From: from, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: sweeps}}.Fit(t.Context(), fixedLatents(d), y)
		require.NoError(t, err)
		return fit
	}
	whole, again := fit(24, nil), fit(24, fit(12, nil))
	assert.InDeltaSlice(t, whole.Record.Trace, again.Record.Trace, 1e-6)
	want, got := whole.Posterior.Train(vi.PredictOptions{}), again.Posterior.Train(vi.PredictOptions{})
	assert.InDeltaSlice(t, want.Mean.Data, got.Mean.Data, 1e-6)
	assert.InDeltaSlice(t, want.Variance.Data, got.Variance.Data, 1e-6)
}

// Fits at the same time share forms, and each is what it is alone.
func TestFormsOfConcurrentFits(t *testing.T) {
	y, d := taskProblem(3, 20, 0.2, 1)
	y = complete(y)
	fit := func(latents []Latent) any {
		fit, err := MultiTask{Workers: 2, Ascent: vi.Ascent{MaxSweeps: 8}}.Fit(t.Context(), latents, y)
		if !assert.NoError(t, err) {
			return nil
		}
		return []any{fit.Record.Trace, fit.Posterior.State()}
	}
	want, latents, got := fit(fixedLatents(d)), fixedLatents(d), make([]any, 4)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = fit(latents) })
	}
	all.Wait()
	for _, got := range got {
		assert.Equal(t, want, got)
	}
}
