package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/internal/special"
)

// study simulates one model: parameters from the prior, data given the parameters, and the posterior given the data.
type study struct {
	name  string
	about string // what the model is, for the table
	exact bool   // the posterior is exact: the places must be uniform
	runs  int    // simulations of a whole run
	small int    // simulations in the tests
	once  func(ctx context.Context, src special.Rand) ([]quantity, error)
}

// quantity is what one simulation says about a quantity of the model.
type quantity struct {
	name  string
	place float64 // of the truth in the posterior: its probability of less, uniform if the posterior is right
	ratio float64 // the posterior's standard deviation over the sampler's, 0 if there is no sampler
}

// ranked returns the place of the truth among draws of the posterior. Equal values are ranked at random, and so is
// the place within the rank: it is uniform if truth and draws are exchangeable.
func ranked(src special.Rand, name string, truth float64, draws []float64) quantity {
	less, equal := 0, 0
	for _, d := range draws {
		switch {
		case d < truth:
			less++
		case d == truth:
			equal++
		}
	}
	place := (float64(less) + src.Float64()*float64(equal+1)) / float64(len(draws)+1)
	return quantity{name: name, place: place}
}

// normal returns the place of the truth in a normal distribution.
func normal(name string, truth, mean, variance float64) quantity {
	z := (truth - mean) / math.Sqrt(variance)
	return quantity{name: name, place: math.Exp(special.LogNormalCDF(z))}
}

// beside adds the standard deviation of a sampler's draws of the same quantity.
func (q quantity) beside(sd float64, draws []float64) quantity {
	if _, s := moments(draws); s > 0 {
		q.ratio = sd / s
	}
	return q
}

// moments returns the mean and the standard deviation of x.
func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}

// outcome is all simulations of a quantity.
type outcome struct {
	name          string
	places, ratio []float64
}

// run makes n simulations, each with a random stream of its own, and returns the quantities in their order. The result
// depends on the seed and not on the number of workers.
func (s study) run(ctx context.Context, seed uint64, n, workers int) ([]outcome, error) {
	all, errs := make([][]quantity, n), make([]error, n)
	var wg sync.WaitGroup
	next := make(chan int)
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range workers {
		wg.Go(func() {
			for i := range next {
				all[i], errs[i] = s.once(ctx, special.NewRand(rand.NewPCG(seed^s.stream(), uint64(i))))
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var out []outcome
	for i, one := range all {
		if errs[i] != nil {
			return nil, fmt.Errorf("%s: simulation %d: %w", s.name, i, errs[i])
		}
		for _, q := range one {
			k := slices.IndexFunc(out, func(o outcome) bool { return o.name == q.name })
			if k < 0 {
				k, out = len(out), append(out, outcome{name: q.name})
			}
			o := &out[k]
			o.places = append(o.places, q.place)
			if q.ratio > 0 {
				o.ratio = append(o.ratio, q.ratio)
			}
		}
	}
	return out, nil
}

// stream makes the random streams of studies differ.
func (s study) stream() uint64 {
	h := fnv.New64a()
	h.Write([]byte(s.name))
	return h.Sum64()
}

// record is a line of the table.
type record struct {
	Model       string  `json:"model"`
	Quantity    string  `json:"quantity"`
	Exact       bool    `json:"exact"`
	Simulations int     `json:"simulations"`
	Low         float64 `json:"low"`   // share of places below 0.05, %
	High        float64 `json:"high"`  // share of places above 0.95, %
	Ratio       float64 `json:"ratio"` // median of the ratios, 0 without a sampler
	P           float64 `json:"p"`     // of uniform places
}

func (s study) record(o outcome) record {
	r := record{Model: s.name, Quantity: o.name, Exact: s.exact, Simulations: len(o.places), P: pValue(o.places)}
	for _, u := range o.places {
		switch {
		case u < 0.05:
			r.Low += 100 / float64(len(o.places))
		case u > 0.95:
			r.High += 100 / float64(len(o.places))
		}
	}
	if len(o.ratio) > 0 {
		r.Ratio = median(o.ratio)
	}
	return r
}

// median returns the middle value of x.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
