package evaluation

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/metrics"
)

// Names of measures of grades.
const (
	rankedScore = "RPS"
	kappa       = "QWK"
	gradesOff   = "grades off"
)

// measureGrades adds what is measured of grades beside what is measured of classes.
func (ev *Evaluation) measureGrades(class []int, probability [][]float64) error {
	grades := len(probability[0])
	share, median := make([]float64, grades), make([]int, len(class))
	off := 0.0
	for i, k := range class {
		share[k] += 1 / float64(len(class))
		median[i] = mkl.MedianGrade(probability[i])
		off += math.Abs(float64(median[i]-k)) / float64(len(class))
	}
	for k, v := range share {
		share[k] = min(v, 1)
	}
	v := ev.Measures[0].Values
	v[gradesOff] = off
	var err error
	if v[rankedScore], err = metrics.RankedProbability(class, probability); err != nil {
		return err
	}
	if q, err := metrics.WeightedKappa(class, median, grades); err == nil { // else all grades are the same
		v[kappa] = q
	}
	ev.Baseline.Values[rankedScore], err = metrics.RankedProbability(class, slices.Repeat([][]float64{share}, len(class)))
	return err
}
