package vi

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// BenchmarkSweep times a sweep beside the factorisations in it: "over factors"
// is their ratio.
func BenchmarkSweep(b *testing.B) {
	for _, s := range []problem{
		{P: 7, N: 500, L: 1}, {P: 7, N: 1000, L: 1}, {P: 7, N: 1000, L: 17}, {P: 21, N: 133, L: 1},
	} {
		for _, plain := range []bool{true, false} {
			b.Run(fmt.Sprintf("N=%d/P=%d/L=%d/plain=%v", s.N, s.P, s.L, plain), func(b *testing.B) {
				s.D = s.N
				r, k, y := s.draw(b, 1)
				r.Plain, r.Workers = plain, 0
				m, err := r.model(k, y)
				require.NoError(b, err)
				require.NoError(b, m.sweep(nil))
				// The least of five runs of the factorisations alone.
				alone := math.Inf(1)
				factors := func(w *worker, o int) error {
					formB(w.factor, m.gram, m.upsilonMean[o], w.d1, 0)
					if err := la.Cholesky(&w.ws, w.factor); err != nil {
						return err
					}
					la.CholeskyInvDiag(&w.ws, w.factor, w.d2)
					return nil
				}
				for range 5 {
					start := time.Now()
					require.NoError(b, m.crew.each(factors))
					alone = min(alone, time.Since(start).Seconds())
				}
				sweep := math.Inf(1)
				for b.Loop() {
					start := time.Now()
					require.NoError(b, m.sweep(nil))
					m.bound()
					sweep = min(sweep, time.Since(start).Seconds())
				}
				b.ReportMetric(sweep/alone, "over-factors")
			})
		}
	}
}
