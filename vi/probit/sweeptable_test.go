package probit

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/sweeptest"
)

// TestSweepTable prints how many sweeps a fit needs to come near the bound it converges
// to, and where, when and with what bound the default rule stops it.
func TestSweepTable(t *testing.T) {
	sweeptest.Wanted(t)
	problem := func(name, of string, m Model) sweeptest.Problem {
		c := sweeptest.Read(t, of)
		last := len(c) - 1
		sweeptest.Standardise(c[:last]...)
		labels := make([]int, len(c[last]))
		for i, v := range c[last] {
			labels[i] = int(v)
		}
		k, err := vi.NewDense(sweeptest.Kernels(c[:last], []float64{.5, 1, 2, 3, 5, 8, 12})...)
		require.NoError(t, err)
		return sweeptest.Problem{Name: of + ", " + name, Fit: func(seed uint64, plain bool, a vi.Ascent) (vi.Record, error) {
			m.Seed, m.Ascent, m.Plain = seed, a, plain
			fit, err := m.Fit(context.Background(), k, labels)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}
	sparse := vi.Gamma{Shape: 1e-6, Scale: 1e6}
	sweeptest.Print(t, []sweeptest.Problem{
		problem("fixed sum", "wine", Model{}), problem("fixed sum", "glass", Model{}), problem("fixed sum", "sonar", Model{}),
		problem("fixed sum, α sparse", "wine", Model{Alpha: sparse}), problem("fixed sum, α sparse", "sonar", Model{Alpha: sparse}),
		problem("weighted sum", "wine", Model{Rule: RuleWSum, Update: WeightUpdateMeanField}), problem("weighted sum", "sonar", Model{Rule: RuleWSum, Update: WeightUpdateMeanField}),
	})
}
