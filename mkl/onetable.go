package mkl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bmkl/bmkl/la"
)

// AllColumns is the name of the member of a pool of several views that is a pool itself, of the columns of all views as one table. The other
// members are sums of functions of single views. This member learns functions of columns from several views. Columns are counted through all inputs.
const AllColumns = "all columns as one table"

// samplesOfColumn is the least number of samples for each column of the table. With fewer a kernel of all columns hardly
// knows samples that are alike, and measurements found no gain.
const samplesOfColumn = 2

// mostTableSeconds is the most forecast time of the processes of a table of more than two classes. Without such processes the table has a
// least-squares member, which takes a small part of the time. The pool of the views has no processes for more than two classes either.
const mostTableSeconds = 60

// oneTable returns the columns of all views as one view. It returns ok = false if a view has a kernel, or if the samples are too few.
func (p *poolPlan) oneTable() (v View, ok bool) {
	if countViews(p.views) < 2 || !allOpen(p.views) {
		return v, false
	}
	inputs := distinctInputs(p.views)
	var seen []int
	first := 0 // the input begins in this column of the table
	for k, columns := range openColumns(p.views) {
		for _, c := range columns {
			seen = append(seen, first+c)
		}
		first += inputs[k].Cols
	}
	if samplesOfColumn*len(seen) > len(p.rows) {
		return v, false
	}
	v = View{Name: AllColumns, X: sideBySide(inputs)}
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

// tableFit returns the settings of the fit of the table beside members that took so much of the time. It returns ok = false if there is no
// time left for it.
func (p *pool) tableFit(f Fitting, limit time.Duration, each float64) (g Fitting, rest time.Duration, ok bool) {
	members := len(p.models) + len(p.dropped)
	if limit > 0 {
		rest = limit - time.Duration(float64(members)*each*float64(time.Second))
		if rest < time.Duration(each*float64(time.Second)) {
			p.left = append(p.left, AllColumns)
			return f, 0, false
		}
	}
	f.Notes, f.Journal = nil, nil
	if report := f.Progress; report != nil {
		f.Progress = func(q Progress) { // the members of the table follow the members of the views
			q.Member, q.Members = q.Member+members, q.Members+members
			report(q)
		}
	}
	return f, rest, true
}

// joinTable adds the pool m of the table as a member, unless its weight is small. It reports whether it did. views and table hold the logarithms of
// the leave-one-out densities of both pools, which give the weight w of the table. The other members' weights are multiplied by 1 − w.
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
		return m.without(ctx, AllColumns, err)
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
	b.Groups, b.MaxSamples, b.Classes, b.ofTable = nil, len(labels), classes, true
	table, own, err := b.fitPool(ctx, []View{v}, labels)
	if err == nil && own == nil {
		err = errors.New("its leave-one-out probabilities are not known")
	}
	if err != nil {
		return m.without(ctx, AllColumns, err)
	}
	member := &tableClassModel[T]{table, tableInputsOf(m.models[0])}
	if m.joinTable(logProbability, own, a.Seed, member) {
		m.table, m.rule = member, byKind
	}
	return nil
}
