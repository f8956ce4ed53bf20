package trees

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/bmkl/bmkl/internal/testkit/golden" // takes the flag of the suites
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// edges draws samples of a function with steps, an interaction and a smooth part, and returns the function too. The third feature
// has no effect, and the last one is constant.
func edges(seed uint64, n int) (x la.Matrix[float64], y, f []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x = la.NewMatrix[float64](n, 5)
	for i := range n {
		for j := range 4 {
			x.Set(i, j, rng.Float64())
		}
		x.Set(i, 4, 2)
		v := math.Sin(6 * x.At(i, 3))
		if x.At(i, 0) > 0.37 {
			v++
		}
		if (x.At(i, 0) > 0.7) != (x.At(i, 1) > 0.45) {
			v--
		}
		f = append(f, v)
		y = append(y, v+0.3*rng.NormFloat64())
	}
	return x, y, f
}

func TestFitFindsEdges(t *testing.T) {
	x, y, _ := edges(1, 4000)
	at, want, f := edges(2, 1000)
	p, err := Process{Workers: 1}.Fit(context.Background(), x, y)
	require.NoError(t, err)
	mean, variance, err := p.Predict(context.Background(), at, false, 0)
	require.NoError(t, err)
	var square float64
	within := 0
	for i, m := range mean {
		square += (m - f[i]) * (m - f[i]) / float64(len(f))
		if math.Abs(want[i]-m) < 1.96*math.Sqrt(variance[i]) {
			within++
		}
	}
	assert.Less(t, math.Sqrt(square), 0.15) // the function has a standard deviation of 1
	assert.InDelta(t, 950, within, 20)
	assert.Len(t, p.State().Curves, 4)
	assert.InDelta(t, 0.09, p.State().Noise*p.State().Factor, 0.02)
	curves, leaves := p.State().Spread()
	assert.Positive(t, curves)
	assert.Positive(t, leaves)

	again, err := Process{Workers: 7}.Fit(context.Background(), x, y)
	require.NoError(t, err)
	assert.Equal(t, p, again)
	alone, v := p.One(at.Row(3), p.Cells(), false)
	assert.Equal(t, [2]float64{mean[3], variance[3]}, [2]float64{alone, v})
	alone, v = p.One(at.Row(3), p.Cells(), true)
	assert.Equal(t, mean[3], alone)
	assert.True(t, math.IsNaN(v))
	means, none, err := p.Predict(context.Background(), at, true, 3)
	require.NoError(t, err)
	assert.Equal(t, mean, means)
	assert.Nil(t, none)
}

func TestFitOfFewSecondsAndOfManyFeatures(t *testing.T) {
	x, y, _ := edges(1, 300)
	p, err := Process{Seconds: 1e-9}.Fit(context.Background(), x, y)
	require.NoError(t, err)
	assert.Len(t, p.State().Trees, leastTrees)
	assert.InDelta(t, Forecast(300, 5, leastTrees), p.Spent, 0.5*p.Spent)
	wide := la.NewMatrix[float64](300, 2*curveHeights)
	for i := range 300 {
		copy(wide.Row(i), x.Row(i))
	}
	p, err = Process{Seconds: 1e-9}.Fit(context.Background(), wide, y)
	require.NoError(t, err)
	assert.Empty(t, p.State().Curves)
}

// dense returns the shares of all heights in each sample, found without blocks.
func dense(s *State, x la.Matrix[float64]) la.Matrix[float64] {
	phi := la.NewMatrix[float64](x.Rows, len(s.Mean))
	for i := range x.Rows {
		first := 0
		for _, c := range s.Curves {
			v := min(max(x.At(i, c.Feature), c.Knots[0]), c.Knots[len(c.Knots)-1])
			for k, knot := range c.Knots { // a hat function for each knot
				h := 0.0
				switch {
				case v == knot:
					h = 1
				case v < knot && k > 0 && v > c.Knots[k-1]:
					h = (v - c.Knots[k-1]) / (knot - c.Knots[k-1])
				case v > knot && k+1 < len(c.Knots) && v < c.Knots[k+1]:
					h = (c.Knots[k+1] - v) / (c.Knots[k+1] - knot)
				}
				phi.Set(i, first+k, h)
			}
			first += len(c.Knots)
		}
		for _, t := range s.Trees {
			k := 0
			for len(t.Splits) > 0 && k >= 0 {
				if x.At(i, t.Splits[k].Feature) <= t.Splits[k].At {
					k = t.Splits[k].Low
				} else {
					k = t.Splits[k].High
				}
			}
			phi.Set(i, first-1-k, 1)
			first += t.Leaves
		}
	}
	return phi
}

// evidence returns log p(y) of heights with the priors and the noise given: y ~ N(0, Φ·Λ⁻¹·Φᵀ + σ²I).
func evidence(t *testing.T, phi la.Matrix[float64], y []float64, groups []group, noise float64) float64 {
	prior := la.NewMatrix[float64](phi.Cols, phi.Cols)
	for i := range groups {
		groups[i].addPrior(prior, groups[i].precision)
	}
	require.NoError(t, la.Cholesky(nil, prior))
	half := la.NewMatrix[float64](phi.Cols, phi.Rows) // L⁻¹·Φᵀ
	for i := range phi.Rows {
		for j, v := range phi.Row(i) {
			half.Set(j, i, v)
		}
	}
	la.Trsm(nil, la.Left, la.NoTrans, prior, half)
	k := la.NewMatrix[float64](phi.Rows, phi.Rows)
	la.Gemm(nil, la.Transpose, la.NoTrans, 1, half, half, 0, k)
	for i := range phi.Rows {
		k.Set(i, i, k.At(i, i)+noise)
	}
	require.NoError(t, la.Cholesky(nil, k))
	z := slices.Clone(y)
	la.Trsv(la.NoTrans, k, z)
	return -0.5 * (la.Dot(z, z) + la.LogDet(k) + float64(len(y))*math.Log(2*math.Pi))
}

// The sums agree with sums of dense shares, and the precisions and the noise are where the evidence, computed by the covariance of
// the targets, has no slope.
func TestHeightsAreWhereTheEvidenceIsLargest(t *testing.T) {
	x, y, _ := edges(3, 400)
	f := &fitting{Process: Process{Workers: 2}, x: x, y: y, train: 400, stop: new(work.Stop)}
	r, err := f.curves()
	require.NoError(t, err)
	require.NoError(t, f.grow(10, r))
	h, s, err := f.learn()
	require.NoError(t, err)
	f.state.Mean = h.mean
	phi := dense(&f.state, x)
	for i := range phi.Cols {
		for j := range i + 1 {
			var want float64
			for n := range phi.Rows {
				want += phi.At(n, i) * phi.At(n, j)
			}
			require.InDelta(t, want, s.squares.At(i, j), 1e-5, "%d %d", i, j) // shares are float32
		}
	}
	var residual float64
	for n := range phi.Rows {
		e := y[n] - la.Dot(phi.Row(n), h.mean)
		residual += e * e
	}
	assert.InEpsilon(t, residual, h.residual(s), 1e-5)

	for range 300 {
		require.NoError(t, h.update(s, nil))
		if h.reweigh(s) < 1e-7 {
			break
		}
	}
	const step = 1e-3
	slope := func(change func(by float64)) float64 {
		change(math.Exp(step))
		up := evidence(t, phi, y, h.groups, h.noise)
		change(math.Exp(-2 * step))
		down := evidence(t, phi, y, h.groups, h.noise)
		change(math.Exp(step))
		return (up - down) / (2 * step)
	}
	assert.InDelta(t, 0, slope(func(by float64) { h.noise *= by }), 0.02)
	for i := range h.groups {
		g := &h.groups[i]
		if g.precision < 0.99*mostPrecision && g.precision > 1.01*leastPrecision {
			assert.InDelta(t, 0, slope(func(by float64) { g.precision *= by }), 0.02, "group %d, precision %g", i, g.precision)
		}
	}
}

// The first split of a tree is the best of all that there are, for samples with and without weights.
func TestFirstSplitIsTheBest(t *testing.T) {
	testFirstSplit(t, nil)
	weight := make([]float64, 200)
	rng := rand.New(rand.NewPCG(8, 1))
	for i := range weight {
		weight[i] = rng.Float64()
	}
	testFirstSplit(t, weight)
}

func testFirstSplit(t *testing.T, weight []float64) {
	t.Helper()
	x, y, _ := edges(4, 200)
	b := bin(x, 200)
	g := &grower{binned: b, weight: weight, least: 5, most: 2, crew: work.NewCrew(3, x.Cols, func(int) struct{} { return struct{}{} })}
	rows := make([]int32, 200)
	for i := range rows {
		rows[i] = int32(i)
	}
	tree, err := g.grow(rows, y)
	require.NoError(t, err)
	gain := func(f int, at float64) float64 {
		var s, w [2]float64
		var n [2]int
		for i, v := range y {
			side := 0
			if x.At(i, f) > at {
				side = 1
			}
			s[side] += v
			n[side]++
			if weight == nil {
				w[side]++
			} else {
				w[side] += weight[i]
			}
		}
		if min(n[0], n[1]) < 5 {
			return 0
		}
		return worth(s[0], w[0]) + worth(s[1], w[1]) - worth(s[0]+s[1], w[0]+w[1])
	}
	best := gain(tree.Splits[0].Feature, tree.Splits[0].At)
	require.Positive(t, best)
	for f := range x.Cols {
		for i := range x.Rows {
			assert.LessOrEqual(t, gain(f, x.At(i, f)), best*(1+1e-12))
		}
	}
}

// Of splits that gain the same, in either direction of the feature, the one that divides the samples evenly is taken: one sample with √3 and three
// with a sum of 2 explain 3·(1/2 + 1/6) = 4·(1/4 + 1/4).
func TestEqualSplitsDivideEvenly(t *testing.T) {
	y := []float64{math.Sqrt(3), 0, 2 - math.Sqrt(3), -1, -0.5, -0.5}
	for _, sign := range []float64{1, -1} {
		x, rows := la.NewMatrix[float64](6, 1), make([]int32, 6)
		for i := range rows {
			x.Data[i], rows[i] = sign*float64(i), int32(i)
		}
		g := &grower{binned: bin(x, 6), least: 1, most: 2, crew: work.NewCrew(1, 1, func(int) struct{} { return struct{}{} })}
		tree, err := g.grow(rows, y)
		require.NoError(t, err)
		assert.Equal(t, 2.5*sign, tree.Splits[0].At)
	}
}

func TestCutsLieBetweenValues(t *testing.T) {
	for _, c := range []struct {
		sorted []float64
		most   int
		want   []float64
	}{
		{[]float64{1, 1, 1}, 4, nil},
		{[]float64{1, 2}, 4, []float64{1.5}},
		{[]float64{0, 0, 0, 0, 0, 1}, 3, []float64{0.5}},
		{[]float64{0, 1, 1, 1, 1, 1}, 3, []float64{0.5}},
		{[]float64{0, 1, 2, 3}, 2, []float64{1.5}},
		{[]float64{0, 0, 0, 1, 2, 3}, 2, []float64{0.5}},
		{[]float64{0, 1, 2, 2, 2, 2}, 2, []float64{1.5}},
		{[]float64{1, math.Nextafter(1, 2)}, 2, []float64{1}},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 2, []float64{0}},
	} {
		assert.Equal(t, c.want, cuts(c.sorted, c.most), "%v", c.sorted)
	}
}

func TestCurveIsConstantBeyondItsKnots(t *testing.T) {
	c := newCurve(0, []float64{1, 2, 2, 2, 4, 9}, 4)
	require.Equal(t, []float64{1, 2, 3, 9}, c.Knots)
	for v, want := range map[float64]struct {
		knot  int
		share float64
	}{0: {0, 0}, 1: {0, 0}, 1.5: {0, 0.5}, 2: {0, 1}, 2.25: {1, 0.25}, 6: {2, 0.5}, 9: {2, 1}, 99: {2, 1}} {
		k, u := c.at(v)
		assert.Equal(t, want.knot, k, "%g", v)
		assert.Equal(t, want.share, u, "%g", v)
	}
}

// The parts that curves and trees subtract are their heights at the samples. One feature is enough.
func TestSubtractedParts(t *testing.T) {
	x, y, _ := edges(5, 300)
	f := &fitting{Process: Process{Workers: 1}, x: x.Slice(0, 300, 0, 1).Clone(), y: y, train: 300, stop: new(work.Stop)}
	r, err := f.curves()
	require.NoError(t, err)
	require.NoError(t, f.grow(2, r))
	w := make([]float64, f.heights())
	for i := range w {
		w[i] = math.Sin(float64(i))
	}
	f.state.Mean = w
	phi := dense(&f.state, f.x)
	rest := slices.Clone(y)
	for i := range f.blocks {
		f.blocks[i].subtract(w, rest)
	}
	for i, v := range rest {
		require.InDelta(t, y[i]-la.Dot(phi.Row(i), w), v, 1e-6, "shares are float32")
	}
	p, err := Process{Seconds: 1e-9}.Fit(context.Background(), f.x, y)
	require.NoError(t, err)
	assert.Len(t, p.State().Curves, 1)
}

func TestFitRejects(t *testing.T) {
	x, y, _ := edges(1, 100)
	bad := x.Clone()
	bad.Set(3, 1, math.NaN())
	constant := la.NewMatrix[float64](100, 2)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		x    la.Matrix[float64]
		y    []float64
		held int
		want string
	}{
		{context.Background(), bad, y, 0, "x: entry (3, 1) is NaN"},
		{context.Background(), x, y[1:], 0, "y: length 99 where 100 is needed"},
		{context.Background(), x, append(slices.Clone(y[1:]), math.Inf(1)), 0, "y: entry 99 is +Inf"},
		{context.Background(), la.Matrix[float64]{}, nil, 0, "x: 0×0"},
		{context.Background(), x, y, 61, "61 of 100 samples held out"},
		{context.Background(), x, y, 19, "19 of 100 samples held out"},
		{context.Background(), constant, y, 0, "no feature varies"},
		{ended, x, y, 0, "context canceled"},
	} {
		_, err := Process{Held: c.held}.Fit(c.ctx, c.x, c.y)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestNewPosteriorRejects(t *testing.T) {
	x, y, _ := edges(1, 200)
	p, err := Process{Seconds: 1e-9}.Fit(context.Background(), x, y)
	require.NoError(t, err)
	_, err = NewPosterior(*p.State(), 5)
	require.NoError(t, err)
	for want, change := range map[string]func(*State){
		"curve 1: 24 knots of feature 5 of 5": func(s *State) { s.Curves[1].Feature = 5 },
		"curve 0: knot 3 of feature 0 is":     func(s *State) { s.Curves[0].Knots[3] = s.Curves[0].Knots[2] },
		"tree 2: split 0: feature -1":         func(s *State) { s.Trees[2].Splits[0].Feature = -1 },
		"tree 1: split 0 leads to 0":          func(s *State) { s.Trees[1].Splits[0].Low = 0 },
		"tree 0: split 1 leads to -99":        func(s *State) { s.Trees[0].Splits[1].High = -99 },
		"tree 3: 9 leaves of":                 func(s *State) { s.Trees[3].Leaves = 9 },
		"noise 0":                             func(s *State) { s.Noise = 0 },
		"factor +Inf":                         func(s *State) { s.Factor = math.Inf(1) },
		"means and a covariance":              func(s *State) { s.Mean = s.Mean[1:] },
		"mean of height 4 is NaN":             func(s *State) { s.Mean[4] = math.NaN() },
		"covariance of height 6":              func(s *State) { s.Covariance.Set(6, 6, -1) },
	} {
		s := *p.State()
		s.Mean, s.Covariance = slices.Clone(s.Mean), s.Covariance.Clone()
		s.Curves, s.Trees = slices.Clone(s.Curves), slices.Clone(s.Trees)
		for i := range s.Curves {
			s.Curves[i].Knots = slices.Clone(s.Curves[i].Knots)
		}
		for i := range s.Trees {
			s.Trees[i].Splits = slices.Clone(s.Trees[i].Splits)
		}
		change(&s)
		_, err := NewPosterior(s, 5)
		assert.ErrorContains(t, err, want)
	}
}
