package la

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// These tests call the entries of every kernel table themselves, with what they
// are promised and no more, and compare with loops or with the portable entries.
// Vectors lie between fences that nothing may write to.

func TestEntriesEqualPlainLoops(t *testing.T) {
	for _, s := range instructionSets {
		t.Run(s.name, func(t *testing.T) {
			t.Run("float64", func(t *testing.T) { testEntries(t, &s.f64) })
			t.Run("float32", func(t *testing.T) { testEntries(t, &s.f32) })
			t.Run("mixed", func(t *testing.T) { testProductEntries(t, &s.mixed) })
		})
	}
}

func testEntries[T Float](t *testing.T, k *kernels[T]) {
	t.Run("tile", func(t *testing.T) { testTileEntries(t, k) })
	t.Run("pack", func(t *testing.T) { testPackEntries(t, k) })
	t.Run("vector", func(t *testing.T) { testVectorEntries(t, k) })
	t.Run("exp", func(t *testing.T) { testExpEntry(t, k) })
	t.Run("matern", func(t *testing.T) { testMaternEntries(t, k) })
	t.Run("product", func(t *testing.T) { testProductEntries(t, &k.vectorKernels) })
}

// hard returns n numbers of very different size among which are zeros of either
// sign and subnormals and, if wild, infinities and NaN.
func hard[T Float](r *rand.Rand, n int, wild bool) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64() * math.Exp(4*r.NormFloat64()))
		switch r.IntN(50) {
		case 0:
			x[i] = T(math.Copysign(0, r.NormFloat64()))
		case 1:
			x[i] = T(r.NormFloat64() * 1e-20)
		case 2:
			x[i] = T(math.Copysign(math.SmallestNonzeroFloat32, r.NormFloat64()))
		case 3:
			if wild {
				x[i] = T([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)])
			}
		}
	}
	return x
}

// fenced returns hard numbers between two fences, and their storage.
func fenced[T Float](r *rand.Rand, n int) (x, all []T) {
	all = hard[T](r, n+16, false)
	return all[8 : 8+n : 8+n], all
}

func testTileEntries[T Float](t *testing.T, kt *kernels[T]) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, k := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, BlockK} {
		for _, pad := range []int{0, 1, 6} {
			for _, add := range []bool{false, true} {
				ldc := kt.nr + pad
				a, b := hard[T](r, k*kt.mr+1, k < 5), hard[T](r, k*kt.nr+1, k < 5)
				c, product := fenced[T](r, kt.mr*ldc)
				distance := slices.Clone(product)
				beside := slices.Clone(product)
				wantProduct, wantDistance := slices.Clone(product), slices.Clone(product)
				alpha := T(-1.7)
				for i := range kt.mr {
					for j := range kt.nr {
						at := 8 + i*ldc + j
						var s, d T
						if add {
							d = c[i*ldc+j]
						}
						for p := range k {
							x, y := a[p*kt.mr+i], b[p*kt.nr+j]
							s, d = fma(x, y, s), fma(x-y, x-y, d)
						}
						wantProduct[at], wantDistance[at] = alpha*s, d
						if add {
							wantProduct[at] = fma(alpha, s, c[i*ldc+j])
						}
					}
				}
				kt.gemm(k, alpha, &a[0], &b[0], &c[0], ldc, add, nil)
				kt.dist(k, &a[0], &b[0], &distance[8], ldc, add)
				sameBits(t, wantProduct, product, "gemm k=%d ldc=%d add=%v", k, ldc, add)
				if kt.shared != nil {
					panel := make([]T, k*kt.nr+kt.mr+1)
					for p := range k {
						copy(panel[p*kt.nr+kt.mr:], a[p*kt.mr:][:kt.mr])
					}
					got := slices.Clone(beside)
					kt.shared(k, alpha, &panel[kt.mr], &b[0], &got[8], ldc, add, nil)
					sameBits(t, wantProduct, got, "shared k=%d ldc=%d add=%v", k, ldc, add)
					got = slices.Clone(beside)
					kt.narrow(kt.nr, k, alpha, &panel[kt.mr], kt.nr, &b[0], &got[8], ldc, add)
					sameBits(t, wantProduct, got, "narrow, shared, k=%d ldc=%d add=%v", k, ldc, add)
				}
				if kt.narrow != nil && k > 0 {
					for _, n := range []int{1, kt.nr/3 - 1, kt.nr / 3, kt.nr/3 + 1, 2 * kt.nr / 3, 2*kt.nr/3 + 1, kt.nr} {
						got := slices.Clone(beside)
						kt.narrow(n, k, alpha, &a[0], kt.mr, &b[0], &got[8], ldc, add)
						for i := range kt.mr {
							sameBits(t, wantProduct[8+i*ldc:][:n], got[8+i*ldc:][:n], "narrow n=%d k=%d ldc=%d add=%v row %d", n, k, ldc, add, i)
							copy(got[8+i*ldc:][:kt.nr], beside[8+i*ldc:])
						}
						sameBits(t, beside, got, "beside narrow n=%d k=%d ldc=%d", n, k, ldc)
					}
				}
				sameBits(t, wantDistance, distance, "dist k=%d ldc=%d add=%v", k, ldc, add)
			}
		}
	}
}

func testPackEntries[T Float](t *testing.T, kt *kernels[T]) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, rows := range []int{kt.mr, kt.nr} {
		for _, k := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, BlockK} {
			for _, pad := range []int{0, 1, 5} {
				step := rows + pad*pad
				packed, got := fenced[T](r, step*k+1)
				want := slices.Clone(got)

				ld := k + pad
				src := hard[T](r, rows*ld+1, true)
				for i := range rows {
					for p := range k {
						want[8+p*step+i] = src[i*ld+p]
					}
				}
				kt.pack(rows, k, &src[0], ld, &packed[0], step)
				sameBits(t, want, got, "pack r=%d k=%d ld=%d step=%d", rows, k, ld, step)

				if k == 0 {
					continue
				}
				const panels = 3
				step = k*rows + pad
				ld = panels*rows + pad
				packed, got = fenced[T](r, panels*step+1)
				want = slices.Clone(got)
				src = hard[T](r, k*ld+1, true)
				for q := range panels {
					for p := range k {
						copy(want[8+q*step+p*rows:][:rows], src[p*ld+q*rows:])
					}
				}
				kt.gather(rows, panels, k, &src[0], ld, &packed[0], step)
				sameBits(t, want, got, "gather r=%d k=%d ld=%d", rows, k, ld)
			}
		}
	}
}

// vectorLengths has every remainder by 32 and by 16 lanes, and lengths around
// those at which long vectors may be cut.
func vectorLengths() []int {
	var lengths []int
	for n := range 130 {
		lengths = append(lengths, n)
	}
	return append(lengths, 1023, 1024, 1025, 4095, 4097, 8191, 8192, 8193, 8192+33, 16384+95)
}

func testVectorEntries[T Float](t *testing.T, kt *kernels[T]) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range vectorLengths() {
		x, alpha := hard[T](r, n, n%3 == 0), T(r.NormFloat64())
		got, all := fenced[T](r, n)
		wantAll := slices.Clone(all)
		ref := wantAll[8 : 8+n]

		kt.axpy(n, alpha, first(x), first(got))
		genericAxpy(n, alpha, first(x), first(ref))
		sameBits(t, wantAll, all, "axpy n=%d", n)

		kt.axpy(n, alpha, first(got), first(got))
		genericAxpy(n, alpha, first(ref), first(ref))
		sameBits(t, wantAll, all, "axpy onto itself n=%d", n)

		kt.scal(n, alpha, first(got))
		genericScal(n, alpha, first(ref))
		sameBits(t, wantAll, all, "scal n=%d", n)
	}
}

func testProductEntries[S, T Float](t *testing.T, kt *vectorKernels[S, T]) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range vectorLengths() {
		wild := n%3 == 0
		a, x, alpha := hard[S](r, n, wild), hard[T](r, n, wild), T(r.NormFloat64())
		sameBits(t, []T{genericDot(n, first(a), first(x), nil)}, []T{kt.dot(n, first(a), first(x))}, "dot n=%d", n)

		got, all := fenced[T](r, n)
		wantAll := slices.Clone(all)
		ref := wantAll[8 : 8+n]
		sameBits(t, []T{genericDotAxpy(n, alpha, first(a), first(x), first(ref), nil)}, []T{kt.dotAxpy(n, alpha, first(a), first(x), first(got))}, "dotAxpy n=%d", n)
		sameBits(t, wantAll, all, "y of dotAxpy n=%d", n)

		if kt.dotsPiece != nil && n <= 8193 {
			lda := n + 3 + n%2
			a, alpha, s := hard[S](r, 4*lda, wild), hard[T](r, 4, false), make([]T, 8)
			x := append(x, hard[T](r, 3, wild)...)
			y, all := fenced[T](r, n+3)
			wantAll, wantDots := slices.Clone(all), make([]T, 8)
			for i := range 4 {
				row := &a[i*lda]
				wantDots[i] = genericDot(n, row, &x[0], nil)
				wantDots[4+i] = genericDotAxpy(n+i, alpha[i], row, &x[0], &wantAll[8], nil)
			}
			kt.dots(n, &a[0], lda, &x[0], (*[4]T)(s), new([4 * dotLanes]T))
			kt.dotAxpys(n, (*[4]T)(alpha), &a[0], lda, &x[0], &y[0], (*[4]T)(s[4:]), new([4 * dotLanes]T))
			sameBits(t, wantDots, s, "dots and dotAxpys n=%d", n)
			sameBits(t, wantAll, all, "y of dotAxpys n=%d", n)
		}

		for _, rows := range []int{0, 1, 2, 3, 4, 5, 8, 11} {
			if n > 1000 && rows != 5 {
				continue
			}
			lda := n + rows%3
			a, x := hard[S](r, rows*lda+1, wild), hard[T](r, rows, wild)
			kt.axpys(x, &a[0], lda, got)
			for i, v := range x {
				genericAxpy(n, v, &a[i*lda], first(ref))
			}
			sameBits(t, wantAll, all, "axpys rows=%d n=%d", rows, n)
		}
	}
}

func testExpEntry[T Float](t *testing.T, kt *kernels[T]) {
	r := rand.New(rand.NewPCG(9, 10))
	lowest, highest := -760.0, 720.0
	random := func() T { return T(math.Float64frombits(r.Uint64())) }
	if !is64[T]() {
		lowest, highest = -110, 95
		random = func() T { return T(math.Float32frombits(r.Uint32())) }
	}
	for _, n := range vectorLengths() {
		src := hard[T](r, n, true)
		for i := range src {
			switch i % 3 {
			case 0:
				src[i] = random()
			case 1:
				src[i] = T(lowest + (highest-lowest)*r.Float64())
			}
		}
		got, all := fenced[T](r, n)
		wantAll := slices.Clone(all)
		kt.exp(n, first(got), first(src))
		genericExp(n, first(wantAll[8:]), first(src))
		sameBits(t, wantAll, all, "exp n=%d", n)
		copy(got, src)
		kt.exp(n, first(got), first(got))
		sameBits(t, wantAll, all, "exp in place n=%d", n)
	}
}

func testMaternEntries[T Float](t *testing.T, kt *kernels[T]) {
	r := rand.New(rand.NewPCG(5, 8))
	for _, n := range vectorLengths() {
		src, e := hard[T](r, n, true), hard[T](r, n, true)
		got, all := fenced[T](r, n)
		wantAll := slices.Clone(all)
		want := wantAll[8 : 8+n]
		copy(got, src)
		kt.negRootPiece(n, first(got))
		for i, v := range src {
			want[i] = T(-math.Sqrt(float64(v)))
		}
		sameBits(t, wantAll, all, "negRoot n=%d", n)
		copy(got, src)
		kt.restTimesPiece(n, first(e), first(got))
		for i, v := range src {
			rest := 1 - v
			want[i] = rest * e[i]
		}
		sameBits(t, wantAll, all, "restTimes n=%d", n)
	}
}
