package la

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func benchSizes(b *testing.B, sizes []int, flops func(n float64) float64, f func(b *testing.B, a Matrix[float64])) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := spd[float64](rand.New(rand.NewPCG(1, uint64(n))), n)
			f(b, a)
			b.ReportMetric(flops(float64(n))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

var factorSizes = []int{2, 4, 8, 16, 22, 32, 64, 128, 256, 512, 1024, 2048}

func BenchmarkCholesky(b *testing.B) {
	benchSizes(b, factorSizes, func(n float64) float64 { return n * n * n / 3 }, func(b *testing.B, a Matrix[float64]) {
		w := &Workspace{Workers: 1}
		c := a.Clone()
		for b.Loop() {
			c.CopyFrom(a)
			if err := Cholesky(w, c); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSPDInverse(b *testing.B) {
	benchSizes(b, factorSizes, func(n float64) float64 { return n * n * n }, func(b *testing.B, a Matrix[float64]) {
		w := &Workspace{Workers: 1}
		c := a.Clone()
		for b.Loop() {
			c.CopyFrom(a)
			if err := Cholesky(w, c); err != nil {
				b.Fatal(err)
			}
			CholeskyInv(w, c)
		}
	})
}

func BenchmarkInvDiag(b *testing.B) {
	benchSizes(b, factorSizes, func(n float64) float64 { return n * n * n * 2 / 3 }, func(b *testing.B, a Matrix[float64]) {
		w := &Workspace{Workers: 1}
		c := a.Clone()
		d := make([]float64, a.Rows)
		for b.Loop() {
			c.CopyFrom(a)
			if err := Cholesky(w, c); err != nil {
				b.Fatal(err)
			}
			CholeskyInvDiag(w, c, d)
		}
	})
}
