package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// parts are tables of some hills, and a plan of them.
func parts(t *testing.T, n int) (names []string) {
	t.Helper()
	files := map[string]string{"sample.csv": hillNames + hills(9, 200)}
	for i := range n {
		name := fmt.Sprintf("part-%d.csv", i+1)
		files[name] = hillNames + hills(uint64(i), 50+7*i)
		names = append(names, name)
	}
	consoletest.InFolder(t, files)
	run(t, "", "plan sample.csv -target y -landmarks 12 -kernels rbf(width=1) -o p.plan")
	return names
}

// run runs a command line that must succeed.
func run(t *testing.T, stdin, line string) (stdout, stderr string) {
	t.Helper()
	status, stdout, stderr := command(t, nil, stdin, strings.Fields(line)...)
	require.Equal(t, console.StatusOK, status, "%s: %s", line, stderr)
	return stdout, stderr
}

// output is what a command line that must succeed prints.
func output(t *testing.T, line string) string {
	t.Helper()
	stdout, _ := run(t, "", line)
	return stdout
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

// Parts that were summed by pipes, merged in any order and grouping, have the bytes of one pass over the tables.
func TestSumPipesMergeToOnePass(t *testing.T) {
	names := parts(t, 4)
	run(t, "", "sum "+strings.Join(names, " ")+" -plan p.plan -o all.stat")
	want := read(t, "all.stat")
	for i, name := range names {
		stat, said := run(t, read(t, name), "sum - -plan p.plan -part "+name+" -o -")
		assert.Contains(t, said, fmt.Sprintf("-: %d samples of 1 table", 50+7*i))
		write(t, fmt.Sprintf("%d.stat", i+1), stat)
	}
	run(t, "", "sum 3.stat 1.stat 4.stat 2.stat -o flat.stat")
	assert.True(t, want == read(t, "flat.stat"), "merged at once")
	run(t, "", "sum 4.stat 1.stat -o a.stat")
	run(t, "", "sum 3.stat 2.stat -o b.stat")
	tree, _ := run(t, read(t, "b.stat"), "sum - a.stat -plan p.plan -o -")
	assert.True(t, want == tree, "merged as a tree, by pipes")
	run(t, read(t, names[1]), "sum 1.stat - 4.stat "+names[2]+" -o mixed.stat")
	mixed, err := mkl.ReadSums(strings.NewReader(read(t, "mixed.stat")))
	require.NoError(t, err)
	assert.Regexp(t, "^sha256:[0-9a-f]{16}$", mixed.Parts[3].Name, "a pipe that was not named")
	run(t, "", "sum all.stat -o mixed-again.stat")
	assert.True(t, want == read(t, "mixed-again.stat"))

	// What the output holds already is passed over, be it a table, a pipe or a file of sums.
	run(t, "", "sum 1.stat 2.stat -o grown.stat")
	out, _ := run(t, "", "sum 1.stat 2.stat grown.stat -o grown.stat")
	assert.Contains(t, out, "0 of them added")
	out, _ = run(t, read(t, names[0]), "sum - -part other -o grown.stat")
	assert.Contains(t, out, "0 of them added")
	out, _ = run(t, "", "sum "+strings.Join(names, " ")+" -o grown.stat")
	assert.Contains(t, out, "2 of them added")
	assert.True(t, want == read(t, "grown.stat"))
}

// Damaged and mismatched sums are refused, and the error says which file and part.
func TestSumRefusesParts(t *testing.T) {
	names := parts(t, 3)
	run(t, "", "plan sample.csv -target y -landmarks 11 -kernels rbf(width=1) -o q.plan")
	run(t, "", "sum part-1.csv part-2.csv -plan p.plan -o a.stat")
	run(t, "", "sum part-2.csv part-3.csv -plan p.plan -o b.stat")
	run(t, "", "sum part-3.csv -plan q.plan -o q.stat")
	run(t, "", "sum part-3.csv -plan p.plan -part part-1.csv -o other.stat")
	run(t, "", "sum part-3.csv -plan p.plan -part renamed -o renamed.stat")
	whole := read(t, "a.stat")
	write(t, "flipped.stat", whole[:len(whole)/2]+string(whole[len(whole)/2]^1)+whole[len(whole)/2+1:])
	write(t, "short.stat", whole[:len(whole)-30])
	write(t, "empty", "")
	for _, c := range []struct{ line, stdin, want string }{
		{"sum a.stat b.stat -o c.stat", "", "a.stat and b.stat both hold the rows of part-2.csv"},
		{"sum a.stat a.stat -o c.stat", "", "a.stat and a.stat both hold the rows of part-1.csv"},
		{"sum b.stat -o a.stat", "", "a.stat holds some of the parts of b.stat"},
		{"sum a.stat other.stat -o c.stat", "", "a.stat and other.stat hold parts of other bytes that are both called part-1.csv"},
		{"fit a.stat other.stat -o m", "", "a.stat and other.stat hold parts of other bytes that are both called part-1.csv"},
		{"sum b.stat renamed.stat -o c.stat", "", "b.stat and renamed.stat both hold the rows of part-3.csv, which renamed.stat calls renamed"},
		{"sum a.stat q.stat -o c.stat", "", "q.stat has another plan than a.stat"},
		{"sum a.stat -plan q.plan -o c.stat", "", "a.stat has another plan than q.plan"},
		{"sum q.stat -o a.stat", "", "q.stat has another plan than a.stat"},
		{"sum flipped.stat -o c.stat", "", "flipped.stat: mkl: sums: "},
		{"sum renamed.stat short.stat -o c.stat", "", "short.stat: mkl: sums: they are not a file of sums, or it is damaged"},
		{"sum part-1.csv -o c.stat", "", "-plan is needed: part-1.csv is not a file that mkl sum wrote"},
		{"sum - -o c.stat", hillNames, "-plan is needed: - is not a file that mkl sum wrote"},
		{"sum - -plan p.plan -part x -o -", "", "standard input is empty: did what should write it fail?"},
		{"sum part-1.csv part-2.csv -plan p.plan -part x -o c.stat", "", "-part names one table, and 2 are given"},
		{"sum a.stat -part x -o c.stat", "", "-part names a table, and a.stat is a file of sums"},
		{"sum - -plan p.plan -part x -o -", hillNames + "1,2,low,3\n1,2,low\n", "standard input"},
		{"sum - -part part-1.csv -o a.stat", hillNames + hills(50, 20), "part-1.csv has changed since a.stat was made"},
	} {
		status, _, stderr := command(t, nil, c.stdin, strings.Fields(c.line)...)
		assert.Equal(t, console.StatusInput, status, "%s: %s", c.line, stderr)
		assert.Contains(t, stderr, c.want, c.line)
	}
	assert.NoFileExists(t, "c.stat")
	assert.True(t, whole == read(t, "a.stat"))

	// A part without rows, as a partition may be, is no failure.
	stat, said := run(t, hillNames, "sum - -plan p.plan -o -")
	assert.Contains(t, said, "warning: standard input has no rows: nothing is added")
	write(t, "none.stat", stat)
	run(t, "", "sum none.stat "+names[0]+" part-2.csv none.stat -o c.stat")
	assert.True(t, whole == read(t, "c.stat"))
}

// A named pipe is read once, as standard input is.
func TestSumNamedPipe(t *testing.T) {
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("no named pipes here")
	}
	parts(t, 1)
	run(t, "", "sum part-1.csv -plan p.plan -o a.stat")
	for from, to := range map[string]string{"part-1.csv": "table", "a.stat": "sums"} {
		require.NoError(t, exec.Command(mkfifo, to).Run())
		text := read(t, from)
		done := make(chan error)
		go func() { done <- os.WriteFile(to, []byte(text), 0) }()
		line := "sum " + to + " -plan p.plan -o " + to + ".stat"
		if to == "table" {
			line += " -part part-1.csv"
		}
		run(t, "", line)
		require.NoError(t, <-done)
		assert.True(t, read(t, "a.stat") == read(t, to+".stat"), to)
	}
}

// Files of sums of the version before pipes are read, merged and fitted: mkl sum of commit 866a8a02 wrote sums-v1.stat, of two tables of
// 35 and 25 rows like hills.
func TestSumOldFile(t *testing.T) {
	old, err := os.ReadFile(filepath.Join("testdata", "sums-v1.stat"))
	require.NoError(t, err)
	consoletest.InFolder(t, map[string]string{"old.stat": string(old), "more.csv": hillNames + hills(3, 40)})
	out, _ := run(t, "", "sum old.stat more.csv -o new.stat")
	assert.Contains(t, out, "100 samples of 3 tables")
	out, _ = run(t, "", "fit new.stat -o m")
	assert.Contains(t, out, "100 samples in sums of 3 tables")
}

// A plan and sums that a program wrote serve the command, and the reverse.
func TestSumAndLibraryReadEachOther(t *testing.T) {
	consoletest.InFolder(t, map[string]string{"a.csv": hillNames + hills(1, 80), "b.csv": hillNames + hills(2, 90)})
	rows := func(path string) (x []mkl.Features, y []float64) {
		x = []mkl.Features{la.NewMatrix[float64](0, 1), la.NewMatrix[float64](0, 1)}
		for _, line := range strings.Split(strings.TrimSpace(read(t, path)), "\n")[1:] {
			var v [3]float64
			cells := strings.Split(line, ",")
			_, err := fmt.Sscan(cells[0]+" "+cells[1]+" "+cells[3], &v[0], &v[1], &v[2])
			require.NoError(t, err)
			for i := range x {
				x[i] = la.MatrixOf(x[i].Rows+1, 1, append(x[i].Data, v[i]))
			}
			y = append(y, v[2])
		}
		return x, y
	}
	x, y := rows("a.csv")
	views := []mkl.View{{X: x[0], Input: "place", Kernel: kernel.RBF{Width: 1}}, {X: x[1], Input: "height", Kernel: kernel.RBF{Width: 2}}}
	plan, err := mkl.LandmarkGP{Landmarks: &mkl.Landmarks{Count: 9}}.Begin(t.Context(), views, y)
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, plan.Save(&text))
	write(t, "lib.plan", text.String())

	b, err := plan.Builder(1)
	require.NoError(t, err)
	require.NoError(t, b.Add(y, x...))
	part, err := b.Finish()
	require.NoError(t, err)
	sums := mkl.Sums{Plan: plan}
	require.NoError(t, sums.Add(mkl.SumsPart{Name: "a.csv"}, part))
	text.Reset()
	require.NoError(t, sums.Save(&text))
	write(t, "a.stat", text.String())

	run(t, "", "sum b.csv -plan lib.plan -view x1=x -view x2=z -target y -o b.stat")
	out, _ := run(t, "", "sum b.stat a.stat -o both.stat")
	assert.Contains(t, out, "170 samples of 2 tables")
	out, _ = run(t, "", "fit both.stat -o m")
	assert.Contains(t, out, "170 samples in sums of 2 tables")
	run(t, "", "predict m b.csv -view x1=x -view x2=z")

	both, err := mkl.ReadSums(strings.NewReader(read(t, "both.stat")))
	require.NoError(t, err)
	x, y = rows("b.csv")
	require.NoError(t, b.Add(y, x...))
	part, err = b.Finish()
	require.NoError(t, err)
	require.NoError(t, sums.Total.Merge(part))
	assert.Equal(t, sums.Total.Hash(), both.Total.Hash(), "the program's sums of both tables")
	model, err := plan.Fit(t.Context(), mkl.PlanFitting{}, both.Total)
	require.NoError(t, err)
	assert.EqualValues(t, 170, model.Observations())

	status, _, stderr := command(t, nil, "", strings.Fields("sum b.csv -plan lib.plan -o c.stat")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "x1")
}
