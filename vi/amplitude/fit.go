package amplitude

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/lbfgs"
)

// Problem is kernels and targets, to which models of several structures are fitted.
type Problem struct {
	Kernels *Kernels
	Layout  Layout

	// Y has a row for each column of targets, C×N, of mean 0 and variance 1.
	Y la.Matrix[float64]

	// Indicators says that the rows of Y are the standardised indicators of C classes, which are linearly
	// dependent: the log likelihood then has the weight w = (C − 1)/C. Two classes may have one row
	// without it, which gives the same fit.
	Indicators bool

	// LeastNoise is the least variance of the noise; 0 means 1e-8, or 1e-6 for rounded kernels.
	LeastNoise float64

	// KnownNoise is σ² if that is known; 0 means that it is learned.
	KnownNoise float64

	// NoiseShare, if not nil, holds a share s_n for each of the N samples, whose noise then has the variance σ²·s_n. The shares should
	// have the geometric mean 1, since σ² has a prior. Predictions have the noise σ².
	NoiseShare []float64

	// OwnNoise, if not nil, holds a known variance d_n for each of the N samples, whose noise then has the variance σ²·s_n + d_n. Its share may be 0 then.
	OwnNoise []float64

	// Correction, if not nil, returns what is added to the log evidence if these views are included and no others, up to a constant. Targets that
	// stand for other observations may have such a correction. [Problem.Select] and [Problem.Halves] add it, in proportion to the samples of a part;
	// searches and [Problem.Screen] do not.
	Correction func(included []bool) float64

	// Workers is the most goroutines at work; 0 means runtime.GOMAXPROCS(0). Results do not depend on it.
	Workers int

	// Work, if not nil, counts about how many floating-point operations are done: N³/3 for a Cholesky factor, 2N³/3 for the inverse that
	// follows, and 2N² for a pass over a kernel.
	Work *atomic.Int64
}

// Defaults of LeastNoise.
const (
	leastNoise        = 1e-8
	leastNoiseRounded = 1e-6
)

func (p *Problem) leastNoise() float64 {
	switch {
	case p.LeastNoise > 0:
		return p.LeastNoise
	case p.Kernels.rounded():
		return leastNoiseRounded
	}
	return leastNoise
}

func (p *Problem) weight() float64 {
	if C := p.Y.Rows; p.Indicators && C > 1 {
		return float64(C-1) / float64(C)
	}
	return 1
}

func (p *Problem) check() error {
	if p.Kernels == nil {
		return errors.New("vi: Kernels: nil")
	}
	J, N := p.Kernels.Dims()
	if err := p.Layout.check(J); err != nil {
		return err
	}
	if p.Y.Rows < 1 || p.Y.Cols != N || !p.Y.Valid() {
		return fmt.Errorf("vi: Y: %d×%d where rows of %d samples are needed", p.Y.Rows, p.Y.Cols, N)
	}
	for c := range p.Y.Rows {
		if i := check.NonFinite(p.Y.Row(c)); i >= 0 {
			return fmt.Errorf("vi: Y: entry (%d, %d) is %g", c, i, p.Y.At(c, i))
		}
	}
	if n := p.KnownNoise; !check.NotNegative(n) {
		return fmt.Errorf("vi: KnownNoise is %g", n)
	}
	if p.NoiseShare != nil && len(p.NoiseShare) != N {
		return fmt.Errorf("vi: NoiseShare: %d where there are %d samples", len(p.NoiseShare), N)
	}
	for i, s := range p.NoiseShare {
		if !check.Positive(s) && !(s == 0 && p.OwnNoise != nil) {
			return fmt.Errorf("vi: NoiseShare[%d] is %g", i, s)
		}
	}
	if p.OwnNoise != nil && len(p.OwnNoise) != N {
		return fmt.Errorf("vi: OwnNoise: %d where there are %d samples", len(p.OwnNoise), N)
	}
	for i, d := range p.OwnNoise {
		if !check.NotNegative(d) || d == 0 && p.NoiseShare != nil && p.NoiseShare[i] == 0 {
			return fmt.Errorf("vi: OwnNoise[%d] is %g", i, d)
		}
	}
	if l := p.LeastNoise; l < 0 || math.IsNaN(l) || math.IsInf(l, 1) {
		return fmt.Errorf("vi: LeastNoise is %g", l)
	}
	return nil
}

// ErrIndefinite is the error of a fit whose kernels have lost so many digits that no search can begin.
var ErrIndefinite = errors.New("K is not positive definite where the search begins")

// Search says how [Problem.Fit] looks for the most probable z. The zero value is ready.
type Search struct {
	// Include multiplies the amplitudes of each view a priori, such as by the probability that the view has information; 0 leaves
	// the view out. nil: 1 for each.
	Include []float64

	// Start is where the search begins, such as the Z of another fit of the same structure; nil: at 0.
	Start []float64

	// Steps is the most steps of L-BFGS; 0 means 150.
	Steps int

	// Tolerance is how much the log posterior may still rise, as a share of N·C nats; 0 means 1e-7.
	Tolerance float64
}

// longestStep bounds a step of z: a factor of e⁶ for a level.
const longestStep = 2.0

// Fit is the most probable amplitudes of a structure, with the processes that they make.
type Fit struct {
	*Process

	Structure Structure
	Include   []float64 // as in the search
	Z         []float64 // standard normal a priori

	LogPosterior float64 // log p(Y | θ(z)) − ½·|z|²

	// Rounding bounds by how many nats float32 has moved the log evidence, to first order; 0 of kernels that are
	// not rounded.
	Rounding float64

	Evaluations int  // of the log evidence and its gradient
	Converged   bool // or the search has used up its steps
}

// Fit returns the most probable amplitudes of the given structure. An error of ctx ends the search and is returned
// without a fit.
func (p Problem) Fit(ctx context.Context, s Structure, how Search) (*Fit, error) {
	if ctx == nil {
		return nil, errors.New("vi: ctx is nil")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	found, err := p.search(ctx, s, how)
	if err != nil {
		return nil, err
	}
	theta := make([]float64, len(found.prior.mean))
	found.prior.theta(found.z, theta, nil)
	process, err := p.at(theta)
	if err != nil {
		return nil, err
	}
	return &Fit{
		Process: process, Structure: s, Include: how.Include, Z: found.z, LogPosterior: -found.cost,
		Rounding: process.rounding(p.Kernels, p.weight()), Evaluations: found.evaluations, Converged: found.converged,
	}, nil
}

// found is where a search ended.
type found struct {
	prior       prior
	c           *climb
	z           []float64
	cost        float64 // ½·|z|² − E
	evaluations int
	converged   bool
}

// search looks for the most probable z of a problem that has been checked.
func (p *Problem) search(ctx context.Context, s Structure, how Search) (*found, error) {
	if s < Tied || s > Free {
		return nil, fmt.Errorf("vi: structure %d", int(s))
	}
	if how.Include != nil && len(how.Include) != p.Layout.Views() {
		return nil, fmt.Errorf("vi: Include: %d views where there are %d", len(how.Include), p.Layout.Views())
	}
	for v, q := range how.Include {
		if !(q >= 0) || math.IsInf(q, 1) {
			return nil, fmt.Errorf("vi: Include[%d] is %g", v, q)
		}
	}
	pr := newPrior(s, p.Layout)
	pr.include(p.Layout, how.Include)
	start := how.Start
	switch {
	case start == nil:
		start = make([]float64, pr.dims())
	case len(start) != pr.dims() || check.NonFinite(start) >= 0:
		return nil, fmt.Errorf("vi: Start: %d numbers where %d finite ones are needed", len(start), pr.dims())
	}
	c := p.newClimb(&pr)
	set := lbfgs.Settings{
		Iterations: how.Steps, Tolerance: how.Tolerance, Scale: float64(p.Y.Rows * p.Y.Cols), Gradient: 1e-3, LongestStep: longestStep,
	}
	if set.Iterations == 0 {
		set.Iterations = 150
	}
	if set.Tolerance == 0 {
		set.Tolerance = 1e-7
	}
	r, err := lbfgs.Minimize(start, func(z, g []float64) (float64, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return c.cost(z, g), nil
	}, set)
	if err != nil {
		return nil, fmt.Errorf("vi: %w", err)
	}
	if math.IsInf(r.F, 1) {
		return nil, fmt.Errorf("vi: %w", ErrIndefinite)
	}
	return &found{prior: pr, c: c, z: r.X, cost: r.F, evaluations: r.Evaluations, converged: r.Converged}, nil
}

// include multiplies the amplitudes of views.
func (p *prior) include(l Layout, include []float64) {
	for j, v := range l.View {
		if include != nil {
			p.mean[j] += special.Log(include[v])
		}
	}
}

// climb is what the search lowers: ½·|z|² − E(θ(z)).
type climb struct {
	prior       prior
	e           *evidence
	theta, g    []float64
	slope, back []float64
}

// newClimb returns the objective of a prior. Kernels that have the same amplitude at every z are added up once.
func (p *Problem) newClimb(pr *prior) *climb {
	k, own := p.Kernels, *pr
	if group, groups := pr.alike(); 2*groups <= len(group) {
		k = k.merge(&la.Workspace{Workers: p.Workers}, group, groups)
		own = pr.only(group, groups)
	}
	J, _ := k.Dims()
	return &climb{
		prior: own, e: p.evidence(k),
		theta: make([]float64, J+1), g: make([]float64, J+1), slope: make([]float64, own.count), back: make([]float64, own.dims()),
	}
}

// only returns the prior of groups of kernels that are alike.
func (p *prior) only(group []int, groups int) prior {
	J := len(p.factors)
	out := prior{mean: make([]float64, groups+1), linear: la.NewMatrix[float64](groups+1, p.linear.Cols), factors: make([][]int, groups), count: p.count}
	for j, g := range append(group[:J:J], groups) {
		out.mean[g] = p.mean[j]
		copy(out.linear.Row(g), p.linear.Row(j))
		if j < J {
			out.factors[g] = p.factors[j]
		}
	}
	return out
}

// cost stores the gradient at z in g and returns the value, +∞ outside of the domain.
func (c *climb) cost(z, g []float64) float64 {
	c.prior.theta(z, c.theta, c.slope)
	value := c.e.gradient(c.theta, c.g)
	c.prior.pull(c.g, c.slope, c.back)
	for i, v := range z {
		g[i] = v - c.back[i]
	}
	return float64(0.5*la.SumSq(z)) - value
}

// value returns E(θ(z)).
func (c *climb) value(z []float64) float64 {
	c.prior.theta(z, c.theta, nil)
	return c.e.value(c.theta)
}

// Process is the Gaussian process at given amplitudes and what it says of the training samples. It is immutable.
type Process struct {
	Amplitudes []float64 // a_j, of kernels with a mean diagonal of 1
	Noise      float64   // σ², of a sample with the noise share 1

	LogEvidence float64 // E, equation (A3) of docs/theory/views.md

	Alpha  la.Matrix[float64] // C×N, rows y_cᵀK⁻¹
	Factor la.Matrix[float64] // lower triangle: the Cholesky factor of K

	// LeftOutMean, C×N, and LeftOutVariance, of each sample, are the moments of the sample's targets given the targets
	// of all others, at these amplitudes.
	LeftOutMean     la.Matrix[float64]
	LeftOutVariance []float64
}

// at returns the process at θ.
func (p *Problem) at(theta []float64) (*Process, error) {
	e := p.evidence(p.Kernels)
	v := e.value(theta)
	if math.IsInf(v, -1) {
		return nil, errors.New("vi: K is not positive definite in double precision")
	}
	la.Trsm(&e.ws, la.Right, la.NoTrans, e.factor, e.solved)
	out := &Process{
		Amplitudes: e.amplitude, Noise: e.noise(theta[len(theta)-1]), LogEvidence: v, Alpha: e.solved, Factor: e.factor,
		LeftOutMean: la.NewMatrix[float64](p.Y.Rows, p.Y.Cols), LeftOutVariance: make([]float64, p.Y.Cols),
	}
	la.CholeskyInvDiag(&e.ws, e.factor, out.LeftOutVariance)
	for i, d := range out.LeftOutVariance {
		out.LeftOutVariance[i] = 1 / d
	}
	for c := range p.Y.Rows {
		mean, y, alpha := out.LeftOutMean.Row(c), p.Y.Row(c), e.solved.Row(c)
		for i, v := range out.LeftOutVariance {
			mean[i] = y[i] - float64(alpha[i]*v)
		}
	}
	return out, nil
}

// rounding returns Σ_j a_j·‖δK_j‖·‖Q‖, which bounds Σ_j a_j·⟨Q, δK_j⟩.
func (p *Process) rounding(k *Kernels, weight float64) float64 {
	if !k.rounded() {
		return 0
	}
	var moved float64
	for j, a := range p.Amplitudes {
		moved += float64(a * k.rounding[j])
	}
	q := p.Factor.Clone()
	la.CholeskyInv(nil, q)
	la.Syrk(nil, la.Transpose, 0.5*weight, p.Alpha, -0.5*weight*float64(p.Alpha.Rows), q)
	var square float64
	for i := range q.Rows {
		row := q.Row(i)[:i+1]
		square += float64(2*la.SumSq(row)) - float64(row[i]*row[i])
	}
	return moved * math.Sqrt(square)
}

// At returns the process at given amplitudes and noise. The noise is [Problem].KnownNoise instead if that is set. No amplitude may be
// negative.
func (p Problem) At(amplitudes []float64, noise float64) (*Process, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if J, _ := p.Kernels.Dims(); len(amplitudes) != J {
		return nil, fmt.Errorf("vi: %d amplitudes of %d kernels", len(amplitudes), J)
	}
	least := p.leastNoise()
	if !(noise > least) || math.IsInf(noise, 1) {
		return nil, fmt.Errorf("vi: noise is %g where more than %g is needed", noise, least)
	}
	theta := make([]float64, 0, len(amplitudes)+1)
	for j, a := range amplitudes {
		if !(a >= 0) {
			return nil, fmt.Errorf("vi: amplitude %d is %g", j, a)
		}
		theta = append(theta, special.Log(a))
	}
	return p.at(append(theta, special.Log(noise-least)))
}
