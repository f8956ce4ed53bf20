package table

import "fmt"

// room is the memory that the cells of a block may take. A file of a few bytes can hold more cells than there is
// memory for: a number that is repeated, or a text that is compressed, is short however often it stands there.
type room struct {
	most, taken int64
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
	return fmt.Errorf("it has more than %d columns, for which there is memory", columns)
}

// bytesOfText is what a text is counted by. Columns keep equal texts once, but a long one takes time each time.
func bytesOfText(length int) int64 { return int64(textBytes + max(0, length-fewLetters)) }

// mostMemory is what cells may take where nobody says how much there is: 2³⁰ numbers.
const mostMemory = numberBytes << 30

// limit sets the room.
func (r *room) limit(most int64) { r.most = most }

// empty gives back what cells have taken.
func (r *room) empty() { r.taken = 0 }

// take takes room for rows of so many columns, whose cells take so many bytes each, and reports if there is
// none. A file may claim any number of rows.
func (r *room) take(rows, columns int, bytes int64) error {
	each := int64(columns) * bytes
	if each > 0 && int64(rows) > r.most/each {
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
