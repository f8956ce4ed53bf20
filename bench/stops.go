package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/bmkl/bmkl/la"
)

// stops is a row of how long the garbage collector waits for a goroutine that is in la.
// A goroutine cannot be stopped while it runs assembly.
type stops struct {
	name string
	call func()
}

// mostWait is the longest that the collector may be kept waiting.
const mostWait = 100 * time.Microsecond

// stopRows returns a row for each kind of call.
func stopRows(w *la.Workspace) (rows list) {
	const n = 1024
	row := func(of string, build func() func()) {
		name := "GC stop/" + of
		rows.add(name, func() measurer { return stops{name, build()} })
	}
	row("a loop in Go", func() func() { // what the machine takes
		var sum float64
		return func() {
			for i := range 1 << 20 {
				sum += float64(i)
			}
		}
	})
	row("Gemm", func() func() {
		a, b, c := random(n, n, 1), random(n, n, 2), la.NewMatrix[float64](n, n)
		return func() { la.Gemm(w, la.NoTrans, la.NoTrans, 1, a, b, 0, c) }
	})
	row("Syrk", func() func() {
		a, c := random(n, n, 1), la.NewMatrix[float64](n, n)
		return func() { la.Syrk(w, la.NoTrans, 1, a, 0, c) }
	})
	row("SPDInverse", func() func() {
		s := spd(n, 1)
		a := s.Clone()
		return func() { a.CopyFrom(s); factorInvert(w, a) }
	})
	row("Symv", func() func() {
		a, x, y := spd(n, 1), random(1, n, 2).Data, make([]float64, n)
		return func() { la.Symv(w, 1, a, x, 0, y) }
	})
	row("RBF", func() func() {
		x, k := random(n, 10, 1), la.NewMatrix[float64](n, n)
		return func() { la.RBF(w, 0.01, x, x, k) }
	})
	return rows
}

func (s stops) measure(rounds int, _ time.Duration) []result {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collections but ours
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
				s.call()
			}
		}
	}()
	// The runtime keeps a histogram of the times, since the program started, from
	// the collector's request to stop to the moment at which all goroutines had stopped.
	read := func() *metrics.Float64Histogram {
		m := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
		metrics.Read(m)
		return m[0].Value.Float64Histogram()
	}
	before := read()
	for range 50 * rounds {
		runtime.GC()
	}
	after := read()
	close(end)
	<-ended

	var counts []uint64
	var total uint64
	for i, c := range after.Counts {
		counts = append(counts, c-before.Counts[i])
		total += counts[i]
	}
	at := func(p float64) float64 { // the upper end of the bucket that has the p-quantile, in µs
		rank := uint64(math.Ceil(p * float64(total)))
		for i, c := range counts {
			if c >= rank {
				return after.Buckets[i+1] * 1e6
			}
			rank -= c
		}
		return math.NaN()
	}
	limit := float64(mostWait) / float64(time.Microsecond)
	p50, p99 := at(.5), at(.99)
	return []result{
		{Name: s.name + ", p50", Unit: "µs", Value: p50},
		{Name: s.name + ", p99", Unit: "µs", Value: p99, Peer: "at most", PeerValue: limit, Ratio: limit / p99, Goal: 1},
	}
}
