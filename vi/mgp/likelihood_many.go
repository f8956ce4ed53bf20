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
)

// Extension are the observations that [Posterior.Extend] adds, and the kernels of all N samples, given the weights of
// the posterior with M samples.
type Extension struct {
	Likelihood Likelihood         // of all N samples
	Among      la.Matrix[float64] // M×M, Σ_p K_p/γ_p of the M samples; only the lower triangle is read
	Cross      la.Matrix[float64] // N×M, Σ_p K_p/γ_p of all samples with the M samples; it is overwritten
	Self       []float64          // N, Σ_p K_p(x,x)/γ_p

	Progress func(vi.Progress) // if not nil, it is called after every sweep
}

// Extend returns the fit of a likelihood to many samples that begins where the posterior, of M of them, ends. The weights of the kernels
// stay. Given the function u at the M samples, the function values of different samples are taken to be
// independent (FITC). Expectation propagation under this prior takes N·M² operations for a sweep. The level and the parameters of the
// likelihood maximise the evidence. If the M samples are all samples, the result is the posterior of these, but for a
// nugget of 1e-6 in the prior of u. LeaveOneOut has the N samples.
//
// With the error of a context that ended it returns the fit of the sweeps so far, if the moments had nearly settled.
//
// Sources: E. Snelson and Z. Ghahramani, "Sparse Gaussian processes using pseudo-inputs", NIPS 2005; A. Naish-Guzman and S. Holden, "The
// generalized FITC approximation", NIPS 2007. Derived in docs/theory/likelihoods.md, section 7.
func (p *Posterior) Extend(ctx context.Context, e Extension, workers int) (*Fit, error) {
	if err := p.checkExtension(ctx, e); err != nil {
		return nil, err
	}
	x, err := p.newExtension(ctx, e, workers)
	if err != nil {
		return nil, err
	}
	logZ, stopped := x.propagate()
	if stopped != nil && x.rec.Reason != vi.Cancelled {
		return nil, stopped
	}
	if logZ-logZ != 0 {
		return nil, fmt.Errorf("vi: Extend: the log evidence is %g", logZ)
	}
	N, s := len(x.mean), p.s
	s.Sites, s.Shape, s.Samples = nil, x.parameter, N
	if s.Alpha, s.Factor, err = x.representation(); err != nil {
		return nil, err
	}
	fit := &Fit{Record: x.rec, LogEvidence: logZ, LeaveOneOut: &LeaveOneOut{LogProbability: make([]float64, N)}}
	for n := range N {
		fit.LeaveOneOut.LogProbability[n] = x.like.logProbability(n, x.cavityMean[n]+x.like.level, x.cavityVar[n], x.like.eta)
	}
	if fit.Posterior, err = NewPosterior(s); err != nil {
		return nil, err
	}
	return fit, stopped
}

// newExtension returns the state that Extend begins with.
func (p *Posterior) newExtension(ctx context.Context, e Extension, workers int) (*extension, error) {
	x := &extension{
		ctx: ctx, progress: e.Progress, ws: la.Workspace{Workers: workers}, v: e.Cross, residual: slices.Clone(e.Self),
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
	return x, x.whiten(e.Among)
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
	progress  func(vi.Progress)
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

	before []float64 // slopes by the parameters in the last sweep, nil if these have moved since
	taken  []float64 // the last step of the parameters
	from   slopes    // where it began
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
		x.cavityVar[n] = max(s/left+x.residual[n], leastVariance)
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

// propagate runs expectation propagation and climbs the evidence by the level and the parameters of the likelihood. It returns the
// log evidence. The posterior belongs to the final sites.
func (x *extension) propagate() (logZ float64, err error) {
	damping, last, moved := 1.0, math.Inf(1), false
	asked := make([]tilted, len(x.mean))
	for sweep := 1; ; sweep++ {
		if err := x.posterior(); err != nil {
			return 0, err
		}
		logZ, residual := x.ask(asked)
		if math.IsNaN(residual) {
			return 0, errors.New("vi: Extend: the moments are not finite")
		}
		x.note(sweep, logZ)
		if x.ctx.Err() != nil {
			if residual < nearlyLinear {
				x.rec.Reason = vi.Cancelled
			}
			return logZ, fmt.Errorf("vi: stopped: %w", context.Cause(x.ctx))
		}
		if sweep == extendSweeps {
			return logZ, nil
		}
		level, before, step := x.parameter[0], moved, stepWaits
		if residual < nearlyLinear {
			step = x.moveParameters()
		}
		if residual <= extendTolerance && step == stepIsNone {
			x.rec.Reason, x.rec.Left = vi.Converged, 0
			return logZ, nil
		}
		if residual > last && !before {
			damping = max(leastDamping, 0.5*damping)
		}
		last = residual
		if moved = step == stepTaken; moved {
			x.like.level = level // the cavities are the ones of the level before
			x.ask(asked)
			x.like.at(x.parameter)
		}
		x.renew(asked, damping, x.parameter[0]-level)
	}
}

// ask computes the sites that the cavities ask for. It returns the log evidence of the present sites, and by how many standard
// deviations the moments of the posterior and of the tilted distributions differ (root mean square).
func (x *extension) ask(asked []tilted) (logZ, residual float64) {
	var square float64
	logZ = 0.5 * (x.fit - x.logDet)
	for n := range asked {
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
		logZ += float64(0.5 * (float64(x.residual[n]*nu*nu)/noise - special.Log(noise)))
	}
	return logZ, math.Sqrt(square / float64(len(asked)))
}

// renew moves the sites by the share damping of the way to what was asked for. The level has moved by level since: sites are of
// f + b, so that the sites of f move the other way.
func (x *extension) renew(asked []tilted, damping, level float64) {
	for n, u := range asked {
		x.nu[n] -= float64(x.prec[n] * level)
		u.shift -= float64(u.precision * level)
		x.prec[n] = max(x.prec[n]+float64(damping*(u.precision-x.prec[n])), leastPrecision)
		x.nu[n] += float64(damping * (u.shift - x.nu[n]))
	}
}

// note adds a sweep to the record and reports it.
func (x *extension) note(sweep int, logZ float64) {
	rise := math.NaN()
	if sweep > 1 {
		rise = logZ - x.rec.Trace[sweep-2]
	}
	x.rec.Trace, x.rec.Changes = append(x.rec.Trace, logZ), append(x.rec.Changes, -1)
	if x.progress != nil {
		x.progress(vi.Progress{Sweep: sweep, MaxSweeps: extendSweeps, Bound: logZ, Rise: rise, Left: -1, Change: -1})
	}
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
