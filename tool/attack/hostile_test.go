package main

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit/siege"
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
		var tally siege.Tally
		for seed := range uint64(count) {
			tally.Add(&out, a, seed)
		}
		assert.Equal(t, count, tally.Held+tally.Refused+tally.Found, a.Name)
	}
	assert.Empty(t, out.String())
}

// Cases that found something once.
func TestFound(t *testing.T) {
	seeds := map[string][]uint64{
		"regression, settings": {104, 889797}, "Gaussian process, settings": {100425, 101844}, "forged plan": {30000274}, "forged class plan": {30000360},
		"forged journal of a regression": {27, 60000430}, "forged journal of a shared regression": {18}, "forged journal of a task regression": {9},
		"forged journal of a Gaussian process": {60000092, 80005036}, "forged journal of a Gaussian process classifier": {80008367}, "forged journal of a sampled probit classifier": {60000162, 60000324},
		"forged journal of a landmark classifier": {130000112, 130000654, 130005326}, "forged journal of a factors": {130001206, 320012885}, "forged journal of a multi-task": {130002773},
		"factors": {9, 106}, "pool classifier": {176}, "regression": {3741, 4039, 16322, 59052, 66166}, "spike and slab": {58, 68, 990001342}, "multi-task": {198, 5156},
		"probit classifier, sampled": {187, 4473}, "probit classifier, settings": {104641, 109797}, "forged journal of a probit classifier at its mode": {120000085}, "Gaussian process": {2899}, "shared regression": {194},
		"pairs": {102360, 108122}, "ended at any moment": {102000, 109359}, "measures and folds": {100154, 100189, 101190}, "tables": {105392},
		"survival": {7, 32, 84, 88, 339, 990001152}, "forged survival": {5, 172, 403}, "forged counts": {109, 161, 409},
		"forged survival with codes":   {9100029},
		"bounds of predictors":         {2026118324, 2026118473, 2026119069, 2026119831},
		"predictions with any options": {2026113391, 2026113477, 2026113605, 2026114899, 2026139648},
	}
	for _, a := range attacks() {
		for _, seed := range seeds[a.Name] {
			assert.Empty(t, siege.Try(a, seed).Wrong, "%s, seed %d", a.Name, seed)
		}
	}
}

// A file that is taken apart and put together is the same model.
func TestForge(t *testing.T) {
	of := parsed(fileOf(fits[0].fit))
	want, err := mkl.Load(bytes.NewReader(of.file))
	require.NoError(t, err)
	file, _ := of.parts.bytes()
	got, err := mkl.Load(bytes.NewReader(file))
	require.NoError(t, err)
	assert.Equal(t, want, got)

	const count = 60
	var tally siege.Tally
	a := siege.Attack{Name: "forged", Run: func(r *rand.Rand) siege.Case { return forge(r, of) }}
	for seed := range uint64(count) {
		tally.Add(t.Output(), a, seed)
	}
	assert.Zero(t, tally.Found)
	assert.Positive(t, tally.Refused)
	assert.Positive(t, tally.Held, "no change gets past the checks")
	again, err := mkl.Load(bytes.NewReader(of.file))
	require.NoError(t, err)
	assert.Equal(t, want, again, "forging changed the original")
}

// Journals that nobody changed let a fit go on.
func TestJournals(t *testing.T) {
	for _, e := range journalled {
		j := &mkl.Journal{}
		require.NoError(t, j.UnmarshalBinary(journalOf(e.fit)), e.name)
		f := quick
		f.MaxSweeps, f.Journal = 8, j
		m, err := e.fit(t.Context(), f)
		require.NoError(t, err, e.name)
		require.NotNil(t, m, e.name)
	}
}
