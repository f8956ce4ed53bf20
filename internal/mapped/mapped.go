// Package mapped reads float32 numbers of files that may be larger than memory: through a
// mapping of the file into memory where the system has one, and otherwise by reading.
package mapped

import (
	"io"
	"os"
	"unsafe"
)

// File is a file of numbers. It is safe for concurrent use.
type File struct {
	f    *os.File
	data []byte // the mapping; nil on systems without mappings
}

// Open returns the first size bytes of f for reading; Close closes f too. A shorter file is an
// error. If another program cuts the file short while it is mapped, reading beyond its new end
// ends this program.
func Open(f *os.File, size int64) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < size {
		return nil, &os.PathError{Op: "read", Path: f.Name(), Err: io.ErrUnexpectedEOF}
	}
	if data, err := mapFile(f, size); err == nil {
		return &File{f: f, data: data}, nil
	}
	return Unmapped(f), nil // there are no mappings, or the address space is too small
}

// Unmapped is a file that is read without a mapping.
func Unmapped(f *os.File) *File { return &File{f: f} }

// Mapped reports whether the file is mapped into memory.
func (f *File) Mapped() bool { return f.data != nil }

// Data returns the mapping, or nil if the file is not mapped.
func (f *File) Data() []byte { return f.data }

// Floats returns the n numbers from byte offset on, a multiple of 4, in the machine's order of
// bytes. They lie in the mapping, or in buf, which has room for them.
func (f *File) Floats(offset int64, n int, buf []float32) ([]float32, error) {
	if n == 0 {
		return nil, nil
	}
	if f.data != nil {
		part := f.data[offset : offset+4*int64(n)]
		return unsafe.Slice((*float32)(unsafe.Pointer(&part[0])), n), nil
	}
	buf = buf[:n]
	_, err := f.f.ReadAt(Bytes(buf), offset)
	return buf, err
}

// Close ends the mapping, if there is one, and closes the file. What Floats returned must no
// longer be read.
func (f *File) Close() error {
	var err error
	if f.data != nil {
		err = unmap(f.data)
		f.data = nil
	}
	if cerr := f.f.Close(); err == nil {
		err = cerr
	}
	return err
}

// Bytes returns the bytes of x as they lie in memory, without copying.
func Bytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
