package vi

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/check"
)

// Kernels is the interface through which models use P kernel matrices K_1 … K_P, each D×N:
// entry (d, i) is the kernel between basis point d and sample i. Usually the
// basis points are the training samples themselves (D = N, K_m symmetric).
// Column i of K_m is written k_{m,i}.
//
// Every method costs one pass over the kernels. Methods store their results in
// matrices of the caller and use w's workers and scratch; a value is safe for
// concurrent use with different workspaces. Shapes that do not fit panic.
type Kernels interface {
	// Dims returns the number of kernels, of basis points and of samples.
	Dims() (P, D, N int)

	// Project stores h = a_oᵀ·K_m for every row a_o of the L×D matrix a in row
	// o·P+m of the (L·P)×N matrix h.
	Project(w *la.Workspace, a, h la.Matrix[float64])

	// Combine is the adjoint of Project: it stores Σ_m K_m·g_{o,m} in row o of
	// the L×D matrix r, where g_{o,m} is row o·P+m of the (L·P)×N matrix g.
	Combine(w *la.Workspace, g, r la.Matrix[float64])

	// GramSum stores the lower triangle of Σ_m K_m·K_mᵀ in the D×D matrix s.
	GramSum(w *la.Workspace, s la.Matrix[float64])

	// Sum stores Σ_m weights[m]·K_m in the D×N matrix k.
	Sum(w *la.Workspace, weights []float64, k la.Matrix[float64])

	// Inner stores the Frobenius product <b, K_m> of the D×N matrix b with each
	// kernel in dst[m].
	Inner(w *la.Workspace, b la.Matrix[float64], dst []float64)

	// Quad stores αᵀ·K_m·α in dst[m]; the kernels must be square.
	Quad(w *la.Workspace, alpha []float64, dst []float64)

	// Columns copies columns first … first+dst.Rows−1 of K_m into the rows of
	// the matrix dst of D columns.
	Columns(m, first int, dst la.Matrix[float64])
}

// Dense holds kernel matrices in memory as they are.
type Dense struct {
	k    []la.Matrix[float64]
	d, n int
}

// NewDense returns the kernels k, which it refers to and does not copy; they must not change while
// it is in use. It is an error if k is empty, if a kernel is empty or has another shape than the
// first, or if an entry is NaN or infinite.
func NewDense(k ...la.Matrix[float64]) (*Dense, error) {
	if len(k) == 0 {
		return nil, fmt.Errorf("vi: kernels: none given")
	}
	d, n := k[0].Rows, k[0].Cols
	for m, km := range k {
		switch {
		case km.Rows != d || km.Cols != n:
			return nil, fmt.Errorf("vi: kernel %d: %d×%d where kernel 0 is %d×%d", m, km.Rows, km.Cols, d, n)
		case d == 0 || n == 0:
			return nil, fmt.Errorf("vi: kernel %d: empty (%d×%d)", m, d, n)
		case !km.Valid():
			return nil, fmt.Errorf("vi: kernel %d: %d elements where %d×%d with stride %d needs more", m, len(km.Data), d, n, km.Stride)
		}
		for i := range d {
			if j := check.NonFinite(km.Row(i)); j >= 0 {
				return nil, NewKernelError(m, "entry (%d, %d) is %g", i, j, km.At(i, j))
			}
		}
	}
	return &Dense{k: k, d: d, n: n}, nil
}

// Dims implements [Kernels].
func (k *Dense) Dims() (P, D, N int) { return len(k.k), k.d, k.n }

// At returns kernel m without copying it.
func (k *Dense) At(m int) la.Matrix[float64] { return k.k[m] }

// Select returns the kernels at the given rows and columns only, in their order, as a copy.
func (k *Dense) Select(rows, cols []int) *Dense {
	out := newSelection(len(k.k), len(rows), len(cols))
	for m, to := range out.k {
		for i, r := range rows {
			from, row := k.k[m].Row(r), to.Row(i)
			for j, c := range cols {
				row[j] = from[c]
			}
		}
	}
	return out
}

// Equal reports whether kernels m and n are the same.
func (k *Dense) Equal(m, n int) bool {
	for i := range k.d {
		if !slices.Equal(k.k[m].Row(i), k.k[n].Row(i)) {
			return false
		}
	}
	return true
}

// newSelection returns P kernels of D×N zeros.
func newSelection(P, D, N int) *Dense {
	out := &Dense{d: D, n: N}
	for range P {
		out.k = append(out.k, la.NewMatrix[float64](D, N))
	}
	return out
}

// every returns the rows m, m+P, m+2P, … of x as a matrix.
func every(x la.Matrix[float64], m, P int) la.Matrix[float64] {
	v := x.Slice(m, x.Rows, 0, x.Cols)
	v.Rows = x.Rows / P
	v.Stride *= P
	return v
}

// Project implements [Kernels].
func (k *Dense) Project(w *la.Workspace, a, h la.Matrix[float64]) {
	for m, km := range k.k {
		if a.Rows == 1 {
			la.Gemv(w, la.Transpose, 1, km, a.Row(0), 0, h.Row(m))
		} else {
			la.Gemm(w, la.NoTrans, la.NoTrans, 1, a, km, 0, every(h, m, len(k.k)))
		}
	}
}

// Combine implements [Kernels].
func (k *Dense) Combine(w *la.Workspace, g, r la.Matrix[float64]) {
	beta := 0.0
	for m, km := range k.k {
		if r.Rows == 1 {
			la.Gemv(w, la.NoTrans, 1, km, g.Row(m), beta, r.Row(0))
		} else {
			la.Gemm(w, la.NoTrans, la.Transpose, 1, every(g, m, len(k.k)), km, beta, r)
		}
		beta = 1
	}
}

// GramSum implements [Kernels].
func (k *Dense) GramSum(w *la.Workspace, s la.Matrix[float64]) {
	beta := 0.0
	for _, km := range k.k {
		la.Syrk(w, la.NoTrans, 1, km, beta, s)
		beta = 1
	}
}

// Sum implements [Kernels].
func (k *Dense) Sum(_ *la.Workspace, weights []float64, out la.Matrix[float64]) {
	for i := range k.d {
		row := out.Row(i)
		clear(row)
		for m, km := range k.k {
			la.Axpy(weights[m], km.Row(i), row)
		}
	}
}

// Inner implements [Kernels].
func (k *Dense) Inner(_ *la.Workspace, b la.Matrix[float64], dst []float64) {
	for m, km := range k.k {
		var s float64
		for i := range k.d {
			s += la.Dot(b.Row(i), km.Row(i))
		}
		dst[m] = s
	}
}

// Quad implements [Kernels].
func (k *Dense) Quad(_ *la.Workspace, alpha []float64, dst []float64) {
	for m, km := range k.k {
		var s float64
		for i, a := range alpha {
			t := float64(a * la.Dot(km.Row(i), alpha))
			s += t
		}
		dst[m] = s
	}
}

// Columns implements [Kernels].
func (k *Dense) Columns(m, first int, dst la.Matrix[float64]) {
	src := k.k[m].Slice(0, k.d, first, first+dst.Rows)
	const line = 8 // elements of a cache line, which are written together
	d := 0
	for ; d+line <= k.d; d += line {
		a0, a1, a2, a3 := src.Row(d), src.Row(d+1), src.Row(d+2), src.Row(d+3)
		a4, a5, a6, a7 := src.Row(d+4), src.Row(d+5), src.Row(d+6), src.Row(d+7)
		for i := range dst.Rows {
			to := (*[line]float64)(dst.Data[i*dst.Stride+d:])
			to[0], to[1], to[2], to[3] = a0[i], a1[i], a2[i], a3[i]
			to[4], to[5], to[6], to[7] = a4[i], a5[i], a6[i], a7[i]
		}
	}
	for ; d < k.d; d++ {
		for i, v := range src.Row(d) {
			dst.Data[i*dst.Stride+d] = v
		}
	}
}

// Columns computes the kernels of training samples, or of basis points, one sample at a time.
type Columns interface {
	// Column stores the kernels of sample i with all samples in dst, P×N, a row for each kernel.
	Column(i int, dst la.Matrix[float64])

	// Diagonal stores each kernel of every sample with itself in dst, P×N, a row for each kernel.
	Diagonal(dst la.Matrix[float64])
}

// ParametricKernels are P kernel matrices between D basis points and N samples, each
// D×N, that depend on positive parameters θ. Methods must be safe for concurrent use with
// different workspaces.
type ParametricKernels interface {
	// Dims returns the number of kernels, of basis points and of samples.
	Dims() (P, D, N int)

	// Parameters returns the number of parameters of kernel p.
	Parameters(p int) int

	// Kernel stores kernel p in the D×N matrix k, given its Parameters(p) parameters theta.
	Kernel(w *la.Workspace, p int, theta []float64, k la.Matrix[float64])
}
