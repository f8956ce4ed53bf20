package vecchia

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// value is a covariance computed from its definition.
func (c *Covariance) value(x, z []float64) float64 {
	sum := c.Linear
	for f, v := range x {
		sum += c.Linear * v * z[f]
	}
	for _, p := range c.Parts {
		r2 := 0.0
		for f, v := range x {
			r2 += math.Pow(p.Scale[f]*(v-z[f]), 2)
		}
		if p.Shape == RBF {
			sum += p.Amplitude * math.Exp(-r2/2)
		} else {
			r := math.Sqrt(3 * r2)
			sum += p.Amplitude * (1 + r) * math.Exp(-r)
		}
	}
	return sum
}

// dense is a Gaussian process by one factorisation.
type dense struct {
	s     *samples
	cov   *Covariance
	l     la.Matrix[float64]
	alpha la.Matrix[float64]
}

func newDense(t *testing.T, s *samples, cov *Covariance) *dense {
	t.Helper()
	n := s.x.Rows
	d := &dense{s: s, cov: cov, l: la.NewMatrix[float64](n, n), alpha: s.y.Clone()}
	for i := range n {
		for j := range i + 1 {
			d.l.Set(i, j, cov.value(s.x.Row(i), s.x.Row(j)))
		}
		d.l.Row(i)[i] += cov.Noise * s.relative(i)
	}
	require.NoError(t, la.Cholesky(nil, d.l))
	la.CholeskySolve(nil, d.l, d.alpha)
	return d
}

// predict returns the means at x and the variance with unit relative noise.
func (d *dense) predict(x []float64) (mean []float64, variance float64) {
	n := d.s.x.Rows
	k, mean := make([]float64, n), make([]float64, d.s.y.Cols)
	for i := range n {
		k[i] = d.cov.value(d.s.x.Row(i), x)
		la.Axpy(k[i], d.alpha.Row(i), mean)
	}
	solved := append([]float64(nil), k...)
	la.CholeskySolveVec(d.l, solved)
	return mean, d.cov.value(x, x) + d.cov.Noise - la.Dot(k, solved)
}

// density returns the log density of all targets.
func (d *dense) density() (sum float64) {
	n := d.s.x.Rows
	for t := range d.s.y.Cols {
		for i := range n {
			sum -= 0.5*math.Log(2*math.Pi) + math.Log(d.l.At(i, i)) + 0.5*d.s.y.At(i, t)*d.alpha.At(i, t)
		}
	}
	return sum
}

var twoParts = &Covariance{Parts: []Part{
	{RBF, 0.8, []float64{0.9, 0.4, 1.3}},
	{Matern, 0.5, []float64{0.3, 0.7, 0.2}},
}, Linear: 0.2, Noise: 0.1}

// Covariances, variances and the metric are as they are defined: the metric has the second differences of all parts together.
func TestCovariancesByDefinition(t *testing.T) {
	x, z := drawSamples(7, 3, 2).x, drawSamples(5, 3, 3).x
	k := la.NewMatrix[float64](7, 5)
	twoParts.covariances(nil, x, z, k)
	for i, v := range twoParts.variances(x) {
		require.InDelta(t, twoParts.value(x.Row(i), x.Row(i)), v, 1e-12)
		for j := range 5 {
			require.InDelta(t, twoParts.value(x.Row(i), z.Row(j)), k.At(i, j), 1e-12)
		}
	}
	smooth := twoParts.clone()
	smooth.Linear, smooth.Parts[1].Shape = 0, RBF
	for f, m := range smooth.metric() {
		at := make([]float64, 3)
		at[f] = 1e-3
		fall := 1 - smooth.value(at, make([]float64, 3))/smooth.amplitude()
		require.InDelta(t, m*m/2, fall*1e6, 1e-5)
	}
}

func TestCovariancesAreChecked(t *testing.T) {
	require.NoError(t, twoParts.check(3))
	require.ErrorContains(t, twoParts.check(2), "part 0 of a covariance: amplitude 0.8, 3 scales of 2 features")
	for name, change := range map[string]func(*Covariance){
		"no parts":  func(c *Covariance) { c.Parts = nil },
		"linear":    func(c *Covariance) { c.Linear = 0 },
		"noise":     func(c *Covariance) { c.Noise = math.Inf(1) },
		"shape":     func(c *Covariance) { c.Parts[1].Shape = 9 },
		"amplitude": func(c *Covariance) { c.Parts[1].Amplitude = math.NaN() },
		"scale":     func(c *Covariance) { c.Parts[0].Scale[2] = -1 },
	} {
		c := twoParts.clone()
		change(c)
		require.Error(t, c.check(3), name)
	}
}

func TestAllRowsAsNeighboursAreTheDenseProcess(t *testing.T) {
	s := drawSamples(60, 3, 2)
	d := newDense(t, s, twoParts)
	l := newLocal(s, twoParts, s.x.Rows, 1)
	at := drawSamples(20, 3, 3).x
	mean, variance := la.NewMatrix[float64](20, 2), make([]float64, 20)
	require.NoError(t, l.predict(1, new(work.Stop), at, nil, mean, variance))
	for i := range 20 {
		m, v := d.predict(at.Row(i))
		require.InDeltaSlice(t, m, mean.Row(i), 1e-9)
		require.InDelta(t, v, variance[i], 1e-9)
	}
}

func TestLikelihoodOfFewRowsIsTheDensityOfAllTargets(t *testing.T) {
	s := drawSamples(learnNear, 3, 2) // every row has all earlier ones for neighbours
	l := &likelihood{samples: s, workers: 1, stop: new(work.Stop)}
	rows := make([]int, s.x.Rows)
	for i := range rows {
		rows[i] = i
	}
	got, err := l.terms(twoParts, rows, nil)
	require.NoError(t, err)
	require.InDelta(t, newDense(t, s, twoParts).density(), got, 1e-8)
}

func TestGradientOfTermsIsThatOfDifferences(t *testing.T) {
	s := drawSamples(300, 3, 4)
	l := &likelihood{samples: s, workers: 2, stop: new(work.Stop)}
	l.look(twoParts) // the neighbours stay the same
	rows := []int{0, 1, 5, 40, 150, 299}
	theta := twoParts.parameters()
	g := make([]float64, len(theta))
	_, err := l.terms(twoParts, rows, g)
	require.NoError(t, err)
	for j := range theta {
		const h = 1e-5
		at := func(x float64) float64 {
			th := append([]float64(nil), theta...)
			th[j] += x
			c := twoParts.clone()
			c.set(th)
			v, err := l.terms(c, rows, nil)
			require.NoError(t, err)
			return v
		}
		require.InDelta(t, (at(h)-at(-h))/(2*h), g[j], 1e-6, "parameter %d", j)
	}
}

func TestProductsAreThoseOfTheDenseCovariance(t *testing.T) {
	s := drawSamples(2*tileRows+37, 3, 5)
	n := s.x.Rows
	k := newSystem(s, twoParts, 2, new(work.Stop))
	got := la.NewMatrix[float64](n, 2)
	for _, c := range []struct {
		double bool
		within float64
	}{{false, 1e-4}, {true, 1e-10}} {
		require.NoError(t, k.multiply(s.y, got, c.double))
		for i := range n {
			want := make([]float64, 2)
			for j := range n {
				la.Axpy(twoParts.value(s.x.Row(i), s.x.Row(j)), s.y.Row(j), want)
			}
			la.Axpy(twoParts.Noise*s.relative(i), s.y.Row(i), want)
			require.InDeltaSlice(t, want, got.Row(i), c.within*float64(n), "row %d", i)
		}
	}
}

func TestSolutionIsThatOfTheDenseProcess(t *testing.T) {
	s := drawSamples(700, 3, 6)
	v, err := newVif(s, twoParts, 2, 60, s.x.Rows, 1)
	require.NoError(t, err)
	require.NoError(t, v.hold(s.x.Rows))
	alpha := la.NewMatrix[float64](s.x.Rows, 2)
	k := newSystem(s, twoParts, 2, new(work.Stop))
	k.double = true
	solver := newSolver(k, v, alpha, []float64{1e-9, 1e-9})
	require.NoError(t, solver.run())
	require.Less(t, solver.iterations, 40)
	d := newDense(t, s, twoParts)
	require.InDeltaSlice(t, d.alpha.Data, alpha.Data, 1e-7)

	at := drawSamples(tileRows+9, 3, 7).x
	for _, double := range []bool{false, true} {
		mean := la.NewMatrix[float64](at.Rows, 2)
		require.NoError(t, newMeans(s, twoParts, alpha, double).add(2, new(work.Stop), at, 0.5, mean))
		for i := range at.Rows {
			m, _ := d.predict(at.Row(i))
			la.Scal(0.5, m)
			require.InDeltaSlice(t, m, mean.Row(i), 1e-4, "row %d", i)
		}
	}
}

// A solution of the first rows continues for all of them from the residual that its means leave of the other rows.
func TestSolutionContinuesForMoreRows(t *testing.T) {
	const first = 400
	s := drawSamples(600, 3, 10)
	n := s.x.Rows
	v, err := newVif(s, twoParts, 2, 60, first, 1)
	require.NoError(t, err)
	require.NoError(t, v.hold(first))
	k := newSystem(s, twoParts, 2, new(work.Stop))
	k.double = true
	alpha := la.NewMatrix[float64](n, 2)
	a := newSolver(k, v, alpha.Slice(0, first, 0, 2), []float64{1e-3, 1e-3})
	require.NoError(t, a.run())
	mean := la.NewMatrix[float64](n-first, 2)
	rest := s.x.Slice(first, n, 0, s.x.Cols)
	require.NoError(t, newMeans(s.between(0, first), twoParts, a.x, true).add(2, new(work.Stop), rest, 1, mean))
	require.NoError(t, v.hold(n))
	b := a.extended(alpha, mean)
	require.True(t, b.known)
	residual := la.NewMatrix[float64](n, 2)
	require.NoError(t, k.multiply(alpha, residual, true))
	for i := range n {
		for c, y := range s.y.Row(i) {
			require.InDelta(t, y-residual.At(i, c), b.r.At(i, c), 1e-8, "row %d", i)
		}
	}
	b.tolerance = []float64{1e-9, 1e-9}
	require.NoError(t, b.run())
	require.InDeltaSlice(t, newDense(t, s, twoParts).alpha.Data, alpha.Data, 1e-7)
}

// The inverse that preconditions is the exact one when every row has all earlier ones for neighbours.
func TestPreconditionerOfFewRowsIsTheInverse(t *testing.T) {
	s := drawSamples(preconditionNear, 3, 8)
	v, err := newVif(s, twoParts, 1, 5, s.x.Rows, 1)
	require.NoError(t, err)
	for _, n := range []int{20, s.x.Rows} {
		require.NoError(t, v.hold(n))
		d := newDense(t, s.between(0, n), twoParts)
		z := la.NewMatrix[float64](n, 2)
		v.solve(s.y.Slice(0, n, 0, 2), z)
		require.InDeltaSlice(t, d.alpha.Data, z.Data, 1e-4)
	}
}

// Clustered rows and little noise defeat values in float32: the solver goes on in float64.
func TestSolverTurnsToFloat64(t *testing.T) {
	s := drawSamples(600, 3, 9)
	for i := range 500 {
		for f := range 3 {
			s.x.Set(i, f, s.x.At(i%7, f)+1e-3*s.x.At(i, f))
		}
	}
	for i := range s.x.Rows {
		for c := range 2 {
			s.y.Set(i, c, math.Sin(s.x.At(i, c))+0.01*s.y.At(i, c))
		}
	}
	cov := twoParts.clone()
	cov.Parts[0].Amplitude, cov.Noise = 100, 1e-4
	v, err := newVif(s, cov, 2, 100, s.x.Rows, 1)
	require.NoError(t, err)
	require.NoError(t, v.hold(s.x.Rows))
	alpha := la.NewMatrix[float64](s.x.Rows, 2)
	k := newSystem(s, cov, 2, new(work.Stop))
	solver := newSolver(k, v, alpha, []float64{1e-2, 1e-2})
	require.NoError(t, solver.run())
	require.True(t, k.double)
	require.LessOrEqual(t, solver.largest, 1.0)
}
