package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// ranked is what Ranks promises, for training and other samples.
func ranked(train, x Features) Features {
	return matrix(x.Rows, x.Cols, func(i, j int) float64 {
		v, count := x.At(i, j), 0.0
		for k := range train.Rows {
			switch u := train.At(k, j); {
			case u < v:
				count += 2
			case u == v:
				count++
			}
		}
		return special.NormalQuantile(min(max(count/float64(2*train.Rows), 0.01), 0.99))
	})
}

func TestRanksByTheirDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	const n, m = 70, 25
	round := func(x Features) Features { // ties
		for i := range x.Data {
			x.Data[i] = math.Round(4*x.Data[i]) / 4
		}
		return x
	}
	x, z := round(normal(rng, n, 3)), round(normal(rng, m, 3))
	z.Set(0, 0, -1e9)
	z.Set(1, 1, 1e9)
	rx, rz := ranked(x, x), ranked(x, z)
	assert.Equal(t, special.NormalQuantile(0.01), rz.At(0, 0))
	assert.Equal(t, special.NormalQuantile(0.99), rz.At(1, 1))
	columns := []int{2, 0}
	some := func(x Features) Features {
		return matrix(x.Rows, 2, func(i, j int) float64 { return x.At(i, columns[j]) })
	}
	for _, kernel := range []kernel.Kernel{kernel.Laplacian{Manhattan: true, Medians: 0.5}, kernel.RBF{}, kernel.Linear{Scale: 0.3}, kernel.Polynomial{Offset: 1}, kernel.Constant{}} {
		for _, normalize := range []bool{false, true} {
			_, want, wantT := trained(t, 1, []View{
				{X: rx, Input: "x1", Kernel: kernel, Normalize: normalize},
				{X: some(rx).Clone(), Input: "x2", Kernel: kernel, Normalize: normalize},
				{X: some(x).Clone(), Input: "x3", Kernel: kernel, Normalize: normalize, Standardize: true},
			}, []Features{rz, some(rz), some(z)})
			ds, got, gotT := trained(t, 2, []View{
				{X: x, Kernel: kernel, Normalize: normalize, Ranks: true},
				{X: x, Kernel: kernel, Normalize: normalize, Ranks: true, Columns: columns},
				{X: x, Kernel: kernel, Normalize: normalize, Standardize: true, Columns: columns},
			}, []Features{z})
			require.Len(t, ds.Inputs, 1)
			for i := range want {
				requireClose(t, want[i], got[i], 1e-12)
				requireClose(t, wantT[i], gotT[i], 1e-12)
			}
		}
	}
}

func TestViewSettings(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(72, 1)), 5, 3)
	for _, c := range []struct {
		view View
		want string
	}{
		{View{Columns: []int{}}, "Columns is empty: nil stands for all"},
		{View{Columns: []int{0, 3}}, "Columns[1] is 3, and X has 3 columns"},
		{View{Columns: []int{-1}}, "Columns[0] is -1, and X has 3 columns"},
		{View{Columns: []int{1, 2, 1}}, "Columns[2] is 1 a second time"},
		{View{Ranks: true, Standardize: true}, "Ranks and Standardize exclude each other"},
		{View{Columns: []int{1}, Kernel: kernel.RBF{Widths: []float64{1, 2, 3}}}, "Widths: 3 widths where the samples have 1 features"},
		{View{Kernel: kernel.RBF{ARD: true}, Center: true}, "ARD excludes Center and Normalize"},
	} {
		c.view.X = x
		if c.view.Kernel == nil {
			c.view.Kernel = kernel.Linear{}
		}
		_, err := bindViews([]View{c.view}, 5, false)
		assert.EqualError(t, err, "mkl: views[0] ("+c.view.Kernel.String()+"): "+c.want)
	}
	_, err := bindViews([]View{{X: x, Kernel: kernel.Precomputed{}, Ranks: true}}, 5, false)
	assert.EqualError(t, err, "mkl: views[0] (precomputed): Ranks and Columns are for features, not for given kernels or distances")
}
