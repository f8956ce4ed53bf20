package mgp

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// FeatureState is everything a [FeaturePosterior] is made of, plain data to be saved and
// restored.
type FeatureState struct {
	Blocks []int     // D_p, features of each kernel
	Gamma  []float64 // γ_p
	Noise  float64   // σ²
	Mean   []float64 // D, E[w]

	// Factor is D×D, the Cholesky factor of B = I + SΦΦᵀS, with S² = diag(1/γ)/σ², or of labels c·diag(1/γ).
	Factor la.Matrix[float64]
}

// FeaturePosterior is the posterior of [Evidence.FitFeatures] and [Evidence.FitFeatureLabels]. It
// is immutable and safe for concurrent use.
type FeaturePosterior struct {
	s FeatureState

	spreads sync.Pool // of *spread. Predictions use memory again: to zero new memory takes about a third of the time of the solution.
}

// NewFeaturePosterior returns the posterior of a state, which it keeps and which must not be
// changed afterwards. The error says what does not fit.
func NewFeaturePosterior(s FeatureState) (*FeaturePosterior, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("vi: feature state: %w", err)
	}
	return &FeaturePosterior{s: s}, nil
}

// validate returns an error that names the first part that does not fit.
func (s *FeatureState) validate() error {
	var D int
	for p, d := range s.Blocks {
		if d < 1 {
			return fmt.Errorf("Blocks[%d] is %d", p, d)
		}
		D += d
	}
	return check.Parts(
		check.That(len(s.Blocks) > 0 && len(s.Gamma) == len(s.Blocks), "%d blocks and %d scales", len(s.Blocks), len(s.Gamma)),
		check.Length("Mean", len(s.Mean), D),
		check.Number("Noise", s.Noise, check.Positive),
		check.Vector("Gamma", s.Gamma, check.Positive),
		check.Vector("Mean", s.Mean, check.Finite),
		check.Cholesky("Factor", s.Factor, D),
	)
}

// State returns what the posterior is made of. It must not be changed.
func (p *FeaturePosterior) State() FeatureState { return p.s }

// predictColumns is the number of samples whose features go through a triangular solve at a time.
const predictColumns = 1024

// Predict returns mean and variance, with noise, of the target of T samples, given their
// features, D_p×T, and optionally rest, P×T: what of every kernel of a sample with itself
// the features leave out, k_p(x,x) − |φ_p(x)|². The noise, as it was learned, has taken over
// what the features leave out of the training samples' kernels, and intervals have their
// coverage without rest; with it they also widen far from all landmarks, and are too wide
// elsewhere. With meanOnly the variance is nil. The cost is D²·T.
func (p *FeaturePosterior) Predict(features []la.Matrix[float64], rest la.Matrix[float64], meanOnly bool, workers int) (mean, variance []float64, err error) {
	T, err := p.samples(features)
	if err != nil {
		return nil, nil, err
	}
	if rest.Rows != 0 && (rest.Rows != len(features) || rest.Cols != T) {
		return nil, nil, fmt.Errorf("vi: rest: %d×%d where %d×%d is needed", rest.Rows, rest.Cols, len(features), T)
	}
	ws := &la.Workspace{Workers: workers}
	mean = make([]float64, T)
	first := 0
	for _, f := range features {
		la.Gemv(ws, la.Transpose, 1, f, p.s.Mean[first:first+f.Rows], 1, mean)
		first += f.Rows
	}
	if meanOnly {
		return mean, nil, nil
	}
	variance = make([]float64, T)
	for i := range variance {
		variance[i] = p.s.Noise
	}
	for i := range rest.Rows {
		for t, v := range rest.Row(i) {
			variance[t] += max(0, v) / p.s.Gamma[i]
		}
	}
	p.addSpread(workers, features, nil, variance)
	return mean, variance, nil
}

// samples returns the number of samples of features, and an error that names what does not fit.
func (p *FeaturePosterior) samples(features []la.Matrix[float64]) (int, error) {
	if len(features) != len(p.s.Blocks) {
		return 0, fmt.Errorf("vi: features: %d blocks where %d are needed", len(features), len(p.s.Blocks))
	}
	T := features[0].Cols
	for i, f := range features {
		if f.Rows != p.s.Blocks[i] || f.Cols != T || !f.Valid() {
			return 0, fmt.Errorf("vi: features: block %d is %d×%d where %d×%d is needed", i, f.Rows, f.Cols, p.s.Blocks[i], T)
		}
	}
	return T, nil
}

// spread is the memory of addSpread.
type spread struct {
	ws    la.Workspace
	block []float64 // features over √γ, and the solution
}

// addSpread adds the variances of the function of some kernels, nil for all, without noise.
func (p *FeaturePosterior) addSpread(workers int, features []la.Matrix[float64], which []int, variance []float64) {
	T := len(variance)
	mem, _ := p.spreads.Get().(*spread)
	if mem == nil {
		mem = new(spread)
	}
	defer p.spreads.Put(mem)
	mem.ws.Workers = workers
	columns := min(T, predictColumns)
	if n := len(p.s.Mean) * columns; cap(mem.block) < n {
		mem.block = make([]float64, n)
	}
	block := la.MatrixOf(len(p.s.Mean), columns, mem.block[:len(p.s.Mean)*columns])
	for t := 0; t < T; t += predictColumns {
		n := min(predictColumns, T-t)
		x := block.Slice(0, block.Rows, 0, n)
		first := 0
		for i, f := range features {
			own := x.Slice(first, first+f.Rows, 0, n)
			first += f.Rows
			if which != nil && !slices.Contains(which, i) {
				own.Fill(0)
				continue
			}
			for d := range f.Rows {
				row := own.Row(d)
				copy(row, f.Row(d)[t:])
				la.Scal(1/math.Sqrt(p.s.Gamma[i]), row)
			}
		}
		la.Trsm(&mem.ws, la.Left, la.NoTrans, p.s.Factor, x)
		for d := range x.Rows {
			for j, v := range x.Row(d) {
				variance[t+j] += float64(v * v)
			}
		}
	}
}

// Contribution returns the posterior mean and variance of the sum of some kernels' functions. which lists the kernels, and the features are as
// in [FeaturePosterior.Predict]. With φ̄ the features of these kernels, and 0 in the places of the others:
//
//	E = φ̄ᵀE[w],   Var = |L⁻¹Γ^(−½)φ̄|².
//
// The means of groups that have each kernel once add up to the mean of [FeaturePosterior.Predict]. The variances do not: functions are
// correlated in the posterior.
func (p *FeaturePosterior) Contribution(features []la.Matrix[float64], which []int, workers int) (mean, variance []float64, err error) {
	T, err := p.samples(features)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range which {
		if m < 0 || m >= len(features) {
			return nil, nil, fmt.Errorf("vi: which[%d] is %d of %d kernels", i, m, len(features))
		}
	}
	ws := &la.Workspace{Workers: workers}
	mean, variance = make([]float64, T), make([]float64, T)
	if len(which) == 0 {
		return mean, variance, nil
	}
	first := 0
	for i, f := range features {
		if slices.Contains(which, i) {
			la.Gemv(ws, la.Transpose, 1, f, p.s.Mean[first:first+f.Rows], 1, mean)
		}
		first += f.Rows
	}
	p.addSpread(workers, features, which, variance)
	return mean, variance, nil
}

// PredictOne returns mean and variance, with noise, of the target of one sample, given all
// of its features, D, which it overwrites. With meanOnly the variance is NaN. It allocates
// nothing.
func (p *FeaturePosterior) PredictOne(features []float64, meanOnly bool) (mean, variance float64) {
	mean = la.Dot(p.s.Mean, features)
	if meanOnly {
		return mean, math.NaN()
	}
	first := 0
	for i, d := range p.s.Blocks {
		la.Scal(1/math.Sqrt(p.s.Gamma[i]), features[first:first+d])
		first += d
	}
	la.Trsv(la.NoTrans, p.s.Factor, features)
	return mean, p.s.Noise + la.SumSq(features)
}
