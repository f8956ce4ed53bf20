package mgp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/vi"
)

// Likelihood is a likelihood that factorises over the samples, Π_n p(y_n | f_n + b, η), and is log-concave in
// every f_n. The level b and the parameters η are learned with the scales. A likelihood is its observations and
// one file: see censored.go, counts.go, ordinal.go and probit.go. docs/theory/likelihoods.md derives what they compute.
//
// The likelihoods are [Censored], [Counts] and [Ordinal].
type Likelihood interface {
	// Name returns the name of the likelihood in files, such as log-normal.
	Name() string

	// Samples returns the number N of observations.
	Samples() int

	// Some returns the likelihood of the samples rows alone.
	Some(rows []int) Likelihood

	// check reports observations that are not valid.
	check() error

	// identity returns the numbers that the likelihood is made of, for a journal.
	identity() []float64

	// prior returns the means and the standard deviations of the normal prior of (b, η): nil where there is
	// neither. The ascent starts from the means.
	prior() (mean, sd []float64)

	// moments returns the moments of sample n where f_n + b has the distribution N(mean, variance). It stores the
	// derivatives of logZ by η in slopes, unless that is nil.
	moments(n int, mean, variance float64, eta, slopes []float64) moments

	// site returns the precision and the shift of the site that the search begins with, given the mean and the
	// variance of f_n + b under the prior.
	site(n int, mean, variance float64, eta []float64) (precision, shift float64)

	// logProbability returns logZ of moments.
	logProbability(n int, mean, variance float64, eta []float64) float64
}

// bounded is a likelihood whose expectation under a Gaussian q(f) is known, or a lower bound on it, as [sites.climb] needs it: of
// labels, of noise with heavy tails and of noise that varies. It need not factorise over the samples, as a [Likelihood] does.
type bounded interface {
	// expect returns the expected log likelihood under the posterior that s makes. It stores its derivatives by the means of f_n in
	// slope, and minus twice those by the variances in curvature.
	expect(s *sites, slope, curvature []float64) (float64, error)
}

// moments are what expectation propagation needs to know of Z(m) = ∫ p(y | f)·N(f | m, v) df.
type moments struct {
	logZ  float64
	slope float64 // d log Z/dm
	bend  float64 // −d² log Z/dm²
}

// tilted are the moments of a cavity times a likelihood, and the site that makes them the posterior's.
type tilted struct {
	mean, variance   float64
	logZ             float64
	precision, shift float64
}

// tilt returns the tilted distribution of a cavity N(mean, variance).
func (m moments) tilt(mean, variance float64) tilted {
	u := tilted{mean: mean + float64(variance*m.slope), logZ: m.logZ}
	shrink := 1 - float64(variance*m.bend)
	u.variance = variance * shrink
	u.precision = m.bend / shrink
	u.shift = float64(u.precision*u.mean) + m.slope
	return u
}

// likelihood is a [Likelihood] at values of its parameters.
type likelihood struct {
	Likelihood
	level float64
	eta   []float64
}

// at sets the parameters. The first is the level.
func (l *likelihood) at(parameters []float64) {
	if len(parameters) > 0 {
		l.level, l.eta = parameters[0], parameters[1:]
	}
}

// tilt returns the tilted distribution of f_n for its cavity.
func (l *likelihood) tilt(n int, mean, variance float64) tilted {
	return l.moments(n, mean+l.level, variance, l.eta, nil).tilt(mean, variance)
}

// begin returns the site of sample n to begin with.
func (l *likelihood) begin(n int, variance float64) (precision, shift float64) {
	precision, shift = l.site(n, l.level, variance, l.eta)
	return precision, shift - float64(precision*l.level)
}

// leaveOneOut returns log p(y_n | all other observations) from the cavities.
func (l *likelihood) leaveOneOut(s *sites) []float64 {
	out := make([]float64, s.N)
	for n := range out {
		out[n] = l.logProbability(n, s.cavityMean[n]+l.level, s.cavityVar[n], l.eta)
	}
	return out
}

// siteOfPrior returns the site that sample n asks for where f_n + b has the distribution N(mean, variance): its
// shift is of f_n + b.
func siteOfPrior(l Likelihood, n int, mean, variance float64, eta []float64) (precision, shift float64) {
	u := l.moments(n, mean, variance, eta, nil).tilt(mean, variance)
	return max(u.precision, leastPrecision), u.shift
}

// FitLikelihood fits to observations with a likelihood by expectation propagation, given square kernels. LogEvidence
// is its estimate. The evidence is climbed in the scales, in the kernels' parameters and in the likelihood's, whose
// derivatives at sites that match are Σ_n ∂log Z_n/∂η. The posterior's [State].Likelihood names the likelihood.
// It returns the errors of Fit.
func (e Evidence) FitLikelihood(ctx context.Context, k vi.Kernels, l Likelihood) (*Fit, error) {
	switch {
	case l == nil:
		return nil, errors.New("vi: the likelihood is nil")
	case e.Sites != SitesEP:
		return nil, errors.New("vi: Sites: a likelihood takes expectation propagation")
	case e.KnownNoise != 0:
		return nil, errors.New("vi: KnownNoise: a likelihood learns its own parameters")
	case e.Start != nil && e.Start.Keep:
		return nil, errors.New("vi: Start.Keep: a likelihood's parameters are learned")
	}
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	e.like = l
	return e.fit(ctx, k, make([]float64, l.Samples()), false)
}

// picked returns the values of v at rows; nil if v is nil.
func picked[T any](v []T, rows []int) (out []T) {
	if v == nil {
		return nil
	}
	for _, n := range rows {
		out = append(out, v[n])
	}
	return out
}

// likelihoodSlopes stores the slopes of the cost by the level and the parameters of the likelihood in the last
// places of g, adds the scores' products to the information, and returns their log prior but for a constant.
// The derivative of the log evidence by the level is Σ_n α_n.
func (m *evidence) likelihoodSlopes(x, g []float64) (density float64) {
	if len(m.likeMean) == 0 {
		return 0
	}
	at := m.P + len(m.priors)
	clear(g[at:])
	g[at] = -sumOf(m.alpha)
	scores := make([]float64, len(m.likeMean)-1)
	for n := range m.N {
		m.like.moments(n, m.sites.cavityMean[n]+m.like.level, m.sites.cavityVar[n], m.like.eta, scores)
		for i, s := range scores {
			g[at+1+i] -= s
			row := m.info.average.Row(at + 1 + i)
			for j, t := range scores[:i+1] {
				row[at+1+j] += float64(s * t)
			}
		}
	}
	for i, mean := range m.likeMean {
		d, slope := normalPrior(x[at+i], mean, m.likeSD[i])
		density += d
		g[at+i] -= slope
	}
	return density
}

// sumOf returns the sum of v in its order.
func sumOf(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

// shapes are the likelihoods that a state can name, each with the least and the largest number of its parameters.
var shapes = map[string][2]int{
	LogNormal.String(): {2, 2}, Weibull.String(): {2, 2}, poisson: {1, 1}, negativeBinomial: {2, 2},
	doublePoisson: {2, 2}, ordinal: {1, mostGrades - 1},
}

// mostShape is the most that the level, or the logarithm of a likelihood's parameter, can be.
const mostShape = 1000

// checkLikelihood reports parameters of a likelihood that do not fit.
func (s *State) checkLikelihood() error {
	if s.Likelihood == "" {
		if s.Shape != nil {
			return errors.New("Shape: parameters without a likelihood")
		}
		return nil
	}
	want, known := shapes[s.Likelihood]
	switch {
	case !known:
		return fmt.Errorf("Likelihood %q is unknown", s.Likelihood)
	case s.Labels || (s.Sites == nil) != (s.Samples != 0) || s.Freedom != 0:
		return errors.New("Likelihood: it takes sites or landmarks, and neither labels nor noise with heavy tails")
	case len(s.Shape) < want[0] || len(s.Shape) > want[1]:
		return fmt.Errorf("Shape: %d parameters of a %s likelihood, which has %d", len(s.Shape), s.Likelihood, want[0])
	}
	for i, v := range s.Shape {
		if !(math.Abs(v) <= mostShape) {
			return fmt.Errorf("Shape[%d] is %g: it must lie within ±%d", i, v, mostShape)
		}
	}
	return nil
}
