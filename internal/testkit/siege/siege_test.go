package siege

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Panics and broken promises are counted and told with their seeds, and files by what they are.
func TestFindingsAreTold(t *testing.T) {
	all := []Attack{
		{"panics", func(*rand.Rand) Case { panic("at the wall") }},
		{"lies", func(*rand.Rand) Case { return Case{Outcome: Held, Wrong: []string{"two and two are five"}} }},
		{"forges", func(r *rand.Rand) Case { return Case{Outcome: Held, Print: 1 + r.Uint64N(3)} }},
	}
	var out bytes.Buffer
	assert.False(t, run(t.Context(), &out, all, 7, 40))
	assert.Contains(t, out.String(), "panics, seed 7: panic: at the wall")
	assert.Contains(t, out.String(), "lies, seed 46: two and two are five")
	assert.Contains(t, out.String(), "| lies | 40 |  | 0 | 0 | 40 |")
	assert.Contains(t, out.String(), "| forges | 40 | 3 | 40 | 0 | 0 |")
	assert.Contains(t, out.String(), "| all | 120 | 3 | 40 | 0 | 80 |")
}

func TestChoose(t *testing.T) {
	all := []Attack{{Name: "factors"}, {Name: "forged factors"}, {Name: "forged plan"}}
	for pattern, want := range map[string]int{"": 3, "factors": 1, "forged *": 2} {
		chosen, err := Choose(all, pattern)
		require.NoError(t, err, pattern)
		assert.Len(t, chosen, want, pattern)
	}
	_, err := Choose(all, "nobody")
	assert.EqualError(t, err, `-only "nobody": no such attack`)
	_, err = Choose(all, "[")
	assert.ErrorContains(t, err, "syntax error in pattern")
}
