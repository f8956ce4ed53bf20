// Package sweeptest prints, for the tests of the families, how many sweeps their fits need
// to come near the bound that they converge to (docs/acceleration.md).
package sweeptest

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

var (
	wanted = flag.Bool("sweeptable", false, "print the table of docs/acceleration.md (minutes to hours)")
	data   = flag.String("data", "", "folder of the tables NAME.csv: a line of names, numbers, the target in the last column")
	sets   = flag.String("sweepsets", "", "rows of the table, separated by semicolons; empty means all")
	starts = flag.Int("sweepstarts", 5, "random starts")
	limit  = flag.Int("sweeplimit", 1000, "sweeps after which the bound stands for its limit")
	plain  = flag.Bool("sweepplain", false, "the plain order")
)

// Problem is a row of the table: fits from a seed with an ascent to a data set.
type Problem struct {
	Name string
	Fit  func(seed uint64, a vi.Ascent) (vi.Record, error)
}

// Wanted skips the test unless the table is asked for.
func Wanted(t *testing.T) {
	if !*wanted {
		t.Skip("a table of long runs, asked for with -sweeptable -data DIR")
	}
}

// Plain reports whether the table is to be of the plain order.
func Plain() bool { return *plain }

// Print prints the rows that are asked for.
func Print(t *testing.T, problems []Problem) {
	fmt.Println("| problem | sweeps to 1 nat | to 0.02 nats | default stops after | seconds | bound there | limit |")
	fmt.Println("| --- | --: | --: | --: | --: | --: | --: |")
	for _, p := range problems {
		if *sets != "" && !slices.Contains(strings.Split(*sets, "; "), p.Name) {
			continue
		}
		var near, close, stop, seconds, bound, end []float64
		for seed := range uint64(*starts) {
			long, err := p.Fit(seed, vi.Ascent{Tolerance: -1, MaxSweeps: *limit})
			require.NoError(t, err)
			start := time.Now()
			short, err := p.Fit(seed, vi.Ascent{})
			require.NoError(t, err)
			seconds = append(seconds, time.Since(start).Seconds())
			near = append(near, within(long.Trace, long.Bound()-1))
			close = append(close, within(long.Trace, long.Bound()-0.02))
			stop = append(stop, float64(len(short.Trace)))
			bound, end = append(bound, short.Bound()), append(end, long.Bound())
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %s |\n", p.Name, span("%.0f", near), span("%.0f", close), span("%.0f", stop),
			span("%.3f", seconds), span("%.3f", bound), span("%.3f", end))
	}
}

// span prints the least and the greatest of x.
func span(format string, x []float64) string {
	low, high := fmt.Sprintf(format, slices.Min(x)), fmt.Sprintf(format, slices.Max(x))
	if low == high {
		return low
	}
	return low + " … " + high
}

// within returns the first sweep, from 1, after which the bound is at least target.
func within(trace []float64, target float64) float64 {
	return float64(slices.IndexFunc(trace, func(b float64) bool { return b >= target }) + 1)
}

// Read returns the columns of a table of numbers; classes are numbered in the order
// of their appearance.
func Read(t *testing.T, name string) (columns [][]float64) {
	f, err := os.Open(filepath.Join(*data, name+".csv"))
	require.NoError(t, err)
	defer f.Close()
	var classes []string
	s := bufio.NewScanner(f)
	for s.Scan(); s.Scan(); {
		fields := strings.Split(s.Text(), ",")
		if columns == nil {
			columns = make([][]float64, len(fields))
		}
		for j, c := range fields {
			v, err := strconv.ParseFloat(c, 64)
			if err != nil {
				k := slices.Index(classes, c)
				if k < 0 {
					k, classes = len(classes), append(classes, c)
				}
				v = float64(k)
			}
			columns[j] = append(columns[j], v)
		}
	}
	require.NoError(t, s.Err())
	return columns
}

// Standardise gives every column mean 0 and variance 1.
func Standardise(columns ...[]float64) {
	for _, x := range columns {
		var mean, ss float64
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			ss += float64((v - mean) * (v - mean))
		}
		sd := math.Sqrt(ss / float64(len(x)-1))
		for i := range x {
			x[i] = (x[i] - mean) / sd
		}
	}
}

// Table returns the matrix of the given columns.
func Table(columns [][]float64) la.Matrix[float64] {
	m := la.NewMatrix[float64](len(columns[0]), len(columns))
	for j, c := range columns {
		for i, v := range c {
			m.Set(i, j, v)
		}
	}
	return m
}

// Kernels returns the Gaussian kernels of the given widths of columns.
func Kernels(columns [][]float64, widths []float64) (ks []la.Matrix[float64]) {
	x := Table(columns)
	d := la.NewMatrix[float64](x.Rows, x.Rows)
	la.SqDist(nil, x, x, d)
	for _, w := range widths {
		k := d.Clone()
		la.Scal(-1/(2*w*w), k.Data)
		la.Exp(k.Data, k.Data)
		ks = append(ks, k)
	}
	return ks
}

// Rows returns the matrix of the given rows.
func Rows(rows [][]float64) la.Matrix[float64] {
	m := la.NewMatrix[float64](len(rows), len(rows[0]))
	for o, row := range rows {
		copy(m.Row(o), row)
	}
	return m
}
