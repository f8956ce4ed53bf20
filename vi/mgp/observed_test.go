package mgp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An offset of the function of counts is the logarithm of an exposure.
func TestOffsetIsLogExposure(t *testing.T) {
	y, offset := []float64{0, 3, 1, 12}, []float64{0.3, -1.2, 0, 2.5}
	exposure := make([]float64, len(y))
	for n, v := range offset {
		exposure[n] = math.Exp(v)
	}
	want := Counts{Y: y, Exposure: exposure, Dispersed: true}
	got := Offset{Counts{Y: y, Dispersed: true}, offset}
	require.NoError(t, got.check())
	eta := []float64{0.7}
	same := func(want, got Likelihood, n int) {
		a, b := make([]float64, 1), make([]float64, 1)
		m, o := want.moments(n, 0.2, 0.5, eta, a), got.moments(n, 0.2, 0.5, eta, b)
		assert.InDelta(t, m.logZ, o.logZ, 1e-12)
		assert.InDelta(t, m.slope, o.slope, 1e-12)
		assert.InDelta(t, m.bend, o.bend, 1e-12)
		assert.InDelta(t, a[0], b[0], 1e-12)
		assert.InDelta(t, m.logZ, got.logProbability(n, 0.2, 0.5, eta), 1e-12)
		precision, shift := want.site(n, 0.2, 0.5, eta)
		p, s := got.site(n, 0.2, 0.5, eta)
		assert.InDelta(t, precision, p, 1e-12)
		assert.InDelta(t, shift, s, 1e-12)
	}
	for n := range y {
		same(want, got, n)
	}
	same(want.Some([]int{3, 1}), got.Some([]int{3, 1}), 1)
	assert.Equal(t, want.Name(), got.Name())
	assert.NotEqual(t, Offset{got.Likelihood, []float64{0, 0, 0, 0}}.identity(), got.identity())
	assert.ErrorContains(t, Offset{got.Likelihood, offset[1:]}.check(), "3 offsets for 4 samples")
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		assert.ErrorContains(t, Offset{got.Likelihood, []float64{0, 0, v, 0}}.check(), "the offset of sample 2 is ")
	}
	_, err := Observe(Offset{Counts{Y: []float64{-1}}, []float64{0}})
	assert.ErrorContains(t, err, "sample 0 is -1")
}

// The moments of observations have the derivatives of log Z.
func TestObservedMoments(t *testing.T) {
	o, err := Observe(Ordinal{Y: []int{0, 2, 1}, Grades: 3})
	require.NoError(t, err)
	assert.Equal(t, 3, o.Samples())
	mean, sd := o.Prior()
	require.Len(t, mean, 2)
	require.Len(t, sd, 2)
	const h = 1e-4
	theta, slopes := []float64{0.3}, make([]float64, 1)
	for n := range 3 {
		logZ, slope, bend := o.Moments(n, 0.4, 0.6, theta, slopes)
		up, _, _ := o.Moments(n, 0.4+h, 0.6, theta, nil)
		down, _, _ := o.Moments(n, 0.4-h, 0.6, theta, nil)
		assert.InDelta(t, (up-down)/(2*h), slope, 1e-7)
		assert.InDelta(t, -(up-2*logZ+down)/(h*h), bend, 1e-5)
		up, _, _ = o.Moments(n, 0.4, 0.6, []float64{0.3 + h}, nil)
		down, _, _ = o.Moments(n, 0.4, 0.6, []float64{0.3 - h}, nil)
		assert.InDelta(t, (up-down)/(2*h), slopes[0], 1e-7)
	}
}
