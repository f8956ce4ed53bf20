package mkl

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// singles returns which factors of a file are float32 and which are float64.
func singles(t *testing.T, file []byte) (single, double int) {
	t.Helper()
	_, ts, err := readTensors(bytes.NewReader(file))
	require.NoError(t, err)
	for _, x := range ts {
		switch {
		case x.single:
			single++
		case len(x.data) > 10_000:
			double++
		}
	}
	return single, double
}

func savedModel(t *testing.T, m Model) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, m.Save(&b))
	return b.Bytes()
}

// bumps are samples with a noisy target.
func bumps(n int, noise float64) (x Features, y []float64) {
	rng := rand.New(rand.NewPCG(8, 8))
	x = la.NewMatrix[float64](n, 2)
	for i := range n {
		x.Set(i, 0, 3*rng.NormFloat64())
		x.Set(i, 1, rng.NormFloat64())
		y = append(y, math.Sin(x.At(i, 0))+x.At(i, 1)+noise*rng.NormFloat64())
	}
	return x, y
}

// A factor is kept as float32 where the standard deviations are proved to stay as they are but for 1e-4 of themselves: they
// are nearer than that, means do not move, and a loaded model has the same file.
func TestFactorsInSinglePrecision(t *testing.T) {
	const n = leastSingle + 20
	views := func(x Features) []View {
		return []View{{X: x, Kernel: kernel.RBF{Width: 1.5}}, {X: x, Kernel: kernel.Linear{}, Standardize: true}}
	}
	x, y := bumps(n, 0.5)
	far, _ := bumps(400, 0.5)

	m, err := MultiGP{}.Fit(t.Context(), views(x), y)
	require.NoError(t, err)
	file := savedModel(t, m)
	single, double := singles(t, file)
	assert.Equal(t, [2]int{1, 0}, [2]int{single, double})
	assert.Less(t, len(file), 4*triangle(n)+8*n*5+6000)
	back, err := LoadAs[*MultiGPModel](bytes.NewReader(file))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(file, savedModel(t, back)), "saved again, the file is the same")
	want, err := m.PredictTargets(t.Context(), PredictOptions{}, far)
	require.NoError(t, err)
	got, err := back.PredictTargets(t.Context(), PredictOptions{}, far)
	require.NoError(t, err)
	var most float64
	for i, v := range want.Variance[0] {
		most = max(most, math.Abs(math.Sqrt(got.Variance[0][i]/v)-1))
	}
	assert.Equal(t, want.Mean, got.Mean)
	assert.LessOrEqual(t, most, mostSingle)
	assert.Positive(t, most, "the test compares two models")

	labels := make([]string, n)
	for i, v := range y {
		labels[i] = "low"
		if v > 0 {
			labels[i] = "high"
		}
	}
	c, err := MultiGPClassifier[string]{}.Fit(t.Context(), views(x), labels)
	require.NoError(t, err)
	single, double = singles(t, savedModel(t, c))
	assert.Equal(t, [2]int{1, 0}, [2]int{single, double})
	backC, err := LoadAs[*MultiGPClassifierModel[string]](bytes.NewReader(savedModel(t, c)))
	require.NoError(t, err)
	p, err := c.PredictClasses(t.Context(), PredictOptions{}, far)
	require.NoError(t, err)
	q, err := backC.PredictClasses(t.Context(), PredictOptions{}, far)
	require.NoError(t, err)
	for i := range p.Probability {
		assert.InDeltaSlice(t, p.Probability[i], q.Probability[i], mostSingle)
	}

	// Hardly any noise: the factor of an ill-conditioned covariance stays in float64.
	x, y = bumps(n, 1e-5)
	m, err = MultiGP{}.Fit(t.Context(), views(x), y)
	require.NoError(t, err)
	single, double = singles(t, savedModel(t, m))
	assert.Equal(t, [2]int{0, 1}, [2]int{single, double})
}

// Tensors of both types keep their elements, and lie at multiples of their sizes.
func TestTensorsOfTwoTypes(t *testing.T) {
	var b bytes.Buffer
	ts := []tensor{
		{name: "a", shape: []int{3}, data: []float64{1, 0.1, -2}, single: true},
		{name: "b", shape: []int{2}, data: []float64{0.1, math.Pi}},
		{name: "c", shape: []int{1}, data: []float64{math.MaxFloat32}, single: true},
	}
	require.NoError(t, writeTensors(&b, map[string]string{}, ts))
	_, back, err := readTensors(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, []float64{1, float64(float32(0.1)), -2}, back["a"].data)
	assert.Equal(t, ts[1].data, back["b"].data)
	assert.Equal(t, ts[2].data, back["c"].data)
	for i := range b.Len() {
		bad := bytes.Clone(b.Bytes())
		bad[i] ^= 4
		_, _, err := readTensors(bytes.NewReader(bad))
		assert.Error(t, err, "byte %d", i)
	}
}
