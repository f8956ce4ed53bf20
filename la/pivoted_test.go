package la

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// semidefinite returns X·D·Xᵀ for a random n×rank matrix X, D falling from 1 to least; its
// strict upper triangle is NaN.
func semidefinite[T Float](rng *rand.Rand, n, rank int, least float64) Matrix[T] {
	x, a := NewMatrix[T](n, rank), guarded[T](n, n)
	for i := range n {
		for j := range rank {
			x.Set(i, j, T(rng.NormFloat64()*math.Pow(least, float64(j)/float64(2*max(1, rank-1)))))
		}
	}
	for i := range n {
		for j := range i + 1 {
			a.Set(i, j, Dot(x.Row(i), x.Row(j)))
		}
	}
	return a
}

// refCholeskyPivoted is the textbook loop, which updates all that is left after each pivot.
func refCholeskyPivoted(a Matrix[float64], tolerance float64, perm []int) (rank int) {
	n := a.Rows
	full := symmetric(a)
	l := NewMatrix[float64](n, n)
	var largest float64
	for i := range n {
		perm[i] = i
		largest = max(largest, full.At(i, i))
	}
	for ; rank < n; rank++ {
		best := rank
		for i := rank; i < n; i++ {
			if full.At(perm[i], perm[i]) > full.At(perm[best], perm[best]) {
				best = i
			}
		}
		perm[rank], perm[best] = perm[best], perm[rank]
		p := perm[rank]
		value := full.At(p, p)
		if value <= tolerance*largest {
			break
		}
		for i := range n {
			l.Set(i, rank, full.At(i, p)/math.Sqrt(value))
		}
		for _, i := range perm[:rank] {
			l.Set(i, rank, 0)
		}
		for i := range n {
			for j := range n {
				full.Set(i, j, full.At(i, j)-l.At(i, rank)*l.At(j, rank))
			}
		}
	}
	for i, p := range perm {
		copy(a.Row(i)[:i+1], l.Row(p))
	}
	return rank
}

func TestCholeskyPivotedAgainstTheTextbookLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for _, s := range []struct{ n, rank int }{
		{1, 1}, {2, 1}, {3, 3}, {17, 5}, {31, 31}, {32, 20}, {33, 33}, {64, 64}, {65, 33}, {90, 32}, {97, 70}, {130, 130},
	} {
		t.Run(fmt.Sprintf("n=%d rank=%d", s.n, s.rank), func(t *testing.T) {
			a := semidefinite[float64](rng, s.n, s.rank, 1e-3)
			want, wantPerm := clone(a), make([]int, s.n)
			wantRank := refCholeskyPivoted(want, 1e-10, wantPerm)
			got, perm := clone(a), make([]int, s.n)
			rank, err := CholeskyPivoted(nil, got, 1e-10, perm)
			require.NoError(t, err)
			assert.Equal(t, s.rank, rank)
			assert.Equal(t, wantRank, rank)
			assert.Equal(t, wantPerm[:rank], perm[:rank])
			requireGuards(t, got)
			row := make([]int, s.n) // where the two put a row behind the pivots may differ
			for i, p := range wantPerm {
				row[p] = i
			}
			for i, p := range perm {
				for j := range i + 1 {
					require.InDelta(t, want.At(row[p], min(j, row[p])), got.At(i, j), 1e-9, "(%d, %d)", i, j)
				}
				for j := i + 1; j < s.n; j++ {
					require.True(t, math.IsNaN(got.At(i, j)), "upper triangle written at (%d, %d)", i, j)
				}
			}
		})
	}
}

// TestCholeskyPivotedLeavesLittle holds A − L·Lᵀ to the tolerance, for matrices whose
// eigenvalues fall through all scales, and the default tolerance to round-off.
func TestCholeskyPivotedLeavesLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	for _, tolerance := range []float64{0, 1e-12, 1e-6, 1e-2} {
		const n = 120
		a := semidefinite[float64](rng, n, n, 1e-18)
		l, perm := clone(a), make([]int, n)
		rank, err := CholeskyPivoted(nil, l, tolerance, perm)
		require.NoError(t, err)
		assert.Less(t, rank, n)
		var largest, worst float64
		for i := range n {
			largest = max(largest, a.At(i, i))
			for j := range i + 1 {
				p, q := perm[i], perm[j]
				rest := a.At(max(p, q), min(p, q)) - Dot(l.Row(i)[:j+1], l.Row(j)[:j+1])
				worst = max(worst, math.Abs(rest))
			}
			if i > 0 && i < rank {
				assert.LessOrEqual(t, l.At(i, i), l.At(i-1, i-1)*(1+1e-7))
			}
		}
		limit := tolerance * largest
		if tolerance == 0 {
			limit = n * 0x1p-53 * largest
		}
		assert.LessOrEqual(t, worst, limit+4*n*0x1p-53*largest, "tolerance %g", tolerance)
		assert.Greater(t, worst, limit/1e3, "tolerance %g: more pivots than needed", tolerance)
	}
}

func TestCholeskyPivotedIsTheSameEverywhere(t *testing.T) {
	floats(t, testPivoted[float64], testPivoted[float32])
}

func testPivoted[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	sizes := []int{0, 1, 5, 31, 32, 33, 65, 100, 200}
	if testing.Short() {
		sizes = sizes[:len(sizes)-1]
	}
	for _, n := range sizes {
		a := semidefinite[T](rng, n, n/2+1, 1e-2)
		perm := make([]int, n)
		everywhere(t, []int{1, 3}, func(w *Workspace) []T {
			got := cloneStorage(a)
			rank, err := CholeskyPivoted(w, got, 0, perm)
			require.NoError(t, err)
			out := append([]T{T(rank)}, got.Data...)
			for _, p := range perm {
				out = append(out, T(p))
			}
			return out
		}, "n=%d", n)
	}
}

func TestCholeskyPivotedErrors(t *testing.T) {
	for name, v := range map[string]float64{"NaN": math.NaN(), "infinite": math.Inf(1)} {
		for _, at := range [][2]int{{40, 40}, {40, 3}} {
			a := spd[float64](rand.New(rand.NewPCG(11, 4)), 50)
			a.Set(at[0], at[1], v)
			_, err := CholeskyPivoted(nil, a, 0, make([]int, 50))
			var e *PivotError
			require.True(t, errors.As(err, &e), "%s at %v: %v", name, at, err)
			assert.False(t, e.Indefinite())
			assert.Contains(t, at, e.Index, "the row or, the matrix being symmetric, the column")
		}
	}
	perm := make([]int, 3)
	rank, err := CholeskyPivoted(nil, NewMatrix[float64](3, 3), 0, perm)
	require.NoError(t, err)
	assert.Zero(t, rank)
	assert.PanicsWithValue(t, "la: perm: length 2 where 3 is needed", func() {
		_, _ = CholeskyPivoted(nil, NewMatrix[float64](3, 3), 0, perm[:2])
	})
}

func BenchmarkCholeskyPivoted(b *testing.B) {
	sized(b, []int{256, 512, 1024, 2048}, func(b *testing.B, n int) {
		a := symmetric(lower(spd[float64](rand.New(rand.NewPCG(1, uint64(n))), n)))
		c, w, perm := a.Clone(), &Workspace{Workers: 1}, make([]int, n)
		perSecond(b, float64(n)*float64(n)*float64(n)/3, "GFLOP/s", func() {
			c.CopyFrom(a)
			if _, err := CholeskyPivoted(w, c, 0, perm); err != nil {
				b.Fatal(err)
			}
		})
	})
}
