package dataset

import (
	"fmt"
	"math"

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

// selfColumn is the name of the column of k(x, x) of a view with a name.
func selfColumn(view string) string {
	if view == "" {
		return "self"
	}
	return view + "_self"
}

// ownColumns are the columns of the fit of a view, and the column of k(x, x) if its input needs that.
func ownColumns(v notes.View, in mkl.ModelInput) []spec.Item {
	items := spec.Names(v.Columns)
	if needsSelf(v, in) {
		items = append(items, spec.Names([]string{selfColumn(v.Name)})...)
	}
	return items
}

// diagonalTolerance is how far a kernel on a file may be from 1, or from its mirror image, by rounding.
const diagonalTolerance = 1e-9

// unitDiagonal reports whether all samples of a kernel that is given have k(x, x) = 1.
func unitDiagonal(x mkl.Features) bool {
	for i := range x.Rows {
		if !(math.Abs(x.At(i, i)-1) <= diagonalTolerance) {
			return false
		}
	}
	return x.Rows == x.Cols
}

// symmetric reports whether kernels with the samples of a fit are symmetric, as they are if the rows are these samples.
func symmetric(x mkl.Features) bool {
	if x.Rows != x.Cols {
		return false
	}
	for i := range x.Rows {
		for j := range i {
			if !(math.Abs(x.At(i, j)-x.At(j, i)) <= float64(diagonalTolerance*(math.Abs(x.At(i, i))+math.Abs(x.At(j, j))))) {
				return false
			}
		}
	}
	return true
}

// addSelf adds the column of k(x, x) to kernels with the samples of the fit, in a file without that column. The column is 1 if k(x, x) is 1
// for all samples of the fit. Otherwise every row must be a sample of the fit, which has k(x, x) among its kernels. With -join the names of the
// rows, ids, tell; rows that are alone have no prediction, and may be others. Without -join, ids are nil, and the rows are the samples of the fit
// if the kernels are symmetric.
func addSelf(v notes.View, f *console.File, x mkl.Features, ids []string, alone []bool) (mkl.Features, error) {
	one := func(int) float64 { return 1 }
	if v.UnitDiagonal {
		return withSelf(x, x.Cols+1, one), nil
	}
	if at := Places(v.Columns); ids != nil {
		for i, id := range ids {
			if _, ok := at[id]; !ok && (alone == nil || !alone[i]) {
				return x, console.Inputf("view %s: %s lacks the column %s, the kernel of each row with itself, k(x, x): the row %q is not a sample of the fit, and its k(x, x) is not known",
					notes.Quoted(v.Name), f.Name(), selfColumn(v.Name), id)
			}
		}
		return withSelf(x, x.Cols+1, func(row int) float64 { return x.At(row, at[ids[row]]) }), nil
	}
	if symmetric(x) {
		return withSelf(x, x.Cols+1, func(row int) float64 { return x.At(row, row) }), nil
	}
	return x, console.Inputf("view %s: %s lacks the column %s, the kernel of each row with itself, k(x, x): "+
		"predictions need it beside the kernels with the training samples (-view NAME=COLUMNS names other columns, and this one last), "+
		"unless k(x, x) is 1 for all samples of the fit, or all rows are samples of the fit", notes.Quoted(v.Name), f.Name(), selfColumn(v.Name))
}

// needed says how many columns an input has, and what they are where that is not plain.
func needed(v notes.View, in mkl.ModelInput, columns int) string {
	if !needsSelf(v, in) {
		return fmt.Sprint(columns)
	}
	return fmt.Sprintf("%d: the kernels with the %d training samples, and last the kernel of each row with itself, k(x, x)", columns, columns-1)
}

// missingColumns names the first column of the fit that a file of kernels lacks; nothing if it has them all.
func missingColumns(v notes.View, f *console.File) string {
	at, missing, first := Places(f.Columns()), 0, ""
	for _, name := range v.Columns {
		if _, ok := at[name]; !ok {
			if missing++; missing == 1 {
				first = name
			}
		}
	}
	if missing == 0 || missing == len(v.Columns) {
		return "" // no file with names
	}
	return fmt.Sprintf(": %d of %s of the fit are missing, the first is %q", missing, console.Plural(len(v.Columns), "column"), first)
}
