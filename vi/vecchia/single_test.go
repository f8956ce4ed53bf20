package vecchia

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// A row alone is predicted as among others, for one target and for three, in float32 and in float64, near and far.
func TestSinglePredictsAsPredict(t *testing.T) {
	s := drawSamples(600, 3, 11)
	at := drawSamples(60, 3, 13).x
	for i := range 10 {
		la.Scal(1e3, at.Row(i))
	}
	copy(at.Row(11), s.x.Row(5))
	for _, targets := range []int{1, 3} {
		y := la.NewMatrix[float64](s.y.Rows, targets)
		for i := range y.Rows {
			for c := range targets {
				y.Set(i, c, s.y.At(i, 0)+float64(c)*s.x.At(i, c))
			}
		}
		post, err := Process{Seed: 1, Seconds: 1.5}.Fit(context.Background(), s.x, y, s.noise)
		require.NoError(t, err)
		state := post.State()
		require.NotEmpty(t, state.Solved)
		for _, double := range []bool{false, true} {
			for i := range state.Solved {
				state.Solved[i].Double = double
			}
			p, err := NewPosterior(state, 1)
			require.NoError(t, err)
			one := p.Single()
			w := one.NewScratch()
			for _, meanOnly := range []bool{false, true} {
				mean, variance, err := p.Predict(context.Background(), at, nil, meanOnly, 1)
				require.NoError(t, err)
				for i := range at.Rows {
					v := one.Predict(w, at.Row(i), meanOnly)
					for c, m := range mean.Row(i) {
						require.InDelta(t, m, w.Mean[c], 1e-9)
						if !meanOnly {
							require.InEpsilon(t, variance.At(i, c), one.Factor(c)*v, 1e-12)
						}
					}
				}
				require.Zero(t, testing.AllocsPerRun(20, func() { one.Predict(w, at.Row(1), meanOnly) }))
			}
		}
	}
}
