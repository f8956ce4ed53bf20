package la

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unit returns the unit roundoff u of T.
func unit[T Float]() float64 {
	if is64[T]() {
		return 0x1p-53
	}
	return 0x1p-24
}

// gamma returns γ_k = k·u/(1 - k·u), which bounds |Π(1+δ_i) - 1| for k roundings
// |δ_i| ≤ u (Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1).
func gamma(k int, u float64) float64 { return float64(k) * u / (1 - float64(k)*u) }

// exactly returns Σ x_i·y_i and Σ |x_i·y_i|, by big.Float with so many digits that
// neither the products nor the sum round.
func exactly[T Float](x, y []T) (sum, abs float64) {
	const digits = 400
	s, a := new(big.Float).SetPrec(digits), new(big.Float).SetPrec(digits)
	for i := range x {
		p := new(big.Float).SetPrec(digits).Mul(big.NewFloat(float64(x[i])), big.NewFloat(float64(y[i])))
		s.Add(s, p)
		a.Add(a, p.Abs(p))
	}
	sum, _ = s.Float64()
	abs, _ = a.Float64()
	return sum, abs
}

func column[T Float](m Matrix[T], j int) []T {
	x := make([]T, m.Rows)
	for i := range x {
		x[i] = m.At(i, j)
	}
	return x
}

// notShort skips a test of accuracy, costly where arithmetic is emulated, in
// short runs: those hold the same bits, and so the same accuracy, to the portable
// kernels.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("accuracy: the full run checks it on the same bits")
	}
}

// TestGemmAgreesWithExactSums takes the error bound from the definition. A term
// a·b of a chain of at most BlockK fused multiply-adds meets one rounding for
// itself and one for each later term, none for the product: at most k. The
// multiplication by α, where the block enters C, is fused or rounds once, and each
// later block adds one more rounding to what C holds: 1 + k/BlockK. β·C meets one
// rounding for itself and one a block. With all of them, for k terms,
//
//	|Ĉ - C| ≤ γ_{k+2+⌈k/BlockK⌉} (|α| Σ|a||b| + |β||C|).
func TestGemmAgreesWithExactSums(t *testing.T) {
	notShort(t)
	floats(t, testGemmExact[float64], testGemmExact[float32])
}

func testGemmExact[T Float](t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(17, 18))
		for _, s := range []trio{{1, 1, 1}, {5, 7, 3}, {8, 24, 16}, {13, 29, 40}, {9, 25, BlockK + 1}, {3, 50, 600}} {
			alpha, beta := T(r.NormFloat64()), T(r.NormFloat64())
			a, b, c := filled[T](r, s.m, s.k), filled[T](r, s.k, s.n), filled[T](r, s.m, s.n)
			got := c.Clone()
			Gemm(nil, NoTrans, NoTrans, alpha, a, b, beta, got)
			g := gamma(s.k+2+(s.k+BlockK-1)/BlockK, unit[T]())
			for i := range s.m {
				for j := range s.n {
					sum, abs := exactly(a.Row(i), column(b, j))
					want := float64(alpha)*sum + float64(beta)*float64(c.At(i, j))
					bound := g * (math.Abs(float64(alpha))*abs + math.Abs(float64(beta)*float64(c.At(i, j))))
					// want itself is rounded three times in float64.
					require.InDelta(t, want, float64(got.At(i, j)), bound*(1+1e-10)+4*0x1p-53*(math.Abs(want)+bound/g), "%+v (%d, %d)", s, i, j)
				}
			}
		}
	})
}

// TestDotAgreesWithExactSums: a term meets at most ⌈n/dotLanes⌉ roundings in its
// lane and one in each of log₂ dotLanes folds.
func TestDotAgreesWithExactSums(t *testing.T) {
	floats(t, testDotExact[float64], testDotExact[float32])
}

func testDotExact[T Float](t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(19, 20))
		for _, n := range []int{0, 1, 31, 32, 33, 1000, 5000} {
			x, y := filled[T](r, 1, n).Row(0), filled[T](r, 1, n).Row(0)
			sum, abs := exactly(x, y)
			bound := gamma((n+dotLanes-1)/dotLanes+5, unit[T]()) * abs
			assert.InDelta(t, sum, float64(Dot(x, y)), bound+0x1p-53*math.Abs(sum), "n=%d", n)
		}
	})
}

func TestSymvAndGemvAgreeWithExactSums(t *testing.T) {
	notShort(t)
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(21, 22))
		for _, n := range []int{1, 33, 300, 600} {
			a, x := filled[float64](r, n, n), filled[float64](r, 1, n).Row(0)
			full := a.Clone()
			full.MirrorLower()
			y, z, v := make([]float64, n), make([]float64, n), make([]float64, n)
			Symv(nil, 1, a, x, 0, y)
			Gemv(nil, NoTrans, 1, full, x, 0, z)
			Gemv(nil, Transpose, 1, full, x, 0, v)
			for i := range n {
				sum, abs := exactly(full.Row(i), x)
				// No chain is longer than n, and no sum of partial vectors than 16.
				bound := gamma(n+20, 0x1p-53) * abs
				assert.InDelta(t, sum, y[i], bound, "Symv n=%d", n)
				assert.InDelta(t, sum, z[i], bound, "Gemv n=%d", n)
				assert.InDelta(t, sum, v[i], bound, "Gemv transposed n=%d", n)
			}
		}
	})
}

func TestSqDistIsAccurateAndSymmetric(t *testing.T) {
	floats(t, testDistances[float64], testDistances[float32])
}

func testDistances[T Float](t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(23, 24))
		const n, d = 41, 13
		x, k := filled[T](r, n, d), filled[T](r, n, n)
		copy(x.Row(7), x.Row(3))
		SqDist(nil, x, x, k)
		for i := range n {
			assert.Equal(t, T(0), k.At(i, i))
			for j := range n {
				assert.Equal(t, k.At(j, i), k.At(i, j))
				var want float64
				for f := range d {
					v := float64(x.At(i, f)) - float64(x.At(j, f))
					want += v * v
				}
				// The difference rounds once and counts twice, its square and the
				// terms after it at most d times; want rounds a little itself.
				assert.InDelta(t, want, float64(k.At(i, j)), (gamma(d+2, unit[T]())+gamma(d+3, 0x1p-53))*want)
			}
		}
		assert.Equal(t, T(0), k.At(3, 7))
	})
}

// bigExp returns e^x to about 200 bits: the Taylor series of x/2^k, squared k times.
func bigExp(x float64) *big.Float {
	const digits, halvings = 280, 40
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(v) }
	r := f(x)
	r.SetMantExp(r, -halvings)
	sum, term := f(1), f(1)
	for i := 1; i < 20; i++ {
		term.Mul(term, r)
		term.Quo(term, f(float64(i)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// ulps returns |got - want| in units of the last place of a number of want's
// size, with so many digits and that least exponent of the last place.
func ulps(got float64, want *big.Float, digits, least int) float64 {
	d := new(big.Float).Sub(new(big.Float).SetPrec(280).SetFloat64(got), want)
	d.SetMantExp(d, -max(want.MantExp(nil)-digits, least))
	f, _ := d.Abs(d).Float64()
	return f
}

// expPoints are arguments all over the range in which e^x is a finite number and
// not 0, where n changes, and where the result becomes subnormal.
func expPoints(low, subnormal, high float64) []float64 {
	r := rand.New(rand.NewPCG(25, 26))
	var x []float64
	for range 1500 {
		x = append(x, low+(high-low)*r.Float64(), subnormal*(1+0.05*r.Float64()), r.NormFloat64(), 1e-5*r.NormFloat64())
	}
	for n := int(low / math.Ln2); n < int(high/math.Ln2); n += 7 {
		x = append(x, (float64(n)+0.5)*math.Ln2, math.Nextafter((float64(n)+0.5)*math.Ln2, 1e9))
	}
	return x
}

func TestExpIsWithinAnUlp(t *testing.T) {
	x := expPoints(-745, -708, 709.78)
	want := make([]*big.Float, len(x))
	for i, v := range x {
		want[i] = bigExp(v)
	}
	forEachKernel(t, func(t *testing.T) {
		y := make([]float64, len(x))
		Exp(y, x)
		worst := 0.0
		for i, v := range y {
			worst = max(worst, ulps(v, want[i], 53, -1074))
		}
		t.Logf("largest error %.3f ulp", worst)
		assert.Less(t, worst, 1.0)
	})
}

func TestExp32IsWithinAnUlp(t *testing.T) {
	var x []float32
	for _, v := range expPoints(-103.9, -87.4, 88.72) {
		x = append(x, float32(v))
	}
	want := make([]*big.Float, len(x))
	for i, v := range x {
		want[i] = bigExp(float64(v))
	}
	forEachKernel(t, func(t *testing.T) {
		y := make([]float32, len(x))
		Exp(y, x)
		worst := 0.0
		for i, v := range y {
			worst = max(worst, ulps(float64(v), want[i], 24, -149))
		}
		t.Logf("largest error %.3f ulp", worst)
		assert.Less(t, worst, 1.0)
	})
}

func TestExpAtTheEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	cases := []struct{ x, want float64 }{
		{0, 1}, {math.Copysign(0, -1), 1}, {inf, inf}, {-inf, 0}, {nan, nan},
		{710, inf}, {709.7827128933841, inf},
		{1e300, inf}, {-1e300, 0}, {-746, 0}, {-745.2, 0}, {-745.1, 5e-324}, {5e-324, 1},
	}
	forEachKernel(t, func(t *testing.T) {
		for n := range 20 {
			src, dst := make([]float64, n*len(cases)), make([]float64, n*len(cases))
			for i := range src {
				src[i] = cases[i%len(cases)].x
			}
			Exp(dst, src)
			for i, got := range dst {
				assert.Equal(t, bitsOf(cases[i%len(cases)].want), bitsOf(got), "exp(%v) = %v", src[i], got)
			}
		}
		src := []float32{0, float32(inf), float32(-inf), float32(nan), 89, -105, 1e30, -1e30}
		Exp(src, src)
		want := []float32{1, float32(inf), 0, float32(nan), float32(inf), 0, float32(inf), 0}
		sameBits(t, want, src, "float32")
	})
}

// Entries of Matern cannot be compared with e^−s at s that no float64 holds, so the roots are exact here.
func TestMaternIsAccurate(t *testing.T) {
	roots := []float64{0, 0x1p-20, 0.25, 1, 3.5, 20, 300, 1e4}
	forEachKernel(t, func(t *testing.T) {
		k, e := make([]float64, 5000), make([]float64, 5000)
		for i := range k {
			s := roots[i%len(roots)]
			k[i] = s * s
		}
		Matern(k, e)
		for i, got := range k {
			s := roots[i%len(roots)]
			want, _ := new(big.Float).Mul(big.NewFloat(1+s), bigExp(-s)).Float64()
			assert.InEpsilon(t, 1+want, 1+got, 1e-15, "s = %g", s)
			assert.InDelta(t, want, got, 4e-16*want)
			assert.InDelta(t, math.Exp(-s), e[i], 4e-16*math.Exp(-s))
		}
	})
}

func TestFma32RoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	any32 := func() float32 {
		for {
			if f := math.Float32frombits(r.Uint32()); f == f {
				return f
			}
		}
	}
	check := func(x, y, z float32) {
		got := fma32(x, y, z)
		if math.IsInf(float64(x), 0) || math.IsInf(float64(y), 0) || math.IsInf(float64(z), 0) {
			return
		}
		exact := new(big.Float).SetPrec(700).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
		exact.Add(exact, big.NewFloat(float64(z)))
		if exact.Sign() == 0 {
			assert.Zero(t, got)
			return
		}
		want, _ := exact.Float32()
		assert.Equal(t, want, got, "%v·%v + %v", x, y, z)
	}
	for range 100000 {
		x, y := any32(), any32()
		check(x, y, any32())
		// Sums near half way between two numbers of float32, where rounding twice
		// goes wrong.
		p := float32(float64(x) * float64(y))
		check(x, y, -p*(1+float32(r.IntN(3))*0x1p-23))
		check(1+float32(r.IntN(1<<12))*0x1p-23, 1+float32(r.IntN(1<<12))*0x1p-23, float32(math.Ldexp(1, -r.IntN(60)-20)))
	}
	assert.True(t, fma32(float32(math.Inf(1)), 0, 1) != fma32(float32(math.Inf(1)), 0, 1))
	assert.Equal(t, float32(math.Inf(-1)), fma32(2, 3, float32(math.Inf(-1))))
}

func TestZerosAreNotSkipped(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		nan := math.NaN()
		a, b, c := NewMatrix[float64](3, 3), NewMatrix[float64](3, 3), NewMatrix[float64](3, 3)
		b.Fill(nan)
		Gemm(nil, NoTrans, NoTrans, 1, a, b, 0, c)
		assert.True(t, math.IsNaN(c.At(1, 1)))
		y := make([]float64, 3)
		Gemv(nil, Transpose, 1, b, []float64{0, 0, 0}, 0, y)
		assert.True(t, math.IsNaN(y[2]))
		Gemv(nil, NoTrans, 0, b, []float64{1, 1, 1}, 0, y)
		assert.True(t, math.IsNaN(y[0]))
		Symv(nil, 1, b, []float64{0, 0, 0}, 0, y)
		assert.True(t, math.IsNaN(y[0]))
	})
}

func TestBadArgumentsPanic(t *testing.T) {
	m := NewMatrix[float64](6, 6)
	x := make([]float64, 6)
	a, b := m.Slice(0, 3, 0, 3), m.Slice(0, 3, 3, 6)
	assert.NotPanics(t, func() { Gemm(nil, NoTrans, NoTrans, 1, a, a, 0, b) }, "views side by side")
	assert.NotPanics(t, func() { Gemv(nil, NoTrans, 1, a, m.Row(5)[:3], 0, m.Row(4)[:3]) })
	cases := map[string]func(){
		"la: C overlaps A":                  func() { Gemm(nil, NoTrans, NoTrans, 1, a, b, 0, m.Slice(1, 4, 2, 5)) },
		"la: C overlaps B":                  func() { Gemm(nil, NoTrans, NoTrans, 1, a.Clone(), b, 0, b) },
		"la: y overlaps x":                  func() { Gemv(nil, NoTrans, 1, m, x, 0, x) },
		"la: y overlaps A":                  func() { Symv(nil, 1, m, x, 0, m.Row(2)) },
		"la: D overlaps X":                  func() { SqDist(nil, a, b.Clone(), a) },
		"la: A: 3×3 where 2×3 is needed":    func() { Gemm(nil, NoTrans, NoTrans, 1, a, b, 0, NewMatrix[float64](2, 3)) },
		"la: C: 2×3 is not square":          func() { Syrk(nil, NoTrans, 1, a, 0, NewMatrix[float64](2, 3)) },
		"la: y: length 5 where 6 is needed": func() { Dot(x, x[1:]) },
		"la: dst overlaps src":              func() { Exp(x[1:], x[:5]) },
		"la: e overlaps k":                  func() { Matern(x, x) },
		"la: A: stride 2 is less than the 3 columns": func() {
			Gemm(nil, NoTrans, NoTrans, 1, Matrix[float64]{Rows: 3, Cols: 3, Stride: 2, Data: x}, a, 0, b)
		},
	}
	for want, f := range cases {
		assert.PanicsWithValue(t, want, f)
	}
}

func TestNothingAllocatesAfterWarmUp(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	forEachKernel(t, func(t *testing.T) {
		for _, workers := range []int{1, 3} {
			w := &Workspace{Workers: workers}
			const n = 130
			a, b, c := NewMatrix[float64](n, n), NewMatrix[float64](n, n), NewMatrix[float64](n, n)
			x, y := make([]float64, 300), make([]float64, 300)
			big := NewMatrix[float64](300, 300)
			run := func() {
				Gemm(w, NoTrans, Transpose, 1, a, b, 0, c)
				Syrk(w, NoTrans, 1, a, 0, c)
				SqDist(w, a, b, c)
				Gemv(w, NoTrans, 1, big, x, 0, y)
				Gemv(w, Transpose, 1, big, x, 0, y)
				Symv(w, 1, big, x, 0, y)
				Exp(y, x)
				Dot(x, y)
			}
			// If the goroutines of the previous run have not ended, a run allocates new
			// ones. The smallest of several runs counts what our own code allocates.
			allocs := testing.AllocsPerRun(1, run)
			for i := 0; i < 50 && allocs > 0; i++ {
				allocs = testing.AllocsPerRun(1, run)
			}
			assert.Zero(t, allocs, "%d workers", workers)
		}
		if table[float64]().small != nil {
			a, b, c := NewMatrix[float64](20, 20), NewMatrix[float64](20, 20), NewMatrix[float64](20, 20)
			assert.Zero(t, testing.AllocsPerRun(5, func() { Gemm(nil, NoTrans, NoTrans, 1, a, b, 0, c) }), "no workspace")
		}
	})
}
