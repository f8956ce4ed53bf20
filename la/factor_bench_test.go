package la

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchFactor times f, after a factorisation that counts as well, on positive
// definite matrices of several sizes; flops is the work in units of n³.
func benchFactor(b *testing.B, workers int, flops float64, f func(w *Workspace, l Matrix[float64])) {
	for _, n := range []int{2, 4, 8, 16, 22, 32, 48, 64, 128, 256, 512, 1024, 2048} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			a := symmetric(lower(spd[float64](rand.New(rand.NewPCG(1, uint64(n))), n)))
			c, w := a.Clone(), &Workspace{Workers: workers}
			for b.Loop() {
				c.CopyFrom(a)
				if err := Cholesky(w, c); err != nil {
					b.Fatal(err)
				}
				f(w, c)
			}
			cube := float64(n) * float64(n) * float64(n)
			b.ReportMetric(flops*cube*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func benchCholesky(b *testing.B, workers int) {
	benchFactor(b, workers, 1./3, func(*Workspace, Matrix[float64]) {})
}

func BenchmarkCholesky(b *testing.B)  { benchCholesky(b, 1) }
func BenchmarkCholesky2(b *testing.B) { benchCholesky(b, 2) }

func benchSPDInverse(b *testing.B, workers int) { benchFactor(b, workers, 1, CholeskyInv[float64]) }

func BenchmarkSPDInverse(b *testing.B)  { benchSPDInverse(b, 1) }
func BenchmarkSPDInverse2(b *testing.B) { benchSPDInverse(b, 2) }

func benchInvDiag(b *testing.B, workers int) {
	d := make([]float64, 2048)
	benchFactor(b, workers, 2./3, func(w *Workspace, l Matrix[float64]) { CholeskyInvDiag(w, l, d[:l.Rows]) })
}

func BenchmarkInvDiag(b *testing.B)  { benchInvDiag(b, 1) }
func BenchmarkInvDiag2(b *testing.B) { benchInvDiag(b, 2) }
