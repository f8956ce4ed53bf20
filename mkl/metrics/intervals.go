package metrics

import (
	"fmt"
	"math"
)

// IntervalScore returns the mean interval score of central intervals with the given probability, in the unit of the truth; smaller is better.
// The score of an interval is its length plus 2/(1 − probability) times the distance of a truth outside of it. It is
// 2/(1 − probability) times the sum of the [Pinball] losses of the two ends.
//
// Source: T. Gneiting and A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation", 2007, equation 43.
func IntervalScore(truth, lower, upper []float64, probability float64) (float64, error) {
	if err := sameLength(len(truth), len(lower)); err != nil {
		return math.NaN(), err
	}
	if err := sameLength(len(truth), len(upper)); err != nil {
		return math.NaN(), err
	}
	if !(probability > 0 && probability < 1) {
		return math.NaN(), fmt.Errorf("metrics: the probability of the interval is %g", probability)
	}
	var sum float64
	for i, v := range truth {
		l, u := lower[i], upper[i]
		if math.IsNaN(v) || !(l <= u) {
			return math.NaN(), fmt.Errorf("metrics: sample %d: truth %g, interval from %g to %g", i, v, l, u)
		}
		sum += u - l + float64(2/(1-probability)*(max(0, l-v)+max(0, v-u)))
	}
	return sum / float64(len(truth)), nil
}

// PIT returns the histogram of the probability integral transform: the shares of samples in equal bins of [0, 1], which add up to 1. With the
// predicted distribution of Y_i and the truth y_i, below[i] is P(Y_i < y_i) and upTo[i] is P(Y_i ≤ y_i). Both are the same number where the
// distribution is continuous. If the predictions are right, every bin has the same share on average.
//
// A sample of a distribution with steps, such as counts, is spread evenly over the interval from below[i] to upTo[i]: the version of the
// transform that is not randomised. The same holds of a time that is known to lie in an interval, such as a censored one: if the predictions
// are right, its transform is uniform between the ends, whatever the censoring. The histogram is then the mean of those that drawing the
// unknown transforms would give.
//
// Source: C. Czado, T. Gneiting and L. Held, "Predictive model assessment for count data", Biometrics 65 (2009), 1254–1261.
func PIT(below, upTo []float64, bins int) ([]float64, error) {
	if err := sameLength(len(below), len(upTo)); err != nil {
		return nil, err
	}
	if bins < 1 {
		return nil, fmt.Errorf("metrics: %d bins", bins)
	}
	share := make([]float64, bins)
	n, width := float64(len(upTo)), float64(bins)
	for i, u := range upTo {
		b := below[i]
		if !(b >= 0 && b <= u && u <= 1) {
			return nil, fmt.Errorf("metrics: sample %d: the probability below is %g, and up to the truth %g", i, b, u)
		}
		first, last := min(int(b*width), bins-1), min(int(u*width), bins-1)
		if first == last {
			share[first] += 1 / n
			continue
		}
		for k := first; k <= last; k++ {
			from, to := max(b, float64(k)/width), min(u, float64(k+1)/width)
			share[k] += max(0, to-from) / (u - b) / n
		}
	}
	return share, nil
}

// PITDistance returns how far a histogram of [PIT] is from uniform: the largest distance, over the edges of the bins, between the edge and the
// share of samples below. The edge .1 is compared with the share of truths below their predicted 10 % quantile, for example. It is
// between 0 and 1, and 0 of even shares. By chance it is about .8/√n on average of n samples whose predictions are right, and rarely above 1.4/√n.
func PITDistance(share []float64) float64 {
	var most, sum float64
	for k, s := range share {
		sum += s
		most = max(most, math.Abs(sum-float64(k+1)/float64(len(share))))
	}
	return most
}
