package mkl

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

// mofaData draws data as MOFA's makeExampleData does: factors are standard normal and at work in a random subset of the views, at
// least one; half of the weights are zero, the others have variance 1 in a view where the factor is at work and 1/1000
// elsewhere; the noise has the precision 10.
//
// Source: R. Argelaguet et al., "Multi-Omics Factor Analysis", Molecular Systems Biology 14:e8124 (2018), and the function of that
// name in their package.
type mofaData struct {
	rows, factors int
	views         []int   // columns of each view
	gaps          float64 // share of the entries that are missing
	lost          float64 // share of the rows that lack a view, of each view but the first
}

// draw returns the table, its expectation, the factors and which of them are at work where.
func (d mofaData) draw(seed uint64) (y, truth DenseTable, z [][]float64, at [][]bool) {
	src := rand.New(rand.NewPCG(seed, 31))
	for range d.rows {
		row := make([]float64, d.factors)
		for k := range row {
			row[k] = src.NormFloat64()
		}
		z, y, truth = append(z, row), append(y, nil), append(truth, nil)
	}
	at = make([][]bool, len(d.views))
	for v := range at {
		at[v] = make([]bool, d.factors)
	}
	for k := range d.factors {
		one := src.IntN(len(d.views))
		some := false
		for v := range d.views {
			at[v][k] = src.IntN(2) == 0
			some = some || at[v][k]
		}
		if !some {
			at[one][k] = true
		}
	}
	for v, cols := range d.views {
		lost := make([]bool, d.rows)
		for n := range lost {
			lost[n] = v > 0 && src.Float64() < d.lost
		}
		for range cols {
			w := make([]float64, d.factors)
			for k := range w {
				sd := math.Sqrt(0.001)
				if at[v][k] {
					sd = 1
				}
				w[k] = sd * src.NormFloat64() * float64(src.IntN(2))
			}
			for n := range y {
				f := la.Dot(w, z[n])
				e := f + math.Sqrt(0.1)*src.NormFloat64()
				if src.Float64() < d.gaps || lost[n] {
					e = math.NaN()
				}
				y[n], truth[n] = append(y[n], e), append(truth[n], f)
			}
		}
	}
	return y, truth, z, at
}

// asViews are the views of the data.
func (d mofaData) asViews() (views []FactorView) {
	for v, cols := range d.views {
		views = append(views, FactorView{fmt.Sprint("view", v+1), cols})
	}
	return views
}

// mofaScore says how well factors were found.
type mofaScore struct {
	found       int     // factors that explain at least 1 % of a view
	correlation float64 // |correlation| with the true factor, the mean over true factors, each with a found one of its own
	activity    float64 // share of pairs of view and true factor about which "explains at least 1 %" is right
	error       float64 // RMS error of the missing entries' expectations, over the power of these
	sweeps      int
}

// score compares factors with the true ones. explained is views × factors.
func (d mofaData) score(z, got [][]float64, explained [][]float64, at [][]bool) (s mofaScore) {
	M := len(got[0])
	column := func(x [][]float64, k int) []float64 {
		c := make([]float64, len(x))
		for n := range x {
			c[n] = x[n][k]
		}
		return c
	}
	r := make([][]float64, d.factors)
	for j := range r {
		for k := range M {
			r[j] = append(r[j], math.Abs(correlationOf(column(z, j), column(got, k))))
		}
	}
	for k := range M {
		if slices.ContainsFunc(explained, func(v []float64) bool { return v[k] >= 0.01 }) {
			s.found++
		}
	}
	takenTrue, taken := make([]bool, d.factors), make([]bool, M)
	for range min(d.factors, M) { // the closest pair first
		bj, bk, best := -1, -1, -1.0
		for j := range r {
			for k := range M {
				if !takenTrue[j] && !taken[k] && r[j][k] > best {
					bj, bk, best = j, k, r[j][k]
				}
			}
		}
		takenTrue[bj], taken[bk] = true, true
		s.correlation += best / float64(d.factors)
		for v := range at {
			if at[v][bj] == (explained[v][bk] >= 0.01) {
				s.activity += 1 / float64(d.factors*len(at))
			}
		}
	}
	return s
}

// correlationOf returns the correlation of two vectors; it is 0 if one is constant.
func correlationOf(a, b []float64) float64 {
	n := float64(len(a))
	var ma, mb, ab, aa, bb float64
	for i := range a {
		ma, mb = ma+a[i]/n, mb+b[i]/n
	}
	for i := range a {
		x, y := a[i]-ma, b[i]-mb
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa*bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// scoreFit scores a model with views, or one without, of which the views are told afterwards.
func (d mofaData) scoreFit(t *testing.T, m *FactorAnalysisModel, y, truth DenseTable, z [][]float64, at [][]bool) mofaScore {
	got, _ := m.Factors()
	var explained [][]float64
	for _, v := range m.VarianceExplained() {
		explained = append(explained, v.Factors)
	}
	if m.Views() == nil {
		weights, _ := m.Weights()
		explained = d.explained(y, weights, got)
	}
	s := d.score(z, got, explained, at)
	s.error = d.missingError(t, m, y, truth)
	s.sweeps = m.Trace().Sweeps
	return s
}

// explained is what factors of the given weights explain of each view of a table, the mean of whose columns is the offset.
func (d mofaData) explained(y DenseTable, weights, z [][]float64) (explained [][]float64) {
	first := 0
	for _, cols := range d.views {
		row := make([]float64, len(z[0]))
		for k := range row {
			var rest, total float64
			for q := first; q < first+cols; q++ {
				var mean, count float64
				for n := range y {
					if !math.IsNaN(y[n][q]) {
						mean, count = mean+y[n][q], count+1
					}
				}
				for n := range y {
					if e := y[n][q] - mean/count; !math.IsNaN(e) {
						f := weights[q][k] * z[n][k]
						total, rest = total+e*e, rest+(e-f)*(e-f)
					}
				}
			}
			row[k] = 1 - rest/total
		}
		explained = append(explained, row)
		first += cols
	}
	return explained
}

// missingError is the RMS error of the expectations of missing entries over their RMS, or 0 without missing entries.
func (d mofaData) missingError(t *testing.T, m *FactorAnalysisModel, y, truth DenseTable) float64 {
	var cells []TableCell
	for n, row := range y {
		for q, v := range row {
			if math.IsNaN(v) {
				cells = append(cells, TableCell{n, q})
			}
		}
	}
	if cells == nil {
		return 0
	}
	mean, _, err := m.Complete(cells...)
	require.NoError(t, err)
	var rest, power float64
	for i, c := range cells {
		f := truth[c.Row][c.Col]
		rest, power = rest+(mean[i]-f)*(mean[i]-f), power+f*f
	}
	return math.Sqrt(rest / power)
}

var factorSeeds = flag.Int("factors.seeds", 0, "seeds of the simulations of factors with views; 0 leaves them out")

// TestFactorViewsMeasured prints the table of docs/lab/factors.md.
func TestFactorViewsMeasured(t *testing.T) {
	if *factorSeeds == 0 {
		t.Skip("-factors.seeds is 0")
	}
	for _, d := range []mofaData{
		{100, 5, []int{100, 100, 100}, 0, 0},
		{100, 10, []int{100, 100, 100}, 0, 0},
		{200, 10, []int{1000, 300, 100}, 0, 0},
		{100, 5, []int{100, 100, 100}, 0.2, 0},
		{100, 5, []int{100, 100, 100}, 0, 0.3},
	} {
		var with, without []mofaScore
		for seed := range *factorSeeds {
			y, truth, z, at := d.draw(uint64(seed))
			f := FactorAnalysis{Factors: d.factors + 5, Fitting: Fitting{Workers: 1}}
			m, err := f.Fit(t.Context(), y)
			require.NoError(t, err)
			without = append(without, d.scoreFit(t, m, y, truth, z, at))
			f.Views = d.asViews()
			m, err = f.Fit(t.Context(), y)
			require.NoError(t, err)
			with = append(with, d.scoreFit(t, m, y, truth, z, at))
		}
		for name, all := range map[string][]mofaScore{"views": with, "one table": without} {
			var found, right, r, activity, rms, sweeps float64
			for _, s := range all {
				n := float64(len(all))
				found, r, activity, rms, sweeps = found+float64(s.found)/n, r+s.correlation/n, activity+s.activity/n, rms+s.error/n, sweeps+float64(s.sweeps)/n
				if s.found == d.factors {
					right += 1 / n
				}
			}
			fmt.Printf("%+v %s: found %.1f (right %.2f) r %.3f activity %.3f rms %.3f sweeps %.0f\n", d, name, found, right, r, activity, rms, sweeps)
		}
	}
}

// TestFactorViews finds the factors, and the views where they are at work.
func TestFactorViews(t *testing.T) {
	d := mofaData{100, 3, []int{30, 40, 20}, 0, 0}
	y, truth, z, at := d.draw(1)
	m, err := FactorAnalysis{Factors: 6, Views: d.asViews()}.Fit(t.Context(), y)
	require.NoError(t, err)
	fmt.Println(m.Summary())
	s := d.scoreFit(t, m, y, truth, z, at)
	fmt.Printf("%+v %v\n", s, m.posterior.State().Priors)
	assert.Equal(t, 3, s.found)
}
