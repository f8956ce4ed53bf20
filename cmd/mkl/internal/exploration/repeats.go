package exploration

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	cells "github.com/bmkl/bmkl/cmd/internal/table"
)

// Repeats is rows that repeat others.
type Repeats struct {
	Rows  int      `json:"rows"`
	First [][2]int `json:"first"` // at most three pairs of rows, counted from 1
}

// firstPairs is how many pairs are shown.
const firstPairs = 3

// add adds a row that repeats another.
func (r *Repeats) add(row, of int) {
	if r.Rows++; len(r.First) < firstPairs {
		r.First = append(r.First, [2]int{of + 1, row + 1})
	}
}

// first names the first pairs.
func (r *Repeats) first() string {
	var pairs []string
	for _, p := range r.First {
		pairs = append(pairs, fmt.Sprintf("%d and %d", p[0], p[1]))
	}
	text := " (rows " + strings.Join(pairs, ", ")
	if r.Rows > len(r.First) {
		text += ", …"
	}
	return text + ")"
}

// repeated is the rows that repeat an earlier row.
type repeated struct {
	Repeats
	of []int // by row: the first row with the same cells, itself if it is the first
}

// duplicates finds rows whose cells are all the same as an earlier row's. Rows without any value repeat nothing.
func duplicates(columns []*column, rows int) repeated {
	out := repeated{Repeats: Repeats{First: [][2]int{}}, of: make([]int, rows)}
	sums, present := make([]uint64, rows), make([]bool, rows)
	for _, c := range columns {
		for i, v := range c.values {
			present[i] = present[i] || v == v
			sums[i] = mix(sums[i] ^ bits(v))
		}
	}
	first := map[uint64]int{}
	for i, sum := range sums {
		out.of[i] = i
		if !present[i] {
			continue
		}
		before, ok := first[sum]
		if !ok {
			first[sum] = i
			continue
		}
		if slices.ContainsFunc(columns, func(c *column) bool { return bits(c.values[i]) != bits(c.values[before]) }) {
			continue // two rows with one sum by chance
		}
		out.of[i] = before
		out.add(i, before)
	}
	return out
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection that spreads bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// bits are the bits of a number, the same for every NaN and for both zeros.
func bits(v float64) uint64 {
	if v != v {
		v = math.NaN()
	}
	return math.Float64bits(v + 0)
}

// conflicts counts the rows that repeat an earlier row and have another target than this row.
func (r *repeated) conflicts(t *target) (n int) {
	for i, of := range r.of {
		if a, b := t.y[i], t.y[of]; a == a && b == b && a != b {
			n++
		}
	}
	return n
}

const (
	nearness    = 0.001 // share of the spread of a column by which the numbers of near rows differ at most
	nearNumbers = 3     // with fewer columns of numbers rows are near by chance
	nearLevels  = 20    // different values that such a column has at least
	nearNext    = 100   // rows after a row, in the order of a projection, that it is compared with
)

// nearly finds rows of a sample that have the texts, booleans and gaps of another row and nearly its numbers, but are not
// equal to it. Rows are compared with their neighbours in the order of one projection of all numbers: close rows have
// close projections. It returns nil for tables with few columns of numbers.
func nearly(columns []*column, rows []int) *Repeats {
	var numbers []*column
	var scale []float64
	for _, c := range columns {
		if c.typ == cells.Text || c.typ == cells.Boolean {
			continue
		}
		sorted := make([]float64, 0, len(rows))
		for _, i := range rows {
			if v := c.values[i]; v == v {
				sorted = append(sorted, v)
			}
		}
		slices.Sort(sorted)
		if len(levelsOf(sorted)) < nearLevels {
			continue
		}
		if spread := spreadOf(sorted); spread > 0 && !math.IsInf(spread, 0) {
			numbers, scale = append(numbers, c), append(scale, spread)
		}
	}
	if len(numbers) < nearNumbers {
		return nil
	}
	random := rand.New(rand.NewPCG(3, 4))
	at := make([]float64, len(rows))
	reach := 0.0 // close rows are not farther from each other in the projection
	for k, c := range numbers {
		w := 0.5 + random.Float64()
		if random.IntN(2) == 0 {
			w = -w
		}
		reach += float64(nearness * math.Abs(w))
		for i, row := range rows {
			if v := c.values[row]; v == v {
				at[i] += float64(w * (v / scale[k]))
			}
		}
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	others := slices.DeleteFunc(slices.Clone(columns), func(c *column) bool { return slices.Contains(numbers, c) })
	close := func(i, j int) bool {
		same := true
		for k, c := range numbers {
			a, b := c.values[i], c.values[j]
			if bits(a) == bits(b) {
				continue
			}
			if same = false; !(math.Abs(a-b) <= nearness*scale[k]) {
				return false
			}
		}
		return !same && !slices.ContainsFunc(others, func(c *column) bool { return bits(c.values[i]) != bits(c.values[j]) })
	}
	partner := map[int]int{} // the later row of a pair, and the earliest it is close to
	for p, i := range order {
		for _, j := range order[p+1 : min(len(order), p+1+nearNext)] {
			if at[j]-at[i] > reach {
				break
			}
			a, b := min(rows[i], rows[j]), max(rows[i], rows[j])
			if of, ok := partner[b]; (!ok || a < of) && close(a, b) {
				partner[b] = a
			}
		}
	}
	out := &Repeats{First: [][2]int{}}
	for _, i := range rows {
		if of, ok := partner[i]; ok {
			out.add(i, of)
		}
	}
	return out
}
