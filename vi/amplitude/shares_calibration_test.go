package amplitude

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// drawn is one draw of switches, amplitudes and the noise from the prior that docs/theory/views.md states.
type drawn struct {
	amplitude []float64 // of the kernels, 0 in views that are left out
	noise     float64
}

func drawPrior(l Layout, src *rand.Rand) (d drawn) {
	level := 3 * src.NormFloat64()
	d.noise = math.Exp(math.Log(noiseMedian) + float64(noiseSD*src.NormFloat64()))
	kind, view, on := make([]float64, l.kinds()), make([]float64, l.Views()), make([]bool, l.Views())
	for i := range kind {
		kind[i] = 1.5 * src.NormFloat64()
	}
	for v := range view {
		view[v], on[v] = 1.5*src.NormFloat64(), src.Float64() < 0.5
	}
	d.amplitude = make([]float64, len(l.View))
	for j, v := range l.View {
		if own := 0.5 * src.NormFloat64(); on[v] {
			d.amplitude[j] = math.Exp(level+kind[l.kind(j)]+own+view[v]) / float64(len(l.View))
		}
	}
	return d
}

// drawTargets draws functions and C rows of targets of p, stored in Y, and returns the views' shares of the functions.
func drawTargets(t *testing.T, p *Problem, d drawn, src *rand.Rand, C int) []float64 {
	J, N := p.Kernels.Dims()
	p.Y = la.NewMatrix[float64](C, N)
	square := make([]float64, p.Layout.Views())
	for v := range square {
		of, total := make([]float64, J), 0.0
		for j, u := range p.Layout.View {
			if u == v {
				of[j] = d.amplitude[j]
				total += of[j]
			}
		}
		if total == 0 {
			continue
		}
		var ws la.Workspace
		packed, f := make([]float64, size(N)), la.NewMatrix[float64](N, N)
		p.Kernels.sum(&ws, of, packed)
		unpack(packed, 0, 1e-9*total, f)
		require.NoError(t, la.Cholesky(&ws, f))
		z := make([]float64, N)
		for c := range C {
			for i := range z {
				z[i] = src.NormFloat64()
				value := la.Dot(f.Row(i)[:i+1], z[:i+1])
				square[v] += float64(value * value)
				p.Y.Row(c)[i] += value
			}
		}
	}
	for c := range C {
		b := src.NormFloat64()
		for i := range N {
			p.Y.Row(c)[i] += b + float64(math.Sqrt(d.noise)*src.NormFloat64())
		}
	}
	share(square)
	return square
}

// rankOf returns the rank of x among draws, between 0 and 1. Draws that equal x are above or below it with equal probabilities.
func rankOf(x float64, draws []float64, src *rand.Rand) float64 {
	var below, equal float64
	for _, d := range draws {
		switch {
		case d < x:
			below++
		case d == x: // both are 0: the view is left out
			equal++
		}
	}
	return (below + float64(src.Float64()*(equal+1))) / float64(len(draws)+1)
}

// TestSharesAreCalibrated draws problems from the prior. The rank of a true share among draws from its posterior is then uniform. Of each
// problem one view counts, so that the sums have independent terms. A threshold of 4.9 standard deviations is passed with a probability of
// 1e-6 if the posterior is right.
//
// Source: S. R. Cook, A. Gelman and D. B. Rubin, "Validation of software for Bayesian models using posterior quantiles", Journal of
// Computational and Graphical Statistics 15 (2006).
func TestSharesAreCalibrated(t *testing.T) {
	problems := 150
	if testing.Short() {
		problems = 40
	}
	var rank, square, inside, told, gap float64
	for i := range problems {
		src := rand.New(rand.NewPCG(uint64(i), 19))
		k, l := simulated(t, src, 4, 24, false)
		p := Problem{Kernels: k, Layout: l, Workers: 1}
		truth := drawTargets(t, &p, drawPrior(l, src), src, 1+i%3)
		s, err := p.Select(context.Background(), Sparse, nil, Sampling{Seed: uint64(i)})
		require.NoError(t, err)
		shares, err := p.Shares(context.Background(), s.Draws, uint64(i))
		require.NoError(t, err)
		v := i % 4
		var draws []float64
		var mean, variance float64
		for d := range shares.Function.Rows {
			draws = append(draws, shares.Function.At(d, v))
			mean += draws[d] / float64(shares.Function.Rows)
		}
		for _, x := range draws {
			variance += float64((x-mean)*(x-mean)) / float64(len(draws)-1)
		}
		told += variance
		gap += float64((truth[v] - mean) * (truth[v] - mean))
		u := rankOf(truth[v], draws, src)
		rank += u - 0.5
		square += float64((u-0.5)*(u-0.5)) - 1.0/12
		if u > 0.025 && u < 0.975 {
			inside++
		}
	}
	n := float64(problems)
	t.Logf("ranks: mean %.3f, variance %.3f of a uniform number's; %.1f %% of the intervals of 95 %% have the share; SD %.4f, gaps %.4f",
		rank/n+0.5, 12*square/n+1, 100*inside/n, math.Sqrt(told/n), math.Sqrt(gap/n))
	assert.Less(t, math.Abs(rank), 4.9*math.Sqrt(n/12))
	assert.Less(t, math.Abs(square), 4.9*math.Sqrt(n/180))
}
