package slab

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/vi/internal/roots"
)

// FactorKind is the distribution of the entries of a view, given the function f = c + Σ w·φ.
type FactorKind int

// Kinds of entries.
const (
	Gaussian  FactorKind = iota // y ~ N(f, σ²)
	Bernoulli                   // y is 0 or 1, and 1 with the probability 1/(1+e^−f)
	Poisson                     // y is 0, 1, 2, …, of the mean log(1+e^f)
)

// kindNames are the names of the kinds in files.
var kindNames = [...]string{"gaussian", "bernoulli", "poisson"}

// String returns the name of the kind: gaussian, bernoulli or poisson.
func (k FactorKind) String() string {
	if k < Gaussian || k > Poisson {
		return fmt.Sprintf("FactorKind(%d)", int(k))
	}
	return kindNames[k]
}

// MarshalText returns the name of the kind.
func (k FactorKind) MarshalText() ([]byte, error) {
	if k < Gaussian || k > Poisson {
		return nil, fmt.Errorf("vi: no kind of entries is %d", int(k))
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText sets k to the kind of the given name.
func (k *FactorKind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("vi: %q is no kind of entries: gaussian, bernoulli or poisson", text)
	}
	*k = FactorKind(i)
	return nil
}

// Check returns an error unless y is a value of the kind.
func (k FactorKind) Check(y float64) error {
	switch {
	case k == Bernoulli && y != 0 && y != 1:
		return fmt.Errorf("is %g: it must be 0 or 1", y)
	case k == Poisson && !(y >= 0 && y == math.Floor(y) && y <= maxCount):
		return fmt.Errorf("is %g: counts are 0, 1, 2, …, and at most 2⁵³", y)
	}
	return nil
}

const maxCount = 1 << 53

// site is the quadratic lower bound of log p(y|f) that is highest under q(f): a normal density of the precision and the target,
//
//	log p(y|f) ≥ level − ½·precision·(target − f)².
type site struct{ precision, target, level float64 }

// site returns the bound for an entry y of a kind that is not Gaussian. Under q(f) the function has the given mean and variance.
// See docs/theory/factors.md, section 6.
func (k FactorKind) site(y, mean, variance float64) site {
	// log 2cosh(f/2) is concave in f²: its tangent in f² touches at ±c, and is best under q at c² = E[f²].
	c := math.Sqrt(float64(mean*mean) + variance)
	bend := logisticBend(c)
	level := -(float64(0.5*c) + special.Log1p(special.Exp(-c))) + float64(0.5*bend*float64(c*c))
	if k == Bernoulli {
		return site{bend, (y - 0.5) / bend, level}.completed()
	}
	at := rateTangent(mean, variance)
	value, slope := logSoftplus(at)
	own := float64(y * softplusBend(at))
	precision := bend + own
	// y·(value + slope·(f−at) − ½·own/y·(f−at)²), with the target of both parts.
	pull := float64(y*slope) + float64(own*at) - 0.5
	level += float64(y*(value-float64(slope*at))) - float64(0.5*own*float64(at*at)) - special.LogGamma(y+1)
	return site{precision, pull / precision, level}.completed()
}

// completed returns the site with the level at f = target for the level at f = 0.
func (s site) completed() site {
	s.level += float64(0.5 * s.precision * float64(s.target*s.target))
	return s
}

// logisticBend returns tanh(c/2)/(2c), the curvature of the bound of log 2cosh(f/2) that touches at ±c.
//
// Source: T. S. Jaakkola and M. I. Jordan, "Bayesian parameter estimation via variational methods", Statistics and Computing 10 (2000).
func logisticBend(c float64) float64 {
	if c < 1e-4 { // the series, whose next term is below the last digit
		return 0.25 - c*c/48
	}
	return special.Tanh(0.5*c) / (2 * c)
}

// logSoftplus returns L(f) = log log(1+e^f) and L'(f).
func logSoftplus(f float64) (value, slope float64) {
	if f < -36 {
		return f, 1
	}
	s := softplus(f)
	return special.Log(s), expit(f) / s
}

// softplus returns log(1+e^f).
func softplus(f float64) float64 { return max(f, 0) + special.Log1p(special.Exp(-math.Abs(f))) }

// softplusBend returns the curvature κ of a parabola that touches −L at the given place and lies nowhere below −L,
//
//	κ(x) = κ₀/√(1 + r²(x − ½)²),   κ₀ = 0.168,   r = 0.317.
//
// The smallest such curvature is the largest of 2(L(x) + L'(x)(f−x) − L(f))/(f−x)² over f. κ(x) is above it, by 0.5 % at x = ½ and
// x = 10, and by a fifth at x = −5: TestSoftplusBend.
func softplusBend(x float64) float64 {
	d := bendRate * (x - bendPeak)
	return bendMost / math.Sqrt(1+float64(d*d))
}

const (
	bendMost = 0.168
	bendRate = 0.317
	bendPeak = 0.5
)

// rateTangent returns where the parabola of [softplusBend] touches so that its mean under q(f) is best. With d = mean − x, twice the slope
// of the mean by x is
//
//	2(κ − h)·d − κ'·(d² + variance),   h = −L''(x).
//
// The parabola moves from the mean away from ½, where its curvature is largest.
func rateTangent(mean, variance float64) float64 {
	if variance == 0 {
		return mean
	}
	slope := func(x float64) float64 {
		d, from := mean-x, bendRate*(x-bendPeak)
		bend := softplusBend(x)
		fall := -bend * bendRate * from / (1 + float64(from*from))
		return float64(2*(bend-softplusCurvature(x))*d) - float64(fall*(float64(d*d)+variance))
	}
	way := 1.0
	if mean < bendPeak {
		way = -1
	}
	// The search doubles its reach until it passes the zero.
	down := func(t float64) float64 { return -way * slope(mean+float64(way*t)) }
	most := math.Sqrt(variance)
	for range 60 {
		if down(most) > 0 {
			return mean + float64(way*roots.FindWithin(down, 0, most, 1e-9))
		}
		most *= 2
	}
	return mean
}

// softplusCurvature returns −L”(f).
func softplusCurvature(f float64) float64 {
	if f < -36 {
		return 0
	}
	s, p := softplus(f), expit(f)
	r := p / s
	return r * (r - expit(-f))
}

// moments returns the mean and the variance of an entry that is not Gaussian, for a function of the given mean and variance.
func (k FactorKind) moments(mean, variance float64) (inMean, inVariance float64) {
	if k == Bernoulli {
		p := normalMean(mean, variance, expit)
		return p, p * normalMean(-mean, variance, expit)
	}
	first := normalMean(mean, variance, softplus)
	second := normalMean(mean, variance, func(f float64) float64 {
		d := softplus(f) - first
		return float64(d * d)
	})
	return first, first + second
}

// deviance returns 2(log p(y|y) − log p(y|f)) of an entry that is not Gaussian.
func (k FactorKind) deviance(y, f float64) float64 {
	if k == Bernoulli {
		return 2 * softplus((1-float64(2*y))*f)
	}
	mean := softplus(f)
	if y == 0 {
		return 2 * mean
	}
	value, _ := logSoftplus(f)
	return max(0, 2*(float64(y*(special.Log(y)-value))-y+mean))
}

// start returns the function whose mean entry is the given mean of n entries, which one half of an entry of the mean ½ moves from
// the edge.
func (k FactorKind) start(mean, n float64) float64 {
	mean = (float64(mean*n) + 0.25) / (n + 0.5)
	if k == Bernoulli {
		return special.Log(mean) - special.Log1p(-mean)
	}
	if mean > 36 {
		return mean
	}
	return special.Log(special.Expm1(mean))
}

// normalMean returns E[g(f)] for f ~ N(mean, variance) and a function g that is analytic in |Im f| < π, by the trapezoidal rule.
func normalMean(mean, variance float64, g func(float64) float64) float64 {
	sd := math.Sqrt(variance)
	if sd < 1e-9 {
		return g(mean)
	}
	// In the strip |Im x| < c the error is exp(½c² − 2πc/h), and g is analytic up to c = π/sd.
	c := min(math.Pi/sd, 6*math.Sqrt2)
	h := 2 * math.Pi * c / (36 + float64(0.5*float64(c*c)))
	n := int(8.5 / h)
	var sum, weight float64
	for i := -n; i <= n; i++ {
		x := h * float64(i)
		w := special.Exp(-0.5 * float64(x*x))
		sum += float64(w * g(mean+float64(sd*x)))
		weight += w
	}
	return sum / weight
}
