package mkl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// crests returns samples of the function of waves f, and their classes, with noise. With two classes the
// probability of the second is Φ((f − 6)/noise).
func crests(seed uint64, n, classes int, noise float64) (x Features, labels []string, truth []float64) {
	x, f := waves(seed, n, 0)
	rng := rand.New(rand.NewPCG(seed, 12))
	for _, f := range f {
		v := f + noise*rng.NormFloat64()
		c := 0
		for c < classes-1 && v > []float64{6, 7.5, 8.5}[c] {
			c++
		}
		labels = append(labels, []string{"low", "rising", "high", "top"}[c])
		truth = append(truth, special.Exp(special.LogNormalCDF((f-6)/noise)))
	}
	return x, labels, truth
}

// labelledRows yields samples in pieces, and then the error unless it is nil.
func labelledRows(x Features, labels []string, piece int, err error) iter.Seq2[ClassRows[string], error] {
	return func(yield func(ClassRows[string], error) bool) {
		for first := 0; first < len(labels); first += piece {
			last := min(len(labels), first+piece)
			if !yield(ClassRows[string]{labels[first:last], rowsFrom([]Features{x}, first, last)}, nil) {
				return
			}
		}
		if err != nil {
			yield(ClassRows[string]{}, err)
		}
	}
}

// Passes by kernels, and sums in parts, are the fit to the features themselves of all samples at once.
func TestLandmarkClassifierIsTheFitOfItsFeatures(t *testing.T) {
	const n = 700
	x, labels, _ := crests(1, n, 4, 0.5)
	c := LandmarkClassifier[string]{Landmarks: &Landmarks{Count: 15}, MinRise: 1e-9}
	m, err := c.Fit(t.Context(), waveViews(x), labels)
	require.NoError(t, err)
	require.Len(t, m.posteriors, 4)

	// The features of all samples, centred, and 1.
	p := m.plan
	k, err := vectorKernels(p, x)
	require.NoError(t, err)
	D := p.width() + 1
	phi := la.NewMatrix[float64](D, n)
	first := 0
	for i, by := range p.by {
		rows := phi.Slice(first, first+by.Rows, 0, n)
		la.Gemm(nil, la.NoTrans, la.NoTrans, 1, by, k[i], 0, rows)
		for d := range rows.Rows {
			mean := vec.Total(rows.Row(d)) / n
			for j := range rows.Row(d) {
				rows.Row(d)[j] -= mean
			}
		}
		first += by.Rows
	}
	for j := range n {
		phi.Set(D-1, j, 1)
	}
	y := la.NewMatrix[float64](4, n)
	for o, class := range m.Classes() {
		for i, label := range labels {
			y.Set(o, i, map[bool]float64{true: 1, false: -1}[label == class])
		}
	}
	gram, sums := la.NewMatrix[float64](D, D), la.NewMatrix[float64](4, D)
	la.Syrk(nil, la.NoTrans, 1, phi, 0, gram)
	la.Gemm(nil, la.NoTrans, la.Transpose, 1, y, phi, 0, sums)
	want, err := mgp.Evidence{Ascent: vi.Ascent{Tolerance: 1e-9}}.FitFeatureLabels(t.Context(), mgp.FeatureLabels{
		Blocks: append(p.Features(), 1), Gram: gram, Sums: sums, Samples: n,
		Pass: func(_ context.Context, q *mgp.Pass) error { return q.Add([]la.Matrix[float64]{phi}, y) },
	})
	require.NoError(t, err)
	var bound float64
	for o, w := range want {
		bound += w.LogEvidence
		f, got := make([]float64, n), make([]float64, n)
		la.Gemv(nil, la.Transpose, 1, phi, w.Posterior.State().Mean, 0, f)
		la.Gemv(nil, la.Transpose, 1, phi, m.posteriors[o].State().Mean, 0, got)
		assert.InDeltaSlice(t, f, got, 1e-4)
	}
	assert.InDelta(t, bound, m.Bound(), 1e-3)

	// What a sample does not tell of its own function, by taking its parabola out of the sum of all at the mode.
	index := make([]int, n)
	for i, label := range labels {
		index[i] = slices.Index(m.Classes(), label)
	}
	scores, err := m.leftOutScores([][]float64{x.Data}, index, 1)
	require.NoError(t, err)
	for _, i := range []int{0, 99, 600} {
		o := index[i]
		s, c := m.posteriors[o].State(), m.curvatures[o]
		precision, at := gram.Clone(), column(phi, i)
		precision.MirrorLower()
		la.Scal(c, precision.Data)
		block, end := 0, s.Blocks[0]
		for d := range D {
			for d >= end {
				block++
				end += s.Blocks[block]
			}
			precision.Set(d, d, precision.At(d, d)+s.Gamma[block])
			la.Axpy(-c*at[d], at, precision.Row(d))
		}
		require.NoError(t, la.Cholesky(nil, precision))
		right := make([]float64, D)
		for j := range n {
			if j != i {
				fj, yj := la.Dot(column(phi, j), s.Mean), y.At(o, j)
				hj, _ := special.Mills(yj * fj)
				la.Axpy(c*fj+yj*hj, column(phi, j), right)
			}
		}
		mean, solved := slices.Clone(right), slices.Clone(at)
		la.CholeskySolveVec(precision, mean)
		la.CholeskySolveVec(precision, solved)
		z := la.Dot(at, mean) / math.Sqrt(1+la.Dot(at, solved))
		assert.InDelta(t, special.LogNormalCDF(z)-special.LogNormalCDF(-z), scores[i][o], 2e-3*(1+math.Abs(z)), "%d", i)
	}
}

func column(x la.Matrix[float64], j int) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		out[i] = x.At(i, j)
	}
	return out
}

// vectorKernels returns the kernels of samples with the landmarks.
func vectorKernels(p *ClassPlan[string], x Features) (k []la.Matrix[float64], err error) {
	for range p.by {
		k = append(k, la.NewMatrix[float64](p.design.D, x.Rows))
	}
	return k, p.design.Cross(context.Background(), 1, []Features{x}, 0, k)
}

// The model does not depend on who summed the samples, in which pieces they are read, or on the workers; it
// is saved and loaded bit for bit, and its predictor is the model.
func TestLandmarkClassifierFromParts(t *testing.T) {
	const n = stat.BlockSamples + 300
	for _, classes := range []int{2, 3} {
		x, labels, _ := crests(2, n, classes, 0.6)
		c := LandmarkClassifier[string]{Landmarks: &Landmarks{Count: 8, Sample: 400}, MaxPasses: 3}
		p, err := c.Begin(t.Context(), waveViews(x)[:2], labels)
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, p.Save(&file))
		q, err := LoadAs[*ClassPlan[string]](&file)
		require.NoError(t, err)
		assert.Equal(t, p.Hash(), q.Hash())
		assert.Equal(t, p.Classes(), q.Classes())

		want, err := p.Fit(t.Context(), ClassPlanFitting{Fitting: Fitting{Workers: 1}, MaxPasses: 3}, labelledRows(x, labels, n, nil))
		require.NoError(t, err)
		file.Reset()
		require.NoError(t, want.Save(&file))
		var parts []*stat.Statistic
		for _, cut := range [][2]int{{stat.BlockSamples, n}, {0, stat.BlockSamples}} {
			s, err := q.Sum(t.Context(), 2, labelledRows(x.Slice(cut[0], cut[1], 0, 3), labels[cut[0]:cut[1]], 700, nil))
			require.NoError(t, err)
			parts = append(parts, s)
		}
		again, err := q.Fit(t.Context(), ClassPlanFitting{Fitting: Fitting{Workers: 3}, MaxPasses: 3}, labelledRows(x, labels, 333, nil), parts...)
		require.NoError(t, err)
		var other bytes.Buffer
		require.NoError(t, again.Save(&other))
		assert.True(t, bytes.Equal(file.Bytes(), other.Bytes()))

		l, err := LoadAs[*LandmarkClassifierModel[string]](&file)
		require.NoError(t, err)
		assert.Equal(t, want.Summary(), l.Summary())
		assert.EqualValues(t, n, l.Observations())
		points, _, _ := crests(3, 20, classes, 1)
		got, err := l.PredictClasses(t.Context(), PredictOptions{Workers: 2}, points)
		require.NoError(t, err)
		predicted, err := want.PredictClasses(t.Context(), PredictOptions{}, points)
		require.NoError(t, err)
		assert.Equal(t, predicted, got)
		one, err := l.Predictor(PredictorOptions{Exact: true})
		require.NoError(t, err)
		probability := make([]float64, classes)
		for i := range points.Rows {
			class, bound, err := one.PredictWithBound(probability, points.Row(i))
			require.NoError(t, err)
			assert.Equal(t, got.Label[i], class)
			assert.Zero(t, bound)
			assert.InDeltaSlice(t, got.Probability[i], probability, 1e-9)
		}
		if !raceEnabled {
			row := points.Row(0)
			assert.Zero(t, testing.AllocsPerRun(20, func() { _, _ = one.Predict(probability, row) }))
		}
		assert.Len(t, one.Info(), functions(classes))
	}
}

// Above DefaultExactSamples AutoClassifier fits all samples by landmarks and says so. Its probabilities are closer
// to the true ones than the probabilities of the exact model of some samples.
func TestAutoClassifierAtScale(t *testing.T) {
	testkit.NotShort(t)
	x, labels, _ := crests(9, DefaultExactSamples+1000, 2, 0.8)
	views, classes := []View{{X: x, Kernel: kernel.RBF{Width: 1.5}}}, []string{"low", "rising"}
	m, err := AutoClassifier[string]{Classes: classes}.Fit(t.Context(), views, labels)
	require.NoError(t, err)
	assert.Contains(t, m.Summary(), "predictions of 800 samples held out")
	assert.NotContains(t, m.Summary(), "chosen by chance")
	assert.True(t, m.Trace().Converged)

	points, _, truth := crests(10, 1000, 2, 0.8)
	off := func(m ClassModel[string]) (rms float64) {
		p, err := m.PredictClasses(t.Context(), PredictOptions{}, points)
		require.NoError(t, err)
		for i, p := range p.Probability {
			rms += (p[1] - truth[i]) * (p[1] - truth[i]) / 1000
		}
		return math.Sqrt(rms)
	}
	some := views[0]
	some.X = x.Slice(0, 400, 0, 3)
	exact, err := MultiGPClassifier[string]{Classes: classes}.Fit(t.Context(), []View{some}, labels[:400])
	require.NoError(t, err)
	assert.Less(t, off(m), 0.6*off(exact))
	_, probability, err := m.Predict(points)
	require.NoError(t, err)
	requireOddsAddUp(t, m, points)

	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	l, err := LoadAs[*AutoClassifierModel[string]](bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, m.Summary(), l.Summary())
	_, again, err := l.Predict(points)
	require.NoError(t, err)
	assert.Equal(t, probability, again)
	one, err := l.Predictor(PredictorOptions{})
	require.NoError(t, err)
	class, err := one.Predict(nil, points.Row(0))
	require.NoError(t, err)
	assert.Contains(t, []string{"low", "rising"}, class)
	assert.Less(t, AutoClassifier[string]{}.EstimateMemory(FitSize{Samples: 1_000_000, Kernels: 1, Outputs: 2}), int64(4<<30))
}

func TestLandmarkClassifierRefuses(t *testing.T) {
	x, labels, _ := crests(4, 60, 2, 0.5)
	views := waveViews(x)[:1]
	many := make([]string, 60)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	big := slices.Concat(many, many, []string{"a", "b", "c", "d", "e"}, many[:5])
	_, err := LandmarkClassifier[string]{}.Fit(t.Context(), []View{{X: la.NewMatrix[float64](130, 3), Kernel: kernel.RBF{}}}, big)
	assert.EqualError(t, err, "mkl: labels: 65 classes where landmarks take at most 64")
	_, err = LandmarkClassifier[string]{Fitting: Fitting{MemoryLimit: 1000}}.Fit(t.Context(), views, labels)
	assert.ErrorContains(t, err, "and may take")
	_, err = LandmarkClassifier[string]{Classes: []string{"low"}}.Begin(t.Context(), views, labels)
	assert.ErrorContains(t, err, "which is not one of Classes")

	manyX, manyLabels, _ := crests(5, 4000, 2, 0.5)
	_, err = MultiGPClassifier[string]{Fitting: Fitting{MemoryLimit: 1 << 20}}.Fit(t.Context(), waveViews(manyX), manyLabels)
	assert.ErrorContains(t, err, ": LandmarkClassifier would take about")

	p, err := LandmarkClassifier[string]{Landmarks: &Landmarks{Count: 9}, Classes: []string{"none", "rising", "low"}}.Begin(t.Context(), views, labels)
	require.NoError(t, err)
	_, err = p.Fit(t.Context(), ClassPlanFitting{}, labelledRows(x, labels, 10, nil))
	assert.EqualError(t, err, "mkl: sums: class none has no sample")
	_, err = p.Fit(t.Context(), ClassPlanFitting{}, nil)
	assert.EqualError(t, err, "mkl: rows is nil")
	_, err = p.Sum(t.Context(), 1, nil)
	assert.EqualError(t, err, "mkl: rows is nil")
	_, err = LoadAs[*Plan](written(t, p.Save))
	var kind *KindError
	require.ErrorAs(t, err, &kind)
	assert.Equal(t, "class-plan", kind.Kind)

	if p, err = (LandmarkClassifier[string]{Landmarks: &Landmarks{Count: 9}}).Begin(t.Context(), views, labels); err != nil {
		t.Fatal(err)
	}
	s, err := p.Sum(t.Context(), 1, labelledRows(x, labels, 10, nil))
	require.NoError(t, err)
	_, err = p.Fit(t.Context(), ClassPlanFitting{}, labelledRows(x.Slice(0, 50, 0, 3), labels[:50], 10, nil), s)
	assert.EqualError(t, err, "mkl: vi: a pass over 50 samples where there are 60")
	broken := errors.New("broken")
	_, err = p.Fit(t.Context(), ClassPlanFitting{}, labelledRows(x, labels, 10, broken), s)
	assert.ErrorIs(t, err, broken)
	wrong := slices.Clone(labels)
	wrong[33] = strings.Repeat("x", 500)
	_, err = p.Sum(t.Context(), 1, labelledRows(x, wrong, 10, nil))
	assert.ErrorContains(t, err, "mkl: labels[3] is xxx")
	assert.ErrorContains(t, err, "which is not a class of the plan")
	b, err := p.Builder(1)
	require.NoError(t, err)
	assert.EqualError(t, b.Add(labels[:2], x.Slice(0, 3, 0, 3)), "mkl: labels: 2 values where x[0] has 3 samples")

	// The model of an interrupted fit has the state after the passes before.
	ctx, stop := context.WithCancel(t.Context())
	passes := 0
	rows := labelledRows(x, labels, 10, nil)
	m, err := p.Fit(ctx, ClassPlanFitting{MinRise: 1e-12}, func(yield func(ClassRows[string], error) bool) {
		if passes++; passes == 3 {
			stop()
		}
		rows(yield)
	}, s)
	assert.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, m)
	assert.Equal(t, 2, m.Trace().Sweeps)
	assert.False(t, m.Trace().Converged)

	_, err = m.Predictor(PredictorOptions{MeanOnly: true})
	assert.EqualError(t, err, "mkl: Predictor: MeanOnly leaves no probabilities")
	for change, want := range map[[2]string]string{
		{`"observations":60`, `"observations":1`}:      "observations is 1",
		{`"sharpness":`, `"sharpness":9`}:              "sharpness is 9",
		{`"bounds":[`, `"bounds":[1,`}:                 "bounds of 2 functions where there are 1",
		{`"curvatures":[`, `"curvatures":[1,`}:         "curvatures of 2 functions where there are 1",
		{`"curvatures":[`, `"curvatures":[-`}:          "the curvature is -0.",
		{`"classes":["low",`, `"classes":["a","low",`}: "",
	} {
		assertRefused(t, written(t, m.Save).Bytes(), func(f map[string]string, _ map[string]tensor) {
			require.Contains(t, f["model"], change[0])
			f["model"] = strings.Replace(f["model"], change[0], change[1], 1)
		}, want)
	}
}

// written returns a file.
func written(t testing.TB, save func(w io.Writer) error) *bytes.Buffer {
	var file bytes.Buffer
	require.NoError(t, save(&file))
	return &file
}

// Widths of several functions become one: what matters to one matters.
func TestCommonKernels(t *testing.T) {
	of := func(w ...float64) *gram.Design {
		return &gram.Design{Views: []gram.Bound{{Kernel: kernel.RBF{ARD: true, Widths: w}}, {Kernel: kernel.Linear{}}}}
	}
	got := commonKernels([]*gram.Design{of(1, 100), of(100, 100)})
	assert.InDeltaSlice(t, []float64{math.Sqrt(2 / 1.0001), 100}, got[0].(kernel.RBF).Widths, 1e-9)
	assert.Equal(t, kernel.Linear{}, got[1])
}

// Certain labels do not switch kernels off. Each class consists of two clouds of samples, so that no plane separates
// the classes.
func TestLandmarkClassifierOfSureLabels(t *testing.T) {
	testkit.NotShort(t)
	const n, d, classes = 400, 6, 5
	src := rand.New(rand.NewPCG(1, 5))
	centres := la.NewMatrix[float64](2*classes, d)
	for i := range centres.Data {
		centres.Data[i] = src.NormFloat64()
	}
	draw := func() (Features, []int) {
		x, labels := la.NewMatrix[float64](n, d), make([]int, n)
		for i := range n {
			cloud := src.IntN(2 * classes)
			labels[i] = cloud / 2
			for j := range d {
				x.Set(i, j, centres.At(cloud, j)+0.3*src.NormFloat64())
			}
		}
		return x, labels
	}
	x, labels := draw()
	m, err := LandmarkClassifier[int]{Landmarks: &Landmarks{Count: 60}}.Fit(t.Context(), []View{{X: x}}, labels)
	require.NoError(t, err)
	x, labels = draw()
	_, probability, err := m.Predict(x)
	require.NoError(t, err)
	var loss float64
	for i, l := range labels {
		loss -= special.Log(probability[i][slices.Index(m.Classes(), l)]) / n
	}
	assert.Less(t, loss, 0.035) // with the curvature 1 for all samples it is .052
}

// A linear kernel of a column that is constant but for the rounding of its centre learns nothing: its weight stays
// where it starts, and the others' equal the weights of a fit without it. At a new value of the column no class is more
// probable than the kernel's prior allows: the classes keep their order and come nearer to each other.
func TestLandmarkClassifierOfConstantColumn(t *testing.T) {
	for _, classes := range []int{2, 3} {
		for _, value := range []float64{3.7, 0.1, 800.0 / 7} {
			x, labels, _ := crests(1, 300, classes, 0.3)
			constant := la.NewMatrix[float64](300, 1)
			constant.Fill(value)
			views := []View{{X: x, Kernel: kernel.RBF{Width: 2}}, {X: constant, Kernel: kernel.Linear{}, Input: "constant"}}
			c := LandmarkClassifier[string]{MinRise: 1e-9}
			m, err := c.Fit(t.Context(), views, labels)
			require.NoError(t, err)
			alone, err := c.Fit(t.Context(), views[:1], labels)
			require.NoError(t, err)
			assert.InEpsilon(t, alone.KernelWeights()[0].Mean, m.KernelWeights()[0].Mean, 0.01, "%d classes, %g", classes, value)
			// A third of a unit of each kernel at the training samples: two views and the bias.
			assert.InEpsilon(t, 1/(3*value*value), m.KernelWeights()[1].Mean, 1e-9, "%d classes, %g", classes, value)

			at := la.NewMatrix[float64](1, 1)
			at.Fill(value)
			_, near, err := m.Predict(x.Slice(7, 8, 0, x.Cols), at)
			require.NoError(t, err)
			_, without, err := alone.Predict(x.Slice(7, 8, 0, x.Cols))
			require.NoError(t, err)
			at.Fill(value + 1)
			_, far, err := m.Predict(x.Slice(7, 8, 0, x.Cols), at)
			require.NoError(t, err)
			for k := range classes {
				assert.InDelta(t, without[0][k], near[0][k], 1e-3)
			}
			assert.Less(t, slices.Max(far[0]), slices.Max(near[0]))
			assert.Greater(t, slices.Min(far[0]), slices.Min(near[0]))
		}
	}
}
