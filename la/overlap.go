package la

import (
	"fmt"
	"unsafe"
)

// Overlap reports whether two matrices share an element. Routines of this package panic if their
// output overlaps an input.
//
// The answer is exact for matrices in separate memory, and for parts of one matrix, whose strides are
// equal. Matrices with different strides in the same memory count as overlapping.
func Overlap[T Float](a, b Matrix[T]) bool { return overlap(&a, &b) }

func overlap[T Float](a, b *Matrix[T]) bool {
	if a.Rows == 0 || a.Cols == 0 || b.Rows == 0 || b.Cols == 0 {
		return false
	}
	var z T
	size := unsafe.Sizeof(z)
	p, q := uintptr(unsafe.Pointer(&a.Data[0])), uintptr(unsafe.Pointer(&b.Data[0]))
	if q >= p+uintptr((a.Rows-1)*a.Stride+a.Cols)*size || p >= q+uintptr((b.Rows-1)*b.Stride+b.Cols)*size {
		return false
	}
	if q < p {
		a, b, p, q = b, a, q, p
	}
	stride := a.Stride
	switch {
	case a.Rows == 1:
		stride = b.Stride
	case b.Rows > 1 && a.Stride != b.Stride:
		return true
	}
	if (q-p)%size != 0 || stride == 0 {
		return true
	}
	col := int((q-p)/size) % stride
	return col < a.Cols || col+b.Cols > stride
}

// refuseOverlap panics if out shares an element with in.
func refuseOverlap[T Float](outName string, out *Matrix[T], inName string, in *Matrix[T]) {
	if overlap(out, in) {
		panic(fmt.Sprintf("la: %s overlaps %s", outName, inName))
	}
}

// asRow returns x as a matrix of one row.
func asRow[T Float](x []T) *Matrix[T] {
	return &Matrix[T]{Rows: 1, Cols: len(x), Stride: len(x), Data: x}
}

// checkVectors panics if out overlaps in and begins at another element. For small vectors the time of
// refuseOverlap would matter.
func checkVectors[T Float](outName string, out []T, inName string, in []T) {
	if len(out) == 0 || len(in) == 0 {
		return
	}
	var z T
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(out))), uintptr(unsafe.Pointer(unsafe.SliceData(in)))
	if p != q && p < q+uintptr(len(in))*unsafe.Sizeof(z) && q < p+uintptr(len(out))*unsafe.Sizeof(z) {
		panic(fmt.Sprintf("la: %s overlaps %s", outName, inName))
	}
}

// checkApart panics if out overlaps in.
func checkApart[T Float](outName string, out []T, inName string, in []T) {
	checkVectors(outName, out, inName, in)
	if len(out) > 0 && len(in) > 0 && unsafe.SliceData(out) == unsafe.SliceData(in) {
		panic(fmt.Sprintf("la: %s overlaps %s", outName, inName))
	}
}
