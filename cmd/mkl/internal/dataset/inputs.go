package dataset

import (
	"cmp"
	"context"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/mkl"
)

// Inputs are the columns of new files that a model's inputs are made of. The caller closes the files.
type Inputs struct {
	Files *console.Files
	notes *notes.Notes
	all   []input
}

// input is the columns of one of the model's inputs.
type input struct {
	console.Source
	plan    []plan.Column
	strings *notes.Strings // of an input of strings, which has no plan
	gaps    bool           // samples may lack it

	without *notes.View // the view of a given kernel whose file lacks the column of k(x, x); else nil
}

// NewFiles are files for a model with notes, laid out as the flags say; no file is open.
func NewFiles(e *console.Env, l console.Layout, n *notes.Notes) (*console.Files, error) {
	opt, err := l.Options()
	if err != nil {
		return nil, err
	}
	opt.Blanks = append(opt.Blanks, n.NA...)
	for _, v := range n.Views {
		opt.Sparse = append(opt.Sparse, v.Columns...)
	}
	return &console.Files{Env: e, Opt: opt, Join: cmp.Or(l.Join, n.Join)}, nil
}

// FindInputs opens files and asks for the columns of a model's inputs. The columns are in the file data, which may
// be empty, or where views, the values of -view, say.
func FindInputs(fs *console.Files, n *notes.Notes, of []mkl.ModelInput, data string, views []string) (*Inputs, error) {
	var main *console.File
	if data != "" {
		var err error
		if main, err = fs.Open(data); err != nil {
			return nil, err
		}
	}
	given, err := givenColumns(n, views)
	if err != nil {
		return nil, err
	}
	in := &Inputs{Files: fs, notes: n}
	for i, one := range of {
		v := n.Views[i]
		items, ok := given[v.Name]
		switch {
		case ok:
		case v.File:
			return nil, console.Inputf("view %s is made from a file of its own: -view %s=@FILE", notes.Quoted(v.Name), v.Name)
		default:
			if items = ownColumns(v, one); needsSelf(v, one) && main != nil && !slices.Contains(main.Columns(), selfColumn(v.Name)) {
				items = spec.Names(v.Columns)
			}
		}
		if main == nil && items[0].File == "" {
			return nil, console.Inputf("view %s: no data file is given", notes.Quoted(v.Name))
		}
		s, err := fs.Resolve(items, main, nil)
		if err != nil {
			return nil, console.Inputf("view %s: %w", notes.Quoted(v.Name), err)
		}
		found, err := findInput(v, s, one, items[0].File != "")
		if err != nil {
			return nil, err
		}
		in.all = append(in.all, found)
	}
	return in, nil
}

// givenColumns reads the values of -view: the columns of some of the model's views, by the names of these.
func givenColumns(n *notes.Notes, texts []string) (map[string][]spec.Item, error) {
	names := n.ViewNames()
	given := map[string][]spec.Item{}
	for _, text := range texts {
		v, err := spec.ParseView(text)
		if err != nil {
			return nil, console.Inputf("-view %w", err)
		}
		switch {
		case v.Kernels != nil, v.Parts != nil:
			return nil, console.Inputf("-view %s: the model has its kernels already", text)
		case v.Name == "" && len(names) == 1:
			v.Name = names[0]
		}
		if !slices.Contains(names, v.Name) {
			return nil, console.Inputf("-view %s: the model has no view %q (%s)", text, v.Name, spec.List(names))
		}
		given[v.Name] = v.Columns
	}
	return given, nil
}

// findInput asks for the columns of an input among the columns of a source; ofFile reports whether these are all
// columns of a file.
func findInput(v notes.View, s console.Source, of mkl.ModelInput, ofFile bool) (input, error) {
	if v.Strings != nil {
		s, err := stringColumn(s, v.Columns[0])
		if err != nil {
			return input{}, console.Inputf("view %s: %w", notes.Quoted(v.Name), err)
		}
		s.File.Need(s.Columns[0], table.OptionalLabel)
		return input{Source: s, strings: v.Strings}, nil
	}
	need := v.Features()
	if v.Plan == nil {
		need = v.Numbers(of.Cols) // a given kernel may need one column more than the fit
	}
	if ofFile {
		// Of a file with names, columns that the fit left out do not matter, nor does the order.
		columns, err := spec.Select(ownColumns(v, of), s.File.Columns(), nil)
		if err != nil && len(s.Columns) != len(need) && needsSelf(v, of) {
			columns, err = spec.Select(spec.Names(v.Columns), s.File.Columns(), nil)
		}
		if err == nil && (len(columns) == len(need) || len(columns) == len(v.Columns)) {
			s.Columns = columns
		}
	}
	in := input{Source: s, gaps: of.MissingViews}
	if needsSelf(v, of) && len(s.Columns) == len(v.Columns) {
		in.without, need = &v, need[:len(v.Columns)]
	}
	if len(s.Columns) != len(need) {
		return input{}, console.Inputf("view %s: %s has %s where the model needs %s%s", notes.Quoted(v.Name), s.File.Name(), console.Plural(len(s.Columns), "column"),
			needed(v, of, len(need)), missingColumns(v, s.File))
	}
	in.plan = need
	for k, j := range s.Columns {
		s.File.Want(plan.Want(need[k], j, true))
	}
	return in, nil
}

// Plan is how the columns of the i-th input become features: nil of strings.
func (in *Inputs) Plan(i int) []plan.Column { return in.all[i].plan }

// Source is the columns of the i-th input.
func (in *Inputs) Source(i int) console.Source { return in.all[i].Source }

// Plans are the plans of all inputs, for the words of [Shortfall.Warn].
func (in *Inputs) Plans() (all [][]plan.Column) {
	for _, one := range in.all {
		all = append(all, one.plan)
	}
	return all
}

// Features makes features of the columns that were read of so many rows. It returns the features of the rows that
// have no value missing, which are kept, and adds to gaps what is wrong with the others.
func (in *Inputs) Features(ctx context.Context, rows, workers int, gaps *Shortfall) (x []mkl.Features, kept []int, err error) {
	missing := make([]bool, rows)
	note := func(gone []bool) {
		for i, gone := range gone {
			missing[i] = missing[i] || gone
		}
	}
	note(in.Files.Alone)
	similar := map[int][]mkl.Features{}
	for _, one := range in.all {
		if one.strings != nil {
			k, gone, err := in.similarities(ctx, one, workers, similar)
			if err != nil {
				return nil, nil, console.Input(err)
			}
			x = append(x, k)
			note(gone)
			continue
		}
		encoded := plan.Encode(one.plan, one.Columns, &one.File.Data)
		if one.gaps {
			encoded.Lack()
		}
		if one.without != nil {
			if encoded.X, err = addSelf(*one.without, one.File, encoded.X, in.Files.All[0].Joined(), in.Files.Alone); err != nil {
				return nil, nil, err
			}
		}
		x = append(x, encoded.X)
		note(encoded.Missing)
		gaps.AddCells(encoded)
	}
	for i := range rows {
		if !missing[i] {
			kept = append(kept, i)
		}
	}
	gaps.Rows += rows
	if left := rows - len(kept); left > 0 {
		if gaps.Missing += left; gaps.First == nil {
			gaps.First = in.firstGap(missing)
		}
		for k := range x {
			x[k] = x[k].TakeRows(kept)
		}
	}
	return x, kept, nil
}

// firstGap says what is missing in the first of the rows in which something is missing.
func (in *Inputs) firstGap(missing []bool) error {
	i := slices.Index(missing, true)
	if in.Files.Alone != nil && in.Files.Alone[i] {
		return in.Files.AloneError(i)
	}
	for _, one := range in.all {
		d := &one.File.Data
		if one.strings != nil && columnStrings(one.Source)[i] == "" {
			return d.Cell(i, one.Columns[0], "the cell is empty")
		}
		for k, column := range one.plan {
			j := one.Columns[k]
			if column.Fill != nil || column.Type == table.Text && d.Labels[j][i] != "" || column.Type != table.Text && d.Numbers[j][i] == d.Numbers[j][i] {
				continue
			}
			if first := d.Gaps[j].First; d.IsRow(first, i) {
				return first // which also says what is wrong with it
			}
			return d.Cell(i, j, "the cell is empty or cannot be read")
		}
	}
	return nil // not reached: something is missing in the row
}
