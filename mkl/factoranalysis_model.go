package mkl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/slab"
)

// FactorAnalysisModel is a fitted [FactorAnalysis]. It is immutable and safe for concurrent use.
type FactorAnalysisModel struct {
	record
	posterior *slab.FactorPosterior // with views, of the table in the units of the fit
	views     *factorViews          // nil without views
}

// Dims returns the numbers of rows, columns and factors.
func (m *FactorAnalysisModel) Dims() (rows, cols, factors int) { return m.posterior.Dims() }

// Posterior returns the approximate posterior, which calls rows objects and columns
// tasks. With views the posterior belongs to the table in the units of the fit: see [FactorAnalysis].
func (m *FactorAnalysisModel) Posterior() *slab.FactorPosterior { return m.posterior }

// Kind returns "factors".
func (m *FactorAnalysisModel) Kind() string { return "factors" }

// Samples returns the number of rows.
func (m *FactorAnalysisModel) Samples() int {
	rows, _, _ := m.Dims()
	return rows
}

// Outputs reports the noise that the fit learned for each column.
func (m *FactorAnalysisModel) Outputs() []ModelOutput {
	_, cols, _ := m.Dims()
	out := make([]ModelOutput, cols)
	for q, sd := range m.NoiseSD() {
		out[q].NoiseSD = sd
	}
	return out
}

// Inputs returns nil: the model was fitted to a table and not to views.
func (m *FactorAnalysisModel) Inputs() []ModelInput { return nil }

// KernelWeights returns nil: the model has no kernels. Energy says how much each
// factor matters.
func (m *FactorAnalysisModel) KernelWeights() []KernelWeight { return nil }

// NoiseSD returns the standard deviation of each column's noise, 0 of a column that is not Gaussian. With groups the variance is the mean
// over the rows, and Groups has the noise of each group.
func (m *FactorAnalysisModel) NoiseSD() []float64 {
	s := m.posterior.State()
	sd := slices.Clone(s.Noise)
	if s.Groups != nil {
		sd = meanNoise(s.Groups)
	}
	for i, v := range sd {
		if sd[i] = m.views.fromUnit(i, math.Sqrt(v)); m.kindOf(i) != GaussianView {
			sd[i] = 0
		}
	}
	return sd
}

// kindOf returns the kind of column q.
func (m *FactorAnalysisModel) kindOf(q int) FactorKind {
	if m.views == nil {
		return GaussianView
	}
	return m.views.kinds[q]
}

// Energy returns each factor's share of the power of the fitted table, in the
// order of the factors. With views the table is in the units of the fit.
func (m *FactorAnalysisModel) Energy() []float64 { return m.posterior.Energy() }

// Weights returns the means of the weights and the probabilities that they are
// not zero, each columns × factors.
func (m *FactorAnalysisModel) Weights() (mean, inclusion [][]float64) {
	_, cols, k := m.Dims()
	e, _ := m.posterior.Weights()
	pairs := m.posterior.State().Weights
	for q := range cols {
		row := make([]float64, k)
		for i := range row {
			row[i] = pairs[q*k+i].Inclusion()
		}
		own := slices.Clone(e.Row(q))
		for i, v := range own {
			own[i] = m.views.fromUnit(q, v)
		}
		mean, inclusion = append(mean, own), append(inclusion, row)
	}
	return mean, inclusion
}

// Lengths returns the length ℓ of each factor, or nil without RowDistances.
func (m *FactorAnalysisModel) Lengths() []float64 { return slices.Clone(m.posterior.State().Lengths) }

// Factors returns the means and variances of the factors of the rows, each rows ×
// factors.
func (m *FactorAnalysisModel) Factors() (mean, variance [][]float64) {
	s := m.posterior.State()
	for n := range s.Mean.Rows {
		mean, variance = append(mean, slices.Clone(s.Mean.Row(n))), append(variance, slices.Clone(s.Variance.Row(n)))
	}
	return mean, variance
}

// Complete returns the predictive mean and variance, noise included, of entries of
// the table, observed or not, in the order of cells. The mean is a probability in a Bernoulli view. It returns an error for an entry outside the table.
func (m *FactorAnalysisModel) Complete(cells ...TableCell) (mean, variance []float64, err error) {
	rows, cols, _ := m.Dims()
	mean, variance = make([]float64, len(cells)), make([]float64, len(cells))
	for i, c := range cells {
		if c.Row < 0 || c.Row >= rows || c.Col < 0 || c.Col >= cols {
			return nil, nil, fmt.Errorf("mkl: cells[%d]: (%d, %d) in a table of %d×%d", i, c.Row, c.Col, rows, cols)
		}
		f, v := m.posterior.Entry(c.Row, c.Col)
		g := m.group(c.Row)
		f, v = m.posterior.Group(g).Outcome(c.Col, f, v)
		mean[i], variance[i] = m.views.moments(g, c.Col, f, v)
		if variance[i], err = checkMoments(mean[i], variance[i]); err != nil {
			return nil, nil, fmt.Errorf("mkl: cells[%d]: row %d, column %d: %w", i, c.Row, c.Col, err)
		}
	}
	return mean, variance, nil
}

// Transform returns the means and variances of the factors of new rows, whose
// entries may have gaps; both are rows × factors. See
// [slab.FactorPosterior.Transform]. groups holds the groups of the rows, or one group of all of them, if the fit had groups. Transform
// returns an error if y has another number of columns than the table of the fit or an infinite entry, and an [UnknownGroupError] if the
// fit did not have the group of a row.
func (m *FactorAnalysisModel) Transform(y Table, groups ...string) (mean, variance [][]float64, err error) {
	return m.eachRow(y, groups, func(g int, tasks []int, entries []float64) ([]float64, []float64, error) {
		mean, variance, err := m.posterior.Group(g).Transform(tasks, entries)
		if err == nil {
			err = checkEach("factor", mean, variance)
		}
		return mean, variance, err
	})
}

// CompleteRows returns the predictive mean and variance, noise included, of every entry of new
// rows, given their observed entries. Both are rows × columns. See
// [slab.FactorPosterior.Complete]. Groups and errors are as in Transform.
func (m *FactorAnalysisModel) CompleteRows(y Table, groups ...string) (mean, variance [][]float64, err error) {
	return m.eachRow(y, groups, m.completeRow)
}

// completeRow is CompleteRows for one row, of group g.
func (m *FactorAnalysisModel) completeRow(g int, tasks []int, entries []float64) (mean, variance []float64, err error) {
	p := m.posterior.Group(g)
	if mean, variance, err = p.Complete(tasks, entries); err != nil {
		return nil, nil, err
	}
	for q := range mean {
		f, v := p.Outcome(q, mean[q], variance[q])
		mean[q], variance[q] = m.views.moments(g, q, f, v)
	}
	return mean, variance, checkEach("column", mean, variance)
}

// LeaveOneOut predicts each observed entry of new rows, as CompleteRows does, from the other observed entries of its
// row. Entries that are not observed get NaN. Groups and errors are as in Transform.
func (m *FactorAnalysisModel) LeaveOneOut(y Table, groups ...string) (mean, variance [][]float64, err error) {
	return m.eachRow(y, groups, func(g int, tasks []int, entries []float64) (mean, variance []float64, err error) {
		_, cols, _ := m.Dims()
		mean, variance = slices.Repeat([]float64{math.NaN()}, cols), slices.Repeat([]float64{math.NaN()}, cols)
		for i, q := range tasks {
			f, v, err := m.completeRow(g, slices.Concat(tasks[:i], tasks[i+1:]), slices.Concat(entries[:i], entries[i+1:]))
			if err != nil {
				return nil, nil, err
			}
			mean[q], variance[q] = f[q], v[q]
		}
		return mean, variance, nil
	})
}

// checkEach returns an error for the first mean or variance that is not valid.
func checkEach(what string, mean, variance []float64) (err error) {
	for k := range mean {
		if variance[k], err = checkMoments(mean[k], variance[k]); err != nil {
			return fmt.Errorf("%s %d: %w", what, k, err)
		}
	}
	return nil
}

// eachRow calls do with the group, and with the columns and the values of the observed entries of each row.
func (m *FactorAnalysisModel) eachRow(y Table, names []string, do func(g int, tasks []int, entries []float64) (mean, variance []float64, err error)) (mean, variance [][]float64, err error) {
	if y == nil {
		return nil, nil, fmt.Errorf("mkl: y: nil")
	}
	_, cols, factors := m.Dims()
	rows, have := y.Dims()
	if have != cols {
		return nil, nil, fmt.Errorf("mkl: y: %d columns where the model has %d", have, cols)
	}
	// A table of entries may claim any number of rows. For each row this function makes two slices and an offset of its entries.
	if need, limit := inBytes(float64(rows)*float64(8+2*max(cols, factors))), memoryLimit(); need > limit {
		return nil, nil, &MemoryError{Need: need, Limit: limit, what: "prediction"}
	}
	groups, err := m.groupsOfRows(rows, names)
	if err != nil {
		return nil, nil, err
	}
	o, err := observe(y)
	if err != nil {
		return nil, nil, err
	}
	if m.views != nil {
		o = m.views.inUnits(o, groups)
	}
	for n := range rows {
		if m.views != nil {
			if err := checkKinds(m.views.kinds, n, o); err != nil {
				return nil, nil, err
			}
		}
		g := 0
		if groups != nil {
			g = groups[n]
		}
		tasks, entries := o.Object(n)
		a, v, err := do(g, tasks, entries)
		if err != nil {
			return nil, nil, fmt.Errorf("mkl: row %d: %w", n, err)
		}
		mean, variance = append(mean, a), append(variance, v)
	}
	return mean, variance, nil
}

// InverseTransform returns the rows, rows × columns, that the given factors, rows × factors, generate
// without noise: probabilities and mean counts of columns that are not Gaussian. Groups are as in Transform. An error names the row with too
// few, too many or infinite factors.
func (m *FactorAnalysisModel) InverseTransform(factors [][]float64, groups ...string) ([][]float64, error) {
	_, cols, k := m.Dims()
	of, err := m.groupsOfRows(len(factors), groups)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(factors))
	for n, a := range factors {
		if len(a) != k {
			return nil, fmt.Errorf("mkl: factors[%d]: %d values where the model has %d factors", n, len(a), k)
		}
		if i := vec.FirstNonFinite(a); i >= 0 {
			return nil, &ValueError{Arg: "factors", Row: n, Col: i, Value: a[i]}
		}
		out[n] = make([]float64, cols)
		g := 0
		if of != nil {
			g = of[n]
		}
		p := m.posterior.Group(g)
		for q := range out[n] {
			f, v := p.Reconstruct(q, a, nil)
			f, _ = p.Outcome(q, f, v)
			out[n][q], _ = m.views.moments(g, q, f, 0)
		}
	}
	return out, nil
}

// String describes the fit in one line.
func (m *FactorAnalysisModel) String() string {
	rows, cols, k := m.Dims()
	active := 0
	for _, e := range m.Energy() {
		if e > 1e-3 {
			active++
		}
	}
	return fmt.Sprintf("factor model of %d×%d with %d factors (%d with more than a thousandth of the power), bound %.6g", rows, cols, k, active, m.Bound())
}

// Summary describes the fit in words, line by line.
func (m *FactorAnalysisModel) Summary() string {
	var b strings.Builder
	fmt.Fprintln(&b, m)
	b.WriteString(m.trace.outcome())
	s := m.posterior.State()
	if m.views != nil {
		m.views.summary(&b)
		return b.String()
	}
	fmt.Fprintf(&b, "weights: %.3g of them not zero, then with standard deviation %.4g\n", s.Prior.Pi, math.Sqrt(s.Prior.Variance))
	sd := m.NoiseSD()
	slices.Sort(sd)
	fmt.Fprintf(&b, "noise SD %.4g in the median column, from %.4g to %.4g\n", sd[len(sd)/2], sd[0], sd[len(sd)-1])
	return b.String()
}
