package nearest

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// squared is the squared distance of two rows, summed one by one.
func squared(a, b []float32) (s float64) {
	for f, v := range a {
		s += (float64(v) - float64(b[f])) * (float64(v) - float64(b[f]))
	}
	return s
}

// nearestCentre is the first of the nearest centres.
func nearestCentre(row []float32, centres la.Matrix[float32]) (best int) {
	for c := range centres.Rows {
		if squared(row, centres.Row(c)) < squared(row, centres.Row(best)) {
			best = c
		}
	}
	return best
}

func TestAssignAgainstAllDistances(t *testing.T) {
	for _, n := range []int{1, together - 1, together, together + 1, 2*together + 3} {
		x, centres := draw(n, 3, 3), draw(9, 3, 4)
		copy(centres.Row(7), centres.Row(2)) // the first of equal ones counts
		copy(x.Row(0), centres.Row(7))
		cell := make([]int32, n)
		assign(2, x, centres, cell)
		for i, c := range cell {
			require.EqualValues(t, nearestCentre(x.Row(i), centres), c, "row %d of %d", i, n)
		}
		x.Set(0, 1, float32(math.NaN()))
		cell[0] = 5
		assign(1, x, centres, cell)
		assert.Zero(t, cell[0], "a row without distances")
	}
}

func TestMoveToMeans(t *testing.T) {
	x := la.MatrixOf(4, 2, []float32{1, 2, 3, 6, 5, 10, 7, -1})
	centres := la.MatrixOf(3, 2, []float32{9, 9, 9, 9, 8, 8})
	move(x, []int32{1, 1, 1, 0}, centres)
	assert.Equal(t, []float32{7, -1, 3, 6, 8, 8}, centres.Data, "of one row, of three, and of none")
}

// The cells hold each row once, in order, beside the nearest of the centres, and none is empty.
func TestCellsHoldEveryRow(t *testing.T) {
	for _, n := range []int{0, 1, 40, fewest, fewest + 1, 3000} {
		x := draw(n, 2, 6)
		for i := 1; i < n; i++ {
			if i%50 > 3 { // so many equal rows that some centres have none
				copy(x.Row(i), x.Row(i-1))
			}
		}
		l := level{n: n}
		l.gather(2, x)
		if n <= fewest {
			assert.LessOrEqual(t, l.centres.Rows, 1, "few rows are not worth cells")
		} else {
			assert.Greater(t, l.centres.Rows, 1)
		}
		require.EqualValues(t, 0, l.start[0])
		require.EqualValues(t, n, l.start[l.centres.Rows])
		seen := slices.Clone(l.row)
		slices.Sort(seen)
		for c := range l.centres.Rows {
			low, high := l.start[c], l.start[c+1]
			require.Less(t, low, high)
			require.True(t, slices.IsSorted(l.row[low:high]))
			for at := low; at < high; at++ {
				require.Equal(t, x.Row(int(l.row[at])), l.x.Row(int(at)))
				if l.centres.Rows > 1 {
					own := squared(l.x.Row(int(at)), l.centres.Row(c))
					require.LessOrEqual(t, own, squared(l.x.Row(int(at)), l.centres.Row(nearestCentre(l.x.Row(int(at)), l.centres)))*(1+1e-5)+1e-6)
				}
			}
		}
		for i, r := range seen {
			require.EqualValues(t, i, r)
		}
	}
}

// The number of cells to visit is the smallest whose cells have 99 of 100 true neighbours of the first rows among half of the rows.
func TestEnoughAgainstAllNeighbours(t *testing.T) {
	const n, m = 3000, 12
	x := draw(n, 3, 8)
	l := newLevel(2, x, m)
	cell := make([]int, n)
	for c := range l.centres.Rows {
		for at := l.start[c]; at < l.start[c+1]; at++ {
			cell[l.row[at]] = c
		}
	}
	recall := make([]float64, l.centres.Rows+1) // by the number of cells that are visited
	for i := range judged {
		rank := make([]int, l.centres.Rows)
		for r, c := range nearer(l.centres.Rows, func(c int) float64 { return squared(x.Row(i), l.centres.Row(c)) }) {
			rank[c] = r
		}
		found := 0
		for _, j := range nearer(n/2, func(j int) float64 { return squared(x.Row(i), x.Row(j)) }) {
			if j == i {
				continue
			}
			if found++; found > m {
				break
			}
			for visits := rank[cell[j]] + 1; visits < len(recall); visits++ {
				recall[visits] += 1.0 / (judged * m)
			}
		}
	}
	assert.Greater(t, recall[l.visits], Recall-1e-9)
	assert.Less(t, recall[l.visits-1], Recall)
}

// celled is a level of k cells around the first rows of x.
func celled(x la.Matrix[float32], k int) *level {
	l := &level{n: x.Rows, centres: x.Slice(0, k, 0, x.Cols).Clone(), start: make([]int32, k+1), x: la.NewMatrix[float32](x.Rows, x.Cols)}
	for c := range k {
		for i := range x.Rows {
			if nearestCentre(x.Row(i), l.centres) == c {
				copy(l.x.Row(len(l.row)), x.Row(i))
				l.row = append(l.row, int32(i))
			}
		}
		l.start[c+1] = int32(len(l.row))
	}
	return l
}

// nearer sorts numbers below n by a distance; of equal ones the first is nearer.
func nearer(n int, distance func(int) float64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
	return order
}

// Small levels are counted exactly: a row more or less among the judged ones, among the half that is searched or among the neighbours
// shows in some of them.
func TestEnoughOfSmallLevels(t *testing.T) {
	for seed := range uint64(150) {
		n, m := 12+int(seed*7%300), 1+int(seed%6)
		k := n / 3
		switch seed % 4 {
		case 0:
			n = group - 1 + int(seed/4%3)
			k = n / 3
		case 1: // more neighbours than rows, each in a cell of its own
			n, m = 10+int(seed/4), 60
			k = n
		}
		x := draw(n, 3, 100+seed)
		for i := range x.Rows {
			for f, v := range x.Row(i) {
				x.Set(i, f, float32(math.Round(float64(v)*1024))) // distances of neighbours are exact
			}
		}
		l := celled(x, k)
		cell := make([]int, n)
		for c := range k {
			for at := l.start[c]; at < l.start[c+1]; at++ {
				cell[l.row[at]] = c
			}
		}
		counts, total := make([]int, k), 0 // neighbours by the rank of their cells
		for i := range min(n, judged) {
			centres := nearer(k, func(c int) float64 { return squared(x.Row(i), l.centres.Row(c)) })
			others := nearer(n/2, func(j int) float64 { return squared(x.Row(i), x.Row(j)) })
			if at := slices.Index(others, i); at >= 0 {
				others = slices.Delete(others, at, at+1)
			}
			for _, j := range others[:min(m, len(others), n/2-1)] {
				counts[slices.Index(centres, cell[j])]++
				total++
			}
		}
		want := 0
		for sum := 0; 100*sum < 99*total; want++ {
			sum += counts[want]
		}
		require.Equal(t, want, l.enough(1+int(seed%2), x, m), "%d rows, %d neighbours", n, m)
	}
}

// The row beyond the last whole task is judged too. It lies between six rows that are not searched, so that its neighbour is in the seventh
// cell. The neighbours of all other rows are in nearer cells.
func TestEnoughJudgesTheLastRow(t *testing.T) {
	x := la.NewMatrix[float32](group+1, 3)
	for i := range group / 2 {
		near, beside := x.Row(i), x.Row(group/2+i) // the first half of the rows is searched
		if i < 12 {
			sign := float32(1 - 2*(i%2))
			near[i/2%3], beside[i/2%3] = sign*(1.3+0.01*float32(i/6)), sign
			if i >= 6 {
				beside[i/2%3] = sign * 1.4
			}
			continue
		}
		near[0], beside[0] = float32(100*i), float32(100*i)+0.1
	}
	assert.Equal(t, 7, celled(x, group).enough(1, x, 1))
}

func TestLevels(t *testing.T) {
	for n, sizes := range map[int][]int{0: {0}, 1: {1}, 7: {7}, fewest: {fewest}, fewest + 1: {513, fewest + 1}, 9000: {563, 2250, 9000}} {
		ix := New(2, draw(n, 2, 5), 4)
		var got []int
		for _, l := range ix.levels {
			got = append(got, l.n)
		}
		require.Equal(t, sizes, got)
		for i, size := range sizes {
			assert.Equal(t, i, ix.levelOf(size))
			assert.Equal(t, min(i+1, len(sizes)-1), ix.levelOf(size+1))
		}
		if n == 7 || n == fewest {
			assert.EqualValues(t, 1, ix.Visited())
		}
	}
}
