package la

import "unsafe"

// An entry of the kernel table takes at most piece elements of each of its vectors. axpysPiece, which
// reads up to eight rows, takes at most rowsPiece. One call then takes a few microseconds, even from
// memory, and the goroutine can be preempted after it. This file cuts longer vectors into such calls,
// for every instruction set in the same way. Results do not depend on the cuts. Both lengths are
// multiples of dotLanes.
const piece, rowsPiece = 4096, 1024

// Rows of up to shortDots (shortDotAxpys) elements are taken one by one, even if an entry takes four
// rows. Short rows gain little from being read side by side, and the lanes of four rows must be
// stored and loaded again. Measured with matrices in the caches.
const shortDots, shortDotAxpys = 16 * dotLanes, 6 * dotLanes

// The methods below choose between an entry and its long form with a variable, so that each contains
// one call. The compiler then inlines them, and a short vector costs one call, of the entry.

// dot returns Σ a_i·x_i, i < n, the dot product that dotPiece defines.
func (k *vectorKernels[S, T]) dot(n int, a *S, x *T) T {
	f := k.dotPiece
	if n > piece {
		f = k.dotLong
	}
	return f(n, a, x, nil)
}

// dotAxpy returns dot(n, a, x) and computes y_i = fma(alpha, a_i, y_i). It reads a once.
func (k *vectorKernels[S, T]) dotAxpy(n int, alpha T, a *S, x, y *T) T {
	f := k.dotAxpyPiece
	if n > piece {
		f = k.dotAxpyLong
	}
	return f(n, alpha, a, x, y, nil)
}

// axpy computes y_i = fma(alpha, a_i, y_i), i < n.
func (k *vectorKernels[S, T]) axpy(n int, alpha T, a *S, y *T) {
	f := k.axpyPiece
	if n > piece {
		f = k.axpyLong
	}
	f(n, alpha, a, y)
}

// scal computes x_i = alpha·x_i, i < n.
func (k *kernels[T]) scal(n int, alpha T, x *T) {
	f := k.scalPiece
	if n > piece {
		f = k.scalLong
	}
	f(n, alpha, x)
}

// exp computes dst_i = e^src_i, i < n; dst may be src.
func (k *kernels[T]) exp(n int, dst, src *T) {
	f := k.expPiece
	if n > piece {
		f = k.expLong
	}
	f(n, dst, src)
}

// complete sets the long forms of k's entries.
func (k *kernels[T]) complete() {
	k.vectorKernels.complete()
	scal, exp := k.scalPiece, k.expPiece
	k.scalLong = func(n int, alpha T, x *T) {
		for ; n > piece; n -= piece {
			scal(piece, alpha, x)
			x = at(x, piece)
		}
		scal(n, alpha, x)
	}
	k.expLong = func(n int, dst, src *T) {
		for ; n > piece; n -= piece {
			exp(piece, dst, src)
			dst, src = at(dst, piece), at(src, piece)
		}
		exp(n, dst, src)
	}
}

// complete sets the long forms of k's entries. The long forms of dot products pass the lanes from
// piece to piece.
func (k *vectorKernels[S, T]) complete() {
	dot, dotAxpy, axpy := k.dotPiece, k.dotAxpyPiece, k.axpyPiece
	k.dotLong = func(n int, a *S, x *T, _ *[dotLanes]T) T {
		var lanes [dotLanes]T
		for ; n > piece; n -= piece {
			dot(piece, a, x, noescape(&lanes))
			a, x = at(a, piece), at(x, piece)
		}
		return dot(n, a, x, noescape(&lanes))
	}
	k.dotAxpyLong = func(n int, alpha T, a *S, x, y *T, _ *[dotLanes]T) T {
		var lanes [dotLanes]T
		for ; n > piece; n -= piece {
			dotAxpy(piece, alpha, a, x, y, noescape(&lanes))
			a, x, y = at(a, piece), at(x, piece), at(y, piece)
		}
		return dotAxpy(n, alpha, a, x, y, noescape(&lanes))
	}
	k.axpyLong = func(n int, alpha T, a *S, y *T) {
		for ; n > piece; n -= piece {
			axpy(piece, alpha, a, y)
			a, y = at(a, piece), at(y, piece)
		}
		axpy(n, alpha, a, y)
	}
}

// dots computes s_r = dot(a_r, x) for four rows of n elements, which are lda elements apart. lanes is
// scratch memory. It is fastest if aligned to 64 bytes.
func (k *vectorKernels[S, T]) dots(n int, a *S, lda int, x *T, s *[4]T, lanes *[4 * dotLanes]T) {
	if n <= shortDots {
		for r := range s {
			s[r] = k.dotPiece(n, at(a, r*lda), x, nil)
		}
		return
	}
	whole := (n - 1) / dotLanes * dotLanes // at least one element is left, so that no address is past the end
	clear(lanes[:])
	for o := 0; o < whole; o += piece {
		k.dotsPiece(min(piece, whole-o), at(a, o), lda, at(x, o), lanes)
	}
	for r := range s {
		s[r] = k.dotPiece(n-whole, at(a, r*lda+whole), at(x, whole), (*[dotLanes]T)(lanes[r*dotLanes:]))
	}
}

// dotAxpys computes s_r = dotAxpy(alpha_r, a_r, x, y) for four rows in order. Row r has n+r elements.
// lanes is scratch memory. It is fastest if aligned to 64 bytes.
func (k *vectorKernels[S, T]) dotAxpys(n int, alpha *[4]T, a *S, lda int, x, y *T, s *[4]T, lanes *[4 * dotLanes]T) {
	if n <= shortDotAxpys {
		for r := range s {
			s[r] = k.dotAxpyPiece(n+r, alpha[r], at(a, r*lda), x, y, nil)
		}
		return
	}
	whole := (n - 1) / dotLanes * dotLanes // at least one element is left, so that no address is past the end
	clear(lanes[:])
	for o := 0; o < whole; o += piece {
		k.dotAxpysPiece(min(piece, whole-o), alpha, at(a, o), lda, at(x, o), at(y, o), lanes)
	}
	for r := range s {
		s[r] = k.dotAxpyPiece(n+r-whole, alpha[r], at(a, r*lda+whole), at(x, whole), at(y, whole), (*[dotLanes]T)(lanes[r*dotLanes:]))
	}
}

// axpys computes y_j = fma(x_i, a[i*lda+j], y_j) for i = 0, 1, … in this order.
func (k *vectorKernels[S, T]) axpys(x []T, a *S, lda int, y []T) {
	for o := 0; o < len(y); o += rowsPiece {
		part := y[o:min(o+rowsPiece, len(y))]
		i := 0
		for ; k.axpysPiece != nil && i+k.axpysRows <= len(x); i += k.axpysRows {
			k.axpysPiece(len(part), &x[i], at(a, i*lda+o), lda, first(part))
		}
		for ; i < len(x); i++ {
			k.axpyPiece(len(part), x[i], at(a, i*lda+o), first(part))
		}
	}
}

// first returns the address of x's first element. If x is empty, the address must not be read.
func first[T Float](x []T) *T { return unsafe.SliceData(x) }

// noescape returns p and hides from the compiler that the result is p. The memory at p can then stay
// on the stack although p is passed to an entry of the table, a function that the compiler does not
// know. This is safe because entries do not keep their arguments.
//
//go:nosplit
func noescape[P any](p *P) *P {
	x := uintptr(unsafe.Pointer(p))
	return *(**P)(unsafe.Pointer(&x))
}
