package table

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// libsvm recognises the text format of LIBSVM and SVMlight by the first line that is no
// comment: a number, and then indices with values, as in "1 3:0.5 7:2".
func libsvm(head []byte) bool {
	for line := range bytes.Lines(head) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			continue
		}
		if len(fields) < 2 || strings.Contains(fields[0], ":") {
			return false
		}
		if _, err := strconv.ParseFloat(fields[0], 64); err != nil {
			return false
		}
		_, _, err := pair(fields[1])
		return err == nil || strings.HasPrefix(fields[1], "qid:")
	}
	return false
}

// pair reads an index with its value.
func pair(field string) (index int, value float64, err error) {
	left, right, _ := strings.Cut(field, ":")
	if index, err = strconv.Atoi(left); err != nil || index < 0 || index > maxColumns {
		return 0, 0, fmt.Errorf("%q is not an index with a value, such as 3:0.5", short(field))
	}
	value, msg := parse(right, Number)
	if msg != "" {
		return 0, 0, fmt.Errorf("%q: %s", short(field), msg)
	}
	return index, value, nil
}

// mostSparse is how many columns a file may have for each of its entries, above fewColumns: an index
// takes memory for all that are below it.
const mostSparse = 1000

// libsvmFile is what a LIBSVM file lists.
type libsvmFile struct {
	room
	count   int // of the entries
	labels  []string
	lines   []int
	entries map[int][]entry // by index
}

// What an entry is counted by, and the first one of an index.
const (
	entryBytes = 40
	indexBytes = 100
)

type entry struct {
	row   int
	value float64
}

// newLIBSVM reads a LIBSVM file. Its columns are label, and one for each index up to the
// largest, called by its number.
func newLIBSVM(name string, r io.Reader, opt Options) (Source, error) {
	f := &libsvmFile{entries: map[int][]entry{}}
	f.limit(opt.memory())
	rows := &rowReader{r: r, longest: opt.longest()}
	br := bufio.NewReaderSize(rows, 1<<16)
	for line := 1; ; line++ {
		rows.next()
		text, err := br.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if msg := f.add(text, line); msg != "" {
			return nil, &CellError{File: name, Row: len(f.labels), Line: line, Column: -1, Msg: msg}
		}
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, line, err)
		}
		if err == io.EOF {
			break
		}
	}
	first, last := 1, 0 // indices
	if f.entries[0] != nil || slices.Contains(opt.Sparse, "0") {
		first = 0
	}
	for index := range f.entries {
		last = max(last, index)
	}
	for _, column := range opt.Sparse {
		if index, err := strconv.Atoi(column); err == nil && index <= maxColumns {
			last = max(last, index)
		}
	}
	if last > fewColumns && last/mostSparse > f.count && opt.Sparse == nil {
		return nil, fmt.Errorf("%s: index %d is too large for a file of %d entries", name, last, f.count)
	}
	if last > opt.columns() {
		return nil, fmt.Errorf("%s: %w", name, tooMany(opt.columns()))
	}
	s := &columnar{name: name, rows: len(f.labels), columns: []string{"label"}, whole: true}
	s.keep(f.taken)
	for index := first; index <= last; index++ {
		s.columns = append(s.columns, strconv.Itoa(index))
	}
	s.read = func(columns []*columnCells, _ int) error {
		for _, c := range columns {
			if c.column == 0 {
				for _, label := range f.labels {
					c.text(label)
				}
				continue
			}
			rest := f.entries[first+c.column-1]
			for i := range f.labels {
				x := 0.0
				if len(rest) > 0 && rest[0].row == i {
					x, rest = rest[0].value, rest[1:]
				}
				c.number(x)
			}
		}
		return nil
	}
	return s, nil
}

// add reads a line, or says what is wrong with it.
func (f *libsvmFile) add(text string, line int) (msg string) {
	text, _, _ = strings.Cut(text, "#")
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return ""
	}
	row := len(f.labels)
	f.taken += bytesOfText(len(fields[0]))
	f.labels, f.lines = append(f.labels, strings.Clone(fields[0])), append(f.lines, line)
	for _, field := range fields[1:] {
		if strings.HasPrefix(field, "qid:") {
			continue
		}
		index, value, err := pair(field)
		if err != nil {
			return err.Error()
		}
		all := f.entries[index]
		if len(all) > 0 && all[len(all)-1].row == row {
			return fmt.Sprintf("index %d is there twice", index)
		}
		f.taken += entryBytes
		if len(all) == 0 {
			f.taken += indexBytes
		}
		f.entries[index] = append(all, entry{row, value})
		f.count++
	}
	return ""
}
