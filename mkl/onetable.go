package mkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/reuse"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
)

// AllColumns is the name of the member of a pool of several views that is a pool itself, of the columns of all views as one table. The other
// members are sums of functions of single views. This member learns functions of columns from several views. Columns are counted through all inputs.
const AllColumns = "all columns as one table"

// samplesOfColumn is the least number of samples for each column of the table. With fewer a kernel of all columns hardly
// knows samples that are alike, and measurements found no gain.
const samplesOfColumn = 2

// oneTable returns the columns of all views as one view. It returns ok = false if a view has a kernel, or if the samples are too few.
func (p *poolPlan) oneTable() (v View, ok bool) {
	if countViews(p.views) < 2 || !allOpen(p.views) {
		return v, false
	}
	var seen []int
	for _, one := range p.views {
		first := 0 // the view's input begins in this column of the table
		for i, other := range p.views {
			if other.Input == one.Input {
				break
			}
			if !slices.ContainsFunc(p.views[:i], func(w View) bool { return w.Input == other.Input }) {
				first += other.X.Cols
			}
		}
		columns := one.Columns
		if columns == nil {
			columns = vec.UpTo(one.X.Cols)
		}
		for _, c := range columns {
			seen = append(seen, first+c)
		}
	}
	slices.Sort(seen)
	seen = slices.Compact(seen)
	if samplesOfColumn*len(seen) > len(p.rows) {
		return v, false
	}
	v = View{Name: AllColumns, X: sideBySide(distinctInputs(p.views))}
	if len(seen) < v.X.Cols {
		v.Columns = seen
	}
	return v, true
}

// sideBySide returns the columns of matrices of the same samples as one matrix.
func sideBySide(x []Features) Features {
	columns := 0
	for _, m := range x {
		columns += m.Cols
	}
	out := la.NewMatrix[float64](x[0].Rows, columns)
	for i := range out.Rows {
		row := out.Row(i)[:0]
		for _, m := range x {
			row = append(row, m.Row(i)...)
		}
	}
	return out
}

// tableInputs are the inputs of a pool whose columns are a table.
type tableInputs struct{ design *gram.Design }

// tableInputsOf returns the inputs of a pool, by its first member.
func tableInputsOf(m Model) tableInputs {
	return tableInputs{&gram.Design{Inputs: m.(interface{ inputs() []gram.Input }).inputs()}}
}

// joined returns the matrices of the inputs as one table.
func (t tableInputs) joined(x []Features) (Features, error) {
	if _, err := checkInputs(t.design, x); err != nil {
		return Features{}, err
	}
	return sideBySide(x), nil
}

// Inputs describes the matrices that a prediction takes.
func (t tableInputs) Inputs() []ModelInput { return (&onViews{design: t.design}).Inputs() }

// check reports whether a pool with these inputs takes the table.
func (t tableInputs) check(of []ModelInput) error {
	columns := 0
	for _, in := range t.design.Inputs {
		columns += in.Cols
	}
	if len(of) != 1 || of[0].Cols != columns {
		return fmt.Errorf("model: %s: inputs %v where the views have %d columns", AllColumns, of, columns)
	}
	return nil
}

// tableModel is the pool of the columns as one table, as a member of the pool of the views.
type tableModel struct {
	*AutoModel
	tableInputs
}

// Inputs describes the matrices that a prediction takes: the ones of the views.
func (m *tableModel) Inputs() []ModelInput { return m.tableInputs.Inputs() }

// PredictTargets implements [TargetModel].
func (m *tableModel) PredictTargets(ctx context.Context, opt PredictOptions, x ...Features) (*Prediction, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoModel.PredictTargets(ctx, opt, t)
}

// PredictJoint is as in [AutoModel].
func (m *tableModel) PredictJoint(ctx context.Context, opt PredictOptions, x ...Features) (*JointPrediction, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoModel.PredictJoint(ctx, opt, t)
}

// PredictViews is as in [AutoModel]. The columns of all views are one view.
func (m *tableModel) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ViewParts, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoModel.PredictViews(ctx, opt, t)
}

// KernelSpreads is as in [AutoModel].
func (m *tableModel) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) ([]float64, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoModel.KernelSpreads(ctx, opt, t)
}

// tableClassModel is tableModel for classes.
type tableClassModel[T comparable] struct {
	*AutoClassifierModel[T]
	tableInputs
}

// Inputs describes the matrices that a prediction takes: the ones of the views.
func (m *tableClassModel[T]) Inputs() []ModelInput { return m.tableInputs.Inputs() }

// PredictClasses implements [ClassModel].
func (m *tableClassModel[T]) PredictClasses(ctx context.Context, opt PredictOptions, x ...Features) (*ClassPrediction[T], error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoClassifierModel.PredictClasses(ctx, opt, t)
}

// logOddsMoments implements [classViewer].
func (m *tableClassModel[T]) logOddsMoments(ctx context.Context, opt PredictOptions, x []Features) ([]viewMoments, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoClassifierModel.logOddsMoments(ctx, opt, []Features{t})
}

// KernelSpreads is as in [AutoClassifierModel].
func (m *tableClassModel[T]) KernelSpreads(ctx context.Context, opt PredictOptions, x ...Features) ([]float64, error) {
	t, err := m.joined(x)
	if err != nil {
		return nil, err
	}
	return m.AutoClassifierModel.KernelSpreads(ctx, opt, t)
}

// tableFit returns the settings of the fit of the table beside members that took so much of the time. It returns ok = false if there is no
// time left for it.
func (p *pool) tableFit(f Fitting, limit time.Duration, each float64) (g Fitting, rest time.Duration, ok bool) {
	members := len(p.models)
	if limit > 0 {
		rest = limit - time.Duration(float64(members)*each*float64(time.Second))
		if rest < time.Duration(each*float64(time.Second)) {
			p.left = append(p.left, AllColumns)
			return f, 0, false
		}
	}
	f.Notes, f.Journal = nil, nil
	return f, rest, true
}

// withoutTable adds the remark that the table is left out, because its fit failed with err. If the context has ended it returns err instead.
func (p *pool) withoutTable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	p.remarks = append(p.remarks, fmt.Sprintf("%s: left out (%v)", AllColumns, err))
	return nil
}

// joinTable returns the weight of the table, given the logarithms of the leave-one-out densities of the pool of views and of the pool of
// the table. If it is not small, the weights of the members before become smaller by it.
func (p *pool) joinTable(views, table []float64, seed uint64, m Model) (kept bool) {
	share := weightBeside(views, table, seed)
	if share < smallShare(2) {
		p.trace.follow(m.Trace(), false)
		p.dropped = append(p.dropped, AllColumns)
		return false
	}
	if p.views != nil {
		p.remarks = append(p.remarks, fmt.Sprintf("the table of the views is of sums of functions of single views; all columns as one table have %.0f %% of the weight", 100*share))
	}
	la.Scal(1-share, p.weights)
	p.names, p.weights = append(p.names, AllColumns), append(p.weights, share)
	p.add(m)
	return true
}

// addTable fits a pool to the columns of all views as one table, and adds it as a member unless its weight is small. density holds the logarithms of the
// pool's leave-one-out densities, and each is the forecast time of one member in seconds.
func (a Auto) addTable(ctx context.Context, m *AutoModel, plan *poolPlan, y, density []float64, each float64) error {
	if a.part || a.MissingViews {
		return nil
	}
	v, ok := plan.oneTable()
	if !ok {
		return nil
	}
	b := a
	if b.Fitting, b.Time, ok = m.tableFit(a.Fitting, a.Time, each); !ok {
		return nil
	}
	b.Groups, b.MaxSamples, b.OwnScale = nil, len(y), true // y are on the scale of the pool
	table, own, err := b.fitPool(ctx, []View{v}, y)
	if err != nil {
		return m.withoutTable(ctx, err)
	}
	member := &tableModel{table, tableInputsOf(m.models[0])}
	if m.joinTable(density, own, a.Seed, member) {
		m.table = member
	}
	return nil
}

// addTable is as in [Auto]. logProbability holds the logarithms of the leave-one-out probabilities of the pool.
func (a AutoClassifier[T]) addTable(
	ctx context.Context, m *AutoClassifierModel[T], plan *poolPlan, labels, classes []T, logProbability []float64, each float64,
) error {
	if a.part || a.MissingViews || logProbability == nil {
		return nil
	}
	v, ok := plan.oneTable()
	if !ok {
		return nil
	}
	b := a
	if b.Fitting, b.Time, ok = m.tableFit(a.Fitting, a.Time, each); !ok {
		return nil
	}
	b.Groups, b.MaxSamples, b.Classes = nil, len(labels), classes
	table, own, err := b.fitPool(ctx, []View{v}, labels)
	if err == nil && own == nil {
		err = errors.New("its leave-one-out probabilities are not known")
	}
	if err != nil {
		return m.withoutTable(ctx, err)
	}
	member := &tableClassModel[T]{table, tableInputsOf(m.models[0])}
	if m.joinTable(logProbability, own, a.Seed, member) {
		m.table, m.rule = member, byKind
	}
	return nil
}

// tableRow is memory for a sample as one row of the table.
type tableRow struct {
	x [1][]float64

	_ [64]byte // memory of different callers shares no cache line
}

// tableRows keeps memory for samples.
type tableRows struct{ reuse.Pool[tableRow] }

func newTableRows() tableRows {
	return tableRows{reuse.NewPool(func() *tableRow { return &tableRow{} })}
}

// of returns the row of a sample, which the model has checked. It returns memory of r.
func (r *tableRow) of(x [][]float64) [][]float64 {
	row := r.x[0][:0]
	for _, v := range x {
		row = append(row, v...)
	}
	r.x[0] = row
	return r.x[:]
}

// tableFunction predicts by the pool of the table.
type tableFunction struct {
	mixture *mixturePredictor
	rows    tableRows
}

// newTableFunction prepares the pool of the table, which may use a share of the tolerance.
func newTableFunction(m *tableModel, opt PredictorOptions, share float64) (*tableFunction, error) {
	p, err := m.mixture(opt, share)
	if err != nil {
		return nil, err
	}
	p.complete(opt)
	return &tableFunction{p, newTableRows()}, nil
}

// predict returns the prediction in the target's units. A prediction that is no number has the mean NaN.
func (f *tableFunction) predict(x [][]float64) vi.Certified {
	r := f.rows.Take()
	b, err := f.mixture.predictBounded(r.of(x))
	f.rows.Put(r)
	if err != nil {
		return vi.Certified{Mean: math.NaN(), Variance: math.NaN()}
	}
	return vi.Certified{Mean: b.Mean, Variance: b.Variance, MeanError: b.MeanError, SDError: b.SDError, Calibrated: b.Kind == BoundCalibrated}
}

// tableClassFunction predicts probabilities by the pool of the table.
type tableClassFunction[T comparable] struct {
	processes *processClassPredictor[T]
	rows      tableRows
}

// probabilities stores the probabilities of the sample x in dst, and returns a bound on their errors.
func (f *tableClassFunction[T]) probabilities(x [][]float64, stage stage, allowed float64, dst []float64) (bound float64) {
	r, s := f.rows.Take(), f.processes.bank.take()
	bound = f.processes.probabilities(s, r.of(x), stage, allowed)
	copy(dst, s.sum)
	f.processes.bank.pool.Put(s)
	f.rows.Put(r)
	return bound
}
