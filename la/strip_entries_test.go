package la

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// These tests call the strip kernels of every table themselves and compare with
// the loops of their contract.

func TestStripEntriesEqualPlainLoops(t *testing.T) {
	for _, s := range instructionSets {
		t.Run(s.name, func(t *testing.T) {
			t.Run("float64", func(t *testing.T) { testStripEntries(t, &s.strips64) })
			t.Run("float32", func(t *testing.T) { testStripEntries(t, &s.strips32) })
		})
	}
}

func testStripEntries[T Float](t *testing.T, k *stripKernels[T]) {
	t.Run("tile", func(t *testing.T) { testStripTiles(t, k) })
	t.Run("solve", func(t *testing.T) { testStripSolve(t, k) })
	t.Run("invert", func(t *testing.T) { testStripInvert(t, k) })
	t.Run("chol", func(t *testing.T) { testStripChol(t, k) })
	t.Run("small", func(t *testing.T) { testStripSmall(t, k) })
	t.Run("corner", func(t *testing.T) { testStripCorner(t, k) })
	t.Run("pack", func(t *testing.T) { testStripPack(t, k) })
	t.Run("rows", func(t *testing.T) { testStripRows(t, k) })
}

func testStripTiles[T Float](t *testing.T, kt *stripKernels[T]) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, blocks := range []int{1, 2, 3, 4, 7, 18} {
		k := blocks * kt.mr
		for skip := 0; skip < min(kt.nr, tileFresh); skip += kt.mr {
			for _, mode := range []int{skip, skip + tileFresh, skip + tileLower, skip + tileFresh + tileLower} {
				testStripTile(t, kt, r, k, skip, mode, []int{0, 1, 6}[r.IntN(3)])
			}
		}
	}
}

func testStripTile[T Float](t *testing.T, kt *stripKernels[T], r *rand.Rand, k, skip, mode, pad int) {
	nr := kt.nr
	ldc := nr + pad
	fresh, lower := mode&tileFresh != 0, mode&tileLower != 0
	hardToo := k < 10 && !(fresh && lower)
	a, b := hard[T](r, k*nr, hardToo), hard[T](r, k*nr, hardToo)
	if fresh && lower {
		for i := range nr {
			for p := range min(k, max(0, i-skip)) {
				a[p*nr+i] = 0
				if kt.invert != nil && p < (i-skip)/kt.mr*kt.mr {
					a[p*nr+i] = T(math.NaN())
				}
			}
		}
	}
	_, before := fenced[T](r, nr*ldc)
	top := 0
	if lower {
		top = skip
	}
	for name, f := range map[string]struct {
		sign T
		call func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)
	}{"add": {1, kt.add}, "sub": {-1, kt.sub}} {
		got, want := slices.Clone(before), slices.Clone(before)
		c := got[8+top*ldc+skip:]
		f.call(k, &a[0], &b[0], &c[0], ldc, &c[0], mode, address(&a[0]), 8*ldc)
		for i := top; i < nr; i++ {
			for j := skip; j < nr; j++ {
				s := &want[8+i*ldc+j]
				if lower && j > i { // may be left out
					*s = got[8+i*ldc+j]
					continue
				}
				from := 0
				if fresh {
					*s = 0
					if lower {
						from = i - skip
					}
				}
				for p := from; p < k; p++ {
					*s = fma(f.sign*a[p*nr+i], b[p*nr+j], *s)
				}
			}
		}
		sameBits(t, want, got, "%s k=%d ldc=%d mode=%d", name, k, ldc, mode)
	}
}

func testStripSolve[T Float](t *testing.T, kt *stripKernels[T]) {
	r := rand.New(rand.NewPCG(1, 4))
	nr, mr := kt.nr, kt.mr
	for _, rows := range []int{mr, nr, 2 * nr, 3*nr + mr, 10*nr - mr} {
		ts := (rows + 2) * nr
		for lo := 0; lo < rows; lo += max(mr, rows/4/mr*mr) {
			tri := hard[T](r, (rows+nr-1)/nr*ts, false)
			recip := hard[T](r, rows, rows < 20)
			skip := r.IntN(nr/mr) * mr
			y, got := fenced[T](r, rows*nr)
			want := slices.Clone(got)
			for j := lo; j < rows; j++ {
				for i := skip; i < nr; i++ {
					s := want[8+j*nr+i]
					for k := lo; k < j; k++ {
						s = fma(-tri[j/nr*ts+k*nr+j%nr], want[8+k*nr+i], s)
					}
					want[8+j*nr+i] = s * recip[j]
				}
			}
			kt.solve(lo, rows, &tri[0], ts, &recip[0], &y[0], skip)
			for q := range rows { // may be left out
				copy(want[8+q*nr:][:skip], y[q*nr:])
			}
			sameBits(t, want, got, "solve lo=%d hi=%d skip=%d", lo, rows, skip)
		}
	}
}

// testStripInvert inverts triangles and solves for the identity by them.
func testStripInvert[T Float](t *testing.T, kt *stripKernels[T]) {
	if kt.invert == nil {
		t.Skip("the inverse is a solution for the identity")
	}
	r := rand.New(rand.NewPCG(1, 9))
	nr := kt.nr
	for n := kt.mr; n <= nr; n += kt.mr {
		tri := hard[T](r, n*nr, false)
		want, recip := make([]T, n*nr), make([]T, n)
		for j := range n {
			tri[j*nr+j] = T(1 + r.ExpFloat64())
			want[j*nr+j], recip[j] = 1, 1/tri[j*nr+j]
		}
		kt.solve(0, n, &tri[0], 0, &recip[0], &want[0], 0)
		x, all := fenced[T](r, n*nr)
		expected := slices.Clone(all)
		kt.invert(n, &tri[0], &x[0])
		for j := range n {
			end := roundUp(j+1, kt.mr)
			for i := j + 1; i < end; i++ {
				want[j*nr+i] = 0
			}
			copy(expected[8+j*nr:], want[j*nr:][:end])
		}
		sameBits(t, expected, all, "invert n=%d", n)
	}
}

// testStripChol factors rows with pivots that are good, and with one bad pivot of
// each kind.
func testStripChol[T Float](t *testing.T, kt *stripKernels[T]) {
	r := rand.New(rand.NewPCG(1, 5))
	nr, mr := kt.nr, kt.mr
	for _, before := range []int{0, nr, 3 * nr} {
		hi := before + nr
		for lo := 0; lo <= before; lo += max(mr, before/3/mr*mr) {
			for j0 := before; j0 < hi; j0 += mr {
				for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
					y, all := fenced[T](r, hi*nr)
					recip, allRecip := fenced[T](r, hi)
					for i := range y {
						y[i] = T(r.NormFloat64())
					}
					for j := j0; j < hi; j++ {
						y[j*nr+j%nr] = T(1e3 + 2*float64(hi))
					}
					broken := -1
					if bad != 0 {
						broken = j0 + r.IntN(hi-j0)
						y[broken*nr+broken%nr] = T(bad * 1e4)
					}
					want, wantRecip := slices.Clone(all), slices.Clone(allRecip)
					refStripChol(nr, lo, j0, hi, wantRecip[8:], want[8:])
					if got := kt.chol(lo, j0, hi, &recip[0], &y[0]); got != broken {
						t.Fatalf("chol lo=%d j0=%d hi=%d stops at %d, want %d", lo, j0, hi, got, broken)
					}
					end := hi
					if broken >= 0 {
						end = broken
						sameBits(t, want[8+end*nr+end%nr:][:1], y[end*nr+end%nr:][:1], "bad pivot lo=%d j0=%d", lo, j0)
					}
					for j := j0; j < end; j++ { // what is undefined
						copy(want[8+j*nr:][:j%nr], y[j*nr:])
					}
					sameBits(t, want[:8+end*nr], all[:8+end*nr], "chol lo=%d j0=%d hi=%d", lo, j0, hi)
					sameBits(t, want[8+hi*nr:], all[8+hi*nr:], "behind chol lo=%d j0=%d hi=%d", lo, j0, hi)
					sameBits(t, wantRecip, allRecip, "reciprocals lo=%d j0=%d hi=%d", lo, j0, hi)
				}
			}
		}
	}
}

// refStripChol is chol as its contract has it, up to a bad pivot.
func refStripChol[T Float](nr, lo, j0, hi int, recip, y []T) {
	for j := j0; j < hi; j++ {
		row := y[j*nr:][:nr]
		for i := range row {
			for k := lo; k < j; k++ {
				row[i] = fma(-y[k*nr+j%nr], y[k*nr+i], row[i])
			}
		}
		d := float64(row[j%nr])
		if !(d > 0 && d <= math.MaxFloat64) {
			return
		}
		root := T(math.Sqrt(d))
		recip[j] = 1 / root
		for i := range row {
			row[i] *= recip[j]
		}
		row[j%nr] = root
	}
}

// testStripSmall factors triangles with and without a bad pivot, and inverts them.
func testStripSmall[T Float](t *testing.T, kt *stripKernels[T]) {
	rng := rand.New(rand.NewPCG(1, 7))
	for n := 1; n <= kt.most; n++ {
		s := newSystems[T](rng, n)
		for _, bad := range []float64{1, 0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
			for at := range n {
				a, want := clone(s.a), -1
				if bad != 1 {
					a.Set(at, at, T(bad*1e4))
					want = at
				}
				got, pivot := kt.smallChol(n, &a.Data[0], a.Stride)
				if got != want {
					t.Fatalf("smallChol of %d rows stops at %d, want %d", n, got, want)
				}
				if want < 0 {
					requireSameLower(t, s.l, a, "smallChol")
				} else if bad != bad && pivot == pivot || math.IsInf(bad, 0) && pivot != T(bad) || bad <= 0 && !(pivot <= 0) {
					t.Errorf("smallChol of %d rows: pivot %d is %v, had %v on its diagonal", n, at, pivot, bad)
				}
			}
		}
		x, inv, same := guarded[T](n, n), guarded[T](n, n), clone(s.l)
		kt.smallInv(n, &s.l.Data[0], s.l.Stride, &x.Data[0], x.Stride, triangleOnly)
		requireSameLower(t, s.x, x, "smallInv, triangle")
		kt.smallInv(n, &s.l.Data[0], s.l.Stride, &inv.Data[0], inv.Stride, wholeInverse)
		requireSameLower(t, s.inv, inv, "smallInv, whole")
		d, all := fenced[T](rng, n)
		fence := slices.Clone(all)
		kt.smallInv(n, &s.l.Data[0], s.l.Stride, &d[0], 0, diagonalOnly)
		sameBits(t, s.diag, d, "smallInv, diagonal")
		copy(all[8:], fence[8:8+n])
		sameBits(t, fence, all, "around smallInv's diagonal")
		requireSameLower(t, same, s.l, "smallInv's argument")
	}
}

// testStripCorner takes triangles of every size to a strip and back, and copies them.
func testStripCorner[T Float](t *testing.T, kt *stripKernels[T]) {
	r := rand.New(rand.NewPCG(1, 8))
	nr := kt.nr
	for n := 1; n <= nr; n++ {
		for _, pad := range []int{0, 1, 5} {
			ld, end := n+pad, roundUp(n, kt.mr)
			src := hard[T](r, (n-1)*ld+n, true)
			strip, got := fenced[T](r, (end-1)*nr+end)
			fences := append(slices.Clone(got[:8]), got[8+len(strip):]...)
			kt.loadCorner(n, &src[0], ld, &strip[0])
			sameBits(t, fences, append(slices.Clone(got[:8]), got[8+len(strip):]...), "around loadCorner n=%d", n)
			for i := range end {
				for p := range i + 1 {
					var want T
					switch {
					case i < n:
						want = src[i*ld+p]
					case i == p:
						want = 1
					}
					sameBits(t, []T{want}, strip[p*nr+i:][:1], "loadCorner n=%d ld=%d line %d position %d", n, ld, i, p)
				}
			}

			back, all := fenced[T](r, (n-1)*ld+n)
			want := slices.Clone(all)
			copied, allCopied := fenced[T](r, (n-1)*ld+n)
			wantCopied := slices.Clone(allCopied)
			for i := range n {
				copy(want[8+i*ld:][:i+1], src[i*ld:])
				copy(wantCopied[8+i*ld:][:i+1], src[i*ld:])
			}
			kt.storeCorner(n, &strip[0], &back[0], ld)
			sameBits(t, want, all, "storeCorner n=%d ld=%d", n, ld)
			kt.copyLower(n, &copied[0], ld, &src[0], ld)
			sameBits(t, wantCopied, allCopied, "copyLower n=%d ld=%d", n, ld)
		}
	}
}

func testStripPack[T Float](t *testing.T, kt *stripKernels[T]) {
	r := rand.New(rand.NewPCG(1, 6))
	nr := kt.nr
	for m := range nr + 1 {
		for _, k := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 24, 31, 33, 515} {
			if k > 100 && m%5 != 0 {
				continue
			}
			for _, pad := range []int{0, 1, 5} {
				ld := k + pad
				src := hard[T](r, m*ld+1, true)
				dst, got := fenced[T](r, k*nr+nr)
				want := slices.Clone(got)
				back, gotBack := fenced[T](r, m*ld+1)
				wantBack := slices.Clone(gotBack)
				for i := range m {
					for p := range k {
						want[8+p*nr+i] = src[i*ld+p]
						wantBack[8+i*ld+p] = src[i*ld+p]
					}
				}
				kt.pack(m, k, &src[0], ld, &dst[0])
				sameBits(t, want, got, "pack m=%d k=%d ld=%d", m, k, ld)
				kt.unpack(m, k, &dst[0], &back[0], ld)
				sameBits(t, wantBack, gotBack, "unpack m=%d k=%d ld=%d", m, k, ld)
			}
		}
	}
}

// testStripRows has more rows than go into one call.
func testStripRows[T Float](t *testing.T, kt *stripKernels[T]) {
	r := rand.New(rand.NewPCG(1, 7))
	nr := kt.nr
	for _, k := range []int{1, 2, 3, 4, 5, 17, 511, 512, 513, 1030} {
		y := hard[T](r, k*nr, false)
		d, got := fenced[T](r, nr)
		want := slices.Clone(got)
		for q := range k {
			for i := range nr {
				want[8+i] = fma(y[q*nr+i], y[q*nr+i], want[8+i])
			}
		}
		kt.squares(k, &y[0], &d[0])
		sameBits(t, want, got, "squares k=%d", k)

		lds, ldd := nr+k%3, nr+k%4
		src := hard[T](r, k*lds, true)
		dst, copied := fenced[T](r, k*ldd)
		want = slices.Clone(copied)
		for p := range k {
			copy(want[8+p*ldd:][:nr], src[p*lds:])
		}
		kt.copyRows(k, &src[0], lds, &dst[0], ldd)
		sameBits(t, want, copied, "copyRows k=%d", k)
	}
}
