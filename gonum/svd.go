package gonum

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"

	"github.com/bmkl/bmkl/la"
)

// Dgesvd computes the singular value decomposition A = U·Σ·Vᵀ of an m×n matrix.
//
// gonum rotates columns of U, with long strides through memory, and rows of Vᵀ. For a matrix that is
// not much taller than wide, this routine rotates the rows of Uᵀ instead and transposes the result.
func (l LAPACK) Dgesvd(jobU, jobVT lapack.SVDJob, m, n int, a []float64, lda int, s, u []float64, ldu int, vt []float64, ldvt int, work []float64, lwork int) (ok bool) {
	am, um, vm := matrix(m, n, a, lda), matrix(m, n, u, ldu), matrix(n, n, vt, ldvt)
	wanted := (jobU == lapack.SVDStore || jobU == lapack.SVDAll && m == n) && (jobVT == lapack.SVDStore || jobVT == lapack.SVDAll)
	switch {
	case !wanted, m < n, empty(am, um, vm), !l.eager && n < svdRows,
		len(s) < n, lwork < max(3*n+m, 5*n), len(work) < lwork,
		m >= l.Ilaenv(6, "DGESVD", string(jobU)+string(jobVT), m, n, 0, 0), !l.moderate(am):
		return l.Implementation.Dgesvd(jobU, jobVT, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork)
	}
	e, tauQ, tauP, rest := work[:n], work[n:2*n], work[2*n:3*n], work[3*n:lwork]
	l.Dgebrd(m, n, a, lda, s, e, tauQ, tauP, rest, len(rest))
	l.Dlacpy(blas.Lower, m, n, a, lda, u, ldu)
	l.Dorgbr(lapack.GenerateQ, m, n, n, u, ldu, tauQ, rest, len(rest))
	l.Dlacpy(blas.Upper, n, n, a, lda, vt, ldvt)
	l.Dorgbr(lapack.GeneratePT, n, n, n, vt, ldvt, tauP, rest, len(rest))

	scr := borrow()
	defer pool.Put(scr)
	ut := la.MatrixOf(n, m, room[float64](scr, m*n))
	transposeTo(ut, um)
	ok = l.Dbdsqr(blas.Upper, n, n, 0, m, s, e, vt, ldvt, nil, 1, ut.Data, m, work[n:lwork])
	transposeTo(um, ut)
	if !ok {
		copy(work[1:n], e[:n-1])
	}
	work[0] = float64(lwork)
	return ok
}

// moderate reports whether all elements are in the range in which A needs no scaling.
func (l LAPACK) moderate(a la.Matrix[float64]) bool {
	largest := l.Dlange(lapack.MaxAbs, a.Rows, a.Cols, a.Data, a.Stride, nil)
	return largest == 0 || largest > 1e-100 && largest < 1e100
}

// transposeTo stores Aᵀ in dst.
func transposeTo(dst, a la.Matrix[float64]) {
	const side = 32
	for i0 := 0; i0 < a.Rows; i0 += side {
		for j0 := 0; j0 < a.Cols; j0 += side {
			for i := i0; i < min(i0+side, a.Rows); i++ {
				row := a.Row(i)
				for j := j0; j < min(j0+side, a.Cols); j++ {
					dst.Data[j*dst.Stride+i] = row[j]
				}
			}
		}
	}
}
