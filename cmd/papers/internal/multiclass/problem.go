// Package multiclass holds problems of many classes, each with kernels and a split
// into training and test samples: the data sets that experiments of several papers
// use, read from the files that their authors publish.
package multiclass

import (
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/memory"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/metrics"
	"github.com/bmkl/bmkl/vi"
)

// Problem is a problem of many classes with a split into N training and T test
// samples.
type Problem struct {
	Name        string               // of the split
	Classes     int                  // their number
	TrainClass  []int                // from 0, of each training sample
	TestClass   []int                // likewise of the test samples
	Train, Test []la.Matrix[float64] // kernels: N×N, and N×T between training and test samples
}

// Labels is +1 for the samples of a class and −1 for the others, a row for each
// class.
func (x *Problem) Labels() la.Matrix[float64] {
	y := la.NewMatrix[float64](x.Classes, len(x.TrainClass))
	y.Fill(-1)
	for i, c := range x.TrainClass {
		y.Set(c, i, 1)
	}
	return y
}

// Kernels returns the kernels as models take them.
func (x *Problem) Kernels() (train, test *vi.Dense, err error) {
	if train, err = vi.NewDense(x.Train...); err != nil {
		return nil, nil, err
	}
	test, err = vi.NewDense(x.Test...)
	return train, test, err
}

// RowsOf returns the rows of m, which share its memory.
func RowsOf(m la.Matrix[float64]) [][]float64 {
	var out [][]float64
	for i := range m.Rows {
		out = append(out, m.Row(i))
	}
	return out
}

// Scores is how well the scores of the test samples separate the classes.
type Scores struct {
	Accuracy float64 // share of the samples whose own class has the highest score
	AUC, EER float64 // means over the classes that have test samples
}

// Score measures the scores of the test samples, classes × samples.
func (x *Problem) Score(all [][]float64) (s Scores, err error) {
	best := make([]int, len(x.TestClass))
	for i := range best {
		for class := range all {
			if all[class][i] > all[best[i]][i] {
				best[i] = class
			}
		}
	}
	if s.Accuracy, err = metrics.Accuracy(x.TestClass, best); err != nil {
		return s, err
	}
	present := 0.0
	for class := range x.Classes {
		positive := x.IsClass(class)
		if !slices.Contains(positive, true) {
			continue // a class without test samples has no curve
		}
		area, err := metrics.AUC(positive, all[class])
		if err != nil {
			return s, err
		}
		rate, err := metrics.EqualErrorRate(positive, all[class])
		if err != nil {
			return s, err
		}
		present++
		s.AUC, s.EER = s.AUC+area, s.EER+rate
	}
	s.AUC, s.EER = s.AUC/present, s.EER/present
	return s, nil
}

// Classify sets the classes of the training and test samples.
func (x *Problem) Classify(train, test []int, class func(int) int) {
	for _, i := range train {
		x.TrainClass = append(x.TrainClass, class(i))
	}
	for _, i := range test {
		x.TestClass = append(x.TestClass, class(i))
	}
	x.Classes = 1 + max(slices.Max(x.TrainClass), slices.Max(x.TestClass))
}

// IsClass reports for each test sample whether it is of a class.
func (x *Problem) IsClass(class int) []bool {
	is := make([]bool, len(x.TestClass))
	for i, t := range x.TestClass {
		is[i] = t == class
	}
	return is
}

// MeanBreakEven is the mean over the classes that have test samples of the recall
// where it equals the precision.
func (x *Problem) MeanBreakEven(scores [][]float64) (mean float64, err error) {
	present := 0.0
	for class := range x.Classes {
		positive := x.IsClass(class)
		if !slices.Contains(positive, true) {
			continue
		}
		v, err := metrics.BreakEven(positive, scores[class])
		if err != nil {
			return 0, err
		}
		mean += v
		present++
	}
	return mean / present, nil
}

// AllowMemory refuses an experiment that needs more bytes than the limit, which
// is what the machine has available if it is 0.
func AllowMemory(limit memory.Size, need float64) error {
	if limit == 0 {
		limit = memory.Available()
	}
	if limit > 0 && need > float64(limit) {
		return console.Inputf("the experiment needs about %v of memory, more than %v", memory.Size(need), limit)
	}
	return nil
}
