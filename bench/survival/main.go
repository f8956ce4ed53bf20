// Survival fits mkl.Survival to tables of times and prints its scores on the samples that splits hold out:
//
//	go run ./bench/survival DIR/lung.csv DIR/pbc.csv
//
// A table has the columns time and event (1 or 0), features, and columns train1, train2, … of 1 for the samples to fit
// to. The kernels come from mkl.FillViews for these samples.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"path/filepath"

	"github.com/bmkl/bmkl/bench/internal/splits"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

func main() {
	name := flag.String("law", "by-evidence", "by-evidence, log-normal or weibull")
	broad := flag.Bool("broad", false, "leave out additive kernels")
	flag.Parse()
	set := mkl.KernelsBroad | mkl.KernelsAdditive
	if *broad {
		set = mkl.KernelsBroad
	}
	law := mkl.LawByEvidence
	for law.String() != *name {
		if law++; law > mkl.Weibull {
			log.Fatalf("-law %s is unknown", *name)
		}
	}
	for _, file := range flag.Args() {
		if err := score(file, law, set); err != nil {
			log.Fatalf("%s: %v", file, err)
		}
	}
}

// lifetimes returns times and events of some samples.
func lifetimes(t *splits.Table, rows []int) (time []float64, event []bool) {
	for _, i := range rows {
		time, event = append(time, t.Targets["time"][i]), append(event, t.Targets["event"][i] == 1)
	}
	return time, event
}

func score(name string, law mkl.SurvivalLaw, set mkl.KernelSet) error {
	t, err := splits.Read(name, "time", "event")
	if err != nil {
		return err
	}
	var sum [3]float64
	for split := range t.Train {
		x, rows := t.Part(split, true)
		time, event := lifetimes(t, rows)
		views, _, err := mkl.FillViews(set, []mkl.View{{X: x}})
		if err != nil {
			return err
		}
		m, err := mkl.Survival{Law: law}.Fit(context.Background(), views, mkl.Lifetimes(time, event))
		if err != nil {
			return err
		}
		x, rows = t.Part(split, false)
		time, event = lifetimes(t, rows)
		p, err := m.Predict(x)
		if err != nil {
			return err
		}
		c, err := metrics.CensoredConcordance(time, event, p.Risk())
		if err != nil {
			return err
		}
		var survival []float64
		var nats float64
		at := quantile(time)
		for i, l := range mkl.Lifetimes(time, event) {
			survival = append(survival, p.Survival(i, []float64{at})[0])
			nats += p.LogScore(i, l) / float64(len(time))
		}
		b, err := metrics.CensoredBrier(time, event, survival, at)
		if err != nil {
			return err
		}
		for i, v := range []float64{c, b, nats} {
			sum[i] += v / float64(len(t.Train))
		}
	}
	fmt.Printf("%-12s %5d samples  %2d splits  %v  concordance %.4f  Brier at the median time %.4f  log score %.4f\n",
		filepath.Base(name), len(t.X), len(t.Train), law, sum[0], sum[1], sum[2])
	return nil
}

// quantile returns the median.
func quantile(v []float64) float64 {
	var below int
	best, least := v[0], math.Inf(1)
	for _, a := range v {
		below = 0
		for _, b := range v {
			if b <= a {
				below++
			}
		}
		if d := math.Abs(float64(below) - 0.5*float64(len(v))); d < least {
			best, least = a, d
		}
	}
	return best
}
