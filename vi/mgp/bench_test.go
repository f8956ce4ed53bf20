package mgp

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// BenchmarkMultiGPSweep times sweeps and, in turn with them, the factorisation and
// the inverse of B that they contain: "over-inverse" is the median of their
// ratios. "sum" and "traces" are the two passes over the kernels.
func BenchmarkMultiGPSweep(b *testing.B) {
	for _, N := range []int{500, 2000} {
		b.Run(fmt.Sprintf("N=%d/P=10", N), func(b *testing.B) {
			k, y, _ := mgpProblem(b, N, 10, 1)
			m, err := Model{Plain: true}.model(k, y, false)
			require.NoError(b, err)
			require.NoError(b, m.Sweep(nil))
			a := la.NewMatrix[float64](N, N)
			timed := func(run func()) float64 {
				start := time.Now()
				run()
				return 1e3 * time.Since(start).Seconds()
			}
			var ratio, sweep, sum, traces []float64
			for b.Loop() {
				m.passes.sum(&m.ws, m.weight, a)
				for i := range N {
					a.Row(i)[i] += 1 / m.tau
				}
				inverse := timed(func() {
					require.NoError(b, la.Cholesky(&m.ws, a))
					la.CholeskyInv(&m.ws, a)
				})
				sweep = append(sweep, timed(func() { require.NoError(b, m.Sweep(nil)) }))
				ratio = append(ratio, sweep[len(sweep)-1]/inverse)
				sum = append(sum, timed(func() { m.passes.sum(&m.ws, m.weight, a) }))
				traces = append(traces, timed(func() { m.passes.traces(&m.ws, m.b, m.alpha, m.trace, m.quad) }))
			}
			b.ReportMetric(testkit.Median(ratio), "over-inverse")
			b.ReportMetric(testkit.Median(sweep), "ms/sweep")
			b.ReportMetric(testkit.Median(sum), "ms/sum")
			b.ReportMetric(testkit.Median(traces), "ms/traces")
		})
	}
}

// BenchmarkMultiGPConvergence counts the sweeps to convergence with the steps of
// docs/theory/mgp.md, section 11, and with the updates alone from the same vague start.
func BenchmarkMultiGPConvergence(b *testing.B) {
	k, y, _ := mgpProblem(b, 60, 10, 11)
	for _, family := range []Family{FamilyStudentT, FamilyLaplace, FamilyGammaVariance, FamilyGIG, FamilyFlat} {
		for _, steps := range []bool{true, false} {
			b.Run(fmt.Sprintf("%v/steps=%t", family, steps), func(b *testing.B) {
				var rec vi.Record
				for b.Loop() {
					m, err := Model{Family: family, Workers: 1}.model(k, y, false)
					require.NoError(b, err)
					climbed := vi.Objective(m)
					if !steps {
						climbed = updatesOnly{m}
						m.updates = slices.DeleteFunc(m.updates, func(u work.Update) bool { return u.Name == "common scale" })
					}
					learn := m.learnPrior
					m.learnPrior = false
					rec, err = vi.Ascent{Tolerance: settled}.Run(context.Background(), climbed)
					require.NoError(b, err)
					m.learnPrior = learn
					rec, err = vi.Ascent{}.Continue(context.Background(), climbed, rec, len(rec.Trace))
					require.NoError(b, err)
				}
				b.ReportMetric(float64(len(rec.Trace)), "sweeps")
				b.ReportMetric(rec.Bound(), "nats")
			})
		}
	}
}

// updatesOnly never goes ahead of the updates.
type updatesOnly struct{ *model }

func (u updatesOnly) Sweep(done func(string)) error {
	u.goAhead = false
	return u.model.Sweep(done)
}
