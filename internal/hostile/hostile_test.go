package main

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl"
)

// Some cases of every attack, always the same.
func TestAttacks(t *testing.T) {
	count := 40
	if testing.Short() {
		count = 8
	}
	var out strings.Builder
	for _, a := range attacks() {
		var tally tally
		for seed := range uint64(count) {
			tally.add(&out, a, seed)
		}
		assert.Equal(t, count, tally.cases)
		assert.Positive(t, tally.held+tally.refused, a.name)
	}
	assert.Empty(t, out.String())
}

// Cases that found something once.
func TestFound(t *testing.T) {
	seeds := map[string][]uint64{
		"forged Gaussian process classifier": {31830, 167296}, "forged probit classifier, relevances of features": {465},
		"factors": {9, 106}, "pool classifier": {176}, "regression": {3741, 4039}, "spike and slab": {58, 68}, "multi-task": {198, 5156},
		"probit classifier, sampled": {187, 4473}, "Gaussian process": {2899}, "shared regression": {194},
	}
	for _, a := range attacks() {
		for _, seed := range seeds[a.name] {
			_, wrong := safely(a, seed)
			assert.Empty(t, wrong, "%s, seed %d", a.name, seed)
		}
	}
}

// A file that is taken apart and put together is the same model.
func TestForge(t *testing.T) {
	file := fileOf(fits[0].fit)
	f, err := parse(file)
	require.NoError(t, err)
	want, err := mkl.Load(bytes.NewReader(file))
	require.NoError(t, err)
	got, err := mkl.Load(bytes.NewReader(f.bytes()))
	require.NoError(t, err)
	assert.Equal(t, want, got)

	refusals := 0
	for seed := range uint64(60) {
		outcome, wrong := forge(rand.New(rand.NewPCG(seed, 1)), bytes.Clone(file))
		assert.Empty(t, wrong)
		if outcome == refused {
			refusals++
		}
	}
	assert.Positive(t, refusals)
	assert.Less(t, refusals, 60, "no change gets past the checks")
}

func TestChoose(t *testing.T) {
	for pattern, want := range map[string]int{"": 2 * len(fits), "factors": 1, "forged *": len(fits)} {
		chosen, err := choose(pattern)
		require.NoError(t, err, pattern)
		assert.Len(t, chosen, want, pattern)
	}
	_, err := choose("nobody")
	assert.EqualError(t, err, `-only "nobody": no such attack`)
	_, err = choose("[")
	assert.ErrorContains(t, err, "syntax error in pattern")
}

// Panics and broken promises are counted and told with their seeds.
func TestFindingsAreTold(t *testing.T) {
	bad := []attack{
		{"panics", func(*rand.Rand) (string, []string) { panic("at the wall") }},
		{"lies", func(*rand.Rand) (string, []string) { return held, []string{"two and two are five"} }},
	}
	var out bytes.Buffer
	tallies := make([]tally, 2)
	for i, a := range bad {
		tallies[i].add(&out, a, 7)
	}
	assert.False(t, table(&out, bad, tallies))
	assert.Contains(t, out.String(), "panics, seed 7: panic: at the wall")
	assert.Contains(t, out.String(), "lies, seed 7: two and two are five")
	assert.Contains(t, out.String(), "| lies | 1 | 0 | 0 | 1 |")
	assert.Contains(t, out.String(), "| all | 2 | 0 | 0 | 2 |")
}
