package effects

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/bmkl/bmkl/internal/testkit/golden" // takes the flag of the suites
	"github.com/bmkl/bmkl/la"
)

// problem is a crossed design with few levels, so that dense algebra can repeat it.
type problem struct {
	features Features
	phi      la.Matrix[float64]
	columns  []Column
	y        []float64
	weight   []float64 // of each sample; nil: 1
}

func newProblem(n int, levels []int, sd []float64) problem {
	rng := rand.New(rand.NewPCG(3, 4))
	p := problem{phi: la.NewMatrix[float64](n, 4), y: make([]float64, n)}
	var u [][]float64
	for c, l := range levels {
		of := make([]float64, l)
		for i := range of {
			of[i] = sd[c] * rng.NormFloat64()
		}
		u = append(u, of)
		p.columns = append(p.columns, Column{Levels: l})
	}
	for i := range n {
		row := p.phi.Row(i)
		row[0] = 1
		for j := 1; j < 4; j++ {
			row[j] = rng.NormFloat64()
		}
		p.y[i] = 0.7*row[1] - 0.4*row[2] + 0.2*row[3] + rng.NormFloat64()
		for c := range levels {
			at := rng.IntN(levels[c])
			p.columns[c].Of = append(p.columns[c].Of, at)
			p.y[i] += u[c][at]
		}
	}
	p.features = Features{Groups: []int{3}, Rows: func(lo, hi int) la.Matrix[float64] { return p.phi.Slice(lo, hi, 0, 4).Clone() }}
	return p
}

// dense returns A and b/σ² of the normal equations of the samples that are kept, by a loop over samples.
func (p problem) dense(noise float64, prior []float64) (a la.Matrix[float64], b []float64) {
	size := 4
	var first []int
	for _, c := range p.columns {
		first = append(first, size)
		size += c.Levels
	}
	a, b = la.NewMatrix[float64](size, size), make([]float64, size)
	for i, y := range p.y {
		row := make([]float64, size)
		copy(row, p.phi.Row(i))
		for c := range p.columns {
			row[first[c]+p.columns[c].Of[i]] = 1
		}
		precision := 1 / noise
		if p.weight != nil {
			precision *= p.weight[i]
		}
		for j, v := range row {
			b[j] += v * y * precision
			for k, w := range row {
				a.Set(j, k, a.At(j, k)+v*w*precision)
			}
		}
	}
	for j := 1; j < 4; j++ {
		a.Set(j, j, a.At(j, j)+1/prior[0])
	}
	for c, column := range p.columns {
		for l := range column.Levels {
			a.Set(first[c]+l, first[c]+l, a.At(first[c]+l, first[c]+l)+1/prior[c+1])
		}
	}
	return a, b
}

// evidence returns −2 log p(y), up to a constant, with the intercept integrated out.
func (p problem) evidence(noise float64, prior []float64) float64 {
	a, b := p.dense(noise, prior)
	x := append([]float64{}, b...)
	l := a.Clone()
	if err := la.Cholesky(nil, l); err != nil {
		panic(err)
	}
	la.CholeskySolveVec(l, x)
	out := float64(len(p.y))*math.Log(noise) + la.SumSq(p.y)/noise - la.Dot(b, x)
	for j := range l.Rows {
		out += 2 * math.Log(l.At(j, j))
	}
	out += 3 * math.Log(prior[0])
	for c, column := range p.columns {
		out += float64(column.Levels) * math.Log(prior[c+1])
	}
	return out
}

// The posterior is what dense algebra says, and no change of a variance raises the evidence by much.
func TestPosteriorAndVariances(t *testing.T) {
	p := newProblem(600, []int{40, 25}, []float64{0.8, 0.5})
	m, err := Process{Seed: 1}.Fit(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	prior := []float64{m.groups[0], m.Effects[0].Prior, m.Effects[1].Prior}
	a, b := p.dense(m.Noise, prior)
	require.NoError(t, la.Cholesky(nil, a))
	la.CholeskySolveVec(a, b)
	assert.InDeltaSlice(t, b[:4], m.Beta, 1e-4)
	assert.InDeltaSlice(t, b[4:44], m.Effects[0].Mean, 1e-4)
	assert.InDeltaSlice(t, b[44:], m.Effects[1].Mean, 1e-4)
	la.CholeskyInv(nil, a)
	var sum, exact float64
	for l, v := range m.Effects[0].Variance { // probes estimate a part of them
		sum, exact = sum+v, exact+a.At(4+l, 4+l)
		assert.InEpsilon(t, a.At(4+l, 4+l), v, 0.3)
	}
	assert.InEpsilon(t, exact, sum, 0.05)
	best := p.evidence(m.Noise, prior)
	for k := range 4 {
		for _, by := range []float64{0.7, 1.4} {
			other, noise := append([]float64{}, prior...), m.Noise
			if k == 3 {
				noise *= by
			} else {
				other[k] *= by
			}
			assert.Greater(t, p.evidence(noise, other), best, "variance %d times %g", k, by)
		}
	}
}

// In other units of the targets the fit is the same, and features may come in several blocks.
func TestUnitsAndBlocks(t *testing.T) {
	p := newProblem(2*blockRows+77, []int{31}, []float64{0.6})
	want, err := Process{Seed: 1}.Fit(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	prior := []float64{want.groups[0], want.Effects[0].Prior}
	a, b := p.dense(want.Noise, prior)
	require.NoError(t, la.Cholesky(nil, a))
	la.CholeskySolveVec(a, b)
	assert.InDeltaSlice(t, b[:4], want.Beta, 1e-4)
	assert.InDeltaSlice(t, b[4:], want.Effects[0].Mean, 1e-4)
	la.CholeskyInv(nil, a)
	for l, v := range want.Effects[0].Variance {
		assert.InEpsilon(t, a.At(4+l, 4+l), v, 0.3)
	}
	const unit = 1e-5
	for i := range p.y {
		p.y[i] *= unit
	}
	got, err := Process{Seed: 1}.Fit(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	assert.InEpsilon(t, unit*unit*want.Noise, got.Noise, 1e-6)
	assert.InEpsilon(t, unit*unit*want.groups[0], got.groups[0], 1e-6)
	assert.InEpsilon(t, unit*unit*want.Effects[0].Prior, got.Effects[0].Prior, 1e-6)
	for l, v := range want.Effects[0].Mean {
		assert.InDelta(t, unit*v, got.Effects[0].Mean[l], 1e-6*unit)
	}
}

// Columns of levels without effects get variances near zero in small units too.
func TestNoEffectsInSmallUnits(t *testing.T) {
	p := newProblem(1000, []int{50}, []float64{0})
	for i := range p.y {
		p.y[i] *= 1e-4
	}
	m, err := Process{Seed: 1}.Fit(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	assert.Less(t, m.Effects[0].Prior, 0.03e-8)
}

// The preconditioner has the block of β of the normal equations, and their diagonal.
func TestPreconditioner(t *testing.T) {
	p := newProblem(300, []int{20, 9}, []float64{0.8, 0.5})
	s := newSystem(4, p.columns)
	require.NoError(t, s.sum(context.Background(), p.features, p.y, 1))
	s.noise = 0.3
	parts := s.parts([]int{3})
	prior := []float64{2, 0.7, 0.1}
	for i := range parts {
		parts[i].prior = prior[i]
	}
	require.NoError(t, s.prepare(parts))
	a, b := p.dense(0.3, prior)
	for i := range 4 {
		for j := range i + 1 {
			assert.InEpsilon(t, a.At(i, j), la.Dot(s.factor.Row(i)[:j+1], s.factor.Row(j)[:j+1]), 1e-8)
		}
	}
	for l, v := range s.diagonal {
		assert.InEpsilon(t, a.At(4+l, 4+l), v, 1e-12)
	}
	for j, v := range s.right {
		assert.InDelta(t, b[j], v/s.noise, 1e-9)
	}
	x, out := make([]float64, s.size()), make([]float64, s.size())
	for j := range x {
		x[j] = math.Sin(float64(j))
	}
	s.times(x, out)
	for i := range out {
		want := 0.0
		for j, v := range x {
			want += a.At(i, j) * v
		}
		assert.InDelta(t, want, out[i], 1e-9)
	}
	block := a.Slice(0, 4, 0, 4).Clone()
	require.NoError(t, la.Cholesky(nil, block))
	la.CholeskyInv(nil, block)
	for j, v := range s.inverse {
		assert.InEpsilon(t, block.At(j, j), v, 1e-8)
	}
	rest := 0.0 // ‖y − Φβ − Zu‖², by a loop over samples
	for i, y := range p.y {
		for j, v := range p.phi.Row(i) {
			y -= v * x[j]
		}
		y -= x[4+p.columns[0].Of[i]] + x[24+p.columns[1].Of[i]]
		rest += y * y
	}
	assert.InEpsilon(t, rest, s.residual(x), 1e-10)
}

// With weights the normal equations are a sum over weighted samples, of several blocks too. The right-hand sides of the probes have the variances of
// the equations.
func TestWeightedEquations(t *testing.T) {
	for _, levels := range [][]int{{20, 9}, {20}} {
		p := newProblem(blockRows+60, levels, []float64{0.8, 0.5})
		target := make([]float64, len(p.y))
		for i, y := range p.y {
			p.weight = append(p.weight, 0.2+math.Mod(0.37*float64(i), 2))
			target[i] = p.weight[i] * y
		}
		s := newSystem(4, p.columns)
		s.weight, s.noise = p.weight, 1
		require.NoError(t, s.sum(context.Background(), p.features, target, 1))
		prior := []float64{2, 0.7, 0.1}[:1+len(levels)]
		parts := s.parts([]int{3})
		for i := range parts {
			parts[i].prior = prior[i]
		}
		require.NoError(t, s.prepare(parts))
		a, b := p.dense(1, prior)
		assert.InDeltaSlice(t, b, s.right, 1e-9)
		x, out := make([]float64, s.size()), make([]float64, s.size())
		for j := range x {
			x[j] = math.Sin(float64(j))
		}
		s.times(x, out)
		for i := range out {
			assert.InDelta(t, la.Dot(a.Row(i), x), out[i], 1e-9)
		}
		if len(levels) == 1 {
			continue
		}
		const seeds = 40
		variance := make([]float64, s.size())
		for seed := range uint64(seeds) {
			one := newSystem(4, p.columns)
			one.weight = p.weight
			d := newDraws(seed)
			one.add(p.features.Rows(0, blockRows), 0, target[:blockRows], d)
			one.add(p.features.Rows(blockRows, len(target)), blockRows, target[blockRows:], d)
			for k := range probes {
				for j, v := range one.noises.Row(k) {
					variance[j] += v * v / (seeds * probes)
				}
			}
		}
		for j, v := range variance { // the relative error of a variance of 320 draws is 0.08
			assert.InEpsilon(t, a.At(j, j)-s.precision[j], v, 0.35, "unknown %d", j)
		}
	}
}

// Without some samples the effects are the solution of the normal equations of the others.
func TestWithoutSamples(t *testing.T) {
	p := newProblem(500, []int{35, 12}, []float64{0.8, 0.5})
	m, err := Process{Seed: 1}.Fit(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	rest := append([]float64{}, p.y...)
	la.Gemv(nil, la.NoTrans, -1, p.phi, m.Beta, 1, rest)
	kept := make([]bool, len(rest))
	for i := range kept {
		kept[i] = i%3 != 0 && p.columns[0].Of[i] != 7
	}
	got, err := m.Without(context.Background(), p.columns, rest, kept)
	require.NoError(t, err)

	part := problem{phi: la.NewMatrix[float64](0, 4)}
	for _, c := range p.columns {
		part.columns = append(part.columns, Column{Levels: c.Levels})
	}
	for i, k := range kept {
		if k {
			part.y = append(part.y, rest[i])
			for c := range p.columns {
				part.columns[c].Of = append(part.columns[c].Of, p.columns[c].Of[i])
			}
		}
	}
	part.phi = la.NewMatrix[float64](len(part.y), 4) // zeros: only effects remain
	a, b := part.dense(m.Noise, []float64{1, m.Effects[0].Prior, m.Effects[1].Prior})
	a.Set(0, 0, 1)
	require.NoError(t, la.Cholesky(nil, a))
	la.CholeskySolveVec(a, b)
	assert.InDeltaSlice(t, b[4:39], got[0].Mean, 1e-4)
	assert.InDeltaSlice(t, b[39:], got[1].Mean, 1e-4)
	assert.Equal(t, m.Effects[0].Prior, got[0].Variance[7], "a level without samples")
	assert.Zero(t, got[0].Mean[7])
	la.CholeskyInv(nil, a)
	for c, first := range []int{4, 39} {
		for l, v := range got[c].Variance {
			if c == 0 && l == 7 {
				continue
			}
			assert.InEpsilon(t, a.At(first+l, first+l), v, 0.35)
		}
	}
	for i := range kept {
		kept[i] = true
	}
	all, err := m.Without(context.Background(), p.columns, rest, kept)
	require.NoError(t, err)
	for c := range all {
		assert.InDeltaSlice(t, m.Effects[c].Variance, all[c].Variance, 1e-12, "of all samples the variances are the fit's")
	}
}

// Columns of levels without effects get variances near zero.
func TestNoEffects(t *testing.T) {
	p := newProblem(2000, []int{50}, []float64{0})
	m, err := Process{Seed: 1}.Fit(context.Background(), p.features, p.columns, p.y)
	require.NoError(t, err)
	assert.Less(t, m.Effects[0].Prior, 0.01)
	assert.InDelta(t, 1, m.Noise, 0.1)
}

func TestFitErrors(t *testing.T) {
	p := newProblem(100, []int{31}, []float64{1})
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(assert.AnError)
	_, err := Process{}.Fit(ctx, p.features, p.columns, p.y)
	require.ErrorIs(t, err, assert.AnError)
	_, err = Process{}.Fit(context.Background(), p.features, p.columns, make([]float64, 100))
	require.ErrorContains(t, err, "all targets are 0")
	p.y[0] = 1e200
	_, err = Process{}.Fit(context.Background(), p.features, p.columns, p.y)
	require.ErrorContains(t, err, "effects: ")
}

// A fit says whether it has settled. With too few steps or sweeps it has not.
func TestSettled(t *testing.T) {
	p := newProblem(2000, []int{40, 25}, []float64{0.9, 0.6})
	numbers := p.y
	p.y = append([]float64{}, numbers...)
	p.binary()
	for limit, settled := range map[int]bool{0: true, 1: false, 2: false} {
		of := Process{Seed: 1, Limit: limit}
		m, err := of.Fit(context.Background(), p.features, p.columns, numbers)
		require.NoError(t, err)
		assert.Equal(t, settled, m.Settled, "numbers, %d steps", limit)
		odds, err := of.FitOdds(context.Background(), p.features, p.columns, p.y)
		require.NoError(t, err)
		assert.Equal(t, settled, odds.Settled, "odds, %d steps", limit)
		sweeps := 0
		of.Progress = func(sweep int, _ float64) { sweeps = sweep }
		observed, err := of.FitLikelihood(context.Background(), p.features, p.columns, normal(numbers))
		require.NoError(t, err)
		assert.Equal(t, settled, observed.Settled, "observations, %d sweeps", limit)
		if limit > 0 {
			assert.Equal(t, limit, sweeps)
		}
	}
}
