package mkl

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Of every estimator: kernels rounded to float32 move predictions by little, and those in a
// file and those in memory give the same bits for every number of workers. No file is left.
func TestKernelStorage(t *testing.T) {
	views, y, a, b := twoInputs(4, 50)
	eachEstimator(t, func(t *testing.T, e estimator) {
		if e.open {
			t.Skip("it has no Storage")
		}
		gibbs := strings.Contains(e.name, "Gibbs") // draws part sooner or later
		if gibbs || e.states {
			testkit.NotShort(t)
		}
		dir := t.TempDir()
		s := fitting{Fitting: Fitting{Workers: 1}, Ascent: Ascent{MaxSweeps: e.sweeps(10), Tolerance: -1}, allowDuplicates: true}
		predict := func(k KernelStorage, workers int) ([]float64, error) {
			s.storage, s.Workers = k, workers
			m, err := e.fit(t.Context(), s, views, y)
			if err != nil {
				return nil, err
			}
			p, err := e.predict(m, 1, a, b)
			require.NoError(t, err)
			return p, nil
		}
		rounded, err := predict(KernelStorage{Float32: true}, 1)
		require.NoError(t, err)
		want, err := predict(KernelStorage{}, 1)
		require.NoError(t, err)
		var largest, moved float64
		for i, v := range want {
			largest, moved = max(largest, math.Abs(v)), max(moved, math.Abs(v-rounded[i]))
		}
		if !gibbs {
			assert.Less(t, moved, 1e-4*largest)
		}
		assert.Positive(t, moved)
		for workers := range 2 {
			got, err := predict(KernelStorage{Directory: dir}, 1+2*workers)
			require.NoError(t, err)
			assert.Equal(t, rounded, got)
		}
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, left)
	})
}

// Samples of more than one tile, and kernels that are not symmetric.
func TestRoundedKernelsOfManySamples(t *testing.T) {
	testkit.NotShort(t)
	views, y, a, b := twoInputs(5, 300)
	landmarks := normal(rand.New(rand.NewPCG(1, 2)), 300, 20)
	for name, views := range map[string][]View{"square": views, "rectangular": {{X: landmarks, Kernel: kernel.Precomputed{}}}} {
		x := []Features{a, b}
		if name == "rectangular" {
			x = []Features{landmarks}
		}
		r := Regression{Ascent: Ascent{MaxSweeps: 5, Tolerance: -1}}
		want, err := r.Fit(t.Context(), views, y)
		require.NoError(t, err)
		r.Storage.Float32 = true
		got, err := r.Fit(t.Context(), views, y)
		require.NoError(t, err)
		wantMean, wantSD, err := want.Predict(x...)
		require.NoError(t, err)
		mean, sd, err := got.Predict(x...)
		require.NoError(t, err)
		for i := range mean {
			assert.InDelta(t, wantMean[i], mean[i], 1e-5*wantSD[i], name)
			assert.InEpsilon(t, wantSD[i], sd[i], 1e-5, name)
		}
	}
}

func TestKernelStorageErrors(t *testing.T) {
	views, y, _, _ := twoInputs(3, 30)
	r := Regression{Storage: KernelStorage{Directory: "no such directory"}}
	_, err := r.Fit(t.Context(), views, y)
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, "mkl: Storage: ")

	dir := t.TempDir()
	r.Storage.Directory = dir
	same := []View{views[0], views[0]}
	_, err = r.Fit(t.Context(), same, y)
	assert.ErrorAs(t, err, new(*DuplicateError))
	large := normal(rand.New(rand.NewPCG(1, 2)), 30, 2)
	for i := range large.Data {
		large.Data[i] *= 1e25
	}
	_, err = r.Fit(t.Context(), []View{{X: views[0].X, Input: "x1", Kernel: kernel.RBF{Width: 1}}, {X: large, Input: "x2", Kernel: kernel.Linear{}}}, y)
	assert.ErrorContains(t, err, "which float32 does not hold")
	r.Slopes = func(Slopes) {}
	_, err = r.Fit(t.Context(), views, y)
	assert.ErrorContains(t, err, "leave out Storage")
	_, err = MultiGP{Storage: KernelStorage{Float32: true}}.Fit(t.Context(), []View{{X: views[0].X, Kernel: kernel.RBF{ARD: true}}}, y)
	assert.ErrorContains(t, err, "ARD: kernels whose widths are learned are held as float64 in memory")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// The file has no name while it is written and used, where the system allows that.
func TestTheFileOfKernelsHasNoName(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" {
		t.Skip("the system keeps the name of an open file")
	}
	dir := t.TempDir()
	views, y, _, _ := twoInputs(3, 30)
	var sweeps int
	empty := func() {
		left, err := os.ReadDir(dir)
		assert.NoError(t, err)
		assert.Empty(t, left)
	}
	var once sync.Once
	views = append(views, View{X: views[0].X, Input: views[0].Input, Kernel: kernel.Func{F: func(x, y []float64) float64 {
		once.Do(empty)
		return x[0]*y[0] + x[1]*y[1]
	}}})
	r := Regression{Fitting: Fitting{Progress: func(Progress) {
		empty()
		sweeps++
	}}, Ascent: Ascent{MaxSweeps: 2}, Storage: KernelStorage{Directory: dir}}
	_, err := r.Fit(t.Context(), views, y)
	require.NoError(t, err)
	assert.Equal(t, 2, sweeps)
}

// A fit that is refused says what its kernels would take elsewhere.
func TestMemoryErrorNamesKernelStorage(t *testing.T) {
	views, y, _, _ := twoInputs(3, 300)
	for range 4 {
		views = append(views, views...)
	}
	r := Regression{Fitting: Fitting{Workers: 1}, AllowDuplicates: true}
	size := FitSize{Samples: 300, Kernels: len(views), Outputs: 1}
	all := r.EstimateMemory(size)
	r.Storage.Float32 = true
	rounded := r.EstimateMemory(size)
	r.Storage = KernelStorage{Directory: "d"}
	file := r.EstimateMemory(size)
	kernels := int64(8 * size.Kernels * 300 * 300)
	assert.Equal(t, kernels, all-file)
	assert.InEpsilon(t, 0.25*(1+256.0/300), float64(rounded-file)/float64(kernels), 1e-9)

	r.Storage = KernelStorage{}
	for limit, want := range map[int64]string{rounded: "Storage in float32 would leave", file: "Storage in a file would leave"} {
		r.MemoryLimit = limit
		_, err := r.Fit(t.Context(), views, y)
		var e *MemoryError
		require.True(t, errors.As(err, &e))
		assert.Equal(t, []int64{all, rounded, file}, []int64{e.Need, e.Float32, e.File})
		assert.ErrorContains(t, err, want)
	}

	// Where the kernels cannot be held elsewhere it says nothing of that.
	learned := []View{{X: views[0].X, Kernel: kernel.RBF{ARD: true}}}
	none := fitting{Fitting: Fitting{MemoryLimit: 1000}}
	_, ofProcess := MultiGP{Fitting: none.Fitting, Climb: none.climb(), Storage: none.storage}.Fit(t.Context(), learned, y)
	none.slopes = func(Slopes) {}
	_, ofSlopes := Regression{Fitting: none.Fitting, Ascent: none.Ascent, Storage: none.storage, Slopes: none.slopes}.Fit(t.Context(), views, y)
	for _, err := range []error{ofProcess, ofSlopes} {
		var e *MemoryError
		require.True(t, errors.As(err, &e))
		assert.Zero(t, e.Float32+e.File)
	}
}
