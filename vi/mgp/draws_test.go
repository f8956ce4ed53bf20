package mgp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// eliminate solves a·x = b by Gaussian elimination, for a positive definite, and returns x and log|a|.
func eliminate(a [][]float64, b []float64) (x []float64, logDet float64) {
	n := len(b)
	m := make([][]float64, n)
	for i := range m {
		m[i] = append(append([]float64(nil), a[i]...), b[i])
	}
	for i := range n {
		logDet += math.Log(m[i][i])
		for r := i + 1; r < n; r++ {
			f := m[r][i] / m[i][i]
			for c := i; c <= n; c++ {
				m[r][c] -= f * m[i][c]
			}
		}
	}
	x = make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = m[i][n]
		for c := i + 1; c < n; c++ {
			x[i] -= m[i][c] * x[c]
		}
		x[i] /= m[i][i]
	}
	return x, logDet
}

// normalEvidence returns log N(y; 0, a·k + noise) and the predictive mean at a point with kernels cross.
func normalEvidence(k [][]float64, y, cross []float64, a, noise float64) (logZ, mean float64) {
	alpha, logDet := eliminate(withNoise(k, a, noise), y)
	for i := range y {
		logZ -= 0.5 * (y[i]*alpha[i] + math.Log(2*math.Pi))
		mean += a * cross[i] * alpha[i]
	}
	return logZ - 0.5*logDet, mean
}

// Draws, their predictions and leave-one-out agree with sums over a fine grid of amplitude and
// noise.
func TestDrawsAgreeWithQuadrature(t *testing.T) {
	const n, draws = 7, 3000
	at := []float64{-1.6, -1.1, -0.3, 0.2, 0.9, 1.3, 2}
	y := []float64{-1.2, -0.7, 0.1, 0.4, 1.3, 0.6, -0.5}
	k, cross := make([][]float64, n), make([]float64, n)
	dense := la.NewMatrix[float64](n, n)
	rbf := func(a, b float64) float64 { return math.Exp(-0.5 * (a - b) * (a - b)) }
	var trace, sum, power float64
	for i := range n {
		k[i] = make([]float64, n)
		for j := range n {
			k[i][j] = rbf(at[i], at[j])
			dense.Set(i, j, k[i][j])
			sum += k[i][j]
		}
		cross[i] = rbf(at[i], 0.6)
		trace += k[i][i]
		power += y[i] * y[i] / n
	}
	spread := trace/n - sum/n/n
	kernels, err := vi.NewDense(dense)
	require.NoError(t, err)
	fit, err := Evidence{Draws: draws, Seed: 3}.Fit(context.Background(), kernels, y)
	require.NoError(t, err)
	require.Len(t, fit.Draws, draws)

	// The sums with all targets, and without target 2.
	without := func(x []float64) []float64 { return append(append([]float64(nil), x[:2]...), x[3:]...) }
	var k2 [][]float64
	for i, row := range k {
		if i != 2 {
			k2 = append(k2, without(row))
		}
	}
	cross2, y2 := without(k[2]), without(y)
	var all, rest, density float64
	var first, second [3]float64 // moments of log amplitude, log noise and the predictive mean
	for la := -14.0; la < 5; la += 0.25 {
		for ln := -11.0; ln < 5; ln += 0.25 {
			a, noise := math.Exp(la), math.Exp(ln)
			share := a * spread / power
			d := (ln - math.Log(0.1*power)) / 2
			prior := 2*math.Log(share) - share - 0.5*d*d
			logZ, mean := normalEvidence(k, y, cross, a, noise)
			w := math.Exp(logZ + prior)
			all += w
			for i, v := range []float64{la, ln, mean} {
				first[i] += w * v
				second[i] += w * v * v
			}
			logZ2, mean2 := normalEvidence(k2, y2, cross2, a, noise)
			w2 := math.Exp(logZ2 + prior)
			rest += w2
			gain, _ := eliminate(withNoise(k2, a, noise), cross2)
			v := a + noise
			for i, g := range gain {
				v -= a * a * g * cross2[i]
			}
			density += w2 * math.Exp(-0.5*(y[2]-mean2)*(y[2]-mean2)/v) / math.Sqrt(2*math.Pi*v)
		}
	}
	cells := la.NewMatrix[float64](n, 1)
	copy(cells.Data, cross)
	point, err := vi.NewDense(cells)
	require.NoError(t, err)
	var got [3]float64
	for _, d := range fit.Draws {
		s := d.Posterior.State()
		p, err := d.Posterior.Predict(point, la.Matrix[float64]{}, vi.PredictOptions{MeanOnly: true})
		require.NoError(t, err)
		for i, v := range []float64{-math.Log(s.Gamma[0]), -math.Log(s.Tau), p.Mean[0]} {
			got[i] += v / draws
		}
	}
	for i, what := range []string{"log amplitude", "log noise variance", "predictive mean"} {
		mean := first[i] / all
		sd := math.Sqrt(second[i]/all - mean*mean)
		t.Logf("%s: %.4f, by quadrature %.4f ± %.4f", what, got[i], mean, sd)
		assert.InDelta(t, mean, got[i], 4*sd*math.Sqrt(4.0/draws), what) // a draw in four counts
	}
	want := math.Log(density / rest)
	t.Logf("log density of target 2 given the others: %.4f, by quadrature %.4f", fit.LeaveOneOut.LogProbability[2], want)
	assert.InDelta(t, want, fit.LeaveOneOut.LogProbability[2], 0.05)
}

func withNoise(k [][]float64, a, noise float64) (c [][]float64) {
	for i, row := range k {
		c = append(c, make([]float64, len(row)))
		for j, v := range row {
			c[i][j] = a * v
		}
		c[i][i] += noise
	}
	return c
}

// The sampler has the moments of a normal density of correlated variables.
func TestSlicer(t *testing.T) {
	const n, rho = 20000, 0.8
	s := slicer{x: []float64{3, -3}, at: make([]float64, 2), src: special.NewRand(rand.NewPCG(1, 2))}
	s.logDensity = func(x []float64) float64 {
		return -0.5 * (x[0]*x[0] - 2*rho*x[0]*x[1] + x[1]*x[1]) / (1 - rho*rho)
	}
	s.value = s.logDensity(s.x)
	var mean, square [2]float64
	var product float64
	for range n {
		s.sweep(1, 0)
		for i, v := range s.x {
			mean[i] += v / n
			square[i] += v * v / n
		}
		product += s.x[0] * s.x[1] / n
	}
	for i := range mean {
		assert.InDelta(t, 0, mean[i], 0.05)
		assert.InDelta(t, 1, square[i], 0.08)
	}
	assert.InDelta(t, rho, product, 0.08)
}

// A fit whose context ends while it draws has the model of the mode, beside the error.
func TestDrawsEnd(t *testing.T) {
	k, y := smallKernels(t)
	whole, err := Evidence{}.Fit(context.Background(), k, y)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	steps := len(whole.Record.Trace)
	e := Evidence{Draws: 1 << 30}
	e.Ascent.Progress = func(p vi.Progress) {
		if p.Sweep == steps {
			cancel()
		}
	}
	fit, err := e.Fit(ctx, k, y)
	require.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, fit)
	assert.Nil(t, fit.Draws)
}

// smallKernels are two kernels of nine samples.
func smallKernels(t *testing.T) (*vi.Dense, []float64) {
	const n = 9
	one, rbf, y := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n), make([]float64, n)
	one.Fill(1)
	for i := range n {
		for j := range n {
			d := float64(i-j) / 2
			rbf.Set(i, j, math.Exp(-0.5*d*d))
		}
		y[i] = math.Sin(float64(i))
	}
	k, err := vi.NewDense(one, rbf)
	require.NoError(t, err)
	return k, y
}

// Draws have the same bits for every number of workers, and do not move the mode.
func TestDrawsAndWorkers(t *testing.T) {
	k, y := smallKernels(t)
	var fits []*Fit
	for _, e := range []Evidence{{Workers: 1}, {Draws: 3, Workers: 1}, {Draws: 3, Workers: 3}} {
		fit, err := e.Fit(context.Background(), k, y)
		require.NoError(t, err)
		fits = append(fits, fit)
	}
	assert.Equal(t, fits[0].Posterior, fits[1].Posterior)
	assert.Equal(t, fits[1].LeaveOneOut, fits[2].LeaveOneOut)
	for i, d := range fits[1].Draws {
		assert.Equal(t, d.Posterior.State(), fits[2].Draws[i].Posterior.State())
	}
}

// A draw may make a target so improbable that all other draws weigh nothing beside it.
func TestMixLeaveOneOutOfUnequalDraws(t *testing.T) {
	y := []float64{2}
	good, bad := LeaveOneOut{Mean: []float64{2}, Variance: []float64{1}}, LeaveOneOut{Mean: []float64{0}, Variance: []float64{1e-3}}
	for _, all := range [][]LeaveOneOut{{good, bad}, {bad, good}, {good, good, bad, good}} {
		out := mixLeaveOneOut(y, all)
		assert.Equal(t, bad.Mean, out.Mean)
		assert.Equal(t, bad.Variance, out.Variance)
		assert.InDelta(t, math.Log(float64(len(all)))-0.5*(4/1e-3+math.Log(2*math.Pi*1e-3)), out.LogProbability[0], 1e-9)
	}
}
