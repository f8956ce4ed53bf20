package main

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/internal/testkit/siege"
)

// Some cases of every attack, always the same.
func TestAttacks(t *testing.T) {
	var out strings.Builder
	for _, a := range attacks() {
		var tally siege.Tally
		for seed := range uint64(100) {
			tally.Add(&out, a, seed)
		}
		assert.Positive(t, tally.Refused, a.Name)
	}
	assert.Empty(t, out.String())
}

// Cases that found something once: errors that repeat long texts, memory for what a file claims, and
// columns that are too short.
func TestFound(t *testing.T) {
	seeds := map[string][]uint64{
		"forged NPY": {69}, "forged NPZ": {518}, "forged LIBSVM": {50231, 50002797}, "forged zstd": {40004732}, "forged MATLAB": {1003596}, "forged XLSX": {990006152},
		"forged Parquet": {50190, 1000382, 1004239, 1004835}, "forged Arrow": {1001728, 40013640, 70019998, 70141441, 70238135, 70247797},
	}
	for _, a := range attacks() {
		for _, seed := range seeds[a.Name] {
			assert.Empty(t, siege.Try(a, seed).Wrong, "%s, seed %d", a.Name, seed)
		}
	}
}

// Files that nobody changed are tables, or workbooks.
func TestFiles(t *testing.T) {
	for _, f := range formats {
		files := f.files()
		switch f.name { // files of parts
		case "NPZ":
			files = nil
		case "XLSX":
			files = [][]byte{archive(xlsxNames, xlsxParts)}
		}
		for i, file := range files {
			held := false
			for seed := range uint64(20) { // some kinds of columns are refused
				c := read(rand.New(rand.NewPCG(seed, 1)), bytes.Clone(file))
				assert.Empty(t, c.Wrong, "%s, file %d", f.name, i)
				held = held || c.Outcome == siege.Held
			}
			assert.True(t, held, "%s, file %d", f.name, i)
		}
	}
}
