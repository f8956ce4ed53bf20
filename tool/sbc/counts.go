package main

import (
	"context"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/mgp"
)

// narrowCounts calibrates the function of counts with a double Poisson distribution at known scales, and the predicted distribution of a further count. The
// level and the precision are drawn from their prior about a mean count of 4 and a precision of 2, and are learned. The prior of the level lies about the mean
// of the counts, which are drawn again until it is within a third of 4.
func narrowCounts(ctx context.Context, src special.Rand) ([]quantity, error) {
	const samples = 40
	for {
		p := newProcess(src, samples, processWeights, processNoise)
		level, nu := math.Log(4)+2*src.NormFloat64(), 1+math.Exp(2*src.NormFloat64())
		var y []float64
		var sum float64
		for _, f := range p.f {
			if f+level > 9 {
				break
			}
			y = append(y, doublePoisson(src, math.Exp(f+level), nu))
			sum += y[len(y)-1]
		}
		if len(y) < len(p.f) || math.Abs(math.Log((sum-y[samples])/samples/4)) > 1.0/3 {
			continue
		}
		fit, err := mgp.Evidence{Known: processWeights, Workers: 1}.FitLikelihood(ctx, p.training(), mgp.Counts{Y: y[:samples], Narrow: true})
		if err != nil {
			return nil, err
		}
		q, err := fit.Posterior.Predict(p.fresh(), p.self(), vi.PredictOptions{})
		if err != nil {
			return nil, err
		}
		d := mgp.CountDistribution{Mean: q.Mean[0], Variance: q.Function[0], Exposure: 1, Nu: mgp.Precision(fit.Posterior.State().Shape[1])}
		below, upTo := d.CDF(y[samples])
		return []quantity{
			normal("logarithm of the mean count", p.f[samples]+level, q.Mean[0], q.Function[0]),
			{name: "count", place: below + src.Float64()*(upTo-below)},
		}, nil
	}
}

// doublePoisson draws a count by its probabilities, from their formula.
func doublePoisson(src special.Rand, mu, nu float64) float64 {
	log := func(k float64) float64 {
		g, _ := math.Lgamma(k + 1)
		if k == 0 {
			return -nu * mu
		}
		return nu*(k-mu-k*math.Log(k/mu)) + k*math.Log(k) - k - g
	}
	most := math.Ceil(mu + 12*math.Sqrt(mu) + 20)
	top := math.Inf(-1)
	for k := 0.0; k <= most; k++ {
		top = max(top, log(k))
	}
	var sum float64
	for k := 0.0; k <= most; k++ {
		sum += math.Exp(log(k) - top)
	}
	k := 0.0
	for left := src.Float64()*sum - math.Exp(log(0)-top); left > 0 && k < most; {
		k++
		left -= math.Exp(log(k) - top)
	}
	return k
}
