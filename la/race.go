//go:build race

package la

import (
	"runtime"
	"unsafe"
)

const raceEnabled = true

// The race detector does not see what assembly reads and writes: the Go code
// that leads to it declares it here.

func raceRead[T any](x []T) {
	if len(x) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}

func raceWrite[T any](x []T) {
	if len(x) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}

func raceReadMatrix[T Float](m Matrix[T]) {
	for i := range m.Rows {
		raceRead(m.Row(i))
	}
}

// raceWriteLower declares the elements j ≤ i+off of m.
func raceWriteLower[T Float](off int, m Matrix[T]) {
	for i := range m.Rows {
		raceWrite(m.Row(i)[:max(0, min(m.Cols, i+off+1))])
	}
}

// raceReadLower declares the lower triangle of m.
func raceReadLower[T Float](m Matrix[T]) {
	for i := range m.Rows {
		raceRead(m.Row(i)[:i+1])
	}
}
