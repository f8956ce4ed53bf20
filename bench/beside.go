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
// many they are. A time is that of the call alone, in which the scheduler may give the
// processor to the fit.
type beside struct {
	name    string
	workers int // of the fit; 0 means that there is none
}

const (
	callers = 64
	rest    = 20 * time.Millisecond // on average
)

// besideRows yields the rows: without a fit, with one that leaves a processor free, and
// with one that takes them all.
func besideRows(yield func(string, func() measurer) bool) bool {
	all := runtime.GOMAXPROCS(0)
	for _, b := range []beside{
		{"prediction beside/no fit", 0},
		{"prediction beside/a fit that leaves a processor", max(1, all-1)},
		{"prediction beside/a fit on every processor", all},
	} {
		if !yield(b.name, func() measurer { return b }) {
			return false
		}
	}
	return true
}

func (b beside) measure(rounds int, budget time.Duration) []result {
	c := newCurve(133)
	p, err := fitRegression(c, c.views(-3, 3), mkl.Fitting{MaxSweeps: 20}).Predictor(mkl.PredictorOptions{})
	must(err)

	ctx, cancel := context.WithCancel(context.Background())
	var fits sync.WaitGroup
	if b.workers > 0 {
		large := newCurve(1500)
		fits.Go(func() {
			for ctx.Err() == nil {
				_, err := mkl.Regression{Fitting: mkl.Fitting{Workers: b.workers, Tolerance: -1}}.Fit(ctx, large.views(-3, 3), large.y)
				if ctx.Err() == nil { // whose end ends the last fit
					must(err)
				}
			}
		})
	}
	var (
		clients sync.WaitGroup
		mutex   sync.Mutex
		times   []float64
	)
	end := time.Now().Add(time.Duration(10*rounds) * budget)
	for seed := range uint64(callers) {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(seed, 64))
			x, own := [][]float64{{0}}, []float64(nil)
			for time.Now().Before(end) {
				time.Sleep(time.Duration(2 * r.Float64() * float64(rest)))
				x[0][0] = float64(4*r.Float64()) - 2
				t := time.Now()
				_, _, err := p.Predict(x...)
				own = append(own, time.Since(t).Seconds()*1e6)
				must(err)
			}
			mutex.Lock()
			defer mutex.Unlock()
			times = append(times, own...)
		})
	}
	clients.Wait()
	cancel()
	fits.Wait()

	slices.Sort(times)
	at := func(p float64) float64 { return times[int(p*float64(len(times)-1))] }
	return []result{
		{Name: b.name + ", p50", Unit: "µs", Value: at(.5)},
		{Name: b.name + ", p99", Unit: "µs", Value: at(.99)},
		{Name: b.name + ", p99.9", Unit: "µs", Value: at(.999), Peer: "three times p50", PeerValue: 3 * at(.5), Ratio: 3 * at(.5) / at(.999), Goal: 1},
	}
}
