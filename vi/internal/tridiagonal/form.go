package tridiagonal

import (
	"math"

	"github.com/bmkl/bmkl/la"
)

// Form is a symmetric matrix K = QTQᵀ of order N, T tridiagonal and Q orthogonal: the product of
// reflections I − vvᵀ, |v|² = 2, one for each row of K that it brings into shape, from the last row to
// the first. It takes half the memory of K, and a product with Q reads it once. A form does not
// change and may be shared.
//
// Source: A. S. Householder, "Unitary triangularization of a nonsymmetric matrix", J. ACM 5 (1958).
type Form struct {
	Diagonal []float64 // N, of T
	Below    []float64 // N, T_{n,n−1}; 0 before the first
	mirrors  []float64 // row by row, the lower triangle; v before the diagonal
}

// Reduce returns the form of the matrix of order N whose rows, up to the diagonal, row stores in dst. It
// costs 4/3·N³ operations on one core, and asks ended before every row: its error ends the reduction.
//
// The computed form is the exact form of K + E with |E| ≲ 2⁻⁵³·N·|K|. Infinite or undefined
// elements make an undefined T.
func Reduce(N int, row func(n int, dst []float64), ended func() error) (*Form, error) {
	f := &Form{Diagonal: make([]float64, N), Below: make([]float64, N), mirrors: make([]float64, N*(N+1)/2)}
	var most float64
	for n := range N {
		x := f.row(n)
		row(n, x)
		most = max(most, x[n])
	}
	// Squares of elements must not overflow, nor those that count vanish. A power of 2 rounds nothing.
	_, exponent := math.Frexp(most)
	la.Scal(math.Ldexp(1, -exponent), f.mirrors)
	// Of the reflection before, K − vwᵀ − wvᵀ is still to be made.
	var v []float64
	w, p := make([]float64, N), make([]float64, N)
	follow := func(n int) []float64 {
		x := f.row(n)
		if v != nil {
			la.Axpy(-v[n], w[:n+1], x)
			la.Axpy(-w[n], v[:n+1], x)
		}
		return x
	}
	for n := N - 1; n >= 0; n-- {
		if err := ended(); err != nil {
			return nil, err
		}
		x := follow(n)
		f.Diagonal[n] = x[n]
		if n == 0 {
			break
		}
		next := x[:n]
		f.Below[n] = mirror(next)
		// p = K·next, using each row of K once follow has brought it up to date.
		p := p[:n]
		for j := range p {
			x := follow(j)
			p[j] = la.Dot(x, next[:j+1])
			la.Axpy(next[j], x[:j], p[:j])
		}
		copy(w, p)
		la.Axpy(-0.5*la.Dot(p, next), next, w[:n])
		v = next
	}
	for n := range N {
		f.Diagonal[n] = math.Ldexp(f.Diagonal[n], exponent)
		f.Below[n] = math.Ldexp(f.Below[n], exponent)
	}
	return f, nil
}

// leastSquare is the square of a length that is nothing beside elements of order 1. Smaller squares
// would lose digits on their way to 0, and |v|² with them.
const leastSquare = 0x1p-900

// mirror replaces x by the v of the reflection I − vvᵀ that takes x to a multiple of the last
// unit vector, and returns the multiple. An x next to nil is taken for 0, and so is its v.
func mirror(x []float64) float64 {
	last := len(x) - 1
	square := la.SumSq(x)
	if square < leastSquare {
		clear(x)
		return 0
	}
	size := math.Sqrt(square)
	to := math.Copysign(size, -x[last])
	x[last] -= to // of the same sign: nothing cancels
	la.Scal(1/math.Sqrt(float64(size*math.Abs(x[last]))), x)
	return to
}

// row returns the elements of row n up to the diagonal.
func (f *Form) row(n int) []float64 { return f.mirrors[n*(n+1)/2:][:n+1] }

// To replaces each x by Qᵀx.
func (f *Form) To(x ...[]float64) {
	for n := len(f.Diagonal) - 1; n > 0; n-- {
		f.reflect(n, x)
	}
}

// From replaces each x by Qx.
func (f *Form) From(x ...[]float64) {
	for n := 1; n < len(f.Diagonal); n++ {
		f.reflect(n, x)
	}
}

// reflect takes each x to (I − vvᵀ)x with the v of row n.
func (f *Form) reflect(n int, x [][]float64) {
	v := f.row(n)[:n]
	for _, x := range x {
		la.Axpy(-la.Dot(v, x[:n]), v, x[:n])
	}
}

// Times stores Tx in y.
func (f *Form) Times(x, y []float64) {
	last := len(x) - 1
	for n, t := range f.Diagonal {
		y[n] = float64(t * x[n])
		if n > 0 {
			y[n] += float64(f.Below[n] * x[n-1])
		}
		if n < last {
			y[n] += float64(f.Below[n+1] * x[n+1])
		}
	}
}
