// Package metrics scores decisions against the truth.
package metrics

import (
	"cmp"
	"math"
	"slices"
)

// Accuracy is the share of samples whose highest score is that of their class;
// scores[o][i] is the score of class o for sample i. Ties go to the first class.
func Accuracy(scores [][]float64, class []int) float64 {
	right := 0
	for i, c := range class {
		best := 0
		for o := range scores {
			if scores[o][i] > scores[best][i] {
				best = o
			}
		}
		if best == c {
			right++
		}
	}
	return float64(right) / float64(len(class))
}

// roc walks the receiver operating characteristic of score, from the highest
// threshold down: it calls visit with the rates before and after each group of
// samples of equal score. It is false if one of the classes has no samples.
func roc(score []float64, positive []bool, visit func(fp0, tp0, fp1, tp1 float64)) bool {
	order := make([]int, len(score))
	var p, n float64
	for i := range order {
		order[i] = i
		if positive[i] {
			p++
		} else {
			n++
		}
	}
	if p == 0 || n == 0 {
		return false
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	var fp, tp float64
	for k := 0; k < len(order); {
		fp0, tp0 := fp, tp
		for s := score[order[k]]; k < len(order) && score[order[k]] == s; k++ {
			if positive[order[k]] {
				tp++
			} else {
				fp++
			}
		}
		visit(fp0/n, tp0/p, fp/n, tp/p)
	}
	return true
}

// AUC is the area under the receiver operating characteristic: the probability
// that a positive sample scores higher than a negative one, ties counting half.
// It is NaN if one of the two has no samples.
func AUC(score []float64, positive []bool) float64 {
	area := 0.0
	if !roc(score, positive, func(fp0, tp0, fp1, tp1 float64) { area += float64((fp1 - fp0) * (tp0 + tp1) / 2) }) {
		return math.NaN()
	}
	return area
}

// EER is the equal error rate: where the receiver operating characteristic,
// joined by straight lines, has as many false positives (of the negatives) as
// false negatives (of the positives). It is NaN if one of the two has no samples.
func EER(score []float64, positive []bool) float64 {
	rate := math.NaN()
	roc(score, positive, func(fp0, tp0, fp1, tp1 float64) {
		before, after := fp0-(1-tp0), fp1-(1-tp1) // rises from −1 to 1
		if math.IsNaN(rate) && before <= 0 && after >= 0 {
			t := 0.0
			if after > before {
				t = -before / (after - before)
			}
			rate = fp0 + float64(t*(fp1-fp0))
		}
	})
	return rate
}

// MeanSD returns the mean of x and its standard deviation with n−1, which is 0
// for a single value.
func MeanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		sd += float64((v-mean)*(v-mean)) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}
