package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const sum = `package sum

import "fmt"

// Sum adds a and twice b.
func Sum(a, b float64) (float64, error) {
	if a < 0 {
		return 0, fmt.Errorf("sum: %v is negative by %v", a, 0-a)
	}
	var unused int
	_ = unused + 1
	_ = make([]int, 2, 3)
	return a + 2.0*b, nil
}
`

const test = `package sum

import "testing"

func TestSum(t *testing.T) {
	if s, err := Sum(1, 2); s != 5 || err != nil {
		t.Fatal(s, err)
	}
}
`

// writeModule makes a module with one package, its test, and nothing else.
func writeModule(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module sum\n\ngo 1.26\n", "sum.go": sum, "sum_test.go": test} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
}

// TestVerdicts tests every mutant of a package whose outcomes are plain.
func TestVerdicts(t *testing.T) {
	writeModule(t)
	packages, err := list(context.Background(), []string{"."})
	require.NoError(t, err)
	require.Len(t, packages, 1)
	all, err := packages[0].mutants("*")
	require.NoError(t, err)
	tester, err := newTester(context.Background(), packages[0], suite{short: true})
	require.NoError(t, err)
	got := map[string]verdict{}
	for _, j := range tester.all(context.Background(), all, 2) {
		got[j.String()[len(packages[0].Dir)+1:]] = j.verdict
	}
	require.Equal(t, map[string]verdict{
		"sum.go:7: < becomes <=":           alive, // no test asks for 0
		"sum.go:7: 0 becomes (0 + 1)":      alive, // 1 is not below 1
		"sum.go:11: + becomes -":           alive, // the sum is not used
		"sum.go:11: 1 becomes (1 + 1)":     alive,
		"sum.go:12: 2 becomes (2 + 1)":     alive, // the capacity and the values beside an error are not changed
		"sum.go:13: + becomes -":           killed,
		"sum.go:13: * becomes /":           killed,
		"sum.go:13: 2.0 becomes (2 * 2.0)": killed,
	}, got)
}

// Only files that match are changed, and only tests that match are run: without TestSum nothing is noticed.
func TestFilesAndTests(t *testing.T) {
	writeModule(t)
	packages, err := list(context.Background(), []string{"."})
	require.NoError(t, err)
	none, err := packages[0].mutants("other*.go")
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = packages[0].mutants("[")
	require.ErrorContains(t, err, `-files "["`)
	all, err := packages[0].mutants("s*.go")
	require.NoError(t, err)
	tester, err := newTester(context.Background(), packages[0], suite{run: "TestOther"})
	require.NoError(t, err)
	require.Equal(t, alive, tester.one(context.Background(), all[len(all)-1]))
}

func TestDraw(t *testing.T) {
	all := make([]mutant, 100)
	for i := range all {
		all[i].offset = i
	}
	require.Equal(t, all, draw(all, 0, 1))
	require.Equal(t, all, draw(all, 100, 1))
	taken := map[int]int{}
	for seed := range uint64(200) {
		some := draw(all, 10, seed)
		require.Len(t, some, 10)
		for i, m := range some {
			require.True(t, i == 0 || some[i-1].offset < m.offset)
			taken[m.offset]++
		}
	}
	for i := range all { // 200 draws of 10 in 100: 20 each, binomial with a standard deviation of 4.2
		require.InDelta(t, 20, taken[i], 20)
	}
}
