package dataset

import (
	"errors"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
)

// Conversions are what -as says of columns.
type Conversions []*conversion

type conversion struct {
	text    string
	columns []spec.Item
	as      table.Type // empty: the column is left out
	used    []bool     // by columns: whether a view has them
}

// ParseConversions reads the values of -as.
func ParseConversions(texts []string) (all Conversions, err error) {
	for _, text := range texts {
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
			return nil, console.Inputf("-as %s: a type is none or one of %v", text, table.Types)
		}
		a.used = make([]bool, len(a.columns))
		all = append(all, a)
	}
	return all, nil
}

// apply makes the wants of a view: each column is read as -as says, or else as its kernels need it.
func (all Conversions) apply(v View) (View, error) {
	names := v.Source.File.Columns()
	type use struct {
		of   *conversion
		item int // of its columns
	}
	as := map[int]use{}
	for _, a := range all {
		for i := range a.columns {
			found, err := spec.Select(a.columns[i:i+1], names, nil)
			if err != nil {
				continue // it may be of another file
			}
			for _, j := range found {
				as[j] = use{a, i}
			}
		}
	}
	s := console.Source{File: v.Source.File}
	for k, j := range v.Source.Columns {
		want, named := table.Want{Column: j, Kind: table.Any}, v.Source.Named[k]
		switch u := as[j]; {
		case v.Kernels.Given():
			want.Kind = table.Number
		case u.of != nil:
			a := u.of
			a.used[u.item] = true
			if a.as == "" {
				v.Left = append(v.Left, plan.LeftOut{Column: names[j], Why: "by -as"})
				continue
			}
			want.As, named = a.as, true
		case v.Kernels.categorical():
			want.As = table.Text
		}
		v.wants = append(v.wants, want)
		s.Columns, s.Named = append(s.Columns, j), append(s.Named, named)
	}
	if v.Source = s; s.Columns == nil {
		return v, console.Inputf("-as leaves the view %s without columns", notes.Quoted(v.Name))
	}
	return v, nil
}

// CheckUsed refuses columns of -as that none of the files has, and types of columns that are in no view. To leave out a column that is in no view,
// such as another target, is no mistake. The targets are columns of the first file.
func (all Conversions) CheckUsed(files []*console.File, targets []int) error {
	for _, a := range all {
		for i, used := range a.used {
			if used {
				continue
			}
			if err := a.check(a.columns[i:i+1], files, targets); err != nil {
				return console.Inputf("-as %s: %w", a.text, err)
			}
		}
	}
	return nil
}

// check says why columns that are in no view cannot be read as -as says.
func (a *conversion) check(columns []spec.Item, files []*console.File, targets []int) error {
	var absent []string
	for k, f := range files {
		found, err := spec.Select(columns, f.Columns(), nil)
		switch {
		case err != nil:
			absent = append(absent, f.Name()+": "+err.Error())
		case a.as == "":
			return nil
		case k == 0 && slices.Contains(targets, found[0]):
			return errors.New("the column is a target: -task says what is learned of it")
		default:
			return errors.New("the column is in no view")
		}
	}
	return errors.New(strings.Join(absent, "; "))
}
