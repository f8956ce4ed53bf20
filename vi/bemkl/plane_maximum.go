package bemkl

import "github.com/bmkl/bmkl/vi"

// planeBound is the bound as a function of how far, α and β, the mean of the sample
// weights of a row goes from a along the directions z and d, with G, b, λ and Cov[a] at
// their best for every α and β. Up to a constant it is, x = (α, β),
//
//	F(x) = slope·x − ½·xᵀ·curve·x + Σ_d max_λ(α_λ·ln λ − half_d·λ − ½·υ·v_d/λ),
//	half_d = 1/β_λ + ½·(a + αz + βd)_d²,
//
// with v the slopes of the tangent that stands for Cov[a]. Derived in docs/theory/acceleration.md.
type planeBound struct {
	slope          [2]float64
	curve          [3]float64 // entries zz, zd and dd
	a, z, d, v     []float64
	scale          []float64 // of the present q(λ); λ is near shape·scale
	shape, upsilon float64
	prior          vi.Gamma // of λ
}

// planePoint is F at a point, its gradient, and two matrices, of entries zz, zd and dd: newton is
// minus the second derivative of F. major is minus the second derivative of the quadratic that
// touches F there and is nowhere above it: F with λ held at its value there.
type planePoint struct {
	value         float64
	grad          [2]float64
	newton, major [3]float64
}

// at returns F at (α, β).
func (f *planeBound) at(alpha, beta float64) (p planePoint) {
	c := &f.curve
	p.grad[0] = f.slope[0] - float64(c[0]*alpha) - float64(c[1]*beta)
	p.grad[1] = f.slope[1] - float64(c[1]*alpha) - float64(c[2]*beta)
	p.newton, p.major = *c, *c
	rate, rest := 1/f.prior.Scale, 0.0
	var logs logSum
	for i, a := range f.a {
		z, d := f.z[i], f.d[i]
		x := a + float64(alpha*z) + float64(beta*d)
		square := float64(x * x)
		pull := float64(f.upsilon * f.v[i])
		lambda, root := bestPrecision(f.prior.Shape, rate+float64(0.5*square), pull)
		rest += pull / lambda
		p.grad[0] -= float64(float64(lambda*x) * z)
		p.grad[1] -= float64(float64(lambda*x) * d)
		zz, zd, dd := float64(float64(lambda*z)*z), float64(float64(lambda*z)*d), float64(float64(lambda*d)*d)
		p.major[0] += zz
		p.major[1] += zd
		p.major[2] += dd
		part := 1 - float64(lambda*square)/root // λ falls where x² grows
		p.newton[0] += float64(part * zz)
		p.newton[1] += float64(part * zd)
		p.newton[2] += float64(part * dd)
		logs.add(lambda / float64(f.shape*f.scale[i]))
	}
	bend := float64(float64(c[0]*alpha)*alpha) + float64(2*float64(float64(c[1]*alpha)*beta)) + float64(float64(c[2]*beta)*beta)
	p.value = float64(f.slope[0]*alpha) + float64(f.slope[1]*beta) - float64(0.5*bend) + float64(f.prior.Shape*logs.value()) - rest
	return p
}

// maximum climbs F from (0, 0) by Newton's steps. Where F does not rise with one, it takes the step
// of the quadratic below F instead, with which F rises but for rounding. It ends after twelve
// steps, or where F rises by less than a millionth of a nat; F(α, β) ≥ F(0, 0) always.
func (f *planeBound) maximum() (alpha, beta float64) {
	p := f.at(0, 0)
	for range 12 {
		rise := 0.0
		for _, h := range [2]*[3]float64{&p.newton, &p.major} {
			s, t, ok := solve2(h, p.grad)
			if !ok {
				continue
			}
			if q := f.at(alpha+s, beta+t); q.value > p.value {
				rise = q.value - p.value
				alpha, beta, p = alpha+s, beta+t, q
				break
			}
		}
		if rise < 1e-6 {
			break
		}
	}
	return alpha, beta
}

// solve2 solves h·x = g if h, of entries zz, zd and dd, is positive definite. A second
// direction of next to no curvature, such as the zero d of a first sweep, is left out.
func solve2(h *[3]float64, g [2]float64) (s, t float64, ok bool) {
	if !(h[0] > 0) {
		return 0, 0, false
	}
	det := float64(h[0]*h[2]) - float64(h[1]*h[1])
	if det > 1e-10*h[0]*h[2] && h[2] > 0 {
		return (float64(g[0]*h[2]) - float64(g[1]*h[1])) / det, (float64(g[1]*h[0]) - float64(g[0]*h[1])) / det, true
	}
	return g[0] / h[0], 0, true
}
