package vecchia

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// The steps are the ones of Adam, algorithm 1 of the paper, with the gradients of the mean term of the drawn rows. In the second half they shorten
// by a cosine to a thirtieth, and no parameter leaves its bounds.
func TestClimbIsAdam(t *testing.T) {
	const n, steps = 60, 12
	fresh := func() *climber {
		l := &learner{l: &likelihood{samples: drawSamples(n, 3, 21), workers: 1, stop: new(work.Stop)}, train: n, seed: 3, noise: 0.05}
		return l.climber(twoParts.clone())
	}
	want := fresh()
	theta := twoParts.parameters()
	first, second := make([]float64, len(theta)), make([]float64, len(theta))
	low, high := twoParts.bounds()
	for k := range steps {
		rows, g := want.rows(), make([]float64, len(theta))
		_, err := want.l.terms(want.cov, rows, g)
		require.NoError(t, err)
		rate := 0.08
		if past := float64(k+1) / steps; past > 0.5 {
			rate *= max(0.03, (1+math.Cos(math.Pi*(2*past-1)))/2)
		}
		for j := range theta {
			mean := g[j] / float64(len(rows))
			first[j] = 0.9*first[j] + 0.1*mean
			second[j] = 0.99*second[j] + 0.01*mean*mean
			hat1, hat2 := first[j]/(1-math.Pow(0.9, float64(k+1))), second[j]/(1-math.Pow(0.99, float64(k+1)))
			theta[j] += rate * hat1 / (math.Sqrt(hat2) + 1e-8)
			theta[j] = min(max(theta[j], low[j]), high[j])
		}
		theta[len(theta)-1] = max(theta[len(theta)-1], math.Log(0.05))
		want.cov.set(theta)

		got := fresh()
		require.NoError(t, got.climb(0, k+1, steps))
		assert.InDeltaSlice(t, theta, got.cov.parameters(), 1e-9, "step %d", k)
	}
}

// The work of a fit grows with its features, targets, rows and steps as the operations do that it counts.
func TestForecastsCountOperations(t *testing.T) {
	of := func(n, d, targets int) *fitting {
		s := drawSamples(n, d, 22)
		s.y = la.NewMatrix[float64](n, targets)
		return &fitting{s: s, stop: new(work.Stop), train: n - n/5}
	}
	one, two, three := of(500, 3, 1), of(500, 6, 1), of(500, 3, 3)
	assert.InEpsilon(t, 4*one.searchVisits(100), one.searchVisits(1600), 1e-12)
	assert.InEpsilon(t, 2*one.searchVisits(100), two.searchVisits(100), 1e-12)
	assert.InEpsilon(t, secondsTerm+2*(secondsPart+3*secondsSlope), one.termSeconds(2), 1e-12)
	assert.InEpsilon(t, 1.2*one.termSeconds(2), three.termSeconds(2), 1e-12) // a tenth for each further target

	beside := float64(indexes)*one.indexSeconds(one.train) + one.judgeSeconds(neighbours[0])
	each := float64(min(learnBatch, one.train)) * (one.searchSeconds(one.train) + one.termSeconds(2))
	assert.InEpsilon(t, 100*each+beside, one.learnSeconds(2, 100), 1e-12)
	each = float64(min(learnBatch, one.train)) * (one.searchSeconds(one.train) + one.termSeconds(1))
	assert.Greater(t, one.learnSeconds(1, 300), (300+trialSteps)*each+beside, "the second start, and the comparison of both")

	for _, n := range []int{1000, 1_000_000} {
		further := Memory(n, 3, 1) - Memory(n, 2, 1)
		assert.InDelta(t, float64(further), float64(Memory(n, 2, 1)-Memory(n, 1, 1)), 2)
		assert.Equal(t, Memory(n, 1, 1), Memory(n, 0, 0))
		assert.Greater(t, further, int64(8*n), "a feature of a row is a float64 at least")
	}
}

// searchVisits is the part of a search that grows with the rows.
func (f *fitting) searchVisits(n int) float64 { return f.searchSeconds(n) - secondsSought }

// The steps of the first covariance are as many as its share of the limit has time for, but for the last shortening. All features of a start count alike,
// and a row whose features are all 1 has the distance of the scale from 0.
func TestStepsFollowTheLimit(t *testing.T) {
	f := &fitting{Process: Process{Seed: 1, Workers: 1}, s: drawSamples(200, 3, 24), stop: new(work.Stop), train: 160}
	room := f.learnSeconds(1, 150)
	f.limit = room / learnShare
	require.NoError(t, f.learn())
	require.Len(t, f.all, 1)
	assert.LessOrEqual(t, f.spent, room)
	assert.Greater(t, f.spent, 0.8*room)

	var square float64
	for _, v := range begin(RBF, 7, 3).Parts[0].Scale {
		square += v * v
	}
	assert.InDelta(t, 9, square, 1e-12)
}

// Means are sums of all solutions and of the neighbours' mean by their weights. With all rows for neighbours each is a dense process.
func TestMeansOfSeveralSolutions(t *testing.T) {
	s, at := drawSamples(30, 3, 25), drawSamples(4, 3, 26)
	one := &Covariance{Parts: []Part{{RBF, 0.7, []float64{0.8, 0.5, 0.3}}}, Linear: 0.1, Noise: 0.2}
	other := &Covariance{Parts: []Part{{Matern, 0.9, []float64{0.4, 0.6, 0.9}}}, Linear: 0.3, Noise: 0.15}
	all := []*dense{newDense(t, s, twoParts), newDense(t, s, one), newDense(t, s, other)}
	weights := []float64{0.2, 0.3, 0.5}
	state := State{X: s.x, Y: s.y, Noise: s.noise, Local: *twoParts.clone(), Neighbours: 30, LocalWeight: weights[0], Factor: []float64{1, 1}}
	for i, d := range all[1:] {
		state.Solved = append(state.Solved, Solved{Covariance: *d.cov, Weight: weights[i+1], Alpha: d.alpha, Double: true})
	}
	p, err := NewPosterior(state, 1)
	require.NoError(t, err)
	got, _, err := p.Predict(t.Context(), at.x, nil, false, 1)
	require.NoError(t, err)
	for i := range at.x.Rows {
		want := make([]float64, 2)
		for k, d := range all {
			mean, _ := d.predict(at.x.Row(i))
			la.Axpy(weights[k], mean, want)
		}
		assert.InDeltaSlice(t, want, got.Row(i), 1e-6)
	}
}

// States that no fit makes are refused.
func TestStatesAreChecked(t *testing.T) {
	s := drawSamples(30, 3, 23)
	good := State{X: s.x, Y: s.y, Noise: s.noise, Local: *twoParts.clone(), Neighbours: 5, LocalWeight: 0.4,
		Solved: []Solved{{Covariance: *twoParts.clone(), Weight: 0.6, Alpha: s.y.Clone()}}, Factor: make([]float64, s.y.Cols)}
	for i := range good.Factor {
		good.Factor[i] = 1
	}
	_, err := NewPosterior(good, 1)
	require.NoError(t, err)
	for want, change := range map[string]func(s *State){
		"0 neighbours":                           func(s *State) { s.Neighbours = 0 },
		"a factor of variances is 0":             func(s *State) { s.Factor = make([]float64, len(s.Factor)) },
		"the weight of the neighbours' mean is":  func(s *State) { s.LocalWeight = 1.5 },
		"solution 0: its weight is -0.1":         func(s *State) { s.Solved[0].Weight = -0.1 },
		"factors of variances for":               func(s *State) { s.Factor = nil },
		"solution 0: entry (2, 0) is NaN":        func(s *State) { s.Solved[0].Alpha.Set(2, 0, math.NaN()) },
		"y: entry (4, 0) is NaN":                 func(s *State) { s.Y = s.Y.Clone(); s.Y.Set(4, 0, math.NaN()) },
		"noise: entry 1 is 0, not a positive nu": func(s *State) { s.Noise = make([]float64, 30); s.Noise[0] = 1 },
	} {
		bad := good
		bad.Solved = []Solved{good.Solved[0]}
		bad.Solved[0].Alpha = good.Solved[0].Alpha.Clone()
		change(&bad)
		_, err := NewPosterior(bad, 1)
		assert.ErrorContains(t, err, want)
	}
}
