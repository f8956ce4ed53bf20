package lbfgs

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// normal returns n standard normal numbers.
func normal(src *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = src.NormFloat64()
	}
	return x
}

// denseBFGS is −H·g, where H starts at the diagonal matrix h and takes the update
// H ← (I − ρsyᵀ)·H·(I − ρysᵀ) + ρssᵀ for each pair (Nocedal and Wright, equation 6.17).
func denseBFGS(h []float64, history []pair, g []float64) []float64 {
	n := len(g)
	H := make([][]float64, n)
	for i := range H {
		H[i] = make([]float64, n)
		H[i][i] = h[i]
	}
	for _, p := range history {
		Hy, yHy := make([]float64, n), 0.0
		for i := range n {
			Hy[i] = dot(H[i], p.y)
		}
		yHy = dot(p.y, Hy)
		for i := range n {
			for j := range n {
				H[i][j] += -p.rho*(p.s[i]*Hy[j]+Hy[i]*p.s[j]) + (p.rho*p.rho*yHy+p.rho)*p.s[i]*p.s[j]
			}
		}
	}
	d := make([]float64, n)
	for i := range n {
		d[i] = -dot(H[i], g)
	}
	return d
}

// TestDescent compares the two-loop recursion with the matrices that it stands for.
func TestDescent(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	const n = 5
	for pairs := range 5 {
		for _, preconditioned := range []bool{false, true} {
			m := minimizer{here: newPoint(n), direction: make([]float64, n)}
			copy(m.here.g, normal(src, n))
			for range pairs {
				p := pair{s: normal(src, n), y: normal(src, n)}
				axpy(3, p.s, p.y)
				sy := dot(p.s, p.y)
				require.Positive(t, sy)
				p.rho = 1 / sy
				m.history = append(m.history, p)
			}
			h := []float64{1, 1, 1, 1, 1}
			if preconditioned {
				h = []float64{1, 2, 0.5, 3, 0.25}
				m.precondition = func(d []float64) {
					for i := range d {
						d[i] *= h[i]
					}
				}
			} else if pairs > 0 { // sᵀy/yᵀy of the last pair, equation 7.20
				last := m.history[pairs-1]
				for i := range h {
					h[i] = dot(last.s, last.y) / dot(last.y, last.y)
				}
			}
			m.descent()
			require.InDeltaSlice(t, denseBFGS(h, m.history, m.here.g), m.direction, 1e-9, "%d pairs", pairs)
		}
	}
}

// TestRemember keeps the last pairs, oldest first, and leaves out a pair without positive curvature.
func TestRemember(t *testing.T) {
	m := minimizer{here: newPoint(1)}
	for i := range memory + 3 {
		next := newPoint(1)
		next.x[0], next.g[0] = float64((i+1)*(i+2)/2), float64((i+1)*(i+2)) // a step of i + 1 from here, with f″ = 2
		m.remember(next)
		m.here = next
	}
	require.Len(t, m.history, memory)
	for i, p := range m.history {
		step := float64(i + 4)
		assert.Equal(t, pair{s: []float64{step}, y: []float64{2 * step}, rho: 1 / (2 * step * step)}, p)
	}
	bent := newPoint(1)
	bent.x[0], bent.g[0] = m.here.x[0]+1, m.here.g[0]-1
	m.remember(bent)
	require.Len(t, m.history, memory-1, "the oldest made room, and the new pair is none")
	near := newPoint(1) // steps and changes far below 1 have curvature too
	near.x[0], near.g[0] = 1e-9, 1e-9
	small := minimizer{here: newPoint(1)}
	small.remember(near)
	require.Len(t, small.history, 1)
	m.noMemory = true
	bent.g[0] = m.here.g[0] + 1
	m.remember(bent)
	require.Len(t, m.history, memory-1)
}

// TestCubic asks for the minimum of cubics whose minimum is known.
func TestCubic(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 1))
	for range 200 {
		// p′(t) = 3c(t − at)(t − other), with p″(at) > 0.
		at, other, level := src.NormFloat64(), src.NormFloat64(), src.NormFloat64()
		c := 1 / (at - other)
		p := func(t float64) float64 {
			return level + c*(t*t*t-1.5*(at+other)*t*t+3*at*other*t)
		}
		slope := func(t float64) float64 { return 3 * c * (t - at) * (t - other) }
		for _, share := range []float64{0.15, 0.5, 0.85, -0.3, 0.05, 0.95, 1.2} {
			for _, width := range []float64{0.1, -0.1} {
				a := at - share*width
				b := a + width
				if (a < other) != (b < other) || (at < other) != (a < other) {
					continue // with the maximum inside, or on the maximum's other side
				}
				want := a + min(max(share, 0.1), 0.9)*width
				require.InDelta(t, want, cubic(a, p(a), slope(a), b, p(b), slope(b)), 1e-6, "share %g of %g", share, width)
			}
		}
	}
	require.Equal(t, 2.0, cubic(1, 0, -1, 3, math.NaN(), 1), "the middle, where a value is no number")
}

// bend falls with the slope −1 up to x = 1 and rises with the slope 4 behind it.
func bend(x float64) (f, g float64) {
	u := 50 * (x - 1)
	softplus := max(u, 0) + math.Log1p(math.Exp(-math.Abs(u)))
	return -x + softplus/10, -1 + 5/(1+math.Exp(-u))
}

// TestSearch checks both strong Wolfe conditions for functions of one variable and first steps of every size.
func TestSearch(t *testing.T) {
	functions := map[string]func(x float64) (f, g float64){
		"parabola": func(x float64) (float64, float64) { return (x - 3) * (x - 3), 2 * (x - 3) },
		"quartic":  func(x float64) (float64, float64) { d := x - 1; return d * d * d * d, 4 * d * d * d },
		"cosh":     func(x float64) (float64, float64) { return math.Cosh(x - 5), math.Sinh(x - 5) },
		"waves":    func(x float64) (float64, float64) { return 0.1*x - math.Sin(x), 0.1 - math.Cos(x) },
		"edge": func(x float64) (float64, float64) { // without values from 2 on
			if x >= 2 {
				return math.NaN(), math.NaN()
			}
			return -math.Log1p(x) - math.Log(2-x), -1/(1+x) + 1/(2-x)
		},
		"bend": func(x float64) (float64, float64) { return bend(x) },
		"bend nearby": func(x float64) (float64, float64) { // the first step may end where it rises, below the start
			return bend(x + 0.7)
		},
		"bend in small units": func(x float64) (float64, float64) {
			f, g := bend(x)
			return 1e-6 * f, 1e-6 * g
		},
	}
	for name, f := range functions {
		for _, first := range []float64{1e-4, 1e-2, 0.3, 0.37, 1, 3, 30} {
			evaluate := func(x, g []float64) (v float64, err error) { v, g[0] = f(x[0]); return v, nil }
			m := minimizer{f: evaluate, here: newPoint(1), direction: []float64{1}}
			require.NoError(t, m.evaluate(m.here))
			slope := m.here.g[0]
			require.Negative(t, slope)
			p, err := m.search(first, math.Inf(1), 0)
			require.NoError(t, err)
			require.NotNil(t, p)
			assert.LessOrEqual(t, p.f, m.here.f+1e-4*p.x[0]*slope, "%s from %g: sufficient decrease", name, first)
			assert.LessOrEqual(t, math.Abs(p.g[0]), -0.9*slope, "%s from %g: curvature", name, first)
			assert.LessOrEqual(t, m.evaluations, 1+searches)
		}
	}
}

// TestLimits counts steps and evaluations, and what the callbacks see.
func TestLimits(t *testing.T) {
	valley := func(x, g []float64) (float64, error) {
		a, b := 1-x[0], x[1]-x[0]*x[0]
		g[0], g[1] = -2*a-400*x[0]*b, 200*b
		return a*a + 100*b*b, nil
	}
	var values []float64
	notes := 0
	r, err := Minimize([]float64{-1.2, 1}, valley, Settings{
		Iterations: 7,
		Step:       func(f float64) { values = append(values, f) },
		Note:       func(func(State)) error { notes++; return nil },
	})
	require.NoError(t, err)
	assert.False(t, r.Converged)
	assert.Equal(t, 7, r.Iterations)
	require.Len(t, values, 7)
	assert.Equal(t, 8, notes, "after each step and at the end")
	for i := 1; i < len(values); i++ {
		assert.Less(t, values[i], values[i-1])
	}
	assert.Equal(t, values[6], r.F)

	r, err = Minimize([]float64{-1.2, 1}, valley, Settings{Evaluations: 5})
	require.NoError(t, err)
	assert.False(t, r.Converged)
	assert.GreaterOrEqual(t, r.Evaluations, 5)
	assert.LessOrEqual(t, r.Evaluations, 5+searches)
}

// TestTrials lists where a line search looks: three times as far as long as the function falls, and a tenth of the way where it has no value.
func TestTrials(t *testing.T) {
	for _, c := range []struct {
		first, most float64
		edge        float64 // without values from there on
		want        []float64
	}{
		{30, math.Inf(1), 0.5, []float64{30, 3, 0.3}},
		{0.5, math.Inf(1), 2, []float64{0.5, 1.5, 4.5, 1.8}},
		{0.5, 2, math.Inf(1), []float64{0.5, 1.5, 2}},
	} {
		var tried []float64
		m := minimizer{here: newPoint(1), direction: []float64{1}, f: func(x, g []float64) (float64, error) {
			tried = append(tried, x[0])
			g[0] = -1
			if x[0] >= c.edge {
				return math.NaN(), nil
			}
			return -x[0], nil
		}}
		m.here.g[0] = -1
		_, err := m.search(c.first, c.most, 0)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(tried), len(c.want))
		assert.InEpsilonSlice(t, c.want, tried[:len(c.want)], 1e-12)
	}
	f := func(x, g []float64) (v float64, err error) { v, g[0] = bend(x[0]); return v, nil }
	m := minimizer{here: newPoint(1), direction: []float64{1}, f: f}
	require.NoError(t, m.evaluate(m.here))
	low, err := m.search(0.4, math.Inf(1), 100) // 1.2 comes next, which is above 0.4 and below 0
	require.NoError(t, err)
	assert.Equal(t, 0.4, low.x[0], "where little is to gain the lowest point is the result")

	level := minimizer{here: newPoint(1), direction: []float64{1}}
	p, err := level.search(1, math.Inf(1), 0)
	require.NoError(t, err)
	assert.Nil(t, p, "where the function does not fall nothing is tried")
}

// TestFinite takes a point for one outside of the domain if its value or any derivative is no number.
func TestFinite(t *testing.T) {
	for _, c := range []struct {
		f, a, b float64
		finite  bool
	}{{1, 2, 3, true}, {math.NaN(), 2, 3, false}, {1, math.NaN(), 3, false}, {1, 2, math.Inf(1), false}, {math.Inf(-1), 2, 3, false}} {
		p := &point{x: make([]float64, 2), g: []float64{c.a, c.b}, f: c.f}
		p.check()
		assert.Equal(t, !c.finite, math.IsInf(p.f, 1), "%+v", c)
	}
}

// coshes is 0 at its minimum (0, 1, 2), with second derivatives from 1 to 900.
func coshes(x, g []float64) (f float64) {
	for i, c := range []float64{1, 30, 900} {
		g[i] = c * math.Sinh(x[i]-float64(i))
		f += c * (math.Cosh(x[i]-float64(i)) - 1)
	}
	return f
}

// TestDefaults ends with the zero settings where the documented ones end.
func TestDefaults(t *testing.T) {
	steep := func(unit float64) func(x, g []float64) (float64, error) {
		return func(x, g []float64) (float64, error) {
			f := unit * coshes(x, g)
			for i := range g {
				g[i] *= unit
			}
			return 1 + f, nil
		}
	}
	for _, unit := range []float64{1, 1e-4, 1e4} { // the gradient ends the first, the tolerance the last
		got, err := Minimize([]float64{2, 2, 4}, steep(unit), Settings{})
		require.NoError(t, err)
		want, err := Minimize([]float64{2, 2, 4}, steep(unit), Settings{Iterations: 100, Evaluations: 200, Tolerance: 1e-9, Scale: 1, Gradient: 1e-6})
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.True(t, got.Converged)
	}
}

// TestTolerance ends after the first step that lowers the function by at most four times the tolerance, if the next is to lower it by less
// than the tolerance.
func TestTolerance(t *testing.T) {
	for _, level := range []float64{0, 20} {
		const tolerance = 1e-4
		values := []float64{}
		f := func(x, g []float64) (float64, error) { return level + coshes(x, g), nil }
		start := []float64{2, 2, 4}
		first, err := f(start, make([]float64, 3))
		require.NoError(t, err)
		values = append(values, first)
		r, err := Minimize(start, f, Settings{Tolerance: tolerance, Gradient: 1e-300, Step: func(v float64) { values = append(values, v) }})
		require.NoError(t, err)
		require.True(t, r.Converged)
		last := len(values) - 1
		assert.LessOrEqual(t, values[last-1]-values[last], 4*tolerance*max(1, values[last]))
		assert.Less(t, r.F-level, 10*tolerance*max(1, level))
		assert.Greater(t, r.F-level, 1e-10, "it does not go on to the minimum")
	}
}

// TestLongestChange holds the change of each variable in a step to the limit, whatever the slope.
func TestLongestChange(t *testing.T) {
	for _, slope := range []float64{0.01, 3, 500} {
		at := []float64{0}
		_, err := Minimize([]float64{0}, func(x, g []float64) (float64, error) {
			g[0] = -slope
			return -slope * x[0], nil
		}, Settings{LongestStep: 2, Iterations: 6, Evaluations: 1000, Step: func(f float64) { at = append(at, -f/slope) }})
		require.NoError(t, err)
		require.Len(t, at, 7)
		for i := range 6 {
			assert.InDelta(t, 2, at[i+1]-at[i], 1e-9, "a function that falls for ever is followed as far as allowed")
		}
	}
}
