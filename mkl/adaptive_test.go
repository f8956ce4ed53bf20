package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// learningViews are views of n samples. Three have ARD kernels, on all and
// on some columns, standardised, of ranks and raw.
func learningViews(rng *rand.Rand, n int) []View {
	x := normal(rng, n, 4)
	return []View{
		{X: x, Kernel: kernel.Constant{}},
		{X: x, Kernel: kernel.RBF{ARD: true}, Standardize: true},
		{X: x, Kernel: kernel.Laplacian{ARD: true, Medians: 0.5}, Ranks: true, Columns: []int{3, 0, 1}},
		{X: x, Kernel: kernel.RBF{Medians: 2}, Standardize: true},
		{X: x, Kernel: kernel.RBF{ARD: true, Width: 0.8}, Columns: []int{2}},
	}
}

func processKernelsOf(t *testing.T, views []View, workers int) (*gram.Design, vi.Kernels) {
	t.Helper()
	f := fitting{Fitting: Fitting{Workers: workers}}
	bound, err := bindViews(views, views[0].X.Rows, false)
	require.NoError(t, err)
	k, err := f.processKernels(context.Background(), bound, 1, func(FitSize) int64 { return 0 })
	require.NoError(t, err)
	return bound.Design, k
}

// The adaptive kernels at any widths equal the kernels of the design with these widths.
func TestAdaptiveKernelsAreThoseOfTheirWidths(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	const n = 90
	views := learningViews(rng, n)
	ds, k := processKernelsOf(t, views, 2)
	a := k.(*gram.Adaptive)
	priors := a.Parameters()
	require.Len(t, priors, 8)
	theta := make([]float64, len(priors))
	for _, spread := range []float64{0, 1} {
		for j := range theta {
			theta[j] = priors[j].Mode + spread*rng.NormFloat64()
		}
		a.SetParameters(&la.Workspace{Workers: 2}, theta)
		learned := ds.Learned(theta)
		require.Equal(t, math.Exp(theta[5]), learned.Views[2].Kernel.(kernel.Laplacian).Widths[1])
		cross := make([]la.Matrix[float64], len(views))
		for i := range cross {
			cross[i] = la.NewMatrix[float64](n, n)
		}
		require.NoError(t, learned.Cross(context.Background(), 1, []Features{views[0].X}, 0, cross))
		for i := range cross {
			requireClose(t, cross[i], a.At(i), 1e-13)
		}
	}
	assert.True(t, kernel.Learns(ds.Views[1].Kernel), "the design that was learned from has changed")
	assert.Equal(t, "rbf(ard)", ds.Views[1].Name)
	assert.Equal(t, "laplacian(ard,distance=manhattan) of ranks of #4,#1,#2", ds.Views[2].Name)

	ds, k = processKernelsOf(t, views[:1], 1)
	assert.IsType(t, &vi.Dense{}, k)
	assert.Same(t, ds, ds.Learned(nil))
}

// Slopes agree with differences of fourth order of the kernels, and with
// themselves for any number of workers.
func TestAdaptiveSlopesByDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(62, 1))
	const n = 150 // three blocks
	_, k := processKernelsOf(t, learningViews(rng, n), 2)
	a := k.(*gram.Adaptive)
	P, _, _ := a.Dims()
	var theta []float64
	for _, p := range a.Parameters() {
		theta = append(theta, p.Mode+0.5*rng.NormFloat64())
	}
	weights := make([]float64, P)
	for p := range weights {
		weights[p] = math.Exp(rng.NormFloat64())
	}
	g := normal(rng, n, n)
	for i := range n {
		for j := range i {
			g.Set(j, i, g.At(i, j))
		}
	}
	ws := &la.Workspace{Workers: 1}
	value := func(theta []float64) (sum float64) {
		a.SetParameters(ws, theta)
		inner := make([]float64, P)
		a.Inner(ws, g, inner)
		return la.Dot(inner, weights)
	}
	want := make([]float64, len(theta))
	const h = 1e-3
	for j := range theta {
		at := func(step float64) float64 {
			moved := slices.Clone(theta)
			moved[j] += step
			return value(moved)
		}
		want[j] = (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
	}
	lower := g.Clone()
	for i := range n {
		for j := i + 1; j < n; j++ {
			lower.Set(i, j, math.NaN())
		}
	}
	var first []float64
	for _, workers := range []int{1, 3} {
		ws := &la.Workspace{Workers: workers}
		a.SetParameters(ws, theta)
		got := make([]float64, len(theta))
		a.Slope(ws, weights, lower, got)
		for j := range got {
			assert.InDelta(t, want[j], got[j], 1e-8*vec.LargestAbs(want), "parameter %d", j)
		}
		if first == nil {
			first = got
		}
		assert.Equal(t, first, got)
	}
}

// Samples far from the origin and narrow kernels lose no more digits than their
// distances do.
func TestAdaptiveSlopesOfDistantSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 1))
	const n = 100
	near := normal(rng, n, 2)
	far := matrix(n, 2, func(i, j int) float64 { return near.At(i, j) + 1e6 })
	near = matrix(n, 2, func(i, j int) float64 { return far.At(i, j) - 1e6 })
	g := normal(rng, n, n)
	var slopes [2][2]float64
	for s, x := range []Features{near, far} {
		_, k := processKernelsOf(t, []View{{X: x, Kernel: kernel.RBF{ARD: true}}}, 1)
		a := k.(*gram.Adaptive)
		a.SetParameters(&la.Workspace{}, []float64{-4, -3})
		a.Slope(&la.Workspace{}, []float64{1}, g, slopes[s][:])
	}
	assert.InDelta(t, slopes[0][0], slopes[1][0], 1e-9*math.Abs(slopes[0][0]))
	assert.InDelta(t, slopes[0][1], slopes[1][1], 1e-9*math.Abs(slopes[0][1]))
}

// The evidence finds the feature that matters.
func TestAdaptiveKernelsLearnWidths(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 1))
	const n = 80
	x := normal(rng, n, 3)
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Sin(2*x.At(i, 1)) + 0.1*rng.NormFloat64()
	}
	for _, learning := range []kernel.Kernel{kernel.RBF{ARD: true}, kernel.Laplacian{ARD: true}} {
		ds, k := processKernelsOf(t, []View{{X: x, Kernel: learning}}, 2)
		fit, err := mgp.Evidence{}.Fit(context.Background(), k, y)
		require.NoError(t, err)
		var widths []float64
		switch k := ds.Learned(fit.Parameters).Views[0].Kernel.(type) {
		case kernel.RBF:
			widths = k.Widths
		case kernel.Laplacian:
			widths = k.Widths
		}
		assert.Greater(t, widths[0], 3*widths[1], "%v", learning)
		assert.Greater(t, widths[2], 3*widths[1], "%v", learning)
	}
}

func TestOnlyProcessesLearnWidths(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(65, 1)), 20, 2)
	y := make([]float64, 20)
	y[0] = 1
	views := []View{{X: x, Kernel: kernel.Linear{}}, {Name: "shape", X: x, Kernel: kernel.RBF{ARD: true}}}
	const want = `mkl: views[1] ("shape", rbf(ard)): ARD: this estimator cannot learn widths, only MultiGP, LandmarkGP, their classifiers and ProbitClassifier can: give Widths, or learn them with package tune`
	_, err := Regression{}.Fit(context.Background(), views, y)
	assert.EqualError(t, err, want)
	_, err = MultiTask{}.Fit(context.Background(), views, y)
	assert.EqualError(t, err, want)
}

// Equal kernels are no error for processes.
func TestProcessKernelsMayBeEqual(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(66, 1)), 20, 2)
	_, k := processKernelsOf(t, []View{{X: x, Kernel: kernel.Linear{}}, {X: x, Kernel: kernel.Linear{}}}, 1)
	P, _, _ := k.Dims()
	assert.Equal(t, 2, P)
}
