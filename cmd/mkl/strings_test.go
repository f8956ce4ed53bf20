package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// stretches are 36 stretches of DNA; every other one has a binding site. They are written as CSV
// with a column of numbers, and as FASTA.
func stretches() (csv, fasta string) {
	r := rand.New(rand.NewPCG(1, 2))
	var c, f strings.Builder
	c.WriteString("dna,kind,size,y\n")
	for i := range 36 {
		s := make([]byte, 14+r.IntN(6))
		for j := range s {
			s[j] = "acgt"[r.IntN(4)]
		}
		kind, size := []string{"free", "bound"}[i%2], r.NormFloat64()
		if kind == "bound" {
			copy(s[r.IntN(len(s)-7):], "tgactca")
		}
		fmt.Fprintf(&c, "%s,%s,%.3f,%.3f\n", s, kind, size, size+2*float64(i%2)+0.1*r.NormFloat64())
		fmt.Fprintf(&f, ">s%d %s\n%s\n%s\n", i, kind, s[:9], s[9:])
	}
	return c.String(), f.String()
}

// Strings are learned from a column or a FASTA file, beside numbers or alone, and the model that
// is saved predicts others.
func TestStrings(t *testing.T) {
	csv, fasta := stretches()
	files := map[string]string{"d.csv": csv, "d.fa": fasta, "new.csv": "dna,size\nggtgactcagcat,0\nGCATGGCCTTAACG,0\n,0\nx,0\n"}
	status, stdout, stderr := command(t, files, "", "fit", "d.csv", "-target", "kind", "-model", "bmkl",
		"-view", "dna=dna:mismatch(k={4,5},m=1),la", "-view", "size=size:rbf", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "plan: dna is strings (dna)\n")
	assert.Contains(t, stdout, "36 samples, 4 kernels in 2 views")
	assert.Regexp(t, `dna +mismatch\(k=4,m=1\) `, stdout)
	assert.Regexp(t, `dna +la\(beta=0.5,open=12,extend=2\) `, stdout)

	status, stdout, stderr = command(t, nil, "", "predict", "m", "new.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `^label,p_bound,p_free\nbound,.*\nfree,.*\n,,\n(bound|free),.*\n$`, stdout)
	assert.Contains(t, stderr, `1 of 4 rows cannot be predicted, the first: new.csv: row 3 (line 4), column 1 "dna": the cell is empty`)
	status, stdout, stderr = command(t, nil, "", "evaluate", "m", "d.csv", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var measured struct {
		Measures []struct{ Values map[string]float64 }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &measured))
	assert.Equal(t, 1.0, measured.Measures[0].Values["accuracy"])
	status, stdout, stderr = command(t, nil, "", "inspect", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "m: 4 kernels in 2 views")
	assert.Contains(t, stdout, "view dna = dna\n  3 kernels with 36 training strings (dna)\nview size = size\n")
	status, _, stderr = command(t, nil, "", "report", "m", "-data", "d.csv", "-o", "r.html")
	require.Equal(t, console.StatusOK, status, stderr)
	page, err := os.ReadFile("r.html")
	require.NoError(t, err)
	assert.Contains(t, string(page), "mismatch(k=4,m=1)")

	status, stdout, stderr = command(t, nil, "", "cv", "d.csv", "-target", "kind", "-models", "bmkl,probit", "-folds", "3",
		"-view", "dna:spectrum(k=4),pairwise", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "probit")

	status, _, stderr = command(t, nil, "", "fit", "d.fa", "-target", "description", "-model", "probit", "-view", "sequence:la(alphabet=dna)", "-o", "f")
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr = command(t, nil, "", "predict", "f", "-view", "@d.fa")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, 37, strings.Count(stdout, "\n"))

	// The default pool takes them beside numbers, and a file of sequences is a view.
	status, _, stderr = command(t, nil, "", "fit", "d.csv", "-target", "y", "-view", "seq=@d.fa:spectrum(k=4)", "-view", "size", "-o", "a")
	require.Equal(t, console.StatusOK, status, stderr)
	status, _, stderr = command(t, nil, "", "predict", "a", "d.csv")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "-view seq=@FILE")
	status, stdout, stderr = command(t, nil, "", "evaluate", "a", "d.csv", "-view", "seq=@d.fa", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &measured))
	assert.Less(t, measured.Measures[0].Values["RMSE/SD"], 0.3)

	for _, c := range []struct{ args, want string }{
		{"-target kind -view dna:spectrum,rbf", "need views of their own"},
		{"-target kind -view dna:spectrum(alphabet=dna),la", "have one alphabet, not dna and the one that they suggest"},
		{"-target kind -view dna:spectrum(alphabet=rna)", `the alphabet "rna" is none of`},
		{"-target kind -view dna:spectrum(k=x)", `k is "x", not a whole number`},
		{"-target kind -view dna:spectrum(k=90)", "K is 90"},
		{"-target kind -view dna,size:spectrum", "takes one column, not 2 without one called sequence"},
		{"-target kind -view dna:spectrum(k=16)", "has nothing that"},
		{"-target y -model spikeslab -view dna:spectrum", "has no kernels"},
	} {
		status, _, stderr := command(t, nil, "", append([]string{"fit", "d.csv"}, strings.Fields(c.args)...)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
	status, _, stderr = command(t, nil, "", "cv", "d.csv", "-target", "kind", "-kernels", "spectrum")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "kernels of strings are named by -view")
}
