package mkl

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/amplitude"
	"github.com/bmkl/bmkl/vi/bemkl"
)

// gapped returns two views of n samples, where some samples lack the first view and others the second, and a
// target that depends on both.
func gapped(seed uint64, n int) (a, b Features, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 12))
	a, b = normal(rng, n, 2), normal(rng, n, 1)
	for i := range n {
		y = append(y, math.Sin(2*a.At(i, 0))+2*math.Tanh(b.At(i, 0))+0.2*rng.NormFloat64())
		switch {
		case i%5 == 2:
			a.Set(i, 0, math.NaN())
			a.Set(i, 1, math.NaN())
		case i%4 == 1:
			b.Set(i, 0, math.NaN())
		}
	}
	return a, b, y
}

// expectedKernels are the kernels of the samples in x, and of those in z with them and with
// themselves, by their definition: each feature that is NaN takes the value of every sample of
// x that has it.
func expectedKernels(x, z Features, k func(x, y []float64) float64) (train, cross la.Matrix[float64], self []float64) {
	var pool [][]float64
	for i := range x.Rows {
		if !math.IsNaN(x.At(i, 0)) {
			pool = append(pool, x.Row(i))
		}
	}
	values := func(row []float64) [][]float64 {
		if math.IsNaN(row[0]) {
			return pool
		}
		return [][]float64{row}
	}
	expect := func(x, y []float64, same bool) (mean float64) {
		var n float64
		for _, u := range values(x) {
			for _, v := range values(y) {
				if same {
					v = u
				}
				mean, n = mean+k(u, v), n+1
			}
		}
		return mean / n
	}
	train, cross = la.NewMatrix[float64](x.Rows, x.Rows), la.NewMatrix[float64](z.Rows, x.Rows)
	for i := range x.Rows {
		for j := range x.Rows {
			train.Set(i, j, expect(x.Row(i), x.Row(j), i == j))
		}
		for j := range z.Rows {
			cross.Set(j, i, expect(z.Row(j), x.Row(i), false))
		}
	}
	for j := range z.Rows {
		self = append(self, expect(z.Row(j), z.Row(j), true))
	}
	return train, cross, self
}

func gaussianOf(width float64) func(x, y []float64) float64 {
	return func(x, y []float64) float64 {
		var d float64
		for j := range x {
			d += (x[j] - y[j]) * (x[j] - y[j])
		}
		return math.Exp(-d / (2 * width * width))
	}
}

func innerOf(x, y []float64) (sum float64) {
	for j := range x {
		sum += x[j] * y[j]
	}
	return sum
}

// withSelf adds a column.
func withSelf(x la.Matrix[float64], self []float64) la.Matrix[float64] {
	y := la.NewMatrix[float64](x.Rows, x.Cols+1)
	for i := range x.Rows {
		copy(y.Row(i), x.Row(i))
		y.Set(i, x.Cols, self[i])
	}
	return y
}

// A model of views with gaps equals the model of the expected kernels, for every family; a regression
// also has a noise for each pattern.
func TestMissingViewsAreExpectedKernels(t *testing.T) {
	ctx := context.Background()
	a, b, y := gapped(1, 30)
	za, zb, _ := gapped(2, 12)
	ka, ca, sa := expectedKernels(a, za, gaussianOf(1.5))
	kb, cb, sb := expectedKernels(b, zb, gaussianOf(0.8))
	kl, cl, sl := expectedKernels(b, zb, innerOf)
	views := []View{{X: a, Input: "x1", Kernel: kernel.RBF{Width: 1.5}}, {X: b, Input: "x2", Kernel: kernel.RBF{Width: 0.8}}, {X: b, Input: "x2", Kernel: kernel.Linear{}, Center: true}}
	same := []View{{X: ka, Input: "x1", Kernel: kernel.Precomputed{}}, {X: kb, Input: "x2", Kernel: kernel.Precomputed{}}, {X: kl, Input: "x3", Kernel: kernel.Precomputed{}, Center: true}}
	class := parts(y, 2)
	f := fitting{Ascent: Ascent{MaxSweeps: 20}}
	gaps := f
	gaps.missingViews = true

	// With scales at their mode: draws depend on the columns of views, which the expected kernels do not have.
	g, err := MultiGP{Fitting: gaps.Fitting, Climb: gaps.climb(), MissingViews: gaps.missingViews, PointScales: true}.Fit(ctx, views, y)
	require.NoError(t, err)
	h, err := MultiGP{Fitting: f.Fitting, Climb: f.climb(), MissingViews: f.missingViews, PointScales: true}.Fit(ctx, same, y)
	require.NoError(t, err)
	assert.InEpsilon(t, h.Bound(), g.Bound(), 1e-9)
	got, err := predictRegression(g, 0, za, zb)
	require.NoError(t, err)
	want, err := predictRegression(h, 0, withSelf(ca, sa), withSelf(cb, sb), withSelf(cl, sl))
	require.NoError(t, err)
	assert.InDeltaSlice(t, want, got, 1e-8)

	// Weighted kernels see nothing of such a sample itself, centred ones up to a constant.
	views[2].Center, same[2].Center = false, false
	for _, k := range []struct{ of, x la.Matrix[float64] }{{ka, a}, {kb, b}, {kl, b}} {
		for i := range k.x.Rows {
			for j := range k.x.Rows {
				if i != j && math.IsNaN(k.x.At(i, 0)) && math.IsNaN(k.x.At(j, 0)) {
					k.of.Set(i, i, k.of.At(i, j))
				}
			}
		}
	}
	c, err := Classifier[int]{Fitting: gaps.Fitting, Ascent: gaps.Ascent, MissingViews: gaps.missingViews}.Fit(ctx, views, class)
	require.NoError(t, err)
	d, err := Classifier[int]{Fitting: f.Fitting, Ascent: f.Ascent, MissingViews: f.missingViews}.Fit(ctx, same, class)
	require.NoError(t, err)
	assert.InEpsilon(t, d.Bound(), c.Bound(), 1e-6, "rounding is amplified")
	scores, err := c.PredictClasses(ctx, PredictOptions{}, za, zb)
	require.NoError(t, err)
	bare, err := d.PredictClasses(ctx, PredictOptions{}, ca, cb, cl)
	require.NoError(t, err)
	for i := range za.Rows {
		assert.InDelta(t, bare.Decision[i][1], scores.Decision[i][1], 1e-3)
		if !math.IsNaN(za.At(i, 0)) && !math.IsNaN(zb.At(i, 0)) {
			assert.InDelta(t, bare.Probability[i][1], scores.Probability[i][1], 1e-3)
		} else {
			away := func(p float64) float64 { return math.Abs(p - 0.5) }
			assert.Less(t, away(scores.Probability[i][1]), away(bare.Probability[i][1]), "less sure without a view")
		}
	}

	r, err := Regression{Fitting: gaps.Fitting, Ascent: gaps.Ascent, MissingViews: gaps.missingViews, RawTargets: true, Plain: true}.Fit(ctx, views, y)
	require.NoError(t, err)
	k, err := vi.NewDense(ka, kb, kl)
	require.NoError(t, err)
	groups := make([]int, len(y)) // in the order in which patterns appear
	for i := range groups {
		switch {
		case math.IsNaN(a.At(i, 0)):
			groups[i] = 2
		case math.IsNaN(b.At(i, 0)):
			groups[i] = 1
		}
	}
	fit, err := bemkl.Regression{Groups: groups, Plain: true, Ascent: vi.Ascent{MaxSweeps: 20}}.Fit(ctx, k, la.MatrixOf(1, len(y), y))
	require.NoError(t, err)
	assert.InEpsilon(t, fit.Record.Bound(), r.Bound(), 1e-7)
	noise := fit.Posterior.State().GroupNoise[0]
	p, err := r.PredictTargets(ctx, PredictOptions{}, a, b)
	require.NoError(t, err)
	plain, err := fit.Posterior.Predict(k, vi.PredictOptions{})
	require.NoError(t, err)
	for i, group := range groups {
		assert.InDelta(t, plain.Mean.At(0, i), p.Mean[0][i], 1e-5)
		assert.InEpsilon(t, plain.Variance.At(0, i)-1/noise[0].Mean()+1/noise[group].Mean(), p.Variance[0][i], 1e-5)
	}
	assert.Contains(t, r.Summary(), "without x1: noise SD ")
}

// Of a Gaussian process the prediction is the conditional mean and variance of a Gaussian with
// the expected kernels, computed by elimination.
func TestMissingViewsAgainstTheExactGaussian(t *testing.T) {
	ctx := context.Background()
	a, b, y := gapped(3, 24)
	za, zb, _ := gapped(4, 10)
	m, err := MultiGP{MissingViews: true, RawTargets: true, PointScales: true}.Fit(ctx, []View{{X: a, Input: "x1", Kernel: kernel.RBF{Width: 1}}, {X: b, Input: "x2", Kernel: kernel.RBF{Width: 1}}}, y)
	require.NoError(t, err)
	got, err := m.PredictTargets(ctx, PredictOptions{}, za, zb)
	require.NoError(t, err)
	amplitude := amplitudes(m.Posterior())
	noise := m.NoiseSD()[0] * m.NoiseSD()[0]
	ka, ca, sa := expectedKernels(a, za, gaussianOf(1))
	kb, cb, sb := expectedKernels(b, zb, gaussianOf(1))
	n := len(y)
	for j := range za.Rows {
		// The joint covariance of y and the new value, which elimination conditions.
		joint, mean := la.NewMatrix[float64](n+1, n+1), append(slices.Clone(y), 0)
		for i := range n {
			for l := range n {
				joint.Set(i, l, amplitude[0]*ka.At(i, l)+amplitude[1]*kb.At(i, l))
			}
			joint.Set(i, i, joint.At(i, i)+noise)
			c := amplitude[0]*ca.At(j, i) + amplitude[1]*cb.At(j, i)
			joint.Set(i, n, c)
			joint.Set(n, i, c)
		}
		joint.Set(n, n, amplitude[0]*sa[j]+amplitude[1]*sb[j]+noise)
		for p := range n {
			for i := p + 1; i <= n; i++ {
				f := joint.At(i, p) / joint.At(p, p)
				for l := p; l <= n; l++ {
					joint.Set(i, l, joint.At(i, l)-f*joint.At(p, l))
				}
				mean[i] -= f * mean[p]
			}
		}
		assert.InDelta(t, -mean[n], got.Mean[0][j], 1e-8)
		assert.InEpsilon(t, joint.At(n, n), got.Variance[0][j], 1e-8)
	}
}

// Predictions widen where a view is missing as much as their errors do, of numbers and of
// classes.
func TestPredictionsWidenWithoutAView(t *testing.T) {
	testkit.NotShort(t)
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 7))
	draw := func(n int) (a, b Features, y []float64) {
		a, b = normal(rng, n, 1), normal(rng, n, 1)
		for i := range n {
			y = append(y, math.Sin(2*a.At(i, 0))+math.Tanh(2*b.At(i, 0))+0.3*rng.NormFloat64())
			if rng.IntN(3) == 0 {
				b.Set(i, 0, math.NaN())
			}
		}
		return a, b, y
	}
	views := func(a, b Features) []View {
		return []View{{X: a, Input: "x1", Kernel: kernel.RBF{Width: 1}}, {X: b, Input: "x2", Kernel: kernel.RBF{Width: 1}}}
	}
	positive := func(y []float64) (class []int) {
		for _, v := range y {
			class = append(class, int(math.Copysign(1, v)))
		}
		return class
	}
	f := fitting{missingViews: true}
	type tally struct{ square, variance, right, sure, n float64 }
	tallies := map[string]map[bool]*tally{}
	for range 3 {
		a, b, y := draw(200)
		za, zb, want := draw(500)
		for name, fit := range map[string]func() (Model, error){
			"regression": func() (Model, error) {
				return orNil(Regression{Fitting: f.Fitting, Ascent: f.Ascent, MissingViews: f.missingViews}.Fit(ctx, views(a, b), y))
			},
			"process": func() (Model, error) {
				return orNil(MultiGP{Fitting: f.Fitting, Climb: f.climb(), MissingViews: f.missingViews}.Fit(ctx, views(a, b), y))
			},
			"classifier": func() (Model, error) {
				return orNil(Classifier[int]{Fitting: f.Fitting, Ascent: f.Ascent, MissingViews: f.missingViews}.Fit(ctx, views(a, b), positive(y)))
			},
			"process classifier": func() (Model, error) {
				return orNil(MultiGPClassifier[int]{Fitting: f.Fitting, Climb: f.climb(), MissingViews: f.missingViews}.Fit(ctx, views(a, b), positive(y)))
			},
			"probit": func() (Model, error) {
				return orNil(ProbitClassifier[int]{Fitting: f.Fitting, Ascent: f.Ascent, MissingViews: f.missingViews}.Fit(ctx, views(a, b), positive(y)))
			},
		} {
			m, err := fit()
			require.NoError(t, err)
			if tallies[name] == nil {
				tallies[name] = map[bool]*tally{false: {}, true: {}}
			}
			var p *Prediction
			var q *ClassPrediction[int]
			switch m := m.(type) {
			case TargetModel:
				p, err = m.PredictTargets(ctx, PredictOptions{}, za, zb)
			case ClassModel[int]:
				q, err = m.PredictClasses(ctx, PredictOptions{}, za, zb)
			}
			require.NoError(t, err)
			for i, v := range want {
				c := tallies[name][math.IsNaN(zb.At(i, 0))]
				c.n++
				if p != nil {
					c.square += (v - p.Mean[0][i]) * (v - p.Mean[0][i])
					c.variance += p.Variance[0][i]
					continue
				}
				c.sure += slices.Max(q.Probability[i])
				if q.Label[i] == positive(want)[i] {
					c.right++
				}
			}
		}
	}
	for name, both := range tallies {
		for absent, c := range both {
			if c.sure == 0 {
				t.Log(name, absent, fmt.Sprintf("error %.3f, SD %.3f", math.Sqrt(c.square/c.n), math.Sqrt(c.variance/c.n)))
				assert.InDelta(t, 1, math.Sqrt(c.variance/c.square), 0.25, "%s, absent %v", name, absent)
			} else {
				t.Log(name, absent, fmt.Sprintf("%.3f right, %.3f sure", c.right/c.n, c.sure/c.n))
				assert.InDelta(t, c.right/c.n, c.sure/c.n, 0.06, "%s, absent %v", name, absent)
			}
		}
		if both[true].sure == 0 {
			assert.Greater(t, both[true].variance/both[true].n, 3*both[false].variance/both[false].n, name)
		} else {
			assert.Less(t, both[true].sure/both[true].n, both[false].sure/both[false].n, name)
		}
	}
}

// A file keeps what predictions without a view need, and a predictor of single samples says
// what the model says.
func TestMissingViewsAreSavedAndPredictedOneByOne(t *testing.T) {
	ctx := context.Background()
	a, b, y := gapped(5, 40)
	za, zb, _ := gapped(6, 20)
	views := []View{
		{X: a, Input: "x1", Kernel: kernel.RBF{}, Standardize: true}, {X: b, Input: "x2", Kernel: kernel.Linear{}, Center: true, Normalize: true}, {X: b, Input: "x2", Kernel: kernel.Laplacian{}, Ranks: true},
	}
	m, err := Regression{Ascent: Ascent{MaxSweeps: 30}, MissingViews: true}.Fit(ctx, views, y)
	require.NoError(t, err)
	want, err := m.PredictTargets(ctx, PredictOptions{}, za, zb)
	require.NoError(t, err)
	loaded := requireFile(t, m, LoadAs[*RegressionModel], 997)
	again, err := loaded.PredictTargets(ctx, PredictOptions{}, za, zb)
	require.NoError(t, err)
	assert.Equal(t, want, again)
	for _, exact := range []bool{true, false} {
		p, err := loaded.Predictor(PredictorOptions{Exact: exact})
		require.NoError(t, err)
		for i := range za.Rows {
			requireWithin(t, p, want.Mean[0][i], want.Variance[0][i], za.Row(i), zb.Row(i))
		}
		if !raceEnabled {
			assert.Zero(t, testing.AllocsPerRun(50, func() { _, _, _ = p.Predict(za.Row(2), zb.Row(2)) }))
		}
	}
	g, err := MultiGP{MissingViews: true}.Fit(ctx, views, y)
	require.NoError(t, err)
	p, err := g.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	want, err = g.PredictTargets(ctx, PredictOptions{}, za, zb)
	require.NoError(t, err)
	for i := range za.Rows {
		mean, variance, err := p.Predict(za.Row(i), zb.Row(i))
		require.NoError(t, err)
		assert.InDelta(t, want.Mean[0][i], mean, 1e-9)
		assert.InEpsilon(t, want.Variance[0][i], variance, 1e-9)
	}
	c, err := Classifier[int]{Ascent: Ascent{MaxSweeps: 20}, MissingViews: true}.Fit(ctx, views, parts(y, 2))
	require.NoError(t, err)
	for _, published := range []bool{false, true} {
		all, err := c.PredictClasses(ctx, PredictOptions{Published: published}, za, zb)
		require.NoError(t, err)
		p, err := c.Predictor(PredictorOptions{Published: published, Exact: true})
		require.NoError(t, err)
		probability := make([]float64, 2)
		for i := range za.Rows {
			_, err := p.Predict(probability, za.Row(i), zb.Row(i))
			require.NoError(t, err)
			assert.InDeltaSlice(t, all.Probability[i], probability, 1e-9, "published %v", published)
		}
	}
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts["input.0.lacking"].data[3] = 0.5 }, `tensor "input.0.lacking": entry 3 is 0.5`)
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { clear(ts["input.0.lacking"].data) }, `tensor "input.0.lacking": 0 of 40 basis points lack the view`)
}

// A probit machine takes for what a sample lacks one training sample after another that has it, and a
// file and a predictor of single samples do as the model does, after either inference.
func TestMissingViewsOfTheProbitMachine(t *testing.T) {
	ctx := context.Background()
	a, b, y := gapped(5, 30)
	za, zb, _ := gapped(6, 10)
	views := []View{
		{X: a, Input: "x1", Kernel: kernel.RBF{Width: 1}, Standardize: true}, {X: b, Input: "x2", Kernel: kernel.Linear{}, Center: true, Normalize: true}, {X: b, Input: "x2", Kernel: kernel.RBF{Width: 2}},
	}
	for _, c := range []probitEstimator[int]{
		ProbitClassifier[int]{Ascent: Ascent{MaxSweeps: 20}, MissingViews: true, Rule: WeightedSum{}},
		ProbitSampler[int]{MissingViews: true, Rule: WeightedSum{}, GibbsDraws: GibbsDraws{Chains: 2, Draws: 10, Thin: 1}},
	} {
		m, err := c.Fit(ctx, views, parts(y, 3))
		require.NoError(t, err)
		got, err := m.PredictClasses(ctx, PredictOptions{}, za, zb)
		require.NoError(t, err)
		for i := range za.Rows {
			var one, other Features
			for k := range a.Rows {
				u, v := za.Row(i), zb.Row(i)
				if gram.Lacks(u) {
					u = a.Row(k)
				}
				if gram.Lacks(v) {
					v = b.Row(k)
				}
				if !gram.Lacks(u) && !gram.Lacks(v) {
					one.Data, other.Data = append(one.Data, u...), append(other.Data, v...)
				}
			}
			n := len(other.Data)
			all, err := m.PredictClasses(ctx, PredictOptions{}, la.MatrixOf(n, 2, one.Data), la.MatrixOf(n, 1, other.Data))
			require.NoError(t, err)
			probability, decision := make([]float64, 3), make([]float64, 3)
			meanOf(all.Probability, probability)
			meanOf(all.Decision, decision)
			assert.InDeltaSlice(t, probability, got.Probability[i], 1e-9, "sample %d", i)
			assert.InDeltaSlice(t, decision, got.Decision[i], 1e-9, "sample %d", i)
		}
		loaded := requireFile(t, m, LoadAs[*ProbitClassifierModel[int]], 9973)
		again, err := loaded.PredictClasses(ctx, PredictOptions{}, za, zb)
		require.NoError(t, err)
		assert.Equal(t, got, again)
		p, err := loaded.Predictor(PredictorOptions{})
		require.NoError(t, err)
		probability := make([]float64, 3)
		for i := range za.Rows {
			_, err := p.Predict(probability, za.Row(i), zb.Row(i))
			require.NoError(t, err)
			assert.InDeltaSlice(t, got.Probability[i], probability, 1e-9, "sample %d", i)
		}
		if !raceEnabled {
			assert.Zero(t, testing.AllocsPerRun(20, func() { _, _ = p.Predict(probability, za.Row(2), zb.Row(2)) }))
		}
	}
}

// Where no sample has all that one lacks, each view is another sample's.
func TestStandInsOfSeveralSamples(t *testing.T) {
	inputs := []gram.Input{
		{Gaps: true, Basis: la.MatrixOf(4, 1, []float64{1, 2, 0, 0}), Lacking: []bool{false, false, true, true}},
		{Gaps: true, Basis: la.MatrixOf(4, 1, []float64{0, 0, 3, 4}), Lacking: []bool{true, true, false, false}},
	}
	s := newStandIns(inputs, 4, []bool{true, true})
	assert.Equal(t, mostStandIns, s.n)
	seen := map[[2]float64]bool{}
	x := make([][]float64, 2)
	for k := range s.n {
		s.fill(k, x)
		seen[[2]float64{x[0][0], x[1][0]}] = true
	}
	assert.ElementsMatch(t, [][2]float64{{1, 3}, {1, 4}, {2, 3}, {2, 4}}, slices.Collect(maps.Keys(seen)))
	assert.Zero(t, newStandIns(inputs, 4, []bool{false, false}).n)
}

// Without missing views the setting changes nothing but that they may be missing later.
func TestMissingViewsOfCompleteSamples(t *testing.T) {
	ctx := context.Background()
	views, y, _, _ := twoInputs(5, 30)
	views = views[2:]
	one, err := Regression{Ascent: Ascent{MaxSweeps: 20}, MissingViews: true}.Fit(ctx, views, y)
	require.NoError(t, err)
	two, err := Regression{Ascent: Ascent{MaxSweeps: 20}}.Fit(ctx, views, y)
	require.NoError(t, err)
	assert.Equal(t, two.Bound(), one.Bound())
	x := []Features{}
	for _, in := range one.Inputs() {
		x = append(x, matrix(2, in.Cols, func(i, _ int) float64 { return []float64{math.NaN(), 0.3}[i] }))
	}
	p, err := one.PredictTargets(ctx, PredictOptions{}, x...)
	require.NoError(t, err)
	assert.Greater(t, p.Variance[0][0], p.Variance[0][1])
	_, err = two.PredictTargets(ctx, PredictOptions{}, x...)
	assert.EqualError(t, err, "mkl: x[0][0][0] is NaN")

	// Also of kernels that are given, with fewer basis points than samples.
	given := []View{{X: matrix(30, 6, func(i, j int) float64 { return math.Cos(float64(i * (j + 1))) }), Kernel: kernel.Precomputed{}}}
	one, err = Regression{Ascent: Ascent{MaxSweeps: 5}, MissingViews: true}.Fit(ctx, given, y)
	require.NoError(t, err)
	two, err = Regression{Ascent: Ascent{MaxSweeps: 5}}.Fit(ctx, given, y)
	require.NoError(t, err)
	assert.Equal(t, two.Bound(), one.Bound())
}

func TestMissingViewsRefusals(t *testing.T) {
	ctx := context.Background()
	a, b, y := gapped(1, 12)
	f := fitting{missingViews: true}
	_, err := Regression{}.Fit(ctx, []View{{X: a, Kernel: kernel.Linear{}}}, y)
	assert.EqualError(t, err, "mkl: views[0].X[2][0] is NaN")
	half := a.Clone()
	half.Set(2, 1, 1)
	_, err = Regression{Fitting: f.Fitting, Ascent: f.Ascent, MissingViews: f.missingViews}.Fit(ctx, []View{{X: half, Kernel: kernel.Linear{}}}, y)
	assert.EqualError(t, err, "mkl: views[0].X[2][0] is NaN")
	none := b.Clone()
	none.Fill(math.NaN())
	none.Set(3, 0, 1)
	_, err = Regression{Fitting: f.Fitting, Ascent: f.Ascent, MissingViews: f.missingViews}.Fit(ctx, []View{{X: none, Kernel: kernel.Linear{}}}, y)
	assert.EqualError(t, err, "mkl: views[0] (linear): 1 of 12 samples have the view where at least 2 are needed")
	_, err = MultiGP{Fitting: f.Fitting, Climb: f.climb(), MissingViews: f.missingViews}.Fit(ctx, []View{{X: a, Kernel: kernel.RBF{ARD: true}}}, y)
	assert.ErrorContains(t, err, "ARD excludes MissingViews")
	f.slopes = func(Slopes) {}
	f.MaxSweeps = 2
	_, err = Regression{Fitting: f.Fitting, Ascent: f.Ascent, MissingViews: f.missingViews, Slopes: f.slopes}.Fit(ctx, []View{{X: a, Kernel: kernel.Linear{}}}, y)
	assert.EqualError(t, err, "mkl: Slopes: MissingViews leaves no derivatives with respect to the widths")
}

// The amplitudes of views that samples lack are the amplitudes of the expected kernels.
func TestAmplitudesOfMissingViewsAreOfExpectedKernels(t *testing.T) {
	ctx := context.Background()
	a, b, y := gapped(7, 40)
	ka, _, _ := expectedKernels(a, a, gaussianOf(1.5))
	kb, _, _ := expectedKernels(b, b, gaussianOf(0.8))
	_, z := standardizeTargets([][]float64{y}, false)
	fit := func(views []View, gaps bool) ([]float64, *amplitude.Process) {
		k, err := newAmplitudeKernels(ctx, &fitting{missingViews: gaps}, KernelsOfView, views, [][]float64{make([]float64, views[0].X.Rows)}, false)
		require.NoError(t, err)
		p := amplitude.Problem{Kernels: k.packed, Layout: k.layout, Y: z}
		q, err := p.Screen(ctx)
		require.NoError(t, err)
		of, err := p.At([]float64{0.7, 0.4}, 0.3)
		require.NoError(t, err)
		return q, of
	}
	views := []View{{X: a, Input: "a", Kernel: kernel.RBF{Width: 1.5}}, {X: b, Input: "b", Kernel: kernel.RBF{Width: 0.8}}}
	same := []View{{X: ka, Input: "a", Kernel: kernel.Precomputed{}}, {X: kb, Input: "b", Kernel: kernel.Precomputed{}}}
	alone, got := fit(views, true)
	of, want := fit(same, false)
	assert.InDeltaSlice(t, of, alone, 1e-5)
	assert.InEpsilon(t, want.LogEvidence, got.LogEvidence, 1e-9)
	for i, v := range want.LeftOutMean.Row(0) {
		assert.InDelta(t, v, got.LeftOutMean.At(0, i), 1e-9)
		assert.InEpsilon(t, want.LeftOutVariance[i], got.LeftOutVariance[i], 1e-9)
	}
}

// Pools that choose kernels learn from samples that lack views, and their files and predictors predict such samples. Without MissingViews
// such samples are refused.
func TestPoolsChooseKernelsOfMissingViews(t *testing.T) {
	ctx := context.Background()
	a, b, y := gapped(9, 40)
	za, zb, _ := gapped(10, 15)
	views := []View{{X: a, Input: "a"}, {X: b, Input: "b"}}
	m, err := Auto{MissingViews: true}.Fit(ctx, views, y)
	require.NoError(t, err)
	assert.Contains(t, m.Summary(), "one width a feature: left out, for widths are not learned from samples that lack views")
	want, err := m.PredictTargets(ctx, PredictOptions{}, za, zb)
	require.NoError(t, err)
	loaded := requireFile(t, m, LoadAs[*AutoModel], 997)
	again, err := loaded.PredictTargets(ctx, PredictOptions{}, za, zb)
	require.NoError(t, err)
	assert.Equal(t, want, again)
	one, err := loaded.Predictor(PredictorOptions{})
	require.NoError(t, err)
	shown, err := m.PredictViews(ctx, PredictOptions{}, za, zb)
	require.NoError(t, err)
	var lacking, whole []float64
	for i := range za.Rows {
		requireWithin(t, one, want.Mean[0][i], want.Variance[0][i], za.Row(i), zb.Row(i))
		assert.InDelta(t, want.Mean[0][i], shown.Constant+shown.Mean[0][i]+shown.Mean[1][i], 1e-9)
		if gram.Lacks(za.Row(i)) || gram.Lacks(zb.Row(i)) {
			lacking = append(lacking, want.Variance[0][i])
		} else {
			whole = append(whole, want.Variance[0][i])
		}
	}
	with, _ := vec.MeanSD(whole)
	without, _ := vec.MeanSD(lacking)
	assert.Greater(t, without, 1.2*with)
	require.Len(t, m.Views(), 2)

	c, err := AutoClassifier[int]{MissingViews: true}.Fit(ctx, views, parts(y, 3))
	require.NoError(t, err)
	all, err := c.PredictClasses(ctx, PredictOptions{}, za, zb)
	require.NoError(t, err)
	p, err := requireFile(t, c, LoadAs[*AutoClassifierModel[int]], 997).Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	probability := make([]float64, 3)
	for i := range za.Rows {
		_, err := p.Predict(probability, za.Row(i), zb.Row(i))
		require.NoError(t, err)
		assert.InDeltaSlice(t, all.Probability[i], probability, 1e-9)
	}
	_, err = Auto{}.Fit(ctx, views, y)
	assert.EqualError(t, err, "mkl: views[0].X[2][0] is NaN")
	_, err = AutoTargets{MissingViews: true}.Fit(ctx, views, y, y)
	require.NoError(t, err)
}

// Kernels are chosen from the samples that have the view.
func TestKernelsOfSamplesThatHaveTheView(t *testing.T) {
	a, _, _ := gapped(11, 30)
	x := matrix(30, 4, func(i, j int) float64 {
		switch {
		case gram.Lacks(a.Row(i)):
			return math.NaN()
		case j == 2:
			return 1000
		}
		return 500 + math.Sin(float64(i*(j+1)))
	})
	of := func(x Features) (kernels []string) {
		views, notes, err := FillViews(KernelsBroad|KernelsAdditive, []View{{X: x}})
		require.NoError(t, err)
		for _, v := range views {
			kernels = append(kernels, fmt.Sprint(v.Kernel, v.Columns, v.Ranks))
		}
		return append(kernels, notes...)
	}
	assert.Equal(t, of(presentRows(x)), of(x))
	_, _, err := FillViews(KernelsARD, []View{{X: x}})
	assert.ErrorContains(t, err, "ARD excludes MissingViews")
}
