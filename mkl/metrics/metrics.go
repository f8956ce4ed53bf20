// Package metrics measures predictions against what came true. Every function
// returns an error for no data, lengths that differ, NaN, or data for which the
// measure is not defined.
package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Accuracy returns the share of predictions that are right.
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

// RMSE returns the root of the mean squared error, √(Σ (predicted − truth)²/n).
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

// LogLoss returns the mean of −log probability[i][class[i]] in nats, where the
// rows are the predicted probabilities of all classes. A class that came true
// against a probability of 0 makes it infinite; nothing is clipped.
func LogLoss(class []int, probability [][]float64) (float64, error) {
	if err := checkProbabilities(class, probability); err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i, c := range class {
		sum -= math.Log(probability[i][c])
	}
	return sum / float64(len(class)), nil
}

// Brier returns the mean over samples of Σ_k (probability[k] − [k came true])²,
// between 0 and 2 (Brier 1950). For two classes it is twice the mean of
// (p − [true])², which is also called the Brier score.
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

// AUC returns the area under the receiver operating characteristic: the
// probability that a positive sample scores higher than a negative one, ties
// counted half. It needs both.
func AUC(positive []bool, score []float64) (float64, error) {
	curve, err := roc(positive, score)
	if err != nil {
		return math.NaN(), err
	}
	var area float64
	for i, p := range curve[1:] {
		area += (p.false - curve[i].false) * (p.true + curve[i].true) / 2
	}
	return area, nil
}

// EqualErrorRate returns the error rate at the threshold at which as large a
// share of the negative samples is accepted as of the positive ones refused,
// with the receiver operating characteristic joined by straight lines.
func EqualErrorRate(positive []bool, score []float64) (float64, error) {
	curve, err := roc(positive, score)
	if err != nil {
		return math.NaN(), err
	}
	// The surplus false + true − 1 rises from −1 to 1.
	for i, p := range curve[1:] {
		before, after := curve[i].false+curve[i].true-1, p.false+p.true-1
		if after >= 0 {
			t := -before / (after - before)
			return curve[i].false + float64(t*(p.false-curve[i].false)), nil
		}
	}
	return math.NaN(), errors.New("metrics: no threshold") // unreachable: the curve ends at 1
}

// BreakEven returns the recall at the threshold at which it equals the precision,
// that is where as many negative samples are accepted as positive ones are refused,
// with the receiver operating characteristic joined by straight lines. For scores
// that say nothing it is the share of the positive samples.
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
	// The surplus of false positives over false negatives rises from −yes to no.
	surplus := func(p point) float64 { return float64(p.false*no) - float64((1-p.true)*yes) }
	for i, p := range curve[1:] {
		if after := surplus(p); after >= 0 {
			before := surplus(curve[i])
			return curve[i].true + float64(-before/(after-before)*(p.true-curve[i].true)), nil
		}
	}
	return math.NaN(), errors.New("metrics: no threshold") // unreachable: the curve ends at 1
}

// ROC returns the receiver operating characteristic from (0, 0) to (1, 1), a point
// for each distinct score: the shares of negative and of positive samples that
// score at least so high.
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

// point is a threshold's share of negative and of positive samples accepted.
type point struct{ false, true float64 }

// roc returns the receiver operating characteristic from (0, 0) to (1, 1), one
// point for each distinct score.
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

// CalibrationBin tells how often something came true that was predicted with a
// probability from From up to, but not including, To (the last bin includes 1).
type CalibrationBin struct {
	From, To float64
	Count    int
	Mean     float64 // mean predicted probability, NaN without samples
	Observed float64 // share that came true, NaN without samples
}

// Calibration returns a table of bins of equal width. A well calibrated
// prediction has Observed near Mean in every bin.
func Calibration(positive []bool, probability []float64, bins int) ([]CalibrationBin, error) {
	if err := sameLength(len(positive), len(probability)); err != nil {
		return nil, err
	}
	if bins < 1 {
		return nil, fmt.Errorf("metrics: %d bins", bins)
	}
	table := make([]CalibrationBin, bins)
	for b := range table {
		table[b] = CalibrationBin{From: float64(b) / float64(bins), To: float64(b+1) / float64(bins)}
	}
	for i, p := range probability {
		if !(p >= 0 && p <= 1) {
			return nil, fmt.Errorf("metrics: probability %d is %g", i, p)
		}
		// The product may round up to a bin's limit that p does not reach.
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

func sameLength(truth, predicted int) error {
	switch {
	case truth != predicted:
		return fmt.Errorf("metrics: %d predictions for %d samples", predicted, truth)
	case truth == 0:
		return errors.New("metrics: no samples")
	}
	return nil
}

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
