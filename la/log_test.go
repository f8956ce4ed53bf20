package la

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLogSpecialValues(t *testing.T) {
	for _, x := range []float64{0, 1, math.Inf(1), math.Inf(-1), -1, math.NaN()} {
		sameBits(t, []float64{math.Log(x)}, []float64{log(x)}, "log %g", x)
	}
}

// TestLogIsWithinOneUlp compares with a series in 120 bits.
func TestLogIsWithinOneUlp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for i := range 900 {
		x := math.Ldexp(0.5+r.Float64(), r.IntN(2000)-1000)
		switch i % 3 {
		case 1:
			x = 1 + r.NormFloat64()*0.01
		case 2:
			x = math.SmallestNonzeroFloat64 * float64(1+r.IntN(1<<20))
		}
		got := log(x)
		want := bigLog(x)
		diff := new(big.Float).Sub(want, big.NewFloat(got))
		d, _ := diff.Abs(diff).Float64()
		ulp := math.Nextafter(math.Abs(got), math.Inf(1)) - math.Abs(got)
		worst = max(worst, d/ulp)
	}
	t.Logf("worst error %.3f ulp", worst)
	assert.Less(t, worst, 1.0)
}

// bigLog returns log x = e·log 2 + 2·atanh((m-1)/(m+1)), x = m·2^e.
func bigLog(x float64) *big.Float {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(160).SetFloat64(v) }
	atanh2 := func(p, q *big.Float) *big.Float {
		s := num(0).Quo(p, q)
		z := num(0).Mul(s, s)
		sum, term := num(0), num(0).Set(s)
		for i := 1; i < 120; i += 2 {
			sum.Add(sum, num(0).Quo(term, num(float64(i))))
			term.Mul(term, z)
		}
		return sum.Mul(sum, num(2))
	}
	log2 := atanh2(num(1), num(3))
	y := num(0).Mul(log2, num(float64(e)))
	return y.Add(y, atanh2(num(0).Sub(num(m), num(1)), num(0).Add(num(m), num(1))))
}
