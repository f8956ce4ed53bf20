// Grades fits mkl.Ordinal, and mkl.MultiGPClassifier beside it, to tables of grades and prints their scores on the samples
// that splits hold out:
//
//	go run ./bench/grades DIR/cirrhosis.csv DIR/cars.csv
//
// A table has the column grade (1, 2, …), features, and columns train1, train2, … of 1 for the samples to fit to. The
// kernels come from mkl.FillViews for the samples to fit to.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"path/filepath"
	"slices"
	"time"

	"github.com/bmkl/bmkl/bench/internal/splits"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

func main() {
	flag.Parse()
	for _, file := range flag.Args() {
		if err := score(file); err != nil {
			log.Fatalf("%s: %v", file, err)
		}
	}
}

// picked returns the grades of some samples.
func picked(grade []float64, rows []int) (some []int) {
	for _, i := range rows {
		some = append(some, int(grade[i]))
	}
	return some
}

// estimators fit and predict probabilities of the grades 1, 2, …, in order.
var estimators = []struct {
	name string
	fit  func(views []mkl.View, y, order []int) (mkl.ClassModel[int], error)
}{
	{"ordinal", func(views []mkl.View, y, order []int) (mkl.ClassModel[int], error) {
		return mkl.Ordinal[int]{Grades: order}.Fit(context.Background(), views, y)
	}},
	{"classes", func(views []mkl.View, y, order []int) (mkl.ClassModel[int], error) {
		return mkl.MultiGPClassifier[int]{Classes: order}.Fit(context.Background(), views, y)
	}},
}

func score(name string) error {
	t, err := splits.Read(name, "grade")
	if err != nil {
		return err
	}
	grade := t.Targets["grade"]
	order := make([]int, len(grade))
	for i, v := range grade {
		order[i] = int(v)
	}
	slices.Sort(order)
	order = slices.Compact(order)
	for _, e := range estimators {
		var loss, rps, qwk float64
		began, n := time.Now(), len(t.Train)
		for s := range n {
			x, rows := t.Part(s, true)
			views, _, err := mkl.FillViews(mkl.KernelsBroad, []mkl.View{{X: x}})
			if err != nil {
				return err
			}
			m, err := e.fit(views, picked(grade, rows), order)
			if err != nil {
				return err
			}
			x, rows = t.Part(s, false)
			p, err := m.PredictClasses(context.Background(), mkl.PredictOptions{}, x)
			if err != nil {
				return err
			}
			var truth, median []int
			for i, v := range picked(grade, rows) {
				truth = append(truth, slices.Index(order, v))
				median = append(median, mkl.MedianGrade(p.Probability[i]))
			}
			for _, one := range []struct {
				to *float64
				of func() (float64, error)
			}{
				{&loss, func() (float64, error) { return metrics.LogLoss(truth, p.Probability) }},
				{&rps, func() (float64, error) { return metrics.RankedProbability(truth, p.Probability) }},
				{&qwk, func() (float64, error) { return metrics.WeightedKappa(truth, median, len(order)) }},
			} {
				v, err := one.of()
				if err != nil {
					return err
				}
				*one.to += v / float64(n)
			}
		}
		fmt.Printf("%-14s %4d samples  %d grades  %s  loss %.4f  rps %.4f  qwk %.4f  %.1f s\n",
			filepath.Base(name), len(grade), len(order), e.name, loss, rps, qwk, time.Since(began).Seconds())
	}
	return nil
}
