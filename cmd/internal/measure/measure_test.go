package measure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/metrics"
)

func TestQuantile(t *testing.T) {
	assert.InDelta(t, 1.959963984540054, Quantile(0.95), 1e-12)
	assert.InDelta(t, 0.6744897501960817, Quantile(0.5), 1e-12)
}

// TestTarget measures two predictions of variance 1, off by 1 and by 3, and leaves out
// what is missing.
func TestTarget(t *testing.T) {
	v, err := Target([]float64{1, math.NaN(), 5}, []float64{2, 0, 2}, []float64{1, 1, 1}, 0.95)
	require.NoError(t, err)
	assert.InDelta(t, math.Sqrt(5), v["RMSE"], 1e-12)
	assert.InDelta(t, math.Sqrt(5)/math.Sqrt(8), v["RMSE/SD"], 1e-12)
	assert.InDelta(t, -0.5*(math.Log(2*math.Pi)+5), v["log density"], 1e-12)
	assert.Equal(t, 0.5, v["coverage"])
}

func TestClasses(t *testing.T) {
	v, err := Classes([]int{0, 1, 1}, [][]float64{{0.8, 0.2}, {0.4, 0.6}, {0.9, 0.1}})
	require.NoError(t, err)
	assert.InDelta(t, 2./3, v["accuracy"], 1e-12)
	assert.InDelta(t, -(math.Log(0.8)+math.Log(0.6)+math.Log(0.1))/3, v["log loss"], 1e-12)
	assert.InDelta(t, (2*0.04+2*0.16+2*0.81)/3, v["Brier"], 1e-12)
	assert.InDelta(t, 0.5, v["AUC"], 1e-12)
	// The highest probabilities .8, .6 and .9 are in three bins; the last one was wrong.
	assert.InDelta(t, (0.2+0.4+0.9)/3, v["ECE"], 1e-12)
	assert.Zero(t, v[Surprises])

	v, err = Classes([]int{0, 0, 1}, [][]float64{{1e-7, 1 - 1e-7}, {1e-5, 1 - 1e-5}, {1, 0}})
	require.NoError(t, err)
	assert.Equal(t, 2.0, v[Surprises])
	assert.True(t, math.IsInf(v["log loss"], 1))
}

// TestCalibration leaves out empty bins; of more than two classes the most probable one
// counts.
func TestCalibration(t *testing.T) {
	b, err := Calibration([]int{1, 0, 1}, [][]float64{{0.1, 0.9}, {0.1, 0.9}, {0.75, 0.25}}, 2)
	require.NoError(t, err)
	assert.Equal(t, []Bin{{0, 0.5, 1, 0.25, 1}, {0.5, 1, 2, 0.9, 0.5}}, b)
	b, err = Calibration([]int{2, 0}, [][]float64{{0.1, 0.2, 0.7}, {0.2, 0.6, 0.2}}, 1)
	require.NoError(t, err)
	require.Len(t, b, 1)
	assert.Equal(t, 0.5, b[0].Observed)
	assert.InDelta(t, 0.65, b[0].Mean, 1e-12)
}

// TestPrecisionRecall counts three samples by hand. The second best is negative.
func TestPrecisionRecall(t *testing.T) {
	positive := []bool{true, false, true}
	x, y, err := metrics.ROC(positive, []float64{0.9, 0.5, 0.1})
	require.NoError(t, err)
	recall, precision := PrecisionRecall(positive, x, y)
	assert.InDeltaSlice(t, []float64{0.5, 0.5, 1}, recall, 1e-12)
	assert.InDeltaSlice(t, []float64{1, 0.5, 2. / 3}, precision, 1e-12)
}

func TestMeanSD(t *testing.T) {
	mean, sd := MeanSD([]float64{1, 2, 3, 6})
	assert.Equal(t, 3.0, mean)
	assert.InDelta(t, math.Sqrt(14./3), sd, 1e-12)
	_, sd = MeanSD([]float64{4})
	assert.Zero(t, sd)
	assert.InDeltaSlice(t, []float64{-1, 0, 1}, Standardised([]float64{10, 20, 30}), 1e-12)
}
