package table

import (
	"fmt"
	"io"
)

// room is the memory that the cells of a block may take. A file of a few bytes can hold more cells than there is
// memory for: a number that is repeated, or a text that is compressed, is short however often it stands there.
type room struct {
	most  int64
	kept  int64 // of what a file keeps from one block to the next
	taken int64 // with what is kept
}

// What a cell is counted by: a number, and a text of few letters, in columns that grow while the garbage
// collector lets twice as much stand as is in use.
const (
	numberBytes = 20
	textBytes   = 64
	fewLetters  = 32
)

// columnBytes is what a column takes, whatever stands there.
const columnBytes = 1000

// columns returns how many columns a file may have.
func (opt Options) columns() int {
	return int(min(maxColumns, max(fewColumns, opt.memory()/columnBytes)))
}

func tooMany(columns int) error {
	return fmt.Errorf("it has more than the %d columns for which there is memory", columns)
}

// bytesOfText is what a text is counted by. Columns keep equal texts once, but a long one takes time each time.
func bytesOfText(length int) int64 { return int64(textBytes + max(0, length-fewLetters)) }

// mostMemory is what cells may take where nobody says how much there is: 2³⁰ numbers.
const mostMemory = numberBytes << 30

// limit sets the room.
func (r *room) limit(most int64) { r.most = most }

// keep takes room for what the file keeps.
func (r *room) keep(bytes int64) { r.kept += bytes }

// empty gives back what cells have taken.
func (r *room) empty() { r.taken = r.kept }

// take takes room for rows of so many columns, whose cells take so many bytes each, and reports if there is
// none. A file may claim any number of rows.
func (r *room) take(rows, columns int, bytes int64) error {
	each := int64(columns) * bytes
	if each > 0 && int64(rows) > (r.most-r.taken)/each {
		return r.full()
	}
	r.taken += int64(rows) * each
	return r.check()
}

// check reports that more was taken than there is.
func (r *room) check() error {
	if r.taken > r.most {
		return r.full()
	}
	return nil
}

func (r *room) full() error {
	return fmt.Errorf("the columns wanted need more memory than the %d MiB that there are", r.most>>20)
}

// cellBytes is what a reader of text keeps for a cell of a row, which may be a byte.
const cellBytes = 64

// longest returns how many bytes a row of a text file may have, beyond those that are read ahead at least.
func (opt Options) longest() int64 {
	return min(longestLine, max(2*maxLine, opt.memory()/cellBytes))
}

// rowReader refuses rows that are longer than any of a table. A row whose cells are quoted may have any number
// of lines; whoever reads the rows says where one ends, by next.
type rowReader struct {
	r            io.Reader
	row, longest int64 // bytes of the row so far, with what was read ahead, and at most
}

func (r *rowReader) next() { r.row = 0 }

func (r *rowReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.row += int64(n); r.row > r.longest {
		return n, fmt.Errorf("a row of more than the %d bytes for which there is memory", r.longest)
	}
	return n, err
}
