package exploration

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cells "github.com/bmkl/bmkl/cmd/internal/table"
)

// all are the rows 0 to n − 1.
func all(n int) (rows []int) {
	for i := range n {
		rows = append(rows, i)
	}
	return rows
}

// TestAlone measures columns whose share of the variance is known.
func TestAlone(t *testing.T) {
	const n = 4000
	r := rand.New(rand.NewPCG(1, 1))
	x, noise, many, gappy, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], noise[i], many[i] = 6*r.Float64(), r.NormFloat64(), float64(r.IntN(n/3))
		y[i] = math.Sqrt2*math.Sin(math.Pi*x[i]) + r.NormFloat64() // half of the variance is of x
		if gappy[i] = noise[i]; y[i] > 1 {
			gappy[i] = math.NaN()
		}
	}
	p := newPredictor(&target{y: y}, all(n))
	require.NotNil(t, p)
	assert.InDelta(t, 0.5, p.alone(x, false).Explains, 0.04)
	assert.InDelta(t, 0, p.alone(noise, false).Explains, 0.01)
	assert.InDelta(t, 0, p.alone(many, true).Explains, 0.01, "levels of three rows each say nothing of the rows left out")
	g := p.alone(gappy, false)
	require.NotNil(t, g.Gaps)
	assert.InDelta(t, *g.Gaps, g.Explains, 0.01)
	assert.Greater(t, *g.Gaps, 0.3)
	line := p.alone(noise, false)
	assert.InDelta(t, 0, *line.Rank, 0.05)

	other, order := make([]float64, n), make([]float64, n)
	for i, v := range y {
		other[i], order[i] = 32+1.8*v, math.Exp(v)
	}
	assert.Equal(t, "it is the target in other units", p.alone(other, false).repeats)
	assert.Equal(t, "its values are in the order of the target", p.alone(order, false).repeats)
	assert.InDelta(t, 1, *p.alone(order, false).Rank, 1e-12)
	assert.Empty(t, p.alone(x, false).repeats)
}

// TestAloneOfClasses compares with the information of a known table: a text that is the right one of three classes with
// probability 0.8.
func TestAloneOfClasses(t *testing.T) {
	const n = 6000
	r := rand.New(rand.NewPCG(2, 2))
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = float64(i % 3)
		if y[i] = x[i]; r.Float64() >= 0.8 {
			y[i] = float64((i + 1 + r.IntN(2)) % 3)
		}
	}
	p := newPredictor(&target{y: y, classes: []string{"a", "b", "c"}}, all(n))
	a := p.alone(x, true)
	loss := -(0.8*math.Log(0.8) + 0.2*math.Log(0.1))
	assert.InDelta(t, 1-loss/math.Log(3), a.Explains, 0.03)
	assert.InDelta(t, 0.8, *a.Accuracy, 0.02)
	assert.Nil(t, a.Rank)
	assert.Greater(t, p.alone(y, true).Explains, 0.99)
}

// TestPool keeps the frequent classes apart.
func TestPool(t *testing.T) {
	var y []float64
	for c := range 150 {
		for range 1 + c {
			y = append(y, float64(c))
		}
	}
	assert.Equal(t, mostClass+1, pool(y))
	assert.Equal(t, []float64{mostClass, 0, mostClass - 1}, []float64{y[0], y[50*51/2], y[len(y)-1]}, "classes 0, 50 and 149")
}

// TestRanks compares with ranks by counting.
func TestRanks(t *testing.T) {
	x := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}
	for i, got := range ranks(x) {
		want := -0.5
		for _, v := range x {
			if v < x[i] {
				want++
			} else if v == x[i] {
				want += 0.5
			}
		}
		assert.Equal(t, want, got)
	}
}

// TestNearly compares with all pairs.
func TestNearly(t *testing.T) {
	const n = 300
	r := rand.New(rand.NewPCG(3, 3))
	columns := []*column{{typ: cells.Numeric}, {typ: cells.Numeric}, {typ: cells.Numeric}, {typ: cells.Text, levels: []string{"a", "b"}}}
	for i := range n {
		for k, c := range columns {
			v := r.NormFloat64()
			switch {
			case k == 3:
				v = float64(r.IntN(2))
			case i > 0 && i%3 == 0: // as the row before, or nearly
				v = columns[k].values[i-1] + 0.003*float64(r.IntN(3)-1)*r.Float64()
			}
			c.values = append(c.values, v)
		}
		if i%50 == 0 {
			columns[1].values[i] = math.NaN()
		}
	}
	near := nearly(columns, all(n))
	require.NotNil(t, near)
	spread := make([]float64, 3)
	for k := range spread {
		sorted := sortedOf(columns[k].values)
		spread[k] = sorted[len(sorted)-1-len(sorted)/20] - sorted[len(sorted)/20]
	}
	pairs := map[int]int{}
	for i := range n {
		for j := range i {
			same, close := true, true
			for k, c := range columns {
				a, b := c.values[i], c.values[j]
				equal := a == b || a != a && b != b
				same = same && equal
				close = close && (equal || k < 3 && math.Abs(a-b) <= nearness*spread[k])
			}
			if _, ok := pairs[i]; close && !same && !ok {
				pairs[i] = j
			}
		}
	}
	assert.Greater(t, len(pairs), 10)
	assert.Equal(t, len(pairs), near.Rows)
	for _, p := range near.First {
		assert.Equal(t, pairs[p[1]-1], p[0]-1)
	}
	assert.Nil(t, nearly(columns[1:], all(n)), "two numbers are near by chance")
}

// TestDuplicates compares with all pairs.
func TestDuplicates(t *testing.T) {
	const n = 200
	r := rand.New(rand.NewPCG(4, 4))
	columns := []*column{{typ: cells.Numeric}, {typ: cells.Text}}
	y := &target{}
	for range n {
		a, b := float64(r.IntN(9)), float64(r.IntN(9))
		if a == 0 {
			a = math.NaN()
		}
		if b == 0 {
			b = math.NaN()
		}
		columns[0].values, columns[1].values, y.y = append(columns[0].values, a), append(columns[1].values, b), append(y.y, float64(r.IntN(2)))
	}
	got := duplicates(columns, n)
	same := func(i, j int) bool {
		present := false
		for _, c := range columns {
			a, b := c.values[i], c.values[j]
			if !(a == b || a != a && b != b) {
				return false
			}
			present = present || a == a
		}
		return present
	}
	rows, conflicts := 0, 0
	for i := range n {
		for j := range i {
			if same(i, j) {
				if rows++; y.y[i] != y.y[j] {
					conflicts++
				}
				break
			}
		}
	}
	assert.Positive(t, rows)
	assert.Equal(t, rows, got.Rows)
	assert.Equal(t, conflicts, got.conflicts(y))
}
