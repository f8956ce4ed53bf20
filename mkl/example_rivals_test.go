package mkl_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/bmkl/bmkl/mkl"
)

func ExampleFactorisedGP() {
	speed, hum, y := readings()
	model, err := mkl.FactorisedGP{}.Fit(context.Background(), sensors(speed, hum), y)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	mean, variance, err := p.Predict([]float64{2}, []float64{1})
	fmt.Printf("%.0f ± %.1f, %v\n", mean, math.Sqrt(variance), err)
	// Output: 14 ± 0.2, <nil>
}

func ExampleFactorisedGPClassifier() {
	speed, hum, _ := readings()
	model, err := mkl.FactorisedGPClassifier[string]{}.Fit(context.Background(), sensors(speed, hum), states(speed))
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	state, err := p.Predict(nil, []float64{0.1}, []float64{1})
	fmt.Println(state, err)
	// Output: stands <nil>
}

func ExampleProbitMAP() {
	speed, hum, _ := readings()
	model, err := mkl.ProbitMAP[string]{}.Fit(context.Background(), sensors(speed, hum), states(speed))
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	state, err := p.Predict(nil, []float64{0.1}, []float64{1})
	fmt.Println(state, err)
	// Output: stands <nil>
}

// The model keeps a few of the training samples.
func ExampleRelevanceClassifier() {
	speed, hum, _ := readings()
	model, err := mkl.RelevanceClassifier[string]{}.Fit(context.Background(), sensors(speed, hum), states(speed))
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	state, err := p.Predict(nil, []float64{0.1}, []float64{1})
	fmt.Println(state, err)
	fmt.Printf("%d of %d samples\n", len(model.Vectors()), len(speed))
	// Output:
	// stands <nil>
	// 3 of 80 samples
}

// The model keeps the training samples that the fit has not removed.
func ExamplePrunedClassifier() {
	speed, hum, _ := readings()
	model, err := mkl.PrunedClassifier[string]{}.Fit(context.Background(), sensors(speed, hum), states(speed))
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	state, err := p.Predict(nil, []float64{0.1}, []float64{1})
	fmt.Println(state, err)
	fmt.Printf("%d of %d samples\n", len(model.Vectors()), len(speed))
	// Output:
	// stands <nil>
	// 7 of 80 samples
}

// Few and short chains, which a program should not take from here.
func ExampleProbitSampler() {
	speed, hum, _ := readings()
	classifier := mkl.ProbitSampler[string]{GibbsDraws: mkl.GibbsDraws{Chains: 2, Draws: 25}}
	model, err := classifier.Fit(context.Background(), sensors(speed, hum), states(speed))
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	state, err := p.Predict(nil, []float64{0.1}, []float64{1})
	fmt.Println(state, err)
	// Output: stands <nil>
}
