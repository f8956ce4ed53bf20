package nearest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
)

func draw(n, d int, seed uint64) la.Matrix[float32] {
	src := rand.New(rand.NewPCG(seed, 1))
	x := la.NewMatrix[float32](n, d)
	for i := range x.Data {
		x.Data[i] = float32(src.NormFloat64())
	}
	return x
}

// naive finds neighbours by sorting all distances.
func naive(x la.Matrix[float32], q []float32, before, m int) []int32 {
	var h few
	h.reset(m)
	for i := range min(before, x.Rows) {
		s := float32(0)
		for f, v := range x.Row(i) {
			t := v - q[f]
			s += t * t
		}
		if s <= h.most {
			h.offer(s, int32(i))
		}
	}
	keys := h.sorted()
	out := make([]int32, m)
	for i := range out {
		out[i] = -1
		if i < len(keys) {
			out[i] = rowOf(keys[i])
		}
	}
	return out
}

// shared returns the share of the rows in want that are in got too.
func shared(want, got []int32) (share float64) {
	for _, v := range want {
		if slices.Contains(got, v) {
			share += 1 / float64(len(want))
		}
	}
	return share
}

func TestSearchFindsNearlyAllNeighbours(t *testing.T) {
	const n, m = 12_000, 32
	x, q := draw(n, 5, 1), draw(200, 5, 2)
	ix := New(2, x, m)
	require.Less(t, ix.Visited(), 0.5)
	before := make([]int, q.Rows)
	for i := range before {
		before[i] = i * n / len(before)
	}
	for _, limit := range [][]int{nil, before} {
		near := make([]int32, q.Rows*m)
		ix.Search(2, q, limit, m, near)
		found := 0.0
		for i := range q.Rows {
			below := n
			if limit != nil {
				below = limit[i]
			}
			found += shared(naive(x, q.Row(i), below, m), near[i*m:][:m]) / float64(q.Rows)
		}
		require.Greater(t, found, 0.975)
	}
}

func TestSearchOfFewRowsIsExact(t *testing.T) {
	x, q := draw(500, 3, 1), draw(90, 3, 2)
	copy(x.Row(7), x.Row(9)) // equal distances
	copy(q.Row(0), x.Row(7))
	x.Set(11, 1, float32(math.NaN()))
	ix := New(1, x, 8)
	before := make([]int, q.Rows)
	for i := range before {
		before[i] = 3 * i
	}
	near := make([]int32, q.Rows*8)
	ix.Search(1, q, before, 8, near)
	for i := range q.Rows {
		require.Equal(t, naive(x, q.Row(i), before[i], 8), near[i*8:][:8], "query %d", i)
	}
	ix.Search(1, q, nil, 8, near)
	for i := range q.Rows {
		require.Equal(t, naive(x, q.Row(i), x.Rows, 8), near[i*8:][:8], "query %d", i)
	}
	require.Equal(t, []int32{7, 9}, near[:2])
}

func TestSearchHasTheSameRowsForEveryNumberOfWorkers(t *testing.T) {
	x, q := draw(5000, 4, 1), draw(300, 4, 2)
	want := make([]int32, q.Rows*20)
	New(1, x, 20).Search(1, q, nil, 20, want)
	for _, workers := range []int{2, 7} {
		got := make([]int32, q.Rows*20)
		New(workers, x, 20).Search(workers, q, nil, 20, got)
		require.Equal(t, want, got)
	}
	one := make([]int32, 20) // alone
	New(1, x, 20).Search(1, q.Slice(5, 6, 0, 4), nil, 20, one)
	require.Equal(t, want[100:120], one)
}

// One row alone has the neighbours that it has among others: in few cells and in many, with ties, and with too few rows.
func TestSingleFindsWhatSearchFinds(t *testing.T) {
	for _, n := range []int{5, 64, 700, 5000} {
		x := draw(n, 3, 7)
		for i := 1; i < n; i += 5 {
			copy(x.Row(i), x.Row(i-1))
		}
		const m = 16
		ix := New(1, x, m)
		one := ix.Single()
		s := one.NewScratch()
		q := draw(100, 3, 8)
		copy(q.Row(0), x.Row(1))
		want, got := make([]int32, q.Rows*m), make([]int32, m)
		ix.Search(1, q, nil, m, want)
		for i := range q.Rows {
			one.Nearest(s, q.Row(i), got)
			require.Equal(t, want[i*m:(i+1)*m], got, "%d rows, query %d", n, i)
		}
		require.Zero(t, testing.AllocsPerRun(20, func() { one.Nearest(s, q.Row(1), got) }))
	}
}

// On a lattice many rows are at equal distances. The first of them in the cells that are visited count, whatever the order of the cells.
func TestEqualDistancesAcrossCells(t *testing.T) {
	const n, m = 4096, 10
	x := la.NewMatrix[float32](n, 3)
	for i, p := range rand.New(rand.NewPCG(3, 1)).Perm(n) {
		copy(x.Row(i), []float32{float32(p % 16), float32(p / 16 % 16), float32(p / 256)})
	}
	ix := New(2, x, m)
	l := &ix.levels[len(ix.levels)-1]
	require.Greater(t, l.visits, 1)
	require.Less(t, ix.Visited(), 0.9)
	near, one := make([]int32, n*m), make([]int32, m)
	ix.Search(2, x, nil, m, near)
	single := ix.Single()
	s := single.NewScratch()
	d := la.NewMatrix[float32](n, l.centres.Rows)
	la.SqDist(&la.Workspace{Workers: 1}, x, l.centres, d)
	for q := range n {
		var rows []int
		for _, c := range nearer(l.centres.Rows, func(c int) float64 { return float64(d.Row(q)[c]) })[:l.visits] {
			for _, r := range l.row[l.start[c]:l.start[c+1]] {
				rows = append(rows, int(r))
			}
		}
		slices.Sort(rows)
		want := make([]int32, m)
		for j, at := range nearer(len(rows), func(at int) float64 { return squared(x.Row(q), x.Row(rows[at])) })[:m] {
			want[j] = int32(rows[at])
		}
		require.Equal(t, want, near[q*m:][:m], "query %d", q)
		single.Nearest(s, x.Row(q), one)
		require.Equal(t, want, one, "query %d alone", q)
	}
}

// A single earlier row is found.
func TestSearchOfOneEarlierRow(t *testing.T) {
	x := draw(40, 2, 9)
	near := make([]int32, 2)
	New(1, x, 2).Search(1, x.Slice(5, 6, 0, 2), []int{1}, 2, near)
	require.Equal(t, []int32{0, -1}, near)
}

// A search for no rows finds none.
func TestSearchForNoRows(t *testing.T) {
	x := draw(5000, 2, 9)
	ix := New(1, x, 0)
	ix.Search(1, x, nil, 0, nil)
	single := ix.Single()
	single.Nearest(single.NewScratch(), x.Row(0), nil)
}
