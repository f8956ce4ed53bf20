package choose

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Plan says how samples are divided. The zero value makes five folds of samples in
// random order.
type Plan struct {
	Folds int // in each repetition; 0 means 5

	// Repeats is the number of repetitions, each with another random order; 0 means 1. If it is above 1, all
	// repetitions together may have 2²⁰ folds, and 2²⁷ indices in their Train and Test: [Split] refuses more.
	Repeats int

	Seed uint64 // of the order

	// Strata gives every fold its share of each stratum, such as a class: the stratum
	// of each sample, any number from 0. Nil: no strata.
	Strata []int

	// Groups keeps samples together: the samples of one group are never divided between
	// training and test. Nil: every sample is a group of its own.
	Groups []int

	// Time tests on later samples: the samples, ordered by their times, are cut into one
	// part more than there are folds; fold k is tested on part k+1 and trained on all
	// samples before it. Samples of one time stay together. Nothing is random then, and Repeats, Strata
	// and Groups must not be set.
	Time []float64
}

// Fold divides the samples into two lists of indices, both ascending.
type Fold struct {
	Train, Test []int // to learn from, and to predict
}

// check returns an error if the fold lacks training or test samples, or has indices outside of 0 … n−1. name is the
// fold's name in the error.
func (f Fold) check(name string, n int) error {
	if len(f.Train) == 0 || len(f.Test) == 0 {
		return fmt.Errorf("choose: %s has %d training and %d test samples", name, len(f.Train), len(f.Test))
	}
	for p, rows := range [...][]int{f.Train, f.Test} {
		for k, i := range rows {
			if i < 0 || i >= n {
				return fmt.Errorf("choose: %s.%s[%d] is %d, and there are %d samples", name, [...]string{"Train", "Test"}[p], k, i, n)
			}
		}
	}
	return nil
}

// Limits of all repetitions together: the number of folds (each is a fit) and the number of indices in
// Train and Test, which take a gigabyte.
const (
	mostFolds  = 1 << 20
	mostListed = 1 << 27
)

// Split divides n samples. The folds of the first repetition come first. The same
// arguments always give the same folds. Errors name the field of the plan, or say that there are too few
// samples, groups or times for the folds.
func Split(n int, p Plan) ([]Fold, error) {
	folds, repeats := p.Folds, p.Repeats
	if folds == 0 {
		folds = 5
	}
	if repeats == 0 {
		repeats = 1
	}
	switch {
	case folds < 2:
		return nil, fmt.Errorf("choose: Folds is %d: two at least are needed", folds)
	case repeats < 1:
		return nil, fmt.Errorf("choose: Repeats is %d", repeats)
	case p.Strata != nil && len(p.Strata) != n:
		return nil, fmt.Errorf("choose: Strata has %d samples, not %d", len(p.Strata), n)
	case p.Groups != nil && len(p.Groups) != n:
		return nil, fmt.Errorf("choose: Groups has %d samples, not %d", len(p.Groups), n)
	}
	for i, s := range p.Strata {
		if s < 0 {
			return nil, fmt.Errorf("choose: Strata[%d] is %d", i, s)
		}
	}
	if p.Time != nil {
		return p.byTime(n, folds, repeats)
	}
	groups := p.groups(n)
	if len(groups) < folds {
		what := "samples"
		if p.Groups != nil {
			what = "groups"
		}
		return nil, fmt.Errorf("choose: %d %s are too few for %d folds", len(groups), what, folds)
	}
	if most := max(1, min(mostFolds/int64(folds), mostListed/(int64(folds)*int64(n)))); int64(repeats) > most {
		return nil, fmt.Errorf("choose: Repeats is %d: with %d folds of %d samples it may be at most %d", repeats, folds, n, most)
	}
	p.Strata = ranks(p.Strata)
	rng := rand.New(rand.NewPCG(p.Seed, 0x666f6c6473))
	var all []Fold
	for range repeats {
		all = append(all, divide(p.deal(groups, folds, rng), folds)...)
	}
	return all, nil
}

// ranks returns for each number its rank among the distinct numbers, from 0.
func ranks(x []int) []int {
	all := slices.Compact(slices.Sorted(slices.Values(x)))
	out := slices.Clone(x)
	for i, v := range x {
		out[i], _ = slices.BinarySearch(all, v)
	}
	return out
}

// groups lists the samples of each group, in the order of their first samples.
func (p *Plan) groups(n int) (all [][]int) {
	at := map[int]int{}
	for i := range n {
		k := len(all)
		if p.Groups != nil {
			if first, ok := at[p.Groups[i]]; ok {
				all[first] = append(all[first], i)
				continue
			}
			at[p.Groups[i]] = k
		}
		all = append(all, []int{i})
	}
	return all
}

// deal returns the fold of each sample. It deals out the groups stratum by stratum, large ones first, else in random
// order. A group goes to the fold with the least overlap: Σ over strata of the number of the group's samples times the
// number of the fold's, divided by the number of all samples of the stratum. If folds are equal, it goes to the fold with
// the fewest samples.
func (p *Plan) deal(groups [][]int, folds int, rng *rand.Rand) []int {
	stratum := func(i int) int {
		if p.Strata == nil {
			return 0
		}
		return p.Strata[i]
	}
	n, strata := 0, 1
	for _, g := range groups {
		n += len(g)
		for _, i := range g {
			strata = max(strata, stratum(i)+1)
		}
	}
	total := make([]float64, strata)
	for i := range n {
		total[stratum(i)]++
	}
	groups = slices.Clone(groups)
	rng.Shuffle(len(groups), func(a, b int) { groups[a], groups[b] = groups[b], groups[a] })
	slices.SortStableFunc(groups, func(a, b []int) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(stratum(a[0]), stratum(b[0])))
	})
	fold, size, has := make([]int, n), make([]int, folds), make([][]float64, folds)
	for k := range has {
		has[k] = make([]float64, strata)
	}
	for _, g := range groups {
		best, least := 0, math.Inf(1)
		for k := range folds {
			var crowded float64
			for _, i := range g {
				s := stratum(i)
				crowded += has[k][s] / total[s]
			}
			if crowded < least || crowded == least && size[k] < size[best] {
				best, least = k, crowded
			}
		}
		for _, i := range g {
			fold[i] = best
			size[best]++
			has[best][stratum(i)]++
		}
	}
	return fold
}

// divide makes folds from test, the fold in which each sample is tested.
func divide(test []int, folds int) []Fold {
	all := make([]Fold, folds)
	for i, own := range test {
		for k := range all {
			if k == own {
				all[k].Test = append(all[k].Test, i)
			} else {
				all[k].Train = append(all[k].Train, i)
			}
		}
	}
	return all
}

// byTime divides the samples as Plan.Time says.
func (p *Plan) byTime(n, folds, repeats int) ([]Fold, error) {
	switch {
	case len(p.Time) != n:
		return nil, fmt.Errorf("choose: Time has %d samples, not %d", len(p.Time), n)
	case repeats > 1 || p.Strata != nil || p.Groups != nil:
		return nil, errors.New("choose: Time excludes Repeats, Strata and Groups")
	}
	if n <= folds { // there is one part more than folds
		return nil, fmt.Errorf("choose: Time: %d samples are too few for %d folds", n, folds)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
		if math.IsNaN(p.Time[i]) {
			return nil, fmt.Errorf("choose: Time[%d] is NaN", i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Time[a], p.Time[b]) })
	cuts := []int{0} // where the parts begin, and n
	for k := 1; k <= folds; k++ {
		at := k * n / (folds + 1)
		for at > 0 && at < n && p.Time[order[at-1]] == p.Time[order[at]] {
			at++ // samples of one time stay together
		}
		cuts = append(cuts, at)
	}
	cuts = append(cuts, n)
	var all []Fold
	for k := 1; k <= folds; k++ {
		f := Fold{Train: slices.Clone(order[:cuts[k]]), Test: slices.Clone(order[cuts[k]:cuts[k+1]])}
		if cuts[k] == 0 || cuts[k+1] <= cuts[k] {
			return nil, fmt.Errorf("choose: Time: so many samples have the same time that one of the %d parts would be empty", folds+1)
		}
		slices.Sort(f.Train)
		slices.Sort(f.Test)
		all = append(all, f)
	}
	return all, nil
}
