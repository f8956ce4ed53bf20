package mcmc

import (
	"flag"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/cputime"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

var mixingTable = flag.Bool("mixing", false, "print how chains of the multinomial probit machine mix, for docs/lab/sampling.md (a minute)")

// TestMixingTable prints, for each rule with fixed kernels and with a sampled parameter of each, the least bulk effective
// draws a sweep and the largest R̂ of each variable: four chains of 1000 draws after 500, on the golden data, every
// prior Gamma(1, 1). Of switches at least one is on; all kernels have unit diagonals.
func TestMixingTable(t *testing.T) {
	if !*mixingTable {
		t.Skip("-mixing prints the tables of docs/lab/sampling.md")
	}
	d := readProbitData(t)
	exponential, err := NewExponentialKernels(d.distances)
	require.NoError(t, err)
	for _, kernels := range []vi.ParametricKernels{fixedKernels{dense(t, d.K...)}, exponential} {
		for _, rule := range []probit.Rule{probit.RuleFixSum, probit.RuleWSum, probit.RuleWProd, probit.RuleBin} {
			p := Probit{Rule: rule, NotEmpty: rule == probit.RuleBin, Sampling: Sampling{Chains: 4, Draws: 1000, BurnIn: 500, Seed: 1, Workers: 1}}
			began := cputime.Total()
			draws, err := p.SampleParametric(t.Context(), kernels, d.T)
			require.NoError(t, err)
			t.Logf("%v, %d parameters: %.2f ms a sweep", rule, draws.Parameters(), 1e3*(cputime.Total()-began).Seconds()/6000)
			for _, v := range draws.Variables() {
				least, most := math.Inf(1), 0.0
				for _, s := range draws.Summary(v.Name) {
					least, most = min(least, s.BulkESS/4000), max(most, s.RHat)
				}
				t.Logf("  %-13s %.3f, %.3f", v.Name, least, most)
			}
		}
	}
}
