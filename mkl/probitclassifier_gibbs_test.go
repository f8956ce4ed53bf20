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
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Gibbs sampling and the variational approximation agree in what they predict, and
// sampling is the less sure of the kernels' weights.
func TestProbitGibbs(t *testing.T) {
	testkit.NotShort(t)
	x, views, y := gpProblem(30, 3)
	labels := parts(y, 3)
	ones := []float64{1, 1, 1} // of columns, the product is then the kernel of them all
	for name, rule := range map[string]Rule{
		"WSum": WeightedSum{}, "FixSum": FixedSum{}, "Bin": SwitchedSum{NotEmpty: true}, "FixProd": FixedProduct{Powers: ones}, "WProd": WeightedProduct{},
	} {
		sweeps := 0
		c := ProbitSampler[int]{Fitting: Fitting{Progress: func(p Progress) {
			sweeps++
			assert.Equal(t, 4, p.Starts)
			assert.Equal(t, 220, p.MaxSweeps)
		}}, Rule: rule, GibbsDraws: GibbsDraws{Draws: 40, BurnIn: 60}}
		m, err := c.Fit(context.Background(), views(x), labels)
		require.NoError(t, err, name)
		assert.Equal(t, 4*220, sweeps)
		assert.Equal(t, name, m.Rule())
		assert.Nil(t, m.Posterior())
		assert.Equal(t, 40, m.Draws().Len())
		assert.Equal(t, 220, m.Trace().Sweeps)
		assert.True(t, math.IsNaN(m.Bound()))
		assert.Contains(t, m.String(), "160 draws")
		assert.Contains(t, m.Summary(), "class 2")
		assert.Contains(t, m.Summary(), "4 chains of 40 draws, R̂ at most")
		assert.Contains(t, m.Summary(), "of the proposals accepted")
		mixing := m.Trace().Mixing
		assert.Equal(t, mixing.RHat <= mixed, m.Trace().Converged)
		assert.True(t, mixing.ESS > 0 && mixing.ESS <= 4*40*math.Log10(4*40), "%v", mixing)
		p, err := m.PredictClasses(context.Background(), PredictOptions{}, columns(views(x))...)
		require.NoError(t, err)
		v, err := ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 60}, Rule: rule}.Fit(context.Background(), views(x), labels)
		require.NoError(t, err)
		q, err := v.PredictClasses(context.Background(), PredictOptions{}, columns(views(x))...)
		require.NoError(t, err)
		assert.Nil(t, v.Draws())
		right, same := 0, 0
		for i, label := range p.Label {
			if label == labels[i] {
				right++
			}
			if label == q.Label[i] {
				same++
			}
			assert.InDelta(t, 1, vec.Total(p.Probability[i]), 1e-12)
		}
		assert.Greater(t, right, 22, name)
		assert.Greater(t, same, 24, name)
		if name == "WSum" || name == "WProd" {
			for i, w := range m.KernelWeights() {
				assert.Greater(t, w.SD, v.KernelWeights()[i].SD, name)
			}
		}

		var file bytes.Buffer
		require.NoError(t, m.Save(&file))
		back, err := LoadAs[*ProbitClassifierModel[int]](&file)
		require.NoError(t, err)
		assert.Equal(t, m.Summary(), back.Summary())
		assert.Equal(t, m.Draws().Moves(), back.Draws().Moves())
		got, err := back.PredictClasses(context.Background(), PredictOptions{}, columns(views(x))...)
		require.NoError(t, err)
		assert.Equal(t, p, got)
	}
}

func TestProbitGibbsResumes(t *testing.T) {
	testkit.NotShort(t)
	x, views, y := gpProblem(30, 2)
	labels := parts(y, 3)
	c := ProbitSampler[int]{Rule: WeightedSum{}, GibbsDraws: GibbsDraws{Draws: 20, BurnIn: 30}}
	whole, err := c.Fit(context.Background(), views(x), labels)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var last *mcmc.Checkpoint
	c.Every = 10
	c.Checkpoint = func(p *mcmc.Checkpoint) error {
		last = p
		if p.Sweeps() >= 50 {
			cancel()
		}
		return nil
	}
	_, err = c.Fit(ctx, views(x), labels)
	require.ErrorIs(t, err, context.Canceled)
	c.Resume = last
	m, err := c.Fit(context.Background(), views(x), labels)
	require.NoError(t, err)
	assert.Equal(t, whole.Draws().State(), m.Draws().State())
}

func TestProbitGibbsFilesAreChecked(t *testing.T) {
	x, views, y := gpProblem(30, 2)
	m, err := ProbitSampler[int]{Rule: WeightedSum{}, GibbsDraws: GibbsDraws{Chains: 2, Draws: 3}}.Fit(context.Background(), views(x), parts(y, 3))
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	for _, c := range []struct {
		want   string
		change func(metadata map[string]string, ts map[string]tensor)
	}{
		{"not expected", func(_ map[string]string, ts map[string]tensor) {
			ts["b"] = tensor{name: "b", shape: []int{1}, data: []float64{1}}
		}},
		{"do not fit", func(_ map[string]string, ts map[string]tensor) { delete(ts, "beta") }},
		{"do not fit", func(_ map[string]string, ts map[string]tensor) { delete(ts, "draws") }},
		{"numbers in draws of", func(_ map[string]string, ts map[string]tensor) {
			d := ts["draws"]
			n := len(d.data)/2 - 1
			ts["draws"] = tensor{name: "draws", shape: []int{2, n}, data: d.data[:2*n]}
		}},
		{"do not fit", func(md map[string]string, _ map[string]tensor) {
			md["model"] = strings.Replace(md["model"], `"chains":2`, `"chains":-2`, 1)
		}},
		{"sweeps is -", func(md map[string]string, _ map[string]tensor) {
			md["model"] = strings.Replace(md["model"], `"sweeps":`, `"sweeps":-`, 1)
		}},
		{`rule "WSun" is not known`, func(md map[string]string, _ map[string]tensor) {
			md["model"] = strings.Replace(md["model"], "WSum", "WSun", 1)
		}},
		{"proposals accepted", func(md map[string]string, _ map[string]tensor) {
			md["model"] = strings.Replace(md["model"], `"accepted":`, `"accepted":9`, 1)
		}},
	} {
		assertRefused(t, file.Bytes(), c.change, c.want)
	}
}

// A predictor of a sampled model has the model's probabilities where a kernel is constant but for rounding.
func TestProbitGibbsOfConstantKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	x, far, y := normal(rng, 16, 1), normal(rng, 16, 1), make([]int, 16)
	for i := range y {
		far.Set(i, 0, 1e8+float64(i%2)*1.5e-8)
		if x.At(i, 0) > 0 {
			y[i] = 1
		}
	}
	views := []View{{Input: "x", X: x, Kernel: kernel.RBF{Width: 1}}, {Input: "far", X: far, Kernel: kernel.Linear{}, Normalize: true}}
	m, err := ProbitSampler[int]{Rule: WeightedSum{}, GibbsDraws: GibbsDraws{Draws: 10, BurnIn: 10}}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	p, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	requireSameClasses(t, m, p, x, far)
}
