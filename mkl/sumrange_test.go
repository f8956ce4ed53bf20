package mkl

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wildData has two features and the target x[0] with noise of 0.3. change may make a feature or the target wild.
func wildData(n int, change func(r *rand.Rand, i int, x []float64, y *float64)) (x Features, y []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y = la.NewMatrix[float64](n, 2), make([]float64, n)
	for i := range y {
		row := x.Row(i)
		row[0], row[1] = r.NormFloat64(), r.NormFloat64()
		y[i] = row[0] + float64(0.3*r.NormFloat64())
		change(r, i, row, &y[i])
	}
	return x, y
}

var wildFeatures = map[string]func(r *rand.Rand, i int, x []float64, y *float64){
	"log-normal": func(_ *rand.Rand, _ int, x []float64, _ *float64) { x[1] = math.Exp(3 * x[1]) },
	"few far away": func(r *rand.Rand, _ int, x []float64, _ *float64) {
		if r.Float64() < 1e-3 {
			x[1] = 1e4 * r.NormFloat64()
		}
	},
	"Pareto": func(r *rand.Rand, _ int, x []float64, _ *float64) { x[1] = 1 / r.Float64() },
}

func TestLandmarksOfWildFeatures(t *testing.T) {
	const n = 6000
	settings := &Landmarks{Count: 25, Sample: 500}
	for name, change := range wildFeatures {
		t.Run(name, func(t *testing.T) {
			x, y := wildData(n, change)
			one, two := x.Slice(0, n, 0, 1).Clone(), x.Slice(0, n, 1, 2).Clone()
			views := []View{{Input: "tame", X: one, Kernel: kernel.Linear{}}, {Input: "wild", X: two, Kernel: kernel.Linear{}}}
			g := LandmarkGP{Landmarks: settings}
			plan, err := g.Begin(context.Background(), views, y)
			require.NoError(t, err)
			_, err = plan.sum(context.Background(), 1, []Features{one, two}, y)
			_, beyond := errors.AsType[*rangeError](err)
			require.True(t, beyond, "the units of the plan's sample would do: %v", err)

			m, err := g.Fit(context.Background(), views, y)
			require.NoError(t, err)
			mean, _, err := m.Predict(one, two)
			require.NoError(t, err)
			assert.Equal(t, plan.Features(), m.plan.Features())
			var off []float64
			for i, f := range mean {
				off = append(off, f-y[i])
			}
			_, sd := vec.MeanSD(off)
			assert.InDelta(t, 0.3, sd, 0.02)

			labels := make([]bool, n)
			for i, v := range y {
				labels[i] = v > 0
			}
			c, err := LandmarkClassifier[bool]{Landmarks: settings}.Fit(context.Background(), views, labels)
			require.NoError(t, err)
			predicted, _, err := c.Predict(one, two)
			require.NoError(t, err)
			wrong := 0
			for i, v := range labels {
				if predicted[i] != v {
					wrong++
				}
			}
			assert.InDelta(t, math.Atan(0.3)/math.Pi, float64(wrong)/n, 0.015) // the best rule, x[0] > 0
		})
	}
}

func TestTargetsBeyondThePlansSample(t *testing.T) {
	const n = 1200
	for name, change := range map[string]func(r *rand.Rand, i int, x []float64, y *float64){
		"rare": func(_ *rand.Rand, i int, _ []float64, y *float64) {
			if *y = 0; i == 17 || i == n/2 || i == n-5 {
				*y = 1
			}
		},
		"one": func(_ *rand.Rand, i int, _ []float64, y *float64) {
			if *y = 0; i == 3 {
				*y = 1
			}
		},
		"Pareto": func(r *rand.Rand, _ int, _ []float64, y *float64) { *y += math.Pow(r.Float64(), -2) },
		"unit":   func(_ *rand.Rand, i int, _ []float64, y *float64) { *y += 1e9 * float64(i/(n-1)) },
	} {
		x, y := wildData(n, change)
		for _, k := range []kernel.Kernel{nil, kernel.Linear{}} {
			t.Run(name, func(t *testing.T) {
				g := LandmarkGP{Landmarks: &Landmarks{Count: 20, Sample: 100}, Climb: Climb{MaxSteps: 10}}
				m, err := g.Fit(context.Background(), []View{{X: x, Kernel: k}}, y)
				require.NoError(t, err)
				mean, sd := vec.MeanSD(y)
				assert.InEpsilon(t, mean, m.target.mean, 1e-9)
				assert.InEpsilon(t, sd, m.target.sd, 1e-9)
				plan, err := g.Begin(context.Background(), []View{{X: x, Kernel: k}}, y)
				require.NoError(t, err)
				var file bytes.Buffer
				require.NoError(t, plan.Save(&file))
				loaded, err := LoadAs[*Plan](&file)
				require.NoError(t, err)
				assert.Equal(t, plan.Hash(), loaded.Hash())
			})
		}
		t.Run(name+" pooled", func(t *testing.T) {
			_, err := Auto{MaxSamples: 60, Climb: Climb{MaxSteps: 3}}.Fit(context.Background(), []View{{X: x}}, y)
			require.NoError(t, err)
		})
	}
}

func TestPoolOfManyRowsWithRareTargets(t *testing.T) {
	x, y := wildData(DefaultExactSamples+1, func(_ *rand.Rand, i int, _ []float64, y *float64) {
		if *y = 0; i%1000 == 17 {
			*y = 1
		}
	})
	m, err := Auto{Time: time.Nanosecond, Climb: Climb{MaxSteps: 3}}.Fit(context.Background(), []View{{X: x, Kernel: kernel.Linear{}}}, y)
	require.NoError(t, err)
	assert.NotContains(t, m.Story(), "every target")
}

func TestBuilderNamesWhatIsBeyondItsRange(t *testing.T) {
	x, y := wildData(3000, func(*rand.Rand, int, []float64, *float64) {})
	plan, err := LandmarkGP{Landmarks: &Landmarks{Count: 20}}.Begin(context.Background(), []View{{X: x, Kernel: kernel.Linear{}}}, y)
	require.NoError(t, err)
	wild := x.Clone()
	wild.Set(2500, 1, -1e6)
	add := func(y []float64, x Features) error {
		b, err := plan.Builder(1)
		require.NoError(t, err)
		if err := b.Add(y, x); err != nil {
			return err
		}
		_, err = b.Finish()
		return err
	}
	require.NoError(t, add(y, x))
	assert.ErrorContains(t, add(y, wild), "mkl: x[0], row 2500, column 1: -1e+06 is ")
	y[1234] = 1e5
	assert.ErrorContains(t, add(y, x), "mkl: y[1234] is ")
}

func TestMemoryOfLandmarksIsOfTheFeaturesThatKernelsBecome(t *testing.T) {
	x, y := wildData(400, func(*rand.Rand, int, []float64, *float64) {})
	var views []View
	for range 38 { // of rank 2 each
		views = append(views, View{X: x, Kernel: kernel.Linear{}})
	}
	g := LandmarkGP{Landmarks: &Landmarks{Count: 200}}
	g.MemoryLimit = g.EstimateMemory(FitSize{Samples: 400, Kernels: 38, Outputs: 1}) / 20
	m, err := g.Fit(context.Background(), views, y)
	require.NoError(t, err)
	assert.LessOrEqual(t, m.plan.width(), 3*38)
	g.MemoryLimit = 1 << 20
	_, err = g.Fit(context.Background(), views, y)
	_, much := errors.AsType[*MemoryError](err)
	assert.True(t, much, "%v", err)
}
