package mkl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi/mgp"
)

// someStages are grades between the cut points −1, 0 and 1.5 of sin 1.5x₁ + noise, three times as large as the noise.
func someStages(seed uint64, n int) (views []View, grades []int, truth [][]float64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	x := normal(rng, n, 2)
	for i := range n {
		f := 3 * math.Sin(1.5*x.At(i, 0))
		grade, below, p := 1, 0.0, []float64{}
		y := f + rng.NormFloat64()
		for _, c := range []float64{-1, 0, 1.5} {
			if y > c {
				grade++
			}
			to := 0.5 * math.Erfc((f-c)/math.Sqrt2)
			p = append(p, to-below)
			below = to
		}
		grades, truth = append(grades, grade), append(truth, append(p, 1-below))
	}
	return []View{{X: x, Input: "x", Kernel: kernel.RBF{Width: 1}}}, grades, truth
}

func TestOrdinal(t *testing.T) {
	views, y, _ := someStages(1, 300)
	m, err := Ordinal[int]{}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 3, 4}, m.Classes())
	test, _, truth := someStages(2, 300)
	_, p, err := m.Predict(test[0].X)
	require.NoError(t, err)
	miss := 0.0
	for i, of := range truth {
		for k, v := range of {
			miss += math.Abs(p[i][k]-v) / float64(len(truth)*len(of))
		}
	}
	assert.Less(t, miss, 0.05)
	cuts := m.CutPoints()
	assert.InDelta(t, 1, cuts[1]-cuts[0], 0.3)
	assert.InDelta(t, 1.5, cuts[2]-cuts[1], 0.4)
	assert.Regexp(t, `cut points 1 \| \S+ \| 2 \| \S+ \| 3 \| \S+ \| 4, `, m.Summary())
	assert.Equal(t, cuts, mgp.CutPoints(m.Posterior().State().Shape))
	p2, err := m.PredictClasses(t.Context(), PredictOptions{MeanOnly: true}, test[0].X)
	require.NoError(t, err)
	assert.Nil(t, p2.Probability)
}

// A grade that no sample has is predicted all the same, and a numbered grade needs no list.
func TestGradesWithoutSamples(t *testing.T) {
	views, y, _ := someStages(3, 60)
	m, err := Ordinal[int]{Grades: []int{0, 1, 2, 3, 4, 5}}.Fit(t.Context(), views, y)
	require.NoError(t, err)
	_, p, err := m.Predict(views[0].X)
	require.NoError(t, err)
	for _, of := range p {
		assert.Len(t, of, 6)
		assert.Positive(t, of[0]+of[5])
	}
	two, err := Ordinal[bool]{Grades: []bool{false, true}}.Fit(t.Context(), views, someBools(y))
	require.NoError(t, err)
	assert.Len(t, two.CutPoints(), 1)

	_, err = Ordinal[string]{}.Fit(t.Context(), views, make([]string, 60))
	assert.ErrorContains(t, err, "Grades is nil")
	_, err = Ordinal[int]{Grades: []int{1, 2, 3}}.Fit(t.Context(), views, y)
	assert.ErrorContains(t, err, "not one of Classes")
	_, err = Ordinal[float64]{}.Fit(t.Context(), views, []float64{1, math.NaN()})
	assert.ErrorContains(t, err, "labels[1]")
}

func someBools(y []int) (b []bool) {
	for _, v := range y {
		b = append(b, v > 2)
	}
	return b
}

func TestMedianGrade(t *testing.T) {
	assert.Equal(t, 1, MedianGrade([]float64{0.3, 0.3, 0.4}))
	assert.Equal(t, 0, MedianGrade([]float64{0.5, 0.5}))
	assert.Equal(t, 2, MedianGrade([]float64{0, 0, 0.4}))
}
