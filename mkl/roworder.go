package mkl

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Settings of rowOrder.
const (
	sameValue    = 1e-9 // of the distance of the quartiles of a column's values: closer values count as equal
	mostKeySteps = 4
)

// rowOrder returns an order of n samples that is random but for the seed. It depends neither on the order of the rows,
// of the columns and of the inputs, nor on the zero, the unit and the sign of a column. The targets are further columns, by which
// samples with the same features differ. Their signs matter. In columns of names, as of classes, the order of the names does not matter either.
//
// The samples are sorted by keys, which see only the ranks of the values within their columns ([rowKeys]). Samples of the same key are copies,
// or differ only in the order of columns. These are sorted by their content. The place of a copy depends on the
// number of earlier copies too: without that all copies would be held out together, or none.
func rowOrder(columns []rowColumn, targets [][]float64, names bool, seed uint64) []int {
	keys, order := rowKeys(columns, targets, names, seed)
	orderByKeys(columns, targets, keys, order)
	return order
}

// orderByKeys sorts samples into the order that [rowOrder] returns, given their keys.
func orderByKeys(columns []rowColumn, targets [][]float64, keys []uint64, order []int) {
	slices.SortFunc(order, func(i, j int) int {
		if c := cmp.Compare(keys[i], keys[j]); c != 0 {
			return c
		}
		return cmp.Or(compareContent(columns, targets, i, j), cmp.Compare(i, j)) // equal samples: either may come first
	})
	spread := slices.Clone(keys)
	for at, copies := 1, uint64(0); at < len(order); at++ {
		if keys[order[at-1]] != keys[order[at]] {
			copies = 0
			continue
		}
		copies++
		spread[order[at]] = mixBits(keys[order[at]], copies)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(spread[i], spread[j]) })
}

// rowColumn is a column of the features of samples.
type rowColumn struct {
	x     Features
	input string // the name of x
	j     int
	names bool // the values are codes of names
}

func (c rowColumn) at(i int) float64 { return c.x.At(i, c.j) }

// rowColumns returns the columns of the inputs that some view sees; all columns if no view sees any. Codes of names are in the columns that
// only kernels of categories see.
func rowColumns(views []View) (seen []rowColumn) {
	var unseen []rowColumn
	for k, v := range views {
		if slices.ContainsFunc(views[:k], func(w View) bool { return w.Input == v.Input }) {
			continue
		}
		for j := range v.X.Cols {
			c, sees := rowColumn{x: v.X, input: v.Input, j: j}, false
			for _, w := range views[k:] {
				_, blind := w.Kernel.(kernel.Constant)
				if blind || w.Input != v.Input || w.Columns != nil && !slices.Contains(w.Columns, j) {
					continue
				}
				sees = true
				if _, c.names = w.Kernel.(kernel.Categorical); !c.names {
					break
				}
			}
			if sees {
				seen = append(seen, c)
			} else {
				unseen = append(unseen, c)
			}
		}
	}
	if seen == nil {
		return unseen
	}
	return seen
}

func compareContent(columns []rowColumn, targets [][]float64, i, j int) int {
	for _, t := range targets {
		if c := cmp.Compare(t[i], t[j]); c != 0 {
			return c
		}
	}
	for _, column := range columns {
		if c := cmp.Compare(column.at(i), column.at(j)); c != 0 {
			return c
		}
	}
	return 0
}

// rowKeys returns a hash of each sample, and the samples in the order of these keys. The hash of a column is the sum over the
// samples of hashes of the rank of the value and of the key of the sample so far. Ranks are counted from the least value or from the largest,
// whichever gives the smaller hash, or from both if the hashes are equal. In a column of names the sum of hashes of the keys of all
// samples of a name takes the place of the rank. The next key of a sample is the sum over the columns of hashes of the hash of the column
// and of the rank. Sums do not see an order. The first keys are of the targets. One step nearly always gives different samples
// different keys. If it does not, because columns or names are alike, further steps separate more of them.
//
// Source: colour refinement, as in B. Weisfeiler and A. Leman, "The reduction of a graph to canonical form and the algebra which
// appears therein", 1968.
func rowKeys(columns []rowColumn, targets [][]float64, names bool, seed uint64) (keys []uint64, order []int) {
	n := len(targets[0])
	first := make([]uint64, n)
	for i := range first {
		first[i] = seed + 0x726f7773
	}
	r := newRanker(n)
	if names {
		columns = slices.Clone(columns)
		for _, t := range targets {
			columns = append(columns, rowColumn{x: Column(t), names: true})
		}
	} else {
		for k, t := range targets {
			r.rank(func(i int) float64 { return t[i] })
			for i, rank := range r.at {
				first[i] = mixBits(mixBits(first[i], uint64(k)), rank)
			}
		}
	}
	keys, order = first, vec.UpTo(n)
	for step, distinct := 0, 0; step < mostKeySteps; step++ {
		keys = r.nextKeys(columns, first, keys)
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(keys[i], keys[j]) })
		seen, alike := distinctKeys(columns, targets, keys, order)
		if !alike || seen == distinct {
			break
		}
		distinct = seen
	}
	return keys, order
}

// nextKeys returns the keys that follow keys, given the first ones.
func (r *ranker) nextKeys(columns []rowColumn, first, keys []uint64) []uint64 {
	next := slices.Clone(first)
	for _, c := range columns {
		column, ranks := r.hash(c, keys)
		for i, rank := range ranks {
			next[i] += mixBits(column, rank)
		}
	}
	return next
}

// hash returns the hash of a column, given the keys of the samples, and the ranks that it is made of.
func (r *ranker) hash(c rowColumn, keys []uint64) (column uint64, ranks []uint64) {
	r.rank(c.at)
	sum := func(ranks []uint64) (sum uint64) {
		for i, rank := range ranks {
			sum += mixBits(keys[i], rank)
		}
		return sum
	}
	if c.names {
		r.nameBy(keys)
		return sum(r.at), r.at
	}
	column, ranks = sum(r.at), r.at
	switch down := sum(r.back); {
	case down < column:
		column, ranks = down, r.back
	case down == column: // the keys do not tell the ends of the column apart, such as where all are equal
		for i, back := range r.back {
			r.at[i] = mixBits(0, r.at[i]) + mixBits(0, back)
		}
	}
	return column, ranks
}

// distinctKeys returns how many keys there are, given their order, and whether different samples have the same.
func distinctKeys(columns []rowColumn, targets [][]float64, keys []uint64, order []int) (seen int, alike bool) {
	seen = 1
	for at := 1; at < len(order); at++ {
		if i, j := order[at-1], order[at]; keys[i] != keys[j] {
			seen++
		} else if !alike {
			alike = compareContent(columns, targets, i, j) != 0
		}
	}
	return seen, alike
}

// ranker ranks the values of columns.
type ranker struct {
	at      []uint64 // the rank of each sample: how many values are less, or missing
	back    []uint64 // the rank among the values with the other sign
	sum     []uint64 // by rank
	sorted  []keyed
	scratch []keyed
}

// keyed is a sample with a number that sorts as its value does.
type keyed struct {
	key    uint64
	sample uint32
}

func newRanker(n int) *ranker {
	return &ranker{at: make([]uint64, n), back: make([]uint64, n), sum: make([]uint64, n), sorted: make([]keyed, n), scratch: make([]keyed, n)}
}

// rank ranks the values of the samples. Values that differ only by rounding have the same rank, in each unit. Missing values come first.
func (r *ranker) rank(value func(i int) float64) {
	for i := range r.sorted {
		r.sorted[i] = keyed{ascendingBits(value(i)), uint32(i)}
	}
	r.sort()
	near := r.near()
	n, missing := len(r.sorted), 0
	for missing < n && r.sorted[missing].key == 0 {
		missing++
	}
	for first := 0; first < n; {
		end := first + 1 // of the values that count as equal to the first
		for end < n && (r.sorted[end].key == r.sorted[end-1].key || numberOf(r.sorted[end].key)-numberOf(r.sorted[end-1].key) <= near) {
			end++
		}
		back := missing + n - end
		if first < missing {
			back = 0
		}
		for _, k := range r.sorted[first:end] {
			r.at[k.sample], r.back[k.sample] = uint64(first), uint64(back)
		}
		first = end
	}
}

// nameBy replaces the ranks of names by hashes of the keys of all samples of the name.
func (r *ranker) nameBy(keys []uint64) {
	clear(r.sum)
	for i, rank := range r.at {
		r.sum[rank] += mixBits(keys[i], 1)
	}
	for i, rank := range r.at {
		r.at[i] = r.sum[rank]
	}
}

// near returns the distance up to which values count as equal. Only the quartiles of the different values decide it, which
// neither a value far away nor one that nearly all samples share can move.
func (r *ranker) near() float64 {
	different := 0
	each := func(do func(v float64)) {
		for i, k := range r.sorted {
			if k.key != 0 && (i == 0 || k.key != r.sorted[i-1].key) {
				do(numberOf(k.key))
			}
		}
	}
	each(func(float64) { different++ })
	var lower, upper float64
	at := 0
	each(func(v float64) {
		if at == different/4 {
			lower = v
		}
		if at == different-1-different/4 { // as far from the end as the other is from the beginning, for either sign
			upper = v
		}
		at++
	})
	near := float64(sameValue * (upper - lower))
	if near-near != 0 {
		return 0
	}
	return near
}

// sort sorts by the keys, by one byte of them after the other.
func (r *ranker) sort() {
	var counts [8][256]int
	for _, k := range r.sorted {
		for b := range counts {
			counts[b][byte(k.key>>(8*b))]++
		}
	}
	for b := range counts {
		count := &counts[b]
		if slices.Max(count[:]) == len(r.sorted) {
			continue
		}
		place := 0
		for d, c := range count {
			count[d] = place
			place += c
		}
		for _, k := range r.sorted {
			d := byte(k.key >> (8 * b))
			r.scratch[count[d]] = k
			count[d]++
		}
		r.sorted, r.scratch = r.scratch, r.sorted
	}
}

// ascendingBits returns an integer that is larger for a larger number, the same for 0 and −0, and 0 for NaN.
func ascendingBits(v float64) uint64 {
	if v != v {
		return 0
	}
	b := math.Float64bits(v + 0)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// numberOf returns the number of ascendingBits, and NaN of 0.
func numberOf(b uint64) float64 {
	if b>>63 != 0 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}

// mixBits returns a hash of two hashes.
//
// Source: the finaliser of splitmix64, G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
func mixBits(h, v uint64) uint64 {
	h = bits.RotateLeft64(h, 5) ^ v
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
