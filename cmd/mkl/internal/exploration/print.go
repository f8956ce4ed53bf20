package exploration

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// Most columns and findings that are printed; -json has all.
const (
	mostShown  = 40
	mostAlone  = 25
	mostOfKind = 8
)

// Print prints the report for people.
func (r *Report) Print(w io.Writer) error {
	fmt.Fprintln(w, r.head())
	for _, text := range r.remarks {
		fmt.Fprintln(w, text)
	}
	fmt.Fprintln(w)
	rows := [][]string{{"column", "type", "gaps", "levels", "values"}}
	shown := r.Columns[:min(len(r.Columns), mostShown)]
	if r.Target != nil {
		rows = append(rows, r.Target.cells())
	}
	for _, c := range shown {
		rows = append(rows, c.cells())
	}
	if err := console.PrintTable(w, "llrrl", rows); err != nil {
		return err
	}
	more(w, len(r.Columns)-len(shown), "column")
	if err := r.printAlone(w); err != nil {
		return err
	}
	return r.printFindings(w)
}

// head says how large the table is.
func (r *Report) head() string {
	text := fmt.Sprintf("%s: %s, %s", r.File, console.Plural(r.Rows, "row"), console.Plural(len(r.Columns), "column"))
	if r.Target != nil {
		text += " and the target"
	}
	if r.Sampled > 0 {
		text += fmt.Sprintf("; a sample of %d rows shows what columns explain, and near-repetitions", r.Sampled)
	}
	return text
}

// more says how many are not shown.
func more(w io.Writer, n int, noun string) {
	if n > 0 {
		fmt.Fprintf(w, "… and %s more: -json has all\n", console.Plural(n, noun))
	}
}

// cells are the cells of the column's line.
func (c *Column) cells() []string {
	values := ""
	switch write := c.Type.Text; {
	case c.Range != nil && c.Frequent == nil:
		values = fmt.Sprintf("%s … %s … %s", write(c.Range.Least), write(c.Range.Median), write(c.Range.Largest))
	case c.Frequent != nil && c.Frequent[0].Count == 1:
		values = fmt.Sprintf("%q, …", c.Frequent[0].Value)
	default:
		for k, l := range c.Frequent {
			if k > 0 {
				values += ", "
			}
			values += fmt.Sprintf("%s × %d", l.Value, l.Count)
		}
		if c.Levels > len(c.Frequent) {
			values += ", …"
		}
	}
	return []string{console.ColumnName(c.Name), string(c.Type), strconv.Itoa(c.Gaps), strconv.Itoa(c.Levels), values}
}

// printAlone prints what columns predict alone, the best first.
func (r *Report) printAlone(w io.Writer) error {
	if r.Target != nil && r.Target.Events != nil {
		_, err := fmt.Fprintf(w, "\n%s (%s): %s\n", console.ColumnName(r.Target.Name), r.Target.Task, r.Target.Events.text())
		return err
	}
	if r.Target == nil || r.Target.Rows == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s (%s): what each column explains of its %s alone, in rows left out (%d parts of %s)\n",
		console.ColumnName(r.Target.Name), r.Target.Task, r.Target.loss(), r.Target.Parts, console.Plural(r.Target.Rows, "row"))
	all := r.best()
	head, rows := r.Target.alone(all[:min(len(all), mostAlone)])
	rows = append([][]string{head}, rows...)
	align := "lrrr"
	if err := console.PrintTable(w, align[:len(head)], rows); err != nil {
		return err
	}
	more(w, len(all)-mostAlone, "column")
	return nil
}

// loss is what columns explain a share of.
func (t *Target) loss() string {
	if t.Classes != nil {
		return "log loss"
	}
	return "variance"
}

// best is the columns that were measured alone, the best first.
func (r *Report) best() []Column {
	all := slices.DeleteFunc(slices.Clone(r.Columns), func(c Column) bool { return c.Alone == nil })
	slices.SortStableFunc(all, func(a, b Column) int { return cmp.Compare(b.Alone.Explains, a.Alone.Explains) })
	return all
}

// alone is the table of what columns predict alone.
func (t *Target) alone(columns []Column) (head []string, rows [][]string) {
	head = []string{"column", "explains"}
	if t.Classes != nil {
		head = append(head, "right")
	}
	for _, c := range columns {
		row := []string{console.ColumnName(c.Name), percent(max(0, c.Alone.Explains))}
		if t.Classes != nil {
			row = append(row, percent(*c.Alone.Accuracy))
		}
		rank := ""
		if r := c.Alone.Rank; r != nil {
			rank = fmt.Sprintf("%+.2f", math.Round(*r*100)/100+0)
		}
		rows = append(rows, append(row, rank))
	}
	return append(head, "rank correlation"), rows
}

// printFindings prints what deserves a look, kind after kind in the order in which they were found.
func (r *Report) printFindings(w io.Writer) error {
	if len(r.Findings) == 0 {
		_, err := fmt.Fprintln(w, "\nnothing odd was found")
		return err
	}
	fmt.Fprintln(w, "\nworth a look:")
	for _, kind := range Kinds {
		k := 0
		for _, f := range r.Findings {
			if f.Kind != kind {
				continue
			}
			if k++; k > mostOfKind {
				continue
			}
			name := ""
			if f.Column != "" {
				name = console.ColumnName(f.Column) + ": "
			}
			fmt.Fprintf(w, "- %s%s\n", name, f.Text)
		}
		if n := k - mostOfKind; n > 0 {
			fmt.Fprintf(w, "- … and %d more of this kind: -json has all\n", n)
		}
	}
	return nil
}
