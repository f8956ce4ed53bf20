package mgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Settings of [Posterior.Extend].
const (
	extendTolerance = 1e-3 // root mean square of what the moments differ by, in posterior deviations
	extendSweeps    = 60
	firstNugget     = 1e-6 // of the mean variance of a function value
	mostNugget      = 1e-2
	enoughRise      = 1e-2 // nats that a step of the level and of the parameters must promise to count
	mostShapeStep   = 0.5
)

// Extension are the observations that [Posterior.Extend] adds, and the kernels of all N samples, given the weights of
// the posterior with M samples.
type Extension struct {
	Likelihood Likelihood         // of all N samples
	Among      la.Matrix[float64] // M×M, Σ_p K_p/γ_p of the M samples; only the lower triangle is read
	Cross      la.Matrix[float64] // N×M, Σ_p K_p/γ_p of all samples with the M samples; it is overwritten
	Self       []float64          // N, Σ_p K_p(x,x)/γ_p
}

// Extend returns the fit of a likelihood to many samples that begins where the posterior, of M of them, ends. The weights of the kernels
// stay. Given the function u at the M samples, the function values of different samples are taken to be
// independent (FITC). Expectation propagation under this prior takes N·M² operations for a sweep. The level and the parameters of the
// likelihood maximise the evidence. If the M samples are all samples, the result is the posterior of these, but for a
// nugget of 1e-6 in the prior of u. LeaveOneOut has the N samples.
//
// Sources: E. Snelson and Z. Ghahramani, "Sparse Gaussian processes using pseudo-inputs", NIPS 2005; A. Naish-Guzman and S. Holden, "The
// generalized FITC approximation", NIPS 2007. Derived in docs/theory/likelihoods.md, section 7.
func (p *Posterior) Extend(ctx context.Context, e Extension, workers int) (*Fit, error) {
	if err := p.checkExtension(ctx, e); err != nil {
		return nil, err
	}
	x := &extension{
		ctx: ctx, ws: la.Workspace{Workers: workers}, v: e.Cross, residual: slices.Clone(e.Self),
		like:      &likelihood{Likelihood: e.Likelihood},
		parameter: slices.Clone(p.s.Shape), rec: vi.Record{Reason: vi.MaxSweeps, Left: -1},
	}
	x.priorMean, x.priorSD = e.Likelihood.prior()
	N, M := e.Cross.Rows, e.Cross.Cols
	for _, v := range []*[]float64{&x.prec, &x.nu, &x.mean, &x.variance, &x.cavityMean, &x.cavityVar} {
		*v = make([]float64, N)
	}
	x.factor, x.block, x.w = la.NewMatrix[float64](M, M), la.NewMatrix[float64](min(N, work.PredictRows), M), make([]float64, M)
	x.like.at(x.parameter)
	x.begin(p)
	if err := x.whiten(e.Among); err != nil {
		return nil, err
	}
	logZ, err := x.propagate()
	if err != nil {
		return nil, err
	}
	s := p.s
	s.Sites, s.Shape, s.Samples = nil, x.parameter, N
	if s.Alpha, s.Factor, err = x.representation(); err != nil {
		return nil, err
	}
	fit := &Fit{Record: x.rec, LogEvidence: logZ, LeaveOneOut: &LeaveOneOut{LogProbability: make([]float64, N)}}
	for n := range N {
		fit.LeaveOneOut.LogProbability[n] = x.like.logProbability(n, x.cavityMean[n]+x.like.level, x.cavityVar[n], x.like.eta)
	}
	fit.Posterior, err = NewPosterior(s)
	return fit, err
}

func (p *Posterior) checkExtension(ctx context.Context, e Extension) error {
	switch {
	case ctx == nil:
		return errors.New("vi: ctx is nil")
	case e.Likelihood == nil:
		return errors.New("vi: the likelihood is nil")
	case p.s.Likelihood != e.Likelihood.Name() || p.s.Sites == nil:
		return fmt.Errorf("vi: Extend: observations of a %s likelihood for a posterior of another", e.Likelihood.Name())
	}
	if err := e.Likelihood.check(); err != nil {
		return fmt.Errorf("vi: %w", err)
	}
	N, M := e.Likelihood.Samples(), p.dim.N
	if mean, _ := e.Likelihood.prior(); len(mean) != len(p.s.Shape) {
		return fmt.Errorf("vi: Extend: the likelihood has %d parameters and the posterior %d", len(mean), len(p.s.Shape))
	}
	if e.Among.Rows != M || e.Among.Cols != M || e.Cross.Rows != N || e.Cross.Cols != M || len(e.Self) != N || N < M {
		return fmt.Errorf("vi: Extend: kernels %d×%d and %d×%d and %d values for %d samples, %d of them in the posterior",
			e.Among.Rows, e.Among.Cols, e.Cross.Rows, e.Cross.Cols, len(e.Self), N, M)
	}
	for n := range N {
		if j := check.NonFinite(e.Cross.Row(n)); j >= 0 {
			return fmt.Errorf("vi: Extend: entry (%d, %d) of the kernel is %g", n, j, e.Cross.At(n, j))
		}
	}
	return nil
}

// extension is the state of Extend. With the Cholesky factor G of the kernel among the M samples, u = G·w, w ~ N(0, I), and
// f_n = v_nᵀw + e_n, e_n ~ N(0, d_n).
type extension struct {
	ctx       context.Context
	ws        la.Workspace
	like      *likelihood
	parameter []float64 // level and η
	priorMean []float64 // of these
	priorSD   []float64

	chol     la.Matrix[float64] // G
	v        la.Matrix[float64] // N×M, the rows v_n
	residual []float64          // d_n

	prec, nu       []float64          // of the sites of f_n
	factor         la.Matrix[float64] // the Cholesky factor of I + VᵀΛ̃V, whose sites have λ̃ = λ/(1+λd)
	w              []float64          // E[w]
	mean, variance []float64          // of v_nᵀw
	cavityMean     []float64          // of f_n
	cavityVar      []float64
	block          la.Matrix[float64]
	logDet, fit    float64 // of log Z: log det(I + VᵀΛ̃V), and E[w]ᵀVᵀν̃
	rec            vi.Record
}

// begin sets the sites to what the posterior of the M samples asks for. The rows of v are still the kernels.
func (x *extension) begin(p *Posterior) {
	la.Gemv(&x.ws, la.NoTrans, 1, x.v, p.s.Alpha, 0, x.mean)
	copy(x.variance, x.residual)
	x.eachBlock(func(rows la.Matrix[float64], first int) {
		p.takeKnown(&x.ws, rows, x.variance[first:first+rows.Rows])
	})
	for n := range x.mean {
		u := x.like.tilt(n, x.mean[n], max(x.variance[n], 1e-12))
		x.prec[n], x.nu[n] = max(u.precision, leastPrecision), u.shift
	}
}

// eachBlock calls do with a copy of each block of rows of v.
func (x *extension) eachBlock(do func(rows la.Matrix[float64], first int)) {
	for first := 0; first < x.v.Rows; first += x.block.Rows {
		last := min(first+x.block.Rows, x.v.Rows)
		rows := x.block.Slice(0, last-first, 0, x.v.Cols)
		rows.CopyFrom(x.v.Slice(first, last, 0, x.v.Cols))
		do(rows, first)
	}
}

// whiten computes G, the rows v_n and the variances d_n.
func (x *extension) whiten(among la.Matrix[float64]) error {
	var trace float64
	for i := range among.Rows {
		trace += among.At(i, i)
	}
	unit := trace / float64(among.Rows)
	for nugget := firstNugget; ; nugget *= 10 {
		x.chol = among.Clone()
		for i := range among.Rows {
			x.chol.Row(i)[i] += float64(nugget * unit)
		}
		err := la.Cholesky(&x.ws, x.chol)
		if err == nil {
			break
		}
		if nugget > mostNugget {
			return fmt.Errorf("vi: Extend: the kernel: %w", err)
		}
	}
	la.Trsm(&x.ws, la.Right, la.Transpose, x.chol, x.v)
	for n := range x.residual {
		x.residual[n] = max(0, x.residual[n]-la.SumSq(x.v.Row(n)))
	}
	return nil
}

// posterior computes the posterior of w, the moments of v_nᵀw and of the cavities, given the sites.
func (x *extension) posterior() error {
	x.factor.Fill(0)
	clear(x.w)
	for i := range x.factor.Rows {
		x.factor.Row(i)[i] = 1
	}
	x.addInformation(x.factor)
	for n, v := range x.nu {
		la.Axpy(v/x.spread(n), x.v.Row(n), x.w)
	}
	if err := la.Cholesky(&x.ws, x.factor); err != nil {
		return fmt.Errorf("vi: Extend: I + VᵀΛV: %w", err)
	}
	x.logDet = la.LogDet(x.factor)
	h := slices.Clone(x.w)
	la.CholeskySolveVec(x.factor, x.w)
	x.fit = la.Dot(h, x.w)
	la.Gemv(&x.ws, la.NoTrans, 1, x.v, x.w, 0, x.mean)
	x.eachBlock(func(rows la.Matrix[float64], first int) {
		la.Trsm(&x.ws, la.Right, la.Transpose, x.factor, rows)
		for r := range rows.Rows {
			x.variance[first+r] = la.SumSq(rows.Row(r))
		}
	})
	for n, s := range x.variance {
		lambda, nu := x.prec[n]/x.spread(n), x.nu[n]/x.spread(n)
		left := max(1e-10, 1-float64(lambda*s))
		x.cavityVar[n] = s/left + x.residual[n]
		x.cavityMean[n] = (x.mean[n] - float64(nu*s)) / left
	}
	return nil
}

// spread returns 1 + λ_n·d_n.
func (x *extension) spread(n int) float64 { return 1 + float64(x.prec[n]*x.residual[n]) }

// addInformation adds VᵀΛ̃V to the lower triangle of a.
func (x *extension) addInformation(a la.Matrix[float64]) {
	x.eachBlock(func(rows la.Matrix[float64], first int) {
		for r := range rows.Rows {
			la.Scal(math.Sqrt(x.prec[first+r]/x.spread(first+r)), rows.Row(r))
		}
		la.Syrk(&x.ws, la.Transpose, 1, rows, 1, a)
	})
}

// propagate runs expectation propagation and climbs the evidence by the level and the parameters of the likelihood in turns. It
// returns the log evidence.
func (x *extension) propagate() (logZ float64, err error) {
	N := len(x.mean)
	damping, last, moved := 1.0, math.Inf(1), false
	for range extendSweeps {
		if x.ctx.Err() != nil {
			return 0, fmt.Errorf("vi: stopped: %w", context.Cause(x.ctx))
		}
		if err := x.posterior(); err != nil {
			return 0, err
		}
		var square float64
		logZ = 0.5 * (x.fit - x.logDet)
		asked := make([]tilted, N)
		for n := range N {
			m, v, lambda, nu := x.cavityMean[n], x.cavityVar[n], x.prec[n], x.nu[n]
			u := x.like.tilt(n, m, v)
			asked[n] = u
			spread := 1 + float64(lambda*v)
			variance := v / spread
			mean := (m + float64(v*nu)) / spread
			dm, dv := mean-u.mean, (variance-u.variance)/variance
			square += float64(dm*dm)/variance + float64(dv*dv)
			// The site's normaliser under the cavity, and the one of e.
			logZ += u.logZ - 0.5*(float64(m*(2*nu-float64(lambda*m)))+float64(v*nu*nu))/spread + float64(0.5*special.Log(spread))
			noise := x.spread(n)
			logZ += 0.5 * (float64(x.residual[n]*nu*nu)/noise - special.Log(noise))
		}
		residual := math.Sqrt(square / float64(N))
		if math.IsNaN(residual) {
			return 0, errors.New("vi: Extend: the moments are not finite")
		}
		x.rec.Trace, x.rec.Changes = append(x.rec.Trace, logZ), append(x.rec.Changes, -1)
		level, before := x.parameter[0], moved
		moved = residual < nearlyLinear && x.moveParameters()
		if residual <= extendTolerance && !moved {
			x.rec.Reason, x.rec.Left = vi.Converged, 0
			return logZ, nil
		}
		if residual > last && !before {
			damping = max(leastDamping, 0.5*damping)
		}
		last = residual
		level = x.parameter[0] - level // sites are of f + b: the sites of f move the other way
		for n, u := range asked {
			x.nu[n] -= float64(x.prec[n] * level)
			u.shift -= float64(u.precision * level)
			x.prec[n] = max(x.prec[n]+float64(damping*(u.precision-x.prec[n])), leastPrecision)
			x.nu[n] += float64(damping * (u.shift - x.nu[n]))
		}
	}
	return logZ, nil
}

// moveParameters takes a step by the level and by the parameters of the likelihood, unless it promises no rise of the evidence, and
// reports whether it did. The step of the level is Newton's for Gaussian sites of f + b, as they are. The parameters move by scoring, with the
// derivatives of (L2) and the products of the scores.
func (x *extension) moveParameters() bool {
	slope, bend := x.levelSlopes()
	spread := x.priorSD[0] * x.priorSD[0]
	slope, bend = slope-(x.parameter[0]-x.priorMean[0])/spread, bend+1/spread
	rise := slope * slope / bend
	step := []float64{slope / bend}
	if K := len(x.parameter) - 1; K > 0 {
		gradient, scores, information := make([]float64, K), make([]float64, K), la.NewMatrix[float64](K, K)
		for n := range x.mean {
			x.like.moments(n, x.cavityMean[n]+x.like.level, x.cavityVar[n], x.like.eta, scores)
			for i, s := range scores {
				gradient[i] += s
				for j, t := range scores[:i+1] {
					information.Row(i)[j] += float64(s * t)
				}
			}
		}
		for i := range gradient {
			sd := x.priorSD[1+i]
			gradient[i] -= (x.parameter[1+i] - x.priorMean[1+i]) / (sd * sd)
			information.Row(i)[i] += 1 / (sd * sd)
		}
		if la.Cholesky(&x.ws, information) != nil {
			return false
		}
		step = append(step, gradient...)
		la.CholeskySolveVec(information, step[1:])
		rise += la.Dot(step[1:], gradient)
	}
	if !(rise > enoughRise) {
		return false
	}
	x.parameter[0] += step[0]
	for i, s := range step[1:] {
		x.parameter[1+i] += max(-mostShapeStep, min(s, mostShapeStep))
	}
	x.like.at(x.parameter)
	return true
}

// levelSlopes returns the slope and the bend of the log evidence of the present sites by the level, 1ᵀ(ν̃ − Λ̃V·E[w]) and 1ᵀR1 with
// R = Λ̃ − Λ̃V(I + VᵀΛ̃V)⁻¹VᵀΛ̃.
func (x *extension) levelSlopes() (slope, bend float64) {
	t := make([]float64, x.v.Cols)
	for n, v := range x.prec {
		lambda := v / x.spread(n)
		slope += x.nu[n]/x.spread(n) - float64(lambda*x.mean[n])
		bend += lambda
		la.Axpy(lambda, x.v.Row(n), t)
	}
	solved := slices.Clone(t)
	la.CholeskySolveVec(x.factor, solved)
	return slope, max(0, bend-la.Dot(t, solved))
}

// representation returns α and the Cholesky factor of B such that predictions are k̄ᵀα and k̄(x,x) − k̄ᵀB⁻¹k̄: with W = VᵀΛ̃V
//
//	α = G⁻ᵀE[w],   B = G(I + W⁻¹)Gᵀ.
func (x *extension) representation() (alpha []float64, factor la.Matrix[float64], err error) {
	M := len(x.w)
	alpha = slices.Clone(x.w)
	la.Trsv(la.Transpose, x.chol, alpha)
	info := la.NewMatrix[float64](M, M)
	x.addInformation(info)
	var trace float64
	for i := range M {
		trace += info.At(i, i)
	}
	for i := range M {
		info.Row(i)[i] += float64(1e-12 * trace)
	}
	if err := la.Cholesky(&x.ws, info); err != nil {
		return nil, factor, fmt.Errorf("vi: Extend: VᵀΛV: %w", err)
	}
	// Rows of y are the columns of J⁻¹Gᵀ, JJᵀ = W.
	y := la.NewMatrix[float64](M, M)
	for i := range M {
		copy(y.Row(i)[:i+1], x.chol.Row(i)[:i+1])
	}
	factor = la.NewMatrix[float64](M, M)
	la.Syrk(&x.ws, la.NoTrans, 1, y, 0, factor)
	la.Trsm(&x.ws, la.Right, la.Transpose, info, y)
	la.Syrk(&x.ws, la.NoTrans, 1, y, 1, factor)
	if err := la.Cholesky(&x.ws, factor); err != nil {
		return nil, factor, fmt.Errorf("vi: Extend: B: %w", err)
	}
	return alpha, factor, nil
}
