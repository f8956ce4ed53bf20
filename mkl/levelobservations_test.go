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

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// codedFunction returns samples of a code with many levels and two features, and their function: with an effect of each level of the given standard deviation.
func codedFunction(seed uint64, n, levels int, sd float64) (x Features, f []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	effects := rand.New(rand.NewPCG(1, 7)) // the same for every seed
	u := make([]float64, levels)
	for l := range u {
		u[l] = sd * effects.NormFloat64()
	}
	x, f = la.NewMatrix[float64](n, 3), make([]float64, n)
	for i := range n {
		l := rng.IntN(levels)
		x.Set(i, 0, float64(1000+7*l))
		x.Set(i, 1, rng.NormFloat64())
		x.Set(i, 2, rng.NormFloat64())
		f[i] = u[l] + 0.6*math.Sin(1.5*x.At(i, 1))
	}
	return x, f
}

func functionCodes(x Features) []View {
	return []View{
		{Name: "numbers", X: x, Columns: []int{1, 2}, Kernel: kernel.RBF{}},
		{Name: "codes", X: x, Columns: []int{0}, Kernel: kernel.Categorical{}},
	}
}

// observationModel is what the tests need of models of counts, grades and times.
type observationModel interface {
	Model
	LevelEffects() []string
}

// functionOf returns the moments of the function of samples.
func functionOf(t *testing.T, m observationModel, x Features) (mean, variance []float64) {
	switch m := m.(type) {
	case *CountModel:
		p, err := m.Predict(x)
		require.NoError(t, err)
		for _, c := range p.counts {
			mean, variance = append(mean, c.Mean), append(variance, c.Variance)
		}
	case *SurvivalModel:
		p, err := m.Predict(x)
		require.NoError(t, err)
		for i, v := range p.mean {
			mean, variance = append(mean, m.unit.mean+m.unit.sd*v), append(variance, m.unit.sd*m.unit.sd*p.variance[i])
		}
	case *OrdinalModel[int]:
		p, err := m.PredictClasses(t.Context(), PredictOptions{}, x)
		require.NoError(t, err)
		for _, q := range p.Probability { // the mean grade rises with the function
			var of float64
			for k, v := range q {
				of += float64(k) * v
			}
			mean = append(mean, of)
		}
	}
	return mean, variance
}

// Above the exact samples, counts, times and grades learn an effect of each level: of levels with few samples too, in any order of the samples, and models
// from files have them.
func TestEffectsOfLevelsOnObservations(t *testing.T) {
	const n, levels, landmarks = 3000, 500, 150
	x, f := codedFunction(2, n, levels, 0.8)
	rng := rand.New(rand.NewPCG(9, 9))
	counts, grades := make([]float64, n), make([]int, n)
	times := make([]Lifetime, n)
	for i, v := range f {
		for sum := rng.ExpFloat64(); sum < math.Exp(v+0.5); sum += rng.ExpFloat64() {
			counts[i]++
		}
		times[i] = EventAt(math.Exp(v + 0.5*rng.NormFloat64()))
		if i%4 == 0 {
			times[i] = EventAfter(math.Exp(v - 0.3))
		}
		latent := v + 0.7*rng.NormFloat64()
		for _, cut := range []float64{-1, 0, 0.8} {
			if latent > cut {
				grades[i]++
			}
		}
	}
	at, truth := codedFunction(3, 400, levels, 0.8)
	reversed := func(k int) int { return n - 1 - k }
	for _, test := range []struct {
		name string
		fit  func(x Features, order func(int) int) (observationModel, error)
	}{
		{"counts", func(x Features, order func(int) int) (observationModel, error) {
			y := make([]float64, n)
			for i := range y {
				y[i] = counts[order(i)]
			}
			return Counts{Landmarks: landmarks}.Fit(t.Context(), functionCodes(x), y)
		}},
		{"times", func(x Features, order func(int) int) (observationModel, error) {
			y := make([]Lifetime, n)
			for i := range y {
				y[i] = times[order(i)]
			}
			return Survival{Landmarks: landmarks}.Fit(t.Context(), functionCodes(x), y)
		}},
		{"grades", func(x Features, order func(int) int) (observationModel, error) {
			y := make([]int, n)
			for i := range y {
				y[i] = grades[order(i)]
			}
			return Ordinal[int]{Landmarks: landmarks}.Fit(t.Context(), functionCodes(x), y)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := test.fit(x, func(i int) int { return i })
			require.NoError(t, err)
			require.Len(t, m.LevelEffects(), 1)
			assert.Contains(t, m.LevelEffects()[0], "the effects of 499 levels of #1 on the function")
			mean, variance := functionOf(t, m, at)
			assert.Greater(t, correlationOf(mean, truth), 0.88) // .60 with the kernel of categories

			backwards := la.NewMatrix[float64](n, 3)
			for i := range n {
				copy(backwards.Row(i), x.Row(reversed(i)))
			}
			other, err := test.fit(backwards, reversed)
			require.NoError(t, err)
			again, _ := functionOf(t, other, at)
			assert.InDeltaSlice(t, mean, again, 1e-5)

			var file bytes.Buffer
			require.NoError(t, m.Save(&file))
			var loaded observationModel
			if test.name == "grades" {
				loaded, err = LoadAs[*OrdinalModel[int]](&file)
			} else {
				var of Model
				of, err = Load(&file)
				loaded, _ = of.(observationModel)
			}
			require.NoError(t, err)
			assert.Equal(t, m.LevelEffects(), loaded.LevelEffects())
			same, _ := functionOf(t, loaded, at)
			assert.Equal(t, mean, same)
			if test.name == "grades" { // whose probabilities have no variance of the function to look at
				return
			}

			parts, err := m.(observationParts).PredictViews(t.Context(), PredictOptions{}, at)
			require.NoError(t, err)
			require.Equal(t, []string{"numbers", "codes"}, parts.Views)
			sums, _ := latent(t, m, at)
			waves := make([]float64, at.Rows)
			for i, sum := range sums {
				assert.InDelta(t, sum, parts.Constant+parts.Mean[0][i]+parts.Mean[1][i], 1e-9)
				waves[i] = math.Sin(1.5 * at.At(i, 1))
			}
			assert.Greater(t, correlationOf(parts.Mean[0], waves), 0.9)

			unseen := at.Clone()
			for i := range unseen.Rows {
				unseen.Set(i, 0, 5)
			}
			_, wide := functionOf(t, m, unseen)
			assert.Greater(t, vec.Total(wide), vec.Total(variance)+0.3*float64(len(wide)), "an unknown level") // .64 less what known levels leave
			unseen.Set(3, 0, math.NaN())
			switch m := m.(type) {
			case *CountModel:
				_, err = m.Predict(unseen)
			case *SurvivalModel:
				_, err = m.Predict(unseen)
			}
			assert.ErrorContains(t, err, "NaN")
		})
	}
}

// A column whose levels have no effect keeps the kernel of categories. So does a fit with missing views. The model says so, also from a file.
func TestNoEffectsOfLevelsOnObservations(t *testing.T) {
	x, f := codedFunction(4, 1500, 100, 0)
	counts := make([]float64, len(f))
	rng := rand.New(rand.NewPCG(9, 9))
	for i, v := range f {
		for sum := rng.ExpFloat64(); sum < math.Exp(v); sum += rng.ExpFloat64() {
			counts[i]++
		}
	}
	m, err := Counts{Landmarks: 100}.Fit(t.Context(), functionCodes(x), counts)
	require.NoError(t, err)
	useless := []string{"the levels of #1 have no effect that predicts other samples, and keep the kernel of categories"}
	assert.Equal(t, useless, m.LevelEffects())
	assert.Empty(t, m.LevelsLeftOut())
	assert.Contains(t, m.Summary(), useless[0])
	require.Len(t, m.KernelWeights(), 2)
	assert.Contains(t, m.KernelWeights()[1].Kernel, "categorical")
	x, f = codedFunction(4, 1500, 1500, 1)
	for i, v := range f {
		x.Set(i, 0, float64(i)) // a name for each sample, which nothing can be learned of
		counts[i] = math.Floor(math.Exp(v))
	}
	m, err = Counts{Landmarks: 100}.Fit(t.Context(), functionCodes(x), counts)
	require.NoError(t, err)
	assert.Equal(t, useless, m.LevelEffects())
	x, _ = codedFunction(4, 1500, 100, 2)
	for i := range counts {
		counts[i] = math.Floor(x.At(i, 0) / 100) // by the level alone
	}
	m, err = Counts{Landmarks: 100, MissingViews: true}.Fit(t.Context(), functionCodes(x), counts)
	require.NoError(t, err)
	assert.Equal(t, "effects of levels are left out (samples may lack views), and the kernel of categories stays", m.LevelsLeftOut())
	assert.Equal(t, []string{m.LevelsLeftOut()}, m.LevelEffects())
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded, err := Load(&file)
	require.NoError(t, err)
	assert.Equal(t, m.LevelsLeftOut(), loaded.(*CountModel).LevelsLeftOut())
	m, err = Counts{Landmarks: 100, MissingViews: true}.Fit(t.Context(), functionCodes(x)[:1], counts)
	require.NoError(t, err)
	assert.Empty(t, m.LevelEffects(), "no column of many levels")
}

// Effects that cannot be computed are left out, and the model says why.
func TestEffectsOfLevelsThatFail(t *testing.T) {
	x, f := codedFunction(4, 1500, 100, 1)
	counts := make([]float64, len(f))
	for i, v := range f {
		counts[i] = math.Floor(math.Exp(v))
	}
	c := Counts{Landmarks: 50}
	p := c.problem()
	views := functionCodes(x)
	none := mgp.Counts{Y: make([]float64, len(f)), Dispersed: true}
	out, err := p.addLevels(t.Context(), views, [][]float64{counts}, []mgp.Likelihood{none})
	require.NoError(t, err)
	assert.Equal(t, "counts: all 1500 counts are 0", out.about.Left)
	assert.Nil(t, out.levels)
	assert.Equal(t, views, out.views)

	c = Counts{Landmarks: 50}
	c.MemoryLimit = 1 << 20
	p = c.problem()
	out, err = p.addLevels(t.Context(), functionCodes(x), [][]float64{counts}, []mgp.Likelihood{mgp.Counts{Y: counts, Dispersed: true}})
	require.NoError(t, err)
	assert.Contains(t, out.about.Left, "memory")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(assert.AnError)
	_, err = Counts{Landmarks: 50}.Fit(ctx, functionCodes(x), counts)
	require.ErrorIs(t, err, assert.AnError)
}

// The passes over all samples that learn effects are the first start of the progress. Without a column of many levels there is no such start.
func TestProgressOfEffectsOfLevels(t *testing.T) {
	x, f := codedFunction(5, 1200, 60, 1)
	times := make([]Lifetime, len(f))
	for i, v := range f {
		times[i] = EventAt(math.Exp(v))
	}
	for coded, starts := range map[bool]int{true: 4, false: 3} { // two laws, and all samples
		var all []Progress
		s := Survival{Landmarks: 50}
		s.MaxSteps, s.Progress = 2, func(p Progress) { all = append(all, p) }
		views := functionCodes(x)
		if !coded {
			views = views[:1]
		}
		m, err := s.Fit(t.Context(), views, times)
		require.NoError(t, err)
		assert.Equal(t, coded, len(m.LevelEffects()) > 0)
		last, passes, scores := Progress{Start: 1}, 0, 0
		for _, p := range all {
			assert.Equal(t, starts, p.Starts)
			require.True(t, p.Start == last.Start && p.Sweep == last.Sweep+1 || p.Start == last.Start+1 && p.Sweep == 1, "%+v after %+v", p, last)
			assert.LessOrEqual(t, p.Sweep, p.MaxSweeps)
			if coded && p.Start == 1 {
				passes++
				assert.False(t, math.IsNaN(p.Bound))
				assert.Equal(t, -1, p.Left)
				if p.Rise > 0 {
					scores++
				}
			}
			last = p
		}
		assert.Equal(t, starts, last.Start)
		if coded {
			assert.Greater(t, passes, 2*3+levelFolds+1)
			assert.Greater(t, scores, 3)
		}
	}
}

// A fit whose effects of levels have not settled has not converged, and says why, also from its file. Pools have a remark.
func TestEffectsOfLevelsThatDoNotSettle(t *testing.T) {
	x, f := codedFunction(4, 1500, 100, 1)
	counts := make([]float64, len(f))
	rng := rand.New(rand.NewPCG(1, 8))
	for i, v := range f {
		for sum := rng.ExpFloat64(); sum < math.Exp(v); sum += rng.ExpFloat64() {
			counts[i]++
		}
	}
	for _, limit := range []int{0, 3} {
		c := Counts{Landmarks: 50}
		p := c.problem()
		p.levelLimit = limit
		fit, err := p.fit(t.Context(), functionCodes(x), [][]float64{counts}, mgp.Counts{Y: counts, Dispersed: true})
		require.NoError(t, err)
		require.Len(t, fit.levels.columns, 1)
		var file bytes.Buffer
		require.NoError(t, (&CountModel{*fit}).Save(&file))
		m, err := Load(&file)
		require.NoError(t, err)
		for _, trace := range []Trace{fit.Trace(), m.Trace()} {
			assert.Equal(t, limit == 0, trace.Converged, trace.Reason)
			if limit > 0 {
				assert.Equal(t, "effects of levels not settled after 3 sweeps", trace.Reason)
			}
		}
		if limit > 0 {
			assert.Contains(t, m.(*CountModel).Summary(), "NOT converged: effects of levels not settled after 3 sweeps")
		}
	}

	const n = DefaultExactSamples + 1
	x, y := coded(1, n)
	xc, label, _ := codedClasses(1, n, 3)
	class := make([]int, n)
	for i, l := range label {
		class[i] = int(l[0] - 'a')
	}
	for _, limit := range []int{0, 1} {
		a := Auto{}
		r, err := newManyRows(t.Context(), a.fitting(), codedViews(x), y, false, 0)
		require.NoError(t, err)
		r.levelLimit = limit
		_, err = a.addLevels(r, &AutoModel{}, vec.Picked(y, r.order))
		require.NoError(t, err)
		assert.Equal(t, limit > 0, strings.Contains(strings.Join(r.remarks, "; "), "the effects of levels have not settled after 1 steps"), "%v", r.remarks)

		r, err = newManyRows(t.Context(), a.fitting(), codedViews(xc), y, false, 0)
		require.NoError(t, err)
		r.levelLimit = limit
		_, err = r.addLevelOdds(vec.Picked(class, r.order), 3)
		require.NoError(t, err)
		assert.Equal(t, limit > 0, strings.Contains(strings.Join(r.remarks, "; "), "the effects of levels on the log odds of 3 of 3 classes have not settled after 1 steps"),
			"%v", r.remarks)
	}
}
