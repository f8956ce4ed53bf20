package dataset

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
)

// View is columns of a file with their kernels. A view without kernels is open: the data suggest its kernels.
type View struct {
	Name    string
	Source  console.Source
	Kernels Kernels
	Left    []plan.LeftOut // columns that are no features

	wants []table.Want // how the columns are read
}

// Open reports whether a view is open.
func Open(views []View) bool {
	return slices.ContainsFunc(views, func(v View) bool { return v.Kernels == nil })
}

// NewView makes a view of columns, which it asks for as -as says.
func NewView(name string, source console.Source, kernels Kernels, as Conversions) (View, error) {
	v := View{Name: name, Source: source, Kernels: kernels}
	if kernels.OfStrings() {
		return v.ofStrings()
	}
	return as.apply(v)
}

// Ask asks the view's file for its columns. If lenient, cells that cannot be read count as missing in columns whose type the cells decide.
func (v View) Ask(lenient bool) {
	for _, want := range v.wants {
		want.Lenient = lenient && want.As == ""
		v.Source.File.Want(want)
	}
}

// AskAll is [View.Ask], where cells that cannot be read count as missing in all columns.
func (v View) AskAll() {
	for _, want := range v.wants {
		want.Lenient = true
		v.Source.File.Want(want)
	}
}

// Only is the view with some of the columns of its file.
func (v View) Only(columns []int) View {
	v.Source = v.Source.Only(columns)
	return v
}

// findViews finds the views of -view in the files: columns of main but those in except, or all columns of a file of
// their own.
func findViews(fs *console.Files, main *console.File, texts []string, kernels string, as Conversions, except []int) ([]View, error) {
	if len(texts) == 0 {
		texts = []string{"*"}
	}
	defaults, err := ParseKernels(kernels)
	if err != nil {
		return nil, console.Inputf("-kernels %s: %w", kernels, err)
	}
	var all []View
	for i, text := range texts {
		fail := func(err error) ([]View, error) { return nil, console.Inputf("-view %s: %w", text, err) }
		parsed, err := spec.ParseView(text)
		if err != nil {
			return nil, console.Inputf("-view %w", err)
		}
		name := parsed.Name
		if name == "" && len(texts) > 1 {
			name = fmt.Sprintf("view%d", i+1)
		}
		if slices.ContainsFunc(all, func(w View) bool { return w.Name == name }) {
			return nil, console.Inputf("-view: two views are called %q", name)
		}
		source, err := fs.Resolve(parsed.Columns, main, except)
		if err != nil {
			return fail(err)
		}
		own := defaults
		if parsed.Parts != nil {
			product, err := productOf(parsed, main)
			if err != nil {
				return fail(err)
			}
			own = Kernels{product}
		}
		if parsed.Kernels != nil {
			if own, err = buildKernels(parsed.Kernels); err != nil {
				return fail(err)
			}
		}
		v, err := NewView(name, source, own, as)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
