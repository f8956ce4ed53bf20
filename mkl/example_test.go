package mkl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// readings are of two sensors and a target that only the first one bears on.
func readings() (speed, hum, y []float64) {
	for i := range 80 {
		speed = append(speed, 3*math.Sin(float64(i)))
		hum = append(hum, 3*math.Sin(float64(i*i)))
		y = append(y, 10+speed[i]*speed[i]+0.3*math.Cos(float64(7*i)))
	}
	return speed, hum, y
}

func Example() {
	speed, hum, y := readings() // []float64 each, a value for every sample
	views := []mkl.View{
		{Input: "speed", X: mkl.Column(speed), Kernel: kernel.RBF{Width: 1}},
		{Input: "hum", X: mkl.Column(hum), Kernel: kernel.RBF{Width: 1}},
	}
	model, err := mkl.Regression{}.Fit(context.Background(), views, y)
	if err != nil {
		log.Fatal(err)
	}
	mean, variance, _ := model.Predict(mkl.Column([]float64{2}), mkl.Column([]float64{1}))
	fmt.Printf("y = %.1f ± %.1f\n", mean[0], math.Sqrt(variance[0]))
	for _, w := range model.KernelWeights() {
		fmt.Printf("%-5s weighs %.2f ± %.2f\n", w.View, w.Mean, w.SD)
	}
	// Output:
	// y = 14.1 ± 0.8
	// speed weighs 0.22 ± 0.01
	// hum   weighs 0.01 ± 0.03
}

// Predictor is the form of a model for a program that predicts one sample at a
// time, within microseconds.
func ExampleRegressionModel_Predictor() {
	speed, _, y := readings()
	model, err := mkl.Regression{}.Fit(context.Background(), []mkl.View{{X: mkl.Column(speed), Kernel: kernel.RBF{}}}, y)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	mean, variance, err := p.Predict([]float64{2})
	fmt.Printf("%.1f ± %.1f, %v\n", mean, math.Sqrt(variance), err)
	// Output: 14.3 ± 0.7, <nil>
}

// Features may be categories: codes that are equal or not, here of a colour and a shape. A
// colour that no training sample has agrees with none of theirs.
func ExampleCategorical() {
	var x [][]float64
	var price []float64
	for i := range 30 {
		colour, shape := float64(i%3), float64(i%2)
		x = append(x, []float64{colour, shape})
		price = append(price, 10*colour+3*shape+math.Sin(float64(i)))
	}
	things, err := mkl.FromRows(x)
	if err != nil {
		log.Fatal(err)
	}
	model, err := mkl.MultiGP{}.Fit(context.Background(), []mkl.View{{X: things, Kernel: kernel.Categorical{}}}, price)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, thing := range [][]float64{{2, 1}, {7, 1}} {
		mean, variance, err := p.Predict(thing)
		fmt.Printf("%.0f ± %.1f, %v\n", mean, math.Sqrt(variance), err)
	}
	// Output:
	// 22 ± 0.4, <nil>
	// 13 ± 10.2, <nil>
}

func ExampleLoad() {
	speed, _, y := readings()
	model, err := mkl.Regression{Fitting: mkl.Fitting{Notes: map[string]string{"unit": "m/s"}}}.Fit(
		context.Background(), []mkl.View{{X: mkl.Column(speed), Kernel: kernel.RBF{Width: 1}}}, y)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := model.Save(&file); err != nil {
		log.Fatal(err)
	}
	loaded, err := mkl.Load(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded.KernelWeights()[0].Kernel, loaded.Notes()["unit"])
	// Output: rbf(width=1) m/s
}

func ExamplePairRegression() {
	// How well twelve cooks do at eight dishes: of each cook the years at work are known, of each
	// dish how hard it is. Every third pair was never tried.
	var years, hard [][]float64
	for i := range 12 {
		years = append(years, []float64{float64(i) / 2})
	}
	for j := range 8 {
		hard = append(hard, []float64{float64(j) / 4})
	}
	marks := mkl.DenseTable{}
	for i, y := range years {
		marks = append(marks, make([]float64, 8))
		for j, h := range hard {
			marks[i][j] = 10 - h[0]*(6-y[0]) + 0.1*math.Sin(float64(17*i+5*j))
			if (i+j)%3 == 0 {
				marks[i][j] = math.NaN()
			}
		}
	}
	cooks, _ := mkl.FromRows(years)
	dishes, _ := mkl.FromRows(hard)
	model, err := mkl.PairRegression{Components: 2}.Fit(context.Background(),
		[]mkl.View{{Name: "years", X: cooks, Kernel: kernel.RBF{Width: 3}}},
		[]mkl.View{{Name: "hard", X: dishes, Kernel: kernel.RBF{Width: 1}}}, marks)
	if err != nil {
		log.Fatal(err)
	}
	newCook := mkl.PairSide{X: []mkl.Features{mkl.Column([]float64{2.2})}}
	mean, _, err := model.Predict(newCook, mkl.PairSide{Known: []int{0, 7}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a new cook: %.1f at the easiest dish, %.1f at the hardest\n", mean[0][0], mean[0][1])

	// The same for one pair at a time.
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	cook, dish := p.Row(), p.Column()
	if err := errors.Join(p.New(cook, []float64{2.2}), p.Known(dish, 7)); err != nil {
		log.Fatal(err)
	}
	mark, _, err := p.Predict(cook, dish)
	fmt.Printf("%.1f, %v\n", mark, err)
	// Output:
	// a new cook: 9.9 at the easiest dish, 3.1 at the hardest
	// 3.1, <nil>
}

func ExamplePairClassifier() {
	// Which keys open which locks: locks of nearly the same size.
	var keys, locks [][]float64
	fits := mkl.DenseTable{}
	for i := range 12 {
		keys = append(keys, []float64{float64(i)})
		fits = append(fits, make([]float64, 10))
		for j := range 10 {
			if i-j < 3 && j-i < 3 {
				fits[i][j] = 1
			}
		}
	}
	for j := range 10 {
		locks = append(locks, []float64{float64(j)})
	}
	fits[4][5], fits[9][1] = math.NaN(), math.NaN() // never tried
	k, _ := mkl.FromRows(keys)
	l, _ := mkl.FromRows(locks)
	model, err := mkl.PairClassifier{Components: 4}.Fit(context.Background(),
		[]mkl.View{{Name: "key", X: k, Kernel: kernel.RBF{Width: 2}}}, []mkl.View{{Name: "lock", X: l, Kernel: kernel.RBF{Width: 2}}}, fits)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	key, lock := p.Row(), p.Column()
	for _, pair := range [][2]int{{4, 5}, {9, 1}} {
		if err := errors.Join(p.Known(key, pair[0]), p.Known(lock, pair[1])); err != nil {
			log.Fatal(err)
		}
		chance, err := p.Probability(key, lock)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("key %d opens lock %d: %t\n", pair[0], pair[1], chance > 0.5)
	}
	// Output:
	// key 4 opens lock 5: true
	// key 9 opens lock 1: false
}

func ExampleFactorAnalysis() {
	var r mkl.Ratings[string, string]
	people := []string{"ada", "ben", "cleo", "dan", "eve", "fay", "gus", "hal"}
	for i, who := range people {
		likes := 2 * float64(i%2) // crime and comedy, or romance
		r.Add(who, "crime 1", 2+likes)
		r.Add(who, "crime 2", 3+likes)
		r.Add(who, "romance 1", 5-likes)
		if who != "hal" {
			r.Add(who, "romance 2", 4-likes)
		}
	}
	fit, err := mkl.FactorAnalysis{Factors: 2}.Fit(context.Background(), &r)
	if err != nil {
		log.Fatal(err)
	}
	mean, _, _ := fit.Complete(r.At("hal", "romance 2"))
	fmt.Printf("hal would rate it %.1f\n", mean[0])
	// Output:
	// hal would rate it 2.0
}

// Genes and proteins share a factor. Only the proteins have the other factor.
func ExampleFactorAnalysis_views() {
	var table mkl.DenseTable
	for i := range 60 {
		shared, own := math.Cos(float64(3*i)), math.Cos(float64(5*i))
		row := make([]float64, 10)
		for j := range row {
			row[j] = shared*float64(1+j%3) + 0.2*math.Sin(float64(7*i+11*j*j*i))
			if j >= 6 { // the proteins
				row[j] += own * float64(3-j%2)
			}
		}
		table = append(table, row)
	}
	fit, err := mkl.FactorAnalysis{
		Factors: 3, Views: []mkl.FactorView{{Name: "genes", Columns: 6}, {Name: "proteins", Columns: 4}},
	}.Fit(context.Background(), table)
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range fit.Used() {
		fmt.Printf("factor %d is at work in", k+1)
		for _, view := range fit.VarianceExplained() {
			if view.Factors[k] > 0.01 {
				fmt.Printf(" %s", view.View)
			}
		}
		fmt.Println()
	}
	// Output:
	// factor 1 is at work in genes proteins
	// factor 2 is at work in proteins
}
