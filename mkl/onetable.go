package mkl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/vec"
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

// tables returns views of the columns of all views as one table: of all columns, and of the columns of the views that are not doubtful, if
// some are. A view whose columns are too many for the samples is left out. A view with a kernel leaves no table.
func (p *poolPlan) tables(doubtful []string) (tables []View) {
	if countViews(p.views) < 2 || !allOpen(p.views) {
		return nil
	}
	tables = p.appendTable(tables, p.views)
	key := viewKey(p.views)
	if clear := slices.DeleteFunc(slices.Clone(p.views), func(v View) bool { return slices.Contains(doubtful, key(v)) }); len(clear) < len(p.views) {
		tables = p.appendTable(tables, clear)
	}
	return tables
}

// appendTable appends the table in which the columns of some of the views are seen, unless the samples are too few for it.
func (p *poolPlan) appendTable(tables, some []View) []View {
	inputs := distinctInputs(p.views)
	x := sideBySide(inputs)
	var seen []int
	first := 0 // the input begins in this column of the table
	for k, columns := range openColumns(p.views, some) {
		for _, c := range columns {
			seen = append(seen, first+c)
		}
		first += inputs[k].Cols
	}
	if samplesOfColumn*len(seen) > len(p.rows) {
		return tables
	}
	v := View{Name: AllColumns, X: x}
	if len(seen) < x.Cols {
		v.Columns = seen
	}
	return append(tables, v)
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

// tableFit returns the settings of the fit of table k of several, beside members that took so much of the time. It returns ok = false if there
// is no time left for the tables.
func (p *pool) tableFit(f Fitting, limit time.Duration, each float64, k, tables int) (g Fitting, rest time.Duration, ok bool) {
	members := len(p.models) + len(p.dropped)
	if limit > 0 {
		rest = limit - time.Duration(float64(members)*each*float64(time.Second))
		if rest < time.Duration(each*float64(time.Second)) {
			p.left = append(p.left, AllColumns)
			return f, 0, false
		}
	}
	rest /= time.Duration(tables)
	f.Notes, f.Journal = nil, nil
	if report := f.Progress; report != nil {
		f.Progress = func(q Progress) { // the members of the table follow the members of the views
			q.Member, q.Members = q.Member+members+k*q.Members, members+tables*q.Members
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

// addTable fits a pool to each of the tables, takes the pool of the larger leave-one-out density, and adds it as a member unless its weight is
// small. density holds the logarithms of the leave-one-out densities of the pool of the views, and each is the forecast time of one member in
// seconds.
func (a Auto) addTable(ctx context.Context, m *AutoModel, plan *poolPlan, y, density []float64, each float64) error {
	if a.part || a.MissingViews {
		return nil
	}
	tables := plan.tables(m.doubtful())
	b := a
	b.Groups, b.MaxSamples, b.OwnScale = nil, len(y), true // y are on the scale of the pool
	var best *AutoModel
	var its []float64
	for k, v := range tables {
		var ok bool
		if b.Fitting, b.Time, ok = m.tableFit(a.Fitting, a.Time, each, k, len(tables)); !ok {
			return nil
		}
		table, own, err := b.fitPool(ctx, []View{v}, y)
		if err != nil {
			return m.without(ctx, AllColumns, err)
		}
		if best == nil || vec.Total(own) > vec.Total(its) {
			best, its = table, own
		}
	}
	if best == nil {
		return nil
	}
	member := &tableModel{best, tableInputsOf(m.models[0])}
	if m.joinTable(density, its, a.Seed, member) {
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
	tables := plan.tables(m.doubtful())
	b := a
	b.Groups, b.MaxSamples, b.Classes, b.ofTable = nil, len(labels), classes, true
	var best *AutoClassifierModel[T]
	var its []float64
	for k, v := range tables {
		var ok bool
		if b.Fitting, b.Time, ok = m.tableFit(a.Fitting, a.Time, each, k, len(tables)); !ok {
			return nil
		}
		table, own, err := b.fitPool(ctx, []View{v}, labels)
		if err == nil && own == nil {
			err = errors.New("its leave-one-out probabilities are not known")
		}
		if err != nil {
			return m.without(ctx, AllColumns, err)
		}
		if best == nil || vec.Total(own) > vec.Total(its) {
			best, its = table, own
		}
	}
	if best == nil {
		return nil
	}
	member := &tableClassModel[T]{best, tableInputsOf(m.models[0])}
	if m.joinTable(logProbability, its, a.Seed, member) {
		m.table, m.rule = member, byKind
	}
	return nil
}
