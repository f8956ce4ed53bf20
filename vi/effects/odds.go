package effects

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Odds is a fitted logistic mixed model,
//
//	p(y_n = 1) = 1/(1 + e^{−η_n}),   η_n = φ_nᵀβ + Σ_c u_{c,l_c(n)},   u_{c,l} ~ N(0, τ_c²).
//
// The unknowns have the values of largest posterior density. The variances maximise Laplace's approximation of the evidence, where its weights are
// taken as given.
type Odds struct {
	Beta    []float64 // β, the weights of the features
	Effects []Effects // of the levels of each column
	Settled bool      // the unknowns and the variances of the effects no longer moved in the last steps
}

const (
	mostHalvings = 20
	oddsScale    = 1.0 // of log odds: the limits of variances are in units of its square
	leastWeight  = 1e-9
)

// OddsWork returns the products of a fit of log odds, as [Work].
func OddsWork(n, columns, levels, features int) float64 {
	const steps, iterations = 12, 8
	m := float64(features)
	pass := float64(float64(n) * m * float64(m+float64(30+4*columns)))
	solve := float64(4*float64(n)*float64(columns)) + float64(2*float64(levels)*m) + float64(2*m*m)
	return steps * (pass + float64(iterations*(probes+1)*solve))
}

// FitOdds infers β, the effects and the variances from the targets y, which are 0 and 1. If ctx ends the error wraps its cause.
func (p Process) FitOdds(ctx context.Context, features Features, columns []Column, y []float64) (*Odds, error) {
	s := newSystem(features.width(), columns)
	s.weight, s.noise = make([]float64, len(y)), 1
	ones := 0.0
	for _, v := range y {
		ones += v
	}
	n := float64(len(y))
	if !(ones > 0 && ones < n) {
		return nil, fmt.Errorf("effects: %g of %d targets are 1", ones, len(y))
	}
	parts := s.parts(features.Groups)
	for i := range parts {
		parts[i].prior = oddsScale / float64(len(parts))
	}
	x, errors := make([]float64, s.size()), la.NewMatrix[float64](probes, s.size())
	variance, before := make([]float64, s.size()), make([]float64, s.size())
	x[0] = special.Log(ones / (n - ones))
	least := math.Inf(-1) // the log density of the unknowns before
	own := parts[len(features.Groups):]
	priors, moves := make([]float64, len(own)), math.Inf(1) // moves is how far the effects still move
	settles, halvings := false, 0
	for step := 0; step < cmp.Or(p.Limit, MostSteps); {
		log, err := s.linearise(ctx, features, x, y, p.Seed)
		if err != nil {
			return nil, err
		}
		if density := log - penalty(parts, x); density < least-float64(1e-9*n) && halvings < mostHalvings {
			for j, v := range before {
				x[j] = 0.5 * (x[j] + v)
			}
			halvings++
			continue
		}
		halvings = 0
		step++
		if err := s.prepare(parts); err != nil {
			return nil, err
		}
		copy(before, x)
		if err := s.posterior(ctx, x, errors, variance); err != nil {
			return nil, err
		}
		if settles {
			break
		}
		for c, part := range own {
			priors[c] = part.prior
		}
		change, _ := updatePriors(parts, x, variance, oddsScale, 0)
		far := furthest(x, before)
		settles = change < settled && far < settled
		moves = max(changeOf(own, priors, oddsScale), far)
		least = log - penalty(parts, before)
	}
	out := &Odds{Beta: x[:s.m:s.m], Settled: moves < settled}
	for _, part := range own {
		out.Effects = append(out.Effects, Effects{
			Prior: part.prior, Mean: x[part.first:part.end:part.end], Variance: variance[part.first:part.end:part.end],
		})
	}
	return out, nil
}

// furthest returns the largest difference of two vectors.
func furthest(x, y []float64) (most float64) {
	for j, v := range x {
		most = max(most, math.Abs(v-y[j]))
	}
	return most
}

// penalty returns −log p(x) of the priors, up to a constant.
func penalty(parts []part, x []float64) (sum float64) {
	for _, p := range parts {
		sum += la.SumSq(x[p.first:p.end]) / float64(2*p.prior)
	}
	return sum
}

// odds returns log p(y) of the log odds η, its derivative, and its second derivative less the sign: y − p and p(1 − p).
func odds(y, eta float64) (log, slope, weight float64) {
	e := special.Exp(-math.Abs(eta))
	small := e / (1 + e) // the probability of the less probable value
	p := small
	if eta > 0 {
		p = 1 - small
	}
	log = -special.Log1p(e)
	if (eta > 0) != (y > 0.5) {
		log -= math.Abs(eta)
	}
	return log, y - p, max(float64(small*(1-small)), leastWeight)
}

// linearise makes the normal equations of a step of Newton's method from the unknowns x: with the weights w = p(1 − p) the targets
// η + (y − p)/w. It returns the log likelihood at x.
func (s *system) linearise(ctx context.Context, features Features, x, y []float64, seed uint64) (log float64, err error) {
	for _, of := range [][]float64{s.gram.Data, s.cross.Data, s.count, s.right, s.noises.Data} {
		clear(of)
	}
	d := newDraws(seed)
	eta, target := make([]float64, blockRows), make([]float64, blockRows)
	for lo := 0; lo < len(y); lo += blockRows {
		if err := context.Cause(ctx); err != nil {
			return 0, fmt.Errorf("effects: %w", err)
		}
		hi := min(lo+blockRows, len(y))
		phi := features.Rows(lo, hi)
		la.Gemv(nil, la.NoTrans, 1, phi, x[:s.m], 0, eta[:hi-lo])
		for i := range hi - lo {
			for c, column := range s.columns {
				eta[i] += x[s.first[c]+column.Of[lo+i]]
			}
			of, slope, weight := odds(y[lo+i], eta[i])
			log += of
			s.weight[lo+i], target[i] = weight, float64(weight*eta[i])+slope
		}
		s.add(phi, lo, target[:hi-lo], d)
	}
	d.priors(s)
	return log, nil
}

// Without returns the means of the effects [column][level] without some samples: kept says which remain, and offset is Φβ of all samples. The variances
// of the priors stay as they are. Levels without a sample have the mean 0. columns may have more samples than the fit had.
func (m *Odds) Without(ctx context.Context, columns []Column, offset, y []float64, kept []bool) ([][]float64, error) {
	s := &system{columns: columns, noise: 1, weight: make([]float64, len(y))}
	size := 0
	for _, c := range columns {
		s.first = append(s.first, size)
		size += c.Levels
	}
	precision, x, before := make([]float64, size), make([]float64, size), make([]float64, size)
	count, b := make([]float64, size), make([]float64, size)
	for c, column := range columns {
		for l := range column.Levels {
			precision[s.first[c]+l] = 1 / m.Effects[c].Prior
		}
		for n, l := range column.Of {
			if kept[n] {
				x[s.first[c]+l] = m.Effects[c].Mean[l] // others stay exactly 0
			}
		}
	}
	const most, close = 10, 1e-3
	for range most {
		clear(count)
		clear(b)
		for n, k := range kept {
			if !k {
				continue
			}
			var u float64
			for c, column := range columns {
				u += x[s.first[c]+column.Of[n]]
			}
			_, slope, weight := odds(y[n], offset[n]+u)
			s.weight[n] = weight
			target := float64(weight*u) + slope
			for c, column := range columns {
				count[s.first[c]+column.Of[n]] += weight
				b[s.first[c]+column.Of[n]] += target
			}
		}
		copy(before, x)
		if err := s.solveEffects(ctx, kept, count, b, precision, x); err != nil {
			return nil, err
		}
		if furthest(x, before) < close {
			break
		}
	}
	all := make([][]float64, len(columns))
	for c, column := range columns {
		all[c] = x[s.first[c] : s.first[c]+column.Levels]
	}
	return all, nil
}

// LogProbability returns log p(y) given the log odds η.
func LogProbability(y, eta float64) float64 {
	log, _, _ := odds(y, eta)
	return log
}
