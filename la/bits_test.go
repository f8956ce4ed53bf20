package la

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// filled returns a rows×cols view with random elements, of a matrix whose other
// elements are NaN and whose stride is wider.
func filled[T Float](r *rand.Rand, rows, cols int) Matrix[T] {
	pad := NewMatrix[T](rows+2, cols+5)
	pad.Fill(T(math.NaN()))
	m := pad.Slice(1, 1+rows, 3, 3+cols)
	for i := range rows {
		for j := range m.Row(i) {
			m.Row(i)[j] = T(r.NormFloat64())
		}
	}
	return m
}

// orient returns op⁻¹'s shape.
func orient(t Trans, rows, cols int) (int, int) {
	if t {
		return cols, rows
	}
	return rows, cols
}

// bitsOf returns x's bits, all NaNs being one.
func bitsOf[T Float](x T) uint64 {
	if x != x {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(float64(x))
}

// sameBits fails unless two vectors, or the storage of two matrices, have equal bits.
func sameBits[T Float](t testing.TB, want, got []T, what string, args ...any) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: length %d, want %d", fmt.Sprintf(what, args...), len(got), len(want))
	}
	for i := range want {
		if bitsOf(want[i]) != bitsOf(got[i]) {
			t.Fatalf("%s: element %d is %v (%x), want %v (%x)", fmt.Sprintf(what, args...),
				i, got[i], bitsOf(got[i]), want[i], bitsOf(want[i]))
		}
	}
}

// edges are sizes on both sides of the edges of tiles, lanes and blocks.
var edges = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65, 70}

// everywhere runs f, which computes something into storage that it returns, with
// the portable kernels and one worker, then with every instruction set and
// several numbers of workers, and fails unless the bits are the same.
func everywhere[T Float](t *testing.T, workers []int, f func(w *Workspace) []T, what string, args ...any) {
	t.Helper()
	was := active
	defer func() { active = was }()
	active = &genericSet
	want := f(&Workspace{Workers: 1})
	for _, s := range instructionSets {
		active = s
		for _, n := range workers {
			got := f(&Workspace{Workers: n})
			sameBits(t, want, got, "%s, %d workers: "+what, append([]any{s.name, n}, args...)...)
		}
	}
}

// floats runs a test for both element types.
func floats(t *testing.T, f64, f32 func(t *testing.T)) {
	t.Run("float64", f64)
	t.Run("float32", f32)
}

var serial = []int{1}

// trio is one size for each of three dimensions.
type trio struct{ m, n, k int }

// sizes returns shapes in which every edge stands in every place, beside others
// drawn at random, and chains around the block boundary.
func sizes(r *rand.Rand) []trio {
	pick := func() int { return edges[r.IntN(len(edges))] }
	var s []trio
	for _, e := range edges {
		s = append(s, trio{e, pick(), pick()}, trio{pick(), e, pick()}, trio{pick(), pick(), e})
	}
	for _, k := range []int{BlockK - 1, BlockK, BlockK + 1, 2*BlockK + 3} {
		s = append(s, trio{9, 25, k}, trio{30, 5, k})
	}
	return s
}

func TestGemmIsTheSameEverywhere(t *testing.T) { floats(t, testGemm[float64], testGemm[float32]) }

func testGemm[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range sizes(r) {
		checkGemm[T](t, r, s, serial)
	}
}

func checkGemm[T Float](t *testing.T, r *rand.Rand, s trio, workers []int) {
	ta, tb := Trans(r.IntN(2) == 0), Trans(r.IntN(2) == 0)
	alpha := []T{1, -1, 0.7, 0}[r.IntN(4)]
	beta := []T{0, 1, -0.3}[r.IntN(3)]
	am, ak := orient(ta, s.m, s.k)
	bk, bn := orient(tb, s.k, s.n)
	a, b, c := filled[T](r, am, ak), filled[T](r, bk, bn), filled[T](r, s.m, s.n)
	if beta == 0 {
		c.Fill(T(math.NaN()))
	}
	everywhere(t, workers, func(w *Workspace) []T {
		got := cloneStorage(c)
		Gemm(w, ta, tb, alpha, a, b, beta, got)
		return got.Data
	}, "%+v %v %v α=%v β=%v", s, ta, tb, alpha, beta)
}

func TestSyrkIsTheSameEverywhere(t *testing.T) { floats(t, testSyrk[float64], testSyrk[float32]) }

func testSyrk[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range sizes(r) {
		checkSyrk[T](t, r, s.m, s.k, serial)
	}
}

func checkSyrk[T Float](t *testing.T, r *rand.Rand, n, k int, workers []int) {
	tr := Trans(r.IntN(2) == 0)
	alpha, beta := []T{1, -0.7}[r.IntN(2)], []T{0, 1, -0.3}[r.IntN(3)]
	am, ak := orient(tr, n, k)
	a, c := filled[T](r, am, ak), filled[T](r, n, n)
	for i := range n {
		for j := range n {
			if j > i || beta == 0 {
				c.Set(i, j, T(math.NaN()))
			}
		}
	}
	everywhere(t, workers, func(w *Workspace) []T {
		got := cloneStorage(c)
		Syrk(w, tr, alpha, a, beta, got)
		for i := range n {
			for j := i + 1; j < n; j++ {
				if got.At(i, j) == got.At(i, j) {
					t.Fatalf("n=%d k=%d: element (%d, %d) above the diagonal was written", n, k, i, j)
				}
			}
		}
		return got.Data
	}, "n=%d k=%d %v α=%v β=%v", n, k, tr, alpha, beta)
}

func TestSqDistIsTheSameEverywhere(t *testing.T) {
	floats(t, testSqDist[float64], testSqDist[float32])
}

func testSqDist[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	shapes := append(sizes(r), trio{200, 150, 70})
	if testing.Short() {
		shapes = shapes[:len(shapes)/4]
	}
	for _, s := range shapes {
		x, y, d := filled[T](r, s.m, s.k), filled[T](r, s.n, s.k), filled[T](r, s.m, s.n)
		d.Fill(T(math.NaN()))
		everywhere(t, []int{1, 3}, func(w *Workspace) []T {
			got := cloneStorage(d)
			SqDist(w, x, y, got)
			return got.Data
		}, "%+v", s)
		everywhere(t, []int{1, 3}, func(w *Workspace) []T {
			got := cloneStorage(d)
			RBF(w, 0.1, x, y, got)
			return got.Data
		}, "RBF %+v", s)
	}
}

// TestOneRowHasTheDistancesOfMany compares the distances of one row, which need no packing if the
// features are few, with the distances of the same row in a matrix.
func TestOneRowHasTheDistancesOfMany(t *testing.T) {
	floats(t, testDistancesOfOneRow[float64], testDistancesOfOneRow[float32])
}

func testDistancesOfOneRow[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for d := range scalarFeatures + 2 {
		for _, n := range []int{1, 40} {
			x, y := filled[T](r, 3, d), filled[T](r, n, d)
			all, one := filled[T](r, 3, n), filled[T](r, 1, n)
			SqDist(nil, x, y, all)
			SqDist(nil, x.Slice(1, 2, 0, d), y, one)
			sameBits(t, all.Row(1), one.Row(0), "SqDist n=%d d=%d", n, d)
			RBF(nil, 0.3, x, y, all)
			RBF(nil, 0.3, x.Slice(1, 2, 0, d), y, one)
			sameBits(t, all.Row(1), one.Row(0), "RBF n=%d d=%d", n, d)
		}
	}
}

func TestRBFIsTheExponentialOfSqDist(t *testing.T) { floats(t, testRBF[float64], testRBF[float32]) }

// testRBF compares RBF with its definition.
func testRBF[T Float](t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(29, 30))
		for _, n := range []int{1, 9, 70, 140, 333} {
			for _, d := range []int{0, 1, 10, 2*BlockK/n + 1} {
				x := filled[T](r, n, d)
				want, got := filled[T](r, n, n), filled[T](r, n, n)
				SqDist(nil, x, x.Clone(), want)
				apart := filled[T](r, n, n)
				RBF(nil, 0.3, x, x.Clone(), apart)
				for i := range n {
					Scal(-0.3, want.Row(i))
					Exp(want.Row(i), want.Row(i))
				}
				RBF(&Workspace{Workers: 2}, 0.3, x, x, got)
				for i := range n {
					sameBits(t, want.Row(i), got.Row(i), "RBF n=%d d=%d", n, d)
					sameBits(t, want.Row(i), apart.Row(i), "RBF of two matrices n=%d d=%d", n, d)
				}
			}
		}
	})
}

// TestDistancesDoNotDependOnCacheSizes compares the order of work for matrices larger than the caches
// with the order of work for smaller ones.
func TestDistancesDoNotDependOnCacheSizes(t *testing.T) {
	floats(t, testLargeDistances[float64], testLargeDistances[float32])
}

func testLargeDistances[T Float](t *testing.T) {
	was := caches
	defer func() { caches = was }()
	r := rand.New(rand.NewPCG(31, 32))
	// place returns a matrix among NaNs, its rows aligned to cache lines or not.
	place := func(rows, cols int, aligned bool) Matrix[T] {
		m := Matrix[T]{Rows: rows, Cols: cols, Stride: cols + 3}
		if aligned {
			m.Stride = roundUp(cols+1, 16)
		}
		m.Data = elements[T](new(buffer), rows*m.Stride+1)
		if !aligned {
			m.Data = m.Data[1:]
		}
		m.Data = m.Data[:rows*m.Stride]
		for i := range m.Data {
			m.Data[i] = T(math.NaN())
		}
		return m
	}
	forEachKernel(t, func(t *testing.T) {
		if active == &genericSet {
			return // has only one order of work
		}
		for _, s := range []trio{{1, 1, 1}, {8, 3, 2}, {63, 65, 10}, {64, 64, 10}, {65, 1, BlockK}, {66, 200, BlockK + 1}, {130, 193, 1}, {200, 220, 10}} {
			x, y := filled[T](r, s.m, s.k), filled[T](r, s.n, s.k)
			for _, aligned := range []bool{true, false} {
				for name, f := range map[string]func(w *Workspace, d Matrix[T]){
					"SqDist": func(w *Workspace, d Matrix[T]) { SqDist(w, x, y, d.Slice(0, s.m, 0, s.n)) },
					"RBF":    func(w *Workspace, k Matrix[T]) { RBF(w, 0.1, x, y, k.Slice(0, s.m, 0, s.n)) },
					"Gram":   func(w *Workspace, k Matrix[T]) { RBF(w, 0.1, x, x, k.Slice(0, s.m, 0, s.m)) },
				} {
					caches = cacheSizes{l1: was.l1, l2: was.l2, l3: math.MaxInt}
					want := place(s.m, max(s.m, s.n), aligned)
					f(&Workspace{Workers: 1}, want)
					caches = cacheSizes{}
					for _, workers := range []int{1, 3} {
						got := place(s.m, max(s.m, s.n), aligned)
						f(&Workspace{Workers: workers}, got)
						sameBits(t, want.Data, got.Data, "%s %+v, aligned %v, %d workers", name, s, aligned, workers)
					}
				}
			}
		}
	})
}

// lengths are vector lengths around every lane and chunk boundary.
func lengths() []int {
	var n []int
	for i := range 71 {
		n = append(n, i)
	}
	return append(n, 127, 128, 129, 255, 256, 257, 4095, 4096, 4097, 8191, 8193, 9000)
}

func TestVectorsAreTheSameEverywhere(t *testing.T) {
	floats(t, testVectors[float64], testVectors[float32])
}

func testVectors[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range lengths() {
		m := filled[T](r, 2, n)
		x, y := m.Row(0), m.Row(1)
		alpha := T(r.NormFloat64())
		everywhere(t, serial, func(*Workspace) []T { return []T{Dot(x, y), SumSq(x)} }, "Dot n=%d", n)
		everywhere(t, serial, func(*Workspace) []T {
			got := cloneStorage(m)
			Axpy(alpha, got.Row(0), got.Row(1))
			return got.Data
		}, "Axpy n=%d", n)
		everywhere(t, serial, func(*Workspace) []T {
			got := cloneStorage(m)
			Scal(alpha, got.Row(0))
			return got.Data
		}, "Scal n=%d", n)
		everywhere(t, serial, func(*Workspace) []T {
			got := cloneStorage(m)
			Exp(got.Row(0), got.Row(1))
			return got.Data
		}, "Exp n=%d", n)
		everywhere(t, serial, func(*Workspace) []T {
			got := cloneStorage(m)
			Matern(got.Row(0), got.Row(1))
			return got.Data
		}, "Matern n=%d", n)
		everywhere(t, serial, func(*Workspace) []T {
			got := cloneStorage(m)
			s := table[T]().dotAxpy(n, alpha, first(x), first(y), first(got.Row(1)))
			return append(got.Data, s)
		}, "dotAxpy n=%d", n)
	}
}

func TestGemvIsTheSameEverywhere(t *testing.T) {
	floats(t, testGemv[float64, float64], testGemv[float32, float32])
	t.Run("mixed", testGemv[float32, float64])
}

func testGemv[S, T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, s := range append(sizes(r), trio{m: 300, n: 290}, trio{m: 5, n: 4100}, trio{m: 4100, n: 21}) {
		checkGemv[S, T](t, r, s.m, s.n)
	}
}

func checkGemv[S, T Float](t *testing.T, r *rand.Rand, m, n int) {
	tr := Trans(r.IntN(2) == 0)
	alpha, beta := T(r.NormFloat64()), []T{0, 1, -0.3}[r.IntN(3)]
	am, an := orient(tr, m, n)
	a, x, y := filled[S](r, am, an), filled[T](r, 1, n), filled[T](r, 1, m)
	if beta == 0 {
		y.Fill(T(math.NaN()))
	}
	everywhere(t, []int{1, 2, 3, 7}, func(w *Workspace) []T {
		got := cloneStorage(y)
		gemv(w, tr, alpha, a, x.Row(0), beta, got.Row(0))
		return got.Data
	}, "%d×%d %v α=%v β=%v", m, n, tr, alpha, beta)
}

func TestSymvIsTheSameEverywhere(t *testing.T) {
	floats(t, testSymv[float64, float64], testSymv[float32, float32])
	t.Run("mixed", testSymv[float32, float64])
}

func testSymv[S, T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range append(edges, 255, 256, 511, 512, 513, 800) {
		alpha, beta := T(r.NormFloat64()), []T{0, 1, -0.3}[r.IntN(3)]
		a, x, y := filled[S](r, n, n), filled[T](r, 1, n), filled[T](r, 1, n)
		for i := range n {
			for j := i + 1; j < n; j++ {
				a.Set(i, j, S(math.NaN()))
			}
		}
		if beta == 0 {
			y.Fill(T(math.NaN()))
		}
		everywhere(t, []int{1, 2, 3, 7}, func(w *Workspace) []T {
			got := cloneStorage(y)
			symv(w, alpha, a, x.Row(0), beta, got.Row(0))
			return got.Data
		}, "n=%d α=%v β=%v", n, alpha, beta)
	}
}

func TestProductsAreTheSameForAllWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	shapes := []trio{{129, 130, 131}, {300, 200, 257}, {24, 700, 140}, {700, 9, 400}}
	if testing.Short() {
		shapes = shapes[:1]
	}
	for _, s := range shapes {
		checkGemm[float64](t, r, s, []int{1, 2, 3, 7})
		checkSyrk[float64](t, r, s.m, s.k, []int{1, 2, 3, 7})
	}
	checkGemm[float32](t, r, trio{129, 130, 131}, []int{2, 7})
	checkSyrk[float32](t, r, 130, 131, []int{2, 7})
}

// TestProductsAroundBlockSizes takes shapes on both sides of every block size of every
// instruction set, with blocks made small enough to be crossed.
func TestProductsAroundBlockSizes(t *testing.T) {
	was := caches
	defer func() { caches = was }()
	caches = cacheSizes{l2: 64 << 10} // the least blocks in m and n
	r := rand.New(rand.NewPCG(15, 16))
	for _, s := range instructionSets {
		use(t, s)
		k, b := table[float64](), blocks[float64]()
		for _, d := range []int{-1, 0, 1} {
			checkGemm[float64](t, r, trio{b.mc + d, k.nr + d, 3}, serial)
			checkGemm[float64](t, r, trio{k.mr + d, b.nc + d, BlockK + d}, serial)
			checkSyrk[float64](t, r, b.nc+d, 5, serial)
			checkSyrk[float64](t, r, b.mc+d, 2, serial)
			checkSyrk[float64](t, r, 3*b.nc+d, 9, []int{1, 3})
		}
	}
}

// cloneStorage copies m with what lies between its rows.
func cloneStorage[T Float](m Matrix[T]) Matrix[T] {
	m.Data = append([]T(nil), m.Data...)
	return m
}

// A symmetric product has the roundings that its comment lists, and the groups that older versions had: one up to order 511, two from 512 on.
func TestSymvGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, n := range []int{511, 512} {
		a, x, y := filled[float64](r, n, n), filled[float64](r, 1, n).Row(0), make([]float64, n)
		symvNaive := func(groups int) []float64 {
			out := make([]float64, n)
			parts := NewMatrix[float64](groups, n)
			for g := range groups {
				from, to := math.Sqrt(float64(g)/float64(groups)), math.Sqrt(float64(g+1)/float64(groups))
				for i := int(from * float64(n)); i < int(to*float64(n)); i++ {
					out[i] = math.FMA(a.At(i, i), x[i], Dot(a.Row(i)[:i], x[:i]))
					for j := range i {
						parts.Set(g, j, math.FMA(x[i], a.At(i, j), parts.At(g, j)))
					}
				}
			}
			for i := range out {
				for g := range groups {
					out[i] += parts.At(g, i)
				}
			}
			return out
		}
		Symv(nil, 1, a, x, 0, y)
		sameBits(t, symvNaive(n/256), y, "order %d", n)
	}
}
