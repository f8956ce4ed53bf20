package special

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// besselReference returns the rows of both tables as ν, x and the fields of BesselK;
// NaN where a table has none.
func besselReference(t *testing.T) (rows [][7]float64) {
	t.Helper()
	f, err := os.Open("../../testdata/special/bessel.csv")
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	for _, line := range lines[1:] {
		var row [7]float64
		for i, cell := range line {
			row[i], err = strconv.ParseFloat(cell, 64)
			require.NoError(t, err)
		}
		rows = append(rows, row)
	}
	data, err := os.ReadFile("../../testdata/golden/mgp/special_functions.json")
	require.NoError(t, err)
	var golden struct{ Bessel struct{ Rows [][8]float64 } }
	require.NoError(t, json.Unmarshal(data, &golden))
	for _, r := range golden.Bessel.Rows {
		rows = append(rows, [7]float64{r[0], r[1], r[2], r[3], r[6], r[7], r[4] * r[1]})
	}
	return rows
}

func TestBesselKTables(t *testing.T) {
	const logs, relative = 2e-14, 1e-14
	var worst [5]float64
	for _, r := range besselReference(t) {
		b := NewBesselK(r[0], r[1])
		for i, got := range [5]float64{b.Log, b.DLog, b.LogScaled, b.DLogScaled, b.Ratio} {
			want, name := r[2+i], fmt.Sprintf("field %d at ν = %g, x = %g", i, r[0], r[1])
			scale, tol := math.Abs(want), relative
			if i != 1 && i != 4 {
				scale, tol = max(1, scale), logs
			}
			if want == 0 {
				assert.Zero(t, got, name)
				continue
			}
			e := math.Abs(got-want) / scale
			assert.LessOrEqual(t, e, tol, name)
			worst[i] = max(worst[i], e)
		}
	}
	t.Logf("worst errors: log K %.1g, d log K/dν %.1g, scaled log %.1g, its derivative %.1g, ratio %.1g",
		worst[0], worst[1], worst[2], worst[3], worst[4])
}

func TestBesselKRatioTable(t *testing.T) {
	data, err := os.ReadFile("../../testdata/golden/mgp/special_functions.json")
	require.NoError(t, err)
	var golden struct{ Bessel struct{ Rows [][8]float64 } }
	require.NoError(t, json.Unmarshal(data, &golden))
	for _, r := range golden.Bessel.Rows {
		assert.InEpsilon(t, r[4], BesselKRatio(r[0], r[1]), 3e-15, "R at %g, %g", r[0], r[1])
		assert.InEpsilon(t, r[5], BesselKRatio(-r[0], r[1]), 3e-15, "R at −%g, %g", r[0], r[1])
	}
}

// Orders of half an odd number are elementary.
func TestBesselKHalfOrders(t *testing.T) {
	for _, x := range []float64{1e-200, 3e-18, 1e-9, 0.01, 0.49, 0.51, 1, 7, 300, 1e6} {
		k12 := 0.5*math.Log(math.Pi/(2*x)) - x
		assert.InDelta(t, k12, NewBesselK(0.5, x).Log, 3e-15*max(1, math.Abs(k12)), "K_1/2 at %g", x)
		assert.InDelta(t, k12, NewBesselK(-0.5, x).Log, 3e-15*max(1, math.Abs(k12)), "K_−1/2 at %g", x)
		assert.InEpsilon(t, 1+x, NewBesselK(0.5, x).Ratio, 3e-15, "ratio at 1/2, %g", x)
		assert.InEpsilon(t, 3+x*x/(1+x), NewBesselK(1.5, x).Ratio, 3e-15, "ratio at 3/2, %g", x)
	}
}

// The recurrence and the slope between neighbouring points cross every border
// between the methods.
func TestBesselKRecurrenceAndSlope(t *testing.T) {
	for _, nu := range []float64{0.2, 0.7, 1.4, 6.9, 7.2, 8.3, 40} {
		for _, x := range []float64{1e-18, 1e-5, 0.3, 0.499, 0.501, 4, 60} {
			// K_{ν+2} = K_ν + 2(ν+1)/x·K_{ν+1}
			b, next := NewBesselK(nu, x), NewBesselK(nu+1, x)
			assert.InEpsilon(t, x*x/b.Ratio+2*(nu+1), next.Ratio, 4e-15, "recurrence at %g, %g", nu, x)
			assert.InDelta(t, b.LogScaled+math.Log(b.Ratio), next.LogScaled, 1e-14*max(1, math.Abs(next.LogScaled)), "step at %g, %g", nu, x)
			const h = 1e-4
			slope := (NewBesselK(nu+h, x).LogScaled - NewBesselK(nu-h, x).LogScaled) / (2 * h)
			assert.InDelta(t, slope, b.DLogScaled, 1e-6, "slope at %g, %g", nu, x)
		}
	}
}

func TestBesselKEdges(t *testing.T) {
	for _, c := range []struct{ nu, x float64 }{{-0.6, 1}, {1, -1}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}, {1, math.Inf(1)}} {
		assert.True(t, math.IsNaN(NewBesselK(c.nu, c.x).Log), "ν = %g, x = %g", c.nu, c.x)
	}
	b := NewBesselK(2.5, 0)
	lg, _ := math.Lgamma(2.5)
	assert.Equal(t, lg+1.5*math.Ln2, b.LogScaled)
	assert.Equal(t, 5.0, b.Ratio)
	assert.True(t, math.IsInf(b.Log, 1))
	assert.Zero(t, testing.AllocsPerRun(10, func() { NewBesselK(3.3, 0.2); NewBesselK(3.3, 2); NewBesselK(0.3, 2) }))
}

// At any size of its arguments K_ν(x) ends, and its logarithm agrees with Debye's
// expansion (DLMF 10.41.4), whose first term is all there is at these sizes.
func TestBesselKOfHugeArguments(t *testing.T) {
	huge := []float64{0, 1e-300, 1, 1e10, 1e39, 1e41, 1e100, 1e153, 1e160, 1e300, 1e308, math.MaxFloat64}
	for _, nu := range huge {
		for _, x := range huge[1:] {
			b := NewBesselK(nu, x)
			s := math.Hypot(nu, x)
			if s < 1e30 || s > 1e300 {
				continue
			}
			want := nu*math.Asinh(nu/x) - s + 0.5*math.Log(math.Pi/2/s)
			if nu/x < 1e300 {
				assert.InEpsilon(t, want, b.Log, 1e-13, "ν = %g, x = %g", nu, x)
			}
			assert.InEpsilon(t, s+nu, b.Ratio, 1e-14, "ν = %g, x = %g", nu, x)
		}
	}
}

func BenchmarkBesselK(b *testing.B) {
	for _, p := range [][2]float64{{0.1, 1e-300}, {0.3, 0.1}, {7.3, 0.4}, {0.6, 0.5}, {8, 1e-300}, {3, 3}, {30, 1}, {1000, 1000}, {0.5, 1e6}, {1e5, 1}} {
		b.Run(fmt.Sprintf("nu=%g/x=%g", p[0], p[1]), func(b *testing.B) {
			for b.Loop() {
				NewBesselK(p[0], p[1])
			}
		})
	}
}
