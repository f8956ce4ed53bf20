package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// Predictions are the moments of the mixture of the draws', in batches, one by one and from a file;
// with PointScales, and of more samples, those at the mode.
func TestDrawnPredictions(t *testing.T) {
	x, y := bumpy(24)
	draws := drawsOf(24)
	views, _, err := defaultViews(KernelsARD, View{X: x})
	require.NoError(t, err)
	m, err := MultiGP{}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	require.Len(t, m.draws.posteriors, draws)
	at := normal(rand.New(rand.NewPCG(3, 3)), 5, 3)
	mean, variance, err := m.Predict(at)
	require.NoError(t, err)

	first, second := make([]float64, 5), make([]float64, 5)
	var noise float64
	for i, p := range m.draws.posteriors {
		ds := m.draws.designs[i]
		noise += 1 / p.State().Tau / float64(draws)
		require.NoError(t, ds.EachBlock(t.Context(), 1, gram.PredictWords, true, []Features{at}, 5, func(k *vi.Dense, self la.Matrix[float64], _, _ int) error {
			q, err := p.Predict(k, self, vi.PredictOptions{})
			for j := range first {
				first[j] += q.Mean[j] / float64(draws)
				second[j] += (q.Variance[j] + q.Mean[j]*q.Mean[j]) / float64(draws)
			}
			return err
		}))
	}
	sd := m.target.sd
	for j := range first {
		assert.InDelta(t, m.target.mean+sd*first[j], mean[j], 1e-10)
		assert.InDelta(t, sd*sd*(second[j]-first[j]*first[j]), variance[j], 1e-10)
	}
	assert.InDelta(t, sd*math.Sqrt(noise), m.NoiseSD()[0], 1e-12)
	only, err := m.PredictTargets(t.Context(), PredictOptions{MeanOnly: true}, at)
	require.NoError(t, err)
	assert.Equal(t, mean, only.Mean[0])

	predictor, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	for j := range mean {
		one, v, err := predictor.Predict(at.Row(j))
		require.NoError(t, err)
		assert.InDelta(t, mean[j], one, 1e-10)
		assert.InDelta(t, variance[j], v, 1e-10)
	}
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded, err := Load(&file)
	require.NoError(t, err)
	again, againVariance, err := loaded.(*MultiGPModel).Predict(at)
	require.NoError(t, err)
	assert.Equal(t, mean, again)
	assert.Equal(t, variance, againVariance)
	assert.Equal(t, m.KernelWeights(), loaded.KernelWeights())

	point, err := MultiGP{PointScales: true}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	assert.Nil(t, point.draws)
	assert.Equal(t, m.Posterior().State(), point.Posterior().State(), "the mode is where it was")
	assert.Equal(t, m.Bound(), point.Bound())
	assert.True(t, m.IsEvidence())
	_, sure, err := point.Predict(at)
	require.NoError(t, err)
	assert.Greater(t, vec.Total(variance), vec.Total(sure))

	many, bigger := bumpy(mostDrawn + 1)
	views, _, err = defaultViews(KernelsARD, View{X: many})
	require.NoError(t, err)
	m, err = MultiGP{}.Fit(t.Context(), views, bigger)
	require.NoError(t, err)
	assert.Nil(t, m.draws)
}

// Draws of a file are checked as the rest of it is.
func TestDrawnFilesAreChecked(t *testing.T) {
	x, y := bumpy(8)
	views, _, err := defaultViews(KernelsARD, View{X: x})
	require.NoError(t, err)
	m, err := MultiGP{}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	for want, spoil := range map[string]func(j *multiGPJSON){
		"draws beside noise": func(j *multiGPJSON) {
			j.Processes[0].Noise = &noiseJSON{Family: mgp.FamilyHyperbola, Prior: m.posteriors[0].State().Prior}
		},
		"draws[0]: vi: multiple Gaussian process state: Tau is 0": func(j *multiGPJSON) { j.Draws[0].Tau = 0 },
		"draws[1]: of 1 views, and there are 3":                   func(j *multiGPJSON) { j.Draws[1].Widths = j.Draws[1].Widths[:1] },
	} {
		var f fileWriter
		j := m.encode(&f)
		spoil(&j)
		if j.Processes[0].Noise != nil {
			s := m.posteriors[0].State()
			s.Sites = make([]float64, len(s.Alpha))
			for i := range s.Sites {
				s.Sites[i] = 1
			}
			f.addState("process.0.noise.", s)
		}
		var file bytes.Buffer
		require.NoError(t, f.write(&file, m.Kind(), j))
		_, err = Load(&file)
		assert.ErrorContains(t, err, want)
	}
}

// Intervals from few samples cover what they say, as nearly as ten numbers tell, and those with the
// scales as known do not.
func TestDrawnCoverage(t *testing.T) {
	const fits, n, tests = 24, 8, 50
	var covered, sure float64
	for seed := range uint64(fits) {
		rng := rand.New(rand.NewPCG(seed, 4))
		x, at := normal(rng, n, 2), normal(rng, tests, 2)
		value := func(x []float64) float64 { return math.Sin(1.5*x[0]) + 0.5*x[1] + 0.3*rng.NormFloat64() }
		y := make([]float64, n)
		for i := range y {
			y[i] = value(x.Row(i))
		}
		views, _, err := defaultViews(KernelsAdditive, View{X: x})
		require.NoError(t, err)
		for _, point := range []bool{false, true} {
			m, err := MultiGP{PointScales: point}.Fit(context.Background(), views, y)
			require.NoError(t, err)
			mean, variance, err := m.Predict(at)
			require.NoError(t, err)
			truth := rand.New(rand.NewPCG(seed, 5))
			for i := range tests {
				z := math.Sin(1.5*at.At(i, 0)) + 0.5*at.At(i, 1) + 0.3*truth.NormFloat64()
				if math.Abs(z-mean[i]) < 1.96*math.Sqrt(variance[i]) {
					if point {
						sure += 100.0 / fits / tests
					} else {
						covered += 100.0 / fits / tests
					}
				}
			}
		}
	}
	t.Logf("coverage %.1f %%, with point scales %.1f %%", covered, sure)
	assert.InDelta(t, 95, covered, 5)
	assert.Less(t, sure, covered-5)
}
