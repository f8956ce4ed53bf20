package lbfgs

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/bmkl/bmkl/internal/testkit/golden" // the flag -golden
)

func TestMinimize(t *testing.T) {
	tests := []struct {
		name string
		x    []float64
		f    func(x, g []float64) (float64, error)
		want []float64
		most int // evaluations
	}{
		{"ill-conditioned quadratic", []float64{5, -3, 2, 1}, func(x, g []float64) (float64, error) {
			f := 0.0
			for i, c := range []float64{1, 10, 100, 1000} {
				d := x[i] - float64(i)
				g[i] = c * d
				f += 0.5 * c * d * d
			}
			return f, nil
		}, []float64{0, 1, 2, 3}, 60},
		{"Rosenbrock", []float64{-1.2, 1}, func(x, g []float64) (float64, error) {
			a, b := 1-x[0], x[1]-x[0]*x[0]
			g[0], g[1] = -2*a-400*x[0]*b, 200*b
			return a*a + 100*b*b, nil
		}, []float64{1, 1}, 80},
		{"domain with an edge", []float64{0.01}, func(x, g []float64) (float64, error) { // x − log x
			g[0] = 1 - 1/x[0]
			return x[0] - math.Log(x[0]), nil
		}, []float64{1}, 40},
		{"starts at the minimum", []float64{0}, func(x, g []float64) (float64, error) {
			g[0] = 2 * x[0]
			return x[0] * x[0], nil
		}, []float64{0}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Minimize(tt.x, tt.f, Settings{Tolerance: 1e-16, Gradient: 1e-9})
			require.NoError(t, err)
			assert.True(t, r.Converged)
			assert.InDeltaSlice(t, tt.want, r.X, 1e-6)
			assert.LessOrEqual(t, r.Evaluations, tt.most)
		})
	}
}

func TestLongestStep(t *testing.T) {
	last := 0.0
	_, err := Minimize([]float64{0}, func(x, g []float64) (float64, error) {
		assert.LessOrEqual(t, math.Abs(x[0]-last), 3.0, "a line search of one step may try several")
		last = x[0]
		g[0] = -1
		return -x[0], nil
	}, Settings{LongestStep: 1, Iterations: 20})
	require.NoError(t, err)
}

func TestErrorKeepsTheLowestPoint(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	r, err := Minimize([]float64{4}, func(x, g []float64) (float64, error) {
		if calls++; calls > 3 {
			return 0, broken
		}
		g[0] = math.Sinh(x[0])
		return math.Cosh(x[0]), nil
	}, Settings{})
	require.ErrorIs(t, err, broken)
	assert.LessOrEqual(t, r.F, math.Cosh(4))
}

// numbers puts the same value wherever a number is named.
type numbers float64

func (v numbers) Floats(x ...[]float64) {
	for _, s := range x {
		for i := range s {
			s[i] = float64(v)
		}
	}
}
func (v numbers) Float(x *float64)  { *x = float64(v) }
func (v numbers) Int(x *int, _ int) { *x = 0 }
func (v numbers) Bool(x *bool)      { *x = false }

// A state that is refused, or whose value is no number, is of no point where f is known.
func TestBrokenStateIsUnknown(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		value float64
		err   error
	}{{0, broken}, {math.NaN(), broken}, {math.NaN(), nil}, {math.Inf(-1), nil}} {
		r, err := Minimize([]float64{4}, func(x, g []float64) (float64, error) {
			g[0] = 2 * x[0]
			return x[0] * x[0], nil
		}, Settings{Resume: func(state func(State)) (bool, error) {
			state(numbers(c.value))
			return c.err == nil, c.err
		}})
		assert.Equal(t, c.err, err)
		assert.True(t, math.IsInf(r.F, 1), "%g: F is %g", c.value, r.F)
	}
}
