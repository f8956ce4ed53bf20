package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// CensoredConcordance returns Harrell's concordance index of risks. time is when the sample's event happened, or the time
// up to which there was none. A pair of samples counts if it is known whose event was first: an event happened
// at the earlier time, also if the other sample was censored at that same time. Pairs of events at one time do not count.
// The index is the share of these pairs in which the sample with the first event has the higher risk; equal risks count
// half. Random risks score ½ on average. At least one pair must count.
//
// Source: F. E. Harrell et al., "Evaluating the yield of medical tests", JAMA 247 (1982), 2543–2546.
func CensoredConcordance(time []float64, event []bool, risk []float64) (float64, error) {
	index, _, err := CensoredInfluence(time, event, risk)
	return index, err
}

// CensoredInfluence returns the index of [CensoredConcordance], and the influence of each sample on it: n times the first
// derivative of the index by the weight of the sample, for n samples of weights 1/n. Influences have the mean 0. The index has
// the standard error of a mean over samples: the standard deviation of the influences divided by √n. The difference of the indices
// of two predictions of the same samples has the differences of the influences.
//
// Source: the infinitesimal jackknife, as in T. Therneau and E. Atkinson, "Concordance", vignette of the R package survival, 2024.
func CensoredInfluence(time []float64, event []bool, risk []float64) (index float64, influence []float64, err error) {
	if err := checkTimes(time, event, len(risk)); err != nil {
		return math.NaN(), nil, err
	}
	for i, r := range risk {
		if math.IsNaN(r) {
			return math.NaN(), nil, fmt.Errorf("metrics: the risk of sample %d is NaN", i)
		}
	}
	right, known := make([]float64, len(time)), make([]float64, len(time)) // pairs of each sample
	var allRight, all float64
	for i, t := range time {
		if !event[i] {
			continue
		}
		for j, u := range time {
			if u > t || u == t && !event[j] {
				one := float64(0.5 * (1 + order(risk[i]-risk[j])))
				right[i] += one
				right[j] += one
				known[i]++
				known[j]++
				allRight += one
				all++
			}
		}
	}
	if all == 0 {
		return math.NaN(), nil, errors.New("metrics: in no pair of samples the first event is known")
	}
	index = allRight / all
	for i := range right {
		right[i] = float64(len(time)) * (right[i] - float64(index*known[i])) / all
	}
	return index, right, nil
}

// CensoredBrier returns the Brier score at a time: the mean squared error of predicted probabilities that the event of a
// sample happens after the time at, where the truth is 1 or 0. Samples that were censored before that time
// do not count. The weight of another sample is the inverse of the probability of not being censored before its event, or
// before at if the event is later. The Kaplan-Meier estimate from the same samples gives that probability. It is an
// error if no sample counts.
//
// Source: E. Graf et al., "Assessment and comparison of prognostic classification schemes for survival data",
// Statistics in Medicine 18 (1999), 2529–2545.
func CensoredBrier(time []float64, event []bool, survival []float64, at float64) (float64, error) {
	if err := sameLength(len(time), len(survival)); err != nil {
		return math.NaN(), err
	}
	weight, err := CensoringWeights(time, event, at)
	if err != nil {
		return math.NaN(), err
	}
	var sum float64
	for i, p := range survival {
		if !(p >= 0 && p <= 1) {
			return math.NaN(), fmt.Errorf("metrics: the survival of sample %d is %g, not a probability", i, p)
		}
		sum += float64(BrierOfTime(time[i], p, at, weight[i]))
	}
	return sum / float64(len(time)), nil
}

// BrierOfTime returns what a sample contributes to [CensoredBrier], which is the mean over the samples: its weight times the squared
// error of the predicted probability that its event happens after the time at.
func BrierOfTime(time, survival, at, weight float64) float64 {
	if time > at {
		survival = 1 - survival
	}
	return weight * float64(survival*survival)
}

// CensoringWeights returns the weights of samples in [CensoredBrier] at a time. They can be computed from more samples than are
// predicted, such as from all folds of a cross-validation.
func CensoringWeights(time []float64, event []bool, at float64) ([]float64, error) {
	if err := checkTimes(time, event, len(event)); err != nil {
		return nil, err
	}
	censored := make([]bool, len(event))
	for i, e := range event {
		censored[i] = !e
	}
	free := newKaplanMeier(time, censored)
	if free.at(at) <= 0 || at > slices.Max(time) {
		return nil, fmt.Errorf("metrics: no sample is left at the time %g", at)
	}
	weight := make([]float64, len(time))
	for i, t := range time {
		switch {
		case t <= at && event[i]:
			weight[i] = 1 / free.before(t)
		case t > at:
			weight[i] = 1 / free.at(at)
		}
	}
	return weight, nil
}

// CensoredCalibration returns the mean predicted probability that the events of samples happen after the time at, and
// the Kaplan-Meier estimate of their share.
func CensoredCalibration(time []float64, event []bool, survival []float64, at float64) (predicted, observed float64, err error) {
	if err := checkTimes(time, event, len(survival)); err != nil {
		return math.NaN(), math.NaN(), err
	}
	for _, p := range survival {
		predicted += p / float64(len(survival))
	}
	return predicted, newKaplanMeier(time, event).at(at), nil
}

// KaplanMeier returns the estimate of Kaplan and Meier of a survival curve: the times at which events happened, in
// ascending order, and the share of the samples whose events are later than each. Before the first of these times
// the share is 1, and between two it stays. Both are empty if no event happened.
//
// Source: E. L. Kaplan, P. Meier, "Nonparametric estimation from incomplete observations", Journal of the American
// Statistical Association 53 (1958), 457–481.
func KaplanMeier(time []float64, event []bool) (times, survival []float64, err error) {
	if err := checkTimes(time, event, len(time)); err != nil {
		return nil, nil, err
	}
	k := newKaplanMeier(time, event)
	return k.times, k.left, nil
}

// kaplanMeier is the estimate of a survival curve: a step function that falls at times of events.
type kaplanMeier struct{ times, left []float64 }

func newKaplanMeier(time []float64, event []bool) (k kaplanMeier) {
	byTime := make([]int, len(time))
	for i := range byTime {
		byTime[i] = i
	}
	slices.SortStableFunc(byTime, func(a, b int) int {
		switch {
		case time[a] < time[b]:
			return -1
		case time[a] > time[b]:
			return 1
		}
		return 0
	})
	left := 1.0
	for first := 0; first < len(byTime); {
		t, events, to := time[byTime[first]], 0, first
		for ; to < len(byTime) && time[byTime[to]] == t; to++ {
			if event[byTime[to]] {
				events++
			}
		}
		if events > 0 {
			left *= 1 - float64(events)/float64(len(byTime)-first)
			k.times, k.left = append(k.times, t), append(k.left, left)
		}
		first = to
	}
	return k
}

// at returns the share that survives the time t; before is the share just before t.
func (k kaplanMeier) at(t float64) float64 {
	n, found := slices.BinarySearch(k.times, t)
	if found {
		n++
	}
	return k.first(n)
}

func (k kaplanMeier) before(t float64) float64 {
	n, _ := slices.BinarySearch(k.times, t)
	return k.first(n)
}

// first returns the share that survives the first n times of events.
func (k kaplanMeier) first(n int) float64 {
	if n == 0 {
		return 1
	}
	return k.left[n-1]
}

// checkTimes checks times of events, and that there is a prediction for each.
func checkTimes(time []float64, event []bool, predicted int) error {
	if err := sameLength(len(time), predicted); err != nil {
		return err
	}
	if err := sameLength(len(time), len(event)); err != nil {
		return err
	}
	if len(time) == 0 {
		return errors.New("metrics: no samples")
	}
	for i, t := range time {
		if t-t != 0 {
			return fmt.Errorf("metrics: the time of sample %d is %g", i, t)
		}
	}
	return nil
}
