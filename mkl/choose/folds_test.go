package choose

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cyclic is 0, 1, …, of−1, 0, 1, … for n samples.
func cyclic(n, of int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i % of
	}
	return all
}

// TestSplit checks what every division promises: in each repetition every sample is tested
// once, and trained on in all other folds.
func TestSplit(t *testing.T) {
	rare := make([]int, 40) // 4 samples of stratum 1, 9 of stratum 2
	for i := range 13 {
		rare[3*i] = 1 + min(1, i/4)
	}
	for _, c := range []struct {
		name    string
		n       int
		plan    Plan
		folds   int
		repeats int
		spread  int // greatest difference of the folds' sizes
	}{
		{"default", 23, Plan{}, 5, 1, 1},
		{"each alone", 7, Plan{Folds: 7}, 7, 1, 0},
		{"repeated", 23, Plan{Folds: 4, Repeats: 3, Seed: 5}, 4, 3, 1},
		{"stratified", 40, Plan{Strata: rare}, 5, 1, 1},
		{"grouped", 60, Plan{Folds: 3, Groups: cyclic(60, 12)}, 3, 1, 0},
		{"both", 60, Plan{Folds: 3, Groups: cyclic(60, 12), Strata: cyclic(60, 2)}, 3, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := Split(c.n, c.plan)
			require.NoError(t, err)
			again, err := Split(c.n, c.plan)
			require.NoError(t, err)
			assert.Equal(t, all, again)
			require.Len(t, all, c.folds*c.repeats)
			for r := range c.repeats {
				tested := make([]int, c.n)
				least, most := c.n, 0
				for _, f := range all[r*c.folds : (r+1)*c.folds] {
					least, most = min(least, len(f.Test)), max(most, len(f.Test))
					assert.True(t, slices.IsSorted(f.Train))
					assert.True(t, slices.IsSorted(f.Test))
					both := append(slices.Clone(f.Train), f.Test...)
					slices.Sort(both)
					assert.Equal(t, cyclic(c.n, c.n), both)
					strata, groups := map[int]int{}, map[int]bool{}
					for _, i := range f.Test {
						tested[i]++
						if c.plan.Strata != nil {
							strata[c.plan.Strata[i]]++
						}
						if c.plan.Groups != nil {
							groups[c.plan.Groups[i]] = true
						}
					}
					if c.plan.Groups != nil {
						assert.False(t, slices.ContainsFunc(f.Train, func(i int) bool { return groups[c.plan.Groups[i]] }))
					}
					for s, n := range strata {
						total := 0
						for _, v := range c.plan.Strata {
							if v == s {
								total++
							}
						}
						assert.InDelta(t, float64(total)/float64(c.folds), n, 0.999, "stratum %d", s)
					}
				}
				assert.LessOrEqual(t, most-least, c.spread)
				assert.Equal(t, slices.Repeat([]int{1}, c.n), tested)
			}
		})
	}
	a, err := Split(50, Plan{Seed: 1})
	require.NoError(t, err)
	b, err := Split(50, Plan{Seed: 2})
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
	twice, err := Split(50, Plan{Seed: 1, Repeats: 2})
	require.NoError(t, err)
	assert.Equal(t, a, twice[:5])
	assert.NotEqual(t, a, twice[5:])
}

// What comes later is never trained on, and samples of one time stay together.
func TestSplitByTime(t *testing.T) {
	times := make([]float64, 31)
	for i := range times {
		times[i] = math.Floor(math.Mod(float64(i*11), 31) / 3) // eleven days, out of order
	}
	all, err := Split(len(times), Plan{Folds: 4, Time: times})
	require.NoError(t, err)
	require.Len(t, all, 4)
	tested := 0
	for k, f := range all {
		last, first := math.Inf(-1), math.Inf(1)
		for _, i := range f.Train {
			last = max(last, times[i])
		}
		for _, i := range f.Test {
			first = min(first, times[i])
		}
		assert.Less(t, last, first)
		tested += len(f.Test)
		if k > 0 {
			assert.Len(t, f.Train, len(all[k-1].Train)+len(all[k-1].Test))
		}
	}
	assert.Equal(t, len(times)-len(all[0].Train), tested)
}

func TestSplitErrors(t *testing.T) {
	for _, c := range []struct {
		n    int
		plan Plan
		want string
	}{
		{10, Plan{Folds: 1}, "Folds is 1"},
		{10, Plan{Repeats: -1}, "Repeats is -1"},
		{4, Plan{}, "4 samples are too few for 5 folds"},
		{10, Plan{Groups: cyclic(10, 3)}, "3 groups are too few for 5 folds"},
		{10, Plan{Groups: cyclic(9, 3)}, "Groups has 9 samples, not 10"},
		{10, Plan{Strata: cyclic(9, 3)}, "Strata has 9 samples, not 10"},
		{2, Plan{Folds: 2, Strata: []int{0, -1}}, "Strata[1] is -1"},
		{2, Plan{Folds: 2, Time: []float64{1}}, "Time has 1 samples, not 2"},
		{3, Plan{Folds: 2, Time: []float64{1, math.NaN(), 2}}, "Time[1] is NaN"},
		{9, Plan{Folds: 2, Time: make([]float64, 9)}, "choose: Time: so many samples have the same time that one of the 3 parts would be empty"},
		{9, Plan{Folds: 2, Time: []float64{0, 0, 0, 0, 0, 0, 1, 2, 3}}, "one of the 3 parts would be empty"},
		{3, Plan{Folds: 2, Repeats: 2, Time: []float64{1, 2, 3}}, "Time excludes Repeats"},
	} {
		_, err := Split(c.n, c.plan)
		assert.ErrorContains(t, err, c.want)
	}
}

// Numbers that no machine can hold are errors, and strata may have any numbers.
func TestSplitOfHugeNumbers(t *testing.T) {
	huge := strconv.Itoa(math.MaxInt)
	for want, p := range map[string]Plan{
		"choose: Time: 6 samples are too few for " + huge + " folds":                          {Folds: math.MaxInt, Time: []float64{1, 2, 3, 4, 5, 6}},
		"choose: 6 samples are too few for " + huge + " folds":                                {Folds: math.MaxInt},
		"choose: Repeats is " + huge + ": with 2 folds of 6 samples it may be at most 524288": {Folds: 2, Repeats: math.MaxInt},
	} {
		_, err := Split(6, p)
		assert.EqualError(t, err, want)
	}
	few, err := Split(6, Plan{Folds: 2, Strata: []int{0, 1, 0, 1, 1, 0}})
	require.NoError(t, err)
	far, err := Split(6, Plan{Folds: 2, Strata: []int{7, math.MaxInt, 7, math.MaxInt, math.MaxInt, 7}})
	require.NoError(t, err)
	assert.Equal(t, few, far)
}
