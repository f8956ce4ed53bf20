package mkl_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"

	"github.com/bmkl/bmkl/mkl"
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
		{Name: "speed", X: mkl.Column(speed), Kernel: mkl.RBF{Width: 1}},
		{Name: "hum", X: mkl.Column(hum), Kernel: mkl.RBF{Width: 1}},
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
	model, err := mkl.Regression{}.Fit(context.Background(), []mkl.View{{X: mkl.Column(speed), Kernel: mkl.RBF{}}}, y)
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
	model, err := mkl.MultiGP{}.Fit(context.Background(), []mkl.View{{X: things, Kernel: mkl.Categorical{}}}, price)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.ProcessPredictorOptions{})
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
		context.Background(), []mkl.View{{X: mkl.Column(speed), Kernel: mkl.RBF{Width: 1}}}, y)
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

func ExampleFactorModel() {
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
	fit, err := mkl.FactorModel{Factors: 2}.Fit(context.Background(), &r)
	if err != nil {
		log.Fatal(err)
	}
	mean, _, _ := fit.Complete(r.At("hal", "romance 2"))
	fmt.Printf("hal would rate it %.1f\n", mean[0])
	// Output:
	// hal would rate it 2.0
}
