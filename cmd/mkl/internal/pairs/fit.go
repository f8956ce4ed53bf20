package pairs

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/dataset"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/mkl"
)

// Request says which pairs and views a fit learns from.
type Request struct {
	dataset.Flags              // Data is the file of the pairs
	Task          string       // for messages
	Form          dataset.Form // numbers or labels
	Entries       string       // of -entries
	Rows, Columns []string     // of -rows and -columns
	Kernels       string       // of -kernels
}

// check refuses flags that are not for pairs, or are missing.
func (r *Request) check() error {
	switch {
	case len(r.Rows) == 0:
		return console.Inputf("-rows is missing, the file with the views of the rows")
	case len(r.Columns) == 0:
		return console.Inputf("-columns is missing, the file with the views of the columns")
	case r.View != nil:
		return console.Inputf("-view is not for -task %s: -rows and -columns name the files of the views", r.Task)
	case r.Target != "":
		return console.Inputf("-target is not for -task %s: -entries names the columns of a list of pairs, and of a table all columns but the first are learned", r.Task)
	case r.Join != "":
		return console.Inputf("-join is not for -task %s: its files belong together by their ids", r.Task)
	case r.Missing != dataset.MissingRefuse && r.Missing != dataset.MissingImpute:
		return console.Inputf("-missing %s is not for -task %s, which needs all views of each row and column: -missing impute fills in what is missing", r.Missing, r.Task)
	}
	return nil
}

// Side is the rows of a fit, or its columns.
type Side struct {
	IDs   []string
	Views []dataset.Features

	flag string
	path string // of the first view
}

// Table is the pairs of a fit with the views of both sides.
type Table struct {
	Note  notes.Pairs
	Rows  Side
	Cols  Side
	Pairs mkl.SparseTable
	Lines []string // what is to be said of the files

	List  *console.File   // the file of the pairs
	Files []*console.File // all files
}

// Features are the views of the rows and then of the columns.
func (t *Table) Features() []dataset.Features { return slices.Concat(t.Rows.Views, t.Cols.Views) }

// Views are the views of [Table.Features].
func (t *Table) Views() (all []dataset.View) {
	for _, f := range t.Features() {
		all = append(all, f.View)
	}
	return all
}

// Read reads the pairs and the views.
func Read(e *console.Env, r Request) (*Table, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	opt, err := r.Options()
	if err != nil {
		return nil, err
	}
	fs := &console.Files{Env: e, Opt: opt}
	defer fs.Close()
	main, err := fs.Open(r.Data)
	if err != nil {
		return nil, err
	}
	l, err := readList(fs, main, r.Entries, r.Form)
	if err != nil {
		return nil, err
	}
	as, err := dataset.ParseConversions(r.As)
	if err != nil {
		return nil, err
	}
	t := &Table{List: main, Files: fs.All, Lines: fs.Remarks()}
	var sides [2]Side
	names := map[string]bool{}
	for k, texts := range [][]string{r.Rows, r.Columns} {
		s := &sides[k]
		s.flag = []string{"rows", "columns"}[k]
		for i := range texts {
			v, err := r.parseView(s.flag, texts, i)
			if err != nil {
				return nil, err
			}
			if names[v.name] {
				return nil, console.Inputf("-%s: two views are called %q", s.flag, v.name)
			}
			names[v.name] = true
			lines, files, err := s.read(e, opt, r.Flags, v, l.ids[k], as)
			if err != nil {
				return nil, err
			}
			t.Lines, t.Files = append(t.Lines, lines...), append(t.Files, files...)
		}
	}
	if err := as.CheckUsed(t.Files, nil); err != nil {
		return nil, err
	}
	t.Rows, t.Cols = sides[0], sides[1]
	t.Note = notes.Pairs{Entries: l.entries, Rows: t.Rows.IDs, Columns: t.Cols.IDs}
	t.Pairs, err = l.place(sides)
	return t, err
}

// sideView is one value of -rows or -columns.
type sideView struct {
	text, name, path string
	kernels          dataset.Kernels
}

// parseView reads the i-th value of -rows or -columns.
func (r *Request) parseView(flag string, texts []string, i int) (v sideView, err error) {
	parsed, path, err := parseSide(flag, texts[i])
	if err != nil {
		return v, err
	}
	v = sideView{text: fmt.Sprintf("-%s %s", flag, texts[i]), name: parsed.Name, path: path}
	if v.name == "" {
		v.name = flag
		if len(texts) > 1 {
			v.name += fmt.Sprint(i + 1)
		}
	}
	kernels := parsed.Kernels
	if kernels == nil && r.Kernels != "" {
		if kernels, err = spec.Parse(r.Kernels); err != nil {
			return v, console.Inputf("-kernels %w", err)
		}
	}
	for _, k := range kernels {
		vk, err := spec.Build(k)
		switch {
		case err != nil:
			return v, console.Inputf("%s: %w", v.text, err)
		case vk.Strings != nil:
			return v, console.Inputf("%s: %s: kernels of strings are not for pairs: give similarities and the kernel precomputed", v.text, k)
		case vk.Given && vk.Normalize:
			return v, console.Inputf("%s: %s: give similarities that are normalised already: the similarities of new ids with themselves are not known", v.text, k)
		}
		v.kernels = append(v.kernels, vk)
	}
	return v, nil
}

// read reads a view in the order of the ids of the side's first view, and adds it to the side. The lines say what
// was done. The column of the ids is called ids, or is the first.
func (s *Side) read(e *console.Env, opt table.Options, flags dataset.Flags, v sideView, ids string, as dataset.Conversions) (lines []string, files []*console.File, err error) {
	fail := func(err error) ([]string, []*console.File, error) {
		return nil, nil, console.Inputf("%s: %w", v.text, err)
	}
	f, err := openSide(e, opt, v.path, ids)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	others := f.others()
	if others.Columns == nil {
		return fail(fmt.Errorf("%s has ids only, and no other column", f.file.Name()))
	}
	view, err := dataset.NewView(v.name, others, v.kernels, as)
	if err != nil {
		return fail(err)
	}
	view.Ask(flags.Missing == dataset.MissingImpute)
	at, err := f.read()
	if err != nil {
		return nil, nil, err
	}
	if s.IDs == nil {
		s.IDs, s.path = slices.Clone(f.ids()), f.file.Name()
	}
	if err := f.order(at, s.IDs, s.path); err != nil {
		return fail(err)
	}
	if v.kernels.Square() {
		columns, err := spec.Select(spec.Names(s.IDs), f.file.Columns(), []int{f.column})
		if err != nil {
			return fail(fmt.Errorf("%s: similarities have a column for each id: %w", f.file.Name(), err))
		}
		view = view.Only(columns)
	}
	flags.Text = string(plan.OneHot)
	one := dataset.TableOf(flags, f.Files, view)
	if rows, first := one.Complete(); len(rows) < len(s.IDs) {
		return fail(fmt.Errorf("%w: -missing impute fills in what is missing of features", first))
	}
	samples, lines, err := one.Samples()
	if err != nil {
		return nil, nil, err
	}
	s.Views = append(s.Views, samples.Features...)
	return append(f.Remarks(), lines...), f.All, nil
}
