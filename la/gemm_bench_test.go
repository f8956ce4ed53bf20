package la

import (
	"fmt"
	"testing"
)

func BenchmarkGemm(b *testing.B) {
	for _, n := range []int{32, 64, 128, 256, 512, 1024, 2048} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			w := &Workspace{Workers: 1}
			x, y, z := NewMatrix[float64](n, n), NewMatrix[float64](n, n), NewMatrix[float64](n, n)
			x.Fill(1)
			y.Fill(2)
			for b.Loop() {
				Gemm(w, NoTrans, NoTrans, 1, x, y, 0, z)
			}
			b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
