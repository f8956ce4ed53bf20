package vi

import "github.com/bmkl/bmkl/la"

// search solves for the means of a and G jointly, which the plain order of
// updates, each taking the other as given, approaches ever more slowly. It is
// a conjugate gradient method of which every sweep does one step: G follows a
// exactly, and a moves to the best point of the plane that the plain update's
// step and the previous sweep's step span. Derived in docs/acceleration.md.
type search struct {
	step  la.Matrix[float64] // L×D, z: the plain update's step
	last  la.Matrix[float64] // L×D, d: the previous sweep's step
	hLast la.Matrix[float64] // (L·P)×N, its projections
	task  func(*worker, int) error
}

func newSearch(l *layers) *search {
	s := &search{
		step:  la.NewMatrix[float64](l.L, l.D),
		last:  la.NewMatrix[float64](l.L, l.D),
		hLast: la.NewMatrix[float64](l.L*l.P, l.N),
	}
	s.task = func(w *worker, o int) error {
		s.move(l, w, o)
		return l.updateIntermediateOf(w, o)
	}
	return s
}

// update makes one step for every output. Like the plain updates of a and G it
// passes over the kernels twice.
func (s *search) update(l *layers, upsilon, epsilon []float64, target la.Matrix[float64]) error {
	if err := l.updateIntermediate(upsilon, epsilon, target); err != nil {
		return err
	}
	l.k.Combine(&l.crew.all, l.gMean, l.response)
	copy(s.step.Data, l.aMean.Data)
	if err := l.crew.each(l.weightTask); err != nil {
		return err
	}
	for j, v := range l.aMean.Data {
		s.step.Data[j] = v - s.step.Data[j]
	}
	// G is about to be renewed; until then its place holds the projections of z.
	l.k.Project(&l.crew.all, s.step, l.gMean)
	return l.crew.each(s.task)
}

// move takes a_o, which has made the step z, to the best point of a − z + αz + βd.
// With G eliminated the bound is a quadratic in a, its Hessian −M with
// uᵀMv = uᵀΛv + Σ_i (K_iᵀu)ᵀ·W·(K_iᵀv) over observed samples, W = υ(I − υ·Cov[g])
// = υε·E[eeᵀ]·Cov[g], and its gradient (Λ + υS)z, which needs the kernels no more.
func (s *search) move(l *layers, w *worker, o int) {
	z, d := s.step.Row(o), s.last.Row(o)
	P, upsilon := l.P, l.upsilon[o]
	la.Gemm(&w.ws, la.NoTrans, la.NoTrans, upsilon*l.epsilon[o], l.ee, l.gCov[o], 0, w.small.cov)

	hz, hd := l.seen(o, l.gMean, w.masked[0]), l.seen(o, s.hLast, w.masked[1])
	curve := func(u, v []float64, hu, hv la.Matrix[float64]) float64 {
		la.Gemm(&w.ws, la.NoTrans, la.Transpose, 1, hu, hv, 0, w.pp)
		sum := l.weighted(o, u, v)
		for m := range P {
			sum += la.Dot(w.small.cov.Row(m), w.pp.Row(m))
		}
		return sum
	}
	zz, zd, dd := curve(z, z, hz, hz), curve(z, d, hz, hd), curve(d, d, hd, hd)
	all, hAll := l.gMean.Slice(o*P, (o+1)*P, 0, l.N), s.hLast.Slice(o*P, (o+1)*P, 0, l.N)
	gz, gd := l.weighted(o, z, z), l.weighted(o, d, z)
	for m := range P {
		gz += float64(upsilon * la.SumSq(all.Row(m)))
		gd += float64(upsilon * la.Dot(all.Row(m), hAll.Row(m)))
	}

	alpha, beta := gz/zz, 0.0
	if det := float64(zz*dd) - float64(zd*zd); det > 1e-8*zz*dd {
		alpha = (float64(gz*dd) - float64(gd*zd)) / det
		beta = (float64(gd*zz) - float64(gz*zd)) / det
	}
	if !(zz > 0) {
		alpha, beta = 1, 0
	}
	la.Axpy(alpha-1, z, l.aMean.Row(o))
	la.Axpy(beta, d, l.aMean.Row(o))
	la.Scal(beta, d)
	la.Axpy(alpha, z, d)
	h := l.h.Slice(o*P, (o+1)*P, 0, l.N)
	for m := range P {
		la.Scal(beta, hAll.Row(m))
		la.Axpy(alpha, all.Row(m), hAll.Row(m))
		la.Axpy(1, hAll.Row(m), h.Row(m))
	}
}

// weighted returns uᵀ·diag(E[λ_o])·v.
func (l *layers) weighted(o int, u, v []float64) float64 {
	var sum float64
	for d, scale := range l.lambda.scale[o*l.D : (o+1)*l.D] {
		sum += float64(float64(scale*u[d]) * v[d])
	}
	return sum * l.lambda.shape
}
