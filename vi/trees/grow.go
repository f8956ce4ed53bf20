package trees

import (
	"math"

	"github.com/bmkl/bmkl/vi/internal/work"
)

// grower grows trees, the leaf that gains most first. Every feature's sums are computed by one worker in the order of the
// samples, so that trees do not depend on the number of workers.
type grower struct {
	*binned
	weight []float64 // [sample], nil for ones
	least  int       // samples of a leaf
	most   int       // leaves
	crew   *work.Crew[struct{}]
}

// cell is the sum of targets, the sum of weights and the number of samples in an interval of a feature.
type cell struct {
	sum, weight float64
	n           int
}

// growing is a leaf of a growing tree.
type growing struct {
	rows        []int32
	sum, weight float64
	sums        [][]cell // [feature][interval]

	best    split
	feature int  // of the best split
	parent  int  // split that leads here
	high    bool // by its High
}

// shrinkage is the number of samples of mean 0 and weight 1 that count in each leaf.
const shrinkage = 1

// worth returns what a leaf explains of the squares of the residuals, which have a sum and a sum of weights.
func worth(sum, weight float64) float64 { return float64(sum*sum) / (weight + shrinkage) }

// grow grows a tree on the residuals r of rows, which it reorders.
func (g *grower) grow(rows []int32, r []float64) (Tree, error) {
	root := &growing{rows: rows, parent: -1}
	if err := g.measure(root, r); err != nil {
		return Tree{}, err
	}
	leaves := []*growing{root}
	var t Tree
	for len(leaves) < g.most {
		best := 0
		for k, l := range leaves {
			if l.best.gain > leaves[best].best.gain {
				best = k
			}
		}
		l := leaves[best]
		if !(l.best.gain > 0) {
			break
		}
		at := len(t.Splits)
		t.Splits = append(t.Splits, Split{Feature: l.feature, At: g.place(l)})
		t.connect(l, at)
		low, high := g.divide(l)
		low.parent, high.parent, high.high = at, at, true
		few, many := low, high
		if len(few.rows) > len(many.rows) {
			few, many = many, few
		}
		if err := g.measure(few, r); err != nil {
			return t, err
		}
		if err := g.remaining(many, l, few); err != nil {
			return t, err
		}
		leaves[best] = low
		leaves = append(leaves, high)
	}
	for k, l := range leaves {
		t.connect(l, -1-k)
	}
	t.Leaves = len(leaves)
	return t, nil
}

// connect makes the split above a leaf lead to a number.
func (t *Tree) connect(l *growing, to int) {
	switch {
	case l.parent < 0:
	case l.high:
		t.Splits[l.parent].High = to
	default:
		t.Splits[l.parent].Low = to
	}
}

// divide divides the rows of a leaf at its best split, and keeps their order.
func (g *grower) divide(l *growing) (low, high *growing) {
	bins := g.of[l.feature]
	var above []int32
	n := 0
	for _, i := range l.rows {
		if int(bins[i]) <= l.best.bin {
			l.rows[n] = i
			n++
		} else {
			above = append(above, i)
		}
	}
	copy(l.rows[n:], above)
	return &growing{rows: l.rows[:n]}, &growing{rows: l.rows[n:]}
}

// measure computes the sums of a leaf, and its best split.
func (g *grower) measure(l *growing, r []float64) error {
	for _, i := range l.rows {
		l.sum += r[i]
	}
	l.weight = float64(len(l.rows))
	if g.weight != nil {
		l.weight = 0
		for _, i := range l.rows {
			l.weight += g.weight[i]
		}
	}
	l.sums = make([][]cell, len(g.of))
	return g.each(l, func(f int) {
		s := make([]cell, len(g.edges[f])+1)
		g.fill(s, g.of[f], l.rows, r)
		l.sums[f] = s
	})
}

// fill adds the sums of rows to the cells of the intervals of a feature.
func (g *grower) fill(s []cell, bins []uint8, rows []int32, r []float64) {
	if g.weight != nil {
		for _, i := range rows {
			c := &s[bins[i]]
			c.sum += r[i]
			c.weight += g.weight[i]
			c.n++
		}
		return
	}
	for _, i := range rows {
		c := &s[bins[i]]
		c.sum += r[i]
		c.n++
	}
	for b := range s {
		s[b].weight = float64(s[b].n)
	}
}

// remaining computes the sums of a leaf: the sums of its parent, which it takes, less the sums of the other leaf.
func (g *grower) remaining(l, parent, other *growing) error {
	l.sum, l.weight, l.sums = parent.sum-other.sum, parent.weight-other.weight, parent.sums
	parent.sums = nil
	return g.each(l, func(f int) {
		for b := range l.sums[f] {
			l.sums[f][b].sum -= other.sums[f][b].sum
			l.sums[f][b].weight -= other.sums[f][b].weight
			l.sums[f][b].n -= other.sums[f][b].n
		}
	})
}

// split is a way to divide a leaf.
type split struct {
	gain   float64
	within float64 // gains that differ by less are equal but for rounding
	bin    int     // the last interval that goes to Low, which is not empty
	off    int     // by how many samples the two leaves differ
}

// better reports whether the split gains more than another one. Of two splits that gain the same the better one divides the samples more evenly.
func (s split) better(than split) bool {
	if math.Abs(s.gain-than.gain) > max(s.within, than.within) {
		return s.gain > than.gain
	}
	return s.off < than.off
}

// each calls sum for each feature and then finds the best split. Of equal ones the first counts.
func (g *grower) each(l *growing, sum func(f int)) error {
	best := make([]split, len(g.of))
	err := g.crew.First(len(g.of), func(_ struct{}, f int) error {
		sum(f)
		best[f] = g.best(l, f)
		return nil
	})
	for f, s := range best {
		if s.gain > 0 && (l.best.gain == 0 || s.better(l.best)) {
			l.best, l.feature = s, f
		}
	}
	return err
}

const (
	leastGain = 1e-9  // the gain of a split in units of the squares that the leaf explains, below which it is rounding
	sameGain  = 1e-12 // the difference of two gains in units of the squares that the new leaves explain, below which it is rounding
)

// best returns the best split of a leaf by feature f.
func (g *grower) best(l *growing, f int) (s split) {
	whole := worth(l.sum, l.weight)
	var below cell
	for b := range l.sums[f][:len(l.sums[f])-1] {
		below.sum += l.sums[f][b].sum
		below.weight += l.sums[f][b].weight
		below.n += l.sums[f][b].n
		above := len(l.rows) - below.n
		if l.sums[f][b].n == 0 || below.n < g.least {
			continue
		}
		if above < g.least {
			break
		}
		explained := worth(below.sum, below.weight) + worth(l.sum-below.sum, l.weight-below.weight)
		found := split{explained - whole, sameGain * explained, b, max(above-below.n, below.n-above)}
		if found.gain > leastGain*math.Abs(whole) && (s.gain == 0 || found.better(s)) {
			s = found
		}
	}
	return s
}

// place returns the value at which a leaf divides: in the middle of the gap between its samples. The intervals that begin and end the gap have
// samples, the others between them have none.
func (g *grower) place(l *growing) float64 {
	edges, cells := g.edges[l.feature], l.sums[l.feature]
	end := l.best.bin + 1
	for cells[end].n == 0 {
		end++
	}
	return float64(0.5*edges[l.best.bin]) + float64(0.5*edges[end-1])
}
