package mkl

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Class probabilities come from one function a class (one for two classes). The
// log odds of the functions are multiplied by a common factor, the sharpness b, and
// normalised over the classes,
//
//	P(class c) ∝ odds_cᵇ   (two classes: with the odds of the one function).
//
// b = 1 leaves the probabilities of two classes unchanged. It is fitted to the leave-one-out
// probabilities of the training samples, whose mean log is concave in b, under a weak
// prior about 1.

// scoreTable holds the scores [sample][class] that b multiplies: the log odds of
// every class; for two classes, which have one function, the log probabilities of both.
type scoreTable [][]float64

// scoreRows returns a table with the given numbers of samples and classes.
func scoreRows(samples, classes int) scoreTable { return rows(samples, classes) }

// set stores the scores of sample i for function o, which is positive with
// probability P, given log P and log(1−P).
func (s scoreTable) set(i, o int, logP, logNot float64) {
	if len(s[i]) == 2 {
		s[i][0], s[i][1] = logNot, logP
		return
	}
	s[i][o] = logP - logNot
}

// logNot returns log(1−P) from log P ≤ 0.
func logNot(logP float64) float64 {
	if logP > -math.Ln2 {
		return special.Log(-special.Expm1(logP))
	}
	return special.Log1p(-special.Exp(logP))
}

// sharpen stores the log probabilities of the classes in dst: b·scores minus the
// logarithm of the sum of their exponentials. A class with an infinite score is certain;
// several such classes have equal shares.
func sharpen(b float64, scores, dst []float64) {
	top := math.Inf(-1)
	for _, s := range scores {
		top = max(top, s)
	}
	var sum float64
	for c, s := range scores {
		dst[c] = 0
		if s != top { // otherwise this is Inf − Inf
			dst[c] = b * (s - top)
		}
		sum += special.Exp(dst[c])
	}
	log := special.Log(sum)
	for c := range dst {
		dst[c] -= log
	}
}

// sharpenAll stores the probabilities of the classes, computed from the scores of each sample, in the rows
// of out.
func sharpenAll(b float64, scores, out [][]float64) {
	for i, row := range out {
		sharpen(b, scores[i], row)
		for c, log := range row {
			row[c] = special.Exp(log)
		}
	}
}

// The limits of the sharpness.
const (
	leastSharpness = 0.2
	mostSharpness  = 5
)

// logSharpnessSpread is the standard deviation of log b in its normal prior about 0.
// Without the prior, b would be infinite if leave-one-out predicted every training sample right.
// alone would call for any b.
const logSharpnessSpread = 0.5

// fitSharpness returns the most probable b, given the scores of each sample in a row
// and its class. The derivative of the log probability of the classes is
// Σ_n (score of the class − E[score]), which decreases with b.
func fitSharpness(scores [][]float64, class []int) float64 {
	log := make([]float64, len(scores[0]))
	slope := func(b float64) float64 {
		sum := -special.Log(b) / (logSharpnessSpread * logSharpnessSpread * b)
		for n, s := range scores {
			sharpen(b, s, log)
			for c, l := range log {
				if p := special.Exp(l); p > 0 && c != class[n] {
					sum += float64(p * (s[class[n]] - s[c]))
				}
			}
		}
		return sum
	}
	lo, hi := special.Log(leastSharpness), special.Log(float64(mostSharpness))
	switch {
	case !(slope(leastSharpness) > 0):
		return leastSharpness
	case !(slope(mostSharpness) < 0):
		return mostSharpness
	}
	for range 40 {
		if mid := (lo + hi) / 2; slope(special.Exp(mid)) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return special.Exp((lo + hi) / 2)
}
