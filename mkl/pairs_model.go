package mkl

import (
	"context"
	"fmt"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/kbmf"
)

// pairModel is what models of pairs have in common.
type pairModel struct {
	record
	rows, columns *gram.Design
	posterior     *kbmf.Posterior
	healed        [2]*gram.SelfDesign // for new rows and for new columns; nil if they are not healed
	rounding      float64             // see Rounding
}

// pairModel returns the model of a fit.
func (f *fitting) pairModel(d *pairData, p *kbmf.Posterior, rec vi.Record, collapsed bool) (m pairModel, err error) {
	var out []int
	if collapsed {
		out = []int{0}
	}
	m = pairModel{record: f.record(newTrace(rec, out)), rows: d.rows.Design, columns: d.columns.Design}
	err = m.set(p)
	return m, err
}

// set sets the posterior and the fields that follow from it. It returns an error if a result is not finite.
func (m *pairModel) set(p *kbmf.Posterior) (err error) {
	m.posterior = p
	for i, ds := range [2]*gram.Design{m.rows, m.columns} {
		if p.Healable(i == 1) {
			m.healed[i] = gram.NewSelfDesign(ds)
		}
	}
	if m.rounding, err = p.Rounding(&la.Workspace{}); err != nil {
		return fmt.Errorf("mkl: %w", err)
	}
	return checkWeights(m.KernelWeights())
}

// Rounding returns the relative error that rounding may have caused in the variances of the
// factors of new rows and columns, for the component with the largest error; see
// [RegressionModel.Rounding].
func (m *pairModel) Rounding() float64 { return m.rounding }

// checkFrom returns an error if a fit with the given number of components cannot continue from the model.
func (m *pairModel) checkFrom(f *fitting, d *pairData, components int) error {
	rows, columns, own := m.Dims()
	return checkShape(f, "%d components of %d rows with %d kernels and %d columns with %d kernels where there are %d of %d with %d and %d with %d",
		own, rows, len(m.rows.Views), columns, len(m.columns.Views),
		components, d.y.Rows, len(d.rows.Views), d.y.Cols, len(d.columns.Views))
}

// Posterior returns the approximate posterior for the standardised values.
func (m *pairModel) Posterior() *kbmf.Posterior { return m.posterior }

// Dims returns the numbers of rows, columns and components of the fit.
func (m *pairModel) Dims() (rows, columns, components int) {
	components, rows, columns = m.posterior.Dims()
	return rows, columns, components
}

// Samples returns the number of basis points of the rows' kernels plus the number of basis points of the columns'
// kernels.
func (m *pairModel) Samples() int { return m.rows.D + m.columns.D }

// sides returns the views of the rows and the views of the columns.
func (m *pairModel) sides() [2]onViews {
	return [2]onViews{{design: m.rows}, {design: m.columns}}
}

// Inputs describes the matrices that a prediction of new rows takes, followed by the matrices for
// new columns. Their Views count from the first view of the rows; the views of
// the columns follow.
func (m *pairModel) Inputs() []ModelInput {
	rows, columns := m.SideInputs()
	for _, in := range columns {
		views := make([]int, len(in.Views))
		for i, v := range in.Views {
			views[i] = len(m.rows.Views) + v
		}
		in.Views = views
		rows = append(rows, in)
	}
	return rows
}

// SideInputs describes the matrices in the X of a [PairSide]: for new rows, and for new columns.
func (m *pairModel) SideInputs() (rows, columns []ModelInput) {
	s := m.sides()
	return s[0].Inputs(), s[1].Inputs()
}

// KernelWeights returns the weights of the rows' kernels, followed by the weights of the columns' kernels. Weights
// can be compared within one side only.
func (m *pairModel) KernelWeights() []KernelWeight {
	rows, columns := m.SideWeights()
	return append(rows, columns...)
}

// SideWeights returns the weights of the rows' kernels and the weights of the columns' kernels.
func (m *pairModel) SideWeights() (rows, columns []KernelWeight) {
	s := m.sides()
	return s[0].kernelWeights(m.posterior.KernelWeights(false)), s[1].kernelWeights(m.posterior.KernelWeights(true))
}

// KernelSpreads returns the spreads of the kernels, in the order of KernelWeights; see
// [RegressionModel.KernelSpreads]. It takes the matrices of new rows, followed by the matrices of new columns.
func (m *pairModel) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) ([]float64, error) {
	s := m.sides()
	n := min(len(x), len(m.rows.Inputs))
	rows, err := s[0].KernelSpreads(ctx, opt, x[:n]...)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	columns, err := s[1].KernelSpreads(ctx, opt, x[n:]...)
	if err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	return append(rows, columns...), nil
}

// factors computes the posterior of the factors of a side.
func (m *pairModel) factors(ctx context.Context, opt PredictOptions, columns bool, s PairSide) (*kbmf.Factors, error) {
	R, n, cols := m.posterior.Dims()
	ds, own := m.rows, m.healed[0]
	if columns {
		ds, own, n = m.columns, m.healed[1], cols
	}
	if s.X == nil {
		for i, at := range s.Known {
			if at < 0 || at >= n {
				return nil, fmt.Errorf("mkl: Known[%d] is %d where the fit has %d", i, at, n)
			}
		}
		f := *m.posterior.Known(columns, s.Known)
		if opt.MeanOnly {
			f.Covariance = la.Matrix[float64]{}
		}
		return &f, nil
	}
	if s.Known != nil {
		return nil, fmt.Errorf("mkl: X and Known exclude each other")
	}
	healed := !opt.Published && !opt.Unhealed && own.Heals(len(s.X), func(i int) int { return s.X[i].Cols })
	if healed {
		ds = own.Design
	}
	t, err := checkInputs(ds, s.X)
	if err != nil {
		return nil, err
	}
	out := &kbmf.Factors{Mean: la.NewMatrix[float64](R, t)}
	if !opt.MeanOnly {
		out.Covariance = la.NewMatrix[float64](t, R*R)
	}
	err = ds.EachBlock(ctx, opt.Workers, ds.BlockWords(), healed, s.X, t, func(k *vi.Dense, self la.Matrix[float64], first, n int) error {
		var f *kbmf.Factors
		var err error
		if healed {
			f, err = m.posterior.NewHealed(columns, k, self, opt.ofPairs())
		} else {
			f, err = m.posterior.New(columns, k, opt.ofPairs())
		}
		if err != nil {
			return err
		}
		out.Mean.Slice(0, R, first, first+n).CopyFrom(f.Mean)
		if !opt.MeanOnly {
			out.Covariance.Slice(first, first+n, 0, R*R).CopyFrom(f.Covariance)
		}
		return nil
	})
	return out, err
}

// predict predicts the pairs of the given rows and columns.
func (m *pairModel) predict(ctx context.Context, opt PredictOptions, rows, columns PairSide) (*kbmf.Prediction, error) {
	if ctx == nil {
		return nil, gram.ErrNoContext
	}
	x, err := m.factors(ctx, opt, false, rows)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	z, err := m.factors(ctx, opt, true, columns)
	if err != nil {
		return nil, fmt.Errorf("columns: %w", err)
	}
	return m.posterior.Predict(x, z), nil
}

// describe returns what String of a model returns.
func (m *pairModel) describe(what string) string {
	rows, columns, components := m.Dims()
	return fmt.Sprintf("%s of %d rows and %d columns with %d components, on %d and %d kernels, bound %.6g",
		what, rows, columns, components, len(m.rows.Views), len(m.columns.Views), m.Bound())
}

// summary returns what Summary of a model returns; line describes the pairs.
func (m *pairModel) summary(headline, line string) string {
	var b strings.Builder
	fmt.Fprintln(&b, headline)
	b.WriteString(m.trace.outcome())
	b.WriteString(roundingNote(m.rounding))
	b.WriteString(line)
	if len(m.trace.collapsed) > 0 {
		b.WriteString("COLLAPSED: all weights vanish and every pair has the same prediction\n")
	}
	rows, columns := m.SideWeights()
	for i, side := range []struct {
		name    string
		weights []KernelWeight
	}{{"rows", rows}, {"columns", columns}} {
		fmt.Fprintf(&b, "%s: %s", side.name, summarizeActive(side.weights))
		if note := healingNote(m.healed[i]); note != "" {
			fmt.Fprintf(&b, "new %s: %s", side.name, note)
		}
	}
	return b.String()
}

// PairRegressionModel is a fitted [PairRegression]. It is immutable and safe for concurrent use.
type PairRegressionModel struct {
	pairModel
	scale target
}

// Kind returns "pair-regression".
func (m *PairRegressionModel) Kind() string { return "pair-regression" }

// NoiseSD returns the standard deviation of the noise, in the units of the values.
func (m *PairRegressionModel) NoiseSD() float64 { return m.scale.sd * m.posterior.State().Noise }

// Outputs reports the noise that the fit learned for the values.
func (m *PairRegressionModel) Outputs() []ModelOutput { return []ModelOutput{{NoiseSD: m.NoiseSD()}} }

// Predict returns the predictive mean and variance, noise included, [row][column], of every pair
// of the rows and the columns, in the units of the values and their square. It returns the errors that
// [TargetModel.PredictTargets] returns, and an error if Known has an index that the fit does not have.
func (m *PairRegressionModel) Predict(rows, columns PairSide) (mean, variance [][]float64, err error) {
	p, err := m.PredictPairs(context.Background(), PredictOptions{}, rows, columns)
	if err != nil {
		return nil, nil, err
	}
	return p.Mean, p.Variance, nil
}

// PredictPairs is Predict with options. For new rows or columns, every call makes twice as many Cholesky factorisations
// as there are components, half of them for healing, of matrices whose order is the number of basis points: see
// [PredictOptions].
func (m *PairRegressionModel) PredictPairs(ctx context.Context, opt PredictOptions, rows, columns PairSide) (*PairPrediction, error) {
	p, err := m.predict(ctx, opt, rows, columns)
	if err != nil {
		return nil, err
	}
	out := &PairPrediction{Mean: lines(p.Mean), Variance: lines(p.Variance)}
	for i, row := range out.Mean {
		for j, v := range row {
			row[j] = m.scale.mean + float64(m.scale.sd*v)
			var err error
			if opt.MeanOnly {
				_, err = checkMoments(row[j], 1)
			} else {
				out.Variance[i][j], err = checkMoments(row[j], out.Variance[i][j]*(m.scale.sd*m.scale.sd))
			}
			if err != nil {
				return nil, fmt.Errorf("mkl: row %d, column %d: %w", i, j, err)
			}
		}
	}
	return out, nil
}

// String describes the model in one line.
func (m *PairRegressionModel) String() string { return m.describe("regression of pairs") }

// Summary describes the model in words, line by line.
func (m *PairRegressionModel) Summary() string {
	return m.summary(m.String(), fmt.Sprintf("noise SD %.4g\n", m.NoiseSD()))
}

// PairClassifierModel is a fitted [PairClassifier]. It is immutable and safe for concurrent use.
type PairClassifierModel struct{ pairModel }

// Kind returns "pair-classifier".
func (m *PairClassifierModel) Kind() string { return "pair-classifier" }

// Outputs returns one empty entry: the fit learns nothing about the label but the weights.
func (m *PairClassifierModel) Outputs() []ModelOutput { return make([]ModelOutput, 1) }

// Predict returns for every pair of the rows and the columns, [row][column], the probability that
// it has the label. It returns the errors that [PairRegressionModel.Predict] returns.
func (m *PairClassifierModel) Predict(rows, columns PairSide) ([][]float64, error) {
	p, err := m.PredictPairs(context.Background(), PredictOptions{}, rows, columns)
	if err != nil {
		return nil, err
	}
	return p.Probability, nil
}

// PredictPairs is Predict with options and scores, like [PairRegressionModel.PredictPairs].
func (m *PairClassifierModel) PredictPairs(ctx context.Context, opt PredictOptions, rows, columns PairSide) (*PairLabelPrediction, error) {
	p, err := m.predict(ctx, opt, rows, columns)
	if err != nil {
		return nil, err
	}
	out := &PairLabelPrediction{Decision: lines(p.Mean), Probability: lines(p.Probability)}
	for i, row := range out.Decision {
		for j, v := range row {
			err := checkDecision(v)
			if err == nil && !opt.MeanOnly {
				err = checkProbability(out.Probability[i][j])
			}
			if err != nil {
				return nil, fmt.Errorf("mkl: row %d, column %d: %w", i, j, err)
			}
		}
	}
	return out, nil
}

// baseRate returns the probability of the label for a pair about which nothing is known, from the bias
// alone.
func (m *PairClassifierModel) baseRate() float64 {
	R, _, _ := m.posterior.Dims()
	zero, none := make([]float64, R), make([]float64, R*R)
	_, _, p := m.posterior.Pair(zero, none, zero, none)
	return p
}

// String describes the model in one line.
func (m *PairClassifierModel) String() string { return m.describe("classifier of pairs") }

// Summary describes the model in words, line by line.
func (m *PairClassifierModel) Summary() string {
	return m.summary(m.String(), fmt.Sprintf("a pair of which nothing is known has the label with probability %.3g\n", m.baseRate()))
}
