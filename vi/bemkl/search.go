package bemkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/conjugate"
)

// search solves for the means of a and G jointly, which the plain order of
// updates, each taking the other as given, approaches ever more slowly. It is
// a conjugate gradient method of which every sweep does one step: G follows a
// exactly, and a moves to the best point of the plane that the plain update's
// step and the previous sweep's step span. Derived in docs/acceleration.md.
type search struct {
	step  la.Matrix[float64] // R×D, z: the plain update's step
	last  la.Matrix[float64] // R×D, d: the previous sweep's step
	hLast la.Matrix[float64] // (R·P)×N, the projections of last
	task  func(*worker, int) error
}

// newSearch returns a search whose previous step is zero.
func newSearch(l *latent) *search {
	s := &search{
		step:  la.NewMatrix[float64](l.R, l.D),
		last:  la.NewMatrix[float64](l.R, l.D),
		hLast: la.NewMatrix[float64](l.R*l.P, l.N),
	}
	s.task = func(w *worker, r int) error {
		s.move(l, w, r)
		return l.gTask(w, r)
	}
	return s
}

// update makes one step for every row, after an update of G. Like the plain
// updates of a and G it passes over the kernels twice.
func (s *search) update(l *latent) error {
	// The gradient υ·Σ_m K_m(g_m − h_m) − Λa, formed from what is left over: where
	// sparse priors let a grow, the difference of two solutions would cancel.
	for j, v := range l.h.Data {
		l.gMean.Data[j] -= v
	}
	l.k.Combine(&l.crew.All, l.gMean, l.response)
	for r := range l.R {
		rest, a := l.response.Row(r), l.aMean.Row(r)
		for d := range rest {
			rest[d] -= float64(l.lambda.Mean(r*l.D+d)*a[d]) / l.upsilon[r]
		}
	}
	l.solution = s.step
	if err := l.crew.Each(l.weightTask); err != nil {
		return err
	}
	// G is about to be renewed; until then its place holds the projections of z.
	l.k.Project(&l.crew.All, s.step, l.gMean)
	return l.crew.Each(s.task)
}

// move takes a_o to the best point a + αz + βd. With G eliminated the bound is a
// quadratic in a with gradient υ·response, and Hessian −M with
// uᵀMv = uᵀΛv + Σ_i (K_iᵀu)ᵀ·W·(K_iᵀv) over observed samples, where
// W = υ(I − υ·Cov[g]) = υ·pull·Cov[g].
func (s *search) move(l *latent, w *worker, o int) {
	z, d := s.step.Row(o), s.last.Row(o)
	P, upsilon := l.P, l.upsilon[o]
	la.Gemm(&w.ws, la.NoTrans, la.NoTrans, upsilon, l.pull[o], l.gCov[o], 0, w.small.Cov)

	hz, hd := l.seen(o, l.gMean, w.masked[0]), l.seen(o, s.hLast, w.masked[1])
	curve := func(u, v []float64, hu, hv la.Matrix[float64]) float64 {
		la.Gemm(&w.ws, la.NoTrans, la.Transpose, 1, hu, hv, 0, w.pp)
		sum := l.weighted(o, u, v)
		for m := range P {
			sum += la.Dot(w.small.Cov.Row(m), w.pp.Row(m))
		}
		return sum
	}
	zz, zd, dd := curve(z, z, hz, hz), curve(z, d, hz, hd), curve(d, d, hd, hd)
	gz := upsilon * la.Dot(z, l.response.Row(o))
	gd := upsilon * la.Dot(d, l.response.Row(o))

	alpha, beta := gz/zz, 0.0
	if det := float64(zz*dd) - float64(zd*zd); det > 1e-8*zz*dd {
		alpha = (float64(gz*dd) - float64(gd*zd)) / det
		beta = (float64(gd*zz) - float64(gz*zd)) / det
	}
	if !(zz > 0) {
		alpha, beta = 1, 0
	}
	la.Scal(beta, d)
	la.Axpy(alpha, z, d)
	la.Axpy(1, d, l.aMean.Row(o))
	for m := o * P; m < (o+1)*P; m++ {
		la.Scal(beta, s.hLast.Row(m))
		la.Axpy(alpha, l.gMean.Row(m), s.hLast.Row(m))
		la.Axpy(1, s.hLast.Row(m), l.h.Row(m))
	}
}

// weighted returns uᵀ·diag(E[λ_o])·v.
func (l *latent) weighted(o int, u, v []float64) float64 {
	var sum float64
	for d, scale := range l.lambda.Scale[o*l.D : (o+1)*l.D] {
		sum += float64(float64(scale*u[d]) * v[d])
	}
	return sum * l.lambda.Shape
}

// ridge returns the coefficients A, B and C of the change of the bound
// −A·ln s − B(1/s − 1) − C(s − 1) under rescale, as far as they come from λ and
// the precisions ω of the kernel weights.
func (l *latent) ridge(omega *conjugate.Gammas) (a, b, c float64) {
	prior := l.lambda.Prior
	a = float64(float64(l.R*l.D)*prior.Shape) - float64(float64(len(omega.Scale))*omega.Prior.Shape)
	for _, v := range l.lambda.Scale {
		b += v
	}
	for _, v := range omega.Scale {
		c += v
	}
	return a, b * l.lambda.Shape / prior.Scale, c * omega.Shape / omega.Prior.Scale
}
