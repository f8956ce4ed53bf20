package mkl

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A member that errs like another member, with more noise, shows no promise. A member with errors of its own does.
func TestPromiseOfJudgements(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	same := func(v float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = v
		}
		return out
	}
	good, noisier, other := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range good {
		good[i] = rng.NormFloat64()
		noisier[i] = good[i] + 2*rng.NormFloat64()
		other[i] = rng.NormFloat64()
	}
	one := judgements{}.and(judgement{good, same(1)})
	assert.True(t, one.promise(1), "a member without others")
	assert.False(t, one.and(judgement{noisier, same(5)}).promise(1))
	assert.True(t, one.and(judgement{other, same(1)}).promise(1))
	both := one.and(judgement{noisier, same(5)})
	assert.Len(t, one.errors, 1)
	assert.True(t, both.and(judgement{other, same(1)}).promise(2), "two members together")
}
