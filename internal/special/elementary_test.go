package special

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

const bits = 256

func num(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

// bigLog returns log x = e·log 2 + 2·atanh((m−1)/(m+1)), x = m·2^e.
func bigLog(x *big.Float) *big.Float {
	m := new(big.Float)
	e := x.MantExp(m)
	if m.Cmp(num(math.Sqrt2/2)) < 0 {
		m.Mul(m, num(2))
		e--
	}
	atanh2 := func(p, q *big.Float) *big.Float {
		s := num(0).Quo(p, q)
		z := num(0).Mul(s, s)
		sum, term := num(0), num(0).Set(s)
		for i := 1; i < 170; i += 2 {
			sum.Add(sum, num(0).Quo(term, num(float64(i))))
			term.Mul(term, z)
		}
		return sum.Mul(sum, num(2))
	}
	y := num(0).Mul(atanh2(num(1), num(3)), num(float64(e)))
	return y.Add(y, atanh2(num(0).Sub(m, num(1)), num(0).Add(m, num(1))))
}

// bigExp returns e^x by its series at x/2^20, squared twenty times.
func bigExp(x float64) *big.Float {
	y := num(0).SetMantExp(num(x), -20)
	sum, term := num(1), num(1)
	for k := 1; k < 25; k++ {
		term.Mul(term, y)
		term.Quo(term, num(float64(k)))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// bernoulli are B₀, …, B₄₀, by Σ_{j≤n} (n+1 over j)·B_j = 0.
var bernoulli = func() []*big.Rat {
	all := []*big.Rat{big.NewRat(1, 1)}
	for n := int64(1); n <= 40; n++ {
		sum := new(big.Rat)
		for j := int64(0); j < n; j++ {
			c := new(big.Rat).SetInt(new(big.Int).Binomial(n+1, j))
			sum.Add(sum, c.Mul(c, all[j]))
		}
		all = append(all, sum.Quo(sum, big.NewRat(-(n+1), 1)))
	}
	return all
}()

// bigLogGamma is Stirling's series at x+100, and the product x·(x+1)·…·(x+99).
func bigLogGamma(x float64) *big.Float {
	product, y := num(1), num(x)
	for range 100 {
		product.Mul(product, y)
		y.Add(y, num(1))
	}
	pi, _, _ := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899", 10, bits, big.ToNearestEven)
	s := num(0).Mul(num(0).Sub(y, num(0.5)), bigLog(y))
	s.Sub(s, y)
	s.Add(s, num(0).Mul(num(0.5), bigLog(num(0).Mul(num(2), pi))))
	power := num(0).Set(y)
	for j := int64(1); j <= 20; j++ {
		b := num(0).SetRat(bernoulli[2*j])
		s.Add(s, b.Quo(b, num(0).Mul(num(float64(2*j*(2*j-1))), power)))
		power.Mul(power, num(0).Mul(y, y))
	}
	return s.Sub(s, bigLog(product))
}

// ulps returns the distance of got from want in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	w = math.Abs(w)
	diff := num(0).Sub(want, num(got))
	d, _ := diff.Quo(diff, num(math.Nextafter(w, math.Inf(1))-w)).Float64()
	return math.Abs(d)
}

// TestElementaryFunctions compares with series in 256 bits.
func TestElementaryFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	spread := func() float64 { return math.Ldexp(1+r.Float64(), r.IntN(40)-36) } // to 2^4 or so
	sign := func(x float64) float64 { return math.Copysign(x, r.Float64()-0.5) }
	one := num(1)
	for _, c := range []struct {
		name string
		f    func(x float64) float64
		draw func() float64
		want func(x float64) *big.Float
		most float64 // ulp
	}{
		{"exp", Exp, func() float64 { return sign(spread()) }, bigExp, 0.6},
		{"exp far", Exp, func() float64 { return -708 + 1417*r.Float64() }, bigExp, 0.6},
		{"exp subnormal", Exp, func() float64 { return -745 + 37*r.Float64() }, bigExp, 1},
		{"expm1", Expm1, func() float64 { return sign(spread()) }, func(x float64) *big.Float {
			e := bigExp(x)
			return e.Sub(e, one)
		}, 1},
		{"tanh", Tanh, func() float64 { return sign(spread()) }, func(x float64) *big.Float {
			e := bigExp(2 * x)
			return num(0).Quo(num(0).Sub(e, one), num(0).Add(e, one))
		}, 3},
		{"log", Log, func() float64 { return math.Ldexp(1+r.Float64(), r.IntN(2000)-1000) }, func(x float64) *big.Float { return bigLog(num(x)) }, 1},
		{"log near 1", Log, func() float64 { return 1 + sign(spread()/64) }, func(x float64) *big.Float { return bigLog(num(x)) }, 1},
		{"log subnormal", Log, func() float64 { return 5e-324 * float64(1+r.IntN(1<<30)) }, func(x float64) *big.Float { return bigLog(num(x)) }, 1},
		{"log1p", Log1p, func() float64 { return max(sign(spread()), -r.Float64()) }, func(x float64) *big.Float {
			return bigLog(num(0).Add(one, num(x)))
		}, 1},
		{"log1p far", Log1p, func() float64 { return math.Ldexp(1+r.Float64(), r.IntN(100)) }, func(x float64) *big.Float {
			return bigLog(num(0).Add(one, num(x)))
		}, 1},
		{"asinh", Asinh, func() float64 { return math.Ldexp(spread(), r.IntN(60)) }, func(x float64) *big.Float {
			s := num(0).Sqrt(num(0).Add(one, num(0).Mul(num(x), num(x))))
			return bigLog(s.Add(s, num(x)))
		}, 4},
		{"log gamma", LogGamma, func() float64 { return math.Ldexp(1+r.Float64(), r.IntN(60)-20) }, bigLogGamma, 6},
		{"log gamma below 10", LogGamma, func() float64 { return 10 * r.Float64() }, bigLogGamma, 6},
		{"log gamma near 2", LogGamma, func() float64 { return 2 + sign(spread()/64) }, bigLogGamma, 6},
		{"log gamma near 1", LogGamma, func() float64 { return 1 + sign(spread()/64) }, bigLogGamma, 6},
	} {
		worst, at := 0.0, 0.0
		for range 200 {
			x := c.draw()
			want := c.want(x)
			if want.Sign() == 0 {
				continue
			}
			if e := ulps(c.f(x), want); !(e <= worst) {
				worst, at = e, x
			}
		}
		t.Logf("%s: worst error %.3f ulp, at %g", c.name, worst, at)
		assert.LessOrEqual(t, worst, c.most, "%s at %g", c.name, at)
	}
}

// Package math takes too little from the logarithm of a subnormal number on amd64, and
// gives +Inf for e^709.7: neither is asked for here.
func TestElementaryFunctionsAtTheirEdges(t *testing.T) {
	// math.Exp gives 0 here on some machines.
	assert.Equal(t, math.SmallestNonzeroFloat64, Exp(-745.1))
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name   string
		ours   func(x float64) float64
		theirs func(x float64) float64
	}{
		{"exp", Exp, math.Exp},
		{"expm1", Expm1, math.Expm1},
		{"tanh", Tanh, math.Tanh},
		{"log", Log, math.Log},
		{"log1p", Log1p, math.Log1p},
		{"asinh", Asinh, math.Asinh},
		{"hypot", func(x float64) float64 { return Hypot(x, 3*x) }, func(x float64) float64 { return math.Hypot(x, 3*x) }},
		{"log gamma", LogGamma, func(x float64) float64 {
			if x < 0 {
				return nan
			}
			g, _ := math.Lgamma(x)
			return g
		}},
	} {
		for _, x := range []float64{
			0, 1, -1, -2, 0.5, 1e-300, 1e-200, -1e-200, 1e-17, -1e-17, 0.41, -0.29, 40, -40, -41, 709, 709.79, -745.2, 1e10,
			1e200, -1e200, math.MaxFloat64, -math.MaxFloat64, inf, -inf, nan,
		} {
			want, got := c.theirs(x), c.ours(x)
			switch {
			case math.IsNaN(want):
				assert.True(t, math.IsNaN(got), "%s %g is %g", c.name, x, got)
			case math.IsInf(want, 0) || want == 0:
				assert.Equal(t, want, got, "%s %g", c.name, x)
			default:
				assert.InDelta(t, want, got, max(5e-324, 1e-15*math.Abs(want)), "%s %g", c.name, x)
			}
		}
	}
}

// sink keeps the compiler from leaving calls out.
var sink float64

func BenchmarkElementary(b *testing.B) {
	for _, c := range []struct {
		name string
		f    func(x float64) float64
	}{
		{"exp", Exp}, {"math.Exp", math.Exp}, {"log", Log}, {"math.Log", math.Log}, {"log1p", Log1p}, {"math.Log1p", math.Log1p},
		{"expm1", Expm1}, {"math.Expm1", math.Expm1}, {"lgamma", LogGamma}, {"math.Lgamma", func(x float64) float64 { g, _ := math.Lgamma(x); return g }},
	} {
		b.Run(c.name, func(b *testing.B) {
			x := 0.1
			for b.Loop() {
				x += 0.37
				if x > 30 {
					x -= 30
				}
				sink = c.f(x)
			}
		})
	}
}
