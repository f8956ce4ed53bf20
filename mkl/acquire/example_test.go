package acquire_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/acquire"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Which drug should be tested next? Six drugs have been tested. The activity of the others is unknown: the model
// predicts it from a descriptor. Each test goes to the drug with the largest expected improvement.
func Example() {
	activity := func(descriptor float64) float64 { return descriptor * math.Sin(descriptor) } // what a test measures
	var library []float64
	for i := range 60 {
		library = append(library, float64(i)/6)
	}
	tested := []float64{0, 1.5, 3, 4.5, 6, 9.5}
	var results []float64
	best := math.Inf(-1)
	for _, d := range tested {
		results = append(results, activity(d))
		best = max(best, activity(d))
	}
	fmt.Printf("best of 6 drugs: %.2f\n", best)
	ctx := context.Background()
	for range 6 {
		model, err := mkl.Auto{}.Fit(ctx, []mkl.View{{X: mkl.Column(tested)}}, results)
		if err != nil {
			log.Fatal(err)
		}
		joint, err := model.PredictJoint(ctx, mkl.PredictOptions{}, mkl.Column(library))
		if err != nil {
			log.Fatal(err)
		}
		improvement, err := acquire.ExpectedImprovement(joint, best)
		if err != nil {
			log.Fatal(err)
		}
		next := 0
		for i, v := range improvement {
			if v > improvement[next] {
				next = i
			}
		}
		tested, results = append(tested, library[next]), append(results, activity(library[next]))
		best = max(best, results[len(results)-1])
	}
	fmt.Printf("best of 12: %.2f; the best of all 60 has %.2f\n", best, activity(8))
	// Output:
	// best of 6 drugs: 1.50
	// best of 12: 7.91; the best of all 60 has 7.91
}

// Which drug's toxicity should be tested next? Each test goes to the drug whose class would teach the classifier most. With tests of
// drugs in a row the classifier would know less of the others.
func ExampleInformation() {
	toxic := func(descriptor float64) bool { return descriptor > 3.7 } // what a test says
	var library []float64
	for i := range 60 {
		library = append(library, float64(i)/6)
	}
	wrong := func(tested []float64) (n int) {
		joint := jointOf(tested, toxic, library)
		for i, m := range joint.Parts[0].Mean {
			if (m > 0) != toxic(library[i]) {
				n++
			}
		}
		return n
	}
	tested := []float64{0, 9.5}
	for range 4 {
		score := acquire.Information(jointOf(tested, toxic, library))
		next := 0
		for i, v := range score {
			if v > score[next] {
				next = i
			}
		}
		tested = append(tested, library[next])
	}
	fmt.Printf("wrong about %d of 60 after six tests; %d if the tests are of the first drugs\n", wrong(tested), wrong([]float64{0, 9.5, 0.5, 1, 1.5, 2}))
	// Output:
	// wrong about 4 of 60 after six tests; 12 if the tests are of the first drugs
}

// Which of three cell types is it? The next cell to label is the one whose type would teach the classifier most.
func ExampleClassInformation() {
	ctx := context.Background()
	sizes, types := []float64{0, 0.5, 4, 4.5, 9, 9.5}, []string{"small", "small", "middle", "middle", "large", "large"}
	model, err := mkl.MultiGPClassifier[string]{}.Fit(ctx, []mkl.View{{X: mkl.Column(sizes), Kernel: kernel.RBF{Width: 2}}}, types)
	if err != nil {
		log.Fatal(err)
	}
	cells := []float64{0.2, 2.3, 4.2, 9.2}
	functions, err := model.PredictFunctions(ctx, mkl.PredictOptions{}, mkl.Column(cells))
	if err != nil {
		log.Fatal(err)
	}
	score, err := acquire.ClassInformation(functions, 0, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("label the cell of size %g\n", cells[slices.Index(score, slices.Max(score))])
	// Output:
	// label the cell of size 2.3
}

// jointOf fits a classifier of two classes to tests and returns the joint posterior of its function.
func jointOf(tested []float64, toxic func(float64) bool, library []float64) *mkl.JointPrediction {
	var results []bool
	for _, d := range tested {
		results = append(results, toxic(d))
	}
	ctx := context.Background()
	model, err := mkl.MultiGPClassifier[bool]{}.Fit(ctx, []mkl.View{{X: mkl.Column(tested), Kernel: kernel.RBF{Width: 3}}}, results)
	if err != nil {
		log.Fatal(err)
	}
	joint, err := model.PredictJoint(ctx, mkl.PredictOptions{}, mkl.Column(library))
	if err != nil {
		log.Fatal(err)
	}
	return joint
}
