package la

import (
	"os"
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
	require.NoError(t, InstructionSetError())
	if expected != "" {
		assert.Equal(t, expected, InstructionSet())
	}
	t.Log(Config())
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
	assert.Empty(t, InstructionSet())
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
