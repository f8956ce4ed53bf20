// Grades fits mkl.Ordinal, and mkl.MultiGPClassifier beside it, to tables of grades and prints their scores on the samples
// that splits hold out:
//
//	go run ./bench/grades DIR/cirrhosis.csv DIR/cars.csv
//
// A table has the column grade (1, 2, …), features, and columns train1, train2, … of 1 for the samples to fit to. The
// kernels come from mkl.FillViews for the whole table.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmkl/bmkl/la"
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

// table is a data set: x are the features.
type table struct {
	grade  []int
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
		var train []bool
		for j, cell := range row {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				return t, err
			}
			switch column := rows[0][j]; {
			case column == "grade":
				t.grade = append(t.grade, int(v))
			case strings.HasPrefix(column, "train"):
				train = append(train, v == 1)
			default:
				x = append(x, v)
			}
		}
		t.x, t.splits = append(t.x, x), append(t.splits, train)
	}
	return t, nil
}

// part are the samples that train in a split, or do not.
func (t table) part(split int, train bool) (x mkl.Features, grade []int) {
	x = la.NewMatrix[float64](0, len(t.x[0]))
	for i, is := range t.splits {
		if is[split] == train {
			x.Data, x.Rows = append(x.Data, t.x[i]...), x.Rows+1
			grade = append(grade, t.grade[i])
		}
	}
	return x, grade
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
	t, err := read(name)
	if err != nil {
		return err
	}
	order := slices.Clone(t.grade)
	slices.Sort(order)
	order = slices.Compact(order)
	for _, e := range estimators {
		var loss, rps, qwk float64
		began, splits := time.Now(), len(t.splits[0])
		for s := range splits {
			x, y := t.part(s, true)
			views, _, err := mkl.FillViews(mkl.KernelsBroad, []mkl.View{{X: x}})
			if err != nil {
				return err
			}
			m, err := e.fit(views, y, order)
			if err != nil {
				return err
			}
			x, y = t.part(s, false)
			p, err := m.PredictClasses(context.Background(), mkl.PredictOptions{}, x)
			if err != nil {
				return err
			}
			var truth, median []int
			for i, v := range y {
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
				*one.to += v / float64(splits)
			}
		}
		fmt.Printf("%-14s %4d samples  %d grades  %s  loss %.4f  rps %.4f  qwk %.4f  %.1f s\n",
			filepath.Base(name), len(t.grade), len(order), e.name, loss, rps, qwk, time.Since(began).Seconds())
	}
	return nil
}
