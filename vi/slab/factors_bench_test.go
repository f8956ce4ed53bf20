package slab

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/random"
)

var factorScale = flag.Bool("factor.scale", false, "time sweeps of factor models from 10⁵ to 4·10⁶ entries and fit the exponents")

// syntheticRatings draws that many ratings of films by users, ½ … 5, more of some
// users and films than of others, as in ratings that people gave.
func syntheticRatings(users, films, ratings int) []Entry {
	src := random.Source(1)
	seen := make(map[int64]bool, ratings)
	entries := make([]Entry, 0, ratings)
	taste, style := make([]float64, users), make([]float64, films)
	random.Normal(src, taste)
	random.Normal(src, style)
	skewed := func(n int) int { return int(float64(n) * math.Pow(src.Float64(), 1.5)) }
	for len(entries) < ratings {
		u, f := skewed(users), skewed(films)
		if at := int64(u)*int64(films) + int64(f); !seen[at] {
			seen[at] = true
			r := 3.5 + 0.6*taste[u]*style[f] + 0.4*style[f] + 0.7*(2*src.Float64()-1)
			entries = append(entries, Entry{int32(u), int32(f), math.Round(2*min(max(r, 0.5), 5)) / 2})
		}
	}
	return entries
}

// BenchmarkFactorSweep times a sweep over a million ratings, and one over a
// dictionary of complete patches.
func BenchmarkFactorSweep(b *testing.B) {
	ratings, err := ObserveEntries(6040, 3706, syntheticRatings(6040, 3706, 1_000_000))
	require.NoError(b, err)
	patches := la.NewMatrix[float64](64, 62001)
	random.Normal(random.Source(1), patches.Data)
	complete, err := ObserveMatrix(patches)
	require.NoError(b, err)
	for _, c := range []struct {
		name string
		y    *Observed
		Factors
	}{
		{"ratings/M=20", ratings, Factors{Count: 20, Offsets: true, NoiseWeight: 10}},
		{"patches/M=64", complete, Factors{Count: 64, Noise: NoiseShared}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m, err := c.model(c.y)
			require.NoError(b, err)
			require.NoError(b, m.Sweep(nil))
			for b.Loop() {
				require.NoError(b, m.Sweep(nil))
				m.Bound()
			}
		})
	}
}

// TestFactorScale prints time and memory of a sweep against the number of entries.
func TestFactorScale(t *testing.T) {
	if !*factorScale {
		t.Skip("a measurement: -factor.scale")
	}
	heap := func() float64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc)
	}
	const M, rounds = 20, 9
	for _, grows := range []bool{false, true} {
		var models []*factors
		var x, bytes []float64
		for _, k := range []float64{0.25, 0.5, 1, 2} {
			// MovieLens-1M's shape, with more and more of it observed, or growing with
			// the number of entries.
			users, films, ratings := 6040, 3706, int(1_000_000*k)
			if grows {
				users, films = int(k*6040), int(k*3706)
			}
			entries := syntheticRatings(users, films, ratings)
			before := heap()
			y, err := ObserveEntries(users, films, entries)
			require.NoError(t, err)
			m, err := Factors{Count: M, Offsets: true, NoiseWeight: 10}.model(y)
			require.NoError(t, err)
			require.NoError(t, m.Sweep(nil))
			models, x, bytes = append(models, m), append(x, float64(ratings)), append(bytes, heap()-before)
			runtime.KeepAlive(entries)
		}
		times := make([][]float64, len(models))
		for range rounds {
			for i, m := range models {
				begin := time.Now()
				require.NoError(t, m.Sweep(nil))
				m.Bound()
				times[i] = append(times[i], time.Since(begin).Seconds())
			}
		}
		var seconds []float64
		for i, m := range models {
			slices.Sort(times[i])
			seconds = append(seconds, times[i][rounds/2])
			fmt.Printf("%9.0f entries  %6d users  %6d films  %7.1f ms a sweep  %5.1f ns an entry  %6.1f MB  %5.1f bytes an entry\n", x[i], m.N, m.Q,
				1e3*seconds[i], 1e9*seconds[i]/x[i], bytes[i]/1e6, bytes[i]/x[i])
		}
		fmt.Printf("exponent of time %.3f, of memory %.3f\n", exponent(x, seconds), exponent(x, bytes))
	}
}

// exponent fits log y = a + b·log x and returns b.
func exponent(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(x))
	for i := range x {
		u, v := math.Log(x[i]), math.Log(y[i])
		sx, sy, sxx, sxy = sx+u, sy+v, sxx+u*u, sxy+u*v
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
