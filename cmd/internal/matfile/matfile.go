// Package matfile reads numeric arrays from MATLAB's level 5 MAT-files, which
// MATLAB's save writes with -v6 (plain) or -v7 (compressed).
//
// Memory does not depend on what a file claims: elements are handed over in
// blocks as they are read. Source: MathWorks, "MAT-File Format", 2019.
package matfile

import (
	"bufio"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Array is what a file says of an array before its elements.
type Array struct {
	Name    string
	Dims    []int // at least two
	Complex bool  // the elements handed over are the real parts
}

// Len returns the number of elements.
func (a Array) Len() int {
	n := 1
	for _, d := range a.Dims {
		n *= d
	}
	return n
}

// Sink takes the elements from index first on, in the order of the file:
// column by column. It must not keep x.
type Sink func(first int, x []float64) error

// Types of data elements.
const (
	miInt8       = 1
	miUint8      = 2
	miInt16      = 3
	miUint16     = 4
	miInt32      = 5
	miUint32     = 6
	miSingle     = 7
	miDouble     = 9
	miInt64      = 12
	miUint64     = 13
	miMatrix     = 14
	miCompressed = 15
)

// Classes of arrays from mxDouble to mxUint64 are numeric.
const (
	mxDouble = 6
	mxUint64 = 15
)

// Bounds on what a header may claim.
const (
	maxName  = 1 << 10
	maxDims  = 32
	blockLen = 1 << 13 // elements handed over at a time
)

// Read calls visit for each numeric array at the top level of the file and hands
// its elements to the sink that visit returns; a nil sink skips the array.
// Cells, structs, text and sparse arrays are passed over. Errors of visit and of
// sinks end the reading and are returned as they are.
func Read(r io.Reader, visit func(Array) (Sink, error)) error {
	br := bufio.NewReaderSize(r, 1<<16)
	var header [128]byte
	if _, err := io.ReadFull(br, header[:]); err != nil {
		return fmt.Errorf("not a MAT-file: its header is cut short")
	}
	d := &decoder{visit: visit, order: binary.LittleEndian}
	switch string(header[126:]) {
	case "IM":
	case "MI":
		d.order = binary.BigEndian
	default:
		return fmt.Errorf("not a level 5 MAT-file")
	}
	switch version := d.order.Uint16(header[124:]); version {
	case 0x0100:
	case 0x0200:
		return fmt.Errorf("a MAT-file of version 7.3, which is HDF5: save it with -v7")
	default:
		return fmt.Errorf("a MAT-file of unknown version %#x", version)
	}
	for {
		if _, err := br.Peek(1); err == io.EOF {
			return nil
		}
		if err := d.top(br); err != nil {
			return err
		}
	}
}

type decoder struct {
	visit func(Array) (Sink, error)
	order binary.ByteOrder
}

// top reads one element of the file.
func (d *decoder) top(r io.Reader) error {
	var tag [8]byte
	if _, err := io.ReadFull(r, tag[:]); err != nil {
		return errShort
	}
	kind, size := d.order.Uint32(tag[:]), int64(d.order.Uint32(tag[4:]))
	body := &io.LimitedReader{R: r, N: size}
	switch kind {
	case miMatrix:
		if _, err := d.matrix(body); err != nil {
			return err
		}
	case miCompressed:
		z, err := zlib.NewReader(bufio.NewReader(body))
		if err != nil {
			return fmt.Errorf("a compressed element: %w", err)
		}
		if _, err := io.ReadFull(z, tag[:]); err != nil {
			return fmt.Errorf("a compressed element: %w", err)
		}
		if kind := d.order.Uint32(tag[:]); kind != miMatrix {
			return fmt.Errorf("a compressed element holds an element of type %d, not an array", kind)
		}
		inner := &io.LimitedReader{R: z, N: int64(d.order.Uint32(tag[4:]))}
		used, err := d.matrix(inner)
		if err != nil {
			return err
		}
		if used { // read on to the end, where the checksum is
			if _, err := io.Copy(io.Discard, inner); err != nil {
				return fmt.Errorf("a compressed element: %w", err)
			}
			if n, err := z.Read(tag[:1]); n > 0 || err != io.EOF {
				return fmt.Errorf("a compressed element: %w", cmp.Or(err, errLong))
			}
		}
	default:
		return fmt.Errorf("an element of type %d where an array is expected", kind)
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return err
	}
	if body.N > 0 {
		return errShort
	}
	return nil
}

var (
	errShort = errors.New("the file is cut short")
	errLong  = errors.New("there is more than the array")
)

// element is a data element within an array: its type and its data, which are
// still to be read.
type element struct {
	kind uint32
	size int64
	data io.Reader
	pad  int64 // bytes that follow the data
}

func (d *decoder) element(r io.Reader) (element, error) {
	var tag [8]byte
	if _, err := io.ReadFull(r, tag[:4]); err != nil {
		return element{}, errShort
	}
	if _, err := io.ReadFull(r, tag[4:]); err != nil {
		return element{}, errShort
	}
	first := d.order.Uint32(tag[:])
	if n := first >> 16; n > 0 { // a small element has its data in the tag
		if n > 4 {
			return element{}, fmt.Errorf("a small element claims %d bytes", n)
		}
		return element{kind: first & 0xffff, size: int64(n), data: strings.NewReader(string(tag[4 : 4+n]))}, nil
	}
	size := int64(d.order.Uint32(tag[4:]))
	return element{kind: first, size: size, data: io.LimitReader(r, size), pad: -size & 7}, nil
}

// bytes reads an element of at most max bytes whole.
func (d *decoder) bytes(r io.Reader, what string, max int64) (uint32, []byte, error) {
	e, err := d.element(r)
	if err != nil {
		return 0, nil, err
	}
	if e.size > max {
		return 0, nil, fmt.Errorf("%s: %d bytes", what, e.size)
	}
	b := make([]byte, e.size)
	if _, err := io.ReadFull(e.data, b); err != nil {
		return 0, nil, errShort
	}
	_, err = io.CopyN(io.Discard, r, e.pad)
	if err != nil {
		err = errShort
	}
	return e.kind, b, err
}

// matrix reads an array and reports whether its elements were used. What follows
// them is left unread.
func (d *decoder) matrix(r io.Reader) (used bool, err error) {
	kind, flags, err := d.bytes(r, "array flags", 8)
	if err != nil {
		return false, err
	}
	if kind != miUint32 || len(flags) != 8 {
		return false, fmt.Errorf("array flags of type %d in %d bytes", kind, len(flags))
	}
	word := d.order.Uint32(flags)
	class := word & 0xff
	a := Array{Complex: word&0x0800 != 0}

	kind, dims, err := d.bytes(r, "dimensions", 4*maxDims)
	if err != nil {
		return false, err
	}
	if kind != miInt32 || len(dims) < 8 || len(dims)%4 != 0 {
		return false, fmt.Errorf("dimensions of type %d in %d bytes", kind, len(dims))
	}
	n := int64(1)
	for ; len(dims) > 0; dims = dims[4:] {
		v := int64(int32(d.order.Uint32(dims)))
		if v < 0 || v > 0 && n > math.MaxInt32/v {
			return false, fmt.Errorf("an array with more than %d elements, or a negative dimension", math.MaxInt32)
		}
		n *= v
		a.Dims = append(a.Dims, int(v))
	}
	kind, name, err := d.bytes(r, "name", maxName)
	if err != nil {
		return false, err
	}
	if kind != miInt8 {
		return false, fmt.Errorf("a name of type %d", kind)
	}
	a.Name = string(name)
	if class < mxDouble || class > mxUint64 {
		return false, nil
	}
	e, err := d.element(r)
	if err != nil {
		return false, fmt.Errorf("%s: %w", a.Name, err)
	}
	width, number := d.numbers(e.kind)
	if number == nil {
		return false, fmt.Errorf("%s: elements of type %d are not numbers", a.Name, e.kind)
	}
	if e.size != n*int64(width) {
		return false, fmt.Errorf("%s: %d bytes where %d elements of %d bytes are expected", a.Name, e.size, n, width)
	}
	sink, err := d.visit(a)
	if err != nil || sink == nil {
		return false, err
	}
	raw := make([]byte, min(n, blockLen)*int64(width))
	block := make([]float64, min(n, blockLen))
	for first := int64(0); first < n; first += blockLen {
		x := block[:min(blockLen, n-first)]
		if _, err := io.ReadFull(e.data, raw[:len(x)*width]); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = errShort
			}
			return false, fmt.Errorf("%s: element %d of %d: %w", a.Name, first+1, n, err)
		}
		for i := range x {
			x[i] = number(raw[i*width:])
		}
		if err := sink(int(first), x); err != nil {
			return false, err
		}
	}
	return true, nil
}

// numbers returns the width of a type in bytes and its decoder, nil if the type
// is no number.
func (d *decoder) numbers(kind uint32) (width int, number func([]byte) float64) {
	o := d.order
	switch kind {
	case miInt8:
		return 1, func(b []byte) float64 { return float64(int8(b[0])) }
	case miUint8:
		return 1, func(b []byte) float64 { return float64(b[0]) }
	case miInt16:
		return 2, func(b []byte) float64 { return float64(int16(o.Uint16(b))) }
	case miUint16:
		return 2, func(b []byte) float64 { return float64(o.Uint16(b)) }
	case miInt32:
		return 4, func(b []byte) float64 { return float64(int32(o.Uint32(b))) }
	case miUint32:
		return 4, func(b []byte) float64 { return float64(o.Uint32(b)) }
	case miSingle:
		return 4, func(b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }
	case miDouble:
		return 8, func(b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }
	case miInt64:
		return 8, func(b []byte) float64 { return float64(int64(o.Uint64(b))) }
	case miUint64:
		return 8, func(b []byte) float64 { return float64(o.Uint64(b)) }
	}
	return 0, nil
}
