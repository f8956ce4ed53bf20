// Package table reads the columns of CSV and NPY files. Every mistake in a file
// is told with the file's name, the row and the column.
package table

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Kind says what the cells of a column are to be.
type Kind int

// Kinds of columns.
const (
	Number        Kind = iota // finite numbers
	Optional                  // finite numbers, or nothing: an empty cell, NA or NaN, which reads as NaN
	Label                     // any text that is not empty
	OptionalLabel             // any text, or nothing, which reads as empty text
	Undecided                 // any text; [Data.Decide] makes it one of the others
)

// text reports whether the cells are read as text.
func (k Kind) text() bool { return k == Label || k == OptionalLabel || k == Undecided }

// Missing reports whether a cell says that there is nothing.
func Missing(cell string) bool { return cell == "" || cell == "NA" || strings.EqualFold(cell, "nan") }

// Want asks for one column, counted from 0.
type Want struct {
	Column int
	Kind   Kind
}

// Data holds the columns that were asked for.
type Data struct {
	Rows    int
	Numbers map[int][]float64 // by column
	Labels  map[int][]string  // by column

	name    string
	columns []string
	lines   []int // of the rows of a text file with a column that is undecided
}

// Source is a file whose columns are known and whose cells are still to be read.
type Source interface {
	Name() string      // for messages
	Columns() []string // their names, or their positions from 1 where they have none
	Rows() int         // their number, or -1 if it is not known before reading
	// Read reads the columns wanted, each at most once. It can be called once.
	Read(want []Want) (Data, error)
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
			where += fmt.Sprintf(" %q", e.Name)
		}
	}
	return where + ": " + e.Msg
}

func newData(s Source, want []Want) Data {
	d := Data{Numbers: map[int][]float64{}, Labels: map[int][]string{}, name: s.Name(), columns: s.Columns()}
	for _, w := range want {
		if w.Kind.text() {
			d.Labels[w.Column] = nil
		} else {
			d.Numbers[w.Column] = nil
		}
	}
	return d
}

func positions(n int) []string {
	names := make([]string, n)
	for j := range names {
		names[j] = strconv.Itoa(j + 1)
	}
	return names
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Magic of an NPY file.
const npyMagic = "\x93NUMPY"

// Options says how a text file is laid out.
type Options struct {
	Header    Header
	Separator rune // 0: the one of , ; and tab that the first line has most of
}

// Header says whether the first line of a text file holds names.
type Header int

// Kinds of header.
const (
	HeaderAuto Header = iota // names, unless one of them reads as a number
	HeaderYes
	HeaderNo
)

// New returns the source that r holds, told by its first bytes. The size is
// that of a regular file, or -1.
func New(name string, r io.Reader, size int64, opt Options) (Source, error) {
	head := make([]byte, len(npyMagic))
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	whole := io.MultiReader(newBytes(head[:n]), r)
	if string(head[:n]) == npyMagic {
		return newNPY(name, whole, size)
	}
	return newCSV(name, whole, opt)
}

// Decide reads the cells of a column that is undecided as those of a kind. Its text
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
			e := &CellError{File: d.name, Row: i + 1, Column: column, Name: d.columns[column], Msg: msg}
			if d.lines != nil {
				e.Line = d.lines[i]
			}
			return e
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
