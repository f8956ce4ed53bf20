//go:build !lean

package table

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// newParquet opens a Parquet file. Fields of records are columns, called after both;
// lists are left out.
func newParquet(name string, r io.ReaderAt, size int64, _ Options) (src Source, err error) {
	defer refuse(name, "Parquet", &err)
	if err := checkFooter(r, size); err != nil {
		return nil, fmt.Errorf("%s: the Parquet file %w", name, err)
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if f.NumRows() > math.MaxInt32 || f.NumRows() < 0 {
		return nil, fmt.Errorf("%s: the Parquet file claims %d rows", name, f.NumRows())
	}
	s := &columnar{name: name, rows: int(f.NumRows())}
	var leaves []*parquet.Column
	var lists []string
	for _, leaf := range leavesOf(f.Root(), nil) {
		path := leaf.Path()
		if leaf.MaxRepetitionLevel() > 0 {
			lists = append(lists, path[0])
			continue
		}
		leaves = append(leaves, leaf)
		s.columns = append(s.columns, strings.Join(path, "."))
	}
	if lists != nil {
		s.remarks = append(s.remarks, "columns of lists are left out: "+few(slices.Compact(lists)))
	}
	if leaves == nil {
		return nil, fmt.Errorf("%s: the Parquet file has no columns of single values", name)
	}
	s.distinct()
	cursors := map[int]*cursor{}
	s.read = func(columns []*columnCells, rows int) (err error) {
		defer refuse("", "Parquet", &err)
		for _, c := range columns {
			leaf := leaves[c.column]
			if cursors[c.column] == nil {
				for _, group := range f.Metadata().RowGroups {
					if err := checkPages(r, size, leaf, &group.Columns[leaf.Index()].MetaData, group.NumRows); err != nil {
						return fmt.Errorf("column %q: %w", short(s.columns[c.column]), err)
					}
				}
				cursors[c.column] = newCursor(f, leaf.Index())
			}
			if err := cursors[c.column].read(rows, c.room, adder(leaf.Type(), c)); err != nil {
				return fmt.Errorf("column %q: %w", short(s.columns[c.column]), err)
			}
		}
		return nil
	}
	s.close = func() {
		for _, c := range cursors {
			c.close()
		}
	}
	return s, nil
}

// leavesOf appends the columns of values below a column, in the order of the file. Two may have one name.
func leavesOf(c *parquet.Column, leaves []*parquet.Column) []*parquet.Column {
	if c.Leaf() {
		return append(leaves, c)
	}
	for _, child := range c.Columns() {
		leaves = leavesOf(child, leaves)
	}
	return leaves
}

// refuse makes what a library panics with, on a file that is not what it claims to be, an error.
func refuse(name, kind string, err *error) {
	if r := recover(); r != nil {
		if name != "" {
			name += ": "
		}
		*err = fmt.Errorf("%sthe %s file is damaged: %v", name, kind, r)
	}
}

// cursor is a place in a column of a Parquet file.
type cursor struct {
	chunks []parquet.ColumnChunk // of the groups of rows, those to come
	pages  parquet.Pages         // of the chunk it is in, or nil
	page   parquet.Page          // the one it is in, or nil
	values parquet.ValueReader   // of that page; nil if all of them were read
	block  [256]parquet.Value
	held   []parquet.Value // of block, those to come
}

func newCursor(f *parquet.File, column int) *cursor {
	c := &cursor{}
	for _, group := range f.RowGroups() {
		c.chunks = append(c.chunks, group.ColumnChunks()[column])
	}
	return c
}

// read hands on the next n values, or all to come if n is 0, as long as there is room; fewer at the end of the
// column.
func (c *cursor) read(n int, r *room, add func(parquet.Value)) error {
	for left := n; n == 0 || left > 0; {
		if len(c.held) == 0 {
			if err := c.more(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
		some := c.held
		if n > 0 {
			some = some[:min(left, len(some))]
		}
		for _, v := range some {
			if add(v); r.taken > r.most {
				return r.check()
			}
		}
		c.held = c.held[len(some):]
		left -= len(some)
	}
	return nil
}

// more reads some values; none may be there. The error is io.EOF at the end of the column.
func (c *cursor) more() (err error) {
	switch {
	case c.values != nil:
		k, err := c.values.ReadValues(c.block[:])
		if c.held = c.block[:k]; err != io.EOF {
			return err
		}
		c.values = nil
	case c.page != nil: // no value of it is held
		parquet.Release(c.page)
		c.page = nil
	case c.pages != nil:
		if c.page, err = c.pages.ReadPage(); err == io.EOF {
			err = c.pages.Close()
			c.page, c.pages = nil, nil
		} else if err == nil {
			c.values = c.page.Values()
		}
		return err
	case len(c.chunks) > 0:
		c.pages, c.chunks = c.chunks[0].Pages(), c.chunks[1:]
	default:
		return io.EOF
	}
	return nil
}

// close lets go of what is open.
func (c *cursor) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	if c.pages != nil {
		_ = c.pages.Close()
	}
}

// adder returns what adds a value of a type to a column.
func adder(t parquet.Type, c *columnCells) func(parquet.Value) {
	present := func(set func(parquet.Value)) func(parquet.Value) {
		return func(v parquet.Value) {
			if v.IsNull() {
				c.number(nan)
				return
			}
			set(v)
		}
	}
	text := func(v parquet.Value) {
		if v.IsNull() {
			c.text("")
			return
		}
		c.text(string(v.ByteArray()))
	}
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	switch l := logical.(type) {
	case *format.DateType:
		return present(func(v parquet.Value) { c.date(float64(v.Int32())) })
	case *format.TimestampType:
		unit := time.Millisecond
		switch l.Unit.Value.(type) {
		case *format.MicroSeconds:
			unit = time.Microsecond
		case *format.NanoSeconds:
			unit = time.Nanosecond
		}
		return present(func(v parquet.Value) { c.date(float64(v.Int64()) / float64(24*time.Hour/unit)) })
	case *format.DecimalType:
		scale := math.Pow10(int(-l.Scale))
		return present(func(v parquet.Value) { c.number(whole(t, v) * scale) })
	case *format.Float16Type:
		return present(func(v parquet.Value) {
			b := v.ByteArray()
			c.number(half(uint16(b[0]) | uint16(b[1])<<8))
		})
	case *format.IntType:
		if !l.IsSigned {
			return present(func(v parquet.Value) {
				if t.Kind() == parquet.Int64 {
					c.number(float64(v.Uint64()))
				} else {
					c.number(float64(v.Uint32()))
				}
			})
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return present(func(v parquet.Value) { c.boolean(v.Boolean()) })
	case parquet.Float:
		return present(func(v parquet.Value) { c.number(float64(v.Float())) })
	case parquet.Double:
		return present(func(v parquet.Value) { c.number(v.Double()) })
	case parquet.Int32, parquet.Int64:
		return present(func(v parquet.Value) { c.number(whole(t, v)) })
	case parquet.Int96: // an old form of a time: nanoseconds of the day, then the Julian day
		const julian1970 = 2440588
		return present(func(v parquet.Value) {
			w := v.Int96()
			nanoseconds := uint64(w[1])<<32 | uint64(w[0])
			c.date(float64(w[2]) - julian1970 + float64(nanoseconds)/float64(24*time.Hour))
		})
	}
	return text
}

// whole is an integer of any width.
func whole(t parquet.Type, v parquet.Value) float64 {
	switch t.Kind() {
	case parquet.Int32:
		return float64(v.Int32())
	case parquet.Int64:
		return float64(v.Int64())
	}
	b := v.ByteArray() // two's complement, the most significant byte first
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	x, _ := new(big.Float).SetInt(n).Float64()
	return x
}
