package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func normalLog(x, mean, sd float64) float64 {
	d := (x - mean) / sd
	return -0.5*d*d - math.Log(sd) - 0.5*math.Log(2*math.Pi)
}

// The weights agree with sums over a grid on the simplex.
func TestStack(t *testing.T) {
	for _, N := range []int{0, 5, 40} {
		src := rand.New(rand.NewPCG(1, 1))
		density := make([][]float64, 3)
		for m := range density {
			density[m] = []float64{math.Inf(-1), math.NaN()} // samples that say nothing
		}
		for range N {
			y := src.NormFloat64()
			if src.Float64() < 0.3 {
				y += 4
			}
			for m, mean := range []float64{0, 4, -9} {
				density[m] = append(density[m], normalLog(y, mean, 1))
			}
		}
		var all float64
		want := make([]float64, 3)
		const cells = 200
		for i := range cells {
			for j := range cells - i {
				w := []float64{(float64(i) + 1.0/3) / cells, (float64(j) + 1.0/3) / cells, 0}
				w[2] = 1 - w[0] - w[1]
				p := 1.0
				for _, v := range w { // 40 samples make .05·40/3 pseudo-counts, about one
					p *= math.Pow(v, math.Round(pseudoShare*float64(N)/3))
				}
				for n := 2; n < N+2; n++ {
					var sum float64
					for m, v := range w {
						sum += v * math.Exp(density[m][n]+2)
					}
					p *= sum
				}
				all += p
				for m, v := range w {
					want[m] += v * p
				}
			}
		}
		for m := range want {
			want[m] /= all
		}
		w := stack(density, 7)
		t.Logf("%d samples: %.4f, by quadrature %.4f", N, w, want)
		assert.InDeltaSlice(t, want, w, 0.01)
		assert.Equal(t, w, stack(density, 7))
	}
}

// A model beside a pool has the weight that it has beside the mixture of the pool's members.
func TestWeightBeside(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	density, mixture, model := make([][]float64, 2), []float64{}, []float64{}
	for range 60 {
		y := src.NormFloat64()
		density[0], density[1] = append(density[0], normalLog(y, 0.5, 1)), append(density[1], normalLog(y, -3, 2))
		mixture = append(mixture, math.Log(0.7*math.Exp(normalLog(y, 0.5, 1))+0.3*math.Exp(normalLog(y, -3, 2))))
		model = append(model, normalLog(y, 0, 1))
	}
	got := mixedDensity(density, []float64{0.7, 0.3})
	assert.InDeltaSlice(t, mixture, got, 1e-12)
	w := weightBeside(got, model, 3)
	assert.InDelta(t, stack([][]float64{mixture, model}, 3)[1], w, 1e-12)
	assert.Greater(t, w, leastBeside)
	assert.InDelta(t, 1-w, weightBeside(model, got, 4), 0.05)

	impossible := mixedDensity([][]float64{{math.Inf(-1)}, {math.Inf(-1)}}, []float64{0.5, 0.5})
	assert.True(t, math.IsInf(impossible[0], -1))
}

func TestSharpen(t *testing.T) {
	for _, tt := range []struct {
		name   string
		b      float64
		scores []float64
		want   []float64
	}{
		{"two classes as they are", 1, []float64{math.Log(0.3), math.Log(0.7)}, []float64{0.3, 0.7}},
		{"squared", 2, []float64{math.Log(0.5), 0}, []float64{0.2, 0.8}},
		{"a certain class", 1.5, []float64{math.Inf(1), 3, 0}, []float64{1, 0, 0}},
		{"all but impossible", 1, []float64{-2000, -2000}, []float64{0.5, 0.5}},
		{"two certain ones", 1, []float64{math.Inf(1), math.Inf(1), 0}, []float64{0.5, 0.5, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := make([]float64, len(tt.scores))
			sharpen(tt.b, tt.scores, log)
			for c, w := range tt.want {
				assert.InDelta(t, w, math.Exp(log[c]), 1e-15)
			}
		})
	}
}

// Probabilities and their complements keep their digits, and scores of several classes are log odds.
func TestScoresOfProbabilities(t *testing.T) {
	for logP, want := range map[float64]float64{
		0: math.Inf(-1), -1e-20: math.Log(1e-20), -0.1: math.Log(1 - math.Exp(-0.1)), -math.Ln2: -math.Ln2, -1: math.Log(1 - math.Exp(-1)), -50: -math.Exp(-50), -800: 0,
	} {
		if math.IsInf(want, -1) || want == 0 {
			assert.Equal(t, want, logNot(logP)+0, "%g", logP)
			continue
		}
		assert.InEpsilon(t, want, logNot(logP), 1e-14, "%g", logP)
	}
	s := scoreRows(2, 3)
	for o, p := range []float64{0.2, 0.5, 0.9} {
		s.set(1, o, math.Log(p), math.Log(1-p))
	}
	assert.InDeltaSlice(t, []float64{math.Log(0.25), 0, math.Log(9)}, s[1], 1e-14)
	assert.Equal(t, []float64{0, 0, 0}, s[0])
	two := scoreRows(1, 2)
	two.set(0, 0, math.Log(0.3), math.Log(0.7))
	assert.InDeltaSlice(t, []float64{math.Log(0.7), math.Log(0.3)}, two[0], 1e-14)

	out := [][]float64{make([]float64, 3), make([]float64, 3)}
	sharpenAll(2, [][]float64{{0, math.Log(2), math.Log(3)}, {5, 5, 5}}, out)
	assert.InDeltaSlice(t, []float64{1.0 / 14, 4.0 / 14, 9.0 / 14}, out[0], 1e-14)
	assert.InDeltaSlice(t, []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}, out[1], 1e-14)
}

// The sharpness that labels were drawn with is found again.
func TestFitSharpness(t *testing.T) {
	for _, b := range []float64{0.5, 1, 2.5} {
		src := rand.New(rand.NewPCG(2, 2))
		var scores [][]float64
		var class []int
		log := make([]float64, 3)
		for range 20000 {
			s := []float64{src.NormFloat64(), src.NormFloat64(), src.NormFloat64()}
			sharpen(b, s, log)
			u, c := src.Float64(), 0
			for u > math.Exp(log[c]) && c < 2 {
				u -= math.Exp(log[c])
				c++
			}
			scores, class = append(scores, s), append(class, c)
		}
		assert.InEpsilon(t, b, fitSharpness(scores, class), 0.05)
	}
}

// Samples that are all predicted right, or all wrong, do not call for any b.
func TestFitSharpnessOfSure(t *testing.T) {
	same := func(gap float64, n int) (scores [][]float64, class []int) {
		for range n {
			scores, class = append(scores, []float64{gap, 0}), append(class, 0)
		}
		return scores, class
	}
	for _, c := range []struct {
		gap  float64
		n    int
		want float64 // 0: inside
	}{
		{1, 1, 0}, {-1, 1, 0}, {-1, 58, 0}, {4, 100, 0}, {20, 1000, 0}, {0.5, 1000, mostSharpness}, {-50, 100, leastSharpness},
	} {
		scores, class := same(c.gap, c.n)
		b := fitSharpness(scores, class)
		if c.want > 0 {
			assert.InDelta(t, c.want, b, 1e-5, "%v", c)
			continue
		}
		// Σ gap·P(other) = log b/(b·spread²). A common shift of the scores changes nothing, nor does a sample whose class is certain.
		slope := float64(c.n) * c.gap / (1 + math.Exp(b*c.gap))
		assert.InDelta(t, slope, math.Log(b)/(b*logSharpnessSpread*logSharpnessSpread), 1e-6, "%v", c)
		for _, s := range scores {
			s[0], s[1] = s[0]+3, s[1]+3
		}
		scores, class = append(scores, []float64{math.Inf(1), 0}, []float64{1, math.Inf(-1)}), append(class, 0, 0)
		assert.InDelta(t, b, fitSharpness(scores, class), 1e-9, "%v", c)
	}
}
