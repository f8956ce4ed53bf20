package main

import (
	"cmp"
	"slices"
	"time"
)

// A contender is one way to do a row's work.
type contender struct {
	name string
	// setup, if not nil, prepares k copies of what run destroys, for the next k
	// calls. It is not timed.
	setup func(k int)
	run   func(i int) // makes one call, on copy i
	max   int         // the most calls after one setup; 0: no limit
	work  float64     // flops, bytes or elements of one call; 0: the row's
}

// sample is the time of one call in seconds: the median over the rounds, and the
// quartiles.
type sample struct{ q1, median, q3 float64 }

// inTurn times the contenders in turn, round after round, so that what disturbs the
// machine disturbs them alike. In a round each makes as many calls as take about budget.
func inTurn(cs []contender, rounds int, budget time.Duration) []sample {
	calls := make([]int, len(cs))
	times := make([][]float64, len(cs))
	batch := func(c contender, k int) float64 {
		var spent time.Duration
		for k > 0 {
			n := k
			if c.max > 0 {
				n = min(k, c.max)
			}
			if c.setup != nil {
				c.setup(n)
			}
			t := time.Now()
			for i := range n {
				c.run(i)
			}
			spent += time.Since(t)
			k -= n
		}
		return spent.Seconds()
	}
	for i, c := range cs {
		k := 1
		for batch(c, k) <= budget.Seconds()/2 {
			k *= 2
		}
		calls[i] = k
	}
	for range rounds {
		for i, c := range cs {
			times[i] = append(times[i], batch(c, calls[i])/float64(calls[i]))
		}
	}
	out := make([]sample, len(cs))
	for i, ts := range times {
		out[i] = quartiles(ts)
	}
	return out
}

// quartiles returns the quartiles of times, which it sorts.
func quartiles(ts []float64) sample {
	slices.SortFunc(ts, cmp.Compare)
	at := func(p float64) float64 { return ts[int(p*float64(len(ts)-1)+0.5)] }
	return sample{q1: at(0.25), median: at(0.5), q3: at(0.75)}
}
