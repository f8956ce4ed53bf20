package trees

import "fmt"

// Tree divides the space of features into leaves.
type Tree struct {
	Splits []Split // the first is the root; none for a tree of one leaf
	Leaves int     // one more than splits
}

// Split sends a sample to Low if its feature is at most At, else to High: a later split if the number is not negative, else
// leaf −1−number.
type Split struct {
	Feature   int     // that is looked at
	At        float64 // the largest value that goes to Low
	Low, High int
}

// leaf returns the leaf of a sample.
func (t *Tree) leaf(x []float64) int {
	if len(t.Splits) == 0 {
		return 0
	}
	for k := 0; ; {
		s := &t.Splits[k]
		if k = s.High; x[s.Feature] <= s.At {
			k = s.Low
		}
		if k < 0 {
			return -1 - k
		}
	}
}

// check reports what is no tree of so many features. A split that leads to later splits only, and each of them once, ends.
func (t *Tree) check(features int) error {
	if t.Leaves != len(t.Splits)+1 || t.Leaves > mostBins {
		return fmt.Errorf("%d leaves of %d splits", t.Leaves, len(t.Splits))
	}
	from := make([]int, len(t.Splits)+t.Leaves)
	for k, s := range t.Splits {
		if s.Feature < 0 || s.Feature >= features || s.At-s.At != 0 {
			return fmt.Errorf("split %d: feature %d of %d at %g", k, s.Feature, features, s.At)
		}
		for _, to := range []int{s.Low, s.High} {
			at := to
			if to < 0 {
				at = len(t.Splits) - 1 - to
			}
			if at >= len(from) || to >= 0 && to <= k || from[at] > 0 {
				return fmt.Errorf("split %d leads to %d", k, to)
			}
			from[at]++
		}
	}
	return nil
}
