package slab

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/fittest"
	"github.com/bmkl/bmkl/vi/internal/random"
)

func TestRestore(t *testing.T) {
	const N = 20
	x, y := la.NewMatrix[float64](N, 6), la.NewMatrix[float64](3, N)
	random.Normal(random.Source(1), x.Data)
	random.Normal(random.Source(2), y.Data)
	for _, standard := range []bool{false, true} {
		r := Regression{Standard: standard, Workers: 1}
		d, err := r.design(x, y.Row(0))
		require.NoError(t, err)
		m, err := r.model(d, 1)
		require.NoError(t, err)
		fittest.RequireRestored(t, m, 7, func() any { return m.(interface{ posterior() *RegressionPosterior }).posterior().State() })
	}

	k, distance := la.NewMatrix[float64](N, N), la.NewMatrix[float64](N, N)
	for i := range N {
		for j := range N {
			distance.Set(i, j, math.Abs(float64(i-j)))
			k.Set(i, j, math.Exp(-distance.At(i, j)/5))
		}
	}
	latents := []Latent{{Covariance: FixedCovariance(k)}, {Covariance: DecayCovariance(distance, 2, 0.1, 100)}, {Covariance: WhiteCovariance()}}
	mt, err := MultiTask{Workers: 1, LengthsEvery: 2}.model(latents, y, 1)
	require.NoError(t, err)
	fittest.RequireRestored(t, mt, 7, func() any {
		p, err := mt.posterior(true)
		require.NoError(t, err)
		return []any{p.State(), mt.Bound()}
	})

	observed, err := ObserveMatrix(x)
	require.NoError(t, err)
	for _, f := range []Factors{
		{Count: 3, Offsets: true, NoiseWeight: 10}, {Count: 2, Noise: NoiseShared},
		{Count: 2, Offsets: true, NoiseWeight: 10, Views: []int{2, 4}, Groups: slices.Repeat([]int{0, 1, 1, 0}, N/4)},
		{Count: 2, Covariance: DecayCovariance(distance, 2, 0.1, 100), LengthsEvery: 2},
	} {
		f.Workers = 1
		m, err := f.model(observed)
		require.NoError(t, err)
		fittest.RequireRestored(t, m, 7, func() any {
			s := m.posterior().State()
			s.Mean, s.Variance = s.Mean.Clone(), s.Variance.Clone()
			s.Weights = append([]Pair(nil), s.Weights...)
			s.Noise = append([]float64(nil), s.Noise...)
			s.OffsetVariance = append([]float64(nil), s.OffsetVariance...)
			if b := s.Groups; b != nil {
				s.Groups = &FactorGroups{b.Of, b.Variance.Clone(), b.Noise.Clone(), b.Offset.Clone(), b.OffsetVariance.Clone()}
			}
			return s
		})
	}
}
