package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// Part checks a part of a state or of some settings: its error names the part and the first value
// that is not allowed.
type Part func() error

// Parts returns the error of the first part that has one.
func Parts(parts ...Part) error {
	for _, check := range parts {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// Allowed says which values a number may have.
type Allowed func(v float64) bool

// Finite reports whether v is neither infinite nor NaN.
func Finite(v float64) bool { return v-v == 0 }

// Positive reports whether v is positive and finite.
func Positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// NotNegative reports whether v is at least 0 and finite.
func NotNegative(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// AboveZero reports whether v is positive; it may be infinite.
func AboveZero(v float64) bool { return v > 0 }

// Deviation reports whether a standard deviation and its precision are positive and finite.
func Deviation(sd float64) bool { return sd > 0 && Positive(1/(sd*sd)) }

// That checks a condition; where it does not hold, the error has this format.
func That(holds bool, format string, args ...any) Part {
	return func() error {
		if holds {
			return nil
		}
		return fmt.Errorf(format, args...)
	}
}

// Number checks a number.
func Number(name string, v float64, allowed Allowed) Part {
	return func() error {
		if !allowed(v) {
			return fmt.Errorf("%s is %g", name, v)
		}
		return nil
	}
}

// Length checks the number of entries of a slice.
func Length(name string, entries, wanted int) Part {
	return That(entries == wanted, "%s: %d entries where %d are needed", name, entries, wanted)
}

// Vector checks the entries of a slice.
func Vector(name string, x []float64, allowed Allowed) Part {
	return func() error {
		if i := slices.IndexFunc(x, func(v float64) bool { return !allowed(v) }); i >= 0 {
			return fmt.Errorf("%s[%d] is %g", name, i, x[i])
		}
		return nil
	}
}

// Shape checks the shape of a matrix.
func Shape(name string, x la.Matrix[float64], rows, cols int) Part {
	return func() error {
		if x.Rows != rows || x.Cols != cols || !x.Valid() {
			return fmt.Errorf("%s: %d×%d (stride %d, %d elements) where %d×%d is needed",
				name, x.Rows, x.Cols, x.Stride, len(x.Data), rows, cols)
		}
		return nil
	}
}

// Matrix checks the shape and the entries of a matrix.
func Matrix(name string, x la.Matrix[float64], rows, cols int, allowed Allowed) Part {
	return entries(name, x, rows, cols, allowed, func(int) (first, end int) { return 0, cols })
}

// Lower checks the shape of a matrix, and that the entries of its lower triangle are finite.
func Lower(name string, x la.Matrix[float64], n int) Part {
	return entries(name, x, n, n, Finite, func(i int) (first, end int) { return 0, i + 1 })
}

// Upper checks the shape of a matrix, and that the entries of its upper triangle are finite.
func Upper(name string, x la.Matrix[float64], n int) Part {
	return entries(name, x, n, n, Finite, func(i int) (first, end int) { return i, n })
}

// entries checks the shape of a matrix and the entries of a range of each row.
func entries(name string, x la.Matrix[float64], rows, cols int, allowed Allowed, of func(row int) (first, end int)) Part {
	shape := Shape(name, x, rows, cols)
	return func() error {
		if err := shape(); err != nil {
			return err
		}
		for i := range rows {
			first, end := of(i)
			for j, v := range x.Row(i)[first:end] {
				if !allowed(v) {
					return fmt.Errorf("%s: entry (%d, %d) is %g", name, i, first+j, v)
				}
			}
		}
		return nil
	}
}

// Cholesky checks that the lower triangle of x is a Cholesky factor of order n.
func Cholesky(name string, x la.Matrix[float64], n int) Part {
	shape := Shape(name, x, n, n)
	return func() error {
		if err := shape(); err != nil {
			return err
		}
		for i := range n {
			row := x.Row(i)[:i+1]
			if NonFinite(row) >= 0 || !(row[i] > 0) {
				return fmt.Errorf("%s: row %d is not a row of a Cholesky factor", name, i)
			}
		}
		return nil
	}
}
