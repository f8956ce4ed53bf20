package mkl

import (
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// Class probabilities come from one function a class (one for two classes). The
// log odds of the functions are multiplied by a common factor, the sharpness b, and
// normalised over the classes,
//
//	P(class c) ∝ odds_cᵇ   (two classes: the odds are those of the one function).
//
// b = 1 leaves two classes as they are. It is fitted on the leave-one-out
// probabilities of the training samples, whose mean log is concave in b, under a weak
// prior about 1.

// scoreTable holds the scores [sample][class] that b multiplies: the log odds of
// every class, or for two classes, which have one function, log P of both.
type scoreTable [][]float64

// scoreRows returns a table for so many samples and classes.
func scoreRows(samples, classes int) scoreTable { return rows(samples, classes) }

// set stores the scores of sample i by function o, which is positive with
// probability P, from log P and log(1−P).
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

// sharpen stores the log probabilities of the classes in dst: b·scores less the
// logarithm of the sum of their exponentials. An infinite score is a certain class,
// and of several each has an equal share.
func sharpen(b float64, scores, dst []float64) {
	top := math.Inf(-1)
	for _, s := range scores {
		top = max(top, s)
	}
	var sum float64
	for c, s := range scores {
		dst[c] = 0
		if s != top { // Inf − Inf otherwise
			dst[c] = b * (s - top)
		}
		sum += special.Exp(dst[c])
	}
	log := special.Log(sum)
	for c := range dst {
		dst[c] -= log
	}
}

// sharpenAll stores the probabilities of the classes, by the scores of each sample, in the rows
// of out.
func sharpenAll(b float64, scores, out [][]float64) {
	for i, row := range out {
		sharpen(b, scores[i], row)
		for c, log := range row {
			row[c] = special.Exp(log)
		}
	}
}

// The ends of what sharpness can be.
const (
	leastSharpness = 0.2
	mostSharpness  = 5
)

// logSharpnessSpread is the standard deviation of log b in its normal prior about 0.
// Where every training sample is predicted right from the others their probabilities
// alone would call for any b.
const logSharpnessSpread = 0.5

// fitSharpness returns the most probable b, given the scores of each sample in a row
// and its class. The derivative of the log probability of the classes is
// Σ_n (score of the class − E[score]), falling in b.
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
