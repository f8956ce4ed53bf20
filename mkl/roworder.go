package mkl

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// rowOrder returns an order of samples that depends on their content and the seed, but not on the
// order in which they come: samples are sorted by a hash of their features and their value, and samples
// with the same hash by their content. In all other respects the order is random. The hash of a copy of a sample
// counts its earlier copies too: without that all copies would be held out together, or none.
func rowOrder(x []Features, value func(i int) float64, seed uint64) []int {
	n := x[0].Rows
	hash := make([]uint64, n)
	for i := range n {
		h := mixBits(seed+0x726f7773, value(i))
		for _, m := range x {
			for _, v := range m.Row(i) {
				h = mixBits(h, v)
			}
		}
		hash[i] = h
	}
	content := func(i, j int) int {
		if c := cmp.Or(cmp.Compare(hash[i], hash[j]), cmp.Compare(value(i), value(j))); c != 0 {
			return c
		}
		for _, m := range x {
			if c := slices.Compare(m.Row(i), m.Row(j)); c != 0 {
				return c
			}
		}
		return 0
	}
	byContent := func(i, j int) int { return cmp.Or(content(i, j), cmp.Compare(i, j)) } // equal samples: either may come first
	order := vec.UpTo(n)
	slices.SortFunc(order, byContent)
	spread := slices.Clone(hash)
	for at, copies := 1, 0; at < n; at++ {
		if content(order[at-1], order[at]) != 0 {
			copies = 0
			continue
		}
		copies++
		spread[order[at]] = mixBits(hash[order[at]], float64(copies))
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(spread[i], spread[j]) })
	return order
}

// mixBits returns a hash of a hash and a number; 0 and −0 count as one number.
//
// Source: the finaliser of splitmix64, G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
func mixBits(h uint64, v float64) uint64 {
	h = bits.RotateLeft64(h, 5) ^ math.Float64bits(v+0)
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
