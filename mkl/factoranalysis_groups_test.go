package mkl

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// groupedData draws data as the simulations of MOFA+ do: as [mofaData], for the rows of several groups, and a factor is at work in a
// random subset of the groups, at least one, and constant elsewhere. Each group has intercepts of its own.
//
// Source: R. Argelaguet et al., "MOFA+: a statistical framework for comprehensive integration of multi-modal single-cell data", Genome
// Biology 21:111 (2020).
type groupedData struct {
	mofaData
	groups int
	shift  float64 // standard deviation of the intercepts of a column over groups
}

// draw returns the table, the groups of its rows, the factors, and which factor is at work in which group.
func (d groupedData) draw(seed uint64) (y DenseTable, of []string, z [][]float64, at [][]bool) {
	src := rand.New(rand.NewPCG(seed, 57))
	names := []string{"day 1", "day 2", "day 3", "day 4", "day 5"}[:d.groups]
	at = make([][]bool, d.groups)
	for g := range at {
		at[g] = make([]bool, d.factors)
	}
	for k := range d.factors {
		at[src.IntN(d.groups)][k] = true
		for g := range at {
			at[g][k] = at[g][k] || src.IntN(2) == 0
		}
	}
	for n := range d.rows {
		row := make([]float64, d.factors)
		for k := range row {
			if v := src.NormFloat64(); at[n%d.groups][k] {
				row[k] = v
			}
		}
		y, of, z = append(y, nil), append(of, names[n%d.groups]), append(z, row)
	}
	for v, cols := range d.views {
		for range cols {
			w, c := make([]float64, d.factors), make([]float64, d.groups)
			for k := range w {
				w[k] = src.NormFloat64() * float64(src.IntN(2))
			}
			for g := range c {
				c[g] = d.shift * src.NormFloat64()
			}
			for n := range y {
				e, _ := d.entry(v, c[n%d.groups]+la.Dot(w, z[n]), src)
				if src.Float64() < d.gaps {
					e = math.NaN()
				}
				y[n] = append(y[n], e)
			}
		}
	}
	return y, of, z, at
}

// small is a table of two views and two groups.
var small = groupedData{mofaData{60, 3, []int{20, 25}, 0.05, 0, nil}, 2, 2}

// TestFactorGroups finds in which groups the factors are at work.
func TestFactorGroups(t *testing.T) {
	y, of, z, at := small.draw(2)
	m, err := FactorAnalysis{Factors: 6, Views: small.asViews(), Groups: of}.Fit(t.Context(), y)
	require.NoError(t, err)
	got, _ := m.Factors()
	center := map[string][]float64{"day 1": make([]float64, 3), "day 2": make([]float64, 3)} // of the factors, which the intercepts take
	for n, name := range of {
		la.Axpy(1.0/30, z[n], center[name])
	}
	require.Equal(t, []int{0, 1, 2}, m.Used())
	for k := range small.factors {
		best, r := 0, 0.0
		for j := range small.factors {
			a, b := make([]float64, len(y)), make([]float64, len(y))
			for n := range y {
				a[n], b[n] = z[n][k]-center[of[n]][k], got[n][j]
			}
			if c := math.Abs(correlationOf(a, b)); c > r {
				best, r = j, c
			}
		}
		assert.Greater(t, r, 0.97)
		for _, v := range m.VarianceExplained() {
			for g, own := range v.Groups {
				assert.Equal(t, at[g][k], own.Factors[best] >= 0.01, "%s, %s, factor %d", v.View, own.Group, best)
			}
		}
		for g, own := range m.Groups() {
			assert.Equal(t, at[g][k], own.Factors[best] > 0.05, "%s, factor %d has the variance %g", own.Name, best, own.Factors[best])
		}
	}

	// The shares of a view are the shares of its groups, weighted by their squares, and the shares of a group agree with their definition.
	weights, _ := m.Weights()
	for v, share := range m.VarianceExplained() {
		first := 20 * v
		var rest, total float64
		for g, own := range share.Groups {
			var ownRest, ownTotal float64
			for q := first; q < first+small.views[v]; q++ {
				var mean, count float64
				for n := range y {
					if of[n] == own.Group && !math.IsNaN(y[n][q]) {
						mean, count = mean+y[n][q], count+1
					}
				}
				for n := range y {
					if e := y[n][q] - mean/count; of[n] == own.Group && !math.IsNaN(e) {
						ownTotal += e * e
						e -= weights[q][0] * got[n][0]
						ownRest += e * e
					}
				}
			}
			assert.InDelta(t, 1-ownRest/ownTotal, own.Factors[0], 0.01, "%s, group %d: about the means and not the offsets", share.View, g)
			rest, total = rest+ownRest, total+ownTotal
		}
		assert.InDelta(t, 1-rest/total, share.Factors[0], 0.01)
	}
	assert.Contains(t, m.Summary(), "view1, day 2")

	// Without groups the differences between the groups are a factor.
	plain, err := FactorAnalysis{Factors: 6, Views: small.asViews()}.Fit(t.Context(), y)
	require.NoError(t, err)
	assert.Greater(t, len(plain.Used()), 3)
	assert.Nil(t, plain.Groups())
	assert.Nil(t, plain.VarianceExplained()[0].Groups)
}

// TestFactorsOfOneGroup: one group is no group, to the bit.
func TestFactorsOfOneGroup(t *testing.T) {
	y, _, _, _ := small.draw(4)
	for _, views := range [][]FactorView{nil, small.asViews()} {
		f := FactorAnalysis{Factors: 3, Views: views, Ascent: Ascent{MaxSweeps: 40}}
		var files [2]bytes.Buffer
		for i := range files {
			m, err := f.Fit(t.Context(), y)
			require.NoError(t, err)
			require.NoError(t, m.Save(&files[i]))
			f.Groups = slices.Repeat([]string{"all"}, len(y))
		}
		assert.Equal(t, files[0].Bytes(), files[1].Bytes())
	}
}

// TestFactorGroupsRenamed: other names and another order of the rows change nothing beyond rounding.
func TestFactorGroupsRenamed(t *testing.T) {
	y, of, _, _ := small.draw(5)
	f := FactorAnalysis{Factors: 4, Views: small.asViews(), Groups: of, Ascent: Ascent{MaxSweeps: 80}}
	m, err := f.Fit(t.Context(), y)
	require.NoError(t, err)
	mean, _ := m.Factors()

	f.Groups = slices.Clone(of)
	for n, name := range of {
		f.Groups[n] = map[string]string{"day 1": "z", "day 2": "a"}[name]
	}
	renamed, err := f.Fit(t.Context(), y)
	require.NoError(t, err)
	same, _ := renamed.Factors()
	assert.Equal(t, mean, same)
	assert.Equal(t, []string{"z", "a"}, []string{renamed.Groups()[0].Name, renamed.Groups()[1].Name})

	order := rand.New(rand.NewPCG(1, 1)).Perm(len(y))
	var moved DenseTable
	f.Groups = nil
	for _, n := range order {
		moved, f.Groups = append(moved, y[n]), append(f.Groups, of[n])
	}
	turned, err := f.Fit(t.Context(), moved)
	require.NoError(t, err)
	other, _ := turned.Factors()
	assert.InEpsilon(t, m.Bound(), turned.Bound(), 1e-9)
	for i, n := range order {
		assert.InDeltaSlice(t, mean[n], other[i], 1e-5)
	}
}

// TestFactorGroupsKept goes on from a journal, loads what was saved, and predicts new rows in their groups.
func TestFactorGroupsKept(t *testing.T) {
	d := groupedData{mofaData{40, 2, []int{6, 7, 6}, 0.1, 0, []FactorKind{GaussianView, BernoulliView, PoissonView}}, 2, 3}
	y, of, _, _ := d.draw(6)
	f := FactorAnalysis{Fitting: Fitting{Notes: map[string]string{"from": "a test"}}, Factors: 3, Views: d.asViews(), Groups: of, Ascent: Ascent{MaxSweeps: 25}}
	goesOn(t, y, f)
	for _, views := range [][]FactorView{nil, d.asViews()} {
		for _, none := range []bool{false, true} {
			f.Views, f.NoOffsets = views, none
			m, err := f.Fit(t.Context(), y)
			require.NoError(t, err)
			var file bytes.Buffer
			require.NoError(t, m.Save(&file))
			back, err := LoadAs[*FactorAnalysisModel](&file)
			require.NoError(t, err)
			assert.Equal(t, m.Groups(), back.Groups())
			assert.Equal(t, m.VarianceExplained(), back.VarianceExplained())
			assert.Equal(t, m.NoiseSD(), back.NoiseSD())
			a, _, err := m.CompleteRows(y, of...)
			require.NoError(t, err)
			b, _, err := back.CompleteRows(y, of...)
			require.NoError(t, err)
			assert.Equal(t, a, b)
			if views == nil {
				assert.Equal(t, []FactorView{{Name: "table", Columns: 19}}, m.Views())
			}
		}
	}

	// A row without entries has the means of its group.
	m, err := FactorAnalysis{Factors: 3, Views: d.asViews(), Groups: of}.Fit(t.Context(), y)
	require.NoError(t, err)
	var empty DenseTable
	for range 3 {
		empty = append(empty, slices.Repeat([]float64{math.NaN()}, 19))
	}
	empty[2][0] = 1 // a table has an entry
	mean, _, err := m.CompleteRows(empty, "day 1", "day 2", "day 2")
	require.NoError(t, err)
	scores, variance, err := m.Transform(empty, "day 2")
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 0, 0}, scores[0])
	assert.InEpsilonSlice(t, m.Groups()[1].Factors, variance[0], 1e-9)
	inverse, err := m.InverseTransform(scores[:2], "day 1", "day 2")
	require.NoError(t, err)
	for g, name := range []string{"day 1", "day 2"} {
		for q := range 6 {
			var sum, count float64
			for n := range y {
				if of[n] == name && !math.IsNaN(y[n][q]) {
					sum, count = sum+y[n][q], count+1
				}
			}
			assert.InDelta(t, sum/count, mean[g][q], 0.5)
			assert.InDelta(t, sum/count, inverse[g][q], 0.5)
		}
	}
	cells, _, err := m.Complete(TableCell{1, 3})
	require.NoError(t, err)
	assert.InDelta(t, y[1][3], cells[0], 1.5, "in the units of its group")

	for want, do := range map[string]func() error{
		`mkl: groups: row 1 is of group "day 9", and the fit had day 1, day 2`: func() error {
			_, _, err := m.Transform(empty, "day 1", "day 9", "day 1")
			return err
		},
		"mkl: groups: 2 for 3 rows": func() error { _, _, err := m.LeaveOneOut(empty, "a", "b"); return err },
		"mkl: groups: the fit had the groups day 1, day 2: every row needs one of them": func() error {
			_, err := m.InverseTransform(scores)
			return err
		},
		"mkl: Groups: 2 for 40 rows": func() error { f.Groups = of[:2]; _, err := f.Fit(t.Context(), y); return err },
		"mkl: Groups[3] is empty: every row needs a group": func() error {
			f.Groups = slices.Clone(of)
			f.Groups[3] = ""
			_, err := f.Fit(t.Context(), y)
			return err
		},
		`mkl: Groups[3]: "alone" has one row: a group needs two, as its offsets explain a single row`: func() error {
			f.Groups = slices.Clone(of)
			f.Groups[3] = "alone"
			_, err := f.Fit(t.Context(), y)
			return err
		},
		"mkl: RowDistances excludes Groups": func() error {
			_, err := FactorAnalysis{Groups: of, RowDistances: Features{Rows: 40, Cols: 40, Stride: 40, Data: make([]float64, 1600)}}.Fit(t.Context(), y)
			return err
		},
		"mkl: groups: the fit had no groups": func() error {
			plain, err := FactorAnalysis{Factors: 2, Ascent: Ascent{MaxSweeps: 3}}.Fit(t.Context(), y)
			require.NoError(t, err)
			_, _, err = plain.Transform(empty, "day 1")
			return err
		},
		"mkl: y: one row: factors are learned from how rows differ, and need at least two": func() error {
			_, err := FactorAnalysis{}.Fit(t.Context(), y[:1])
			return err
		},
	} {
		assert.EqualError(t, do(), want)
	}
}

// groupScore says how well factors and the groups where they are at work were found.
type groupScore struct {
	found       int     // factors that explain at least 1 % of a view in a group
	correlation float64 // |correlation| with the true factor, the mean over true factors, each with a found one of its own
	activity    float64 // share of pairs of a group and a true factor about which "explains at least 1 % of a view" is right
	sweeps      int
}

// score compares a fit, of groups or not, with the truth. The true factors are centred in each group, as the intercepts take their means.
func (d groupedData) score(m *FactorAnalysisModel, y DenseTable, of []string, z [][]float64, at [][]bool) groupScore {
	size := d.rows / d.groups
	truth := make([][]float64, d.rows)
	center := map[string][]float64{}
	for n, g := range of {
		if center[g] == nil {
			center[g] = make([]float64, d.factors)
		}
		la.Axpy(1/float64(size), z[n], center[g])
	}
	for n, g := range of {
		truth[n] = slices.Clone(z[n])
		la.Axpy(-1, center[g], truth[n])
	}
	weights, _ := m.Weights()
	scores, _ := m.Factors()
	explained := make([][]float64, d.groups) // of each group, the largest share over views
	for g := range d.groups {
		var own DenseTable
		var factors [][]float64
		for n := g; n < d.rows; n += d.groups {
			own, factors = append(own, y[n]), append(factors, slices.Clone(scores[n]))
		}
		for k := range factors[0] { // about the means of the group, as the columns
			var mean float64
			for n := range factors {
				mean += factors[n][k] / float64(len(factors))
			}
			for n := range factors {
				factors[n][k] -= mean
			}
		}
		for _, row := range d.explained(own, weights, factors) {
			if explained[g] == nil {
				explained[g] = slices.Repeat([]float64{math.Inf(-1)}, len(row))
			}
			for k, v := range row {
				explained[g][k] = max(explained[g][k], v)
			}
		}
	}
	s := d.mofaData.score(truth, scores, explained, at)
	return groupScore{s.found, s.correlation, s.activity, m.Trace().Sweeps}
}

// TestFactorGroupsPlanted: from the default start a fit finds exactly the planted factors and the groups where they are at work. Drawn starts
// mix some of these factors, or find them twice.
func TestFactorGroupsPlanted(t *testing.T) {
	d := groupedData{mofaData{150, 5, []int{60, 60}, 0.05, 0, nil}, 3, 0}
	for _, seed := range []uint64{0, 2, 3, 107, 121} {
		y, of, z, at := d.draw(seed)
		m, err := FactorAnalysis{Factors: 10, Views: d.asViews(), Groups: of}.Fit(t.Context(), y)
		require.NoError(t, err)
		s := d.score(m, y, of, z, at)
		assert.Equal(t, d.factors, s.found, "data %d", seed)
		assert.Greater(t, s.correlation, 0.99, "data %d", seed)
		assert.Greater(t, s.activity, 0.99, "data %d", seed)
	}
}

// TestFactorGroupsMeasured prints the table of docs/lab/factors.md.
func TestFactorGroupsMeasured(t *testing.T) {
	if *factorSeeds == 0 {
		t.Skip("-factors.seeds is 0")
	}
	for _, d := range []groupedData{
		{mofaData{150, 5, []int{60, 60}, 0.05, 0, nil}, 3, 0},
		{mofaData{150, 5, []int{60, 60}, 0.05, 0, nil}, 3, 1},
	} {
		scores := map[string][]groupScore{}
		for seed := range *factorSeeds {
			y, of, z, at := d.draw(uint64(seed))
			for _, method := range []string{"groups", "no groups"} {
				f := FactorAnalysis{Factors: d.factors + 5, Views: d.asViews(), Fitting: Fitting{Workers: 1}}
				if method == "groups" {
					f.Groups = of
				}
				m, err := f.Fit(t.Context(), y)
				require.NoError(t, err)
				scores[method] = append(scores[method], d.score(m, y, of, z, at))
			}
		}
		for _, method := range []string{"groups", "no groups"} {
			var found, right, r, activity, sweeps float64
			n := float64(len(scores[method]))
			for _, s := range scores[method] {
				found, r, activity, sweeps = found+float64(s.found)/n, r+s.correlation/n, activity+s.activity/n, sweeps+float64(s.sweeps)/n
				if s.found == d.factors {
					right += 1 / n
				}
			}
			fmt.Printf("| %g | %s | %.1f | %.0f | %.3f | %.1f | %.0f |\n", d.shift, method, found, 100*right, r, 100*activity, sweeps)
		}
	}
}
