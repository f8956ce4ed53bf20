package mkl

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
)

// relevanceData are three classes that follow the first of three features, and of a second input nothing.
func relevanceData(seed uint64, n int) (a, b Features, class []int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	a, b = normal(rng, n, 3), normal(rng, n, 1)
	for i := range n {
		class = append(class, int(math.Abs(math.Round(1.5*a.At(i, 0))))%3)
	}
	return a, b, class
}

func relevanceViews(a, b Features) []View {
	return []View{{X: a, Input: "x1", Kernel: kernel.RBF{ARD: true, Width: 1.5}, Standardize: true}, {X: b, Input: "x2", Kernel: kernel.RBF{Width: 1}}, {X: a, Input: "x1", Columns: []int{0, 2}, Kernel: kernel.Laplacian{ARD: true, Width: 2}}}
}

// Kernels at given relevances equal the kernels of views with the corresponding widths.
func TestRelevanceKernels(t *testing.T) {
	ctx := context.Background()
	a, b, _ := relevanceData(1, 12)
	za, zb, _ := relevanceData(2, 5)
	views := relevanceViews(a, b)
	bound, err := bindViews(views, 12, false)
	require.NoError(t, err)
	ds := bound.Design
	k, err := (&fitting{}).weightedKernels(ctx, bound, 3, ProbitClassifier[int]{}.EstimateMemory)
	require.NoError(t, err)
	assert.Equal(t, []int{3, 0, 2}, ds.RelevanceCounts())
	theta := []float64{4, 0.25, 1, 0.5, 2}
	fixed := relevanceViews(a, b)
	fixed[0].Kernel = kernel.RBF{Widths: []float64{0.75, 3, 1.5}}
	fixed[2].Kernel = kernel.Laplacian{Manhattan: true, Widths: []float64{4, 1}}
	want, wantK, err := (&fitting{}).fixedKernels(ctx, nil, fixed, 12, 3, ProbitClassifier[int]{}.EstimateMemory)
	require.NoError(t, err)
	train := gram.NewRelevances(ds, k.(*vi.Dense), ds.Features())
	out := normal(rand.New(rand.NewPCG(1, 1)), 12, 12)
	for p, of := range [][]float64{theta[:3], nil, theta[3:]} {
		train.Kernel(nil, p, of, out)
		assert.InDeltaSlice(t, wantK.(*vi.Dense).At(p).Data, out.Data, 1e-12, "view %d", p)
	}
	// And of new samples, in the design of all relevances.
	got, expected := make([]Features, 3), make([]Features, 3)
	for p := range got {
		got[p], expected[p] = normal(rand.New(rand.NewPCG(1, 1)), 12, 5), normal(rand.New(rand.NewPCG(1, 1)), 12, 5)
	}
	require.NoError(t, ds.Relevant(theta).Cross(ctx, 1, []Features{za, zb}, 0, got))
	require.NoError(t, want.Cross(ctx, 1, []Features{za, zb}, 0, expected))
	for p := range got {
		assert.InDeltaSlice(t, expected[p].Data, got[p].Data, 1e-12, "view %d", p)
	}
}

// Every inference finds the feature that matters, and a file predicts as the model does.
func TestProbitClassifierLearnsRelevances(t *testing.T) {
	ctx := context.Background()
	a, b, class := relevanceData(1, 60)
	za, zb, truth := relevanceData(2, 60)
	for name, c := range map[string]probitEstimator[int]{
		"mode":       ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 30}},
		"importance": ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 10}, Search: WeightSearchSampling, Samples: 100},
		"Gibbs":      ProbitSampler[int]{GibbsDraws: GibbsDraws{Chains: 2, Draws: 80, Thin: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "Gibbs" {
				testkit.NotShort(t)
			}
			m, err := c.Fit(ctx, relevanceViews(a, b)[:2], class)
			require.NoError(t, err)
			var relevance []float64
			if d := m.Draws(); d != nil {
				relevance = d.Mean("theta").Row(0)
			} else {
				for _, w := range m.design.Views[0].Kernel.(kernel.RBF).Widths {
					relevance = append(relevance, 1/(w*w))
				}
			}
			assert.Greater(t, relevance[0], relevance[1])
			assert.Greater(t, relevance[0], relevance[2])
			p, err := m.PredictClasses(ctx, PredictOptions{}, za, zb)
			require.NoError(t, err)
			right := 0
			for i, v := range truth {
				if p.Label[i] == v {
					right++
				}
			}
			assert.Greater(t, right, 36, "of 60")
			loaded := requireFile(t, m, LoadAs[*ProbitClassifierModel[int]], 9973)
			again, err := loaded.PredictClasses(ctx, PredictOptions{}, za, zb)
			require.NoError(t, err)
			assert.Equal(t, p, again)
			_, err = loaded.Predictor(PredictorOptions{})
			if m.Draws() == nil {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, "mkl: Predictor: mcmc: the kernels have 3 parameters of their own")
			var file bytes.Buffer
			require.NoError(t, m.Save(&file))
			for change, want := range map[string]string{
				"[2,0]": "2 relevances of view 0", "[3]": "relevances of 1 views", "[3,2]": "2 relevances of view 1", "[-3,0]": "-3 relevances of view 0",
			} {
				assertRefused(t, file.Bytes(), func(metadata map[string]string, _ map[string]tensor) {
					for key, v := range metadata {
						metadata[key] = strings.Replace(v, `"relevances":[3,0]`, `"relevances":`+change, 1)
					}
				}, want)
			}
		})
	}
	_, err := ProbitClassifier[int]{Slopes: func(Slopes) {}}.Fit(ctx, relevanceViews(a, b), class)
	assert.EqualError(t, err, "mkl: Slopes: ARD learns the widths in the fit")
}

// Learned widths take a copy of the kernels, in Gibbs sampling one for each chain, which the limit
// of memory counts.
func TestRelevancesNeedMemory(t *testing.T) {
	a, b, class := relevanceData(1, 60)
	size := FitSize{Samples: 60, Kernels: 2, Outputs: 3}
	for copies, c := range map[int]func(limit int64) probitEstimator[int]{
		1: func(limit int64) probitEstimator[int] {
			return ProbitClassifier[int]{Fitting: Fitting{MemoryLimit: limit}}
		},
		5: func(limit int64) probitEstimator[int] {
			return ProbitSampler[int]{Fitting: Fitting{MemoryLimit: limit}, GibbsDraws: GibbsDraws{Chains: 5}}
		},
	} {
		limit := c(0).EstimateMemory(size)
		_, err := c(limit).Fit(context.Background(), relevanceViews(a, b)[:2], class)
		var refused *MemoryError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, int64(copies*8*2*60*60), refused.Need-limit)
	}
	sum, product := ProbitClassifier[int]{}.EstimateMemory(size), ProbitClassifier[int]{Rule: FixedProduct{}}.EstimateMemory(size)
	assert.Equal(t, int64(8*2*60*60), product-sum)
}
