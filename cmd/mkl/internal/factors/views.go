package factors

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
)

// view is the columns of a -view, or without -view of the whole table.
type view struct {
	name    string
	columns []int
	named   map[int]bool // the columns that the command line names one by one
}

// views finds the columns of -view in the file or, without -view, the columns of -target.
func (t *Table) views(f *console.File, flags dataset.Flags, task string) (all []view, err error) {
	if flags.View == nil {
		target := flags.Target
		if target == "" {
			target = "*"
		}
		items, err := spec.ParseColumns(target)
		if err != nil {
			return nil, console.Inputf("-target %w", err)
		}
		v, err := find("-target", items, f)
		return []view{v}, err
	}
	of, names := map[int]string{}, map[string]bool{}
	for i, text := range flags.View {
		s, err := spec.ParseView(text)
		switch {
		case err != nil:
			return nil, console.Inputf("-view %w", err)
		case s.Kernels != nil:
			return nil, console.Inputf("-view %s: -task %s has no kernels", text, task)
		case s.Name == "":
			s.Name = fmt.Sprintf("view%d", i+1)
		}
		for _, item := range s.Columns {
			if item.File != "" {
				return nil, console.Inputf("-view %s: the views of -task %s are columns of one table", text, task)
			}
		}
		v, err := find("-view "+text, s.Columns, f)
		if err != nil {
			return nil, err
		}
		v.name = s.Name
		if names[v.name] {
			return nil, console.Inputf("-view %s: another view is called %s", text, notes.Quoted(v.name))
		}
		names[v.name] = true
		for _, j := range v.columns {
			if other, taken := of[j]; taken {
				return nil, console.Inputf("-view %s: column %q is in view %s already", text, f.Columns()[j], notes.Quoted(other))
			}
			of[j] = v.name
		}
		all = append(all, v)
	}
	return all, nil
}

// find selects the columns of a flag's items.
func find(flag string, items []spec.Item, f *console.File) (v view, err error) {
	if v.columns, err = spec.Select(items, f.Columns(), nil); err != nil {
		return v, console.Inputf("%s: %s: %w%s", flag, f.Name(), err, dataset.Spaced(f))
	}
	v.named = spec.Named(items, f.Columns())
	return v, nil
}
