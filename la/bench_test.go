package la

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// perSecond runs f and reports the rate of what one call does, in billions.
func perSecond(b *testing.B, amount float64, unit string, f func()) {
	f() // the workspace grows
	for b.Loop() {
		f()
	}
	b.ReportMetric(amount*float64(b.N)/b.Elapsed().Seconds()/1e9, unit)
}

// random returns a rows×cols matrix of normal numbers.
func random[T Float](rows, cols int) Matrix[T] {
	r := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	m := NewMatrix[T](rows, cols)
	for i := range m.Data {
		m.Data[i] = T(r.NormFloat64())
	}
	return m
}

// sized runs a benchmark for several n.
func sized(b *testing.B, sizes []int, f func(b *testing.B, n int)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { f(b, n) })
	}
}

var productSizes = []int{8, 16, 22, 32, 64, 128, 256, 512, 1024, 2048}

func BenchmarkGemm(b *testing.B)   { benchGemm[float64](b, 1) }
func BenchmarkGemm32(b *testing.B) { benchGemm[float32](b, 1) }

// BenchmarkGemm2 is BenchmarkGemm on two cores.
func BenchmarkGemm2(b *testing.B) { benchGemm[float64](b, 2) }

func benchGemm[T Float](b *testing.B, workers int) {
	sized(b, productSizes, func(b *testing.B, n int) {
		w := &Workspace{Workers: workers}
		x, y, z := random[T](n, n), random[T](n, n), NewMatrix[T](n, n)
		perSecond(b, 2*float64(n)*float64(n)*float64(n), "GFLOP/s", func() { Gemm(w, NoTrans, NoTrans, 1, x, y, 0, z) })
	})
}

func BenchmarkSyrk(b *testing.B)   { benchSyrk[float64](b, 1) }
func BenchmarkSyrk32(b *testing.B) { benchSyrk[float32](b, 1) }

// BenchmarkSyrk2 is BenchmarkSyrk on two cores.
func BenchmarkSyrk2(b *testing.B) { benchSyrk[float64](b, 2) }

func benchSyrk[T Float](b *testing.B, workers int) {
	sized(b, productSizes, func(b *testing.B, n int) {
		w := &Workspace{Workers: workers}
		x, z := random[T](n, n), NewMatrix[T](n, n)
		perSecond(b, float64(n)*float64(n)*float64(n), "GFLOP/s", func() { Syrk(w, NoTrans, 1, x, 0, z) })
	})
}

var vectorSizes = []int{256, 512, 1024, 2048, 4096}

// The rates of Gemv and Symv count the bytes of the whole matrix. Symv reads half of them.

func BenchmarkGemv(b *testing.B)      { benchGemv[float64, float64](b, NoTrans) }
func BenchmarkGemvT(b *testing.B)     { benchGemv[float64, float64](b, Transpose) }
func BenchmarkGemvMixed(b *testing.B) { benchGemv[float32, float64](b, NoTrans) }

func benchGemv[S, T Float](b *testing.B, t Trans) {
	sized(b, vectorSizes, func(b *testing.B, n int) {
		w := &Workspace{Workers: 1}
		a, x, y := random[S](n, n), random[T](1, n).Row(0), make([]T, n)
		perSecond(b, bytesOf[S](n*n), "GB/s", func() { gemv(w, t, 1, a, x, 0, y) })
	})
}

func BenchmarkSymv(b *testing.B)      { benchSymv[float64, float64](b) }
func BenchmarkSymvMixed(b *testing.B) { benchSymv[float32, float64](b) }

func benchSymv[S, T Float](b *testing.B) {
	sized(b, vectorSizes, func(b *testing.B, n int) {
		w := &Workspace{Workers: 1}
		a, x, y := random[S](n, n), random[T](1, n).Row(0), make([]T, n)
		perSecond(b, bytesOf[S](n*n), "GB/s", func() { symv(w, 1, a, x, 0, y) })
	})
}

func bytesOf[T Float](n int) float64 {
	if is64[T]() {
		return float64(8 * n)
	}
	return float64(4 * n)
}

func BenchmarkExp(b *testing.B)   { benchExp[float64](b) }
func BenchmarkExp32(b *testing.B) { benchExp[float32](b) }

func benchExp[T Float](b *testing.B) {
	sized(b, []int{4096}, func(b *testing.B, n int) {
		x, y := random[T](1, n).Row(0), make([]T, n)
		perSecond(b, float64(n), "G/s", func() { Exp(y, x) })
	})
}

func BenchmarkDot(b *testing.B) {
	sized(b, []int{8, 22, 64, 256, 1024}, func(b *testing.B, n int) {
		x := random[float64](2, n)
		perSecond(b, float64(2*n), "GFLOP/s", func() { Dot(x.Row(0), x.Row(1)) })
	})
}

// features is the number of columns of the points in the benchmarks of distances.
const features = 10

func BenchmarkSqDist(b *testing.B) {
	sized(b, []int{100, 1000, 4000}, func(b *testing.B, n int) {
		w := &Workspace{Workers: 1}
		x, d := random[float64](n, features), NewMatrix[float64](n, n)
		perSecond(b, float64(n)*float64(n), "G/s", func() { SqDist(w, x, x, d) })
	})
}

func BenchmarkRBF(b *testing.B) {
	sized(b, []int{100, 1000, 4000}, func(b *testing.B, n int) {
		w := &Workspace{Workers: 1}
		x, d := random[float64](n, features), NewMatrix[float64](n, n)
		perSecond(b, float64(n)*float64(n), "G/s", func() { RBF(w, 0.1, x, x, d) })
	})
}
