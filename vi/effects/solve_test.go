package effects

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// counting is a context that counts the questions whether it has ended: conjugate gradients ask once a step.
type counting struct {
	context.Context
	steps int
}

func (c *counting) Err() error {
	c.steps++
	return nil
}

// Conjugate gradients need as many steps as the matrix has different eigenvalues. Where every level of a column meets every level of the other one equally
// often, the matrix with its diagonal as the preconditioner has three.
func TestConjugateGradientsAreConjugate(t *testing.T) {
	const first, second, times = 6, 9, 2
	columns := []Column{{Levels: first}, {Levels: second}}
	var rest []float64
	for i := range first * second * times {
		columns[0].Of = append(columns[0].Of, i%first)
		columns[1].Of = append(columns[1].Of, i/first%second)
		rest = append(rest, math.Sin(float64(i*i)))
	}
	kept := make([]bool, len(rest))
	for i := range kept {
		kept[i] = true
	}
	m := &Posterior{Noise: 1, Effects: []Effects{{Prior: 40}, {Prior: 3}}}
	ctx := &counting{Context: context.Background()}
	got, err := m.Without(ctx, columns, rest, kept)
	require.NoError(t, err)
	assert.LessOrEqual(t, ctx.steps, 3)
	p := problem{phi: la.NewMatrix[float64](len(rest), 4), columns: columns, y: rest}
	a, b := p.dense(1, []float64{1, 40, 3})
	a.Set(0, 0, 1)
	require.NoError(t, la.Cholesky(nil, a))
	la.CholeskySolveVec(a, b)
	assert.InDeltaSlice(t, b[4:4+first], got[0].Mean, 1e-4)
	assert.InDeltaSlice(t, b[4+first:], got[1].Mean, 1e-4)
}

// A step of the variances has the values of its formulas, with the residual as a loop over samples.
func TestStepOfVariances(t *testing.T) {
	p := newProblem(30, []int{5, 3}, []float64{0.8, 0.5})
	s := newSystem(4, p.columns)
	require.NoError(t, s.sum(context.Background(), p.features, p.y, 1))
	s.noise = 0.3
	parts := s.parts([]int{3})
	before := []float64{0.5, 0.7, 0.4}
	for i := range parts {
		parts[i].prior = before[i]
	}
	require.NoError(t, s.prepare(parts))
	x, variance := make([]float64, s.size()), make([]float64, s.size())
	for j := range x {
		x[j], variance[j] = 0.4*math.Sin(float64(j)+1), 0.01*float64(1+j%4)
	}
	rest := 0.0
	for i, y := range p.y {
		y -= la.Dot(p.phi.Row(i), x[:4]) + x[4+p.columns[0].Of[i]] + x[9+p.columns[1].Of[i]]
		rest += y * y
	}
	most, free := 0.0, float64(len(p.y)-1)
	var want []float64
	for i, part := range [][2]int{{1, 4}, {4, 9}, {9, 12}} {
		gamma, squares := float64(part[1]-part[0]), 0.0
		for j := part[0]; j < part[1]; j++ {
			gamma -= variance[j] / before[i]
			squares += x[j] * x[j]
		}
		free -= gamma
		want = append(want, squares/gamma)
		most = max(most, math.Abs(squares/gamma/before[i]-1))
	}
	change := s.update(parts, x, variance, la.SumSq(p.y)/30, len(p.y))
	for i, part := range parts {
		assert.InEpsilon(t, want[i], part.prior, 1e-12)
	}
	assert.InEpsilon(t, rest/free, s.noise, 1e-10)
	assert.InEpsilon(t, max(most, math.Abs(rest/free/0.3-1)), change, 1e-9)
}

// A level that the fit had keeps what the fit says of its variance beyond that given all other unknowns, in every unit. A level that it did not have
// has the variance given the others.
func TestVarianceOfLevels(t *testing.T) {
	for _, unit := range []float64{1e-6, 1, 1e6} { // of a variance
		e := &Effects{Prior: 2 * unit, Variance: []float64{0.5 * unit}, given: []float64{4 / unit}} // 0.25 more than given the others
		assert.InEpsilon(t, 0.375*unit, varianceOf(e, 0, 3, 8/unit), 1e-12)
		assert.InEpsilon(t, 0.125*unit, varianceOf(e, 1, 3, 8/unit), 1e-12, "a level that the fit did not have")
		assert.InEpsilon(t, 2*unit, varianceOf(e, 0, 1, 0.5/unit), 1e-12, "at most the prior's")
		assert.InEpsilon(t, 2*unit, varianceOf(e, 0, 0, 8/unit), 1e-12, "without samples")
	}
}

// Forecasts of a design of 10 samples, 2 columns with 7 levels and 3 features, added up by hand. A product with the matrix of the unknowns and with the
// preconditioner takes 4·10·2 + 2·7·3 + 2·3² = 140.
func TestForecasts(t *testing.T) {
	assert.InDelta(t, 90+12*15*9*140, Work(10, 2, 7, 3), 1e-9, "ΦᵀΦ, and 12 products for 9 right-hand sides in 15 steps")
	assert.InDelta(t, 12*(1230+8*9*140), OddsWork(10, 2, 7, 3), 1e-9, "12 steps of a pass and of 8 products for 9 right-hand sides")
	assert.InDelta(t, 2*14*(1730+8*9*140)+5*5*10*50, ObservedWork(10, 2, 7, 3, 2, 5, 50), 1e-9,
		"14 sweeps under each of 2 laws, and 5 rounds over moments of 50 products for each of 5 folds")
	assert.EqualValues(t, 8*(10*14+7*(3+8*3+20)+3*(2*3+2*2048+10)), Memory(10, 2, 7, 3))
	assert.InEpsilon(t, float64(math.MaxInt64/2), Memory(math.MaxInt32, 1<<28, 7, 3), 1e-12)
}
