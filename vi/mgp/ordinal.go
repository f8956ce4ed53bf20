package mgp

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
)

// ordinal is the name of the likelihood of grades.
const ordinal = "ordinal"

// Ordinal is the likelihood of grades y_n = 0, 1, …, K−1, which are in order but have no distances. A grade says between
// which of K−1 ascending cut points the function with standard normal noise lies:
//
//	P(y = k | f) = Φ(c_{k+1} − f) − Φ(c_k − f),   c_0 = −∞, c_K = ∞.
//
// With r = K/2, rounded down, the level b is −c_r: the middle cut point is 0 for f + b. η are the logarithms of the K−2
// distances between neighbouring cut points, from the lowest. The prior lies about the cut points that make all grades
// equally probable where f has the variance 1; b and every η have the standard deviation 2. Grades that no sample has
// are allowed. Two grades are labels with a level. Moments are exact.
//
// Source: W. Chu and Z. Ghahramani, "Gaussian processes for ordinal regression", JMLR 6 (2005). The paper learns the
// noise's variance; here it is 1, and the scales of the kernels are in its units.
type Ordinal struct {
	Y      []int // the grades
	Grades int   // K, at least 2
}

// mostGrades is the largest number of grades.
const mostGrades = 1000

// Name implements [Likelihood].
func (Ordinal) Name() string { return ordinal }

// Samples implements [Likelihood].
func (o Ordinal) Samples() int { return len(o.Y) }

// Some implements [Likelihood].
func (o Ordinal) Some(rows []int) Likelihood {
	return Ordinal{picked(o.Y, rows), o.Grades}
}

func (o Ordinal) check() error {
	if o.Grades < 2 || o.Grades > mostGrades {
		return fmt.Errorf("grades: there are %d: from 2 to %d are allowed", o.Grades, mostGrades)
	}
	differ := false
	for n, y := range o.Y {
		if y < 0 || y >= o.Grades {
			return fmt.Errorf("grades: sample %d is %d, not one of the %d from 0 on", n, y, o.Grades)
		}
		differ = differ || y != o.Y[0]
	}
	if !differ {
		return fmt.Errorf("grades: all %d samples have the same", len(o.Y))
	}
	return nil
}

func (o Ordinal) identity() []float64 {
	all := []float64{float64(o.Grades)}
	for _, y := range o.Y {
		all = append(all, float64(y))
	}
	return all
}

func (o Ordinal) prior() (mean, sd []float64) {
	cut := func(k int) float64 { // under N(0, 2)
		return float64(math.Sqrt2 * special.NormalQuantile(float64(k)/float64(o.Grades)))
	}
	mean = append(mean, -cut(o.Grades/2))
	for k := 1; k < o.Grades-1; k++ {
		mean = append(mean, special.Log(cut(k+1)-cut(k)))
	}
	for range mean {
		sd = append(sd, noiseSpread)
	}
	return mean, sd
}

func (o Ordinal) site(n int, mean, variance float64, eta []float64) (precision, shift float64) {
	return siteOfPrior(o, n, mean, variance, eta)
}

func (o Ordinal) logProbability(n int, mean, variance float64, eta []float64) float64 {
	return o.moments(n, mean, variance, eta, nil).logZ
}

func (o Ordinal) moments(n int, mean, variance float64, eta, slopes []float64) moments {
	y := o.Y[n]
	l, u := gradeBounds(y, eta)
	if !(l < u) { // distances beyond double precision
		return moments{logZ: math.Inf(-1)}
	}
	m := normalBetween(l, u, mean, 1+variance)
	// What moves both bounds of a grade is a move of the mean the other way.
	for i := range slopes {
		j, middle := i+1, o.Grades/2 // η moves the cut points above j up, or the ones up to j down
		slope := 0.0
		switch {
		case j == y:
			s := math.Sqrt(1 + variance)
			a, b := (l-mean)/s, (u-mean)/s
			if j < middle {
				a, b = -b, -a
			}
			slope = endDensity(a, b) / s
		case j >= middle && y > j:
			slope = -m.slope
		case j < middle && y < j:
			slope = m.slope
		}
		slopes[i] = float64(slope * special.Exp(eta[i]))
	}
	return m
}

// cutPoint returns the cut point k of f + b, from 1 to K−1 for the K−2 logarithms of distances eta.
func cutPoint(k int, eta []float64) (c float64) {
	middle := (len(eta) + 2) / 2
	for j := middle; j < k; j++ {
		c += special.Exp(eta[j-1])
	}
	for j := middle - 1; j >= k; j-- {
		c -= special.Exp(eta[j-1])
	}
	return c
}

// gradeBounds returns the cut points of f + b on either side of grade y.
func gradeBounds(y int, eta []float64) (lower, upper float64) {
	lower, upper = math.Inf(-1), math.Inf(1)
	if y > 0 {
		lower = cutPoint(y, eta)
	}
	if y <= len(eta) {
		upper = cutPoint(y+1, eta)
	}
	return lower, upper
}

// endDensity returns φ(b)/(Φ(b) − Φ(a)) for a < b.
func endDensity(a, b float64) float64 {
	if (b-a)*max(1, math.Abs(a+b)/2) < 1 { // φ changes little from a to b
		middle, half := float64(0.5*(a+b)), float64(0.5*(b-a))
		var sum float64
		for _, p := range legendre {
			for _, x := range [...]float64{-p.node, p.node} {
				d := half * x
				sum += float64(p.weight * special.Exp(-float64(d*middle)-float64(0.5*d*d)))
			}
		}
		return special.Exp(-float64(half*middle)-float64(0.5*half*half)) / (sum * half)
	}
	mirrored := a+b > 0 // Φ has its digits on the left
	if mirrored {
		a, b = -b, -a
	}
	ha, logA := special.Mills(a)
	hb, logB := special.Mills(b)
	ratio := special.Exp(logA - logB)
	if mirrored {
		return ha * ratio / (1 - ratio)
	}
	return hb / (1 - ratio)
}

// Grades is the predictive distribution of a grade where f + b has the distribution N(Mean, Variance).
type Grades struct {
	Mean, Variance float64
	Shape          []float64 // of the state of a fit with [Ordinal]
}

// LogProbabilities stores the logarithm of the probability of each of the K grades.
func (g Grades) LogProbabilities(dst []float64) {
	for y := range dst {
		l, u := gradeBounds(y, g.Shape[1:])
		dst[y] = math.Inf(-1)
		if l < u {
			dst[y] = normalBetween(l, u, g.Mean, 1+g.Variance).logZ
		}
	}
}

// CutPoints returns the K−1 cut points of the function f, from the lowest, given the parameters of a state.
func CutPoints(shape []float64) []float64 {
	out := make([]float64, len(shape))
	for i := range out {
		out[i] = cutPoint(i+1, shape[1:]) - shape[0]
	}
	return out
}
