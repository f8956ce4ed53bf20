package choose_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/choose"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Is a wave worth more than a straight line?
func Example() {
	var x, y []float64
	for i := range 60 {
		x = append(x, 6*math.Sin(float64(i*i)))
		y = append(y, x[i]+3*math.Sin(x[i])+0.2*math.Cos(float64(7*i)))
	}
	views := []mkl.View{{X: mkl.Column(x), Kernel: kernel.RBF{Width: 1}}, {X: mkl.Column(x), Kernel: kernel.Linear{}}}
	folds, err := choose.Split(len(y), choose.Plan{Repeats: 2})
	if err != nil {
		log.Fatal(err)
	}
	result, err := choose.Validation{
		Truth: choose.Truth{Numbers: y},
		Folds: folds,
		Candidates: []choose.Candidate{
			choose.Mean(y),
			choose.Ridge(views, y),
			choose.Targets("wave", views, y, mkl.MultiGP{}.Fit),
		},
	}.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	ranking, err := result.Rank(choose.RMSE)
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range ranking.Rows {
		fmt.Printf("%-5s %.1f\n", row.Name, row.Scores[choose.RMSE].Value)
	}
	fmt.Println(ranking.Rows[1].Difference.Zero())
	// Output:
	// mean  3.7
	// ridge 1.8
	// wave  0.2
	// false
}
