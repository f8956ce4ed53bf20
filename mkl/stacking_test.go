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

// The weights are where the score has no slope within the simplex.
func TestStackIsStationary(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	const N = 200
	density := make([][]float64, 3)
	for range N {
		y := src.NormFloat64()
		if src.Float64() < 0.3 {
			y += 4
		}
		density[0] = append(density[0], normalLog(y, 0, 1))
		density[1] = append(density[1], normalLog(y, 4, 1))
		density[2] = append(density[2], normalLog(y, -9, 1))
	}
	w := stack(density)
	slope := make([]float64, 3)
	for m := range w {
		slope[m] = pseudoShare * N / 3 / w[m]
		for n := range N {
			var sum float64
			for k, v := range w {
				sum += v * math.Exp(density[k][n])
			}
			slope[m] += math.Exp(density[m][n]) / sum
		}
	}
	assert.InDelta(t, slope[0], slope[1], 1e-4)
	assert.InDelta(t, slope[0], slope[2], 1e-4)
	assert.InDelta(t, 0.3, w[1], 0.06)
	assert.InDelta(t, pseudoShare/3/(1+pseudoShare), w[2], 1e-9, "nothing but its pseudo-counts")
}

func TestStackWithoutDensity(t *testing.T) {
	none := math.Inf(-1)
	assert.InDeltaSlice(t, []float64{0.5, 0.5}, stack([][]float64{{none, none}, {none, none}}), 1e-12)
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
		{1, 1, 0}, {-1, 1, 0}, {4, 100, 0}, {20, 1000, 0}, {0.5, 1000, mostSharpness}, {-50, 100, leastSharpness},
	} {
		scores, class := same(c.gap, c.n)
		b := fitSharpness(scores, class)
		if c.want > 0 {
			assert.InDelta(t, c.want, b, 1e-5, "%v", c)
			continue
		}
		// Σ gap·P(other) = log b/(b·spread²)
		slope := float64(c.n) * c.gap / (1 + math.Exp(b*c.gap))
		assert.InDelta(t, slope, math.Log(b)/(b*logSharpnessSpread*logSharpnessSpread), 1e-6, "%v", c)
	}
}
