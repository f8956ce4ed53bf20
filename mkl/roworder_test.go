package mkl

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// numberColumns returns the columns of inputs of numbers.
func numberColumns(x ...Features) (all []rowColumn) {
	for _, m := range x {
		for j := range m.Cols {
			all = append(all, rowColumn{x: m, j: j})
		}
	}
	return all
}

// The order is random but for the seed: it is no order of a column.
func TestRowOrderIsRandom(t *testing.T) {
	x, y := ripples(1, 500)
	first := rowOrder(numberColumns(x), [][]float64{y}, false, 1)
	assert.NotEqual(t, first, rowOrder(numberColumns(x), [][]float64{y}, false, 2))
	for _, column := range [][]float64{y, taken(x, nil, []int{0}).Data, taken(x, nil, []int{1}).Data} {
		rises := 0
		for i := 1; i < 500; i++ {
			if column[first[i]] > column[first[i-1]] {
				rises++
			}
		}
		assert.InDelta(t, 250, rises, 30, "four standard deviations, √(501/12) = 6.5")
	}
	// A share of the samples is first as often as others: χ² of 200 seeds, ten samples of 40 each.
	counts := make([]float64, 40)
	few := x.Slice(0, 40, 0, x.Cols)
	for seed := range uint64(200) {
		for _, i := range rowOrder(numberColumns(few), [][]float64{y[:40]}, false, seed)[:10] {
			counts[i]++
		}
	}
	chi := 0.0
	for _, c := range counts {
		chi += (c - 50) * (c - 50) / (50 * 0.75) * 39 / 40
	}
	assert.InDelta(t, 39, chi, 4*math.Sqrt(78))
}

// otherTables returns the numbers of a table in other units and orders, with the rows in the order perm.
func otherTables(x []Features, targets [][]float64, perm []int) (all []told, of [][][]float64) {
	scaled := func(a, b float64) func(Features) Features {
		return func(m Features) Features {
			m = m.Clone()
			for i, v := range m.Data {
				m.Data[i] = float64(a*v) + b
			}
			return m
		}
	}
	mirror := func(m Features) Features {
		columns := upTo(m.Cols)
		slices.Reverse(columns)
		return taken(m, nil, columns)
	}
	backwards := slices.Clone(x)
	slices.Reverse(backwards)
	plain := upTo(x[0].Rows)
	add := func(way string, at []Features, rows []int, target func(float64) float64) {
		var y [][]float64
		for _, column := range targets {
			y = append(y, each(picked(column, rows), target))
		}
		all, of = append(all, told{way: way, at: at, rows: rows}), append(of, y)
	}
	same := func(v float64) float64 { return v }
	add("rows", each(x, func(m Features) Features { return m.TakeRows(perm) }), perm, same)
	add("columns", each(x, mirror), plain, same)
	add("inputs", backwards, plain, same)
	add("2^k", each(x, scaled(1.0/64, 0)), plain, same)
	add("tens", each(x, scaled(10, 0)), plain, same)
	add("degrees", each(x, scaled(1.8, 32)), plain, same)
	add("degrees back", each(x, scaled(1/1.8, -32/1.8)), plain, same)
	add("small units of the target", x, plain, func(v float64) float64 { return 1e-3 * v })
	return all, of
}

// The order sees neither orders nor units, also with copies, rounding errors, values that many samples share, missing values and an
// outlier, and with columns that only the other columns tell apart.
func TestRowOrderDoesNotSeeOrderOrUnits(t *testing.T) {
	const n = 600
	r := rand.New(rand.NewPCG(4, 2))
	x, y := normal(r, n, 5), make([]float64, n)
	levels := la.NewMatrix[float64](n, 24)
	for i := range n {
		y[i] = math.Floor(2 * r.Float64())
		x.Set(i, 1, math.Round(10*x.At(i, 1))/10)
		if i%3 > 0 {
			x.Set(i, 2, 0)
		}
		if i%5 == 0 {
			x.Set(i, 3, 0.1+0.2) // and .3, which another unit may round to one number
		} else if i%5 == 1 {
			x.Set(i, 3, 0.3)
		} else if i%5 == 2 {
			x.Set(i, 3, math.NaN())
		}
		levels.Set(i, i%24, 1) // as many samples of each level, and of each target of each level
		y[i] = float64(i / 24 % 2)
	}
	x.Set(7, 4, 1e15)
	for i := 24; i < 240; i += 24 {
		copy(x.Row(i), x.Row(0))
		y[i] = y[0]
	}
	x.Set(3, 0, 0)
	table, targets := []Features{x, levels}, [][]float64{y, taken(x, nil, []int{0}).Data}
	perm := r.Perm(n)
	first := rowOrder(numberColumns(table...), targets, false, 1)
	keysOf := func(x []Features, y [][]float64, order []int) []uint64 {
		keys, _ := rowKeys(numberColumns(x...), y, false, 1)
		return vec.Picked(keys, order)
	}
	keep := keysOf(table, targets, first)
	ways, of := otherTables(table, targets, perm)
	for k, o := range ways {
		got := rowOrder(numberColumns(o.at...), of[k], false, 1)
		assert.Equal(t, keep, keysOf(o.at, of[k], got), o.way)
		for i, at := range got {
			a, b := first[i], o.rows[at]
			if a != b && o.way != "rows" {
				require.Failf(t, "another order", "%s: place %d has sample %d, and had %d", o.way, i, b, a)
			}
			assert.Zero(t, compareContent(numberColumns(table...), targets, a, b), "%s: place %d", o.way, i)
		}
	}
	moved := x.Clone()
	moved.Set(3, 0, math.Copysign(0, -1))
	assert.Equal(t, first, rowOrder(numberColumns(moved, levels), targets, false, 1))
}

// A table whose only differences are which columns go together: the first step gives many samples the same key, further steps separate them.
func TestRowOrderRefines(t *testing.T) {
	const n, levels = 240, 40
	x, y := la.NewMatrix[float64](n, levels+1), make([]float64, n)
	r := rand.New(rand.NewPCG(7, 7))
	for i := range n {
		x.Set(i, i%levels, 1)
		y[i] = float64(i / levels % 2)
		x.Set(i, levels, float64(r.IntN(4)))
	}
	table, targets := []Features{x}, [][]float64{y}
	distinct := map[uint64]bool{}
	content := map[string]bool{}
	keys, _ := rowKeys(numberColumns(table...), targets, false, 1)
	for i, key := range keys {
		distinct[key] = true
		content[string(rune(i%levels))+string(rune(int(2*x.At(i, levels)+y[i])))] = true
	}
	assert.Greater(t, float64(len(distinct)), 0.9*float64(len(content)), "%d of %d", len(distinct), len(content))
	first := rowOrder(numberColumns(table...), targets, false, 1)
	columns := r.Perm(levels + 1)
	second := rowOrder(numberColumns(taken(x, nil, columns)), targets, false, 1)
	same := 0
	for i := range first {
		if first[i] == second[i] {
			same++
		}
	}
	assert.Greater(t, same, n*8/10)
}

// Other names of classes do not change the order, also where samples differ in their class alone.
func TestRowOrderDoesNotSeeNames(t *testing.T) {
	x, labels := crowds(1, 900, 3)
	for i := range 200 {
		copy(x.Row(i+200), x.Row(i))
	}
	name := func(of [3]float64) [][]float64 {
		return [][]float64{each(vec.Floats(labels), func(k float64) float64 { return of[int(k)] })}
	}
	first := rowOrder(numberColumns(x), name([3]float64{0, 1, 2}), true, 1)
	for _, of := range [][3]float64{{1, 0, 2}, {2, 1, 0}, {2, 0, 1}} {
		assert.Equal(t, first, rowOrder(numberColumns(x), name(of), true, 1))
	}
	assert.NotEqual(t, first, rowOrder(numberColumns(x), name([3]float64{1, 0, 2}), false, 1), "numbers are no names")
}

// Nor do other codes of categories. A column that another kernel sees too has numbers, whose order matters.
func TestRowOrderDoesNotSeeCodes(t *testing.T) {
	const n, levels = 900, 60
	r := rand.New(rand.NewPCG(5, 9))
	x, y, code := normal(r, n, 2), make([]float64, n), r.Perm(levels)
	for i := range n {
		x.Set(i, 1, float64(i%levels))
		y[i] = float64(r.IntN(3))
		if i%2 == 0 {
			x.Set(i, 0, float64(r.IntN(2)))
		}
	}
	other := x.Clone()
	for i := range n {
		other.Set(i, 1, float64(code[i%levels]))
	}
	views := func(x Features, more ...View) []View {
		all := append([]View{{X: x, Columns: []int{0}}, {X: x, Columns: []int{1}, Kernel: kernel.Categorical{}}}, more...)
		for i := range all {
			all[i].X = x
		}
		return all
	}
	order := func(views []View) []int { return rowOrder(rowColumns(views), [][]float64{y}, false, 1) }
	assert.Equal(t, order(views(x)), order(views(other)))
	constant := View{Kernel: kernel.Constant{}}
	assert.Equal(t, order(views(x, constant)), order(views(other, constant)), "a constant kernel sees no column")
	number := View{Columns: []int{1}, Kernel: kernel.RBF{}}
	assert.NotEqual(t, order(views(x, number)), order(views(other, number)))
}

// TestRowOrderSpreadsCopies finds about a fifth of the copies of a sample among the last fifth of the samples, in any order of the samples.
func TestRowOrderSpreadsCopies(t *testing.T) {
	x, y := ripples(1, 1000)
	for i := range 400 {
		copy(x.Row(i), x.Row(0))
		y[i] = y[0]
	}
	for seed := range uint64(5) {
		order := rowOrder(numberColumns(x), [][]float64{y}, false, seed)
		assert.ElementsMatch(t, vec.UpTo(1000), order)
		last := 0
		for _, i := range order[800:] {
			if i < 400 {
				last++
			}
		}
		assert.InDelta(t, 80, last, 25, "four standard deviations")
	}
}

// Ranks are the ones of a naive count, also of values of all sizes, of infinite and of missing ones.
func TestRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	v := []float64{math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.NaN(), math.NaN(), math.MaxFloat64, -math.MaxFloat64, 5e-324, -5e-324, 0.1 + 0.2, 0.3}
	for range 200 {
		v = append(v, math.Round(20*r.NormFloat64())/7, r.NormFloat64())
	}
	for range 40 {
		v = append(v, -math.Pow(10, 20*r.Float64()))
	}
	ranks := newRanker(len(v))
	ranks.rank(func(i int) float64 { return v[i] })
	for i, a := range v {
		var less uint64
		for _, b := range v {
			close := a == b || math.Abs(a-b) < 1e-15 // as two ways to write .3, and 5e-324 and 0
			switch {
			case math.IsNaN(a) && math.IsNaN(b), close:
			case math.IsNaN(b), b < a:
				less++
			}
		}
		assert.Equal(t, less, ranks.at[i], "of %g", a)
	}
}
