// Package archive keeps prepared values, such as packed triangles, in bytes. One method of a type describes its fields for writing and for
// reading:
//
//	func (p *Projection) Archive(a *archive.Archive) {
//		a.Int(&p.Order)
//		a.Floats(&p.weights)
//	}
//
// Arrays begin at multiples of [Align] bytes. Arrays that are read lie in the archive's own memory, which may be a mapped
// file: they must not be written to. An archive that was read may be damaged or forged. The first error stays, later reads return zeros,
// and lengths are checked before memory is taken. The methods check the values that could make their type panic, and call [Archive.Fail].
package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Align is the number of bytes at whose multiples arrays begin.
const Align = 64

// Archive is what is written, or what is read. It is not safe for concurrent use.
type Archive struct {
	data    []byte
	at      int // of the next value that is read
	reading bool
	err     error
}

// New returns an empty archive, for writing.
func New() *Archive { return &Archive{data: []byte{}} }

// Open returns an archive for reading. Arrays lie in data, whose first byte should be at a multiple of [Align] in memory.
func Open(data []byte) *Archive { return &Archive{data: data, reading: true} }

// Bytes returns what was written. Its length is a multiple of [Align].
func (a *Archive) Bytes() []byte {
	a.align()
	return a.data
}

// Reading reports whether values are read.
func (a *Archive) Reading() bool { return a.reading }

// Fail keeps the first error.
func (a *Archive) Fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// Err returns the first error.
func (a *Archive) Err() error { return a.err }

// Close returns the first error. Bytes that were not read, other than the last padding, are an error too.
func (a *Archive) Close() error {
	if a.err == nil && a.reading && len(a.data)-a.at >= Align {
		a.err = fmt.Errorf("%d bytes follow the last value", len(a.data)-a.at)
	}
	return a.err
}

var errShort = errors.New("it ends early")

// take returns the next n bytes that are read; nil after an error.
func (a *Archive) take(n int) []byte {
	if a.err != nil {
		return nil
	}
	if n < 0 || n > len(a.data)-a.at {
		a.err = errShort
		return nil
	}
	a.at += n
	return a.data[a.at-n : a.at : a.at]
}

// word writes or reads 8 bytes.
func (a *Archive) word(v uint64) uint64 {
	if !a.reading {
		a.data = binary.LittleEndian.AppendUint64(a.data, v)
		return v
	}
	if b := a.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Int is for a number.
func (a *Archive) Int(v *int) { *v = int(a.word(uint64(*v))) }

// Float is for a number.
func (a *Archive) Float(v *float64) { *v = math.Float64frombits(a.word(math.Float64bits(*v))) }

// Bool is for a truth value.
func (a *Archive) Bool(v *bool) {
	var n uint64
	if *v {
		n = 1
	}
	if n = a.word(n); n > 1 {
		a.Fail(fmt.Errorf("a truth value is %d", n))
	}
	*v = n == 1
}

// Same is for a value that the reader knows: another one in the archive is an error.
func (a *Archive) Same(what string, v int) {
	read := v
	if a.Int(&read); read != v && a.err == nil {
		a.err = fmt.Errorf("%s is %d where %d is expected", what, read, v)
	}
}

// Ints is for indices.
func (a *Archive) Ints(v *[]int) {
	n := a.length(len(*v), 8)
	if a.reading {
		*v = make([]int, n)
	}
	for i := range *v {
		a.Int(&(*v)[i])
	}
}

// Floats is for an array.
func (a *Archive) Floats(v *[]float64) { array(a, v) }

// Floats32 is for an array.
func (a *Archive) Floats32(v *[]float32) { array(a, v) }

// Bytes8 is for an array.
func (a *Archive) Bytes8(v *[]int8) { array(a, v) }

// length writes the number of elements of so many bytes each, or reads a number of elements that are there.
func (a *Archive) length(n, bytes int) int {
	if a.Int(&n); a.reading && (n < 0 || n > (len(a.data)-a.at)/bytes) {
		a.Fail(errShort)
		n = 0
	}
	return n
}

// align writes zeros, or skips them.
func (a *Archive) align() {
	if a.reading {
		a.take(-a.at & (Align - 1))
		return
	}
	for len(a.data)%Align != 0 {
		a.data = append(a.data, 0)
	}
}

type element interface{ float64 | float32 | int8 }

// littleEndian says that numbers lie in this machine's memory as they lie in an archive.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func array[T element](a *Archive, v *[]T) {
	size := int(unsafe.Sizeof(*new(T)))
	n := a.length(len(*v), size)
	a.align()
	if !a.reading {
		for i := range *v {
			a.data = appendElement(a.data, &(*v)[i])
		}
		return
	}
	*v = nil
	b := a.take(n * size)
	if len(b) == 0 {
		return
	}
	first := unsafe.Pointer(unsafe.SliceData(b))
	if littleEndian && uintptr(first)%unsafe.Alignof(*new(T)) == 0 {
		*v = unsafe.Slice((*T)(first), n)
		return
	}
	*v = make([]T, n)
	for i := range *v {
		readElement(b[i*size:], &(*v)[i])
	}
}

func appendElement[T element](b []byte, v *T) []byte {
	switch v := any(v).(type) {
	case *float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(*v))
	case *float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(*v))
	case *int8:
		return append(b, byte(*v))
	}
	return b
}

func readElement[T element](b []byte, v *T) {
	switch v := any(v).(type) {
	case *float64:
		*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	case *float32:
		*v = math.Float32frombits(binary.LittleEndian.Uint32(b))
	case *int8:
		*v = int8(b[0])
	}
}

// Value returns the value that the archive has next, nil if it has no value. An archive for writing gets the value that prepare
// returns. Without an archive Value calls prepare alone. fields describes the fields of a value.
func Value[T any](a *Archive, prepare func() *T, fields func(*T, *Archive)) *T {
	if a == nil {
		return prepare()
	}
	var v *T
	if !a.reading {
		v = prepare()
	}
	there := v != nil
	if a.Bool(&there); !there || a.err != nil {
		return nil
	}
	if a.reading {
		v = new(T)
	}
	if fields(v, a); a.err != nil {
		return nil
	}
	return v
}
