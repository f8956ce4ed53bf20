// Command reader times single predictions of models on tables of the reader: the default, mkl.Auto, or
// mkl.AutoClassifier where the last column is text; with -model regression a healed mkl.Regression with its default kernels, and with
// -model landmarks mkl.LandmarkGP or mkl.LandmarkClassifier. Cells are numbers, the first line has names, and the last
// column is the target. The default of more than 3000 samples has a member that predicts from the nearest samples.
//
//	go run ./bench/reader boston.csv glass.csv
//	go run ./bench/reader -model landmarks -most 3000 elevators.csv
//	go run ./bench/reader -views mfeat.csv
//
// With -views a table has several views. The name of a column begins with the name of its view and an underscore.
//
// For each table it prints the samples of the fit, two thirds of the rows in a random order but at most -most, the
// views, the features and the classes; then of the default predictor, in µs, the median, the 99th percentile and the 99.9th of the
// time of a call, the median after other data has filled the caches, and the median of means alone; the allocations of a
// call; the kilobytes that a call reads first, which are matrices, weights and the features of the samples; the time, in
// ms, that it took to make the predictor; and the rows a second that the model's PredictTargets or PredictClasses predicts
// on one worker, of 4000 rows, and the rows a second of the predictor's PredictMany. For two tolerances follow the
// median and the largest errors of the rows that are held out against the model: of a mean and of a standard deviation, in units of
// the standard deviation, or of a probability.
//
// The calls predict the held-out rows, one after the other, so that none finds the data of its own row in the caches.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bmkl/bmkl/mkl"
)

// tolerances are the tolerances whose errors are measured.
var tolerances = []float64{1e-2, 1e-4}

func main() {
	log.SetFlags(0)
	most := flag.Int("most", 700, "most samples of a fit")
	calls := flag.Int("calls", 20000, "calls to time")
	model := flag.String("model", "auto", "auto, regression or landmarks")
	several := flag.Bool("views", false, "the name of a column begins with the name of its view and an underscore")
	flag.Parse()
	head := "| data | samples | views | features | classes | p50, µs | p99, µs | p99.9, µs | cold p50, µs | means p50, µs | allocations | reads, kB | ready, ms | many rows, rows/s | many rows by the predictor, rows/s |"
	for _, tolerance := range tolerances {
		head += fmt.Sprintf(" p50 at %[1]g, µs | mean or probability error at %[1]g | SD error at %[1]g |", tolerance)
	}
	fmt.Println(head)
	fmt.Println("| --- |" + strings.Repeat(" --: |", strings.Count(head, "|")-2))
	for _, file := range flag.Args() {
		t, err := read(file, *several)
		if err != nil {
			log.Fatal(err)
		}
		row, err := measure(t, *model, *most, *calls)
		if err != nil {
			log.Fatalf("%s: %v", file, err)
		}
		fmt.Printf("| %s | %s |\n", strings.TrimSuffix(filepath.Base(file), ".csv"), row)
	}
}

// table has the features of samples and their targets.
type table struct {
	views []string      // their names
	x     [][][]float64 // [sample][view][feature]
	y     []string
}

// read reads a table, whose columns are of several views or of one.
func read(file string, several bool) (t table, err error) {
	f, err := os.Open(file)
	if err != nil {
		return t, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return t, fmt.Errorf("%s: %w", file, err)
	}
	last := len(records[0]) - 1
	view := make([]int, last) // of each column
	for j, name := range records[0][:last] {
		if name, _, _ = strings.Cut(name, "_"); !several {
			name = "features"
		}
		if view[j] = slices.Index(t.views, name); view[j] < 0 {
			view[j] = len(t.views)
			t.views = append(t.views, name)
		}
	}
	for i, record := range records[1:] {
		row := make([][]float64, len(t.views))
		for j, v := range view {
			number, err := strconv.ParseFloat(record[j], 64)
			if err != nil {
				return t, fmt.Errorf("%s: row %d, column %d: %w", file, i+1, j+1, err)
			}
			row[v] = append(row[v], number)
		}
		t.x, t.y = append(t.x, row), append(t.y, record[last])
	}
	return t, nil
}

// sets are the training samples of a table and the samples that are held out.
type sets struct {
	views       []string
	train, test [][][]float64 // as in a table
	labels      []string
	numbers     []float64 // nil if the target is text
}

// split draws the training samples, two thirds but at most so many.
func (t table) split(most int) sets {
	s := sets{views: t.views}
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(t.x))
	n := min(2*len(t.x)/3, most)
	for i, at := range order {
		if i >= n {
			s.test = append(s.test, t.x[at])
			continue
		}
		s.train, s.labels = append(s.train, t.x[at]), append(s.labels, t.y[at])
		if v, err := strconv.ParseFloat(t.y[at], 64); err == nil {
			s.numbers = append(s.numbers, v)
		}
	}
	if len(s.numbers) < n {
		s.numbers = nil
	}
	return s
}

// matrices returns the features of samples, a matrix for each view.
func matrices(samples [][][]float64) ([]mkl.Features, error) {
	all := make([]mkl.Features, len(samples[0]))
	for v := range all {
		rows := make([][]float64, len(samples))
		for i, x := range samples {
			rows[i] = x[v]
		}
		var err error
		if all[v], err = mkl.FromRows(rows); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// predict returns what a predictor predicts of a row: a mean and a standard deviation, or probabilities.
type predict func(row [][]float64) ([]float64, error)

// fitted is a model: it makes predictors, and has predictions of the held-out rows.
type fitted struct {
	classes   int // 0 for numbers
	predictor func(opt mkl.PredictorOptions) (p predict, bytes int, err error)
	many      func(x []mkl.Features) error                 // predicts all rows
	blocks    func() (func(x []mkl.Features) error, error) // of a default predictor: predicts all rows
	exact     [][]float64                                  // of each held-out row, what predict returns
}

// fit fits a model by its name.
func (s sets) fit(model string) (f fitted, err error) {
	features, err := matrices(s.train)
	if err != nil {
		return f, err
	}
	test, err := matrices(s.test)
	if err != nil {
		return f, err
	}
	ctx := context.Background()
	views := make([]mkl.View, len(features))
	for v, x := range features {
		views[v] = mkl.View{Name: s.views[v], Input: s.views[v], X: x}
	}
	if s.numbers != nil {
		m, err := fitNumbers(ctx, model, views, s.numbers)
		if err != nil {
			return f, err
		}
		return numbers(ctx, m, test)
	}
	m, err := fitClasses(ctx, model, views, s.labels)
	if err != nil {
		return f, err
	}
	return classes(ctx, m, test)
}

// numbersModel is a model of numbers.
type numbersModel interface {
	mkl.TargetModel
	Predictor(opt mkl.PredictorOptions) (*mkl.Predictor, error)
}

// fitNumbers fits a model of numbers.
func fitNumbers(ctx context.Context, model string, views []mkl.View, y []float64) (numbersModel, error) {
	switch model {
	case "auto":
		return mkl.Auto{}.Fit(ctx, views, y)
	case "regression":
		views, _, err := mkl.FillViews(0, views)
		if err != nil {
			return nil, err
		}
		return mkl.Regression{}.Fit(ctx, views, y)
	case "landmarks":
		return mkl.LandmarkGP{}.Fit(ctx, views, y)
	}
	return nil, fmt.Errorf("no model %q of numbers", model)
}

// numbers returns a fitted model of numbers.
func numbers(ctx context.Context, m numbersModel, test []mkl.Features) (f fitted, err error) {
	f.predictor = func(opt mkl.PredictorOptions) (predict, int, error) {
		p, err := m.Predictor(opt)
		if err != nil {
			return nil, 0, err
		}
		out := make([]float64, 2)
		return func(row [][]float64) ([]float64, error) {
			mean, variance, err := p.Predict(row...)
			out[0], out[1] = mean, math.Sqrt(variance)
			return out, err
		}, reads(p.Info()), nil
	}
	f.blocks = func() (func([]mkl.Features) error, error) {
		p, err := m.Predictor(mkl.PredictorOptions{})
		return func(x []mkl.Features) error {
			_, err := p.PredictMany(ctx, 1, x...)
			return err
		}, err
	}
	f.many = func(x []mkl.Features) error {
		_, err := m.PredictTargets(ctx, mkl.PredictOptions{Workers: 1}, x...)
		return err
	}
	p, err := m.PredictTargets(ctx, mkl.PredictOptions{}, test...)
	if err != nil {
		return f, err
	}
	for i, mean := range p.Mean[0] {
		f.exact = append(f.exact, []float64{mean, math.Sqrt(p.Variance[0][i])})
	}
	return f, nil
}

// classesModel is a model of classes.
type classesModel interface {
	mkl.ClassModel[string]
	Predictor(opt mkl.PredictorOptions) (*mkl.ClassPredictor[string], error)
}

// fitClasses fits a model of classes.
func fitClasses(ctx context.Context, model string, views []mkl.View, labels []string) (classesModel, error) {
	switch model {
	case "auto":
		return mkl.AutoClassifier[string]{}.Fit(ctx, views, labels)
	case "landmarks":
		return mkl.LandmarkClassifier[string]{}.Fit(ctx, views, labels)
	}
	return nil, fmt.Errorf("no model %q of classes", model)
}

// classes returns a fitted model of classes.
func classes(ctx context.Context, m classesModel, test []mkl.Features) (f fitted, err error) {
	f.classes = len(m.Classes())
	f.many = func(x []mkl.Features) error {
		_, err := m.PredictClasses(ctx, mkl.PredictOptions{Workers: 1}, x...)
		return err
	}
	f.predictor = func(opt mkl.PredictorOptions) (predict, int, error) {
		p, err := m.Predictor(opt)
		if err != nil {
			return nil, 0, err
		}
		out := make([]float64, f.classes)
		return func(row [][]float64) ([]float64, error) {
			_, err := p.Predict(out, row...)
			return out, err
		}, reads(p.Info()), nil
	}
	f.blocks = func() (func([]mkl.Features) error, error) {
		p, err := m.Predictor(mkl.PredictorOptions{})
		return func(x []mkl.Features) error {
			_, err := p.PredictMany(ctx, 1, x...)
			return err
		}, err
	}
	p, err := m.PredictClasses(ctx, mkl.PredictOptions{}, test...)
	if err != nil {
		return f, err
	}
	f.exact = p.Probability
	return f, nil
}

// reads returns the bytes that a prediction of these functions reads, but for features.
func reads(functions []mkl.PredictorInfo) (bytes int) {
	for _, f := range functions {
		bytes += f.Bytes
	}
	return bytes
}

// largestErrors returns the largest errors of the held-out rows: of a mean and of a standard deviation, in units of the
// standard deviation, or of a probability.
func (f fitted) largestErrors(test [][][]float64, p predict) (mean, sd float64, err error) {
	for i, x := range test {
		got, err := p(x)
		if err != nil {
			return 0, 0, err
		}
		want := f.exact[i]
		if f.classes == 0 {
			mean = max(mean, math.Abs(got[0]-want[0])/want[1])
			sd = max(sd, math.Abs(got[1]-want[1])/want[1])
			continue
		}
		for c, v := range want {
			mean = max(mean, math.Abs(got[c]-v))
		}
	}
	return mean, sd, nil
}

// times returns the times of so many calls, sorted, in µs. before is called before each of them.
func times(test [][][]float64, p predict, calls int, before func()) ([]float64, error) {
	out := make([]float64, calls)
	for i := range out {
		x := test[i%len(test)]
		before()
		start := time.Now()
		_, err := p(x)
		if out[i] = time.Since(start).Seconds() * 1e6; err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return out, nil
}

// rate returns the rows a second of predictions of many rows, the best of three times.
func rate(test [][][]float64, many func(x []mkl.Features) error) (float64, error) {
	const n = 4000
	var rows [][][]float64
	for i := range n {
		rows = append(rows, test[i%len(test)])
	}
	x, err := matrices(rows)
	if err != nil {
		return 0, err
	}
	best := math.Inf(1)
	for range 3 {
		start := time.Now()
		if err := many(x); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start).Seconds())
	}
	return n / best, nil
}

// evict returns a function that leaves the caches without the predictor's data.
func evict() func() {
	other := make([]byte, 128<<20)
	return func() {
		for i := 0; i < len(other); i += 64 {
			other[i]++
		}
	}
}

// measure fits a model and measures its predictors.
func measure(t table, model string, most, calls int) (string, error) {
	s := t.split(most)
	f, err := s.fit(model)
	if err != nil {
		return "", err
	}
	begin := time.Now()
	p, bytes, err := f.predictor(mkl.PredictorOptions{})
	if err != nil {
		return "", err
	}
	ready := time.Since(begin)
	warm, err := times(s.test, p, calls, func() {})
	if err != nil {
		return "", err
	}
	cold, err := times(s.test, p, 50, evict())
	if err != nil {
		return "", err
	}
	row := s.test[0]
	allocations := testing.AllocsPerRun(100, func() { _, _ = p(row) })
	only := "–"
	if f.classes == 0 {
		p, _, err := f.predictor(mkl.PredictorOptions{MeanOnly: true})
		if err != nil {
			return "", err
		}
		alone, err := times(s.test, p, calls, func() {})
		if err != nil {
			return "", err
		}
		only = fmt.Sprintf("%.1f", alone[calls/2])
	}
	rows, err := rate(s.test, f.many)
	if err != nil {
		return "", err
	}
	many, err := f.blocks()
	if err != nil {
		return "", err
	}
	blocks, err := rate(s.test, many)
	if err != nil {
		return "", err
	}
	var errors []string
	for _, tolerance := range tolerances {
		p, _, err := f.predictor(mkl.PredictorOptions{Tolerance: tolerance})
		if err != nil {
			return "", err
		}
		mean, sd, err := f.largestErrors(s.test, p)
		if err != nil {
			return "", err
		}
		t, err := times(s.test, p, min(calls, 2000), func() {})
		if err != nil {
			return "", err
		}
		errors = append(errors, fmt.Sprintf("%.1f | %.0e | %.0e", t[len(t)/2], mean, sd))
	}
	at := func(share float64) float64 { return warm[int(share*float64(calls-1))] }
	features := 0
	for _, x := range s.train[0] {
		features += len(x)
	}
	bytes += 8 * len(s.train) * features
	return fmt.Sprintf("%d | %d | %d | %d | %.1f | %.1f | %.1f | %.1f | %s | %g | %.0f | %.0f | %.0f | %.0f | %s", len(s.train), len(s.views), features, f.classes,
		at(.5), at(.99), at(.999), cold[len(cold)/2], only, allocations, float64(bytes)/1e3, ready.Seconds()*1e3, rows, blocks, strings.Join(errors, " | ")), nil
}
