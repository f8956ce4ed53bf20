package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRowsAreNamedAfterBenchmarks compares the names of la's rows with the names of la's
// benchmarks: row Gemm/n=256 is BenchmarkGemm/n=256.
func TestRowsAreNamedAfterBenchmarks(t *testing.T) {
	files, err := filepath.Glob("../la/*_test.go")
	require.NoError(t, err)
	var source strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		source.Write(text)
	}
	for _, r := range laRows(limits{}) {
		if of, _, _ := strings.Cut(r.name, "/"); of != "GC stop" && of != "FMA loops" {
			assert.Contains(t, source.String(), "func Benchmark"+of+"(b *testing.B)", r.name)
		}
	}
}
