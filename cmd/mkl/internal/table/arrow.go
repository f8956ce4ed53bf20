package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Bounds that keep an Arrow file from asking for more memory than a table needs.
const (
	arrowMetadata = 1 << 26
	arrowBody     = 1 << 31
)

// bounded refuses allocations that no table needs; the library makes the panic an error.
type bounded struct{ memory.Allocator }

func (b bounded) Allocate(n int) []byte { return b.Allocator.Allocate(b.check(n)) }
func (b bounded) Reallocate(n int, p []byte) []byte {
	return b.Allocator.Reallocate(b.check(n), p)
}
func (bounded) check(n int) int {
	if n > arrowBody {
		panic(fmt.Errorf("a part of %d bytes", n))
	}
	return n
}

// batches hands on the batches of rows of an Arrow file or stream.
type batches func(visit func(arrow.RecordBatch)) error

// newArrowFile opens a file of Arrow's interprocess format, also called Feather.
func newArrowFile(name string, r io.ReaderAt, size int64) (src Source, err error) {
	defer refuse(name, "Arrow", &err)
	f, err := ipc.NewFileReader(io.NewSectionReader(r, 0, size), ipc.WithAllocator(bounded{memory.NewGoAllocator()}))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return newArrow(name, f.Schema(), func(visit func(arrow.RecordBatch)) error {
		defer f.Close()
		for i := range f.NumRecords() {
			b, err := f.RecordBatchAt(i)
			if err != nil {
				return err
			}
			visit(b)
			b.Release()
		}
		return nil
	})
}

// newArrowStream opens a stream of the same format.
func newArrowStream(name string, r io.Reader, _ int64) (src Source, err error) {
	defer refuse(name, "Arrow", &err)
	mem := ipc.WithAllocator(bounded{memory.NewGoAllocator()})
	messages := ipc.NewMessageReader(r, mem, ipc.WithMetadataSizeLimit(arrowMetadata), ipc.WithBodySizeLimit(arrowBody))
	stream, err := ipc.NewReaderFromMessageReader(messages, mem)
	if err != nil {
		return nil, fmt.Errorf("%s: neither text nor %s: %w", name, formats, err)
	}
	return newArrow(name, stream.Schema(), func(visit func(arrow.RecordBatch)) error {
		defer stream.Release()
		for {
			b, err := stream.Read()
			if errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			visit(b)
		}
	})
}

// newArrow makes a source of the batches. Columns that hold no single values are left out.
func newArrow(name string, schema *arrow.Schema, all batches) (Source, error) {
	s := &columnar{name: name, rows: -1}
	var at []int // the fields that are columns
	var left []string
	for i, field := range schema.Fields() {
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
	s.read = func(columns []*columnCells) (err error) {
		defer refuse("", "Arrow", &err)
		return all(func(b arrow.RecordBatch) {
			for _, c := range columns {
				addArray(b.Column(at[c.column]), c)
			}
		})
	}
	return s, nil
}

// addArray adds the values of an array to a column.
func addArray(values arrow.Array, c *columnCells) {
	add := arrayAdder(values, c)
	_, text := values.DataType().(arrow.BinaryDataType)
	for i := range values.Len() {
		switch {
		case !values.IsNull(i):
			add(i)
		case text:
			c.text("")
		default:
			c.number(nan)
		}
	}
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
		return func(i int) { c.date(days(a.Value(i).ToTime())) }
	case *array.Date64:
		return func(i int) { c.date(days(a.Value(i).ToTime())) }
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return func(i int) { c.date(days(a.Value(i).ToTime(unit))) }
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
