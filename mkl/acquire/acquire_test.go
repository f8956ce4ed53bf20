package acquire

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// part returns a part with independent samples.
func part(weight float64, mean, sd []float64) mkl.JointPart {
	c := la.NewMatrix[float64](len(mean), len(mean))
	for i, s := range sd {
		c.Set(i, i, s*s)
	}
	return mkl.JointPart{Weight: weight, Mean: mean, Covariance: c, Noise: make([]float64, len(mean))}
}

// The expected improvement is the integral of max(f − best, 0) over the mixture's density.
func TestExpectedImprovement(t *testing.T) {
	a := part(0.3, []float64{0, 1, -4, 2}, []float64{1, 0.1, 0.5, 0})
	b := part(0.7, []float64{0.5, -1, -9, 0.5}, []float64{2, 0.3, 1, 0})
	got, err := ExpectedImprovement(&mkl.JointPrediction{Parts: []mkl.JointPart{a, b}}, 0.8)
	require.NoError(t, err)
	for i := range 3 {
		var want float64
		for _, p := range []mkl.JointPart{a, b} {
			m, s := p.Mean[i], math.Sqrt(p.Covariance.At(i, i))
			const steps, reach = 400_000, 12
			width := reach * s / steps
			from := max(0.8, m-reach*s/2)
			for k := range 2 * steps { // the midpoint rule
				f := from + (float64(k)+0.5)*width
				want += p.Weight * width * (f - 0.8) * math.Exp(-0.5*(f-m)*(f-m)/(s*s)) / (s * math.Sqrt(2*math.Pi))
			}
		}
		assert.InEpsilon(t, want, got[i], 1e-6, "sample %d", i)
	}
	assert.InDelta(t, 0.3*1.2, got[3], 1e-15, "what is certain")
	far, err := ExpectedImprovement(&mkl.JointPrediction{Parts: []mkl.JointPart{part(1, []float64{-30, -60}, []float64{1, 1})}}, 0)
	require.NoError(t, err)
	// φ(30)/30²·(1 − 3/30² + 15/30⁴), the first terms of the asymptotic series.
	assert.InEpsilon(t, math.Exp(-450)/math.Sqrt(2*math.Pi)/900*(1-3.0/900+15.0/810_000), far[0], 1e-6)
	assert.Zero(t, far[1], "beyond the numbers")
	_, err = ExpectedImprovement(&mkl.JointPrediction{}, math.NaN())
	assert.EqualError(t, err, "acquire: best is NaN: it must be finite")
}

// Each sample is chosen first with the probability that it is the largest, and no sample twice.
func TestThompson(t *testing.T) {
	p := &mkl.JointPrediction{Parts: []mkl.JointPart{part(1, []float64{0, 1}, []float64{1, 1})}}
	const tries = 4000
	var second float64
	for seed := range uint64(tries) {
		chosen, err := Thompson(p, 1, seed)
		require.NoError(t, err)
		second += float64(chosen[0]) / tries
	}
	want := 0.5 * math.Erfc(-1/math.Sqrt2/math.Sqrt2) // P(f₁ > f₀), f₁ − f₀ of mean 1 and variance 2
	assert.InDelta(t, want, second, 4*math.Sqrt(want*(1-want)/tries))

	r := rand.New(rand.NewPCG(1, 1))
	mean, sd := make([]float64, 20), make([]float64, 20)
	for i := range mean {
		mean[i], sd[i] = r.NormFloat64(), r.Float64()
	}
	all, err := Thompson(&mkl.JointPrediction{Parts: []mkl.JointPart{part(1, mean, sd)}}, 20, 3)
	require.NoError(t, err)
	assert.ElementsMatch(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, all)
	for _, count := range []int{-1, 3} {
		_, err = Thompson(p, count, 0)
		assert.ErrorContains(t, err, "where there are 2 samples")
	}
}

// The mutual information agrees with integrals that scipy computed: testdata/information.json.
func TestInformation(t *testing.T) {
	text, err := os.ReadFile("testdata/information.json")
	require.NoError(t, err)
	var cases []struct{ Mean, SD, Information float64 }
	require.NoError(t, json.Unmarshal(text, &cases))
	require.Greater(t, len(cases), 20)
	for _, c := range cases {
		got := Information(&mkl.JointPrediction{Parts: []mkl.JointPart{part(1, []float64{c.Mean}, []float64{c.SD})}})
		assert.InDelta(t, c.Information, got[0], 1e-10, "%+v", c)
		other := Information(&mkl.JointPrediction{Parts: []mkl.JointPart{part(1, []float64{-c.Mean}, []float64{c.SD})}})
		assert.InDelta(t, got[0], other[0], 1e-12, "the classes by other names")
	}
	// Two members that are certain of opposite classes disagree by a bit, log 2.
	sure := &mkl.JointPrediction{Parts: []mkl.JointPart{part(0.5, []float64{9}, []float64{0}), part(0.5, []float64{-9}, []float64{0})}}
	assert.InDelta(t, math.Ln2, Information(sure)[0], 1e-12)
	far := Information(&mkl.JointPrediction{Parts: []mkl.JointPart{part(1, []float64{0.3, 50}, []float64{0, 2})}})
	assert.InDelta(t, 0, far[0], 1e-12, "what is certain")
	assert.InDelta(t, 0, far[1], 1e-100)
	// Far from 0 the class is known, by each of two members that disagree too: the entropy of a class is 0, not a number near it.
	known := Information(&mkl.JointPrediction{Parts: []mkl.JointPart{
		part(0.5, []float64{90, 50, 16}, []float64{0, 2, 1}), part(0.5, []float64{90, -50, 16}, []float64{0, 2, 1}),
	}})
	assert.Zero(t, known[0])
	assert.InDelta(t, math.Ln2, known[1], 1e-12)
	assert.InDelta(t, 0, known[2], 1e-12, "where the reach of the density begins at the reach of the entropy")
}

// The joint posterior of a fitted classifier gives the class probabilities that the classifier predicts.
func TestInformationOfClassifier(t *testing.T) {
	x, labels := make([]float64, 40), make([]bool, 40)
	for i := range x {
		x[i] = float64(i)/20 - 1
		labels[i] = x[i] > 0.1*math.Sin(float64(9*i))
	}
	model, err := mkl.MultiGPClassifier[bool]{}.Fit(t.Context(), []mkl.View{{X: mkl.Column(x), Kernel: kernel.RBF{Width: 1}}}, labels)
	require.NoError(t, err)
	at := mkl.Column([]float64{-0.9, 0, 0.9, 30})
	joint, err := model.PredictJoint(t.Context(), mkl.PredictOptions{}, at)
	require.NoError(t, err)
	if model.Sharpness() == 1 {
		_, probability, err := model.Predict(at)
		require.NoError(t, err)
		for i, m := range joint.Parts[0].Mean {
			z := m / math.Sqrt(1+joint.Parts[0].Covariance.At(i, i))
			assert.InDelta(t, probability[i][1], 0.5*math.Erfc(-z/math.Sqrt2), 1e-9)
		}
	}
	score := Information(joint)
	assert.Greater(t, score[3], score[0], "far from the data a label teaches more than among them")
	three, err := mkl.MultiGPClassifier[int]{}.Fit(t.Context(), []mkl.View{{X: mkl.Column(x[:9]), Kernel: kernel.RBF{Width: 1}}}, []int{0, 0, 0, 1, 1, 1, 2, 2, 2})
	require.NoError(t, err)
	_, err = three.PredictJoint(t.Context(), mkl.PredictOptions{}, at)
	assert.EqualError(t, err, "mkl: PredictJoint: 3 classes have 3 functions: it is for two classes")
}
