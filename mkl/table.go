package mkl

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/slab"
)

// Table is a matrix with some or all entries observed: [Ratings],
// [SparseTable] or a [DenseTable] matrix.
type Table interface {
	// Dims returns the numbers of rows and columns.
	Dims() (rows, cols int)

	// check returns an error for an entry that no table can have. It lays nothing out: a table of few entries may claim any number of
	// rows and columns.
	check(arg string) error

	// observed lays out the entries of a table that has passed check.
	observed() (*slab.Observed, error)
}

// DenseTable is a complete table, a slice for each row; NaN marks an entry that is
// not observed.
type DenseTable [][]float64

// Dims implements [Table].
func (d DenseTable) Dims() (rows, cols int) {
	if len(d) == 0 {
		return 0, 0
	}
	return len(d), len(d[0])
}

func (d DenseTable) check(arg string) error {
	for i, row := range d {
		if len(row) != len(d[0]) {
			return fmt.Errorf("mkl: %s[%d]: %d values where %s[0] has %d", arg, i, len(row), arg, len(d[0]))
		}
		for j, v := range row {
			if math.IsInf(v, 0) {
				return &ValueError{Arg: arg, Row: i, Col: j, Value: v}
			}
		}
	}
	rows, cols := d.Dims()
	if rows == 0 || cols == 0 {
		return fmt.Errorf("mkl: %s: %d×%d: it is empty", arg, rows, cols)
	}
	return nil
}

func (d DenseTable) observed() (*slab.Observed, error) {
	rows, cols := d.Dims()
	x := la.NewMatrix[float64](rows, cols)
	for i, row := range d {
		copy(x.Row(i), row)
	}
	return slab.ObserveMatrix(x)
}

// TableCell is the place in a table at row Row and column Col, which count from 0.
type TableCell struct{ Row, Col int }

// TableEntry is one observed entry of a table.
type TableEntry struct {
	TableCell
	Value float64 // the value of the entry
}

// SparseTable is a table with a list of the observed entries, in any order.
type SparseTable struct {
	Rows, Cols int          // of the whole table
	Entries    []TableEntry // the observed entries
}

// Dims implements [Table].
func (e SparseTable) Dims() (rows, cols int) { return e.Rows, e.Cols }

func (e SparseTable) check(arg string) error {
	for i, x := range e.Entries {
		if x.Row < 0 || x.Row >= e.Rows || x.Col < 0 || x.Col >= e.Cols {
			return fmt.Errorf("mkl: %s.List[%d]: (%d, %d) in a table of %d×%d", arg, i, x.Row, x.Col, e.Rows, e.Cols)
		}
	}
	return nil
}

func (e SparseTable) observed() (*slab.Observed, error) {
	list := make([]slab.Entry, len(e.Entries))
	for i, x := range e.Entries {
		list[i] = slab.Entry{Object: int32(x.Row), Task: int32(x.Col), Value: x.Value}
	}
	return slab.ObserveEntries(e.Rows, e.Cols, list)
}

// Ratings collects entries by the names of their rows and columns, such as users
// and films, of any comparable types. The zero value is an empty table. It is not
// safe for concurrent use.
//
//	var r mkl.Ratings[string, int]
//	r.Add("ada", 50, 4.5)
//	fit, err := mkl.FactorAnalysis{Factors: 20}.Fit(ctx, &r)
//	mean, variance, err := fit.Complete(r.At("ada", 51))
type Ratings[R, C comparable] struct {
	rows    keys[R]
	cols    keys[C]
	entries []slab.Entry
}

// keys numbers names in the order in which they first appear.
type keys[K comparable] struct {
	index map[K]int
	names []K
}

func (k *keys[K]) of(name K) int {
	i, ok := k.index[name]
	if !ok {
		if k.index == nil {
			k.index = map[K]int{}
		}
		i = len(k.names)
		k.index[name] = i
		k.names = append(k.names, name)
	}
	return i
}

// Add adds an entry, and its row and column if they are new. A fit to a table with the same entry
// twice is an error.
func (r *Ratings[R, C]) Add(row R, col C, value float64) {
	r.entries = append(r.entries, slab.Entry{Object: int32(r.rows.of(row)), Task: int32(r.cols.of(col)), Value: value})
}

// At returns the place of an entry, which need not be observed; its row and column
// are added if they are new.
func (r *Ratings[R, C]) At(row R, col C) TableCell { return TableCell{r.rows.of(row), r.cols.of(col)} }

// Len returns the number of entries.
func (r *Ratings[R, C]) Len() int { return len(r.entries) }

// Rows returns the names of the rows, in the order of the table.
func (r *Ratings[R, C]) Rows() []R { return append([]R(nil), r.rows.names...) }

// Cols returns the names of the columns, in the order of the table.
func (r *Ratings[R, C]) Cols() []C { return append([]C(nil), r.cols.names...) }

// Dims implements [Table].
func (r *Ratings[R, C]) Dims() (rows, cols int) { return len(r.rows.names), len(r.cols.names) }

func (r *Ratings[R, C]) check(arg string) error {
	for _, e := range r.entries {
		if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
			return fmt.Errorf("mkl: %s: the entry of row %v and column %v is %g", arg, r.rows.names[e.Object], r.cols.names[e.Task], e.Value)
		}
	}
	return nil
}

func (r *Ratings[R, C]) observed() (*slab.Observed, error) {
	rows, cols := r.Dims()
	return slab.ObserveEntries(rows, cols, r.entries)
}

// observe checks the entries of the table y and lays them out.
func observe(y Table) (*slab.Observed, error) {
	if err := y.check("y"); err != nil {
		return nil, err
	}
	return layOut(y)
}

// layOut lays out the entries of the table y, which has passed its check.
func layOut(y Table) (*slab.Observed, error) {
	o, err := y.observed()
	if err != nil {
		err = fmt.Errorf("mkl: y: %w", err)
	}
	return o, err
}

// prefixed gives an error of another package the prefix of this one.
func prefixed[T any](x T, err error) (T, error) {
	if err != nil {
		err = fmt.Errorf("mkl: %w", err)
	}
	return x, err
}
