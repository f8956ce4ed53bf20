package gonum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/bmkl/bmkl/la"
)

// level holds the routines that la replaces, in one precision.
type level[T la.Float] struct {
	gemm  func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	symm  func(s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	syrk  func(ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int)
	syr2k func(ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	trmm  func(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)
	trsm  func(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int)
	gemv  func(t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int)
	symv  func(ul blas.Uplo, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int)
	trsv  func(ul blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []T, lda int, x []T, incX int)
	dot   func(n int, x []T, incX int, y []T, incY int) T
	axpy  func(n int, alpha T, x []T, incX int, y []T, incY int)
}

func double(b blas.Float64) level[float64] {
	return level[float64]{b.Dgemm, b.Dsymm, b.Dsyrk, b.Dsyr2k, b.Dtrmm, b.Dtrsm, b.Dgemv, b.Dsymv, b.Dtrsv, b.Ddot, b.Daxpy}
}

func single(b blas.Float32) level[float32] {
	return level[float32]{b.Sgemm, b.Ssymm, b.Ssyrk, b.Ssyr2k, b.Strmm, b.Strsm, b.Sgemv, b.Ssymv, b.Strsv, b.Sdot, b.Saxpy}
}

// TestResultsEqualGonums compares la's routines with gonum's own, in both precisions, for sizes on both
// sides of every limit and of every halving. gonum's suite has only small matrices in float64.
func TestResultsEqualGonums(t *testing.T) {
	for _, eager := range []bool{false, true} {
		b := BLAS{eager: eager}
		t.Run(fmt.Sprint("float64 eager=", eager), func(t *testing.T) {
			compare(t, double(gonumblas.Implementation{}), double(b), 1e-11)
		})
		t.Run(fmt.Sprint("float32 eager=", eager), func(t *testing.T) {
			compare(t, single(gonumblas.Implementation{}), single(b), 4e-3)
		})
	}
}

func compare[T la.Float](t *testing.T, want, got level[T], tol float64) {
	p := &peers[T]{T: t, want: want, got: got, tol: tol, rng: rand.New(rand.NewPCG(3, 4))}
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for range rounds {
		p.draw()
		p.products()
		for _, ul := range []blas.Uplo{blas.Lower, blas.Upper} {
			p.rankUpdates(ul)
			p.triangleAndVector(ul)
			p.triangleAndMatrix(ul)
		}
		p.vectors()
	}
}

// peers calls the routines of two libraries with the same random arguments.
type peers[T la.Float] struct {
	*testing.T
	want, got level[T]
	tol       float64
	rng       *rand.Rand

	tA, tB        blas.Transpose
	m, n, k       int
	lda, ldb, ldc int
	incX, incY    int
	alpha, beta   T
}

// draw draws the arguments of a round.
func (p *peers[T]) draw() {
	transposes := []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}
	size := func() int { return []int{1, 2, 7, 15, 24, 33, 64, 100, 129, 150, 260}[p.rng.IntN(11)] }
	p.tA, p.tB = transposes[p.rng.IntN(3)], transposes[p.rng.IntN(3)]
	p.m, p.n, p.k = size(), size(), size()
	longest := max(p.m, p.n, p.k)
	p.lda, p.ldb, p.ldc = longest+p.rng.IntN(3), longest+p.rng.IntN(3), p.n+p.rng.IntN(3)
	p.incX, p.incY = []int{1, 1, 3, -2}[p.rng.IntN(4)], []int{1, 1, 2, -3}[p.rng.IntN(4)]
	p.alpha, p.beta = []T{0, 1, -1, p.one()}[p.rng.IntN(4)], []T{0, 1, p.one()}[p.rng.IntN(3)]
}

// one returns a random number.
func (p *peers[T]) one() T { return T(p.rng.NormFloat64()) }

// random returns the elements of a random matrix. Elements between its rows are NaN.
func (p *peers[T]) random(rows, cols, stride int) []T {
	a := make([]T, (rows-1)*stride+cols)
	for i := range a {
		a[i] = T(math.NaN())
		if i%stride < cols {
			a[i] = p.one()
		}
	}
	return a
}

// operand returns a random matrix A with rows×cols elements in op(A).
func (p *peers[T]) operand(t blas.Transpose, rows, cols, stride int) []T {
	if t != blas.NoTrans {
		rows, cols = cols, rows
	}
	return p.random(rows, cols, stride)
}

// triangle returns a well-conditioned triangle. Elements that must not be read are NaN.
func (p *peers[T]) triangle(n, stride int, ul blas.Uplo, d blas.Diag) []T {
	a := p.random(n, n, stride)
	for i := range n {
		for j := range n {
			switch {
			case i == j && d == blas.Unit, ul == blas.Lower && j > i, ul == blas.Upper && j < i:
				a[i*stride+j] = T(math.NaN())
			case i == j:
				a[i*stride+j] = 4 + T(p.rng.Float64())
			default:
				a[i*stride+j] /= T(n)
			}
		}
	}
	return a
}

// output returns a matrix for a result. With β = 0 its elements are NaN.
func (p *peers[T]) output(rows, cols, stride int) []T {
	c := p.random(rows, cols, stride)
	if p.beta == 0 {
		for i := range c {
			c[i] = T(math.NaN())
		}
	}
	return c
}

// vector returns a random vector with room for every size and increment.
func (p *peers[T]) vector() []T { return p.random(1, 3*260, 3*260) }

// result returns a vector for a result of n elements, incY apart.
func (p *peers[T]) result(n int) []T {
	return p.output(1, (n-1)*max(p.incY, -p.incY)+1, 3*260)
}

// both calls f with a copy of c for each library, and compares the copies.
func (p *peers[T]) both(c []T, f func(l level[T], c []T), what ...any) {
	p.Helper()
	x, y := slices.Clone(c), slices.Clone(c)
	f(p.want, x)
	f(p.got, y)
	for i := range x {
		if a, b := float64(x[i]), float64(y[i]); math.Abs(a-b) > p.tol*(1+math.Abs(a)) || math.IsNaN(a) != math.IsNaN(b) {
			require.Fail(p, "results differ", "%v, op %c %c, m %d n %d k %d, α %v β %v, increments %d %d: element %d is %v, not %v",
				what, p.tA, p.tB, p.m, p.n, p.k, p.alpha, p.beta, p.incX, p.incY, i, b, a)
		}
	}
}

func (p *peers[T]) products() {
	a, b := p.operand(p.tA, p.m, p.k, p.lda), p.operand(p.tB, p.k, p.n, p.ldb)
	p.both(p.output(p.m, p.n, p.ldc), func(l level[T], c []T) {
		l.gemm(p.tA, p.tB, p.m, p.n, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta, c, p.ldc)
	}, "gemm")
}

// rankUpdates has no NaN in C: with β = 0, gonum multiplies C by 0 in syrk and syr2k.
func (p *peers[T]) rankUpdates(ul blas.Uplo) {
	a, b := p.operand(p.tA, p.n, p.k, p.lda), p.operand(p.tA, p.n, p.k, p.ldb)
	c := p.random(1, (p.n-1)*p.ldc+p.n, p.n*p.ldc)
	p.both(c, func(l level[T], c []T) {
		l.syrk(ul, p.tA, p.n, p.k, p.alpha, a, p.lda, p.beta, c, p.ldc)
	}, "syrk", string(ul))
	p.both(c, func(l level[T], c []T) {
		l.syr2k(ul, p.tA, p.n, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta, c, p.ldc)
	}, "syr2k", string(ul))
}

func (p *peers[T]) triangleAndVector(ul blas.Uplo) {
	x, s := p.vector(), p.triangle(p.n, p.lda, ul, blas.NonUnit)
	p.both(p.result(p.n), func(l level[T], y []T) {
		l.symv(ul, p.n, p.alpha, s, p.lda, x, p.incX, p.beta, y, p.incY)
	}, "symv", string(ul))
	for _, d := range []blas.Diag{blas.NonUnit, blas.Unit} {
		a := p.triangle(p.n, p.lda, ul, d)
		p.both(x, func(l level[T], x []T) {
			l.trsv(ul, p.tA, d, p.n, a, p.lda, x, p.incX)
		}, "trsv", string(ul), string(d))
	}
}

func (p *peers[T]) triangleAndMatrix(ul blas.Uplo) {
	for _, side := range []blas.Side{blas.Left, blas.Right} {
		order := p.n
		if side == blas.Left {
			order = p.m
		}
		for _, d := range []blas.Diag{blas.NonUnit, blas.Unit} {
			a, b := p.triangle(order, p.lda, ul, d), p.random(p.m, p.n, p.ldc)
			what := string(side) + string(ul) + string(d)
			p.both(b, func(l level[T], b []T) { l.trmm(side, ul, p.tA, d, p.m, p.n, p.alpha, a, p.lda, b, p.ldc) }, "trmm", what)
			p.both(b, func(l level[T], b []T) { l.trsm(side, ul, p.tA, d, p.m, p.n, p.alpha, a, p.lda, b, p.ldc) }, "trsm", what)
			if d == blas.NonUnit {
				p.both(p.output(p.m, p.n, p.ldc), func(l level[T], c []T) {
					l.symm(side, ul, p.m, p.n, p.alpha, a, p.lda, b, p.ldc, p.beta, c, p.ldc)
				}, "symm", what)
			}
		}
	}
}

func (p *peers[T]) vectors() {
	a, x, rows := p.random(p.m, p.n, p.lda), p.vector(), p.m
	if p.tA != blas.NoTrans {
		rows = p.n
	}
	p.both(p.result(rows), func(l level[T], y []T) {
		l.gemv(p.tA, p.m, p.n, p.alpha, a, p.lda, x, p.incX, p.beta, y, p.incY)
	}, "gemv")
	y := p.vector()
	p.both(y, func(l level[T], y []T) { l.axpy(p.n, p.alpha, x, p.incX, y, p.incY) }, "axpy")
	p.both(y, func(l level[T], y []T) { y[0] = l.dot(p.n, x, p.incX, y, p.incY) }, "dot")
}

// TestBadArgumentsPanicWithGonumsMessages: gonum's own routine gets every call with a bad argument.
func TestBadArgumentsPanicWithGonumsMessages(t *testing.T) {
	x := make([]float64, 40*40)
	N, L, left, U := blas.NoTrans, blas.Lower, blas.Left, blas.NonUnit
	for name, call := range map[string]func(b blas.Float64){
		"gemm transpose":  func(b blas.Float64) { b.Dgemm('X', N, 20, 20, 20, 1, x, 20, x, 20, 0, x, 20) },
		"gemm m":          func(b blas.Float64) { b.Dgemm(N, N, -20, 20, 20, 1, x, 20, x, 20, 0, x, 20) },
		"gemm two signs":  func(b blas.Float64) { b.Dgemm(N, N, -20, -20, 20, 1, x, 20, x, 20, 0, x, 20) },
		"gemm stride":     func(b blas.Float64) { b.Dgemm(N, N, 20, 20, 20, 1, x, 19, x, 20, 0, x, 20) },
		"gemm short":      func(b blas.Float64) { b.Dgemm(N, N, 20, 20, 20, 1, x, 20, x[:399], 20, 0, x, 20) },
		"symm side":       func(b blas.Float64) { b.Dsymm('X', L, 20, 20, 1, x, 20, x, 20, 0, x, 20) },
		"syrk triangle":   func(b blas.Float64) { b.Dsyrk(blas.All, N, 30, 30, 1, x, 30, 0, x, 30) },
		"syr2k short":     func(b blas.Float64) { b.Dsyr2k(L, N, 30, 30, 1, x, 30, x, 30, 0, x[:10], 30) },
		"trmm diagonal":   func(b blas.Float64) { b.Dtrmm(left, L, N, 'X', 40, 40, 1, x, 40, x, 40) },
		"trsm stride":     func(b blas.Float64) { b.Dtrsm(left, L, N, U, 30, 30, 1, x, 30, x, 29) },
		"trsm of one":     func(b blas.Float64) { b.Dtrsm(left, L, N, U, 30, 1, 1, x, 29, x, 1) },
		"gemv increment":  func(b blas.Float64) { b.Dgemv(N, 40, 40, 1, x, 40, x, 0, 0, x, 1) },
		"gemv short":      func(b blas.Float64) { b.Dgemv(N, 40, 40, 1, x, 40, x[:39], 1, 0, x, 1) },
		"gemv short back": func(b blas.Float64) { b.Dgemv(N, 40, 40, 1, x, 40, x, 1, 0, x[:78], -2) },
		"symv n":          func(b blas.Float64) { b.Dsymv(L, -1, 1, x, 40, x, 1, 0, x, 1) },
		"trsv short":      func(b blas.Float64) { b.Dtrsv(L, N, U, 40, x[:1599], 40, x, 1) },
		"dot short":       func(b blas.Float64) { b.Ddot(400, x, 1, x[:399], 1) },
		"axpy increment":  func(b blas.Float64) { b.Daxpy(400, 1, x, 1, x, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			said := panicOf(func() { call(gonumblas.Implementation{}) })
			require.Contains(t, fmt.Sprint(said), "blas: ")
			assert.Equal(t, said, panicOf(func() { call(BLAS{}) }))
			assert.Equal(t, said, panicOf(func() { call(BLAS{eager: true}) }))
		})
	}
}

func panicOf(f func()) (said any) {
	defer func() { said = recover() }()
	f()
	return nil
}

// TestOverlappingOutputGivesGonumsResults: gonum accepts output that overlaps input, la does not.
func TestOverlappingOutputGivesGonumsResults(t *testing.T) {
	for name, call := range map[string]func(b blas.Float64, x []float64){
		"axpy": func(b blas.Float64, x []float64) { b.Daxpy(1500, 0.5, x, 1, x[1:], 1) },
		"gemv": func(b blas.Float64, x []float64) { b.Dgemv(blas.Trans, 40, 40, 1, x, 40, x[2000:], 1, 1, x[20:], 1) },
		"gemm": func(b blas.Float64, x []float64) {
			b.Dgemm(blas.NoTrans, blas.NoTrans, 20, 20, 20, 1, x, 40, x[20:], 40, 1, x[10:], 40)
		},
		"trsm": func(b blas.Float64, x []float64) {
			b.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.Unit, 24, 24, 1, x, 30, x[25:], 31)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var x, y [3000]float64
			for i := range x {
				x[i] = 1e-3 * math.Sin(float64(i))
			}
			y = x
			call(gonumblas.Implementation{}, x[:])
			call(BLAS{eager: true}, y[:])
			assert.True(t, x == y)
		})
	}
}

// TestSingularMatricesHaveNoInverse: la alone would return infinities.
func TestSingularMatricesHaveNoInverse(t *testing.T) {
	for _, ul := range []blas.Uplo{blas.Lower, blas.Upper} {
		a := []float64{1, 2, 2, 0}
		l := LAPACK{eager: true}
		assert.False(t, l.Dpotri(ul, 2, a, 2))
		assert.False(t, l.Dtrtri(ul, blas.NonUnit, 2, a, 2))
		assert.False(t, l.Dpotrf(ul, 2, []float64{1, 2, 2, 1}, 2))
		assert.False(t, l.Dpotrf(ul, 2, []float64{1, 0, 0, math.NaN()}, 2))
	}
}

// TestImportReplacesBLAS: the import alone makes gonum use la, if la has vector instructions.
func TestImportReplacesBLAS(t *testing.T) {
	var b64, b32 any = BLAS{}, BLAS{}
	if set, _ := la.InstructionSet(); set == "generic" {
		b64, b32 = gonumblas.Implementation{}, gonumblas.Implementation{}
	}
	assert.Equal(t, b64, blas64.Implementation())
	assert.Equal(t, b32, blas32.Implementation())
}

// TestMatSatisfiesItsEquations: products, factors, inverses and solutions of package mat, computed by la.
func TestMatSatisfiesItsEquations(t *testing.T) {
	for _, n := range []int{3, 30, 140} {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		a := mat.NewDense(n+3, n, nil)
		for i := range n + 3 {
			for j := range n {
				a.Set(i, j, rng.NormFloat64())
			}
		}
		near := func(want, got mat.Matrix, what string) {
			assert.True(t, mat.EqualApprox(want, got, 1e-9), "%s, n = %d", what, n)
		}
		var product, gram mat.Dense
		product.Mul(a.T(), mat.DenseCopyOf(a))
		gram.Mul(a.T(), a)
		near(&product, &gram, "Mul")
		sym := mat.NewSymDense(n, gram.RawMatrix().Data)
		for i := range n {
			sym.SetSym(i, i, sym.At(i, i)+1)
		}

		var chol mat.Cholesky
		require.True(t, chol.Factorize(sym))
		var back mat.SymDense
		chol.ToSym(&back)
		near(sym, &back, "Cholesky")
		var inverse mat.SymDense
		require.NoError(t, chol.InverseTo(&inverse))
		var identity mat.Dense
		identity.Mul(sym, &inverse)
		near(mat.NewDiagDense(n, ones(n)), &identity, "InverseTo")
		var x mat.VecDense
		require.NoError(t, chol.SolveVecTo(&x, mat.NewVecDense(n, ones(n))))
		var b mat.VecDense
		b.MulVec(sym, &x)
		near(mat.NewVecDense(n, ones(n)), &b, "SolveVecTo")

		var svd mat.SVD
		require.True(t, svd.Factorize(a, mat.SVDThin))
		var u, v, us, usv mat.Dense
		svd.UTo(&u)
		svd.VTo(&v)
		us.Mul(&u, mat.NewDiagDense(n, svd.Values(nil)))
		usv.Mul(&us, v.T())
		near(a, &usv, "SVD")
	}
}

// TestConcurrentCallsShareNoMemory: results do not depend on other calls at the same time.
func TestConcurrentCallsShareNoMemory(t *testing.T) {
	const n = 150
	rng := rand.New(rand.NewPCG(5, 6))
	a := make([]float64, n*n)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	result := func() []float64 {
		c := make([]float64, n*n)
		BLAS{}.Dsyrk(blas.Upper, blas.NoTrans, n, n, 1, a, n, 0, c, n)
		LAPACK{}.Dpotrf(blas.Upper, n, c, n)
		return c
	}
	want := result()
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() { assert.True(t, slices.Equal(want, result())) })
	}
	g.Wait()
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}
