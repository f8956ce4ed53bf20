package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/internal/encode"
	"github.com/bmkl/bmkl/mkl"
)

// Samples is a table whose cells have become features, in rows that can be learned from.
type Samples struct {
	Table
	Features []Features // by view
}

// Features is a view as numbers.
type Features struct {
	View
	Plan    []plan.Column // of the source's columns
	X       mkl.Features
	Strings *Strings // of a view of strings, which has neither Plan nor X
	Absent  []bool   // by row, of -missing views: whether it lacks the view; nil if no row does
}

// Names are the names of the features.
func (f Features) Names() []string { return encode.Features(f.Plan) }

// Samples makes features of the cells. Rows in which something is missing are refused, left out or filled in as
// -missing says. The lines say what was done.
func (t *Table) Samples() (s *Samples, lines []string, err error) {
	plans := t.plans()
	named, err := t.byNames()
	if err != nil {
		return nil, nil, err
	}
	lines = t.unreadable()
	rows, first := t.complete(plans, named)
	left := t.Rows() - len(rows)
	if left > 0 {
		if err := t.checkDropped(left, len(rows), first, t.allByName(named)); err != nil {
			return nil, nil, err
		}
		line := fmt.Sprintf("%d of %s left out, where something is missing: %v", left, console.Plural(t.Rows(), "row"), first)
		if len(t.Targets) > 1 && !t.MissingTargets {
			line += " (-missing-targets learns from rows that lack some targets)"
		}
		lines = append(lines, line)
	}
	if left > 0 || slices.ContainsFunc(named, func(b *byName) bool { return b != nil }) {
		t = t.pick(rows, plans, named)
		plans = t.plans()
	}
	s = &Samples{Table: *t}
	s.Views = slices.Clone(t.Views)
	for i, v := range t.Views {
		f, said, err := t.features(v, t.strings[i], plans[i])
		if err != nil {
			return nil, nil, err
		}
		s.Views[i], s.Features = f.View, append(s.Features, f)
		for _, line := range said {
			if !slices.Contains(lines, line) { // of a column in several views
				lines = append(lines, line)
			}
		}
	}
	return s, lines, nil
}

// checkDropped refuses to leave out rows where -missing does not say so, or where no row would stay. If byName, the columns of given
// kernels have the names of the rows.
func (t *Table) checkDropped(left, stay int, first error, byName bool) error {
	switch {
	case t.Missing == MissingViews:
		return console.Inputf("%w: -missing views is for rows that lack a whole view and have another view", first)
	case t.Missing == MissingRefuse:
		return console.Inputf("%w: -missing impute fills in what is missing, -missing drop leaves out such rows (%d of %d)", first, left, t.Rows())
	case stay == 0:
		return console.Inputf("-missing %s leaves out every row: %w", t.Missing, first)
	case !byName:
		return console.Inputf("%w: -missing %s cannot leave out rows of given kernels, unless -join names the rows as the columns are named", first, t.Missing)
	}
	return nil
}

// pick keeps some rows of the files. Columns that the plans of all rows left out stay left out, even if the rows
// that counted them no longer do. Kernels that are given by name get the columns of these rows, in their order.
func (t *Table) pick(rows []int, plans []plan.View, named []*byName) *Table {
	some := *t
	some.Views = slices.Clone(t.Views)
	for i, v := range some.Views {
		if named[i] != nil {
			some.Views[i] = named[i].of(rows)
			continue
		}
		v = v.Only(plans[i].At)
		v.Left = slices.Concat(v.Left, plans[i].Left)
		some.Views[i] = v
	}
	for _, f := range t.Files.All {
		f.Data.Pick(rows)
	}
	return &some
}

// features makes the features of a view by its plan.
func (t *Table) features(v View, known *Strings, planned plan.View) (f Features, lines []string, err error) {
	if v.Kernels.OfStrings() {
		if known != nil {
			return Features{View: v, Strings: known}, nil, nil
		}
		set, err := v.gather()
		if err != nil {
			return f, nil, err
		}
		return Features{View: v, Strings: &Strings{Set: set}}, []string{fmt.Sprintf("plan: %s is strings (%v)", v.Source.Names()[0], set.Alphabet)}, nil
	}
	v.Left = slices.Concat(v.Left, planned.Left)
	if planned.At == nil {
		return f, nil, console.Inputf("view %s: no column is left: %s", notes.Quoted(v.Name), strings.Join(slices.Concat(plan.View{Left: v.Left}.Lines(), advice(planned)), "; "))
	}
	v = v.Only(planned.At)
	encoded := plan.Encode(planned.Columns, v.Source.Columns, &v.Source.File.Data)
	var absent []bool
	if t.Missing == MissingViews && !v.Kernels.Given() {
		encoded.Lack()
		absent = encoded.Absent
		if n := count(absent); n > 0 {
			lines = append(lines, fmt.Sprintf("view %s: %d of %s lack it", notes.Quoted(v.Name), n, console.Plural(encoded.X.Rows, "row")))
		}
	}
	for _, line := range (plan.View{Columns: planned.Columns, Left: v.Left}).Lines() {
		lines = append(lines, "plan: "+line)
	}
	for _, line := range advice(planned) {
		lines = append(lines, "plan: "+line)
	}
	if x := encoded.X; v.Kernels.Square() && x.Rows != x.Cols {
		return f, nil, console.Inputf("view %s: %s has %s and %s: a kernel or distance that is given has a column for each training sample, "+
			"unless the setting basis says that there are some only, as in precomputed(basis)",
			notes.Quoted(v.Name), v.Source.File.Name(), console.Plural(x.Rows, "row"), console.Plural(x.Cols, "column"))
	}
	if v.Kernels.Square() && unitDiagonal(encoded.X) {
		lines = append(lines, fmt.Sprintf("view %s: k(x, x) is 1 for every sample: predictions need no column %s and take it as 1",
			notes.Quoted(v.Name), selfColumn(v.Name)))
	}
	return Features{View: v, Plan: planned.Columns, X: encoded.X, Absent: absent}, lines, nil
}

// advice says what else could be done with columns.
func advice(v plan.View) (lines []string) {
	for _, name := range v.Codes {
		lines = append(lines, fmt.Sprintf("warning: %[1]s looks like codes of categories: -as '%[1]s=text' -text category compares them so, "+
			"-as '%[1]s=number' keeps them without this line", name))
	}
	for _, c := range v.Mixed {
		lines = append(lines, fmt.Sprintf("warning: %[1]s has numbers, and texts such as %[2]q: all of them are taken for texts (-as '%[1]s=none' leaves the column out)",
			c.Column, c.Other))
	}
	if v.Many != nil {
		lines = append(lines, fmt.Sprintf("-text category keeps a column with as many texts as %s one column", encode.Few(v.Many)))
	}
	for _, name := range v.Prose {
		lines = append(lines, fmt.Sprintf("-view '%s:spectrum(k=3)' learns from the letters of such text, as a view beside -view '*'", name))
	}
	return lines
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

// Notes say where the views and the targets of a fit are.
func (s *Samples) Notes(task string, made *provenance.Made) *notes.Notes {
	n := &notes.Notes{Task: task, Targets: s.TargetNames(), Rows: s.Rows(), Beside: s.besideNotes(), NA: s.NA, Made: made}
	for _, f := range s.Features {
		note := f.Note()
		note.File = f.Source.File.Path != s.Data
		if f.Strings != nil {
			n.AddStrings(note, f.Strings.Set)
			continue
		}
		n.Views = append(n.Views, note)
	}
	if len(s.Views) > 1 {
		n.Join = s.Join
	}
	return n
}

// besideNotes names the columns that belong to the target; nil without such columns.
func (s *Samples) besideNotes() *notes.Beside {
	if s.Beside.columns() == nil {
		return nil
	}
	names := s.Main.Columns()
	name := func(j int) string {
		if j < 0 {
			return ""
		}
		return names[j]
	}
	return &notes.Beside{Event: name(s.Beside.Event), Happened: s.Beside.Happened, Upper: name(s.Beside.Upper), Exposure: name(s.Beside.Exposure),
		Weights: name(s.Beside.Weights), Noise: name(s.Beside.Noise), Offset: name(s.Beside.Offset)}
}

// Note says where the columns of a view are, in a file of its own.
func (f Features) Note() notes.View {
	v := notes.View{Name: f.Name, Columns: f.Source.Names(), File: true, Left: f.Left}
	if f.Kernels.Square() {
		v.UnitDiagonal = unitDiagonal(f.X)
	}
	if !encode.Simple(f.Plan) {
		v.Plan = f.Plan
	}
	return v
}
