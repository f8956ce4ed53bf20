package bemkl

import (
	"bufio"
	"context"
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
	sweepTable  = flag.Bool("sweeptable", false, "print the table of docs/acceleration.md (minutes to hours)")
	sweepData   = flag.String("data", "", "folder of the tables NAME.csv: a line of names, numbers, the target in the last column")
	sweepSets   = flag.String("sweepsets", "", "rows of the table, separated by semicolons; empty means all")
	sweepStarts = flag.Int("sweepstarts", 5, "random starts")
	sweepLimit  = flag.Int("sweeplimit", 1000, "sweeps after which the bound stands for its limit")
	sweepPlain  = flag.Bool("sweepplain", false, "the plain order")
)

// sweepProblem is a row of the table: fits from a seed with an ascent to a data set.
type sweepProblem struct {
	name string
	fit  func(seed uint64, a vi.Ascent) (vi.Record, error)
}

// readTable returns the columns of a table of numbers; classes are numbered in the order
// of their appearance.
func readTable(t *testing.T, name string) (columns [][]float64) {
	f, err := os.Open(filepath.Join(*sweepData, name+".csv"))
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

// standardise gives x mean 0 and variance 1.
func standardise(x []float64) {
	var mean, ss float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		ss += (v - mean) * (v - mean)
	}
	sd := math.Sqrt(ss / float64(len(x)-1))
	for i := range x {
		x[i] = (x[i] - mean) / sd
	}
}

// gaussianKernels returns the kernels of the given widths of standardised columns.
func gaussianKernels(t *testing.T, columns [][]float64, widths []float64) *vi.Dense {
	x := la.NewMatrix[float64](len(columns[0]), len(columns))
	for j, c := range columns {
		standardise(c)
		for i, v := range c {
			x.Set(i, j, v)
		}
	}
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

// rowsOf returns the matrix of the given rows.
func rowsOf(rows [][]float64) la.Matrix[float64] {
	m := la.NewMatrix[float64](len(rows), len(rows[0]))
	for o, row := range rows {
		copy(m.Row(o), row)
	}
	return m
}

// labelsOf returns a row of ±1 for each class, one row if there are two.
func labelsOf(y []float64) la.Matrix[float64] {
	classes := int(slices.Max(y)) + 1
	if classes == 2 {
		classes = 1
	}
	m := la.NewMatrix[float64](classes, len(y))
	m.Fill(-1)
	for i, v := range y {
		if int(v) < classes {
			m.Set(int(v), i, 1)
		}
	}
	return m
}

func sweepProblems(t *testing.T) []sweepProblem {
	ctx := context.Background()
	octaves := make([]float64, 21)
	for i := range octaves {
		octaves[i] = math.Ldexp(1, i-10)
	}
	widths := []float64{.5, 1, 2, 3, 5, 8, 12}
	sparse := vi.Gamma{Shape: 1e-10, Scale: 1e10}

	regression := func(name string, r Regression, k vi.Kernels, y la.Matrix[float64]) sweepProblem {
		return sweepProblem{name, func(seed uint64, a vi.Ascent) (vi.Record, error) {
			r.Seed, r.Ascent, r.Plain = seed, a, *sweepPlain
			fit, err := r.Fit(ctx, k, y)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}
	shared := func(name string, r SharedRegression, k vi.Kernels, y la.Matrix[float64]) sweepProblem {
		return sweepProblem{name, func(seed uint64, a vi.Ascent) (vi.Record, error) {
			r.Seed, r.Ascent, r.Plain = seed, a, *sweepPlain
			fit, err := r.Fit(ctx, k, y)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}
	classification := func(name string, widths []float64) sweepProblem {
		c := readTable(t, name)
		last := len(c) - 1
		k, y := gaussianKernels(t, c[:last], widths), labelsOf(c[last])
		return sweepProblem{name, func(seed uint64, a vi.Ascent) (vi.Record, error) {
			fit, err := Classification{Seed: seed, Ascent: a, Plain: *sweepPlain}.Fit(ctx, k, y)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}

	motor := readTable(t, "mcycle")
	standardise(motor[1])
	motorK, motorY := gaussianKernels(t, motor[:1], octaves), rowsOf(motor[1:])
	diabetes := readTable(t, "diabetes")
	standardise(diabetes[10])
	diabetesK, diabetesY := gaussianKernels(t, diabetes[:10], widths), rowsOf(diabetes[10:])
	// The six blood serum measurements from age, sex, body mass index and blood pressure.
	serumK, serumY := gaussianKernels(t, diabetes[:4], widths), rowsOf(diabetes[4:10])
	// Six assays of wines from the other seven. The columns are standardised in place.
	wine := readTable(t, "wine")
	gaussianKernels(t, wine[7:13], widths)
	assaysK, assaysY := gaussianKernels(t, wine[:7], widths), rowsOf(wine[7:13])
	return []sweepProblem{
		regression("motorcycle", Regression{}, motorK, motorY),
		regression("motorcycle, λ sparse", Regression{Lambda: sparse}, motorK, motorY),
		regression("motorcycle, ω sparse", Regression{Omega: sparse}, motorK, motorY),
		regression("motorcycle, λ and ω sparse", Regression{Lambda: sparse, Omega: sparse}, motorK, motorY),
		regression("diabetes", Regression{}, diabetesK, diabetesY),
		regression("diabetes, ω sparse", Regression{Omega: sparse}, diabetesK, diabetesY),
		regression("diabetes, λ sparse", Regression{Lambda: sparse}, diabetesK, diabetesY),
		regression("diabetes, λ and ω sparse", Regression{Lambda: sparse, Omega: sparse}, diabetesK, diabetesY),
		regression("serum", Regression{}, serumK, serumY),
		regression("assays", Regression{}, assaysK, assaysY),
		shared("serum, shared", SharedRegression{}, serumK, serumY),
		shared("serum, shared, λ and ω sparse", SharedRegression{Lambda: sparse, Omega: sparse}, serumK, serumY),
		shared("assays, shared", SharedRegression{}, assaysK, assaysY),
		classification("ionosphere", widths),
		classification("iris", widths),
		classification("wine", widths),
		classification("sonar", widths),
	}
}

// TestSweepTable prints how many sweeps a fit needs to come near the bound it converges
// to, and where, when and with what bound the default rule stops it.
func TestSweepTable(t *testing.T) {
	if !*sweepTable {
		t.Skip("a table of long runs, asked for with -sweeptable -data DIR")
	}
	fmt.Println("| problem | sweeps to 1 nat | to 0.02 nats | default stops after | seconds | bound there | limit |")
	fmt.Println("| --- | --: | --: | --: | --: | --: | --: |")
	for _, p := range sweepProblems(t) {
		if *sweepSets != "" && !slices.Contains(strings.Split(*sweepSets, "; "), p.name) {
			continue
		}
		var near, close, stop, seconds, bound, limit []float64
		for seed := range uint64(*sweepStarts) {
			long, err := p.fit(seed, vi.Ascent{Tolerance: -1, MaxSweeps: *sweepLimit})
			require.NoError(t, err)
			start := time.Now()
			short, err := p.fit(seed, vi.Ascent{})
			require.NoError(t, err)
			seconds = append(seconds, time.Since(start).Seconds())
			near = append(near, within(long.Trace, long.Bound()-1))
			close = append(close, within(long.Trace, long.Bound()-0.02))
			stop = append(stop, float64(len(short.Trace)))
			bound, limit = append(bound, short.Bound()), append(limit, long.Bound())
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %s |\n", p.name, span("%.0f", near), span("%.0f", close), span("%.0f", stop),
			span("%.3f", seconds), span("%.3f", bound), span("%.3f", limit))
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
