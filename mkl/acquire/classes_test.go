package acquire

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// The mutual information is E[log p(class | f) − log p(class)] over draws of functions and classes, made here one by one.
func TestClassInformationBySampling(t *testing.T) {
	f := &mkl.ClassFunctions{
		Mean:      [][]float64{{0, 0, 0}, {1, -0.5, 0.2}, {3, -3, -3}, {-1, -1, 0.5}},
		Variance:  [][]float64{{4, 4, 4}, {0.5, 2, 0.1}, {0.2, 0.2, 0.2}, {9, 0.01, 1}},
		Sharpness: 1.3,
	}
	got, err := ClassInformation(f, 0, 1)
	require.NoError(t, err)
	normalCDF := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	r := rand.New(rand.NewPCG(1, 2))
	for i := range got {
		const draws = 60_000
		share, logs, chosen := make([]float64, 3), make([]float64, draws), make([]int, draws)
		for d := range draws {
			var odds [3]float64
			var sum float64
			for c := range odds {
				v := f.Mean[i][c] + math.Sqrt(f.Variance[i][c])*r.NormFloat64()
				odds[c] = math.Pow(normalCDF(v)/normalCDF(-v), f.Sharpness)
				sum += odds[c]
			}
			u := r.Float64() * sum
			for chosen[d] = 0; chosen[d] < 2 && u >= odds[chosen[d]]; chosen[d]++ {
				u -= odds[chosen[d]]
			}
			logs[d] = math.Log(odds[chosen[d]] / sum)
			for c := range odds {
				share[c] += odds[c] / sum / draws
			}
		}
		var want float64
		for d, c := range chosen {
			want += (logs[d] - math.Log(share[c])) / draws
		}
		assert.InDelta(t, want, got[i], 0.012, "sample %d", i)
		assert.Less(t, got[i], math.Log(3))
	}
	same, err := ClassInformation(f, 0, 1)
	require.NoError(t, err)
	assert.Equal(t, got, same)
	_, err = ClassInformation(f, -1, 0)
	assert.EqualError(t, err, "acquire: draws is -1")
	none, err := ClassInformation(&mkl.ClassFunctions{}, 0, 0)
	require.NoError(t, err)
	assert.Empty(t, none)
}

// Of two classes it is what Information has by quadrature.
func TestClassInformationOfTwo(t *testing.T) {
	mean, sd := []float64{0, 0.3, -2, 5}, []float64{2, 0.4, 3, 0}
	f := &mkl.ClassFunctions{Sharpness: 1}
	for i, m := range mean {
		f.Mean, f.Variance = append(f.Mean, []float64{m}), append(f.Variance, []float64{sd[i] * sd[i]})
	}
	got, err := ClassInformation(f, 20_000, 3)
	require.NoError(t, err)
	assert.InDeltaSlice(t, Information(&mkl.JointPrediction{Parts: []mkl.JointPart{part(1, mean, sd)}}), got, 4e-3)
	assert.InDelta(t, 0, got[3], 1e-12)
}

// The functions of a fitted classifier, each at its mean over √(1 + variance), have the predicted probabilities.
func TestFunctionsOfClassifier(t *testing.T) {
	x, labels := make([]float64, 60), make([]int, 60)
	for i := range x {
		x[i] = float64(i)/20 - 1
		labels[i] = (i + i%3) / 22
	}
	model, err := mkl.MultiGPClassifier[int]{}.Fit(t.Context(), []mkl.View{{X: mkl.Column(x), Kernel: kernel.RBF{Width: 1}}}, labels)
	require.NoError(t, err)
	at := mkl.Column([]float64{-0.9, 0.1, 0.7, 30})
	f, err := model.PredictFunctions(t.Context(), mkl.PredictOptions{}, at)
	require.NoError(t, err)
	_, want, err := model.Predict(at)
	require.NoError(t, err)
	for i, m := range f.Mean {
		for o := range m {
			m[o] /= math.Sqrt(1 + f.Variance[i][o])
		}
		p := make([]float64, 3)
		f.Probabilities(m, p)
		assert.InDeltaSlice(t, want[i], p, 1e-12)
	}
	assert.PanicsWithValue(t, "mkl: Probabilities: 1 functions of 3 classes", func() { f.Probabilities([]float64{0}, make([]float64, 3)) })
	_, err = model.PredictFunctions(t.Context(), mkl.PredictOptions{})
	assert.Error(t, err)
}
