package dataset

import (
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
)

// Opened is a data set whose files are open and whose columns are found. The caller closes the files.
type Opened struct {
	Flags
	Files   *console.Files
	Main    *console.File
	Targets []int  // columns of the main file
	Beside  Beside // columns of the main file that belong to the target
	Group   int    // column of the main file that says which samples belong together, −1 without such a column
	Views   []View
}

// OpenFiles opens the files that the flags name, and finds the targets and the views in their columns. Kernels is
// the text of -kernels, for views without kernels of their own. The column called group is in no view.
func OpenFiles(e *console.Env, f Flags, kernels, group string) (_ *Opened, err error) {
	opt, err := f.Options()
	if err != nil {
		return nil, err
	}
	o := &Opened{Flags: f, Files: &console.Files{Env: e, Opt: opt, Join: f.Join}}
	defer func() {
		if err != nil {
			o.Files.Close()
		}
	}()
	if o.Main, err = o.Files.Open(f.Data); err != nil {
		return nil, err
	}
	if o.Targets, err = findTargets(o.Main, f.Target); err != nil {
		return nil, err
	}
	if o.Group, err = OneColumn(o.Main, "-group", group, o.Targets); err != nil {
		return nil, err
	}
	if o.Beside, err = FindBeside(o.Main, f.BesideFlags, o.Targets); err != nil {
		return nil, err
	}
	apart := append(slices.Clone(o.Targets), o.Beside.columns()...)
	if o.Group >= 0 {
		apart = append(apart, o.Group)
	}
	as, err := ParseConversions(f.As)
	if err != nil {
		return nil, err
	}
	if o.Views, err = findViews(o.Files, o.Main, f.View, kernels, as, apart); err != nil {
		return nil, err
	}
	return o, as.CheckUsed(o.Files.All, apart)
}

// Close closes the files.
func (o *Opened) Close() { o.Files.Close() }

// findTargets finds the columns of -target.
func findTargets(main *console.File, text string) ([]int, error) {
	if text == "" {
		return nil, console.Inputf("-target is missing, the column to learn: %s: %s%s", main.Name(), spec.List(main.Columns()), Spaced(main))
	}
	items, err := spec.ParseColumns(text)
	if err != nil {
		return nil, console.Inputf("-target %w", err)
	}
	found, err := spec.Select(items, main.Columns(), nil)
	if err != nil {
		return nil, console.Inputf("-target: %s: %w%s", main.Name(), err, Spaced(main))
	}
	return found, nil
}

// Read reads the cells: of the targets as a kind of cells, of the views as they need them, and last the columns in
// more, which are of the main file.
func (o *Opened) Read(kind table.Kind, more ...table.Want) (*Table, error) {
	for _, j := range o.Targets {
		o.Main.Need(j, kind)
	}
	o.Beside.Need(o.Main)
	if o.Group >= 0 {
		o.Main.Need(o.Group, table.Label)
	}
	for _, v := range o.Views {
		v.Ask(o.Missing == MissingImpute)
	}
	for _, want := range more {
		o.Main.Want(want)
	}
	if _, err := o.Files.Read(); err != nil {
		return nil, o.hint(err)
	}
	return &Table{Opened: *o, strings: make([]*Strings, len(o.Views))}, nil
}
