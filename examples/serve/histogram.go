package main

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// histogram counts durations by powers of two of a microsecond, without a lock: bucket k holds those below
// 2^k µs that are in no bucket before it, and the last one all longer ones too.
type histogram struct{ counts [32]atomic.Int64 }

func (h *histogram) add(d time.Duration) {
	k := bits.Len64(uint64(max(0, d.Microseconds())))
	h.counts[min(k, len(h.counts)-1)].Add(1)
}

// summary is what the service reports about its latency, in microseconds.
type summary struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50_below"` // half of all took less
	P99   int64 `json:"p99_below"`
	P999  int64 `json:"p999_below"`
}

func (h *histogram) summary() (s summary) {
	var counts [len(h.counts)]int64
	for k := range counts {
		counts[k] = h.counts[k].Load()
		s.Count += counts[k]
	}
	below := func(share float64) int64 {
		var sum int64
		for k, n := range counts {
			if sum += n; n > 0 && float64(sum) >= share*float64(s.Count) {
				return 1 << k
			}
		}
		return 0
	}
	s.P50, s.P99, s.P999 = below(0.5), below(0.99), below(0.999)
	return s
}
