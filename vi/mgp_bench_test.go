package vi

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// BenchmarkMultiGPSweep sets a sweep beside the factorisation and the inverse
// that it contains.
func BenchmarkMultiGPSweep(b *testing.B) {
	for _, N := range []int{500, 2000} {
		k, y, _ := mgpProblem(b, N, 10, 1)
		m, err := MultiGP{Plain: true}.model(k, y, false)
		require.NoError(b, err)
		require.NoError(b, m.sweep(nil))
		b.Run(fmt.Sprintf("N=%d/sweep", N), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, m.sweep(nil))
			}
		})
		b.Run(fmt.Sprintf("N=%d/inverse", N), func(b *testing.B) {
			a := la.NewMatrix[float64](N, N)
			for b.Loop() {
				b.StopTimer()
				k.Sum(&m.ws, m.weight, a)
				for i := range N {
					a.Row(i)[i] += 1 / m.tau
				}
				b.StartTimer()
				require.NoError(b, la.Cholesky(&m.ws, a))
				la.CholeskyInv(&m.ws, a)
			}
		})
		for _, part := range []struct {
			name string
			run  func()
		}{
			{"sum", func() { m.passes.sum(&m.ws, m.weight, m.b) }},
			{"traces", func() { m.passes.traces(&m.ws, m.b, m.alpha, m.trace, m.quad) }},
		} {
			b.Run(fmt.Sprintf("N=%d/%s", N, part.name), func(b *testing.B) {
				for b.Loop() {
					part.run()
				}
			})
		}
	}
}
