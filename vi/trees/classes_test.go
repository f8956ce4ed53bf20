package trees

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// cells draws samples of classes whose probabilities have sharp edges, and returns these probabilities too.
func cells(seed uint64, n, classes int) (x la.Matrix[float64], class []int, probability [][]float64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x = la.NewMatrix[float64](n, 4)
	for i := range n {
		for j := range 4 {
			x.Set(i, j, rng.Float64())
		}
		p := make([]float64, classes)
		var sum float64
		for c := range p {
			p[c] = 0.1
			if (x.At(i, c%2) > 0.4) != (x.At(i, 2) > 0.3+0.1*float64(c)) {
				p[c] = 1
			}
			sum += p[c]
		}
		at := rng.Float64() * sum
		c := 0
		for ; c < classes-1 && at > p[c]; c++ {
			at -= p[c]
		}
		for k := range p {
			p[k] /= sum
		}
		class, probability = append(class, c), append(probability, p)
	}
	return x, class, probability
}

// Probabilities of classes with edges come near to the true ones, and are the same for every number of workers.
func TestFitClassesFindsEdges(t *testing.T) {
	for _, K := range []int{2, 4} {
		x, class, _ := cells(1, 3000, K)
		at, _, want := cells(2, 400, K)
		p, err := Process{Workers: 1, Seconds: 1}.FitClasses(context.Background(), x, class, K)
		require.NoError(t, err)
		score, err := p.Predict(context.Background(), at, 0)
		require.NoError(t, err)
		var off float64
		got := make([]float64, K)
		for i := range want {
			Probabilities(score.Row(i), got)
			for c, v := range want[i] {
				off += math.Abs(v-got[c]) / float64(len(want)*K)
			}
		}
		assert.Less(t, off, 0.08, "%d classes", K) // the shares of the classes alone have 0.2 to 0.3
		assert.Len(t, p.HeldProbability, 600)
		again, err := Process{Workers: 3, Seconds: 1}.FitClasses(context.Background(), x, class, K)
		require.NoError(t, err)
		assert.Equal(t, p.State(), again.State())
		assert.Equal(t, p.HeldProbability, again.HeldProbability)
	}
}

// A round of boosting adds the Newton step of a leaf under a standard normal prior, and scores are sums of heights.
func TestHeightsAreNewtonSteps(t *testing.T) {
	x, class, _ := cells(3, 300, 3)
	b := &boosting{Process: Process{Workers: 2}, x: x, class: class, functions: 3, rate: 0.25, stop: new(work.Stop)}
	s, err := b.run(300, 2, nil)
	require.NoError(t, err)
	p, err := NewClassPosterior(s, x.Cols)
	require.NoError(t, err)
	score := func(i, rounds int) (u []float64) {
		first := 0
		for f, v := range s.Level {
			for r := range 2 {
				tree := s.Trees[2*f+r]
				if r < rounds {
					v += s.Heights[first+tree.leaf(x.Row(i))]
				}
				first += tree.Leaves
			}
			u = append(u, v)
		}
		return u
	}
	first := 0
	for f := range 3 {
		for r := range 2 {
			tree := s.Trees[2*f+r]
			for l := range tree.Leaves {
				// The Newton step by finite differences of the log probability of the classes of the leaf's samples.
				value := func(h float64) float64 {
					v := -0.5 * h * h
					for i, c := range class {
						if tree.leaf(x.Row(i)) == l {
							u := score(i, r)
							u[f] += h
							var sum float64
							for _, e := range u {
								sum += math.Exp(e)
							}
							v += u[c] - math.Log(sum)
						}
					}
					return v
				}
				const d = 1e-3
				slope, curve := (value(d)-value(-d))/(2*d), (value(d)-2*value(0)+value(-d))/(d*d)
				assert.InDelta(t, -0.25*slope/curve, s.Heights[first+l], 1e-4)
			}
			first += tree.Leaves
		}
	}
	u := make([]float64, 3)
	for i := range 20 {
		p.Scores(x.Row(i), u)
		assert.InDeltaSlice(t, score(i, 2), u, 1e-12)
		assert.InDelta(t, u[1], b.score[1][i], 1e-12)
	}
}

func TestProbabilitiesOfScores(t *testing.T) {
	for _, c := range []struct{ score, want []float64 }{
		{[]float64{0}, []float64{0.5, 0.5}},
		{[]float64{math.Log(3)}, []float64{0.25, 0.75}},
		{[]float64{800}, []float64{0, 1}},
		{[]float64{math.Log(1), math.Log(2), math.Log(5)}, []float64{0.125, 0.25, 0.625}},
		{[]float64{-900, 900, -900}, []float64{0, 1, 0}},
	} {
		got := make([]float64, len(c.want))
		Probabilities(c.score, got)
		assert.InDeltaSlice(t, c.want, got, 1e-15)
	}
}

// A limit of the work leaves fewer rounds.
func TestRoundsFollowTheLimit(t *testing.T) {
	assert.Equal(t, mostRounds, Process{}.rounds(5000, 10, 3))
	few := Process{Seconds: 2}.rounds(5000, 10, 26)
	assert.Less(t, few, mostRounds)
	assert.LessOrEqual(t, ForecastClasses(5000, 10, 26, few), 2.0)
	assert.Equal(t, leastRounds, Process{Seconds: 1e-9}.rounds(5000, 10, 26))
}

func TestFitClassesRefuses(t *testing.T) {
	x, class, _ := cells(4, 100, 2)
	for _, c := range []struct {
		want    string
		x       la.Matrix[float64]
		class   []int
		classes int
	}{
		{"1 classes where at least two", x, class, 1},
		{"length 99 where 100", x, class[:99], 2},
		{"entry 1 is 7 of 2 classes", x, append([]int{0, 7}, class[2:]...), 2},
		{"entry 1 is 2 of 2 classes", x, append([]int{0, 2}, class[2:]...), 2},
		{"samples held out", x.Slice(0, 30, 0, 4), class[:30], 2},
	} {
		_, err := Process{}.FitClasses(context.Background(), c.x, c.class, c.classes)
		assert.ErrorContains(t, err, c.want)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	_, err := Process{}.FitClasses(stopped, x, class, 2)
	require.ErrorIs(t, err, context.Canceled)
	for _, c := range []struct {
		want string
		s    ClassState
	}{
		{"1 trees of 2 functions", ClassState{Level: []float64{0, 0}, Trees: []Tree{{Leaves: 1}}, Heights: []float64{0}}},
		{"2 heights of 1 leaves", ClassState{Level: []float64{0}, Trees: []Tree{{Leaves: 1}}, Heights: []float64{0, 1}}},
		{"height 0 is NaN", ClassState{Level: []float64{0}, Trees: []Tree{{Leaves: 1}}, Heights: []float64{math.NaN()}}},
		{"level 0 is +Inf", ClassState{Level: []float64{math.Inf(1)}}},
		{"feature 4 of 4", ClassState{Level: []float64{0}, Trees: []Tree{{Splits: []Split{{4, 0, -1, -2}}, Leaves: 2}}, Heights: []float64{0, 1}}},
	} {
		_, err := NewClassPosterior(c.s, 4)
		assert.ErrorContains(t, err, c.want)
	}
}
