package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
)

// Values of -missing.
const (
	missingRefuse = "refuse"
	missingImpute = "impute"
	missingViews  = "views"
)

// Values of -text.
const (
	textOneHot   = "onehot"
	textCategory = "category"
)

// conversions are what -as says of columns.
type conversions []*conversion

type conversion struct {
	text    string
	columns []spec.Item
	as      table.Type // none: the column is left out
	used    bool
}

// conversions reads -as.
func (c *fitCmd) conversions() (all conversions, err error) {
	for _, text := range c.As {
		at := strings.LastIndex(text, "=")
		if at < 0 {
			return nil, console.Inputf("-as %s: COLUMN=TYPE is needed", text)
		}
		a := &conversion{text: text, as: table.Type(strings.ToLower(strings.TrimSpace(text[at+1:])))}
		if a.columns, err = spec.ParseColumns(text[:at]); err != nil {
			return nil, console.Inputf("-as %w", err)
		}
		if a.as == "none" {
			a.as = ""
		} else if !slices.Contains(table.Types, a.as) {
			return nil, console.Inputf("-as %s: a column is none or one of %v", text, table.Types)
		}
		all = append(all, a)
	}
	return all, nil
}

// ask asks for the columns of a view as they were said to be.
func (all conversions) ask(v *view) error {
	if v.ofStrings() {
		return v.askStrings()
	}
	names := v.source.File.Columns()
	as := map[int]*conversion{}
	for _, a := range all {
		found, err := spec.Select(a.columns, names, nil)
		if err != nil {
			continue // it may be of another file
		}
		for _, j := range found {
			as[j] = a
		}
	}
	s := console.Source{File: v.source.File}
	for k, j := range v.source.Columns {
		want, named := table.Want{Column: j, Kind: table.Any}, v.source.Named[k]
		switch a := as[j]; {
		case v.given():
			want.Kind = table.Number
		case a != nil:
			a.used = true
			if a.as == "" {
				v.left = append(v.left, plan.LeftOut{Column: names[j], Why: "by -as"})
				continue
			}
			want.As, named = a.as, true
		case v.categorical():
			want.As = table.Text
		}
		s.File.Want(want)
		s.Columns, s.Named = append(s.Columns, j), append(s.Named, named)
	}
	if v.source = s; s.Columns == nil {
		return console.Inputf("-as leaves the view %s without columns", quoted(v.name))
	}
	return nil
}

// unused reports what -as says of columns that are in no view.
func (all conversions) unused(main *console.File, targets []int) error {
	for _, a := range all {
		if a.used {
			continue
		}
		found, err := spec.Select(a.columns, main.Columns(), nil)
		switch {
		case err != nil:
			return console.Inputf("-as %s: %s: %w", a.text, main.Name(), err)
		case slices.Contains(targets, found[0]):
			return console.Inputf("-as %s: the column is a target: -task says what is learned of it", a.text)
		}
		return console.Inputf("-as %s: the column is in no view", a.text)
	}
	return nil
}

// makePlan makes the plan of each view by the data that were read, and its features. Rows in which
// something is missing are told, left out or filled in as -missing says. The lines say what was done.
func (p *problem) makePlan(fs *console.Files) (lines []string, err error) {
	plans := p.plans()
	rows, first := p.complete(fs, plans)
	if left := p.main.Data.Rows - len(rows); left > 0 {
		switch {
		case p.Missing == missingViews:
			return nil, console.Inputf("%w: -missing views is for rows that lack a view whole, and have another", first)
		case p.Missing == missingRefuse:
			return nil, console.Inputf("%w: -missing impute fills in what is missing, -missing drop leaves out such rows (%d of %d)", first, left, p.main.Data.Rows)
		case len(rows) == 0:
			return nil, console.Inputf("-missing %s leaves out every row: %w", p.Missing, first)
		}
		for i := range p.views {
			if p.views[i].given() {
				return nil, console.Inputf("%w: -missing %s cannot leave out rows of given kernels", first, p.Missing)
			}
		}
		lines = append(lines, fmt.Sprintf("%d of %s left out, where something is missing: %v", left, console.Plural(p.main.Data.Rows, "row"), first))
		for _, f := range fs.All {
			f.Data.Pick(rows)
		}
		for i := range p.views { // what was left out stays so: rows that were counted no longer are
			v := &p.views[i]
			v.source = v.source.Only(plans[i].At)
			v.left = append(v.left, plans[i].Left...)
		}
		plans = p.plans()
	}
	for i := range p.views {
		v := &p.views[i]
		if v.ofStrings() {
			if v.strings == nil {
				line, err := v.gather()
				if err != nil {
					return nil, err
				}
				lines = append(lines, "plan: "+line)
			}
			continue
		}
		planned := plans[i]
		if planned.At == nil {
			return nil, console.Inputf("view %s: no column is left: %s", quoted(v.name), strings.Join(plan.View{Left: append(v.left, planned.Left...)}.Lines(), "; "))
		}
		v.source, v.plan, v.left = v.source.Only(planned.At), planned.Columns, append(v.left, planned.Left...)
		encoded := plan.Encode(v.plan, v.source.Columns, &v.source.File.Data)
		if p.Missing == missingViews && !v.given() {
			encoded.Lack()
			if n := count(encoded.Absent); n > 0 {
				lines = append(lines, fmt.Sprintf("view %s: %d of %s lack it", quoted(v.name), n, console.Plural(encoded.X.Rows, "row")))
			}
		}
		v.x = encoded.X
		for _, line := range (plan.View{Columns: v.plan, Left: v.left}).Lines() {
			if !slices.Contains(lines, "plan: "+line) { // of a column in several views
				lines = append(lines, "plan: "+line)
			}
		}
		if err := v.checkSquare(); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// plans makes the plans of the views by the rows there are.
func (p *problem) plans() (all []plan.View) {
	for i := range p.views {
		s := &p.views[i].source
		if p.views[i].given() || p.views[i].ofStrings() {
			given := plan.View{At: s.Columns}
			for _, name := range s.Names() {
				given.Columns = append(given.Columns, plan.Plain(name))
			}
			all = append(all, given)
			continue
		}
		t := plan.Table{Data: &s.File.Data, Names: s.File.Columns(), Columns: s.Columns, Named: s.Named, Codes: p.codes(&p.views[i])}
		all = append(all, plan.Learn(t, p.Missing == missingImpute))
	}
	return all
}

// complete lists the rows that can be learned from: those in which nothing is missing that the plans
// cannot fill in. The error tells the first of the others.
func (p *problem) complete(fs *console.Files, plans []plan.View) (rows []int, first error) {
	why := make(obstacles, p.main.Data.Rows)
	for i, alone := range fs.Alone {
		if alone {
			why[i] = fs.AloneError(i)
		}
	}
	if !p.MissingTargets {
		for _, j := range p.targets {
			why.ofTarget(&p.main.Data, j)
		}
	}
	lacking := make([]int, len(why)) // how many views a row lacks
	for k := range p.views {
		switch v := &p.views[k]; {
		case v.ofStrings():
			for i, cell := range columnStrings(v.source) {
				why.ifEmpty(cell == "", &v.source.File.Data, i, v.source.Columns[0])
			}
		case p.Missing == missingViews && !v.given():
			why.ofView(v, plans[k], lacking, len(p.views))
		default:
			why.ofCells(v, plans[k])
		}
	}
	for i, err := range why {
		if err == nil {
			rows = append(rows, i)
		} else if first == nil {
			first = err
		}
	}
	return rows, first
}

// obstacles say of each row why it cannot be learned from; nil if it can.
type obstacles []error

// ofTarget notes the rows that lack a target, in column j.
func (why obstacles) ofTarget(d *table.Data, j int) {
	for i, v := range d.Numbers[j] {
		if v != v {
			why[i] = d.Cell(i, j, "the target is missing")
		}
	}
	for i, text := range d.Labels[j] {
		if text == "" {
			why[i] = d.Cell(i, j, "the target is missing")
		}
	}
}

// ofView notes the rows that have a part of a view, or lack it as the last of so many views. Those that lack it
// whole are learned from.
func (why obstacles) ofView(v *view, p plan.View, lacking []int, views int) {
	d, at := &v.source.File.Data, p.At[0]
	encoded := plan.Encode(p.Columns, p.At, d)
	for i, absent := range encoded.Absent {
		if absent {
			lacking[i]++
		}
		switch {
		case why[i] != nil:
		case encoded.Missing[i] && !absent:
			why[i] = d.Cell(i, at, fmt.Sprintf("a part of the view %s is missing in this row", quoted(v.name)))
		case lacking[i] == views:
			why[i] = d.Cell(i, at, "every view is missing in this row")
		}
	}
}

// ofCells notes the rows in which a cell of a view is missing that its plan does not fill in.
func (why obstacles) ofCells(v *view, p plan.View) {
	d := &v.source.File.Data
	for c, column := range p.Columns {
		j := p.At[c]
		if column.Fill != nil || d.Gaps[j].Count == 0 {
			continue
		}
		for i, x := range d.Numbers[j] {
			why.ifEmpty(x != x, d, i, j)
		}
		if column.Type == table.Text {
			for i, text := range d.Labels[j] {
				why.ifEmpty(text == "", d, i, j)
			}
		}
	}
}

// ifEmpty notes a row if its cell in column j is empty, and nothing was noted before.
func (why obstacles) ifEmpty(empty bool, d *table.Data, i, j int) {
	if empty && why[i] == nil {
		why[i] = d.Cell(i, j, "the cell is empty")
	}
}

// count returns how many are true.
func count(is []bool) (n int) {
	for _, v := range is {
		if v {
			n++
		}
	}
	return n
}

// checkSquare refuses a precomputed kernel with another number of columns than of samples, unless its
// columns are said to be a basis.
func (v *view) checkSquare() error {
	if v.square() && v.x.Rows != v.x.Cols {
		return console.Inputf("view %s: %s has %s and %s: a kernel or distance that is given has a column for each training sample, "+
			"unless the setting basis says that there are some only, as in precomputed(basis)",
			quoted(v.name), v.source.File.Name(), console.Plural(v.x.Rows, "row"), console.Plural(v.x.Cols, "column"))
	}
	return nil
}

// square reports whether the columns are a kernel or distance with each training sample.
func (v *view) square() bool {
	return slices.ContainsFunc(v.kernels, func(k spec.ViewKernel) bool { return k.Square })
}

// targetKind is how the targets are read: as -missing says, they may be missing.
func (p *problem) targetKind() table.Kind {
	return p.est.form.kind(p.MissingTargets || p.Missing != missingRefuse && p.Missing != missingViews)
}

// hint adds to a mistake in a cell which flag would take it.
func (p *problem) hint(err error) error {
	var cell *table.CellError
	if !errors.As(err, &cell) || cell.Column < 0 {
		return err
	}
	text, number := strings.CutSuffix(cell.Msg, " is not a number")
	text = strings.Trim(text, `"`)
	target := cell.File == p.main.Name() && slices.Contains(p.targets, cell.Column)
	switch {
	case target && (!number || table.Missing(text)):
		return console.Inputf("%w: -missing drop leaves out rows without a target", err)
	case !number:
		return err
	case target && len(p.targets) > 1:
		return console.Inputf("%w: text is learned one column at a time, by -task binary or multiclass, or as labels that are there or not, by -task multilabel", err)
	case target:
		return console.Inputf("%w: text is learned by -task binary or multiclass", err)
	}
	return console.Inputf("%w: -as '%s=text' takes all of the column for text", err, cell.Name)
}
