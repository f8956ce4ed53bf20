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
	"github.com/bmkl/bmkl/mkl/kernel"
)

// The views' means and the constant add up to the prediction, of one process and of a pool, with the moments of a mixture.
func TestPredictViewsAddUp(t *testing.T) {
	x, y := bumpy(30)
	r := rand.New(rand.NewPCG(4, 4))
	other := normal(r, 30, 2)
	for i := range y {
		y[i] += 5 + other.At(i, 0)
	}
	at, beside := normal(r, 7, 3), normal(r, 7, 2)
	m := fitPool(t, Auto{part: true}, []View{{X: x, Input: "a"}, {X: other, Input: "b"}}, y)
	ctx := context.Background()
	parts, err := m.PredictViews(ctx, PredictOptions{}, at, beside)
	require.NoError(t, err)
	require.Len(t, parts.Mean, 2)
	p, err := m.PredictTargets(ctx, PredictOptions{}, at, beside)
	require.NoError(t, err)
	for i := range 7 {
		assert.InDelta(t, p.Mean[0][i], parts.Constant+parts.Mean[0][i]+parts.Mean[1][i], 1e-9)
		for v := range 2 {
			var mean, square float64
			for k, w := range m.weights {
				q, err := m.members[k].PredictViews(ctx, PredictOptions{}, at, beside)
				require.NoError(t, err)
				mean += w * q.Mean[v][i]
				square += w * (math.Pow(q.SD[v][i], 2) + math.Pow(q.Mean[v][i], 2))
			}
			assert.InDelta(t, mean, parts.Mean[v][i], 1e-10)
			assert.InDelta(t, square-mean*mean, math.Pow(parts.SD[v][i], 2), 1e-9)
		}
	}
	_, err = m.PredictViews(ctx, PredictOptions{}, at)
	assert.ErrorContains(t, err, "1 input matrices where the model needs 2")
}

// Moments of each view follow the dense formula, with kernels written out here, and one view is the whole function.
func TestPredictViewsDense(t *testing.T) {
	x, y := bumpy(25)
	r := rand.New(rand.NewPCG(5, 5))
	other := normal(r, 25, 2)
	at := []la.Matrix[float64]{normal(r, 4, 3), normal(r, 4, 2)}
	train := []la.Matrix[float64]{x, other}
	rbf := func(a, b []float64) float64 {
		var d float64
		for i := range a {
			d += (a[i] - b[i]) * (a[i] - b[i])
		}
		return math.Exp(-d / (2 * 1.5 * 1.5))
	}
	ctx := context.Background()
	k := kernel.RBF{Width: 1.5}
	for _, views := range []int{1, 2} {
		var all []View
		for i := range views {
			all = append(all, View{X: train[i], Input: string(rune('a' + i)), Kernel: k})
		}
		m, err := MultiGP{}.Fit(ctx, all, y)
		require.NoError(t, err)
		parts, err := m.PredictViews(ctx, PredictOptions{}, at[:views]...)
		require.NoError(t, err)
		members := m.averaged().posteriors
		for v := range views {
			for i := range 4 {
				var mean, square float64
				for _, p := range members {
					s := p.State()
					b := make([][]float64, 26) // rows of B, and the kernels with the sample last
					for a := range 26 {
						b[a] = make([]float64, 26)
						for c := range 25 {
							if a == 25 {
								b[a][c] = rbf(at[v].Row(i), train[v].Row(c)) / s.Gamma[v]
								b[c][a] = b[a][c]
								continue
							}
							for u := range views {
								b[a][c] += rbf(train[u].Row(a), train[u].Row(c)) / s.Gamma[u]
							}
							if a == c {
								b[a][c] += 1 / s.Tau
							}
						}
					}
					b[25][25] = 1 / s.Gamma[v]
					var own float64
					for c := range 25 {
						own += b[25][c] * s.Alpha[c]
					}
					// Elimination leaves k(x,x) − kᵀB⁻¹k in the corner.
					for c := range 25 {
						for a := c + 1; a < 26; a++ {
							f := b[a][c] / b[c][c]
							for d := c; d < 26; d++ {
								b[a][d] -= f * b[c][d]
							}
						}
					}
					mean += own / float64(len(members))
					square += (b[25][25] + own*own) / float64(len(members))
				}
				sd := m.target.sd
				assert.InDelta(t, sd*mean, parts.Mean[v][i], 1e-9)
				assert.InDelta(t, sd*sd*(square-mean*mean), math.Pow(parts.SD[v][i], 2), 1e-8)
			}
		}
	}
}

// Names separate the views of one matrix as views of matrices of their own are separate, whatever kernels a member has of them.
func TestPredictViewsOfOneMatrix(t *testing.T) {
	x, y := bumpy(30)
	r := rand.New(rand.NewPCG(6, 6))
	at := normal(r, 5, 3)
	ctx := context.Background()
	k := kernel.RBF{Width: 1.5}
	left, right := []int{0, 1}, []int{2}
	of := func(x Features, columns []int) Features {
		out := la.NewMatrix[float64](x.Rows, len(columns))
		for i := range x.Rows {
			for j, c := range columns {
				out.Set(i, j, x.At(i, c))
			}
		}
		return out
	}
	one, err := MultiGP{PointScales: true}.Fit(ctx, []View{{Name: "left", X: x, Columns: left, Kernel: k}, {Name: "right", X: x, Columns: right, Kernel: k}, {X: x, Kernel: kernel.Linear{}}}, y)
	require.NoError(t, err)
	two, err := MultiGP{PointScales: true}.Fit(ctx, []View{{X: of(x, left), Input: "left", Kernel: k}, {X: of(x, right), Input: "right", Kernel: k}, {X: x, Input: "all", Kernel: kernel.Linear{}}}, y)
	require.NoError(t, err)
	got, err := one.PredictViews(ctx, PredictOptions{}, at)
	require.NoError(t, err)
	want, err := two.PredictViews(ctx, PredictOptions{}, of(at, left), of(at, right), at)
	require.NoError(t, err)
	assert.Equal(t, []string{"left", "right", "features"}, got.Views)
	assert.Equal(t, []string{"left", "right", "all"}, want.Views)
	for v := range 3 {
		assert.InDeltaSlice(t, want.Mean[v], got.Mean[v], 1e-6)
		assert.InDeltaSlice(t, want.SD[v], got.SD[v], 1e-6)
	}

	pool := fitPool(t, Auto{Climb: Climb{MaxSteps: 4}, part: true}, []View{{Name: "left", X: x, Columns: left}, {Name: "right", X: x, Columns: right}}, y)
	parts, err := pool.PredictViews(ctx, PredictOptions{}, at)
	require.NoError(t, err)
	slices.Sort(parts.Views)
	assert.Equal(t, []string{"left", "right"}, parts.Views, "kernels of single features and of ranks belong to their view")
	p, _, err := pool.Predict(at)
	require.NoError(t, err)
	for i := range p {
		assert.InDelta(t, p[i], parts.Constant+parts.Mean[0][i]+parts.Mean[1][i], 1e-9)
	}
}

// A model predicts the parts of no samples.
func TestPredictViewsOfNoSamples(t *testing.T) {
	x, y := bumpy(30)
	m, err := MultiGP{PointScales: true}.Fit(t.Context(), []View{{X: x, Kernel: kernel.RBF{Width: 1.5}}}, y)
	require.NoError(t, err)
	parts, err := m.PredictViews(t.Context(), PredictOptions{}, la.NewMatrix[float64](0, 3))
	require.NoError(t, err)
	for v := range parts.Views {
		assert.Empty(t, parts.Mean[v])
		assert.Empty(t, parts.SD[v])
	}
}
