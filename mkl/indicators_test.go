package mkl

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// threeViews returns views of n samples, two that tell the three classes and numbers, and one of noise.
func threeViews(n int, seed uint64) (views []View, class []int, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	a, b, noise := normal(rng, n, 3), normal(rng, n, 2), normal(rng, n, 4)
	class, y = make([]int, n), make([]float64, n)
	for i := range n {
		y[i] = a.At(i, 0) + b.At(i, 1) + 0.1*rng.NormFloat64()
		switch {
		case y[i] > 0.5:
			class[i] = 2
		case y[i] > -0.5:
			class[i] = 1
		}
	}
	return []View{{Name: "a", Input: "a", X: a}, {Name: "b", Input: "b", X: b}, {Name: "noise", Input: "noise", X: noise}}, class, y
}

// gramOf returns Σ_j w_j·k_j between the samples of x and the basis points of a design.
func gramOf(t *testing.T, m *onViews, weight []float64, x []Features) (cross la.Matrix[float64], self []float64) {
	t.Helper()
	T := x[0].Rows
	ks := make([]la.Matrix[float64], len(m.design.Views))
	for i := range ks {
		ks[i] = la.NewMatrix[float64](m.design.D, T)
	}
	own := la.NewMatrix[float64](len(ks), T)
	require.NoError(t, m.design.CrossSelf(context.Background(), 1, x, 0, ks, own))
	cross, self = la.NewMatrix[float64](T, m.design.D), make([]float64, T)
	for j, w := range weight {
		for r := range T {
			self[r] += w * own.At(j, r)
			for i := range m.design.D {
				cross.Set(r, i, cross.At(r, i)+w*ks[j].At(i, r))
			}
		}
	}
	return cross, self
}

func matricesOf(views []View) (x []Features) {
	for _, v := range views {
		x = append(x, v.X)
	}
	return x
}

// Means and variances equal the moments of a dense Gaussian process with the kernel 11ᵀ + Σ a_j·K_j + σ²·I, and left-out
// probabilities come from a process that lacks the sample.
func TestIndicatorsAreADenseProcess(t *testing.T) {
	views, class, _ := threeViews(40, 1)
	at, _, _ := threeViews(6, 2)
	for _, K := range []int{2, 3} {
		some := make([]int, len(class))
		for i, c := range class {
			some[i] = min(c, K-1)
		}
		m := fitClasses(t, AutoClassifier[int]{}, views, some)
		require.Len(t, m.indicators, 2)
		for _, d := range m.indicators {
			gram, _ := gramOf(t, &d.onViews, d.weight, matricesOf(views))
			cross, self := gramOf(t, &d.onViews, d.weight, matricesOf(at))
			n := len(some)
			for i := range n {
				for j := range n {
					gram.Set(i, j, gram.At(i, j)+1)
				}
				gram.Set(i, i, gram.At(i, i)+d.process.Noise)
			}
			y := newIndicators(K, index(m.Classes(), some))
			p, err := d.PredictClasses(context.Background(), PredictOptions{}, matricesOf(at)...)
			require.NoError(t, err)
			for i := range at[0].X.Rows {
				k := make([]float64, n)
				for j := range k {
					k[j] = cross.At(i, j) + 1
				}
				solved := solve(gram, k)
				variance := 1 + self[i] - la.Dot(k, solved) + d.process.Noise
				mean := la.NewMatrix[float64](y.Rows, 1)
				for c := range y.Rows {
					mean.Set(c, 0, la.Dot(y.Row(c), solved))
				}
				want := rows(1, K)
				d.head.Probabilities(mean, []float64{variance}, want)
				assert.InDeltaSlice(t, want[0], p.Probability[i], 1e-7)
				assert.InDelta(t, mean.At(y.Rows-1, 0), p.Decision[i][K-1], 1e-6)
			}
			for _, out := range []int{0, 17} {
				var others []int
				for i := range n {
					if i != out {
						others = append(others, i)
					}
				}
				k := make([]float64, n-1)
				less := la.NewMatrix[float64](n-1, n-1)
				for i, a := range others {
					k[i] = gram.At(out, a)
					for j, b := range others {
						less.Set(i, j, gram.At(a, b))
					}
				}
				solved := solve(less, k)
				mean := la.NewMatrix[float64](y.Rows, 1)
				for c := range y.Rows {
					mean.Set(c, 0, la.Dot(vec.Picked(y.Row(c), others), solved))
				}
				want := rows(1, K)
				d.head.Probabilities(mean, []float64{gram.At(out, out) - la.Dot(k, solved)}, want)
				assert.InDeltaSlice(t, want[0], d.leftOut[out], 1e-6)
			}
		}
	}
}

// index returns the place of each label among the classes.
func index(classes, labels []int) (at []int) {
	for _, l := range labels {
		for c, v := range classes {
			if v == l {
				at = append(at, c)
			}
		}
	}
	return at
}

// solve returns A⁻¹b of a positive definite A.
func solve(a la.Matrix[float64], b []float64) []float64 {
	l := a.Clone()
	if err := la.Cholesky(nil, l); err != nil {
		panic(err)
	}
	x := la.MatrixOf(1, len(b), append([]float64(nil), b...))
	la.Trsm(nil, la.Right, la.Transpose, l, x)
	la.Trsm(nil, la.Right, la.NoTrans, l, x)
	return x.Row(0)
}

// With several views of three classes the pool has the two least-squares members alone, beside the columns as one table; a view of noise is left out of the first; and
// predictions of single samples, of a loaded model and of all samples are the same.
func TestPoolOfViews(t *testing.T) {
	views, class, y := threeViews(90, 3)
	at, _, _ := threeViews(5, 4)
	m := fitClasses(t, AutoClassifier[int]{part: true}, views, class)
	names, weights := m.Members()
	assert.Equal(t, []string{"kernels alike in all views", "few views"}, names)
	assert.Equal(t, []float64{0.5, 0.5}, weights)
	for _, w := range m.KernelWeights() {
		if strings.HasPrefix(w.View, names[0]) {
			assert.Equal(t, w.View[len(w.View)-5:] != "noise" && w.Kernel != "constant", w.Mean > 0, w.View)
		}
	}
	want, err := m.PredictClasses(context.Background(), PredictOptions{}, matricesOf(at)...)
	require.NoError(t, err)
	one, err := m.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	for i := range 5 {
		got := make([]float64, 3)
		label, err := one.Predict(got, at[0].X.Row(i), at[1].X.Row(i), at[2].X.Row(i))
		require.NoError(t, err)
		assert.Equal(t, want.Label[i], label)
		assert.InDeltaSlice(t, want.Probability[i], got, 1e-12)
	}
	if !raceEnabled {
		got, a, b, c := make([]float64, 3), at[0].X.Row(0), at[1].X.Row(0), at[2].X.Row(0)
		assert.Zero(t, testing.AllocsPerRun(20, func() { _, _ = one.Predict(got, a, b, c) }))
	}
	loaded := requireFile(t, m, LoadAs[*AutoClassifierModel[int]], 9001)
	again, err := loaded.PredictClasses(context.Background(), PredictOptions{}, matricesOf(at)...)
	require.NoError(t, err)
	assert.Equal(t, want, again)
	assert.Contains(t, m.Story(), "few views 50 %")

	table := m.Views()
	require.Len(t, table, 3)
	var sum float64
	for i, v := range table {
		sum += v.Share
		assert.Equal(t, views[i].Name, v.View)
		assert.Equal(t, v.View != "noise", v.Informative > 0.5, v.View)
		assert.Equal(t, v.View != "noise", v.In > 0.9, v.View)
		assert.Equal(t, v.View != "noise", v.Loss > 2*v.LossSE, v.View)
		assert.Equal(t, v.View != "noise", v.Share > 0.1, "%s: y is the sum of one feature of each of the others", v.View)
		assert.Positive(t, v.SD, v.View)
	}
	assert.InDelta(t, 1, sum, 1e-12, "every draw includes a view")
	assert.Equal(t, table, loaded.Views())

	r, err := Auto{}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	all, _ := r.Members()
	assert.Subset(t, append(all, r.dropped...), amplitudeNames())
	p, err := r.PredictTargets(context.Background(), PredictOptions{}, matricesOf(at)...)
	require.NoError(t, err)
	point, err := r.Predictor(PredictorOptions{Exact: true})
	require.NoError(t, err)
	mean, _, err := point.Predict(at[0].X.Row(0), at[1].X.Row(0), at[2].X.Row(0))
	require.NoError(t, err)
	assert.InDelta(t, p.Mean[0][0], mean, 1e-10)
}

func amplitudeNames() (names []string) {
	for _, m := range amplitudeMembers {
		names = append(names, m.name)
	}
	return names
}

// Damaged files of the least-squares members are refused.
func TestIndicatorFilesAreChecked(t *testing.T) {
	views, class, _ := threeViews(30, 5)
	m := fitClasses(t, AutoClassifier[int]{}, views, class)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	for _, d := range []struct {
		tensor string
		value  float64
		want   string
	}{
		{"member.0.weight", -1, "weight[0] is -1"},
		{"member.1.factor", 0, "factor: element (0, 0) is 0"},
		{"member.1.shares", 0, "element 0 is 0"},
		{"member.1.shares", 1.5, "shares[0] is 1.5"},
	} {
		assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { ts[d.tensor].data[0] = d.value }, d.want)
	}
	assertRefused(t, file.Bytes(), func(_ map[string]string, ts map[string]tensor) { delete(ts, "member.0.alpha") }, "is missing")
	assertRefused(t, file.Bytes(), func(md map[string]string, _ map[string]tensor) {
		md["model"] = strings.Replace(md["model"], `"share":`, `"share":7`, 1)
	}, "views[0]: share 7")
}
