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
	one := judgements{}.and(judgement{good, same(1), same(1)})
	assert.True(t, one.promise(1), "a member without others")
	assert.False(t, one.and(judgement{noisier, same(5), same(5)}).promise(1))
	assert.True(t, one.and(judgement{other, same(1), same(1)}).promise(1))
	both := one.and(judgement{noisier, same(5), same(5)})
	assert.Len(t, one.errors, 1)
	assert.True(t, both.and(judgement{other, same(1), same(1)}).promise(2), "two members together")
}

// The noise depends on the mean, and three members have errors of their own. The second member has better means than the third, but one
// variance for all samples. Its weight is the larger one, because the pool's factors of the variances will supply what it lacks.
func TestWeightsFollowMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 2000
	j := &judge{r: &manyRows{}, sd: 1}
	var mean, variance [3][]float64
	for range n {
		f := rng.Float64()
		noise := 0.01 + float64(0.3*f)
		j.y = append(j.y, f+float64(noise*rng.NormFloat64()))
		for k, own := range []float64{0.4, 0.6, 1} {
			mean[k] = append(mean[k], f+float64(own*noise*rng.NormFloat64()))
			variance[k] = append(variance[k], float64((1+float64(own*own))*noise*noise))
		}
	}
	for i := range n {
		variance[1][i] = 0.05
	}
	var all judgements
	for k := range mean {
		all = all.and(j.of(mean[k], variance[k]))
	}
	w := all.weights()
	assert.Greater(t, w[1], w[2])
	w = stackMoments(all.errors, all.variances)
	assert.Less(t, w[1], w[2], "without the factors")
}
