package mgp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// FitSpanned is Fit to targets for kernels that have no more features than a few samples span: there
// are M of the N samples, and weights W, M×N, such that in the feature space of every kernel sample n is
// the combination Σ_m W_mn·(spanning sample m), and
//
//	K_p = Wᵀ·k_p·W
//
// with the kernels k_p, M×M, of the spanning samples. Linear kernels of D features have D such samples, or D +
// 1 for features that are moved to another origin. W has the rank M. The fit is the same as Fit makes but for
// rounding, and a step costs M³ in place of N³. The posterior takes the kernels with the spanning samples
// alone; leave-one-out predictions are of all N. There are no draws. Derived in docs/theory/mgp.md, section 22.
func (e Evidence) FitSpanned(ctx context.Context, k vi.Kernels, weights la.Matrix[float64], y []float64) (*Fit, error) {
	if ctx == nil || k == nil {
		return e.Fit(ctx, k, y) // which says so
	}
	switch _, M, n := k.Dims(); {
	case M != n || weights.Rows != M || weights.Cols != len(y) || M > len(y) || !weights.Valid():
		return nil, fmt.Errorf("vi: weights: %d×%d where kernels of %d×%d and %d targets need %d×%d", weights.Rows, weights.Cols, M, n, len(y), M, len(y))
	case e.Draws != 0:
		return nil, errors.New("vi: Draws: FitSpanned makes none")
	}
	for i := range weights.Rows {
		if n := check.NonFinite(weights.Row(i)); n >= 0 {
			return nil, fmt.Errorf("vi: weights: entry (%d, %d) is %g", i, n, weights.At(i, n))
		}
	}
	if i := check.NonFinite(y); i >= 0 {
		return nil, fmt.Errorf("vi: y: value %d is %g", i, y[i])
	}
	if _, adaptive := k.(Adaptive); adaptive {
		return nil, errors.New("vi: kernels: FitSpanned learns no parameters of theirs")
	}
	s, err := newSpanned(&la.Workspace{Workers: e.Workers}, k, weights, y)
	if err != nil {
		return nil, err
	}
	e.span = s
	fit, err := e.fit(ctx, s.kernels, s.targets, false)
	if fit == nil {
		return nil, err
	}
	posterior, perr := s.posterior(fit.Posterior)
	if perr != nil {
		return nil, errors.Join(err, perr)
	}
	fit.Posterior = posterior
	return fit, err
}

// spanned is the data in the coordinates of an orthonormal basis Q, M×N, of the rows of W: W = CQ and
// K_p = Qᵀ(Cᵀk_pC)Q. The evidence is the evidence of M samples with the kernels Cᵀk_pC and the targets
// Qy, times the density of N − M further targets that are noise alone.
type spanned struct {
	ws       *la.Workspace
	original []la.Matrix[float64] // k_p
	kernels  *vi.Dense            // Cᵀk_pC
	root     la.Matrix[float64]   // C, lower triangular
	basis    la.Matrix[float64]   // Q
	y        []float64            // of all samples
	targets  []float64            // Qy
	outside  []float64            // y − Qᵀ·Qy
}

func newSpanned(ws *la.Workspace, k vi.Kernels, weights la.Matrix[float64], y []float64) (*spanned, error) {
	P, M, _ := k.Dims()
	s := &spanned{ws: ws, y: y, targets: make([]float64, M), outside: slices.Clone(y)}
	// One factorisation of WWᵀ leaves rows that are orthonormal but for the square of W's condition
	// number, and a second one mends that.
	s.basis = weights.Clone()
	for range 2 {
		c := la.NewMatrix[float64](M, M)
		la.Syrk(ws, la.NoTrans, 1, s.basis, 0, c)
		if err := la.Cholesky(ws, c); err != nil {
			return nil, fmt.Errorf("vi: weights: their rows are not independent: %w", err)
		}
		la.Trsm(ws, la.Left, la.NoTrans, c, s.basis)
		clearUpper(c)
		if s.root.Rows == 0 {
			s.root = c
			continue
		}
		product := la.NewMatrix[float64](M, M)
		la.Gemm(ws, la.NoTrans, la.NoTrans, 1, s.root, c, 0, product)
		s.root = product
	}
	la.Gemv(ws, la.NoTrans, 1, s.basis, y, 0, s.targets)
	la.Gemv(ws, la.Transpose, -1, s.basis, s.targets, 1, s.outside)
	var rotated []la.Matrix[float64]
	half := la.NewMatrix[float64](M, M)
	for p := range P {
		own, r := la.NewMatrix[float64](M, M), la.NewMatrix[float64](M, M)
		k.Columns(p, 0, own)
		la.Gemm(ws, la.NoTrans, la.NoTrans, 1, own, s.root, 0, half)
		la.Gemm(ws, la.Transpose, la.NoTrans, 1, s.root, half, 0, r)
		r.MirrorLower() // the two halves differ by rounding
		s.original, rotated = append(s.original, own), append(rotated, r)
	}
	var err error
	s.kernels, err = vi.NewDense(rotated...)
	return s, err
}

// clearUpper makes the strict upper triangle zero.
func clearUpper(m la.Matrix[float64]) {
	for i := range m.Rows {
		clear(m.Row(i)[i+1:])
	}
}

// posterior turns p, the posterior of the M samples of the basis, into the posterior of the
// spanning samples, with α = C·α_Q and noise of the covariance σ²(CCᵀ)⁻¹.
func (s *spanned) posterior(p *Posterior) (*Posterior, error) {
	state := p.s
	M := len(s.targets)
	state.Samples = len(s.y)
	state.Alpha = make([]float64, M)
	la.Gemv(s.ws, la.NoTrans, 1, s.root, p.s.Alpha, 0, state.Alpha)
	b := s.root.Clone()
	la.CholeskyInv(s.ws, b)
	la.Scal(1/p.s.Tau, b.Data)
	for q, k := range s.original {
		for i := range M {
			la.Axpy(1/p.s.Gamma[q], k.Row(i)[:i+1], b.Row(i)[:i+1])
		}
	}
	if err := la.Cholesky(s.ws, b); err != nil {
		return nil, fmt.Errorf("vi: the kernels of the spanning samples: %w", err)
	}
	state.Factor = b
	return NewPosterior(state)
}

// leaveOneOut returns the predictions of every target from the others, given the α of the M samples of the
// basis and their R, a lower triangle: of all samples
//
//	α = Qᵀα_Q + (y − Qᵀ·Qy)/σ²,   R_nn = (1 − |q_n|²)/σ² + q_nᵀ·R_Q·q_n.
func (s *spanned) leaveOneOut(alpha []float64, r la.Matrix[float64], noise float64) (l LeaveOneOut) {
	N := len(s.y)
	all := slices.Clone(s.outside)
	la.Scal(1/noise, all)
	la.Gemv(s.ws, la.Transpose, 1, s.basis, alpha, 1, all)
	r.MirrorLower()
	product := la.NewMatrix[float64](r.Rows, N)
	la.Gemm(s.ws, la.NoTrans, la.NoTrans, 1, r, s.basis, 0, product)
	inside, within := make([]float64, N), make([]float64, N) // |q|², qᵀRq
	for i := range s.basis.Rows {
		left := product.Row(i)
		for n, q := range s.basis.Row(i) {
			inside[n] += float64(q * q)
			within[n] += float64(q * left[n])
		}
	}
	for n, y := range s.y {
		v := 1 / (max(0, 1-inside[n])/noise + within[n])
		l.Mean, l.Variance = append(l.Mean, y-float64(all[n]*v)), append(l.Variance, v)
	}
	return l
}
