package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// observationParts is a model of counts, times or grades whose function is a sum over views.
type observationParts interface {
	PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error)
}

// latent returns the moments of the function of a model of observations, in the unit of its parts.
func latent(t *testing.T, m any, x ...Features) (mean, variance []float64) {
	var of *processes
	unit := target{sd: 1}
	switch m := m.(type) {
	case *CountModel:
		of = &m.processes
	case *SurvivalModel:
		of, unit = &m.processes, m.unit
	case *OrdinalModel[int]:
		of = &m.processes
	}
	mean, variance = make([]float64, x[0].Rows), make([]float64, x[0].Rows)
	require.NoError(t, of.predict(t.Context(), PredictOptions{}, x, x[0].Rows, func(_, first int, p *mgp.Prediction) {
		for i := range p.Mean {
			mean[first+i], variance[first+i] = unit.mean+unit.sd*p.Mean[i], unit.sd*unit.sd*p.Function[i]
		}
	}))
	return mean, variance
}

// The parts of counts, times and grades add up to the mean of the function, follow the functions that the targets were drawn with, and one view
// is the whole function.
func TestPredictViewsOfObservations(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(12, 34))
	a, b := normal(rng, n, 1), normal(rng, n, 1)
	counts, times, grades := make([]float64, n), make([]Lifetime, n), make([]int, n)
	for i := range n {
		f := math.Sin(2*a.At(i, 0)) + 0.7*b.At(i, 0)
		for sum := rng.ExpFloat64(); sum < 3*math.Exp(f); sum += rng.ExpFloat64() {
			counts[i]++
		}
		times[i] = EventAt(100 * math.Exp(f+0.3*rng.NormFloat64()))
		if i%5 == 0 {
			times[i] = EventAfter(50 * math.Exp(f))
		}
		for _, cut := range []float64{-1, 0, 0.7} {
			if f+0.3*rng.NormFloat64() > cut {
				grades[i]++
			}
		}
	}
	at, beside := normal(rng, 50, 1), normal(rng, 50, 1)
	wave, line := make([]float64, 50), make([]float64, 50)
	for i := range wave {
		wave[i], line[i] = math.Sin(2*at.At(i, 0)), 0.7*beside.At(i, 0)
	}
	k := kernel.RBF{Width: 1}
	two := []View{{X: a, Input: "a", Kernel: k}, {X: b, Input: "b", Kernel: k}}
	for _, c := range []struct {
		name string
		unit float64 // of the function, in units of the one that the targets were drawn with
		fit  func(views []View) (observationParts, error)
	}{
		{"counts", 1, func(v []View) (observationParts, error) { return Counts{}.Fit(t.Context(), v, counts) }},
		{"log-normal times", 1, func(v []View) (observationParts, error) { return Survival{Law: LogNormal}.Fit(t.Context(), v, times) }},
		{"Weibull times", 1, func(v []View) (observationParts, error) { return Survival{Law: Weibull}.Fit(t.Context(), v, times) }},
		{"grades", 1 / 0.3, func(v []View) (observationParts, error) { return Ordinal[int]{}.Fit(t.Context(), v, grades) }},
	} {
		m, err := c.fit(two)
		require.NoError(t, err, c.name)
		parts, err := m.PredictViews(t.Context(), PredictOptions{}, at, beside)
		require.NoError(t, err, c.name)
		require.Equal(t, []string{"a", "b"}, parts.Views)
		mean, _ := latent(t, m, at, beside)
		for i := range mean {
			assert.InDelta(t, mean[i], parts.Constant+parts.Mean[0][i]+parts.Mean[1][i], 1e-9, c.name)
		}
		assert.Greater(t, correlationOf(parts.Mean[0], wave), 0.95, c.name)
		assert.Greater(t, correlationOf(parts.Mean[1], line), 0.95, c.name)
		_, sd := vec.MeanSD(parts.Mean[1])
		_, want := vec.MeanSD(line)
		assert.InEpsilon(t, c.unit*want, sd, 0.25, c.name)
		_, err = m.PredictViews(t.Context(), PredictOptions{}, at)
		assert.ErrorContains(t, err, "1 input matrices where the model needs 2", c.name)

		m, err = c.fit(two[:1])
		require.NoError(t, err, c.name)
		parts, err = m.PredictViews(t.Context(), PredictOptions{}, at)
		require.NoError(t, err, c.name)
		_, variance := latent(t, m, at)
		for i, v := range variance {
			assert.InDelta(t, math.Sqrt(v), parts.SD[0][i], 1e-9, c.name)
		}
	}
}
