// Package sweeptest prints, for the tests of the families, how many sweeps their fits need
// to come near the bound that they converge to, by the published updates and by the order of
// updates that is the default (docs/theory/acceleration.md).
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

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/cputime"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

var (
	wanted = flag.Bool("sweeptable", false, "print the tables of docs/lab/convergence.md (minutes to hours)")
	data   = flag.String("data", "", "folder of the tables NAME.csv: a line of names, numbers, the target in the last column")
	sets   = flag.String("sweepsets", "", "rows of the table, separated by semicolons; empty means all")
	starts = flag.Int("sweepstarts", 5, "random starts")
	limit  = flag.Int("sweeplimit", 400, "sweeps after which the bound stands for its limit")
	plain  = flag.Int("sweepplain", 2000, "the same for the published updates; 0 leaves them out")
)

// Problem is a row of the table: fits from a seed, by the published updates or not, with an
// ascent to a data set.
type Problem struct {
	Name string
	Fit  func(seed uint64, plain bool, a vi.Ascent) (vi.Record, error)
}

// Wanted skips the test unless the table is asked for.
func Wanted(t *testing.T) {
	if !*wanted {
		t.Skip("a table of long runs, asked for with -sweeptable -data DIR")
	}
}

// Print prints the rows that are asked for: first the published updates, then the default.
// Seconds are processor time of the default's rule to stop, the mean of the starts.
func Print(t *testing.T, problems []Problem) {
	columns := " to 1 nat | to 0.02 | stop | bound there | s |"
	fmt.Println("| problem | published:" + columns + " default:" + columns)
	fmt.Println("| --- |" + strings.Repeat(" --: |", 10))
	for _, p := range problems {
		if *sets == "" || slices.Contains(strings.Split(*sets, "; "), p.Name) {
			fmt.Printf("| %s | %s | %s |\n", p.Name, cells(t, p, true, *plain), cells(t, p, false, *limit))
		}
	}
}

// nothingLeft is the relative rise over a tenth of the sweeps at which the bound stands for
// its limit before the sweeps are used up: a thousandth of the nats that the table looks for.
const nothingLeft = 1e-9

// cells returns the cells of a problem for one order of the updates, whose bound after at most
// so many sweeps stands for its limit.
func cells(t *testing.T, p Problem, plain bool, most int) string {
	if most == 0 {
		return " | | | | "
	}
	var near, close, stop, bound []float64
	var seconds float64
	for seed := range uint64(*starts) {
		long, err := p.Fit(seed, plain, vi.Ascent{Tolerance: nothingLeft, MaxSweeps: most})
		require.NoError(t, err)
		before := cputime.User()
		short, err := p.Fit(seed, plain, vi.Ascent{})
		require.NoError(t, err)
		seconds += (cputime.User() - before) / float64(*starts)
		near = append(near, within(long.Trace, long.Bound()-1))
		close = append(close, within(long.Trace, long.Bound()-0.02))
		stop, bound = append(stop, float64(len(short.Trace))), append(bound, short.Bound())
	}
	return strings.Join([]string{
		span("%.0f", near), span("%.0f", close), span("%.0f", stop), span("%.3f", bound), fmt.Sprintf("%.2g", seconds),
	}, " | ")
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
