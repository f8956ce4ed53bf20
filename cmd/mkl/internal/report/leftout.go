package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	"github.com/bmkl/bmkl/mkl"
)

// LeftOut says how well a model predicts each training sample from all others.
type LeftOut struct {
	Values   console.Figures `json:"values"`
	Baseline console.Figures `json:"baseline"` // of predicting the mean, or the frequencies of the classes
}

// leftOutInterval is the probability of the intervals that are counted.
const leftOutInterval = 0.95

// TellLeftOut adds to the report how well the model of a fit predicts the training samples, each from all others.
func (r *Report) TellLeftOut(m mkl.Model, numbers [][]float64, class, classes []string) (err error) {
	pools, ok := m.(*mkl.AutoTargetsModel)
	if !ok {
		r.LeftOut, err = leaveOneOut(m, numbers, class, classes)
		return err
	}
	for o, y := range numbers {
		known := slices.DeleteFunc(slices.Clone(y), math.IsNaN)
		if r.Targets[o].LeftOut, err = leaveOneOut(pools.Target(o), [][]float64{known}, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// leaveOneOut measures the predictions of the training samples of one target, each from all others: numbers, or
// classes. It is nil of models that do not have such predictions.
func leaveOneOut(m mkl.Model, numbers [][]float64, class, classes []string) (*LeftOut, error) {
	switch m := m.(type) {
	case interface{ LeaveOneOut() *mkl.Prediction }:
		p := m.LeaveOneOut()
		if p == nil || len(numbers) != 1 {
			return nil, nil
		}
		return leftOutNumbers(numbers[0], p)
	case interface {
		LeaveOneOut(labels []string) ([][]float64, error)
	}:
		p, err := m.LeaveOneOut(class)
		if p == nil || err != nil {
			return nil, err
		}
		return leftOutClasses(class, classes, p)
	}
	return nil, nil
}

func leftOutNumbers(y []float64, p *mkl.Prediction) (*LeftOut, error) {
	n := float64(len(y))
	_, sd := measure.MeanSD(y)
	if !(sd > 0) {
		return nil, nil
	}
	v, err := measure.Target(y, p.Mean[0], p.Variance[0], leftOutInterval)
	if err != nil {
		return nil, err
	}
	if err := measure.Law(v, p, 0, y, leftOutInterval); err != nil {
		return nil, err
	}
	// The mean of the other n − 1 samples is n/(n − 1) times as far away as the mean of all.
	return &LeftOut{v, console.Figures{"RMSE": sd * math.Sqrt(n/(n-1))}}, nil
}

func leftOutClasses(class, classes []string, p [][]float64) (*LeftOut, error) {
	at := map[string]int{}
	for k, c := range classes {
		at[c] = k
	}
	truth, count := make([]int, len(class)), make([]float64, len(classes))
	for i, c := range class {
		truth[i] = at[c]
		count[at[c]]++
	}
	v, err := measure.Classes(truth, p)
	if err != nil {
		return nil, err
	}
	frequencies := make([][]float64, len(class))
	for i := range frequencies {
		frequencies[i] = make([]float64, len(classes))
		for k, n := range count {
			frequencies[i][k] = n / float64(len(class))
		}
	}
	base, err := measure.Classes(truth, frequencies)
	if err != nil {
		return nil, err
	}
	return &LeftOut{v, console.Figures{"accuracy": base["accuracy"], "log loss": base["log loss"]}}, nil
}

// String is a sentence.
func (l *LeftOut) String() string {
	if v, ok := l.Values["accuracy"]; ok {
		return fmt.Sprintf("left out one by one: %s %% of the rows are classified rightly, log loss %s (the most frequent class: %s %%, the frequencies: %s)",
			percent(v), console.Figure(l.Values["log loss"]), percent(l.Baseline["accuracy"]), console.Figure(l.Baseline["log loss"]))
	}
	explained := 1 - float64(l.Values["RMSE"]*l.Values["RMSE"])/float64(l.Baseline["RMSE"]*l.Baseline["RMSE"])
	what := fmt.Sprintf("explains %s %% of the variance of rows it has not seen", percent(explained))
	if !(explained > 0) {
		what = "predicts rows it has not seen no better than their mean"
	}
	return fmt.Sprintf("left out one by one: %s (RMSE %s, the mean: %s); 95 %% intervals hold %s %%",
		what, console.Figure(l.Values["RMSE"]), console.Figure(l.Baseline["RMSE"]), percent(l.Values["coverage"]))
}

// percent is a share in percent, without decimals unless it is above 99 %. Only all is 100 %.
func percent(v float64) string {
	const nearly = 0.99
	if v > nearly && v < 1 {
		return fmt.Sprintf("%.1f", math.Floor(1000*v)/10)
	}
	return fmt.Sprintf("%.0f", 100*v)
}
