package mkl

import (
	"context"
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
)

func euclid(x, y []float64) float64 {
	var s float64
	for j := range x {
		s += math.Pow(x[j]-y[j], 2)
	}
	return math.Sqrt(s)
}

func manhattan(x, y []float64) float64 {
	var s float64
	for j := range x {
		s += math.Abs(x[j] - y[j])
	}
	return s
}

func inner(x, y []float64) float64 {
	var s float64
	for j := range x {
		s += x[j] * y[j]
	}
	return s
}

// kernelCases are kernels with their closed forms; mean stands for the mean
// Euclidean or Manhattan distance of the training samples.
var kernelCases = []struct {
	kernel kernel.Kernel
	name   string
	f      func(x, y []float64, meanEuclid, meanManhattan float64) float64
}{
	{kernel.RBF{Width: 0.7}, "rbf(width=0.7)", func(x, y []float64, _, _ float64) float64 {
		return math.Exp(-math.Pow(euclid(x, y), 2) / (2 * 0.7 * 0.7))
	}},
	{kernel.RBF{Scale: 0.7}, "rbf(scale=0.7)", func(x, y []float64, _, _ float64) float64 {
		return math.Exp(-math.Pow(euclid(x, y)/0.7, 2))
	}},
	{kernel.RBF{}, "rbf(width=mean)", func(x, y []float64, m, _ float64) float64 {
		return math.Exp(-math.Pow(euclid(x, y)/m, 2) / 2)
	}},
	{kernel.RBF{Widths: []float64{0.5, 2, 4}}, "rbf(width=[0.5,2,4])", func(x, y []float64, _, _ float64) float64 {
		s := math.Pow((x[0]-y[0])/0.5, 2) + math.Pow((x[1]-y[1])/2, 2) + math.Pow((x[2]-y[2])/4, 2)
		return math.Exp(-s / 2)
	}},
	{kernel.Laplacian{Width: 1.5}, "laplacian(width=1.5)", func(x, y []float64, _, _ float64) float64 {
		return math.Exp(-euclid(x, y) / 1.5)
	}},
	{kernel.Laplacian{Manhattan: true}, "laplacian(width=mean,distance=manhattan)", func(x, y []float64, _, m float64) float64 {
		return math.Exp(-manhattan(x, y) / m)
	}},
	{kernel.Laplacian{Widths: []float64{0.5, 2, 4}}, "laplacian(width=[0.5,2,4],distance=manhattan)", func(x, y []float64, _, _ float64) float64 {
		return math.Exp(-math.Abs(x[0]-y[0])/0.5 - math.Abs(x[1]-y[1])/2 - math.Abs(x[2]-y[2])/4)
	}},
	{kernel.Linear{Scale: 0.25}, "linear(scale=0.25)", func(x, y []float64, _, _ float64) float64 { return inner(x, y) / 4 }},
	{kernel.Linear{}, "linear", func(x, y []float64, _, _ float64) float64 { return inner(x, y) }},
	{kernel.Polynomial{Degree: 3, Offset: 0.5, Scale: 2}, "polynomial(degree=3,offset=0.5,scale=2)", func(x, y []float64, _, _ float64) float64 {
		return math.Pow(2*inner(x, y)+0.5, 3)
	}},
	{kernel.Polynomial{}, "polynomial(degree=2,offset=0,scale=1)", func(x, y []float64, _, _ float64) float64 {
		return math.Pow(inner(x, y), 2)
	}},
	{kernel.Func{Name: "min", F: func(x, y []float64) float64 { return min(x[0]*x[0], y[0]*y[0]) }}, "min", func(x, y []float64, _, _ float64) float64 {
		return min(x[0]*x[0], y[0]*y[0])
	}},
}

func matrix(rows, cols int, at func(i, j int) float64) la.Matrix[float64] {
	x := la.NewMatrix[float64](rows, cols)
	for i := range rows {
		for j := range cols {
			x.Set(i, j, at(i, j))
		}
	}
	return x
}

func requireClose(t *testing.T, want, got la.Matrix[float64], tolerance float64) {
	t.Helper()
	require.Equal(t, []int{want.Rows, want.Cols}, []int{got.Rows, got.Cols})
	for i := range want.Rows {
		for j, w := range want.Row(i) {
			if g := got.At(i, j); !(math.Abs(g-w) <= tolerance*(1+math.Abs(w))) {
				t.Fatalf("(%d, %d): %g where %g is expected", i, j, g, w)
			}
		}
	}
}

// trained returns the design of views with their training kernels, and their
// kernels with other samples.
func trained(t *testing.T, workers int, views []View, test []Features) (ds *gram.Design, train, cross []la.Matrix[float64]) {
	t.Helper()
	bound, err := bindViews(views, views[0].X.Rows, false)
	require.NoError(t, err)
	ds = bound.Design
	train, err = bound.Train(context.Background(), workers)
	require.NoError(t, err)
	if test == nil {
		return ds, train, nil
	}
	_, err = checkInputs(ds, test)
	require.NoError(t, err)
	for range views {
		cross = append(cross, la.NewMatrix[float64](ds.D, test[0].Rows))
	}
	require.NoError(t, ds.Cross(context.Background(), workers, test, 0, cross))
	return ds, train, cross
}

// standardized is what Standardize promises, for training and other samples.
func standardized(train, x Features) Features {
	return matrix(x.Rows, x.Cols, func(i, j int) float64 {
		var mean, ss float64
		for k := range train.Rows {
			mean += train.At(k, j) / float64(train.Rows)
		}
		for k := range train.Rows {
			ss += math.Pow(train.At(k, j)-mean, 2)
		}
		return (x.At(i, j) - mean) / math.Sqrt(ss/float64(train.Rows-1))
	})
}

// centredNormalized is what Center and Normalize promise, by their formulas: k
// of training samples, kt of training with other samples, self of each other
// sample with itself.
func centredNormalized(center, normalize bool, k, kt la.Matrix[float64], self []float64) (_, _ la.Matrix[float64]) {
	n, m := k.Rows, kt.Cols
	ck, ckt, cself := k.Clone(), kt.Clone(), append([]float64(nil), self...)
	if center {
		mean := func(at func(i int) float64, n int) (s float64) {
			for i := range n {
				s += at(i) / float64(n)
			}
			return s
		}
		rowMean := func(d int) float64 { return mean(func(j int) float64 { return k.At(d, j) }, n) }
		testMean := func(t int) float64 { return mean(func(j int) float64 { return kt.At(j, t) }, n) }
		all := mean(rowMean, n)
		ck = matrix(n, n, func(i, j int) float64 { return k.At(i, j) - rowMean(i) - rowMean(j) + all })
		ckt = matrix(n, m, func(i, t int) float64 { return kt.At(i, t) - rowMean(i) - testMean(t) + all })
		for t := range m {
			cself[t] = self[t] - 2*testMean(t) + all
		}
	}
	if normalize {
		a, b := ck.Clone(), ckt.Clone()
		ck = matrix(n, n, func(i, j int) float64 { return a.At(i, j) / math.Sqrt(a.At(i, i)*a.At(j, j)) })
		ckt = matrix(n, m, func(i, t int) float64 { return b.At(i, t) / math.Sqrt(a.At(i, i)*cself[t]) })
	}
	return ck, ckt
}

func TestKernelsAgainstFormulas(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, m = 70, 9 // more than one block of rows
	x, z := normal(rng, n, 3), normal(rng, m, 3)
	for _, c := range kernelCases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.name, c.kernel.String())
			for _, standardize := range []bool{false, true} {
				sx, sz := x, z
				if standardize {
					sx, sz = standardized(x, x), standardized(x, z)
				}
				var meanE, meanM float64
				for i := range n {
					for j := range n {
						meanE += euclid(sx.Row(i), sx.Row(j)) / (n * n)
						meanM += manhattan(sx.Row(i), sx.Row(j)) / (n * n)
					}
				}
				k := matrix(n, n, func(i, j int) float64 { return c.f(sx.Row(i), sx.Row(j), meanE, meanM) })
				kt := matrix(n, m, func(i, j int) float64 { return c.f(sx.Row(i), sz.Row(j), meanE, meanM) })
				self := make([]float64, m)
				for j := range self {
					self[j] = c.f(sz.Row(j), sz.Row(j), meanE, meanM)
				}
				for _, center := range []bool{false, true} {
					for _, normalize := range []bool{false, true} {
						wantK, wantKt := centredNormalized(center, normalize, k, kt, self)
						ds, train, cross := trained(t, 2,
							[]View{{X: x, Kernel: c.kernel, Standardize: standardize, Center: center, Normalize: normalize}}, []Features{z})
						requireClose(t, wantK, train[0], 1e-11)
						requireClose(t, wantKt, cross[0], 1e-11)
						for i := range n {
							for j := range i {
								if a, b := train[0].At(i, j), train[0].At(j, i); a != b {
									t.Fatalf("symmetry (%d, %d): %g and %g", i, j, a, b)
								}
							}
							if normalize {
								require.Equal(t, 1.0, train[0].At(i, i))
							}
						}
						v := ds.Views[0]
						for _, kk := range []la.Matrix[float64]{train[0], cross[0]} {
							for i := range kk.Rows {
								if v.Certain {
									require.LessOrEqual(t, vec.LargestAbs(kk.Row(i)), v.Largest*(1+1e-12))
								}
							}
						}
					}
				}
			}
		})
	}
}

// Given distances and kernels must come to the same as the kernels on features.
func TestGivenAgainstFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const n, m = 30, 8
	x, z := normal(rng, n, 3), normal(rng, m, 3)
	distance := func(a, b Features) Features {
		return matrix(a.Rows, b.Rows, func(i, j int) float64 { return euclid(a.Row(i), b.Row(j)) })
	}
	poly := func(a, b Features) Features {
		return matrix(a.Rows, b.Rows, func(i, j int) float64 { return math.Pow(inner(a.Row(i), b.Row(j))+1, 2) })
	}
	withSelf := func(k Features, a Features) Features {
		return matrix(k.Rows, k.Cols+1, func(i, j int) float64 {
			if j < k.Cols {
				return k.At(i, j)
			}
			return math.Pow(inner(a.Row(i), a.Row(i))+1, 2)
		})
	}
	for _, center := range []bool{false, true} {
		for _, normalize := range []bool{false, true} {
			_, want, wantT := trained(t, 1, []View{
				{X: x, Kernel: kernel.Laplacian{}, Center: center, Normalize: normalize},
				{X: x, Kernel: kernel.Laplacian{Width: 3}, Center: center, Normalize: normalize},
				{X: x, Kernel: kernel.Polynomial{Offset: 1}, Center: center, Normalize: normalize},
			}, []Features{z})
			d, k, kt := distance(x, x), poly(x, x), poly(z, x)
			if normalize {
				kt = withSelf(kt, z)
			}
			ds, got, gotT := trained(t, 1, []View{
				{X: d, Input: "x1", Kernel: kernel.FromDistance{}, Center: center, Normalize: normalize},
				{X: d, Input: "x1", Kernel: kernel.FromDistance{Scale: 3}, Center: center, Normalize: normalize},
				{X: k, Input: "x2", Kernel: kernel.Precomputed{}, Center: center, Normalize: normalize},
			}, []Features{distance(z, x), kt})
			require.Len(t, ds.Inputs, 2)
			for i := range want {
				requireClose(t, want[i], got[i], 1e-10)
				requireClose(t, wantT[i], gotT[i], 1e-10)
			}
		}
	}
}

func TestKernelMatricesDoNotDependOnWorkersOrBlocks(t *testing.T) {
	views, _, _, _ := twoInputs(1, 200)
	rng := rand.New(rand.NewPCG(3, 1))
	test := []Features{normal(rng, 90, 2), normal(rng, 90, 3)}
	_, want, wantT := trained(t, 1, views, test)
	for _, workers := range []int{2, 3, 7} {
		ds, got, gotT := trained(t, workers, views, test)
		require.Equal(t, want, got)
		require.Equal(t, wantT, gotT)

		parts := make([]la.Matrix[float64], len(views))
		for first := 0; first < 90; first += 40 {
			last := min(90, first+40)
			for i := range parts {
				parts[i] = la.NewMatrix[float64](200, last-first)
			}
			require.NoError(t, ds.Cross(context.Background(), workers, test, first, parts))
			for i := range parts {
				require.Equal(t, wantT[i].Slice(0, 200, first, last).Clone(), parts[i])
			}
		}
	}
}

func TestSharedStatistics(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(4, 1)), 10, 2)
	var views []View
	for p := -10; p <= 10; p++ {
		views = append(views, View{X: x, Kernel: kernel.RBF{Width: math.Ldexp(1, p)}})
	}
	views = append(views, View{X: x, Kernel: kernel.Laplacian{Width: 1}}, View{X: x, Kernel: kernel.Linear{}}, View{X: x, Input: "another", Kernel: kernel.Linear{}})
	ds, _, _ := trained(t, 1, views, nil)
	assert.Len(t, ds.Inputs, 2)
	require.Len(t, ds.Groups, 3)
	assert.Len(t, ds.Groups[0].Views, 22)
}

func TestKernelSettings(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(5, 1)), 5, 2)
	for _, c := range []struct {
		kernel kernel.Kernel
		want   string
	}{
		{nil, "mkl: views[0]: Kernel is nil"},
		{kernel.RBF{Medians: -1}, "mkl: views[0] (rbf(medians=-1)): Medians is -1, not a positive number between 1e-150 and 1e150"},
		{kernel.RBF{Width: 1, Medians: 1}, "mkl: views[0] (rbf(medians=1)): more than one of Width, Scale, Widths and Medians is set"},
		{kernel.RBF{Scale: 1, ARD: true}, "mkl: views[0] (rbf(scale=1)): ARD starts from Width or Medians, and Scale is set"},
		{kernel.RBF{Widths: []float64{1, 2}, ARD: true}, "mkl: views[0] (rbf(width=[1,2],ard)): ARD learns Widths, which are set"},
		{kernel.Laplacian{Width: 1, Widths: []float64{1, 2}}, "mkl: views[0] (laplacian(width=[1,2],distance=manhattan)): more than one of Width, Widths and Medians is set"},
		{kernel.Laplacian{Widths: []float64{1}}, "mkl: views[0] (laplacian(width=[1],distance=manhattan)): Widths: 1 widths where the samples have 2 features"},
		{kernel.Linear{Scale: -1}, "mkl: views[0] (linear(scale=-1)): Scale is -1, not a positive number between 1e-150 and 1e150"},
		{kernel.RBF{Width: -1}, "mkl: views[0] (rbf(width=-1)): Width is -1, not a positive number between 1e-150 and 1e150"},
		{kernel.RBF{Width: math.NaN()}, "mkl: views[0] (rbf(width=NaN)): Width is NaN, not a positive number between 1e-150 and 1e150"},
		{kernel.RBF{Width: 1e-200}, "mkl: views[0] (rbf(width=1e-200)): Width is 1e-200, not a positive number between 1e-150 and 1e150"},
		{kernel.RBF{Width: 1, Scale: 1}, "mkl: views[0] (rbf(scale=1)): more than one of Width, Scale, Widths and Medians is set"},
		{kernel.RBF{Widths: []float64{1}}, "mkl: views[0] (rbf(width=[1])): Widths: 1 widths where the samples have 2 features"},
		{kernel.RBF{Widths: []float64{1, 0}}, "mkl: views[0] (rbf(width=[1,0])): Widths[1] is 0"},
		{kernel.Laplacian{Width: math.Inf(1)}, "mkl: views[0] (laplacian(width=+Inf)): Width is +Inf, not a positive number between 1e-150 and 1e150"},
		{kernel.Polynomial{Degree: -1}, "mkl: views[0] (polynomial(degree=-1,offset=0,scale=1)): Degree is -1, not between 1 and 64"},
		{kernel.Polynomial{Offset: -1}, "mkl: views[0] (polynomial(degree=2,offset=-1,scale=1)): Offset is -1, not a number from 0 up"},
		{kernel.Func{Name: "f"}, "mkl: views[0] (f): F is nil"},
	} {
		_, err := bindViews([]View{{X: x, Kernel: c.kernel}}, 5, false)
		assert.EqualError(t, err, c.want)
	}
}

// medianOfPairs is the median distance by its definition.
func medianOfPairs(x Features, distance func(x, y []float64) float64) float64 {
	var all []float64
	for i := range x.Rows {
		for j := range i {
			all = append(all, distance(x.Row(i), x.Row(j)))
		}
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

func TestMediansAgainstTheirDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	x := normal(rng, 75, 3)
	sx := standardized(x, x)
	views := []View{
		{X: x, Kernel: kernel.RBF{Medians: 0.5}},
		{X: x, Kernel: kernel.Laplacian{Medians: 2}},
		{X: x, Kernel: kernel.Laplacian{Medians: 2, Manhattan: true}},
		{X: x, Kernel: kernel.RBF{Medians: 1}, Standardize: true},
		{X: x, Kernel: kernel.RBF{}, Standardize: true},
	}
	ds, ks, _ := trained(t, 3, views, nil)
	assert.InEpsilon(t, 0.5*medianOfPairs(x, euclid), ds.Views[0].Kernel.(kernel.RBF).Width, 1e-14)
	assert.InEpsilon(t, 2*medianOfPairs(x, euclid), ds.Views[1].Kernel.(kernel.Laplacian).Width, 1e-14)
	assert.InEpsilon(t, 2*medianOfPairs(x, manhattan), ds.Views[2].Kernel.(kernel.Laplacian).Width, 1e-14)
	assert.InEpsilon(t, medianOfPairs(sx, euclid), ds.Views[3].Kernel.(kernel.RBF).Width, 1e-13)
	assert.NotEqual(t, ds.Views[3].Kernel, ds.Views[4].Kernel)
	width := 0.5 * medianOfPairs(x, euclid)
	requireClose(t, matrix(75, 75, func(i, j int) float64 {
		return math.Exp(-math.Pow(euclid(x.Row(i), x.Row(j))/width, 2) / 2)
	}), ks[0], 1e-13)

	// Many samples, and many features, are represented by some.
	testkit.NotShort(t)
	many := normal(rng, 2500, 1)
	ds, _, _ = trained(t, 2, []View{{X: many, Kernel: kernel.RBF{Medians: 1}}}, nil)
	assert.InEpsilon(t, medianOfPairs(many, euclid), ds.Views[0].Kernel.(kernel.RBF).Width, 0.05)
	assert.Equal(t, 316, gram.MedianSamples(5000, 1000))
	assert.Equal(t, 100, gram.MedianSamples(5000, 1<<20))
}

func TestMedianOfEqualSamples(t *testing.T) {
	x := Column([]float64{0, 0, 0, 0, 0, 0, 0, 3, 1})
	ds, _, _ := trained(t, 1, []View{{X: x, Kernel: kernel.RBF{Medians: 1}}}, nil)
	assert.Equal(t, kernel.RBF{Width: 2}, ds.Views[0].Kernel) // the lower middle of 1 (7 times), 2, 3 (7 times)

	rare := make([]float64, 2100) // every second or third one is asked first
	rare[301], rare[1401], rare[1403] = 3, 5, 9
	ds, _, _ = trained(t, 1, []View{{X: Column(rare), Kernel: kernel.RBF{Medians: 1}}}, nil)
	assert.Equal(t, kernel.RBF{Width: 5}, ds.Views[0].Kernel)

	bound, err := bindViews([]View{{X: Column([]float64{4, 4, 4}), Kernel: kernel.RBF{Medians: 1}}}, 3, false)
	require.NoError(t, err)
	_, err = bound.Train(context.Background(), 1)
	assert.EqualError(t, err, "mkl: views[0] (rbf(medians=1)): the median distance between the training samples is 0: give a width or scale")
}
