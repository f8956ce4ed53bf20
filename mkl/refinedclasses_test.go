package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
)

// TestBoundOfProbabilities draws log odds between their ends and compares the bound with what happens to the probabilities. At the worst
// corner of a class the bound is reached, also where a class has an interval of many decades beside small others.
func TestBoundOfProbabilities(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 6))
	for trial := range 600 {
		classes, b := 2+src.IntN(5), 0.2+4*src.Float64()
		r := newRefinedClasses(classes, 1, 3)
		r.sharpness, r.fresh = b, -1
		spread := math.Exp(2 * src.NormFloat64())
		for c := range r.classes {
			low, length := spread*src.NormFloat64(), spread*src.Float64()*float64(src.IntN(2))
			if c == 0 && trial%5 == 0 {
				length = 250 * src.Float64() / b
			}
			r.classes[c] = refinedClass{score: ends{low, low + src.Float64()*length, low + length}, done: src.IntN(3) == 0}
		}
		p, q := make([]float64, classes), make([]float64, classes)
		share := func(at func(c int) float64) {
			top, sum := math.Inf(-1), 0.0
			for c := range q {
				top = max(top, at(c))
			}
			for c := range q {
				q[c] = math.Exp(b * (at(c) - top))
				sum += q[c]
			}
			for c := range q {
				q[c] /= sum
			}
		}
		check := func() {
			bound, next := r.bound()
			r.probabilities(p)
			share(func(c int) float64 { return r.classes[c].score.at })
			assert.InDeltaSlice(t, q, p, 1e-12)
			reached := 0.0
			for one := range classes {
				for _, up := range []bool{false, true} {
					share(func(c int) float64 {
						if (c == one) == up {
							return r.classes[c].score.high
						}
						return r.classes[c].score.low
					})
					reached = max(reached, math.Abs(q[one]-p[one]))
				}
			}
			assert.InDelta(t, reached, bound, 1e-12)
			for range 20 {
				share(func(c int) float64 {
					s := r.classes[c].score
					return s.low + src.Float64()*(s.high-s.low)
				})
				for c := range q {
					assert.LessOrEqual(t, math.Abs(q[c]-p[c]), bound+1e-12)
				}
			}
			all := true
			for c := range r.classes {
				all = all && r.classes[c].done
			}
			assert.Equal(t, all, next == -1)
			if next < 0 {
				return
			}
			assert.False(t, r.classes[next].done)
			widest, of := 0.0, 0.0 // by its own score, the others where they are
			for one := range classes {
				if r.classes[one].done {
					continue
				}
				var width float64
				for _, up := range []bool{true, false} {
					share(func(c int) float64 {
						switch s := r.classes[c].score; {
						case c != one:
							return s.at
						case up:
							return s.high
						default:
							return s.low
						}
					})
					width = q[one] - width
				}
				if widest = max(widest, -width); one == next {
					of = -width
				}
			}
			assert.InDelta(t, widest, of, 1e-12)
		}
		check()
		r.fresh = src.IntN(classes)
		s := &r.classes[r.fresh].score
		s.low, s.high = s.low+src.Float64()*(s.at-s.low), s.high-src.Float64()*(s.high-s.at)
		s.at = s.low + src.Float64()*(s.high-s.low)
		check()
	}
}

// Where exponentials are too large or too small for their quotients the bound is more than the error, and a number.
func TestBoundOfExtremeScores(t *testing.T) {
	for _, scores := range [][]ends{
		{{0, 1, 2000}, {-1, -1, -1}}, {{0, 1000, 2000}, {-1, -1, -1}}, {{-2000, 500, 600}, {-1500, -1500, -1500}},
		{{-3000, -2000, -1000}, {-3000, -2000, -1000}, {5, 5, 5}},
	} {
		r := newRefinedClasses(len(scores), 1, 3)
		r.sharpness, r.fresh = 2, -1
		for i, s := range scores {
			r.classes[i].score = s
		}
		bound, next := r.bound()
		p := make([]float64, len(scores))
		r.probabilities(p)
		worst := 0.0
		for i := range scores { // the odds against the largest of the others
			most, least := math.Inf(-1), math.Inf(-1)
			for j, s := range scores {
				if j != i {
					most, least = max(most, s.high), max(least, s.low)
				}
			}
			worst = max(worst, 1/(1+math.Exp(2*(least-scores[i].high)))-p[i], p[i]-1/(1+math.Exp(2*(most-scores[i].low))))
		}
		assert.GreaterOrEqual(t, bound, worst-1e-12, "%v", scores)
		assert.LessOrEqual(t, bound, 1.0)
		assert.GreaterOrEqual(t, next, 0)
	}
}

// Beside an interval of many decades the bound still counts the small classes.
func TestLargestMoveOfWideIntervals(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 9))
	for range 300 {
		classes := 2 + src.IntN(4)
		var low, high, p []float64
		for c := range classes {
			from := src.NormFloat64()
			low, high = append(low, from), append(high, from)
			if c == 0 {
				high[c] += 60 * src.Float64()
			}
			p = append(p, math.Exp(low[c]+src.Float64()*(high[c]-low[c])))
		}
		sum := 0.0
		for _, v := range p {
			sum += v
		}
		worst := 0.0
		for c := range p {
			p[c] /= sum
			for _, up := range []bool{false, true} { // the corners at which p_c is largest or least
				own, all := 0.0, 0.0
				for l := range p {
					at := low[l]
					if (l == c) == up {
						at = high[l]
					}
					if all += math.Exp(at); l == c {
						own = math.Exp(at)
					}
				}
				worst = max(worst, math.Abs(own/all-p[c]))
			}
		}
		assert.InDelta(t, worst, largestMove(1, p, low, high), 1e-12)
	}
}

// The ends of a score are the log odds at the ends of the standard deviation, whatever the sign of the mean.
func TestEndsOfScores(t *testing.T) {
	odds := func(z float64) float64 { return math.Log(math.Erfc(-z/math.Sqrt2) / math.Erfc(z/math.Sqrt2)) }
	for _, mean := range []float64{-0.7, 0, 1.3} {
		var c refinedClass
		c.set(vi.Certified{Mean: mean, Variance: 0.25, SDError: 0.1, LeastSD: 0.41})
		a, b := odds(mean/0.6), odds(mean/0.41)
		assert.InDelta(t, odds(mean/0.5), c.score.at, 1e-12)
		assert.InDelta(t, min(a, b), c.score.low, 1e-12)
		assert.InDelta(t, max(a, b), c.score.high, 1e-12)
		c.set(vi.Certified{Mean: mean, Variance: 0.25, LeastSD: 0.41})
		assert.Equal(t, ends{c.score.at, c.score.at, c.score.at}, c.score, "the standard deviation is exact")
	}
}

// A new score far above the others gets a unit of its own.
func TestUnitOfScores(t *testing.T) {
	r := newRefinedClasses(2, 1, 3)
	r.sharpness, r.fresh = 1, -1
	r.classes[0].score, r.classes[1].score = ends{-250, -250, -250}, ends{-900, -400, 200}
	r.bound()
	r.fresh, r.classes[1].score = 1, ends{249, 250, 251}
	bound, _ := r.bound()
	assert.Less(t, bound, 1e-9)
	p := make([]float64, 2)
	r.probabilities(p)
	assert.InDelta(t, 1, p[1], 1e-12)
}

// Classes that are refined side by side reach what is allowed, and their bound holds. They stop before all rows.
func TestRefinedClasses(t *testing.T) {
	x, three := classProblem(330) // so many that triangles are divided
	two := each(three, func(k int) int { return min(1, k) })
	for _, labels := range [][]int{two, three} {
		m, err := MultiGPClassifier[int]{Climb: Climb{MaxSteps: 2}}.Fit(t.Context(), []View{{X: x, Kernel: kernel.RBF{Width: 0.6}}}, labels)
		require.NoError(t, err)
		at := around(rand.New(rand.NewPCG(2, 2)), x, 40)
		_, want, err := m.Predict(at)
		require.NoError(t, err)
		const tolerance = 0.03 // which says how many bytes the triangles have
		one, err := m.Predictor(PredictorOptions{Tolerance: tolerance})
		require.NoError(t, err)
		p := one.processes
		require.True(t, p.members[0].refines)
		most, moved := 0.0, 0
		for i := range at.Rows {
			for _, allowed := range []float64{0.3, 0.03, 0} {
				s := p.bank.take()
				bound := p.probabilities(s, [][]float64{at.Row(i)}, hasty, allowed)
				assert.LessOrEqual(t, bound, max(allowed, tolerance/4), "what all rows allow")
				for c, v := range s.sum {
					assert.InDelta(t, want[i][c], v, bound+1e-6)
					if math.Abs(want[i][c]-v) > 1e-4 {
						moved++
					}
				}
				most = max(most, bound)
				p.bank.pool.Put(s)
			}
		}
		assert.Greater(t, most, 0.03)
		assert.Positive(t, moved, "predictions are not of all rows")
	}
}

// Members with few triangles come first, each triangle has the same share of the tolerance, and what members leave is for those after them.
func TestSharesOfTheTolerance(t *testing.T) {
	const tolerance = 0.01
	p := processClassPredictor[string]{}
	of := []struct {
		weight    float64
		triangles int
	}{{0.3, 10}, {0.05, 1}, {0.15, 10}, {0.1, 0}, {0.4, 3}}
	for _, m := range of {
		p.members = append(p.members, classMember[string]{weight: m.weight, functions: make([]pointFunction, m.triangles), refines: m.triangles > 0})
	}
	p.complete()
	assert.Equal(t, []int{3, 1, 4, 0, 2}, p.order)
	bound := 0.0
	for _, i := range p.order { // each takes all that it may
		taken := (tolerance - bound) * p.members[i].share * of[i].weight
		assert.InDelta(t, tolerance*float64(of[i].triangles)/24, taken, 1e-15)
		bound += taken
	}
	assert.InDelta(t, tolerance, bound, 1e-15)
	assert.InDelta(t, 1, p.members[2].share*of[2].weight, 1e-15, "all that is left is for the last")
}
