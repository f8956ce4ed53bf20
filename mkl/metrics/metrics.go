// Package metrics measures predictions against the truth. Arguments have a value
// for each of n samples. Every function returns an error if n is 0, if lengths differ,
// if a value is NaN or outside its range, and if the measure is not defined for the
// data; the error names the sample.
package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
)

// Accuracy returns the share of predictions that equal the truth, between 0 and 1.
func Accuracy[T comparable](truth, predicted []T) (float64, error) {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return math.NaN(), err
	}
	right := 0
	for i, v := range truth {
		if predicted[i] == v {
			right++
		}
	}
	return float64(right) / float64(len(truth)), nil
}

// RMSE returns the root of the mean squared error, √(Σ (predicted − truth)²/n), in the
// unit of the truth.
func RMSE(truth, predicted []float64) (float64, error) {
	if err := sameLength(len(truth), len(predicted)); err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i, v := range truth {
		e := predicted[i] - v
		if math.IsNaN(e) {
			return math.NaN(), fmt.Errorf("metrics: sample %d: truth %g, predicted %g", i, v, predicted[i])
		}
		sum += float64(e * e)
	}
	return math.Sqrt(sum / float64(len(truth))), nil
}

// NLPD returns the mean over samples of −log density of the truth under the normal
// distribution with the predicted mean and variance, in nats. Variances are positive.
func NLPD(truth, mean, variance []float64) (float64, error) {
	if err := checkMoments(truth, mean, variance); err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i, v := range truth {
		e := v - mean[i]
		square := e * e / variance[i]
		if math.IsNaN(square) { // ∞/∞: the variance is infinite, and so are its logarithm and the sum
			square = 0
		}
		sum += float64(0.5 * (special.Log(2*math.Pi*variance[i]) + square))
	}
	return sum / float64(len(truth)), nil
}

// Coverage returns the share of true values within the central interval, with the
// given probability, of the normal distribution with the predicted mean and variance.
func Coverage(truth, mean, variance []float64, probability float64) (float64, error) {
	if err := checkMoments(truth, mean, variance); err != nil {
		return math.NaN(), err
	}
	if !(probability > 0 && probability < 1) {
		return math.NaN(), fmt.Errorf("metrics: the probability of the interval is %g", probability)
	}
	z := special.NormalQuantile(0.5 + float64(0.5*probability))
	covered := 0
	for i, v := range truth {
		if math.Abs(v-mean[i]) <= z*math.Sqrt(variance[i]) {
			covered++
		}
	}
	return float64(covered) / float64(len(truth)), nil
}

// checkMoments checks numbers against predicted means and variances.
func checkMoments(truth, mean, variance []float64) error {
	if err := sameLength(len(truth), len(mean)); err != nil {
		return err
	}
	if err := sameLength(len(truth), len(variance)); err != nil {
		return err
	}
	for i, v := range truth {
		if math.IsNaN(v-mean[i]) || !(variance[i] > 0) {
			return fmt.Errorf("metrics: sample %d: truth %g, predicted %g with the variance %g", i, v, mean[i], variance[i])
		}
	}
	return nil
}

// LogLoss returns the mean over samples i of −log probability[i][class[i]], in nats.
// class counts from 0; the row probability[i] has the predicted probability of every
// class. It is +Inf if the probability of a true class is 0: nothing is clipped.
func LogLoss(class []int, probability [][]float64) (float64, error) {
	if err := checkProbabilities(class, probability); err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i, c := range class {
		sum -= special.Log(probability[i][c])
	}
	return sum / float64(len(class)), nil
}

// Brier returns the Brier score, the mean over samples of Σ_k (p_k − t_k)², between 0
// and 2, where p_k is the predicted probability of class k and t_k is 1 for the true class
// and 0 for the others. The arguments are as in [LogLoss]. For two classes many authors call
// (p_1 − t_1)² the Brier score; this score is twice as large.
//
// Source: G. W. Brier, "Verification of forecasts expressed in terms of probability",
// Monthly Weather Review 78 (1950), 1–3.
func Brier(class []int, probability [][]float64) (float64, error) {
	if err := checkProbabilities(class, probability); err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i, c := range class {
		for k, p := range probability[i] {
			if k == c {
				p -= 1
			}
			sum += float64(p * p)
		}
	}
	return sum / float64(len(class)), nil
}

// AUC returns the area under the receiver operating characteristic: the probability
// that a positive sample scores higher than a negative one, ties counted half. There
// must be samples of both kinds.
func AUC(positive []bool, score []float64) (float64, error) {
	curve, err := roc(positive, score)
	if err != nil {
		return math.NaN(), err
	}
	var area float64
	for i, p := range curve[1:] {
		area += float64((p.false - curve[i].false) * (p.true + curve[i].true) / 2)
	}
	return area, nil
}

// ROCn returns the area under the receiver operating characteristic up to the first n
// negative samples, divided by its largest possible value. It is 1 if all positive samples score above
// all negative ones, and 0 if n negative samples score above every positive one. Ties are
// counted half. With n = 50 it is the ROC50 of database searches. With fewer than n
// negative samples it is [AUC].
//
// Source: M. Gribskov and N. L. Robinson, "Use of receiver operating characteristic (ROC)
// analysis to evaluate sequence matching", Computers & Chemistry 20 (1996).
func ROCn(positive []bool, score []float64, n int) (float64, error) {
	if n < 1 {
		return math.NaN(), fmt.Errorf("metrics: ROCn: n is %d", n)
	}
	curve, err := roc(positive, score)
	if err != nil {
		return math.NaN(), err
	}
	negatives := 0
	for _, p := range positive {
		if !p {
			negatives++
		}
	}
	end := min(1, float64(n)/float64(negatives))
	var area float64
	for i, p := range curve[1:] {
		before := curve[i]
		if before.false >= end {
			break
		}
		if p.false > end { // the curve ends within a tie
			p.true = before.true + (p.true-before.true)*(end-before.false)/(p.false-before.false)
			p.false = end
		}
		area += float64((p.false - before.false) * (p.true + before.true) / 2)
	}
	return area / end, nil
}

// MedianRFP returns the median rate of false positives: the share of the negative samples
// that score at least as high as the median positive sample, the upper one of two. 0 is
// best.
//
// Source: T. Jaakkola, M. Diekhans and D. Haussler, "A discriminative framework for
// detecting remote protein homologies", J. Comput. Biol. 7 (2000).
func MedianRFP(positive []bool, score []float64) (float64, error) {
	curve, err := roc(positive, score)
	if err != nil {
		return math.NaN(), err
	}
	i := slices.IndexFunc(curve, func(p point) bool { return p.true >= 0.5 })
	return curve[i].false, nil
}

// EqualErrorRate returns the error rate at the threshold where the share of the negative
// samples that score above it equals the share of the positive samples that do not.
// Between two thresholds the receiver operating characteristic is a straight line.
// There must be samples of both kinds.
func EqualErrorRate(positive []bool, score []float64) (float64, error) {
	curve, err := roc(positive, score)
	if err != nil {
		return math.NaN(), err
	}
	// The share of negatives accepted minus the share of positives rejected,
	// false − (1 − true), rises from −1 to 1 along the curve.
	for i, p := range curve[1:] {
		before, after := curve[i].false+curve[i].true-1, p.false+p.true-1
		if after >= 0 {
			t := -before / (after - before)
			return curve[i].false + float64(t*(p.false-curve[i].false)), nil
		}
	}
	return math.NaN(), errors.New("metrics: no threshold") // unreachable: the curve ends at 1
}

// BreakEven returns the recall at the threshold where recall and precision are equal: the number of
// negative samples that score above it equals the number of positive samples that do not. Between two
// thresholds the receiver operating characteristic is a straight line. If all samples have the same
// score it is the share of positive samples. There must be
// samples of both kinds.
func BreakEven(positive []bool, score []float64) (float64, error) {
	curve, err := roc(positive, score)
	if err != nil {
		return math.NaN(), err
	}
	var yes, no float64
	for _, p := range positive {
		if p {
			yes++
		} else {
			no++
		}
	}
	// The number of false positives minus the number of false negatives rises from −yes to no
	// along the curve.
	surplus := func(p point) float64 { return float64(p.false*no) - float64((1-p.true)*yes) }
	for i, p := range curve[1:] {
		if after := surplus(p); after >= 0 {
			before := surplus(curve[i])
			return curve[i].true + float64(-before/(after-before)*(p.true-curve[i].true)), nil
		}
	}
	return math.NaN(), errors.New("metrics: no threshold") // unreachable: the curve ends at 1
}

// ROC returns the points of the receiver operating characteristic: (0, 0), and for each
// distinct score, from the highest down, the shares of the negative and of the positive
// samples that score at least that high. The last point is (1, 1). There must be samples of both
// kinds.
func ROC(positive []bool, score []float64) (falsePositive, truePositive []float64, err error) {
	curve, err := roc(positive, score)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range curve {
		falsePositive, truePositive = append(falsePositive, p.false), append(truePositive, p.true)
	}
	return falsePositive, truePositive, nil
}

// point holds the shares of the negative and of the positive samples that a threshold
// accepts.
type point struct{ false, true float64 }

// roc returns the points of [ROC].
func roc(positive []bool, score []float64) ([]point, error) {
	if err := sameLength(len(positive), len(score)); err != nil {
		return nil, err
	}
	order := make([]int, len(score))
	var pos, neg float64
	for i, s := range score {
		if math.IsNaN(s) {
			return nil, fmt.Errorf("metrics: score %d is NaN", i)
		}
		order[i] = i
		if positive[i] {
			pos++
		} else {
			neg++
		}
	}
	if pos == 0 || neg == 0 {
		return nil, fmt.Errorf("metrics: %g positive and %g negative samples: both are needed", pos, neg)
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	curve := []point{{}}
	var p point
	for n, i := range order {
		if positive[i] {
			p.true++
		} else {
			p.false++
		}
		if n+1 == len(order) || score[order[n+1]] != score[i] {
			curve = append(curve, point{p.false / neg, p.true / pos})
		}
	}
	return curve, nil
}

// CalibrationBin compares predicted probabilities with frequencies, for the samples whose predicted
// probability is at least From and below To (the last bin includes 1).
type CalibrationBin struct {
	From, To float64
	Count    int     // number of these samples
	Mean     float64 // their mean predicted probability, NaN if there are no samples
	Observed float64 // the share of them that are positive, NaN if there are no samples
}

// mostBins is more than a plot can show.
const mostBins = 1 << 20

// Calibration sorts predictions by their probability of being positive into bins of
// equal width from 0 to 1; at most a million bins. Well calibrated predictions have Observed near Mean in every
// bin.
func Calibration(positive []bool, probability []float64, bins int) ([]CalibrationBin, error) {
	if err := sameLength(len(positive), len(probability)); err != nil {
		return nil, err
	}
	if bins < 1 || bins > mostBins {
		return nil, fmt.Errorf("metrics: %d bins: there are between 1 and %d", bins, mostBins)
	}
	table := make([]CalibrationBin, bins)
	for b := range table {
		table[b] = CalibrationBin{From: float64(b) / float64(bins), To: float64(b+1) / float64(bins)}
	}
	for i, p := range probability {
		if !(p >= 0 && p <= 1) {
			return nil, fmt.Errorf("metrics: probability %d is %g", i, p)
		}
		// Rounding of the product may select the bin next to the bin of p.
		at := min(int(p*float64(bins)), bins-1)
		for at > 0 && p < table[at].From {
			at--
		}
		for at < bins-1 && p >= table[at].To {
			at++
		}
		b := &table[at]
		b.Count++
		b.Mean += p
		if positive[i] {
			b.Observed++
		}
	}
	for b := range table {
		n := float64(table[b].Count)
		table[b].Mean, table[b].Observed = table[b].Mean/n, table[b].Observed/n
	}
	return table, nil
}

// sameLength returns an error if there are no samples, or if the numbers of predictions and of samples differ.
func sameLength(truth, predicted int) error {
	switch {
	case truth != predicted:
		return fmt.Errorf("metrics: %d predictions for %d samples", predicted, truth)
	case truth == 0:
		return errors.New("metrics: no samples")
	}
	return nil
}

// checkProbabilities checks classes against rows of probabilities.
func checkProbabilities(class []int, probability [][]float64) error {
	if err := sameLength(len(class), len(probability)); err != nil {
		return err
	}
	for i, row := range probability {
		if class[i] < 0 || class[i] >= len(row) {
			return fmt.Errorf("metrics: sample %d: class %d where there are %d probabilities", i, class[i], len(row))
		}
		for k, p := range row {
			if !(p >= 0 && p <= 1) {
				return fmt.Errorf("metrics: probability [%d][%d] is %g", i, k, p)
			}
		}
	}
	return nil
}
