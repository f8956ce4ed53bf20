package mgp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// scaled are three kernels on points of the plane: constant, linear, and an RBF
// whose two log length scales are parameters.
type scaled struct {
	*vi.Dense
	x     la.Matrix[float64]
	k     la.Matrix[float64]
	theta []float64
}

func newScaled(t *testing.T, x la.Matrix[float64]) *scaled {
	n := x.Rows
	one, lin, k := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
	one.Fill(1)
	la.Gemm(&la.Workspace{}, la.NoTrans, la.Transpose, 0.5, x, x, 0, lin)
	d, err := vi.NewDense(one, lin, k)
	require.NoError(t, err)
	return &scaled{Dense: d, x: x, k: k}
}

func (s *scaled) Parameters() []ParameterPrior {
	return []ParameterPrior{{Mode: 0, Scale: 1}, {Mode: 0.3, Scale: 0.5, Freedom: 4}}
}

func (s *scaled) SetParameters(_ *la.Workspace, theta []float64) {
	s.theta = append(s.theta[:0], theta...)
	for i := range s.x.Rows {
		for j := range s.x.Rows {
			s.k.Set(i, j, math.Exp(-0.5*(s.part(i, j, 0)+s.part(i, j, 1))))
		}
	}
}

func (s *scaled) part(i, j, c int) float64 {
	d := (s.x.At(i, c) - s.x.At(j, c)) / math.Exp(s.theta[c])
	return d * d
}

func (s *scaled) Slope(_ *la.Workspace, weights []float64, g la.Matrix[float64], dst []float64) {
	clear(dst)
	for i := range s.x.Rows {
		for j := range s.x.Rows {
			for c := range dst {
				dst[c] += weights[2] * g.At(max(i, j), min(i, j)) * s.k.At(i, j) * s.part(i, j, c)
			}
		}
	}
}

func (s *scaled) SlopeProducts(_ *la.Workspace, weights, v []float64, dst la.Matrix[float64]) {
	dst.Fill(0)
	for i := range s.x.Rows {
		for j := range s.x.Rows {
			for c := range dst.Rows {
				dst.Row(c)[i] += weights[2] * s.k.At(i, j) * s.part(i, j, c) * v[j]
			}
		}
	}
}

// toy returns 40 points of the plane with targets and labels.
func toy(seed uint64) (x la.Matrix[float64], y, labels []float64) {
	src := rand.New(rand.NewPCG(seed, 1))
	x = la.NewMatrix[float64](40, 2)
	for i := range x.Rows {
		a, b := src.NormFloat64(), src.NormFloat64()
		copy(x.Row(i), []float64{a, b})
		f := math.Sin(2*a) + 0.3*b
		y = append(y, f+0.1*src.NormFloat64())
		labels = append(labels, math.Copysign(1, f+0.3*src.NormFloat64()))
	}
	return x, y, labels
}

// checkSlopes moves x by draws of the given deviation, and holds the gradient of the cost
// there to central differences of the fourth order.
func checkSlopes(t *testing.T, cost func(x, g []float64) (float64, error), x []float64, sd float64) {
	src := rand.New(rand.NewPCG(3, 3))
	for j := range x {
		x[j] += sd * src.NormFloat64()
	}
	g, ignored := make([]float64, len(x)), make([]float64, len(x))
	_, err := cost(x, g)
	require.NoError(t, err)
	const h = 1e-4
	for j := range x {
		value := func(d float64) float64 {
			moved := slices.Clone(x)
			moved[j] += d
			v, err := cost(moved, ignored)
			require.NoError(t, err)
			return v
		}
		want := (8*(value(h)-value(-h)) - (value(2*h) - value(-2*h))) / (12 * h)
		assert.InDelta(t, want, g[j], 1e-7*max(1, math.Abs(want)), "variable %d", j)
	}
}

func TestEvidenceGradient(t *testing.T) {
	x, y, labels := toy(1)
	for _, tt := range []struct {
		name   string
		y      []float64
		labels bool
		how    Sites
	}{
		{"targets", y, false, 0},
		{"labels, expectation propagation", labels, true, SitesEP},
		{"labels, variational bound", labels, true, SitesBound},
	} {
		for _, family := range []Family{FamilyDefault, FamilyStudentT, FamilyGIG, FamilyFlat} {
			t.Run(fmt.Sprint(tt.name, " ", family), func(t *testing.T) {
				m, at, err := Evidence{Sites: tt.how, Family: family}.objective(context.Background(), newScaled(t, x), tt.y, tt.labels)
				require.NoError(t, err)
				m.tol = 1e-12
				checkSlopes(t, m.cost, at, 0.5)
			})
		}
	}
}

// The pages above the diagonal of a kept factor take no memory, because nothing is written there.
func TestFactorsAreWrittenBelowTheDiagonalOnly(t *testing.T) {
	x, y, labels := toy(6)
	byLabels, err := Evidence{}.FitLabels(context.Background(), newScaled(t, x), labels)
	require.NoError(t, err)
	byTargets, err := Evidence{}.Fit(context.Background(), newScaled(t, x), y)
	require.NoError(t, err)
	for _, fit := range []*Fit{byLabels, byTargets} {
		factor := fit.Posterior.State().Factor
		for i := range factor.Rows {
			assert.Zero(t, la.SumSq(factor.Row(i)[i+1:]), "row %d", i)
			assert.Positive(t, factor.At(i, i))
		}
	}
}

// A fit that begins where one of some of the samples has ended comes to the same end, and
// says what does not fit.
func TestEvidenceStartsAtAPart(t *testing.T) {
	x, _, labels := toy(5)
	rows := []int{0, 1, 3, 4, 6, 8, 9, 11, 12, 15, 17, 20, 22, 23, 26, 27, 30, 31, 35, 39}
	some, part := la.NewMatrix[float64](len(rows), x.Cols), make([]float64, len(rows))
	for i, r := range rows {
		copy(some.Row(i), x.Row(r))
		part[i] = labels[r]
	}
	for _, how := range []Sites{SitesEP, SitesBound} {
		e := Evidence{Sites: how, Ascent: vi.Ascent{Tolerance: 1e-10}}
		want, err := e.FitLabels(context.Background(), newScaled(t, x), labels)
		require.NoError(t, err)
		first, err := e.FitLabels(context.Background(), newScaled(t, some), part)
		require.NoError(t, err)
		e.Start = &EvidenceStart{
			Gamma: first.Posterior.State().Gamma, Parameters: first.Parameters, Part: first.Posterior, Rows: rows,
		}
		fit, err := e.FitLabels(context.Background(), newScaled(t, x), labels)
		require.NoError(t, err)
		assert.InDelta(t, want.Record.Bound(), fit.Record.Bound(), 1e-7)

		// The sites of the part are those that it ended with.
		m, at, err := e.objective(context.Background(), newScaled(t, x), labels, true)
		require.NoError(t, err)
		m.compose(at)
		m.begin()
		for i, r := range rows {
			assert.Equal(t, first.Posterior.State().Sites[i], m.sites.prec[r])
		}

		e.Start.Rows = rows[1:]
		_, err = e.FitLabels(context.Background(), newScaled(t, x), labels)
		assert.ErrorContains(t, err, "Start.Part")
		e.Start.Rows = append([]int{40}, rows[1:]...)
		_, err = e.FitLabels(context.Background(), newScaled(t, x), labels)
		assert.ErrorContains(t, err, "Start.Rows[0] is 40")
	}
}

// A fit is where no step in any direction raises the objective, and predicts what
// it should.
func TestEvidenceFit(t *testing.T) {
	x, y, labels := toy(3)
	fit, err := Evidence{Ascent: vi.Ascent{Tolerance: 1e-12}}.Fit(context.Background(), newScaled(t, x), y)
	require.NoError(t, err)
	require.Equal(t, vi.Converged, fit.Record.Reason)
	for i := 1; i < len(fit.Record.Trace); i++ {
		require.GreaterOrEqual(t, fit.Record.Trace[i], fit.Record.Trace[i-1])
	}
	noise := 1 / math.Sqrt(fit.Posterior.State().Tau)
	assert.InDelta(t, 0.1, noise, 0.05)
	assert.False(t, fit.Collapsed)

	fit, err = Evidence{}.FitLabels(context.Background(), newScaled(t, x), labels)
	require.NoError(t, err)
	var loo float64
	for _, v := range fit.LeaveOneOut.LogProbability {
		loo += v
	}
	assert.Greater(t, loo/float64(len(labels)), -0.5)
}

// Leaving a sample out and predicting it, at the same parameters, gives what the
// fit says of it.
func TestLeaveOneOut(t *testing.T) {
	x, y, _ := toy(5)
	k := newScaled(t, x)
	fit, err := Evidence{}.Fit(context.Background(), k, y)
	require.NoError(t, err)
	s := fit.Posterior.State()
	total := func(i, j int) float64 {
		return k.At(0).At(i, j)/s.Gamma[0] + k.At(1).At(i, j)/s.Gamma[1] + k.At(2).At(i, j)/s.Gamma[2]
	}
	n := x.Rows
	for _, out := range []int{0, 7, n - 1} {
		b, alpha, c := la.NewMatrix[float64](n-1, n-1), make([]float64, n-1), make([]float64, n-1)
		at := func(i int) int {
			if i >= out {
				return i + 1
			}
			return i
		}
		for i := range n - 1 {
			for j := range n - 1 {
				b.Set(i, j, total(at(i), at(j)))
			}
			b.Row(i)[i] += 1 / s.Tau
			alpha[i], c[i] = y[at(i)], total(at(i), out)
		}
		require.NoError(t, la.Cholesky(&la.Workspace{}, b))
		la.CholeskySolveVec(b, alpha)
		solved := append([]float64(nil), c...)
		la.CholeskySolveVec(b, solved)
		assert.InDelta(t, la.Dot(c, alpha), fit.LeaveOneOut.Mean[out], 1e-8)
		assert.InEpsilon(t, total(out, out)-la.Dot(c, solved)+1/s.Tau, fit.LeaveOneOut.Variance[out], 1e-8)
	}
}

func TestEvidenceRefuses(t *testing.T) {
	x, y, labels := toy(1)
	k := newScaled(t, x)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		name string
		do   func() error
		says string
	}{
		{"no kernels", func() error { _, err := Evidence{}.Fit(ctx, nil, y); return err }, "kernels: nil"},
		{"too few targets", func() error { _, err := Evidence{}.Fit(ctx, k, y[1:]); return err }, "39 values for 40 samples"},
		{"targets of zero", func() error { _, err := Evidence{}.Fit(ctx, k, make([]float64, 40)); return err }, "mean square is 0"},
		{"labels that are none", func() error { _, err := Evidence{}.FitLabels(ctx, k, y); return err }, "labels are −1 and +1"},
		{"an ended context", func() error { _, err := Evidence{}.FitLabels(ctx, k, labels); return err }, "canceled"},
		{"parameters that do not fit", func() error {
			_, err := Evidence{Start: &EvidenceStart{Parameters: []float64{1}}}.Fit(ctx, k, y)
			return err
		}, "Start.Parameters: 1 values where the kernels have 2"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.ErrorContains(t, tt.do(), tt.says) })
	}
}

// An ascent that the context ends after some steps returns what it had reached, in the
// rounds that learn the prior too.
func TestEvidenceStopped(t *testing.T) {
	x, y, _ := toy(1)
	for _, family := range []Family{FamilyDefault, FamilyStudentT} {
		ctx, cancel := context.WithCancel(context.Background())
		e := Evidence{Family: family}
		e.Ascent.Progress = func(p vi.Progress) {
			if p.Sweep == 3 {
				cancel()
			}
		}
		fit, err := e.Fit(ctx, newScaled(t, x), y)
		require.ErrorIs(t, err, context.Canceled)
		require.NotNil(t, fit)
		assert.Equal(t, vi.Cancelled, fit.Record.Reason)
		assert.Len(t, fit.Record.Trace, 3)
		assert.NotNil(t, fit.Posterior)
	}
}

// A sample whose kernels are all zero, at the origin of a linear one, has a function of variance 0:
// fits to it end, and only noise is predicted at it.
func TestVarianceZero(t *testing.T) {
	x := []float64{0, 1, -1, 2, -2, 0.5}
	y := []float64{1, 1, -1, 1, -1, 1}
	k := la.NewMatrix[float64](len(x), len(x))
	for i := range x {
		for j := range x {
			k.Set(i, j, x[i]*x[j])
		}
	}
	kernels, err := vi.NewDense(k)
	require.NoError(t, err)
	for name, fit := range map[string]func() (*Fit, error){
		"heavy tails": func() (*Fit, error) { return Evidence{}.FitHeavy(t.Context(), kernels, y) },
		"varying":     func() (*Fit, error) { return Evidence{}.FitVarying(t.Context(), kernels, y) },
		"labels":      func() (*Fit, error) { return Evidence{}.FitLabels(t.Context(), kernels, y) },
	} {
		f, err := fit()
		require.NoError(t, err, name)
		if f.LeaveOneOut.Mean != nil {
			assert.InDelta(t, 0, f.LeaveOneOut.Mean[0], 1e-15, name)
		} else {
			assert.InDelta(t, math.Log(0.5), f.LeaveOneOut.LogProbability[0], 1e-15, name)
		}
		for n, l := range f.LeaveOneOut.LogProbability {
			assert.False(t, math.IsNaN(l) || math.IsInf(l, 0), "%s: sample %d: %g", name, n, l)
		}
	}
	f, err := Evidence{Sites: SitesBound}.FitLabels(t.Context(), kernels, y)
	require.NoError(t, err)
	assert.NotNil(t, f.Posterior)
}

// Expectations agree with the trapezoidal rule with many nodes, on both sides of where the nodes
// change, and beyond with what is known of a variance without bound.
func TestExpectations(t *testing.T) {
	const tail = 12
	for _, sd := range []float64{0, 0.3, 3, 3.2, 100} {
		for _, off := range []float64{0, 0.5, -5, 8, 9.7, -9.9, 30} {
			mean := off * max(sd, 1)
			var want expected
			var weight float64
			h := 1 / (4 + 8*sd)
			for k := -math.Ceil(tail / h); k*h <= tail; k++ {
				w := math.Exp(-0.5 * k * h * k * h)
				z := -(mean + sd*k*h)
				ratio, log := special.Mills(z)
				weight += w
				want.logLik += w * log
				want.slope -= w * ratio
				want.curvature += w * bend(z, ratio)
			}
			e := expectLikelihood(-1, mean, sd*sd)
			// Values grow with the distance from zero: −½z² and −z, and rounding with them.
			size := 1 + sd*sd + mean*mean
			assert.InDelta(t, want.logLik/weight, e.logLik, 1e-13*size, "log likelihood at %g, %g", mean, sd)
			assert.InDelta(t, want.slope/weight, e.slope, 1e-14*math.Sqrt(size)*10, "slope at %g, %g", mean, sd)
			assert.InDelta(t, want.curvature/weight, e.curvature, 1e-11, "curvature at %g, %g", mean, sd)
		}
	}
	for _, variance := range []float64{1e6, 1e12, 1e300} {
		e := expectLikelihood(1, 0, variance)
		sd := math.Sqrt(variance)
		// log Φ(z) is −½z² where z < 0, but for logarithms: half of the Gaussian has −¼·variance.
		assert.InEpsilon(t, -0.25*variance, e.logLik, 10/sd+1e-12)
		assert.InEpsilon(t, sd/math.Sqrt(2*math.Pi), e.slope, 10/sd+1e-12)
		assert.InDelta(t, 0.5, e.curvature, 1/sd+1e-12)
	}
}
