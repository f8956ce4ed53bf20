package mkl

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// motorcycle returns the 133 observations of testdata/mcycle.csv.
func motorcycle(t testing.TB) (times, accel []float64) {
	times, accel, err := readMotorcycle()
	require.NoError(t, err)
	return times, accel
}

func readMotorcycle() (times, accel []float64, err error) {
	f, err := os.Open("../testdata/mcycle.csv")
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows[1:] {
		x, errX := strconv.ParseFloat(row[0], 64)
		y, errY := strconv.ParseFloat(row[1], 64)
		if err := errors.Join(errX, errY); err != nil {
			return nil, nil, err
		}
		times, accel = append(times, x), append(accel, y)
	}
	return times, accel, nil
}

func normal(rng *rand.Rand, rows, cols int) Features {
	x := la.NewMatrix[float64](rows, cols)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	return x
}

// twoInputs returns views of two inputs with every sort of kernel on features,
// and targets that depend on both.
func twoInputs(seed uint64, n int) (views []View, y []float64, a, b Features) {
	rng := rand.New(rand.NewPCG(seed, 1))
	a, b = normal(rng, n, 2), normal(rng, n, 3)
	y = make([]float64, n)
	for i := range y {
		y[i] = 5 + 10*math.Sin(2*a.At(i, 0)) + 3*b.At(i, 1) + 0.5*rng.NormFloat64()
	}
	return []View{
		{Name: "a", X: a, Input: "x1", Kernel: kernel.RBF{Width: 0.5}},
		{Name: "a", X: a, Input: "x1", Kernel: kernel.RBF{Widths: []float64{0.7, 3}}},
		{Name: "a", X: a, Input: "x1", Kernel: kernel.RBF{}, Standardize: true},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.Linear{}, Center: true, Normalize: true},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.Polynomial{Offset: 1}, Normalize: true},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.Laplacian{Width: 2}, Center: true},
		{Name: "b", X: b, Input: "x2", Kernel: kernel.Laplacian{Manhattan: true}},
	}, y, a, b
}

// sightedViews are views of a and b that see ranks and some of the columns, and the
// kernels that twoInputs lacks.
func sightedViews(a, b Features) []View {
	return []View{
		{Name: "one", X: a, Input: "x1", Kernel: kernel.Constant{}},
		{Name: "ranks", X: b, Input: "x2", Kernel: kernel.Laplacian{Manhattan: true, Medians: 0.5}, Ranks: true},
		{Name: "ranks", X: b, Input: "x2", Kernel: kernel.Laplacian{Widths: []float64{2, 0.5}}, Ranks: true, Columns: []int{2, 0}},
		{Name: "column", X: b, Input: "x2", Kernel: kernel.RBF{Medians: 2}, Standardize: true, Columns: []int{1}, Center: true},
		{Name: "scaled", X: a, Input: "x1", Kernel: kernel.Linear{Scale: 0.5}, Standardize: true},
	}
}

func fitTwo(t testing.TB, n int) (*RegressionModel, Features, Features) {
	views, y, a, b := twoInputs(3, n)
	m, err := Regression{Ascent: Ascent{MaxSweeps: 60}}.Fit(context.Background(), views, y)
	require.NoError(t, err)
	return m, a, b
}

// requireFile saves a model and reads it back with load: the file is whole or
// refused, whatever is cut off, the model says the same, and its file has the same
// bytes.
func requireFile[M Model](t *testing.T, m M, load func(io.Reader) (M, error), step int) (loaded M) {
	t.Helper()
	var file, second bytes.Buffer
	require.NoError(t, m.Save(&file))
	loaded, err := load(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, m.Summary(), loaded.Summary())
	assert.Equal(t, m.KernelWeights(), loaded.KernelWeights())
	assert.Equal(t, m.Notes(), loaded.Notes())
	assert.Equal(t, m.Trace(), loaded.Trace())
	require.NoError(t, loaded.Save(&second))
	assert.Equal(t, file.Bytes(), second.Bytes())
	for cut := 0; cut < file.Len(); cut += step {
		_, err := Load(bytes.NewReader(file.Bytes()[:cut]))
		assert.Error(t, err)
	}
	return loaded
}

// assertRefused changes a model file and checks that Load refuses it with want.
func assertRefused(t *testing.T, file []byte, change func(metadata map[string]string, ts map[string]tensor), want string) {
	t.Helper()
	metadata, ts, err := readTensors(bytes.NewReader(file))
	require.NoError(t, err)
	change(metadata, ts)
	var changed bytes.Buffer
	require.NoError(t, writeTensors(&changed, metadata, slices.Collect(maps.Values(ts))))
	_, err = Load(&changed)
	assert.ErrorContains(t, err, want)
}

// latencies gathers the times of single predictions of a benchmark.
type latencies struct {
	b  *testing.B
	ns []float64
}

func newLatencies(b *testing.B) *latencies {
	b.ReportAllocs()
	return &latencies{b, make([]float64, 0, 1<<20)}
}

// add adds the time since start.
func (l *latencies) add(start time.Time) {
	if len(l.ns) < cap(l.ns) {
		l.ns = append(l.ns, float64(time.Since(start)))
	}
}

// report reports what share of the predictions takes no longer.
func (l *latencies) report() {
	slices.Sort(l.ns)
	at := func(share float64) float64 { return l.ns[int(share*float64(len(l.ns)-1))] }
	l.b.ReportMetric(at(0), "min-ns")
	l.b.ReportMetric(at(.5), "p50-ns")
	l.b.ReportMetric(at(.99), "p99-ns")
	l.b.ReportMetric(at(.999), "p99.9-ns")
}

// requireImmutable calls predict from several goroutines at a time, and once more to see
// that it allocates nothing.
func requireImmutable(t *testing.T, predict func() error) {
	t.Helper()
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = predict() })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	if !raceEnabled {
		require.Zero(t, testing.AllocsPerRun(3, func() {
			if err := predict(); err != nil {
				panic(err)
			}
		}))
	}
}

// climb returns the settings of sweeps as a fit by the evidence has them.
func (f *fitting) climb() Climb { return Climb{MinRise: f.Tolerance, MaxSteps: f.MaxSweeps} }

// probitEstimator is one of the ways to fit a [ProbitClassifierModel].
type probitEstimator[T comparable] interface {
	Fit(ctx context.Context, views []View, labels []T) (*ProbitClassifierModel[T], error)
	EstimateMemory(s FitSize) int64
}

// allLabels returns labels that are all known.
func allLabels(has [][]bool) (labels [][]Label) {
	for _, h := range has {
		labels = append(labels, LabelsOf(h))
	}
	return labels
}
