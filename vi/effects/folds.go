package effects

import (
	"context"

	"github.com/bmkl/bmkl/la"
)

// Without returns the posterior of the effects without some samples: kept says which remain, and rest is y − Φβ of all samples. The variances
// of the priors and the noise stay as they are. Levels without a sample have the mean 0 and the prior's variance. columns may have
// more samples than the fit had.
func (m *Posterior) Without(ctx context.Context, columns []Column, rest []float64, kept []bool) ([]Effects, error) {
	s := &system{columns: columns, noise: m.Noise}
	size := 0
	for _, c := range columns {
		s.first = append(s.first, size)
		size += c.Levels
	}
	count, b, precision := make([]float64, size), make([]float64, size), make([]float64, size)
	x := make([]float64, size)
	for c, column := range columns {
		for l := range column.Levels {
			precision[s.first[c]+l] = 1 / m.Effects[c].Prior
		}
		for n, l := range column.Of {
			if kept[n] {
				count[s.first[c]+l]++
				b[s.first[c]+l] += rest[n] / m.Noise
			}
		}
	}
	for c, e := range m.Effects {
		for l, u := range e.Mean {
			if j := s.first[c] + l; count[j] > 0 { // others stay exactly 0
				x[j] = u
			}
		}
	}
	if err := s.solveEffects(ctx, kept, count, b, precision, x); err != nil {
		return nil, err
	}
	all := make([]Effects, len(columns))
	for c, column := range columns {
		e := Effects{Prior: m.Effects[c].Prior, Mean: x[s.first[c] : s.first[c]+column.Levels], Variance: make([]float64, column.Levels)}
		for l := range e.Variance {
			e.Variance[l] = varianceOf(&m.Effects[c], l, int(count[s.first[c]+l]), s.diagonal[s.first[c]+l])
		}
		all[c] = e
	}
	return all, nil
}

// solveEffects solves the normal equations of effects without features, for the samples that are kept, by conjugate gradients from x. count is the
// diagonal of ZᵀZ or ZᵀWZ.
func (s *system) solveEffects(ctx context.Context, kept []bool, count, b, precision, x []float64) error {
	s.diagonal = make([]float64, len(x))
	for j, n := range count {
		s.diagonal[j] = n/s.noise + precision[j]
	}
	times := func(x, out []float64) {
		clear(out)
		if len(s.columns) == 1 {
			for j, n := range count {
				out[j] = float64(n * x[j])
			}
		} else {
			s.products(kept, x, out)
		}
		for j, v := range out {
			out[j] = v/s.noise + float64(precision[j]*x[j])
		}
	}
	condition := func(r, out []float64) {
		for j, d := range s.diagonal {
			out[j] = r[j] / d
		}
	}
	scratch := la.NewMatrix[float64](4, len(x))
	return gradients(ctx, b, x, times, condition, [][]float64{scratch.Row(0), scratch.Row(1), scratch.Row(2), scratch.Row(3)})
}

// varianceOf returns the variance of the effect of level l of a column if it has so many samples. diagonal is the inverse of its variance given all other
// unknowns; the part of the variance that comes from these is taken from the fit.
func varianceOf(e *Effects, l, samples int, diagonal float64) float64 {
	if samples == 0 {
		return e.Prior
	}
	v := 1 / diagonal
	if l < len(e.Variance) && e.given[l] > 0 {
		v += max(0, e.Variance[l]-1/e.given[l])
	}
	return min(v, e.Prior)
}
