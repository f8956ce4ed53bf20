package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/cmd/mkl/internal/sums"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// hills returns rows of a table of two numbers, a text and a target.
func hills(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for range n {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		kind := []string{"low", "high"}[rng.IntN(2)]
		y := 10 + 3*math.Sin(2*x) + z
		if kind == "high" {
			y += 2
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s,%.4f\n", x, z, kind, y+0.1*rng.NormFloat64())
	}
	return b.String()
}

const hillNames = "x,z,kind,y\n"

// The same rows give the same sums and the same model, from one table or four in any order,
// in one file of sums or several, with any number of workers.
func TestPlanSumFit(t *testing.T) {
	files := map[string]string{"sample.csv": hillNames + hills(9, 600), "new.csv": hillNames + hills(8, 100)}
	all := ""
	for i := range 4 {
		rows := hills(uint64(i), stat.BlockSamples)
		all += rows
		files[fmt.Sprintf("part-%d.csv", i+1)] = hillNames + rows
	}
	files["all.csv"] = hillNames + all
	ok := func(files map[string]string, line string) string {
		t.Helper()
		status, stdout, stderr := command(t, files, "", strings.Fields(line)...)
		require.Equal(t, console.StatusOK, status, stderr)
		return stdout
	}
	out := ok(files, "plan sample.csv -target y -landmarks 40 -kernels rbf(width=1),linear -o p.plan")
	assert.Contains(t, out, "plan of 2 kernels on 40 landmarks")
	hash := func(path string) [32]byte {
		s, err := sums.Read(path)
		require.NoError(t, err)
		return s.Total.Hash()
	}
	ok(nil, "sum all.csv -plan p.plan -o all.stat")
	ok(nil, "sum part-1.csv part-2.csv part-3.csv part-4.csv -plan p.plan -o four.stat -workers 3")
	ok(nil, "sum part-4.csv part-2.csv -plan p.plan -o even.stat -workers 1")
	ok(nil, "sum part-3.csv part-1.csv -plan p.plan -o odd.stat")
	assert.Equal(t, hash("all.stat"), hash("four.stat"))

	var models []string
	for _, line := range []string{"all.stat", "four.stat -workers 3", "even.stat odd.stat -workers 1"} {
		out := ok(nil, "fit "+line+" -o m")
		assert.Contains(t, out, "32768 samples")
		text, err := os.ReadFile("m")
		require.NoError(t, err)
		models = append(models, string(text))
	}
	assert.True(t, models[0] == models[1] && models[1] == models[2], "the models are the same")
	values := measured(t, "new.csv")
	assert.Less(t, values["RMSE"], 0.5)
	assert.Contains(t, ok(nil, "inspect m"), "rbf(width=1)")
	assert.EqualValues(t, 4*stat.BlockSamples, fromFile[*mkl.LandmarkGPModel](t).Observations())

	// What is there is passed over, and the rest added.
	ok(nil, "sum part-1.csv -plan p.plan -o more.stat")
	before, err := os.ReadFile("more.stat")
	require.NoError(t, err)
	assert.Contains(t, ok(nil, "sum part-1.csv -plan p.plan -o more.stat"), "0 of them added")
	again, err := os.ReadFile("more.stat")
	require.NoError(t, err)
	assert.Equal(t, before, again)
	assert.Contains(t, ok(nil, "sum part-4.csv part-1.csv part-2.csv part-3.csv -plan p.plan -o more.stat"), "3 of them added")
	assert.Equal(t, hash("all.stat"), hash("more.stat"))

	ok(nil, "plan sample.csv -target y -landmarks 21 -kernels rbf(width=2),linear -o q.plan")
	ok(nil, "sum part-1.csv -plan q.plan -o q.stat")
	require.NoError(t, os.WriteFile("part-1.csv", []byte(hillNames+hills(77, 50)), 0o666))
	for _, c := range [][2]string{
		{"sum part-1.csv -plan p.plan -o more.stat", "part-1.csv has changed since more.stat was made"},
		{"sum part-2.csv -plan q.plan -o more.stat", "more.stat holds sums of another plan"},
		{"sum part-2.csv -plan new.csv -o other.stat", "new.csv: "},
		{"sum part-2.csv -plan p.plan -o new.csv", "new.csv: mkl sum did not write the file"},
		{"fit even.stat four.stat", "even.stat and four.stat both hold the rows of part-2.csv"},
		{"fit q.stat even.stat", "q.stat and even.stat are sums of different plans"},
		{"fit even.stat -target y", "-target is not for files of sums"},
		{"fit even.stat -missing drop", "-missing is not for files of sums"},
		{"fit even.stat -resume s", "-resume is not for files of sums"},
		{"fit even.stat -chains 3", "-chains is not for files of sums: their plan fixes it"},
		{"fit even.stat -time 1ns", "-time 1ns ended before the fit had a model"},
		{"fit even.stat new.csv", "new.csv: mkl sum did not write the file"},
		{"fit new.csv even.stat -target y", "even.stat: a fit takes one table"},
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(c[0])...)
		assert.Equal(t, console.StatusInput, status, c[0])
		assert.Contains(t, stderr, c[1], c[0])
	}
}

// Rows that lack something are left out, or filled in as the plan says.
func TestSumMissing(t *testing.T) {
	rows := hills(1, 40)
	files := map[string]string{"d.csv": hillNames + rows, "gaps.csv": hillNames + rows + "1,,low,3\n,2,low,3\n1,2,low,\n"}
	status, _, stderr := command(t, files, "", "plan", "d.csv", "-target", "y", "-landmarks", "9", "-kernels", "rbf", "-o", "i.plan")
	require.Equal(t, console.StatusOK, status, stderr)
	status, out, stderr := command(t, nil, "", "sum", "gaps.csv", "-plan", "i.plan", "-o", "i.stat")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, out, "42 samples of 1 table")
	assert.Contains(t, stderr, "1 cell without a value that can be read, where the fit had none: filled in with ")
	status, _, stderr = command(t, nil, "", "plan", "d.csv", "-target", "y", "-landmarks", "9", "-kernels", "rbf", "-missing", "refuse", "-o", "p.plan")
	require.Equal(t, console.StatusOK, status, stderr)
	status, out, stderr = command(t, nil, "", "sum", "gaps.csv", "-plan", "p.plan", "-o", "g.stat")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, out, "40 samples of 1 table")
	assert.Contains(t, stderr, "2 of 43 rows cannot be summed")
	assert.Contains(t, stderr, "1 of 41 rows have no target")
}

// countdown is a context that ends when it has been asked so many times whether it has.
type countdown struct {
	context.Context
	left atomic.Int64
	end  context.CancelFunc
}

func newCountdown(t *testing.T, n int64) *countdown {
	c := &countdown{}
	c.Context, c.end = context.WithCancel(t.Context())
	c.left.Store(n)
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) <= 0 {
		c.end()
	}
	return c.Context.Err()
}

// TestSumInterrupted interrupts mkl sum again and again, also in the middle of a table: the same
// command ends with the bits that it would have had without.
func TestSumInterrupted(t *testing.T) {
	big := hillNames + hills(3, stat.BlockSamples-5) + "1,,low,3\n" + hills(4, 2*stat.BlockSamples+99)
	files := map[string]string{
		"sample.csv": hillNames + hills(1, 200),
		"a.csv":      hillNames + hills(2, 500), "b.csv": big, "c.csv": hillNames + hills(5, 300),
	}
	ok := func(files map[string]string, line string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := command(t, files, "", strings.Fields(line)...)
		require.Equal(t, console.StatusOK, status, stderr)
		return stdout, stderr
	}
	ok(files, "plan sample.csv -target y -landmarks 12 -kernels rbf(width=1),linear -missing refuse -o p.plan")
	ok(nil, "sum a.csv b.csv c.csv -plan p.plan -o whole.stat")
	want, err := sums.Read("whole.stat")
	require.NoError(t, err)

	line := strings.Fields("sum a.csv b.csv c.csv -plan p.plan -o s.stat")
	status, rows := -1, map[int]bool{}
	var half []byte // a file of sums with a table that is not done
	for asked := int64(40); status != console.StatusOK; asked += 4 {
		var errs bytes.Buffer
		status = program().Run(newCountdown(t, asked), line, nil, io.Discard, &errs)
		if status == console.StatusOK {
			break
		}
		require.Equal(t, console.StatusInterrupted, status, errs.String())
		s, err := sums.Read("s.stat")
		if errors.Is(err, fs.ErrNotExist) {
			continue // interrupted before a table was done
		}
		require.NoError(t, err)
		if s.Open != nil && !rows[s.Open.Rows] {
			rows[s.Open.Rows] = true
			assert.Contains(t, errs.String(), "the same command goes on from s.stat")
			assert.EqualValues(t, 0, s.Open.Samples%stat.BlockSamples)
			if len(rows) == 1 {
				half, err = os.ReadFile("s.stat")
				require.NoError(t, err)
				_, warning := ok(nil, "fit s.stat")
				assert.Contains(t, warning, "s.stat is without b.csv; mkl sum has done 8193 rows of it so far")
			}
		}
	}
	assert.GreaterOrEqual(t, len(rows), 2)
	for n := range rows { // the row of a block's last sample; one row before it was left out
		assert.Equal(t, 1, n%stat.BlockSamples)
	}
	got, err := sums.Read("s.stat")
	require.NoError(t, err)
	assert.Equal(t, want.Total.Hash(), got.Total.Hash())
	assert.Equal(t, want.Parts, got.Parts)
	assert.Nil(t, got.Open)

	// A table that was changed before it was done begins anew.
	require.NoError(t, os.WriteFile("s.stat", half, 0o666))
	require.NoError(t, os.WriteFile("b.csv", []byte(hillNames+hills(6, 100)), 0o666))
	ok(nil, strings.Join(line, " "))
	got, err = sums.Read("s.stat")
	require.NoError(t, err)
	assert.EqualValues(t, 900, got.Total.Samples())
}

// crests returns rows of a table of two numbers and a label of three.
func crests(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 8))
	var b strings.Builder
	for range n {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		kind := "mid"
		switch v := math.Sin(2*x) + z + 0.2*rng.NormFloat64(); {
		case v < -0.5:
			kind = "low"
		case v > 0.8:
			kind = "high"
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", x, z, kind)
	}
	return b.String()
}

// Labels are summed as numbers are, and the fit reads the tables again: the same model from one file of sums or
// several, with any number of workers, and nearly the same as the plan of one table.
func TestPlanSumFitLabels(t *testing.T) {
	const names = "x,z,kind\n"
	files := map[string]string{"sample.csv": names + crests(9, 500), "new.csv": names + crests(8, 400)}
	for i := range 3 {
		files[fmt.Sprintf("part-%d.csv", i+1)] = names + crests(uint64(i), 1500) + "1,,low\n2,1,\n"
	}
	ok := func(files map[string]string, line string) string {
		t.Helper()
		status, stdout, stderr := command(t, files, "", strings.Fields(line)...)
		require.Equal(t, console.StatusOK, status, stderr)
		return stdout
	}
	out := ok(files, "plan sample.csv -target kind -landmarks 30 -kernels rbf(width=1),linear -missing refuse -o p.plan")
	assert.Contains(t, out, "plan of 2 kernels on 30 landmarks")
	ok(nil, "sum part-1.csv part-2.csv part-3.csv -plan p.plan -o all.stat")
	ok(nil, "sum part-3.csv part-1.csv -plan p.plan -o odd.stat -workers 1")
	assert.Contains(t, ok(nil, "sum part-2.csv -plan p.plan -o even.stat"), "1500 samples of 1 table")

	var models []string
	for _, line := range []string{"all.stat", "odd.stat even.stat -workers 3 -task multiclass"} {
		out := ok(nil, "fit "+line+" -o m")
		assert.Contains(t, out, "4500 samples in sums of 3 tables")
		text, err := os.ReadFile("m")
		require.NoError(t, err)
		models = append(models, string(text))
	}
	assert.True(t, models[0] == models[1], "the models are the same")
	values := measured(t, "new.csv")
	assert.Greater(t, values["accuracy"], 0.85)
	assert.Contains(t, ok(nil, "predict m new.csv"), "low")

	require.NoError(t, os.WriteFile("part-2.csv", []byte(names+crests(77, 50)), 0o666))
	require.NoError(t, os.WriteFile("part-4.csv", []byte(names+"1,2,strange\n"), 0o666))
	for _, c := range [][2]string{
		{"fit all.stat", "part-2.csv has changed since all.stat was made"},
		{"fit odd.stat -task regression", "-task regression: the plan has another task"},
		{"sum part-4.csv -plan p.plan -o four.stat", "labels[0] is strange, which is not a class of the plan"},
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(c[0])...)
		assert.Equal(t, console.StatusInput, status, c[0])
		assert.Contains(t, stderr, c[1], c[0])
	}
}

// Columns of text can be categories in plans of labels too; the report of a model on standard output goes to
// standard error.
func TestPlanOfCategories(t *testing.T) {
	table := "x,g,kind\n"
	for i := range 40 {
		table += fmt.Sprintf("%d,%c,%s\n", i*7%11, "abc"[i%3], []string{"no", "yes", "yes"}[i%3])
	}
	consoletest.InFolder(t, map[string]string{"d.csv": table, "new.csv": "x,g\n3,a\n3,b\n3,c\n"})
	ok := func(line string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := command(t, nil, "", strings.Fields(line)...)
		require.Equal(t, console.StatusOK, status, stderr)
		return stdout, stderr
	}
	ok("plan d.csv -target kind -text category -landmarks 9 -o p.plan")
	ok("sum d.csv -plan p.plan -o d.stat")
	model, report := ok("fit d.stat -o -")
	assert.Contains(t, report, "40 samples in sums of 1 table")
	assert.NotContains(t, report, "model: ")
	require.NoError(t, os.WriteFile("m", []byte(model), 0o666))
	out, _ := ok("predict m new.csv")
	assert.Regexp(t, `\nno,.*\nyes,.*\nyes,`, out)
}

// A plan has no views of strings, and says so.
func TestPlanOfStrings(t *testing.T) {
	files := map[string]string{"d.csv": "id,s,y\n1,ACGT,1\n2,CCGT,2\n3,ACTT,3\n4,GGGT,1\n5,ACGA,2\n"}
	status, _, stderr := command(t, files, "", "plan", "d.csv", "-target", "y", "-view", "s:spectrum(k=2)", "-o", "p.plan")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "-view: a plan has no views of strings, and s is one: landmarks need features")
	assert.NoFileExists(t, "p.plan")
}

// Above the limit of the exact models mkl fit pools members of all rows, and says so.
func TestFitManyLabels(t *testing.T) {
	testkit.NotShort(t)
	files := map[string]string{"big.csv": "x,z,kind\n" + crests(1, mkl.DefaultExactSamples+500), "new.csv": "x,z,kind\n" + crests(2, 400)}
	status, out, stderr := command(t, files, "", "fit", "big.csv", "-target", "kind", "-time", "5s", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, out, "predictions of 700 samples held out")
	assert.Greater(t, measured(t, "new.csv")["accuracy"], 0.85)
	names, _ := fromFile[*mkl.AutoClassifierModel[string]](t).Members()
	assert.NotEmpty(t, names)
}

// The models of kernel weights learn from kernels with landmarks where the command names a number of landmarks.
func TestFitOnLandmarks(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var rows strings.Builder
	rows.WriteString("x,z,y,w,kind,flag\n")
	for range 60 {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		kind, flag := "low", "0"
		if x > 0 {
			kind = "high"
		}
		if z > 0 {
			flag = "1"
		}
		fmt.Fprintf(&rows, "%g,%g,%g,%g,%s,%s\n", x, z, 2*x-z, x+z, kind, flag)
	}
	files := map[string]string{"d.csv": rows.String()}
	for _, learn := range []string{"y", "y,w -task shared", "kind -task binary", "flag -task multilabel"} {
		args := "fit d.csv -view x,z:rbf(width=1),linear -model bmkl -landmarks 12 -choose pivoted -sweeps 60 -json -o m -target " + learn
		status, stdout, stderr := command(t, files, "", strings.Fields(args)...)
		require.Equal(t, console.StatusOK, status, "%s: %s", learn, stderr)
		var r report.Report
		require.NoError(t, json.Unmarshal([]byte(stdout), &r))
		assert.Equal(t, 12, r.Samples, "those with weights")
		status, _, stderr = command(t, nil, "", "predict", "m", "d.csv")
		require.Equal(t, console.StatusOK, status, "%s: %s", learn, stderr)
		files = nil
	}
}
