package main

import (
	"context"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi/slab"
)

// sparse is a regression on correlated inputs whose weights are drawn from their spike-and-slab prior.
type sparse struct {
	prior slab.Prior
	noise float64
	x     la.Matrix[float64]
	w, y  []float64
	fresh []float64 // inputs of a further sample
}

func newSparse(src special.Rand) sparse {
	const samples, inputs = 10, 4
	s := sparse{prior: slab.Prior{Pi: 0.4, Variance: 1.5}, noise: 0.5, x: normals(src, samples+1, inputs)}
	for i := range s.x.Rows {
		s.x.Row(i)[1] += s.x.Row(i)[0]
	}
	s.w = make([]float64, inputs)
	for m := range s.w {
		if src.Float64() < s.prior.Pi {
			s.w[m] = math.Sqrt(s.prior.Variance) * src.NormFloat64()
		}
	}
	s.fresh, s.x = s.x.Row(samples), s.x.Slice(0, samples, 0, inputs)
	for i := range samples {
		s.y = append(s.y, la.Dot(s.x.Row(i), s.w)+math.Sqrt(s.noise)*src.NormFloat64())
	}
	return s
}

// values returns what is compared: the first weight, how many weights are not zero, the function at the further
// sample, and the log likelihood.
func (s sparse) values(w []float64) []float64 {
	count, logLikelihood := 0.0, 0.0
	for _, v := range w {
		if v != 0 {
			count++
		}
	}
	for i, y := range s.y {
		d := y - la.Dot(s.x.Row(i), w)
		logLikelihood -= d * d / 2 / s.noise
	}
	return []float64{w[0], count, la.Dot(s.fresh, w), logLikelihood}
}

var sparseNames = []string{"weight", "weights not 0", "function", "log likelihood"}

// sample returns draws of the values.
func (s sparse) sample(ctx context.Context, standard bool, seed uint64) ([][]float64, error) {
	m := mcmc.SpikeSlab{Prior: s.prior, Noise: s.noise, Standard: standard,
		Sampling: mcmc.Sampling{Chains: 2, Draws: 50, Thin: 10, BurnIn: 100, Seed: seed, Workers: 1}}
	draws, err := m.Sample(ctx, s.x, s.y)
	if err != nil {
		return nil, err
	}
	return collect(draws.Draws, func(chain, draw int) []float64 { return s.values(draws.Value("w", chain, draw).Row(0)) }), nil
}

// collect returns a row of draws for each of several values.
func collect(d *mcmc.Draws, values func(chain, draw int) []float64) (rows [][]float64) {
	for chain := range d.Chains() {
		for draw := range d.Len() {
			for i, v := range values(chain, draw) {
				if i == len(rows) {
					rows = append(rows, nil)
				}
				rows[i] = append(rows[i], v)
			}
		}
	}
	return rows
}

// rankAll ranks several values of the truth among draws.
func rankAll(src special.Rand, names []string, truth []float64, draws [][]float64) (q []quantity) {
	for i, name := range names {
		q = append(q, ranked(src, name, truth[i], draws[i]))
	}
	return q
}

// sampledSparse calibrates the samplers.
func sampledSparse(standard bool) func(context.Context, special.Rand) ([]quantity, error) {
	return func(ctx context.Context, src special.Rand) ([]quantity, error) {
		s := newSparse(src)
		draws, err := s.sample(ctx, standard, src.Uint64())
		if err != nil {
			return nil, err
		}
		return rankAll(src, sparseNames, s.values(s.w), draws), nil
	}
}

// variationalSparse calibrates mean field, beside the paired sampler. All settings of the prior are held.
func variationalSparse(standard bool) func(context.Context, special.Rand) ([]quantity, error) {
	return func(ctx context.Context, src special.Rand) ([]quantity, error) {
		s := newSparse(src)
		fit, err := slab.Regression{Prior: s.prior, Noise: s.noise, Held: slab.Held{Pi: true, Variance: true, Noise: true}, Standard: standard, Workers: 1}.
			Fit(ctx, s.x, s.y)
		if err != nil {
			return nil, err
		}
		draws, err := s.sample(ctx, false, src.Uint64())
		if err != nil {
			return nil, err
		}
		p, err := fit.Posterior.Predict(la.MatrixOf(1, len(s.fresh), s.fresh))
		if err != nil {
			return nil, err
		}
		truth := s.values(s.w)
		return []quantity{normal("function", truth[2], p.Mean[0], p.Function[0]).beside(math.Sqrt(p.Function[0]), draws[2])}, nil
	}
}
