// Landmarks fits counts, times and grades that it draws, exactly and by landmarks, and prints the scores of other samples:
//
//	go run ./bench/landmarks -seeds 3 -kinds counts,grades
//	go run ./bench/landmarks -seeds 3 -kinds rare
//	go run ./bench/landmarks -seeds 1 -kinds counts -run 3000:2000
//	go run ./bench/landmarks -seeds 3 -retold counts.csv -landmarks 300
//
// The kind rare has 3500 times with five events, and prints whether the fits of each law have converged. With -retold
// it fits counts of files with their rows, columns and units as they are and in other ways.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"strings"
	"time"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

func main() {
	seeds := flag.Int("seeds", 1, "draws of each kind")
	kinds := flag.String("kinds", "counts,times,grades", "kinds of targets: counts, times, grades, rare")
	only := flag.String("run", "", "`SAMPLES:LANDMARKS` in place of the usual fits; as many landmarks as samples are an exact fit")
	files := flag.String("retold", "", "`FILES` of numbers with a header, whose first column has counts, to fit in other orders and units")
	landmarks := flag.Int("landmarks", 0, "landmarks of -retold; 0 means the default")
	flag.Parse()
	if *files != "" {
		if err := retold(*files, *landmarks, *seeds); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *only != "" {
		runs = runs[:1]
		if _, err := fmt.Sscanf(*only, "%d:%d", &runs[0].n, &runs[0].landmarks); err != nil {
			log.Fatalf("-run %s: %v", *only, err)
		}
	}
	for _, kind := range strings.Split(*kinds, ",") {
		run := measure
		if kind == "rare" {
			run = rare
		}
		if err := run(kind, *seeds); err != nil {
			log.Fatalf("%s: %v", kind, err)
		}
	}
}

// runs are numbers of samples and of landmarks.
var runs = []struct{ n, landmarks int }{
	{250, 250}, {500, 500}, {1000, 1000},
	{550, 330}, {1000, 330}, {2000, 330}, {4000, 330}, {550, 500}, {1000, 500}, {2000, 500}, {4000, 500},
}

// measure prints means over the draws: the mean logarithm of the probability of the targets, the share √(1−r²) of what is predicted that is
// not linear in the true function, the time and the sweeps.
func measure(kind string, seeds int) error {
	sums := make([][4]float64, len(runs))
	for seed := range seeds {
		all, test := draw(uint64(2*seed), 4000), draw(uint64(2*seed+1), 2000)
		for k, r := range runs {
			views, _, err := mkl.FillViews(mkl.KernelsBroad, []mkl.View{{X: la.MatrixOf(r.n, 6, all.x.Data[:6*r.n])}})
			if err != nil {
				return err
			}
			begin := time.Now()
			m, err := fit(kind, views, all, r.n, r.landmarks)
			if err != nil {
				return err
			}
			took := time.Since(begin).Seconds()
			nats, at, err := m.score(test)
			if err != nil {
				return err
			}
			like := correlation(at, test.f)
			for i, v := range []float64{nats, math.Sqrt(1 - float64(like*like)), took, float64(m.sweeps)} {
				sums[k][i] += v / float64(seeds)
			}
		}
	}
	for k, r := range runs {
		fmt.Printf("| %s | %d | %d | %.4f | %.4f | %.1f | %.0f |\n", kind, r.n, r.landmarks, sums[k][0], sums[k][1], sums[k][2], sums[k][3])
	}
	return nil
}

// rare prints a line for each draw and law.
func rare(_ string, seeds int) error {
	const n, events = 3500, 5
	for seed := range seeds {
		x, times := drawRare(uint64(seed), n, events)
		views, _, err := mkl.FillViews(mkl.KernelsBroad, []mkl.View{{X: x}})
		if err != nil {
			return err
		}
		for _, law := range []mkl.SurvivalLaw{mkl.LogNormal, mkl.Weibull} {
			m, err := mkl.Survival{Law: law, Fitting: mkl.Fitting{Workers: 1}}.Fit(context.Background(), views, times)
			if err != nil {
				return err
			}
			fmt.Printf("| %d | %s | %v | %.1f |\n", seed, law, m.Trace().Converged, m.Bound())
		}
	}
	return nil
}

// fitted is a fit whose score returns the mean logarithm of the probability of targets, and the log mean of counts, the log median of
// times or the mean grade of each sample.
type fitted struct {
	sweeps int
	score  func(d drawn) (nats float64, at []float64, err error)
}

// fit fits to the first n samples.
func fit(kind string, views []mkl.View, d drawn, n, landmarks int) (fitted, error) {
	ctx, f := context.Background(), mkl.Fitting{Workers: 1}
	switch kind {
	case "counts":
		m, err := mkl.Counts{Landmarks: landmarks, Fitting: f}.Fit(ctx, views, d.counts[:n])
		if err != nil {
			return fitted{}, err
		}
		return fitted{m.Trace().Sweeps, func(d drawn) (float64, []float64, error) { return scoreCounts(m, d) }}, nil
	case "times":
		m, err := mkl.Survival{Landmarks: landmarks, Law: mkl.Weibull, Fitting: f}.Fit(ctx, views, d.times[:n])
		if err != nil {
			return fitted{}, err
		}
		return fitted{m.Trace().Sweeps, func(d drawn) (float64, []float64, error) { return scoreTimes(m, d) }}, nil
	case "grades":
		m, err := mkl.Ordinal[int]{Landmarks: landmarks, Grades: []int{0, 1, 2, 3, 4}, Fitting: f}.Fit(ctx, views, d.grades[:n])
		if err != nil {
			return fitted{}, err
		}
		return fitted{m.Trace().Sweeps, func(d drawn) (float64, []float64, error) { return scoreGrades(m, d) }}, nil
	}
	return fitted{}, fmt.Errorf("-kinds %s: there are counts, times, grades and rare", kind)
}

func scoreCounts(m *mkl.CountModel, d drawn) (nats float64, at []float64, err error) {
	p, err := m.PredictCounts(context.Background(), mkl.PredictOptions{}, nil, d.x)
	if err != nil {
		return 0, nil, err
	}
	at, _ = p.Moments()
	for i, v := range d.counts {
		nats += p.LogProbability(i, v) / float64(len(at))
		at[i] = math.Log(at[i])
	}
	return nats, at, nil
}

func scoreTimes(m *mkl.SurvivalModel, d drawn) (nats float64, at []float64, err error) {
	p, err := m.Predict(d.x)
	if err != nil {
		return 0, nil, err
	}
	at = p.Median()
	for i, v := range d.times {
		nats += p.LogScore(i, v) / float64(len(at))
		at[i] = math.Log(at[i])
	}
	return nats, at, nil
}

func scoreGrades(m *mkl.OrdinalModel[int], d drawn) (nats float64, at []float64, err error) {
	_, p, err := m.Predict(d.x)
	if err != nil {
		return 0, nil, err
	}
	at = make([]float64, len(p))
	for i, v := range d.grades {
		nats += math.Log(p[i][v]) / float64(len(at))
		for k, q := range p[i] {
			at[i] += float64(k) * q
		}
	}
	return nats, at, nil
}

// correlation returns Pearson's.
func correlation(a, b []float64) float64 {
	n := float64(len(a))
	var ma, mb, ab, aa, bb float64
	for i := range a {
		ma, mb = ma+a[i]/n, mb+b[i]/n
	}
	for i := range a {
		x, y := a[i]-ma, b[i]-mb
		ab, aa, bb = ab+float64(x*y), aa+float64(x*x), bb+float64(y*y)
	}
	return ab / math.Sqrt(aa*bb)
}
