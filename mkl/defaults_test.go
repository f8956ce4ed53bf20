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
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// notations returns the kernels of views with what they see.
func notations(views []View) (s []string) {
	for _, v := range views {
		s = append(s, noted(v))
	}
	return s
}

func TestDefaultViews(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(81, 1)), 60, 4)
	for _, c := range []struct {
		set  KernelSet
		want []string
	}{
		{KernelsARD, []string{"constant: constant", "linear(scale=0.25)", "rbf(ard)"}},
		{KernelsARDRanks, []string{"constant: constant", "linear(scale=0.25)", "laplacian(ard,distance=manhattan) of ranks"}},
		{KernelsAdditive, []string{"constant: constant", "linear(scale=0.25)", "rbf(width=1) of #1", "rbf(width=1) of #2", "rbf(width=1) of #3", "rbf(width=1) of #4"}},
		{KernelsBroad, []string{
			"constant: constant", "linear(scale=0.25)",
			"rbf(medians=0.125)", "rbf(medians=0.25)", "rbf(medians=0.5)", "rbf(medians=1)", "rbf(medians=2)", "rbf(medians=4)", "rbf(medians=8)",
			"laplacian(medians=0.25,distance=manhattan) of ranks", "laplacian(medians=0.5,distance=manhattan) of ranks",
			"laplacian(medians=1,distance=manhattan) of ranks", "laplacian(medians=2,distance=manhattan) of ranks", "laplacian(medians=4,distance=manhattan) of ranks",
		}},
		{KernelsOfView, []string{
			"constant: constant", "linear(scale=0.25)",
			"rbf(medians=0.7071067811865476)", "rbf(medians=1)", "rbf(medians=1.4142135623730951)", "rbf(medians=2)",
		}},
	} {
		views, notes, err := defaultViews(c.set, View{X: x})
		require.NoError(t, err)
		assert.Empty(t, notes)
		assert.Equal(t, c.want, notations(views))
		for _, v := range views[1:] {
			assert.NotEqual(t, v.Standardize, v.Ranks)
		}
	}
	broad, _, err := defaultViews(0, View{X: x})
	require.NoError(t, err)
	both, _, err := defaultViews(KernelsBroad|KernelsAdditive, View{X: x})
	require.NoError(t, err)
	assert.Len(t, both, len(broad)+4)
}

// The zero set has the kernels of many widths for one view, and the kernels of a view for each of several, whether they share an input or not.
func TestDefaultSet(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(83, 1)), 60, 4)
	for _, c := range []struct {
		set    KernelSet
		inputs []View
	}{
		{KernelsBroad, []View{{X: x}}},
		{KernelsOfView, []View{{Name: "a", X: x, Columns: []int{0, 1}}, {Name: "b", X: x, Columns: []int{2, 3}}}},
		{KernelsOfView, []View{{Name: "a", X: x, Input: "a"}, {Name: "b", X: x, Input: "b", Columns: []int{2}}}},
	} {
		want, _, err := FillViews(c.set, c.inputs)
		require.NoError(t, err)
		got, _, err := FillViews(0, c.inputs)
		require.NoError(t, err)
		assert.Equal(t, notations(want), notations(got))
	}
	got, _, err := FillViews(0, []View{{Name: "a", X: x, Input: "a"}, {Name: "b", X: x, Input: "b", Kernel: kernel.Linear{}}})
	require.NoError(t, err)
	assert.Contains(t, notations(got), "a: rbf(medians=8)", "a view with a kernel of its own does not count")
}

// Every estimator fits to the broad and the additive kernels, and has one input.
func TestDefaultViewsFit(t *testing.T) {
	_, y, a, b := twoInputs(5, 40)
	views, _, err := defaultViews(KernelsBroad|KernelsAdditive, View{Name: "a", X: a, Input: "a"}, View{Name: "b", X: b, Input: "b"})
	require.NoError(t, err)
	m, err := Regression{Ascent: Ascent{MaxSweeps: 20}}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	require.Len(t, m.Inputs(), 2)
	var names []string
	for _, w := range m.KernelWeights() {
		names = append(names, w.View)
	}
	assert.Equal(t, 1, len(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s != "constant" })))
	assert.Contains(t, names, "a of #2")
	assert.Contains(t, names, "b of #3")
}

func TestDefaultViewsLeaveOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(82, 1))

	// Features of one value, here the second and the fourth.
	x := normal(rng, 50, 4)
	for i := range 50 {
		x.Row(i)[1], x.Row(i)[3] = 7, 0
	}
	views, notes, err := defaultViews(KernelsARD, View{Name: "shape", X: x})
	require.NoError(t, err)
	assert.Equal(t, []string{"shape: features of one value are left out: #2,#4"}, notes)
	assert.Equal(t, []string{"constant: constant", "shape: linear(scale=0.5) of #1,#3", "shape: rbf(ard) of #1,#3"}, notations(views))
	views, notes, err = defaultViews(KernelsBroad, View{X: x, Columns: []int{1}}, View{X: x, Columns: []int{3, 1}})
	require.NoError(t, err)
	assert.Equal(t, []string{"x1: features of one value are left out: #2", "x2: features of one value are left out: #4,#2"}, notes)
	assert.Equal(t, []string{"constant: constant"}, notations(views))

	// In many dimensions all samples are far from each other.
	views, notes, err = defaultViews(KernelsBroad, View{X: normal(rng, 40, 400)})
	require.NoError(t, err)
	require.Len(t, notes, 1)
	assert.Regexp(t, `^rbf\(medians=0.125\) is left out: it is too narrow, no two samples have more than \S+ in common$`, notes[0])
	assert.NotContains(t, notations(views), "rbf(medians=0.125)")
	assert.Contains(t, notations(views), "rbf(medians=0.5)")

	// Of a feature of two values, all kernels but the linear one are the same again.
	binary := matrix(30, 1, func(i, _ int) float64 { return float64(i % 3 / 2) })
	views, notes, err = defaultViews(KernelsBroad|KernelsAdditive, View{X: binary})
	require.NoError(t, err)
	assert.Equal(t, []string{"constant: constant", "linear"}, notations(views))
	assert.Len(t, notes, 13)
	assert.Contains(t, notes, "rbf(medians=1) is left out: on these samples it does what linear does")

	// A feature that comes twice has one additive kernel.
	twice := normal(rng, 30, 3)
	for i := range 30 {
		twice.Row(i)[2] = 5 - 3*twice.At(i, 0)
	}
	views, notes, err = defaultViews(KernelsAdditive, View{X: twice})
	require.NoError(t, err)
	assert.Equal(t, []string{"rbf(width=1) of #3 is left out: on these samples it does what rbf(width=1) of #1 does"}, notes)
	assert.Len(t, views, 4)
}

func TestDefaultViewsRefuse(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(83, 1)), 5, 2)
	bad := x.Clone()
	bad.Set(3, 1, math.NaN())
	for _, c := range []struct {
		inputs []View
		want   string
	}{
		{nil, "mkl: inputs: none given"},
		{[]View{{X: x, Input: "x1"}, {X: bad, Input: "x2"}}, "mkl: inputs[1].X[3][1] is NaN"},
		{[]View{{X: x, Columns: []int{2}}}, "mkl: inputs[0]: Columns[0] is 2, and X has 2 columns"},
		{[]View{{X: x, Input: "x1"}, {X: x.Slice(0, 4, 0, 2), Input: "x2"}}, "mkl: inputs[1].X is 4×2 where inputs[0].X has 5 samples (samples are rows)"},
		{[]View{{}}, "mkl: inputs[0].X is 0×0: there are no samples"},
	} {
		_, _, err := defaultViews(KernelsBroad, c.inputs...)
		assert.EqualError(t, err, c.want)
	}
}

// Features in three bundles of correlated ones, and additive kernels of them.
func TestAdditiveGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(84, 1))
	const n, d = 80, 36
	factors := normal(rng, n, additiveGroups)
	x := matrix(n, d, func(i, j int) float64 {
		return math.Pow(-1, float64(j))*factors.At(i, j%additiveGroups) + 0.1*rng.NormFloat64()
	})
	groups := additive(x, nil)
	require.Len(t, groups, additiveGroups)
	for g, members := range groups {
		var want []int
		for j := g; j < d; j += additiveGroups {
			want = append(want, j)
		}
		assert.Equal(t, want, members)
	}
	views, _, err := defaultViews(KernelsAdditive, View{X: x})
	require.NoError(t, err)
	assert.Equal(t, kernel.RBF{Width: 2}, views[2].Kernel)

	assert.Equal(t, [][]int{{5}, {2}}, additive(x, []int{5, 2}))
	wide := additive(la.NewMatrix[float64](2, mostLinked+5), nil)
	assert.Len(t, wide, additiveGroups)
	assert.Equal(t, vec.UpTo(mostLinked+5), slices.Concat(wide...))
}

// linked agrees with average linkage by its definition: of all pairs of groups those
// with the least mean distance are joined.
func TestLinkedByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(85, 1))
	for range 20 {
		const n = 25
		p := normal(rng, n, 2)
		d := matrix(n, n, func(i, j int) float64 { return euclid(p.Row(i), p.Row(j)) })
		var want [][]int
		for i := range n {
			want = append(want, []int{i})
		}
		for len(want) > 6 {
			a, b, least := 0, 0, math.Inf(1)
			for j := range want {
				for i := range j {
					var mean float64
					for _, r := range want[i] {
						for _, s := range want[j] {
							mean += d.At(r, s) / float64(len(want[i])*len(want[j]))
						}
					}
					if mean < least {
						a, b, least = i, j, mean
					}
				}
			}
			want[a] = append(want[a], want[b]...)
			slices.Sort(want[a])
			want = slices.Delete(want, b, b+1)
		}
		assert.ElementsMatch(t, want, linked(d.Clone(), 6))
	}
}
