// Survival fits mkl.Survival to tables of times and prints its scores on the samples that splits hold out:
//
//	go run ./bench/survival DIR/lung.csv DIR/pbc.csv
//
// A table has the columns time and event (1 or 0), features, and columns train1, train2, … of 1 for the samples to fit
// to. The kernels come from mkl.FillViews for the whole table.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
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

// table is a data set: X are the features.
type table struct {
	time   []float64
	event  []bool
	x      [][]float64
	splits [][]bool
}

func read(name string) (t table, err error) {
	f, err := os.Open(name)
	if err != nil {
		return t, err
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		return t, fmt.Errorf("%d rows: %w", len(rows), err)
	}
	for _, row := range rows[1:] {
		var x []float64
		split := 0
		for j, cell := range row {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				return t, err
			}
			switch column := rows[0][j]; {
			case column == "time":
				t.time = append(t.time, v)
			case column == "event":
				t.event = append(t.event, v == 1)
			case strings.HasPrefix(column, "train"):
				if split == len(t.splits) {
					t.splits = append(t.splits, nil)
				}
				t.splits[split] = append(t.splits[split], v == 1)
				split++
			default:
				x = append(x, v)
			}
		}
		t.x = append(t.x, x)
	}
	return t, nil
}

// part are the samples of a split that train or do not.
func (t table) part(split []bool, train bool) (x mkl.Features, time []float64, event []bool) {
	x = la.NewMatrix[float64](0, len(t.x[0]))
	for i, is := range split {
		if is == train {
			x.Data, x.Rows = append(x.Data, t.x[i]...), x.Rows+1
			time, event = append(time, t.time[i]), append(event, t.event[i])
		}
	}
	return x, time, event
}

func score(name string, law mkl.SurvivalLaw, set mkl.KernelSet) error {
	t, err := read(name)
	if err != nil {
		return err
	}
	var sum [3]float64
	for _, split := range t.splits {
		x, time, event := t.part(split, true)
		views, _, err := mkl.FillViews(set, []mkl.View{{X: x}})
		if err != nil {
			return err
		}
		m, err := mkl.Survival{Law: law}.Fit(context.Background(), views, mkl.Lifetimes(time, event))
		if err != nil {
			return err
		}
		x, time, event = t.part(split, false)
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
			sum[i] += v / float64(len(t.splits))
		}
	}
	fmt.Printf("%-12s %5d samples  %2d splits  %v  concordance %.4f  Brier at the median time %.4f  log score %.4f\n",
		filepath.Base(name), len(t.time), len(t.splits), law, sum[0], sum[1], sum[2])
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
