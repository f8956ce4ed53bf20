package main

import (
	"context"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// grades calibrates the function of grades at known scales, relative to its middle cut point. The cut points are drawn from
// their prior, of the standard deviation 2, and are learned. Samples that have all one grade are drawn again.
func grades(ctx context.Context, src special.Rand) ([]quantity, error) {
	const samples, number = 40, 4
	for {
		p := newProcess(src, samples, labelWeights, 1) // y is f with the noise of the likelihood
		middle := math.Sqrt2 * special.NormalQuantile(0.75)
		level, below, above := 2*src.NormFloat64(), middle*math.Exp(2*src.NormFloat64()), middle*math.Exp(2*src.NormFloat64())
		of := mgp.Ordinal{Grades: number}
		count := [number]int{}
		for _, y := range p.y[:p.n] {
			grade := 0
			for _, cut := range []float64{-below, 0, above} {
				if y+level > cut {
					grade++
				}
			}
			of.Y = append(of.Y, grade)
			count[grade]++
		}
		if count[of.Y[0]] == samples {
			continue
		}
		fit, err := mgp.Evidence{Known: labelWeights, Workers: 1}.FitLikelihood(ctx, p.training(), of)
		if err != nil {
			return nil, err
		}
		q, err := fit.Posterior.Predict(p.fresh(), p.self(), vi.PredictOptions{})
		if err != nil {
			return nil, err
		}
		return []quantity{normal("function above the middle cut point", p.f[p.n]+level, q.Mean[0], q.Function[0])}, nil
	}
}
