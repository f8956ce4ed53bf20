package mgp

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/random"
	"github.com/bmkl/bmkl/vi/internal/sweeptest"
)

// TestSweepTable prints how many sweeps a fit needs to come near the bound it converges
// to, and where, when and with what bound the default rule stops it. The first start is the
// default's; the scales of the others are up to some ten times theirs or one tenth.
func TestSweepTable(t *testing.T) {
	sweeptest.Wanted(t)
	problem := func(name string, labels bool) sweeptest.Problem {
		c := sweeptest.Read(t, name)
		last := len(c) - 1
		sweeptest.Standardise(c[:last]...)
		y := c[last]
		if labels {
			for i := range y {
				y[i] = 2*y[i] - 1
			}
		} else {
			sweeptest.Standardise(y)
		}
		matrices := sweeptest.Kernels(c[:last], []float64{.5, 1, 2, 3, 5, 8, 12})
		k, err := vi.NewDense(matrices...)
		require.NoError(t, err)
		return sweeptest.Problem{Name: name, Fit: func(seed uint64, plain bool, a vi.Ascent) (vi.Record, error) {
			m := Model{Ascent: a, Plain: plain}
			if seed > 0 {
				m.Start = &Start{Gamma: make([]float64, len(matrices))}
				random.Normal(random.Source(seed), m.Start.Gamma)
				for p, z := range m.Start.Gamma {
					m.Start.Gamma[p] = 2 * float64(len(matrices)) * math.Exp(z)
				}
			}
			fit, err := m.fit(context.Background(), k, y, labels)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}
	sweeptest.Print(t, []sweeptest.Problem{
		problem("mcycle", false), problem("diabetes", false), problem("boston", false),
		problem("sonar", true), problem("ionosphere", true), problem("liver", true),
	})
}
