package effects

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/random"
)

// Column divides the samples into levels.
type Column struct {
	Of     []int // the level of each sample
	Levels int   // how many there are
}

// Features are the features φ of samples. The first is 1 for every sample and has a flat prior. The others form groups, and the weights β
// of a group have a normal prior of the same variance.
type Features struct {
	Groups []int // features of each group, behind the first feature

	// Rows returns the features of the samples lo ≤ n < hi. The caller may change them.
	Rows func(lo, hi int) la.Matrix[float64]
}

// width returns the number of features.
func (f *Features) width() int {
	m := 1
	for _, g := range f.Groups {
		m += g
	}
	return m
}

// Process has the settings of a fit. The zero value is ready.
type Process struct {
	Seed    uint64 // of the probes that estimate posterior variances
	Workers int    // goroutines for the moments of observations; 0 means one for each processor
	Limit   int    // sweeps over observations, or steps; 0 means MostSweeps, or MostSteps

	Progress func(sweep int, score float64) // if not nil, it is called after every sweep over observations, with Σ_n log p(y_n | all others)
}

// MostSteps is the usual limit of updates of the variances by [Process.Fit], and of steps of [Process.FitOdds].
const MostSteps = 30

const (
	blockRows = 2048 // samples whose features are in memory
	probes    = 8
	settled   = 0.01 // the largest relative change of a variance in the last step
	leastPart = 1e-8 // the least variance of a prior, in units of the targets' mean square
	leastSeen = 1e-4 // the least variance that is not negligible, in the same units
)

// Effects are the posterior of the effects of a column's levels.
type Effects struct {
	Prior          float64   // τ²
	Mean, Variance []float64 // of each level

	given []float64 // 1/variance given all other unknowns
}

// Posterior is a fitted model. Its effects are of the samples of the fit.
type Posterior struct {
	Noise   float64   // σ²
	Beta    []float64 // the mean of β
	Effects []Effects // of each column
	Settled bool      // the variances of the effects no longer moved in the last step

	groups []float64 // the variances of the priors of β
}

// Work returns the products of a fit: for n samples, columns and levels in all, with so many features.
func Work(n, columns, levels, features int) float64 {
	const iterations = 12 // of conjugate gradients, for a right-hand side
	solves := float64(iterations * (MostSteps / 2) * (probes + 1))
	m := float64(features)
	return float64(float64(n)*m*m) + float64(solves*(float64(4*float64(n)*float64(columns))+float64(2*float64(levels)*m)+float64(2*m*m)))
}

// Memory returns about how many bytes a fit takes: for n samples, columns and levels in all, with so many features. It includes the effects
// of each sample without its fold.
func Memory(n, columns, levels, features int) int64 {
	m := float64(features)
	words := float64(float64(n)*(6+float64(4*columns))) + float64(float64(levels)*(m+3*probes+20)) + float64(m*(float64(2*m)+float64(2*blockRows+min(n, blocksAtOnce*blockRows))))
	return int64(min(8*words, math.MaxInt64/2))
}

// Fit infers β, the effects and the variances from the targets y, whose mean should be near 0. If ctx ends the error wraps its cause.
func (p Process) Fit(ctx context.Context, features Features, columns []Column, y []float64) (*Posterior, error) {
	s := newSystem(features.width(), columns)
	if err := s.sum(ctx, features, y, p.Seed); err != nil {
		return nil, err
	}
	square := la.SumSq(y) / float64(len(y))
	if !(square > 0) {
		return nil, fmt.Errorf("effects: all targets are 0")
	}
	parts := s.parts(features.Groups)
	share := square / float64(2*len(parts))
	for i := range parts {
		parts[i].prior = share
	}
	s.noise = square / 2
	x, errors := make([]float64, s.size()), la.NewMatrix[float64](probes, s.size())
	variance := make([]float64, s.size())
	own := parts[len(features.Groups):]
	before, moves := make([]float64, len(own)), math.Inf(1) // moves is how far the variances of the effects still move
	for range cmp.Or(p.Limit, MostSteps) {
		if err := s.prepare(parts); err != nil {
			return nil, err
		}
		if err := s.posterior(ctx, x, errors, variance); err != nil {
			return nil, err
		}
		for c, part := range own {
			before[c] = part.prior
		}
		change := s.update(parts, x, variance, square, len(y))
		moves = changeOf(own, before, square)
		if change < settled {
			break
		}
	}
	if err := s.prepare(parts); err != nil {
		return nil, err
	}
	if err := s.posterior(ctx, x, errors, variance); err != nil {
		return nil, err
	}
	out := &Posterior{Noise: s.noise, Beta: x[:s.m:s.m], Settled: moves < settled}
	for _, part := range parts[:len(features.Groups)] {
		out.groups = append(out.groups, part.prior)
	}
	for _, part := range own {
		out.Effects = append(out.Effects, Effects{
			Prior: part.prior, Mean: x[part.first:part.end:part.end], Variance: variance[part.first:part.end:part.end],
			given: slices.Clone(s.diagonal[part.first-s.m : part.end-s.m]),
		})
	}
	return out, nil
}

// part is unknowns with a prior of the same variance: the weights of a group of features, or the effects of a column.
type part struct {
	first, end int
	prior      float64
}

// parts returns the parts: first the groups of features, then the columns.
func (s *system) parts(groups []int) (all []part) {
	at := 1
	for _, g := range groups {
		all = append(all, part{first: at, end: at + g})
		at += g
	}
	for _, c := range s.columns {
		all = append(all, part{first: at, end: at + c.Levels})
		at += c.Levels
	}
	return all
}

// update makes a step of the variances,
//
//	τ² = ‖u‖²/γ,   γ = L − tr(V)/τ²,   σ² = ‖y − Φβ − Zu‖²/(N − Σγ − 1),
//
// and returns the largest relative change of a variance that is not negligible.
func (s *system) update(parts []part, x, variance []float64, square float64, n int) (change float64) {
	noise := s.residual(x)
	change, free := updatePriors(parts, x, variance, square, float64(n-1))
	to := max(noise/max(free, 1), float64(1e-6*square))
	change = max(change, math.Abs(to/s.noise-1))
	s.noise = to
	return change
}

// updatePriors makes a step of the variances of priors. It returns the largest relative change of a variance that is not negligible beside square,
// and free less Σγ.
func updatePriors(parts []part, x, variance []float64, square, free float64) (change, rest float64) {
	least := float64(leastPart * square)
	for i := range parts {
		p := &parts[i]
		of := float64(p.end - p.first)
		var trace float64
		for _, v := range variance[p.first:p.end] {
			trace += v
		}
		gamma := min(max(of-trace/p.prior, 1e-6*of), of)
		free -= gamma
		to := min(max(la.SumSq(x[p.first:p.end])/gamma, p.prior/10, least), 10*square)
		if max(to, p.prior) > float64(leastSeen*square) {
			change = max(change, math.Abs(to/p.prior-1))
		}
		p.prior = to
	}
	return change, free
}

// changeOf returns the largest relative change of the variances of some parts, given the variances before, as [updatePriors] does.
func changeOf(parts []part, before []float64, square float64) (change float64) {
	for i, p := range parts {
		if max(p.prior, before[i]) > float64(leastSeen*square) {
			change = max(change, math.Abs(p.prior/before[i]-1))
		}
	}
	return change
}

// sum adds up the normal equations and the right-hand sides of the probes.
func (s *system) sum(ctx context.Context, features Features, y []float64, seed uint64) error {
	d := newDraws(seed)
	for lo := 0; lo < len(y); lo += blockRows {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("effects: %w", err)
		}
		hi := min(lo+blockRows, len(y))
		s.square += la.SumSq(y[lo:hi])
		s.add(features.Rows(lo, hi), lo, y[lo:hi], d)
	}
	d.priors(s)
	return nil
}

// draws are the standard normal numbers of the probes.
type draws struct {
	src special.Rand
	xi  []float64
}

func newDraws(seed uint64) *draws {
	return &draws{random.Source(seed), make([]float64, probes*blockRows)}
}

// priors draws η.
func (d *draws) priors(s *system) {
	for k := range probes {
		random.Normal(d.src, s.priors.Row(k))
	}
}

// add adds the samples from lo on to the normal equations and to the right-hand sides of the probes. y holds the products of their weights and
// targets. The features are overwritten.
func (s *system) add(phi la.Matrix[float64], lo int, y []float64, d *draws) {
	n := len(y)
	la.Gemv(nil, la.Transpose, 1, phi, y, 1, s.right[:s.m])
	if s.weight != nil {
		for i := range n {
			la.Scal(math.Sqrt(s.weight[lo+i]), phi.Row(i))
		}
	}
	la.Syrk(nil, la.Transpose, 1, phi, 1, s.gram)
	xi := d.xi[:probes*n]
	random.Normal(d.src, xi)
	for k := range probes {
		la.Gemv(nil, la.Transpose, 1, phi, xi[k*n:(k+1)*n], 1, s.noises.Row(k)[:s.m])
	}
	for i := range n {
		weight, root := 1.0, 1.0
		if s.weight != nil {
			weight = s.weight[lo+i]
			root = math.Sqrt(weight)
		}
		for c, column := range s.columns {
			at := s.first[c] + column.Of[lo+i]
			s.count[at-s.m] += weight
			s.right[at] += y[i]
			la.Axpy(root, phi.Row(i), s.cross.Row(at-s.m))
			for k := range probes {
				s.noises.Row(k)[at] += float64(root * xi[k*n+i])
			}
		}
	}
}
