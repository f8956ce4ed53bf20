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

// level holds the routines that la has, of one precision.
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

// The suite of gonum has small matrices only, and none in single precision. Here are sizes
// on both sides of every limit and of every halving, against gonum's own routines.
func TestAgainstGonum(t *testing.T) {
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
	rng := rand.New(rand.NewPCG(3, 4))
	one := func() T { return T(rng.NormFloat64()) }
	pick := func(from ...T) T { return from[rng.IntN(len(from))] }
	// random returns the elements of a matrix, NaN beside its rows.
	random := func(rows, cols, stride int) []T {
		a := make([]T, (rows-1)*stride+cols)
		for i := range a {
			a[i] = T(math.NaN())
			if i%stride < cols {
				a[i] = one()
			}
		}
		return a
	}
	// triangle returns a matrix, well conditioned, with NaN in the triangle not to be read.
	triangle := func(n, stride int, ul blas.Uplo, d blas.Diag) []T {
		a := random(n, n, stride)
		for i := range n {
			for j := range n {
				switch {
				case i == j && d == blas.Unit, ul == blas.Lower && j > i, ul == blas.Upper && j < i:
					a[i*stride+j] = T(math.NaN())
				case i == j:
					a[i*stride+j] = 4 + T(rng.Float64())
				default:
					a[i*stride+j] /= T(n)
				}
			}
		}
		return a
	}
	output := func(rows, cols, stride int, beta T) []T {
		c := random(rows, cols, stride)
		if beta == 0 {
			for i := range c {
				c[i] = T(math.NaN())
			}
		}
		return c
	}
	// gonum multiplies C by β even where that is 0 in syrk and syr2k, so that NaNs stay.
	finite := func(a []T) []T {
		for i := range a {
			a[i] = one()
		}
		return a
	}
	// both runs f on a copy of c for each library and compares what has become of them.
	both := func(c []T, f func(l level[T], c []T), what ...any) {
		t.Helper()
		x, y := append([]T{}, c...), append([]T{}, c...)
		f(want, x)
		f(got, y)
		for i := range x {
			if a, b := float64(x[i]), float64(y[i]); math.Abs(a-b) > tol*(1+math.Abs(a)) || math.IsNaN(a) != math.IsNaN(b) {
				require.Fail(t, "results differ", "%v: element %d is %v, not %v", what, i, b, a)
			}
		}
	}
	size := func() int { return []int{1, 2, 7, 15, 24, 33, 64, 100, 129, 150, 260}[rng.IntN(11)] }
	transposes := []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	for range rounds {
		tA, tB := transposes[rng.IntN(3)], transposes[rng.IntN(3)]
		m, n, k := size(), size(), size()
		lda, ldb, ldc := max(m, n, k)+rng.IntN(3), max(m, n, k)+rng.IntN(3), n+rng.IntN(3)
		alpha, beta := pick(0, 1, -1, one()), pick(0, 1, one())
		stored := func(t blas.Transpose, rows, cols, stride int) []T {
			if t != blas.NoTrans {
				rows, cols = cols, rows
			}
			return random(rows, cols, stride)
		}
		a, b := stored(tA, m, k, lda), stored(tB, k, n, ldb)
		both(output(m, n, ldc, beta), func(l level[T], c []T) {
			l.gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		}, "gemm", string(tA), string(tB), m, n, k, alpha, beta)

		a, b = stored(tA, n, k, lda), stored(tA, n, k, ldb)
		for _, ul := range []blas.Uplo{blas.Lower, blas.Upper} {
			both(finite(output(n, n, ldc, beta)), func(l level[T], c []T) {
				l.syrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
			}, "syrk", string(ul), string(tA), n, k, alpha, beta)
			both(finite(output(n, n, ldc, beta)), func(l level[T], c []T) {
				l.syr2k(ul, tA, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
			}, "syr2k", string(ul), string(tA), n, k, alpha, beta)

			incX, incY := int(pick(1, 1, 3, -2)), int(pick(1, 1, 2, -3))
			span := func(n, inc int) int { return (n-1)*max(inc, -inc) + 1 }
			x, y := random(1, 3*260, 3*260), output(1, span(n, incY), 3*260, beta)
			s := triangle(n, lda, ul, blas.NonUnit)
			both(y, func(l level[T], y []T) {
				l.symv(ul, n, alpha, s, lda, x, incX, beta, y, incY)
			}, "symv", string(ul), n, alpha, beta, incX, incY)
			for _, d := range []blas.Diag{blas.NonUnit, blas.Unit} {
				a := triangle(n, lda, ul, d)
				both(x, func(l level[T], x []T) {
					l.trsv(ul, tA, d, n, a, lda, x, incX)
				}, "trsv", string(ul), string(tA), string(d), n, incX)
				for _, side := range []blas.Side{blas.Left, blas.Right} {
					order := n
					if side == blas.Left {
						order = m
					}
					a := triangle(order, lda, ul, d)
					b := random(m, n, ldc)
					what := []any{string(side), string(ul), string(tA), string(d), m, n, alpha, beta}
					both(b, func(l level[T], b []T) { l.trmm(side, ul, tA, d, m, n, alpha, a, lda, b, ldc) }, append(what, "trmm")...)
					both(b, func(l level[T], b []T) { l.trsm(side, ul, tA, d, m, n, alpha, a, lda, b, ldc) }, append(what, "trsm")...)
					if d == blas.NonUnit {
						both(output(m, n, ldc, beta), func(l level[T], c []T) {
							l.symm(side, ul, m, n, alpha, a, lda, b, ldc, beta, c, ldc)
						}, append(what, "symm")...)
					}
				}
			}
			a := random(m, n, lda)
			of := m
			if tA != blas.NoTrans {
				of = n
			}
			y = output(1, span(of, incY), 3*260, beta)
			both(y, func(l level[T], y []T) {
				l.gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
			}, "gemv", string(tA), m, n, alpha, beta, incX, incY)
			y = random(1, 3*260, 3*260)
			both(y, func(l level[T], y []T) { l.axpy(n, alpha, x, incX, y, incY) }, "axpy", n, incX, incY)
			both(y, func(l level[T], y []T) { y[0] = l.dot(n, x, incX, y, incY) }, "dot", n, incX, incY)
		}
	}
}

// Whatever is wrong with the arguments, gonum's own routine says so.
func TestBadArguments(t *testing.T) {
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

// gonum takes output that overlaps input; la refuses it.
func TestOverlap(t *testing.T) {
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

// la has an inverse with infinities where gonum says that there is none.
func TestSingular(t *testing.T) {
	for _, ul := range []blas.Uplo{blas.Lower, blas.Upper} {
		a := []float64{1, 2, 2, 0}
		l := LAPACK{eager: true}
		assert.False(t, l.Dpotri(ul, 2, a, 2))
		assert.False(t, l.Dtrtri(ul, blas.NonUnit, 2, a, 2))
		assert.False(t, l.Dpotrf(ul, 2, []float64{1, 2, 2, 1}, 2))
		assert.False(t, l.Dpotrf(ul, 2, []float64{1, 0, 0, math.NaN()}, 2))
	}
}

// The import alone puts la to work, if la has vector instructions.
func TestInit(t *testing.T) {
	var b64, b32 any = BLAS{}, BLAS{}
	if set := la.InstructionSet(); set == "generic" {
		b64, b32 = gonumblas.Implementation{}, gonumblas.Implementation{}
	}
	assert.Equal(t, b64, blas64.Implementation())
	assert.Equal(t, b32, blas32.Implementation())
}

// What mat computes by la satisfies the equations that it should.
func TestMat(t *testing.T) {
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

// Calls at the same time share no memory.
func TestConcurrentCalls(t *testing.T) {
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
