package probit

import (
	"context"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// The gradient against differences of bounds of converged fits from the same start.
func TestProbitBoundGradient(t *testing.T) {
	testkit.NotShort(t)
	const N, P = 12, 3
	k, _, labels, _ := probitProblem(t, N, 3, P, 0, 1)
	src := rand.New(rand.NewPCG(3, 4))
	// The kernels K∘(1 + (x − 0.2)·U), whose entries stay between 0 and 1 as products
	// have it, and their derivatives K∘U.
	var slopes []la.Matrix[float64]
	for p := range P {
		s := k.At(p).Clone()
		for i := range s.Data {
			s.Data[i] *= 0.5 * src.Float64()
		}
		slopes = append(slopes, s)
	}
	along := func(x float64) *vi.Dense {
		var ks []la.Matrix[float64]
		for p := range P {
			kp := k.At(p).Clone()
			la.Axpy(x-0.2, slopes[p].Data, kp.Data)
			ks = append(ks, kp)
		}
		return testkit.Must(vi.NewDense(ks...))
	}
	variants := maps.Clone(probitVariants)
	delete(variants, "learned prior") // which still moves after thousands of sweeps
	for name, p := range variants {
		if p.Alpha.Shape == 1e-6 { // under so vague a prior fits take thousands of sweeps
			p.Alpha = vi.Gamma{Shape: 0.5, Scale: 10}
			if p.Prune > 0 {
				p.Prune = map[Rule]float64{RuleFixSum: 6.875, RuleBin: 5.5}[p.Rule] // some, not all
			}
			variants[name] = p
		}
	}
	// Under a prior of small regressors the labels tell little of the switches.
	variants["Bin, uncertain"] = Model{Rule: RuleBin, Update: WeightUpdateMeanField, Alpha: vi.Gamma{Shape: 40, Scale: 1}}
	for name, p := range variants {
		t.Run(name, func(t *testing.T) {
			p.Workers, p.Ascent = 1, vi.Ascent{Tolerance: -1, MaxSweeps: 300}
			if p.Search == WeightSearchSampling {
				p.Ascent.MaxSweeps = 12
				fit, err := p.Fit(context.Background(), k, labels)
				require.NoError(t, err)
				assert.ErrorContains(t, fit.BoundGradient(nil), "Sampling")
				return
			}
			fit, err := p.Fit(context.Background(), along(0), labels)
			require.NoError(t, err)
			var got float64
			kernels := 0
			require.NoError(t, fit.BoundGradient(func(p int, g la.Matrix[float64]) {
				assert.Equal(t, kernels, p)
				kernels++
				got += la.Dot(g.Data, slopes[p].Data)
			}))
			assert.Equal(t, P, kernels)
			want := testkit.Slope(func(x float64) float64 {
				fit, err := p.Fit(context.Background(), along(x), labels)
				require.NoError(t, err)
				return fit.Record.Bound()
			}, 3e-3)
			assert.Equal(t, p.Prune > 0, fit.Kept < N*3)
			assert.InEpsilon(t, want, got, 1e-6)
		})
	}
	fit, err := Model{Rule: RuleWSum}.Fit(context.Background(), k, labels)
	require.NoError(t, err)
	assert.ErrorContains(t, fit.BoundGradient(nil), "PlugIn")
}
