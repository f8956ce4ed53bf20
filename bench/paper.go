package main

import (
	"gonum.org/v1/gonum/mat"
)

// paperRegression is regression with one output (BMKLR; Gönen, ECAI 2012, section 3),
// written on gonum as the paper prints it: every covariance is formed and no product is
// used twice. bmkl's regression is measured against it. It does not compute the lower
// bound. Letters are the paper's: N samples, P kernels.
type paperRegression struct {
	prior paperPriors
	n, p  int
	k     []*mat.Dense // P kernels, N×N
	kk    *mat.Dense   // Σ K_m K_mᵀ
	y     *mat.VecDense

	lambda  []float64     // N, mean precisions of the sample weights
	a       *mat.VecDense // N, mean sample weights
	sigmaA  mat.Matrix    // N×N, their covariance
	upsilon float64       // mean precision of the intermediate outputs
	g       *mat.Dense    // P×N, mean intermediate outputs
	sigmaG  *mat.Dense    // P×P, their covariance, the same for every sample
	gamma   float64       // mean precision of the bias
	omega   []float64     // P, mean precisions of the kernel weights
	epsilon float64       // mean precision of the noise
	be      *mat.VecDense // means of b, e_1 … e_P: bias and kernel weights
	sigmaBE *mat.Dense    // their covariance
}

// gammaPrior is a Gamma distribution's shape and scale.
type gammaPrior struct{ shape, scale float64 }

// posterior returns the mean of the Gamma posterior of a precision, given n normal
// variables whose squares have the expected sum sq.
func (g gammaPrior) posterior(n, sq float64) float64 {
	return (g.shape + n/2) / (1/g.scale + sq/2)
}

// paperPriors are the priors of the precisions.
type paperPriors struct{ lambda, upsilon, gamma, omega, epsilon gammaPrior }

// newPaperRegression starts from the means a (N) and g (P×N).
func newPaperRegression(prior paperPriors, k []*mat.Dense, y, a []float64, g *mat.Dense) *paperRegression {
	n, p := len(y), len(k)
	r := &paperRegression{prior: prior, n: n, p: p, k: k, y: mat.NewVecDense(n, y), kk: mat.NewDense(n, n, nil)}
	for _, km := range k {
		var t mat.Dense
		t.Mul(km, km.T())
		r.kk.Add(r.kk, &t)
	}
	r.lambda, r.omega = make([]float64, n), make([]float64, p)
	r.a, r.g = mat.NewVecDense(n, a), g
	r.sigmaA, r.sigmaG, r.sigmaBE = identity(n), identity(p), identity(p+1)
	r.be = mat.NewVecDense(p+1, nil)
	for m := range p {
		r.be.SetVec(m+1, 1)
	}
	r.epsilon = (prior.epsilon.shape + float64(n)/2) * prior.epsilon.scale
	return r
}

func identity(n int) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
	}
	return d
}

// inverse returns the inverse of the symmetric positive definite a.
func inverse(a *mat.Dense) *mat.Dense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, a.At(i, j))
		}
	}
	var c mat.Cholesky
	if !c.Factorize(s) {
		panic("bench: the paper's matrix is not positive definite")
	}
	var inv mat.SymDense
	must(c.InverseTo(&inv))
	return mat.DenseCopyOf(&inv)
}

// sweep makes the paper's updates once, in its order.
func (r *paperRegression) sweep() {
	n, p := r.n, r.p
	nf, pf := float64(n), float64(p)
	for i := range n {
		r.lambda[i] = r.prior.lambda.posterior(1, r.a.AtVec(i)*r.a.AtVec(i)+r.sigmaA.At(i, i))
	}

	// υ, from the residuals g − Kᵀa
	h := mat.NewDense(p, n, nil)
	project := func() {
		for m, km := range r.k {
			var t mat.VecDense
			t.MulVec(km.T(), r.a)
			h.SetRow(m, t.RawVector().Data)
		}
	}
	project()
	var d mat.Dense
	d.Sub(r.g, h)
	var t mat.Dense
	t.Mul(r.kk, r.sigmaA)
	rr := mat.Norm(&d, 2)
	r.upsilon = r.prior.upsilon.posterior(nf*pf, rr*rr+nf*mat.Trace(r.sigmaG)+mat.Trace(&t))

	// a
	precision := mat.NewDense(n, n, nil)
	precision.Scale(r.upsilon, r.kk)
	for i := range n {
		precision.Set(i, i, precision.At(i, i)+r.lambda[i])
	}
	sigmaA := inverse(precision)
	r.sigmaA = sigmaA
	sum := mat.NewVecDense(n, nil)
	for m, km := range r.k {
		var kg mat.VecDense
		kg.MulVec(km, r.g.RowView(m))
		sum.AddVec(sum, &kg)
	}
	sum.ScaleVec(r.upsilon, sum)
	r.a.MulVec(sigmaA, sum)

	// G
	project()
	e := r.be.SliceVec(1, p+1)
	b := r.be.AtVec(0)
	ee := mat.NewDense(p, p, nil)
	ee.Outer(1, e, e)
	ee.Add(ee, r.sigmaBE.Slice(1, p+1, 1, p+1))
	precG := mat.NewDense(p, p, nil)
	precG.Scale(r.epsilon, ee)
	for m := range p {
		precG.Set(m, m, precG.At(m, m)+r.upsilon)
	}
	r.sigmaG = inverse(precG)
	right := mat.NewDense(p, n, nil)
	for m := range p {
		be := b*e.AtVec(m) + r.sigmaBE.At(0, m+1)
		for i := range n {
			right.Set(m, i, r.upsilon*h.At(m, i)+r.epsilon*(r.y.AtVec(i)*e.AtVec(m)-be))
		}
	}
	r.g.Mul(r.sigmaG, right)

	// γ and ω
	r.gamma = r.prior.gamma.posterior(1, b*b+r.sigmaBE.At(0, 0))
	for m := range p {
		r.omega[m] = r.prior.omega.posterior(1, e.AtVec(m)*e.AtVec(m)+r.sigmaBE.At(m+1, m+1))
	}

	// ε, from E[(y − eᵀg − b)²]
	gg := mat.NewDense(p, p, nil)
	gg.Mul(r.g, r.g.T())
	var ng mat.Dense
	ng.Scale(nf, r.sigmaG)
	gg.Add(gg, &ng)
	var eegg mat.Dense
	eegg.Mul(ee, gg)
	ss := mat.Trace(&eegg) + nf*(b*b+r.sigmaBE.At(0, 0))
	g1 := make([]float64, p)
	for i := range n {
		yi := r.y.AtVec(i)
		ss += yi*yi - 2*yi*(mat.Dot(e, r.g.ColView(i))+b)
		for m := range p {
			g1[m] += r.g.At(m, i)
		}
	}
	for m := range p {
		ss += 2 * (b*e.AtVec(m) + r.sigmaBE.At(0, m+1)) * g1[m]
	}
	r.epsilon = r.prior.epsilon.posterior(nf, ss)

	// (b, e)
	prec := mat.NewDense(p+1, p+1, nil)
	rhs := mat.NewVecDense(p+1, nil)
	prec.Set(0, 0, r.gamma+r.epsilon*nf)
	rhs.SetVec(0, r.epsilon*mat.Sum(r.y))
	for m := range p {
		prec.Set(0, m+1, r.epsilon*g1[m])
		prec.Set(m+1, 0, r.epsilon*g1[m])
		for l := range p {
			prec.Set(m+1, l+1, r.epsilon*gg.At(m, l))
		}
		prec.Set(m+1, m+1, prec.At(m+1, m+1)+r.omega[m])
		rhs.SetVec(m+1, r.epsilon*mat.Dot(r.g.RowView(m), r.y))
	}
	r.sigmaBE = inverse(prec)
	r.be.MulVec(r.sigmaBE, rhs)
}

// predict returns the predictive means of samples, given their kernels with the training
// samples, a row for each.
func (r *paperRegression) predict(k []*mat.Dense) []float64 {
	t, _ := k[0].Dims()
	y := mat.NewVecDense(t, nil)
	for m, km := range k {
		var h mat.VecDense
		h.MulVec(km, r.a)
		y.AddScaledVec(y, r.be.AtVec(m+1), &h)
	}
	for i := range t {
		y.SetVec(i, y.AtVec(i)+r.be.AtVec(0))
	}
	return y.RawVector().Data
}
