package la

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// A goroutine cannot be stopped while it is in assembly, and the garbage collector
// waits for it. Tests hold every call of a kernel to a bound on its work, whatever
// the sizes of the matrices; benchmarks measure the time.

// Bounds of a call: 100 µs for a core that does 10 GFLOP/s and moves 2.5 GB/s.
const (
	mostFlops = 1_000_000
	mostBytes = 250_000
)

// meter receives the work of a call before the call begins, and its end.
type meter func(entry string, flops, bytes int) (end func())

// metered returns s with every call of a kernel announced to m.
func metered(s *instructionSet, m meter) *instructionSet {
	c := *s
	meterVectors(&c.f64.vectorKernels, m)
	meterVectors(&c.f32.vectorKernels, m)
	meterVectors(&c.mixed, m)
	meterKernels(&c.f64, m)
	meterKernels(&c.f32, m)
	meterStrips(&c.strips64, m)
	meterStrips(&c.strips32, m)
	meterPanels(&c.panels64, m)
	meterPanels(&c.panels32, m)
	exp2Sum := c.exp2Sum
	c.exp2Sum = func(n, terms int, coef, amp, src, dst *float32, add bool) {
		defer m("exp2Sum", 43*n*terms, (3*n+2*terms)*4)()
		exp2Sum(n, terms, coef, amp, src, dst, add)
	}
	meterWords(&c.words, m)
	return &c
}

func meterWords(k *wordKernels, m meter) {
	to, from, squares := k.to, k.from, k.squares
	k.to = func(n int, x *float64, scale float64, dither *float64, dst *int16) {
		defer m("toWords", 4*n, 18*n)()
		to(n, x, scale, dither, dst)
	}
	k.from = func(n int, high, low *int32, step *float64, scale float64, dst *float64) {
		defer m("fromWords", 6*n, 24*n)()
		from(n, high, low, step, scale, dst)
	}
	k.squares = func(n int, x, dst *float64) float64 {
		defer m("squares", 3*n, 16*n)()
		return squares(n, x, dst)
	}
}

func meterKernels[T Float](k *kernels[T], m meter) {
	size := int(unsafe.Sizeof(*new(T)))
	mr, nr := k.mr, k.nr
	tile := func(entry string, n, terms int) func() {
		return m(entry, 2*mr*n*terms, (mr*terms+n*terms+2*mr*n)*size)
	}
	gemm, narrow, dist, small, direct, pack, gather := k.gemm, k.narrow, k.dist, k.small, k.direct, k.pack, k.gather
	k.gemm = func(n int, alpha T, a, b, c *T, ldc int, add bool, next *T) {
		defer tile("gemm", nr, n)()
		gemm(n, alpha, a, b, c, ldc, add, next)
	}
	if narrow != nil {
		k.narrow = func(n, terms int, alpha T, a *T, as int, b, c *T, ldc int, add bool) {
			defer tile("narrow", n, terms)()
			narrow(n, terms, alpha, a, as, b, c, ldc, add)
		}
	}
	if shared := k.shared; shared != nil {
		k.shared = func(n int, alpha T, a, b, c *T, ldc int, add bool, next *T) {
			defer tile("shared", nr, n)()
			shared(n, alpha, a, b, c, ldc, add, next)
		}
	}
	k.dist = func(n int, a, b, c *T, ldc int, add bool) {
		defer tile("dist", nr, n)()
		dist(n, a, b, c, ldc, add)
	}
	if small != nil {
		k.small = func(rows, n, grow, terms int, alpha T, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add bool) {
			defer m("small", 2*rows*nr*terms, (rows*terms+nr*terms+2*rows*nr)*size)()
			small(rows, n, grow, terms, alpha, a, ars, acs, b, ldb, c, ldc, add)
		}
	}
	if direct != nil {
		k.direct = func(n, grow, terms int, alpha T, a *T, ars, acs int, b *T, ldb int, c *T, ldc int, add bool) {
			defer tile("direct", nr, terms)()
			direct(n, grow, terms, alpha, a, ars, acs, b, ldb, c, ldc, add)
		}
	}
	k.pack = func(r, n int, src *T, ld int, dst *T, step int) {
		defer m("pack", 0, 2*r*n*size)()
		pack(r, n, src, ld, dst, step)
	}
	k.gather = func(r, panels, n int, src *T, ld int, dst *T, step int) {
		defer m("gather", 0, 2*r*panels*n*size)()
		gather(r, panels, n, src, ld, dst, step)
	}
	scal, exp := k.scalPiece, k.expPiece
	k.scalPiece = func(n int, alpha T, x *T) {
		defer m("scal", n, 2*n*size)()
		scal(n, alpha, x)
	}
	k.expPiece = func(n int, dst, src *T) {
		defer m("exp", 40*n, 2*n*size)()
		exp(n, dst, src)
	}
	k.complete()
}

func meterVectors[S, T Float](k *vectorKernels[S, T], m meter) {
	from, size := int(unsafe.Sizeof(*new(S))), int(unsafe.Sizeof(*new(T)))
	dot, dotAxpy, axpy, dots, dotAxpys, axpys := k.dotPiece, k.dotAxpyPiece, k.axpyPiece, k.dotsPiece, k.dotAxpysPiece, k.axpysPiece
	k.dotPiece = func(n int, a *S, x *T, lanes *[dotLanes]T) T {
		defer m("dot", 2*n, n*(from+size))()
		return dot(n, a, x, lanes)
	}
	k.dotAxpyPiece = func(n int, alpha T, a *S, x, y *T, lanes *[dotLanes]T) T {
		defer m("dotAxpy", 4*n, n*(from+3*size))()
		return dotAxpy(n, alpha, a, x, y, lanes)
	}
	k.axpyPiece = func(n int, alpha T, a *S, y *T) {
		defer m("axpy", 2*n, n*(from+2*size))()
		axpy(n, alpha, a, y)
	}
	if dots != nil {
		k.dotsPiece = func(n int, a *S, lda int, x *T, lanes *[4 * dotLanes]T) {
			defer m("dots", 8*n, n*(4*from+size))()
			dots(n, a, lda, x, lanes)
		}
		k.dotAxpysPiece = func(n int, alpha *[4]T, a *S, lda int, x, y *T, lanes *[4 * dotLanes]T) {
			defer m("dotAxpys", 16*n, n*(4*from+3*size))()
			dotAxpys(n, alpha, a, lda, x, y, lanes)
		}
	}
	if axpys != nil {
		k.axpysPiece = func(n int, x *T, a *S, lda int, y *T) {
			defer m("axpys", 2*k.axpysRows*n, n*(k.axpysRows*from+2*size))()
			axpys(n, x, a, lda, y)
		}
	}
	k.complete()
}

func meterPanels[T Float](k *panelKernels[T], m meter) {
	size := int(unsafe.Sizeof(*new(T)))
	meter := func(entry string, f panelEntry[T]) panelEntry[T] {
		return func(panels, k int, a, x, y *T, add bool) {
			defer m(entry, 2*PanelRows*panels*k, PanelRows*panels*(k+2)*size)()
			f(panels, k, a, x, y, add)
		}
	}
	k.mul, k.sqDist, k.absDist = meter("panel mul", k.mul), meter("panel sqDist", k.sqDist), meter("panel absDist", k.absDist)
	parts := func(entry string, each int, f partsEntry[T]) partsEntry[T] {
		return func(k int, a, x, y *T) {
			defer m(entry, 2*PanelRows*k, each*PanelRows*k*size)()
			f(k, a, x, y)
		}
	}
	k.sqParts, k.absParts = parts("panel sqParts", 2, k.sqParts), parts("panel absParts", 2, k.absParts)
	k.addProducts = parts("panel addProducts", 4, k.addProducts)
}

func meterStrips[T Float](k *stripKernels[T], m meter) {
	size, nr := int(unsafe.Sizeof(*new(T))), k.nr
	tile := func(entry string, f func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int)) func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int) {
		return func(k int, a, b, c *T, ldc int, next *T, mode int, soon uintptr, step int) {
			defer m(entry, 2*nr*nr*k, (2*nr*k+2*nr*nr)*size)()
			f(k, a, b, c, ldc, next, mode, soon, step)
		}
	}
	move := func(entry string, n int) func() { return m(entry, 0, 2*nr*n*size) }
	solve, chol, squares, copyRows, pack, unpack := k.solve, k.chol, k.squares, k.copyRows, k.pack, k.unpack
	k.add, k.sub = tile("strip add", k.add), tile("strip sub", k.sub)
	k.solve = func(lo, hi int, t *T, ts int, r, y *T, skip int) {
		n := hi - lo
		defer m("strip solve", n*n*nr, (n*n/2+2*n*nr)*size)()
		solve(lo, hi, t, ts, r, y, skip)
	}
	if invert := k.invert; invert != nil {
		k.invert = func(n int, t, y *T) {
			defer m("strip invert", n*n*nr, 2*n*nr*size)()
			invert(n, t, y)
		}
	}
	k.chol = func(lo, j0, hi int, r, y *T) int {
		defer m("strip chol", 2*nr*(hi-j0)*(hi-lo), (hi-lo)*nr*size)()
		return chol(lo, j0, hi, r, y)
	}
	k.squares = func(n int, y, d *T) {
		defer m("strip squares", 2*nr*n, nr*n*size)()
		squares(n, y, d)
	}
	k.copyRows = func(n int, src *T, lds int, dst *T, ldd int) {
		defer move("strip copyRows", n)()
		copyRows(n, src, lds, dst, ldd)
	}
	k.pack = func(lines, n int, src *T, ld int, dst *T) {
		defer move("strip pack", n)()
		pack(lines, n, src, ld, dst)
	}
	k.unpack = func(lines, n int, src, dst *T, ld int) {
		defer move("strip unpack", n)()
		unpack(lines, n, src, dst, ld)
	}
}

// multiplyAll and solveAll call every routine that works on matrices, with orders of n.
func multiplyAll[T Float](w *Workspace, n int) {
	a, b, c := random[T](n, n), random[T](n, n), NewMatrix[T](n, n)
	narrow, wide := random[T](n, 70), random[T](70, n)
	Gemm(w, NoTrans, NoTrans, 1, a, b, 0, c)
	Gemm(w, Transpose, Transpose, 1, a, b, 1, c)
	Gemm(w, NoTrans, NoTrans, 1, a, narrow, 0, narrow.Clone())
	Gemm(w, NoTrans, NoTrans, 1, wide, a, 0, wide.Clone())
	Gemm(w, NoTrans, NoTrans, 1, wide, narrow, 0, NewMatrix[T](70, 70))
	Syrk(w, NoTrans, 1, a, 0, c)
	Syrk(w, Transpose, 1, a, 1, c)
	SqDist(w, a, b, c)
	RBF(w, 1, a, b, c)
	RBF(w, 1, a, a, c)
}

func solveAll[T Float](w *Workspace, n int) {
	a, b := random[T](n, n), random[T](n, n)
	for i := range n {
		a.Set(i, i, T(n)) // dominates
	}
	for _, side := range []Side{Left, Right} {
		for _, t := range []Trans{NoTrans, Transpose} {
			Trsm(w, side, t, a, b.Clone())
		}
	}
	if err := Cholesky(w, a); err != nil {
		panic(err)
	}
	CholeskyInvDiag(w, a, make([]T, n))
	TriInv(w, a.Clone())
	CholeskyInv(w, a)
}

// panelsAll calls every routine that works on panels, with few long rows and many short ones.
func panelsAll[T Float](n int) {
	for _, shape := range [][2]int{{n, 3}, {70, 5000}, {20 * n, 1}} {
		p := PackPanels(NewMatrix[T](shape[0], shape[1]))
		x, y := make([]T, shape[1]), make([]T, p.Padded())
		p.MultiplyVec(x, y)
		p.SqDistVec(x, y)
		p.AbsDistVec(x, y)
		t := make([]T, PanelRows*p.Cols)
		p.SqDistParts(0, x, t)
		p.AbsDistParts(0, x, t)
	}
	l := PackLower[T](NewMatrix[float64](n, n))
	l.MultiplyVec(make([]T, n), make([]T, l.Padded()))
}

// vectorsAll calls every routine that works on vectors, with vectors longer than a piece
// and with a matrix of few rows of that length.
func vectorsAll[S, T Float](w *Workspace) {
	const n = 3*piece + 5
	x, y := make([]T, n), make([]T, n)
	Dot(x, y)
	Axpy(1, x, y)
	Scal(1, x)
	AddProducts(x, x, y)
	Exp(y, x)
	Exp2Sum(make([]float32, 12), make([]float32, 12), make([]float32, n), make([]float32, n), false)
	f := make([]float64, 2*wordsPiece)
	ToWords(f, 1, f, make([]int16, len(f)))
	FromWords(make([]int32, len(f)), make([]int32, len(f)), f, 1, make([]float64, len(f)))
	Squares(f, make([]float64, len(f)))
	a := NewMatrix[S](11, n)
	gemv(w, NoTrans, 1, a, x, 0, y[:11])
	gemv(w, Transpose, 1, a, y[:11], 0, x)
	k := vectorTable[S, T]() // symv would need a triangle with rows of that length
	k.dotAxpy(n, 1, &a.Data[0], &x[0], &y[0])
	if k.dotAxpysPiece != nil {
		k.dotAxpys(n-3, new([4]T), &a.Data[0], n, &x[0], &y[0], new([4]T), new([4 * dotLanes]T))
	}
}

func TestCallsAreShort(t *testing.T) {
	n := 600 // more than every block
	if testing.Short() || raceEnabled {
		n = 300
	}
	for _, s := range instructionSets {
		if s == &genericSet {
			continue // can be stopped anywhere
		}
		t.Run(s.name, func(t *testing.T) {
			type work struct{ flops, bytes int }
			most := map[string]work{}
			use(t, metered(s, func(entry string, flops, bytes int) func() {
				w := most[entry]
				most[entry] = work{max(w.flops, flops), max(w.bytes, bytes)}
				return func() {}
			}))
			w := &Workspace{Workers: 1}
			multiplyAll[float64](w, n)
			multiplyAll[float32](w, n)
			solveAll[float64](w, n)
			solveAll[float32](w, n)
			panelsAll[float64](n)
			panelsAll[float32](n)
			vectorsAll[float64, float64](w)
			vectorsAll[float32, float32](w)
			vectorsAll[float32, float64](w)
			was := caches
			caches = cacheSizes{} // hold nothing
			multiplyAll[float64](w, n)
			caches = was
			for entry, w := range most {
				assert.LessOrEqual(t, w.flops, mostFlops, "operations of %s", entry)
				assert.LessOrEqual(t, w.bytes, mostBytes, "bytes of %s", entry)
			}
			t.Log(most)
		})
	}
}

// BenchmarkLongestCall reports the time of the longest call of a kernel: of calls
// of the same kernel with the same work, the shortest, which nothing else has come
// in between; and of these the longest.
func BenchmarkLongestCall(b *testing.B) {
	type work struct {
		entry        string
		flops, bytes int
	}
	least := map[work]time.Duration{}
	use(b, metered(active, func(entry string, flops, bytes int) func() {
		start := time.Now()
		return func() {
			d := time.Since(start)
			k := work{entry, flops, bytes}
			if was, ok := least[k]; !ok || d < was {
				least[k] = d
			}
		}
	}))
	w := &Workspace{Workers: 1}
	for b.Loop() {
		multiplyAll[float64](w, 1024)
		multiplyAll[float32](w, 1024)
		solveAll[float64](w, 1024)
		solveAll[float32](w, 1024)
	}
	var longest time.Duration
	var which work
	for k, d := range least {
		if d > longest {
			longest, which = d, k
		}
	}
	b.ReportMetric(float64(longest)/1e3, "µs/longest")
	b.Log(which)
}

// BenchmarkStoppingTheWorld collects garbage while a goroutine factors and inverts,
// and reports how long the collector waits until it has stopped.
func BenchmarkStoppingTheWorld(b *testing.B) {
	const name = "/sched/pauses/stopping/gc:seconds"
	read := func() *metrics.Float64Histogram {
		s := []metrics.Sample{{Name: name}}
		metrics.Read(s)
		return s[0].Value.Float64Histogram()
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		w := &Workspace{Workers: 1}
		a := symmetric(lower(spd[float64](rand.New(rand.NewPCG(1, 1)), 1024)))
		c := a.Clone()
		for {
			select {
			case <-done:
				return
			default:
			}
			c.CopyFrom(a)
			if err := Cholesky(w, c); err != nil {
				panic(err)
			}
			CholeskyInv(w, c)
		}
	}()
	before := read()
	for b.Loop() {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	after := read()
	close(done)
	<-stopped
	var total uint64
	for i := range after.Counts {
		after.Counts[i] -= before.Counts[i]
		total += after.Counts[i]
	}
	quantile := func(q float64) float64 { // the upper end of its bucket, in µs
		left := uint64(math.Ceil(q * float64(total)))
		for i, n := range after.Counts {
			if n >= left {
				return after.Buckets[i+1] * 1e6
			}
			left -= n
		}
		return math.NaN()
	}
	b.ReportMetric(quantile(.5), "µs/p50")
	b.ReportMetric(quantile(.99), "µs/p99")
	b.ReportMetric(quantile(1), "µs/max")
}
