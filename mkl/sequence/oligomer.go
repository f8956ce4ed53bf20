package sequence

import "context"

// values implements [Kernel]. It adds one distance after another, so that memory does
// not grow with the square of the strings' lengths.
func (k Oligomer) values(ctx context.Context, t *task) error {
	k = k.filled()
	last := t.longest() - k.K
	if k.Longest > 0 {
		last = min(last, k.Longest)
	}
	for distance := range last + 1 {
		if err := t.add(ctx, 1, pairs(t.alphabet, k.K, distance)); err != nil {
			return err
		}
	}
	return nil
}

// pairs returns the features for two substrings of k letters, where the second begins
// distance letters after the first.
func pairs(a Alphabet, k, distance int) features {
	unknown, bits := uint16(a.size()), a.bits()
	return func(s []uint16, dst []uint64) []uint64 {
	places:
		for i := range len(s) - distance - k + 1 {
			var code uint64
			for _, part := range [2][]uint16{s[i : i+k], s[i+distance : i+distance+k]} {
				for _, c := range part {
					if c == unknown {
						continue places
					}
					code = code<<bits | uint64(c)
				}
			}
			dst = append(dst, code)
		}
		return dst
	}
}
