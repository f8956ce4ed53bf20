package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// requirePartsAddUp compares the sum of a pool's parts with its prediction. It returns the parts.
func requirePartsAddUp(t *testing.T, m *AutoModel, at ...Features) *ViewParts {
	t.Helper()
	parts, err := m.PredictViews(context.Background(), PredictOptions{}, at...)
	require.NoError(t, err)
	mean, _, err := m.Predict(at...)
	require.NoError(t, err)
	for i := range mean {
		sum := parts.Constant
		for v := range parts.Mean {
			sum += parts.Mean[v][i]
			require.GreaterOrEqual(t, parts.SD[v][i], 0.0, parts.Views[v])
		}
		require.InDelta(t, mean[i], sum, 1e-9)
	}
	return parts
}

// requireOddsAddUp compares the sum of a pool's parts with the weighted mean of its members' log odds. It returns the parts.
func requireOddsAddUp[T comparable](t *testing.T, m *AutoClassifierModel[T], at ...Features) *ClassViewParts[T] {
	t.Helper()
	parts, err := m.PredictViews(context.Background(), PredictOptions{}, at...)
	require.NoError(t, err)
	want := rows(at[0].Rows, len(m.Classes()))
	members, err := m.levels.matrices(m.Inputs(), at)
	require.NoError(t, err)
	for k, w := range m.weights {
		p, err := m.member(k).PredictClasses(context.Background(), PredictOptions{}, members...)
		require.NoError(t, err)
		for i, of := range p.Probability {
			for c, v := range oddsAgainstOthers(of) {
				want[i][c] += w * v
			}
		}
	}
	for c := range m.Classes() {
		for i := range want {
			sum := parts.Constant[c][i]
			for v := range parts.Views {
				sum += parts.Mean[c][v][i]
			}
			require.InDelta(t, want[i][c], sum, 1e-7*(1+math.Abs(want[i][c])))
		}
	}
	return parts
}

// twoWaves are samples of two views of two columns. The target is the sum of a function of each.
func twoWaves(r *rand.Rand, n int) (a, b Features, y []float64) {
	a, b, y = la.NewMatrix[float64](n, 2), la.NewMatrix[float64](n, 2), make([]float64, n)
	for i := range n {
		for j := range 2 {
			a.Set(i, j, r.NormFloat64())
			b.Set(i, j, r.NormFloat64())
		}
		y[i] = 20 + 3*math.Sin(2*a.At(i, 0)) + b.At(i, 1) + 0.3*r.NormFloat64()
	}
	return a, b, y
}

// On landmarks the parts of all views add up to the prediction. Where the other view is the same in all samples, the part of a view differs from
// sample to sample as the prediction does. The standard deviation of the sum is between the difference and the sum of the parts' standard deviations.
func TestPredictViewsOnLandmarks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	x, z, y := twoWaves(r, 400)
	at, beside, _ := twoWaves(r, 30)
	k := kernel.RBF{Width: 1}
	ctx := context.Background()
	m, err := LandmarkGP{Landmarks: &Landmarks{Count: 40}}.Fit(ctx, []View{{X: x, Input: "a", Kernel: k}, {X: z, Input: "b", Kernel: k}}, y)
	require.NoError(t, err)
	parts, err := m.PredictViews(ctx, PredictOptions{}, at, beside)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, parts.Views)
	mean, variance, err := m.Predict(at, beside)
	require.NoError(t, err)
	noise := m.NoiseSD()[0]
	still := beside.Clone() // the samples of the other view are all the first one
	for i := range still.Rows {
		copy(still.Row(i), beside.Row(0))
	}
	onlyA, _, err := m.Predict(at, still)
	require.NoError(t, err)
	pool := &AutoModel{landmarks: m}
	assert.Equal(t, "a", pool.viewOf(0, 1))
	assert.Equal(t, "b", pool.viewOf(1, 0))
	var square float64
	for i := range mean {
		assert.InDelta(t, mean[i], parts.Constant+parts.Mean[0][i]+parts.Mean[1][i], 1e-9)
		assert.InDelta(t, onlyA[i]-onlyA[0], parts.Mean[0][i]-parts.Mean[0][0], 1e-9)
		together := math.Sqrt(variance[i] - noise*noise)
		assert.LessOrEqual(t, math.Abs(parts.SD[0][i]-parts.SD[1][i]), together+1e-9)
		assert.GreaterOrEqual(t, parts.SD[0][i]+parts.SD[1][i], together-1e-9)
		square += math.Pow(3*math.Sin(2*at.At(i, 0))-parts.Mean[0][i], 2) / float64(len(mean))
	}
	assert.Less(t, math.Sqrt(square), 0.3, "the part's own standard deviation is 2.1")
	_, err = m.PredictViews(ctx, PredictOptions{}, at)
	assert.ErrorContains(t, err, "1 input matrices where the model needs 2")
}

// The parts of a pool of very many samples add up, and each is of a view or of a member.
func TestPredictViewsOfManyRows(t *testing.T) {
	testkit.NotShort(t)
	r := rand.New(rand.NewPCG(4, 4))
	x, z, y := twoWaves(r, DefaultExactSamples+200)
	at, beside, _ := twoWaves(r, 100)
	views := func(a, b Features) []View { return []View{{X: a, Input: "a"}, {X: b, Input: "b"}} }
	m := fitPool(t, Auto{Time: time.Second, Climb: Climb{MaxSteps: 5}}, views(x, z), y)
	parts := requirePartsAddUp(t, m, at, beside)
	names, _ := m.Members()
	for _, name := range parts.Views {
		assert.Contains(t, append(names, "a", "b"), name)
	}
	require.Len(t, m.Views(), 2, m.Story())
	assert.Greater(t, m.Views()[0].In, 0.9)
}

// The table of the views stays where the members that it describes have no weight.
func TestTableOfMembersWithoutWeight(t *testing.T) {
	p := pool{viewTable: viewTable{views: []ViewShare{{View: "a"}}}, models: []Model{&treeModel{}}, weights: []float64{1}}
	p.remarkTable(0)
	require.Len(t, p.remarks, 1)
	assert.Equal(t, "the table of the views is of the exact Gaussian processes; other members have 100 % of the weight", p.remarks[0])

	testkit.NotShort(t)
	x, y := steps(1, DefaultExactSamples+200)
	few := func(first, end int) Features { return x.Slice(0, x.Rows, first, end).Clone() }
	m := fitPool(t, Auto{Time: time.Second, Climb: Climb{MaxSteps: 5}}, []View{{X: few(0, 3), Input: "a"}, {X: few(3, 6), Input: "b"}}, y)
	require.Empty(t, m.members, m.Story())
	assert.Len(t, m.Views(), 2, m.Story())
}

// The one part of a model that is no sum over views is its function: of a model of one view it is what PredictViews says.
func TestOnePart(t *testing.T) {
	x, y := bumpy(60)
	for i := range y {
		y[i] = 40 + 7*y[i]
	}
	ctx := t.Context()
	m, err := MultiGP{PointScales: true}.Fit(ctx, []View{{X: x, Kernel: kernel.RBF{Width: 1.5}}}, y)
	require.NoError(t, err)
	at := normal(rand.New(rand.NewPCG(9, 9)), 6, 3)
	want, err := m.PredictViews(ctx, PredictOptions{}, at)
	require.NoError(t, err)
	got, err := onePart(ctx, m, "all", want.Constant, PredictOptions{MeanOnly: true}, []Features{at})
	require.NoError(t, err)
	assert.Equal(t, []string{"all"}, got.Views)
	assert.Equal(t, want.Constant, got.Constant)
	assert.InDeltaSlice(t, want.Mean[0], got.Mean[0], 1e-9)
	assert.InDeltaSlice(t, want.SD[0], got.SD[0], 1e-7)
	_, err = onePart(ctx, m, "all", 0, PredictOptions{}, nil)
	assert.ErrorContains(t, err, "0 input matrices")
}

// The parts of classes on landmarks add up to the log odds of the probabilities. The standard deviation of a part is the standard deviation of the
// function's part, times the log odds by the function's mean.
func TestClassPredictViewsOnLandmarks(t *testing.T) {
	views, class, _ := threeViews(300, 5)
	at, _, _ := threeViews(40, 6)
	x := matricesOf(at)
	for i := range views {
		views[i].Kernel = kernel.RBF{Width: 1.5}
	}
	ctx := t.Context()
	for _, C := range []int{2, 3} {
		m, err := LandmarkClassifier[int]{Landmarks: &Landmarks{Count: 40}}.Fit(ctx, views, atMost(class, C))
		require.NoError(t, err)
		parts, err := m.PredictViews(ctx, PredictOptions{}, x...)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "noise"}, parts.Views)
		_, probability, err := m.Predict(x...)
		require.NoError(t, err)
		assertAddsUp(t, parts, probability, 1e-8)
		_, err = m.PredictViews(ctx, PredictOptions{}, x[0])
		assert.ErrorContains(t, err, "1 input matrices where the model needs 3")

		_, which, _ := m.design.UserViews()
		variance := make([][][]float64, len(m.posteriors)) // of each function's parts
		mean := make([][][]float64, len(m.posteriors))
		require.NoError(t, m.eachBlock(ctx, 1, x, len(probability), func(phi []la.Matrix[float64], first int) error {
			for o, p := range m.posteriors {
				of, noisy, err := p.Predict(phi, la.Matrix[float64]{}, false, 1)
				if err != nil {
					return err
				}
				constant := p.State().Mean[len(p.State().Mean)-1]
				for v, kernels := range which {
					value, spread, err := p.Contribution(phi, kernels, 1)
					if err != nil {
						return err
					}
					mean[o], variance[o] = append(mean[o], nil), append(variance[o], nil)
					for i, f := range of {
						z := f / math.Sqrt(2*noisy[i])
						odds := m.Sharpness() * math.Log(math.Erfc(-z)/math.Erfc(z)) / f
						mean[o][v] = append(mean[o][v], odds*value[i])
						variance[o][v] = append(variance[o][v], odds*odds*spread[i])
						if v == 0 && C == 2 {
							assert.InDelta(t, odds*constant, parts.Constant[1][first+i], 1e-7)
						}
					}
				}
			}
			return nil
		}))
		for c := range C {
			for v := range which {
				for i := range probability {
					want, square := 0.0, 0.0
					for o := range m.posteriors {
						weight := -1 / float64(C-1)
						if o == c || C == 2 && c == 1 {
							weight = 1
						}
						want += weight * mean[o][v][i]
						square += weight * weight * variance[o][v][i]
					}
					if C == 2 && c == 0 {
						want = -mean[0][v][i]
					}
					assert.InDelta(t, want, parts.Mean[c][v][i], 1e-7)
					assert.InEpsilon(t, math.Sqrt(square), parts.SD[c][v][i], 1e-6)
				}
			}
		}
	}
}

// The one part of a classifier that is no sum over views is its log odds, as if they were known.
func TestOddsAsOnePart(t *testing.T) {
	views, class, _ := threeViews(40, 5)
	m, err := MultiGPClassifier[int]{}.Fit(t.Context(), []View{{X: views[0].X, Kernel: kernel.RBF{Width: 1.5}}}, class)
	require.NoError(t, err)
	at := normal(rand.New(rand.NewPCG(9, 9)), 6, 3)
	got, err := oddsAsOnePart(t.Context(), m, "all", PredictOptions{MeanOnly: true}, []Features{at})
	require.NoError(t, err)
	_, probability, err := m.Predict(at)
	require.NoError(t, err)
	for i, of := range probability {
		for c, want := range oddsAgainstOthers(of) {
			assert.Equal(t, []string{"all"}, got[c].names)
			assert.InDelta(t, want, got[c].mean[0][i], 1e-9)
			assert.Zero(t, got[c].variance[0][i])
			assert.Zero(t, got[c].constant[i])
		}
	}
	_, err = oddsAsOnePart(t.Context(), m, "all", PredictOptions{}, nil)
	assert.ErrorContains(t, err, "0 input matrices")
}
