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
	}
	for name, f := range functions {
		for _, first := range []float64{1e-4, 1e-2, 0.3, 1, 3, 30} {
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
