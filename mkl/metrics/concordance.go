package metrics

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Concordance returns the probabilistic concordance index of predictions: the mean, over
// pairs of samples, of the probability that their true values are in the predicted order,
// if they were measured with an error of standard deviation sd. A pair whose values differ
// by Δ counts Φ(|Δ|/sd) in the predicted order, 1 − Φ(|Δ|/sd) in the opposite order, and ½ if
// the predictions are equal. Random predictions score ½ on average. The largest possible score is below
// 1, because the order of the true values is not certain. With sd 0 the index is the
// share of pairs in the right order. There must be at least two samples.
//
// Source: J. C. Costello et al., "A community effort to assess and improve drug sensitivity
// prediction algorithms", Nature Biotechnology 32 (2014), 1202–1212, which has no ties.
func Concordance(truth, predicted []float64, sd float64) (float64, error) {
	if err := checkConcordance(truth, predicted, sd); err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i := range truth {
		for j := range i {
			sum += float64(order(predicted[i]-predicted[j]) * lead(truth[i]-truth[j], sd))
		}
	}
	return 0.5 + sum/pairs(len(truth)), nil
}

// WeightedConcordance returns the mean of the probabilistic concordance indices of several
// targets, such as drugs, weighted by [ConcordanceWeight]. For each target it takes the true values,
// the predictions and the standard deviation of the measurement's error. Targets may have
// different samples. The values of at least one target must differ.
func WeightedConcordance(truth, predicted [][]float64, sd []float64) (float64, error) {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return math.NaN(), err
	}
	if len(sd) != len(truth) {
		return math.NaN(), fmt.Errorf("metrics: %d standard deviations for %d targets", len(sd), len(truth))
	}
	var sum, weights float64
	for t := range truth {
		c, err := Concordance(truth[t], predicted[t], sd[t])
		if err != nil {
			return math.NaN(), fmt.Errorf("target %d: %w", t, err)
		}
		w, err := ConcordanceWeight(truth[t], sd[t])
		if err != nil {
			return math.NaN(), fmt.Errorf("target %d: %w", t, err)
		}
		sum += float64(w * c)
		weights += w
	}
	if weights == 0 {
		return math.NaN(), errors.New("metrics: no target has values that differ")
	}
	return sum / weights, nil
}

// ConcordanceWeight returns how far the index of the best predictions is above the mean index of
// predictions in random order, in standard deviations of the index over random orders. It is 0 if all
// values are the same. The challenge estimated mean and deviation from 10,000 random predictions; here
// they are exact over all orders: ½ and, with C_ij = Φ((y_i−y_j)/sd) − ½, the square root of
//
//	Σ_{i<j} C_ij² + ⅓·Σ_i [(Σ_j C_ij)² − Σ_j C_ij²]
//
// divided by the number of pairs. Two pairs that share a sample agree more often than not.
func ConcordanceWeight(truth []float64, sd float64) (float64, error) {
	if err := checkConcordance(truth, truth, sd); err != nil {
		return math.NaN(), err
	}
	var best, variance float64
	for _, v := range truth {
		var sum, squares float64
		for _, u := range truth {
			c := lead(v-u, sd)
			sum += c
			squares += float64(c * c)
			best += float64(0.5 * math.Abs(c))
		}
		variance += float64(0.5*squares) + (float64(sum*sum)-squares)/3
	}
	if best == 0 {
		return 0, nil
	}
	return best / math.Sqrt(variance), nil
}

// lead returns Φ(d/sd) − ½.
func lead(d, sd float64) float64 {
	const sure = 40 // in standard deviations; beyond it Φ is 1
	if x := math.Abs(d) / sd; x < sure {
		return order(d) * (0.5 - special.Exp(special.LogNormalCDF(-x)))
	}
	return 0.5 * order(d)
}

// order returns the sign of d.
func order(d float64) float64 {
	switch {
	case d > 0:
		return 1
	case d < 0:
		return -1
	}
	return 0
}

// pairs returns the number of pairs of n samples.
func pairs(n int) float64 { return 0.5 * float64(n) * float64(n-1) }

// checkConcordance checks the arguments of [Concordance].
func checkConcordance(truth, predicted []float64, sd float64) error {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return err
	}
	if len(truth) < 2 {
		return errors.New("metrics: one sample where a pair is needed")
	}
	if !(sd >= 0) || math.IsInf(sd, 1) {
		return fmt.Errorf("metrics: the standard deviation is %g", sd)
	}
	for i, v := range truth {
		if v-v != 0 || math.IsNaN(predicted[i]) {
			return fmt.Errorf("metrics: sample %d: truth %g, predicted %g", i, v, predicted[i])
		}
	}
	return nil
}
