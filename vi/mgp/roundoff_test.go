package mgp

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// bits is the precision of the reference.
const bits = 256

func num(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }

func add(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Mul(a, b) }
func div(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Quo(a, b) }

// log returns log x: of the fraction, in double precision, with one of Newton's steps
// for exp in 256 bits, and of the power of two.
func log(x *big.Float) *big.Float {
	m := new(big.Float).SetPrec(bits)
	e := x.MantExp(m)
	f, _ := m.Float64()
	// log m = y + log(m·e^−y), with y its double.
	y := num(math.Log(f))
	sum := add(y, logNear(mul(m, exp(new(big.Float).Neg(y)))))
	two := add(num(math.Ln2), logNear(mul(num(2), exp(num(-math.Ln2)))))
	return add(sum, mul(two, num(float64(e))))
}

// logNear returns log x of an x near 1 by the series of artanh.
func logNear(x *big.Float) *big.Float {
	t := div(sub(x, num(1)), add(x, num(1)))
	sum, power, square := num(0), t, mul(t, t)
	for k := 1; k < 20; k += 2 {
		sum = add(sum, div(power, num(float64(k))))
		power = mul(power, square)
	}
	return mul(sum, num(2))
}

// exp returns e^x of a moderate x by its series.
func exp(x *big.Float) *big.Float {
	sum, term := num(1), num(1)
	for k := 1; k < 120; k++ {
		term = div(mul(term, x), num(float64(k)))
		sum = add(sum, term)
	}
	return sum
}

// exactBound is the bound of m's present state in 256 bits, but for the divergences of
// the scales, which are as m has them.
func exactBound(m *model, dense *vi.Dense) float64 {
	N := m.N
	at := func() [][]*big.Float {
		x := make([][]*big.Float, N)
		for i := range x {
			x[i] = make([]*big.Float, N)
			for j := range x[i] {
				x[i][j] = num(0)
			}
		}
		return x
	}
	b, inv := at(), at()
	w := make([]*big.Float, m.P)
	tau0 := num(m.tau0)
	for p := range w {
		w[p] = div(num(1), num(m.gamma0[p]))
	}
	for i := range N {
		for j := range N {
			for p := range w {
				b[i][j] = add(b[i][j], mul(w[p], num(dense.At(p).At(max(i, j), min(i, j)))))
			}
		}
		b[i][i] = add(b[i][i], div(num(1), tau0))
		inv[i][i] = num(1)
	}
	// Gauss–Jordan elimination; the product of the pivots is |B|.
	logDet := num(0)
	for k := range N {
		pivot := b[k][k]
		logDet = add(logDet, log(pivot))
		for j := range N {
			b[k][j], inv[k][j] = div(b[k][j], pivot), div(inv[k][j], pivot)
		}
		for i := range N {
			if i == k {
				continue
			}
			c := b[i][k]
			for j := range N {
				b[i][j] = sub(b[i][j], mul(c, b[k][j]))
				inv[i][j] = sub(inv[i][j], mul(c, inv[k][j]))
			}
		}
	}
	alpha := make([]*big.Float, N)
	square := num(0)
	for i := range N {
		alpha[i] = num(0)
		for j := range N {
			alpha[i] = add(alpha[i], mul(inv[i][j], num(m.mean[j])))
		}
		square = add(square, mul(alpha[i], alpha[i]))
	}
	sum, all := num(0), num(0)
	var rest float64
	for p, v := range m.moments {
		trace, quad := num(0), num(0)
		for i := range N {
			for j := range N {
				k := num(dense.At(p).At(max(i, j), min(i, j)))
				trace = add(trace, mul(k, inv[i][j]))
				quad = add(quad, mul(k, mul(alpha[i], alpha[j])))
			}
		}
		all = add(all, mul(trace, w[p]))
		s := mul(w[p], add(mul(quad, w[p]), sub(num(m.rank[p]), mul(trace, w[p]))))
		sum = sub(sum, mul(num(v.mean), s))
		rest += 0.5 * m.rank[p] * (1 + v.log - math.Log(m.gamma0[p]))
		if m.family != FamilyFlat {
			rest += m.q[p].bound(v, m.prior)
		}
	}
	error2 := add(num(m.variance), div(add(div(square, tau0), all), tau0))
	n := num(float64(N))
	sum = sub(sum, mul(num(m.tau), error2))
	sum = add(sum, mul(n, sub(log(num(m.tau)), log(tau0))))
	sum = sub(sum, logDet)
	v, _ := mul(sum, num(0.5)).Float64()
	return v + rest + m.entropy - 0.5*float64(N)*math.Log(2*math.Pi)
}

// nearSingular returns targets without noise and RBF kernels of x of the given widths.
func nearSingular(t testing.TB, seed uint64, N int, widths []float64) (*vi.Dense, []float64) {
	src := rand.New(rand.NewPCG(seed, 1))
	x, y := make([]float64, N), make([]float64, N)
	for i := range x {
		x[i] = 6 * src.Float64()
		y[i] = math.Sin(x[i])
	}
	var ks []la.Matrix[float64]
	for _, w := range widths {
		k := la.NewMatrix[float64](N, N)
		for i := range N {
			for j := range N {
				d := (x[i] - x[j]) / w
				k.Set(i, j, math.Exp(-d*d))
			}
		}
		ks = append(ks, k)
	}
	k, err := vi.NewDense(ks...)
	require.NoError(t, err)
	return k, y
}

func TestRoundoffOfTheBound(t *testing.T) {
	for _, widths := range [][]float64{{1}, {3}, {0.5, 1, 2, 4}, {1, 10, 100, 1e4}, {1, 1e6}, {1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8}} {
		t.Run(fmt.Sprint(widths), func(t *testing.T) {
			var worst float64
			for seed := range uint64(testkit.Fewer(8, 4)) {
				k, y := nearSingular(t, seed, 8+2*int(seed), widths)
				m, err := Model{Workers: 1}.model(k, y, false)
				require.NoError(t, err)
				for range 4 {
					for range 10 {
						require.NoError(t, m.Sweep(nil))
					}
					want, got := exactBound(m, k), m.Bound()
					roundoff := m.Roundoff()
					worst = max(worst, (math.Abs(got-want)-1e-13*(1+math.Abs(want)))/roundoff)
				}
			}
			assert.Less(t, worst, 1.0)
			assert.Greater(t, worst, 0.005, "the estimate says nothing")
		})
	}
}
