package mgp

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit/golden"
)

func TestGoldenGrades(t *testing.T) {
	golden.Run(t, "grades", []string{"grades.json"}, func(t *testing.T, _ string, data []byte) {
		var cases []struct {
			Mean, Variance    float64
			Eta               []float64
			Y                 int
			LogZ, Slope, Bend float64
			Slopes            []float64
		}
		require.NoError(t, json.Unmarshal(data, &cases))
		require.NotEmpty(t, cases)
		for i, c := range cases {
			l := Ordinal{Y: []int{c.Y}, Grades: len(c.Eta) + 2}
			slopes := make([]float64, len(c.Eta))
			m := l.moments(0, c.Mean, c.Variance, c.Eta, slopes)
			assert.InDelta(t, c.LogZ, m.logZ, 1e-9*max(1, math.Abs(c.LogZ)), "case %d: log Z", i)
			assert.InDelta(t, c.Slope, m.slope, 1e-9*max(1, math.Abs(c.Slope)), "case %d: slope", i)
			assert.InDelta(t, c.Bend, m.bend, 1e-9, "case %d: bend", i)
			for j, s := range c.Slopes {
				assert.InDelta(t, s, slopes[j], 1e-9*max(1, math.Abs(s)), "case %d: slope %d", i, j)
			}
			all := make([]float64, l.Grades)
			Grades{c.Mean, c.Variance, append([]float64{0}, c.Eta...)}.LogProbabilities(all)
			assert.InDelta(t, c.LogZ, all[c.Y], 1e-9*max(1, math.Abs(c.LogZ)), "case %d", i)
		}
	})
}

// Two grades are labels with a level, and mirrored grades mirror the moments where the middle is a cut point.
func TestGradesOfTwoAndMirrored(t *testing.T) {
	two := Ordinal{Y: []int{0, 1}, Grades: 2}
	for n, label := range []float64{-1, 1} {
		assert.InDelta(t, probit{label}.moments(0, 0.7, 0.4, nil, nil).logZ, two.moments(n, 0.7, 0.4, nil, nil).logZ, 1e-14)
	}
	mean, _ := two.prior()
	assert.InDeltaSlice(t, []float64{0}, mean, 1e-15)

	four := Ordinal{Y: []int{0, 1, 2, 3}, Grades: 4}
	for n := range four.Y {
		for _, far := range []float64{0.3, 9, 300, 1e8} {
			a, b := make([]float64, 2), make([]float64, 2)
			m, mirrored := four.moments(n, far, 0.4, []float64{0.2, -3}, a), four.moments(3-n, -far, 0.4, []float64{-3, 0.2}, b)
			assert.InDelta(t, m.logZ, mirrored.logZ, 1e-12*math.Abs(m.logZ))
			assert.InDelta(t, m.slope, -mirrored.slope, 1e-7*(1+math.Abs(m.slope)))
			assert.InDelta(t, a[0], b[1], 1e-7*(1+math.Abs(a[0])))
			assert.InDelta(t, a[1], b[0], 1e-7*(1+math.Abs(a[1])))
			assert.False(t, math.IsNaN(a[0]+a[1]))
		}
	}
}

// Cut points ascend, and what lies beyond double precision has no probability.
func TestCutPoints(t *testing.T) {
	c := CutPoints([]float64{0.5, math.Log(2), math.Log(3), math.Log(4)}) // the middle one of four is the second
	assert.InDeltaSlice(t, []float64{-2.5, -0.5, 2.5, 6.5}, c, 1e-15)
	out := make([]float64, 4)
	for _, eta := range [][]float64{{-1000, 1000}, {1000, 1000}, {-1000, -1000}} {
		Grades{0.3, 2, append([]float64{0}, eta...)}.LogProbabilities(out)
		var sum float64
		for _, p := range out {
			sum += math.Exp(p)
		}
		assert.InDelta(t, 1, sum, 1e-12, "%g", eta)
	}
}

func TestGradesSayWhatIsWrong(t *testing.T) {
	for want, o := range map[string]Ordinal{
		"sample 1 is 3":          {Y: []int{0, 3}, Grades: 3},
		"sample 0 is -1":         {Y: []int{-1, 1}, Grades: 3},
		"there are 1":            {Y: []int{0, 0}, Grades: 1},
		"all 2 samples have the": {Y: []int{1, 1}, Grades: 3},
	} {
		assert.ErrorContains(t, o.check(), want)
	}
}
