package effects

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// binary replaces the targets of a problem by 1 where a logistic variable is below them, and by 0 elsewhere.
func (p *problem) binary() {
	rng := rand.New(rand.NewPCG(8, 9))
	for i, v := range p.y {
		u := rng.Float64()
		p.y[i] = 0
		if math.Log(u/(1-u)) < v {
			p.y[i] = 1
		}
	}
}

// denseOdds returns A at the unknowns and the slope of the log density there, by a loop over samples.
func (p problem) denseOdds(x, prior []float64, kept func(i int) bool) (a la.Matrix[float64], slope []float64, log float64) {
	size := len(x)
	a, slope = la.NewMatrix[float64](size, size), make([]float64, size)
	for i, y := range p.y {
		if !kept(i) {
			continue
		}
		row := make([]float64, size)
		copy(row, p.phi.Row(i))
		first := 4
		for _, c := range p.columns {
			row[first+c.Of[i]] = 1
			first += c.Levels
		}
		var eta float64
		for j, v := range row {
			eta += v * x[j]
		}
		q := 1 / (1 + math.Exp(-eta))
		log += math.Log(y*q + (1-y)*(1-q))
		for j, v := range row {
			slope[j] += v * (y - q)
			for k, w := range row {
				a.Set(j, k, a.At(j, k)+v*w*q*(1-q))
			}
		}
	}
	of := []float64{0, prior[0], prior[0], prior[0]}
	for c, column := range p.columns {
		for range column.Levels {
			of = append(of, prior[c+1])
		}
	}
	for j, v := range of {
		if v > 0 {
			slope[j] -= x[j] / v
			a.Set(j, j, a.At(j, j)+1/v)
		}
	}
	return a, slope, log
}

// Log odds have the values of largest density, and the variances solve their equations with a dense inverse.
func TestOdds(t *testing.T) {
	p := newProblem(3000, []int{40, 25}, []float64{0.9, 0.6})
	p.binary()
	m, err := Process{Seed: 1}.FitOdds(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	x := append(append(append([]float64{}, m.Beta...), m.Effects[0].Mean...), m.Effects[1].Mean...)
	group := la.SumSq(m.Beta[1:]) / 3 // its prior, as γ is near 3
	all := func(int) bool { return true }
	a, slope, _ := p.denseOdds(x, []float64{group, m.Effects[0].Prior, m.Effects[1].Prior}, all)
	require.NoError(t, la.Cholesky(nil, a))
	la.CholeskySolveVec(a, slope)
	for j, v := range slope {
		assert.InDelta(t, 0, v, 3e-3, "the next step of Newton's method, unknown %d", j)
	}
	la.CholeskyInv(nil, a)
	first := 4
	for _, e := range m.Effects {
		var trace float64
		for l := range e.Mean {
			trace += a.At(first+l, first+l)
		}
		gamma := float64(len(e.Mean)) - trace/e.Prior
		assert.InEpsilon(t, la.SumSq(e.Mean)/gamma, e.Prior, 0.05)
		first += len(e.Mean)
	}
	assert.InDelta(t, 0.9, math.Sqrt(m.Effects[0].Prior), 0.25)
	assert.InDelta(t, 0.6, math.Sqrt(m.Effects[1].Prior), 0.2)
}

// Without some samples the effects are the values of largest density given the other samples and β.
func TestOddsWithoutSamples(t *testing.T) {
	p := newProblem(900, []int{35, 12}, []float64{0.9, 0.6})
	p.binary()
	m, err := Process{Seed: 1}.FitOdds(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	offset := make([]float64, len(p.y))
	la.Gemv(nil, la.NoTrans, 1, p.phi, m.Beta, 0, offset)
	kept := make([]bool, len(p.y))
	for i := range kept {
		kept[i] = i%3 != 0 && p.columns[0].Of[i] != 7
	}
	got, err := m.Without(context.Background(), p.columns, offset, p.y, kept)
	require.NoError(t, err)
	x := append(append(append([]float64{}, m.Beta...), got[0]...), got[1]...)
	_, slope, _ := p.denseOdds(x, []float64{1, m.Effects[0].Prior, m.Effects[1].Prior}, func(i int) bool { return kept[i] })
	for j, v := range slope[4:] {
		assert.InDelta(t, 0, v, 1e-2, "unknown %d", j)
	}
	assert.Zero(t, got[0][7], "a level without samples")
}

// Columns of levels without effects get variances near zero, and the other value of the targets has the same effects with the other sign.
func TestNoEffectsOnOdds(t *testing.T) {
	p := newProblem(3000, []int{50, 40}, []float64{0, 1})
	p.binary()
	m, err := Process{Seed: 1}.FitOdds(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	assert.Less(t, m.Effects[0].Prior, 0.03)
	for i, v := range p.y {
		p.y[i] = 1 - v
	}
	other, err := Process{Seed: 1}.FitOdds(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	for l, v := range m.Effects[1].Mean {
		assert.InDelta(t, -v, other.Effects[1].Mean[l], 1e-6)
	}
}

// Where one level decides the targets, and where all targets but one are equal, the unknowns stay finite.
func TestOddsOfCertainLevels(t *testing.T) {
	p := newProblem(800, []int{31}, []float64{0})
	for i, l := range p.columns[0].Of {
		p.y[i] = 0
		if l%2 == 0 {
			p.y[i] = 1
		}
	}
	m, err := Process{Seed: 1}.FitOdds(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	for l, v := range m.Effects[0].Mean {
		assert.Equal(t, l%2 == 0, v > 1)
		assert.Less(t, math.Abs(v), 30.0)
	}
	clear(p.y)
	_, err = Process{Seed: 1}.FitOdds(context.Background(), p.features, p.columns, p.y)
	require.ErrorContains(t, err, "0 of 800 targets are 1")
	p.y[5] = 1
	m, err = Process{Seed: 1}.FitOdds(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	assert.Less(t, m.Beta[0], -4.0)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(assert.AnError)
	_, err = Process{}.FitOdds(ctx, p.features, p.columns, p.y)
	require.ErrorIs(t, err, assert.AnError)
}

func TestLogProbability(t *testing.T) {
	for _, eta := range []float64{-800, -3, -0.1, 0, 0.2, 4, 800} {
		one, zero := LogProbability(1, eta), LogProbability(0, eta)
		if math.Abs(eta) < 100 {
			assert.InDelta(t, 1, math.Exp(one)+math.Exp(zero), 1e-12)
		}
		assert.InDelta(t, eta, one-zero, 1e-12)
		log, slope, weight := odds(1, eta)
		assert.Equal(t, one, log)
		const h = 1e-5
		assert.InDelta(t, (LogProbability(1, eta+h)-LogProbability(1, eta-h))/(2*h), slope, 1e-6)
		assert.GreaterOrEqual(t, weight, 0.0)
	}
}
