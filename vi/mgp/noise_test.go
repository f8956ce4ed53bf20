package mgp

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/vi"
)

// What noise that varies and noise with heavy tails have to hold alike.

// checkConverged wants a fit whose ascent has converged without a fall.
func checkConverged(t *testing.T, fit *Fit, err error) {
	require.NoError(t, err)
	assert.Equal(t, vi.Converged, fit.Record.Reason)
	for i := 1; i < len(fit.Record.Trace); i++ {
		assert.GreaterOrEqual(t, fit.Record.Trace[i], fit.Record.Trace[i-1]-1e-4)
	}
}

// fits are the methods of Evidence for noise that is not constant and normal.
var fits = map[string]func(Evidence, context.Context, vi.Kernels, []float64) (*Fit, error){
	"varying": Evidence.FitVarying,
	"heavy":   Evidence.FitHeavy,
}

func TestNoiseIsDeterministic(t *testing.T) {
	for name, of := range fits {
		t.Run(name, func(t *testing.T) {
			_, y, k := uneven(t, 150, 4)
			var first *Fit
			for _, workers := range []int{1, 3} {
				fit, err := of(Evidence{Workers: workers}, context.Background(), k, y)
				require.NoError(t, err)
				if first == nil {
					first = fit
					continue
				}
				assert.Equal(t, first.Posterior.State(), fit.Posterior.State())
				assert.Equal(t, first.LeaveOneOut, fit.LeaveOneOut)
				if first.Noise != nil {
					assert.Equal(t, first.Noise.About.State(), fit.Noise.About.State())
				}
			}
		})
	}
}

// Without noise, with one target far away, with noise in one half, and with two functions for
// one there is a fit.
func TestNoiseHasAFit(t *testing.T) {
	testkit.NotShort(t)
	x, _, k := uneven(t, 30, 4)
	for name, target := range map[string]func(i int, x float64) float64{
		"no noise": func(_ int, x float64) float64 { return math.Sin(3 * x) },
		"outlier": func(i int, x float64) float64 {
			if i == 3 {
				return 1e6
			}
			return x
		},
		"half without noise": func(i int, x float64) float64 {
			if x < 0 {
				return 0
			}
			return math.Sin(37 * float64(i))
		},
		"two functions": func(i int, x float64) float64 { return math.Sin(3*x) + 5*float64(i%2) },
	} {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = target(i, v)
		}
		for noise, of := range fits {
			t.Run(name+", "+noise, func(t *testing.T) {
				fit, err := of(Evidence{}, context.Background(), k, y)
				require.NoError(t, err)
				for i := range y {
					assert.False(t, math.IsNaN(fit.LeaveOneOut.LogProbability[i]))
				}
			})
		}
	}
}

func TestNoiseErrors(t *testing.T) {
	_, y, k := uneven(t, 10, 4)
	cancelled, stop := context.WithCancel(context.Background())
	stop()
	for name, of := range fits {
		t.Run(name, func(t *testing.T) {
			for want, e := range map[string]Evidence{
				"Family is Student-t":  {Family: FamilyStudentT},
				"Start.Gamma: 1 value": {Start: &EvidenceStart{Gamma: []float64{1}}},
			} {
				_, err := of(e, context.Background(), k, y)
				assert.ErrorContains(t, err, want)
			}
			fit, err := of(Evidence{}, cancelled, k, y)
			assert.ErrorIs(t, err, context.Canceled)
			assert.Nil(t, fit)
		})
	}
}
