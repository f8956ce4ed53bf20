package sequence

import (
	"context"
	"slices"
)

// features appends the features of a string to dst, each as often as it occurs, in any
// order.
type features func(s []uint16, dst []uint64) []uint64

// occurrence says how often a feature occurs in a string.
type occurrence struct {
	feature       uint64
	string, count int32
}

// index lists, for each feature, the strings that have it, in order.
type index struct {
	list []occurrence
	at   map[uint64]int // where a feature's strings begin
}

func newIndex(f features, strings [][]uint16) index {
	var ix index
	var buffer []uint64
	for i, s := range strings {
		buffer = f(s, buffer[:0])
		runs(buffer, func(feature uint64, count int) {
			ix.list = append(ix.list, occurrence{feature, int32(i), int32(count)})
		})
	}
	slices.SortStableFunc(ix.list, func(a, b occurrence) int {
		switch {
		case a.feature < b.feature:
			return -1
		case a.feature > b.feature:
			return 1
		}
		return 0
	})
	ix.at = make(map[uint64]int)
	for i, o := range ix.list {
		if i == 0 || ix.list[i-1].feature != o.feature {
			ix.at[o.feature] = i
		}
	}
	return ix
}

// runs sorts features and calls visit for each distinct one, with its count.
func runs(features []uint64, visit func(feature uint64, count int)) {
	slices.Sort(features)
	for i := 0; i < len(features); {
		end := i + 1
		for end < len(features) && features[end] == features[i] {
			end++
		}
		visit(features[i], end-i)
		i = end
	}
}

// index returns the index of the basis strings for the next call of add. It may be
// known already.
func (t *task) index(f features) index {
	at := t.adds
	t.adds++
	if at < len(t.indexes) {
		return t.indexes[at]
	}
	ix := newIndex(f, t.basis)
	if at == len(t.indexes) && len(ix.list) <= t.keep {
		t.keep -= len(ix.list)
		t.indexes = append(t.indexes, ix)
	}
	return ix
}

// add adds weight times the inner products of the strings' counts of features to the
// kernel. The sums consist of whole numbers, so that their order does not matter.
func (t *task) add(ctx context.Context, weight float64, f features) error {
	ix := t.index(f)
	if !t.known {
		for _, o := range ix.list {
			t.basisSelf[o.string] += float64(weight * float64(o.count) * float64(o.count))
		}
	}
	return each(ctx, t.workers, len(t.x), func() func(int) {
		var buffer []uint64
		return func(i int) {
			row := t.k.Row(i)
			buffer = f(t.x[i], buffer[:0])
			runs(buffer, func(feature uint64, count int) {
				if !t.same {
					t.xSelf[i] += float64(weight * float64(count) * float64(count))
				}
				first, ok := ix.at[feature]
				if !ok {
					return
				}
				for _, o := range ix.list[first:] {
					if o.feature != feature || t.same && int(o.string) > i {
						break
					}
					row[o.string] += float64(weight * float64(count) * float64(o.count))
				}
			})
		}
	})
}

// substrings returns the features for substrings of k known letters. A feature consists of the letters at
// the places where keep is true; nil keeps all.
func substrings(a Alphabet, k int, keep []bool) features {
	unknown, bits := uint16(a.size()), a.bits()
	return func(s []uint16, dst []uint64) []uint64 {
		known := 0 // number of known letters up to here
		for end, c := range s {
			known++
			if c == unknown {
				known = 0
			}
			if known < k {
				continue
			}
			var code uint64
			for i, c := range s[end+1-k : end+1] {
				if keep == nil || keep[i] {
					code = code<<bits | uint64(c)
				}
			}
			dst = append(dst, code)
		}
		return dst
	}
}

func (k Spectrum) values(ctx context.Context, t *task) error {
	return t.add(ctx, 1, substrings(t.alphabet, k.filled().K, nil))
}
