package effects

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Likelihood is the distribution of observations, given a number η_n for each sample and parameters θ of all: log-concave in η_n.
type Likelihood interface {
	// Samples returns the number of observations.
	Samples() int

	// Prior returns the means and the standard deviations of the normal prior: first of the level of η, then of θ.
	Prior() (mean, sd []float64)

	// Moments returns log Z = log ∫ p(y_n | η)·N(η | mean, variance) dη, with d log Z/dm and −d² log Z/dm² by the mean. It stores the derivatives by
	// θ in slopes, unless that is nil.
	Moments(n int, mean, variance float64, theta, slopes []float64) (logZ, slope, bend float64)
}

// Observed is a fitted mixed model of observations,
//
//	y_n ~ p(y | η_n, θ),   η_n = φ_nᵀβ + Σ_c u_{c,l_c(n)},   u_{c,l} ~ N(0, τ_c²).
//
// Expectation propagation puts a normal density, the site, in the place of each likelihood. The variances and θ maximise its evidence.
type Observed struct {
	Beta    []float64 // the mean of β
	Effects []Effects // of the levels of each column
	Theta   []float64 // θ

	// Settled reports whether β, the effects and their variances no longer moved in the last sweep. θ and the variance of β may still have moved: where
	// observations say little of them, they move long and move nothing else.
	Settled bool

	// LogScore is Σ_n log p(y_n | all other observations), as the cavities say.
	LogScore float64

	sites sites
}

const (
	MostSweeps = 40 // of [Process.FitLikelihood] over all samples

	blocksAtOnce = 16   // blocks whose features are in memory in a sweep over observations
	oneSweep     = 0.8  // what a site moves of its way in a sweep
	mostTheta    = 0.5  // the longest step of a parameter, as the logarithms that parameters are
	leastSite    = 1e-9 // the least precision of a site
)

// FitLikelihood infers β, the effects, their variances and θ from observations. If ctx ends the error wraps its cause.
func (p Process) FitLikelihood(ctx context.Context, features Features, columns []Column, l Likelihood) (*Observed, error) {
	s := newSystem(features.width(), columns)
	n := l.Samples()
	mean, sd := l.Prior()
	f := &observing{
		system: s, features: features, crew: work.NewCrew(p.Workers, blocksAtOnce, func(int) (_ struct{}) { return }), seed: p.Seed,
		sites: sites{likelihood: l, theta: slices.Clone(mean[1:]), weight: make([]float64, n), shift: make([]float64, n)},
		x:     make([]float64, s.size()), given: make([]float64, s.size()-s.m), prior: make([]float64, len(columns)),
		priorMean: mean[1:], priorSD: sd[1:],
	}
	s.weight, s.noise = f.sites.weight, 1
	parts := s.parts(features.Groups)
	for i := range parts {
		parts[i].prior = 1 / float64(len(parts))
	}
	own := parts[len(features.Groups):]
	f.x[0] = mean[0]
	for c, part := range own {
		for j := part.first; j < part.end; j++ {
			f.given[j-s.m] = own[c].prior
		}
	}
	errors := la.NewMatrix[float64](probes, s.size())
	variance, before := make([]float64, s.size()), make([]float64, s.size())
	score, moves := 0.0, math.Inf(1) // moves is how far the effects still move
	for sweep := range cmp.Or(p.Limit, MostSweeps) {
		for c, part := range own {
			f.prior[c] = part.prior
		}
		var moved float64
		var err error
		if score, moved, err = f.sweep(ctx); err != nil {
			return nil, err
		}
		if err := s.prepare(parts); err != nil {
			return nil, err
		}
		copy(before, f.x)
		if err := s.posterior(ctx, f.x, errors, variance); err != nil {
			return nil, err
		}
		change, _ := updatePriors(parts, f.x, variance, 1, 0)
		for i, d := range s.diagonal {
			f.given[i] = 1 / d
		}
		if p.Progress != nil {
			p.Progress(sweep+1, score)
		}
		moves = max(changeOf(own, f.prior, 1), furthest(f.x, before))
		if max(change, moved, moves) < settled {
			break
		}
	}
	out := &Observed{Settled: moves < settled, Beta: f.x[:s.m:s.m], Theta: f.sites.theta, LogScore: score, sites: f.sites}
	for _, part := range own {
		out.Effects = append(out.Effects, Effects{
			Prior: part.prior, Mean: f.x[part.first:part.end:part.end], Variance: variance[part.first:part.end:part.end],
			given: slices.Clone(s.diagonal[part.first-s.m : part.end-s.m]),
		})
	}
	return out, nil
}

// sites are the normal densities in the places of the likelihoods of η_n: of the precision weight and the mean shift/weight.
type sites struct {
	likelihood    Likelihood
	theta         []float64
	weight, shift []float64
}

// renew moves the site of sample n, given the moments of η_n under all sites and its variance under the prior. It returns log Z of the cavity, and stores
// its derivatives by θ in slopes, unless that is nil.
//
// The variance is a sum over columns: each effect's given all other unknowns. An effect has a further variance where other effects or β could take its
// place, such as an equal shift of all effects of a column, but the sum η_n has less of it.
func (s *sites) renew(n int, mean, variance, prior float64, slopes []float64) (logZ float64) {
	weight, shift := s.weight[n], s.shift[n]
	rest := 1 - float64(weight*variance)
	cavity := prior
	if rest > 0 {
		cavity = min(variance/rest, prior)
	}
	middle := mean + float64(cavity*(float64(weight*mean)-shift))
	logZ, slope, bend := s.likelihood.Moments(n, middle, cavity, s.theta, slopes)
	bend = max(bend, leastSite)
	to := bend / max(1-float64(cavity*bend), leastSite)
	target := float64(to*middle) + float64(to/bend*slope)
	s.weight[n] = weight + float64(oneSweep*(to-weight))
	s.shift[n] = shift + float64(oneSweep*(target-shift))
	return logZ
}

// siteCrew runs tasks for blocks of samples.
type siteCrew = work.Crew[struct{}]

func newSiteCrew(workers, n int) *siteCrew {
	return work.NewCrew(workers, (n+blockRows-1)/blockRows, func(int) (_ struct{}) { return })
}

// observing is a fit of observations.
type observing struct {
	*system
	features           Features
	crew               *siteCrew
	seed               uint64
	sites              sites
	x                  []float64
	given              []float64 // the variance of each effect given all other unknowns: see [sites.renew]
	prior              []float64 // τ² of each column
	priorMean, priorSD []float64 // of θ
}

// sweep renews all sites and makes their normal equations. It makes a step of θ, and returns Σ log Z and the longest step of a parameter. For a
// step, Σ_n g_n·g_nᵀ of the derivatives g_n = ∂log Z_n/∂θ stands for the negative second derivatives.
//
// Some blocks of samples at a time are renewed side by side. They are then added to the normal equations in their order, so that each feature is computed
// once and results do not depend on the number of workers.
func (f *observing) sweep(ctx context.Context) (score, moved float64, err error) {
	for _, of := range [][]float64{f.gram.Data, f.cross.Data, f.count, f.right, f.noises.Data} {
		clear(of)
	}
	N, T := f.sites.likelihood.Samples(), len(f.sites.theta)
	gradient, square := make([]float64, T), la.NewMatrix[float64](T, T)
	d := newDraws(f.seed)
	var blocks [blocksAtOnce]renewed
	for at := 0; at < N; at += blocksAtOnce * blockRows {
		some := blocks[:min(blocksAtOnce, (N-at+blockRows-1)/blockRows)]
		err := f.crew.First(len(some), func(_ struct{}, b int) error {
			if err := context.Cause(ctx); err != nil {
				return fmt.Errorf("effects: %w", err)
			}
			lo := at + b*blockRows
			some[b] = f.renew(lo, min(lo+blockRows, N))
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
		for i := range some {
			b := &some[i]
			score += b.score
			la.Axpy(1, b.gradient, gradient)
			la.Axpy(1, b.square.Data, square.Data)
			f.add(b.phi, b.first, f.sites.shift[b.first:b.first+b.phi.Rows], d)
		}
	}
	d.priors(f.system)
	if math.IsNaN(score) || math.IsInf(score, 0) {
		return 0, 0, fmt.Errorf("effects: the log probability of the observations is %g", score)
	}
	moved, err = f.step(gradient, square)
	return score, moved, err
}

// renewed is a block of samples whose sites have been renewed.
type renewed struct {
	first    int                // the first sample
	phi      la.Matrix[float64] // features
	score    float64            // Σ log Z
	gradient []float64          // Σ g by θ
	square   la.Matrix[float64] // Σ ggᵀ
}

// renew renews the sites of the samples lo ≤ n < hi.
func (f *observing) renew(lo, hi int) renewed {
	T := len(f.sites.theta)
	out := renewed{first: lo, phi: f.features.Rows(lo, hi), gradient: make([]float64, T), square: la.NewMatrix[float64](T, T)}
	eta, slopes := make([]float64, hi-lo), make([]float64, T)
	la.Gemv(nil, la.NoTrans, 1, out.phi, f.x[:f.m], 0, eta)
	for i, mean := range eta {
		var variance, prior float64
		for c, column := range f.columns {
			at := f.first[c] + column.Of[lo+i]
			mean += f.x[at]
			variance += f.given[at-f.m]
			prior += f.prior[c]
		}
		out.score += f.sites.renew(lo+i, mean, variance, prior, slopes)
		la.Axpy(1, slopes, out.gradient)
		for k, g := range slopes {
			la.Axpy(g, slopes, out.square.Row(k))
		}
	}
	return out
}

// step makes a step of θ, and returns its longest part.
func (f *observing) step(gradient []float64, square la.Matrix[float64]) (moved float64, err error) {
	if len(gradient) == 0 {
		return 0, nil
	}
	for k, sd := range f.priorSD {
		gradient[k] -= (f.sites.theta[k] - f.priorMean[k]) / float64(sd*sd)
		square.Set(k, k, square.At(k, k)+1/float64(sd*sd))
	}
	if err := la.Cholesky(nil, square); err != nil {
		return 0, fmt.Errorf("effects: the parameters of the likelihood: %w", err)
	}
	la.CholeskySolveVec(square, gradient)
	for k, g := range gradient {
		g = min(max(g, -mostTheta), mostTheta)
		f.sites.theta[k] += g
		moved = max(moved, math.Abs(g))
	}
	return moved, nil
}

// Without returns the posterior of the effects without some samples: kept says which remain, and offset is Φβ of all samples. The variances of the
// priors, β and θ stay as they are. Levels without a sample have the mean 0 and the prior's variance.
func (m *Observed) Without(ctx context.Context, workers int, columns []Column, offset []float64, kept []bool) ([]Effects, error) {
	const most, close = 6, 1e-3
	sites := m.sites
	sites.weight, sites.shift = slices.Clone(sites.weight), slices.Clone(sites.shift)
	s := &system{columns: columns, noise: 1, weight: sites.weight}
	size, prior := 0, 0.0
	for c, column := range columns {
		s.first = append(s.first, size)
		size += column.Levels
		prior += m.Effects[c].Prior
	}
	precision, x, before := make([]float64, size), make([]float64, size), make([]float64, size)
	count, b, samples := make([]float64, size), make([]float64, size), make([]int, size)
	for c, column := range columns {
		for l := range column.Levels {
			precision[s.first[c]+l] = 1 / m.Effects[c].Prior
		}
		for n, l := range column.Of {
			if at := s.first[c] + l; kept[n] {
				x[at] = m.Effects[c].Mean[l] // others stay exactly 0
				samples[at]++
			}
		}
	}
	crew := newSiteCrew(workers, len(offset))
	for round := 1; ; round++ {
		clear(count)
		clear(b)
		for n, k := range kept {
			if !k {
				continue
			}
			target := sites.shift[n] - float64(sites.weight[n]*offset[n])
			for c, column := range columns {
				count[s.first[c]+column.Of[n]] += sites.weight[n]
				b[s.first[c]+column.Of[n]] += target
			}
		}
		copy(before, x)
		if err := s.solveEffects(ctx, kept, count, b, precision, x); err != nil {
			return nil, err
		}
		if round == most || furthest(x, before) < close {
			break
		}
		err := crew.Each(func(_ struct{}, block int) error {
			if err := context.Cause(ctx); err != nil {
				return fmt.Errorf("effects: %w", err)
			}
			for n := block * blockRows; n < min((block+1)*blockRows, len(kept)); n++ {
				if !kept[n] {
					continue
				}
				mean, variance := offset[n], 0.0
				for c, column := range columns {
					at := s.first[c] + column.Of[n]
					mean += x[at]
					variance += 1 / s.diagonal[at]
				}
				sites.renew(n, mean, variance, prior, nil)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	all := make([]Effects, len(columns))
	for c, column := range columns {
		e := Effects{Prior: m.Effects[c].Prior, Mean: x[s.first[c] : s.first[c]+column.Levels], Variance: make([]float64, column.Levels)}
		for l := range e.Variance {
			at := s.first[c] + l
			e.Variance[l] = varianceOf(&m.Effects[c], l, samples[at], s.diagonal[at])
		}
		all[c] = e
	}
	return all, nil
}

// ObservedWork returns the products of fits of observations under so many laws, and of the fits without the samples of each fold, as [Work]. moments are
// the products that one call of Moments is worth.
func ObservedWork(n, columns, levels, features, laws, folds, moments int) float64 {
	const sweeps, iterations, rounds = 14, 8, 5
	m, of := float64(features), float64(moments)
	pass := float64(float64(n) * (of + float64(m*float64(m+float64(30+4*columns)))))
	solve := float64(4*float64(n)*float64(columns)) + float64(2*float64(levels)*m) + float64(2*m*m)
	return float64(float64(laws*sweeps)*(pass+float64(iterations*(probes+1)*solve))) + float64(float64(folds*rounds*n)*of)
}
