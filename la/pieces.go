package la

import "unsafe"

// An entry of the kernel table takes at most piece elements of each of its vectors, and
// axpysPiece, which has up to eight rows to read, at most rowsPiece: a few microseconds'
// work even from memory, after which the goroutine can be preempted. This file cuts longer
// vectors into such calls, in the same way for every instruction set. Results do not depend
// on the cuts. Both lengths are multiples of Lanes.
const piece, rowsPiece = 4096, 1024

// Rows of up to so many elements are taken one by one even where an entry takes four of
// them: they gain little from being read side by side, and the lanes of four rows would
// have to be written down and read again. Measured with matrices in the caches.
const shortDots, shortDotAxpys = 16 * Lanes, 6 * Lanes

// The methods below choose between an entry and its long form by a variable, so that each
// holds one call: the compiler then inlines them, and a short vector costs no call more
// than the entry itself.

// dot returns Σ a_i·x_i, i < n, the dot product that dotPiece defines.
func (k *vectorKernels[S, T]) dot(n int, a *S, x *T) T {
	f := k.dotPiece
	if n > piece {
		f = k.dotLong
	}
	return f(n, a, x, nil)
}

// dotAxpy returns dot(a, x) and, reading a once, computes y_i = fma(alpha, a_i, y_i).
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

// complete gives k the long forms of its entries.
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

// complete gives k the long forms of its entries. Those of dot products hand the lanes
// from piece to piece.
func (k *vectorKernels[S, T]) complete() {
	dot, dotAxpy, axpy := k.dotPiece, k.dotAxpyPiece, k.axpyPiece
	k.dotLong = func(n int, a *S, x *T, _ *[Lanes]T) T {
		var lanes [Lanes]T
		for ; n > piece; n -= piece {
			dot(piece, a, x, noescape(&lanes))
			a, x = at(a, piece), at(x, piece)
		}
		return dot(n, a, x, noescape(&lanes))
	}
	k.dotAxpyLong = func(n int, alpha T, a *S, x, y *T, _ *[Lanes]T) T {
		var lanes [Lanes]T
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

// dots computes s_r = dot(a_r, x) for four rows of n elements, which lie lda apart. lanes
// is memory to work in, best aligned to 64 bytes.
func (k *vectorKernels[S, T]) dots(n int, a *S, lda int, x *T, s *[4]T, lanes *[4 * Lanes]T) {
	if n <= shortDots {
		for r := range s {
			s[r] = k.dotPiece(n, at(a, r*lda), x, nil)
		}
		return
	}
	whole := (n - 1) / Lanes * Lanes // something is left, so that no address lies past the end
	clear(lanes[:])
	for o := 0; o < whole; o += piece {
		k.dotsPiece(min(piece, whole-o), at(a, o), lda, at(x, o), lanes)
	}
	for r := range s {
		s[r] = k.dotPiece(n-whole, at(a, r*lda+whole), at(x, whole), (*[Lanes]T)(lanes[r*Lanes:]))
	}
}

// dotAxpys computes s_r = dotAxpy(alpha_r, a_r, x, y) for four rows in order, of which row
// r has n+r elements. lanes is memory to work in, best aligned to 64 bytes.
func (k *vectorKernels[S, T]) dotAxpys(n int, alpha *[4]T, a *S, lda int, x, y *T, s *[4]T, lanes *[4 * Lanes]T) {
	if n <= shortDotAxpys {
		for r := range s {
			s[r] = k.dotAxpyPiece(n+r, alpha[r], at(a, r*lda), x, y, nil)
		}
		return
	}
	whole := (n - 1) / Lanes * Lanes // something is left, so that no address lies past the end
	clear(lanes[:])
	for o := 0; o < whole; o += piece {
		k.dotAxpysPiece(min(piece, whole-o), alpha, at(a, o), lda, at(x, o), at(y, o), lanes)
	}
	for r := range s {
		s[r] = k.dotAxpyPiece(n+r-whole, alpha[r], at(a, r*lda+whole), at(x, whole), at(y, whole), (*[Lanes]T)(lanes[r*Lanes:]))
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

// first returns the address of x's first element. An empty x may have none: the address
// is then not to be read.
func first[T Float](x []T) *T { return unsafe.SliceData(x) }

// noescape returns p and hides from the compiler that it does. What p points to can then
// stay on the stack although p is handed to an entry of the table, a function that the
// compiler does not know. It is safe because entries keep none of their arguments.
//
//go:nosplit
func noescape[P any](p *P) *P {
	x := uintptr(unsafe.Pointer(p))
	return *(**P)(unsafe.Pointer(&x))
}
