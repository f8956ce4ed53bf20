package mkl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// columnTable is a view of the columns of several views.
type columnTable struct {
	View
	without []string // the views whose columns are left out
}

// tables returns the table of the columns of all views and, if some views are doubtful, the table of the columns of the others. A table with too
// many columns for the samples is left out. There is no table if a view has a kernel.
func (p *poolPlan) tables(doubtful []string) (tables []columnTable) {
	if countViews(p.views) < 2 || !allOpen(p.views) {
		return nil
	}
	inputs := distinctInputs(p.views)
	x := sideBySide(inputs)
	add := func(some []View, without []string) {
		var seen []int
		first := 0 // the input begins in this column of the table
		for k, columns := range openColumns(p.views, some) {
			for _, c := range columns {
				seen = append(seen, first+c)
			}
			first += inputs[k].Cols
		}
		if samplesOfColumn*len(seen) > len(p.rows) {
			return
		}
		v := View{Name: AllColumns, X: x}
		if len(seen) < x.Cols {
			v.Columns = seen
		}
		tables = append(tables, columnTable{v, without})
	}
	add(p.views, nil)
	if len(doubtful) > 0 {
		add(viewsBut(p.views, doubtful), doubtful)
	}
	return tables
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
//
// without names the views whose columns the table leaves out.
func (p *pool) joinTable(views, table []float64, without []string, seed uint64, m Model) (kept bool) {
	share := weightBeside(views, table, seed)
	if share < smallShare(2) {
		p.trace.follow(m.Trace(), false)
		p.dropped = append(p.dropped, AllColumns)
		return false
	}
	if p.views != nil {
		p.remarks = append(p.remarks, fmt.Sprintf("the table of the views is of sums of functions of single views; all columns as one table have %.0f %% of the weight", 100*share))
		if len(without) > 0 {
			p.remarks = append(p.remarks, "the one table leaves out the columns of "+strings.Join(without, ", ")+", which more probably say nothing")
		}
	}
	la.Scal(1-share, p.weights)
	p.names, p.weights = append(p.names, AllColumns), append(p.weights, share)
	p.add(m)
	return true
}

// bestTable fits a pool to each table, and returns the pool of the largest leave-one-out density, the logarithms of its densities, and the views
// that its table leaves out. The densities are nil if there is no table, or no time left for one. each is the forecast time of one member of
// the pool of the views, in seconds.
func bestTable[M Model](p *pool, plan *poolPlan, f Fitting, limit time.Duration, each float64,
	fit func(f Fitting, limit time.Duration, v View) (M, []float64, error),
) (best M, density []float64, without []string, err error) {
	tables := plan.tables(doubtful(p.views))
	for k, t := range tables {
		settings, rest, ok := p.tableFit(f, limit, each, k, len(tables))
		if !ok {
			break
		}
		m, own, err := fit(settings, rest, t.View)
		if err == nil && own == nil {
			err = errors.New("its leave-one-out densities are not known")
		}
		switch {
		case err != nil:
			return best, nil, nil, err
		case density == nil:
			best, density, without = m, own, t.without
		case vec.Total(own) > vec.Total(density):
			p.trace.follow(best.Trace(), false)
			best, density, without = m, own, t.without
		default:
			p.trace.follow(m.Trace(), false)
		}
	}
	return best, density, without, nil
}

// addTable adds the best table as a member, unless its weight is small. density holds the logarithms of the leave-one-out densities of the pool
// of the views, and ofMembers of its members. each is the forecast time of one member in seconds.
func (a Auto) addTable(ctx context.Context, m *AutoModel, plan *poolPlan, y, density []float64, ofMembers [][]float64, each float64) error {
	if a.part || a.MissingViews {
		return nil
	}
	b := a
	b.Groups, b.MaxSamples, b.OwnScale = nil, len(y), true // y are on the scale of the pool, which b.choice names
	table, own, without, err := bestTable(&m.pool, plan, a.Fitting, a.Time, each, func(f Fitting, limit time.Duration, v View) (*AutoModel, []float64, error) {
		b.Fitting, b.Time = f, limit
		return b.fitPool(ctx, []View{v}, y)
	})
	if err != nil {
		return m.without(ctx, AllColumns, err)
	}
	if own == nil {
		return nil
	}
	member := &tableModel{table, tableInputsOf(m.models[0])}
	if m.joinTable(density, own, without, a.Seed, member) {
		m.table = member
		m.dropBeside(ofMembers, own)
	}
	return nil
}

// dropBeside drops the sums over views whose weights are small beside the table, the last member. They move the prediction little, and take as much
// time as the others. The sum of the largest weight stays, and the others keep the weight of all sums together. None is dropped if the
// training targets then are clearly less probable, each from all others. density and table hold the logarithms of these densities.
func (m *AutoModel) dropBeside(density [][]float64, table []float64) {
	last := len(m.members)
	w, least := slices.Clone(m.weights), min(smallShare(last+1), slices.Max(m.weights[:last]))
	var rest float64
	for i, v := range w[:last] {
		if v < least {
			w[i] = 0
		}
		rest += w[i]
	}
	for i := range last {
		w[i] *= (1 - w[last]) / rest
	}
	all := append(slices.Clone(density), table)
	if !slices.Contains(w, 0) || clearlyLess(mixedDensity(all, w), mixedDensity(all, m.weights), 2) {
		return
	}
	name, member := m.names[last], m.models[last]
	m.members = keepMembers(&m.pool, m.members, func(i int) bool { return w[i] > 0 })
	m.names, m.models = append(m.names, name), append(m.models, member)
	m.weights = slices.DeleteFunc(w, func(v float64) bool { return v == 0 })
}

// addTable is as in [Auto]. logProbability holds the logarithms of the leave-one-out probabilities of the pool.
func (a AutoClassifier[T]) addTable(
	ctx context.Context, m *AutoClassifierModel[T], plan *poolPlan, labels, classes []T, logProbability []float64, each float64,
) error {
	if a.part || a.MissingViews || logProbability == nil {
		return nil
	}
	b := a
	b.Groups, b.MaxSamples, b.Classes, b.ofTable = nil, len(labels), classes, true
	table, own, without, err := bestTable(&m.pool, plan, a.Fitting, a.Time, each,
		func(f Fitting, limit time.Duration, v View) (*AutoClassifierModel[T], []float64, error) {
			b.Fitting, b.Time = f, limit
			return b.fitPool(ctx, []View{v}, labels)
		})
	if err != nil {
		return m.without(ctx, AllColumns, err)
	}
	if own == nil {
		return nil
	}
	member := &tableClassModel[T]{table, tableInputsOf(m.models[0])}
	if m.joinTable(logProbability, own, without, a.Seed, member) {
		m.table, m.rule = member, byKind
	}
	return nil
}
