package mkl_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// sensors are the views of readings.
func sensors(speed, hum []float64) []mkl.View {
	return []mkl.View{
		{Name: "speed", X: mkl.Column(speed), Input: "x1", Kernel: kernel.RBF{}},
		{Name: "hum", X: mkl.Column(hum), Input: "x2", Kernel: kernel.RBF{}},
	}
}

// both are the readings side by side.
func both(speed, hum []float64) mkl.Features {
	x := la.NewMatrix[float64](len(speed), 2)
	for i := range speed {
		x.Set(i, 0, speed[i])
		x.Set(i, 1, hum[i])
	}
	return x
}

// states are what readings come from: a machine that stands, runs or races.
func states(speed []float64) (all []string) {
	for _, v := range speed {
		switch a := math.Abs(v); {
		case a < 1:
			all = append(all, "stands")
		case a < 2.5:
			all = append(all, "runs")
		default:
			all = append(all, "races")
		}
	}
	return all
}

// moves are the states of two kinds.
func moves(speed []float64) (all []bool) {
	for _, v := range speed {
		all = append(all, math.Abs(v) > 1.5)
	}
	return all
}

// Without kernels the estimator chooses them.
func ExampleAuto() {
	speed, hum, y := readings()
	model, err := mkl.Auto{}.Fit(context.Background(), []mkl.View{{X: both(speed, hum)}}, y)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	mean, variance, err := p.Predict([]float64{2, 1})
	fmt.Printf("%.0f ± %.1f, %v\n", mean, math.Sqrt(variance), err)
	// Output: 14 ± 0.2, <nil>
}

// Each of several targets has a model of its own.
func ExampleAutoTargets() {
	speed, hum, y := readings()
	rest := make([]float64, len(y))
	for i, v := range y {
		rest[i] = 100 - v
	}
	model, err := mkl.AutoTargets{}.Fit(context.Background(), []mkl.View{{X: both(speed, hum)}}, y, rest)
	if err != nil {
		log.Fatal(err)
	}
	for target := range model.Targets() {
		p, err := model.Predictor(mkl.PredictorOptions{Target: target})
		if err != nil {
			log.Fatal(err)
		}
		mean, _, err := p.Predict([]float64{2, 1})
		fmt.Printf("%.0f %v\n", mean, err)
	}
	// Output:
	// 14 <nil>
	// 86 <nil>
}

func ExampleAutoClassifier() {
	speed, hum, _ := readings()
	views := []mkl.View{{X: both(speed, hum)}}
	model, err := mkl.AutoClassifier[bool]{}.Fit(context.Background(), views, moves(speed))
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	moving, err := p.Predict(nil, []float64{2.8, 0})
	fmt.Println(moving, err)
	// Output: true <nil>
}

func ExampleMultiGP() {
	speed, hum, y := readings()
	model, err := mkl.MultiGP{}.Fit(context.Background(), sensors(speed, hum), y)
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

func ExampleSurvival() {
	speed, hum, _ := readings()
	var times []mkl.Lifetime // until a bearing fails: the test ends after 30 days
	for i, v := range speed {
		days := 60 / (1 + v*v) * (1 + 0.1*math.Sin(float64(7*i)))
		if days > 30 {
			times = append(times, mkl.EventAfter(30))
		} else {
			times = append(times, mkl.EventAt(days))
		}
	}
	model, err := mkl.Survival{}.Fit(context.Background(), sensors(speed, hum), times)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predict(mkl.Column([]float64{2}), mkl.Column([]float64{1}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("half of such bearings fail within %.0f days; %.0f %% last 10 days\n", p.Median()[0], 100*p.Survival(0, []float64{10})[0])
	// Output: half of such bearings fail within 12 days; 99 % last 10 days
}

func ExampleCounts() {
	speed, hum, _ := readings()
	var faults, days []float64
	for i, v := range speed {
		days = append(days, 1+float64(i%3))
		faults = append(faults, math.Floor(days[i]*(1+v*v)))
	}
	model, err := mkl.Counts{Exposure: days}.Fit(context.Background(), sensors(speed, hum), faults)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.PredictCounts(context.Background(), mkl.PredictOptions{}, []float64{7}, mkl.Column([]float64{2}), mkl.Column([]float64{1}))
	if err != nil {
		log.Fatal(err)
	}
	mean, _ := p.Moments()
	q := p.Quantiles(0.05, 0.95)[0]
	fmt.Printf("%.0f faults in a week, between %.0f and %.0f\n", mean[0], q[0], q[1])
	// Output: 34 faults in a week, between 32 and 35
}

func ExampleOrdinal() {
	speed, hum, _ := readings()
	var wear []string
	for _, v := range speed {
		wear = append(wear, []string{"none", "some", "much"}[min(int(v*v/2), 2)])
	}
	model, err := mkl.Ordinal[string]{Grades: []string{"none", "some", "much"}}.Fit(context.Background(), sensors(speed, hum), wear)
	if err != nil {
		log.Fatal(err)
	}
	grade, p, err := model.Predict(mkl.Column([]float64{1.7}), mkl.Column([]float64{1}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s; median %s\n", grade[0], model.Classes()[mkl.MedianGrade(p[0])])
	// Output: some; median some
}

func ExampleMultiGPClassifier() {
	speed, hum, _ := readings()
	model, err := mkl.MultiGPClassifier[string]{}.Fit(context.Background(), sensors(speed, hum), states(speed))
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

func ExampleLandmarkClassifier() {
	speed, hum, _ := readings()
	model, err := mkl.LandmarkClassifier[string]{Landmarks: &mkl.Landmarks{Count: 20}}.Fit(context.Background(), sensors(speed, hum), states(speed))
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

// A pass at a time the samples are read from wherever they are.
func ExampleClassPlan() {
	speed, hum, _ := readings()
	state := states(speed)
	plan, err := mkl.LandmarkClassifier[string]{Landmarks: &mkl.Landmarks{Count: 20}}.Begin(context.Background(), sensors(speed, hum), state)
	if err != nil {
		log.Fatal(err)
	}
	read := func(yield func(mkl.ClassRows[string], error) bool) {
		for i := range state {
			x := []mkl.Features{mkl.Column(speed[i : i+1]), mkl.Column(hum[i : i+1])}
			if !yield(mkl.ClassRows[string]{Labels: state[i : i+1], X: x}, nil) {
				return
			}
		}
	}
	model, err := plan.Fit(context.Background(), mkl.ClassPlanFitting{}, read)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	state0, err := p.Predict(nil, []float64{0.1}, []float64{1})
	fmt.Println(state0, err)
	// Output: stands <nil>
}

func ExampleLandmarkGP() {
	speed, hum, y := readings()
	model, err := mkl.LandmarkGP{Landmarks: &mkl.Landmarks{Count: 20}}.Fit(context.Background(), sensors(speed, hum), y)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	mean, _, err := p.Predict([]float64{2}, []float64{1})
	fmt.Printf("%.0f, %v\n", mean, err)
	// Output: 14, <nil>
}

func ExampleClassifier() {
	speed, hum, _ := readings()
	model, err := mkl.Classifier[string]{}.Fit(context.Background(), sensors(speed, hum), states(speed))
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

func ExampleMultiLabel() {
	speed, hum, _ := readings()
	loud := make([]bool, len(hum))
	for i, v := range hum {
		loud[i] = v > 0
	}
	model, err := mkl.MultiLabel{}.Fit(context.Background(), sensors(speed, hum), mkl.LabelsOf(moves(speed)), mkl.LabelsOf(loud))
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	has := make([]float64, 2) // the probability of each label
	err = p.Predict(has, []float64{0}, []float64{2})
	fmt.Println("moves:", has[0] > 0.5, "loud:", has[1] > 0.5, err)
	// Output: moves: false loud: true <nil>
}

func ExampleProbitClassifier() {
	speed, hum, _ := readings()
	model, err := mkl.ProbitClassifier[string]{}.Fit(context.Background(), sensors(speed, hum), states(speed))
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	state, err := p.Predict(make([]float64, 3), []float64{0.1}, []float64{1})
	fmt.Println(state, err)
	// Output: stands <nil>
}

// Targets that depend on different views.
func ExampleSharedRegression() {
	speed, hum, y := readings()
	heat := make([]float64, len(hum))
	for i, v := range hum {
		heat[i] = 20 + 4*v
	}
	model, err := mkl.SharedRegression{}.Fit(context.Background(), sensors(speed, hum), y, heat)
	if err != nil {
		log.Fatal(err)
	}
	for target := range 2 {
		p, err := model.Predictor(mkl.PredictorOptions{Target: target})
		if err != nil {
			log.Fatal(err)
		}
		mean, _, err := p.Predict([]float64{2}, []float64{1})
		fmt.Printf("%.1f, %v\n", mean, err)
	}
	// Output:
	// 14.5, <nil>
	// 25.0, <nil>
}

// Each target is known for some of the samples.
func ExampleTaskRegression() {
	speed, hum, y := readings()
	other := make([]float64, len(y))
	for i := range y {
		other[i] = 5 - y[i]
		if i%2 == 0 {
			other[i] = math.NaN()
		}
	}
	model, err := mkl.TaskRegression{MissingTargets: true}.Fit(context.Background(), sensors(speed, hum), y, other)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{Target: 1})
	if err != nil {
		log.Fatal(err)
	}
	mean, _, err := p.Predict([]float64{2}, []float64{1})
	fmt.Printf("%.0f, %v\n", mean, err)
	// Output: -9, <nil>
}

// Labels that were looked for in different samples.
func ExampleTaskClassifier() {
	speed, hum, _ := readings()
	fast, loud := make([]mkl.Label, len(speed)), make([]mkl.Label, len(hum))
	for i := range speed {
		fast[i], loud[i] = mkl.LabelAbsent, mkl.LabelAbsent
		if speed[i] > 0 {
			fast[i] = mkl.LabelPresent
		}
		if hum[i] > 0 {
			loud[i] = mkl.LabelPresent
		}
		if i%2 == 0 {
			loud[i] = mkl.LabelUnknown
		}
	}
	model, err := mkl.TaskClassifier{}.Fit(context.Background(), sensors(speed, hum), fast, loud)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	has := make([]float64, 2) // the probability of each label
	err = p.Predict(has, []float64{-1}, []float64{2})
	fmt.Println("fast:", has[0] > 0.5, "loud:", has[1] > 0.5, err)
	// Output: fast: false loud: true <nil>
}

// Targets that are combinations of few common functions.
func ExampleMultiTask() {
	speed, _, y := readings()
	other := make([]float64, len(y))
	for i := range y {
		other[i] = 5 - y[i]
	}
	model, err := mkl.MultiTask{Latents: 1}.Fit(context.Background(), []mkl.View{{X: mkl.Column(speed), Kernel: kernel.RBF{}}}, y, other)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{})
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	err = p.Predict(mean, variance, []float64{2})
	fmt.Printf("%.0f, %.0f, %v\n", mean[0], mean[1], err)
	// Output: 14, -9, <nil>
}

// Of ten columns two bear on the target.
func ExampleSpikeSlab() {
	x := la.NewMatrix[float64](60, 10)
	y := make([]float64, x.Rows)
	for i := range x.Rows {
		for j := range x.Cols {
			x.Set(i, j, math.Sin(float64(i*(2*j+3))))
		}
		y[i] = 3*x.At(i, 2) - 2*x.At(i, 7) + 0.1*math.Cos(float64(5*i))
	}
	model, err := mkl.SpikeSlab{}.Fit(context.Background(), x, y)
	if err != nil {
		log.Fatal(err)
	}
	p, err := model.Predictor(mkl.PredictorOptions{Inclusion: 0.5})
	if err != nil {
		log.Fatal(err)
	}
	mean, _, err := p.Predict([]float64{0, 0, 1, 0, 0, 0, 0, 1, 0, 0})
	fmt.Printf("columns %v: %.1f, %v\n", p.Info()[0].Kernels, mean, err)
	// Output: columns [2 7]: 1.0, <nil>
}
