package la

import (
	"math/rand/v2"
	"testing"
)

// benchFactor times f, after a factorisation that counts as well, on positive
// definite matrices of several sizes; flops is the work in units of n³.
func benchFactor[T Float](b *testing.B, workers int, flops float64, f func(w *Workspace, l Matrix[T])) {
	sized(b, []int{2, 4, 8, 16, 22, 32, 48, 64, 128, 256, 512, 1024, 2048}, func(b *testing.B, n int) {
		a := symmetric(lower(spd[T](rand.New(rand.NewPCG(1, uint64(n))), n)))
		c, w := a.Clone(), &Workspace{Workers: workers}
		perSecond(b, flops*float64(n)*float64(n)*float64(n), "GFLOP/s", func() {
			c.CopyFrom(a)
			if err := Cholesky(w, c); err != nil {
				b.Fatal(err)
			}
			f(w, c)
		})
	})
}

func benchCholesky[T Float](b *testing.B, workers int) {
	benchFactor(b, workers, 1./3, func(*Workspace, Matrix[T]) {})
}

func BenchmarkCholesky(b *testing.B)   { benchCholesky[float64](b, 1) }
func BenchmarkCholesky2(b *testing.B)  { benchCholesky[float64](b, 2) }
func BenchmarkCholesky32(b *testing.B) { benchCholesky[float32](b, 1) }

func BenchmarkSPDInverse(b *testing.B)   { benchFactor(b, 1, 1, CholeskyInv[float64]) }
func BenchmarkSPDInverse2(b *testing.B)  { benchFactor(b, 2, 1, CholeskyInv[float64]) }
func BenchmarkSPDInverse32(b *testing.B) { benchFactor(b, 1, 1, CholeskyInv[float32]) }

func benchInvDiag(b *testing.B, workers int) {
	d := make([]float64, 2048)
	benchFactor(b, workers, 2./3, func(w *Workspace, l Matrix[float64]) { CholeskyInvDiag(w, l, d[:l.Rows]) })
}

func BenchmarkInvDiag(b *testing.B)  { benchInvDiag(b, 1) }
func BenchmarkInvDiag2(b *testing.B) { benchInvDiag(b, 2) }
