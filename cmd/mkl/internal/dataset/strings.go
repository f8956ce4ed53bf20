package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/sequence"
)

// A view whose kernels are of strings has one column. For the estimator each of its kernels is a view of a kernel
// matrix that is given; the model's notes keep the strings.

// Strings is the strings of a view.
type Strings struct {
	Set   *sequence.Set
	views []mkl.View // the kernel matrices between all strings, one for each kernel; nil before Samples.Compare
}

// sequenceColumn is what a FASTA file calls its strings.
const sequenceColumn = "sequence"

// ofStrings is a view of strings with the one column that it needs.
func (v View) ofStrings() (View, error) {
	for _, k := range v.Kernels {
		if k.Strings == nil {
			return v, console.Inputf("view %s: kernels of strings and kernels of numbers need views of their own", notes.Quoted(v.Name))
		}
		if k.Alphabet != v.Kernels[0].Alphabet {
			return v, console.Inputf("view %s: the kernels of a view have one alphabet, not %s and %s", notes.Quoted(v.Name),
				cmp.Or(v.Kernels[0].Alphabet, "the one that the strings suggest"), cmp.Or(k.Alphabet, "the one that they suggest"))
		}
	}
	var err error
	if v.Source, err = stringColumn(v.Source, sequenceColumn); err != nil {
		return v, console.Inputf("view %s: %w", notes.Quoted(v.Name), err)
	}
	v.wants = []table.Want{{Column: v.Source.Columns[0], Kind: table.OptionalLabel}}
	return v, nil
}

// stringColumn is the one column of a source: of several columns the one that has the name.
func stringColumn(s console.Source, name string) (console.Source, error) {
	if len(s.Columns) == 1 {
		return s, nil
	}
	at := slices.Index(s.Names(), name)
	if at < 0 {
		return s, fmt.Errorf("%s: a kernel of strings takes one column, not %d without one called %s", s.File.Name(), len(s.Columns), name)
	}
	return s.At([]int{at}), nil
}

// columnStrings returns the cells of a source's one column, which was read; a cell without a value is empty.
func columnStrings(s console.Source) []string { return s.File.Data.Labels[s.Columns[0]] }

// gather makes a set of the view's strings.
func (v View) gather() (*sequence.Set, error) {
	set := &sequence.Set{Strings: columnStrings(v.Source)}
	for _, k := range v.Kernels {
		set.Kernels = append(set.Kernels, k.Strings)
	}
	var err error
	if v.Kernels[0].Alphabet == "" {
		set.Alphabet = sequence.AlphabetOf(set.Strings)
	} else if set.Alphabet, err = sequence.ParseAlphabet(v.Kernels[0].Alphabet); err != nil {
		return nil, console.Input(err)
	}
	if err := set.Check(); err != nil {
		return nil, console.Inputf("view %s: %w", notes.Quoted(v.Name), err)
	}
	return set, nil
}

// Compare computes the kernels of all views of strings. A progress bar shows how far it is, unless quiet.
func (s *Samples) Compare(e *console.Env, quiet bool, workers int) (*Samples, error) {
	rows := 0
	for _, f := range s.Features {
		if f.Strings != nil && f.Strings.views == nil {
			rows += len(f.Strings.Set.Strings) * len(f.Kernels)
		}
	}
	if rows == 0 {
		return s, nil
	}
	bar := console.NewProgress(e, quiet, rows, "rows of kernels")
	defer bar.Finish()
	compared := *s
	compared.Features = slices.Clone(s.Features)
	for i, f := range s.Features {
		if f.Strings == nil || f.Strings.views != nil {
			continue
		}
		set := *f.Strings.Set
		set.Workers, set.Progress = workers, bar.Add
		views, err := set.Views(e.Ctx)
		if err != nil {
			return nil, console.Inputf("view %s: %w", notes.Quoted(f.Name), err)
		}
		for k := range views {
			name := notes.StringView(f.Name, set.Kernels[k])
			views[k].Name, views[k].Input = name, name
		}
		compared.Features[i].Strings = &Strings{f.Strings.Set, views}
	}
	return &compared, nil
}

// some is the strings and the kernels of some of the rows.
func (c *Strings) some(rows []int) *Strings {
	if c == nil {
		return nil
	}
	set := *c.Set
	set.Strings = make([]string, len(rows))
	for n, i := range rows {
		set.Strings[n] = c.Set.Strings[i]
	}
	part := &Strings{Set: &set, views: slices.Clone(c.views)}
	for k := range part.views {
		part.views[k].X = c.views[k].X.Take(rows, rows)
	}
	return part
}

// inputs is what a model fitted to some of the rows takes to predict others. columns are the numbers of columns of
// the model's inputs.
func (c *Strings) inputs(fitted, rows, columns []int) (x []mkl.Features) {
	for k, v := range c.views {
		x = append(x, withSelf(v.X.Take(rows, fitted), columns[k], func(n int) float64 { return v.X.At(rows[n], rows[n]) }))
	}
	return x
}

// withSelf adds to kernels with training samples the column of each row's kernel with itself, where a model takes
// that column.
func withSelf(x mkl.Features, columns int, self func(row int) float64) mkl.Features {
	if columns != x.Cols+1 {
		return x
	}
	wide := la.NewMatrix[float64](x.Rows, columns)
	for n := range x.Rows {
		copy(wide.Row(n), x.Row(n))
		wide.Set(n, x.Cols, self(n))
	}
	return wide
}

// similarities are the kernels of an input's strings with the strings of the model, and which rows have no string.
// All kernels of a set are computed at once: done keeps them for the set's other inputs.
func (in *Inputs) similarities(ctx context.Context, of input, workers int, done map[int][]mkl.Features) (mkl.Features, []bool, error) {
	cells := columnStrings(of.Source)
	if done[of.strings.Set] == nil {
		set := *in.notes.Strings[of.strings.Set]
		set.Workers = workers
		x, err := set.Inputs(ctx, cells)
		if err != nil {
			return mkl.Features{}, nil, err
		}
		done[of.strings.Set] = x
	}
	var missing []bool
	for i, cell := range cells {
		if cell == "" {
			if missing == nil {
				missing = make([]bool, len(cells))
			}
			missing[i] = true
		}
	}
	return done[of.strings.Set][of.strings.Kernel], missing, nil
}
