package factors

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// askGroups asks the file for the column of -groups, unless it is −1, and takes the column out of the views that a pattern has put it
// into. A view that names the column is refused.
func (t *Table) askGroups(f *console.File, group int, views []view) error {
	if group < 0 {
		return nil
	}
	name := f.Columns()[group]
	for i, v := range views {
		if v.named[group] {
			return console.Inputf("-groups %s: the column is among the columns to learn", name)
		}
		views[i].columns = slices.DeleteFunc(v.columns, func(j int) bool { return j == group })
	}
	t.Note.Groups = name
	f.Need(group, table.OptionalLabel)
	return nil
}

// takeGroups takes the groups of the rows, which were read. A row without a group, and a group of one row, are refused by their place.
func (t *Table) takeGroups(f *console.File, group int) error {
	if group < 0 {
		return nil
	}
	labels := f.Data.Labels[group]
	size := map[string]int{}
	var names []string
	for i, name := range labels {
		if name == "" {
			return console.Input(f.Data.Cell(i, group, "a row without a group: fill in the cell, or leave the row out"))
		}
		if size[name]++; size[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range labels {
		if size[name] == 1 && len(labels) > 1 {
			return console.Input(f.Data.Cell(i, group, fmt.Sprintf(
				"%q is the group of one row: a group needs two, as its own means explain a single row: leave the row out, or give it another group", name)))
		}
	}
	if len(names) == 1 {
		t.Note.Groups = ""
		t.Lines = append(t.Lines, fmt.Sprintf("-groups %s: every row is of group %s, which is the same as no groups", f.Columns()[group], names[0]))
		return nil
	}
	t.Groups = labels
	return nil
}

// withinGroups returns a column less the means of its groups.
func withinGroups(column []float64, groups []string) []float64 {
	sum, count := map[string]float64{}, map[string]float64{}
	for i, v := range column {
		if !math.IsNaN(v) {
			sum[groups[i]] += v
			count[groups[i]]++
		}
	}
	within := make([]float64, len(column))
	for i, v := range column {
		within[i] = v - sum[groups[i]]/max(count[groups[i]], 1)
	}
	return within
}

// findGroups asks a file for the column of the groups, if the model has groups.
func (t *Rows) findGroups() error {
	t.group = -1
	if t.note.Groups == "" {
		return nil
	}
	found, err := spec.Select(spec.Names([]string{t.note.Groups}), t.File.Columns(), nil)
	if err != nil {
		return console.Inputf("%s: the model needs the group of each row: %w", t.File.Name(), err)
	}
	t.group = found[0]
	t.File.Need(t.group, table.OptionalLabel)
	return nil
}

// groups returns the groups of the rows, nil without groups. A group that the fit did not have is refused by its place.
func (t *Rows) groups() ([]string, error) {
	if t.group < 0 {
		return nil, nil
	}
	var known []string
	for _, g := range t.fit.Groups() {
		known = append(known, g.Name)
	}
	labels := t.File.Data.Labels[t.group]
	for i, name := range labels {
		switch {
		case name == "":
			return nil, console.Input(t.File.Data.Cell(i, t.group, "a row without a group"))
		case !slices.Contains(known, name):
			return nil, console.Input(t.File.Data.Cell(i, t.group, fmt.Sprintf("the model has no group %q: its groups are %s", name, strings.Join(known, ", "))))
		}
	}
	return labels, nil
}

// by is a prediction of rows of the given groups.
type by func(y mkl.Table, groups ...string) (mean, variance [][]float64, err error)

// of predicts the rows.
func (p by) of(t *Rows) (mean, variance [][]float64, err error) {
	groups, err := t.groups()
	if err != nil {
		return nil, nil, err
	}
	if mean, variance, err = p(t.wide(), groups...); err != nil {
		return nil, nil, console.Input(err)
	}
	return mean, variance, nil
}
