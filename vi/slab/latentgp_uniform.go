package slab

import (
	"errors"
	"sync"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/tridiagonal"
)

// Where all targets are observed Λ = λI, and with K = QTQᵀ, T tridiagonal, B is
// Q(I + λT)Qᵀ: in the coordinates Qᵀφ an update of q(φ) costs N, and the way there and
// back N². Only diag A costs N³. The other updates read no more of it than its sum, which costs N
// too, so that diag A itself is left to the end of a fit (settle).
//
// A matrix that is not positive semidefinite is left to the updates with full matrices, which say so
// if they fail. So is one whose length is learned: it changes every few sweeps, and another form each
// time would cost more than it saves where N is large (docs/theory/spikeslab.md, section 3).

// sharedForm is the form of a covariance's matrix, made for the first fit that asks for it. A fit that
// asks meanwhile waits.
type sharedForm struct {
	mu   sync.Mutex
	form *tridiagonal.Form
}

// of returns the form of the matrix of c, whose shared form s is. It asks ended whether to go on, and
// returns its error; the next call then begins anew.
func (s *sharedForm) of(c Covariance, ended func() error) (*tridiagonal.Form, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.form != nil {
		return s.form, nil
	}
	form, err := tridiagonal.Reduce(c.k.Rows, func(n int, dst []float64) { c.row(n, c.length, dst) }, ended)
	s.form = form
	return form, err
}

// updateUniform is update with a form. It sets only the sum of the variances. It reports false, and
// has changed nothing of f, if K is not positive semidefinite.
func (f *latentGP) updateUniform(g *latentScratch, h []float64) bool {
	lambda := f.lambda[0]
	if !g.shifted.Set(f.form, lambda) {
		return false
	}
	f.jitter = 0
	copy(g.t, h)
	if f.prior != nil {
		la.Axpy(-lambda, f.prior, g.t)
	}
	alpha, ka := f.alpha, g.ka
	copy(alpha, g.t)
	f.form.To(alpha)
	g.shifted.Solve(alpha)
	f.form.Times(alpha, ka)
	trace := g.shifted.Inverse(g.diag)
	f.total = max(0, trace)
	f.shake = 0
	for n, v := range g.diag {
		t := f.form.Diagonal[n]
		f.shake += float64((1+float64(lambda*t))*v) + float64(t*float64(alpha[n]*alpha[n]))
	}
	f.kl = 0.5 * (la.Dot(alpha, ka) + g.shifted.LogDet - float64(lambda*trace))
	g.both = [2][]float64{alpha, ka}
	f.form.From(g.both[:]...)
	copy(f.mean, ka)
	if f.prior != nil {
		la.Axpy(1, f.prior, f.mean)
	}
	return true
}

// errIndefinite says that a matrix is not positive semidefinite.
var errIndefinite = errors.New("indefinite")

// scaleUniform is scale with a form. It reports false if K is not positive semidefinite.
func (f *latentGP) scaleUniform(g *latentScratch, h []float64, w slabWeights, tol float64) (x float64, ok bool) {
	lambda := f.lambda[0]
	copy(g.t, h)
	f.form.To(g.t)
	x, err := uphill(func(x float64) (value, slope float64, err error) {
		if !g.shifted.Set(f.form, float64(special.Exp(x)*lambda)) {
			return 0, 0, errIndefinite
		}
		c := special.Exp(0.5 * x) // S⁻¹r stays, so that r is multiplied by it
		for n, r := range g.t {
			g.u[n] = c * r
		}
		g.shifted.Solve(g.u)
		f.form.Times(g.u, g.ka)
		value, slope = float64(c*la.Dot(g.t, g.ka)), la.Dot(g.u, g.ka)
		slope -= float64(float64(special.Exp(x)*lambda) * g.shifted.Inverse(g.diag))
		v, d := w.objective(x)
		return v + float64(0.5*(value-g.shifted.LogDet)), d + float64(0.5*slope), nil
	}, 0, -maxScale, maxScale, tol)
	return x, err == nil
}

// settle leaves the Cholesky factor of B in g.b and brings diag A up to date. f has a matrix.
func (f *latentGP) settle(ws *la.Workspace, g *latentScratch) error {
	if err := f.refactorise(ws, g); err != nil {
		return err
	}
	if f.uniform {
		la.CholeskyInvDiag(ws, g.b, g.diag)
		f.variances(ws, g)
	}
	return nil
}
