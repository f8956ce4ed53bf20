package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/bmkl/bmkl/mkl"
)

// beside is a row of the times of single predictions that many goroutines make of one
// predictor while a fit runs in the same program.
//
// Each goroutine predicts and rests for a while: those that never rest would measure how
// many they are. A time covers the call alone; the scheduler may give the
// processor to the fit. A second call follows at once, and in turn with both a call that does
// nothing: after a rest caches are cold and the processor wakes, which the second call does
// not see, and the empty one sees without any work of ours.
type beside struct {
	name    string
	workers int // of the fit; 0 means no fit
}

const (
	callers = 64
	rest    = 20 * time.Millisecond // on average
)

// besideRows returns the rows: without a fit, with one that leaves a processor free, and
// with one that takes them all.
func besideRows() (rows list) {
	all := runtime.GOMAXPROCS(0)
	for _, b := range []beside{
		{"prediction beside/no fit", 0},
		{"prediction beside/a fit that leaves a processor", max(1, all-1)},
		{"prediction beside/a fit on every processor", all},
	} {
		rows.add(b.name, func() measurer { return b })
	}
	return rows
}

func (b beside) measure(rounds int, budget time.Duration) []result {
	c := newCurve(133)
	p, err := fitRegression(c, c.views(-3, 3), fitting{Ascent: mkl.Ascent{MaxSweeps: 20}}).Predictor(mkl.PredictorOptions{})
	must(err)

	ctx, cancel := context.WithCancel(context.Background())
	var fits sync.WaitGroup
	if b.workers > 0 {
		large := newCurve(1500)
		fits.Go(func() {
			for ctx.Err() == nil {
				_, err := mkl.Regression{Fitting: mkl.Fitting{Workers: b.workers}, Ascent: mkl.Ascent{Tolerance: -1}}.Fit(ctx, large.views(-3, 3), large.y)
				if ctx.Err() == nil { // whose end ends the last fit
					must(err)
				}
			}
		})
	}
	var (
		clients              sync.WaitGroup
		mutex                sync.Mutex
		first, second, empty []float64
	)
	end := time.Now().Add(time.Duration(10*rounds) * budget)
	for seed := range uint64(callers) {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(seed, 64))
			x := [][]float64{{0}}
			predict := func() {
				_, _, err := p.Predict(x...)
				must(err)
			}
			var own [3][]float64
			timed := func(i int, call func()) {
				t := time.Now()
				call()
				own[i] = append(own[i], time.Since(t).Seconds()*1e6)
			}
			for time.Now().Before(end) {
				time.Sleep(time.Duration(2 * r.Float64() * float64(rest)))
				if r.IntN(2) == 0 {
					timed(2, func() {})
					continue
				}
				x[0][0] = float64(4*r.Float64()) - 2
				timed(0, predict)
				timed(1, predict)
			}
			mutex.Lock()
			defer mutex.Unlock()
			first, second, empty = append(first, own[0]...), append(second, own[1]...), append(empty, own[2]...)
		})
	}
	clients.Wait()
	cancel()
	fits.Wait()

	at := func(times []float64, p float64) float64 { return times[int(p*float64(len(times)-1))] }
	var out []result
	for _, c := range []struct {
		of    string
		times []float64
	}{{"", first}, {" of a second call at once", second}, {" of an empty call", empty}} {
		slices.Sort(c.times)
		out = append(out,
			result{Name: b.name + ", p50" + c.of, Unit: "µs", Value: at(c.times, .5)},
			result{Name: b.name + ", p99" + c.of, Unit: "µs", Value: at(c.times, .99)},
			result{Name: b.name + ", p99.9" + c.of, Unit: "µs", Value: at(c.times, .999)},
		)
	}
	goal := 3 * at(first, .5)
	out[2].Peer, out[2].PeerValue, out[2].Ratio, out[2].Goal = "three times p50", goal, goal/out[2].Value, 1
	return out
}
