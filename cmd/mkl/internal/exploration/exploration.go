// Package exploration describes a table before anything is learned from it, for mkl explore.
//
//	Flags     the file, the target, and how cells are read
//	table     the cells are read, as mkl fit reads them                     read
//	Column    type, gaps, levels, range and outliers of a column            describe
//	Repeats   rows that repeat others, or nearly                            duplicates, nearly
//	Events    how many of the times until an event are times of events      target.countEvents
//	Alone     how well a column alone predicts the target in rows left out  predictor.alone
//	Finding   what deserves a look                                          Run
//	Report    all of it as text, JSON or a page                             Report.Print, Report.Page
package exploration

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
)

// Flags are the flags of mkl explore.
type Flags struct {
	Data   string `arg:"" help:"Table with a row for each sample: CSV (also compressed), Excel (.xlsx), NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MAT-file; - is standard input."`
	Target string `placeholder:"COLUMN" help:"Column to predict: the report then says how well each other column alone predicts it, and which columns give it away."`
	Task   string `enum:"auto,regression,classes" default:"auto" help:"What the target is: numbers, classes or, with auto, what mkl fit would take it for."`
	Event  string `placeholder:"COLUMN" help:"Column that says whether the event happened, if the target holds times until an event, as for mkl fit. The report then has the share of the events. It measures no column alone, because some times are lower bounds."`
	Sample int    `default:"20000" help:"Largest number of rows for near-duplicates and predictions (${default}): from a larger table a sample is taken, always the same."`

	As []string `sep:"none" placeholder:"COLUMN=TYPE" help:"Type of a column: number, text, boolean, date, date(d.m.y), date(d/m/y), date(m/d/y), or none to leave it out; can be repeated. By default the cells decide."`

	console.Layout `embed:""`
}

// Report is what was found, for people and for machines.
type Report struct {
	File     string    `json:"file"`
	Rows     int       `json:"rows"`
	Sampled  int       `json:"sampled,omitempty"` // rows of the sample, of a larger table
	Columns  []Column  `json:"columns"`
	Repeated *Repeats  `json:"repeated,omitempty"`
	Nearly   *Repeats  `json:"nearly_repeated,omitempty"`
	Target   *Target   `json:"target,omitempty"`
	Findings []Finding `json:"findings"`

	remarks []string // of the file's layout
	path    string   // of the file, as it was named
}

// Finding is what deserves a look.
type Finding struct {
	Kind   Kind   `json:"kind"`
	Column string `json:"column,omitempty"`
	Text   string `json:"text"`
}

// Kind is what a finding is about.
type Kind string

// Kinds of findings.
const (
	Unreadable   Kind = "unreadable"    // cells that are not of the type of their column: mkl fit refuses them
	LeftOut      Kind = "left-out"      // mkl fit learns nothing from the column
	NearConstant Kind = "near-constant" // nearly all rows have one value
	Identifier   Kind = "identifier"    // the column counts the rows or names them
	Codes        Kind = "codes"         // numbers that look like codes of categories
	GapCode      Kind = "gap-code"      // a number that seems to stand for an empty cell
	Outliers     Kind = "outliers"      // a few values far from the others
	LongTail     Kind = "long-tail"     // many such values
	Repeated     Kind = "repeated"      // rows that are there twice
	NearRepeated Kind = "nearly-repeated"
	Conflict     Kind = "conflict"   // rows that differ in the target only
	Leak         Kind = "leak"       // a column that gives the target away
	Emptiness    Kind = "empty-cell" // whether a cell is empty predicts the target
	Order        Kind = "order"      // the place of a row in the file predicts the target
	OfTarget     Kind = "target"     // what is odd about the target
)

// Kinds are all kinds of findings, in the order in which findings are printed.
var Kinds = []Kind{
	Leak, Emptiness, OfTarget, Unreadable, Order, Identifier, Codes, LeftOut, NearConstant, GapCode, Outliers, LongTail,
	Repeated, Conflict, NearRepeated,
}

// Run reads the table and looks at it.
func Run(e *console.Env, f *Flags) (*Report, error) {
	if f.Sample < fewest {
		return nil, console.Inputf("-sample %d is below %d", f.Sample, fewest)
	}
	t, err := read(e, f)
	if err != nil {
		return nil, err
	}
	r := &Report{File: t.file.Name(), Rows: t.rows, Findings: []Finding{}, remarks: t.file.Remarks(), path: f.Data}
	for _, c := range t.columns {
		if err := e.Ctx.Err(); err != nil {
			return nil, err
		}
		described, found := c.describe()
		r.Columns, r.Findings = append(r.Columns, described), append(r.Findings, found...)
	}
	rows := t.sample(f.Sample)
	if len(rows) < t.rows {
		r.Sampled = len(rows)
	}
	r.repeats(t, rows)
	if t.target != nil {
		if err := r.predict(e, t, rows); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// repeats looks for rows that repeat others.
func (r *Report) repeats(t *table, rows []int) {
	var used []*column
	for _, c := range t.columns {
		if c.used {
			used = append(used, c)
		}
	}
	if used == nil {
		return
	}
	repeated := duplicates(used, t.rows)
	r.Repeated = &repeated.Repeats
	if n := r.Repeated.Rows; n > 0 {
		r.add(Repeated, "", "%s %s an earlier one in all columns that mkl fit learns from%s", console.Plural(n, "row"), verb(n, "repeats", "repeat"), r.Repeated.first())
	}
	if t.target != nil {
		if n := repeated.conflicts(t.target); n > 0 {
			r.add(Conflict, t.target.name, "%s %s an earlier one with another target", console.Plural(n, "row"), verb(n, "repeats", "repeat"))
		}
	}
	if r.Nearly = nearly(used, rows); r.Nearly != nil && r.Nearly.Rows > 0 {
		n := r.Nearly.Rows
		r.add(NearRepeated, "", "%s nearly %s another: each number differs by at most %g of the spread of its column%s",
			console.Plural(n, "row"), verb(n, "repeats", "repeat"), nearness, r.Nearly.first())
	}
}

// add adds a finding.
func (r *Report) add(kind Kind, column, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{kind, column, fmt.Sprintf(format, args...)})
}

func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// read reads the columns as mkl fit reads them, except that cells which cannot be read count as missing.
func read(e *console.Env, f *Flags) (*table, error) {
	opt, err := f.Options()
	if err != nil {
		return nil, err
	}
	fs := &console.Files{Env: e, Opt: opt, Join: f.Join}
	defer fs.Close()
	file, err := fs.Open(f.Data)
	if err != nil {
		return nil, err
	}
	target, err := dataset.OneColumn(file, "-target", f.Target, nil)
	if err != nil {
		return nil, err
	}
	as, err := dataset.ParseConversions(f.As)
	if err != nil {
		return nil, err
	}
	t := &table{file: file}
	beside, err := t.askEvents(f, target)
	if err != nil {
		return nil, err
	}
	s := console.Source{File: file}
	for j := range file.Columns() {
		if j != target && j != beside.Event && !file.Joins(j) {
			s.Columns, s.Named = append(s.Columns, j), append(s.Named, false)
		}
	}
	var v dataset.View
	if s.Columns != nil {
		if v, err = dataset.NewView("", s, nil, as); err != nil {
			return nil, err
		}
		v.AskAll()
	}
	var apart []int
	if target >= 0 {
		apart = []int{target}
	}
	if err := as.CheckUsed(fs.All, apart); err != nil {
		return nil, err
	}
	if t.askTarget(target, f.Task); beside.Event >= 0 {
		t.target.ofTimes = true
	}
	if t.rows, err = fs.Read(); err != nil {
		return nil, err
	}
	if err := t.decideTarget(f.Task); err != nil {
		return t, err
	}
	if t.takeColumns(v); t.target == nil {
		return t, nil
	}
	return t, t.target.countEvents(file, beside)
}

// takeColumns takes the columns of a view, all but the target and the column of events, and finds what a fit learns from them.
func (t *table) takeColumns(v dataset.View) {
	data := &t.file.Data
	learned := plan.Learn(plan.Table{
		Data: data, Names: t.file.Columns(), Columns: v.Source.Columns, Named: v.Source.Named, Text: plan.ByColumn,
		Outcomes: t.target.outcomes(),
	}, true)
	for j, name := range t.file.Columns() {
		if !slices.Contains(v.Source.Columns, j) {
			continue
		}
		c := &column{name: name, at: j, used: slices.Contains(learned.At, j), codes: slices.Contains(learned.Codes, name)}
		for _, left := range slices.Concat(v.Left, learned.Left) {
			if left.Column == name {
				c.left = left.Why
			}
		}
		c.fill(data)
		t.columns = append(t.columns, c)
	}
}
