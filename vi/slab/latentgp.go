package slab

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/tridiagonal"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// latentGP is the factor q(φ) = N(a, A) of a latent function φ ~ GP(m, K). What
// the likelihood says of it has the form exp(hᵀφ − ½φᵀΛφ) with diagonal Λ ≥ 0, so
//
//	A = (K⁻¹ + Λ)⁻¹,   a = A(K⁻¹m + h).
//
// K is never factorised. With S = Λ^½, B = I + S·K·S, whose eigenvalues are at
// least 1, and r = h − Λm,
//
//	α = S·B⁻¹·S⁻¹r,   a = m + Kα,   A = K − K·S·B⁻¹·S·K,
//
// where S⁻¹r is 0 wherever Λ is. The form r − S·B⁻¹·S·K·r of α, which needs no
// S⁻¹, loses all its digits where the noise is small.
type latentGP struct {
	cov    Covariance
	prior  []float64 // N, m; nil means zero
	length float64   // of a DecayCovariance

	lambda   []float64 // N, Λ
	alpha    []float64 // N
	mean     []float64 // N, a
	variance []float64 // N, diagonal of A; up to date once f is settled
	total    float64   // tr A
	kl       float64   // KL(q‖p)
	shake    float64   // Σ B_nn·(B⁻¹)_nn + K_nn·α_n²: what the round-off of kl depends on
	jitter   float64   // of the last factorisation

	uniform bool              // Λ is always a multiple of I, and K never changes: see latentgp_uniform.go
	form    *tridiagonal.Form // then, of K; nil before the first sweep
}

// latentScratch is the room that the updates of all latent functions share.
type latentScratch struct {
	k, b    la.Matrix[float64] // N×N
	columns la.Matrix[float64] // columnRows×N
	s, root []float64          // S; S before it is scaled
	t, u    []float64          // S⁻¹r, B⁻¹S⁻¹r
	ka      []float64          // Kα
	diag    []float64
	few     []int
	stop    *work.Stop // of searches; nil for none

	shifted tridiagonal.Shifted // I + λT
	both    [2][]float64        // α and Kα on their way from T's coordinates
}

// columnRows is the number of columns of K taken through a triangular solve at a
// time.
const columnRows = 64

// newLatentScratch returns room for N samples; of matrices from the start only if dense, else
// once there is a need.
func newLatentScratch(N int, dense bool) *latentScratch {
	s := &latentScratch{
		s: make([]float64, N), root: make([]float64, N), t: make([]float64, N), u: make([]float64, N), ka: make([]float64, N),
		diag: make([]float64, N), few: make([]int, 0, N), shifted: tridiagonal.NewShifted(N),
	}
	if dense {
		s.makeMatrices()
	}
	return s
}

// makeMatrices makes room for matrices if none has been made.
func (g *latentScratch) makeMatrices() {
	if N := len(g.s); g.k.Rows == 0 {
		g.k, g.b = la.NewMatrix[float64](N, N), la.NewMatrix[float64](N, N)
		g.columns = la.NewMatrix[float64](min(N, columnRows), N)
	}
}

// dense reports whether the covariance fills a matrix.
func (f *latentGP) dense() bool { return f.cov.kind >= fixedCovariance }

// start makes q the prior. mean is where a is kept.
func (f *latentGP) start(N int, mean []float64) {
	f.lambda, f.alpha, f.variance = make([]float64, N), make([]float64, N), make([]float64, N)
	f.mean = mean
	copy(f.mean, f.prior)
	f.length = f.cov.length
	for n := range f.variance {
		f.variance[n] = f.cov.variance(n, f.length)
	}
	f.addVariances()
}

// addVariances sets tr A.
func (f *latentGP) addVariances() {
	f.total = 0
	for _, v := range f.variance {
		f.total += v
	}
}

// fill stores K at the given length in g.k.
func (f *latentGP) fill(g *latentScratch, length float64) {
	g.makeMatrices()
	f.cov.fill(length, g.k)
}

// draw sets the mean to c·Kz, which has the power of the prior, tr K, if z is white
// noise. The prior's mean must be zero, and q(φ) the prior.
func (f *latentGP) draw(ws *la.Workspace, g *latentScratch, z []float64) {
	f.fill(g, f.length)
	var power, all float64
	for i := range z {
		row := g.k.Row(i)[:i+1]
		power += row[i]
		all += 2*la.SumSq(row) - float64(row[i]*row[i])
	}
	copy(f.alpha, z)
	la.Scal(math.Sqrt(power/max(all, math.SmallestNonzeroFloat64)), f.alpha)
	la.Symv(ws, 1, g.k, f.alpha, 0, f.mean)
	f.kl = 0.5 * la.Dot(f.alpha, f.mean)
}

// update is q(φ) given f.lambda and h.
func (f *latentGP) update(ws *la.Workspace, g *latentScratch, h []float64) error {
	switch f.cov.kind {
	case zeroCovariance:
		return nil
	case whiteCovariance:
		f.updateWhite(h)
		return nil
	}
	if f.form != nil && f.updateUniform(g, h) {
		return nil
	}
	f.fill(g, f.length)
	f.residual(g, h)
	logDet, err := f.solve(ws, g)
	if err != nil {
		return err
	}
	copy(f.mean, g.ka)
	if f.prior != nil {
		la.Axpy(1, f.prior, f.mean)
	}
	la.CholeskyInvDiag(ws, g.b, g.diag)
	f.variances(ws, g)
	f.addVariances()
	f.kl = f.divergence(g, logDet)
	return nil
}

// roundoff returns the round-off of the divergence, see [work.Roundoff].
func (f *latentGP) roundoff(N int) float64 { return float64((work.Roundoff(N) + f.jitter) * f.shake) }

// jitterOf returns the largest jitter of the functions.
func jitterOf(functions []latentGP) (jitter float64) {
	for i := range functions {
		jitter = max(jitter, functions[i].jitter)
	}
	return jitter
}

// divergence returns KL(q‖p) = ½(tr B⁻¹ − N + αᵀKα + log|B|).
func (f *latentGP) divergence(g *latentScratch, logDet float64) float64 {
	var trace float64
	f.shake = 0
	for n, v := range g.diag {
		trace += v - 1
		k := g.k.At(n, n)
		f.shake += float64((1+float64(f.lambda[n]*k))*v) + float64(k*float64(f.alpha[n]*f.alpha[n]))
	}
	return 0.5 * (trace + la.Dot(f.alpha, g.ka) + logDet)
}

// restore computes what follows from the other fields: the divergence.
func (f *latentGP) restore(ws *la.Workspace, g *latentScratch) error {
	f.kl = 0
	f.addVariances()
	switch f.cov.kind {
	case zeroCovariance:
		return nil
	case whiteCovariance:
		for n, l := range f.lambda {
			f.kl += float64(0.5 * (float64(f.alpha[n]*f.alpha[n]) + special.Log1p(l) - l/(1+l)))
		}
		return nil
	}
	if err := f.refactorise(ws, g); err != nil {
		return err
	}
	la.Symv(ws, 1, g.k, f.alpha, 0, g.ka)
	la.CholeskyInvDiag(ws, g.b, g.diag)
	f.kl = f.divergence(g, la.LogDet(g.b))
	return nil
}

// refactorise leaves K in g.k, S in g.s and the Cholesky factor of B in g.b.
func (f *latentGP) refactorise(ws *la.Workspace, g *latentScratch) error {
	f.fill(g, f.length)
	for n, l := range f.lambda {
		g.s[n] = math.Sqrt(l)
	}
	return f.factorise(ws, g)
}

// updateWhite is update for K = I.
func (f *latentGP) updateWhite(h []float64) {
	f.kl = 0
	for n, l := range f.lambda {
		var m float64
		if f.prior != nil {
			m = f.prior[n]
		}
		v := 1 / (1 + l)
		a := (m + h[n]) * v
		f.mean[n], f.variance[n], f.alpha[n] = a, v, (h[n]-float64(l*m))*v
		f.kl += float64(0.5 * (float64(f.alpha[n]*f.alpha[n]) + special.Log1p(l) - float64(l*v)))
	}
	f.addVariances()
}

// residual stores S and S⁻¹r.
func (f *latentGP) residual(g *latentScratch, h []float64) {
	for n, l := range f.lambda {
		g.s[n] = math.Sqrt(l)
		g.t[n] = 0
		if l > 0 {
			r := h[n]
			if f.prior != nil {
				r -= float64(l * f.prior[n])
			}
			g.t[n] = r / g.s[n]
		}
	}
}

// solve leaves the Cholesky factor of B in g.b, α in f.alpha and Kα in g.ka, from
// K in g.k, and returns log|B|.
func (f *latentGP) solve(ws *la.Workspace, g *latentScratch) (logDet float64, err error) {
	if err := g.stop.Ended(); err != nil {
		return 0, err
	}
	if err := f.factorise(ws, g); err != nil {
		return 0, err
	}
	copy(g.u, g.t)
	la.CholeskySolveVec(g.b, g.u)
	for n, s := range g.s {
		f.alpha[n] = s * g.u[n]
	}
	la.Symv(ws, 1, g.k, f.alpha, 0, g.ka)
	return la.LogDet(g.b), nil
}

// factorise leaves the Cholesky factor of B in g.b, from K in g.k and S in g.s. Where
// rounding has made it indefinite, S·K·S gets a relative jitter.
func (f *latentGP) factorise(ws *la.Workspace, g *latentScratch) error {
	f.jitter = 0
	for {
		for i, si := range g.s {
			k, b := g.k.Row(i)[:i+1], g.b.Row(i)[:i+1]
			for j, v := range k {
				b[j] = float64(si*v) * g.s[j]
			}
			b[i] = 1 + float64(b[i]*(1+f.jitter))
		}
		err := la.Cholesky(ws, g.b)
		if err == nil {
			return nil
		}
		more, ok := jitter.More(len(g.s), f.jitter, err)
		if !ok {
			return fmt.Errorf("I + S·K·S: the covariance is not positive semidefinite: %w", err)
		}
		f.jitter = more
	}
}

// variances stores diag A, from the factor of B and diag B⁻¹. S·A·S = I − B⁻¹ gives
// A_nn = (1 − (B⁻¹)_nn)/λ_n with an error of a rounding over λ_n; where that is more
// than a rounding of K_nn, A_nn comes from its column of K.
func (f *latentGP) variances(ws *la.Workspace, g *latentScratch) {
	few := g.few[:0]
	for n, l := range f.lambda {
		k := g.k.At(n, n)
		if float64(l*k) < 1 {
			few = append(few, n)
			continue
		}
		f.variance[n] = min(max(0, (1-g.diag[n])/l), k)
	}
	for len(few) > 0 {
		some := few[:min(len(few), columnRows)]
		few = few[len(some):]
		cols := g.columns.Slice(0, len(some), 0, len(f.lambda))
		for r, n := range some {
			row := cols.Row(r)
			copy(row, g.k.Row(n)[:n+1])
			for j := n + 1; j < len(row); j++ {
				row[j] = g.k.At(j, n)
			}
			for j, s := range g.s {
				row[j] *= s
			}
		}
		la.Trsm(ws, la.Right, la.Transpose, g.b, cols)
		for r, n := range some {
			f.variance[n] = max(0, g.k.At(n, n)-la.SumSq(cols.Row(r)))
		}
	}
}
