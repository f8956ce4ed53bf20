package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// A view without information of its own, which takes a disturbance out of another view, is kept and has a loss.
func TestMaskedViewsAreKept(t *testing.T) {
	const n = 80
	rng := rand.New(rand.NewPCG(3, 11))
	signal, disturbance, noise := normal(rng, n, 3), normal(rng, n, 1), normal(rng, n, 5)
	mixed := signal.Clone()
	class := make([]int, n)
	for i := range n {
		mixed.Row(i)[0] += 3 * disturbance.At(i, 0)
		switch y := signal.At(i, 0); {
		case y > 0.4:
			class[i] = 2
		case y > -0.4:
			class[i] = 1
		}
	}
	m := fitClasses(t, AutoClassifier[int]{}, []View{
		{Name: "mixed", Input: "mixed", X: mixed}, {Name: "disturbance", Input: "disturbance", X: disturbance}, {Name: "noise", Input: "noise", X: noise},
	}, class)
	table := m.Views()
	require.Len(t, table, 3)
	masked, other := table[1], table[2]
	assert.Less(t, masked.Informative, 0.5, "by itself it says nothing")
	assert.Greater(t, masked.In, surelyIn)
	assert.Greater(t, masked.Loss, 2*masked.LossSE)
	assert.Less(t, other.In, 0.7)
	assert.Less(t, other.Loss, max(0.02, 2*other.LossSE))
	weight := map[string]float64{}
	for _, w := range m.KernelWeights() {
		if member, view, _ := strings.Cut(w.View, ": "); member == amplitudeMembers[0].name {
			weight[view] += w.Mean
		}
	}
	assert.Positive(t, weight["disturbance"])
}

func TestViewsAreKeptByEitherProbability(t *testing.T) {
	q := viewProbabilities{alone: []float64{0.6, 0.2, 0.2, 0.4}, in: []float64{0.1, 0.95, 0.7, 0.3}}
	assert.Equal(t, []float64{1, 1, 0, 0}, q.kept())
	assert.Equal(t, []float64{0.6, 0.95, 0.7, 0.4}, q.either())
	q = viewProbabilities{alone: []float64{0.1, 0.2}, in: []float64{0.5, 0.4}}
	assert.Nil(t, q.kept(), "all stay if none is sure")
}

// The loss without a view is the difference of the log densities of each target by dense processes of all other samples, at the
// amplitudes of the fits with and without the view.
func TestLossWithoutAView(t *testing.T) {
	const n = 30
	views, _, y := threeViews(n, 8)
	ctx := context.Background()
	f := new(Auto).fitting()
	k, err := newAmplitudeKernels(ctx, f, KernelsOfView, views, [][]float64{y}, false)
	require.NoError(t, err)
	_, z := standardizeTargets([][]float64{y}, false)
	targets := amplitudeTargets{y: z}
	fits, table, err := k.fitAmplitudes(ctx, f, targets)
	require.NoError(t, err)
	for _, one := range fits {
		got, err := targets.leftOut(one.Process)
		require.NoError(t, err)
		ds := onViews{design: k.design}
		gram, _ := gramOf(t, &ds, k.weights(one.Amplitudes, 1), matricesOf(views))
		for i := range n {
			gram.Set(i, i, gram.At(i, i)+one.Noise)
		}
		for _, out := range []int{0, 11} {
			less, cross, rest := la.NewMatrix[float64](n-1, n-1), []float64(nil), []float64(nil)
			for i := range n {
				if i == out {
					continue
				}
				for j := range n {
					if j != out {
						less.Set(len(rest), j-min(max(j-out, 0), 1), gram.At(i, j))
					}
				}
				cross, rest = append(cross, gram.At(out, i)), append(rest, z.At(0, i))
			}
			solved := solve(less, cross)
			d, v := z.At(0, out)-la.Dot(rest, solved), gram.At(out, out)-la.Dot(cross, solved)
			assert.InDelta(t, math.Exp(-0.5*d*d/v)/math.Sqrt(2*math.Pi*v), got[out], 1e-6)
		}
	}
	for _, v := range table.views {
		if v.View == "noise" {
			assert.Less(t, math.Abs(v.Loss), 0.1)
			continue
		}
		assert.Greater(t, v.Loss, 0.3, "%s has half of the variance", v.View)
		assert.Greater(t, v.Loss, 2*v.LossSE, v.View)
		assert.Greater(t, v.In, 0.9, v.View)
	}
}

// Files from before there were probabilities beside the others and losses have none, and damaged ones are refused.
func TestViewTableFiles(t *testing.T) {
	views, class, _ := threeViews(30, 5)
	m := fitClasses(t, AutoClassifier[int]{}, views, class)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	changed := func(old, new string) func(map[string]string, map[string]tensor) {
		return func(md map[string]string, _ map[string]tensor) {
			require.Contains(t, md["model"], old)
			md["model"] = strings.Replace(md["model"], old, new, 1)
		}
	}
	assertRefused(t, file.Bytes(), changed(`"in":`, `"in":7`), "views[0]: share")
	assertRefused(t, file.Bytes(), changed(`"loss_se":`, `"loss_se":-`), "views[0]: share")

	old := newViewShareJSON(ViewShare{View: "a", Share: 0.5, In: math.NaN(), Loss: math.NaN(), LossSE: math.NaN()})
	assert.Nil(t, old.In)
	v, ok := old.share()
	assert.True(t, ok)
	assert.True(t, math.IsNaN(v.In) && math.IsNaN(v.Loss) && math.IsNaN(v.LossSE))
}

// Shares of views in disjoint halves of the rows differ by no more than their standard deviations say, which are not much larger than need be.
// The posterior alone is too sure where the views hold the same signal, and where the noise is small.
func TestSharesOfHalves(t *testing.T) {
	testkit.NotShort(t)
	const problems = 4
	for _, c := range []struct {
		name  string
		n     int // rows of a half
		noise float64
		same  bool // the views are noisy copies of the same two columns
	}{{"different parts, large noise", 45, 1, false}, {"different parts, little noise", 45, 0.3, false}, {"the same signal", 60, 0.3, true}} {
		t.Run(c.name, func(t *testing.T) {
			within, square, variance := 0, 0.0, 0.0
			for problem := range uint64(problems) {
				rng := rand.New(rand.NewPCG(problem, 31))
				a, b, y := normal(rng, 2*c.n, 2), normal(rng, 2*c.n, 2), make([]float64, 2*c.n)
				if c.same {
					hidden := a
					copies := func() Features {
						return matrix(2*c.n, 4, func(i, j int) float64 { return hidden.At(i, j%2) + 0.3*rng.NormFloat64() })
					}
					a, b = copies(), copies()
					for i := range y {
						y[i] = hidden.At(i, 0) + math.Sin(2*hidden.At(i, 1)) + c.noise*rng.NormFloat64()
					}
				} else {
					for i := range y {
						y[i] = a.At(i, 0) + math.Sin(2*b.At(i, 1)) + c.noise*rng.NormFloat64()
					}
				}
				var share, sd [2]float64
				for half := range 2 {
					low, high := half*c.n, (half+1)*c.n
					m := fitPool(t, Auto{}, []View{
						{Name: "a", Input: "a", X: a.Slice(low, high, 0, a.Cols).Clone()}, {Name: "b", Input: "b", X: b.Slice(low, high, 0, b.Cols).Clone()},
					}, y[low:high])
					share[half], sd[half] = m.Views()[0].Share, m.Views()[0].SD
				}
				t.Log(share, sd)
				if math.Abs(share[0]-share[1]) <= 2*math.Hypot(sd[0], sd[1]) {
					within++
				}
				square += (share[0] - share[1]) * (share[0] - share[1])
				variance += sd[0]*sd[0] + sd[1]*sd[1]
			}
			assert.GreaterOrEqual(t, within, 3, "of %d", problems)
			assert.Less(t, variance, 9*square, "SDs are not three times the spread")
		})
	}
}

func TestJudgedSamples(t *testing.T) {
	for _, views := range []int{2, 4, 12} {
		n := judgedSamples(judgeWork, 3000, 4*views, views, 1)
		assert.Less(t, 1.25*leastSweeps*sweepWork(n, 4*views, views, 1), float64(judgeWork))
		assert.Greater(t, 1.25*leastSweeps*sweepWork(n+1, 4*views, views, 1), float64(judgeWork))
		assert.Equal(t, n-1, judgedSamples(judgeWork, n-1, 4*views, views, 1), "all")
	}
}

// Some samples are enough to find the view of noise. Which samples are drawn does not depend on their order, and the members learn from all.
func TestTableOfSomeSamples(t *testing.T) {
	const n, most = 60, 40
	views, _, y := threeViews(n, 8)
	_, z := standardizeTargets([][]float64{y}, false)
	f := new(Auto).fitting()
	fit := func(views []View, y []float64, z la.Matrix[float64]) ([]int, []amplitudeFit, viewTable) {
		k, err := newAmplitudeKernels(t.Context(), f, KernelsOfView, views, [][]float64{y}, false)
		require.NoError(t, err)
		kernels, _ := k.packed.Dims()
		k.work = 1.25 * leastSweeps * sweepWork(most, kernels, k.layout.Views(), 1)
		targets := amplitudeTargets{y: z}
		fits, table, err := k.fitAmplitudes(t.Context(), f, targets)
		require.NoError(t, err)
		return k.judged(targets), fits, table
	}
	rows, fits, table := fit(views, y, z)
	require.Len(t, rows, most)
	assert.Equal(t, []string{"the table of the views is learned from 40 of the 60 samples"}, table.remark(n))
	for _, v := range table.views {
		assert.Equal(t, v.View != "noise", v.In > 0.9, "%+v", v)
	}
	assert.Len(t, fits[0].LeftOutVariance, n, "members learn from all samples")

	order := rand.New(rand.NewPCG(3, 4)).Perm(n)
	shuffled := changed(views, func(x Features) Features { return taken(x, order, nil) })
	moved := la.MatrixOf(1, n, picked(z.Data, order))
	again, others, same := fit(shuffled, picked(y, order), moved)
	places := picked(order, again)
	slices.Sort(places)
	assert.Equal(t, rows, places)
	for v := range table.views {
		assert.InDelta(t, table.views[v].In, same.views[v].In, 1e-6)
		assert.InDelta(t, table.views[v].Loss, same.views[v].Loss, 1e-6)
	}
	for i := range fits {
		assert.InDelta(t, fits[i].LogPosterior, others[i].LogPosterior, 1e-6)
	}
}
