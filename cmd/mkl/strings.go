package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/sequence"
)

// A view whose kernels are of strings has one column. To the estimator each of its kernels is
// a view of a kernel matrix that is given; the model's notes keep the strings.

// compared is the strings of a view with their kernels.
type compared struct {
	set   *sequence.Set
	views []mkl.View // one for each kernel, between all strings; nil before they are computed
}

// ofStrings reports whether a view's kernels are of strings.
func (v *view) ofStrings() bool {
	return slices.ContainsFunc(v.kernels, func(k spec.ViewKernel) bool { return k.Strings != nil })
}

// askStrings checks the kernels of a view of strings and asks for its column.
func (v *view) askStrings() error {
	for _, k := range v.kernels {
		if k.Strings == nil {
			return console.Inputf("view %s: kernels of strings and kernels of numbers need views of their own", quoted(v.name))
		}
		if k.Alphabet != v.kernels[0].Alphabet {
			return console.Inputf("view %s: the kernels of a view have one alphabet, not %s and %s", quoted(v.name),
				cmp.Or(v.kernels[0].Alphabet, "the one that the strings suggest"), cmp.Or(k.Alphabet, "the one that they suggest"))
		}
	}
	var err error
	if v.source, err = stringColumn(v.source, sequenceColumn); err != nil {
		return console.Inputf("view %s: %w", quoted(v.name), err)
	}
	v.source.File.Need(v.source.Columns[0], table.OptionalLabel)
	return nil
}

// sequenceColumn is what a FASTA file calls its strings.
const sequenceColumn = "sequence"

// stringColumn is the one column of a source: of several the one that has the name.
func stringColumn(s console.Source, name string) (console.Source, error) {
	if len(s.Columns) == 1 {
		return s, nil
	}
	at := slices.Index(s.Names(), name)
	if at < 0 {
		return s, fmt.Errorf("%s: kernels of strings are of one column, not %d, none of which is called %s", s.File.Name(), len(s.Columns), name)
	}
	return s.At([]int{at}), nil
}

// columnStrings returns the cells of a source's one column, which was read; one without a value is empty.
func columnStrings(s console.Source) []string { return s.File.Data.Labels[s.Columns[0]] }

// gather makes a set of the view's strings.
func (v *view) gather() (line string, err error) {
	set := &sequence.Set{Strings: columnStrings(v.source)}
	for _, k := range v.kernels {
		set.Kernels = append(set.Kernels, k.Strings)
	}
	if v.kernels[0].Alphabet == "" {
		set.Alphabet = sequence.AlphabetOf(set.Strings)
	} else if set.Alphabet, err = sequence.ParseAlphabet(v.kernels[0].Alphabet); err != nil {
		return "", console.Input(err)
	}
	if err := set.Check(); err != nil {
		return "", console.Inputf("view %s: %w", quoted(v.name), err)
	}
	v.strings = &compared{set: set}
	return fmt.Sprintf("%s is strings (%v)", v.source.Names()[0], set.Alphabet), nil
}

// compare computes the kernels of all views of strings.
func (p *problem) compare(ctx context.Context) error {
	rows := 0
	for _, v := range p.views {
		if v.strings != nil && v.strings.views == nil {
			rows += len(v.strings.set.Strings) * len(v.kernels)
		}
	}
	if rows == 0 {
		return nil
	}
	bar := console.NewProgress(p.bar.env, p.bar.quiet, rows, "rows of kernels")
	defer bar.Finish()
	for _, v := range p.views {
		if v.strings == nil || v.strings.views != nil {
			continue
		}
		set := *v.strings.set
		set.Workers, set.Progress = p.Workers, bar.Add
		var err error
		if v.strings.views, err = set.Views(ctx); err != nil {
			return console.Inputf("view %s: %w", quoted(v.name), err)
		}
		for k := range v.strings.views {
			v.strings.views[k].Name = stringView(v.name, set.Kernels[k])
		}
	}
	return nil
}

// stringView is what the model calls the view of one kernel on the strings of the
// command's view called name.
func stringView(name string, k sequence.Kernel) string {
	return strings.TrimSpace(name + " " + k.String())
}

// some is what remains of the strings and of the kernels with some of the rows.
func (c *compared) some(rows []int) *compared {
	set := *c.set
	set.Strings = make([]string, len(rows))
	for n, i := range rows {
		set.Strings[n] = c.set.Strings[i]
	}
	part := &compared{set: &set, views: slices.Clone(c.views)}
	for k := range part.views {
		part.views[k].X = c.views[k].X.Take(rows, rows)
	}
	return part
}

// inputs is what a model fitted to some of the rows takes to predict others; columns
// are those that its inputs have.
func (c *compared) inputs(fitted, rows, columns []int) (x []mkl.Features) {
	for k, v := range c.views {
		x = append(x, withSelf(v.X.Take(rows, fitted), columns[k], func(n int) float64 { return v.X.At(rows[n], rows[n]) }))
	}
	return x
}

// withSelf adds to kernels with training samples the column of each row's kernel with
// itself, where a model takes it.
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

// stringNote says which kernel of which strings an input of the model is.
type stringNote struct {
	Set    int `json:"set"` // of notes.Strings, counted from 0
	Kernel int `json:"kernel"`
}

// describeStrings adds the inputs of a view of strings to the notes. Before the data are
// read their strings are not known.
func (n *notes) describeStrings(v *view, note viewNote) {
	if v.strings == nil {
		return
	}
	n.Strings = append(n.Strings, v.strings.set)
	for k := range v.kernels {
		note.Strings = &stringNote{len(n.Strings) - 1, k}
		n.Views = append(n.Views, note)
	}
}

// kernelOf is the kernel of strings that an input is, nil if it is none.
func (n *notes) kernelOf(v viewNote) sequence.Kernel {
	if v.Strings == nil {
		return nil
	}
	return n.Strings[v.Strings.Set].Kernels[v.Strings.Kernel]
}

// badStrings reports whether a note names strings or kernels that are not there.
func (n *notes) badStrings(v viewNote) bool {
	s := v.Strings
	return s != nil && (s.Set < 0 || s.Set >= len(n.Strings) || n.Strings[s.Set] == nil ||
		s.Kernel < 0 || s.Kernel >= len(n.Strings[s.Set].Kernels) || len(v.Columns) != 1)
}

// named is what the command calls a model's view and kernel: those of strings by the view's
// own name and the kernel's notation.
func (n *notes) named(view, kernel string) (string, string) {
	for _, v := range n.Views {
		k := n.kernelOf(v)
		if k == nil {
			continue
		}
		if member, ok := strings.CutSuffix(view, stringView(v.Name, k)); ok {
			return member + cmp.Or(v.Name, k.String()), k.String()
		}
	}
	return view, kernel
}

// similarities are the kernels of an input's strings with those of the model. All
// kernels of a set are computed at once: done has those of the sets before.
func (o *opened) similarities(ctx context.Context, in input, workers int, done map[int][]mkl.Features) (mkl.Features, []bool, error) {
	cells := columnStrings(in.Source)
	if done[in.strings.Set] == nil {
		set := *o.notes.Strings[in.strings.Set]
		set.Workers = workers
		x, err := set.Inputs(ctx, cells)
		if err != nil {
			return mkl.Features{}, nil, err
		}
		done[in.strings.Set] = x
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
	return done[in.strings.Set][in.strings.Kernel], missing, nil
}
