package stat

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Statistic holds the number of samples and the sums T of a pass over samples, separately for each
// pattern of missing targets. The zero value is empty; it takes the layout of the first statistic that
// is merged into it. A Statistic is not safe for concurrent use while it changes.
type Statistic struct {
	layout Layout
	groups []group // ascending by pattern, none without samples
}

// group is the number and the sums of the samples with one pattern of missing targets.
type group struct {
	observed uint64  // bit o: output o is observed
	count    uint64  // samples
	sums     []fixed // lower triangle of T, row by row; 0 for missing outputs
	self     []fixed // P, Σ k_p(x_i, x_i)
}

// triangle returns the number of elements of the lower triangle of n rows.
func triangle(n int) int { return n * (n + 1) / 2 }

// newGroup returns an empty group.
func newGroup(l Layout, observed uint64) group {
	return group{observed: observed, sums: make([]fixed, triangle(l.Entries())), self: make([]fixed, len(l.Views))}
}

// clone returns a deep copy.
func (g group) clone() group {
	g.sums, g.self = slices.Clone(g.sums), slices.Clone(g.self)
	return g
}

// New returns an empty statistic with the given layout. It returns an error if the layout has no view
// or is too large; see [Layout].
func New(l Layout) (*Statistic, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	return &Statistic{layout: l.clone()}, nil
}

// Layout returns a copy of the layout of the entries.
func (s *Statistic) Layout() Layout { return s.layout.clone() }

// Samples returns the number of samples.
func (s *Statistic) Samples() int64 {
	var n uint64
	for _, g := range s.groups {
		n += g.count
	}
	return int64(n)
}

// Clone returns a deep copy of s.
func (s *Statistic) Clone() *Statistic {
	c := &Statistic{layout: s.layout.clone()}
	for _, g := range s.groups {
		c.groups = append(c.groups, g.clone())
	}
	return c
}

// find returns the index of a pattern's group. If no group has the pattern, it returns the index at
// which to insert one.
func (s *Statistic) find(observed uint64) (int, bool) {
	return slices.BinarySearchFunc(s.groups, observed, func(g group, to uint64) int { return cmp.Compare(g.observed, to) })
}

// group returns the group of a pattern. If no group has the pattern, it adds one, or returns an error
// if there would be too many.
func (s *Statistic) group(observed uint64) (*group, error) {
	at, found := s.find(observed)
	if !found {
		if len(s.groups) == maxPatterns {
			return nil, fmt.Errorf("stat: more than %d patterns of missing targets", maxPatterns)
		}
		s.groups = slices.Insert(s.groups, at, newGroup(s.layout, observed))
	}
	return &s.groups[at], nil
}

// Merge adds the samples of other to s, exactly. If the plan or the layout differs, or there would be
// more than [MaxSamples] samples or 256 patterns of missing targets, it returns an error and leaves s
// unchanged.
func (s *Statistic) Merge(other *Statistic) error {
	if len(other.layout.Views) == 0 {
		return nil
	}
	if len(s.layout.Views) == 0 {
		*s = *other.Clone()
		return nil
	}
	if err := s.layout.mixes(other.layout); err != nil {
		return err
	}
	if n := s.Samples() + other.Samples(); n > MaxSamples {
		return fmt.Errorf("stat: %d samples: a statistic holds at most %d", n, int64(MaxSamples))
	}
	patterns := len(s.groups)
	for _, g := range other.groups {
		if _, found := s.find(g.observed); !found {
			patterns++
		}
	}
	if patterns > maxPatterns {
		return fmt.Errorf("stat: more than %d patterns of missing targets", maxPatterns)
	}
	for _, g := range other.groups {
		at, found := s.find(g.observed)
		if !found {
			s.groups = slices.Insert(s.groups, at, g.clone())
			continue
		}
		to := &s.groups[at]
		to.count += g.count
		for i, v := range g.sums {
			to.sums[i].add(v)
		}
		for p, v := range g.self {
			to.self[p].add(v)
		}
	}
	return nil
}

// Subtract removes the samples of part from s, exactly: s then has the bits that it would have had
// without them. The samples of part must have been added to s, in the same blocks.
//
// If the sums show that samples of part are not in s, Subtract returns an error and leaves s
// unchanged. The sums do not always show it.
func (s *Statistic) Subtract(part *Statistic) error {
	if len(part.layout.Views) == 0 {
		return nil
	}
	if err := s.layout.mixes(part.layout); err != nil {
		return err
	}
	left := make([]group, len(part.groups))
	for i, g := range part.groups {
		at, found := s.find(g.observed)
		if !found || s.groups[at].count < g.count {
			return errors.New("stat: Subtract: more samples than there are of a pattern of missing targets")
		}
		if left[i] = s.groups[at].less(g); !left[i].valid() {
			return errors.New("stat: Subtract: the samples are not among those of the statistic, or were added in other blocks")
		}
	}
	for _, g := range left {
		at, _ := s.find(g.observed)
		if s.groups[at] = g; g.count == 0 {
			s.groups = slices.Delete(s.groups, at, at+1)
		}
	}
	return nil
}

// less returns g − h. h has at most as many samples as g.
func (g group) less(h group) group {
	d := g.clone()
	d.count -= h.count
	for i, v := range h.sums {
		d.sums[i] = d.sums[i].minus(v)
	}
	for p, v := range h.self {
		d.self[p] = d.self[p].minus(v)
	}
	return d
}

// valid reports whether count samples can give the sums: no sum is larger than count of the largest
// products, no square is negative, and all sums are zero if count is 0.
func (g group) valid() bool {
	if g.count == 0 {
		none := func(v fixed) bool { return v != fixed{} }
		return !slices.ContainsFunc(g.sums, none) && !slices.ContainsFunc(g.self, none)
	}
	for i, next := 0, 0; next < len(g.sums); i++ {
		row := g.sums[next : next+i+1]
		next += i + 1
		if row[i].hi < 0 {
			return false
		}
		for _, v := range row {
			if !v.within(g.count) {
				return false
			}
		}
	}
	for _, v := range g.self {
		if v.hi < 0 || !v.within(g.count) {
			return false
		}
	}
	return true
}
