package damoulas2010

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
)

// homologyFiles are two families of sequences around a motif each, in the benchmark's form.
func homologyFiles() map[string]string {
	r := rand.New(rand.NewPCG(1, 1))
	var fasta, parts strings.Builder
	fmt.Fprintln(&parts, "ID 1.1.1.1 2.1.1.1")
	for i := range 80 {
		s := []byte{}
		for range 30 {
			s = append(s, "acdefghiklmnpqrstvwyx"[r.IntN(21)])
		}
		family := i % 4 // the motifs' sequences are the first two in four
		if family < 2 {
			copy(s[r.IntN(20):], []string{"wwchwcyhcw", "ppmqmpqmkp"}[family])
		}
		fmt.Fprintf(&fasta, ">d%d 1.1.1.1 A protein\n%s\n%s\n", i, s[:20], s[20:])
		fmt.Fprintf(&parts, "d%d", i)
		for f := range 2 {
			part := 2
			if family == f {
				part = 1
			}
			if i >= 40 {
				part += 2
			}
			if i == 79 {
				part = 0
			}
			fmt.Fprintf(&parts, " %d", part)
		}
		fmt.Fprintln(&parts)
	}
	return map[string]string{homologySequences: fasta.String(), homologyMembership: parts.String()}
}

func TestReproduceRemoteHomology(t *testing.T) {
	files := homologyFiles()
	status, stdout, stderr := consoletest.Run(t, new(Homology), files, "-data", ".", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var got struct {
		Kernels  []string
		Families []struct {
			Family      string
			Train, Test int
			Positive    int `json:"positive_train"`
			ROC, ROC50  float64
			MedianRFP   float64 `json:"median_rfp"`
			Weights     []float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	assert.Equal(t, []string{"la(beta=0.5,open=12,extend=2)", "mismatch(k=5,m=1)", "oligomer(k=1)", "pairwise"}, got.Kernels)
	require.Len(t, got.Families, 2)
	for i, f := range got.Families {
		assert.Equal(t, []string{"1.1.1.1", "2.1.1.1"}[i], f.Family)
		assert.Equal(t, []int{40, 10, 39}, []int{f.Train, f.Positive, f.Test})
		assert.Greater(t, f.ROC, 0.95)
		assert.Greater(t, f.ROC50, 0.95)
		assert.Less(t, f.MedianRFP, 0.1)
		assert.Len(t, f.Weights, 4)
	}

	status, stdout, stderr = consoletest.Run(t, new(Homology), files, "-data", ".", "-kernels", "spectrum(k=2)", "-families", "1", "-ridge", "0", "-constant", "1")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "spectrum(k=2)")
	assert.Contains(t, stdout, "probit machine, stated")
	assert.NotContains(t, stdout, "2.1.1.1")
	status, stdout, stderr = consoletest.Run(t, new(Homology), files, "-data", ".", "-kernels", "spectrum; mismatch(k=3)", "-only", "2.1.1.1", "-rule", "fixsum")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.NotContains(t, stdout, "1.1.1.1 ")

	// A run that was cut short goes on from the folder of what is done, and ends as one
	// that was not.
	consoletest.InFolder(t, files)
	args := []string{"-data", ".", "-kernels", "spectrum(k=2); pairwise", "-json"}
	status, whole, stderr := consoletest.Run(t, new(Homology), nil, args...)
	require.Equal(t, console.StatusOK, status, stderr)
	args = append(args, "-keep", "kept")
	status, _, stderr = consoletest.Run(t, new(Homology), nil, append(args, "-only", "2.1.1.1")...)
	require.Equal(t, console.StatusOK, status, stderr)
	before, err := os.ReadFile("kept/families.jsonl")
	require.NoError(t, err)
	status, resumed, stderr := consoletest.Run(t, new(Homology), nil, args...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, whole, resumed)
	after, err := os.ReadFile("kept/families.jsonl")
	require.NoError(t, err)
	assert.Equal(t, 1, bytes.Count(before, []byte("\n")))
	assert.Equal(t, 2, bytes.Count(after, []byte("\n")))
	assert.True(t, bytes.HasPrefix(after, before))
	status, _, stderr = consoletest.Run(t, new(Homology), nil, append(args, "-seed", "2", "-only", "1.1.1.1")...)
	require.Equal(t, console.StatusOK, status, stderr)
	again, err := os.ReadFile("kept/families.jsonl")
	require.NoError(t, err)
	assert.Equal(t, 3, bytes.Count(again, []byte("\n")), "other settings are computed")
	matrices, err := filepath.Glob("kept/*.npy")
	require.NoError(t, err)
	assert.Len(t, matrices, 2)
	require.NoError(t, os.WriteFile(matrices[0], []byte("short"), 0o600))
	status, resumed, stderr = consoletest.Run(t, new(Homology), nil, append(args, "-o", "reached.svg")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, whole, resumed, "what is finished needs no kernels")
	drawn, err := os.ReadFile("reached.svg")
	require.NoError(t, err)
	for _, text := range []string{"2 families, 2 kernels", "ROC50", "share of the families that reach it"} {
		assert.Contains(t, string(drawn), text)
	}
	status, _, stderr = consoletest.Run(t, new(Homology), nil, append(args, "-seed", "3")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "is not a matrix of 80×80 numbers")
	require.NoError(t, os.WriteFile("kept/families.jsonl", []byte("{"), 0o600))
	status, _, stderr = consoletest.Run(t, new(Homology), nil, args...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "families.jsonl, line 1")

	for args, want := range map[string]string{
		"-kernels rbf":           "-kernels: sequence: \"rbf\": the kernel is none of",
		"-o reached.gif":         ".gif",
		"-only 3.1.1.1":          "-only: there is no family \"3.1.1.1\"",
		"-ridge=-1":              "-ridge and -constant are not negative",
		"-kernels spectrum(k=0,": "is not closed",
	} {
		status, _, stderr = consoletest.Run(t, new(Homology), files, append([]string{"-data", "."}, strings.Fields(args)...)...)
		assert.Equal(t, console.StatusInput, status)
		assert.Contains(t, stderr, want)
	}
	for text, want := range map[string]string{
		"":                   "there are no families",
		"ID 1.1.1.1\nd0 7\n": `line 2: "7" is none of 0 to 4`,
		"ID 1.1.1.1\nx 1\n":  `line 2: 2 cells of "x"`,
	} {
		files[homologyMembership] = text
		status, _, stderr = consoletest.Run(t, new(Homology), files, "-data", ".")
		assert.Equal(t, console.StatusInput, status)
		assert.Contains(t, stderr, want)
	}
	delete(files, homologyMembership)
	status, _, _ = consoletest.Run(t, new(Homology), files, "-data", ".")
	assert.Equal(t, console.StatusInput, status)
}

// The curves fall by a family's share where its score is.
func TestReachedScores(t *testing.T) {
	panel := reached(nil, []homologyScore{{ROC: 0.9, ROC50: 0.2}, {ROC: 0.5, ROC50: 0.2}}).Panels[0]
	assert.Equal(t, []float64{0, 0.5, 0.5, 0.9, 0.9}, panel.Lines[0].X)
	assert.Equal(t, []float64{1, 1, 0.5, 0.5, 0}, panel.Lines[0].Y)
	assert.Equal(t, []float64{0, 0.2, 0.2, 0.2, 0.2}, panel.Lines[1].X)
}
