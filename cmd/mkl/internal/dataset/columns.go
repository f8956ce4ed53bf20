package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
)

// OneColumn finds the column that a flag names, which may not be in except; −1 if the name is empty.
func OneColumn(f *console.File, flag, name string, except []int) (int, error) {
	if name == "" {
		return -1, nil
	}
	if j := slices.Index(f.Columns(), name); j >= 0 && !slices.Contains(except, j) {
		return j, nil
	}
	items, err := spec.ParseColumns(name)
	if err != nil {
		return 0, console.Inputf("%s %w", flag, err)
	}
	found, err := spec.Select(items, f.Columns(), except)
	if err != nil {
		return 0, console.Inputf("%s: %s: %w", flag, f.Name(), err)
	}
	if len(found) != 1 {
		return 0, console.Inputf("%s %s: that is %d columns", flag, name, len(found))
	}
	return found[0], nil
}

// IDColumn finds the column that -id names and asks for it; −1 if the name is empty.
func IDColumn(f *console.File, name string) (int, error) {
	j, err := OneColumn(f, "-id", name, nil)
	if err != nil || j < 0 {
		return j, err
	}
	if f.Needs(j) && !f.Joins(j) {
		return 0, console.Inputf("-id %s: the column is part of a view", name)
	}
	f.Need(j, table.Label)
	return j, nil
}

// EntryColumns finds the columns of rows, columns and values that the flag -entries names.
func EntryColumns(text string, f *console.File) ([]int, error) {
	var columns []int
	names := strings.Split(text, ",")
	if len(names) != 3 {
		return nil, console.Inputf("-entries %s: three columns are needed, of rows, columns and values, as in user,film,rating", text)
	}
	for _, name := range names {
		items, err := spec.ParseColumns(name)
		if err != nil {
			return nil, console.Inputf("-entries %s: %w", text, err)
		}
		found, err := spec.Select(items, f.Columns(), nil)
		if err != nil {
			return nil, console.Inputf("-entries %s: %s: %w%s", text, f.Name(), err, Spaced(f))
		}
		if len(found) != 1 || slices.Contains(columns, found[0]) {
			return nil, console.Inputf("-entries %s: three columns are needed, of rows, columns and values, as in user,film,rating", text)
		}
		columns = append(columns, found[0])
	}
	return columns, nil
}

// Places says where each name stands.
func Places(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	return at
}

// Nameless reports whether the columns of a file are called by their positions.
func Nameless(names []string) bool {
	for j, name := range names {
		if name != strconv.Itoa(j+1) {
			return false
		}
	}
	return true
}

// Spaced is a hint where a table of one column may be one whose cells spaces separate, or where the columns have no
// names.
func Spaced(f *console.File) string {
	names := f.Columns()
	switch {
	case Nameless(names):
		return "; the file has no line of names, and its columns are called by their positions (-header yes takes the first line for names)"
	case len(names) == 1 && len(strings.Fields(names[0])) > 1:
		return "; the table has one column: if spaces separate its cells, -separator space"
	}
	return ""
}

// hint adds to a mistake in a cell which flag would accept the cell.
func (o *Opened) hint(err error) error {
	var cell *table.CellError
	if !errors.As(err, &cell) || cell.Column < 0 {
		return err
	}
	text, number := notNumber(cell)
	if commas(cell) {
		err = fmt.Errorf("%w: "+readsCommas, err)
	}
	target := cell.File == o.Main.Name() && slices.Contains(o.Targets, cell.Column)
	switch {
	case target && (!number || table.Missing(text)):
		return console.Inputf("%w: -missing impute or drop leaves out rows without a target", err)
	case !number:
		return err
	case target && len(o.Targets) > 1:
		return console.Inputf("%w: -task binary or multiclass learns one column of text, and -task multilabel learns several columns of yes and no", err)
	case target:
		return console.Inputf("%w: -task binary or multiclass learns text, and -na '%s' takes such cells for empty", err, text)
	}
	return console.Inputf("%w: -as '%s=text' reads the whole column as text", err, cell.Name)
}

// notNumber returns the text of a cell that is no number.
func notNumber(cell *table.CellError) (text string, ok bool) {
	text, ok = strings.CutSuffix(cell.Msg, " is not a number")
	return strings.Trim(text, `"`), ok
}

// commas reports whether a cell that is no number may have a decimal comma.
func commas(cell *table.CellError) bool {
	text, ok := notNumber(cell)
	return ok && strings.Contains(text, ",")
}

// readsCommas is the advice where cells may have a decimal comma.
const readsCommas = "-decimal , reads decimal commas"

// unreadable says how many cells of each column count as missing because they cannot be read.
func (t *Table) unreadable() (lines []string) {
	for _, v := range t.Views {
		for _, j := range v.Source.Columns {
			gap := v.Source.File.Data.Gaps[j]
			if gap.Wrong == 0 {
				continue
			}
			verb := "count"
			if gap.Wrong == 1 {
				verb += "s"
			}
			line := fmt.Sprintf("warning: %s that cannot be read %s as missing; the first is %v (-as '%s=text' takes the column for text)",
				console.Plural(gap.Wrong, "cell"), verb, gap.FirstWrong, gap.FirstWrong.Name)
			if commas(gap.FirstWrong) {
				line += "; " + readsCommas
			}
			lines = append(lines, line)
		}
	}
	return lines
}
