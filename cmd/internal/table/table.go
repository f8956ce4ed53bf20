// Package table reads the columns of data files: text, also compressed, and the formats
// of NumPy, Parquet, Arrow, LIBSVM and MATLAB, recognised by their content. Every mistake in a
// file is reported with the file's name, the row and the column.
package table

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"strconv"

	"github.com/bmkl/bmkl/internal/encode"
)

// Kind says what the cells of a column are to be.
type Kind int

// Kinds of columns.
const (
	Number        Kind = iota // finite numbers
	Optional                  // finite numbers, or nothing: what [Missing] says is so, which reads as NaN
	Label                     // any text that is not empty
	OptionalLabel             // any text, or nothing, which reads as empty text
	Undecided                 // any text; [Data.Decide] makes it one of the others
	Any                       // what the cells are, or what Want.As says, or nothing; [Data.Types] has the type
)

// text reports whether the cells are read as text.
func (k Kind) text() bool { return k == Label || k == OptionalLabel || k == Undecided }

// Missing reports whether a cell says that there is nothing.
func Missing(cell string) bool { return encode.Missing(cell) }

// Want asks for one column, counted from 0.
type Want struct {
	Column int
	Kind   Kind

	// These are for columns of Any.
	As      Type // what the cells are; none if they are to tell
	Lenient bool // a cell that cannot be read counts as missing
}

// Gap says where a column of Any has nothing.
type Gap struct {
	Count int
	First *CellError // the first such cell, nil without such a cell

	// Of lenient columns:
	Wrong      int        // how many of these cells are not empty, but cannot be read
	FirstWrong *CellError // the first cell that cannot be read, nil without such a cell
}

// Data holds the columns that were asked for, of all rows or of a block of them.
type Data struct {
	Rows    int
	Numbers map[int][]float64 // by column
	Labels  map[int][]string  // by column
	Types   map[int]Type      // of columns of Any: their cells are in Labels if it is [Text], else in Numbers
	Gaps    map[int]Gap       // of columns of Any

	name    string
	columns []string
	first   int   // the row of the file that is the first of a block
	lines   []int // of the rows of a text file
	rows    []int // the rows read that were kept; nil: all
}

// Source is a file whose columns are known and whose cells are still to be read.
type Source interface {
	Name() string      // for messages
	Columns() []string // their names, each another, or their positions from 1 where they have none
	Rows() int         // their number, or -1 if it is not known before reading
	Remarks() []string // what is to be said of the file's layout

	// Blocks reads the columns wanted, each at most once, in blocks of the given number of rows; the
	// last may have fewer; 0 is all rows in one. It can be called once. A table without rows has a
	// block without rows, and an error ends it. A column of Any that does not say what it is, is what
	// the cells of the first block are.
	//
	// Text, NPY by rows, Parquet and Arrow are read block by block; files of other formats do not
	// lie so, and are in memory by the columns wanted until the last block.
	Blocks(want []Want, rows int) iter.Seq2[Data, error]
}

// Read reads the columns wanted of all rows of a source.
func Read(s Source, want []Want) (d Data, err error) {
	for d, err = range s.Blocks(want, 0) { // there is one
	}
	return d, err
}

// blocks yields what read returns, block after block, until one has fewer rows than asked for.
func blocks(rows int, read func(first int) (Data, error)) iter.Seq2[Data, error] {
	return func(yield func(Data, error) bool) {
		for first := 0; ; {
			d, err := read(first)
			if err == nil && d.Rows == 0 && first > 0 {
				return
			}
			if !yield(d, err) || err != nil || d.Rows < rows || rows == 0 {
				return
			}
			first += d.Rows
		}
	}
}

// CellError is a mistake in one cell or row.
type CellError struct {
	File   string
	Row    int    // counted from 1, without the header
	Line   int    // of a text file, counted from 1; 0 in others
	Column int    // counted from 0; -1 if the whole row is meant
	Name   string // of the column, if it has one
	Msg    string
}

func (e *CellError) Error() string {
	where := fmt.Sprintf("%s: row %d", e.File, e.Row)
	if e.Line > 0 {
		where += fmt.Sprintf(" (line %d)", e.Line)
	}
	if e.Column >= 0 {
		where += fmt.Sprintf(", column %d", e.Column+1)
		if e.Name != "" && e.Name != strconv.Itoa(e.Column+1) {
			where += fmt.Sprintf(" %q", short(e.Name))
		}
	}
	return where + ": " + e.Msg
}

// newData returns data without rows, of a block that begins with the row first.
func newData(s Source, want []Want, first int) Data {
	d := Data{
		Numbers: map[int][]float64{}, Labels: map[int][]string{}, Types: map[int]Type{}, Gaps: map[int]Gap{},
		name: s.Name(), columns: s.Columns(), first: first,
	}
	for _, w := range want {
		switch {
		case w.Kind == Any:
		case w.Kind.text():
			d.Labels[w.Column] = nil
		default:
			d.Numbers[w.Column] = nil
		}
	}
	return d
}

// Cell returns the error of a cell of row i, counted from 0, of what was read.
func (d *Data) Cell(i, column int, msg string) *CellError {
	e := d.Row(i, msg)
	e.Column, e.Name = column, d.columns[column]
	return e
}

// Row returns the error of row i, counted from 0, of what was read.
func (d *Data) Row(i int, msg string) *CellError {
	if d.rows != nil {
		i = d.rows[i]
	}
	e := &CellError{File: d.name, Row: d.first + i + 1, Column: -1, Msg: msg}
	if i < len(d.lines) {
		e.Line = d.lines[i]
	}
	return e
}

// IsRow reports whether an error is of row i, counted from 0, of what was read.
func (d *Data) IsRow(e *CellError, i int) bool {
	if d.rows != nil {
		i = d.rows[i]
	}
	return e != nil && e.Row == d.first+i+1
}

// Pick keeps the rows named, counted from 0, in the order named. Gaps stay the gaps of the
// whole file.
func (d *Data) Pick(rows []int) { *d = d.Some(rows) }

// Some returns the data of the rows named, as [Data.Pick] keeps them.
func (d *Data) Some(rows []int) Data {
	some := *d
	some.Rows, some.rows = len(rows), make([]int, len(rows))
	for k, i := range rows {
		if some.rows[k] = i; d.rows != nil {
			some.rows[k] = d.rows[i]
		}
	}
	some.Numbers, some.Labels = map[int][]float64{}, map[int][]string{}
	for j, all := range d.Numbers {
		some.Numbers[j] = pick(all, rows)
	}
	for j, all := range d.Labels {
		some.Labels[j] = pick(all, rows)
	}
	return some
}

func pick[T any](all []T, rows []int) []T {
	some := make([]T, len(rows))
	for k, i := range rows {
		some[k] = all[i]
	}
	return some
}

func positions(n int) []string {
	names := make([]string, n)
	for j := range names {
		names[j] = strconv.Itoa(j + 1)
	}
	return names
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Options says how a text file is laid out.
type Options struct {
	Header    Header
	Separator rune // 0: the one of , ; and tab that the first line has most of

	// Decimal is what stands before the decimals of a number in text: '.' or ','; 0: a comma where commas do not
	// separate the cells, cells at the front of the file are such numbers, and no number has a point.
	Decimal rune

	// Sheet is the table of an Excel file to read; empty: the first.
	Sheet string

	// Sparse names columns that a LIBSVM file has even if all of their cells are 0,
	// which it does not list.
	Sparse []string

	// Blanks are texts that stand for an empty cell, beside what [Missing] says: see [encode.Blanks].
	Blanks []string

	// Memory is the most bytes that the cells of a block may take together with what is kept of the file; 0
	// means 20 GiB, which are 2³⁰ numbers while their columns grow. It is never more than a program can address.
	Memory int64
}

// memory returns the most bytes that cells may take.
func (opt Options) memory() int64 { return min(cmp.Or(opt.Memory, mostMemory), math.MaxInt) }

// Header says whether the first line of a text file holds names.
type Header int

// Kinds of header.
const (
	HeaderAuto Header = iota // names, unless one of them reads as a number
	HeaderYes
	HeaderNo
)

// Decide reads the cells of an undecided column as cells of a kind. Its text
// stays where the kind is text, and else makes way for numbers.
func (d *Data) Decide(column int, kind Kind) error {
	cells, numbers := d.Labels[column], []float64(nil)
	for i, cell := range cells {
		var x float64
		var msg string
		if kind.text() {
			cells[i], msg = label(cell, kind)
		} else if x, msg = parse(cell, kind); msg == "" {
			numbers = append(numbers, x)
		}
		if msg != "" {
			return d.Cell(i, column, msg)
		}
	}
	if !kind.text() {
		delete(d.Labels, column)
		d.Numbers[column] = numbers
	}
	return nil
}

// label returns the text of a cell, or what is wrong with it.
func label(cell string, kind Kind) (text, msg string) {
	switch {
	case kind == OptionalLabel && Missing(cell):
		return "", ""
	case kind == Label && cell == "":
		return "", "the cell is empty"
	}
	return cell, ""
}
