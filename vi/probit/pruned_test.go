package probit

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// naivePruned is mRVM2 as its equations say, of one kernel or of two whose weights are learned, in dense
// matrices and without any other algebra than Gaussian elimination.
type naivePruned struct {
	k          []la.Matrix[float64]
	labels     []int
	learned    bool
	tau, nu    float64
	prune      float64
	beta       []float64
	found      []float64   // the weights by which Y was found last
	in         []bool      // D
	w, y, a    [][]float64 // C×D, C×N, C×D
	composite  [][]float64 // D×N
	C, D, N, i int
}

func (m *naivePruned) combine() {
	m.composite = make([][]float64, m.D)
	for d := range m.D {
		m.composite[d] = make([]float64, m.N)
		for n := range m.N {
			for p, b := range m.beta {
				m.composite[d][n] += b * m.k[p].At(d, n)
			}
		}
	}
}

// expectY is the mean of the auxiliary variables on their cones, by the trapezoidal rule.
func (m *naivePruned) expectY() {
	normal := func(u float64) float64 { return math.Exp(-0.5*u*u) / math.Sqrt(2*math.Pi) }
	below := func(u float64) float64 { return 0.5 * math.Erfc(-u/math.Sqrt2) }
	for n := range m.N {
		f := make([]float64, m.C)
		for c := range f {
			for d := range m.D {
				f[c] += m.w[c][d] * m.composite[d][n]
			}
		}
		own := m.labels[n]
		var z float64
		pull := make([]float64, m.C)
		for u := -9.0; u <= 9; u += 0.05 {
			all := normal(u)
			for j, v := range f {
				if j != own {
					all *= below(u + f[own] - v)
				}
			}
			z += all
			for c, v := range f {
				if c != own {
					pull[c] += all * normal(u+f[own]-v) / below(u+f[own]-v)
				}
			}
		}
		m.y[own][n] = f[own]
		for c := range f {
			if c != own {
				m.y[c][n] = f[c] - pull[c]/z
				m.y[own][n] += pull[c] / z
			}
		}
	}
}

// sweep prunes, and then finds W, Y, α and β anew.
func (m *naivePruned) sweep() {
	pruned := false
	for d := range m.D {
		out := true
		for c := range m.C {
			out = out && m.a[c][d] > m.prune
		}
		if out && m.in[d] {
			m.in[d], pruned = false, true
			for c := range m.C {
				m.w[c][d] = 0
			}
		}
	}
	if pruned && m.i > 0 {
		m.expectY()
	}
	m.i++
	for c := range m.C {
		var rows []int
		for d, in := range m.in {
			if in {
				rows = append(rows, d)
			}
		}
		system := make([][]float64, len(rows))
		for i, d := range rows {
			system[i] = make([]float64, len(rows)+1)
			for n := range m.N {
				for j, e := range rows {
					system[i][j] += m.composite[d][n] * m.composite[e][n]
				}
				system[i][len(rows)] += m.composite[d][n] * m.y[c][n]
			}
			system[i][i] += m.a[c][d]
		}
		for i, v := range eliminate(system) {
			m.w[c][rows[i]] = v
		}
	}
	m.expectY()
	for c := range m.C {
		for d, w := range m.w[c] {
			m.a[c][d] = (m.tau + 0.5) / (m.nu + 0.5*w*w)
		}
	}
	if !m.learned {
		return
	}
	var b [2]float64
	var a [2][2]float64
	for c := range m.C {
		for n := range m.N {
			var g [2]float64
			for p := range g {
				for d, w := range m.w[c] {
					g[p] += w * m.k[p].At(d, n)
				}
			}
			for p := range g {
				b[p] += m.y[c][n] * g[p]
				for q := range g {
					a[p][q] += g[p] * g[q]
				}
			}
		}
	}
	first := (b[0] - b[1] - a[0][1] + a[1][1]) / (a[0][0] - 2*a[0][1] + a[1][1])
	m.beta[0] = min(max(first, 0), 1)
	m.beta[1] = 1 - m.beta[0]
	m.combine()
}

// eliminate solves the positive definite system whose last column is the right side.
func eliminate(s [][]float64) []float64 {
	n := len(s)
	for i := range n {
		for r := i + 1; r < n; r++ {
			f := s[r][i] / s[i][i]
			for j := i; j <= n; j++ {
				s[r][j] -= f * s[i][j]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = s[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= s[i][j] * x[j]
		}
		x[i] /= s[i][i]
	}
	return x
}

// The plain sweeps, and the basis points taken out, agree with the definition in every sweep.
func TestPrunedSweeps(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 15, 3, 2, 0, 3)
	for _, rule := range []Rule{RuleFixSum, RuleWSum} {
		p := Model{
			Rule: rule, Alpha: vi.Gamma{Shape: 1e-3, Scale: 1e3}, Prune: 100, MAP: true, Plain: true, Beta: []float64{0.6, 0.4}, Workers: 1,
		}
		m := testkit.Must(p.model(k, labels))
		naive := &naivePruned{
			k: []la.Matrix[float64]{k.At(0), k.At(1)}, labels: labels, learned: rule == RuleWSum, tau: 1e-3, nu: 1e-3, prune: 100,
			beta: []float64{0.6, 0.4}, C: 3, D: 15, N: 15,
		}
		for range naive.D {
			naive.in = append(naive.in, true)
		}
		for c := range naive.C {
			naive.w = append(naive.w, make([]float64, naive.D))
			naive.y = append(naive.y, append([]float64(nil), m.y.Row(c)...))
			naive.a = append(naive.a, make([]float64, naive.D))
			for d := range naive.D {
				naive.a[c][d] = 1 // the prior's mean
			}
		}
		naive.combine()
		last, left := math.Inf(-1), 0
		for sweep := range 40 {
			naive.found = append(naive.found[:0], naive.beta...)
			require.NoError(t, m.Sweep(nil))
			naive.sweep()
			left = 0
			for _, in := range naive.in {
				if in {
					left++
				}
			}
			for c := range naive.C {
				require.Equal(t, left, len(m.active[c]), "%v, sweep %d", rule, sweep)
				require.InDeltaSlice(t, naive.w[c], m.w.Row(c), 1e-8, "%v, sweep %d", rule, sweep)
				require.InDeltaSlice(t, naive.y[c], m.y.Row(c), 1e-8, "%v, sweep %d", rule, sweep)
			}
			require.InDeltaSlice(t, naive.beta, m.mean, 1e-8)
			require.GreaterOrEqual(t, m.Bound(), last-m.Allowance()-1e-10)
			last = m.Bound()
		}
		assert.Less(t, left, 10, "%v", rule)
		assert.Greater(t, left, 1)
		assert.InDelta(t, logJoint(p, k, labels, m.w, naive.found), m.Bound(), 1e-7, "%v", rule)
	}
}

// Sweeps that are extrapolated end at a mode of those variables that are left, and predict as the point
// that they end at.
func TestPrunedEndsAtAMode(t *testing.T) {
	k, star, labels, later := probitProblem(t, 45, 3, 2, 60, 5)
	for _, rule := range []Rule{RuleFixSum, RuleWSum} {
		p := Pruned{Rule: rule, Workers: 2, Ascent: vi.Ascent{Tolerance: 1e-12, MaxSweeps: 3000}}
		fit, err := p.Fit(context.Background(), k, labels)
		require.NoError(t, err)
		assert.True(t, fit.Record.Reason.Done(), "%v", fit.Record.Reason)
		assert.Less(t, len(fit.Vectors), 12)
		s := fit.Posterior.State()
		assert.True(t, s.Point)
		require.Equal(t, len(fit.Vectors), s.W.Cols)

		reference := Model{Rule: rule, Alpha: vi.Gamma{Shape: 1e-5, Scale: 1e5}}
		w, beta := la.NewMatrix[float64](3, 45), append([]float64(nil), s.Beta...)
		for c := range 3 {
			for i, d := range fit.Vectors {
				w.Set(c, d, s.W.At(c, i))
			}
		}
		assert.InDelta(t, logJoint(reference, k, labels, w, beta), fit.Record.Bound(), 1e-5, "%v", rule)
		for c := range 3 {
			for _, d := range fit.Vectors {
				const h = 1e-6
				x := &w.Row(c)[d]
				at := *x
				*x = at + h
				up := logJoint(reference, k, labels, w, beta)
				*x = at - h
				down := logJoint(reference, k, labels, w, beta)
				*x = at
				assert.InDelta(t, 0, (up-down)/(2*h), 1e-2, "%v: class %d, regressor %d: %g", rule, c, d, at)
			}
		}

		prediction := testkit.Must(fit.Posterior.Predict(rows(star, fit.Vectors), vi.PredictOptions{}))
		assert.Greater(t, rightOf(prediction.Probability, later), 50, "%v", rule)
	}
}

func TestPrunedOfNothing(t *testing.T) {
	for name, c := range map[string]struct {
		k vi.Kernels
		p Pruned
	}{
		"a kernel of zeros":          {testkit.Must(vi.NewDense(la.NewMatrix[float64](6, 6))), Pruned{}},
		"a threshold below the mean": {testkit.Must(vi.NewDense(identity(6))), Pruned{Prune: 1e-3}},
	} {
		fit, err := c.p.Fit(context.Background(), c.k, []int{0, 1, 0, 1, 0, 1})
		require.NoError(t, err, name)
		assert.Equal(t, []int{0}, fit.Vectors, name)
		one := la.NewMatrix[float64](1, 1)
		one.Set(0, 0, 1)
		p := testkit.Must(fit.Posterior.Predict(testkit.Must(vi.NewDense(one)), vi.PredictOptions{}))
		assert.InDelta(t, 0.5, p.Probability.At(0, 1), 1e-12, name)
	}
}

// identity returns the n×n identity matrix.
func identity(n int) la.Matrix[float64] {
	x := la.NewMatrix[float64](n, n)
	for i := range n {
		x.Set(i, i, 1)
	}
	return x
}

func TestPrunedRefuses(t *testing.T) {
	k, _, labels, _ := probitProblem(t, 9, 3, 3, 0, 1)
	for want, p := range map[string]Pruned{
		"MAP: WProd: FixSum, FixProd or WSum is needed":                {Rule: RuleWProd, Ridge: 0.1},
		"Beta: 1 weights for 3 kernels":                                {Beta: []float64{1}},
		"Prune is -1":                                                  {Prune: -1, Ridge: 1},
		"by Alpha precisions are at most 1.5: no basis point would go": {Alpha: vi.Gamma{Shape: 1, Scale: 1}},
		"Prune is NaN":                                                 {Prune: math.NaN()},
		"Ridge is +Inf":                                                {Ridge: math.Inf(1)},
		"Alpha":                                                        {Alpha: vi.Gamma{Shape: -1, Scale: 1}},
		"ClassAlpha: 1 priors for 3 classes":                           {ClassAlpha: []vi.Gamma{{Shape: 1, Scale: 1}}},
	} {
		_, err := p.Fit(context.Background(), k, labels)
		assert.ErrorContains(t, err, want)
	}
}
