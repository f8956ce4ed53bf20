package metrics

import (
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// MAE returns the mean absolute error, Σ |predicted − truth|/n, in the unit of the truth.
func MAE(truth, predicted []float64) (float64, error) {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i, v := range truth {
		e := predicted[i] - v
		if math.IsNaN(e) {
			return math.NaN(), fmt.Errorf("metrics: sample %d: truth %g, predicted %g", i, v, predicted[i])
		}
		sum += math.Abs(e)
	}
	return sum / float64(len(truth)), nil
}

// R2 returns the coefficient of determination, 1 − Σ (predicted − truth)²/Σ (truth − mean of the truth)²: the share
// of the variance of the truth that predictions explain. It is negative if the mean predicts better. The values of the
// truth must differ.
func R2(truth, predicted []float64) (float64, error) {
	rmse, err := RMSE(truth, predicted)
	if err != nil {
		return math.NaN(), err
	}
	var mean, squares float64
	for _, v := range truth {
		mean += v / float64(len(truth))
	}
	for _, v := range truth {
		squares += float64((v - mean) * (v - mean))
	}
	if !(squares > 0) {
		return math.NaN(), errors.New("metrics: the truth does not vary")
	}
	return 1 - float64(float64(rmse*rmse)*float64(len(truth)))/squares, nil
}

// CRPS returns the mean continuous ranked probability score of normal distributions with the predicted means and
// variances, in the unit of the truth; smaller is better. For a prediction with variance 0 it is the absolute error.
//
// Source: T. Gneiting and A. E. Raftery, "Strictly proper scoring rules, prediction, and estimation", 2007,
// equation 21.
func CRPS(truth, mean, variance []float64) (float64, error) {
	if err := checkMoments(truth, mean, variance); err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i, v := range truth {
		sum += special.NormalCRPS(v, mean[i], math.Sqrt(variance[i]))
	}
	return sum / float64(len(truth)), nil
}

// PoissonDeviance returns the mean deviance 2·(y·log(y/μ) − (y − μ)) of counts y under Poisson distributions with the predicted means
// μ; smaller is better, and it is 0 if each mean is its count. Means must be positive.
func PoissonDeviance(truth, mean []float64) (float64, error) {
	if err := sameLength(len(truth), len(mean)); err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i, y := range truth {
		m := mean[i]
		if !(y >= 0 && m > 0) || math.IsInf(y, 1) || math.IsInf(m, 1) {
			return math.NaN(), fmt.Errorf("metrics: sample %d: count %g, mean %g", i, y, m)
		}
		sum += m - y
		if y > 0 {
			sum += float64(y * special.Log(y/m))
		}
	}
	return 2 * sum / float64(len(truth)), nil
}

// Pinball returns the mean pinball loss of predicted quantiles of a level between 0 and 1, in the unit of the truth. A truth
// above the quantile counts level times its distance, a truth below it 1 − level times its distance.
func Pinball(truth, quantile []float64, level float64) (float64, error) {
	if err := sameLength(len(truth), len(quantile)); err != nil {
		return math.NaN(), err
	}
	if !(level > 0 && level < 1) {
		return math.NaN(), fmt.Errorf("metrics: the level of the quantile is %g", level)
	}
	var sum float64
	for i, v := range truth {
		e := v - quantile[i]
		if math.IsNaN(e) {
			return math.NaN(), fmt.Errorf("metrics: sample %d: truth %g, quantile %g", i, v, quantile[i])
		}
		sum += max(float64(level*e), float64((level-1)*e))
	}
	return sum / float64(len(truth)), nil
}

// F1 returns the mean over classes of 2·hits/(2·hits + misses + false alarms), the harmonic mean of precision and
// recall. It takes the classes that occur in the truth or in the predictions. Classes are counted from 0.
func F1(truth, predicted []int) (float64, error) {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return math.NaN(), err
	}
	hits, wrong := map[int]float64{}, map[int]float64{}
	for i, k := range truth {
		if p := predicted[i]; p == k {
			hits[k]++
		} else {
			wrong[k]++
			wrong[p]++
		}
		hits[k] += 0 // make an entry for class k
		hits[predicted[i]] += 0
	}
	most := 0
	for k := range hits {
		if k < 0 {
			return math.NaN(), fmt.Errorf("metrics: class %d", k)
		}
		most = max(most, k)
	}
	var sum float64
	for k := range most + 1 { // in a fixed order
		if _, ok := hits[k]; ok {
			sum += 2 * hits[k] / (2*hits[k] + wrong[k])
		}
	}
	return sum / float64(len(hits)), nil
}

// AveragePrecision returns the area under the steps of precision over recall: the sum over the distinct scores, from
// the highest down, of the precision at the score times the recall that the score adds. There must be samples of both
// kinds.
func AveragePrecision(positive []bool, score []float64) (float64, error) {
	curve, err := roc(positive, score)
	if err != nil {
		return math.NaN(), err
	}
	var pos float64
	for _, is := range positive {
		if is {
			pos++
		}
	}
	neg := float64(len(positive)) - pos
	var sum float64
	for k, p := range curve[1:] {
		hits := float64(p.true * pos)
		sum += float64((p.true - curve[k].true) * hits / (hits + float64(p.false*neg)))
	}
	return sum, nil
}
