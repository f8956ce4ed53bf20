package pivot

import (
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// Forms are quadratic forms tᵀA_it of the n coordinates t of a sample, as few combinations of
// these tell them. Late coordinates are small. With τ = D⁻¹t, D the largest size of each at the
// training samples, B_i = D·A_i·D, and rows U which nearly span the ranges of all B_i,
//
//	tᵀA_it = sᵀC_is + τᵀE_iτ,   s = Uτ,   C_i = U·B_i·Uᵀ,   E_i = B_i − Uᵀ·C_i·U,
//
// where |τᵀE_iτ| ≤ ‖E_i‖·|τ|², and |τ|² is known at any sample. U and C_i are kept in float32,
// since reading them is what takes the time: E_i is of the kept ones.
type Forms struct {
	combine la.Matrix[float32] // D⁻¹·Uᵀ, n×ρ
	inner   la.Matrix[float32] // C_1, C_2, … side by side
	thin    []float64          // of each coordinate, D⁻²
	Size    []float64          // ‖A_i‖, of all elements
	Off     []float64          // ‖E_i‖, and what rounding adds
}

// NewForms returns the forms of the symmetric matrices a at coordinates of these sizes. Each
// leaves out about this share of its unit.
func NewForms(ws *la.Workspace, a []la.Matrix[float64], units, sizes []float64, share float64) Forms {
	n := len(sizes)
	f := Forms{thin: make([]float64, n)}
	squares := la.NewMatrix[float64](n, n) // Σ (B_i/unit_i)²
	var scaled []la.Matrix[float64]
	for i, x := range a {
		b := la.NewMatrix[float64](n, n)
		for j := range n {
			for l := range n {
				b.Set(j, l, float64(0.5*(x.At(j, l)+x.At(l, j)))*sizes[j]*sizes[l])
			}
		}
		scaled = append(scaled, b)
		la.Syrk(ws, la.NoTrans, 1/(units[i]*units[i]), b, 1, squares)
		f.Size = append(f.Size, frobenius(x))
	}
	for j, d := range sizes {
		f.thin[j] = 1 / (d * d)
	}
	u := commonRange(ws, squares, share)
	rank := u.Rows
	f.combine, f.inner = la.NewMatrix[float32](n, rank), la.NewMatrix[float32](rank, len(a)*rank)
	for j, d := range sizes {
		for i := range rank {
			f.combine.Set(j, i, float32(u.At(i, j)/d))
			u.Set(i, j, float64(f.combine.At(j, i))*d)
		}
	}
	c, half := la.NewMatrix[float64](rank, rank), la.NewMatrix[float64](rank, n)
	for i, b := range scaled {
		size := frobenius(b)
		la.Gemm(ws, la.NoTrans, la.NoTrans, 1, u, b, 0, half)
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, half, u, 0, c)
		for j := range rank {
			for l := range j + 1 {
				v := float32(c.At(j, l))
				f.inner.Set(j, i*rank+l, v)
				f.inner.Set(l, i*rank+j, v)
				c.Set(j, l, float64(v))
				c.Set(l, j, float64(v))
			}
		}
		la.Gemm(ws, la.NoTrans, la.NoTrans, 1, c, u, 0, half)
		la.Gemm(ws, la.Transpose, la.NoTrans, -1, u, half, 1, b)
		f.Off = append(f.Off, spectral(ws, b)+float64(Unit*float64(8*(n+32))*(1+math.Sqrt(float64(rank)))*size))
	}
	return f
}

// commonRange returns orthonormal rows that span the range of the positive semidefinite m, but for a
// share of about share² of m. It overwrites the lower triangle of m.
func commonRange(ws *la.Workspace, m la.Matrix[float64], share float64) la.Matrix[float64] {
	n := m.Rows
	most := 0.0
	for i := range n {
		most = max(most, m.At(i, i))
	}
	if most == 0 {
		return la.NewMatrix[float64](0, n)
	}
	perm := make([]int, n)
	rank, err := la.CholeskyPivoted(ws, m, float64(share*share)/most, perm)
	if err != nil {
		rank = 0 // not finite: predictions have no bound then
	}
	u := la.NewMatrix[float64](n, n)
	used := 0
	for c := range rank {
		row := u.Row(used)
		for i := c; i < n; i++ {
			row[perm[i]] = m.At(i, c)
		}
		before := math.Sqrt(la.SumSq(row))
		for range 2 { // the second time takes away what rounding left
			for i := range used {
				la.Axpy(-la.Dot(u.Row(i), row), u.Row(i), row)
			}
		}
		if left := math.Sqrt(la.SumSq(row)); left > 1e-12*before {
			la.Scal(1/left, row)
			used++
		} else {
			clear(row)
		}
	}
	return u.Slice(0, used, 0, n).Clone()
}

// spectral returns a bound on the largest size of an eigenvalue of the symmetric x, too large by
// a factor of at most the eighth root of its order: ‖x⁴‖^¼.
func spectral(ws *la.Workspace, x la.Matrix[float64]) float64 {
	size := frobenius(x)
	if size == 0 || math.IsNaN(size) {
		return size
	}
	x = x.Clone()
	la.Scal(1/size, x.Data)
	for range 2 {
		y := la.NewMatrix[float64](x.Rows, x.Rows)
		la.Syrk(ws, la.NoTrans, 1, x, 0, y)
		y.MirrorLower()
		x = y
	}
	return size * math.Sqrt(math.Sqrt(frobenius(x)+float64(Unit*float64(x.Rows)))) * (1 + 1e-9)
}

// frobenius returns the root of the sum of all squares.
func frobenius(x la.Matrix[float64]) float64 {
	var sum float64
	for i := range x.Rows {
		sum += la.SumSq(x.Row(i))
	}
	return math.Sqrt(sum)
}

// ScratchSize is the length of the scratch memory of At.
func (f *Forms) ScratchSize() int {
	return f.inner.Rows + f.inner.Cols
}

// Bytes returns the number of bytes that At reads.
func (f *Forms) Bytes() int { return 4*(len(f.combine.Data)+len(f.inner.Data)) + 8*len(f.thin) }

// At stores the values of the forms at t in dst, and returns |τ|².
func (f *Forms) At(ws *la.Workspace, t, scratch, dst []float64) (length float64) {
	rank := f.inner.Rows
	s, cs := scratch[:rank], scratch[rank:rank+f.inner.Cols]
	la.GemvMixed(ws, la.Transpose, 1, f.combine, t, 0, s)
	la.GemvMixed(ws, la.Transpose, 1, f.inner, s, 0, cs)
	for i := range dst {
		dst[i] = la.Dot(s, cs[i*rank:(i+1)*rank])
	}
	return thinned(f.thin, t)
}

// thinned returns Σ w_j·t_j².
func thinned(w, t []float64) float64 {
	var sums [4]float64 // which do not wait for each other
	for ; len(t) >= 4; w, t = w[4:], t[4:] {
		for i := range sums {
			sums[i] += float64(w[i] * float64(t[i]*t[i]))
		}
	}
	for i, v := range t {
		sums[i] += float64(w[i] * float64(v*v))
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}

// Largest returns the largest size of an element of each row of x.
func Largest(x la.Matrix[float64]) []float64 {
	out := make([]float64, x.Rows)
	for i := range out {
		row := x.Row(i)
		out[i] = max(slices.Max(row), -slices.Min(row))
	}
	return out
}
