package exploration

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/page"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
)

// Most bars of a picture, and columns of a table; -json has all. Tables of more than mostShown columns are folded.
const (
	mostBars  = 20
	mostTable = 2000
)

// Page is the report as a page.
func (r *Report) Page(e *console.Env) *page.Page {
	p := &page.Page{Title: "Exploration of " + filepath.Base(r.File), Lead: append([]string{r.head() + "."}, r.remarks...)}
	for _, f := range r.Findings {
		if f.Kind == Leak && len(p.Warnings) < mostOfKind {
			p.Warnings = append(p.Warnings, f.sentence())
		}
	}
	sections := []page.Section{r.worthALook(), r.predicted(), r.spread(), r.columns(), r.gaps(), r.outside(), r.provenance(e)}
	for _, s := range sections {
		if s.Paragraphs != nil || s.Pictures != nil || s.Tables != nil {
			p.Sections = append(p.Sections, s)
		}
	}
	return p
}

// sentence is the finding with its column.
func (f *Finding) sentence() string {
	if f.Column == "" {
		return f.Text
	}
	return console.ColumnName(f.Column) + ": " + f.Text
}

// worthALook lists all findings.
func (r *Report) worthALook() page.Section {
	s := page.Section{ID: "findings", Title: "Worth a look"}
	var rows [][]string
	for _, kind := range Kinds {
		for _, f := range r.Findings {
			if f.Kind != kind {
				continue
			}
			name := "rows"
			if f.Column != "" {
				name = console.ColumnName(f.Column)
			}
			rows = append(rows, []string{name, f.Text})
		}
	}
	if rows == nil {
		s.Paragraphs = []string{"Nothing odd was found."}
		return s
	}
	s.Tables = []page.Table{{Caption: "Findings", Words: true, Head: []string{"column", "finding"}, Rows: rows}}
	return s
}

// predicted shows what each column predicts of the target alone.
func (r *Report) predicted() page.Section {
	s := page.Section{ID: "alone", Title: "What each column predicts alone"}
	all := r.best()
	if len(all) == 0 {
		return s
	}
	t := r.Target
	head, rows := t.alone(all)
	var bars []page.Bar
	for i, c := range all[:min(len(all), mostBars)] {
		v := max(0, c.Alone.Explains)
		bars = append(bars, page.Bar{Name: rows[i][0], Value: v, Low: v, High: v})
	}
	s.Paragraphs = []string{fmt.Sprintf(
		"The share of the %s of %s that each column explains alone, in rows left out: %d parts of %s, each predicted from the others. "+
			"A column that explains little alone may matter together with others.",
		t.loss(), console.ColumnName(t.Name), t.Parts, console.Plural(t.Rows, "row"))}
	s.Pictures = []*page.Picture{page.Bars("alone", "What each column explains alone", "share of the "+t.loss()+" explained", bars)}
	s.Tables = []page.Table{{Caption: "What columns explain alone", Head: head, Rows: rows, Folded: len(rows) > mostShown}}
	return s
}

// spread shows how the values of the target are distributed.
func (r *Report) spread() page.Section {
	s := page.Section{ID: "target", Title: "Target"}
	if r.Target == nil || r.Target.Levels == 0 {
		return s
	}
	name := console.ColumnName(r.Target.Name)
	if classes := r.Target.Classes; classes != nil {
		classes = slices.Clone(classes)
		slices.SortStableFunc(classes, func(a, b Level) int { return b.Count - a.Count })
		var bars []page.Bar
		var rows [][]string
		for i, c := range classes {
			if v := float64(c.Count); i < mostBars {
				bars = append(bars, page.Bar{Name: c.Value, Value: v, Low: v, High: v})
			}
			rows = append(rows, []string{c.Value, strconv.Itoa(c.Count), percent(float64(c.Count) / float64(r.Rows-r.Target.Gaps))})
		}
		s.Pictures = []*page.Picture{page.Bars("classes", "Rows of each class of "+name, "rows", bars)}
		s.Tables = []page.Table{{Caption: "Classes of " + name, Head: []string{"class", "rows", "share"}, Rows: rows, Folded: len(rows) > mostBars}}
		return s
	}
	if v := r.Target.Events; v != nil {
		s.Paragraphs = []string{"Times until an event: " + v.text() + "."}
	}
	present := slices.DeleteFunc(slices.Clone(r.Target.values), math.IsNaN)
	s.Pictures = []*page.Picture{page.Histogram("target", name, present)}
	s.Tables = []page.Table{quantiles("Quantiles of "+name, []Column{r.Target.Column})}
	return s
}

// quantiles is the table of the ranges of columns.
func quantiles(caption string, columns []Column) page.Table {
	t := page.Table{Caption: caption, Head: []string{"column", "least", "lower quartile", "median", "upper quartile", "largest"}}
	for _, c := range columns {
		if c.Range == nil {
			continue
		}
		row := []string{console.ColumnName(c.Name)}
		for _, v := range []float64{c.Range.Least, c.Range.Lower, c.Range.Median, c.Range.Upper, c.Range.Largest} {
			row = append(row, c.Type.Text(v))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// columns describes each column.
func (r *Report) columns() page.Section {
	s := page.Section{ID: "columns", Title: "Columns"}
	all := r.described()
	if n := len(all); n > mostTable {
		s.Paragraphs = []string{fmt.Sprintf("The first %d of %d columns; -json has all.", mostTable, n)}
		all = all[:mostTable]
	}
	t := page.Table{Caption: "Columns as mkl fit reads them", Names: 1, Head: []string{"column", "type", "gaps", "levels", "values"}}
	for _, c := range all {
		t.Rows = append(t.Rows, c.cells())
	}
	t.Folded = len(all) > mostShown
	s.Tables = []page.Table{t}
	if q := quantiles("Quantiles", all); q.Rows != nil {
		q.Folded = true
		s.Tables = append(s.Tables, q)
	}
	return s
}

// described is the target, if there is one, and all columns.
func (r *Report) described() []Column {
	if r.Target == nil {
		return r.Columns
	}
	return append([]Column{r.Target.Column}, r.Columns...)
}

// gaps shows where cells are empty or cannot be read.
func (r *Report) gaps() page.Section {
	s := page.Section{ID: "gaps", Title: "Gaps"}
	all := slices.DeleteFunc(slices.Clone(r.described()), func(c Column) bool { return c.Gaps == 0 })
	if len(all) == 0 {
		s.Paragraphs = []string{"No cell is empty."}
		return s
	}
	slices.SortStableFunc(all, func(a, b Column) int { return b.Gaps - a.Gaps })
	var bars []page.Bar
	var rows [][]string
	for i, c := range all[:min(len(all), mostTable)] {
		share := float64(c.Gaps) / float64(r.Rows)
		if i < mostBars {
			bars = append(bars, page.Bar{Name: console.ColumnName(c.Name), Value: share, Low: share, High: share})
		}
		rows = append(rows, []string{console.ColumnName(c.Name), strconv.Itoa(c.Gaps), percent(share), strconv.Itoa(c.Unreadable)})
	}
	s.Paragraphs = []string{fmt.Sprintf("Cells without a value that can be read, in %s.", console.Plural(len(all), "column"))}
	s.Pictures = []*page.Picture{page.Bars("gaps", "Gaps", "share of the rows", bars)}
	s.Tables = []page.Table{{Caption: "Gaps of columns", Head: []string{"column", "gaps", "share of the rows", "cannot be read"}, Rows: rows, Folded: len(rows) > mostBars}}
	return s
}

// outside lists the values far from the others.
func (r *Report) outside() page.Section {
	s := page.Section{ID: "outside", Title: "Values far outside"}
	t := page.Table{Caption: "Values outside of the fences", Head: []string{"column", "lower fence", "below", "upper fence", "above", "farthest", "in row"}}
	for _, c := range r.described() {
		if f := c.Outliers; f != nil && len(t.Rows) < mostTable {
			write := c.Type.Text
			t.Rows = append(t.Rows, []string{
				console.ColumnName(c.Name), write(f.Lower), strconv.Itoa(f.Below), write(f.Upper), strconv.Itoa(f.Above), write(f.Value), strconv.Itoa(f.Row),
			})
		}
	}
	if t.Rows != nil {
		s.Paragraphs = []string{fmt.Sprintf("A fence is %d times as far from a quartile as the median is. Below and above are the numbers of values outside.", fenceWidth)}
		s.Tables = []page.Table{t}
	}
	return s
}

// provenance says where the page comes from.
func (r *Report) provenance(e *console.Env) page.Section {
	made := &provenance.Made{Command: provenance.CommandLine(e.Args), Version: provenance.Build().Program(), Machine: provenance.Machine()}
	_ = made.Add(e, r.path)                                                                     // the file was read, and one that is gone since has no hash
	rows := slices.DeleteFunc(made.Rows(), func(row []string) bool { return row[0] == "seed" }) // a table has always the same sample
	return page.Section{ID: "provenance", Title: "Provenance", Tables: []page.Table{{Caption: "This page", Words: true, Rows: rows}}}
}
