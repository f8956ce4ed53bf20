package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// drawn are standard normal features with a function of them that has a product, and targets of each kind.
type drawn struct {
	x      mkl.Features
	f      []float64 // the true function
	counts []float64 // negative binomial, r = 4, the mean e^(½+f)
	times  []mkl.Lifetime
	grades []int // 0 to 4
}

func features(r *rand.Rand, n, columns int) mkl.Features {
	x := la.NewMatrix[float64](n, columns)
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	return x
}

func draw(seed uint64, n int) drawn {
	r := rand.New(rand.NewPCG(seed, 12))
	d := drawn{x: features(r, n, 6), grades: make([]int, n)}
	for i := range n {
		x := d.x.Row(i)
		f := 0.8*math.Sin(2*x[0]) + 0.5*x[1]*x[2] - 0.4*x[3]
		var g, count float64
		for range 4 {
			g += r.ExpFloat64() / 4
		}
		for left := math.Exp(0.5+f)*g - r.ExpFloat64(); left > 0; left -= r.ExpFloat64() {
			count++
		}
		d.f, d.counts = append(d.f, f), append(d.counts, count)
		time, limit := math.Exp(f+0.6*math.Log(r.ExpFloat64())), 3*r.Float64()
		if time < limit {
			d.times = append(d.times, mkl.EventAt(time))
		} else {
			d.times = append(d.times, mkl.EventAfter(limit))
		}
		for _, c := range []float64{-1, -0.3, 0.4, 1.2} {
			if e := f + 0.6*r.NormFloat64(); e > c {
				d.grades[i]++
			}
		}
	}
	return d
}

// drawRare draws times. The first few of them are known. The others are censored soon after the last known one.
func drawRare(seed uint64, n, events int) (mkl.Features, []mkl.Lifetime) {
	r := rand.New(rand.NewPCG(seed, 31))
	x, times := features(r, n, 4), make([]float64, n)
	for i := range times {
		v := x.Row(i)
		f := 0.8*math.Sin(2*v[0]) + 0.5*v[1] - 0.4*v[2]*v[3]
		times[i] = math.Exp(f + 0.6*math.Log(r.ExpFloat64()))
	}
	sorted := slices.Sorted(slices.Values(times))
	end := (sorted[events-1] + sorted[events]) / 2
	out := make([]mkl.Lifetime, n)
	for i, t := range times {
		if limit := end * (1 + 1e-3*r.Float64()); t < end {
			out[i] = mkl.EventAt(t)
		} else {
			out[i] = mkl.EventAfter(limit)
		}
	}
	return x, out
}
