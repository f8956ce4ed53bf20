package main

import (
	"cmp"
	"slices"
	"time"
)

// A contender is one way to do a row's work.
type contender struct {
	name string
	// setup prepares the k copies that the next k calls of run consume; it is
	// not timed. nil: nothing to prepare.
	setup func(k int)
	run   func(i int) // one call, on copy i
	max   int         // most calls after one setup; 0: no limit
	work  float64     // flops, bytes or elements of one call, if not the row's
}

// sample is the time of one call: the median over the rounds and the quartiles.
type sample struct{ q1, median, q3 float64 } // seconds

// measure times the contenders in turn, round after round, so that what
// disturbs the machine disturbs them alike. A round's batch of calls takes
// about budget seconds.
func measure(cs []contender, rounds int, budget time.Duration) []sample {
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

func quartiles(ts []float64) sample {
	slices.SortFunc(ts, cmp.Compare)
	at := func(p float64) float64 { return ts[int(p*float64(len(ts)-1)+0.5)] }
	return sample{q1: at(0.25), median: at(0.5), q3: at(0.75)}
}
