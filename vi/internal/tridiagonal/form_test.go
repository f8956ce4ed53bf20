package tridiagonal

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/bmkl/bmkl/internal/testkit/golden" // the flag -golden
	"github.com/bmkl/bmkl/la"
)

// never ends nothing.
func never() error { return nil }

// covariances are positive semidefinite matrices of order N: smooth ones of next to no rank, of
// full rank, of rank 2, of zeros, with scales far apart, and with a sample so far from all others that
// squares of its covariances are no numbers of full precision, or are 0.
func covariances(N int) map[string]la.Matrix[float64] {
	src := rand.New(rand.NewPCG(uint64(N), 1))
	make := func(f func(i, j int) float64) la.Matrix[float64] {
		k := la.NewMatrix[float64](N, N)
		for i := range N {
			for j := range N {
				k.Set(i, j, f(i, j))
			}
		}
		return k
	}
	x := la.NewMatrix[float64](N, 2)
	for i := range x.Data {
		x.Data[i] = src.NormFloat64()
	}
	distance := func(i, j int) float64 { return math.Abs(float64(i-j)) / float64(N) }
	outlier := func(far float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			if i != j && max(i, j) == N-1 {
				return far * float64(i+j)
			}
			return math.Exp(-8 * distance(i, j))
		}
	}
	return map[string]la.Matrix[float64]{
		"smooth":      make(func(i, j int) float64 { return math.Exp(-8 * distance(i, j) * distance(i, j)) }),
		"rough":       make(func(i, j int) float64 { return 3 * math.Exp(-8*distance(i, j)) }),
		"linear":      make(func(i, j int) float64 { return la.Dot(x.Row(i), x.Row(j)) }),
		"identity":    make(func(i, j int) float64 { return float64(max(0, 1-(i-j)*(i-j))) }),
		"zero":        make(func(i, j int) float64 { return 0 }),
		"apart":       make(func(i, j int) float64 { return math.Exp2(-float64(i+j)) * math.Exp(-distance(i, j)) }),
		"huge":        make(func(i, j int) float64 { return 1e250 * math.Exp(-distance(i, j)) }),
		"outlier":     make(outlier(1e-162)),
		"far outlier": make(outlier(1e-200)),
		"next to nil": make(func(i, j int) float64 { return 1e-250 * math.Exp(-distance(i, j)) }),
	}
}

func reduced(t *testing.T, k la.Matrix[float64]) *Form {
	t.Helper()
	f, err := Reduce(k.Rows, func(n int, dst []float64) { copy(dst, k.Row(n)) }, never)
	require.NoError(t, err)
	return f
}

func TestForm(t *testing.T) {
	for _, N := range []int{1, 2, 3, 10, 67} {
		for name, k := range covariances(N) {
			t.Run(fmt.Sprintf("%s/%d", name, N), func(t *testing.T) {
				f := reduced(t, k)
				var size float64
				for n := range N {
					size = max(size, k.At(n, n))
				}
				src := rand.New(rand.NewPCG(3, 1))
				y := make([]float64, N)
				for range 3 {
					x, z := make([]float64, N), make([]float64, N)
					for n := range x {
						x[n], z[n] = src.NormFloat64(), src.NormFloat64()
					}
					// QᵀQ = I, and both at once is one after the other.
					back, other := append([]float64(nil), x...), append([]float64(nil), z...)
					f.To(back, other)
					assert.InEpsilon(t, la.SumSq(x), la.SumSq(back), 1e-12)
					f.From(back)
					assert.InDeltaSlice(t, x, back, 1e-13*float64(N))
					f.From(other)
					assert.InDeltaSlice(t, z, other, 1e-13*float64(N))
					// QTQᵀx = Kx
					f.To(back)
					f.Times(back, y)
					f.From(y)
					for n := range N {
						assert.InDelta(t, 0, (la.Dot(k.Row(n), x)-y[n])/max(size, math.SmallestNonzeroFloat64), 1e-13*float64(N))
					}
				}
			})
		}
	}
}

// naive returns (I + λK)⁻¹ by elimination, and log |I + λK|.
func naive(k la.Matrix[float64], lambda float64) (inverse la.Matrix[float64], logDet float64) {
	N := k.Rows
	a, b := la.NewMatrix[float64](N, N), la.NewMatrix[float64](N, N)
	for i := range N {
		for j := range N {
			a.Set(i, j, lambda*k.At(i, j))
		}
		a.Set(i, i, a.At(i, i)+1)
		b.Set(i, i, 1)
	}
	for c := range N {
		pivot := a.At(c, c)
		logDet += math.Log(pivot)
		for j := range N {
			a.Set(c, j, a.At(c, j)/pivot)
			b.Set(c, j, b.At(c, j)/pivot)
		}
		for i := range N {
			if m := a.At(i, c); i != c {
				for j := range N {
					a.Set(i, j, a.At(i, j)-m*a.At(c, j))
					b.Set(i, j, b.At(i, j)-m*b.At(c, j))
				}
			}
		}
	}
	return b, logDet
}

func TestShifted(t *testing.T) {
	for _, N := range []int{1, 2, 3, 10, 41} {
		for name, k := range covariances(N) {
			var size float64
			for n := range N {
				size = max(size, k.At(n, n))
			}
			f, s := reduced(t, k), NewShifted(N)
			for _, relative := range []float64{0, 1e-9, 1e-2, 1, 30, 1e4} {
				t.Run(fmt.Sprintf("%s/%d/%g", name, N, relative), func(t *testing.T) {
					lambda := relative / max(size, 1e-300)
					require.True(t, s.Set(f, lambda))
					inverse, logDet := naive(k, lambda)
					tol := 1e-13 * float64(N) * (1 + relative)
					assert.InDelta(t, logDet, s.LogDet, tol*(1+math.Abs(logDet)))
					diagonal := make([]float64, N)
					trace := s.Inverse(diagonal)
					var inverseTrace, want, sum float64
					for n := range N {
						inverseTrace += inverse.At(n, n)
						sum += diagonal[n]
						want += la.Dot(k.Row(n), inverse.Row(n)) / max(size, 1e-300)
					}
					assert.InDelta(t, inverseTrace, sum, tol)
					assert.InDelta(t, want, trace/max(size, 1e-300), tol)
					assert.InDelta(t, float64(N)-sum, lambda*trace, tol)

					x, y := make([]float64, N), make([]float64, N)
					for n := range x {
						x[n] = math.Sin(float64(n + 1))
						y[n] = x[n]
					}
					f.To(y)
					s.Solve(y)
					f.From(y)
					for n := range N {
						assert.InDelta(t, la.Dot(inverse.Row(n), x), y[n], tol)
					}
				})
			}
		}
	}
}

// Where λ is small the trace and the determinant keep their digits.
func TestShiftedByLittle(t *testing.T) {
	const N = 30
	k := covariances(N)["rough"]
	f, s := reduced(t, k), NewShifted(N)
	require.True(t, s.Set(f, 1e-12))
	assert.InEpsilon(t, 3*N*1e-12, s.LogDet, 1e-9)
	assert.InEpsilon(t, 3*N, s.Inverse(make([]float64, N)), 1e-9)
}

func TestShiftedRefusesIndefinite(t *testing.T) {
	k := la.MatrixOf(3, 3, []float64{1, 2, 0, 2, 1, 0, 0, 0, 1}) // eigenvalue −1
	f, s := reduced(t, k), NewShifted(3)
	assert.True(t, s.Set(f, 0.4))
	assert.False(t, s.Set(f, 0.9), "I + λK is still definite, but K is not")
	assert.False(t, s.Set(f, 20))
	assert.False(t, s.Set(f, math.NaN()))
	assert.False(t, s.Set(f, math.Inf(1)))
	k.Set(1, 0, math.NaN())
	assert.False(t, s.Set(reduced(t, k), 1))
}

func TestReduceEnds(t *testing.T) {
	asked := 0
	_, err := Reduce(10, func(n int, dst []float64) { dst[n] = 1 }, func() error {
		if asked++; asked == 4 {
			return context.Canceled
		}
		return nil
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 4, asked)
}

func BenchmarkReduce(b *testing.B) {
	for _, N := range []int{250, 1000} {
		k := covariances(N)["rough"]
		b.Run(fmt.Sprint(N), func(b *testing.B) {
			for b.Loop() {
				if _, err := Reduce(N, func(n int, dst []float64) { copy(dst, k.Row(n)) }, never); err != nil {
					b.Fatal(err)
				}
			}
		})
		f, err := Reduce(N, func(n int, dst []float64) { copy(dst, k.Row(n)) }, never)
		require.NoError(b, err)
		x := make([]float64, N)
		b.Run(fmt.Sprint("From/", N), func(b *testing.B) {
			for b.Loop() {
				f.From(x)
			}
		})
	}
}
