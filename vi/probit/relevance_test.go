package probit

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

var relevanceVariants = map[string]Relevance{
	"FixSum":  {},
	"weighed": {Beta: []float64{0.2, 0.1, -0.05}},
	"FixProd": {Rule: RuleFixProd, Beta: []float64{0.3, 1, 0.5}},
	"WSum":    {Rule: RuleWSum},
}

func TestRelevanceBoundRisesAtEveryUpdate(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 60, 3, 3, 0, 1)
	for name, p := range relevanceVariants {
		t.Run(name, func(t *testing.T) {
			p.Workers = 2
			m := testkit.Must(p.model(k, labels))
			last := m.Bound()
			assert.InDelta(t, -60*math.Log(3), last, 1e-9)
			require.NoError(t, p.start(context.Background(), m))
			last = m.Bound()
			for sweep := range 12 {
				require.NoError(t, m.Sweep(func(update string) {
					bound := m.Bound()
					assert.GreaterOrEqual(t, bound, last-1e-9, "sweep %d, %s", sweep, update)
					last = bound
				}))
			}
			assert.Greater(t, last, -60.0)
		})
	}
}

// definition is what the bound of relevance vectors is by its definition, in dense matrices:
// the covariance H of y_c, its inverse by Gauss–Jordan, and no other algebra.
type definition struct {
	h, inverse [][]float64
	logDet     float64
}

func define(kernel la.Matrix[float64], alpha []float64) *definition {
	n := kernel.Cols
	d := &definition{h: make([][]float64, n), inverse: make([][]float64, n)}
	work := make([][]float64, n)
	for i := range n {
		d.h[i], d.inverse[i] = make([]float64, n), make([]float64, n)
		d.h[i][i], d.inverse[i][i] = 1, 1
		for j := range n {
			for p, a := range alpha {
				d.h[i][j] += kernel.At(p, i) * kernel.At(p, j) / a
			}
		}
		work[i] = append([]float64(nil), d.h[i]...)
	}
	for i := range n { // H is positive definite: no pivoting
		pivot := work[i][i]
		d.logDet += math.Log(pivot)
		for j := range n {
			work[i][j] /= pivot
			d.inverse[i][j] /= pivot
		}
		for r := range n {
			if factor := work[r][i]; r != i {
				for j := range n {
					work[r][j] -= factor * work[i][j]
					d.inverse[r][j] -= factor * d.inverse[i][j]
				}
			}
		}
	}
	return d
}

// form returns aᵀ·H⁻¹·b.
func (d *definition) form(a, b []float64) (v float64) {
	for i, row := range d.inverse {
		for j, h := range row {
			v += a[i] * h * b[j]
		}
	}
	return v
}

// objective returns Σ_c log N(y_c | 0, H), but for constants and with ½|y|² added: what
// the bound has of W.
func (d *definition) objective(y la.Matrix[float64]) (v float64) {
	for c := range y.Rows {
		v += 0.5 * (la.SumSq(y.Row(c)) - d.form(y.Row(c), y.Row(c)) - d.logDet)
	}
	return v
}

// The gains by changes of α, and S and Q after them, agree with the definition.
func TestRelevanceChanges(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 21, 3, 3, 0, 2)
	m := testkit.Must(Relevance{Rule: RuleWSum}.model(k, labels))
	m.weigh()
	taken := 0
	for sweep := range 8 {
		m.change(worst(m), 1)
		for move := range 3 {
			d, to, gain := m.best()
			before := define(m.kernel, m.alpha).objective(m.y)
			if gain <= 0 {
				break
			}
			if math.IsInf(to, 1) {
				taken++
			}
			m.change(d, to)
			dense := define(m.kernel, m.alpha)
			assert.InDelta(t, gain, dense.objective(m.y)-before, 1e-8, "sweep %d, move %d", sweep, move)
			for d := range m.D {
				row := m.kernel.Row(d)
				assert.InDelta(t, dense.form(row, row), m.s[d], 1e-8)
				for c := range m.C {
					assert.InDelta(t, dense.form(row, m.y.Row(c)), m.q.At(c, d), 1e-8)
				}
			}
		}
		require.NoError(t, m.settle())
		assert.InDelta(t, define(m.kernel, m.alpha).objective(m.y), m.explained(), 1e-8)
		require.NoError(t, m.updateBeta())
		require.NoError(t, m.updateWY())
	}
	assert.GreaterOrEqual(t, taken, 8)
}

// worst returns the basis point out of the model that has the least to say of E[Y].
func worst(m *relevance) (at int) {
	least := math.Inf(1)
	for d, a := range m.alpha {
		var square float64
		for c := range m.C {
			square += m.q.At(c, d) * m.q.At(c, d)
		}
		if math.IsInf(a, 1) && square/m.s[d] < least {
			at, least = d, square/m.s[d]
		}
	}
	return at
}

// The slope by the weights agrees with central differences of the bound's definition.
func TestRelevanceSlope(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 21, 3, 3, 0, 3)
	m := testkit.Must(Relevance{Rule: RuleWSum}.model(k, labels))
	for range 3 {
		require.NoError(t, m.Sweep(nil))
	}
	at := func(p int, step float64) float64 {
		beta := append([]float64(nil), m.beta...)
		beta[p] += step
		kernel := la.NewMatrix[float64](m.D, m.N)
		m.composite.Combine(&m.ws, beta, kernel)
		return define(kernel, m.alpha).objective(m.y)
	}
	for p, slope := range m.slope() {
		const step = 1e-5
		assert.InDelta(t, (at(p, step)-at(p, -step))/(2*step), slope, 1e-6*(1+math.Abs(slope)), "kernel %d", p)
	}
}

// Where the fit ends no change of one α, of β or of q(Y) raises the bound.
func TestRelevanceEndsAtAStationaryPoint(t *testing.T) {
	k, star, labels, later := probitProblem(t, 60, 3, 3, 60, 4)
	p := Relevance{Rule: RuleWSum, Ascent: vi.Ascent{Tolerance: 1e-10, MaxSweeps: 3000}}
	m := testkit.Must(p.model(k, labels))
	require.NoError(t, p.start(context.Background(), m))
	rec, err := p.Ascent.Run(context.Background(), m)
	require.NoError(t, err)
	assert.True(t, rec.Reason.Done(), "%v after %d sweeps", rec.Reason, len(rec.Trace))
	_, _, gain := m.best()
	assert.Less(t, gain, 1e-5)
	slope := m.slope()
	mean := la.Dot(slope, m.beta)
	for i, b := range m.beta {
		assert.InDelta(t, 0, b*(slope[i]-mean), 1e-2)
	}
	for i, y := range m.y.Data {
		assert.InDelta(t, m.location.Data[i], m.f.Data[i], 1e-3, "%g", y)
	}

	fit := testkit.Must(p.Fit(context.Background(), k, labels))
	assert.Less(t, len(fit.Vectors), 15)
	assert.Greater(t, fit.Posterior.State().Beta[0], 0.8) // the others are of noise
	prediction := testkit.Must(fit.Posterior.Predict(rows(star, fit.Vectors), vi.PredictOptions{}))
	assert.Greater(t, rightOf(prediction.Probability, later), 54)
}

// rightOf counts the labels that are the most probable ones, given a row of probabilities for each.
func rightOf(probability la.Matrix[float64], labels []int) (right int) {
	for i, c := range labels {
		row := probability.Row(i)
		if row[c] == slices.Max(row) {
			right++
		}
	}
	return right
}

// rows returns the kernels with some basis points.
func rows(k *vi.Dense, which []int) *vi.Dense {
	P, _, N := k.Dims()
	out := make([]la.Matrix[float64], P)
	for p := range out {
		out[p] = la.NewMatrix[float64](len(which), N)
		for i, d := range which {
			copy(out[p].Row(i), k.At(p).Row(d))
		}
	}
	return testkit.Must(vi.NewDense(out...))
}

func TestRelevanceOfNothing(t *testing.T) {
	zero := la.NewMatrix[float64](6, 6)
	k := testkit.Must(vi.NewDense(zero))
	fit, err := Relevance{}.Fit(context.Background(), k, []int{0, 1, 0, 1, 0, 1})
	require.NoError(t, err)
	assert.Equal(t, []int{0}, fit.Vectors)
	p := testkit.Must(fit.Posterior.Predict(rows(k, fit.Vectors), vi.PredictOptions{}))
	assert.InDelta(t, 0.5, p.Probability.At(2, 1), 1e-12)
}

func TestRelevanceRefuses(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 9, 3, 3, 0, 1)
	for want, f := range map[string]func() (*RelevanceFit, error){
		"WProd: FixSum, FixProd or WSum is needed": func() (*RelevanceFit, error) {
			return Relevance{Rule: RuleWProd}.Fit(context.Background(), k, labels)
		},
		"Beta: 1 weights for 3 kernels": func() (*RelevanceFit, error) {
			return Relevance{Beta: []float64{1}}.Fit(context.Background(), k, labels)
		},
		"labels: 2 values for 9 samples": func() (*RelevanceFit, error) {
			return Relevance{}.Fit(context.Background(), k, labels[:2])
		},
		"only one class": func() (*RelevanceFit, error) {
			return Relevance{}.Fit(context.Background(), k, make([]int, 9))
		},
	} {
		_, err := f()
		assert.ErrorContains(t, err, want)
	}
}
