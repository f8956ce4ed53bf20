package la

import (
	"math"
	"unsafe"
)

// genericSet is the portable instruction set. It defines the bits of all others.
var genericSet = *newSet("generic")

// genericMR and genericNR are the register tile of the portable kernels.
const genericMR, genericNR = 4, 4

func genericKernels[T Float]() kernels[T] {
	return kernels[T]{
		mr: genericMR, nr: genericNR,
		gemm:   genericGemm[T],
		dist:   genericDist[T],
		pack:   genericPack[T],
		gather: genericGather[T],

		scalPiece: genericScal[T],
		expPiece:  genericExp[T],

		negRootPiece:   genericNegRoot[T],
		restTimesPiece: genericRestTimes[T],

		vectorKernels: genericVectorKernels[T, T](),
	}
}

func genericVectorKernels[S, T Float]() vectorKernels[S, T] {
	return vectorKernels[S, T]{
		dotPiece:     genericDot[S, T],
		dotAxpyPiece: genericDotAxpy[S, T],
		axpyPiece:    genericAxpy[S, T],
	}
}

// fma returns x·y + z, rounded once.
func fma[T Float](x, y, z T) T {
	if is64[T]() {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	return T(fma32(float32(x), float32(y), float32(z)))
}

// fma32 returns x·y + z, rounded once. The product is exact in float64. If the sum is inexact, it is
// rounded to odd: to the one of its two neighbours whose last bit is set. The rounding to float32 then
// gives the same result as a single rounding, because 53 ≥ 24+2 digits.
//
// Source: S. Boldo and G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
// using rounding to odd", IEEE Transactions on Computers 57 (2008).
func fma32(x, y, z float32) float32 {
	p, q := float64(float64(x)*float64(y)), float64(z)
	s := p + q
	t := s - p
	e := (p - (s - t)) + (q - t) // exactly p+q-s, NaN if s is not finite
	if b := math.Float64bits(s); e != 0 && e == e && b&1 == 0 {
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
		s = math.Float64frombits(b)
	}
	return float32(s)
}

func genericGemm[T Float](k int, alpha T, a, b, c *T, ldc int, add bool, next *T) {
	ap, bp := unsafe.Slice(a, k*genericMR), unsafe.Slice(b, k*genericNR)
	cp := unsafe.Slice(c, (genericMR-1)*ldc+genericNR)
	for i := range genericMR {
		var s [genericNR]T
		if is64[T]() { // fma(x, y[j], s[j]) written out, because fma is not inlined
			var s0, s1, s2, s3 float64
			for p := range k {
				x, y := float64(ap[p*genericMR+i]), bp[p*genericNR:][:genericNR]
				s0 = math.FMA(x, float64(y[0]), s0)
				s1 = math.FMA(x, float64(y[1]), s1)
				s2 = math.FMA(x, float64(y[2]), s2)
				s3 = math.FMA(x, float64(y[3]), s3)
			}
			s = [genericNR]T{T(s0), T(s1), T(s2), T(s3)}
		} else {
			for p := range k {
				x, y := ap[p*genericMR+i], bp[p*genericNR:][:genericNR]
				for j := range s {
					s[j] = fma(x, y[j], s[j])
				}
			}
		}
		for j, c := 0, cp[i*ldc:][:genericNR]; j < genericNR; j++ {
			if add {
				c[j] = fma(alpha, s[j], c[j])
			} else {
				c[j] = alpha * s[j]
			}
		}
	}
}

func genericDist[T Float](k int, a, b, c *T, ldc int, add bool) {
	ap, bp := unsafe.Slice(a, k*genericMR), unsafe.Slice(b, k*genericNR)
	cp := unsafe.Slice(c, (genericMR-1)*ldc+genericNR)
	for i := range genericMR {
		c := (*[genericNR]T)(cp[i*ldc:])
		var s [genericNR]T
		if add {
			s = *c
		}
		for p := range k {
			x, y := ap[p*genericMR+i], bp[p*genericNR:][:genericNR]
			for j := range s {
				t := x - y[j]
				s[j] = fma(t, t, s[j])
			}
		}
		*c = s
	}
}

func genericPack[T Float](r, k int, src *T, ld int, dst *T, step int) {
	for p := range k {
		for i := range r {
			*at(dst, p*step+i) = *at(src, i*ld+p)
		}
	}
}

func genericGather[T Float](r, panels, k int, src *T, ld int, dst *T, step int) {
	s, d := unsafe.Slice(src, (k-1)*ld+panels*r), unsafe.Slice(dst, (panels-1)*step+k*r)
	for p := range k {
		for q := range panels {
			copy(d[q*step+p*r:][:r], s[p*ld+q*r:])
		}
	}
}

func genericDot[S, T Float](n int, a *S, x *T, lanes *[dotLanes]T) T {
	if lanes == nil {
		lanes = new([dotLanes]T)
	}
	xs := unsafe.Slice(x, n)
	for i, v := range unsafe.Slice(a, n) {
		lanes[i%dotLanes] = fma(T(v), xs[i], lanes[i%dotLanes])
	}
	s := *lanes
	for h := dotLanes / 2; h > 0; h /= 2 {
		for l := range h {
			s[l] += s[l+h]
		}
	}
	return s[0] + 0
}

func genericDotAxpy[S, T Float](n int, alpha T, a *S, x, y *T, lanes *[dotLanes]T) T {
	genericAxpy(n, alpha, a, y)
	return genericDot(n, a, x, lanes)
}

func genericAxpy[S, T Float](n int, alpha T, a *S, y *T) {
	ys := unsafe.Slice(y, n)
	for i, v := range unsafe.Slice(a, n) {
		ys[i] = fma(alpha, T(v), ys[i])
	}
}

func genericScal[T Float](n int, alpha T, x *T) {
	xs := unsafe.Slice(x, n)
	for i := range xs {
		xs[i] *= alpha
	}
}
