package vi

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/mapped"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
)

// float32s returns a random matrix whose entries float32 holds.
func float32s(src *rand.Rand, rows, cols int, symmetric bool) la.Matrix[float64] {
	k := testkit.Normal(src, rows, cols)
	for i, v := range k.Data {
		k.Data[i] = float64(float32(v))
	}
	if symmetric {
		k.MirrorLower()
	}
	return k
}

// sameRows reports whether the rows of a and b have the same numbers.
func sameRows(a, b la.Matrix[float64]) bool {
	for i := range a.Rows {
		if !slices.Equal(a.Row(i), b.Row(i)) {
			return false
		}
	}
	return a.Rows == b.Rows
}

func create(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	return f
}

// build returns what b makes of the kernels.
func build(t *testing.T, b *RoundedBuilder, err error, ks []la.Matrix[float64]) *Rounded {
	t.Helper()
	require.NoError(t, err)
	for _, k := range ks {
		require.NoError(t, b.Add(k))
	}
	k, err := b.Finish()
	require.NoError(t, err)
	b.Abandon() // removes no file that is finished
	return k
}

// everyWay returns the kernels in memory, in a mapped file and in one that is read.
func everyWay(t *testing.T, ks []la.Matrix[float64]) map[string]*Rounded {
	t.Helper()
	P, D, N := len(ks), ks[0].Rows, ks[0].Cols
	out := map[string]*Rounded{}
	b, err := NewRounded(P, D, N)
	out["memory"] = build(t, b, err, ks)
	path := filepath.Join(t.TempDir(), "kernels")
	b, err = CreateRounded(create(t, path), P, D, N)
	out["mapped"] = build(t, b, err, ks)
	again, err := OpenRounded(path)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	f, err := os.Open(path)
	require.NoError(t, err)
	again.file = mapped.Unmapped(f)
	out["read"] = again
	t.Cleanup(func() {
		for _, k := range out {
			assert.NoError(t, k.Err())
			assert.NoError(t, k.Close())
		}
	})
	return out
}

// On entries that float32 holds, the products equal the products of dense kernels but for the order
// of their sums, with the same bits wherever the kernels are and for every number of workers.
func TestRoundedAgreesWithDense(t *testing.T) {
	for _, s := range []struct {
		D, N, L   int
		symmetric []bool
	}{
		{1, 1, 1, []bool{true}},
		{5, 5, 2, []bool{true, false, true}},
		{255, 255, 1, []bool{true, true}},
		{256, 256, 3, []bool{true}},
		{257, 257, 1, []bool{false, true}},
		{530, 530, 2, []bool{true, true}},
		{3, 600, 1, []bool{false, false}},
		{300, 2, 2, []bool{false}},
		{270, 1100, 1, []bool{false}},
	} {
		t.Run(fmt.Sprintf("%d×%d", s.D, s.N), func(t *testing.T) {
			if s.D*s.N > 300*300 {
				testkit.NotShort(t)
			}
			P := len(s.symmetric)
			src := rand.New(rand.NewPCG(7, uint64(s.D*s.N)))
			var ks []la.Matrix[float64]
			for _, symmetric := range s.symmetric {
				ks = append(ks, float32s(src, s.D, s.N, symmetric))
			}
			dense, err := NewDense(ks...)
			require.NoError(t, err)
			a, g := testkit.Normal(src, s.L, s.D), testkit.Normal(src, s.L*P, s.N)
			b, weights := testkit.Normal(src, s.D, s.N), testkit.Normal(src, 1, P).Row(0)
			rows, cols := []int{s.D - 1, 0, s.D / 2}, []int{s.N / 3, s.N - 1}
			first := s.N / 2
			all := func(k Kernels, workers int) map[string]la.Matrix[float64] {
				w := &la.Workspace{Workers: workers}
				out := map[string]la.Matrix[float64]{
					"Project": testkit.Normal(src, s.L*P, s.N), "Combine": testkit.Normal(src, s.L, s.D),
					"GramSum": la.NewMatrix[float64](s.D, s.D), "Sum": testkit.Normal(src, s.D, s.N),
					"Inner": testkit.Normal(src, 1, P), "Columns": testkit.Normal(src, s.N-first, s.D),
				}
				k.Project(w, a, out["Project"])
				k.Combine(w, g, out["Combine"])
				k.GramSum(w, out["GramSum"])
				k.Sum(w, weights, out["Sum"])
				k.Inner(w, b, out["Inner"].Row(0))
				k.Columns(P-1, first, out["Columns"])
				if s.D == s.N {
					out["Quad"] = testkit.Normal(src, 1, P)
					k.Quad(w, a.Row(0), out["Quad"].Row(0))
				}
				return out
			}
			want := all(dense, 1)
			var before map[string]la.Matrix[float64]
			for name, k := range everyWay(t, ks) {
				p, d, n := k.Dims()
				assert.Equal(t, []int{P, s.D, s.N}, []int{p, d, n})
				for _, workers := range []int{1, 3} {
					got := all(k, workers)
					for what, x := range got {
						switch what {
						case "GramSum", "Sum", "Columns":
							assert.True(t, sameRows(want[what], x), "%s of %v, %s", what, s, name)
						default:
							testkit.RequireClose(t, what, want[what], x, 1e-12)
						}
						if before != nil {
							assert.True(t, sameRows(before[what], x), "%s of %v, %s, %d workers", what, s, name, workers)
						}
					}
					before = got
				}
				assert.Equal(t, dense.Select(rows, cols), k.Select(rows, cols))
				assert.Equal(t, P == 1, k.Equal(0, P-1))
				assert.True(t, k.Equal(P-1, P-1))
			}
		})
	}
}

// A symmetric kernel takes half as many numbers, and those half the bytes.
func TestRoundedKeepsOneTriangle(t *testing.T) {
	k := float32s(rand.New(rand.NewPCG(1, 1)), 2*tileOrder+3, 2*tileOrder+3, true)
	path := filepath.Join(t.TempDir(), "kernels")
	b, err := CreateRounded(create(t, path), 1, k.Rows, k.Cols)
	require.NoError(t, build(t, b, err, []la.Matrix[float64]{k}).Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, roundedPage+4*(3*tileOrder*tileOrder+3*k.Cols), info.Size())
}

func TestRoundedBuilderNamesWhatIsWrong(t *testing.T) {
	bad := func(v float64) la.Matrix[float64] {
		k := la.NewMatrix[float64](2, 3)
		k.Set(1, 2, v)
		return k
	}
	for want, k := range map[string]la.Matrix[float64]{
		"vi: kernel 0: 3×2 where 2×3 is needed":                             la.NewMatrix[float64](3, 2),
		"vi: kernel 0: entry (1, 2) is NaN, which float32 does not hold":    bad(math.NaN()),
		"vi: kernel 0: entry (1, 2) is +Inf, which float32 does not hold":   bad(math.Inf(1)),
		"vi: kernel 0: entry (1, 2) is -4e+38, which float32 does not hold": bad(-4e38),
	} {
		b, err := NewRounded(1, 2, 3)
		require.NoError(t, err)
		assert.EqualError(t, b.Add(k), want)
	}
	_, err := NewRounded(1, 0, 3)
	assert.EqualError(t, err, "vi: kernels: 1 of 0×3")
	b, err := NewRounded(2, 2, 3)
	require.NoError(t, err)
	require.NoError(t, b.Add(bad(1)))
	_, err = b.Finish()
	assert.EqualError(t, err, "vi: kernels: 1 of 2 were added")
	require.NoError(t, b.Add(bad(1)))
	assert.EqualError(t, b.Add(bad(1)), "vi: kernel 2: there are 2")
}

// A file that is not whole is not opened, and one that was not finished is removed.
func TestFilesOfKernels(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kernels")
	k := float32s(rand.New(rand.NewPCG(1, 1)), 20, 20, true)
	b, err := CreateRounded(create(t, path), 2, 20, 20)
	require.NoError(t, err)
	require.NoError(t, b.Add(k))
	_, err = b.Finish()
	assert.EqualError(t, err, "vi: kernels: 1 of 2 were added")
	assert.NoFileExists(t, path)

	b, err = CreateRounded(create(t, path), 1, 20, 20)
	require.NoError(t, build(t, b, err, []la.Matrix[float64]{k}).Close())
	unused := filepath.Join(dir, "unused")
	_, err = CreateRounded(create(t, unused), 1, 0, 20)
	assert.EqualError(t, err, "vi: kernels: 1 of 0×20")
	assert.NoFileExists(t, unused)

	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for name, forge := range map[string]func(x []byte) []byte{
		"short":       func(x []byte) []byte { return x[:len(x)-4] },
		"long":        func(x []byte) []byte { return append(x, 0) },
		"header only": func(x []byte) []byte { return x[:40] },
		"empty":       func([]byte) []byte { return nil },
		"entry":       func(x []byte) []byte { x[len(x)-3] ^= 1; return x },
		"magic":       func(x []byte) []byte { x[0]++; return x },
		"unfinished":  func(x []byte) []byte { clear(x[:roundedPage]); return x },
	} {
		forged := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(forged, forge(append([]byte(nil), whole...)), 0o600))
		_, err := OpenRounded(forged)
		assert.ErrorContains(t, err, forged, name)
	}
	for i := range 100 { // every byte of the header counts
		x := append([]byte(nil), whole...)
		if x[i] ^= 0x81; i >= len(roundedMagic)+3+3*8+32+1 {
			break
		}
		forged := filepath.Join(dir, strconv.Itoa(i))
		require.NoError(t, os.WriteFile(forged, x, 0o600))
		_, err := OpenRounded(forged)
		assert.Error(t, err, "byte %d", i)
	}
}

// A file that cannot be read any more is an error of the kernels, and no crash.
func TestKernelsThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernels")
	k := float32s(rand.New(rand.NewPCG(1, 1)), 20, 20, true)
	b, err := CreateRounded(create(t, path), 1, 20, 20)
	r := build(t, b, err, []la.Matrix[float64]{k})
	require.NoError(t, r.Close())
	require.NoError(t, os.Truncate(path, roundedPage+8))
	f, err := os.Open(path)
	require.NoError(t, err)
	r.file = mapped.Unmapped(f)
	require.NoError(t, r.Err())
	sum := testkit.Normal(rand.New(rand.NewPCG(1, 2)), 20, 20)
	r.Sum(nil, []float64{1}, sum)
	assert.ErrorIs(t, r.Err(), io.EOF)
	assert.ErrorContains(t, r.Err(), path)
	assert.Zero(t, sum.At(3, 3))
	require.NoError(t, r.Close())
}
