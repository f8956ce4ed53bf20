package mkl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// The kurtosis of 1 … n is 3·(3n²−7)/(5·(n²−1)), and of a column with the share p of ones (1−3p(1−p))/(p(1−p)), in any unit.
func TestKurtosisOf(t *testing.T) {
	const n = 40
	for _, unit := range []struct{ from, size float64 }{{0, 1}, {0, 1e-300}, {1e6, 0.5}, {0, -2e300}, {-math.MaxFloat64, math.MaxFloat64 / n * 2}} {
		value := func(i float64) float64 { return 2 * (unit.from/2 + float64(unit.size/2*i)) }
		x := la.NewMatrix[float64](n, 3)
		for i := range n {
			x.Set(i, 0, value(float64(i)))
			x.Set(i, 1, -7) // not looked at
			if i%8 == 3 {
				x.Set(i, 2, unit.from)
			} else {
				x.Set(i, 2, value(n-1))
			}
		}
		p := 1.0 / 8
		want := []float64{3.0 * (3*n*n - 7) / (5 * (n*n - 1)), (1 - 3*p*(1-p)) / (p * (1 - p))}
		z := make([]float64, n)
		assert.InDeltaSlice(t, want, []float64{kurtosisOf(x, 0, z), kurtosisOf(x, 2, z)}, 1e-9, unit)
	}
}

func TestHeavyTailed(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 34))
	draws := map[string]func() float64{
		"normal": rng.NormFloat64, "uniform": rng.Float64, "exponential": rng.ExpFloat64,
		"log-normal": func() float64 { return math.Exp(rng.NormFloat64()) },
		"rare":       func() float64 { return math.Floor(rng.Float64() * 1.02) }, // 0 or 1: no tails
		"counts":     func() float64 { return math.Floor(math.Exp(2 * rng.NormFloat64())) },
	}
	for _, c := range []struct {
		columns []string
		want    bool
	}{
		{[]string{"normal"}, false},
		{[]string{"uniform"}, false},
		{[]string{"rare"}, false},
		{[]string{"exponential"}, true},
		{[]string{"log-normal"}, true},
		{[]string{"counts"}, true},
		{[]string{"counts", "normal", "counts"}, true},
		{[]string{"counts", "normal", "normal"}, false},
		{[]string{"counts", "rare", "rare"}, true},
		{[]string{"normal", "rare", "rare"}, false},
	} {
		x := la.NewMatrix[float64](2000, len(c.columns)+1)
		for j, name := range c.columns {
			for i := range x.Rows {
				x.Set(i, j+1, draws[name]())
			}
		}
		assert.Equal(t, c.want, heavyTailed(x, vec.Shifted(vec.UpTo(len(c.columns)), 1)), c.columns)
	}
}

// The limit is the kurtosis of a Laplace distribution: a share p of values other than the mean, as many above as below, has the kurtosis 1/p.
func TestHeavyTailedLimit(t *testing.T) {
	for n, want := range map[int]bool{22: false, 24: false, 26: true} {
		x := la.NewMatrix[float64](n, 1)
		x.Data[0], x.Data[3], x.Data[7], x.Data[20] = 1, -1, -1, 1
		assert.InDelta(t, float64(n)/4, kurtosisOf(x, 0, make([]float64, n)), 1e-12)
		assert.Equal(t, want, heavyTailed(x, nil), n)
	}
}

// The kernels of several views see ranks of a view with heavy tails, and standardised values of other views.
func TestHeavyTailedViews(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 34))
	counts, normals := normal(rng, 80, 3), normal(rng, 80, 2)
	for i, v := range counts.Data {
		counts.Data[i] = math.Floor(math.Exp(2 * v))
	}
	inputs := []View{{Name: "counts", X: counts, Input: "counts"}, {Name: "normals", X: normals, Input: "normals"}}
	for _, set := range []KernelSet{KernelsOfView, KernelsOfView | kernelsOfRanks, KernelsBroad} {
		views, _, err := FillViews(set, inputs)
		require.NoError(t, err)
		for _, v := range views[1:] {
			assert.NotEqual(t, v.Ranks, v.Standardize)
			if set == KernelsOfView {
				assert.Equal(t, v.Name == "counts", v.Ranks, noted(v))
			}
		}
	}
}

// Exponentials of normal features predict little worse than the normal features. Standardised, they would have 3.5 times the error.
func TestHeavyTailedFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 34))
	const train, all = 120, 420
	a, b := normal(rng, all, 5), normal(rng, all, 5)
	y := make([]float64, all)
	for i := range y {
		y[i] = a.At(i, 0) + a.At(i, 1) + b.At(i, 0) + float64(0.3*rng.NormFloat64())
	}
	rmse := func(a, b Features) float64 {
		views := []View{{Name: "a", X: a.TakeRows(vec.UpTo(train)), Input: "a"}, {Name: "b", X: b.TakeRows(vec.UpTo(train)), Input: "b"}}
		m, err := Auto{}.Fit(context.Background(), views, y[:train])
		require.NoError(t, err)
		rest := vec.Shifted(vec.UpTo(all-train), train)
		mean, _, err := m.Predict(a.TakeRows(rest), b.TakeRows(rest))
		require.NoError(t, err)
		var sum float64
		for i, v := range mean {
			sum += float64((v - y[train+i]) * (v - y[train+i]))
		}
		return math.Sqrt(sum / (all - train))
	}
	exp := func(x Features) Features {
		x = x.Clone()
		for i, v := range x.Data {
			x.Data[i] = math.Exp(2 * v)
		}
		return x
	}
	plain, skewed := rmse(a, b), rmse(exp(a), exp(b))
	t.Logf("RMSE %.3g of normal features, %.3g of their exponentials", plain, skewed)
	assert.Less(t, skewed, 2*plain)
}
