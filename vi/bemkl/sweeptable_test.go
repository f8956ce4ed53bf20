package bemkl

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

var (
	sweepTable  = flag.Bool("sweeptable", false, "print the table of docs/acceleration.md (minutes to hours)")
	sweepData   = flag.String("data", "", "folder with mcycle/mcycle.csv and diabetes/diabetes_data_raw.csv.gz, diabetes_target.csv.gz")
	sweepSets   = flag.String("sweepsets", "motorcycle,diabetes", "data sets of the table")
	sweepStarts = flag.Int("sweepstarts", 10, "random starts")
	sweepPlain  = flag.Int("sweepplain", 10000, "sweeps of the plain order")
	sweepTraces = flag.String("sweeptraces", "", "folder to write the bounds to, one file a run")
)

func readTable(t *testing.T, path string, skip int) la.Matrix[float64] {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(f)
		require.NoError(t, err)
	}
	var rows golden.Mat
	for s := bufio.NewScanner(r); s.Scan(); {
		if skip > 0 {
			skip--
			continue
		}
		var row golden.Vec
		for _, c := range strings.FieldsFunc(s.Text(), func(r rune) bool { return r == ',' || r == ' ' || r == ';' || r == '\t' }) {
			v, err := strconv.ParseFloat(c, 64)
			require.NoError(t, err)
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return golden.MatrixOf(rows)
}

func standardise(x la.Matrix[float64]) {
	for j := range x.Cols {
		var mean, ss float64
		for i := range x.Rows {
			mean += x.At(i, j) / float64(x.Rows)
		}
		for i := range x.Rows {
			ss += (x.At(i, j) - mean) * (x.At(i, j) - mean)
		}
		sd := math.Sqrt(ss / float64(x.Rows-1))
		for i := range x.Rows {
			x.Set(i, j, (x.At(i, j)-mean)/sd)
		}
	}
}

func gaussianKernels(t *testing.T, x la.Matrix[float64], widths []float64) *vi.Dense {
	d := la.NewMatrix[float64](x.Rows, x.Rows)
	la.SqDist(nil, x, x, d)
	var ks []la.Matrix[float64]
	for _, w := range widths {
		k := d.Clone()
		la.Scal(-1/(2*w*w), k.Data)
		la.Exp(k.Data, k.Data)
		ks = append(ks, k)
	}
	k, err := vi.NewDense(ks...)
	require.NoError(t, err)
	return k
}

func loadSet(t *testing.T, name string) (*vi.Dense, la.Matrix[float64]) {
	switch name {
	case "motorcycle":
		xy := readTable(t, filepath.Join(*sweepData, "mcycle", "mcycle.csv"), 1)
		standardise(xy)
		y := la.NewMatrix[float64](1, xy.Rows)
		for i := range xy.Rows {
			y.Set(0, i, xy.At(i, 1))
		}
		var widths []float64
		for p := -10; p <= 10; p++ {
			widths = append(widths, math.Ldexp(1, p))
		}
		return gaussianKernels(t, xy.Slice(0, xy.Rows, 0, 1), widths), y
	case "diabetes":
		x := readTable(t, filepath.Join(*sweepData, "diabetes", "diabetes_data_raw.csv.gz"), 0)
		y := readTable(t, filepath.Join(*sweepData, "diabetes", "diabetes_target.csv.gz"), 0)
		standardise(x)
		standardise(y)
		return gaussianKernels(t, x, []float64{.5, 1, 2, 3, 5, 8, 12}), la.MatrixOf(1, y.Rows, y.Data)
	}
	t.Fatal(name)
	return nil, la.Matrix[float64]{}
}

// TestSweepTable prints how many sweeps the plain order and the accelerated one
// need from the same start to come within one nat of the bound they converge to,
// and where the default rule stops the accelerated one.
func TestSweepTable(t *testing.T) {
	if !*sweepTable {
		t.Skip("a table of long runs, asked for with -sweeptable -data DIR")
	}
	for _, set := range strings.Split(*sweepSets, ",") {
		k, y := loadSet(t, set)
		fmt.Printf("\n%s\n\n", set)
		fmt.Println("| start | plain: bound | sweeps to 1 nat | accelerated: bound | sweeps to 1 nat | ratio | default stops after | short of its limit by |")
		fmt.Println("| --: | --: | --: | --: | --: | --: | --: | --: |")
		for seed := range uint64(*sweepStarts) {
			run := func(r Regression) []float64 {
				r.Seed = seed
				fit, err := r.Fit(t.Context(), k, y)
				require.NoError(t, err)
				if *sweepTraces != "" {
					var text strings.Builder
					for _, b := range fit.Record.Trace {
						fmt.Fprintf(&text, "%.17g\n", b)
					}
					name := fmt.Sprintf("%s_%d_plain_%v.txt", set, seed, r.Plain)
					require.NoError(t, os.WriteFile(filepath.Join(*sweepTraces, name), []byte(text.String()), 0o644))
				}
				return fit.Record.Trace
			}
			plain := run(Regression{Plain: true, Ascent: vi.Ascent{Tolerance: -1, MaxSweeps: *sweepPlain}})
			fast := run(Regression{Ascent: vi.Ascent{Tolerance: 1e-10}})
			stop := len(run(Regression{}))
			limit := func(b []float64) float64 { return b[len(b)-1] }
			p, f := within(plain, limit(plain)-1), within(fast, limit(fast)-1)
			fmt.Printf("| %d | %.3f | %d | %.3f | %d | %.3f | %d | %.4f |\n",
				seed, limit(plain), p, limit(fast), f, float64(f)/float64(p), stop, limit(fast)-fast[stop-1])
		}
	}
}

// within returns the first sweep, from 1, after which the bound is at least target.
func within(trace []float64, target float64) int {
	for i, b := range trace {
		if b >= target {
			return i + 1
		}
	}
	return len(trace)
}
