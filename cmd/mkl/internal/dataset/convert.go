package dataset

import (
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
	as      table.Type // none: the column is left out
	used    bool
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
		all = append(all, a)
	}
	return all, nil
}

// apply makes the wants of a view: each column is read as -as says, or else as its kernels need it.
func (all Conversions) apply(v View) (View, error) {
	names := v.Source.File.Columns()
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
	s := console.Source{File: v.Source.File}
	for k, j := range v.Source.Columns {
		want, named := table.Want{Column: j, Kind: table.Any}, v.Source.Named[k]
		switch a := as[j]; {
		case v.Kernels.Given():
			want.Kind = table.Number
		case a != nil:
			a.used = true
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

// CheckUsed refuses values of -as for columns that are in no view. main is the file whose targets it names, nil if
// there is no such file.
func (all Conversions) CheckUsed(main *console.File, targets []int) error {
	for _, a := range all {
		if a.used {
			continue
		}
		if main == nil {
			return console.Inputf("-as %s: the column is in no view", a.text)
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
