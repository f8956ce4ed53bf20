package vecchia

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

func fitSmall(t *testing.T, p Process, n int) *Posterior {
	t.Helper()
	s := drawSamples(n, 3, 11)
	post, err := p.Fit(context.Background(), s.x, s.y, s.noise)
	require.NoError(t, err)
	return post
}

func TestFitPredictsWhatItDidNotSee(t *testing.T) {
	post := fitSmall(t, Process{Seed: 1, Seconds: 8}, 1500)
	at := drawSamples(500, 3, 12)
	mean, variance, err := post.Predict(context.Background(), at.x, at.noise, false, 0)
	require.NoError(t, err)
	within, square := 0, 0.0
	for i := range at.x.Rows {
		e := at.y.At(i, 0) - mean.At(i, 0)
		square += e * e / 500
		if e*e < 1.96*1.96*variance.At(i, 0) {
			within++
		}
	}
	require.InDelta(t, 0.3, math.Sqrt(square), 0.03) // the noise
	require.InDelta(t, 475, within, 20)
	require.Equal(t, 300, post.HeldMean.Rows)
}

func TestFitHasTheSameBitsForEveryNumberOfWorkers(t *testing.T) {
	at := drawSamples(300, 3, 13).x
	var want [3][]float64
	for i, workers := range []int{1, 2, 7} {
		post := fitSmall(t, Process{Seed: 1, Workers: workers, Seconds: 1.5}, 600)
		mean, variance, err := post.Predict(context.Background(), at, nil, false, workers)
		require.NoError(t, err)
		got := [3][]float64{mean.Data, variance.Data, post.HeldMean.Data}
		if i == 0 {
			want = got
		}
		require.Equal(t, want, got, "%d workers", workers)
	}
}

func TestPosteriorOfAStatePredictsTheSame(t *testing.T) {
	at := drawSamples(70, 3, 13).x
	post := fitSmall(t, Process{Seed: 1, Seconds: 1.5}, 600)
	again, err := NewPosterior(post.State(), 1)
	require.NoError(t, err)
	mean, variance, err := post.Predict(context.Background(), at, nil, false, 1)
	require.NoError(t, err)
	mean2, variance2, err := again.Predict(context.Background(), at, nil, false, 1)
	require.NoError(t, err)
	require.Equal(t, mean, mean2)
	require.Equal(t, variance, variance2)
	only, _, err := again.Predict(context.Background(), at, nil, true, 1)
	require.NoError(t, err)
	require.InDeltaSlice(t, mean.Data, only.Data, 1e-12)
}

// A limit leaves out covariances and solutions by their forecasts.
func TestLimitLeavesOutWhatItForbids(t *testing.T) {
	var spent float64
	progress := func(done, all float64) {
		require.GreaterOrEqual(t, done, spent)
		require.GreaterOrEqual(t, all, done)
		spent = done
	}
	post := fitSmall(t, Process{Seed: 1, Seconds: 0.2, Progress: progress}, 600)
	require.Empty(t, post.State().Solved)
	require.InDelta(t, 1, post.State().LocalWeight, 1e-12)
	require.Positive(t, spent)
	few := spent
	spent = 0
	fitSmall(t, Process{Seed: 1, Seconds: 5, Progress: progress}, 600)
	require.Greater(t, spent, few)
}

func TestFitRejects(t *testing.T) {
	s := drawSamples(100, 3, 1)
	bad := s.x.Clone()
	bad.Set(7, 2, math.NaN())
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx   context.Context
		x, y  la.Matrix[float64]
		noise []float64
		want  string
	}{
		{context.Background(), bad, s.y, nil, "x: entry (7, 2) is NaN"},
		{context.Background(), s.x, s.y.Slice(0, 9, 0, 2), nil, "y: 9×2 where 100 rows"},
		{context.Background(), s.x, s.y, s.noise[:3], "noise: length 3"},
		{context.Background(), s.x.Slice(0, 50, 0, 3), s.y.Slice(0, 50, 0, 2), nil, "10 of 50 rows held out"},
		{ended, s.x, s.y, nil, "context canceled"},
	} {
		_, err := Process{}.Fit(c.ctx, c.x, c.y, c.noise)
		require.ErrorContains(t, err, c.want)
	}
	post := fitSmall(t, Process{Seconds: 0.3}, 300)
	for _, c := range []struct {
		change func(*State)
		want   string
	}{
		{func(s *State) { s.Neighbours = 0 }, "0 neighbours"},
		{func(s *State) { s.Factor = s.Factor[:1] }, "1 factors"},
		{func(s *State) { s.Factor = []float64{1, -1} }, "factor of variances is -1"},
		{func(s *State) { s.LocalWeight = 2 }, "mean is 2"},
		{func(s *State) { s.Local.Noise = 0 }, "noise 0"},
		{func(s *State) { s.Solved = []Solved{{Covariance: s.Local, Alpha: s.X}} }, "solution 0: 300×3"},
	} {
		state := post.State()
		c.change(&state)
		_, err := NewPosterior(state, 1)
		require.ErrorContains(t, err, c.want)
	}
}

// The weights are at least as good as any of a grid.
func TestWeighFindsTheLeastError(t *testing.T) {
	s := drawSamples(200, 3, 5)
	p := []la.Matrix[float64]{s.x.Slice(0, 200, 0, 2).Clone(), s.y.Clone(), s.x.Slice(0, 200, 1, 3).Clone()}
	for i := range p[1].Data {
		p[1].Data[i] = 0.3*p[1].Data[i] + 0.3*p[0].Data[i]
	}
	w := weigh(p, s.y)
	square := func(w []float64) (sum float64) {
		for i := range s.y.Data {
			e := s.y.Data[i]
			for k := range p {
				e -= w[k] * p[k].Data[i]
			}
			sum += e * e
		}
		return sum
	}
	require.InDelta(t, 1, w[0]+w[1]+w[2], 1e-12)
	least := square(w)
	for a := 0.0; a <= 1; a += 0.05 {
		for b := 0.0; a+b <= 1; b += 0.05 {
			require.Greater(t, square([]float64{a, b, 1 - a - b}), least*0.99)
		}
	}
}

// Where an iteration takes longer than predictions from more neighbours, a solution leaves them their time.
func TestSolutionsLeaveTimeForNeighbours(t *testing.T) {
	const n, held = 8000, 20
	one := Part{RBF, 0.5, []float64{1, 1, 1}}
	f := &fitting{s: drawSamples(n, 3, 14), stop: new(work.Stop), train: n - held}
	c := &candidate{cov: &Covariance{Parts: []Part{one, one, one, one}, Linear: 0.1, Noise: 0.1}}
	require.NoError(t, f.judge(c, neighbours[0]))
	f.all = []*candidate{c}
	each := f.productSeconds(len(c.cov.Parts), n)
	require.Less(t, f.moreSeconds(), each)
	f.limit = f.vifSeconds(landmarksFor(n, c.cov)) + float64((leastIterations+0.1)*each)
	require.NoError(t, f.solve())
	require.Zero(t, f.spent, "no time for the least number of iterations and for neighbours")
	_, err := f.mix()
	require.NoError(t, err)
	require.GreaterOrEqual(t, f.spent, f.moreSeconds())
	require.LessOrEqual(t, f.spent, f.limit)
}
