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
	max   int         // most calls between two setups; 0: no limit
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
		if c.setup != nil {
			c.setup(k)
		}
		t := time.Now()
		for i := range k {
			c.run(i)
		}
		return time.Since(t).Seconds()
	}
	for i, c := range cs {
		k := 1
		for {
			t := batch(c, k)
			limit := c.max > 0 && k >= c.max
			if t > budget.Seconds()/2 || limit {
				break
			}
			k *= 2
			if c.max > 0 {
				k = min(k, c.max)
			}
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
