package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/memory"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// Tasks of pairs of a row and a column, by views of the rows and views of the columns, which files of their own
// hold: of values, and of a label that pairs have or have not.
const (
	taskPairs      = "pairs"
	taskPairLabels = "pairlabels"
)

// pairFlags are the flags of -task pairs and pairlabels.
type pairFlags struct {
	Rows       []string `sep:"none" placeholder:"NAME=FILE:KERNELS" help:"A view of the rows of -task pairs and pairlabels: a file with their ids, in the column that is called as in -entries or else in the first, and features, or for the kernel precomputed a column for each id; can be repeated."`
	Columns    []string `sep:"none" placeholder:"NAME=FILE:KERNELS" help:"A view of the columns of -task pairs and pairlabels, likewise."`
	Components int      `help:"Factors of each row and column of -task pairs and pairlabels; 0 means 5."`
	SigmaH     float64  `name:"sigma-h" help:"Standard deviation of the factors of -task pairs and pairlabels around what the views tell of them; 0 means 0.1."`
	NoBias     bool     `help:"Leave out the level that all pairs of -task pairs and pairlabels have in common."`
}

// pairNote says which pairs a model was fitted to.
type pairNote struct {
	Entries []string `json:"entries"` // the columns of rows, columns and values in a list of pairs
	Rows    []string `json:"rows"`    // ids
	Columns []string `json:"columns"` // ids
}

// Of a table with a column for each column, lists of pairs to predict have columns called so.
var wideEntries = []string{"row", "column", "value"}

// fits reports whether the note is one of a model.
func (n *pairNote) fits(m mkl.Model) bool {
	sized, ok := m.(interface {
		Dims() (rows, columns, components int)
	})
	if n == nil || !ok || len(n.Entries) != 3 {
		return false
	}
	rows, columns, _ := sized.Dims()
	return len(n.Rows) == rows && len(n.Columns) == columns
}

// tells says in a line what a model is of.
func (n *pairNote) tells(task string) string {
	return fmt.Sprintf("%s (%s), %s (%s), %s of %s", console.Plural(len(n.Rows), "row"), n.Entries[0],
		console.Plural(len(n.Columns), "column"), n.Entries[1], task, n.Entries[2])
}

// pairTable is the pairs of a fit as they were read.
type pairTable struct {
	pairNote
	cells []pairCell
	list  mkl.Entries // once the ids are known
}

// pairCell is an observed pair and where it stands in its file.
type pairCell struct {
	row, column string // ids
	value       float64
	at          int // row of the file
	columns     [2]int
}

// sideFile is a file with a view of rows, or of columns, which its ids name.
type sideFile struct {
	*console.Files
	file   *console.File
	column int            // of the ids
	at     map[string]int // where each id stands, once they are read
}

// openSide opens a file and asks for its ids: they are in the column of a name, or else in the first.
func openSide(e *console.Env, opt table.Options, path, ids string) (*sideFile, error) {
	s := &sideFile{Files: &console.Files{Env: e, Opt: opt}}
	var err error
	if s.file, err = s.Open(path); err != nil {
		s.Close()
		return nil, err
	}
	s.column = max(0, slices.Index(s.file.Columns(), ids))
	s.file.Need(s.column, table.Label)
	return s, nil
}

// ids are those of the file, in its order.
func (s *sideFile) ids() []string { return s.file.Data.Labels[s.column] }

// read reads the columns that were asked for, and finds the ids.
func (s *sideFile) read() error {
	n, err := s.Read()
	if err != nil {
		return err
	}
	s.at = make(map[string]int, n)
	for i, id := range s.ids() {
		if _, twice := s.at[id]; twice {
			return console.Input(s.file.Data.Cell(i, s.column, fmt.Sprintf("%q is there twice: an id has one row", id)))
		}
		s.at[id] = i
	}
	return nil
}

// parseSide reads NAME=FILE:KERNELS, in which the name and the kernels can be left out.
func parseSide(flag, text string) (v spec.View, err error) {
	name, file, named := strings.Cut(text, "=")
	if named && strings.ContainsAny(name, `:,"'@#`) || !named { // an equals sign of a kernel's
		name, file = "", text
	}
	if !strings.HasPrefix(strings.TrimSpace(file), "@") {
		file = "@" + file
	}
	if v, err = spec.ParseView(file); err != nil {
		return v, console.Inputf("-%s %w", flag, err)
	}
	if len(v.Columns) != 1 || v.Columns[0].File == "" || v.Columns[0].File == console.Standard {
		return v, console.Inputf("-%s %s: a view is the path of one file, with its name before it and its kernels behind, as in chem=drugs.csv:rbf", flag, text)
	}
	v.Name = strings.TrimSpace(name)
	return v, nil
}

// pairSide is the rows of a fit, or its columns.
type pairSide struct {
	flag  string
	ids   []string
	path  string // of the first view
	views []view
	mkl   []mkl.View
}

// fitPairs is mkl fit -task pairs and pairlabels.
func (c *fitCmd) fitPairs(e *console.Env) error {
	p := &problem{fitCmd: c, bar: &sweepBar{env: e, quiet: c.JSON}, resumed: newResumption(c.Resume)}
	t, sides, err := p.gatherPairs(e)
	if err != nil {
		return err
	}
	encoded, err := p.notes.encode()
	if err != nil {
		return err
	}
	n, all := len(t.list.List), len(t.Rows)*len(t.Columns)
	headline := fmt.Sprintf("%s: %s, %s (%s %% of the table)", p.main.Name(), t.tells(c.task), console.Plural(n, "pair"),
		console.Figure(100*float64(n)/float64(all)))
	return p.fitTable(e, headline, func(ctx context.Context) (mkl.Model, error) {
		r := p.pairModel()
		r.Notes = encoded
		if p.est.form == labels {
			return asModel(ofLabels(r, c.Margin).Fit(ctx, sides[0].mkl, sides[1].mkl, t.list))
		}
		return asModel(r.Fit(ctx, sides[0].mkl, sides[1].mkl, t.list))
	})
}

// pairModel is the estimator of values with its settings.
func (p *problem) pairModel() mkl.PairRegression {
	return mkl.PairRegression{
		Fitting: mkl.Fitting{
			Seed: p.Seed, Restarts: p.Restarts, Tolerance: p.Tolerance, MaxSweeps: p.Sweeps,
			AllowDuplicates: p.AllowDuplicates || open(p.views), // kernels that the data suggest are not the user's mistake
			Workers:         p.Workers, Progress: p.bar.show, Journal: p.resumed.of(),
		},
		Components: p.Components, SigmaG: p.SigmaG, SigmaH: p.SigmaH, NoBias: p.NoBias, Plain: p.Plain, RawTargets: p.RawTargets,
		Lambda: p.prior["lambda"], Eta: p.prior["eta"], Gamma: p.prior["gamma"], Epsilon: p.prior["epsilon"],
	}
}

// ofLabels is the estimator of labels with the settings of one of values.
func ofLabels(r mkl.PairRegression, margin float64) mkl.PairClassifier {
	return mkl.PairClassifier{
		Fitting: r.Fitting, Components: r.Components, SigmaG: r.SigmaG, SigmaH: r.SigmaH, Margin: margin, NoBias: r.NoBias, Plain: r.Plain,
		Lambda: r.Lambda, Eta: r.Eta, Gamma: r.Gamma,
	}
}

// checkPairs checks the flags and finds the estimator.
func (p *problem) checkPairs() (err error) {
	c := p.fitCmd
	if err := c.checkNumbers(); err != nil {
		return err
	}
	c.task = *c.Task
	if p.est, err = c.estimator(1); err != nil {
		return err
	}
	if err := c.check(p.est); err != nil {
		return err
	}
	if p.prior, err = c.priors(p.est); err != nil {
		return err
	}
	switch {
	case len(c.Rows) == 0:
		return console.Inputf("-rows is missing, the file with the views of the rows")
	case len(c.Columns) == 0:
		return console.Inputf("-columns is missing, the file with the views of the columns")
	case c.View != nil:
		return console.Inputf("-view is not for -task %s: -rows and -columns name the files of the views", c.task)
	case c.Target != "":
		return console.Inputf("-target is not for -task %s: -entries names the columns of a list of pairs, and of a table all columns but the first are learned", c.task)
	case c.Join != "":
		return console.Inputf("-join is not for -task %s: its files belong together by their ids", c.task)
	case c.Missing != missingRefuse && c.Missing != missingImpute:
		return console.Inputf("-missing %s is not for -task %s, which needs all views of each row and column: -missing impute fills in what is missing", c.Missing, c.task)
	case !(c.SigmaH >= 0) || math.IsInf(c.SigmaH, 0):
		return console.Inputf("-sigma-h %g is not a number from 0 up", c.SigmaH)
	}
	return nil
}

// gatherPairs checks the flags and reads the pairs and the views.
func (p *problem) gatherPairs(e *console.Env) (t *pairTable, sides [2]*pairSide, err error) {
	c := p.fitCmd
	if err := p.checkPairs(); err != nil {
		return nil, sides, err
	}
	if err := e.CheckOutput(c.Output, false); err != nil {
		return nil, sides, err
	}
	opt, err := c.Options()
	if err != nil {
		return nil, sides, err
	}
	fs := &console.Files{Env: e, Opt: opt}
	defer fs.Close()
	if p.main, err = fs.Open(c.Data); err != nil {
		return nil, sides, err
	}
	var ids [2]string // the columns of ids in the files of views
	if t, ids, err = p.readPairs(fs); err != nil {
		return nil, sides, err
	}
	as, err := c.conversions()
	if err != nil {
		return nil, sides, err
	}
	lines, read := fs.Remarks(), &console.Files{All: fs.All}
	for k, texts := range [][]string{c.Rows, c.Columns} {
		s := &pairSide{flag: []string{"rows", "columns"}[k]}
		for i := range texts {
			told, files, err := p.addView(e, opt, s, texts, i, ids[k], as)
			if err != nil {
				return nil, sides, err
			}
			lines, read.All = append(lines, told...), append(read.All, files...)
		}
		sides[k] = s
	}
	for _, a := range as {
		if !a.used {
			return nil, sides, console.Inputf("-as %s: the column is in no view", a.text)
		}
	}
	if err := c.checkViews(p.est, p.views); err != nil {
		return nil, sides, err
	}
	for _, s := range sides {
		var left []string
		if s.mkl, left, err = c.mklViews(p.est, s.views); err != nil {
			return nil, sides, err
		}
		for _, note := range left {
			lines = append(lines, "kernels: "+note)
		}
	}
	if err := t.place(p.main, sides); err != nil {
		return nil, sides, err
	}
	for _, line := range lines {
		fmt.Fprintln(e.Stderr, line)
	}
	if c.made, err = provenanceOf(e, read, c.Seed); err != nil {
		return nil, sides, err
	}
	p.notes = &notes{Task: c.task, Targets: t.Entries[2:], Pairs: &t.pairNote, Made: c.made}
	for _, v := range p.views {
		note := viewNote{Name: v.name, Columns: v.source.Names(), File: true, Left: v.left}
		if !plan.Simple(v.plan) {
			note.Plan = v.plan
		}
		p.notes.Views = append(p.notes.Views, note)
	}
	p.views = append(p.views, view{source: console.Source{File: p.main}}) // for the key of -resume
	return t, sides, p.checkPairMemory(sides)
}

// checkPairMemory refuses a fit that needs more memory than it may take.
func (p *problem) checkPairMemory(sides [2]*pairSide) error {
	limit := p.Memory
	if limit == 0 {
		limit = memory.Available()
	}
	rows, columns := mkl.Size{Samples: len(sides[0].ids), Kernels: len(sides[0].mkl)}, mkl.Size{Samples: len(sides[1].ids), Kernels: len(sides[1].mkl)}
	if need := p.pairModel().EstimateMemory(rows, columns); limit > 0 && float64(need) > float64(limit) {
		return console.Inputf("a fit of %s with %s and %s with %s needs about %v of memory, more than %v (-memory overrides)",
			console.Plural(rows.Samples, "row"), console.Plural(rows.Kernels, "kernel"),
			console.Plural(columns.Samples, "column"), console.Plural(columns.Kernels, "kernel"), memory.Size(need), limit)
	}
	return nil
}

// readPairs reads a list of pairs, or a table of ids with a column for each column. It returns besides what the
// columns of ids in the files of the views may be called.
func (p *problem) readPairs(fs *console.Files) (t *pairTable, ids [2]string, err error) {
	c, f := p.fitCmd, p.main
	t = &pairTable{}
	if c.Entries != "" {
		columns, err := entryColumns("-entries "+c.Entries, c.Entries, f)
		if err != nil {
			return nil, ids, err
		}
		for _, j := range columns {
			t.Entries = append(t.Entries, f.Columns()[j])
		}
		f.Need(columns[0], table.Label)
		f.Need(columns[1], table.Label)
		f.Need(columns[2], p.est.form.kind(true))
		if _, err := fs.Read(); err != nil {
			return nil, ids, err
		}
		ids = [2]string{t.Entries[0], t.Entries[1]}
		return t, ids, t.take(p, columns[2], [2]int{columns[0], columns[1]}, "")
	}
	if len(f.Columns()) < 2 || nameless(f.Columns()) {
		return nil, ids, console.Inputf("%s: a table of pairs has a line with the ids of the columns, and the ids of the rows in its first column "+
			"(-header yes takes the first line for ids); a list of pairs needs -entries ROW,COLUMN,VALUE", f.Name())
	}
	t.Entries = wideEntries
	f.Need(0, table.Label)
	for j := 1; j < len(f.Columns()); j++ {
		f.Need(j, p.est.form.kind(true))
	}
	if _, err := fs.Read(); err != nil {
		return nil, ids, err
	}
	for j := 1; j < len(f.Columns()); j++ {
		if err := t.take(p, j, [2]int{0, j}, f.Columns()[j]); err != nil {
			return nil, ids, err
		}
	}
	return t, ids, nil
}

// take takes the values of a column, those that are there. at are the columns that hold the ids of rows and of
// columns, or are those of one column, whose id is then given.
func (t *pairTable) take(p *problem, values int, at [2]int, column string) error {
	d := &p.main.Data
	var has []mkl.Label
	if p.est.form == labels {
		var err error
		if has, err = hasLabel(p.main, values); err != nil {
			return err
		}
	}
	for i := range d.Rows {
		cell := pairCell{row: d.Labels[at[0]][i], column: column, at: i, columns: at}
		if column == "" {
			cell.column = d.Labels[at[1]][i]
		}
		switch {
		case has == nil:
			cell.value = d.Numbers[values][i]
		case has[i] == mkl.Unknown:
			continue
		case has[i] == mkl.Present:
			cell.value = 1
		}
		if !math.IsNaN(cell.value) {
			t.cells = append(t.cells, cell)
		}
	}
	return nil
}

// place finds the places of the pairs among the ids of the views.
func (t *pairTable) place(f *console.File, sides [2]*pairSide) error {
	t.Rows, t.Columns = sides[0].ids, sides[1].ids
	t.list.Rows, t.list.Cols = len(t.Rows), len(t.Columns)
	rows, columns := places(t.Rows), places(t.Columns)
	first := map[mkl.Cell]int{}
	for _, c := range t.cells {
		row, known := rows[c.row]
		if !known {
			return console.Input(f.Data.Cell(c.at, c.columns[0], fmt.Sprintf("%q is not in %s, the first file of -rows", c.row, sides[0].path)))
		}
		column, known := columns[c.column]
		if !known {
			return console.Input(f.Data.Cell(c.at, c.columns[1], fmt.Sprintf("%q is not in %s, the first file of -columns", c.column, sides[1].path)))
		}
		cell := mkl.Cell{Row: row, Col: column}
		if before, twice := first[cell]; twice {
			return console.Input(f.Data.Cell(c.at, c.columns[1], fmt.Sprintf("the pair of %s and %s is there twice, first in row %d", c.row, c.column, before+1)))
		}
		first[cell] = c.at
		t.list.List = append(t.list.List, mkl.Entry{Cell: cell, Value: c.value})
	}
	return nil
}

// addView reads the i-th of the views that texts name, in the order of the ids of the first, and adds it to its
// side. The lines say what was done.
func (p *problem) addView(e *console.Env, opt table.Options, s *pairSide, texts []string, i int, ids string, as conversions) (lines []string, files []*console.File, err error) {
	fail := func(err error) ([]string, []*console.File, error) {
		return nil, nil, console.Inputf("-%s %s: %w", s.flag, texts[i], err)
	}
	parsed, err := parseSide(s.flag, texts[i])
	if err != nil {
		return nil, nil, err
	}
	v := view{name: parsed.Name}
	if v.name == "" {
		v.name = s.flag
		if len(texts) > 1 {
			v.name += fmt.Sprint(i + 1)
		}
	}
	if slices.ContainsFunc(p.views, func(w view) bool { return w.name == v.name }) {
		return nil, nil, console.Inputf("-%s: two views are called %q", s.flag, v.name)
	}
	kernels := parsed.Kernels
	if kernels == nil && p.Kernels != "" {
		if kernels, err = spec.Parse(p.Kernels); err != nil {
			return nil, nil, console.Inputf("-kernels %w", err)
		}
	}
	for _, k := range kernels {
		vk, err := spec.Build(k)
		switch {
		case err != nil:
			return fail(err)
		case vk.Strings != nil:
			return fail(fmt.Errorf("%s: kernels of strings are not for pairs: give similarities and the kernel precomputed", k))
		case vk.Given && vk.Normalize:
			return fail(fmt.Errorf("%s: give similarities that are normalised already: those of new ids with themselves are not known", k))
		}
		v.kernels = append(v.kernels, vk)
	}
	f, err := openSide(e, opt, parsed.Columns[0].File, ids)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	v.source = f.others()
	if v.source.Columns == nil {
		return fail(fmt.Errorf("%s has ids only, and no other column", f.file.Name()))
	}
	if err := as.ask(&v); err != nil {
		return fail(err)
	}
	if err := f.read(); err != nil {
		return nil, nil, err
	}
	if s.ids == nil {
		s.ids, s.path = slices.Clone(f.ids()), f.file.Name()
	}
	if err := f.order(s); err != nil {
		return fail(err)
	}
	if v.square() {
		columns, err := spec.Select(spec.Names(s.ids), f.file.Columns(), []int{f.column})
		if err != nil {
			return fail(fmt.Errorf("%s: similarities have a column for each id: %w", f.file.Name(), err))
		}
		v.source = v.source.Only(columns)
	}
	one := &problem{fitCmd: p.fitCmd, main: f.file, est: p.est, views: []view{v}}
	if rows, first := one.complete(f.Files, one.plans()); len(rows) < len(s.ids) {
		return fail(fmt.Errorf("%w: -missing impute fills in what is missing of features", first))
	}
	if lines, err = one.makePlan(f.Files); err != nil {
		return nil, nil, err
	}
	s.views, p.views = append(s.views, one.views[0]), append(p.views, one.views[0])
	return append(f.Remarks(), lines...), f.All, nil
}

// others are the columns that are not the ids.
func (s *sideFile) others() console.Source {
	all := console.Source{File: s.file}
	for j := range s.file.Columns() {
		if j != s.column {
			all.Columns, all.Named = append(all.Columns, j), append(all.Named, false)
		}
	}
	return all
}

// order puts the rows into the order of the side's ids.
func (s *sideFile) order(side *pairSide) error {
	rows := make([]int, len(side.ids))
	for k, id := range side.ids {
		i, ok := s.at[id]
		if !ok {
			return fmt.Errorf("%s has no row for %q, which %s has", s.file.Name(), id, side.path)
		}
		rows[k] = i
	}
	s.file.Data.Pick(rows)
	return nil
}
