package onnx

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/mgp"
)

// normals are all pairs of a mean and a variance, each as a column.
func normals(means, variances []float64) (mean, variance array) {
	for _, m := range means {
		for _, v := range variances {
			mean.numbers, variance.numbers = append(mean.numbers, m), append(variance.numbers, v)
		}
	}
	mean.shape = []int{len(mean.numbers), 1}
	variance.shape = mean.shape
	return mean, variance
}

// ofNormals computes what export makes of inputs that are the moments of normal distributions.
func ofNormals(t *testing.T, mean, variance array, export func(e *exporter, f moments)) map[string]array {
	t.Helper()
	e := &exporter{graph: newGraph(float64s)}
	f := moments{e.input("x1", 1), e.input("x2", 1)}
	e.ones = e.cast(e.op("Equal", []value{f.mean, f.mean}), e.real)
	export(e, f)
	file, err := e.encode(nil)
	require.NoError(t, err)
	return readProgram(t, file).run(t, mean, variance)
}

// TestExpected compares expectations of bumps with their formula: E[exp(−x²/2)] is exp(−m²/2(1 + v))/√(1 + v).
func TestExpected(t *testing.T) {
	b := newBumps(-9, 9, 1.0/4, func(x float64) []float64 { return []float64{math.Exp(-x * x / 2), x * math.Exp(-x*x/2)} })
	mean, variance := normals([]float64{-3, -0.4, 0, 0.3, 5}, []float64{0, 1e-3, 0.2, 4, 100})
	out := ofNormals(t, mean, variance, func(e *exporter, f moments) { e.output("expected", e.expected(b, f), e.real, 2) })["expected"]
	for i, m := range mean.numbers {
		wide := 1 + variance.numbers[i]
		want := math.Exp(-m*m/2/wide) / math.Sqrt(wide)
		assert.InDelta(t, want, out.at(i, 0), 1e-13)
		assert.InDelta(t, m/wide*want, out.at(i, 1), 1e-13)
	}
}

// TestNarrow compares the moments of double Poisson counts with the library's sums over counts and values of the function. A variance that is far smaller
// than the mean of μ has lost digits in both.
func TestNarrow(t *testing.T) {
	mean, variance := normals([]float64{-6, -3, -1, -0.5, 0, 0.03, 0.7, 2, 2.5, 4, 6, 8, 11, 15, 25}, []float64{0, 1e-6, 1e-3, 0.01, 0.1, 0.5, 2, 10})
	for _, nu := range []float64{1.001, 1.4, 2, 5, 15, 100} {
		if nu == 100 { // whose graph is large
			mean, variance = normals([]float64{-1, 0.03, 2.5, 6}, []float64{0, 1e-3, 0.5})
		}
		out := ofNormals(t, mean, variance, func(e *exporter, f moments) { e.targets([]moments{e.narrow(f, nu)}) })
		worst := 0.0
		for i, m := range mean.numbers {
			of, v := mgp.CountDistribution{Mean: m, Variance: variance.numbers[i], Exposure: 1, Nu: nu}.Moments()
			offMean := math.Abs(of-out["mean"].at(i, 0)) / max(of, 0.01)
			offSD := math.Abs(math.Sqrt(v)-out["sd"].at(i, 0)) / max(math.Sqrt(v), 0.1)
			worst = max(worst, offMean, offSD)
			require.Less(t, max(offMean, offSD), 1e-6, "ν = %g, f of the mean %g and the variance %g", nu, m, variance.numbers[i])
		}
		t.Logf("ν = %g: %.1e", nu, worst)
	}
}

// TestTimeLaws compares predictive distributions of times with the library's quadrature, for functions that are known and unknown.
func TestTimeLaws(t *testing.T) {
	mean, variance := normals([]float64{-3, 0, 0.4, 2}, []float64{0, 1e-9, 1e-4, 0.02, 0.3, 1, 7, 400, 1e5})
	const sigma = 0.7
	at := []float64{-400, -12, -2, -0.1, 0.3, 1, 5, 300}
	for _, law := range []mgp.Law{mgp.LogNormal, mgp.Weibull} {
		probabilities := []float64{1e-6, 0.001, 0.025, 0.25, 0.5, 0.8, 0.975, 0.999}
		out := ofNormals(t, mean, variance, func(e *exporter, f moments) {
			of, err := e.timeLaw(law.String(), f, sigma)
			require.NoError(t, err)
			for _, q := range probabilities {
				e.output(fmt.Sprint("quantile ", q), of.quantile(q), e.real, 1)
			}
			for _, y := range at {
				e.output(fmt.Sprint("after ", y), of.after(y), e.real, 1)
			}
		})
		var worst, worstAfter float64
		for i, m := range mean.numbers {
			v := variance.numbers[i]
			unit := math.Sqrt(v + sigma*sigma)
			for _, q := range probabilities {
				off := math.Abs(law.Quantile(m, v, sigma, q)-out[fmt.Sprint("quantile ", q)].at(i, 0)) / unit
				worst = max(worst, off)
				require.Less(t, off, 1e-9, "%v, the mean %g, the variance %g, probability %g", law, m, v, q)
			}
			for _, y := range at {
				log, _ := law.LogSurvival(m, v, sigma, y)
				off := math.Abs(special.Exp(log) - out[fmt.Sprint("after ", y)].at(i, 0))
				worstAfter = max(worstAfter, off)
				require.Less(t, off, 1e-11, "%v, the mean %g, the variance %g, at %g", law, m, v, y)
			}
		}
		t.Logf("%v: quantiles %.1e of a standard deviation, probabilities %.1e", law, worst, worstAfter)
	}
	_, err := (&exporter{graph: newGraph(float64s)}).timeLaw("gamma", moments{}, sigma)
	assert.EqualError(t, err, "times with the law gamma cannot be exported")
}
