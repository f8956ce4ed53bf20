package beam

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/cputime"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
)

func init() {
	register.DoFn2x0[int64, func(mkl.TargetRows)](&drawFn{})
	register.Emitter1[mkl.TargetRows]()
	register.DoFn1x0[Sums](&keepFn{})
}

// draw draws block k; every fifth is short, as at the end of a file.
func draw(k int64) mkl.TargetRows {
	src := rand.New(rand.NewPCG(4, uint64(k)))
	n := stat.BlockSamples
	if k%5 == 4 {
		n = 1000
	}
	x := la.NewMatrix[float64](n, 3)
	r := mkl.TargetRows{X: []mkl.Features{x}}
	for i := range n {
		for j := range x.Cols {
			x.Set(i, j, src.Float64())
		}
		r.Y = append(r.Y, x.At(i, 0)*x.At(i, 1)-x.At(i, 2)+0.1*src.Float64())
	}
	return r
}

type drawFn struct{}

func (*drawFn) ProcessElement(k int64, emit func(mkl.TargetRows)) { emit(draw(k)) }

// keepFn keeps what a pipeline that runs in this process returned.
type keepFn struct{}

var (
	mu   sync.Mutex
	kept []Sums
)

func (*keepFn) ProcessElement(s Sums) {
	mu.Lock()
	defer mu.Unlock()
	kept = append(kept, s)
}

func newPlan(t testing.TB, landmarks int) *mkl.Plan {
	sample := draw(4)
	g := mkl.LandmarkGP{Landmarks: &mkl.Landmarks{Count: landmarks}}
	plan, err := g.Begin(t.Context(), []mkl.View{{X: sample.X[0], Kernel: kernel.RBF{Width: 0.7}}}, sample.Y)
	require.NoError(t, err)
	return plan
}

// goroutines sums the blocks by two workers.
func goroutines(t testing.TB, plan *mkl.Plan, blocks int64) *stat.Statistic {
	total, next := &stat.Statistic{}, make(chan int64)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			b, err := plan.Builder(1)
			assert.NoError(t, err)
			for k := range next {
				r := draw(k)
				assert.NoError(t, b.Add(r.Y, r.X...))
				assert.NoError(t, b.EndBlock())
			}
			s, err := b.Finish()
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			assert.NoError(t, total.Merge(s))
		})
	}
	for k := range blocks {
		next <- k
	}
	close(next)
	wg.Wait()
	return total
}

// onPrism sums the blocks by a pipeline in this process that has them from so many sources.
func onPrism(t testing.TB, plan *mkl.Plan, blocks, sources int64) *stat.Statistic {
	beam.Init()
	kept = nil
	file := filepath.Join(t.TempDir(), "plan")
	var saved bytes.Buffer
	require.NoError(t, plan.Save(&saved))
	require.NoError(t, os.WriteFile(file, saved.Bytes(), 0o666))
	p, s := beam.NewPipelineWithRoot()
	numbers := make([][]any, sources)
	for k := range blocks {
		numbers[k%sources] = append(numbers[k%sources], k)
	}
	var rows []beam.PCollection
	for _, some := range numbers {
		rows = append(rows, beam.ParDo(s, &drawFn{}, beam.Reshuffle(s, beam.Create(s, some...))))
	}
	sums, written := Sum(s, file, rows...), filepath.Join(t.TempDir(), "sums")
	beam.ParDo0(s, &keepFn{}, sums)
	Write(s, file, "drawn", written, sums)
	_, err := prism.Execute(t.Context(), p)
	require.NoError(t, err)
	text, err := os.ReadFile(written)
	require.NoError(t, err)
	back, err := mkl.ReadSums(bytes.NewReader(text))
	require.NoError(t, err)
	require.Len(t, back.Parts, 1)
	assert.Equal(t, "drawn", back.Parts[0].Name)
	assert.Equal(t, plan.Hash(), back.Plan.Hash())
	require.Len(t, kept, 1)
	assert.Equal(t, kept[0].Hash(), back.Total.Hash(), "the file has the sums")
	return kept[0].Statistic
}

func TestPipelineHasTheSumsOfGoroutines(t *testing.T) {
	plan := newPlan(t, 10)
	want, got := goroutines(t, plan, 12), onPrism(t, plan, 12, 1)
	assert.EqualValues(t, 10*stat.BlockSamples+2*1000, got.Samples())
	assert.Equal(t, want.Hash(), got.Hash())
	assert.Equal(t, want.Hash(), onPrism(t, plan, 12, 3).Hash())
	model, err := plan.Fit(t.Context(), mkl.PlanFitting{}, got)
	require.NoError(t, err)
	assert.EqualValues(t, got.Samples(), model.Observations())
}

func TestRowsCoder(t *testing.T) {
	r := draw(4)
	r.X = append(r.X, r.X[0].Slice(0, r.X[0].Rows, 1, 3)) // whose rows do not lie one behind the other
	b := encodeRows(r)
	back, err := decodeRows(b)
	require.NoError(t, err)
	assert.Equal(t, b, encodeRows(back))
	assert.Equal(t, r.Y, back.Y)
	assert.Equal(t, r.X[1].Row(7), back.X[1].Row(7))
	for _, n := range []int{0, 3, 7, 8, 100, len(b) - 1} {
		_, err := decodeRows(b[:n])
		assert.Error(t, err, "%d bytes", n)
	}
	// Sizes that the bytes cannot hold, whose product overflows.
	most := bytes.Repeat([]byte{0xff}, 12)
	_, err = decodeRows(most)
	assert.Error(t, err)
	copy(b[8+8*len(r.Y):], most[:4])
	_, err = decodeRows(b)
	assert.ErrorContains(t, err, "1000×")
}

// BenchmarkPass compares a pass of two goroutines with one of Prism, with 500 features. Prism hands out
// the elements of one source as one bundle, which one goroutine does; so it has two sources.
func BenchmarkPass(b *testing.B) {
	plan := newPlan(b, 500)
	for _, blocks := range []int64{24, 240} {
		for _, c := range []struct {
			name string
			pass func() *stat.Statistic
		}{
			{"goroutines", func() *stat.Statistic { return goroutines(b, plan, blocks) }},
			{"Prism", func() *stat.Statistic { return onPrism(b, plan, blocks, 2) }},
		} {
			b.Run(fmt.Sprintf("%s/%d blocks", c.name, blocks), func(b *testing.B) {
				var n int64
				user := cputime.User()
				for b.Loop() {
					n += c.pass().Samples()
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "samples/s")
				b.ReportMetric((cputime.User()-user)/float64(b.N), "user-s/op")
			})
		}
	}
}
