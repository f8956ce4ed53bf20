package metrics

import (
	"fmt"
	"math"
)

// RankedProbability returns the mean ranked probability score of grades 0, 1, …, K−1. class holds the true grade of each
// sample, and probability[i] the probabilities of the K grades of sample i. The score of a sample is
//
//	Σ_k (P(y ≤ k) − [y ≤ k])² / (K−1),   k = 0, …, K−2,
//
// the mean Brier score of the cumulative probabilities. It is 0 for a sure and right prediction, and 1 where the
// prediction is sure of the one end and the truth is the other.
//
// Source: E. S. Epstein, "A scoring system for probability forecasts of ranked categories", Journal of Applied Meteorology
// 8 (1969), 985–987.
func RankedProbability(class []int, probability [][]float64) (float64, error) {
	if len(class) == 0 || len(class) != len(probability) {
		return math.NaN(), fmt.Errorf("metrics: %d grades and probabilities of %d samples", len(class), len(probability))
	}
	var sum float64
	for i, p := range probability {
		if class[i] < 0 || class[i] >= len(p) || len(p) < 2 {
			return math.NaN(), fmt.Errorf("metrics: the grade of sample %d is %d of %d", i, class[i], len(p))
		}
		var below, score float64
		for k, v := range p[:len(p)-1] {
			if !(v >= 0 && v <= 1) {
				return math.NaN(), fmt.Errorf("metrics: the probability of grade %d of sample %d is %g", k, i, v)
			}
			below += v
			d := below
			if class[i] <= k {
				d--
			}
			score += float64(d * d)
		}
		sum += score / float64(len(p)-1)
	}
	return sum / float64(len(class)), nil
}

// WeightedKappa returns Cohen's kappa of true and predicted grades from 0 to grades−1, with weights that are squared
// distances:
//
//	1 − Σ_i (y_i − p_i)² / (Σ_ij (y_i − p_j)²/N).
//
// It is 1 if all grades are right, and 0 on average for predictions that know nothing of the truth. It is an error if all true
// and all predicted grades are the same grade.
//
// Source: J. Cohen, "Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit",
// Psychological Bulletin 70 (1968), 213–220.
func WeightedKappa(truth, predicted []int, grades int) (float64, error) {
	if len(truth) == 0 || len(truth) != len(predicted) {
		return math.NaN(), fmt.Errorf("metrics: %d true and %d predicted grades", len(truth), len(predicted))
	}
	n := float64(len(truth))
	var observed, sumT, sumP, squares float64
	for i, t := range truth {
		p := predicted[i]
		if t < 0 || t >= grades || p < 0 || p >= grades {
			return math.NaN(), fmt.Errorf("metrics: the grades of sample %d are %d and %d of %d", i, t, p, grades)
		}
		a, b := float64(t), float64(p)
		observed += float64((a - b) * (a - b))
		sumT, sumP = sumT+a, sumP+b
		squares += float64(a*a) + float64(b*b)
	}
	expected := squares - float64(2*sumT*sumP/n)
	if expected == 0 {
		return math.NaN(), fmt.Errorf("metrics: all grades are %d", truth[0])
	}
	return 1 - observed/expected, nil
}
