package vi

import (
	"context"
	"fmt"
	"slices"
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

// BenchmarkMultiGPConvergence counts the sweeps to convergence with the steps of
// docs/mgp.md, section 11, and with the updates alone from the same vague start.
func BenchmarkMultiGPConvergence(b *testing.B) {
	k, y, _ := mgpProblem(b, 60, 10, 11)
	for _, family := range []Family{StudentT, Laplace, GammaVariance, GeneralGIG, ARD} {
		for _, steps := range []bool{true, false} {
			b.Run(fmt.Sprintf("%v/steps=%t", family, steps), func(b *testing.B) {
				var rec Record
				for b.Loop() {
					m, err := MultiGP{Family: family, Workers: 1}.model(k, y, false)
					require.NoError(b, err)
					climbed := model(m)
					if !steps {
						climbed = updatesOnly{m}
						m.updates = slices.DeleteFunc(m.updates, func(u update) bool { return u.name == "common scale" })
					}
					learn := m.learnPrior
					m.learnPrior = false
					rec, err = Ascent{Tolerance: settled}.run(context.Background(), climbed)
					require.NoError(b, err)
					m.learnPrior = learn
					rec, err = Ascent{}.resume(context.Background(), climbed, rec)
					require.NoError(b, err)
				}
				b.ReportMetric(float64(len(rec.Trace)), "sweeps")
				b.ReportMetric(rec.Bound(), "nats")
			})
		}
	}
}

// updatesOnly never goes ahead of the updates.
type updatesOnly struct{ *multiGP }

func (u updatesOnly) sweep(done func(string)) error {
	u.goAhead = false
	return u.multiGP.sweep(done)
}
