package probit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRestore(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 20, 3, 3, 0, 1)
	for _, p := range []Model{
		{}, {LearnAlpha: true}, {Prune: 1.2}, {Rule: RuleWSum, MAP: true, Prune: 1.2}, {Rule: RuleWSum}, {Rule: RuleWSum, Update: WeightUpdateMeanField}, {Rule: RuleWSum, Search: WeightSearchSampling},
		{Rule: RuleBin, NotEmpty: true}, {Rule: RuleBin, Update: WeightUpdateStructured}, {Rule: RuleWProd}, {Rule: RuleWProd, Update: WeightUpdateMeanField},
		{Rule: RuleWProd, Search: WeightSearchSampling}, {Rule: RuleWProd, Search: WeightSearchSampling, Update: WeightUpdateMeanField},
	} {
		p.Workers = 1
		var want, got State
		for _, on := range []bool{false, true} {
			m, err := p.model(k, labels)
			require.NoError(t, err)
			for range 3 {
				require.NoError(t, m.Sweep(nil))
			}
			m.Keep()
			if on {
				require.NoError(t, m.Sweep(nil))
				m.Restore()
			}
			q, err := m.posterior()
			require.NoError(t, err)
			want, got = got, q.State()
		}
		assert.Equal(t, want.W, got.W, "%v", p)
		assert.Equal(t, want.Alpha, got.Alpha, "%v", p)
		assert.Equal(t, want.Beta, got.Beta, "%v", p)
		assert.Equal(t, want.Gram, got.Gram, "%v", p)
		assert.Equal(t, want.Components, got.Components, "%v", p)
	}
}
