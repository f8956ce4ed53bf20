package mgp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// someWeights returns n weights between 0.1 and 10.
func someWeights(n int) (w []float64) {
	src := rand.New(rand.NewPCG(31, 4))
	for range n {
		w = append(w, math.Exp(4.6*src.Float64()-2.3))
	}
	return w
}

func TestWeightedGradients(t *testing.T) {
	x, y, _ := toy(1)
	e := Evidence{Start: &EvidenceStart{Noise: 0.05}, Weights: someWeights(len(y))}
	t.Run("constant", func(t *testing.T) {
		m, at, err := e.objective(context.Background(), newScaled(t, x), y, false)
		require.NoError(t, err)
		checkSlopes(t, m.cost, at, 0.3)
	})
	t.Run("varying", func(t *testing.T) {
		m, at, err := e.varying(context.Background(), newScaled(t, x), y)
		require.NoError(t, err)
		m.h.tol = 1e-11
		checkSlopes(t, m.cost, at, 0.3)
	})
	t.Run("heavy", func(t *testing.T) {
		m, at, err := e.heavy(context.Background(), newScaled(t, x), y)
		require.NoError(t, err)
		m.tol = 1e-11
		checkSlopes(t, m.cost, at, 0.3)
	})
}

// replicated returns samples on a line, and the same samples repeated: sample i is times[i] times in longX and longY.
func replicated() (x, y, times, longX, longY []float64) {
	src := rand.New(rand.NewPCG(5, 8))
	for i := range 25 {
		v := 2*src.Float64() - 1
		x, y, times = append(x, v), append(y, math.Sin(3*v)+0.2*src.NormFloat64()), append(times, float64(1+i%3))
		for range int(times[i]) {
			longX, longY = append(longX, x[i]), append(longY, y[i])
		}
	}
	return x, y, times, longX, longY
}

// A sample of weight w has the same effect as the sample w times. The posteriors are equal, and the evidences differ by a constant that
// depends on the noise alone.
func TestWeightsAreReplicates(t *testing.T) {
	x, y, times, longX, longY := replicated()
	at := []float64{-1.3, -0.2, 0.4, 0.9, 1.6}
	known := Evidence{Known: []float64{0.5, 2, 0.1}, KnownNoise: 0.04}
	weighted := known
	weighted.Weights = times
	fit, err := weighted.Fit(context.Background(), onLine(t, x, x), y)
	require.NoError(t, err)
	long, err := known.Fit(context.Background(), onLine(t, longX, longX), longY)
	require.NoError(t, err)
	got, err := fit.Posterior.Predict(onLine(t, x, at), unevenSelf(len(at)), vi.PredictOptions{})
	require.NoError(t, err)
	want, err := long.Posterior.Predict(onLine(t, longX, at), unevenSelf(len(at)), vi.PredictOptions{})
	require.NoError(t, err)
	assert.InDeltaSlice(t, want.Mean, got.Mean, 1e-12)
	assert.InDeltaSlice(t, want.Function, got.Function, 1e-12)
	assert.InDeltaSlice(t, want.Variance, got.Variance, 1e-12)

	// log N(y | f, σ²)·w − log N(y | f, σ²/w) for each sample.
	var constant float64
	for _, w := range times {
		constant += -0.5*w*math.Log(2*math.Pi*0.04) + 0.5*math.Log(2*math.Pi*0.04/w)
	}
	assert.InDelta(t, long.LogEvidence, fit.LogEvidence+constant, 1e-9)
}

// Leave-one-out predictions of targets with weights are the predictions of fits without each target.
func TestWeightedLeaveOneOut(t *testing.T) {
	x, y, times, _, _ := replicated()
	e := Evidence{Known: []float64{0.5, 2, 0.1}, KnownNoise: 0.04, Weights: times}
	fit, err := e.Fit(context.Background(), onLine(t, x, x), y)
	require.NoError(t, err)
	for _, n := range []int{0, 1, 7, 24} {
		restX, restY, rest := slices.Concat(x[:n], x[n+1:]), slices.Concat(y[:n], y[n+1:]), slices.Concat(times[:n], times[n+1:])
		e.Weights = rest
		without, err := e.Fit(context.Background(), onLine(t, restX, restX), restY)
		require.NoError(t, err)
		p, err := without.Posterior.Predict(onLine(t, restX, x[n:n+1]), unevenSelf(1), vi.PredictOptions{})
		require.NoError(t, err)
		assert.InDelta(t, p.Mean[0], fit.LeaveOneOut.Mean[n], 1e-10)
		assert.InDelta(t, p.Function[0]+0.04/times[n], fit.LeaveOneOut.Variance[n], 1e-10)
	}
}

// Equal weights change only the noise of the weight 1, however large they are.
func TestEqualWeights(t *testing.T) {
	x, y, k := uneven(t, 60, 3)
	at := []float64{-0.7, 0.1, 0.8}
	const each = 1e6
	weights := slices.Repeat([]float64{each}, len(y))
	for name, of := range map[string]func(Evidence, context.Context, vi.Kernels, []float64) (*Fit, error){
		"constant": Evidence.Fit, "varying": Evidence.FitVarying, "heavy": Evidence.FitHeavy,
	} {
		t.Run(name, func(t *testing.T) {
			plain, err := of(Evidence{Draws: 3}, context.Background(), k, y)
			require.NoError(t, err)
			fit, err := of(Evidence{Draws: 3, Weights: weights}, context.Background(), k, y)
			require.NoError(t, err)
			assert.InEpsilon(t, plain.LogEvidence, fit.LogEvidence, 1e-6)
			posteriors := [][2]*Posterior{{plain.Posterior, fit.Posterior}}
			for i := range plain.Draws {
				posteriors = append(posteriors, [2]*Posterior{plain.Draws[i].Posterior, fit.Draws[i].Posterior})
			}
			for _, p := range posteriors {
				assert.InEpsilon(t, each/p[0].State().Tau, 1/p[1].State().Tau, 1e-5)
				want, err := p[0].Predict(onLine(t, x, at), unevenSelf(len(at)), vi.PredictOptions{})
				require.NoError(t, err)
				got, err := p[1].Predict(onLine(t, x, at), unevenSelf(len(at)), vi.PredictOptions{})
				require.NoError(t, err)
				assert.InEpsilonSlice(t, want.Mean, got.Mean, 1e-5)
				assert.InEpsilonSlice(t, want.Function, got.Function, 1e-5)
			}
			if name == "varying" {
				assert.InDelta(t, plain.Noise.Level+math.Log(each), fit.Noise.Level, 1e-5)
			}
			assert.InEpsilonSlice(t, plain.LeaveOneOut.Variance, fit.LeaveOneOut.Variance, 1e-5)
			assert.InDeltaSlice(t, plain.LeaveOneOut.LogProbability, fit.LeaveOneOut.LogProbability, 1e-5)
		})
	}
}

// With weights of one over the noise variance, fits of varying and of heavy noise find the function and noise of the variance 1 for the
// weight 1.
func TestWeightsUnderOtherNoise(t *testing.T) {
	src := rand.New(rand.NewPCG(6, 2))
	var x, y, weights []float64
	for i := range 120 {
		v := 2*src.Float64() - 1
		sd := 0.05
		if i%2 == 0 {
			sd = 1
		}
		x, y, weights = append(x, v), append(y, math.Sin(3*v)+sd*src.NormFloat64()), append(weights, 1/(sd*sd))
	}
	k := onLine(t, x, x)
	at := []float64{-0.7, 0.1, 0.8}
	for name, of := range fits {
		t.Run(name, func(t *testing.T) {
			fit, err := of(Evidence{Weights: weights}, context.Background(), k, y)
			require.NoError(t, err)
			p, err := fit.Posterior.Predict(onLine(t, x, at), unevenSelf(len(at)), vi.PredictOptions{})
			require.NoError(t, err)
			for i, v := range at {
				assert.InDelta(t, math.Sin(3*v), p.Mean[i], 0.03)
			}
			sd := math.Sqrt(1 / fit.Posterior.State().Tau)
			assert.InDelta(t, 1, sd, 0.15, "of weight 1")
			var in int // central intervals of probability 0.9
			for n, m := range fit.LeaveOneOut.Mean {
				if math.Abs(y[n]-m) < 1.645*math.Sqrt(fit.LeaveOneOut.Variance[n]) {
					in++
				}
			}
			assert.InDelta(t, 108, in, 9)
		})
	}
}

func TestWeightsThatAreRefused(t *testing.T) {
	x, y, labels := toy(2)
	k := newScaled(t, x)
	for want, weights := range map[string][]float64{
		"vi: Weights: 2 where there are 40 targets":             {1, 2},
		"vi: Weights[1] is 0: it must be positive and finite":   append([]float64{1, 0}, make([]float64, 38)...),
		"vi: Weights[0] is NaN: it must be positive and finite": append([]float64{math.NaN()}, make([]float64, 39)...),
		"vi: Weights: 0 where there are 40 targets":             {},
	} {
		_, err := Evidence{Weights: weights}.Fit(context.Background(), k, y)
		assert.EqualError(t, err, want)
	}
	large := Evidence{Weights: slices.Repeat([]float64{1e200}, len(y)), KnownNoise: 1e-200}
	_, err := large.Fit(context.Background(), k, y)
	assert.ErrorContains(t, err, "vi: KnownNoise is 1e-200, less than 1.0")
	ones := slices.Repeat([]float64{1}, len(y))
	_, err = Evidence{Weights: ones}.FitLabels(context.Background(), k, labels)
	assert.ErrorContains(t, err, "Weights are for targets")
	_, err = Evidence{Weights: ones}.FitFeatures(context.Background(), Features{Blocks: []la.Matrix[float64]{la.NewMatrix[float64](2, len(y))}, Targets: y})
	assert.ErrorContains(t, err, "Weights")
}
