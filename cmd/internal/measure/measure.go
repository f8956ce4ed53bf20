// Package measure says how well predictions agree with the truth.
package measure

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl/metrics"
	"github.com/bmkl/bmkl/mkl/record"
)

// Quantile is how many standard deviations to either side of the mean of a
// normal distribution hold the given probability.
func Quantile(probability float64) float64 { return record.Quantile(probability) }

// Bin is a row of a calibration table: of the predictions with a probability between
// From and To, their number, their mean probability, and how often they came true.
type Bin struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Count    int     `json:"count"`
	Mean     float64 `json:"mean_probability"`
	Observed float64 `json:"observed"`
}

// Target measures predictions of a target against the truth, leaving out
// what is missing (NaN). Coverage belongs to the central interval of the given
// probability.
func Target(truth, mean, variance []float64, interval float64) (map[string]float64, error) {
	var y, m, v []float64
	for i, t := range truth {
		if !math.IsNaN(t) {
			y, m, v = append(y, t), append(m, mean[i]), append(v, variance[i])
		}
	}
	rmse, err := metrics.RMSE(y, m)
	if err != nil {
		return nil, err
	}
	nlpd, err := metrics.NLPD(y, m, v)
	if err != nil {
		return nil, err
	}
	coverage, err := metrics.Coverage(y, m, v, interval)
	if err != nil {
		return nil, err
	}
	all := map[string]float64{"RMSE": rmse, "log density": -nlpd, "coverage": coverage}
	if all["MAE"], err = metrics.MAE(y, m); err != nil {
		return nil, err
	}
	if all["CRPS"], err = metrics.CRPS(y, m, v); err != nil {
		return nil, err
	}
	low, high, at := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y))
	for i := range y {
		sd := math.Sqrt(v[i])
		half := float64(Quantile(interval) * sd)
		low[i], high[i], at[i] = m[i]-half, m[i]+half, special.NormalCDF((y[i]-m[i])/sd)
	}
	if all["interval score"], err = metrics.IntervalScore(y, low, high, interval); err != nil {
		return nil, err
	}
	if all["PIT"], err = PITDistance(at, at); err != nil {
		return nil, err
	}
	if _, sd := MeanSD(y); sd > 0 {
		all["RMSE/SD"] = rmse / sd
		if all["R²"], err = metrics.R2(y, m); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Ends measures central intervals of the given probability by their ends, as [Target] measures intervals of normal distributions, and
// leaves out what is missing.
func Ends(truth, lower, upper []float64, interval float64) (map[string]float64, error) {
	var y, low, high []float64
	inside := 0
	for i, t := range truth {
		if math.IsNaN(t) {
			continue
		}
		y, low, high = append(y, t), append(low, lower[i]), append(high, upper[i])
		if lower[i] <= t && t <= upper[i] {
			inside++
		}
	}
	score, err := metrics.IntervalScore(y, low, high, interval)
	if err != nil {
		return nil, err
	}
	return map[string]float64{"coverage": float64(inside) / float64(len(y)), "interval score": score}, nil
}

// PITBins is the number of bins of the probability integral transform whose distance from uniform is measured.
const PITBins = 20

// PITDistance is the distance of the probability integral transform from uniform. Of each truth it takes the predicted
// probabilities of what is less, and of what is no more; both are the same for a continuous distribution.
func PITDistance(below, upTo []float64) (float64, error) {
	share, err := metrics.PIT(below, upTo, PITBins)
	if err != nil {
		return math.NaN(), err
	}
	return metrics.PITDistance(share), nil
}

// Surprises is the name of the number of truths that were given a probability below
// 1e-6, which a model that knows what it does not know hardly ever gives.
const Surprises = "p < 1e-6"

// ErrorBins is the number of bins of the expected calibration error.
const ErrorBins = 10

// Classes measures the probabilities of classes. F1 is the mean over the classes. The area, the equal
// error rate and the average precision are means over the classes, each against the others, that have
// samples of both kinds. ECE is the expected calibration error: in bins of the highest
// probability the distance of its mean from the share of labels that are right, averaged
// over the samples.
func Classes(class []int, probability [][]float64) (map[string]float64, error) {
	best := make([]int, len(class))
	for i, p := range probability {
		for k := range p {
			if p[k] > p[best[i]] {
				best[i] = k
			}
		}
	}
	v := map[string]float64{}
	right, confidence := make([]bool, len(class)), make([]float64, len(class))
	for i, p := range probability {
		right[i], confidence[i] = best[i] == class[i], min(p[best[i]], 1)
		if p[class[i]] < 1e-6 {
			v[Surprises]++
		}
	}
	v[Surprises] += 0 // there, if none
	bins, err := metrics.Calibration(right, confidence, ErrorBins)
	if err != nil {
		return nil, err
	}
	for _, b := range bins {
		if b.Count > 0 {
			v["ECE"] += math.Abs(b.Mean-b.Observed) * float64(b.Count) / float64(len(class))
		}
	}
	if v["accuracy"], err = metrics.Accuracy(class, best); err != nil {
		return nil, err
	}
	if v["log loss"], err = metrics.LogLoss(class, probability); err != nil {
		return nil, err
	}
	if v["Brier"], err = metrics.Brier(class, probability); err != nil {
		return nil, err
	}
	if v["F1"], err = metrics.F1(class, best); err != nil {
		return nil, err
	}
	var areas, rates, precisions []float64
	for k := range probability[0] {
		positive, score := make([]bool, len(class)), make([]float64, len(class))
		for i := range class {
			positive[i], score[i] = class[i] == k, probability[i][k]
		}
		if slices.Contains(positive, true) && slices.Contains(positive, false) {
			area, err := metrics.AUC(positive, score)
			if err != nil {
				return nil, err
			}
			rate, err := metrics.EqualErrorRate(positive, score)
			if err != nil {
				return nil, err
			}
			precision, err := metrics.AveragePrecision(positive, score)
			if err != nil {
				return nil, err
			}
			areas, rates, precisions = append(areas, area), append(rates, rate), append(precisions, precision)
		}
	}
	if len(areas) > 0 {
		v["AUC"], _ = MeanSD(areas)
		v["EER"], _ = MeanSD(rates)
		v["AP"], _ = MeanSD(precisions)
	}
	return v, nil
}

// PrecisionRecall turns the points of a receiver operating characteristic into points of precision over
// recall: of the samples that score at least so high the share that are positive, and the share of the positive
// samples that they are. The point of no samples is left out.
func PrecisionRecall(positive []bool, falsePositive, truePositive []float64) (recall, precision []float64) {
	n := 0.0
	for _, p := range positive {
		if p {
			n++
		}
	}
	for i, r := range truePositive {
		hits, misses := r*n, falsePositive[i]*(float64(len(positive))-n)
		if hits+misses > 0 {
			recall, precision = append(recall, r), append(precision, hits/(hits+misses))
		}
	}
	return recall, precision
}

// Calibration is the table of the second class's probability where there are two,
// otherwise of the most probable class's; empty bins are left out.
func Calibration(class []int, probability [][]float64, bins int) ([]Bin, error) {
	right, confidence := make([]bool, len(class)), make([]float64, len(class))
	for i, row := range probability {
		k := 1
		if len(row) > 2 {
			k = slices.Index(row, slices.Max(row))
		}
		right[i], confidence[i] = class[i] == k, min(row[k], 1)
	}
	all, err := metrics.Calibration(right, confidence, bins)
	if err != nil {
		return nil, err
	}
	var out []Bin
	for _, b := range all {
		if b.Count > 0 {
			out = append(out, Bin{b.From, b.To, b.Count, b.Mean, b.Observed})
		}
	}
	return out, nil
}

// MeanSD returns the mean of x and its standard deviation with n−1, 0 for a
// single value.
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

// Standardised returns x with mean 0 and (sample) standard deviation 1.
func Standardised(x []float64) []float64 {
	mean, sd := MeanSD(x)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = (v - mean) / sd
	}
	return out
}
