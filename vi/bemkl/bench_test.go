package bemkl

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/gram"
	"github.com/bmkl/bmkl/vi/internal/intermediate"
	"github.com/bmkl/bmkl/vi/internal/work"
	"github.com/stretchr/testify/require"
)

// BenchmarkSweep times sweeps and, in turn with them, their factorisations alone:
// for every row of sample weights I + υΛ^-½SΛ^-½ formed, its Cholesky factor and
// the diagonal of its inverse. "over-factors" is the median of their ratios. "N²"
// is the memory of a fit beside the kernels, in matrices of that size.
func BenchmarkSweep(b *testing.B) {
	type fit struct {
		vi.Objective
		*latent
		updates *work.Schedule
	}
	regression := func(b *testing.B, s problem, plain bool) fit {
		r, k, y := s.draw(b, 1)
		r.Plain, r.Workers = plain, 0
		m, err := r.model(k, y)
		require.NoError(b, err)
		return fit{m, m.latent, &m.updates}
	}
	classification := func(b *testing.B, s problem, plain bool) fit {
		c, k, y := s.labels(b, 1)
		c.Plain, c.Workers = plain, 0
		m, err := c.model(k, y)
		require.NoError(b, err)
		return fit{m, m.latent, &m.updates}
	}
	shared := func(b *testing.B, s problem, plain bool) fit {
		r, k, y := s.shared(b, 1)
		r.Plain, r.Workers = plain, 0
		m, err := r.model(k, y)
		require.NoError(b, err)
		return fit{m, m.latent, &m.updates}
	}
	for _, s := range []struct {
		name  string
		p     problem
		model func(*testing.B, problem, bool) fit
	}{
		{"regression", problem{P: 7, N: 500, L: 1}, regression},
		{"regression", problem{P: 7, N: 1000, L: 1}, regression},
		{"regression", problem{P: 7, N: 1000, L: 17}, regression},
		{"regression", problem{P: 21, N: 133, L: 1}, regression},
		{"classification", problem{P: 7, N: 1000, L: 17}, classification},
		{"shared", problem{P: 7, N: 1000, L: 17}, shared},
	} {
		for _, plain := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/N=%d/P=%d/L=%d/plain=%v", s.name, s.p.N, s.p.P, s.p.L, plain), func(b *testing.B) {
				s.p.D = s.p.N
				before := liveBytes()
				m := s.model(b, s.p, plain)
				require.NoError(b, m.Sweep(nil))
				m.updates.Done = work.FirstSweeps // the accelerated order from here
				require.NoError(b, m.Sweep(nil))
				words := float64(liveBytes()-before) / 8
				factors := func(w *intermediate.Worker, r int) error {
					gram.Form(w.Factor, m.Gram, m.Upsilon[r], w.D1, 0)
					if err := la.Cholesky(&w.WS, w.Factor); err != nil {
						return err
					}
					la.CholeskyInvDiag(&w.WS, w.Factor, w.D2)
					return nil
				}
				var ratio, sweep []float64
				for b.Loop() {
					start := time.Now()
					require.NoError(b, m.Crew.Each(factors))
					between := time.Now()
					require.NoError(b, m.Sweep(nil))
					m.Bound()
					sweep = append(sweep, time.Since(between).Seconds())
					ratio = append(ratio, sweep[len(sweep)-1]/between.Sub(start).Seconds())
				}
				b.ReportMetric(testkit.Median(ratio), "over-factors")
				b.ReportMetric(1e3*testkit.Median(sweep), "ms/sweep")
				n := float64(s.p.N)
				b.ReportMetric(words/(n*n)-float64(s.p.P), "N²")
			})
		}
	}
}

// liveBytes returns the bytes in use.
func liveBytes() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
