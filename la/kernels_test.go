package la

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// expected is the instruction set that whoever runs the tests knows this machine
// to have: not to find it is a failure.
var expected = os.Getenv("BMKL_EXPECT_KERNEL")

// use makes s the instruction set in use until the test ends.
func use(t testing.TB, s *instructionSet) {
	was, err := active, activeErr
	t.Cleanup(func() { active, activeErr = was, err })
	active, activeErr = s, nil
}

// forEachKernel runs a test under every instruction set this binary and this CPU
// have.
func forEachKernel(t *testing.T, f func(t *testing.T)) {
	seen := expected == ""
	for _, s := range instructionSets {
		seen = seen || s.name == expected
		t.Run(s.name, func(t *testing.T) {
			use(t, s)
			f(t)
		})
	}
	assert.True(t, seen, "BMKL_EXPECT_KERNEL=%s is not among the instruction sets", expected)
}

func TestExpectedKernelIsInUse(t *testing.T) {
	name, err := InstructionSet()
	require.NoError(t, err)
	if expected != "" {
		assert.Equal(t, expected, name)
	}
	t.Log(name, caches, blocks[float64](), blocks[float32]())
}

func TestUnknownKernelIsAnError(t *testing.T) {
	_, err := selectSet("sse9")
	require.EqualError(t, err, "la: BMKL_KERNEL=sse9 is not available here; available: "+available())
	for _, s := range instructionSets {
		got, err := selectSet(s.name)
		require.NoError(t, err)
		assert.Same(t, s, got)
	}
	use(t, nil)
	activeErr = err
	_, inUse := InstructionSet()
	assert.Equal(t, err, inUse)
	assert.PanicsWithValue(t, err, func() { Dot([]float64{1}, []float64{1}) })
}

func available() string {
	s := ""
	for i, k := range instructionSets {
		if i > 0 {
			s += ", "
		}
		s += k.name
	}
	return s
}

// Vectors stored in float32 give the bits of the same vectors widened.
func TestMixedVectorsAreThoseWidened(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 7, 31, 32, 33, 100, piece + 5} {
		x, wide, y := make([]float32, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float32(src.NormFloat64()), src.NormFloat64()
			wide[i] = float64(x[i])
		}
		assert.Equal(t, Dot(wide, y), DotMixed(x, y), "%d", n)
		want := slices.Clone(y)
		Axpy(0.3, wide, want)
		AxpyMixed(0.3, x, y)
		assert.Equal(t, want, y, "%d", n)
	}
	assert.Panics(t, func() { DotMixed(make([]float32, 2), make([]float64, 3)) })
	assert.Panics(t, func() { AxpyMixed(1, make([]float32, 2), make([]float64, 3)) })
}
