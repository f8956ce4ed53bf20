package probit

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

func TestCompositeCombines(t *testing.T) {
	k, err := vi.NewDense(la.MatrixOf(2, 3, []float64{1, 0, 0.5, 2, 0.25, 4}), la.MatrixOf(2, 3, []float64{1, 2, 3, 4, 5, 6}))
	require.NoError(t, err)
	out := la.NewMatrix[float64](2, 3)
	for _, rule := range []Rule{RuleFixSum, RuleWSum, RuleBin, RuleFixProd, RuleWProd} {
		c, err := NewComposite(rule, k)
		require.NoError(t, err)
		for _, beta := range [][]float64{{1, 1}, {0, 1}, {0.5, 0.5}, {0, 0}, {3, 0.1}} {
			c.Combine(nil, beta, out)
			for d := range 2 {
				for i, v := range out.Row(d) {
					x, y := k.At(0).At(d, i), k.At(1).At(d, i)
					want := beta[0]*x + beta[1]*y
					if rule == RuleFixProd || rule == RuleWProd {
						want = math.Pow(x, beta[0]) * math.Pow(y, beta[1])
					}
					assert.InDelta(t, want, v, 1e-13*max(1, want), "%v %v (%d, %d)", rule, beta, d, i)
				}
			}
		}
	}
	_, err = NewComposite(RuleWProd, testkit.Must(vi.NewDense(la.MatrixOf(1, 2, []float64{1, -1}))))
	assert.EqualError(t, err, "vi: kernel 0: entry (0, 1) is -1: products need entries that are not negative")
	_, err = NewComposite(7, k)
	assert.EqualError(t, err, "vi: Rule(7) is not a combination rule")
}
