package mkl

import "math"

// Class probabilities come from one function a class (one for two classes). The
// log odds of the functions are multiplied by a common factor, the sharpness b, and
// normalised over the classes,
//
//	P(class c) ∝ odds_cᵇ   (two classes: the odds are those of the one function).
//
// b = 1 leaves two classes as they are. It is fitted on the leave-one-out
// probabilities of the training samples, whose mean log is concave in b.

// classScores returns the scores that b multiplies from log P and log(1−P) of each
// function at one sample: the log odds of every class, or for two classes, which
// have one function, log P of both.
func classScores(logP, logNot, scores []float64) {
	if len(logP) == 1 {
		scores[0], scores[1] = logNot[0], logP[0]
		return
	}
	for c := range scores {
		scores[c] = logP[c] - logNot[c]
	}
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
		sum += math.Exp(dst[c])
	}
	log := math.Log(sum)
	for c := range dst {
		dst[c] -= log
	}
}

// The ends of what sharpness can be.
const (
	leastSharpness = 0.2
	mostSharpness  = 5
)

// fitSharpness returns the b of the highest mean log probability of the classes,
// given the scores of each sample in a row and its class. The derivative is
// Σ_n (score of the class − E[score]), falling in b.
func fitSharpness(scores [][]float64, class []int) float64 {
	slope := func(b float64) (sum float64) {
		for n, s := range scores {
			log := make([]float64, len(s))
			sharpen(b, s, log)
			for c, l := range log {
				if p := math.Exp(l); p > 0 && c != class[n] {
					sum += p * (s[class[n]] - s[c])
				}
			}
		}
		return sum
	}
	lo, hi := math.Log(leastSharpness), math.Log(float64(mostSharpness))
	switch {
	case !(slope(leastSharpness) > 0):
		return leastSharpness
	case !(slope(mostSharpness) < 0):
		return mostSharpness
	}
	for range 40 {
		if mid := (lo + hi) / 2; slope(math.Exp(mid)) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp((lo + hi) / 2)
}
