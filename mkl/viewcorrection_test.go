package mkl

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
	"github.com/bmkl/bmkl/vi/mgp"
)

// correctionOf returns the correction of grades of a function of two views, of this size, beside so many views of noise, and what it is computed from.
func correctionOf(t *testing.T, size float64, noise int) (correct func([]bool) float64, o *observedViews, p amplitude.Problem, of *amplitudeTargets) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	const n = 40
	var views []View
	for v := range 2 + noise {
		name := strconv.Itoa(v)
		views = append(views, View{Name: name, Input: name, X: normal(r, n, 2)})
	}
	grades := make([]int, n)
	f := make([]float64, n)
	for i := range f {
		f[i] = size * (views[0].X.At(i, 0) + views[1].X.At(i, 0))
		grades[i] = max(0, min(3, int(math.Floor(2+f[i]+0.5*r.NormFloat64()))))
	}
	fit := (&Ordinal[int]{}).problem()
	k, err := newAmplitudeKernels(t.Context(), fit.fitting, KernelsOfView, views, [][]float64{f}, false)
	require.NoError(t, err)
	o = &observedViews{processObservations: fit, kernels: k, like: mgp.Ordinal{Y: grades, Grades: 4}, ones: onesOf(n)}
	require.NoError(t, o.begin(t.Context(), func() *fitting { return fit.fitting }))
	of, _, err = o.targets()
	require.NoError(t, err)
	p = k.problem(fit.fitting, of)
	correct, err = o.correction(t.Context(), p, *of, nil)
	require.NoError(t, err)
	return correct, o, p, of
}

// The correction of each set of views is the difference of two evidences. Expectation propagation starts anew for each of them here, and
// the evidence at constant sites is a normal density.
func TestViewCorrection(t *testing.T) {
	correct, o, p, of := correctionOf(t, 1, 0)
	all, err := p.Fit(t.Context(), amplitude.Tied, amplitude.Search{Steps: mostAmplitudeSteps})
	require.NoError(t, err)
	propagated := func(amplitudes []float64) float64 {
		kernels := []la.Matrix[float64]{o.ones}
		if la.SumSq(amplitudes) > 0 {
			kernels = append(kernels, p.Kernels.Sum(amplitudes, 1))
		}
		k, err := vi.NewDense(kernels...)
		require.NoError(t, err)
		fit, err := mgp.Evidence{}.FitLikelihood(t.Context(), k, o.like)
		require.NoError(t, err)
		return fit.LogEvidence
	}
	normal := func(amplitudes []float64) float64 { // log N(y | 0, Σ a_j·K_j + 11ᵀ + noise)
		n := of.y.Cols
		k := p.Kernels.Sum(amplitudes, 1)
		for i := range n {
			for j := range n {
				k.Row(i)[j]++
			}
			k.Row(i)[i] += of.knownNoise * of.noiseShare[i]
		}
		require.NoError(t, la.Cholesky(nil, k))
		y := append([]float64(nil), of.y.Row(0)...)
		la.Trsv(la.NoTrans, k, y)
		return -0.5 * (la.SumSq(y) + la.LogDet(k) + float64(n)*math.Log(2*math.Pi))
	}
	assert.InDelta(t, all.LogEvidence, normal(all.Amplitudes), 1e-6)
	assert.Zero(t, correct([]bool{true, true}))
	for _, on := range [][]bool{{true, false}, {false, true}, {false, false}} {
		var out []int
		for v, is := range on {
			if !is {
				out = append(out, v)
			}
		}
		less, err := p.FitWith(t.Context(), all, out, 0, changedSearch)
		require.NoError(t, err)
		want := propagated(less.Amplitudes) - propagated(all.Amplitudes) - normal(less.Amplitudes) + normal(all.Amplitudes)
		assert.InDelta(t, want, correct(on), 3*correctionError, "%v", on)
	}
	a, b := correct([]bool{false, true}), correct([]bool{true, false})
	assert.Greater(t, max(math.Abs(a), math.Abs(b)), fewNats)
	assert.Greater(t, math.Abs(correct([]bool{false, false})-a-b), fewNats)
}

// Small corrections of single views add up.
func TestSmallViewCorrectionsAddUp(t *testing.T) {
	correct, _, _, _ := correctionOf(t, 0.2, 0)
	a, b := correct([]bool{false, true}), correct([]bool{true, false})
	assert.Less(t, max(math.Abs(a), math.Abs(b)), fewNats)
	assert.NotZero(t, a)
	assert.InDelta(t, a+b, correct([]bool{false, false}), 1e-12)
}

// With many views whose corrections are large, or with many samples, there is no correction.
func TestViewCorrectionOfManyViews(t *testing.T) {
	correct, _, _, _ := correctionOf(t, 1, 6)
	assert.Nil(t, correct)
	assert.True(t, allSets(6, 500))
	assert.False(t, allSets(6, 700))
	assert.True(t, allSets(4, 884))
	assert.False(t, allSets(7, 10))
}
