package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// slopeViews returns a view for each kind of width.
func slopeViews(x Features) []View {
	distances := la.NewMatrix[float64](x.Rows, x.Rows)
	for i := range x.Rows {
		for j := range x.Rows {
			distances.Set(i, j, math.Abs(x.At(i, 0)-x.At(j, 0)))
		}
	}
	return []View{
		{X: x, Input: "x1", Kernel: kernel.RBF{Medians: 0.5}, Columns: []int{1, 0}},
		{X: x, Input: "x1", Kernel: kernel.RBF{Scale: 1.5}, Standardize: true},
		{X: x, Input: "x1", Kernel: kernel.RBF{Widths: []float64{0.8, 2, 3}}, Standardize: true},
		{X: x, Input: "x1", Kernel: kernel.Laplacian{Width: 2}},
		{X: x, Input: "x1", Kernel: kernel.Laplacian{Widths: []float64{1, 3, 2}}, Ranks: true},
		{X: x, Input: "x1", Kernel: kernel.Matern{Width: 2}},
		{X: x, Input: "x1", Kernel: kernel.Matern{Widths: []float64{1, 3, 2}, Smoothness: 2.5}},
		{X: x, Input: "x1", Kernel: kernel.RationalQuadratic{Width: 1.5, Alpha: 0.8}},
		{X: x, Input: "x1", Kernel: kernel.RationalQuadratic{Widths: []float64{1, 3, 2}}, Standardize: true},
		{X: x, Input: "x1", Kernel: kernel.PowerExponential{Width: 2}},
		{X: x, Input: "x1", Kernel: kernel.PowerExponential{Width: 2, Norm: 1.3, Power: 1.1}},
		{X: x, Input: "x1", Kernel: kernel.Periodic{Period: 3, Width: 1.5, Decay: 4}, Columns: []int{1}},
		{X: x, Input: "x1", Kernel: kernel.Spectral{Period: 4, Width: 2}, Columns: []int{2, 0}},
		{X: x, Input: "x1", Kernel: kernel.ChiSquare{Width: 2}},
		{X: x, Input: "x1", Kernel: kernel.Polynomial{Scale: 0.5, Offset: 0.8}},
		{X: distances, Input: "x2", Kernel: kernel.FromDistance{}},
		{X: x, Input: "x1", Kernel: kernel.Linear{}},
		{X: x, Input: "x1", Kernel: kernel.RBF{Width: 1}, Center: true},
	}
}

// withWidths returns the view's kernel with the given widths.
func withWidths(k kernel.Kernel, w []float64) kernel.Kernel {
	switch k := k.(type) {
	case kernel.RBF:
		switch {
		case k.Widths != nil:
			return kernel.RBF{Widths: w}
		case k.Scale != 0:
			return kernel.RBF{Scale: w[0]}
		}
		return kernel.RBF{Width: w[0]}
	case kernel.Laplacian:
		if k.Widths != nil {
			return kernel.Laplacian{Widths: w}
		}
		return kernel.Laplacian{Width: w[0]}
	case kernel.Matern, kernel.RationalQuadratic, kernel.PowerExponential, kernel.Periodic, kernel.Spectral, kernel.ChiSquare, kernel.Polynomial:
		return k.(kernel.Scaled).WithLengths(w)
	}
	return kernel.FromDistance{Scale: w[0]}
}

// The slopes against differences of the bounds of converged fits, along a direction
// in which every width changes.
func TestSlopes(t *testing.T) {
	testkit.NotShort(t)
	const N = 10
	rng := rand.New(rand.NewPCG(3, 8))
	x, y, z, class, has := normal(rng, N, 3), make([]float64, N), make([]float64, N), make([]int, N), make([]bool, N)
	for i := range y {
		y[i] = math.Sin(2*x.At(i, 0)) + 0.2*rng.NormFloat64()
		z[i] = x.At(i, 1)*y[i] + 0.2*rng.NormFloat64()
		class[i], has[i] = i%3, z[i] > 0
	}
	missing := slices.Clone(z)
	missing[3] = math.NaN()
	type bounded interface{ Bound() float64 }
	ctx := context.Background()
	for name, fit := range map[string]func(f fitting, views []View) (bounded, error){
		"Regression": func(f fitting, views []View) (bounded, error) {
			return Regression{Fitting: f.Fitting, Ascent: f.Ascent, Slopes: f.slopes, MissingTargets: true}.Fit(ctx, views, y, missing)
		},
		"SharedRegression": func(f fitting, views []View) (bounded, error) {
			return SharedRegression{Fitting: f.Fitting, Ascent: f.Ascent, Slopes: f.slopes}.Fit(ctx, views, y, z)
		},
		"Classifier": func(f fitting, views []View) (bounded, error) {
			return Classifier[int]{Fitting: f.Fitting, Ascent: f.Ascent, Slopes: f.slopes, SigmaG: 0.5}.Fit(ctx, views, class)
		},
		"MultiLabel": func(f fitting, views []View) (bounded, error) {
			return MultiLabel{Fitting: f.Fitting, Ascent: f.Ascent, Slopes: f.slopes, SigmaG: 0.5, Margin: 0.3}.Fit(ctx, views, LabelsOf(has))
		},
		"ProbitClassifier": func(f fitting, views []View) (bounded, error) {
			return ProbitClassifier[int]{Fitting: f.Fitting, Ascent: f.Ascent, Slopes: f.slopes}.Fit(ctx, views, class)
		},
		"MultiTask": func(f fitting, views []View) (bounded, error) {
			return MultiTask{Fitting: f.Fitting, Ascent: f.Ascent, Slopes: f.slopes, FixedKernels: true, MissingTargets: true, KeepAll: true, Latents: 1, Held: HeldSlab{Noise: true}}.Fit(ctx, views, y, missing)
		},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 9))
			views := slopeViews(x)
			f := fitting{Fitting: Fitting{Workers: 1}, Ascent: Ascent{Tolerance: -1, MaxSweeps: 100}}
			var s Slopes
			f.slopes = func(given Slopes) { s = given }
			_, err := fit(f, views)
			require.NoError(t, err)
			f.slopes = nil
			require.Len(t, s.Views, len(views))
			counts := make([]int, len(views))
			direction, got := make([][]float64, len(views)), 0.0
			for i, v := range s.Views {
				counts[i] = len(v.Widths)
				require.Len(t, v.Slopes, counts[i])
				direction[i] = make([]float64, counts[i])
				for j := range direction[i] {
					direction[i][j] = rng.NormFloat64()
					got += direction[i][j] * v.Slopes[j]
				}
			}
			assert.Equal(t, []int{1, 1, 3, 1, 3, 1, 3, 1, 3, 1, 1, 3, 2, 1, 2, 1, 0, 0}, counts)
			want := testkit.Slope(func(h float64) float64 {
				moved := slices.Clone(views)
				for i, v := range s.Views {
					w := slices.Clone(v.Widths)
					for j := range w {
						w[j] *= math.Exp(h * direction[i][j])
					}
					if w != nil {
						moved[i].Kernel = withWidths(views[i].Kernel, w)
					}
				}
				m, err := fit(f, moved)
				require.NoError(t, err)
				return m.Bound()
			}, 5e-3)
			assert.InEpsilon(t, want, got, 1e-5)
			assert.Equal(t, name == "Classifier" || name == "MultiLabel", s.SigmaG != 0)
		})
	}
	// Widths that the model learned have no slopes.
	_, err := MultiTask{Ascent: Ascent{MaxSweeps: 5}, Slopes: func(s Slopes) {
		for i, v := range s.Views {
			assert.Equal(t, slices.Contains([]int{2, 4, 5, 6, 7, 8, 11, 12, 14}, i), v.Widths != nil, "view %d", i)
		}
	}}.Fit(ctx, slopeViews(x), y)
	require.NoError(t, err)

	_, err = ProbitClassifier[int]{Rule: WeightedSum{}, Slopes: func(Slopes) {}}.Fit(ctx, slopeViews(x)[:2], class)
	assert.ErrorContains(t, err, "PlugIn")
}
