package mkl

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// mofaData draws data as MOFA's makeExampleData does: factors are standard normal and at work in a random subset of the views, at
// least one; half of the weights are zero, the others have variance 1 in a view where the factor is at work and 1/1000
// elsewhere; the noise has the precision 10.
//
// Source: R. Argelaguet et al., "Multi-Omics Factor Analysis", Molecular Systems Biology 14:e8124 (2018), and the function of that
// name in their package.
type mofaData struct {
	rows, factors int
	views         []int        // columns of each view
	gaps          float64      // share of the entries that are missing
	lost          float64      // share of the rows that lack a view, of each view but the first
	kinds         []FactorKind // of the views; nil if all are Gaussian
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
				e, f := d.entry(v, f, src)
				if src.Float64() < d.gaps || lost[n] {
					e = math.NaN()
				}
				y[n], truth[n] = append(y[n], e), append(truth[n], f)
			}
		}
	}
	return y, truth, z, at
}

// kind returns the kind of view v.
func (d mofaData) kind(v int) FactorKind {
	if d.kinds == nil {
		return GaussianView
	}
	return d.kinds[v]
}

// entry draws an entry of view v for a function, and returns its expectation too.
func (d mofaData) entry(v int, f float64, src *rand.Rand) (y, mean float64) {
	switch d.kind(v) {
	case BernoulliView:
		if mean = 1 / (1 + math.Exp(-f)); src.Float64() < mean {
			y = 1
		}
	case PoissonView:
		mean = math.Log1p(math.Exp(f))
		for at := src.ExpFloat64(); at <= mean; at += src.ExpFloat64() { // arrivals before the mean
			y++
		}
	default:
		y, mean = f+math.Sqrt(0.1)*src.NormFloat64(), f
	}
	return y, mean
}

// middle returns the expectation of column q where the function is 0.
func (d mofaData) middle(q int) float64 {
	for v, cols := range d.views {
		if q -= cols; q < 0 {
			return map[FactorKind]float64{GaussianView: 0, BernoulliView: 0.5, PoissonView: math.Ln2}[d.kind(v)]
		}
	}
	panic("no such column")
}

// asViews are the views of the data.
func (d mofaData) asViews() (views []FactorView) {
	for v, cols := range d.views {
		views = append(views, FactorView{Name: fmt.Sprint("view", v+1), Columns: cols, Kind: d.kind(v)})
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

// scoreFit scores a model with views, or a model without views, scored by the views of the data.
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

// explained returns the share of the variance of each view that each factor explains, given the factors' weights. The offsets are the
// means of the columns.
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

// missingError is the RMS error of the expectations of missing entries over the RMS of the expectations, less those where the function
// is 0. It is 0 without missing entries.
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
		rest += (mean[i] - f) * (mean[i] - f)
		f -= d.middle(c.Col)
		power += f * f
	}
	return math.Sqrt(rest / power)
}

// scorePCA scores principal components of the columns in their standard deviations, missing entries at their means: as many as
// there are true factors. The other methods do not know this number.
func (d mofaData) scorePCA(y, truth DenseTable, z [][]float64, at [][]bool) mofaScore {
	N, Q, M := len(y), len(y[0]), d.factors
	x, center, scale := la.NewMatrix[float64](N, Q), make([]float64, Q), make([]float64, Q)
	for q := range Q {
		var sum, square, count float64
		for n := range y {
			if v := y[n][q]; !math.IsNaN(v) {
				sum, square, count = sum+v, square+v*v, count+1
			}
		}
		center[q] = sum / count
		scale[q] = math.Sqrt(square/count - center[q]*center[q])
		for n := range y {
			if v := y[n][q]; !math.IsNaN(v) {
				x.Set(n, q, (v-center[q])/scale[q])
			}
		}
	}
	u, weights := principal(x, M)
	for q := range weights {
		la.Scal(scale[q], weights[q])
	}
	s := d.score(z, u, d.explained(y, weights, u), at)
	var rest, power float64
	for n := range y {
		for q, v := range y[n] {
			if math.IsNaN(v) {
				f := truth[n][q]
				e := center[q] + la.Dot(u[n], weights[q]) - f
				rest += e * e
				f -= d.middle(q)
				power += f * f
			}
		}
	}
	if power > 0 {
		s.error = math.Sqrt(rest / power)
	}
	return s
}

// principal returns the scores of the M principal components of x, of norm 1, and the weights of its columns, by subspace
// iteration.
func principal(x la.Matrix[float64], M int) (scores, weights [][]float64) {
	src := rand.New(rand.NewPCG(7, 7))
	basis := make([][]float64, M) // of the rows' space
	for k := range basis {
		basis[k] = make([]float64, x.Rows)
		for n := range basis[k] {
			basis[k][n] = src.NormFloat64()
		}
	}
	gram := la.NewMatrix[float64](x.Rows, x.Rows)
	la.Syrk(nil, la.NoTrans, 1, x, 0, gram)
	gram.MirrorLower()
	for range 300 {
		for k := range basis {
			next := make([]float64, x.Rows)
			la.Gemv(nil, la.NoTrans, 1, gram, basis[k], 0, next)
			for _, before := range basis[:k] {
				la.Axpy(-la.Dot(before, next), before, next)
			}
			la.Scal(1/math.Sqrt(la.SumSq(next)), next)
			basis[k] = next
		}
	}
	scores, weights = make([][]float64, x.Rows), make([][]float64, x.Cols)
	for n := range scores {
		for k := range M {
			scores[n] = append(scores[n], basis[k][n])
		}
	}
	for q := range weights {
		weights[q] = make([]float64, M)
		for n := range scores {
			la.Axpy(x.At(n, q), scores[n], weights[q])
		}
	}
	return scores, weights
}

var factorSeeds = flag.Int("factors.seeds", 0, "seeds of the simulations of factors with views; 0 leaves them out")

// TestFactorViewsMeasured prints the table of docs/lab/factors.md.
func TestFactorViewsMeasured(t *testing.T) {
	if *factorSeeds == 0 {
		t.Skip("-factors.seeds is 0")
	}
	for i, d := range []mofaData{
		{100, 3, []int{100, 100, 100}, 0, 0, nil},
		{100, 3, []int{100, 100, 100}, 0, 0.3, nil},
		{100, 5, []int{100, 100, 100}, 0, 0, nil},
		{200, 10, []int{1000, 300, 100}, 0, 0, nil},
		{100, 5, []int{100, 100, 100}, 0.2, 0, nil},
		{100, 3, []int{100, 100, 100}, 0.2, 0, slices.Repeat([]FactorKind{BernoulliView}, 3)},
		{100, 3, []int{100, 100, 100}, 0.2, 0, slices.Repeat([]FactorKind{PoissonView}, 3)},
		{100, 3, []int{100, 100, 100}, 0.2, 0, []FactorKind{GaussianView, BernoulliView, PoissonView}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) { d.measure(t) })
	}
}

// measure prints the rows of the table for data of one kind.
func (d mofaData) measure(t *testing.T) {
	scores := map[string][]mofaScore{}
	methods := []string{"views", "one table", "PCA"}
	if d.kinds != nil {
		methods = []string{"views", "views, all Gaussian", "PCA"}
	}
	for seed := range *factorSeeds {
		y, truth, z, at := d.draw(uint64(seed))
		for _, method := range methods {
			if method == "PCA" {
				scores[method] = append(scores[method], d.scorePCA(y, truth, z, at))
				continue
			}
			f := FactorAnalysis{Factors: d.factors + 5, Fitting: Fitting{Workers: 1}}
			if method != "one table" {
				f.Views = d.asViews()
			}
			for v := range f.Views {
				if method != "views" {
					f.Views[v].Kind = GaussianView
				}
			}
			m, err := f.Fit(t.Context(), y)
			require.NoError(t, err)
			scores[method] = append(scores[method], d.scoreFit(t, m, y, truth, z, at))
		}
	}
	for _, method := range methods {
		var found, right, r, activity, rms, sweeps float64
		n := float64(len(scores[method]))
		for _, s := range scores[method] {
			found, r, activity, rms, sweeps = found+float64(s.found)/n, r+s.correlation/n, activity+s.activity/n, rms+s.error/n, sweeps+float64(s.sweeps)/n
			if s.found == d.factors {
				right += 1 / n
			}
		}
		fmt.Printf("| %d | %v | %d | %g | %g | %s | %.1f | %.0f | %.3f | %.1f | %.3f | %.0f |\n",
			d.rows, d.views, d.factors, 100*d.gaps, 100*d.lost, method, found, 100*right, r, 100*activity, rms, sweeps)
	}
}

// TestFactorViews finds the factors, and the views where they are at work, whatever the units of the views.
func TestFactorViews(t *testing.T) {
	d := mofaData{100, 3, []int{30, 40, 20}, 0.05, 0, nil}
	y, truth, z, at := d.draw(1)
	f := FactorAnalysis{Factors: 6, Views: d.asViews()}
	m, err := f.Fit(t.Context(), y)
	require.NoError(t, err)
	s := d.scoreFit(t, m, y, truth, z, at)
	assert.Equal(t, 3, s.found)
	assert.Equal(t, []int{0, 1, 2}, m.Used())
	assert.Greater(t, s.correlation, 0.97)
	assert.InDelta(t, 1, s.activity, 1e-9)
	assert.Less(t, s.error, 0.2)

	// Where a factor is not at work its weights are off.
	weights, inclusion := m.Weights()
	for v, explained := range m.VarianceExplained() {
		first := 0
		for _, cols := range d.views[:v] {
			first += cols
		}
		for k, r := range explained.Factors {
			var on float64
			for q := first; q < first+d.views[v]; q++ {
				on += inclusion[q][k] / float64(d.views[v])
			}
			assert.Equal(t, r >= 0.01, on > 0.2, "%s, factor %d: %g explained, %g on", explained.View, k, r, on)
		}
		assert.InDelta(t, explained.All, vec.Total(explained.Factors), 0.1, "factors are nearly independent")
	}

	// The share that a factor explains alone agrees with its definition.
	scores, _ := m.Factors()
	want := d.explained(y, weights, scores)
	for v, explained := range m.VarianceExplained() {
		assert.InDeltaSlice(t, want[v], explained.Factors, 0.01, "about the means and not the offsets")
	}

	// In other units everything is the same, in these units.
	const unit, level = 1e6, -3e6
	other := make(DenseTable, len(y))
	for n, row := range y {
		other[n] = slices.Clone(row)
		for q := 30; q < 70; q++ {
			other[n][q] = level + unit*row[q]
		}
	}
	in, err := f.Fit(t.Context(), other)
	require.NoError(t, err)
	for v, explained := range m.VarianceExplained() {
		assert.InDeltaSlice(t, explained.Factors, in.VarianceExplained()[v].Factors, 1e-6)
	}
	a, av, err := m.Complete(TableCell{0, 0}, TableCell{5, 31})
	require.NoError(t, err)
	b, bv, err := in.Complete(TableCell{0, 0}, TableCell{5, 31})
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{a[0], level + unit*a[1]}, b, 10)
	assert.InEpsilonSlice(t, []float64{av[0], unit * unit * av[1]}, bv, 1e-5)
	assert.InEpsilon(t, unit*m.NoiseSD()[40], in.NoiseSD()[40], 1e-5)
	ofOther, _ := in.Weights()
	assert.InEpsilon(t, unit*weights[40][0], ofOther[40][0], 1e-5)
	rows, rowsVar, err := in.CompleteRows(other[:3])
	require.NoError(t, err)
	plain, plainVar, err := m.CompleteRows(y[:3])
	require.NoError(t, err)
	assert.InEpsilon(t, level+unit*plain[2][50], rows[2][50], 1e-5)
	assert.InEpsilon(t, unit*unit*plainVar[2][50], rowsVar[2][50], 1e-5)
	back, err := in.InverseTransform(scores[:1])
	require.NoError(t, err)
	whole, err := m.InverseTransform(scores[:1])
	require.NoError(t, err)
	assert.InEpsilon(t, level+unit*whole[0][33], back[0][33], 1e-5)
}

// TestFactorViewsKept goes on from a journal, and loads what was saved.
func TestFactorViewsKept(t *testing.T) {
	d := mofaData{40, 2, []int{5, 7}, 0.1, 0.2, nil}
	y, _, _, _ := d.draw(2)
	f := FactorAnalysis{Ascent: Ascent{MaxSweeps: 25}, Fitting: Fitting{Notes: map[string]string{"from": "a test"}}, Factors: 3, Views: d.asViews()}
	goesOn(t, y, f)
	m, err := f.Fit(t.Context(), y)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, m.Save(&file))
	back, err := LoadAs[*FactorAnalysisModel](&file)
	require.NoError(t, err)
	assert.Equal(t, m.Views(), back.Views())
	assert.Equal(t, m.VarianceExplained(), back.VarianceExplained())
	assert.Equal(t, m.posterior.State().Priors, back.posterior.State().Priors)
	assert.Equal(t, m.NoiseSD(), back.NoiseSD())
	a, _, err := m.CompleteRows(y)
	require.NoError(t, err)
	b, _, err := back.CompleteRows(y)
	require.NoError(t, err)
	assert.Equal(t, a, b)

	plain, err := FactorAnalysis{Ascent: Ascent{MaxSweeps: 5}, Factors: 2}.Fit(t.Context(), y)
	require.NoError(t, err)
	assert.Nil(t, plain.Views())
	assert.Nil(t, plain.VarianceExplained())
	assert.Nil(t, plain.Used())
	for want, views := range map[string][]FactorView{
		"mkl: Like: fits with Views have no such start":                    {{Name: "a", Columns: 12}},
		"mkl: Views: 2 of the table's 12 columns are of no view":           {{Name: "a", Columns: 4}, {Name: "b", Columns: 6}},
		"mkl: Views[1].Columns is 9: 8 of the table's 12 columns are left": {{Name: "a", Columns: 4}, {Name: "b", Columns: 9}},
		"mkl: Views[0].Columns is 0: it must be positive":                  {{Name: "a", Columns: 0}, {Name: "b", Columns: 12}},
		"mkl: Views[1].Name is \"a\", as Views[0] is called":               {{Name: "a", Columns: 4}, {Name: "a", Columns: 8}},
		"mkl: Views[1]: the squares of its entries overflow":               {{Name: "a", Columns: 4}, {Name: "b", Columns: 8}},
	} {
		f.Views = views
		table := slices.Clone(y)
		if len(views) == 2 && views[1] == (FactorView{Name: "b", Columns: 8}) {
			table[0], table[1] = slices.Clone(y[0]), slices.Clone(y[1])
			table[0][5], table[1][5] = 1e200, -1e200
		}
		if f.Like = nil; len(views) == 1 {
			f.Like = plain
		}
		_, err := f.Fit(t.Context(), table)
		assert.EqualError(t, err, want)
	}
}
