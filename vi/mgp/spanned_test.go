package mgp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// spannedProblem returns samples of three linear kernels and a constant, 7 features in all, which the first 7
// of the samples span: kernels of these, weights, kernels of all samples, and targets.
func spannedProblem(t *testing.T, n int) (some *vi.Dense, weights la.Matrix[float64], all *vi.Dense, y []float64) {
	const M = 7
	src := rand.New(rand.NewPCG(11, 2))
	x := testkit.Normal(src, n, M)
	for i := range n {
		x.Set(i, M-1, 1)
		x.Set(i, 2, 0.01*x.At(i, 2)+x.At(i, 1)) // nearly the same features
		y = append(y, x.At(i, 0)-0.5*x.At(i, 3)+0.3*src.NormFloat64())
	}
	weights = la.NewMatrix[float64](M, n) // X_Mᵀ·W = Xᵀ
	gram, factor := la.NewMatrix[float64](M, M), la.NewMatrix[float64](M, M)
	ws := &la.Workspace{Workers: 1}
	la.Syrk(ws, la.NoTrans, 1, x.Slice(0, M, 0, M), 0, gram)
	factor.CopyFrom(gram)
	require.NoError(t, la.Cholesky(ws, factor))
	la.Gemm(ws, la.NoTrans, la.Transpose, 1, x.Slice(0, M, 0, M), x, 0, weights)
	la.Trsm(ws, la.Left, la.NoTrans, factor, weights)
	la.Trsm(ws, la.Left, la.Transpose, factor, weights)

	var few, every []la.Matrix[float64]
	for _, at := range [][2]int{{0, 3}, {3, 4}, {4, 6}, {6, 7}} {
		z := x.Slice(0, n, at[0], at[1])
		k := la.NewMatrix[float64](n, n)
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, z, z, 0, k)
		every, few = append(every, k), append(few, k.Slice(0, M, 0, M).Clone())
	}
	return testkit.Must(vi.NewDense(few...)), weights, testkit.Must(vi.NewDense(every...)), y
}

// A fit to the samples that span the others is that to all of them.
func TestFitSpannedIsFit(t *testing.T) {
	ctx := context.Background()
	some, weights, all, y := spannedProblem(t, 60)
	M, N := weights.Rows, weights.Cols
	for name, e := range map[string]Evidence{
		"default":       {},
		"prior learned": {Family: FamilyStudentT},
		"ARD":           {Family: FamilyFlat},
		"known weights": {Known: []float64{0, 2, 0, 0.5}},
		"few steps":     {Ascent: vi.Ascent{MaxSweeps: 2}},
		"from a start":  {Start: &EvidenceStart{Gamma: []float64{1, 2, 3, 4}, Noise: 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := e.Fit(ctx, all, y)
			require.NoError(t, err)
			got, err := e.FitSpanned(ctx, some, weights, y)
			require.NoError(t, err)
			const tol = 1e-9
			assert.InEpsilonSlice(t, want.Record.Trace, got.Record.Trace, tol)
			assert.Equal(t, want.Record.Reason, got.Record.Reason)
			assert.Equal(t, want.Collapsed, got.Collapsed)
			assert.InEpsilon(t, want.LogEvidence, got.LogEvidence, tol)
			w, g := want.Posterior.State(), got.Posterior.State()
			assert.InEpsilon(t, w.Tau, g.Tau, 1e-6)
			assert.InEpsilonSlice(t, w.Gamma, g.Gamma, 1e-6)
			assert.Equal(t, w.Known, g.Known)
			assert.Equal(t, N, got.Posterior.Samples())
			for p := range w.Scales {
				assert.InEpsilon(t, w.Scales[p].Omega, g.Scales[p].Omega, 1e-6)
				assert.InEpsilon(t, w.Scales[p].MeanInv(), g.Scales[p].MeanInv(), 1e-6)
			}
			assert.InDeltaSlice(t, want.LeaveOneOut.Mean, got.LeaveOneOut.Mean, 1e-7)
			assert.InEpsilonSlice(t, want.LeaveOneOut.Variance, got.LeaveOneOut.Variance, 1e-7)

			self := la.NewMatrix[float64](4, N)
			cross := make([]la.Matrix[float64], 4)
			for p := range cross {
				cross[p] = all.At(p).Slice(0, M, 0, N)
				for n := range N {
					self.Row(p)[n] = all.At(p).At(n, n)
				}
			}
			expected, err := want.Posterior.Predict(all, self, vi.PredictOptions{})
			require.NoError(t, err)
			predicted, err := got.Posterior.Predict(testkit.Must(vi.NewDense(cross...)), self, vi.PredictOptions{})
			require.NoError(t, err)
			assert.InDeltaSlice(t, expected.Mean, predicted.Mean, 1e-7)
			assert.InEpsilonSlice(t, expected.Variance, predicted.Variance, 1e-7)
			assert.InEpsilonSlice(t, expected.Function, predicted.Function, 1e-6)
		})
	}
}

// The gradient of the evidence agrees with finite differences, samples beyond the span included.
func TestSpannedGradient(t *testing.T) {
	some, weights, _, y := spannedProblem(t, 60)
	s, err := newSpanned(&la.Workspace{Workers: 1}, some, weights, y)
	require.NoError(t, err)
	m, at, err := Evidence{span: s}.objective(context.Background(), s.kernels, s.targets, false)
	require.NoError(t, err)
	checkSlopes(t, m.cost, at, 0.5)
}

func TestFitSpannedRefuses(t *testing.T) {
	ctx := context.Background()
	some, weights, _, y := spannedProblem(t, 60)
	zeros := la.NewMatrix[float64](weights.Rows, weights.Cols)
	bad := weights.Clone()
	bad.Set(1, 2, math.NaN())
	for want, fit := range map[string]func() (*Fit, error){
		"vi: weights: 6×60 where kernels of 7×7 and 60 targets need 7×60": func() (*Fit, error) {
			return Evidence{}.FitSpanned(ctx, some, weights.Slice(0, 6, 0, 60), y)
		},
		"vi: weights: entry (1, 2) is NaN": func() (*Fit, error) { return Evidence{}.FitSpanned(ctx, some, bad, y) },
		"vi: Draws: FitSpanned makes none": func() (*Fit, error) { return Evidence{Draws: 1}.FitSpanned(ctx, some, weights, y) },
		"vi: kernels: nil":                 func() (*Fit, error) { return Evidence{}.FitSpanned(ctx, nil, weights, y) },
		"vi: y: value 3 is +Inf": func() (*Fit, error) {
			y := append([]float64(nil), y...)
			y[3] = math.Inf(1)
			return Evidence{}.FitSpanned(ctx, some, weights, y)
		},
		"vi: weights: their rows are not ind": func() (*Fit, error) { return Evidence{}.FitSpanned(ctx, some, zeros, y) },
	} {
		fit, err := fit()
		assert.ErrorContains(t, err, want)
		assert.Nil(t, fit)
	}
}
