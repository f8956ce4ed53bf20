package la

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// symmetric fills the upper triangle from the lower and returns the matrix.
func symmetric[T Float](m Matrix[T]) Matrix[T] {
	m.MirrorLower()
	return m
}

// lower returns a copy of the lower triangle of m with zeros above.
func lower[T Float](m Matrix[T]) Matrix[T] {
	c := NewMatrix[T](m.Rows, m.Cols)
	for i := range m.Rows {
		copy(c.Row(i)[:i+1], m.Row(i))
	}
	return c
}

// illConditioned returns matrices whose condition numbers reach 1/u: a Hilbert
// matrix, a smooth kernel's with jitter, and one that is badly scaled.
func illConditioned(rng *rand.Rand) map[string]Matrix[float64] {
	hilbert := NewMatrix[float64](12, 12)
	smooth := NewMatrix[float64](100, 100)
	scaled := symmetric(lower(spd[float64](rng, 60)))
	for i := range 100 {
		for j := range 100 {
			if i < 12 && j < 12 {
				hilbert.Set(i, j, 1/float64(i+j+1))
			}
			d := float64(i-j) / 50
			smooth.Set(i, j, math.Exp(-d*d/2))
			if i == j {
				smooth.Set(i, j, 1+1e-13)
			}
			if i < 60 && j < 60 {
				scaled.Set(i, j, math.Ldexp(scaled.At(i, j), -(i+j)))
			}
		}
	}
	return map[string]Matrix[float64]{"Hilbert": hilbert, "smooth": smooth, "scaled": scaled}
}

// TestCholeskyBackwardError holds the factor to its bound. The chain of l_ij
// meets j roundings, the reciprocal and the product with it one each, so that
// a_ij = Σ_k l_ik·l_jk·(1+θ), |θ| ≤ γ_{j+2}; the root on the diagonal enters
// twice and no reciprocal does. Hence |A - L·Lᵀ| ≤ γ_{n+1}·|L|·|Lᵀ| with j < n.
func TestCholeskyBackwardError(t *testing.T) {
	notShort(t)
	rng := rand.New(rand.NewPCG(4, 1))
	cases := illConditioned(rng)
	cases["tame"] = symmetric(lower(spd[float64](rng, 130)))
	for name, a := range cases {
		n := a.Rows
		m := a.Clone()
		require.NoError(t, Cholesky(nil, m), name)
		l := lower(m)
		for i := range n {
			for j := range i + 1 {
				x := append([]float64{-a.At(i, j)}, l.Row(i)[:j+1]...)
				y := append([]float64{1}, l.Row(j)[:j+1]...)
				r, abs := exactly(x, y)
				abs -= math.Abs(a.At(i, j))
				require.LessOrEqual(t, math.Abs(r), gamma(n+1, unit[float64]())*abs, "%s (%d, %d)", name, i, j)
			}
		}
	}
}

// TestInverseErrors holds X = L⁻¹ to |L·X - I| ≤ γ_{n+1}·|L|·|X|, each column being
// a forward substitution, and the product to |Ĉ - Xᵀ·X| ≤ γ_n·|Xᵀ|·|X|, a chain of
// at most n fused multiply-adds from zero. Its diagonal is CholeskyInvDiag's.
func TestInverseErrors(t *testing.T) {
	notShort(t)
	rng := rand.New(rand.NewPCG(4, 2))
	cases := illConditioned(rng)
	cases["tame"] = symmetric(lower(spd[float64](rng, 97)))
	u := unit[float64]()
	for name, a := range cases {
		n := a.Rows
		require.NoError(t, Cholesky(nil, a), name)
		l := lower(a)
		x, c, d := l.Clone(), l.Clone(), make([]float64, n)
		TriInv(nil, x)
		CholeskyInv(nil, c)
		CholeskyInvDiag(nil, l, d)
		for i := range n {
			assert.Equal(t, c.At(i, i), d[i], "%s: diagonal %d", name, i)
			for j := range i + 1 {
				r, abs := exactly(l.Row(i), column(x, j))
				if i == j {
					r -= 1
				}
				require.LessOrEqual(t, math.Abs(r), gamma(n+1, u)*abs+u, "%s: L·X (%d, %d)", name, i, j)
				p, abs := exactly(append([]float64{-c.At(i, j)}, column(x, i)...), append([]float64{1}, column(x, j)...))
				abs -= math.Abs(c.At(i, j))
				require.LessOrEqual(t, math.Abs(p), gamma(n, u)*abs, "%s: Xᵀ·X (%d, %d)", name, i, j)
			}
		}
	}
}

// TestSolveErrors holds the solutions of triangular systems to the residual
// bound |b - op(L)·x| ≤ γ_{n+1}·|op(L)|·|x|. Trsv divides, and its dot products also add the lanes:
// its solutions have fewer than n + 8 roundings.
func TestSolveErrors(t *testing.T) {
	notShort(t)
	const n, m = 77, 5
	rng := rand.New(rand.NewPCG(4, 3))
	s := newSystems[float64](rng, n, m)
	u := unit[float64]()
	check := func(k int, op Matrix[float64], x, b []float64, what string) {
		t.Helper()
		for i := range b {
			r, abs := exactly(append([]float64{-b[i]}, op.Row(i)...), append([]float64{1}, x...))
			abs -= math.Abs(b[i])
			require.LessOrEqual(t, math.Abs(r), gamma(k, u)*abs, "%s, row %d", what, i)
		}
	}
	l := lower(s.l)
	up := NewMatrix[float64](n, n)
	for i := range n {
		for j := range n {
			up.Set(j, i, l.At(i, j))
		}
	}
	for _, e := range s.solves {
		op := l
		if (e.side == Left) == (e.t == Transpose) {
			op = up
		}
		x := clone(e.b)
		Trsm(nil, e.side, e.t, s.l, x)
		for c := range m {
			if e.side == Left {
				check(n+1, op, column(x, c), column(e.b, c), "Trsm")
				v := column(e.b, c)
				Trsv(e.t, s.l, v)
				check(n+8, op, v, column(e.b, c), "Trsv")
			} else {
				check(n+1, op, x.Row(c), e.b.Row(c), "Trsm")
			}
		}
	}
}

// TestCholeskySolveBackwardError goes through both substitutions: with A = L·Lᵀ + E and each
// substitution's ΔL as bounded above, |b - A·x| ≤ γ_{3n+4}·|L|·|Lᵀ|·|x| (Higham,
// 2nd ed., theorem 10.4).
func TestCholeskySolveBackwardError(t *testing.T) {
	const n, m = 90, 3
	rng := rand.New(rand.NewPCG(4, 4))
	a := symmetric(lower(spd[float64](rng, n)))
	l := a.Clone()
	require.NoError(t, Cholesky(nil, l))
	b := filled[float64](rng, n, m)
	x := b.Clone()
	CholeskySolve(nil, l, x)
	size := lower(l)
	for i := range n {
		for j := range size.Row(i) {
			size.Set(i, j, math.Abs(size.At(i, j)))
		}
	}
	check := func(x, b []float64) {
		absX := make([]float64, n)
		for i := range x {
			absX[i] = math.Abs(x[i])
		}
		w := make([]float64, n)
		Gemv(nil, Transpose, 1, size, absX, 0, w)
		bound := make([]float64, n)
		Gemv(nil, NoTrans, 1, size, w, 0, bound)
		for i := range n {
			r, _ := exactly(append([]float64{-b[i]}, a.Row(i)...), append([]float64{1}, x...))
			require.LessOrEqual(t, math.Abs(r), gamma(3*n+4, unit[float64]())*bound[i])
		}
	}
	for c := range m {
		check(column(x, c), column(b, c))
		v := column(b, c)
		CholeskySolveVec(l, v)
		check(v, column(b, c))
	}
	want := 0.0
	for i := range n {
		want += 2 * math.Log(l.At(i, i))
	}
	assert.InEpsilon(t, want, LogDet(l), 1e-14)
}

// TestPivotErrorNamesTheRow spoils one element and expects the error to name its row. An
// element of size MaxFloat64 leaves a finite pivot on the diagonal; elsewhere its
// square overflows.
func TestPivotErrorNamesTheRow(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 7, 24, 25, 50, 65, 130} {
			rng := rand.New(rand.NewPCG(5, uint64(n)))
			good := spd[float64](rng, n)
			for _, w := range []*Workspace{{Workers: 1}, {Workers: 3, blockWidth: 24}} {
				for range 8 {
					i := rng.IntN(n)
					j := rng.IntN(i + 1)
					for name, c := range map[string]struct {
						j          int
						v          float64
						indefinite bool
					}{
						"negative":  {i, -1, true},
						"zero":      {i, 0, true},
						"NaN":       {j, math.NaN(), false},
						"+Inf":      {j, math.Inf(1), false},
						"-Inf":      {j, math.Inf(-1), false},
						"diag +Inf": {i, math.Inf(1), false},
						"diag NaN":  {i, math.NaN(), false},
						"too large": {j, -math.MaxFloat64, i == j},
					} {
						a := clone(good)
						a.Set(i, c.j, c.v)
						err := Cholesky(w, a)
						var e *PivotError
						require.True(t, errors.As(err, &e), "%s: %v", name, err)
						assert.Equal(t, i, e.Index, "%s at (%d, %d), n = %d", name, i, c.j, n)
						assert.Equal(t, c.indefinite, e.Indefinite(), "%s at (%d, %d): %v", name, i, c.j, err)
					}
				}
			}
		}
	})
}

func TestPivotErrorHasTheValueOfThePivot(t *testing.T) {
	a := NewMatrix[float64](5, 5)
	a.Fill(1)
	err := Cholesky(nil, a)
	assert.Equal(t, &PivotError{Index: 1, Value: 0}, err)
	assert.EqualError(t, err, "la: matrix is not positive definite: pivot 1 is 0")
	a.Set(0, 0, math.Inf(1))
	assert.EqualError(t, Cholesky(nil, a), "la: matrix is not finite: pivot 0 is +Inf")
}

func TestTriangularShapesPanic(t *testing.T) {
	l, wide := NewMatrix[float64](4, 4), NewMatrix[float64](4, 5)
	assert.PanicsWithValue(t, "la: A: 4×5 is not square", func() { _ = Cholesky(nil, wide) })
	assert.PanicsWithValue(t, "la: L: 4×5 is not square", func() { TriInv(nil, wide) })
	assert.PanicsWithValue(t, "la: L: 4×5 is not square", func() { CholeskyInv(nil, wide) })
	assert.PanicsWithValue(t, "la: d: length 3 where 4 is needed", func() { CholeskyInvDiag(nil, l, make([]float64, 3)) })
	assert.PanicsWithValue(t, "la: x: length 5 where 4 is needed", func() { Trsv(NoTrans, l, make([]float64, 5)) })
	assert.PanicsWithValue(t, "la: B: 4×5 does not fit a triangle of 4 rows", func() { Trsm(nil, Right, NoTrans, l, wide) })
	assert.PanicsWithValue(t, "la: B overlaps L", func() { Trsm(nil, Left, NoTrans, l, l) })
}

func TestFactorsDoNotAllocateAfterWarmUp(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, n := range []int{8, 22, 200} {
		a := spd[float64](rand.New(rand.NewPCG(6, 1)), n)
		m, b, d := clone(a), NewMatrix[float64](n, 3), make([]float64, n)
		for _, workers := range []int{1, 2} {
			w := &Workspace{Workers: workers}
			assert.Zero(t, testing.AllocsPerRun(5, func() {
				m.CopyFrom(a)
				_ = Cholesky(w, m)
				_ = LogDet(m)
				CholeskySolve(w, m, b)
				CholeskySolveVec(m, d)
				CholeskyInvDiag(w, m, d)
				CholeskyInv(w, m)
			}), "n = %d, %d workers", n, workers)
		}
	}
}
