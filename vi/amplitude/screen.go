package amplitude

import (
	"context"
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
)

// Screen returns for each view the probability that it has information about the targets by itself: the posterior probability of the
// model with this view alone against the model without views, a priori ½ each, with tied amplitudes and by Laplace's approximation. It
// costs two small fits for each view.
//
// [Search].Include takes such probabilities. A view whose information other views have as well keeps a high probability here, where
// [Problem.Select] may leave it out.
func (p Problem) Screen(ctx context.Context) ([]float64, error) {
	if ctx == nil {
		return nil, errors.New("vi: ctx is nil")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	J, _ := p.Kernels.Dims()
	none, err := p.logEvidence(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	out := make([]float64, p.Layout.Views())
	first := 0
	for v := range out {
		end := first
		for end < J && p.Layout.View[end] == v {
			end++
		}
		alone, err := p.logEvidence(ctx, first, end)
		if err != nil {
			return nil, err
		}
		out[v] = 1 / (1 + special.Exp(none-alone))
		first = end
	}
	return out, nil
}

// logEvidence approximates the logarithm of ∫ exp(E(θ(z)))·N(z | 0, I) dz for kernels first to end with tied amplitudes,
//
//	E − ½·|z|² − ½·log|I + LᵀFL|,   F_ij = ½·w·C·a_i·a_j·tr(K⁻¹K_iK⁻¹K_j)
//
// at the most probable z, where F is the expected information of θ and L = ∂θ/∂z. Unlike the second derivatives it is positive
// semidefinite wherever the search has ended.
func (p Problem) logEvidence(ctx context.Context, first, end int) (float64, error) {
	q := p
	q.Kernels = p.Kernels.some(first, end)
	q.Layout = Layout{View: make([]int, end-first)}
	if p.Layout.Kind != nil {
		q.Layout.Kind = p.Layout.Kind[first:end]
	}
	f, err := q.search(ctx, Tied, Search{})
	if err != nil {
		return 0, err
	}
	f.c.value(f.z)
	info := f.c.e.information(f.c.theta)
	l := f.c.prior.linear
	n := l.Cols
	half, h := la.NewMatrix[float64](l.Rows, n), la.NewMatrix[float64](n, n)
	la.Gemm(nil, la.NoTrans, la.NoTrans, 1, info, l, 0, half)
	la.Gemm(nil, la.Transpose, la.NoTrans, 1, l, half, 0, h)
	for i := range n {
		h.Row(i)[i]++
	}
	if err := la.Cholesky(nil, h); err != nil {
		return 0, fmt.Errorf("vi: the information of the amplitudes: %w", err)
	}
	return -f.cost - float64(0.5*la.LogDet(h)), nil
}

// information returns F at the θ of the last value, whose factor and amplitudes it needs. The variables are log a_j and
// log(σ² − σ₀²).
func (e *evidence) information(theta []float64) la.Matrix[float64] {
	J, N := e.k.Dims()
	rows := la.NewMatrix[float64](J+1, N*N)
	one := make([]float64, J)
	for j := range J + 1 {
		m := la.MatrixOf(N, N, rows.Row(j))
		switch {
		case j < J && e.amplitude[j] == 0:
			continue
		case j < J:
			one[j] = e.amplitude[j]
			e.k.sum(&e.ws, one, e.packed)
			one[j] = 0
			unpack(e.packed, 0, 0, m)
			m.MirrorLower()
		default:
			for i, s := range e.share {
				m.Row(i)[i] = e.noiseSlope(theta[J]) * s
			}
		}
		la.Trsm(&e.ws, la.Left, la.NoTrans, e.factor, m)
		la.Trsm(&e.ws, la.Right, la.Transpose, e.factor, m)
	}
	f := la.NewMatrix[float64](J+1, J+1)
	la.Syrk(&e.ws, la.NoTrans, 0.5*e.weight*float64(e.y.Rows), rows, 0, f)
	f.MirrorLower()
	return f
}
