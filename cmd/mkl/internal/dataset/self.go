package dataset

import (
	"fmt"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/mkl"
)

// needsSelf reports whether an input of a given kernel needs one column more than the fit: the kernel of each row with itself, k(x, x). The fit
// took it from the diagonal.
func needsSelf(v notes.View, in mkl.ModelInput) bool {
	return v.Strings == nil && v.Plan == nil && in.Cols == len(v.Columns)+1
}

// selfColumn is the name of the column of k(x, x) of a view.
func selfColumn(v notes.View) string {
	if v.Name == "" {
		return "self"
	}
	return v.Name + "_self"
}

// ownColumns are the columns of the fit of a view, and the column of k(x, x) if its input needs that.
func ownColumns(v notes.View, in mkl.ModelInput) []spec.Item {
	items := spec.Names(v.Columns)
	if needsSelf(v, in) {
		items = append(items, spec.Names([]string{selfColumn(v)})...)
	}
	return items
}

// checkSelf returns an error if a file lacks the column of k(x, x), which no -view names.
func checkSelf(v notes.View, in mkl.ModelInput, f *console.File) error {
	if !needsSelf(v, in) {
		return nil
	}
	if _, err := spec.Select(spec.Names([]string{selfColumn(v)}), f.Columns(), nil); err != nil {
		return console.Inputf("view %s: %s lacks the column %s, the kernel of each row with itself, k(x, x): "+
			"predictions need it beside the kernels with the training samples (-view NAME=COLUMNS names other columns, and this one last)",
			notes.Quoted(v.Name), f.Name(), selfColumn(v))
	}
	return nil
}

// needed says how many columns an input has, and what they are where that is not plain.
func needed(v notes.View, in mkl.ModelInput, columns int) string {
	if !needsSelf(v, in) {
		return fmt.Sprint(columns)
	}
	return fmt.Sprintf("%d: the kernels with the %d training samples, and last the kernel of each row with itself, k(x, x)", columns, columns-1)
}
