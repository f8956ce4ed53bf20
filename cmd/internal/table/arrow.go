//go:build !lean

package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/bmkl/bmkl/internal/encode"
)

// newArrowFile opens a file of Arrow's interprocess format, also called Feather: a stream
// between a mark and an index, which is not needed.
func newArrowFile(name string, r io.Reader, size int64, _ Options) (Source, error) {
	if _, err := io.CopyN(io.Discard, r, int64(len(arrowMagic))); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return openArrow(name, r, size, true)
}

// arrowMagic stands at the front of a file, padded to eight bytes.
const arrowMagic = "ARROW1\x00\x00"

// newArrowStream opens a stream of that format. It may end without a mark, after any message.
func newArrowStream(name string, r io.Reader, size int64, _ Options) (Source, error) {
	return openArrow(name, r, size, false)
}

// openArrow opens a stream, which ends with a mark if it is marked.
func openArrow(name string, r io.Reader, size int64, marked bool) (src Source, err error) {
	defer refuse(name, "Arrow", &err)
	guard := &arrowGuard{r: r, most: arrowBody, piped: size < 0, marked: marked}
	if size >= 0 {
		guard.most = size
	}
	stream, err := ipc.NewReader(guard, ipc.WithAllocator(&bounded{Allocator: memory.NewGoAllocator(), guard: guard}))
	if err != nil {
		return nil, fmt.Errorf("%s: neither text nor %s: %w", name, formats, err)
	}
	return newArrow(name, stream)
}

// newArrow makes a source of a stream. Columns that hold no single values are left out.
func newArrow(name string, stream *ipc.Reader) (Source, error) {
	s := &columnar{name: name, rows: -1}
	var at []int // the fields that are columns
	var left []string
	for i, field := range stream.Schema().Fields() {
		if _, nested := field.Type.(arrow.NestedType); nested {
			left = append(left, field.Name)
			continue
		}
		at = append(at, i)
		s.columns = append(s.columns, field.Name)
	}
	if left != nil {
		s.remarks = append(s.remarks, "columns of lists and records are left out: "+few(left))
	}
	if at == nil {
		return nil, fmt.Errorf("%s: the Arrow file has no columns of single values", name)
	}
	s.distinct()
	s.close = stream.Release
	var batch arrow.RecordBatch // rows from next on are still to be added
	next := 0
	s.read = func(columns []*columnCells, rows int) (err error) {
		defer refuse("", "Arrow", &err)
		for left := rows; rows == 0 || left > 0; {
			if batch == nil {
				if batch, err = stream.Read(); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				next = 0
			}
			end := int(batch.NumRows())
			if rows > 0 {
				end = min(end, next+left)
			}
			if err := s.take(end-next, len(columns), numberBytes); err != nil {
				return err
			}
			for _, c := range columns {
				values := batch.Column(at[c.column])
				if int64(values.Len()) != batch.NumRows() {
					return fmt.Errorf("column %q has %d values in a part of %d rows", short(s.columns[c.column]), values.Len(), batch.NumRows())
				}
				if err := addArray(values, next, end, c); err != nil {
					return err
				}
			}
			left -= end - next
			if next = end; int64(next) == batch.NumRows() {
				batch = nil
			}
		}
		return nil
	}
	return s, nil
}

// addArray adds values first … end−1 of an array to a column, as long as there is room.
func addArray(values arrow.Array, first, end int, c *columnCells) error {
	add := arrayAdder(values, c)
	_, text := values.DataType().(arrow.BinaryDataType)
	for i := first; i < end; i++ {
		switch {
		case !values.IsNull(i):
			add(i)
		case text:
			c.text("")
		default:
			c.number(nan)
		}
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// arrayAdder returns what adds value i.
func arrayAdder(values arrow.Array, c *columnCells) func(i int) {
	switch a := values.(type) {
	case *array.Float64:
		return func(i int) { c.number(a.Value(i)) }
	case *array.Float32:
		return func(i int) { c.number(float64(a.Value(i))) }
	case *array.Float16:
		return func(i int) { c.number(float64(a.Value(i).Float32())) }
	case *array.Int8:
		return func(i int) { c.number(float64(a.Value(i))) }
	case *array.Int16:
		return func(i int) { c.number(float64(a.Value(i))) }
	case *array.Int32:
		return func(i int) { c.number(float64(a.Value(i))) }
	case *array.Int64:
		return func(i int) { c.number(float64(a.Value(i))) }
	case *array.Uint8:
		return func(i int) { c.number(float64(a.Value(i))) }
	case *array.Uint16:
		return func(i int) { c.number(float64(a.Value(i))) }
	case *array.Uint32:
		return func(i int) { c.number(float64(a.Value(i))) }
	case *array.Uint64:
		return func(i int) { c.number(float64(a.Value(i))) }
	case *array.Decimal128:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(i int) { c.number(a.Value(i).ToFloat64(scale)) }
	case *array.Decimal256:
		scale := a.DataType().(arrow.DecimalType).GetScale()
		return func(i int) { c.number(a.Value(i).ToFloat64(scale)) }
	case *array.Boolean:
		return func(i int) { c.boolean(a.Value(i)) }
	case *array.Date32:
		return func(i int) { c.date(encode.Days(a.Value(i).ToTime())) }
	case *array.Date64:
		return func(i int) { c.date(encode.Days(a.Value(i).ToTime())) }
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return func(i int) { c.date(encode.Days(a.Value(i).ToTime(unit))) }
	case *array.Dictionary:
		value := arrayAdder(a.Dictionary(), c)
		return func(i int) {
			if k := a.GetValueIndex(i); !a.Dictionary().IsNull(k) {
				value(k)
			} else {
				c.number(nan)
			}
		}
	}
	return func(i int) { c.text(values.ValueStr(i)) }
}
